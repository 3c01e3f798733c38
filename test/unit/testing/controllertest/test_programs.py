"""The programs under cmd/ under random user actions and faults. CONTROLLERTEST_CASES sets the number of cases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import operatormachines
import pytest
from cockroachclusters import IMAGE
from databasemachines import CrdbClusters, Elasticsearches
from hypothesis import Phase, Verbosity, given, settings
from operatormachines import Guestbooks, Networks, Pods, ProgramMachine

from clientgo.testing import controllertest as ct
from clientgo.testing.controllertest import runner, strategies

CASES = int(os.environ.get("CONTROLLERTEST_CASES", "2"))


@pytest.fixture
def machine(request: pytest.FixtureRequest) -> Iterator[type[ProgramMachine]]:
    with request.param.program:
        yield request.param


@pytest.mark.takes_turns(4)
@pytest.mark.parametrize("machine", [Networks, Pods, Guestbooks, CrdbClusters, Elasticsearches], indirect=True)
def test_the_program_passes(machine: type[ProgramMachine]) -> None:
    @settings(max_examples=CASES, phases=[Phase.generate, Phase.shrink], verbosity=Verbosity.quiet, database=None)
    @given(strategies.scripts(machine))
    def search(script: tuple[list[ct.Step], int]) -> None:
        runner.check(machine, *script)

    search()


class KeepsVolumes(CrdbClusters):
    gates = ""


@pytest.mark.takes_turns(4)
def test_without_pruning_no_node_comes_back_after_its_decommissioning() -> None:
    """Go: `Decommission` prunes the claim only with AutoPrunePVC, which is off by default."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    about = {"apiVersion": "crdb.cockroachlabs.com/v1alpha1", "kind": "CrdbCluster", "metadata": {"name": "a"}}
    spec = {"image": {"name": IMAGE}, "dataStore": {"pvc": {"spec": claim}}}
    steps: list[ct.Step] = []
    for nodes in (4, 3, 4):
        steps += [ct.Set({**about, "spec": {**spec, "nodes": nodes}}), ct.Sleep(15.0)]

    with CrdbClusters.program:
        ct.replay(CrdbClusters, steps)
        with pytest.raises(ct.ControllerFailure) as raised:
            ct.replay(KeepsVolumes, steps)
    assert raised.value.check == "the_nodes_follow"


NETWORK = {
    "apiVersion": "samplecrd.k8s.io/v1",
    "kind": "Network",
    "metadata": {"name": "a"},
    "spec": {"cidr": "10.0.0.0/8", "gateway": "10.0.0.1"},
}


@pytest.mark.parametrize("machine", [Networks], indirect=True)
def test_systems_outside_the_cluster_outlive_a_kill(machine: type[ProgramMachine]) -> None:
    seen: list[Any] = []

    class Watched(machine):  # type: ignore[misc]
        def start(self, config: Any, ctx: Any) -> None:
            seen.append((self.outside, dict(self.outside.list())))
            super().start(config, ctx)

    ct.replay(Watched, [ct.Set(NETWORK), ct.Sleep(1.0), ct.Kill(0), ct.Sleep(5.0)])

    # The lives before the kill, after it, and in the check of a second run.
    first, second, third = seen[:3]
    assert first[0] is second[0] is third[0]
    assert [len(networks) for _, networks in (first, second, third)] == [0, 1, 1]
    assert seen[3][0] is not first[0], "the run without faults has a system of its own"


CRDB_CLUSTER = {
    "apiVersion": "crdb.cockroachlabs.com/v1alpha1",
    "kind": "CrdbCluster",
    "metadata": {"name": "a"},
    "spec": {
        "nodes": 3,
        "image": {"name": IMAGE},
        "dataStore": {
            "pvc": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
        },
    },
}


@pytest.mark.parametrize("machine", [CrdbClusters], indirect=True)
def test_a_part_that_comes_and_goes_during_an_outage_waits_for_the_resync(
    machine: type[ProgramMachine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the history no event tells of it. A manager resyncs after ten hours, like the Go original's."""
    remove_role = ct.Remove(2)
    steps = [ct.Drop("roles", 5.0, True), ct.Set(CRDB_CLUSTER), ct.Sleep(1.0), remove_role]
    result = ct.replay(machine, steps)
    assert "delete roles default/a-role" in " ".join(row.request for row in result.history.rows)

    monkeypatch.setattr(operatormachines, "RESYNC_PERIOD", 36_000.0)
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.replay(machine, steps)
    assert raised.value.problem.startswith("the_nodes_follow: 0 StatefulSets")


@pytest.mark.parametrize("machine", [CrdbClusters], indirect=True)
def test_a_resource_that_is_only_listed_counts_as_connected(machine: type[ProgramMachine]) -> None:
    """The simulated database lists pods, which the operator does not watch."""
    result = ct.replay(machine, [ct.Set(CRDB_CLUSTER)])

    assert any("list pods" in row.request for row in result.history.rows)
    ended = next(row for row in result.history.rows if row.response == "all faults end")
    restarted = next(row for row in result.history.rows if row.response == "the controller is restarted")
    assert restarted.seconds - ended.seconds < 300.0
