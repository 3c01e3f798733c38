"""Run managers with several controllers through random combinations of failures.

The machine changes objects, lets the reconcilers fail, panic, requeue later and change priorities, lets the cache
deliver everything again, takes the lock away from the leader, stops managers and starts new ones. After each step, and
at the end:

  * no request is lost: once the reconcilers succeed again, the leader has reconciled each object's last state, in every
    controller that watches it
  * no manager reconciles one request in two threads at once
  * every runnable is stopped, in order: others, controllers and what else needs the lock, caches, webhooks
  * no thread is left (the bubble says so), and no thread waits for ever
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from ctrlgolden import rest_mapper
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from clientgo import context, logr, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.controller_runtime import builder, manager, reconcile
from clientgo.controller_runtime import controller as ctrlcontroller
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.testing import synctest
from clientgo.tools.leaderelection import resourcelock

KINDS: dict[str, Any] = {"ConfigMap": corev1.ConfigMap, "Secret": corev1.Secret}
NAMES = ("a", "b", "c")
OUTCOMES = ("ok", "ok", "error", "panic", "after", "requeue", "priority", "slow")
LEASE, RENEW, RETRY = 15.0, 10.0, 2.0
DELETES = st.sampled_from((False, False, False, True))


class Informer:
    """An informer that reports all changes to its handlers, beginning with the existing objects."""

    def __init__(self, world: World, kind: str) -> None:
        self.world = world
        self.kind = kind
        self.handlers: list[Any] = []

    def add_event_handler_with_options(self, handler: Any, options: Any) -> Informer:
        self.handlers.append(handler)
        for obj in self.world.objects[self.kind].values():
            handler.on_add(obj, True)
        return self

    def has_synced(self) -> bool:
        return True


class Cache:
    """The cache of one manager."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.informers: dict[str, Informer] = {}

    def get_informer(self, ctx: context.Context, cls: Any, *opts: Any) -> Informer:
        return self.informers.setdefault(cls.__name__, Informer(self.world, cls.__name__))

    def wait_for_cache_sync(self, ctx: context.Context) -> bool:
        return True

    def start(self, ctx: context.Context) -> None:
        ctx.done().wait()
        self.informers.clear()


class Lock:
    """A candidate's side of a lock in memory."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name

    def get(self, ctx: context.Context) -> tuple[resourcelock.LeaderElectionRecord, bytes]:
        if self.world.record is None:
            raise errors.new_not_found(GroupResource("", "lock"), "lock")
        return self.world.record, self.world.record.to_json()

    def create(self, ctx: context.Context, ler: resourcelock.LeaderElectionRecord) -> None:
        self._write(ler)

    def update(self, ctx: context.Context, ler: resourcelock.LeaderElectionRecord) -> None:
        self._write(ler)

    def _write(self, ler: resourcelock.LeaderElectionRecord) -> None:
        if self.name in self.world.cut_off:
            raise RuntimeError("cannot reach the lock")
        self.world.record = replace(ler)

    def record_event(self, s: str) -> None:
        pass

    def identity(self) -> str:
        return self.name

    def describe(self) -> str:
        return "lock"


class Stage:
    """A runnable that records its stop signal and its end."""

    def __init__(self, member: Member, group: str) -> None:
        self.member = member
        self.group = group
        self.name = group

    def start(self, ctx: context.Context) -> None:
        self.member.running.add(self.group)
        ctx.done().wait()
        self.member.stopping(self.group)
        self.member.running.discard(self.group)

    def get_cache(self) -> Any:
        return self.member.cache


class Other:
    """A runnable that needs no election."""

    def __init__(self, stage: Stage) -> None:
        self.start = stage.start

    def need_leader_election(self) -> bool:
        return False


class Webhooks(Other):
    """A stand-in for the manager's webhook server."""

    def register(self, path: str, hook: Any) -> None:
        raise NotImplementedError

    def started_checker(self) -> Any:
        raise NotImplementedError


class ExtraCache:
    """A further cache."""

    def __init__(self, stage: Stage) -> None:
        self.start = stage.start
        self.get_cache = stage.get_cache


# What ends before what.
ORDER = ("others", "leaders", "caches", "webhooks")


