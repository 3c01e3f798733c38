"""The informer tour in a terminal: a process behind a pseudo-terminal, driven by keys."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, environment

from clientgo import context, dynamic
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.testing.apiserver import Environment

pytestmark = [pytest.mark.shared_server, pytest.mark.takes_turns(2)]

SAMPLE = ROOT / "cmd" / "sample-controller"
FOOS = GroupVersionResource("samplecontroller.k8s.io", "v1alpha1", "foos")


class Terminal:
    """The screen as a user sees it. The program redraws it after each key."""

    def __init__(self, *arguments: str) -> None:
        self._master, self._slave = pty.openpty()
        self._size(130, 40)
        self._before = termios.tcgetattr(self._slave)
        command = [sys.executable, "cmd/informer-tour", "--terminal", *arguments]
        ends = {"stdin": self._slave, "stdout": self._slave, "stderr": self._slave}
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment(), **ends)
        self.output = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    @property
    def screen(self) -> str:
        return re.sub(r"\x1b\[\d*m", "", self.output.rpartition("\x1b[H")[2])

    def until(self, text: str) -> None:
        """Read until the screen shows it."""
        ends = time.monotonic() + PATIENCE
        while text not in self.screen:
            assert time.monotonic() < ends, f"{text!r} did not come:\n{self.screen}"
            if not select.select([self._master], [], [], 1.0)[0]:
                continue
            self.output += os.read(self._master, 65536).decode(errors="replace")

    def _size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns: int, lines: int) -> None:
        self._size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def end(self) -> tuple[int, str]:
        """Read until the program has ended: its exit code, and what it printed when the screen was as before."""
        ends = time.monotonic() + PATIENCE
        while self.process.poll() is None or select.select([self._master], [], [], 0)[0]:
            assert time.monotonic() < ends, self.screen
            if select.select([self._master], [], [], 0.1)[0]:
                self.output += os.read(self._master, 65536).decode(errors="replace")
        assert termios.tcgetattr(self._slave) == self._before
        return self.process.returncode, self.output.rpartition("\x1b[?25h\x1b[?1049l")[2]


def test_a_run_is_walked_by_keys_and_the_terminal_is_as_before_at_the_end() -> None:
    with Terminal("--scenario", "queue") as terminal:
        terminal.until("[0/")
        terminal.until("q quit")
        for number in range(1, 6):
            terminal.press("\x1b[C")
            terminal.until(f"[{number}/")
        terminal.until("q quit")
        terminal.press("pp")
        terminal.until("[3/")
        terminal.resize(90, 30)
        terminal.until("\x1b[K\x1b[J")
        terminal.press("\x1b[F")
        terminal.until("118/118]")
        terminal.press("q")
        assert terminal.end() == (0, "")


def test_a_lesson_is_read_and_answered_in_eighty_columns() -> None:
    with Terminal("--scenario", "queue") as terminal:
        terminal.until("q quit")
        terminal.resize(80, 24)
        terminal.press("\r")
        terminal.until("1/7 A key is added")
        terminal.press("\r")
        terminal.until("c) Processing")
        terminal.press("b")
        terminal.until("Your answer: Dirty")
        terminal.press("w")
        terminal.until("Why is this key here?")
        terminal.press("\r")
        terminal.until("a worker took the key")
        terminal.press("\x1b")
        terminal.until("2/7 A worker takes it")
        terminal.press("?")
        terminal.until("break something behind this hop")
        terminal.press("\x1b")
        terminal.until("q quit")
        terminal.press("q")
        assert terminal.end() == (0, "")


def test_the_sample_controller_is_walked_by_keys() -> None:
    with Terminal("--scenario", "sample-controller") as terminal:
        terminal.until("The sample-controller, hop by hop")
        terminal.until("q quit")
        terminal.press("n" * 23)
        terminal.until("[23/")
        terminal.until("q quit")
        for text in ("apiserver.created", "+Deployment", "example-nginx @26", "client.create(", "Foo:", "Events"):
            assert text in terminal.screen
        terminal.press("p")
        terminal.until("workers.reconcile")
        terminal.press("9")
        terminal.until("hop 22: worker-raises")
        terminal.press("n" * 4)
        terminal.until("[26/")
        terminal.press("q")
        assert terminal.end() == (0, "")


def test_a_program_is_shown_as_it_runs_and_steered_by_keys() -> None:
    with (
        Environment(crd_paths=[SAMPLE / "artifacts" / "examples" / "crd.yaml"]) as cluster,
        Terminal("--", sys.executable, "cmd/sample-controller", f"-kubeconfig={cluster.kubeconfig}") as terminal,
    ):
        foos = dynamic.new_for_config(cluster.config).resource(FOOS).namespace("default")

        def create(name: str) -> None:
            foo = {
                "apiVersion": "samplecontroller.k8s.io/v1alpha1",
                "kind": "Foo",
                "metadata": {"name": name},
                "spec": {"deploymentName": f"{name}-web", "replicas": 1},
            }
            foos.create(context.background(), Unstructured(foo), metav1.CreateOptions())

        terminal.until("[live]")
        terminal.until("foo-worker-1: waiting")
        terminal.until("Started workers")  # what it prints stands below
        terminal.until("q end")
        if "▶*v1alpha1.Foo" not in terminal.screen:  # whichever began first
            terminal.press("i")
            terminal.until("▶*v1alpha1.Foo")
        terminal.until("enqueue_foo")
        create("apple")
        terminal.until("~apple @")  # it was reconciled: its status came
        terminal.press("p")
        terminal.until("PAUSED")
        create("bread")
        terminal.until("on_add bread")
        terminal.press("p")
        terminal.until("~bread @")
        terminal.press("\x1b[B+")
        terminal.until("slowed by 0.1s")
        terminal.press("q")
        code, printed = terminal.end()
        assert code == 0
        assert "Started workers" in printed and "Successfully synced" in printed and "Traceback" not in printed


def test_a_program_that_fails_leaves_its_exit_code_and_what_it_printed(tmp_path: Path) -> None:
    program = tmp_path / "fails.py"
    program.write_text("import sys; print('it was printed'); sys.exit(7)")
    with Terminal("--", sys.executable, str(program)) as terminal:
        code, printed = terminal.end()
        assert (code, printed) == (7, "it was printed\r\n")
