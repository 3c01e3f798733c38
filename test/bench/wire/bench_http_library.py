#!/usr/bin/env python3
"""Measure clientgo.golang.http next to urllib3 in the same process, in turns: what a client asks of HTTP.

    python test/bench/wire/bench_http_library.py [--repeat 5] [--events 20000] [--requests 2000]

* get: CPU and wall time of a small GET on a connection that is kept.
* stream: CPU for each event of a watch. The server sends each event as one chunk, as kube-apiserver does, of lengths
  between 300 and 9,000 bytes. Each side reads pieces as they arrive (`read_some`, `read1`) and splits lines.
* abort: milliseconds from the call of another thread until a blocked read ends.
* import: CPU of importing each side in a new process.

Only public names of urllib3 are used. The figures are medians of the repetitions; the range follows in parentheses.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter, thread_time

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import urllib3

from clientgo.golang.http import Request, Transport

SMALL = b'{"kind":"Status","status":"Success"}'


def make_handler(events: int) -> type[BaseHTTPRequestHandler]:
    """Return a handler that serves /small and /watch."""
    draw = random.Random(7)
    lines = [b'{"type":"MODIFIED","object":"' + b"x" * draw.randint(300, 9000) + b'"}\n' for _ in range(events)]
    chunks = [f"{len(line):x}\r\n".encode() + line + b"\r\n" for line in lines]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.send_response(200)
            if self.path == "/small":
                self.send_header("Content-Length", str(len(SMALL)))
                self.end_headers()
                self.wfile.write(SMALL)
                return
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if self.path == "/silent":
                self.wfile.flush()
                ended.wait()
                return
            for first in range(0, len(chunks), 32):
                self.wfile.write(b"".join(chunks[first : first + 32]))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


ended = threading.Event()


class Ours:
    """Requests of clientgo.golang.http."""

    name = "ours"

    def __init__(self) -> None:
        self._transport = Transport()

    def get(self, url: str) -> bytes:
        return self._transport.round_trip(Request(method="GET", url=url)).body.read()

    def pieces(self, url: str) -> tuple[Iterator[bytes], Callable[[], None]]:
        body = self._transport.round_trip(Request(method="GET", url=url)).body
        return iter(body.read_some, b""), body.abort


class Urllib3:
    """Requests of urllib3."""

    name = "urllib3"

    def __init__(self) -> None:
        self._pool = urllib3.PoolManager(retries=False, maxsize=4)

    def get(self, url: str) -> bytes:
        return self._pool.request("GET", url).data

    def pieces(self, url: str) -> tuple[Iterator[bytes], Callable[[], None]]:
        response = self._pool.request("GET", url, preload_content=False)
        return iter(lambda: response.read1(65536), b""), response.shutdown


Side = Ours | Urllib3


def get(side: Side, url: str, requests: int) -> tuple[float, float]:
    """Return microseconds of CPU, and of the wall, for a GET."""
    side.get(url)
    began, began_cpu = perf_counter(), thread_time()
    for _ in range(requests):
        assert side.get(url) == SMALL
    return (thread_time() - began_cpu) / requests * 1e6, (perf_counter() - began) / requests * 1e6


def stream(side: Side, url: str, events: int) -> tuple[float, float]:
    """Return microseconds of CPU of the reading thread for an event, and the number of events in a piece."""
    pieces, _ = side.pieces(url)
    began_cpu = thread_time()
    count = reads = 0
    rest = b""
    for piece in pieces:
        reads += 1
        *lines, rest = (rest + piece).split(b"\n")
        count += len(lines)
    used = thread_time() - began_cpu
    assert count == events, f"{count} of {events} events"
    return used / events * 1e6, events / reads


def abort(side: Side, url: str) -> tuple[float]:
    """Return the milliseconds after which a blocked read ends."""
    pieces, end = side.pieces(url)
    reading = threading.Event()
    times: list[float] = []

    def read() -> None:
        reading.set()
        with contextlib.suppress(Exception):
            next(pieces, None)
        times.append(perf_counter())

    thread = threading.Thread(target=read, name="reader")
    thread.start()
    reading.wait()
    threading.Event().wait(0.05)
    began = perf_counter()
    end()
    thread.join(10.0)
    return ((times[0] - began) * 1e3 if times else float("inf"),)


def imports(statement: str) -> float:
    """Return the milliseconds of CPU of an import beyond a bare interpreter's `import ssl, http.client`."""
    timed = f"t = time.process_time(); {statement}; print((time.process_time() - t) * 1e3)"
    code = f"import ssl, http.client, time; {timed}"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def show(what: str, side: str, values: list[float], unit: str) -> None:
    print(f"{what:24} {side:8} {statistics.median(values):8.1f} {unit} ({min(values):.1f} to {max(values):.1f})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=2000)
    args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(args.events))
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    sides: list[Side] = [Ours(), Urllib3()]
    print(f"urllib3 {urllib3.__version__}, Python {sys.version.split()[0]}")
    found: dict[tuple[str, str, str], list[float]] = {}
    for _ in range(args.repeat):
        for side in sides:
            cpu, wall = get(side, f"{url}/small", args.requests)
            found.setdefault(("get, CPU", side.name, "us"), []).append(cpu)
            found.setdefault(("get, wall", side.name, "us"), []).append(wall)
            cpu, together = stream(side, f"{url}/watch", args.events)
            found.setdefault(("stream, CPU of an event", side.name, "us"), []).append(cpu)
            found.setdefault(("events in a read", side.name, ""), []).append(together)
            found.setdefault(("abort of a read", side.name, "ms"), []).append(*abort(side, f"{url}/silent"))
        statements = {"ours": "import clientgo.golang.http", "urllib3": "import urllib3"}
        for name, statement in statements.items():
            found.setdefault(("import, CPU", name, "ms"), []).append(imports(statement))
    for (what, name, unit), values in sorted(found.items()):
        show(what, name, values, unit)
    ended.set()
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
