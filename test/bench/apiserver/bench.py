"""Measure the embedded API server: start-up, requests per second, watch fan-out, and memory at 10,000 pods.

    python test/bench/apiserver/bench.py [--objects N] [--watchers N] [--writes N] [--pods N] [--protobuf]

Prints one JSON object. The server runs in a process of its own; the clients are raw sockets, so that they cost little.
With --protobuf all clients ask for that, as typed ones do.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "", "labels": {"app": "bench", "tier": "web"}},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "example.com/app:1",
                "ports": [{"containerPort": 80}],
                "env": [{"name": f"V{i}", "value": str(i)} for i in range(8)],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
            }
        ]
    },
}
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
GENERATED = {"metadata": {"generateName": "bench-"}, "data": {"k": "v"}}


class Client:
    """One keep-alive connection."""

    def __init__(self, host: str, port: int, token: str, accept: str = "application/json") -> None:
        self.sock = socket.create_connection((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\nUser-Agent: bench/1\r\n"
        self.head += f"Accept: {accept}\r\n"
        self.buffer = b""

    def call(self, method: str, path: str, body: Any = None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        head = f"{method} {path} HTTP/1.1\r\n{self.head}Content-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
        self.sock.sendall(head.encode() + data)
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.sock.recv(1 << 20)
        answer, _, rest = self.buffer.partition(b"\r\n\r\n")
        match = re.search(rb"Content-Length: (\d+)", answer)
        assert match is not None, answer
        parts, size, want = [rest], len(rest), int(match[1])
        while size < want:
            part = self.sock.recv(1 << 20)
            parts.append(part)
            size += len(part)
        whole = b"".join(parts)
        self.buffer = whole[want:]
        assert answer.split(b" ", 2)[1] in (b"200", b"201"), whole[:300]
        return whole[:want]

    def watch(self, path: str) -> None:
        self.sock.sendall(f"GET {path} HTTP/1.1\r\n{self.head}\r\n".encode())


def rate(seconds: float, clients: list[Client], each: Any) -> float:
    """Return the calls per second of all clients together."""
    counts = [0] * len(clients)
    end = time.monotonic() + seconds

    def run(i: int) -> None:
        while time.monotonic() < end:
            each(clients[i], i, counts[i])
            counts[i] += 1

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(clients))]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - start)


def cpu(pid: int) -> float:
    """Return the process's CPU time in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Return the resident memory in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", text)
    return int(match[1]) // 1024 if match else 0


class Watching:
    """Connections that watch, read by one thread; each keeps the numbers of the writes it saw."""

    def __init__(self, address: tuple[str, int, str], path: str, count: int, protobuf: bool) -> None:
        self._sequence = _SEQUENCE_IN_PROTOBUF if protobuf else _SEQUENCE
        self._poll = select.epoll()
        self._clients: dict[int, Client] = {}
        self._tails: dict[int, bytes] = {}
        self.seen: dict[int, list[int]] = {}
        for _ in range(count):
            client = Client(*address, f"{_PROTOBUF};stream=watch" if protobuf else "application/json")
            client.watch(path)
            client.sock.setblocking(False)
            fd = client.sock.fileno()
            self._poll.register(fd, select.EPOLLIN)
            self._clients[fd], self._tails[fd], self.seen[fd] = client, b"", []

    def read_until(self, complete: Callable[[list[int]], bool], saw: Callable[[int], None] = lambda n: None) -> None:
        """Read until every connection is complete. Calls `saw` with the latest number of each piece."""
        waiting = {fd for fd, numbers in self.seen.items() if not complete(numbers)}
        while waiting:
            for fd, _ in self._poll.poll(30):
                data = self._clients[fd].sock.recv(1 << 20)
                if not data:
                    raise RuntimeError(f"the server closed a watch after {len(self.seen[fd])} events")
                data = self._tails[fd] + data
                found = [*self._sequence.finditer(data)]
                self._tails[fd] = data[found[-1].end() :] if found else data
                numbers = [int(each[1]) for each in found]
                if not numbers:
                    continue
                self.seen[fd] += numbers
                saw(numbers[-1])
                if complete(self.seen[fd]):
                    waiting.discard(fd)

    def close(self) -> None:
        self._poll.close()
        for client in self._clients.values():
            client.sock.close()


