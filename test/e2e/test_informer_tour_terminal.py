"""The informer tour in a terminal: a process behind a pseudo-terminal, driven by keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from processes import ROOT, environment

PATIENCE = 120.0


class Terminal:
    """The screen as somebody in front of it would see it: the program draws all of it anew after each key."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.output = ""

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    @property
    def screen(self) -> str:
        return self.output.rpartition("\x1b[H")[2]

    def until(self, text: str) -> None:
        """Read until the screen shows it."""
        ends = time.monotonic() + PATIENCE
        while text not in self.screen:
            assert time.monotonic() < ends, f"{text!r} did not come:\n{self.screen}"
            if not select.select([self._master], [], [], 1.0)[0]:
                continue
            self.output += os.read(self._master, 65536).decode(errors="replace")

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)


def test_a_run_is_walked_by_keys_and_the_terminal_is_as_before_at_the_end() -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 130, 0, 0))
    before = termios.tcgetattr(slave)
    command = [sys.executable, "cmd/informer-tour", "--terminal", "--scenario", "queue"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=slave, stdout=slave, stderr=slave)
    try:
        terminal = Terminal(process, master)
        terminal.until("[0/")
        terminal.until("q quit")
        for number in range(1, 6):
            terminal.press("\x1b[C")
            terminal.until(f"[{number}/")
        terminal.until("q quit")
        third = "[3/"
        terminal.press("pp")
        terminal.until(third)
        terminal.resize(90, 30)
        terminal.until("\x1b[K\x1b[J")
        terminal.press("\x1b[F")
        terminal.until("118/118]")
        terminal.press("q")
        assert process.wait(PATIENCE) == 0
        while select.select([master], [], [], 0)[0]:
            terminal.output += os.read(master, 65536).decode(errors="replace")
        assert terminal.output.endswith("\x1b[?25h\x1b[?1049l")
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
