"""The seam: watches the machinery from outside, hop by hop, while a tour is attached.

The modules of the machinery know nothing of it. `attach` gives each function of the table in taps.py other code, which
calls the function as it was and reports what it did; `detach` gives it its own code back. So a seam costs nothing while
it is detached, and it can be attached at any moment: a structure that keeps a function, as a delaying queue keeps the
methods of its inner queue, has the same function object as all others.

The frames of the tour between a caller and the machinery are no part of what the program prints: names after callers
and log lines skip them, see clientgo.golang.callers, and an exception leaves the new code with the traceback that it
has without the tour. Only a program that prints the current stack itself sees the frames.

The new code holds no lock, never blocks and changes no results. Of all arguments, only the function that DeltaFIFO.pop
calls goes through the tour. Listeners are called in the thread that made the hop, maybe under locks of the machinery:
they must be quick, thread-safe, and must not call it. A listener's error is logged, and the listener gets the next hop.

Where there are too many hops, a `Meter` for each tap lets a part through and counts the rest.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import math
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from clientgo import hops
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.golang import callers
from clientgo.tour.attached import Attached
from clientgo.tour.hop import Code, Hop
from clientgo.utils.clock import REAL_CLOCK, PassiveClock

__all__ = ["Around", "Call", "Meter", "Probe", "Seam", "Tap", "relative_path"]

_FILENAME = "<informer tour>"
callers.mark_inserted(_FILENAME)

_ROOT = Path(__file__).resolve().parent.parent.parent
# The folder of a wheel that has the programs of cmd/.
_PROGRAMS = _ROOT / "clientgo" / "programs"

Around = Callable[..., None]
"""Code around a function. It gets a Call, which it calls, and the function's arguments."""


@dataclass(frozen=True, slots=True)
class Tap:
    """One function of the machinery at which hops happen.

    While a seam is attached, `inspect` shows the function's own source and signature. The frames of the tour cannot be
    hidden from a program that reads the running stack itself: `traceback.extract_stack`, `inspect.stack`,
    `sys._getframe` with a depth, or `logging` with a `stacklevel` above 1 in a handler.
    """

    module: str
    function: str
    """With its class: "Typed.add"."""

    station: str
    go_file: str
    go_function: str
    around: Around
    hop: str = ""
    """Its name in `clientgo.hops.TABLE`; "" for a function of a program."""

    @classmethod
    def at(cls, hop: str, around: Around) -> Tap:
        """Return the tap of a hop of `clientgo.hops.TABLE`. Raises KeyError for an unknown name."""
        place = hops.TABLE[hop]
        return cls(place.module, place.qualname, place.station, place.go_file, place.go_function, around, hop)

    def find(self) -> FunctionType:
        """Return the function. Raises LookupError when there is none."""
        return _find(self.module, self.function)


