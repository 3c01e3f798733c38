"""Logs, exec, attach and port-forward of simulated pods, by this library's own clients."""

from __future__ import annotations

import hashlib
import io
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from apiclient import Api
from cuttable import CuttableProxy
from patience import PATIENCE

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.api.core.v1 import STREAM_TYPE, STREAM_TYPE_ERROR, STREAM_TYPE_STDOUT
from clientgo.apimachinery.api.errors import StatusError
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import httpstream
from clientgo.golang.goroutine import go
from clientgo.golang.http import Header
from clientgo.golang.stop import Signal
from clientgo.rest import Config
from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.simulator import Simulator
from clientgo.testing.apiserver.streams.channel import resized
from clientgo.testing.apiserver.streams.runtime import Size, Streams
from clientgo.tools import portforward, remotecommand
from clientgo.tools.remotecommand import StreamOptions, TerminalSize
from clientgo.transport import spdy
from clientgo.util.exec import CodeExitError

pytestmark = pytest.mark.shared_server
CTX = context.background()
PODS = "/api/v1/namespaces/default/pods"
V4 = "v4.channel.k8s.io"


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    variables = [{"name": "COLOR", "value": "red"}]
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": variables}
    spec = {"containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment() as env, Simulator(env.server, ready_delay=0.01):
        client = kubernetes.new_for_config(env.config)
        make(client, pod("web"))
        yield env
        client.close()


@pytest.fixture(scope="module")
def client(env: Environment) -> Iterator[kubernetes.Clientset]:
    client = kubernetes.new_for_config(env.config)
    yield client
    client.close()


def make(client: kubernetes.Clientset, document: dict[str, Any]) -> None:
    """Create a pod and wait until it runs."""
    pods = client.core_v1().pods("default")
    created = pods.create(CTX, corev1.Pod.from_dict(document))
    name = created.get_name()
    options = metav1.ListOptions(field_selector=f"metadata.name={name}", resource_version="0")
    watch = pods.watch(CTX, options)
    try:
        for event in watch.result_chan():
            if event.object.status.phase == "Running":
                return
    finally:
        watch.stop()


Runner = Callable[..., None]


def executor_of(
    env: Environment, kind: str, url: str, config: Config | None = None
) -> remotecommand.Executor:
    config = config or env.config
    if kind == "spdy":
        return remotecommand.new_spdy_executor(config, "POST", url)
    if kind == "v4":
        return remotecommand.new_web_socket_executor_for_protocols(config, "GET", url, V4)
    if kind == "tls":
        config = Config(
            host=env.server.tls_url, bearer_token=env.token, ca_data=env.server.ca_certificate.encode()
        )
        return remotecommand.new_web_socket_executor(config, "GET", url.replace(env.url, env.server.tls_url))
    return remotecommand.new_web_socket_executor(config, "GET", url)


@pytest.fixture(params=["v5", "v4", "spdy", "tls"])
def run(env: Environment, request: pytest.FixtureRequest) -> Runner:
    """Return a function that runs a command in the pod `web`."""

    def command(*words: str, name: str = "web", action: str = "exec", ctx: Any = CTX, **streams: Any) -> None:
        options = StreamOptions(**streams)
        query = [("command", word) for word in words]
        for stream in ("stdin", "stdout", "stderr"):
            if getattr(options, stream) is not None:
                query.append((stream, "true"))
        if options.tty:
            query.append(("tty", "true"))
        url = f"{env.url}{PODS}/{name}/{action}?{urlencode(query)}"
        executor_of(env, request.param, url).stream_with_context(ctx, options)

    run: Any = command
    run.kind = request.param
    return command


def outputs() -> dict[str, io.BytesIO]:
    return {"stdout": io.BytesIO(), "stderr": io.BytesIO()}


def test_a_command_has_its_outputs_and_its_exit_code(run: Runner) -> None:
    """Go: TestSPDYExecutorNonZeroExitCode"""
    streams = outputs()
    run("sh", "-c", "echo $COLOR; nope; echo last && exit 0", **streams)
    assert streams["stdout"].getvalue() == b"red\nlast\n"
    assert streams["stderr"].getvalue() == b"sh: nope: not found\n"
    with pytest.raises(CodeExitError) as caught:
        run("sh", "-c", "exit 42", **outputs())
    assert caught.value.code == 42


# Version 4 cannot end the input.
@pytest.mark.parametrize("run", ["v5", "spdy", "tls"], indirect=True)
def test_large_binary_data_comes_back_unchanged(run: Runner) -> None:
    """Go: TestStreamRandomData"""
    sent = random.Random(7).randbytes(5_000_000)
    streams = outputs()
    run("cat", stdin=io.BytesIO(sent), **streams)
    assert hashlib.sha256(streams["stdout"].getvalue()).digest() == hashlib.sha256(sent).digest()


def test_an_unknown_program_is_named(run: Runner) -> None:
    with pytest.raises(RuntimeError, match='exec: "nope": executable file not found in \\$PATH'):
        run("nope", **outputs())


def test_the_data_of_streams_that_a_command_does_not_have_is_discarded(env: Environment) -> None:
    """Thousands of them would hold a megabyte each."""
    query = urlencode([("command", "echo"), ("command", "done"), ("stdout", "true")])
    transport, upgrader = spdy.round_tripper_for(env.config)
    dialer = spdy.new_dialer(upgrader, transport, "POST", f"{env.url}{PODS}/web/exec?{query}")
    conn, _ = dialer.dial(V4)
    try:
        conn.create_stream(Header({STREAM_TYPE: "odd"})).write(bytes(16 << 20))
        error = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_ERROR}))
        output = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_STDOUT}))
        assert output.read() == b"done\n"
        assert b"Success" in error.read()
    finally:
        conn.close()


