"""The user's functions: what they are, how they are called, and what they return.

Has no Go file: Go's compiler rejects a function with other parameters or another result. Without these checks Python's
own error would come at the first call, in another thread and without the place of the function.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import types
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

__all__ = [
    "call_checked",
    "call_named",
    "check_options",
    "create_checked",
    "describe_function",
    "raise_returned",
    "require_function",
    "require_instance",
    "require_methods",
    "require_object",
    "require_plain",
]

T = TypeVar("T")

# The annotations of options that are examined; see check_options.
_EXAMINED = {"str": str, "bool": bool, "dict": dict, "Mapping": dict, "list": list, "Sequence": list}
_KIND_NAMES = {str: "a str", bool: "True or False", dict: "a dict", list: "a list"}

_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


def describe_function(fn: Callable[..., object]) -> str:
    """Return the name of a function and the place of its definition, if it is no builtin one."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    code = getattr(fn if hasattr(fn, "__code__") else type(fn).__call__, "__code__", None)
    place = f" at {os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""
    return f"{name}{place}"


def require_plain(fn: object, role: str, parameters: str | None = None, *, may_yield: bool = False) -> None:
    """Raise TypeError for a coroutine or generator function: its call would run none of its code, without an error.

    `role` describes the function, such as "an event handler", and `parameters` the arguments of its calls, such as
    "old, new". Raises TypeError also for a function that does not accept this number of them; Python's own error would
    come at each call, without the place of the function. Go has no such functions, and its compiler checks the number.
    `may_yield` accepts generators, for a function that returns any iterable.
    """
    given = fn
    while isinstance(fn, functools.partial):
        fn = fn.func
    code = getattr(fn if hasattr(fn, "__code__") else type(fn).__call__, "__code__", None)
    flags = getattr(code, "co_flags", 0)
    if flags & _ASYNC:
        what = "an async function: define it with def, since this library uses threads"
    elif flags & inspect.CO_GENERATOR and not may_yield:
        what = "a generator function: its code would not run, remove yield"
    elif parameters is not None and (accepted := _other_parameters(given, parameters)) is not None:
        what = f"called with ({parameters}), and accepts ({accepted})"
    else:
        return
    assert callable(fn)
    raise TypeError(f"{role} is {what}: {describe_function(fn)}")


def require_function(fn: object, role: str, parameters: str, *, may_yield: bool = False) -> None:
    """Raise TypeError for what is no function, and as `require_plain` does."""
    if not callable(fn):
        raise TypeError(f"{role} is a function; got {fn!r}")
    require_plain(fn, role, parameters, may_yield=may_yield)


def _other_parameters(fn: object, parameters: str) -> str | None:
    """Return the positional parameters of a function that cannot be called with `parameters`; None if it can.

    Only Python's own functions are examined, by their code: a decorator may hide another signature.
    """
    count = len(parameters.split(", ")) if parameters else 0
    named: set[str] = set()
    while isinstance(fn, functools.partial):
        count += len(fn.args)
        named |= fn.keywords.keys()
        fn = fn.func
    if not isinstance(fn, (types.FunctionType, types.MethodType, type)):
        fn = types.MethodType(type(fn).__call__, fn) if callable(fn) else fn  # an object of the user with this method
    is_bound = isinstance(fn, types.MethodType)
    function = fn.__func__ if isinstance(fn, types.MethodType) else fn
    if not isinstance(function, types.FunctionType):
        return None
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional, count = names[: code.co_argcount], count + is_bound
    with_default = {*positional[len(positional) - len(function.__defaults__ or ()) :], *(function.__kwdefaults__ or ())}
    has_all = with_default | named | set(positional[:count]) >= set(names)
    fits = count <= len(positional) or bool(code.co_flags & inspect.CO_VARARGS)
    if has_all and fits and not named & set(positional[:count]):
        return None
    return ", ".join(name for name in names[is_bound:] if name not in named)


