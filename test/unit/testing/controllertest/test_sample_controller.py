"""The sample-controller under random user actions and faults, and the four rules that it breaks like its Go original.

CONTROLLERTEST_CASES sets the number of cases.
"""

from __future__ import annotations

import contextlib
import os

import pytest
from samplemachine import SampleMachine, StrictSampleMachine, foo

from clientgo import kubernetes, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing import controllertest as ct
from clientgo.testing.controllertest import world

CASES = int(os.environ.get("CONTROLLERTEST_CASES", "6"))


class Searched(SampleMachine):
    cases = CASES


TestSampleController = Searched.TestCase

DELETED = ct.Delete("samplecontroller.k8s.io/v1alpha1/Foo", "a", "default")
OLD_FOO = [foo("a", 1), DELETED, foo("a", 1), ct.Rewind("foos", 2)]
CHANGED = [foo("a", 1), ct.Sleep(1.0), ct.Touch(0), foo("a", 2)]


def violation(machine: type[ct.ControllerMachine], steps: list[ct.Step]) -> ct.ControllerFailure:
    with pytest.raises(ct.ControllerFailure) as raised:
        ct.replay(machine, steps)
    return raised.value


def test_an_update_drops_the_annotations_of_other_writers() -> None:
    """Go: `Deployments(ns).Update(ctx, newDeployment(foo))` sends no resourceVersion and none of the other fields."""
    failure = violation(StrictSampleMachine, CHANGED)

    assert failure.problem == "the write of default/a-deployment drops an annotation of another writer"
    assert "other                patch deployments default/a-deployment" in failure.history.table()


class Resyncing(StrictSampleMachine):
    skip = ("lost update",)


def test_each_resync_writes_an_unchanged_status() -> None:
    """Go: `updateFooStatus` compares nothing before its UpdateStatus."""
    failure = violation(Resyncing, [foo("a", 1)])

    assert failure.check == "idle writes"
    assert failure.problem.endswith("writes that change nothing, such as: update foos/status default/a")


def test_a_renamed_deployment_stays_if_the_controller_saw_its_name() -> None:
    """Go: `syncHandler` looks only for the name of the spec, so the end state depends on the events that were seen."""
    failure = violation(SampleMachine, [ct.Lag("foos", 5.0), foo("a", 1, "x"), foo("a", 1, "y")])

    assert failure.problem == "the faults change the result: apps/deployments default/x is missing"


def test_with_an_old_foo_in_its_cache_it_creates_what_the_garbage_collector_deletes() -> None:
    """Go: the events of the Deployment queue the Foo again at once, whatever the delay after the error.

    The Foo in the cache has the uid of a deleted Foo, so the server deletes each Deployment that refers to it.
    """
    result = ct.replay(SampleMachine, OLD_FOO)

    created = [row for row in result.history.rows if row.request == "create deployments default/a-deployment"]
    assert len(created) > 100


class BackingOff(SampleMachine):
    skip = ("idle writes", "lost update")


@pytest.mark.takes_turns(4)
def test_a_long_outage_makes_the_loop_a_lack_of_backoff() -> None:
    outage, again = [ct.Sleep(5.0), ct.Drop("foos", 20.0, True)], [DELETED, foo("a", 1)]
    steps = [foo("a", 1), ct.Sleep(5.0), ct.Drop("foos", 5.0, True), *again, *outage, *again]

    assert violation(BackingOff, steps).check == "backoff"
    assert not ct.replay(SampleMachine, steps).check


class Unlimited(SampleMachine):
    skip = (*SampleMachine.skip, "hot loop")


def test_a_loop_that_the_machine_skips_may_end_with_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MOST_REQUESTS", 100)
    assert violation(SampleMachine, OLD_FOO).check == "hot loop"
    assert ct.replay(Unlimited, OLD_FOO).requests > 2 * world.MOST_REQUESTS


def test_requests_that_wait_for_a_current_cache_are_no_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MOST_REQUESTS", 220)
    assert ct.replay(SampleMachine, OLD_FOO).requests > 1.2 * world.MOST_REQUESTS


class Endless(Unlimited):
    latency = 0.0

    def start(self, config: rest.Config, ctx: Context) -> None:
        client = kubernetes.new_for_config(config)
        while not ctx.done().is_set():
            with contextlib.suppress(errors.StatusError):
                client.core_v1().services("default").get(ctx, "none", metav1.GetOptions())
        client.close()


def test_a_loop_without_end_hangs_although_the_machine_skips_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "MORE_IF_SKIPPED", 1)
    failure = violation(Endless, [])
    assert failure.check == "hang", failure.problem


def test_a_killed_controller_continues_from_the_server_s_state() -> None:
    result = ct.replay(SampleMachine, [ct.Kill(1, "after"), foo("a", 2), ct.Sleep(5.0), foo("b", 1)])

    requests = [row.request for row in result.history.rows if row.actor == "controller"]
    assert result.check == ""
    assert requests.count("create deployments default/a-deployment") == 1
    assert [row.response for row in result.history.rows if row.response.startswith("killed")] == [
        "killed after the request"
    ]
