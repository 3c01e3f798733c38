"""Real processes for end-to-end tests: the programs under cmd/, kubectl, and a look at what they leave behind."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
KUBECTL_MINORS = (27, 28, 29, 30, 31, 32, 33)


# Then each kubectl does everything; else they take turns, so that each version and each command is seen at least once.
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def _versioned_kubectl(minor: int) -> str | None:
    """Return the path of the kubectl of that version, which is beside the one on PATH, or on PATH under its full name.
    """
    found = shutil.which("kubectl")
    beside = found and Path(os.path.realpath(found)).with_name(f"kubectl.1.{minor}")
    return str(beside) if beside and beside.exists() else shutil.which(f"kubectl.1.{minor}")


@functools.cache
def kubectl_minors() -> tuple[int | None, ...]:
    """Return the installed versions, or (None,) for any kubectl if none of them is installed."""
    return tuple(minor for minor in KUBECTL_MINORS if _versioned_kubectl(minor)) or (None,)


def kubectl_in_turn(test: str) -> tuple[int | None, ...]:
    """Return the versions for a test: normally one, which depends only on the test's name."""
    minors = kubectl_minors()
    return minors if THOROUGH else (minors[zlib.crc32(test.encode()) % len(minors)],)


def kubectl_binary(minor: int | None = None) -> str:
    """Return the path of kubectl 1.`minor`, or of any kubectl.

    If it is missing, the test fails in CI and is skipped elsewhere.
    """
    found = shutil.which("kubectl") if minor is None else _versioned_kubectl(minor)
    if found:
        return found
    name = "kubectl" if minor is None else f"kubectl 1.{minor}"
    if os.environ.get("CI") and minor is None:
        pytest.fail(f"{name} is needed in CI and not on PATH")
    pytest.skip(f"no {name} on this machine")


def environment(**extra: str) -> dict[str, str]:
    """Return this process's environment with the project importable and without the user's kubeconfig.

    A kubectl ends before it has used much memory, and its garbage collection would take a third of its time.
    """
    env = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "PYTHONPATH")}
    return {**env, "PYTHONPATH": str(ROOT), "GOGC": "off", **extra}


