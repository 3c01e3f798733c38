"""The commands by name, and their help. A command imports what it needs when it runs, so that `--help` is immediate."""

from __future__ import annotations

import argparse
import importlib
import runpy
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from clientgo.cli.start import end_without_reader, exit_code_of

PROG = "clientgo"


class Command(NamedTuple):
    """A command: one line of help, and the function that runs it with its arguments and returns the exit code."""

    summary: str
    run: Callable[[list[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Blocks as the command does."""
    return exit_code_of(lambda: _run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(given: list[str]) -> int:
    name = given[0] if given else "--help"
    if name in ("-h", "--help", "help"):
        print(_help())
        return 0
    if name == "--version":
        name = "version"
    command = COMMANDS.get(name)
    if command is None:
        print(f"{PROG}: unknown command {name!r}; see {PROG} --help", file=sys.stderr)
        return 2
    return command.run(given[1:])


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {PROG} COMMAND ...",
            "",
            "Kubernetes client-go's informer machinery in Python.",
            "",
            "commands:",
            *lines,
            "",
            f"{PROG} COMMAND --help describes a command.",
        ]
    )


def _version(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(f"{PROG} version", description="Print the version of clientgo and of Python.")
    parser.parse_args(arguments)
    from clientgo import __version__

    print(f"{PROG} {__version__} (client-go v{__version__}), Python {sys.version.split()[0]}")
    return 0


def _module(name: str, command: str, *, has_other_name: bool = False) -> Callable[[list[str]], int]:
    """Return the command of a module with a `main(arguments)`, or `main(arguments, prog)` if it has another name."""

    def run(arguments: list[str]) -> int:
        sys.argv[0] = command
        module = importlib.import_module(name)
        end_without_reader()
        with _interruptible():
            return int(module.main(arguments, *([f"{PROG} {command}"] if has_other_name else [])))

    return run


def _program(name: str, command: str) -> Callable[[list[str]], int]:
    """Return the command that runs a program of `cmd/`, which the wheel has in `clientgo/programs`."""

    def run(arguments: list[str]) -> int:
        folder = programs() / name
        sys.argv = [str(folder), *arguments]
        # The program imports its module `main`, which takes most of its start, from this folder too.
        sys.path.insert(0, str(folder))
        vars(importlib.import_module("main"))["PROG"] = f"{PROG} {command}"
        sys.path.remove(str(folder))
        try:
            with _interruptible():
                runpy.run_path(str(folder), run_name="__main__")
        except SystemExit as end:
            return _exit_code(end.code)
        return 0

    return run


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in the block, where it would end the process at once otherwise."""
    ends_at_once = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if ends_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends_at_once:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def programs() -> Path:
    """Return the folder with the programs: `clientgo/programs` of an installed wheel, `cmd` of a clone."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "programs"
    return installed if installed.is_dir() else package.parent / "cmd"


COMMANDS: dict[str, Command] = {
    "version": Command("print the version", _version),
    "apiserver": Command(
        "run an API server for development and tests",
        _module("clientgo.testing.apiserver.__main__", "apiserver", has_other_name=True),
    ),
    "demo": Command("watch the sample-controller work, in ten seconds", _program("demo", "demo")),
    "tour": Command("see every step of the informer machinery in a web page", _program("informer-tour", "tour")),
    "programs": Command("copy the example programs, to read and change", _module("clientgo.cli.programs", "programs")),
    "codegen": Command(
        "generate clients, informers, listers and CRDs from your types",
        _module("clientgo.codegen.command", "codegen", has_other_name=True),
    ),
    "scaffold": Command(
        "create the project of an operator", _module("clientgo.scaffold.command", "scaffold", has_other_name=True)
    ),
    "explain": Command("describe a field of a resource, from the server", _module("clientgo.cli.explain", "explain")),
    "dashboard": Command(
        "print a Grafana dashboard of the metrics", _module("clientgo.metrics.dashboard", "dashboard")
    ),
    "shell": Command("open a Python shell with clients of the kubeconfig", _module("clientgo.cli.shell", "shell")),
    "completion": Command("print the completion of a shell: bash, zsh or fish", _module("clientgo.cli.completion", "")),
}
