"""The sample-controller's -leader-elect: its flags, and when work begins, ends, and may be taken over by another."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import samplecontroller  # noqa: F401  # makes the controller's own packages importable
from fakeleases import FakeLeases

import election
from clientgo import context, klog, rest
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.testing import synctest
from clientgo.tools.leaderelection import resourcelock
from main import parse_flags

FLAGS = parse_flags(["-leader-elect"])


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

    def __init__(self, leases: FakeLeases, identity: str, seconds_to_stop: float = 0.0) -> None:
        self.did: list[str] = []
        self.raised: Exception | None = None
        self._seconds_to_stop = seconds_to_stop
        self._lock = lock(leases, identity)
        self._ctx, self.stop = context.with_cancel(context.background())
        self._thread = threading.Thread(target=self._main, name=identity)
        self._thread.start()

    def _main(self) -> None:
        try:
            election.run_while_leading(
                self._ctx, self._lock, FLAGS, self._work, exit=lambda code: self.did.append(f"exit {code}")
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


@pytest.mark.parametrize(
    ("arguments", "elects"),
    [
        ([], False),
        (["-leader-elect"], True),
        (["--leader-elect=true"], True),
        (["-leader-elect=false", "-v=4"], False),
        (["-leader-elect=TRUE"], True),
        (["-leader-elect", "-v=4"], True),
    ],
)
def test_the_flag_is_written_as_in_go(arguments: list[str], elects: bool) -> None:
    assert parse_flags(arguments).leader_elect is elects


def test_the_defaults_are_those_of_the_components_of_kubernetes() -> None:
    flags = parse_flags([])
    durations = (flags.leader_elect_lease_duration, flags.leader_elect_renew_deadline, flags.leader_elect_retry_period)
    assert durations == (15.0, 10.0, 2.0)
    assert parse_flags(["-leader-elect-retry-period=1m500ms"]).leader_elect_retry_period == 60.5


@pytest.mark.parametrize(
    "argument", ["-leader-elect=maybe", "-leader-elect=tRUE", "-leader-elect-retry-period=2", "-leader-elec"]
)
def test_what_makes_no_sense_is_refused(argument: str) -> None:
    with pytest.raises(SystemExit) as refused:
        parse_flags([argument])
    assert refused.value.code == 2


def test_only_leases_are_locked() -> None:
    config = rest.Config(host="http://127.0.0.1:1")
    assert election.lock_for_config(config, FLAGS).describe() == "default/sample-controller"
    flags = parse_flags(["-leader-elect", "-leader-elect-resource-lock=endpoints"])
    with pytest.raises(ValueError, match="endpoints lock is removed, migrate to leases"):
        election.lock_for_config(config, flags)


def test_durations_that_make_no_sense_are_refused_before_anything_is_asked() -> None:
    flags = argparse.Namespace(**{**vars(FLAGS), "leader_elect_renew_deadline": 20.0})
    leases = FakeLeases()
    with pytest.raises(ValueError, match="leaseDuration must be greater than renewDeadline"):
        election.run_while_leading(context.background(), lock(leases, "a"), flags, lambda ctx: None)
    assert leases.calls == []


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
        bubble.sleep(FLAGS.leader_elect_retry_period * 2.2)
        assert (second.did, holder()) == (["working"], "second")
        second.stop()
        second.join()
        assert holder() == ""


def test_what_the_work_raises_comes_out_and_the_lease_is_free() -> None:
    with cluster() as (_, leases, holder):

        def fail(ctx: Context) -> None:
            raise RuntimeError("failed to wait for caches to sync")

        with pytest.raises(RuntimeError, match="failed to wait for caches to sync"):
            election.run_while_leading(context.background(), lock(leases, "a"), FLAGS, fail)
        assert holder() == ""
