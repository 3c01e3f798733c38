"""Runs another program with the tour attached, in the same process.

    python -m clientgo.tour.attach [flags] -- program

What follows `--` is what would follow `python`: a file, a folder with a __main__.py, or `-m module`; then the program's
own arguments. The program has its arguments, its main thread with all signals, and its exit code for itself. It sees
the tour only by threads that take no signals, and by the address that is printed before it begins, to stderr.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import io
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, TracebackType

from clientgo.tour.recorder import record
from clientgo.tour.seam import Tap
from clientgo.tour.serving import serve
from clientgo.tour.taps import worker_tap
from clientgo.tour.web import browser_on

__all__ = ["add_flags", "main", "split"]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of this command, which cmd/informer-tour shares."""
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1; any free one by default")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--record", default="", metavar="FILE", help="keep what comes to the program, and every hop, in a new file"
    )
    parser.add_argument(
        "--worker",
        action="append",
        default=[],
        metavar="MODULE:CLASS.METHOD",
        help="what brings a key in order, to be watched too, if there is a program: controller:Controller.sync_handler",
    )


def main(arguments: Sequence[str]) -> int:
    """Run the program to its end. Returns an exit code; a SystemExit of the program's goes through."""
    parser = argparse.ArgumentParser(prog="clientgo.tour.attach", allow_abbrev=False)
    add_flags(parser)
    own, program = split(arguments)
    flags = parser.parse_args(own)
    if not program:
        parser.error("which program? Behind -- comes what would come behind python")
    run = _prepare(program)
    with ExitStack() as stack:
        taps = [_worker(each) for each in flags.worker]
        try:
            page = stack.enter_context(serve(port=flags.port, title=" ".join(program), taps=taps))
        except (OSError, OverflowError) as err:
            print(f"cannot listen on 127.0.0.1:{flags.port}: {err}", file=sys.stderr)
            return 1
        try:
            if flags.record:
                # Without the program's arguments: one may be a password.
                name = program[1] if program[0] == "-m" else Path(program[0]).name
                stack.enter_context(record(flags.record, program=name, taps=taps))
        except OSError as err:
            print(f"cannot record into {flags.record}: {err.strerror}", file=sys.stderr)
            return 1
        print(f"The informer tour is at {page.url}", file=sys.stderr)
        if not flags.no_browser:
            stack.enter_context(browser_on(page.url))
        return _run(run, has_start=program[0] == "-m" or Path(program[0]).is_dir())


def _run(run: Callable[[], object], has_start: bool) -> int:
    """Run the program. Let Python show an exception that ends it as without the tour; return the exit code otherwise.

    `has_start` states that Python's own traceback of the program begins with frames of runpy.
    """
    try:
        run()
    except SystemExit:
        raise
    except BaseException as err:
        rest = err.__traceback__
        while rest is not None and rest.tb_frame.f_code.co_filename in (_RUNPY, __file__):
            rest = rest.tb_next
        if rest is None and isinstance(err, ImportError):  # runpy found no such module
            print(f"{sys.executable}: {err}", file=sys.stderr)
            return 1
        sys.excepthook = functools.partial(_show, sys.excepthook, err, rest, has_start)
        raise
    return 0


_RUNPY = "<frozen runpy>"


def _show(
    show: Callable[[type[BaseException], BaseException, TracebackType | None], object],
    failure: BaseException,
    rest: TracebackType | None,
    has_start: bool,
    kind: type[BaseException],
    err: BaseException,
    trace: TracebackType | None,
) -> None:
    """Call the hook `show` for an uncaught exception; let the traceback of `failure` have no frames of this command."""
    if err is failure:
        start = []
        while has_start and trace is not None and trace.tb_frame.f_code.co_filename == _RUNPY:
            start.append(trace)
            trace = trace.tb_next
        for each in reversed(start):
            rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
        err.__traceback__ = trace = rest
    show(kind, err, trace)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments before the first `--` and those behind it."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def _prepare(program: list[str]) -> Callable[[], object]:
    """Let sys.argv and sys.path be the program's; what runs it."""
    if program[0] == "-m":
        if len(program) < 2:
            raise SystemExit("which module? -m has none behind it")
        sys.argv = program[1:]
        sys.path[0] = os.getcwd()
        return functools.partial(runpy.run_module, program[1], run_name="__main__", alter_sys=True)
    path = os.path.abspath(program[0])
    if not os.path.exists(path):
        print(f"{sys.executable}: can't open file {path!r}: [Errno 2] No such file or directory", file=sys.stderr)
        raise SystemExit(2)
    sys.argv = program
    # As Python does: a program that is a link imports its neighbours from the folder of the file.
    sys.path[0] = path if os.path.isdir(path) else os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path) or path.endswith(".pyc"):
        return functools.partial(runpy.run_path, program[0], run_name="__main__")
    return functools.partial(_run_file, path)


def _run_file(path: str) -> None:
    """Run a file like `python path`. runpy would give it another `__file__` or another sys.argv."""
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None, __annotations__={})
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        exec(code, vars(module))
    finally:
        sys.modules["__main__"] = before


def _worker(place: str) -> Tap:
    module, _, function = place.partition(":")
    tap = worker_tap(module, function)
    try:
        tap.find()
    except (ImportError, LookupError, ValueError) as err:
        raise SystemExit(f"--worker={place}: {err}") from err
    return tap


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
