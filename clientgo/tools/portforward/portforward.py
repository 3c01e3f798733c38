"""Local ports whose connections end at a pod. Mirrors tools/portforward/portforward.go.

Difference: `forward_ports` returns after all threads and connections have ended. Go's functions with names like
NewForStreaming are absent, since here is one package httpstream.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Sequence
from typing import Any, Final

from clientgo import klog
from clientgo.api.core.v1 import (
    PORT_FORWARD_REQUEST_ID_HEADER,
    PORT_HEADER,
    STREAM_TYPE,
    STREAM_TYPE_DATA,
    STREAM_TYPE_ERROR,
)
from clientgo.apimachinery.util import httpstream, runtime, wait
from clientgo.context import Context
from clientgo.golang.http import Header
from clientgo.golang.net import ErrClosed, SocketConn, join_host_port
from clientgo.golang.stop import Signal, StopChannel, add_done_callback
from clientgo.tools.portforward.ports import ForwardedPort, ListenAddress, parse_addresses, parse_ports

__all__ = [
    "PORT_FORWARD_PROTOCOL_V1_NAME",
    "ErrLostConnectionToPod",
    "ForwardedPort",
    "PortForwarder",
    "new",
    "new_on_addresses",
    "new_on_addresses_with_context",
]

PORT_FORWARD_PROTOCOL_V1_NAME: Final = "portforward.k8s.io"
_MAX_MESSAGE: Final = 1 << 20
_SIZE: Final = 32 << 10


class ErrLostConnectionToPod(ConnectionError):
    """Raised when the connection has ended before the stop. Go: portforward.ErrLostConnectionToPod."""

    def __init__(self) -> None:
        super().__init__("lost connection to pod")


class PortForwarder:
    """Listens on local ports and forwards each connection. Run it once. Go: portforward.PortForwarder.

    `out` and `err_out` are text files for messages, or None; several threads write to `out`.
    """

    def __init__(
        self,
        ctx: Context,
        dialer: httpstream.Dialer,
        addresses: list[ListenAddress],
        ports: list[ForwardedPort],
        ready: Signal | threading.Event | None,
        out: Any,
        err_out: Any,
    ) -> None:
        self.ready = ready
        """Set when the local ports are open. Go: PortForwarder.Ready."""
        self._logger = klog.from_context(ctx)
        self._stop: StopChannel = ctx.done()
        self._dialer = dialer
        self._addresses = addresses
        self._ports = ports
        self._out = out
        self._err_out = err_out
        # Guards the other attributes and writes to `out`.
        self._lock = threading.Lock()
        self._listeners: list[socket.socket] = []
        self._connections: set[SocketConn] = set()
        self._threads: list[threading.Thread] = []
        # Set by `close`, and by the end of `forward_ports`.
        self._closed = False
        self._ended = False
        self._request_id = 0

    def forward_ports(self) -> None:
        """Connect, listen, and forward until the stop. Blocks. Go: ForwardPorts.

        Raises ErrLostConnectionToPod if the connection ends first, OSError if no port can be opened, and RuntimeError
        if the server refuses.
        """
        try:
            conn, protocol = self._dialer.dial(PORT_FORWARD_PROTOCOL_V1_NAME)
        except Exception as err:
            raise RuntimeError(f"error upgrading connection: {err}") from err
        try:
            if protocol != PORT_FORWARD_PROTOCOL_V1_NAME:
                raise RuntimeError(
                    f'unable to negotiate protocol: client supports "{PORT_FORWARD_PROTOCOL_V1_NAME}", '
                    f'server returned "{protocol}"'
                )
            self._forward(conn)
        finally:
            self.close()
            # Resets the streams. Before the local connections, whose end would end the streams in the regular way.
            conn.close()
            self._end_connections()
            join = getattr(conn, "join", None)
            if join is not None:
                join()

    def _forward(self, conn: httpstream.Connection) -> None:
        has_listener = False
        for port in self._ports:
            try:
                self._listen_on_port(conn, port)
                has_listener = True
            except OSError as err:
                if self._err_out is not None:
                    self._err_out.write(f"Unable to listen on port {port.local}: {err}\n")
        if not has_listener:
            shown = " ".join(f"{{{port.local} {port.remote}}}" for port in self._ports)
            raise OSError(f"unable to listen on any of the requested ports: [{shown}]")
        if self.ready is not None:
            self.ready.set()
        done = Signal()
        forget = [add_done_callback(each, lambda: _set(done)) for each in (self._stop, conn.close_chan())]
        try:
            done.wait()
        finally:
            for each in forget:
                each()
        if not self._stop.is_set():
            raise ErrLostConnectionToPod

    # ---- listening

    def _listen_on_port(self, conn: httpstream.Connection, port: ForwardedPort) -> None:
        """Listen on the addresses. Raises OSError if too many fail. Go: listenOnPort."""
        errors: list[str] = []
        failed = {"all": 0, "any": 0}
        succeeded = {"all": 0, "any": 0}
        for address in self._addresses:
            try:
                listener = self._listener(address, port)
            except OSError as err:
                errors.append(str(err))
                failed[address.failure_mode] += 1
                continue
            succeeded[address.failure_mode] += 1
            with self._lock:
                self._listeners.append(listener)
            self._go(f"port {port.local}", self._wait_for_connection, conn, listener, port)
        if (not succeeded["all"] and failed["all"]) or failed["any"]:
            raise OSError(f"Listeners failed to create with the following errors: [{' '.join(errors)}]")

    def _listener(self, address: ListenAddress, port: ForwardedPort) -> socket.socket:
        family = socket.AF_INET6 if address.is_ipv6 else socket.AF_INET
        try:
            listener = socket.create_server((address.address, port.local), family=family)
        except OSError as err:
            where = join_host_port(address.address, port.local)
            reason = (os.strerror(err.errno) if err.errno else str(err)).lower()
            raise OSError(
                f"unable to create listener: Error listen tcp{6 if address.is_ipv6 else 4} {where}: bind: {reason}"
            ) from err
        port.local = listener.getsockname()[1]
        self._print(f"Forwarding from {join_host_port(address.address, port.local)} -> {port.remote}")
        return listener

    def _print(self, line: str) -> None:
        if self._out is not None:
            with self._lock:
                self._out.write(line + "\n")

    def _go(self, name: str, fn: Any, *args: object) -> None:
        def run() -> None:
            with runtime.handle_crash_with_logger(self._logger, go_on=True):
                fn(*args)
            with self._lock:
                if thread in self._threads and not self._ended:
                    self._threads.remove(thread)

        thread = threading.Thread(target=run, name=f"portforward-{name}", daemon=True)
        with self._lock:
            if self._ended:
                return
            self._threads.append(thread)
            thread.start()

    def _wait_for_connection(self, conn: httpstream.Connection, listener: socket.socket, port: ForwardedPort) -> None:
        while not conn.close_chan().is_set():
            try:
                sock, _ = listener.accept()
            except OSError as err:
                if not self._closed:
                    runtime.handle_error_with_logger(
                        self._logger, err, "Error accepting connection", localPort=port.local
                    )
                return
            local = SocketConn(sock)
            with self._lock:
                has_ended = self._ended
                self._connections.add(local)
            if has_ended:
                local.close()
                return
            self._go(f"connection {port.local}", self._handle_connection, conn, local, port)

    # ---- forwarding

    def _handle_connection(self, conn: httpstream.Connection, local: SocketConn, port: ForwardedPort) -> None:
        """Copy in both directions until the pod has closed its side, or an error. Go: handleConnection."""
        try:
            self._print(f"Handling connection for {port.local}")
            with self._lock:
                request_id, self._request_id = self._request_id, self._request_id + 1
            headers = Header(
                {
                    STREAM_TYPE: STREAM_TYPE_ERROR,
                    PORT_HEADER: str(port.remote),
                    PORT_FORWARD_REQUEST_ID_HEADER: str(request_id),
                }
            )
            error_stream = self._create(conn, headers, "Error creating error stream", port)
            if error_stream is None:
                return
            try:
                self._with_error_stream(conn, local, port, headers, error_stream)
            finally:
                conn.remove_streams(error_stream)
        finally:
            local.close()
            with self._lock:
                self._connections.discard(local)

    def _create(
        self, conn: httpstream.Connection, headers: Header, message: str, port: ForwardedPort
    ) -> httpstream.Stream | None:
        try:
            return conn.create_stream(headers)
        except OSError as err:
            self._failed(err, message, port)
            return None

    def _failed(self, err: Exception, message: str, port: ForwardedPort) -> None:
        if not self._ended:
            runtime.handle_error_with_logger(
                self._logger, err, message, localPort=port.local, remotePort=port.remote
            )

    def _with_error_stream(
        self,
        conn: httpstream.Connection,
        local: SocketConn,
        port: ForwardedPort,
        headers: Header,
        error_stream: httpstream.Stream,
    ) -> None:
        with contextlib.suppress(OSError):
            error_stream.close()  # nothing is written to it
        headers[STREAM_TYPE] = STREAM_TYPE_DATA
        data_stream = self._create(conn, headers, "Error creating forwarding stream", port)
        if data_stream is None:
            error_stream.reset()
            return
        finished = Signal()
        threads = [
            threading.Thread(target=fn, args=args, name=f"portforward-{name} {port.local}", daemon=True)
            for name, fn, args in (
                ("receive", self._receive, (local, data_stream, port, finished)),
                ("send", self._send, (local, data_stream, port, finished)),
            )
        ]
        for thread in threads:
            thread.start()
        finished.wait()
        # Unsent data would block the connection, and with it the error stream.
        data_stream.reset()
        local.close()
        conn.remove_streams(data_stream)
        self._report(conn, error_stream, port)
        for thread in threads:
            thread.join()

    def _receive(self, local: SocketConn, stream: httpstream.Stream, port: ForwardedPort, finished: Signal) -> None:
        try:
            while data := stream.read(_SIZE):
                local.write(data)
        except ErrClosed:
            pass
        except OSError as err:
            self._failed(err, "Error copying from remote stream to local connection", port)
        finally:
            finished.set()

    def _send(self, local: SocketConn, stream: httpstream.Stream, port: ForwardedPort, finished: Signal) -> None:
        try:
            while data := local.read(_SIZE):
                stream.write(data)
        except ErrClosed:
            pass
        except OSError as err:
            # After `finished` the stream is closed at this end.
            if not finished.is_set():
                self._failed(err, "Error copying from local connection to remote stream", port)
                finished.set()
        finally:
            with contextlib.suppress(OSError):
                stream.close()

    def _report(self, conn: httpstream.Connection, error_stream: httpstream.Stream, port: ForwardedPort) -> None:
        """Log what the pod's node has reported. An error ends the whole connection, as in Go."""
        message = bytearray()
        try:
            while data := error_stream.read():
                message += data[: _MAX_MESSAGE - len(message)]
        except OSError as err:
            self._failed(err, "Error reading from error stream", port)
            conn.close()
            return
        if message:
            self._failed(RuntimeError(message.decode("utf-8", "replace")), "An error occurred forwarding", port)
            conn.close()

    # ---- the end

    def close(self) -> None:
        """Stop listening. Connections go on, and `forward_ports` too until the stop. Does not block. Idempotent.

        Go: Close.
        """
        with self._lock:
            self._closed = True
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            # Wakes the thread in accept.
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _end_connections(self) -> None:
        with self._lock:
            self._ended = True
            connections, threads = list(self._connections), list(self._threads)
        for connection in connections:
            connection.close()
        for thread in threads:
            thread.join()

    def get_ports(self) -> list[ForwardedPort]:
        """Return the ports with the local ones that were chosen. Raises RuntimeError before `ready`. Go: GetPorts."""
        if self.ready is None:
            raise RuntimeError("no Ready channel provided")
        if not self.ready.is_set():
            raise RuntimeError("listeners not ready")
        return self._ports

    def __repr__(self) -> str:
        return f"<PortForwarder {self._ports}>"


