"""Stop signals: Go's `chan struct{}` that is only ever closed.

Mirrors no Go file. A `StopChannel` is any object with `is_set` and `wait`, usually a threading.Event. A `Signal` can
also call functions: so a cancelled context cancels its children without a waiting thread.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import logging
import os
import threading
import types
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

__all__ = [
    "Done",
    "Signal",
    "StopChannel",
    "add_done_callback",
    "call_in_thread",
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

# Seconds between two checks whether the watcher of a foreign StopChannel is still needed; None disables them. The stop
# itself is noticed at once; this only bounds the lifetime of an abandoned watcher.
WATCHER_IDLE_SECONDS: float | None = 1.0

WATCHER_NAME = "stop-watcher"

# The annotations of options that are examined; see check_options.
_EXAMINED = {"str": str, "bool": bool, "dict": dict, "Mapping": dict, "list": list, "Sequence": list}
_KIND_NAMES = {str: "a str", bool: "True or False", dict: "a dict", list: "a list"}

_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


@runtime_checkable
class StopChannel(Protocol):
    """The counterpart of Go's `stopCh <-chan struct{}`: a threading.Event, a `Signal` or `ctx.done()`.

    Once set it stays set.
    """

    def is_set(self) -> bool:
        """Report whether the channel is closed. Never blocks."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the channel is closed or `timeout` seconds have passed; return `is_set()`."""
        ...


class Done(StopChannel, Protocol):
    """A StopChannel that also calls back: what `Context.done()` returns."""

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        """See `Signal.add_done_callback`."""
        ...


class Signal:
    """Go's `chan struct{}` that is closed once and never sent on.

    Thread-safe. Reading `is_set` takes no lock. The first waiter creates the event behind `wait`, so a signal without
    waiters costs one lock and an empty dict.

    Invariants: once set it stays set and holds no callbacks; every callback runs exactly once or was removed.
    """

    __slots__ = ("__weakref__", "_callbacks", "_event", "_lock", "_set")

    def __init__(self) -> None:
        # Guards the other fields. Never held while callbacks run.
        self._lock = threading.Lock()
        self._set = False
        self._event: threading.Event | None = None
        self._callbacks: dict[object, Callable[[], None]] = {}

    def set(self) -> bool:
        """Close the channel (Go: `close(ch)`): wake the waiters, then run the callbacks in the order they were added.

        The callbacks run in this thread, without a lock held; one that raises is logged and does not keep the others
        from running. Returns False when the signal was set already (closing twice panics in Go, here it does nothing).
        """
        with self._lock:
            if self._set:
                return False
            self._set = True
            event = self._event
            callbacks, self._callbacks = self._callbacks, {}
        if event is not None:
            event.set()
        for fn in callbacks.values():
            _run_callback(fn)
        return True

    def is_set(self) -> bool:
        """Report whether `set` was called. Never blocks."""
        return self._set

    def wait(self, timeout: float | None = None) -> bool:
        """Block until set or until `timeout` seconds of real time have passed; return whether it is set."""
        if self._set:
            return True
        with self._lock:
            if self._set:
                return True
            if self._event is None:
                self._event = threading.Event()
            event = self._event
        return event.wait(timeout)

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        """Run `fn` once when the signal is set, in the thread that sets it; at once, in this one, if it is set already.

        Returns a function that removes the callback again: True when it was still waiting, False when it has run or is
        about to.
        """
        key = object()
        with self._lock:
            waiting = not self._set
            if waiting:
                self._callbacks[key] = fn
        if not waiting:
            _run_callback(fn)

        def remove() -> bool:
            with self._lock:
                return self._callbacks.pop(key, None) is not None

        return remove

    def __repr__(self) -> str:
        return f"<Signal {'set' if self._set else 'open'}, {len(self._callbacks)} callbacks>"

    def _check(self) -> None:
        with self._lock:
            assert not (self._set and self._callbacks)


def is_crash(err: BaseException) -> bool:
    """Report whether an exception of the user's code in this thread corresponds to a panic in Go.

    In the main thread these are the subclasses of Exception. Another thread would end without notice to the rest of
    the program, so that all others count there too, such as `sys.exit` and asyncio's CancelledError. KeyboardInterrupt
    never counts, nor do exceptions whose class has a true `ends_thread`, with which a test ends its threads.
    """
    if isinstance(err, Exception):
        return True
    if threading.current_thread() is threading.main_thread():
        return False
    return not isinstance(err, KeyboardInterrupt) and not getattr(type(err), "ends_thread", False)


