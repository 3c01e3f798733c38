"""The containers of simulated pods: a scripted main process with a log, programs for exec, and ports.

The main process prints "NAME started", and then each line that it reads: from an attached client, or from the
annotation `simulator/log` of its pod, whose changes are printed by the first container:

    kubectl annotate pod web simulator/log="hello" --overwrite
    kubectl logs -f web

Each containerPort of the pod's containers answers HTTP requests with "POD METHOD PATH", and sends other bytes back. The
programs are those of shell.py. A container is made at the first request for its log or streams, so pods without such
requests cost nothing.
"""

from __future__ import annotations

import contextlib
import datetime
import socket
import threading
from collections import deque
from typing import Final

from clientgo.golang import utf8
from clientgo.golang.net import Conn, SocketConn
from clientgo.golang.pipe import Pipe
from clientgo.golang.stop import Signal
from clientgo.testing.apiserver.simulator.files import Files
from clientgo.testing.apiserver.simulator.shell import Shell
from clientgo.testing.apiserver.streams.runtime import LogOptions, LogReader, NoSuchContainer, Streams
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times

__all__ = ["LOG_ANNOTATION", "Containers"]

LOG_ANNOTATION: Final = "simulator/log"
_MAX_LINES: Final = 10_000
_MAX_BYTES: Final = 4 << 20
_MAX_LINE: Final = 16 << 10
_PIECE: Final = 32 << 10
_METHODS: Final = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"PATCH ")
_MAX_HEAD: Final = 64 << 10
_KILLED: Final = 137


class _Log:
    """The lines of one run of a container; the oldest go when there are too many. Thread-safe."""

    def __init__(self) -> None:
        # Guards the other attributes; notified at a new line and at the end.
        self.changed = threading.Condition()
        self._lines: deque[tuple[float, bytes]] = deque()
        # The number of lines that have gone.
        self._gone = 0
        self._size = 0
        self.ended = False

    def add(self, moment: float, line: bytes) -> None:
        with self.changed:
            self._lines.append((moment, line))
            self._size += len(line)
            while len(self._lines) > _MAX_LINES or self._size > _MAX_BYTES:
                self._size -= len(self._lines.popleft()[1])
                self._gone += 1
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def start_of(self, options: LogOptions) -> int:
        """Return the number of the first requested line."""
        with self.changed:
            first = self._gone
            if options.since is not None:
                since = options.since
                first += sum(1 for moment, _ in self._lines if moment < since)
            if options.tail is not None:
                first = max(first, self._gone + len(self._lines) - options.tail)
            return first

    def after(self, number: int) -> tuple[list[tuple[float, bytes]], int]:
        """Return the lines from a number on, and the number of the next one."""
        with self.changed:
            skipped = max(0, number - self._gone)
            return list(self._lines)[skipped:], self._gone + len(self._lines)

    def has(self, number: int) -> bool:
        return self._gone + len(self._lines) > number


class _LogReader:
    """A reader of one log. See LogReader."""

    def __init__(self, log: _Log, options: LogOptions) -> None:
        self._log = log
        self._timestamps = options.timestamps
        self._next = log.start_of(options)
        self._closed = False

    def read(self) -> bytes:
        lines, self._next = self._log.after(self._next)
        if not self._timestamps:
            return b"".join(line for _, line in lines)
        return b"".join(_stamp(moment) + b" " + line for moment, line in lines)

    def wait(self) -> bool:
        with self._log.changed:
            while not self._closed and not self._log.ended and not self._log.has(self._next):
                self._log.changed.wait()
            return not self._closed and self._log.has(self._next)

    def close(self) -> None:
        with self._log.changed:
            self._closed = True
            self._log.changed.notify_all()


def _stamp(moment: float) -> bytes:
    text = datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{text}000Z".encode()


