"""Three replicas of the sample-controller that share the work: each Foo is one replica's, also when replicas die."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable
from processes import ROOT, Program, eventually, post_mortem, python

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools.sharding import shard_of
from pkg.apis.samplecontroller import v1alpha1
from pkg.generated.clientset import versioned as clientset

CTX = context.background()
CRD = ROOT / "cmd/sample-controller/artifacts/examples/crd.yaml"
SHARDS = 6
FLAGS = (
    f"-shards={SHARDS}",
    "-leader-elect-lease-duration=4s",
    "-leader-elect-renew-deadline=3s",
    "-leader-elect-retry-period=1s",
)


class Replicas:
    """The processes, and a look at who holds which shard."""

    def __init__(self, stack: contextlib.ExitStack, *flags: str, gate: bool = False) -> None:
        self.stack = stack
        self._flags = flags
        gates = {"ShardedListAndWatch": gate}
        self.env = stack.enter_context(Environment(crd_paths=[CRD], feature_gates=gates))
        self.kube = kubernetes.new_for_config(self.env.config)
        stack.callback(self.kube.close)
        self.sample = clientset.new_for_config(self.env.config)
        stack.callback(self.sample.close)
        self.foos = self.sample.samplecontroller_v1alpha1().foos("default")
        self.programs = [self.start() for _ in range(3)]

    def start(self) -> Program:
        flags = (f"-kubeconfig={self.env.kubeconfig}", "-v=4", *FLAGS, *self._flags)
        return self.stack.enter_context(python("cmd/sample-controller", *flags))

    def holders(self) -> dict[int, str]:
        leases = self.kube.coordination_v1().leases("default").list(CTX).items
        named = {re.fullmatch(r"sample-controller-shard-(\d+)", lease.get_name()): lease for lease in leases}
        return {int(match[1]): lease.spec.holder_identity or "" for match, lease in named.items() if match}

    def wait_for_shares(self, *sizes: int) -> None:
        def shared() -> bool:
            holders = list(self.holders().values())
            return sorted(holders.count(one) for one in set(holders) - {""}) == list(sizes)

        with post_mortem(self.programs, lambda: [self.holders()]):
            eventually(f"shares of {sizes}", shared)

    def make(self, *names: str) -> None:
        for name in names:
            spec = v1alpha1.FooSpec(deployment_name=name, replicas=1)
            foo = v1alpha1.Foo(metadata=metav1.ObjectMeta(name=name), spec=spec)
            self.foos.create(CTX, foo, metav1.CreateOptions())

    def programs_that_synced(self, name: str, namespace: str = "default") -> list[Program]:
        sentence = f'"Successfully synced" objectName="{namespace}/{name}"'

        def saying() -> list[Program]:
            return [program for program in self.programs if sentence in program.output]

        with post_mortem(self.programs, lambda: [self.holders()]):
            eventually(f"{name} to be synced", saying)
        return saying()


@pytest.fixture
def replicas() -> Iterator[Replicas]:
    with contextlib.ExitStack() as stack:
        yield Replicas(stack)


def names(prefix: str) -> list[str]:
    """Return enough names for every shard to have one."""
    found = [f"{prefix}-{number}" for number in range(12)]
    return [*found, *(f"{prefix}-more-{number}" for number in range(12))]


def test_each_foo_is_synced_by_the_one_replica_that_has_its_shard(replicas: Replicas) -> None:
    replicas.wait_for_shares(2, 2, 2)
    made = names("foo")
    replicas.make(*made)
    holders = replicas.holders()
    syncing: dict[str, set[Any]] = {}
    for name in made:
        (program,) = replicas.programs_that_synced(name)
        syncing.setdefault(holders[shard_of("default", name, SHARDS)], set()).add(program)
    # One process for each identity, and all of them at work.
    assert [len(programs) for programs in syncing.values()] == [1, 1, 1]

    # A replica that stops hands over, and one that comes gets its part.
    first = replicas.programs[0]
    assert first.stop() == 0, first.output
    replicas.wait_for_shares(3, 3)
    later = names("later")
    replicas.make(*later)
    for name in later:
        assert len(replicas.programs_that_synced(name)) == 1
    replicas.programs.append(replicas.start())
    replicas.wait_for_shares(2, 2, 2)
    for program in replicas.programs[1:]:
        assert program.stop() == 0, program.output
        assert "Traceback" not in program.output


def has_one_replica(deployments: Any) -> bool:
    return bool(deployments.get(CTX, "web").spec.replicas == 1)


@pytest.mark.parametrize("by", ["namespace", "uid"])
@pytest.mark.parametrize("gate", [True, False], ids=["gate on", "gate off"])
def test_replicas_that_cache_their_shards_only_sync_each_foo_once(by: str, gate: bool) -> None:
    with contextlib.ExitStack() as stack:
        replicas = Replicas(stack, f"-shard-by={by}", gate=gate)
        replicas.wait_for_shares(2, 2, 2)
        namespaces = ["alpha", "beta", "blue", "green", "mail", "search", "shop", "violet", "web"]
        for namespace in namespaces:
            made = corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace))
            replicas.kube.core_v1().namespaces().create(CTX, made)
            spec = v1alpha1.FooSpec(deployment_name="web", replicas=1)
            foo = v1alpha1.Foo(metadata=metav1.ObjectMeta(name="foo"), spec=spec)
            replicas.sample.samplecontroller_v1alpha1().foos(namespace).create(CTX, foo)
        syncing = {namespace: replicas.programs_that_synced("foo", namespace) for namespace in namespaces}
        assert all(len(programs) == 1 for programs in syncing.values()), syncing
        assert len({program for programs in syncing.values() for program in programs}) > 1

        # A replica that stops hands over: the others list its shards and revert a change to a Deployment.
        assert replicas.programs[0].stop() == 0, replicas.programs[0].output
        replicas.wait_for_shares(3, 3)
        for namespace in namespaces:
            deployments = replicas.kube.apps_v1().deployments(namespace)
            changed = deployments.get(CTX, "web").deep_copy()
            changed.spec.replicas = 7
            deployments.update(CTX, changed)
            with post_mortem(replicas.programs, lambda: [replicas.holders()]):
                eventually("the change to be reverted", partial(has_one_replica, deployments))
        for program in replicas.programs:
            assert "Traceback" not in program.output


def test_the_shards_of_a_killed_and_of_a_paused_replica_are_taken_over(replicas: Replicas) -> None:
    replicas.wait_for_shares(2, 2, 2)
    killed, paused, _ = replicas.programs
    killed.send(signal.SIGKILL)
    killed.wait()
    replicas.wait_for_shares(3, 3)

    paused.send(signal.SIGSTOP)
    try:
        # The Leases of the paused one end by themselves; the third has all there is.
        replicas.wait_for_shares(SHARDS)
        made = names("foo")
        replicas.make(*made)
        for name in made:
            assert replicas.programs_that_synced(name) == [replicas.programs[2]]
    finally:
        paused.send(signal.SIGCONT)
    # It finds out by its own clock that it has nothing any more, and gets its part again.
    replicas.wait_for_shares(3, 3)
    later = names("later")
    replicas.make(*later)
    for name in later:
        assert len(replicas.programs_that_synced(name)) == 1
    assert paused.process.poll() is None


def test_flags_that_exclude_each_other_are_refused() -> None:
    with (
        Environment(crd_paths=[CRD]) as env,
        python("cmd/sample-controller", f"-kubeconfig={env.kubeconfig}", "-leader-elect", *FLAGS) as program,
    ):
        assert program.wait() == 1
    assert "-shards and -leader-elect exclude each other" in program.output