def require_methods(value: T, source: str | Callable[..., object], *methods: str) -> T:
    """Return `value` if it has the methods. Raises TypeError for another object, a class, and async methods.

    `source` is the user's function that returned it, or the name of the argument. Without this check the first call of
    a method would fail, in another place and often in another thread.
    """
    if not isinstance(value, type) and all(callable(getattr(value, method, None)) for method in methods):
        for method in methods:
            require_plain(getattr(value, method), f"the method {method} of {_source_name(source)}")
        return value
    problem = f"{source} is {value!r}" if isinstance(source, str) else f"{describe_function(source)} returned {value!r}"
    if isinstance(value, type):
        raise TypeError(f"{problem}: an object of this class is required, not the class")
    missing = ", ".join(method for method in methods if not callable(getattr(value, method, None)))
    raise TypeError(f"{problem}: an object with the methods {', '.join(methods)} is required; it has no {missing}")


def require_object(value: T, role: str, methods: Mapping[str, str]) -> T:
    """Return an object of the user if it has these methods, each with these parameters. Raises TypeError."""
    require_methods(value, role, *methods)
    for method, parameters in methods.items():
        require_plain(getattr(value, method), f"the method {method} of {role}", parameters)
    return value


def _source_name(source: str | Callable[..., object]) -> str:
    return source if isinstance(source, str) else f"the result of {describe_function(source)}"


def require_instance(value: object, cls: type, role: str) -> None:
    """Raise TypeError unless `value` is an object of the class; `role` describes it, such as "the scheme"."""
    if not isinstance(value, cls):
        got = f"the class {value.__qualname__}" if isinstance(value, type) else repr(value)
        raise TypeError(f"{role} must be {_kind_name(cls)}; got {got}")


def check_options(options: Any, cls: type, role: str) -> None:
    """Raise TypeError unless `options` is an object of this dataclass whose texts, bools, collections and options fit.

    The first use of a wrong value would fail in another place, often deep in this library or in another thread. Other
    fields are not examined, since many types only need some methods. None passes as the default. O(number of fields).
    """
    require_instance(options, cls, role)
    owner: type = type(options)
    for name, kind in _examined_fields(owner):
        value = getattr(options, name)
        if not (value is None and kind in _KIND_NAMES) and not _fits(value, kind):
            raise TypeError(f"{owner.__name__}.{name} must be {_kind_name(kind)}; got {value!r}")


@functools.cache
def _examined_fields(cls: type) -> list[tuple[str, type]]:
    """Return the fields to examine, and the class of the values of each."""
    found: list[tuple[str, type]] = []
    for each in dataclasses.fields(cls):
        # The annotations are texts, whose names may be absent at run time.
        name = str(each.type).strip("'\"").removesuffix(" | None").partition("[")[0]
        if name in _EXAMINED:
            found.append((each.name, _EXAMINED[name]))
        elif isinstance(each.default_factory, type) and dataclasses.is_dataclass(each.default_factory):
            found.append((each.name, each.default_factory))
    return found


def _fits(value: object, kind: type) -> bool:
    if kind is str:
        return isinstance(value, (str, os.PathLike))
    if kind is bool:
        return not isinstance(value, (bytes, Iterable))
    if kind is list:
        return isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    return isinstance(value, Mapping if kind is dict else kind)


def _kind_name(cls: type) -> str:
    return _KIND_NAMES.get(cls) or f"an object of {cls.__module__.removeprefix('clientgo.')}.{cls.__qualname__}"


def call_named(function: Callable[..., T], *args: object) -> T:
    """Call a function of the user. The error of a wrong number of arguments names its place, which Python's omits."""
    try:
        return function(*args)
    except TypeError as err:
        if err.__traceback__ is not None and err.__traceback__.tb_next is None:  # no line of the function ran
            raise TypeError(f"{err}: {describe_function(function)}") from None
        raise


def create_checked(create: Callable[..., T], args: tuple[object, ...], *methods: str) -> T:
    """Call `create`, a function of the user, and return its result. Raises TypeError as `require_methods` does."""
    return require_methods(create(*args), create, *methods)


def raise_returned(returned: object) -> None:
    """Raise the exception that a function of the user has returned, as a Go function returns its error.

    Raises TypeError for a coroutine: nothing of the function has run.
    """
    if isinstance(returned, BaseException):
        raise returned
    if isinstance(returned, Coroutine):
        returned.close()
        name = getattr(returned, "__qualname__", "the function")
        raise TypeError(f"{name} is an async function: define it with def")


def call_checked(function: Callable[..., T], *args: object) -> T:
    """Call a function of the user and return its result. Raises the exception that it returns, as `raise_returned`."""
    returned = call_named(function, *args)
    raise_returned(returned)
    return returned
