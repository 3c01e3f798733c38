"""Runs another program with the tour attached, in the same process.

    python -m clientgo.tour.attach [flags] -- program

What follows `--` is what would follow `python`: a file, a folder with a __main__.py, or `-m module`; then the program's
own arguments. The program has its arguments, its main thread with all signals, and its exit code for itself. It sees
the tour only by threads that take no signals, and by the address that is printed before it begins, to stderr.
"""

from __future__ import annotations

import argparse
import functools
import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

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
        run()
    return 0


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
        sys.path[0] = ""
        return functools.partial(runpy.run_module, program[1], run_name="__main__", alter_sys=True)
    path = Path(program[0])
    sys.argv = program
    sys.path[0] = str(path if path.is_dir() else path.parent)
    return functools.partial(runpy.run_path, program[0], run_name="__main__")


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
