"""Three replicas of the sample-controller on one server: one works, and the others take over when it is gone."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable
from processes import ROOT, Program, eventually, post_mortem, python

from clientgo import context, kubernetes
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.utils.clock import REAL_CLOCK
from pkg.apis.samplecontroller import v1alpha1
from pkg.generated.clientset import versioned as clientset

pytestmark = pytest.mark.takes_turns(3)

CTX = context.background()
CRD = ROOT / "cmd/sample-controller/artifacts/examples/crd.yaml"
# Seconds. Long enough for a slow machine to renew in, short enough to wait for.
LEASE, DEADLINE, PERIOD = 4, 3, 1
SLACK = 15.0
DURATIONS = (
    f"-leader-elect-lease-duration={LEASE}s",
    f"-leader-elect-renew-deadline={DEADLINE}s",
    f"-leader-elect-retry-period={PERIOD}s",
)


class Replicas:
    """Three controllers, and a look at their Lease."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.env = stack.enter_context(Environment(crd_paths=[CRD]))
        self.kube = kubernetes.new_for_config(self.env.config)
        stack.callback(self.kube.close)
        sample = clientset.new_for_config(self.env.config)
        stack.callback(sample.close)
        self.foos = sample.samplecontroller_v1alpha1().foos("default")
        self.programs = [stack.enter_context(self._start()) for _ in range(3)]

    def _start(self) -> Program:
        kubeconfig = f"-kubeconfig={self.env.kubeconfig}"
        return python("cmd/sample-controller", kubeconfig, "-v=4", "-leader-elect", *DURATIONS)

    def holder(self) -> str:
        leases = self.kube.coordination_v1().leases("default").list(CTX).items
        return leases[0].spec.holder_identity or "" if leases else ""

    def leader(self, without: Program | None = None) -> Program:
        """Return the leader. Only one replica works, and the Lease names it."""

        def working() -> list[Program]:
            return [program for program in self._others(without) if "Started workers" in program.output]

        def decided() -> bool:
            assert self._others(without), "a leader cannot come: all replicas have ended"
            return bool(working())

        with post_mortem(self.programs, self._leases):
            eventually("a leader", decided)
        (leader,) = working()
        assert self.holder().startswith(socket.gethostname() + "_")
        return leader

    def _leases(self) -> list[Any]:
        return [lease.to_dict() for lease in self.kube.coordination_v1().leases("default").list(CTX).items]

    def _others(self, without: Program | None) -> list[Program]:
        return [program for program in self.programs if program is not without and program.process.poll() is None]

    def make(self, name: str) -> None:
        spec = v1alpha1.FooSpec(deployment_name=name, replicas=1)
        self.foos.create(CTX, v1alpha1.Foo(metadata=metav1.ObjectMeta(name=name), spec=spec), metav1.CreateOptions())

    def programs_that_synced(self, name: str) -> list[Program]:
        """Return the replica whose log says that it synced the Foo, once the Deployment and the status exist."""
        eventually(f"the status of {name}", lambda: "status" in self.foos.get(CTX, name, metav1.GetOptions()).to_dict())
        sentence = f'"Successfully synced" objectName="default/{name}"'

        def saying() -> list[Program]:
            return [program for program in self.programs if sentence in program.output]

        # They say so after they have written the status.
        eventually(f"the log line about {name}", saying)
        return saying()

    def deployments(self) -> list[Any]:
        return list(self.kube.apps_v1().deployments("default").list(CTX).items)


@pytest.fixture
def replicas() -> Iterator[Replicas]:
    with contextlib.ExitStack() as stack:
        yield Replicas(stack)


def synced_by_one(replicas: Replicas, name: str) -> Program:
    replicas.make(name)
    (program,) = replicas.programs_that_synced(name)
    return program


def test_one_works_and_hands_over_when_it_is_stopped(replicas: Replicas) -> None:
    first = replicas.leader()
    assert synced_by_one(replicas, "first") is first
    holder = replicas.holder()

    stopped_at = REAL_CLOCK.now()
    assert first.stop() == 0, first.output
    # Released, or already acquired: no replica has to wait for the end of the lease.
    assert replicas.holder() != holder
    second = replicas.leader(without=first)
    assert REAL_CLOCK.since(stopped_at) < PERIOD * 2.2 + SLACK
    assert synced_by_one(replicas, "second") is second
    assert "Shutting down workers" in first.output

    third = next(program for program in replicas.programs if program not in (first, second))
    # On a busy machine it may only be starting, and a program that does so is ended by the signal itself.
    eventually("the third replica", lambda: "Attempting to acquire leader lease" in third.output)
    assert third.stop() == 0, third.output  # it never led
    assert "Started workers" not in third.output
    assert second.stop() == 0, second.output
    assert replicas.holder() == ""
    # One Deployment for each Foo, written once: generation and field managers would tell of a second writer.
    assert sorted(deployment.get_name() for deployment in replicas.deployments()) == ["first", "second"]
    assert {deployment.metadata.generation for deployment in replicas.deployments()} == {1}


def test_when_the_leader_is_killed_the_next_takes_over_after_the_lease(replicas: Replicas) -> None:
    first = replicas.leader()
    holder = replicas.holder()
    first.send(signal.SIGKILL)
    first.wait()
    killed_at = REAL_CLOCK.now()
    replicas.make("meanwhile")

    second = replicas.leader(without=first)

    waited = REAL_CLOCK.since(killed_at)
    # It was renewed at most a period and a slow request before it was killed.
    assert LEASE - DEADLINE <= waited < LEASE + PERIOD * 2.2 + SLACK
    assert replicas.holder() != holder
    assert replicas.programs_that_synced("meanwhile") == [second]


def test_a_replica_that_loses_the_lease_exits_with_code_1(replicas: Replicas) -> None:
    """An administrator gives the Lease to another holder, which stops a controller."""
    first = replicas.leader()
    patch = json.dumps({"spec": {"holderIdentity": "somebody else", "renewTime": "2100-01-01T00:00:00.000000Z"}})
    replicas.kube.coordination_v1().leases("default").patch(
        CTX, "sample-controller", "application/merge-patch+json", patch.encode(), metav1.PatchOptions()
    )

    assert first.wait() == 1, first.output
    assert '"Leader election lost"' in first.output
    assert "Traceback" not in first.output