def call_in_thread(fn: Callable[[], object], name: str) -> None:
    """Call `fn` in a new daemon thread. If it raises, the thread is named after it too, where its error is reported.

    Python reports the error on stderr and goes on, or as `threading.excepthook` says. A panic ends a Go program.
    """
    threading.Thread(target=_run_named, args=(fn,), name=name, daemon=True).start()


def _run_named(fn: Callable[[], object]) -> None:
    try:
        _run_logging_exit(fn)
    except Exception:
        threading.current_thread().name += f" of {describe_function(fn)}"
        raise


def _run_logging_exit(fn: Callable[[], object]) -> None:
    """Call `fn` as the body of a thread. Logs `sys.exit`, which Python ignores there without a message, with its stack.

    Go's runtime.Goexit ends only the goroutine too, and os.Exit the process; `sys.exit` is meant as the latter.
    """
    try:
        fn()
    except SystemExit:
        if threading.current_thread() is threading.main_thread():
            raise
        # The only logger this module may know: everything else, klog included, stands above it.
        logging.getLogger("clientgo").exception(
            "sys.exit ends the program only in the main thread: cancel the program's context instead"
        )


def _run_callback(fn: Callable[[], None]) -> None:
    try:
        _run_logging_exit(fn)
    except Exception as err:
        try:
            text = str(err).partition("\n")[0]
        except Exception as broken:
            text = f"<no text: {type(broken).__name__}>"
        logging.getLogger("clientgo").exception(
            "A done callback failed: %s at %s", f"{type(err).__qualname__}: {text}".rstrip(": "), _place(err, fn)
        )


def _place(err: BaseException, fn: Callable[[], object]) -> str:
    """Return the line of the callback, which is the third frame, or its description if it is a builtin function."""
    at = err.__traceback__
    for _ in range(2):
        at = at.tb_next if at is not None else at
    if at is None:
        return describe_function(fn)
    code = at.tb_frame.f_code
    return f"{os.path.basename(code.co_filename)}:{at.tb_lineno} in {code.co_name}"


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


def add_done_callback(stop: StopChannel, fn: Callable[[], None]) -> Callable[[], bool]:
    """Call `fn` when any StopChannel is done, like `Signal.add_done_callback`.

    For one that cannot call back, as a threading.Event, one thread named "stop-watcher" waits on behalf of all callers
    and runs the callbacks. It ends then, or within a second after the last callback was removed. Programs that make
    very many stop events make each a `Signal`, which takes no thread.
    """
    if hasattr(stop, "add_done_callback"):
        return cast(Done, stop).add_done_callback(fn)
    if stop.is_set():
        _run_callback(fn)
        return lambda: False
    return _watch(stop, fn)


class _Watcher:
    """Waits for one StopChannel in a thread of its own and passes it on to a Signal."""

    def __init__(self, stop: StopChannel) -> None:
        self.stop = stop
        self.users = 0
        self.signal = Signal()

    def start(self) -> None:
        threading.Thread(target=self._run, name=WATCHER_NAME, daemon=True).start()

    def _run(self) -> None:
        try:
            while not self.stop.wait(WATCHER_IDLE_SECONDS):
                with _watchers_lock:
                    if self.users == 0:
                        self._leave()
                        return
        finally:
            with _watchers_lock:
                self._leave()
        self.signal.set()

    def _leave(self) -> None:
        """Stop being the current watcher, so that a later caller makes another one. Called with _watchers_lock held."""
        if _watchers.get(id(self.stop)) is self:
            del _watchers[id(self.stop)]


# Guards _watchers and the `users` of each watcher; held only for dict operations.
_watchers_lock = threading.Lock()
_watchers: dict[int, _Watcher] = {}  # by id(): the watcher keeps its channel alive, which need not be hashable


def _watch(stop: StopChannel, fn: Callable[[], None]) -> Callable[[], bool]:
    with _watchers_lock:
        watcher = _watchers.get(id(stop))
        fresh = watcher is None
        if watcher is None:
            watcher = _watchers[id(stop)] = _Watcher(stop)
        watcher.users += 1
    remove_callback = watcher.signal.add_done_callback(fn)
    if fresh:
        watcher.start()

    def remove() -> bool:
        if not remove_callback():
            return False
        with _watchers_lock:
            watcher.users -= 1
        return True

    return remove