_PROTOBUF = "application/vnd.kubernetes.protobuf"
_SEQUENCE = re.compile(rb'"sequence":"(\d+)"')
# An entry of a map, and the beginning of the next.
_SEQUENCE_IN_PROTOBUF = re.compile(rb"\n\x08sequence\x12.(\d+)\x12", re.DOTALL)


def fan_out(address: tuple[str, int, str], pid: int, flags: argparse.Namespace, pace: float) -> dict[str, Any]:
    """Measure many watchers of many objects that one client changes, `pace` times per second, or without a limit for 0.
    """
    version = json.loads(Client(*address).call("GET", CONFIG_MAPS + "?limit=1"))["metadata"]["resourceVersion"]
    writer = Client(*address, _PROTOBUF if flags.protobuf else "application/json")
    # A write that changes nothing makes no event, so no number comes twice.
    first = 10 * int(version)
    watching = Watching(address, f"{CONFIG_MAPS}?watch=1&resourceVersion={version}", flags.watchers, flags.protobuf)
    sent = [0.0] * flags.writes
    wrote = [0.0]

    def write() -> None:
        begin = time.monotonic()
        for i in range(flags.writes):
            if pace:
                time.sleep(max(0.0, begin + i / pace - time.monotonic()))
            sent[i] = time.monotonic()
            body = {"data": {"sequence": str(first + i)}}
            writer.call("PATCH", f"{CONFIG_MAPS}/object-{i * 7919 % flags.objects:05d}", body)
        wrote[0] = time.monotonic() - begin

    delays: list[float] = []
    thread = threading.Thread(target=write)
    used = cpu(pid)
    start = time.monotonic()
    thread.start()

    def saw(number: int) -> None:
        delays.append(time.monotonic() - sent[number - first])

    watching.read_until(lambda numbers: len(numbers) >= flags.writes, saw)
    took = time.monotonic() - start
    thread.join()
    right = list(range(first, first + flags.writes))
    complete = sum(numbers == right for numbers in watching.seen.values())
    watching.close()
    delays.sort()
    return {
        "watchers": flags.watchers,
        "objects": flags.objects,
        "writes_per_second": round(flags.writes / wrote[0]),
        "events_per_second": round(flags.writes * flags.watchers / took),
        "cpu_us_per_write": round((cpu(pid) - used) / flags.writes * 1e6),
        "complete_and_in_order": complete,
        "delay_ms_median_99th": [round(delays[len(delays) * part // 100] * 1000, 1) for part in (50, 99)],
        "memory_mb": resident(pid),
    }


def initial_state(address: tuple[str, int, str], pid: int, flags: argparse.Namespace) -> dict[str, Any]:
    """Measure the time until all watchers have the state of all objects, as a streaming list."""
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    start, used = time.monotonic(), cpu(pid)
    watching = Watching(address, f"{CONFIG_MAPS}?{query}", flags.watchers, flags.protobuf)
    watching.read_until(lambda numbers: len(numbers) >= flags.objects)
    took = time.monotonic() - start
    watching.close()
    return {
        "seconds": round(took, 2),
        "cpu_seconds": round(cpu(pid) - used, 2),
        "events_per_second": round(flags.objects * flags.watchers / took),
    }


def at_scale(address: tuple[str, int, str], pid: int, flags: argparse.Namespace, results: dict[str, Any]) -> None:
    client, empty = Client(*address, _PROTOBUF if flags.protobuf else "application/json"), resident(pid)
    for i in range(flags.objects):
        data = {"sequence": str(i), "text": "x" * 100}
        client.call("POST", CONFIG_MAPS, {"metadata": {"name": f"object-{i:05d}"}, "data": data})
    results["kb_for_each_object"] = round((resident(pid) - empty) * 1024 / flags.objects, 2)
    ask_for_all(Client(*address, "application/json" if flags.protobuf else _PROTOBUF), flags.objects)
    results["kb_for_each_object_in_both_encodings"] = round((resident(pid) - empty) * 1024 / flags.objects, 2)
    results["fan_out"] = fan_out(address, pid, flags, flags.pace)
    results["fan_out_unpaced"] = fan_out(address, pid, flags, 0)
    results["streaming_lists"] = initial_state(address, pid, flags)
    client.call("DELETE", CONFIG_MAPS)


def ask_for_all(client: Client, count: int) -> None:
    """Get the objects one by one, since the bytes of a list would count as the server's memory too."""
    for i in range(count):
        client.call("GET", f"{CONFIG_MAPS}/object-{i:05d}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--pace", type=float, default=1000.0, help="Writes a second while the watchers watch.")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--protobuf", action="store_true", help="what all clients ask for, in place of JSON")
    flags = parser.parse_args()
    results: dict[str, Any] = {}
    with served(results) as (address, pid):
        at_scale(address, pid, flags, results)
    with served(results) as (address, pid):
        measure(address, pid, flags, results)
    print(json.dumps(results, indent=1))


@contextlib.contextmanager
def served(results: dict[str, Any]) -> Iterator[tuple[tuple[str, int, str], int]]:
    """Start a server and yield its host, port, token and process."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        start = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(ROOT / "cmd/apiserver"), "--kubeconfig-out", str(kubeconfig)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        assert server.stdout is not None
        server.stdout.readline()
        results["start_to_ready_seconds"] = round(time.monotonic() - start, 3)
        config = yaml.safe_load(kubeconfig.read_text())
        token = config["users"][0]["user"]["token"]
        host, _, port = config["clusters"][0]["cluster"]["server"].removeprefix("https://").partition(":")
        try:
            yield (host, int(port), token), server.pid
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


@contextlib.contextmanager
def watched(address: tuple[str, int, str], path: str, protobuf: bool) -> Iterator[None]:
    """Run the block while a client watches and reads all events."""
    client = Client(*address, f"{_PROTOBUF};stream=watch" if protobuf else "application/json")
    client.watch(path)

    def read() -> None:
        while client.sock.recv(1 << 20):
            pass

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        client.sock.shutdown(socket.SHUT_RDWR)
        thread.join()
        client.sock.close()


def measure(address: tuple[str, int, str], pid: int, flags: argparse.Namespace, results: dict[str, Any]) -> None:
    path = CONFIG_MAPS
    results["memory_empty_mb"] = resident(pid)
    eight = [Client(*address, _PROTOBUF if flags.protobuf else "application/json") for _ in range(8)]
    for name, clients in (("one", eight[:1]), ("eight", eight)):
        results[f"create_per_second_{name}"] = round(
            rate(flags.seconds, clients, lambda c, i, n: c.call("POST", path, GENERATED))
        )
        eight[0].call("DELETE", path)
        eight[0].call("POST", path, {"metadata": {"name": "one"}, "data": {"k": "v"}})
        results[f"get_per_second_{name}"] = round(
            rate(flags.seconds, clients, lambda c, i, n: c.call("GET", f"{path}/one"))
        )
        eight[0].call("DELETE", path)
    with watched(address, "/api/v1/namespaces/default/pods?watch=1", flags.protobuf):
        start, used = time.monotonic(), cpu(pid)
        for i in range(flags.pods):
            POD["metadata"]["name"] = f"pod-{i:05d}"
            eight[0].call("POST", "/api/v1/namespaces/default/pods", POD)
        results["pods_created_per_second"] = round(flags.pods / (time.monotonic() - start))
        results["cpu_us_per_pod"] = round((cpu(pid) - used) / flags.pods * 1e6)
    results["memory_at_pods_mb"] = resident(pid)
    start = time.monotonic()
    size = len(eight[0].call("GET", "/api/v1/pods"))
    results["list_all_pods"] = {"seconds": round(time.monotonic() - start, 3), "bytes": size}
    page = "/api/v1/pods?limit=500"
    results["list_500_per_second_one"] = round(rate(flags.seconds, eight[:1], lambda c, i, n: c.call("GET", page)), 1)
    results["list_500_per_second_eight"] = round(rate(flags.seconds, eight, lambda c, i, n: c.call("GET", page)), 1)


if __name__ == "__main__":
    main()
