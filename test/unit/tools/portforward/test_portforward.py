"""Forwarded ports on a fake connection, and what the texts of ports and addresses mean."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from patience import PATIENCE

from clientgo.apimachinery.util import httpstream
from clientgo.golang.goroutine import Call, go
from clientgo.golang.http import Header
from clientgo.golang.pipe import Pipe
from clientgo.golang.stop import Signal
from clientgo.tools import portforward
from clientgo.tools.portforward import ForwardedPort
from clientgo.tools.portforward.ports import ListenAddress, parse_addresses, parse_ports

FOUR_ALL, SIX_ALL = ListenAddress("127.0.0.1", False, "all"), ListenAddress("::1", True, "all")
FOUR, SIX = ListenAddress("127.0.0.1", False, "any"), ListenAddress("::1", True, "any")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a", "error parsing local port 'a': strconv.ParseUint: parsing \"a\": invalid syntax"),
        (":a", "error parsing remote port 'a': strconv.ParseUint: parsing \"a\": invalid syntax"),
        ("-1", "error parsing local port '-1': strconv.ParseUint: parsing \"-1\": invalid syntax"),
        ("65536", "error parsing local port '65536': strconv.ParseUint: parsing \"65536\": value out of range"),
        ("9" * 5000, "value out of range"),
        ("0", "remote port must be > 0"),
        ("0:0", "remote port must be > 0"),
        ("a:5000", "error parsing local port 'a'"),
        ("5000:a", "error parsing remote port 'a'"),
        ("1:2:3", "invalid port format '1:2:3'"),
        ("", "error parsing local port ''"),
    ],
)
def test_a_text_that_is_no_port_is_refused(text, wanted):
    """Go: TestParsePortsAndNew"""
    with pytest.raises(ValueError) as caught:
        parse_ports([text])
    assert wanted in str(caught.value)


@pytest.mark.parametrize("address", ["127.0.0.257", "::g", "domain.invalid", ""])
def test_a_text_that_is_no_address_is_refused(address):
    """Go: TestParsePortsAndNew"""
    with pytest.raises(ValueError, match="is not a valid IP"):
        parse_addresses([address])


@pytest.mark.parametrize(
    ("addresses", "wanted"),
    [
        (["localhost"], [FOUR_ALL, SIX_ALL]),
        (["localhost", "127.0.0.1"], [FOUR, SIX_ALL]),
        (["localhost", "::1"], [FOUR_ALL, SIX]),
        (["127.0.0.1", "::1", "localhost"], [FOUR, SIX]),
        (["localhost", "10.10.10.1"], [ListenAddress("10.10.10.1", False, "any"), FOUR_ALL, SIX_ALL]),
        (["10.0.0.1", "127.0.0.1"], [ListenAddress("10.0.0.1", False, "any"), FOUR]),
        (["127.0.0.01"], [ListenAddress("127.0.0.01", False, "any")]),
    ],
)
def test_localhost_is_two_addresses_of_which_one_is_enough(addresses, wanted):
    """Go: TestParsePortsAndNew"""
    assert parse_addresses(addresses) == wanted


def test_a_port_alone_is_both_ports():
    """Go: TestParsePortsAndNew"""
    found = parse_ports(["5000", "5000:5000", "8888:5000", "5000:8888", ":5000", "0:5000"])
    assert [(port.local, port.remote) for port in found] == [
        (5000, 5000), (5000, 5000), (8888, 5000), (5000, 8888), (0, 5000), (0, 5000),
    ]


@pytest.mark.parametrize(("addresses", "ports"), [([], ["80"]), (["localhost"], [])])
def test_a_forwarder_needs_an_address_and_a_port(addresses, ports):
    """Go: TestParsePortsAndNew"""
    with pytest.raises(ValueError, match="you must specify at least 1 "):
        portforward.new_on_addresses(FakeDialer(), addresses, ports, Signal(), None, None, None)


class FakeStream:
    """A stream whose other side the test holds."""

    def __init__(self, headers: Header) -> None:
        self._headers = headers
        self.to_client, self.to_pod = Pipe(1 << 20), Pipe(1 << 20)

    def read(self, size: int = -1) -> bytes:
        return self.to_client.read(size)

    def write(self, data: bytes) -> None:
        self.to_pod.write(data)

    def close(self) -> None:
        self.to_pod.close_write()

    def reset(self) -> None:
        self.to_client.close_read()
        self.to_pod.close_write()

    def headers(self) -> Header:
        return self._headers

    def identifier(self) -> int:
        return 0


class FakeConnection:
    def __init__(self) -> None:
        self.closed = Signal()
        self.streams: list[FakeStream] = []
        self.removed: list[Any] = []
        self.created = threading.Semaphore(0)
        self.message = b""

    def create_stream(self, headers: Header) -> FakeStream:
        stream = FakeStream(headers.copy())
        self.streams.append(stream)
        if headers["streamType"] == "error":
            if self.message:
                stream.to_client.write(self.message)
            stream.to_client.close_write()
        self.created.release()
        return stream

    def close(self) -> None:
        self.closed.set()
        for stream in self.streams:
            stream.to_client.close_write()

    def close_chan(self) -> Signal:
        return self.closed

    def set_idle_timeout(self, timeout: float) -> None: ...

    def remove_streams(self, *streams: Any) -> None:
        self.removed += streams


class FakeDialer:
    def __init__(self, protocol: str = "portforward.k8s.io", failure: Exception | None = None) -> None:
        self.connection = FakeConnection()
        self.protocol = protocol
        self.failure = failure
        self.asked: list[tuple[str, ...]] = []

    def dial(self, *protocols: str) -> tuple[Any, str]:
        self.asked.append(protocols)
        if self.failure is not None:
            raise self.failure
        return self.connection, self.protocol


class Forwarding:
    """A forwarder that runs in a thread."""

    def __init__(self, dialer: Any, *ports: str) -> None:
        self.stop = threading.Event()
        self.ready = Signal()
        self.out, self.errors = io.StringIO(), io.StringIO()
        self.forwarder = portforward.new_on_addresses(
            dialer, ["127.0.0.1"], ports, self.stop, self.ready, self.out, self.errors
        )
        self.call: Call[None] = go(self.forwarder.forward_ports, "test-forward")

    def connect(self) -> socket.socket:
        assert self.ready.wait(PATIENCE)
        return socket.create_connection(("127.0.0.1", self.forwarder.get_ports()[0].local), PATIENCE)


@contextlib.contextmanager
def forwarding(dialer: Any, *ports: str) -> Iterator[Forwarding]:
    running = Forwarding(dialer, *ports)
    try:
        yield running
    finally:
        running.stop.set()
        running.call.join(PATIENCE)


def test_a_free_port_is_chosen_and_reported():
    """
    Go: TestGetPortsReturnsDynamicallyAssignedLocalPort
    Go: TestGetListener
    """
    with forwarding(FakeDialer(), ":80", "0:90") as running:
        assert running.ready.wait(PATIENCE)
        ports = running.forwarder.get_ports()
        assert [port.remote for port in ports] == [80, 90]
        assert all(port.local for port in ports)
        assert running.out.getvalue() == "".join(
            f"Forwarding from 127.0.0.1:{port.local} -> {port.remote}\n" for port in ports
        )
        running.stop.set()
        running.call.result()


def test_ports_are_unknown_before_they_are_open():
    forwarder = portforward.new(FakeDialer(), [":80"], Signal(), None, None, None)
    with pytest.raises(RuntimeError, match="no Ready channel provided"):
        forwarder.get_ports()
    forwarder.ready = Signal()
    with pytest.raises(RuntimeError, match="listeners not ready"):
        forwarder.get_ports()


def test_a_connection_is_two_streams_and_bytes_go_both_ways():
    """Go: TestHandleConnection"""
    dialer = FakeDialer()
    with forwarding(dialer, ":80") as running, running.connect() as client:
        assert all(dialer.connection.created.acquire(timeout=PATIENCE) for _ in range(2))
        error, data = dialer.connection.streams
        assert dict(error.headers()) == {"streamType": "error", "port": "80", "requestID": "0"}
        assert dict(data.headers()) == {"streamType": "data", "port": "80", "requestID": "0"}
        client.sendall(b"test data from local")
        assert data.to_pod.read() == b"test data from local"
        client.shutdown(socket.SHUT_WR)
        assert data.to_pod.read() == b""  # the pod learns of it, and may still answer
        data.to_client.write(b"test data from remote")
        data.to_client.close_write()
        assert client.recv(100) == b"test data from remote"
        assert client.recv(100) == b""
        running.stop.set()
        running.call.result()
    assert set(dialer.connection.removed) == {error, data}


def test_an_error_of_the_pod_ends_the_whole_connection(caplog):
    """Go: TestHandleConnectionSendsRemoteError"""
    dialer = FakeDialer()
    dialer.connection.message = b"connection refused by pod"
    with forwarding(dialer, ":80") as running, running.connect() as client:
        assert all(dialer.connection.created.acquire(timeout=PATIENCE) for _ in range(2))
        dialer.connection.streams[1].to_client.close_write()
        assert client.recv(100) == b""
        with pytest.raises(portforward.ErrLostConnectionToPod):
            running.call.result()
    assert "An error occurred forwarding" in caplog.text
    assert "connection refused by pod" in caplog.text


def test_the_end_of_the_connection_is_an_error_and_stops_listening():
    """
    Go: TestForwardPortsReturnsErrorWhenConnectionIsLost
    Go: TestWaitForConnectionExitsOnStreamConnClosed
    """
    dialer = FakeDialer()
    with forwarding(dialer, ":80") as running:
        assert running.ready.wait(PATIENCE)
        port = running.forwarder.get_ports()[0].local
        dialer.connection.close()
        with pytest.raises(portforward.ErrLostConnectionToPod, match="lost connection to pod"):
            running.call.result()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
    assert not [each for each in threading.enumerate() if each.name.startswith("portforward")]


def test_a_stop_ends_everything_without_an_error():
    """Go: TestForwardPortsReturnsNilWhenStopChanIsClosed"""
    dialer = FakeDialer()
    with forwarding(dialer, ":80") as running, running.connect() as client:
        assert all(dialer.connection.created.acquire(timeout=PATIENCE) for _ in range(2))
        running.stop.set()
        running.call.result()
        assert client.recv(100) == b""
    assert dialer.connection.closed.is_set()
    assert not [each for each in threading.enumerate() if each.name.startswith("portforward")]


def test_a_close_ends_listening_and_leaves_connections_alone():
    dialer = FakeDialer()
    with forwarding(dialer, ":80") as running, running.connect() as client:
        assert all(dialer.connection.created.acquire(timeout=PATIENCE) for _ in range(2))
        port = running.forwarder.get_ports()[0].local
        running.forwarder.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        client.sendall(b"still here")
        assert dialer.connection.streams[1].to_pod.read() == b"still here"
        dialer.connection.streams[1].to_client.write(b"yes")
        assert client.recv(100) == b"yes"
        running.stop.set()
        running.call.result()
        assert client.recv(100) == b""


def test_a_failed_upgrade_and_another_protocol_are_errors():
    with pytest.raises(RuntimeError, match="error upgrading connection: no"):
        portforward.new(FakeDialer(failure=OSError("no")), [":80"], Signal(), None, None, None).forward_ports()
    wanted = 'unable to negotiate protocol: client supports "portforward.k8s.io", server returned "x"'
    with pytest.raises(RuntimeError, match=wanted):
        portforward.new(FakeDialer("x"), [":80"], Signal(), None, None, None).forward_ports()


def test_a_taken_port_is_reported_and_others_are_forwarded():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with forwarding(FakeDialer(), f"{port}:80", ":80") as running:
            assert running.ready.wait(PATIENCE)
            assert running.errors.getvalue() == (
                f"Unable to listen on port {port}: Listeners failed to create with the following errors: [unable to "
                f"create listener: Error listen tcp4 127.0.0.1:{port}: bind: address already in use]\n"
            )
        with forwarding(FakeDialer(), f"{port}:80") as running:
            running.call.join(PATIENCE)
            with pytest.raises(OSError, match=rf"unable to listen on any of the requested ports: \[{{{port} 80}}\]"):
                running.call.result()


UPGRADE = httpstream.UpgradeFailureError(ValueError("fake error"))
PROXY = ValueError("proxy: unknown scheme: https")
OTHER = OSError("This is a non-upgrade error")


@pytest.mark.parametrize(
    ("failure", "wanted"), [(None, "primary"), (UPGRADE, "secondary"), (PROXY, "secondary"), (OTHER, OTHER)]
)
def test_the_second_dialer_is_for_servers_that_refuse_the_upgrade(failure, wanted):
    """Go: TestFallbackDialer"""
    primary, secondary = FakeDialer("primary", failure), FakeDialer("secondary")
    dialer = portforward.new_fallback_dialer(
        primary, secondary, lambda err: httpstream.is_upgrade_failure(err) or httpstream.is_https_proxy_error(err)
    )
    if isinstance(wanted, Exception):
        with pytest.raises(OSError) as caught:
            dialer.dial("a", "b")
        assert caught.value is wanted
    else:
        assert dialer.dial("a", "b")[1] == wanted
    assert primary.asked == [("a", "b")]
    assert bool(secondary.asked) == (wanted == "secondary")


def test_a_forwarded_port_is_a_pair():
    assert ForwardedPort(1, 2) == parse_ports(["1:2"])[0]
