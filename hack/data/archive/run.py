#!/usr/bin/env python3
"""Compare a port of client-go with the recorded results of Go's.

    python3 run.py golden/workqueue/queue.jsonl golden/cache/heap.jsonl -- node driver.js
    python3 run.py --only queue_random_1 golden/workqueue/queue.jsonl -- ./my-driver

Starts the driver after `--` once and sends it the operations of each case as JSON lines; README.md describes the
protocol. Prints each case whose result differs, and a summary of each file. Needs Python 3.11 and nothing else.

Exit status: 0 if all compared steps agree and there was at least one, 1 if not, 2 if the driver broke the protocol.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# A longer line is no result of any case; it would only fill the memory.
MOST_BYTES = 16 << 20


class ProtocolError(Exception):
    """The driver exited, wrote no JSON or another id, or wrote nothing in time."""


class Driver:
    """The process of a port. One thread reads its output, so that a hanging driver is noticed."""

    def __init__(self, command: list[str], timeout: float) -> None:
        self._timeout = timeout
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: queue.Queue[bytes] = queue.Queue(maxsize=1)
        self._stopped = threading.Event()
        self._reader = threading.Thread(target=self._read, name="output of the driver")
        self._reader.start()
        self._id = 0

    def _read(self) -> None:
        assert self._process.stdout is not None
        line = b"x"
        while line and not self._stopped.is_set():
            line = self._process.stdout.readline(MOST_BYTES)
            self._lines.put(line)

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a message and return the reply. Raises ProtocolError."""
        assert self._process.stdin is not None
        self._id += 1
        try:
            self._process.stdin.write(json.dumps({"id": self._id, **message}).encode() + b"\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=self._timeout)
        except queue.Empty:
            raise ProtocolError(f"no reply within {self._timeout:g} s to {message}") from None
        except OSError as err:
            raise ProtocolError(f"the driver does not read: {err}") from err
        if not line:
            raise ProtocolError(f"the driver exited before its reply to {message}")
        try:
            reply = json.loads(line)
        except ValueError:
            raise ProtocolError(f"the driver wrote no JSON: {line[:200]!r}") from None
        if not isinstance(reply, dict) or reply.get("id") != self._id:
            raise ProtocolError(f"expected a reply with the id {self._id}, got {line[:200]!r}")
        return reply

    def close(self) -> None:
        """Close the driver's input, end the process if it does not exit, and join the thread."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        while self._reader.is_alive():
            try:
                self._lines.get_nowait()
            except queue.Empty:
                self._reader.join(0.01)
        self._process.stdout.close()


def differences(want: Any, got: Any, tolerance: float, place: str = "") -> Iterator[str]:
    """Yield the places at which two JSON values differ. An absent key equals null; true is not 1."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            yield from differences(want.get(key), got.get(key), tolerance, f"{place}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (each, other) in enumerate(zip(want, got, strict=True)):
            yield from differences(each, other, tolerance, f"{place}[{index}]")
    elif not _is_equal(want, got, tolerance):
        yield f"{place or '.'}: want {_short(want)}, got {_short(got)}"


def _is_equal(want: Any, got: Any, tolerance: float) -> bool:
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, int | float) and isinstance(got, int | float):
        return want == got or math.isclose(want, got, rel_tol=0.0, abs_tol=tolerance)
    return type(want) is type(got) and bool(want == got)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:200] + "..."


def run_case(driver: Driver, file: str, case: dict[str, Any], tolerance: float) -> tuple[str, list[str]]:
    """Send one case and return "ok", "differs" or "skipped", and the differences or the reason."""
    begun = driver.ask(begin=case["name"], file=file, config=case.get("config") or {})
    if "skip" in begun:
        return "skipped", [str(begun["skip"])]
    state, found, is_skipped = "ok", [], False
    for number, step in enumerate(case["steps"]):
        reply = driver.ask(op=step["op"], args=step.get("args") or {})
        if "skip" in reply:
            # The state of the object is unknown from here on.
            is_skipped, found = True, [f"step {number} {step['op']}: {reply['skip']}"]
            break
        if "result" not in reply:
            found = [f"step {number} {step['op']}: {reply.get('error', 'the reply has no result')}"]
        else:
            found = [
                f"step {number} {step['op']} {each}"
                for each in differences(step.get("expect"), reply["result"], tolerance)
            ]
        if found:
            # Later differences of a case follow from the first one.
            state = "differs"
            break
    driver.ask(end=case["name"])
    return ("skipped" if is_skipped else state), found


def run(driver: Driver, path: Path, only: str, tolerance: float) -> dict[str, int]:
    """Run the cases of one file, print the differences and return the number of cases by state."""
    counts = {"ok": 0, "differs": 0, "skipped": 0}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if "steps" not in case:
                raise ProtocolError(f"{path} has no operations: each line is an input with its result")
            if not case["name"].startswith(only):
                continue
            state, details = run_case(driver, path.name, case, tolerance)
            counts[state] += 1
            if state == "differs":
                print(f"{path}: {case['name']}: {'; '.join(details[:3])}")
    print(f"{path}: {counts['ok']} ok, {counts['differs']} differ, {counts['skipped']} skipped")
    return counts


def main(arguments: list[str]) -> int:
    if "--" not in arguments:
        arguments = [*arguments, "--"]
    cut = arguments.index("--")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="files of golden/ or machines/")
    parser.add_argument("--only", default="", help="run the cases whose name begins so")
    parser.add_argument("--tolerance", type=float, default=0.0, help="largest difference of two equal numbers")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to wait for each reply")
    options, command = parser.parse_args(arguments[:cut]), arguments[cut + 1 :]
    if not command:
        parser.error("name the driver's command after --")
    total = {"ok": 0, "differs": 0, "skipped": 0}
    try:
        driver = Driver(command, options.timeout)
    except OSError as err:
        print(f"the driver does not start: {err}", file=sys.stderr)
        return 2
    try:
        for path in options.files:
            for state, count in run(driver, path, options.only, options.tolerance).items():
                total[state] += count
    except ProtocolError as err:
        print(f"protocol: {err}", file=sys.stderr)
        return 2
    finally:
        driver.close()
    return 0 if total["ok"] and not total["differs"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