class Program:
    """A running program whose output is kept; `wait_for` waits for a line. Use it as a context manager."""

    def __init__(self, *command: str | Path, env: dict[str, str] | None = None, cwd: Path = ROOT) -> None:
        self.command = [str(part) for part in command]
        # Guards _lines; notified for each line and at the end.
        self._changed = threading.Condition()
        self._lines: list[str] = []
        self._ended = False
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            env=env or environment(),
            cwd=cwd,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name=f"output of {self.command[-1]}", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                with self._changed:
                    self._lines.append(line.rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def output(self) -> str:
        with self._changed:
            return "\n".join(self._lines)

    def wait_for(self, pattern: str, *, after: int = 0) -> int:
        """Block until a line from number `after` on matches; returns the number of the line behind it."""
        expression = re.compile(pattern)
        found = -1

        def seen() -> bool:
            nonlocal found
            found = next((i for i, line in enumerate(self._lines[after:], after) if expression.search(line)), -1)
            return found >= 0 or self._ended

        with self._changed:
            self._changed.wait_for(seen, PATIENCE)
        assert found >= 0, f"no line {pattern!r} from {self.command}:\n{self.output}"
        return found + 1

    def send(self, number: int) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        """Block until it has ended; its exit code."""
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def stop(self) -> int:
        """Send SIGTERM, wait, and return the exit code."""
        if self.process.poll() is None:
            self.send(signal.SIGTERM)
        return self.wait()

    def post_mortem(self) -> str:
        """Return the facts for a failed test: the exit code or each thread's stack, and the output.

        Ends a Python program that still runs: SIGABRT makes `python()` programs print all stacks.
        """
        code = self.process.poll()
        if code is None:
            self.send(signal.SIGABRT)
            self.wait()
        state = "still running; its threads are below" if code is None else f"exit code {code}"
        return f"--- {' '.join(self.command[1:])} (pid {self.process.pid}): {state}\n{self.output}"

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.wait()


def python(*arguments: str | Path, **env: str) -> Program:
    """Return a Python program of the project, e.g. python("cmd/apiserver", "--port=0")."""
    return Program(sys.executable, *arguments, env=environment(PYTHONFAULTHANDLER="1", **env))


def start_apiserver(kubeconfig: Path, *arguments: str) -> Program:
    """Start the embedded API server and wait until its kubeconfig is written."""
    server = python("cmd/apiserver", "--kubeconfig-out", kubeconfig, *arguments)
    try:
        server.wait_for("^Listening on ")
    except BaseException:
        server.__exit__()
        raise
    return server


def eventually(description: str, condition: Callable[[], object], seconds: float = PATIENCE) -> object:
    """Return the condition's value once it is true. Fails with `description` after a timeout.

    The intervals grow, since most conditions start a kubectl.
    """
    never, pause = threading.Event(), 0.02
    ends = time.monotonic() + seconds
    while True:
        over = time.monotonic() >= ends  # Asked once more after a time in which the whole machine stood still.
        if value := condition():
            return value
        if over:
            raise AssertionError(f"{description} did not come within {seconds:g} s")
        never.wait(pause)
        pause = min(1.3 * pause, 0.5)


@contextlib.contextmanager
def post_mortem(programs: Iterable[Program], look: Callable[[], object] = lambda: "") -> Iterator[None]:
    """Add the result of `look`, the machine's load and the facts about the programs to a failure of the block.

    A failure ends the programs.
    """
    try:
        yield
    except AssertionError as err:
        load = " ".join(f"{average:.1f}" for average in os.getloadavg())
        seen = f"{err}\nload {load} at {datetime.now(UTC):%H:%M:%S.%f}\n{look()}"
        raise AssertionError("\n\n".join([seen, *(program.post_mortem() for program in programs)])) from None


def kubectl(
    kubeconfig: Path, *arguments: str, minor: int | None = None, check: bool = True, cwd: Path | None = None
) -> str:
    """Run kubectl and return what it printed."""
    command = [kubectl_binary(minor), "--kubeconfig", str(kubeconfig), *arguments]
    home = kubeconfig.parent / "home"  # its discovery cache
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(HOME=str(home)),
        stdin=subprocess.DEVNULL,
        cwd=cwd,
    )
    assert not check or done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def as_service_account(kubeconfig: Path, name: str, namespace: str = "default") -> Path:
    """Return a kubeconfig beside `kubeconfig` in which a service account takes the place of the administrator."""
    own = yaml.safe_load(kubeconfig.read_text())
    token = kubectl(kubeconfig, "create", "token", name, "-n", namespace).strip()
    own["users"][0]["user"] = {"token": token}
    path = kubeconfig.with_name(f"{name}.{kubeconfig.name}")
    path.write_text(yaml.safe_dump(own))
    return path


def watch(kubeconfig: Path, resource: str, columns: str) -> Program:
    """Start a kubectl that prints a line for each change of these objects. `columns` are jsonpath expressions."""
    command = [kubectl_binary(), "--kubeconfig", kubeconfig, "get", resource, "--watch"]
    home = kubeconfig.parent / "home"
    return Program(*command, f'-o=jsonpath={columns}{{"\\n"}}', env=environment(HOME=str(home)))


# The processes that all tests of this process share, such as the browser.
shared: set[int] = set()


def children(pid: int | None = None) -> list[str]:
    """Return the command lines of the processes below `pid` (this one by default) that still run.

    The shared ones and those below them do not count.
    """
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z" and int(entry.name) not in shared:
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[str] = []
    pending: Sequence[int] = parents.get(pid or os.getpid(), [])
    while pending:
        found += [_command_line(child) for child in pending]
        pending = [grandchild for child in pending for grandchild in parents.get(child, [])]
    return found


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return str(pid)
