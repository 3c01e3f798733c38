"""Checks of a project's API package before anything is generated from it. Each error names the line to fix."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
import traceback
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from clientgo.apimachinery.runtime import FieldInfo, Struct


def import_api(name: str, root: Path) -> ModuleType:
    """Import and return a package. Raises ValueError that names the failing line of the user's own code."""
    try:
        return importlib.import_module(name)
    except SyntaxError as err:
        raise ValueError(f"{err.filename}:{err.lineno}: {err.msg}") from err
    except Exception as err:
        frames = [frame for frame in traceback.extract_tb(err.__traceback__) if _is_under(frame.filename, root)]
        if not frames:
            raise ValueError(str(err)) from err
        raise ValueError(f"{frames[-1].filename}:{frames[-1].lineno}: {type(err).__name__}: {err}") from err


def _is_under(filename: str, root: Path) -> bool:
    return Path(filename).resolve().is_relative_to(root.resolve())


def check_fields(module: ModuleType) -> None:
    """Raise ValueError for fields with an invalid type, or a type that differs from the annotation.

    Of all structs that the package's kinds are made of and that stand in the package.
    """
    exported = [getattr(module, name, None) for name in module.__all__]
    structs = dict.fromkeys(cls for cls in exported if isinstance(cls, type) and issubclass(cls, Struct))
    problems: list[str] = []
    waiting = list(structs)
    while waiting:
        cls = waiting.pop(0)
        for info, problem, inner in _fields_of(cls):
            if problem:
                problems.append(f"{place(cls, info.attr)}: {cls.__name__}.{info.attr} {problem}")
            for found in inner:
                if found not in structs and found.__module__.startswith(module.__name__):
                    structs[found] = None
                    waiting.append(found)
    if problems:
        raise ValueError("\n".join(problems))


def _fields_of(cls: type[Struct]) -> Iterator[tuple[FieldInfo, str, list[type[Struct]]]]:
    """Yield each field that the class itself declares, its problem or "", and the structs that it is made of."""
    for attr, declared in vars(cls).items():
        info = cls._fields.get(attr)
        if info is None or not isinstance(declared, property) or declared.fget is None:
            continue
        try:
            is_read_as = typing.get_type_hints(declared.fget)["return"]
        except AttributeError:
            yield info, f'is declared as "{info.type}", and there is no such type', []
            continue
        try:
            annotation = typing.get_type_hints(_Annotated(cls, attr))[attr]
        except (NameError, KeyError):  # It is none, or for type checkers alone: they look at it.
            annotation = Any
        fits = _fits(_without_none(annotation), is_read_as)
        problem = "" if fits else f'is declared as "{info.type}", and annotated as {_shown(annotation)}'
        yield info, problem, list(_structs_in(is_read_as))


class _Annotated:
    """One annotation of a class, without those of the classes it inherits from."""

    def __init__(self, cls: type, attr: str) -> None:
        self.__annotations__ = {attr: cls.__annotations__[attr]}
        self.__globals__ = vars(sys.modules[cls.__module__])


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return annotation
    others = [each for each in typing.get_args(annotation) if each is not type(None)]
    return others[0] if len(others) == 1 else typing.Union[tuple(others)]  # noqa: UP007


def _fits(annotation: Any, is_read_as: Any) -> bool:
    """Report whether the annotation fits the type that the field is decoded as. Both may be nested to any depth."""
    if Any in (annotation, is_read_as) or annotation is object:
        return True
    origin, arguments = typing.get_origin(is_read_as), typing.get_args(is_read_as)
    if origin is list or origin is dict:
        own = typing.get_origin(annotation)
        if not isinstance(own, type) or not issubclass(own, Sequence if origin is list else Mapping):
            return False
        own_arguments = typing.get_args(annotation)
        return len(own_arguments) == len(arguments) and all(map(_fits, map(_without_none, own_arguments), arguments))
    if origin is not None:
        return set(typing.get_args(annotation)) == set(arguments)
    if isinstance(annotation, type) and isinstance(is_read_as, type):
        return issubclass(is_read_as, annotation) or (issubclass(annotation, is_read_as) and annotation is not bool)
    return bool(annotation == is_read_as)


def _structs_in(hint: Any) -> Iterator[type[Struct]]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for argument in typing.get_args(hint):
        yield from _structs_in(argument)


def _shown(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def place(cls: type, attr: str) -> str:
    """Return the file and line that declare an attribute, or the module when the class has no source file."""
    try:
        lines, start = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return cls.__module__
    (body,) = ast.parse(textwrap.dedent("".join(lines))).body
    assert isinstance(body, ast.ClassDef)
    for statement in body.body:
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == attr:
            start += statement.lineno - 1
    return f"{inspect.getsourcefile(cls)}:{start}"
