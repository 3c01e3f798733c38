"""Three replicas of the sample-controller that share the work: each Foo is one replica's, also when replicas die."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable
from processes import ROOT, Program, eventually, post_mortem, python

from clientgo import context, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools.sharding import shard_of, shard_of_value
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
        for namespace, name in (each.split("/") for each in names):
            spec = v1alpha1.FooSpec(deployment_name=name, replicas=1)
            foo = v1alpha1.Foo(metadata=metav1.ObjectMeta(name=name), spec=spec)
            self.sample.samplecontroller_v1alpha1().foos(namespace).create(CTX, foo, metav1.CreateOptions())

    def uids(self) -> dict[str, str]:
        """Return the uids of the Foos by namespace and name."""
        foos = self.sample.samplecontroller_v1alpha1().foos("").list(CTX, metav1.ListOptions()).items
        return {f"{foo.get_namespace()}/{foo.get_name()}": foo.get_uid() for foo in foos}

    def wait_for_syncs(self, names: Iterable[str], shard_of: Callable[[str], int]) -> None:
        """Wait until each Foo is synced, and check that programs sync only Foos of shards that they have.

        names: namespaces and names, such as "default/web".

        A shard may move at any time: replicas see each other at different times when they start, and a busy machine
        may delay a renewal beyond its deadline. Two programs then sync a Foo, one after the other.
        """
        missing = set(names)

        def is_synced() -> bool:
            missing.difference_update(*(syncs_of(program) for program in self.programs))
            return not missing

        with post_mortem(self.programs, lambda: [self.holders()]):
            eventually("all Foos to be synced", is_synced)
            for program in self.programs:
                for name, held in syncs_of(program).items():
                    assert all(shard_of(name) in shards for shards in held), f"{name}: {shard_of(name)} not in {held}"

    def wait_for_workers(self, count: int) -> None:
        """Wait until so many programs have synced a Foo."""
        with post_mortem(self.programs, lambda: [self.holders()]):
            eventually("the replicas to share the work", lambda: sum(map(bool, map(syncs_of, self.programs))) >= count)


LINE = re.compile(r'"(Acquired|Gave up) shard" .*\bshard=(\d+)|"Successfully synced" objectName="([^"]+)"')


def syncs_of(program: Program) -> dict[str, list[frozenset[int]]]:
    """Return the shards that a program had at each sync, by the Foo's namespace and name."""
    held: set[int] = set()
    syncs: dict[str, list[frozenset[int]]] = {}
    for match in LINE.finditer(program.output):
        event, shard, name = match.groups()
        if name:
            syncs.setdefault(name, []).append(frozenset(held))
        elif event == "Acquired":
            held.add(int(shard))
        else:
            held.discard(int(shard))
    return syncs


def by_name(key: str) -> int:
    namespace, name = key.split("/")
    return shard_of(namespace, name, SHARDS)


@pytest.fixture
def replicas() -> Iterator[Replicas]:
    with contextlib.ExitStack() as stack:
        yield Replicas(stack)


def names(prefix: str) -> list[str]:
    """Return enough names, with the namespace, for every shard to have one."""
    found = [f"default/{prefix}-{number}" for number in range(12)]
    return [*found, *(f"default/{prefix}-more-{number}" for number in range(12))]


def test_each_foo_is_synced_only_by_a_replica_that_has_its_shard(replicas: Replicas) -> None:
    replicas.wait_for_shares(2, 2, 2)
    made = names("foo")
    replicas.make(*made)
    replicas.wait_for_syncs(made, by_name)
    replicas.wait_for_workers(3)

    # A replica that stops hands over, and one that comes gets its part.
    first = replicas.programs[0]
    assert first.stop() == 0, first.output
    replicas.wait_for_shares(3, 3)
    later = names("later")
    replicas.make(*later)
    replicas.wait_for_syncs(later, by_name)
    replicas.programs.append(replicas.start())
    replicas.wait_for_shares(2, 2, 2)
    for program in replicas.programs[1:]:
        assert program.stop() == 0, program.output
        assert "Traceback" not in program.output


def has_one_replica(deployments: Any) -> bool:
    return bool(deployments.get(CTX, "web").spec.replicas == 1)


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("by", ["namespace", "uid"])
@pytest.mark.parametrize("gate", [True, False], ids=["gate on", "gate off"])
def test_replicas_that_cache_their_shards_sync_only_foos_of_these(by: str, gate: bool) -> None:
    with contextlib.ExitStack() as stack:
        replicas = Replicas(stack, f"-shard-by={by}", gate=gate)
        replicas.wait_for_shares(2, 2, 2)
        namespaces = ["alpha", "beta", "blue", "green", "mail", "search", "shop", "violet", "web"]
        for namespace in namespaces:
            made = corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace))
            replicas.kube.core_v1().namespaces().create(CTX, made)
        foos = [f"{namespace}/web" for namespace in namespaces]
        replicas.make(*foos)
        values = replicas.uids() if by == "uid" else {foo: foo.partition("/")[0] for foo in foos}
        replicas.wait_for_syncs(foos, lambda foo: shard_of_value(values[foo], SHARDS))
        replicas.wait_for_workers(2)

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
        replicas.wait_for_syncs(made, by_name)
    finally:
        paused.send(signal.SIGCONT)
    # It finds out by its own clock that it has nothing any more, and gets its part again.
    replicas.wait_for_shares(3, 3)
    later = names("later")
    replicas.make(*later)
    replicas.wait_for_syncs(later, by_name)
    assert paused.process.poll() is None


def test_flags_that_exclude_each_other_are_refused() -> None:
    with (
        Environment(crd_paths=[CRD]) as env,
        python("cmd/sample-controller", f"-kubeconfig={env.kubeconfig}", "-leader-elect", *FLAGS) as program,
    ):
        assert program.wait() == 1
    assert "-shards and -leader-elect exclude each other" in program.output