class Member:
    """A manager of the world, in a thread of its own."""

    def __init__(self, world: World, number: int, elects: bool) -> None:
        self.world = world
        self.name = f"member-{number}"
        self.cache = Cache(world)
        self.running: set[str] = set()
        self.in_hand: set[tuple[str, reconcile.Request]] = set()
        self.seen: dict[tuple[str, reconcile.Request], int] = {}
        self.failure: BaseException | None = None
        self.lost_election = False
        self.ctx, self.cancel = context.with_cancel(context.background())
        any_cache: Any = self.cache
        self.mgr = manager.new(
            rest.Config(host="http://127.0.0.1:1"),
            manager.Options(
                new_cache=lambda config, options: any_cache,
                mapper_provider=lambda config, client: rest_mapper(),
                metrics=MetricsOptions(bind_address="0"),
                logger=logr.discard(),
                graceful_shutdown_timeout=-1.0,
                controller=Controller(skip_name_validation=True),
                leader_election=elects,
                leader_election_resource_lock_interface=Lock(world, self.name),
                lease_duration=LEASE,
                renew_deadline=RENEW,
                retry_period=RETRY,
            ),
        )
        self.mgr.add(Other(Stage(self, "others")))
        self.mgr.add(Stage(self, "leaders").start)
        self.mgr.add(ExtraCache(Stage(self, "caches")))
        self.mgr.add(Webhooks(Stage(self, "webhooks")))
        for index, kinds in enumerate((["ConfigMap"], ["Secret"], ["ConfigMap"])):
            options: ctrlcontroller.Options = ctrlcontroller.Options(
                max_concurrent_reconciles=1 + index, use_priority_queue=index != 1
            )
            name = f"controller-{index}"
            blder = builder.controller_managed_by(self.mgr).named(name).for_(KINDS[kinds[0]]).with_options(options)
            blder.complete(self.reconciler(name, kinds[0]))
        self.thread = threading.Thread(target=self._run, name=self.name)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.mgr.start(self.ctx)
        except manager.LeaderElectionLost:
            self.lost_election = True
        except Exception as err:
            self.failure = err

    def reconciler(self, name: str, kind: str) -> Callable[..., reconcile.Result | None]:
        def do(ctx: context.Context, request: reconcile.Request) -> reconcile.Result | None:
            key = (name, request)
            if key in self.in_hand:
                # Not by an assertion: here that is a panic, which the controller takes care of.
                self.world.wrong.append(f"{self.name}: {key} is reconciled twice at once")
            self.in_hand.add(key)
            try:
                version = self.world.versions[kind, request.name]
                outcome = self.world.outcome()
                if outcome == "slow":
                    context.sleep(ctx, 0.7)
                elif outcome == "error":
                    raise reconcile.with_result(RuntimeError("not yet"), reconcile.Result(priority=3))
                elif outcome == "panic":
                    raise AssertionError("a bug")
                result = {
                    "after": reconcile.Result(requeue_after=1.5),
                    "requeue": reconcile.Result(requeue=True),
                    "priority": reconcile.Result(requeue_after=0.5, priority=-7),
                }.get(outcome)
                self.seen[key] = version
                return result
            finally:
                self.in_hand.discard(key)

        return do

    def stopping(self, group: str) -> None:
        if self.lost_election_under_way():
            return  # no wait between groups in this case
        for earlier in ORDER[: ORDER.index(group)]:
            if earlier in self.running:
                self.world.wrong.append(f"{self.name}: {group} stops while {earlier} runs")
        if group == "caches" and self.in_hand:
            self.world.wrong.append(f"{self.name}: caches stop while {self.in_hand} are reconciled")

    def lost_election_under_way(self) -> bool:
        return self.name in self.world.cut_off

    @property
    def leads(self) -> bool:
        return self.thread.is_alive() and self.mgr.elected().is_set() and not self.ctx.done().is_set()

    def stop(self) -> None:
        self.cancel()
        self.thread.join()


