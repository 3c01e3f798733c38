"""One candidate's decisions, its run, and several candidates that must never lead at the same time."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from electionlock import RecordingLock, SharedRecord, from_ms
from fakeleases import FakeLeases
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo import context, klog
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.golang.stop import Signal
from clientgo.testing import synctest
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import LeaderCallbacks, LeaderElectionConfig, LeaderElector
from clientgo.tools.leaderelection import resourcelock as rl
from clientgo.utils.clock.testing import FakeClock

START = 1_600_000_000.0
NOW = from_ms(0, START)


def nothing(*_: object) -> None:
    return None


def config_for(lock: rl.Interface, **more: Any) -> LeaderElectionConfig:
    settings: dict[str, Any] = {
        "lease_duration": 15.0,
        "renew_deadline": 10.0,
        "retry_period": 2.0,
        "callbacks": LeaderCallbacks(on_started_leading=nothing, on_stopped_leading=nothing),
        **more,
    }
    return LeaderElectionConfig(lock=lock, **settings)


def lease_lock(client: FakeLeases, identity: str = "baz") -> rl.LeaseLock:
    metadata = metav1.ObjectMeta(namespace="foo", name="bar")
    return rl.LeaseLock(metadata, client, rl.ResourceLockConfig(identity=identity))


def lease(spec: rl.LeaderElectionRecord | None) -> coordinationv1.Lease:
    made = coordinationv1.Lease(metadata=metav1.ObjectMeta(namespace="foo", name="bar"))
    if spec is not None:
        made.spec = rl.leader_election_record_to_lease_spec(spec)
    return made


def held_by(identity: str, **more: Any) -> rl.LeaderElectionRecord:
    return rl.LeaderElectionRecord(holder_identity=identity, acquire_time=NOW, renew_time=NOW, **more)


LONG_AGO = START - 1000


@pytest.mark.parametrize(
    ("stored", "observed", "observed_time", "succeeds", "transitions"),
    [
        pytest.param("no object", None, START, True, 0, id="acquire from no object"),
        pytest.param("empty", None, START, True, 1, id="acquire from object without annotations"),
        pytest.param(
            held_by("bing", lease_duration_seconds=20), None, LONG_AGO, True, 1,
            id="acquire from led object with the lease duration seconds",
        ),
        pytest.param(held_by(""), None, START, True, 1, id="acquire from unled object"),
        pytest.param(held_by("bing"), held_by("bing"), LONG_AGO, True, 1, id="acquire from led, unacked object"),
        pytest.param(held_by(""), held_by(""), START, True, 1, id="acquire from empty led, acked object"),
        pytest.param(
            held_by("bing", lease_duration_seconds=15), held_by("bing", lease_duration_seconds=15), START, False, 0,
            id="don't acquire from led, acked object",
        ),
        pytest.param(held_by("baz"), held_by("baz"), START, True, 0, id="renew already acquired object"),
    ],
)  # fmt: skip
def test_try_acquire_or_renew_leases(stored, observed, observed_time, succeeds, transitions):
    """Go: TestTryAcquireOrRenewLeases, with its cases.

    Go: TestTryAcquireOrRenewLeases/acquire from no object [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/acquire from object without annotations [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/acquire from led object with the lease duration seconds [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/acquire from unled object [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/acquire from led, unacked object [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/acquire from empty led, acked object [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/don't acquire from led, acked object [in testTryAcquireOrRenew]
    Go: TestTryAcquireOrRenewLeases/renew already acquired object [in testTryAcquireOrRenew]
    """
    client = FakeLeases()
    if stored != "no object":
        client.put(lease(None if stored == "empty" else stored))
    clock = FakeClock(START)
    seen: list[str] = []
    reported = threading.Event()
    callbacks = LeaderCallbacks(
        on_started_leading=nothing,
        on_stopped_leading=nothing,
        on_new_leader=lambda identity: (seen.append(identity), reported.set()),
    )
    elector = LeaderElector(config_for(lease_lock(client), callbacks=callbacks), clock)
    if observed is not None:
        elector._observed_record = observed
    if stored not in ("no object", "empty") and (observed is not None or observed_time != START):
        elector._observed_record = stored
        elector._observed_raw_record = rl.lease_spec_to_leader_election_record(lease(stored).spec).to_json()
    elector._observed_time = observed_time

    assert elector._try_acquire_or_renew(context.background()) is succeeds
    elector._maybe_report_transition()

    record = rl.lease_spec_to_leader_election_record(client.stored("bar").spec)
    assert record.holder_identity == ("baz" if succeeds else "bing")
    assert record.leader_transitions == transitions
    assert elector.is_leader() is succeeds
    assert reported.wait(PATIENCE)
    elector._callback_threads.wait()
    assert seen == [record.holder_identity]


class Metric:
    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def on(self, name: str) -> None:
        self.calls.append(("on", name))

    def off(self, name: str) -> None:
        self.calls.append(("off", name))

    def slowpath_exercised(self, name: str) -> None:
        self.calls.append(("slow", name))


@pytest.fixture
def metric(monkeypatch):
    made = Metric()
    factory = leaderelection.metrics._LeaderMetricsFactory()
    monkeypatch.setattr(leaderelection.metrics, "_global_metrics_factory", factory)

    class Provider:
        def new_leader_metric(self) -> Metric:
            return made

    class TooLate:
        def new_leader_metric(self) -> Metric:
            raise AssertionError("only the first provider counts")

    leaderelection.set_provider(Provider())
    leaderelection.set_provider(TooLate())
    return made


@pytest.mark.parametrize(
    ("holder", "end_of_term", "age", "succeeds"),
    [
        pytest.param("bing", "", 0.0, False, id="don't acquire from led, acked object"),
        pytest.param("baz", "", 0.0, True, id="renew already acquired object"),
        pytest.param("baz", "bing", 0.0, False, id="end of term"),
        pytest.param("baz", "", 16.0, False, id="expired"),
        pytest.param("", "", 0.0, False, id="nobody leads"),
    ],
)
def test_try_coordinated_renew(holder, end_of_term, age, succeeds, metric):
    """Go: TestTryCoordinatedRenew; never takes a lock it was not given.

    Go: TestTryCoordinatedRenew/don't acquire from led, acked object
    Go: TestTryCoordinatedRenew/renew already acquired object
    """
    client = FakeLeases()
    stored = held_by(
        holder, lease_duration_seconds=15, leader_transitions=7, strategy="S", preferred_holder=end_of_term
    )
    client.put(lease(stored))
    clock = FakeClock(START)
    elector = LeaderElector(config_for(lease_lock(client), coordinated=True, name="n"), clock)
    elector._try(context.background())
    client.put(lease(stored))
    elector._observed_raw_record = stored.to_json()
    elector._set_observed_record(stored)
    clock.step(age)
    metric.calls.clear()

    assert elector._try(context.background()) is succeeds
    record = rl.lease_spec_to_leader_election_record(client.stored("bar").spec)
    if succeeds:
        assert record == replace(stored, renew_time=NOW, preferred_holder="")
        assert metric.calls == [("slow", "n")]
    else:
        assert record == stored


def test_coordinated_renew_does_not_create():
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client), coordinated=True))
    assert not elector._try(context.background())
    assert client.calls == ["get"]
    client.react = lambda verb, ctx: (_ for _ in ()).throw(RuntimeError("down"))
    assert not elector._try(context.background())


@pytest.mark.parametrize(
    ("leads", "age", "healthy"),
    [
        pytest.param(None, 0, True, id="call check before leader elector initialized"),
        pytest.param(True, 3600, False, id="call check when the lease is far expired"),
        pytest.param(False, 3600, True, id="call check when the lease is far expired but held by another server"),
        pytest.param(True, 0, True, id="call check when the lease is not expired"),
        pytest.param(True, 15 + 9, True, id="call check when the lease is expired but inside the timeout"),
    ],
)
def test_health_checker(leads, age, healthy):
    """Go: TestLeaderElectionHealthChecker.

    Go: TestLeaderElectionHealthChecker/call check before leader elector initialized
    Go: TestLeaderElectionHealthChecker/call check when the lease is far expired
    Go: TestLeaderElectionHealthChecker/call check when the lease is far expired but held by another server
    Go: TestLeaderElectionHealthChecker/call check when the lease is not expired
    Go: TestLeaderElectionHealthChecker/call check when the lease is expired but inside the timeout
    """
    adaptor = leaderelection.new_leader_healthz_adaptor(10.0)
    assert adaptor.name() == "leaderElection"
    if leads is not None:
        clock = FakeClock(START)
        elector = LeaderElector(config_for(lease_lock(FakeLeases()), name="foo"), clock)
        elector._set_observed_record(held_by("baz" if leads else "bing"))
        clock.step(age)
        adaptor.set_leader_election(elector)
    if healthy:
        adaptor.check()
        return
    with pytest.raises(RuntimeError, match=r"^failed election to renew leadership on lease foo$"):
        adaptor.check(object())


def test_run_or_die_connects_the_health_check():
    with synctest.bubble() as b:
        client, watch_dog = FakeLeases(), leaderelection.new_leader_healthz_adaptor(1.0)
        # The work goes on after the loss, so that the elector still runs.
        callbacks = LeaderCallbacks(on_started_leading=lambda ctx: b.sleep(60.0), on_stopped_leading=nothing)
        config = config_for(lease_lock(client), callbacks=callbacks, name="n", watch_dog=watch_dog)
        running = threading.Thread(
            target=lambda: leaderelection.run_or_die(context.background(), config), name="elector"
        )
        running.start()
        b.sleep(1.0)

        def down(verb: str, ctx: context.Context) -> None:
            raise ConnectionError("down")

        client.react = down
        watch_dog.check()
        b.sleep(20.0)
        with pytest.raises(RuntimeError, match="failed election to renew leadership on lease n"):
            watch_dog.check()
        running.join()


def test_release():
    """Go: TestReleaseLeaseLeases/release acquired lock from no object [in testReleaseLease]."""
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client)))
    assert elector._try_acquire_or_renew(context.background())
    client.calls.clear()
    assert elector._release(klog.background())
    assert client.calls == ["get", "update"], "Go: TestReleaseMethodCallsGet"
    record = rl.lease_spec_to_leader_election_record(client.stored("bar").spec)
    assert (record.holder_identity, record.lease_duration_seconds, record.leader_transitions) == ("", 1, 0)
    assert not elector.is_leader()
    assert elector._try_acquire_or_renew(context.background())
    assert rl.lease_spec_to_leader_election_record(client.stored("bar").spec).leader_transitions == 1


def test_release_when_not_leading_or_failing():
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client)))
    assert not elector._release(klog.background()), "no lease"
    client.put(lease(held_by("bing", lease_duration_seconds=15)))
    assert elector._release(klog.background()), "somebody else's"
    assert client.stored("bar").spec.holder_identity == "bing"
    client.put(lease(held_by("baz", lease_duration_seconds=15)))
    assert elector._try_acquire_or_renew(context.background())
    for failing in ("get", "update"):

        def fail(verb: str, ctx: context.Context, failing: str = failing) -> None:
            if verb == failing:
                raise RuntimeError("down")

        client.react = fail
        assert not elector._release(klog.background())
        assert elector.is_leader()


def test_fast_path():
    """Go: TestFastPathLeaderElection/Exercise fast path after lock acquired."""
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client)))
    for _ in range(4):
        assert elector._try_acquire_or_renew(context.background())
    assert client.calls == ["get", "create", "update", "update", "update"]


def test_fast_path_falls_back(metric):
    """Go: TestFastPathLeaderElection/Fallback to slow path after fast path fails."""
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client), name="n"))
    assert elector._try_acquire_or_renew(context.background())
    failures = [RuntimeError("down")]
    client.react = lambda verb, ctx: (_ for _ in ()).throw(failures.pop()) if verb == "update" and failures else None
    assert elector._try_acquire_or_renew(context.background())
    assert client.calls == ["get", "create", "update", "get", "update"]
    assert metric.calls == [("slow", "n")]


@pytest.mark.parametrize("verb", ["update", "get"])
def test_release_on_cancellation(verb):
    """Go: TestReleaseOnCancellation_Leases.

    Go: TestReleaseOnCancellation_Leases/release acquired lock on cancellation of update [in testReleaseOnCancellation]
    Go: TestReleaseOnCancellation_Leases/release acquired lock on cancellation of get [in testReleaseOnCancellation]
    """
    with synctest.bubble() as b:
        client = FakeLeases()
        stopped: list[float] = []
        callbacks = LeaderCallbacks(on_started_leading=nothing, on_stopped_leading=lambda: stopped.append(b.elapsed))
        config = config_for(lease_lock(client), callbacks=callbacks, release_on_cancel=True)
        elector = leaderelection.new_leader_elector(config)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=lambda: elector.run(ctx), name="elector")
        thread.start()
        b.wait()
        assert elector.is_leader()

        def hang_until_cancelled(called: str, request: context.Context) -> None:
            if called != verb and not (verb == "get" and called == "update"):
                return
            if request.err() is None and request.deadline() is None:
                raise AssertionError("a renewal must have a deadline")
            if called == verb and not ctx.done().is_set():
                request.done().wait()
                raise RuntimeError("request cancelled")
            if verb == "get" and not ctx.done().is_set():
                raise RuntimeError("update failed, so that the slow path is taken")

        client.react = hang_until_cancelled
        b.sleep(2.5)
        cancel()
        thread.join()
        assert client.stored("bar").spec.holder_identity == ""
        assert stopped == [pytest.approx(2.5)]


def test_check_may_run_beside_renewals():
    """Go: TestCheckMethodRace."""
    for seed in range(5):

        def scenario() -> None:
            elector = LeaderElector(config_for(lease_lock(FakeLeases())))

            def renew() -> None:
                for _ in range(5):
                    assert elector._try_acquire_or_renew(context.background())

            def check() -> None:
                for _ in range(5):
                    elector.check(1.0)
                    elector.is_leader()

            threads = [threading.Thread(target=fn) for fn in (renew, check)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        synctest.run(scenario, schedule=synctest.RandomSchedule(seed))


def test_run_reports_and_returns_after_its_callbacks(metric):
    with synctest.bubble() as b:
        calls: list[tuple[float, str]] = []

        def lead(ctx: context.Context) -> None:
            calls.append((b.elapsed, "started"))
            ctx.done().wait()
            b.sleep(1.0)
            calls.append((b.elapsed, "work ended"))

        callbacks = LeaderCallbacks(
            on_started_leading=lead,
            on_stopped_leading=lambda: calls.append((b.elapsed, "stopped")),
            on_new_leader=lambda identity: calls.append((b.elapsed, f"new leader {identity}")),
        )
        config = config_for(lease_lock(FakeLeases()), callbacks=callbacks, name="n", watch_dog=None)
        config.watch_dog = leaderelection.new_leader_healthz_adaptor(1.0)
        ctx, cancel = context.with_timeout(context.background(), 5.0)
        leaderelection.run_or_die(ctx, config)
        cancel()
        config.watch_dog.check()
        times = {name: round(at, 3) for at, name in calls}
        assert times == {"started": 0, "new leader baz": 0, "stopped": 5, "work ended": 6}
        assert metric.calls == [("off", "n"), ("on", "n"), ("off", "n")], "Go's metric stays on"


def test_a_term_whose_renewals_fail_turns_the_metric_off(metric):
    with synctest.bubble() as b:
        client = FakeLeases()
        config = config_for(lease_lock(client), name="n")
        running = threading.Thread(
            target=lambda: leaderelection.run_or_die(context.background(), config), name="elector"
        )
        running.start()
        b.sleep(3.0)
        metric.calls.clear()

        def down(verb: str, ctx: context.Context) -> None:
            raise ConnectionError("down")

        client.react = down
        running.join()
    assert metric.calls[-1] == ("off", "n")


def test_the_metric_is_off_as_soon_as_the_lease_is_lost(metric):
    """The work, which takes three more seconds, delays the release and not the metric."""
    with synctest.bubble() as b:
        client = FakeLeases()
        callbacks = LeaderCallbacks(
            on_started_leading=lambda ctx: (ctx.done().wait(), b.sleep(3.0)), on_stopped_leading=nothing
        )
        config = config_for(lease_lock(client), name="n", callbacks=callbacks, release_on_cancel=True)
        running = threading.Thread(
            target=lambda: leaderelection.run_or_die(context.background(), config), name="elector"
        )
        running.start()
        b.sleep(1.0)

        def down(verb: str, ctx: context.Context) -> None:
            raise ConnectionError("down")

        client.react = down
        b.sleep(12.0)
        assert metric.calls[-1] == ("off", "n")
        running.join()


def test_a_run_whose_context_is_done_leads_nothing_and_sends_nothing(caplog):
    client, calls = FakeLeases(), []
    callbacks = LeaderCallbacks(
        on_started_leading=lambda ctx: calls.append("started"), on_stopped_leading=lambda: calls.append("stopped")
    )
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with synctest.bubble():
        leaderelection.run_or_die(ctx, config_for(lease_lock(client), callbacks=callbacks, release_on_cancel=True))
    assert (calls, client.calls) == (["stopped"], [])
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


def test_run_that_never_led_still_reports_that_it_stopped():
    with synctest.bubble():
        client = FakeLeases()
        client.put(lease(held_by("bing", lease_duration_seconds=15)))
        calls: list[str] = []
        callbacks = LeaderCallbacks(
            on_started_leading=lambda ctx: calls.append("started"),
            on_stopped_leading=lambda: calls.append("stopped"),
            on_new_leader=lambda identity: calls.append(identity),
        )
        ctx, cancel = context.with_timeout(context.background(), 5.0)
        leaderelection.run_or_die(ctx, config_for(lease_lock(client), callbacks=callbacks))
        cancel()
        assert sorted(calls) == ["bing", "stopped"]


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit("boom")], ids=lambda error: type(error).__name__)
def test_work_that_raises_ends_the_term(error, caplog, monkeypatch):
    uncaught: list[object] = []
    monkeypatch.setattr(threading, "excepthook", uncaught.append)
    with synctest.bubble() as b:
        client = FakeLeases()

        def lead(ctx: context.Context) -> None:
            b.sleep(3.0)
            raise error

        callbacks = LeaderCallbacks(on_started_leading=lead, on_stopped_leading=nothing)
        config = config_for(lease_lock(client), callbacks=callbacks, release_on_cancel=True)
        leaderelection.run_or_die(context.background(), config)
        assert b.elapsed == pytest.approx(3.0)
        assert client.stored("bar").spec.holder_identity == ""
    assert "boom" in caplog.text
    assert uncaught == [], "the crash is logged once"


def test_an_error_of_on_stopped_leading_is_logged_and_not_raised(caplog):
    def fail() -> None:
        raise ValueError("boom")

    with synctest.bubble():
        ctx, cancel = context.with_timeout(context.background(), 5.0)
        callbacks = LeaderCallbacks(on_started_leading=nothing, on_stopped_leading=fail)
        leaderelection.run_or_die(ctx, config_for(lease_lock(FakeLeases()), callbacks=callbacks))
        cancel()
    assert "boom" in caplog.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lock": None}, "Lock must not be nil."),
        (
            {"callbacks": LeaderCallbacks(on_stopped_leading=nothing)},
            "OnStartedLeading callback must not be nil",
        ),
        (
            {"callbacks": LeaderCallbacks(on_started_leading=nothing)},
            "OnStoppedLeading callback must not be nil",
        ),
        ({"lease_duration": 10.0}, "leaseDuration must be greater than renewDeadline"),
        ({"retry_period": 8.4}, "renewDeadline must be greater than retryPeriod*JitterFactor"),
        (
            {"lease_duration": 0.0, "renew_deadline": -1.0, "retry_period": -2.0},
            "leaseDuration must be greater than zero",
        ),
        (
            {"lease_duration": 1e-9, "renew_deadline": 0.0, "retry_period": -1.0},
            "renewDeadline must be greater than zero",
        ),
        ({"renew_deadline": 0.0, "retry_period": -1.0}, "renewDeadline must be greater than zero"),
        # A nanosecond is more than nothing.
        ({"renew_deadline": 1e-9, "retry_period": 0.0}, "retryPeriod must be greater than zero"),
    ],
)
def test_configuration_is_checked(change, message):
    """Go: TestLeaderElectionConfigValidation."""
    config = config_for(lease_lock(FakeLeases()))
    for name, value in change.items():
        setattr(config, name, value)
    with pytest.raises(ValueError) as caught:
        leaderelection.run_or_die(context.background(), config)
    assert str(caught.value) == message


@pytest.mark.parametrize("retry_period", [8.3, 1e-9])
def test_the_longest_and_the_shortest_retry_period_are_valid(retry_period):
    """10 s of deadline are just more than 1.2 times 8.3 s."""
    leaderelection.new_leader_elector(config_for(lease_lock(FakeLeases()), retry_period=retry_period))


class Election:
    """Candidates on one record, each cut off from it for some (start, seconds); knows who works at any time."""

    def __init__(self, b: synctest.Bubble, outages: list[list[tuple[int, int]]]) -> None:
        self.b = b
        self.shared = SharedRecord()
        self.working: list[str] = []
        self.terms: list[tuple[float, str]] = []
        self.cut_off: set[str] = set()
        self.most_at_once = 0
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.threads = [
            threading.Thread(target=self.candidate, args=(f"c{i}", cuts), name=f"c{i}")
            for i, cuts in enumerate(outages)
        ]

    def candidate(self, identity: str, outages: list[tuple[int, int]]) -> None:
        def fault(op: str, ctx: context.Context) -> None:
            now = self.b.elapsed
            if identity in self.cut_off or any(start <= now < start + length for start, length in outages):
                raise RuntimeError("no network")

        def lead(ctx: context.Context) -> None:
            self.working.append(identity)
            self.terms.append((self.b.elapsed, identity))
            self.most_at_once = max(self.most_at_once, len(self.working))
            ctx.done().wait()
            self.working.remove(identity)

        while not self.ctx.done().is_set():
            lock = RecordingLock(identity, self.shared, lambda record: None)
            lock.before = fault
            callbacks = LeaderCallbacks(on_started_leading=lead, on_stopped_leading=nothing)
            leaderelection.run_or_die(self.ctx, config_for(lock, callbacks=callbacks))

    def run(self, seconds: float) -> None:
        for thread in self.threads:
            thread.start()
        self.b.sleep(seconds)
        leaders = list(self.working)
        self.cancel()
        for thread in self.threads:
            thread.join()
        assert not self.working
        self.leaders_at_the_end = leaders


@given(
    outages=st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=2), min_size=2, max_size=3),
    schedule=synctest.schedules(),
)
def test_never_two_leaders(outages, schedule):
    """With any failures, at most one candidate works at a time, and finally one does."""

    def scenario() -> None:
        current = synctest.current()
        assert current is not None
        election = Election(current, outages)
        election.run(120.0)
        assert election.most_at_once == 1, election.terms
        assert len(election.leaders_at_the_end) == 1, election.terms

    synctest.run(scenario, schedule=schedule)


def test_the_next_leader_comes_within_lease_duration_and_retry_period():
    with synctest.bubble() as b:
        election = Election(b, [[], []])
        for thread in election.threads:
            thread.start()
        b.sleep(30.0)
        (first,) = election.working
        election.cut_off.add(first)
        b.sleep(12.5)  # its last renewal, a retry period until the next try, and the renew deadline
        assert election.working == [], "the leader gives up before its lease ends"
        # The others see the last renewal up to one try late, and take the lease at the first try after its end. A try
        # comes 1 to 2.2 retry periods after the one before.
        b.sleep(15.0 + 2 * (2.2 * 2.0) - 12.5)
        assert election.working and election.working != [first]
        election.cut_off.clear()
        b.sleep(60.0)
        assert len(election.terms) == 2, "whoever comes back does not take over from a leader that renews"
        election.cancel()
        for thread in election.threads:
            thread.join()


class Term:
    """One elector leading over a record, in a bubble; what its lock and its work do is up to the test."""

    def __init__(self, b: synctest.Bubble, **more: Any) -> None:
        self.b = b
        self.shared = SharedRecord()
        self.lock = RecordingLock("me", self.shared, lambda record: None)
        self.log: list[tuple[float, str]] = []
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.wind_down = 0.0
        callbacks = LeaderCallbacks(on_started_leading=self.work, on_stopped_leading=lambda: self.note("stopped"))
        self.elector = leaderelection.new_leader_elector(config_for(self.lock, callbacks=callbacks, **more))
        self.lock.before = lambda op, ctx: None
        self.thread = threading.Thread(target=lambda: self.elector.run(self.ctx), name="elector")
        self.thread.start()
        b.wait()

    def note(self, text: str) -> None:
        self.log.append((round(self.b.elapsed, 3), text))

    def work(self, ctx: context.Context) -> None:
        ctx.done().wait()
        self.note("work is told")
        self.b.sleep(self.wind_down)
        self.note("work has ended")

    def note_releases(self) -> None:
        write = self.lock.update

        def update(ctx: context.Context, ler: rl.LeaderElectionRecord) -> None:
            write(ctx, ler)
            if not ler.holder_identity:
                self.note("released")

        self.lock.update = update  # type: ignore[method-assign]

    def end(self) -> None:
        self.cancel()
        self.thread.join()


def test_the_release_goes_out_when_the_work_has_ended():
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        term.wind_down = 1.5
        term.note_releases()
        b.sleep(5.0)
        term.end()
        assert term.log == [(5.0, "work is told"), (6.5, "work has ended"), (6.5, "released"), (6.5, "stopped")]


def test_work_that_does_not_end_keeps_its_lease(caplog):
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        term.wind_down = 60.0
        term.note_releases()
        b.sleep(5.0)
        term.end()
        assert [text for _, text in term.log] == ["work is told", "stopped", "work has ended"]
        assert term.log[1][0] == 19.0, "the lease of the last renewal, at 4.0, ends then"
        assert "Lease is not released, since the work has not ended" in caplog.text
        assert term.shared.record is not None and term.shared.record.holder_identity == "me"


@pytest.mark.parametrize("hangs_from", ["renewal", "release"])
def test_a_server_that_hangs_costs_no_work_beyond_the_lease(hangs_from):
    """The last renewal was begun at 4.0: at 19.0 others may come, and by then everybody has been told."""
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)

        def hang(op: str, ctx: context.Context) -> None:
            ctx.done().wait()
            raise RuntimeError("no answer")

        b.sleep(5.0)
        term.lock.before = hang
        if hangs_from == "release":
            term.cancel()
        term.thread.join()
        assert [text for _, text in term.log] == ["work is told", "work has ended", "stopped"]
        assert term.log[0][0] == (5.0 if hangs_from == "release" else 16.0)
        assert term.log[-1][0] <= 19.0
        term.end()


def test_lost_answers_admit_no_second_leader_while_work_continues():
    """The server makes every write and no answer comes back, at last that to the release."""
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        written = term.lock.update

        def lose(ctx: context.Context, ler: rl.LeaderElectionRecord) -> None:
            with contextlib.suppress(Exception):
                written(ctx, ler)
            if not ler.holder_identity:
                term.note("released")
            raise RuntimeError("connection reset")

        b.sleep(5.0)
        term.lock.update = lose  # type: ignore[method-assign]
        term.cancel()
        term.thread.join()
        assert [text for _, text in term.log] == ["work is told", "work has ended", "released", "stopped"]


@pytest.mark.parametrize("begins", ["free", "unheld"])
def test_a_lock_taken_by_the_write_that_the_end_cut_short_is_released(begins):
    """The server makes the write, but its response arrives after the end."""
    with synctest.bubble():
        shared = SharedRecord()
        if begins == "unheld":
            shared.write(rl.LeaderElectionRecord(holder_identity="", lease_duration_seconds=1))
        lock = RecordingLock("me", shared, lambda record: None)
        ctx, cancel = context.with_cancel(context.background())
        made = {"create": lock.create, "update": lock.update}

        def cut_short(verb: str, request: context.Context, ler: rl.LeaderElectionRecord) -> None:
            made[verb](request, ler)
            if ler.holder_identity:
                cancel()
                raise RuntimeError("context canceled")

        lock.create = lambda *more: cut_short("create", *more)  # type: ignore[method-assign]
        lock.update = lambda *more: cut_short("update", *more)  # type: ignore[method-assign]
        leading: list[object] = []
        callbacks = LeaderCallbacks(on_started_leading=leading.append, on_stopped_leading=nothing)
        leaderelection.run_or_die(ctx, config_for(lock, callbacks=callbacks, release_on_cancel=True))
        assert shared.record is not None and shared.record.holder_identity == ""
        assert leading == []


def test_a_lock_that_cannot_be_read_after_a_cut_short_write_stays_and_is_logged(caplog):
    with synctest.bubble():
        shared = SharedRecord()
        lock = RecordingLock("me", shared, lambda record: None)
        ctx, cancel = context.with_cancel(context.background())
        create = lock.create

        def cut_short(request: context.Context, ler: rl.LeaderElectionRecord) -> None:
            create(request, ler)
            lock.fail["get"] = 1
            cancel()
            raise RuntimeError("context canceled")

        lock.create = cut_short  # type: ignore[method-assign]
        leaderelection.run_or_die(ctx, config_for(lock, release_on_cancel=True))
        assert shared.record is not None and shared.record.holder_identity == "me"
    lines = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert [line.partition(" err=")[0] for line in lines] == [
        '"Error initially creating lease lock"',
        '"Error retrieving lease lock"',
    ]


def test_the_end_of_a_candidate_that_took_nothing_asks_for_nothing():
    with synctest.bubble() as b:
        shared = SharedRecord()
        shared.write(held_by("other", lease_duration_seconds=15))
        lock = RecordingLock("me", shared, lambda record: None)
        ctx, cancel = context.with_timeout(context.background(), 1.0)
        leaderelection.run_or_die(ctx, config_for(lock, release_on_cancel=True))
        cancel()
        assert [op["op"] for op in lock.ops] == ["get"]
        assert b.elapsed == 1.0


@pytest.mark.parametrize("comes_through_as", ["me", "other"])
def test_a_write_that_comes_between_looking_and_releasing_is_seen(comes_through_as):
    """Go: none; its release fails with a conflict, and the lock stays held."""
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        b.sleep(5.0)
        late = [held_by(comes_through_as, lease_duration_seconds=15)]

        def come_through(op: str, ctx: context.Context) -> None:
            if op == "update" and late:
                term.shared.write(late.pop())

        term.lock.before = come_through
        term.end()
        assert term.shared.record is not None
        assert term.shared.record.holder_identity == ("" if comes_through_as == "me" else "other")


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("connection reset"),
        errors.new_internal_error(RuntimeError("boom")),
        errors.new_already_exists(coordinationv1.resource("leases"), "bar"),
    ],
    ids=["network", "server", "already exists"],
)
def test_a_release_whose_update_fails_is_tried_once_without_a_conflict(error):
    """Go: LeaderElector.release; a conflict is another case, see above."""
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        b.sleep(5.0)
        tried: list[str] = []

        def fail(op: str, ctx: context.Context) -> None:
            tried.append(op)
            if op == "update":
                raise error

        term.lock.before = fail
        term.end()
        assert tried == ["get", "update"]
        assert term.shared.record is not None and term.shared.record.holder_identity == "me"


def test_a_second_conflict_ends_the_release_and_is_logged(caplog):
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        b.sleep(5.0)
        tried: list[str] = []

        def write_before(op: str, ctx: context.Context) -> None:
            tried.append(op)
            if op == "update":
                term.shared.write(held_by("me", lease_duration_seconds=15))

        term.lock.before = write_before
        term.end()
    assert tried == ["get", "update", "get", "update"]
    assert "Failed to release lease" in caplog.text


HANG = "Leader election cannot end: a callback still runs although the context is done"


def hangs(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if HANG in record.getMessage()]


@pytest.mark.parametrize("release_on_cancel", [False, True])
@pytest.mark.parametrize(
    ("callback", "thread"),
    [
        ("on_started_leading", "leader-election-leading"),
        ("on_new_leader", "leader-election-new-leader"),
        ("on_stopped_leading", "elector"),
    ],
)
def test_a_callback_that_ignores_its_context_is_logged_once_after_ten_seconds(
    caplog, callback, thread, release_on_cancel
):
    with synctest.bubble() as b:
        go_on = Signal()

        def ignore_the_context(*_: object) -> None:
            go_on.wait()

        settings = {
            "on_started_leading": nothing,
            "on_stopped_leading": nothing,
            callback: ignore_the_context,
        }
        lock = RecordingLock("me", SharedRecord(), lambda record: None)
        config = config_for(lock, callbacks=LeaderCallbacks(**settings), release_on_cancel=release_on_cancel)
        elector = leaderelection.new_leader_elector(config)
        ctx, cancel = context.with_cancel(context.background())
        running = threading.Thread(target=lambda: elector.run(ctx), name="elector")
        with caplog.at_level("INFO"):
            running.start()
            b.sleep(60.0)
            assert hangs(caplog) == []
            cancel()
            b.sleep(9.9)
            assert hangs(caplog) == []
            b.sleep(0.2)
            [line] = hangs(caplog)
            assert "ignore_the_context" in line
            assert f'thread="{thread}"' in line
            # Only the work is called with a context.
            has_context = callback == "on_started_leading"
            assert ("when ctx.done() is set" if has_context else "it gets no context: let it never wait") in line
            b.sleep(600.0)
            assert running.is_alive()
            assert len(hangs(caplog)) == 1
            go_on.set()
            running.join()


def test_a_lost_lease_too_starts_the_ten_seconds(caplog):
    with synctest.bubble() as b:
        term = Term(b)
        term.wind_down = 11.0
        b.sleep(5.0)
        term.shared.write(held_by("other", lease_duration_seconds=15))
        with caplog.at_level("INFO"):
            term.thread.join()
        assert len(hangs(caplog)) == 1


def test_a_candidate_that_never_led_logs_a_callback_that_does_not_end(caplog):
    with synctest.bubble() as b:
        go_on = Signal()
        client = FakeLeases()
        client.put(lease(held_by("bing", lease_duration_seconds=15)))
        callbacks = LeaderCallbacks(
            on_started_leading=nothing, on_stopped_leading=nothing, on_new_leader=lambda identity: go_on.wait()
        )
        ctx, cancel = context.with_timeout(context.background(), 5.0)
        config = config_for(lease_lock(client), callbacks=callbacks)
        running = threading.Thread(target=lambda: leaderelection.run_or_die(ctx, config), name="elector")
        with caplog.at_level("INFO"):
            running.start()
            b.sleep(14.9)
            assert hangs(caplog) == []
            b.sleep(0.2)
            assert len(hangs(caplog)) == 1
        go_on.set()
        running.join()
        cancel()


def test_a_duration_that_is_left_out_is_zero_and_so_refused():
    callbacks = LeaderCallbacks(on_started_leading=nothing, on_stopped_leading=nothing)
    config = LeaderElectionConfig(lock=lease_lock(FakeLeases()), callbacks=callbacks)
    assert (config.lease_duration, config.renew_deadline, config.retry_period) == (0.0, 0.0, 0.0)
    assert (config.release_on_cancel, config.coordinated) == (False, False)
    with pytest.raises(ValueError, match="leaseDuration must be greater than renewDeadline"):
        leaderelection.run_or_die(context.background(), config)


def test_work_that_ends_in_time_is_not_logged(caplog):
    with synctest.bubble() as b:
        term = Term(b, release_on_cancel=True)
        term.wind_down = 9.5
        b.sleep(5.0)
        with caplog.at_level("INFO"):
            term.end()
            b.sleep(60.0)
        assert hangs(caplog) == []


def test_a_leader_that_sees_another_holder_stops_at_once():
    with synctest.bubble() as b:
        term = Term(b)
        b.sleep(5.0)
        term.shared.write(held_by("other", lease_duration_seconds=15))
        b.sleep(1.0)
        b.wait()
        assert sorted(term.log) == [(6.0, "stopped"), (6.0, "work has ended"), (6.0, "work is told")]
        assert term.elector.get_leader() == "other"
        assert not term.elector.holds_lease()
        term.end()


def test_a_lease_that_ends_before_the_deadline_ends_the_term():
    """These three durations are allowed, and a deadline that begins with each try would outlast the lease by 9 s."""
    with synctest.bubble() as b:
        term = Term(b, lease_duration=15.0, renew_deadline=14.0, retry_period=10.0)
        term.lock.fail.update(get=100, update=100)
        b.sleep(5.0)
        assert [text for _, text in term.log] == []
        b.sleep(20.0)
        assert [at for at, _ in term.log] == [15.0, 15.0, 15.0]
        term.end()


def test_an_answer_that_comes_when_the_lease_has_ended_makes_no_leader():
    with synctest.bubble() as b:
        shared, led = SharedRecord(), []
        lock = RecordingLock("me", shared, lambda record: None)
        late = [20.0]
        lock.before = lambda op, ctx: b.sleep(late.pop()) if op == "create" and late else None
        callbacks = LeaderCallbacks(on_started_leading=lambda ctx: led.append(b.elapsed), on_stopped_leading=nothing)
        elector = leaderelection.new_leader_elector(config_for(lock, callbacks=callbacks))
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=lambda: elector.run(ctx), name="elector")
        thread.start()
        b.sleep(60.0)
        assert len(led) == 1 and led[0] > 20.0, "led by the renewal, not by the answer that was late"
        cancel()
        thread.join()


def test_the_fencing_check_asks_the_clock():
    with synctest.bubble() as b:
        term = Term(b)
        b.sleep(5.0)
        assert term.elector.holds_lease() and term.elector.holds_lease(margin=13.9)
        assert not term.elector.holds_lease(margin=14.1), "renewed at 4.0"
        term.lock.fail.update(get=100, update=100)
        b.sleep(30.0)
        assert term.elector.is_leader(), "Go's: the name in the record seen last"
        assert not term.elector.holds_lease()
        term.end()


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_the_fencing_check_counts_the_sleep_of_the_computer(seconds, monkeypatch):
    """The monotonic clock stands still meanwhile; a clock put back makes no lease longer."""
    elector = LeaderElector(config_for(lease_lock(FakeLeases())))
    assert elector._try_acquire_or_renew(context.background())
    assert elector.holds_lease()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    assert elector.holds_lease() == (seconds < 0)
    assert elector.holds_lease(margin=16.0) is False


def test_a_lease_counts_until_its_last_moment():
    clock = FakeClock(START)
    elector = LeaderElector(config_for(lease_lock(FakeLeases())), clock)
    assert elector._try_acquire_or_renew(context.background())
    clock.step(14.5)
    assert elector.holds_lease()
    clock.step(0.5)
    assert not elector.holds_lease()


def test_another_holders_lease_counts_from_the_moment_that_the_caller_saw_it():
    client, clock = FakeLeases(), FakeClock(START)
    record = held_by("bing", lease_duration_seconds=15)
    client.put(lease(record))
    elector = LeaderElector(config_for(lease_lock(client)), clock)
    elector.continue_observation(record, record.to_json(), START - 10.0)
    assert elector.get_leader() == "bing"
    clock.step(4.5)
    assert not elector._try_acquire_or_renew(context.background())
    clock.step(1.0)
    assert elector._try_acquire_or_renew(context.background())


def test_an_observation_of_its_own_lease_is_ignored():
    """Only a write of this elector makes it the leader."""
    elector = LeaderElector(config_for(lease_lock(FakeLeases())), FakeClock(START))
    record = held_by(elector.identity(), lease_duration_seconds=15)
    elector.continue_observation(record, record.to_json(), START)
    assert (elector.identity(), elector.get_leader(), elector.is_leader()) == ("baz", "", False)


def test_an_elector_shows_its_identity_its_lock_and_the_leader():
    elector = LeaderElector(config_for(lease_lock(FakeLeases())))
    assert elector._try_acquire_or_renew(context.background())
    assert repr(elector) == "<LeaderElector baz on foo/bar, leader 'baz'>"


def test_a_lease_of_a_part_of_a_second_is_rounded_up():
    client = FakeLeases()
    elector = LeaderElector(config_for(lease_lock(client), lease_duration=1.5), FakeClock(START))
    assert elector._try_acquire_or_renew(context.background())
    assert client.stored("bar").spec.lease_duration_seconds == 2


def test_statistics_count_renewals_and_failures():
    with synctest.bubble() as b:
        term = Term(b)
        b.sleep(5.0)
        statistics = term.elector.statistics()
        assert statistics[:4] == (1, 4, 0, "me"), "acquired and renewed at 0, renewed at 2 and 4"
        assert statistics.lease_left == pytest.approx(14.0)
        term.lock.fail.update(get=1, update=2)
        b.sleep(2.0)
        assert term.elector.statistics().failed_tries == 1
        term.end()
        assert term.elector.statistics().terms == 1
