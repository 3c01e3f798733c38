"""Ctrl-C ends every command of `clientgo`, wherever it comes: without a traceback, and no process is left.

The commands of Unix that a signal ends have no exit code of their own: a shell reports 130. A server or a page that
runs until Ctrl-C ends with 0.
"""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import interrupt_at
import pytest
from patience import PATIENCE
from processes import ROOT, environment, eventually

from clientgo.cli import command

pytestmark = [pytest.mark.takes_turns(4), pytest.mark.shared_server]

# Commands that end by themselves.
SHORT = {
    "version": ["version"],
    "help": ["--help"],
    "completion": ["completion", "zsh"],
    "dashboard": ["dashboard"],
    "programs": ["programs", "copies"],
    "scaffold": ["scaffold", "init", "--domain", "example.com", "--project-name", "shop"],
    "codegen": ["codegen", "--help"],
    "shell": ["shell", "-c", "print(client.core_v1().namespaces().get(ctx, 'default').metadata.name)"],
    "explain": ["explain", "pods.spec.containers"],
}
LONG = {
    "apiserver": ["apiserver", "--kubeconfig-out", "kc"],
    "demo": ["demo", "--quiet"],
    "tour": ["tour", "--no-browser"],
}
MARK = "CLIENTGO_TEST_OF_CTRL_C"


class Ended(NamedTuple):
    code: int
    errors: str
    # Number of events at exit, or -1 if a signal ended the process.
    events: int


class User:
    """A terminal: what runs in it carries a mark in its environment."""

    def __init__(self, folder: Path, kubeconfig: str = "") -> None:
        self.folder = folder
        self._mark = uuid.uuid4().hex
        extra = {"KUBECONFIG": kubeconfig} if kubeconfig else {}
        self._env = environment(**{MARK: self._mark, "HOME": str(folder), "BROWSER": "true", **extra})

    def run(self, event: int | str, arguments: list[str]) -> Ended:
        """Run the command with an interrupt at the event; 0 for none."""
        counter = self.folder / "events"
        counter.unlink(missing_ok=True)
        program = [sys.executable, interrupt_at.__file__, str(event), str(counter), *arguments]
        work = self.folder / f"at {event}"
        work.mkdir()
        done = subprocess.run(
            program,
            cwd=work,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=2 * PATIENCE,
        )
        eventually("the end of every process", lambda: not self.processes())
        return Ended(done.returncode, done.stderr, int(counter.read_text()) if counter.exists() else -1)

    def start(self, arguments: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "clientgo", *arguments],
            cwd=self.folder,
            env={**self._env, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def processes(self) -> list[str]:
        """Return the ids of the processes of this terminal."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self._mark}".encode() in folder.joinpath("environ").read_bytes().split(b"\0"):
                    found.append(folder.name)
            except OSError:
                continue  # It has ended, or belongs to another user.
        return found


def is_quiet(errors: str) -> bool:
    return "Traceback" not in errors and "Exception ignored" not in errors


def test_every_command_is_here() -> None:
    assert {*SHORT, *LONG} - {"help"} == set(command.COMMANDS)


@pytest.mark.parametrize("name", SHORT)
def test_a_command_that_is_interrupted_anywhere_ends_with_130(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kubeconfig = request.getfixturevalue("kubeconfig") if name in ("shell", "explain") else ""
    user = User(tmp_path, kubeconfig)
    whole = user.run(0, SHORT[name])
    assert (whole.code, whole.errors) == (0, "")
    points = sorted({1, *(whole.events * part // 6 for part in range(1, 6)), whole.events})

    for point in points:
        ended = user.run(point, SHORT[name])

        assert is_quiet(ended.errors), f"{point} of {points}: {ended.errors}"
        # A shell reports the signal as 130. Another run may have fewer events, since it need not compile a module.
        assert ended.code in (-signal.SIGINT, 130) or (ended.code == 0 and 0 < ended.events < point), (point, ended)


@pytest.mark.parametrize("name", LONG)
def test_a_program_that_is_interrupted_at_its_start_ends_with_130(name: str, tmp_path: Path) -> None:
    user = User(tmp_path)

    for point in (1, 300, 900):
        ended = user.run(point, LONG[name])

        assert is_quiet(ended.errors), ended.errors
        assert ended.code in (-signal.SIGINT, 130), (point, ended)


PROGRAMS = sorted(str(path.parent) for path in ROOT.glob("cmd/*/__main__.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: Path(program).name)
def test_a_program_of_a_folder_that_is_interrupted_while_modules_load_ends_with_130(
    program: str, tmp_path: Path
) -> None:
    user = User(tmp_path)
    whole = user.run(0, [program, "--help"])
    assert (whole.code, whole.errors) == (0, "")
    assert whole.events > 100

    for point in (1, whole.events // 3, whole.events * 2 // 3, whole.events):
        ended = user.run(point, [program, "--help"])

        assert is_quiet(ended.errors), f"{point} of {whole.events}: {ended.errors}"
        assert ended.code in (-signal.SIGINT, 130) or (ended.code == 0 and 0 < ended.events < point), (point, ended)


class Interrupting:
    """A process whose start takes until Ctrl-C."""

    def __init__(self, name: str, command: list[str], on_line: object) -> None:
        self.name = name
        signal.raise_signal(signal.SIGINT)

    def stop(self) -> int:
        STOPPED.append(self.name)
        return 0


STOPPED: list[str] = []


def test_the_demo_stops_a_process_that_starts_while_ctrl_c_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("clientgo_demo", ROOT / "cmd/demo/main.py")
    assert spec and spec.loader
    demo = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "clientgo_demo", demo)
    spec.loader.exec_module(demo)
    demo.Process = Interrupting
    STOPPED.clear()

    with pytest.raises(KeyboardInterrupt), ExitStack() as stack:
        demo.start(stack, "apiserver", [], print)

    assert STOPPED == ["apiserver"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("name", "ready", "code"), [("apiserver", "Listening on", 0), ("tour", "http://", 0), ("demo", "✓ the kind", 130)]
)
def test_a_program_that_is_interrupted_while_it_runs_ends(name: str, ready: str, code: int, tmp_path: Path) -> None:
    user = User(tmp_path)
    with user.start(LONG[name]) as program:
        assert program.stdout is not None
        lines = []
        for line in program.stdout:
            lines.append(line)
            if ready in line:
                program.send_signal(signal.SIGINT)
                break
        lines += program.stdout
        assert program.wait(PATIENCE) == code, "".join(lines)

    assert is_quiet("".join(lines)), "".join(lines)
    assert user.processes() == []


def test_a_job_in_the_background_of_a_script_ignores_ctrl_c() -> None:
    """A shell without job control lets `&` ignore the signal; the command does not change that."""
    handlers = "import signal; from clientgo.__main__ import main; main(); print(signal.getsignal(signal.SIGINT))"
    script = f"trap '' INT; {sys.executable} -c '{handlers}' version"
    done = subprocess.run(
        ["bash", "-c", script], env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )

    assert done.stdout.splitlines()[-1] == str(signal.SIG_IGN), done.stderr
