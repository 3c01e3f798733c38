"""Completion of names by type, for `clientgo shell`: `client.core_v1().pods("default").list(ctx).items[0].sp` and Tab.

Python's rlcompleter stops at a call. This module reads the return annotations of functions and the annotations of
fields, and calls nothing, so that Tab never sends a request. Has no Go counterpart.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
import sys
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

__all__ = ["Completer"]

_CLOSING = {")": "(", "]": "["}


class _Value(NamedTuple):
    """An object of the shell."""

    object: Any


class _Method(NamedTuple):
    """A function of a class, and the type variables of the class that declares it."""

    function: Any
    owner: type
    variables: Mapping[Any, Any]


class _Instance(NamedTuple):
    """An object of a class, which does not exist yet."""

    cls: type
    arguments: tuple[Any, ...] = ()


_Known = _Value | _Method | _Instance


class Completer:
    """Completes expressions of attributes, calls and indices whose first name is in `names`."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def matches(self, line: str) -> list[str]:
        """Return the names that continue the expression at the end of the line, without what precedes its last dot."""
        before, dot, start = _expression(line).rpartition(".")
        if not dot:
            names = [*self._names, *dir(builtins)]
            return sorted({name for name in names if name.startswith(start) and not name.startswith("__")})
        try:
            known = self._known(ast.parse(before, mode="eval").body)
        except SyntaxError:
            return []
        if known is None:
            return []
        wanted = (name for name in _members(known) if name.startswith(start) and (start or not name.startswith("_")))
        return sorted(name + _call(_attribute(known, name)) for name in wanted)

    def _known(self, node: ast.expr) -> _Known | None:
        match node:
            case ast.Name(id=name):
                return _Value(self._names[name]) if name in self._names else None
            case ast.Attribute(value=value, attr=name):
                known = self._known(value)
                return known and _attribute(known, name)
            case ast.Call(func=function):
                known = self._known(function)
                return known and _result(known)
            case ast.Subscript(value=value, slice=index):
                known = self._known(value)
                return known if isinstance(index, ast.Slice) else known and _item(known)
        return None


def _expression(line: str) -> str:
    """Return the attributes, calls and indices at the end of a line."""
    start = len(line)
    while start:
        char = line[start - 1]
        if char.isidentifier() or char.isdigit() or char == ".":
            start -= 1
        elif char in _CLOSING and (opening := _opening(line, start - 1)) is not None:
            start = opening
        else:
            break
    return line[start:]


def _opening(line: str, closing: int) -> int | None:
    """Return the index of the bracket that a closing one belongs to. Brackets in strings do not count."""
    text = re.sub(r"\"[^\"]*\"|'[^']*'", lambda match: "_" * len(match[0]), line)
    depth = 0
    for index in range(closing, -1, -1):
        depth += (text[index] in ")]") - (text[index] in "([")
        if not depth:
            return index if text[index] == _CLOSING[line[closing]] else None
    return None


def _members(known: _Known) -> list[str]:
    match known:
        case _Value(object=value):
            return dir(value)
        case _Instance(cls=cls):
            return dir(cls)
    return []


def _attribute(known: _Known, name: str) -> _Known | None:
    if isinstance(known, _Value):
        value = known.object
        if isinstance(value, type | types.ModuleType) or not isinstance(
            inspect.getattr_static(type(value), name, None), property
        ):
            found = getattr(value, name, None)
            return None if found is None else _Value(found)
        known = _Instance(type(value))
    if not isinstance(known, _Instance):
        return None
    variables = _variables(known)
    for cls in known.cls.__mro__:
        if annotation := inspect.get_annotations(cls).get(name):
            return _instance(_evaluated(annotation, cls.__module__), variables)
        member = cls.__dict__.get(name)
        if isinstance(member, property):
            return _result(_Method(member.fget, known.cls, variables))
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if inspect.isfunction(member):
            return _Method(member, known.cls, variables)
    return None


def _result(known: _Known) -> _Known | None:
    """Return the result of a call."""
    variables: Mapping[Any, Any] = {}
    owner: type | None = None
    match known:
        case _Value(object=value) if isinstance(value, type):
            return _Instance(value)
        case _Value(object=types.MethodType() as value):
            owner = type(value.__self__)
            variables = _variables(_Instance(owner))
            function = value.__func__
        case _Value(object=types.FunctionType() as value):
            function = value
        case _Method(function=function, owner=owner, variables=variables):
            pass
        case _:
            return None
    function = inspect.unwrap(function)
    annotation = _evaluated(function.__annotations__.get("return"), function.__module__)
    return _Instance(owner) if annotation is typing.Self and owner else _instance(annotation, variables)


def _item(known: _Known) -> _Known | None:
    if isinstance(known, _Value):
        return _Value(known.object[0]) if isinstance(known.object, list) and known.object else None
    return _instance(known.arguments[-1], {}) if isinstance(known, _Instance) and known.arguments else None


def _instance(annotation: Any, variables: Mapping[Any, Any]) -> _Instance | None:
    """Return an object of a type: without None, with the values of type variables."""
    annotation = variables.get(annotation, annotation) if isinstance(annotation, TypeVar) else annotation
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not type(None)]
        return _instance(parts[0], variables) if len(parts) == 1 else None
    arguments = tuple(variables.get(part, part) for part in typing.get_args(annotation))
    cls = origin or annotation
    return _Instance(cls, arguments) if isinstance(cls, type) else None


def _variables(known: _Instance) -> dict[Any, Any]:
    """Return the values of the type variables of a class and its bases."""
    found: dict[Any, Any] = {}
    pending = [(known.cls, known.arguments)]
    while pending:
        cls, arguments = pending.pop()
        found.update(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
        for base in cls.__dict__.get("__orig_bases__", cls.__bases__):
            origin = typing.get_origin(base) or base
            if origin not in (typing.Generic, typing.Protocol, object):
                pending.append((origin, tuple(found.get(part, part) for part in typing.get_args(base))))
    return found


def _call(known: _Known | None) -> str:
    """Return "(" behind a function's name, "()" if it takes no argument."""
    match known:
        case _Method(function=function):
            skipped = 1
        case _Value(object=types.MethodType() | types.FunctionType() as function):
            skipped = 0
        case _:
            return ""
    try:
        return "(" if len(inspect.signature(function).parameters) > skipped else "()"
    except (TypeError, ValueError):
        return "("


def _evaluated(annotation: Any, module: str) -> Any:
    """Return the object that an annotation names, or None. Imports what the module imports for type checkers only."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, _Names(module))
    except (NameError, AttributeError, TypeError, SyntaxError, ImportError):
        return None


class _Names(dict[str, Any]):
    """The global names of a module, and those that it imports for type checkers."""

    def __init__(self, module: str) -> None:
        super().__init__(vars(sys.modules[module]))
        self._module = module

    def __missing__(self, name: str) -> Any:
        source, original = _imports(self._module)[name]
        module = importlib.import_module(source)
        return getattr(module, original, None) or importlib.import_module(f"{source}.{original}")


@cache
def _imports(module: str) -> dict[str, tuple[str, str]]:
    """Return the imports anywhere in a module: the module and the name there, by name."""
    return {
        each.asname or each.name: (node.module, each.name)
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[module])))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for each in node.names
    }
