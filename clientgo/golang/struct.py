"""Dataclasses whose methods are compiled in one go: what Go's `struct` is to a program that has to start quickly.

Python 3.13 does that itself, and this is its `dataclass` there. Before, each method of each class is compiled by
itself, up to six for a frozen one: a quarter of what it costs to import the clients and the informers.

    from clientgo.golang.struct import dataclass

    @dataclass(frozen=True, slots=True)
    class Delta: ...

All that `dataclasses` has takes these classes for its own, and so do type checkers. What is asked for rarely is left to
it from the start: order, `unsafe_hash`, InitVar, classes without a docstring, and those that inherit from a dataclass.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING or sys.version_info >= (3, 13):
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Go's struct: `dataclasses.dataclass`, with the same options."""
        return (lambda cls: _make(cls, options)) if cls is None else _make(cls, options)


_OPTIONS = {"eq", "frozen", "kw_only", "repr", "slots"}
_OF_FROZEN = {"__setattr__", "__delattr__", "__getstate__", "__setstate__"}
_OPERANDS = ("self", "other")
# Stands for the default of a field with a default_factory.
_MADE: Any = type("_Made", (), {"__repr__": lambda self: "<factory>"})()


def _make(cls: type, options: dict[str, bool]) -> type:
    """The class with the methods that the options ask for. Those it has itself stay."""
    if not options.keys() <= _OPTIONS or not cls.__doc__ or _is_unusual(cls):
        return dataclasses.dataclass(**options)(cls)
    eq, frozen = options.get("eq", True), options.get("frozen", False)
    own = cls.__dict__
    has_init, has_eq, has_repr = "__init__" in own, "__eq__" in own, "__repr__" in own
    has_hash = own.get("__hash__") is not None or ("__hash__" in own and not has_eq)
    kept = {name: options[name] for name in ("kw_only", "slots") if name in options}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **kept)(cls)
    params = made.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, options.get("repr", True), eq, frozen

    fields = dataclasses.fields(made)
    slots, hashes = options.get("slots", False), eq and frozen and not has_hash
    methods = _compile(made, fields, frozen, slots, hashes)
    if has_init:
        del methods["__init__"]
    if params.repr and not has_repr:
        methods["__repr__"] = _repr_of([field.name for field in fields if field.repr])
    if has_eq or not eq:
        methods.pop("__eq__", None)
    elif "__eq__" not in methods:
        methods["__eq__"] = _equality_of([field.name for field in fields if field.compare])
    if frozen:
        methods |= _frozen(made, tuple(field.name for field in fields), slots)
    for name, method in methods.items():
        method.__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, method)
    if eq and not has_hash and not hashes:
        made.__hash__ = None
    return made  # type: ignore[no-any-return]


def _is_unusual(cls: type) -> bool:
    """Whether there are fields of a base, such as are none, or methods that a frozen class may not have."""
    hints = inspect.get_annotations(cls)
    return (
        any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:])
        or any("InitVar" in str(hint) or "KW_ONLY" in str(hint) for hint in hints.values())
        or not cls.__dict__.keys().isdisjoint(_OF_FROZEN)
    )


_Fields = tuple[dataclasses.Field[Any], ...]


def _compile(cls: type, fields: _Fields, frozen: bool, slots: bool, hashes: bool) -> dict[str, Any]:
    """`__init__`, and for keys of dicts `__eq__` and `__hash__`, which are as fast as the interpreter can make them."""
    given: dict[str, Any] = {"_made_": _MADE, "_set_": object.__setattr__}
    positional: list[str] = []
    by_name: list[str] = []
    body = []
    for number, field in enumerate(fields):
        name = parameter = value = field.name
        if field.default_factory is not dataclasses.MISSING:
            given[f"_new_{number}_"] = field.default_factory
            parameter = f"{name}=_made_"
            value = f"_new_{number}_() if {name} is _made_ else {name}" if field.init else f"_new_{number}_()"
        elif field.default is not dataclasses.MISSING:
            given[f"_default_{number}_"] = field.default
            parameter = f"{name}=_default_{number}_"
            value = name if field.init else f"_default_{number}_"
        if field.init:
            (by_name if field.kw_only else positional).append(parameter)
        elif value == name or (field.default is not dataclasses.MISSING and not slots):
            continue  # The class has it, or nobody yet.
        body.append(f"  _set_(self, {name!r}, {value})" if frozen else f"  self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("  self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*"] if by_name else []), *by_name])
    text = f"def make({', '.join(given)}):\n def __init__({parameters}):\n{chr(10).join(body) or '  pass'}\n"
    if hashes:
        own, others = (f"({''.join(f'{of}.{field.name}, ' for field in fields if field.compare)})" for of in _OPERANDS)
        hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
        text += f"""\
 def __eq__(self, other):
  return {own} == {others} if other.__class__ is self.__class__ else NotImplemented
 def __hash__(self):
  return hash(({"".join(f"self.{name}, " for name in hashed)}))
 return __init__, __eq__, __hash__
"""
    else:
        text += " return __init__,\n"
    found: dict[str, Any] = {}
    exec(text, getattr(sys.modules.get(cls.__module__), "__dict__", {}), found)
    methods = {method.__name__: method for method in found["make"](**given)}
    methods["__init__"].__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return methods


def _equality_of(names: list[str]) -> Any:
    """Of what is no key, and so hardly ever compared."""
    # With two names or more it gives a tuple; a tuple of one finds what is the same object equal, whatever it says.
    values: Any = attrgetter(*names) if len(names) > 1 else lambda obj: tuple([getattr(obj, name) for name in names])

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _repr_of(names: list[str]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _frozen(cls: Any, names: tuple[str, ...], slots: bool) -> dict[str, Any]:
    """What forbids to change the fields of an object, and yet lets pickle and copy make one."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    changing = {"__setattr__": __setattr__, "__delattr__": __delattr__}
    return changing | {"__getstate__": __getstate__, "__setstate__": __setstate__} if slots else changing
