#!/usr/bin/env python3
"""A server with very many Pods and nothing else, whose Pods change at the pace that is asked for.

    python test/bench/scale/cluster_server.py --pods 100000 [--protobuf]

As the replay server of the wire benchmark, it makes its bytes beforehand and knows of the Kubernetes API what informers
ask for: streaming lists, and watches that stay open. The first line on stdout is {"port": ..., "bytes per pod": ...}.
`GET /go?rate=1000&count=30000` lets so many changes of Pods go, so many a second; 0 is as fast as the client takes
them. Every change is of another Pod. Its label `revision` says when it was written (see `seconds_since`).
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wire"))

from replay_server import LIST_VERSION, ProtobufRecording, Recording, blocks, chunk, compact, filled, pod

# Of a second, on the clock that all processes share, in whatever language; eight digits of them.
_TICKS = 1_000_000
_DIGITS = 10**8
# How often a paced writer writes what has come due.
_PERIOD = 0.005


def now() -> int:
    return int(time.time() * _TICKS) % _DIGITS


def seconds_since(revision: str) -> float:
    """Return the age in seconds of the Pod's change with this label."""
    return (now() - int(revision)) % _DIGITS / _TICKS


class Pace:
    """The number of changes that are allowed, and their rate."""

    def __init__(self) -> None:
        # Guards the two; notified when they are set.
        self._changed = threading.Condition()
        self._rate = 0.0
        self._count = 0

    def allow(self, rate: float, count: int) -> None:
        with self._changed:
            self._rate, self._count = rate, count
            self._changed.notify_all()

    def due(self) -> Iterator[int]:
        """Yield the number of changes that are due, repeatedly. Blocks while none are due."""
        pause = threading.Event()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._count > 0)
                rate, count, self._count = self._rate, self._count, 0
            begun, sent = time.monotonic(), 0
            while sent < count:
                if rate:
                    pause.wait(_PERIOD)
                size = min(int((time.monotonic() - begun) * rate) if rate else count, count) - sent
                sent += size
                yield size


class Cluster:
    """The server's state."""

    def __init__(self, pods: int, recording: type[Recording]) -> None:
        self.recording = recording
        self.pace = Pace()
        self._templates = [recording.encoded(pod(i, f"pod-{i:06d}", "VERSION", "REVISION")) for i in range(pods)]
        self._versions = itertools.count(LIST_VERSION + 1)
        self.bytes_per_pod = sum(map(len, self._templates)) // pods

    def initial(self, api_version: str, kind: str) -> Iterator[bytes]:
        """Yield a streaming list, chunk by chunk."""
        if kind == "Pod":
            for template in self._templates:
                yield self._event(b"ADDED", template, LIST_VERSION)
        bookmark = self.recording.bookmark(api_version, kind)
        yield chunk(self.recording.event(b"BOOKMARK", bookmark, api_version, kind))

    def changes(self) -> Iterator[Iterator[bytes]]:
        """Yield the changes of Pods, grouped by the time at which they are due."""
        pods = len(self._templates)
        for size in self.pace.due():
            versions = itertools.islice(self._versions, size)
            yield (self._event(b"MODIFIED", self._templates[each * 7919 % pods], each) for each in versions)

    def _event(self, type: bytes, template: bytes, version: int) -> bytes:
        return chunk(self.recording.event(type, filled(template, version, now())))


class Handler(BaseHTTPRequestHandler):
    """HTTP handler of the cluster. The first line on stdin has the resources and their kinds."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # as kube-apiserver: small blocks go at once, too
    cluster: Cluster
    kinds: dict[str, tuple[str, str]]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/go":
            self.cluster.pace.allow(float(query["rate"]), int(query["count"]))
            self._answer(200)
        elif url.path not in self.kinds or query.get("watch") not in ("1", "true"):
            self._answer(404)
        else:
            self._watch(*self.kinds[url.path], is_list=query.get("sendInitialEvents") == "true")

    def _watch(self, api_version: str, kind: str, is_list: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.cluster.recording.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            if is_list:
                self._send(self.cluster.initial(api_version, kind))
            for changes in self.cluster.changes() if kind == "Pod" else ():
                self._send(changes)
            self.rfile.read(1)  # until the client has had enough
        except OSError:
            pass
        self.close_connection = True

    def _send(self, chunks: Iterator[bytes]) -> None:
        for block in blocks(chunks):
            self.wfile.write(block)

    def _answer(self, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Drop the message: the figures are the only output."""


@contextlib.contextmanager
def serving(kinds: dict[str, tuple[str, str]], pods: int, *, protobuf: bool) -> Iterator[dict[str, int]]:
    """Start this server as a process, and yield it with its first line of output. `kinds` maps resource paths to kinds.
    """
    command = [sys.executable, __file__, "--pods", str(pods), *["--protobuf"] * protobuf]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write(json.dumps(kinds) + "\n")
            server.stdin.flush()
            yield json.loads(server.stdout.readline())
        finally:
            server.terminate()


class Server(ThreadingHTTPServer):
    # All informers come at once.
    request_queue_size = 128
    daemon_threads = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--protobuf", action="store_true")
    options = parser.parse_args()
    Handler.kinds = json.loads(sys.stdin.readline())
    Handler.cluster = Cluster(options.pods, ProtobufRecording if options.protobuf else Recording)
    server = Server(("127.0.0.1", 0), Handler)
    print(compact({"port": server.server_port, "bytes per pod": Handler.cluster.bytes_per_pod}).decode(), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