@pytest.mark.parametrize(
    ("document", "size"),
    [
        (b'{"Width":80,"Height":24}', Size(80, 24)),
        (b'{"Width":65535,"Height":0}', Size(65535, 0)),
        (b'{"Width":65536,"Height":24}', None),
        (b'{"Width":-1,"Height":24}', None),
        (b'{"Width":80.5,"Height":24}', None),
        (b'{"Width":"80","Height":true}', None),
        (b'{"Width":1e400,"Height":24}', None),
        (b'{"Width":80,"Height":24' + b" " * 1024 + b"}", None),
        (b"[" * 1000, None),
        (b"7", None),
        (b"\xff", None),
    ],
)
def test_a_size_of_a_terminal_has_two_numbers_of_16_bits(document: bytes, size: Size | None) -> None:
    streams = Streams()
    resized(streams, document)
    assert streams.size == size


class Sizes:
    def __init__(self) -> None:
        self._sizes = [TerminalSize(100, 40)]
        self.end = threading.Event()

    def next(self) -> TerminalSize | None:
        if self._sizes:
            return self._sizes.pop()
        self.end.wait(PATIENCE)
        return None


class Terminal:
    """The output of a terminal. The test waits for texts in it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.shown = b""

    def write(self, data: bytes) -> None:
        with self._changed:
            self.shown += data
            self._changed.notify_all()

    def wait_for(self, text: bytes) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: text in self.shown, PATIENCE), self.shown


def test_a_terminal_echoes_has_a_size_and_ends_with_control_d(run: Runner) -> None:
    sizes, terminal = Sizes(), Terminal()
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as stdin, open(write_end, "wb", buffering=0) as keyboard:
        call = go(
            lambda: run("sh", stdin=stdin, stdout=terminal, tty=True, terminal_size_queue=sizes), "test-terminal"
        )
        terminal.wait_for(b"# ")
        while b"40 100" not in terminal.shown:
            keyboard.write(b"stty size\r")
            terminal.wait_for(terminal.shown + b"")
            call.join(0.02)
        keyboard.write(b"ech\x7fho no\x03echo yes\r")
        terminal.wait_for(b"^C\r\n# echo yes\r\nyes\r\n")
        sizes.end.set()
        keyboard.write(b"\x04")
        call.result()
    assert b"stty size\r\n" in terminal.shown


def test_echo_without_a_line_break_has_all_words(run: Runner) -> None:
    shown = io.BytesIO()
    run("echo", "-n", "one", "two", stdout=shown)
    assert shown.getvalue() == b"one two"


def test_the_end_of_the_client_ends_the_program(run: Runner, env: Environment) -> None:
    ctx, cancel = context.with_cancel(CTX)
    terminal = Terminal()
    call = go(lambda: run("sh", "-c", "echo begun; sleep 1000", ctx=ctx, stdout=terminal), "test-exec")
    terminal.wait_for(b"begun")
    cancel()
    with pytest.raises(context.Canceled):
        call.result()


def test_a_deleted_pod_ends_its_programs(run: Runner, client: kubernetes.Clientset) -> None:
    name = f"short-{run.kind}"  # type: ignore[attr-defined]
    make(client, pod(name))
    terminal = Terminal()
    stdin = BlockedInput()
    call = go(lambda: run("sh", "-c", "echo begun; cat", name=name, stdout=terminal, stdin=stdin), "test-exec")
    terminal.wait_for(b"begun")
    client.core_v1().pods("default").delete(CTX, name)
    with pytest.raises(CodeExitError) as caught:
        call.result()
    stdin.ended.set()
    assert caught.value.code == 137


class BlockedInput:
    """An input without a descriptor, which ends when the test sets `ended`."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def read(self, size: int = -1) -> bytes:
        assert self.ended.wait(PATIENCE)
        return b""