def _set(signal: Signal) -> None:
    signal.set()


def new(
    dialer: httpstream.Dialer,
    ports: Sequence[str],
    stop_chan: StopChannel,
    ready_chan: Signal | threading.Event | None,
    out: Any,
    err_out: Any,
) -> PortForwarder:
    """Return a forwarder that listens on localhost. Raises ValueError for invalid ports. Go: New."""
    return new_on_addresses(dialer, ["localhost"], ports, stop_chan, ready_chan, out, err_out)


def new_on_addresses(
    dialer: httpstream.Dialer,
    addresses: Sequence[str],
    ports: Sequence[str],
    stop_chan: StopChannel,
    ready_chan: Signal | threading.Event | None,
    out: Any,
    err_out: Any,
) -> PortForwarder:
    """Return a forwarder that listens on these addresses. Raises ValueError. Go: NewOnAddresses."""
    ctx = wait.context_for_channel(stop_chan)
    return new_on_addresses_with_context(ctx, dialer, addresses, ports, ready_chan, out, err_out)


def new_on_addresses_with_context(
    ctx: Context,
    dialer: httpstream.Dialer,
    addresses: Sequence[str],
    ports: Sequence[str],
    ready_chan: Signal | threading.Event | None,
    out: Any,
    err_out: Any,
) -> PortForwarder:
    """Return a forwarder that ends with `ctx`. Raises ValueError. Go: NewOnAddressesWithContext."""
    if not addresses:
        raise ValueError("you must specify at least 1 address")
    parsed_addresses = parse_addresses(addresses)
    if not ports:
        raise ValueError("you must specify at least 1 port")
    return PortForwarder(ctx, dialer, parsed_addresses, parse_ports(ports), ready_chan, out, err_out)
