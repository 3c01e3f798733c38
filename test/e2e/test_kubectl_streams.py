"""kubectl's streams against the simulated pods of the embedded API server.

Every version of kubectl runs exec and port-forward, whose protocols differ. The other commands take turns.

Up to 1.28 all goes over SPDY; 1.30 uses a WebSocket for exec and attach, 1.31 for port-forward too.
"""

from __future__ import annotations

import contextlib
import os
import pty
import random
import re
import select
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import children, environment, kubectl_binary, kubectl_in_turn, kubectl_minors, start_apiserver

pytestmark = [pytest.mark.kubectl, pytest.mark.shared_server, pytest.mark.takes_turns(2)]
WITH_EVERY_KUBECTL = ("test_exec_has_outputs_input_and_exit_code", "test_port_forward_serves_several_connections")
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  containers:
  - {name: c, image: i, ports: [{containerPort: 80}]}
"""


class Kubectl:
    """One kubectl, with the kubeconfig of the server."""

    def __init__(self, kubeconfig: Path, minor: int | None) -> None:
        self._prefix = [kubectl_binary(minor), "--kubeconfig", str(kubeconfig)]
        self._environment = environment(HOME=str(kubeconfig.parent))

    def __call__(self, *words: str, code: int = 0, stdin: bytes = b"") -> bytes:
        """Run a command, and return what it printed to its output and, if it must fail, to its errors.

        kubectl reads a WebSocket before it has made the command's streams, and discards what arrives earlier (Go:
        websocket.go). Simulated commands answer within a millisecond: on a busy machine such a run is repeated.
        """
        for _ in range(5):
            done = subprocess.run(
                [*self._prefix, *words], input=stdin, capture_output=True, timeout=PATIENCE, env=self._environment
            )
            if b"Unknown stream id" not in done.stderr:
                break
        assert done.returncode == code, done
        return done.stdout + (done.stderr if code else b"")

    @contextlib.contextmanager
    def start(self, *words: str, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command in the background."""
        program = subprocess.Popen(
            [*self._prefix, *words],
            stdin=stdin,
            stdout=subprocess.PIPE if stdin == subprocess.DEVNULL else stdin,
            stderr=subprocess.STDOUT,
            env=self._environment,
        )
        try:
            yield program
        finally:
            program.terminate()
            program.wait()
            if program.stdout is not None:
                program.stdout.close()


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    kubeconfig = tmp_path_factory.mktemp("kubectl") / "kubeconfig"
    with start_apiserver(kubeconfig, "--simulate-workloads", "--simulate-delay=0.1") as server:
        yield kubeconfig
        assert server.stop() == 0, server.output
    assert children() == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.function.__name__
    metafunc.parametrize("minor", kubectl_minors() if name in WITH_EVERY_KUBECTL else kubectl_in_turn(name))


@pytest.fixture
def kubectl(kubeconfig: Path, minor: int | None) -> Iterator[Kubectl]:
    """Return a kubectl of this version, with a new pod `web`."""
    kubectl = Kubectl(kubeconfig, minor)
    kubectl("apply", "-f", "-", stdin=POD.encode())
    kubectl("wait", "--for=condition=Ready", "pod/web")
    yield kubectl
    kubectl("delete", "pod", "web", "--wait")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read_until(descriptor: int, text: bytes) -> bytes:
    seen = b""
    while text not in seen:
        ready, _, _ = select.select([descriptor], [], [], PATIENCE)
        assert ready, seen
        seen += os.read(descriptor, 4096)
    return seen


def test_exec_has_outputs_input_and_exit_code(kubectl: Kubectl) -> None:
    assert kubectl("exec", "web", "--", "echo", "hello") == b"hello\n"
    assert kubectl("exec", "web", "-c", "c", "--", "sh", "-c", "echo a; exit 3", code=3).startswith(b"a\ncommand")
    assert b"executable file not found" in kubectl("exec", "web", "--", "nope", code=1)
    sent = random.Random(1).randbytes(2_000_000)
    assert kubectl("exec", "-i", "web", "--", "cat", stdin=sent) == sent
    assert kubectl("exec", "-i", "web", "--", "wc", stdin=sent) == b"2000000\n"
    numbers = b"".join(b"%d\n" % number for number in range(1, 200_001))
    assert kubectl("exec", "web", "--", "seq", "200000") == numbers