def test_attached_input_is_printed_and_logged(run: Runner, client: kubernetes.Clientset) -> None:
    name = f"attached-{run.kind}"  # type: ignore[attr-defined]
    make(client, pod(name))
    terminal = Terminal()
    read_end, write_end = os.pipe()
    ctx, cancel = context.with_cancel(CTX)
    with open(read_end, "rb") as stdin, open(write_end, "wb", buffering=0) as keyboard:
        call = go(
            lambda: run(name=name, action="attach", ctx=ctx, stdin=stdin, stdout=terminal, stderr=io.BytesIO()),
            "test-attach",
        )
        keyboard.write(b"hello\n")
        terminal.wait_for(b"hello\n")
        cancel()
        with pytest.raises(context.Canceled):
            call.result()
    assert client.core_v1().pods("default").get_logs(name).do_raw(CTX) == b"c started\nhello\n"


# ---- without a stream


@pytest.fixture
def api(env: Environment) -> Iterator[Api]:
    api = Api(env)
    yield api
    api.close()


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("web/exec?command=ls&stdout=true", 400, "Upgrade request required"),
        ("web/exec?stdout=true", 400, "you must specify at least one command for the container"),
        ("web/exec?command=ls", 400, "you must specify at least 1 of stdin, stdout, stderr"),
        ("web/exec?command=ls&container=x&stdout=true", 400, "container x is not valid for pod web"),
        ("web/portforward", 400, "Upgrade request required"),
        ("web/log?previous=true", 400, 'previous terminated container "c" in pod "web" not found'),
        (
            "web/log?sinceTime=yesterday",
            400,
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
    ],
)
def test_a_request_that_leads_to_no_stream_is_explained(api: Api, path: str, code: int, message: str) -> None:
    assert api("GET", f"{PODS}/{path}", want=code)["message"] == message


def test_a_version_that_the_server_lacks_is_an_upgrade_failure(env: Environment) -> None:
    url = f"{env.url}{PODS}/web/exec?command=ls&stdout=true"
    executor = remotecommand.new_web_socket_executor_for_protocols(env.config, "GET", url, "v9.channel.k8s.io")
    with pytest.raises(httpstream.UpgradeFailureError) as caught:
        executor.stream(StreamOptions(stdout=io.BytesIO()))
    assert isinstance(caught.value.cause, StatusError)
    round_tripper, upgrader = spdy.round_tripper_for(env.config)
    other = remotecommand.new_spdy_executor_for_protocols(round_tripper, upgrader, "POST", url, "v9.channel.k8s.io")
    with pytest.raises(httpstream.UpgradeFailureError, match="unable to negotiate protocol"):
        other.stream(StreamOptions(stdout=io.BytesIO()))


def test_a_client_without_the_right_may_not_exec(env: Environment) -> None:
    config = Config(host=env.url, bearer_token="wrong")
    for executor in (
        remotecommand.new_web_socket_executor(config, "GET", f"{env.url}{PODS}/web/exec?command=ls&stdout=true"),
        remotecommand.new_spdy_executor(config, "POST", f"{env.url}{PODS}/web/exec?command=ls&stdout=true"),
    ):
        with pytest.raises((httpstream.UpgradeFailureError, StatusError), match="Unauthorized"):
            executor.stream(StreamOptions(stdout=io.BytesIO()))


# ---- logs