class _Container:
    """One run of a container. Thread-safe."""

    def __init__(self, pod: Json, name: str, times: Times, started: str) -> None:
        self.name = name
        self._times = times
        self.log = _Log()
        self.files = Files(pod["metadata"]["name"])
        self.ended = Signal()
        self.code = 0
        # Guards the next two attributes.
        self._lock = threading.Lock()
        self._line = b""
        self._outputs: set[Pipe] = set()
        begin = times.clock.now() - times.since(started) if started else times.clock.now()
        self.log.add(begin, f"{name} started\n".encode())

    def print(self, data: bytes) -> None:
        """Let the main process print bytes: to its log, and to the attached clients. Blocks while one does not read."""
        with self._lock:
            outputs = list(self._outputs)
            *lines, self._line = (self._line + data).split(b"\n")
            if len(self._line) > _MAX_LINE:
                lines.append(self._line)
                self._line = b""
        now = self._times.clock.now()
        for line in lines:
            self.log.add(now, line + b"\n")
        for output in outputs:
            # Fails after the client has gone.
            with contextlib.suppress(ConnectionError):
                output.write(data)

    def end(self, code: int) -> None:
        """End the main process, and with it the programs and the streams."""
        with self._lock:
            outputs, rest = list(self._outputs), self._line
            self._line = b""
            self.code = code
        if rest:
            self.log.add(self._times.clock.now(), rest + b"\n")
        self.log.end()
        self.ended.set()
        for output in outputs:
            output.close_write()

    def attach(self, streams: Streams) -> int:
        output = Pipe(1 << 20)
        with self._lock:
            self._outputs.add(output)
        reader = threading.Thread(target=self._read, args=(streams, output), name="simulator-attach", daemon=True)
        forget = [self.ended.add_done_callback(output.close_write), streams.gone.add_done_callback(output.close_read)]
        reader.start()
        try:
            while data := output.read(_PIECE):
                streams.stdout.write(data)
        finally:
            with self._lock:
                self._outputs.discard(output)
            for each in forget:
                each()
            output.close_read()
            streams.end_input()
            reader.join()
        return self.code

    def _read(self, streams: Streams, output: Pipe) -> None:
        """Pass the input of a client on. Its end ends the attachment, for a client that has sent anything."""
        has_input = False
        try:
            while data := streams.stdin.read(_PIECE):
                has_input = True
                self.print(data.replace(b"\r", b"\n") if streams.tty else data)
        finally:
            if has_input:
                output.close_write()


