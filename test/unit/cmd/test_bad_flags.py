"""Flags of the programs below cmd with values that parse and cannot work: one line, no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from processes import ROOT
from programs import ImportedProgram
from pytest import CaptureFixture

from clientgo import klog, rest
from clientgo.controller_runtime.leaderelection import leader_election

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: a, context: {cluster: a}}]
current-context: a
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return str(path)


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize(
    ("program", "flags", "expected"),
    [
        ("pod-controller", ["-master=http://"], 'host must be a URL or a host:port pair: "http://"'),
        ("sample-controller", ["-master=https://[::1"], 'host must be a URL or a host:port pair: "https://[::1"'),
        ("network-controller", ["-master=http://a:b:c"], "host must be a URL or a host:port pair"),
        ("sample-controller", ["-shards=-3"], "shards must be at least 1, got -3"),
        ("sample-controller", ["-shards=99999999"], "shards must be at most 10000, got 99999999"),
        ("sample-controller", ["-shards=2", "-leader-elect-resource-name="], 'invalid name of a Lease "": may not be'),
        ("sample-controller", ["-shards=2", "-leader-elect-resource-namespace=ü/b"], 'invalid namespace of a Lease "ü'),
        ("sample-controller", ["-leader-elect", "-leader-elect-retry-period=-1s"], "retryPeriod must be greater"),
        ("sample-controller", ["-leader-elect", "-leader-elect-resource-name=.."], 'invalid name of a Lease ".."'),
        ("sample-controller", ["-leader-elect", "-leader-elect-resource-lock=日本"], "Invalid lock-type 日本"),
    ],
)
def test_a_flag_that_cannot_work_ends_the_program_with_one_line(
    program: str, flags: list[str], expected: str, kubeconfig: str
) -> None:
    command = [sys.executable, str(ROOT / "cmd" / program), f"-kubeconfig={kubeconfig}", *flags]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)

    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("I")]
    assert expected in line.replace('\\"', '"')


@pytest.mark.parametrize("lock", [{}, {"leader_election_namespace": "a/b"}])
def test_an_operators_election_without_a_usable_namespace_is_described_by_its_text(lock: dict[str, str]) -> None:
    options = leader_election.Options(leader_election=True, leader_election_id="wombat", **lock)
    with pytest.raises(ValueError, match="namespace") as caught:
        leader_election.new_resource_lock(rest.Config(host="http://127.0.0.1:1"), _Recorders(), options)

    assert klog.is_operational(caught.value)


class _Recorders:
    def get_event_recorder_for(self, name: str) -> Any:
        return None


@pytest.mark.parametrize("content", [None, b"\xff", b"[1]", b"{"], ids=["folder", "bytes", "list", "text"])
@pytest.mark.parametrize("program", ["guestbook-operator", "cockroach-operator", "elasticsearch-operator"])
def test_a_file_of_a_flag_that_holds_something_else_is_described_by_the_text(
    program: str, content: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "state"
    path.mkdir() if content is None else path.write_bytes(content)
    with ImportedProgram(program) as imported:
        main: Any = imported.module("main")
        with pytest.raises((ValueError, OSError), match=str(path)) as caught:
            if program == "guestbook-operator":
                main.Directory(path)
            elif program == "cockroach-operator":
                main.SimulatedDatabase(None, path)
            else:
                main.SimulatedClients(lambda es: [], path=path)

    assert klog.is_operational(caught.value)


def test_a_zone_that_is_no_folder_is_described_by_the_text(tmp_path: Path) -> None:
    (tmp_path / "zone").write_text("")
    with ImportedProgram("operator-patterns") as imported:
        zone: Any = imported.module("zone")
        for path in (tmp_path / "zone", tmp_path / "zone" / "below"):
            with pytest.raises(OSError, match=f"{path} cannot be the folder of a zone") as caught:
                zone.Zone(path)
            assert klog.is_operational(caught.value)


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf", "x"])
def test_a_speed_is_a_positive_number(speed: str, capsys: CaptureFixture[str]) -> None:
    with ImportedProgram("elasticsearch-operator") as imported:
        main: Any = imported.module("main")
        with pytest.raises(SystemExit) as caught:
            main.parse_flags(main.zap.Options(), [f"-simulated-speed={speed}"])

    assert caught.value.code == 2
    assert "argument -simulated-speed/--simulated-speed: " in capsys.readouterr().err