@dataclass(frozen=True, slots=True)
class Probe:
    """A function of the machinery that is always wrapped. The wrapper must be quick, and reports no hops."""

    module: str
    function: str
    around: Callable[[Callable[..., Any]], Callable[..., Any]]
    """Returns the function that is called instead of the given one."""

    @classmethod
    def at(cls, hop: str, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Probe:
        """Return the probe of a hop of `clientgo.hops.TABLE`. Raises KeyError for an unknown name."""
        place = hops.TABLE[hop]
        return cls(place.module, place.qualname, around)

    def find(self) -> FunctionType:
        """Return the function. Raises LookupError when there is none."""
        return _find(self.module, self.function)


def _find(module: str, function: str) -> FunctionType:
    owner: Any = importlib.import_module(module)
    *classes, name = function.split(".")
    for each in classes:
        owner = getattr(owner, each, None)
    found = vars(owner).get(name) if owner is not None else None
    if not isinstance(found, FunctionType):
        raise LookupError(f"there is no function {function} in {module} to watch")
    return found


class Meter:
    """A counter of one tap's calls that limits its hops. Needs no lock where hops happen.

    The first calls up to `limit` become hops. Invariant: never more than were allowed.
    """

    __slots__ = ("_emitted", "_next", "_reads", "count", "limit")

    def __init__(self) -> None:
        # To count is one step, of the interpreter or of the counter; to read takes a number as well: `_reads` of them
        # are not calls.
        self.count: Callable[[], int] = itertools.count().__next__
        """Counts a call."""
        self.limit: float = math.inf
        """A call becomes a hop if its number is below."""
        self._emitted = itertools.count()
        self._reads = 0
        self._next = 0

    def emit(self) -> None:
        """Count a call that becomes a hop."""
        next(self._emitted)

    def read(self) -> tuple[int, int]:
        """Return the number of calls, and of those that became hops. For one thread at a time, like `allow`."""
        emitted = next(self._emitted) - self._reads
        number = self.count()
        calls = number - self._reads
        self._reads += 1
        self._next = number + 1
        self.limit += 1
        return calls, emitted

    def allow(self, more: int) -> None:
        """Allow `more` further hops after the last `read`."""
        self.limit = self._next + more


class Seam(Attached):
    """One observer. `with Seam(taps, listener): ...`; several may be attached at once.

    listener: called with each hop.
    lines: True for hops that contain the lines that ran, which costs a lot more.
    clock: gives the hops' time.
    probes: code around functions, whether they make hops or not.
    metered: True for taps with a Meter, see `meters`; else every call becomes a hop.
    """

    def __init__(
        self,
        taps: Iterable[Tap],
        listener: Callable[[Hop], object],
        *,
        lines: bool = False,
        clock: PassiveClock = REAL_CLOCK,
        probes: Iterable[Probe] = (),
        metered: bool = False,
    ) -> None:
        self.taps = tuple(taps)
        self.probes = tuple(probes)
        self.lines = lines
        self.meters: Mapping[Tap, Meter] = {tap: Meter() for tap in self.taps} if metered else {}
        self._listener = listener
        self._clock = clock
        self._numbers = itertools.count()
        self._began = clock.now()

    def attach(self) -> None:
        """Begin to watch. Raises LookupError, and watches nothing, when a tap's function is not there."""
        self._began = self._clock.now()
        _patches.attach(self)

    def detach(self) -> None:
        """Watch no more. Does nothing for one that is not attached."""
        _patches.detach(self)

    def emit(self, station: str, kind: str, code: Code, **about: Any) -> None:
        """Pass a hop to the listener."""
        hop = Hop(
            number=next(self._numbers),
            station=station,
            kind=kind,
            time=round(self._clock.since(self._began), 9),
            thread=threading.current_thread().name,
            code=code,
            **about,
        )
        try:
            self._listener(hop)
        except Exception as err:
            utilruntime.handle_error(RuntimeError(f"a tour's listener raised on {hop}: {err!r}"))


class Call:
    """One call of a watched function, for the code around it."""

    def __init__(
        self,
        tap: Tap,
        seams: tuple[Seam, ...],
        fn: Callable[..., Any],
        code: CodeType,
        caller: str,
        owner: Any,
        codes: dict[str, Code],
    ) -> None:
        # By caller, those without lines: to make one takes as long as all the rest.
        self._codes = codes
        self._tap = tap
        self._seams = seams
        self._fn = fn
        self._code = code
        self.caller = caller
        """The calling line, as file:line."""
        self._owner = owner
        self._lines: list[int] = []
        self.was_called = False
        self.result: Any = None
        self.error: BaseException | None = None

    def __call__(self, *instead: Any) -> Any:
        """Call the function with its arguments or with others. Raises its errors. Call this once."""
        self.was_called = True
        try:
            if any(seam.lines for seam in self._seams):
                with _tracing(self._code, self._lines):
                    self.result = self._fn(*instead)
            else:
                self.result = self._fn(*instead)
        except BaseException as err:
            self.error = err
            raise
        return self.result

    def emit(self, kind: str, key: str = "", **about: Any) -> None:
        """Report a hop. `about`: the fields of Hop."""
        code = self._codes.get(self.caller) if not self._lines else self._where()
        if code is None:
            code = self._codes[self.caller] = self._where()
        for seam in self._seams:
            seam.emit(self._tap.station, kind, code, key=key, owner=self._owner, **about)

    def _where(self) -> Code:
        tap, lines = self._tap, tuple(sorted(set(self._lines)))
        first = self._code.co_firstlineno
        return Code(_file_of(self._code), tap.function, tap.go_file, tap.go_function, first, lines, self.caller)


@functools.lru_cache(maxsize=1024)
def _file_of(code: CodeType) -> str:
    return relative_path(code.co_filename)


@functools.lru_cache(maxsize=1024)
def relative_path(filename: str) -> str:
    """Return the path from the folder that holds `clientgo`, or the name of a file elsewhere.

    A program of a wheel has the path that it has in a clone, below `cmd`, as the lessons name it.
    """
    path = Path(filename)
    if path.is_relative_to(_PROGRAMS):
        return f"cmd/{path.relative_to(_PROGRAMS).as_posix()}"
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name


@contextmanager
def _tracing(code: CodeType, lines: list[int]) -> Iterator[None]:
    """Note the lines of `code` that run meanwhile, in this thread."""

    def on_line(frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            lines.append(frame.f_lineno)
        return on_line

    def on_call(frame: FrameType, event: str, arg: object) -> Any:
        return on_line if frame.f_code is code else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)


class _Patch:
    """A watched function, its own code and its observers.

    Invariant: the function has other code exactly while it has an observer.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._code = function.__code__
        # The same function under its own code.
        self._twin = FunctionType(
            self._code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        functools.update_wrapper(self._twin, function)
        self._twin.__kwdefaults__ = function.__kwdefaults__
        del self._twin.__wrapped__  # type: ignore[attr-defined]
        self._codes: dict[str, Code] = {}
        # Replaced, never changed: calls read it without a lock.
        self._users: tuple[tuple[Seam, Tap | Probe], ...] = ()

    def add(self, seam: Seam, observer: Tap | Probe) -> None:
        self._users = (*self._users, (seam, observer))
        self._apply()

    def remove(self, seam: Seam) -> bool:
        """Remove an observer and report whether none is left."""
        self._users = tuple(each for each in self._users if each[0] is not seam)
        self._apply()
        return not self._users

    def _apply(self) -> None:
        if not self._users:
            self._function.__code__ = self._code
            if getattr(self._function, "__wrapped__", None) is self._twin:
                del self._function.__wrapped__  # type: ignore[attr-defined]
            return
        run: Callable[..., Any] = self._twin
        for _, observer in self._users:
            if isinstance(observer, Probe):
                run = observer.around(run)
        users = [(seam, tap, seam.meters.get(tap)) for seam, tap in self._users if isinstance(tap, Tap)]

        def emit(*args: Any, **kwargs: Any) -> Any:
            """Emit a hop to the seams whose meters allow one."""
            receivers = [user for user in users if user[2] is None or user[2].count() < user[2].limit]
            return self._emit(receivers, run, args, kwargs) if receivers else run(*args, **kwargs)

        def emit_one(*args: Any, **kwargs: Any) -> Any:
            """Emit a hop to the only seam, whose meter has allowed it."""
            return self._emit(users, run, args, kwargs)

        if not users:
            code = _instead(self._code, "run({0})", run=run)
        elif len(users) == 1 and (meter := users[0][2]) is not None:
            body = "emit({0}) if count() < meter.limit else run({0})"
            code = _instead(self._code, body, run=run, emit=emit_one, count=meter.count, meter=meter)
        else:
            code = _instead(self._code, "emit({0})", emit=emit)
        self._function.__code__ = code
        if not hasattr(self._function, "__wrapped__"):
            # `inspect` follows it to the source and the signature.
            self._function.__wrapped__ = self._twin  # type: ignore[attr-defined]

    def _emit(self, users: Sequence[_User], run: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
        for *_, meter in users:
            if meter is not None:
                meter.emit()
        frame = sys._getframe(3)
        caller = f"{relative_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        seams, tap = tuple(seam for seam, *_ in users), users[0][1]
        owner = args[0] if args else None
        call = Call(
            tap, seams, lambda *instead: run(*(instead or args), **kwargs), self._code, caller, owner, self._codes
        )
        return _observe(tap, call, args, kwargs)


_User = tuple[Seam, Tap, Meter | None]


def _instead(code: CodeType, body: str, **constants: object) -> CodeType:
    """Return code with the parameters of `code` that returns `body`, in which {0} stands for the arguments.

    Python only accepts new code with as many variables of outer functions, so the new code has unused ones.
    """
    names = {f"tour's {name}": value for name, value in constants.items()} | {"tour's uncover": _uncover}
    inner = _compiled(code.co_freevars, *_signature(code), body, tuple(constants))
    values = (names.get(each, each) if isinstance(each, str) else each for each in inner.co_consts)
    return inner.replace(co_name=code.co_name, co_consts=tuple(values))


def _uncover(err: BaseException) -> None:
    """Remove the tour's frames from the start of a traceback, if frames of the program follow them.

    `raise` without an argument then adds no frame for its own function.
    """
    rest = err.__traceback__
    while rest is not None and callers.is_inserted(rest.tb_frame.f_code.co_filename):
        rest = rest.tb_next
    if rest is not None:
        err.__traceback__ = rest


# A run in virtual time attaches a seam of its own: without a cache a third of a short run is spent here.
@functools.lru_cache(maxsize=1024)
def _compiled(
    variables: tuple[str, ...], parameters: str, arguments: str, body: str, constants: tuple[str, ...]
) -> CodeType:
    """Return the code of `_instead`, with marks in the places of its constants."""
    free = "".join(f"{name}, " for name in variables)
    constants = (*constants, "uncover")
    source = "\n".join(
        [
            f"def outer({free}):",
            f"  def inner({parameters}):",
            *(f'    _tour_{name} = "tour\'s {name}"' for name in constants),
            "    try:",
            f"      return {re.sub('|'.join(constants), lambda found: f'_tour_{found[0]}', body).format(arguments)}",
            "    except BaseException as _tour_error:",
            "      _tour_uncover(_tour_error)",
            "      raise",
            f"    {free}",
            "  return inner",
        ]
    )
    scope: dict[str, Any] = {}
    exec(compile(source, _FILENAME, "exec"), scope)
    inner: CodeType = scope["outer"](*variables).__code__
    return inner


def _signature(code: CodeType) -> tuple[str, str]:
    """Return a function's parameters, and the arguments that pass all of them on. Defaults are no part of the code."""
    names = iter(code.co_varnames)
    parameters, arguments = [], []
    for number in range(code.co_argcount):
        name = next(names)
        arguments.append(name)
        parameters.append(name)
        if number + 1 == code.co_posonlyargcount:
            parameters.append("/")
    only_named = [next(names) for _ in range(code.co_kwonlyargcount)]
    if code.co_flags & inspect.CO_VARARGS:
        rest = f"*{next(names)}"
        parameters.append(rest)
        arguments.append(rest)
    elif only_named:
        parameters.append("*")
    parameters += only_named
    arguments += [f"{name}={name}" for name in only_named]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        rest = f"**{next(names)}"
        parameters.append(rest)
        arguments.append(rest)
    return ", ".join(parameters), ", ".join(arguments)


class _Patches:
    """The functions that are watched, by all seams together."""

    def __init__(self) -> None:
        # Guards all below.
        self._lock = threading.RLock()
        self._attached: list[Seam] = []
        self._patches: dict[tuple[str, str], _Patch] = {}

    def attach(self, seam: Seam) -> None:
        with self._lock:
            if any(seam is other for other in self._attached):
                raise RuntimeError("the tour is attached already")
            watched: tuple[Tap | Probe, ...] = (*seam.probes, *seam.taps)
            found = [(observer, observer.find()) for observer in watched]
            self._attached.append(seam)
            for observer, function in found:
                key = observer.module, observer.function
                if key not in self._patches:
                    self._patches[key] = _Patch(function)
                self._patches[key].add(seam, observer)

    def detach(self, seam: Seam) -> None:
        with self._lock:
            self._attached = [other for other in self._attached if other is not seam]
            self._patches = {key: patch for key, patch in self._patches.items() if not patch.remove(seam)}


def _observe(tap: Tap, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the function's result or raise its error, whatever the code around it does."""
    failure: Exception | None = None
    try:
        tap.around(call, *args, **kwargs)
    except Exception as err:
        failure = err
    if not call.was_called:
        # An argument that the function refuses, such as an item that is not hashable, may be too much for the tour
        # first. Then the function's error is the only one: the call raises it, and the tour logs nothing.
        call()
    if failure is not None and failure is not call.error:
        utilruntime.handle_error(RuntimeError(f"the tour could not observe {tap.function}: {failure!r}"))
    if call.error is not None:
        raise call.error
    return call.result


_patches = _Patches()
