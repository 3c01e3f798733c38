"""Dataclasses made quickly: whatever Python's own would do with a class, these do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import pickle
import sys
import typing
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from clientgo.golang.struct import dataclass
from clientgo.tools.cache import Delta

OPTIONS: list[dict[str, bool]] = [
    dict(zip(("frozen", "slots", "kw_only", "eq", "repr"), values, strict=True))
    for values in itertools.product((False, True), repeat=5)
]


def _bare() -> type:
    class Order:
        """An order."""

        name: str
        count: int = 1
        tags: tuple[str, ...] = field(default_factory=tuple)
        secret: str = field(default="", repr=False)
        note: str = field(default="", compare=False)
        key: str = field(default="", hash=False)
        known: ClassVar[int] = 7

    return Order


def _unset() -> type:
    class Order:
        """An order with fields that nobody gives."""

        name: str
        total: int = field(init=False)
        state: str = field(default="new", init=False)
        lines: list[str] = field(default_factory=list, init=False)
        more: str = field(default="", kw_only=True)

    return Order


def _own_methods() -> type:
    class Order:
        """An order with a mind of its own."""

        name: str
        count: int = 1

        def __eq__(self, other: object) -> bool:
            return other == "equal"

        def __repr__(self) -> str:
            return "mine"

        def __hash__(self) -> int:
            return 17

    return Order


def _own_equality() -> type:
    class Order:
        """An order compared as it likes."""

        name: str

        def __eq__(self, other: object) -> bool:
            return other == "equal"

    return Order


def _own_init() -> type:
    class Order:
        """An order made as it likes."""

        name: str

        def __init__(self) -> None:
            object.__setattr__(self, "name", "own")

    return Order


def _afterwards() -> type:
    class Order:
        """An order that is checked."""

        name: str
        count: int = 1

        def __post_init__(self) -> None:
            if self.name == "refused":
                raise ValueError("refused")

    return Order


def _undocumented() -> type:
    class Order:
        name: str
        count: int = 1

    return Order


def _empty() -> type:
    class Order:
        """Nothing in it."""

    return Order


CLASSES = [_bare, _unset, _own_methods, _own_equality, _own_init, _afterwards, _undocumented, _empty]
ATTEMPTS: list[Callable[[Any], object]] = [
    lambda cls: cls(),
    lambda cls: cls("a"),
    lambda cls: cls(name="a"),
    lambda cls: cls("a", 2),
    lambda cls: cls("a", 2, ("x",), "s", "n", "k"),
    lambda cls: cls("refused"),
    lambda cls: cls(nobody=1),
    lambda cls: cls(name="a", more="b"),
]


def outcome(attempt: Callable[[], object]) -> object:
    try:
        return attempt()
    except Exception as err:
        return type(err), str(err)


def seen(obj: Any) -> object:
    """All that can be seen of an object."""
    if isinstance(obj, tuple):
        return obj
    names = [each.name for each in dataclasses.fields(obj)]
    # Of a frozen class with slots 3.11 says something about super() for these.
    others = [] if hasattr(type(obj), "__slots__") else ["known", "other"]
    same = outcome(lambda: copy.copy(obj))
    if isinstance(same, tuple):  # A field was never set.
        return same

    def change(name: str) -> Callable[[], object]:
        return lambda: setattr(copy.copy(obj), name, 1)

    return {
        "values": {name: getattr(obj, name, "unset") for name in names},
        "text": outcome(lambda: repr(obj).partition(" object at ")[0]),
        "equal": outcome(lambda: (obj == same, obj == 1, obj == "equal")),
        "hash": outcome(lambda: hash(obj) == hash(same) and type(obj).__hash__ is not object.__hash__ and hash(obj)),
        "dict": getattr(obj, "__dict__", None),
        "changed": [outcome(change(name)) for name in [*names, *others]],
        "removed": [outcome(lambda name=name: delattr(copy.copy(obj), name)) for name in names],  # type: ignore[misc]
        "deep": outcome(lambda: repr(copy.deepcopy(obj)).partition(" object at ")[0]),
        "replaced": outcome(lambda: repr(dataclasses.replace(obj, name="z")).partition(" object at ")[0]),
        "tuple": outcome(lambda: dataclasses.astuple(obj)),
    }


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(n for n in options if options[n]) or "none")
@pytest.mark.parametrize("make", CLASSES)
def test_a_class_is_what_python_makes_of_it(make: Callable[[], type], options: dict[str, bool]) -> None:
    ours, pythons = dataclass(**options)(make()), dataclasses.dataclass(**options)(make())  # type: ignore[call-overload]

    for attempt in ATTEMPTS:
        assert seen(outcome(lambda: attempt(ours))) == seen(outcome(lambda: attempt(pythons)))  # noqa: B023
    assert str(inspect.signature(ours)) == str(inspect.signature(pythons))
    assert typing.get_type_hints(ours.__init__) == typing.get_type_hints(pythons.__init__)
    for name in ("__match_args__", "__doc__", "__qualname__", "__module__", "__slots__"):
        assert getattr(ours, name, None) == getattr(pythons, name, None)
    assert repr(dataclasses.fields(ours)) == repr(dataclasses.fields(pythons))
    assert repr(ours.__dataclass_params__) == repr(pythons.__dataclass_params__)
    assert (ours.__hash__ is None) == (pythons.__hash__ is None)
    assert ours.__init__.__qualname__ == pythons.__init__.__qualname__


def test_an_order_that_python_refuses_is_refused() -> None:
    class Order:
        """A list that all would share."""

        lines: list[str] = []  # noqa: RUF012

    with pytest.raises(ValueError, match="mutable default <class 'list'> for field lines is not allowed"):
        dataclass(Order)


@dataclass(frozen=True, slots=True)
class Point:
    """Of this module, so that pickle finds it."""

    x: int
    y: int = 0


def test_a_frozen_object_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)


def test_a_frozen_class_has_frozen_children_of_either_make() -> None:
    @dataclasses.dataclass(frozen=True)
    class Named(Point):
        name: str = ""

    @dataclass(frozen=True)
    class Placed(Point):
        """Another."""

        place: str = ""

    assert repr(Named(1, name="a")).endswith("Named(x=1, y=0, name='a')")
    assert repr(Placed(1, place="b")).endswith("Placed(x=1, y=0, place='b')")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclass(type("Free", (Point,), {"__doc__": "Free."}))


@pytest.mark.parametrize("frozen", [False, True])
def test_what_equals_nothing_equals_itself_in_an_object(frozen: bool) -> None:
    @dataclass(frozen=frozen)
    class Measure:
        """One value."""

        value: float

    nan = float("nan")
    assert Measure(nan) == Measure(nan)
    assert Measure(nan) != Measure(float("nan"))


def test_an_object_that_contains_itself_has_a_text() -> None:
    @dataclass
    class Node:
        """A node."""

        children: list[Any]

    node = Node([])
    node.children.append(node)
    assert repr(node).endswith("Node(children=[...])")


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="no IPv6: Python's own is as quick since 3.13")
def test_the_methods_of_a_class_are_compiled_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hasattr(dataclasses, "exec")
    compiled: list[str] = []
    monkeypatch.setattr(dataclasses, "exec", lambda *args: compiled.append(args[0]), raising=False)

    assert dataclass(frozen=True, slots=True)(_bare())("a").name == "a"
    assert compiled == []
    assert dataclasses.is_dataclass(Delta)