def test_a_log_can_be_cut_and_stamped(client: kubernetes.Clientset) -> None:
    make(client, pod("logging", annotations={"simulator/log": "one\ntwo\nthree"}))
    pods = client.core_v1().pods("default")

    def log(**options: Any) -> bytes:
        return pods.get_logs("logging", corev1.PodLogOptions(**options)).do_raw(CTX)

    wait_for(lambda: b"three" in log())
    assert log() == b"c started\none\ntwo\nthree\n"
    assert log(tail_lines=2) == b"two\nthree\n"
    assert log(tail_lines=0) == b""
    assert log(limit_bytes=5) == b"c sta"
    assert log(since_seconds=3600) == log()
    stamp, _, line = log(timestamps=True, tail_lines=1).partition(b" ")
    assert (len(stamp), stamp[-1:], line) == (30, b"Z", b"three\n")


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(int(PATIENCE / 0.02)):
        if condition():
            return
        threading.Event().wait(0.02)
    raise AssertionError("not in time")


def test_a_log_is_followed_as_lines_until_the_pod_ends(client: kubernetes.Clientset) -> None:
    make(client, pod("followed"))
    pods = client.core_v1().pods("default")
    body = pods.get_logs("followed", corev1.PodLogOptions(follow=True)).stream(CTX)
    seen = body.read_some()
    assert seen == b"c started\n"
    for number in range(3):
        patch = f'{{"metadata": {{"annotations": {{"simulator/log": "line {number}"}}}}}}'.encode()
        pods.patch(CTX, "followed", "application/merge-patch+json", patch)
        while f"line {number}\n".encode() not in seen:
            seen += body.read_some()
    pods.delete(CTX, "followed")
    while data := body.read_some():
        seen += data
    body.close()
    assert seen == b"c started\nline 0\nline 1\nline 2\n"


def test_a_follower_that_leaves_is_noticed_without_a_new_line(client: kubernetes.Clientset) -> None:
    body = client.core_v1().pods("default").get_logs("web", corev1.PodLogOptions(follow=True)).stream(CTX)
    assert body.read_some().startswith(b"c started\n")
    assert [each for each in threading.enumerate() if each.name == "apiserver-log-client"]
    body.close()
    wait_for(lambda: not [each for each in threading.enumerate() if each.name == "apiserver-log-client"])


def test_the_log_of_the_run_before_a_crash_is_kept(client: kubernetes.Clientset) -> None:
    make(client, pod("crashing", annotations={"simulator/log": "before"}))
    pods = client.core_v1().pods("default")
    wait_for(lambda: b"before" in pods.get_logs("crashing").do_raw(CTX))
    patch = b'{"metadata": {"annotations": {"simulator/crash": "1"}}}'
    pods.patch(CTX, "crashing", "application/merge-patch+json", patch)
    wait_for(lambda: pods.get_logs("crashing").do_raw(CTX) == b"c started\n")
    assert pods.get_logs("crashing", corev1.PodLogOptions(previous=True)).do_raw(CTX) == b"c started\nbefore\n"


# ---- ports


