"""How fast and how big the embedded API server is: start-up, requests a second, watch fan-out, memory at 10,000 pods.

    python test/bench/apiserver/bench.py [--pods N] [--watchers N]

Prints one JSON object. The server runs in a process of its own; the clients are raw sockets, so that they cost little.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
POD = {
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
GENERATED = {"metadata": {"generateName": "bench-"}, "data": {"k": "v"}}


class Client:
    """One keep-alive connection."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self.sock = socket.create_connection((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\nUser-Agent: bench/1\r\n"
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
    """Calls a second of all clients together."""
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


def resident(pid: int) -> int:
    """Resident memory in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", text)
    return int(match[1]) // 1024 if match else 0


def fan_out(host: str, port: int, token: str, watchers: int, writes: int) -> dict[str, Any]:
    """Events a second that reach all watchers together, and whether each saw every event in order."""
    path = "/api/v1/namespaces/default/configmaps"
    writer = Client(host, port, token)
    version = json.loads(writer.call("GET", path + "?limit=1"))["metadata"]["resourceVersion"]
    clients = [Client(host, port, token) for _ in range(watchers)]
    for client in clients:
        client.watch(f"{path}?watch=1&resourceVersion={version}")
    poll = select.epoll()
    by_fd = {}
    seen: dict[int, list[bytes]] = {}
    for client in clients:
        client.sock.setblocking(False)
        poll.register(client.sock, select.EPOLLIN)
        by_fd[client.sock.fileno()] = client
        seen[client.sock.fileno()] = []

    def write() -> None:
        for i in range(writes):
            writer.call("POST", path, {"metadata": {"name": f"fan-{version}-{i:05d}"}, "data": {"k": "v" * 100}})

    thread = threading.Thread(target=write)
    start = time.monotonic()
    thread.start()
    done: set[int] = set()
    last = f'"name":"fan-{version}-{writes - 1:05d}"'.encode()
    wrote = 0.0
    while len(done) < watchers:
        for fd, _ in poll.poll(10):
            data = by_fd[fd].sock.recv(1 << 20)
            seen[fd].append(data)
            if last in data or last in b"".join(seen[fd][-3:]):
                done.add(fd)
        if not wrote and not thread.is_alive():
            wrote = time.monotonic() - start
    took = time.monotonic() - start
    pattern = re.compile(rb'"name":"fan-\d+-(\d+)"')
    right = list(range(writes))
    complete = sum([int(n) for n in pattern.findall(_unchunk(b"".join(seen[fd])))] == right for fd in by_fd)
    for client in clients:
        client.sock.close()
    poll.close()
    return {
        "watchers": watchers,
        "writes_per_second": round(writes / (wrote or took)),
        "events_per_second": round(writes * watchers / took),
        "complete_and_in_order": complete,
    }


def _unchunk(data: bytes) -> bytes:
    _, _, data = data.partition(b"\r\n\r\n")
    out = []
    while data:
        size, _, data = data.partition(b"\r\n")
        if not size:
            continue
        number = int(size, 16)
        out.append(data[:number])
        data = data[number + 2 :]
    return b"".join(out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--writes", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3.0)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        start = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(ROOT / "cmd/apiserver"), "--kubeconfig-out", str(kubeconfig)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        assert server.stdout is not None
        server.stdout.readline()
        results: dict[str, Any] = {"start_to_ready_seconds": round(time.monotonic() - start, 3)}
        try:
            measure(kubeconfig, server.pid, flags, results)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    print(json.dumps(results, indent=1))


def measure(kubeconfig: Path, pid: int, flags: argparse.Namespace, results: dict[str, Any]) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    token = config["users"][0]["user"]["token"]
    host, _, port_text = config["clusters"][0]["cluster"]["server"].removeprefix("https://").partition(":")
    port = int(port_text)
    results["memory_empty_mb"] = resident(pid)
    path = "/api/v1/namespaces/default/configmaps"
    eight = [Client(host, port, token) for _ in range(8)]
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
    results["fan_out"] = fan_out(host, port, token, flags.watchers, flags.writes)
    start = time.monotonic()
    for i in range(flags.pods):
        POD["metadata"]["name"] = f"pod-{i:05d}"
        eight[0].call("POST", "/api/v1/namespaces/default/pods", POD)
    results["pods_created_per_second"] = round(flags.pods / (time.monotonic() - start))
    results["memory_at_pods_mb"] = resident(pid)
    start = time.monotonic()
    size = len(eight[0].call("GET", "/api/v1/pods"))
    results["list_all_pods"] = {"seconds": round(time.monotonic() - start, 3), "bytes": size}
    page = "/api/v1/pods?limit=500"
    results["list_500_per_second_one"] = round(rate(flags.seconds, eight[:1], lambda c, i, n: c.call("GET", page)), 1)
    results["list_500_per_second_eight"] = round(rate(flags.seconds, eight, lambda c, i, n: c.call("GET", page)), 1)


if __name__ == "__main__":
    main()