def test_exec_in_a_terminal_has_its_size(kubectl: Kubectl) -> None:
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "rows", "33", "cols", "111"], stdin=theirs, check=True)
    try:
        with kubectl.start("exec", "-it", "web", "--", "sh", stdin=theirs) as program:
            read_until(ours, b"# ")
            os.write(ours, b"stty size\r")
            shown = read_until(ours, b"# ")
            while b"33 111" not in shown:  # the size arrives beside the input
                os.write(ours, b"stty size\r")
                shown = read_until(ours, b"# ")
            os.write(ours, b"exit 7\r")
            os.write(ours, b"\x04")
            assert program.wait(PATIENCE) == 7
    finally:
        os.close(ours)
        os.close(theirs)


def test_attach_prints_input_and_the_log_keeps_it(kubectl: Kubectl) -> None:
    assert kubectl("attach", "-i", "web", stdin=b"hello\nworld\n") == b"hello\nworld\n"
    assert kubectl("logs", "web") == b"c started\nhello\nworld\n"
    assert kubectl("logs", "web", "--tail=1") == b"world\n"
    assert re.fullmatch(rb"\S+Z world\n", kubectl("logs", "web", "--tail=1", "--timestamps"))
    assert b"previous terminated container" in kubectl("logs", "web", "--previous", code=1)


def test_logs_are_followed_until_the_pod_has_gone(kubectl: Kubectl) -> None:
    with kubectl.start("logs", "-f", "web") as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"c started\n"
        kubectl("annotate", "pod", "web", "simulator/log=fresh")
        assert program.stdout.readline() == b"fresh\n"
        kubectl("delete", "pod", "web")
        assert program.stdout.read() == b""
        assert program.wait(PATIENCE) == 0
    kubectl("apply", "-f", "-", stdin=POD.encode())


def test_cp_copies_files_and_folders_in_both_directions(kubectl: Kubectl, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "small").write_bytes(b"small\n")
    (source / "large").write_bytes(random.Random(2).randbytes(1_500_000))
    kubectl("cp", str(source), "web:/tmp/folder")
    assert kubectl("exec", "web", "--", "cat", "/tmp/folder/inner/small") == b"small\n"
    kubectl("cp", "web:/tmp/folder", str(tmp_path / "back"))
    assert contents(tmp_path / "back") == contents(source)
    kubectl("cp", str(source / "large"), "web:/tmp/one")
    kubectl("cp", "web:/tmp/one", str(tmp_path / "one"))
    assert (tmp_path / "one").read_bytes() == (source / "large").read_bytes()


def test_port_forward_serves_several_connections(kubectl: Kubectl) -> None:
    with kubectl.start("port-forward", "web", ":80", "--address=127.0.0.1") as program:
        assert program.stdout is not None
        found = re.fullmatch(rb"Forwarding from 127.0.0.1:(\d+) -> 80\n", program.stdout.readline())
        assert found is not None
        port = int(found[1])
        for number in range(3):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{number}", timeout=PATIENCE) as answer:
                assert answer.read() == b"web GET /%d\n" % number
        with (
            socket.create_connection(("127.0.0.1", port), PATIENCE) as one,
            socket.create_connection(("127.0.0.1", port), PATIENCE) as other,
        ):
            for sock, data in ((one, b"first"), (other, b"second"), (one, b"third")):
                sock.sendall(data)
                assert sock.recv(100) == data


def test_port_forward_to_a_closed_port_says_so(kubectl: Kubectl) -> None:
    with kubectl.start("port-forward", "web", ":81", "--address=127.0.0.1") as program:
        assert program.stdout is not None
        found = re.fullmatch(rb"Forwarding from 127.0.0.1:(\d+) -> 81\n", program.stdout.readline())
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1])), PATIENCE) as sock:
            assert sock.recv(1) == b""
        assert b"Handling connection" in program.stdout.readline()
        assert b"connection refused" in program.stdout.readline()