@pytest.fixture(params=["websocket", "spdy"])
def forwarded(env: Environment, request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """Forward a free port to port 80 of the pod `web`."""
    url = f"{env.url}{PODS}/web/portforward"
    if request.param == "websocket":
        dialer = portforward.new_spdy_over_websocket_dialer(url, env.config)
    else:
        round_tripper, upgrader = spdy.round_tripper_for(env.config)
        dialer = spdy.new_dialer(upgrader, round_tripper, "POST", url)
    stop, ready = threading.Event(), Signal()
    forwarder = portforward.new_on_addresses(dialer, ["127.0.0.1"], [":80"], stop, ready, None, None)
    call = go(forwarder.forward_ports, "test-forward")
    assert ready.wait(PATIENCE)
    yield request.param, forwarder.get_ports()[0].local
    stop.set()
    call.result()
    assert not [each for each in threading.enumerate() if each.name.startswith("portforward")]


def test_a_forwarded_port_answers_http(forwarded: tuple[str, int]) -> None:
    for number in range(3):
        with socket.create_connection(("127.0.0.1", forwarded[1]), PATIENCE) as sock:
            sock.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
            found = b""
            while data := sock.recv(65536):
                found += data
        assert found.endswith(b"\r\n\r\nweb GET /%d\n" % number)


def test_connections_to_a_port_are_independent(forwarded: tuple[str, int]) -> None:
    sockets = [socket.create_connection(("127.0.0.1", forwarded[1]), PATIENCE) for _ in range(5)]
    sent = random.Random(9).randbytes(300_000)

    def exchange(sock: socket.socket) -> bytes:
        found = b""
        writer = go(lambda: sock.sendall(sent), "test-writer")
        while len(found) < len(sent):
            found += sock.recv(65536)
        writer.result()
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(1) == b""  # the pod has learned of the end, and closes too
        return found

    calls = [go(lambda sock=sock: exchange(sock), "test-exchange") for sock in sockets]  # type: ignore[misc]
    assert all(call.result() == sent for call in calls)
    for sock in sockets:
        sock.close()


def test_a_port_without_a_listener_ends_the_forwarder(env: Environment, caplog: pytest.LogCaptureFixture) -> None:
    dialer = portforward.new_spdy_over_websocket_dialer(f"{env.url}{PODS}/web/portforward", env.config)
    ready = Signal()
    forwarder = portforward.new_on_addresses(dialer, ["127.0.0.1"], [":81"], Signal(), ready, None, None)
    call = go(forwarder.forward_ports, "test-forward")
    assert ready.wait(PATIENCE)
    with socket.create_connection(("127.0.0.1", forwarder.get_ports()[0].local), PATIENCE) as sock:
        assert sock.recv(1) == b""
    with pytest.raises(portforward.ErrLostConnectionToPod):
        call.result()
    assert "connect: connection refused" in caplog.text


# ---- the end of the server


def test_a_server_that_stops_ends_all_streams() -> None:
    with Environment() as env:
        simulator = Simulator(env.server, ready_delay=0.01)
        simulator.start()
        client = kubernetes.new_for_config(env.config)
        make(client, pod("web"))
        terminal, url = Terminal(), f"{env.url}{PODS}/web"
        executor = remotecommand.new_web_socket_executor(
            env.config, "GET", f"{url}/exec?command=sh&command=-c&command=echo+begun%3Bsleep+1000&stdout=true"
        )
        call = go(lambda: executor.stream(StreamOptions(stdout=terminal)), "test-exec")
        terminal.wait_for(b"begun")
        body = client.core_v1().pods("default").get_logs("web", corev1.PodLogOptions(follow=True)).stream(CTX)
        assert body.read_some() == b"c started\n"
        simulator.stop()
        with pytest.raises(CodeExitError):
            call.result()
        assert body.read_some() == b""
        body.close()
        with pytest.raises(httpstream.UpgradeFailureError, match="runs no containers"):
            executor.stream(StreamOptions(stdout=terminal))
        client.close()


class Endless:
    """An input without an end."""

    def read(self, size: int = -1) -> bytes:
        return b"x" * 4096


class Flood(Terminal):
    """The output of an endless command: it counts."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self, data: bytes) -> None:
        with self._changed:
            self.count += len(data)
            self._changed.notify_all()

    def wait_for_bytes(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.count >= number, PATIENCE), self.count


def test_an_endless_input_and_output_go_on_until_the_context_ends(run: Runner) -> None:
    """Go: TestSPDYExecutorStream."""
    ctx, cancel = context.with_cancel(CTX)
    flood = Flood()
    call = go(lambda: run("cat", ctx=ctx, stdin=Endless(), stdout=flood), "test-exec")
    flood.wait_for_bytes(3_000_000)
    cancel()
    with pytest.raises(context.Canceled):
        call.result()


@pytest.mark.parametrize("run", ["v5", "v4", "spdy"], indirect=True)  # the proxy forwards plain HTTP
def test_the_end_of_the_connection_ends_a_command_that_writes(run: Runner, env: Environment) -> None:
    """Go: TestStreamExitsAfterConnectionIsClosed. In Go, a lost SPDY connection is success."""
    flood, host = Flood(), env.url.removeprefix("http://")
    with CuttableProxy((host.partition(":")[0], int(host.partition(":")[2]))) as proxy:
        url = f"{proxy.url}{PODS}/web/exec?command=cat&stdin=true&stdout=true"
        config = Config(host=proxy.url, bearer_token=env.token)
        executor = executor_of(env, run.kind, url, config)  # type: ignore[attr-defined]
        call = go(lambda: executor.stream(StreamOptions(stdin=Endless(), stdout=flood)), "test-exec")
        flood.wait_for_bytes(100_000)
    with pytest.raises((OSError, EOFError)) as caught:
        call.result()
    if run.kind == "spdy":  # type: ignore[attr-defined]
        assert "connection was lost before the server reported the end of the command" in str(caught.value)