class Containers:
    """The containers of all pods. Thread-safe. Implements streams.runtime.Runtime."""

    def __init__(self, times: Times) -> None:
        self._times = times
        # Guards the other attributes.
        self._lock = threading.Lock()
        # By uid of the pod and name; with the number of the restart.
        self._running: dict[tuple[str, str], tuple[int, _Container]] = {}
        self._previous: dict[tuple[str, str], _Container] = {}
        # The last annotation that was printed, by uid.
        self._printed: dict[str, str] = {}
        self._servers: set[threading.Thread] = set()
        self._connections: set[SocketConn] = set()
        self._stopped = False

    def __repr__(self) -> str:
        return f"<Containers {len(self._running)} running>"

    # ---- the life of containers

    def _find(self, pod: Json, name: str) -> _Container:
        """Return a container that runs or has ended. Raises NoSuchContainer."""
        for status in (pod.get("status") or {}).get("containerStatuses") or ():
            if status.get("name") == name:
                break
        else:
            text = f'container "{name}" in pod "{pod["metadata"]["name"]}" is waiting to start: ContainerCreating'
            raise NoSuchContainer(text)
        state = status.get("state") or {}
        started = (state.get("running") or state.get("terminated") or {}).get("startedAt", "")
        key, restarts = (pod["metadata"]["uid"], name), status.get("restartCount", 0)
        with self._lock:
            known = self._running.get(key)
            if known is not None and known[0] == restarts:
                return known[1]
            container = _Container(pod, name, self._times, started)
            self._running[key] = (restarts, container)
            old = known[1] if known is not None else None
            if old is None and restarts:
                old = _Container(pod, name, self._times, started)
            if old is not None:
                self._previous[key] = old
        if old is not None:
            old.end(1)
        if state.get("terminated"):
            container.end(state["terminated"].get("exitCode", 0))
        return container

    def observe(self, pod: Json) -> None:
        """Take a change of a pod: its end, a restart, a line for the log."""
        uid = pod["metadata"]["uid"]
        text = ((pod.get("metadata") or {}).get("annotations") or {}).get(LOG_ANNOTATION, "")
        with self._lock:
            names = [name for known, name in self._running if known == uid]
            is_new = bool(text) and self._printed.get(uid) != text
        phase = (pod.get("status") or {}).get("phase")
        if is_new and phase == "Running":
            first = pod["spec"]["containers"][0]["name"]
            names = [*names, first]
        for name in dict.fromkeys(names):
            try:
                container = self._find(pod, name)
            except NoSuchContainer:
                return
            if phase in ("Succeeded", "Failed"):
                container.end(0 if phase == "Succeeded" else 1)
        if is_new and phase == "Running":
            with self._lock:
                self._printed[uid] = text
            self._find(pod, pod["spec"]["containers"][0]["name"]).print(utf8.encode(text) + b"\n")

    def gone(self, pod: Json) -> None:
        """End the containers of a pod that was deleted."""
        uid = pod["metadata"]["uid"]
        with self._lock:
            ended = [self._running.pop(key)[1] for key in list(self._running) if key[0] == uid]
            for key in [key for key in self._previous if key[0] == uid]:
                del self._previous[key]
            self._printed.pop(uid, None)
        for container in ended:
            container.end(_KILLED)

    def stop(self) -> None:
        """End all containers and connections, and join the threads of the ports. Idempotent."""
        with self._lock:
            self._stopped = True
            containers = [container for _, container in self._running.values()]
            connections, servers = list(self._connections), list(self._servers)
        for container in containers:
            container.end(_KILLED)
        for connection in connections:
            connection.close()
        for server in servers:
            server.join()

    # ---- the runtime

    def _alive(self, pod: Json, name: str) -> _Container:
        container = self._find(pod, name)
        if container.ended.is_set():
            raise NoSuchContainer(f'container not found ("{name}")')
        return container

    def exec(self, pod: Json, container: str, command: list[str], streams: Streams) -> int:
        """See Runtime."""
        found = self._alive(pod, container)

        def kill() -> None:
            streams.gone.set()
            streams.end_input()

        forget = found.ended.add_done_callback(kill)
        try:
            code = Shell(found.files, self._environment(pod, container), streams).run(command)
        finally:
            forget()
        return _KILLED if found.ended.is_set() else code

    @staticmethod
    def _environment(pod: Json, name: str) -> dict[str, str]:
        environment = {"PATH": "/bin", "HOME": "/", "HOSTNAME": pod["metadata"]["name"]}
        for container in pod["spec"]["containers"]:
            if container["name"] == name:
                environment |= {each["name"]: each.get("value", "") for each in container.get("env") or ()}
        return environment

    def attach(self, pod: Json, container: str, streams: Streams) -> int:
        """See Runtime."""
        return self._alive(pod, container).attach(streams)

    def log(self, pod: Json, container: str, options: LogOptions) -> LogReader:
        """See Runtime."""
        current = self._find(pod, container)
        if not options.previous:
            return _LogReader(current.log, options)
        with self._lock:
            previous = self._previous.get((pod["metadata"]["uid"], container))
        if previous is None:
            name = pod["metadata"]["name"]
            raise NoSuchContainer(f'previous terminated container "{container}" in pod "{name}" not found')
        return _LogReader(previous.log, options)

    def dial(self, pod: Json, port: int) -> Conn:
        """See Runtime. Raises ConnectionRefusedError for a port that no container has."""
        containers = pod["spec"]["containers"]
        ports = {each["containerPort"] for container in containers for each in container.get("ports") or ()}
        if (pod.get("status") or {}).get("phase") != "Running" or port not in ports:
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            raise ConnectionRefusedError(
                f'error forwarding port {port} to pod {uid}, uid : failed to connect to localhost:{port} inside '
                f'namespace of pod "{name}", IPv4: dial tcp4 127.0.0.1:{port}: connect: connection refused'
            )
        ours, theirs = (SocketConn(sock) for sock in socket.socketpair())
        thread = threading.Thread(
            target=self._serve, args=(theirs, pod["metadata"]["name"]), name="simulator-port", daemon=True
        )
        with self._lock:
            if self._stopped:
                ours.close()
                theirs.close()
                raise ConnectionRefusedError("the simulator has stopped")
            self._servers.add(thread)
            self._connections.update((ours, theirs))
            thread.start()
        return ours

    def _serve(self, conn: SocketConn, pod: str) -> None:
        try:
            data = b""
            while _may_be_http(data) and (more := conn.read(_PIECE)):
                data += more
                if b"\r\n\r\n" in data and data.startswith(_METHODS):
                    conn.write(_http_answer(data, pod))
                    return
            while data:
                conn.write(data)
                data = conn.read(_PIECE)
        except OSError:
            pass  # the client has gone
        finally:
            conn.close()
            with self._lock:
                self._servers.discard(threading.current_thread())
                self._connections = {each for each in self._connections if not each.is_closed}


def _may_be_http(data: bytes) -> bool:
    if len(data) > _MAX_HEAD:
        return False
    return any(method.startswith(data[: len(method)]) or data.startswith(method) for method in _METHODS)


def _http_answer(request: bytes, pod: str) -> bytes:
    method, path = request.split(b"\r\n", 1)[0].split(b" ")[:2]
    body = pod.encode() + b" " + method + b" " + path + b"\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if method == b"HEAD" else body)
