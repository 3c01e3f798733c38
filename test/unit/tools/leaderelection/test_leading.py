"""run_while_leading: when work begins and ends, and when another candidate may take over, in virtual time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from fakeleases import FakeLeases

from clientgo import context, klog, rest
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing import synctest
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock


@pytest.fixture(autouse=True)
def same_verbosity() -> Iterator[None]:
    """Restore the process's verbosity, since other tests read the log."""
    before = klog.verbosity()
    yield
    klog.set_verbosity(before)


def lock(leases: FakeLeases, identity: str) -> resourcelock.LeaseLock:
    name = metav1.ObjectMeta(namespace="default", name="sample-controller")
    return resourcelock.LeaseLock(name, leases, resourcelock.ResourceLockConfig(identity=identity))


class Replica:
    """One process's main: what it did, in order, and the code it ended with."""

    def __init__(
        self,
        leases: FakeLeases,
        identity: str,
        seconds_to_stop: float = 0.0,
        watch_dog: leaderelection.HealthzAdaptor | None = None,
    ) -> None:
        self.did: list[str] = []
        self.raised: Exception | None = None
        self._seconds_to_stop = seconds_to_stop
        self._watch_dog = watch_dog
        self._lock = lock(leases, identity)
        self._ctx, self.stop = context.with_cancel(context.background())
        self._thread = threading.Thread(target=self._main, name=identity)
        self._thread.start()

    def _main(self) -> None:
        try:
            leaderelection.run_while_leading(
                self._ctx,
                self._lock,
                self._work,
                name="the election",
                watch_dog=self._watch_dog,
                exit=lambda code: self.did.append(f"exit {code}"),
            )
        except Exception as err:
            self.raised = err
        self.did.append("returned")

    def _work(self, ctx: Context) -> None:
        self.did.append("working")
        ctx.done().wait()
        if self._seconds_to_stop:
            context.sleep(context.background(), self._seconds_to_stop)
        self.did.append("stopped")

    def join(self) -> list[str]:
        self._thread.join()
        return self.did


@contextmanager
def cluster() -> Iterator[tuple[synctest.Bubble, FakeLeases, Callable[[], str]]]:
    with synctest.bubble() as bubble:
        leases = FakeLeases()

        def holder() -> str:
            lease = leases.stored("sample-controller")
            return "" if lease is None else lease.spec.holder_identity or ""

        yield bubble, leases, holder


def test_the_lock_is_a_lease_with_an_identity_of_its_own() -> None:
    config = rest.Config(host="http://127.0.0.1:1")
    first, second = (leaderelection.lease_lock(config, "default", "sample") for _ in range(2))
    assert first.describe() == "default/sample"
    assert first.identity().startswith(f"{socket.gethostname()}_")
    assert first.identity() != second.identity()
    assert leaderelection.lease_lock(config, "default", "sample", identity="me").identity() == "me"


def test_the_default_durations_are_those_of_kubernetes() -> None:
    """Go: RecommendedDefaultLeaderElectionConfiguration."""
    durations = leaderelection.LEASE_DURATION, leaderelection.RENEW_DEADLINE, leaderelection.RETRY_PERIOD
    assert durations == (15.0, 10.0, 2.0)


def test_invalid_durations_are_rejected_before_any_request() -> None:
    leases = FakeLeases()
    with pytest.raises(ValueError, match="leaseDuration must be greater than renewDeadline"):
        leaderelection.run_while_leading(context.background(), lock(leases, "a"), lambda ctx: None, renew_deadline=20.0)
    assert leases.calls == []


def test_the_watch_dog_checks_this_election() -> None:
    """It fails from 15 seconds of the lease and 5 tolerated seconds after the last renewal, while the work goes on."""
    with cluster() as (bubble, leases, _):
        watch_dog = leaderelection.new_leader_healthz_adaptor(5.0)
        replica = Replica(leases, "only", seconds_to_stop=60.0, watch_dog=watch_dog)
        bubble.sleep(1.0)
        leases.react = unreachable
        bubble.sleep(15.0)
        watch_dog.check()
        bubble.sleep(10.0)
        with pytest.raises(RuntimeError, match="failed election to renew leadership on lease the election"):
            watch_dog.check()
        replica.join()


def unreachable(verb: str, ctx: Context) -> None:
    raise ConnectionRefusedError("no network")


def test_a_replica_stands_by_until_the_leader_is_stopped() -> None:
    with cluster() as (bubble, leases, holder):
        first = Replica(leases, "first")
        bubble.sleep(1.0)
        second = Replica(leases, "second")
        bubble.sleep(100.0)
        assert (first.did, second.did, holder()) == (["working"], [], "first")

        first.stop()
        assert first.join() == ["working", "stopped", "returned"]
        assert holder() in ("", "second")
        bubble.sleep(leaderelection.RETRY_PERIOD * 2.2)
        assert (second.did, holder()) == (["working"], "second")
        second.stop()
        second.join()
        assert holder() == ""


