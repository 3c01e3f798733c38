"""Serve the tour on this machine and open a browser; or run a program with the tour attached.

clientgo tour                                    where the library is installed; hack/tour in a fresh clone
python cmd/informer-tour
python cmd/informer-tour --scenario sample-controller
python cmd/informer-tour -- python cmd/sample-controller -kubeconfig=...
python cmd/informer-tour --terminal -- python cmd/sample-controller -kubeconfig=...
python cmd/informer-tour --record FILE -- python cmd/sample-controller -kubeconfig=...
python cmd/informer-tour --replay FILE
python cmd/informer-tour --export DIR
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import exporting
import lessons
from clientgo import tour
from clientgo.golang.channel import Channel
from clientgo.golang.signal import notify
from clientgo.tour import attach, liveterminal, terminal, web
from pageserver import PageServer, about_lesson

# The command in the help; `clientgo tour` sets another one.
PROG = "informer-tour"


def parse_flags(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROG,
        allow_abbrev=False,
        usage="%(prog)s [flags] [-- python program [its arguments]]",
        description="See every step of the informer machinery: hop by hop, forwards and backwards, in virtual time. "
        "With a program behind --: while that runs.",
    )
    attach.add_flags(parser)
    parser.add_argument("--replay", default="", metavar="FILE", help="show a recording that --record made")
    parser.add_argument("--terminal", action="store_true", help="use this terminal instead of a page")
    parser.add_argument(
        "--scenario", default="", choices=["", *lessons.SCENARIOS], metavar="NAME", help="the scenario to begin with"
    )
    parser.add_argument("--export", default="", metavar="DIR", help="write the tour as files that need no server")
    parser.add_argument("--lesson", action="append", default=[], metavar="NAME", help="a lesson to export")
    parser.add_argument("--no-breaks", action="store_true", help="export no runs that break: faster and smaller")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; the result is the exit code."""
    own, program = attach.split(sys.argv[1:] if arguments is None else arguments)
    flags = parse_flags(own)
    if program:
        return become(own, program)
    if flags.record:
        print("--record needs a program: add -- python program.py")
        return 2
    if (flags.lesson or flags.no_breaks) and not flags.export:
        print("--lesson and --no-breaks need --export DIR")
        return 2
    if flags.export:
        return export(Path(flags.export), flags.lesson, breaks=not flags.no_breaks)
    if flags.replay:
        return show_recording(flags)
    if flags.terminal:
        known = {lesson.scenario: about_lesson(lesson) for lesson in lessons.all_()}
        return terminal.show(flags.scenario, terminal.scripted(lessons.SCENARIOS, known))
    return serve(flags, lambda: PageServer(flags.port), flags.scenario)


def export(folder: Path, names: Sequence[str], *, breaks: bool) -> int:
    """Write the static edition and print its address; the result is the exit code."""
    try:
        size = exporting.export(folder, names, breaks=breaks)
    except (OSError, ValueError) as err:
        print(f"cannot export to {folder}: {err}")
        return 1
    print(f"The tour is at {(folder / 'index.html').resolve().as_uri()} ({size / 1e6:.1f} MB)")
    return 0


def show_recording(flags: argparse.Namespace) -> int:
    """Show a recording on the page or in the terminal; the result is the exit code."""
    try:
        with tour.Recording(flags.replay) as recording:
            if flags.terminal:
                return terminal.show(runs=terminal.recorded(recording))
            return serve(flags, lambda: tour.ReplayPage(recording, flags.port))
    except (OSError, tour.RecordingError) as err:
        print(f"cannot replay: {err}")
        return 1


def serve(flags: argparse.Namespace, make: Callable[[], web.PageServer], scenario: str = "") -> int:
    """Serve the page until SIGINT or SIGTERM, beginning with `scenario`; the result is the exit code."""
    try:
        server = make()
    except (OSError, OverflowError) as err:
        print(f"cannot listen on 127.0.0.1:{flags.port}: {err}")
        return 1
    signals = Channel[signal.Signals](1)
    notify(signals, signal.SIGINT, signal.SIGTERM)
    with server:
        address = f"{server.url}#{scenario}" if scenario else server.url
        print(f"The informer tour is at {address} (Ctrl-C ends it)", flush=True)
        with contextlib.nullcontext() if flags.no_browser else web.browser_on(address):
            signals.receive()
    return 0


def become(own: list[str], program: list[str]) -> int:
    """Run the program with the tour attached.

    It replaces this process, so that signals and exit code are the program's; in a terminal it runs next to it.
    """
    in_terminal = "--terminal" in own
    own = [flag for flag in own if flag != "--terminal"]
    python, rest = program[0], program[1:]
    options = []
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
        options.append(rest.pop(0))
        if options[-1] in ("-W", "-X") and rest:
            options.append(rest.pop(0))
    if not Path(python).name.startswith("python") or not rest or rest[0] in ("-c", "-"):
        print("the tour attaches to Python programs only: -- python program.py, or -- python -m module")
        return 2
    command = [python, *options, "-m", "clientgo.tour.attach", *own]
    if in_terminal:
        return liveterminal.show([*command, "--no-browser", "--", *rest])
    try:
        os.execvp(python, [*command, "--", *rest])
    except OSError as err:
        print(f"cannot run {python}: {err}")
        return 1
