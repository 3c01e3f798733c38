"""Conventions that all operators under cmd/ share: see "Ports and rights" in cmd/README.md."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import ROOT, kubectl, python, start_apiserver
from programs import ImportedProgram

from clientgo.controller_runtime.log import zap

# Each operator, with the flags that it cannot run without.
OPERATORS = {
    "cockroach-operator": ["-simulate-database={folder}/state.json"],
    "elasticsearch-operator": [],
    "guestbook-operator": ["-directory={folder}/directory.json"],
    "operator-patterns": ["-zone={folder}/zone"],
}
PORTS = ("health-probe-bind-address", "metrics-bind-address")


def flags_of(operator: str, folder: Path) -> list[str]:
    return [flag.format(folder=folder) for flag in OPERATORS[operator]]


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("server") / "kubeconfig"
    with start_apiserver(path) as server:
        for operator in OPERATORS:
            kubectl(path, "apply", "-f", str(ROOT / "cmd" / operator / "config/crd"))
        yield path
        assert server.stop() == 0, server.output


def test_every_program_with_a_manager_is_here() -> None:
    managers = {path.parent.name for path in ROOT.glob("cmd/*/main.py") if "ctrl.new_manager(" in path.read_text()}
    assert managers == set(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_no_operator_listens_unless_a_flag_says_so(operator: str, tmp_path: Path) -> None:
    with ImportedProgram(operator) as program:
        given = program.module("main").parse_flags(zap.Options(), flags_of(operator, tmp_path))
        assert [getattr(given, port.replace("-", "_")) for port in PORTS] == ["0", "0"]


@pytest.mark.takes_turns(4)
@pytest.mark.kubectl
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_port_that_is_in_use_is_reported_in_one_line(
    operator: str, port: str, kubeconfig: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        flags = [f"-kubeconfig={kubeconfig}", f"-{port}={address}", *flags_of(operator, tmp_path)]
        with python(ROOT / "cmd" / operator, *flags) as program:
            assert program.wait() == 1
    # Go's sources log errors of their own when the manager stops before the caches have synced.
    (line,) = (line for line in program.output.splitlines() if address in line and "\tERROR\t" in line)
    assert f"listen tcp {address}: bind: address already in use" in line
    assert "Traceback" not in program.output