def test_the_lease_is_given_back_only_when_the_work_has_ended() -> None:
    """A worker may be in the middle of something for longer than the lease lasts: it is renewed until then."""
    with cluster() as (bubble, leases, holder):
        first = Replica(leases, "first", seconds_to_stop=60.0)
        bubble.sleep(1.0)
        second = Replica(leases, "second")
        first.stop()
        bubble.sleep(59.0)
        assert (first.did, second.did, holder()) == (["working"], [], "first")

        bubble.sleep(10.0)
        assert first.did == ["working", "stopped", "returned"]
        assert (second.did, holder()) == (["working"], "second")
        second.stop()
        second.join()


def test_a_replica_that_stands_by_stops_without_having_worked() -> None:
    with cluster() as (bubble, leases, holder):
        first = Replica(leases, "first")
        bubble.sleep(1.0)
        second = Replica(leases, "second")
        bubble.sleep(5.0)
        second.stop()
        assert second.join() == ["returned"]
        assert holder() == "first"
        first.stop()
        first.join()


@pytest.mark.parametrize("seconds_to_stop", [0.0, 3600.0])
def test_a_leader_that_cannot_renew_exits_with_code_1_before_its_lease_ends(
    seconds_to_stop: float, caplog: pytest.LogCaptureFixture
) -> None:
    """At the moment it gives up, whether its workers are quick to end or would take an hour."""
    with cluster() as (bubble, leases, _):
        replica = Replica(leases, "first", seconds_to_stop)
        bubble.sleep(1.0)
        leases.react = unreachable
        bubble.sleep(leaderelection.LEASE_DURATION - 1.0)
        assert "exit 1" in replica.did
        assert ("stopped" in replica.did) is (seconds_to_stop == 0.0)
        assert "Leader election lost" in caplog.text
        replica.join()  # the real exit does not return


def test_a_replica_that_stands_by_logs_each_new_leader_and_a_leader_not_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="clientgo")
    with cluster() as (bubble, leases, _):
        first = Replica(leases, "first")
        bubble.sleep(1.0)
        second = Replica(leases, "second")
        bubble.sleep(5.0)
        first.stop()
        first.join()
        bubble.sleep(10.0)
        second.stop()
        second.join()
    lines = [each.getMessage() for each in caplog.records if "New leader elected" in each.getMessage()]
    assert lines == ['"New leader elected" identity="first"']


def test_the_log_is_written_before_the_process_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real exit runs no handler that could flush later."""
    with cluster() as (bubble, leases, _):
        replica = Replica(leases, "first", seconds_to_stop=3600.0)
        monkeypatch.setattr(klog, "flush", lambda: replica.did.append("flushed"))
        bubble.sleep(1.0)
        leases.react = unreachable
        bubble.sleep(leaderelection.LEASE_DURATION)
        assert replica.did == ["working", "flushed", "exit 1"]
        replica.join()


class Counting(Context):
    """A context that is not done, and counts the callbacks that are added and not removed."""

    def __init__(self) -> None:
        self.callbacks = 0

    def add_done_callback(self, fn: Callable[[], None]) -> Callable[[], bool]:
        forget = super().add_done_callback(fn)
        self.callbacks += 1

        def remove() -> bool:
            self.callbacks -= 1
            return forget()

        return remove


def test_a_context_that_outlives_the_election_keeps_nothing_of_it() -> None:
    with cluster() as (_, leases, _):
        ctx = Counting()
        during: list[int] = []
        leaderelection.run_while_leading(ctx, lock(leases, "a"), lambda working: during.append(ctx.callbacks))
        assert during[0] > 0
        assert ctx.callbacks == 0


def test_what_the_work_raises_comes_out_and_the_lease_is_free() -> None:
    with cluster() as (_, leases, holder):

        def fail(ctx: Context) -> None:
            raise RuntimeError("failed to wait for caches to sync")

        with pytest.raises(RuntimeError, match="failed to wait for caches to sync"):
            leaderelection.run_while_leading(context.background(), lock(leases, "a"), fail)
        assert holder() == ""


def test_stopping_at_any_moment_of_the_start_ends_cleanly() -> None:
    for seconds in (0.0, 0.001, 0.1):
        with cluster() as (bubble, leases, holder):
            replica = Replica(leases, "only")
            if seconds:
                bubble.sleep(seconds)
            replica.stop()
            assert replica.join() in (["returned"], ["working", "stopped", "returned"])
            assert holder() == ""
            assert replica.raised is None
