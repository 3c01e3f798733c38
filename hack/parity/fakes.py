"""Find names that exist but do not do what Go's do: objects of the wrong kind, and functions without a body.

Examples are a class that is only a second name of another class, a function that accepts all arguments and does
nothing, and a method that raises NotImplementedError or that only a protocol declares.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, get_origin

PACKAGE = "clientgo"

_FUNCTIONS = ("func", "method", "interface-method")


def wrong_kind(kind: str, name: str, found: Any, owner: Any) -> str:
    """Return why the object cannot be what Go has there, or "" if it can.

    `kind` is a kind of api.tsv, `name` the last part of the Python name, and `owner` the class or module of the object.
    """
    if kind in _FUNCTIONS:
        return _wrong_function(found, owner)
    if kind in ("type-struct", "type-interface"):
        return _wrong_class(name, found)
    if kind == "type-func":
        return "" if _is_function_type(found) else f"{found!r} is no type of functions"
    if kind in ("type-other", "type-alias"):
        return "" if _is_type(found) else f"{found!r} is no type"
    if kind in ("const", "var"):
        return _wrong_value(kind, found)
    if kind == "field-of-exported-struct":
        return _wrong_field(name, found, owner)
    return ""


def _wrong_function(found: Any, owner: Any) -> str:
    if not callable(found):
        return "cannot be called"
    # A method that a class has from elsewhere (a set's union) is the class's own all the same.
    if owner is None or not isinstance(get_origin(owner) or owner, type):
        home = getattr(found, "__module__", None) or ""
        if not isinstance(found, functools.partial) and home.partition(".")[0] != PACKAGE:
            return f"{found!r} is not ours"
    return ""


def _wrong_class(name: str, found: Any) -> str:
    cls = get_origin(found) or found
    if not isinstance(cls, type):
        return f"{found!r} is no class"
    if cls.__module__.partition(".")[0] != PACKAGE:
        return f"another name of {cls.__module__}.{cls.__qualname__}"
    if cls.__name__ != name:
        return f"another name of {cls.__qualname__}"
    return ""


def _is_function_type(found: Any) -> bool:
    if isinstance(found, str):  # a forward reference
        return found.startswith("Callable[")
    if get_origin(found) is not None:
        return get_origin(found) is _CALLABLE
    if not isinstance(found, type) or found.__module__.partition(".")[0] != PACKAGE:
        return False
    # A protocol with __call__, or a class made from a function, where Go converts it.
    return "__call__" in vars(found) or len(inspect.signature(found).parameters) == 1


_CALLABLE = get_origin(Callable[[], None])


def _is_type(found: Any) -> bool:
    return isinstance(found, type) or get_origin(found) is not None or hasattr(found, "__supertype__")


def _wrong_value(kind: str, found: Any) -> str:
    if found is None:
        return "is None"
    if kind == "const" and callable(found) and not isinstance(found, str | int | float):
        return f"{found!r} is no constant"
    if getattr(found, "__name__", "") == "<lambda>":
        return "is a lambda"
    return ""


def _wrong_field(name: str, found: Any, owner: Any) -> str:
    """Return the problem of a field that is a method, or "". A method is allowed as the default of a declared field."""
    cls = get_origin(owner) or owner
    if not isinstance(cls, type):
        return ""
    raw = inspect.getattr_static(cls, name, None)
    declared = any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__)
    return "is a method" if isinstance(raw, FunctionType) and not declared else ""


# ---- bodies


def no_body(kind: str, name: str, found: Any, owner: Any) -> str:
    """Return why the function does nothing yet, or "" if it does something or only needs a declaration."""
    if kind not in _FUNCTIONS:
        return ""
    function, home = _definition(name, found, owner)
    if function is None:
        return ""
    if getattr(home, "_is_protocol", False) or getattr(function, "__isabstractmethod__", False):
        return "" if kind == "interface-method" or home is owner else f"only {home.__name__} declares it"
    if _takes_anything(function):
        return "takes anything"
    return _says_nothing(function)


def _definition(name: str, found: Any, owner: Any) -> tuple[FunctionType | None, Any]:
    """Return the plain function under a name, and the class it stands in."""
    cls = get_origin(owner) or owner
    home = None
    if isinstance(cls, type):
        home = next((base for base in cls.__mro__ if name in vars(base)), None)
        found = vars(home)[name] if home is not None else found
    if isinstance(found, property):
        found = found.fget
    found = inspect.unwrap(getattr(found, "__func__", found))
    return (found if isinstance(found, FunctionType) else None), home


def _takes_anything(function: FunctionType) -> bool:
    """Report whether neither the number of arguments nor their names mean anything."""
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    return kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _says_nothing(function: FunctionType) -> str:
    for tree in _parsed(function):
        if isinstance(tree, ast.Lambda):
            return "a lambda that returns a constant" if isinstance(tree.body, ast.Constant) else ""
        body = [node for node in tree.body if not _is_text(node)]
        if all(isinstance(node, ast.Pass) or _returns_none(node) for node in body):
            return "does nothing"
        if isinstance(body[0], ast.Raise) and "NotImplementedError" in ast.unparse(body[0]):
            return "raises NotImplementedError"
    return ""


def _parsed(function: FunctionType) -> Iterator[ast.FunctionDef | ast.Lambda]:
    """Yield the function's own tree; nothing when it has no source, as what a dataclass adds."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source if not source.startswith(".") else f"_{source}")
    except (OSError, TypeError, SyntaxError):
        return
    wanted: type[ast.Lambda] | type[ast.FunctionDef]
    wanted = ast.Lambda if function.__name__ == "<lambda>" else ast.FunctionDef
    for node in ast.walk(tree):
        if isinstance(node, wanted):
            yield node
            return


def _is_text(node: ast.stmt) -> bool:
    """Report whether the statement is a docstring or an ellipsis."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _returns_none(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Return):
        return False
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