class World:
    """The objects, the lock and the managers."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = defaultdict(dict)
        self.versions: dict[tuple[str, str], int] = defaultdict(int)
        self.record: resourcelock.LeaderElectionRecord | None = None
        self.cut_off: set[str] = set()
        self.members: list[Member] = []
        self.outcomes: list[str] = []
        self.made = 0
        self.wrong: list[str] = []

    def outcome(self) -> str:
        return self.outcomes.pop() if self.outcomes else "ok"

    def informers(self, kind: str) -> list[Any]:
        found = [member.cache.informers.get(kind) for member in self.members]
        return [handler for informer in found if informer is not None for handler in informer.handlers]

    def change(self, kind: str, name: str, delete: bool) -> None:
        self.versions[kind, name] += 1
        old = self.objects[kind].get(name)
        version = str(self.versions[kind, name])
        metadata = metav1.ObjectMeta(namespace="ns", name=name, resource_version=version)
        new = KINDS[kind](metadata=metadata)
        if delete and old is not None:
            del self.objects[kind][name]
        else:
            self.objects[kind][name] = new
        for handler in self.informers(kind):
            if name not in self.objects[kind]:
                handler.on_delete(old)
            elif old is None:
                handler.on_add(new, False)
            else:
                handler.on_update(old, new)

    def relist(self) -> None:
        for kind, objects in self.objects.items():
            for handler in self.informers(kind):
                for obj in objects.values():
                    handler.on_update(obj, obj)


class ManagerMachine(RuleBasedStateMachine):
    elects: ClassVar[bool] = True
    # Names of methods, each as often as it weighs.
    operations: ClassVar[tuple[str, ...]] = (
        *("change",) * 10,
        *("fail",) * 5,
        *("let_time_pass",) * 5,
        "relist",
        "start_another",
        "stop_one",
        "take_the_lock_away",
    )

    def __init__(self) -> None:
        super().__init__()
        self.bubble = synctest.bubble(start=0.0, max_steps=20_000_000)
        self.bubble.__enter__()
        self.world = World()
        self.begin()

    def begin(self) -> None:
        self.world.made += 1
        self.world.members.append(Member(self.world, self.world.made, self.elects))
        self.bubble.wait()

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Run one operation. With a rule for each operation, Hypothesis would omit some of them from most runs."""
        getattr(self, data.draw(st.sampled_from(self.operations)))(data.draw)
        self.check()

    def change(self, draw: Any) -> None:
        self.world.change(draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from(NAMES)), draw(DELETES))
        if draw(st.booleans()):
            self.bubble.wait()

    def fail(self, draw: Any) -> None:
        self.world.outcomes = draw(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=8))

    def relist(self, draw: Any) -> None:
        self.world.relist()

    def let_time_pass(self, draw: Any) -> None:
        self.bubble.sleep(draw(st.sampled_from((0.01, 0.25, 1.0, 7.0))))

    def start_another(self, draw: Any) -> None:
        if len(self.world.members) < (3 if self.elects else 1):
            self.begin()

    def stop_one(self, draw: Any) -> None:
        if not self.world.members:
            return
        member = draw(st.sampled_from(self.world.members))
        member.stop()
        self.world.members.remove(member)
        self.check_ended(member)

    def take_the_lock_away(self, draw: Any) -> None:
        leader = next((member for member in self.world.members if member.leads), None)
        if leader is None or not self.elects:
            return
        self.world.cut_off.add(leader.name)
        self.bubble.sleep(RENEW + RETRY)
        leader.thread.join()
        assert leader.lost_election, leader.failure
        # In a program the process ends now. What still ran has its context ended.
        self.bubble.sleep(1.0)
        self.world.members.remove(leader)
        self.check_ended(leader)

    def check(self) -> None:
        assert not self.world.wrong, self.world.wrong
        for member in self.world.members:
            assert member.failure is None, member.failure
            assert not member.lost_election or member.name in self.world.cut_off
        assert sum(member.leads for member in self.world.members) <= 1

    def check_ended(self, member: Member) -> None:
        assert not self.world.wrong, self.world.wrong
        assert member.failure is None, member.failure
        assert not member.running, f"still running: {member.running}"
        assert not member.in_hand, f"still reconciling: {member.in_hand}"

    def teardown(self) -> None:
        try:
            self.end()
        finally:
            for member in self.world.members:
                member.stop()
            self.bubble.__exit__(None, None, None)

    def end(self) -> None:
        """Check the final state: with no more failures, all controllers of the leader have seen the last state of all
        objects.
        """
        self.world.outcomes = []
        if not self.world.members:
            self.begin()
        self.bubble.sleep(LEASE * 3 + 60.0)
        self.check()
        leader = next(member for member in self.world.members if member.leads)
        for (kind, name), version in self.world.versions.items():
            if name not in self.world.objects[kind] and version == 0:
                continue
            for index, watched in enumerate(("ConfigMap", "Secret", "ConfigMap")):
                key = (f"controller-{index}", reconcile.Request("ns", name))
                # Of what was deleted before this manager led there is no event.
                if watched == kind and (name in self.world.objects[kind] or key in leader.seen):
                    assert leader.seen.get(key) == version, f"{key}: lost version {version} of {kind}, {leader.seen}"


class WithoutElectionMachine(ManagerMachine):
    elects = False


# Not explained: that takes ten times as long as finding a failure, and says less than its script.
PHASES = [phase for phase in settings().phases if phase is not Phase.explain]

TestManagers = ManagerMachine.TestCase
TestManagers.settings = settings(max_examples=50, stateful_step_count=25, deadline=None, phases=PHASES)
TestManagerWithoutElection = WithoutElectionMachine.TestCase
TestManagerWithoutElection.settings = settings(max_examples=30, stateful_step_count=25, deadline=None, phases=PHASES)
