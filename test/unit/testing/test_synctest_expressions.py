"""The ordinary object on which a frame blocks, and the line that created it, found in the program's text."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from types import FrameType
from typing import Any

import pytest

from clientgo.testing import synctest
from clientgo.testing.synctest import foreign


def seen_at(run: Callable[[], object]) -> foreign.Foreign | None:
    """Return the result of `blocks_on` for the frame that calls `acquire` of an ordinary lock."""
    found: list[foreign.Foreign | None] = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and getattr(arg, "__name__", "") == "acquire" and not found:
            sys.setprofile(None)
            found.append(foreign.blocks_on(frame))

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    (answer,) = found
    return answer


def made_at(found: foreign.Foreign | None) -> str:
    assert found is not None
    assert found.made_at is not None
    return found.made_at.source


class First:
    def __init__(self) -> None:
        self.guard = Lock()  # of the first class

    def block(self) -> None:
        self.guard.acquire()


class Second:
    def __init__(self) -> None:
        self.guard = Lock()  # of the second class


class Inherits(First):
    pass


class WithSlots:
    __slots__ = ("guard",)

    def __init__(self) -> None:
        self.guard: Any = Lock()  # in a slot

    def block(self) -> None:
        self.guard.acquire()


class MadeElsewhere:
    """The attribute is set by another object, where no class's text shows it."""

    def block(self) -> None:
        self.guard.acquire()  # type: ignore[attr-defined]


class Computed:
    def __init__(self) -> None:
        self.locks = {"guard": Lock()}

    def __getattr__(self, name: str) -> Any:
        return self.locks[name]

    def block(self) -> None:
        self.guard.acquire()


def test_an_attribute_is_made_where_its_own_class_assigns_it() -> None:
    Second()
    assert made_at(seen_at(First().block)) == "self.guard = Lock()  # of the first class"
    assert made_at(seen_at(Inherits().block)) == "self.guard = Lock()  # of the first class"
    assert made_at(seen_at(WithSlots().block)) == "self.guard: Any = Lock()  # in a slot"


def test_an_object_whose_maker_cannot_be_found_is_named_without_its_place() -> None:
    made_elsewhere: Any = MadeElsewhere()
    made_elsewhere.guard = Lock()
    found = seen_at(made_elsewhere.block)

    assert found is not None
    assert (found.write, found.made_at) == ("threading.Lock()", None)


def local() -> None:
    guard = Lock()  # of the first function
    guard.acquire()


def local_again() -> None:
    guard = Lock()  # of the second function
    guard.release()


def test_a_local_name_is_made_in_its_own_function() -> None:
    assert made_at(seen_at(local)) == "guard = Lock()  # of the first function"


def test_a_name_of_an_enclosing_function_is_found() -> None:
    guard = Lock()  # around

    def block() -> None:
        guard.acquire()

    assert made_at(seen_at(block)) == "guard = Lock()  # around"


def element() -> None:
    [Lock()][0].acquire()


def returned() -> None:
    Lock().acquire()


def through_an_element() -> None:
    First.all = [First()]  # type: ignore[attr-defined]
    First.all[0].guard.acquire()  # type: ignore[attr-defined]


def awaited() -> None:
    guards = {"a": Lock()}
    guards["a"].acquire()


@pytest.mark.parametrize("block", [element, returned, through_an_element, awaited, Computed().block])
def test_an_expression_that_would_have_to_run_is_left_alone(block: Callable[[], None]) -> None:
    assert seen_at(block) is None


def test_a_program_without_readable_text_is_left_alone(tmp_path: Path) -> None:
    no_python = tmp_path / "template.txt"
    no_python.write_text("{% this is no Python %}\n" * 5)
    for name in ("<made up>", str(no_python)):
        namespace: dict[str, Any] = {"guard": Lock()}
        exec(compile("def block():\n    guard.acquire()\n", name, "exec"), namespace)
        assert seen_at(namespace["block"]) is None


def test_an_object_of_the_program_is_no_ordinary_one() -> None:
    class Mine:
        def __init__(self) -> None:
            self.inner = Lock()

        def acquire(self) -> None:
            self.inner.acquire()

    mine = Mine()
    found = seen_at(mine.acquire)
    assert made_at(found) == "self.inner = Lock()"


def test_a_condition_of_the_bubble_blames_the_ordinary_lock_below_it() -> None:
    class Guarded:
        def __init__(self) -> None:
            self.first = threading.Lock()
            self.below = Lock()  # the ordinary one
            self.changed = threading.Condition(self.below)

        def hold(self) -> None:
            with self.changed:
                threading.Event().wait()

        def take(self) -> None:
            with self.changed:
                pass

    def body() -> None:
        with synctest.bubble(hang_timeout=0.2) as b:
            guarded = Guarded()
            threading.Thread(target=guarded.hold, name="holds").start()
            b.wait()
            threading.Thread(target=guarded.take, name="takes").start()
            b.wait()

    with pytest.raises(synctest.HangError) as caught:
        body()
    assert "self.below = Lock()  # the ordinary one" in str(caught.value)
    assert "thread 'takes' blocks" in str(caught.value)


@pytest.mark.parametrize(
    ("write", "made", "advice"),
    [
        ("time.sleep(...)", None, "the name of `from time import sleep` stays the ordinary one."),
        ("threading.Lock()", "guard = Lock()", "the name of `from threading import Lock` stays the ordinary one."),
        ("threading.Lock()", "guard = threading.Lock()", "in the function that makes the queue."),
    ],
)
def test_the_advice_fits_the_line_that_made_the_object(
    tmp_path: Path, write: str, made: str | None, advice: str
) -> None:
    place = None
    if made:
        (tmp_path / "made.py").write_text(f"{made}\n")
        place = foreign.Place(str(tmp_path / "made.py"), 1, "<module>")
    text = str(foreign.Foreign(write, place, None))

    assert text.endswith(advice)
    assert ("make it inside" in text) is (made == "guard = Lock()")
    assert ("blocks at" in text) is False
