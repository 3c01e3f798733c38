"""A candidate of a coordinated election creates its object and answers pings."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

from patience import PATIENCE

from clientgo import context
from clientgo.api.coordination import v1beta1 as coordinationv1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.tools import leaderelection


class Candidate:
    """A candidate running in a bubble on a fake cluster."""

    def __init__(self) -> None:
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.clientset = fake.new_clientset()
        self.candidate, self.waiter = leaderelection.new_candidate(
            self.clientset, "default", "foo", "lease", "1.30.0", "1.30.0", "OldestEmulationVersion"
        )
        self.thread = threading.Thread(target=self.candidate.run, args=(self.ctx,), name="candidate")
        self.thread.start()

    def stored(self) -> coordinationv1beta1.LeaseCandidate:
        candidates = self.clientset.coordination_v1beta1().lease_candidates("default")
        return candidates.get(context.background(), "foo", metav1.GetOptions())

    def stop(self) -> None:
        self.cancel()
        self.thread.join()


def test_creation():
    """Go: TestLeaseCandidateCreation."""
    with synctest.bubble() as b:
        candidate = Candidate()
        b.sleep(1.0)
        assert all(candidate.waiter.wait_for_cache_sync(candidate.ctx.done()).values())
        spec = candidate.stored().spec
        candidate.stop()
    assert (spec.lease_name, spec.binary_version, spec.emulation_version) == ("lease", "1.30.0", "1.30.0")
    assert spec.strategy == "OldestEmulationVersion"
    assert spec.renew_time is not None


def test_ack():
    """Go: TestLeaseCandidateAck."""
    with synctest.bubble() as b:
        candidate = Candidate()
        b.sleep(60.0)
        pinged = candidate.stored()
        created = pinged.spec.renew_time
        assert created is not None
        pinged.spec.ping_time = created + timedelta(seconds=50)
        candidate.clientset.coordination_v1beta1().lease_candidates("default").update(
            context.background(), pinged, metav1.UpdateOptions()
        )
        b.sleep(1.0)
        renewed = candidate.stored().spec.renew_time
        assert renewed is not None
        assert renewed >= pinged.spec.ping_time
        assert b.elapsed == 61.0
        b.sleep(238.0)
        assert candidate.stored().spec.renew_time == renewed
        b.sleep(2.0)
        again = candidate.stored().spec.renew_time
        candidate.stop()
    assert again is not None
    assert again > renewed, "renewed every five minutes without a ping"


def test_a_ping_that_is_answered_already_renews_nothing():
    with synctest.bubble() as b:
        candidate = Candidate()
        b.sleep(60.0)
        pinged = candidate.stored()
        created = pinged.spec.ping_time = pinged.spec.renew_time
        candidate.clientset.coordination_v1beta1().lease_candidates("default").update(
            context.background(), pinged, metav1.UpdateOptions()
        )
        b.sleep(1.0)
        renewed = candidate.stored().spec.renew_time
        candidate.stop()
    assert renewed == created


def test_a_failing_server_is_asked_again(caplog):
    with synctest.bubble() as b:
        failures = [RuntimeError("down"), RuntimeError("down")]
        clientset = fake.new_clientset()
        candidate, _ = leaderelection.new_candidate(clientset, "default", "foo", "lease", "1", "1", "")

        def react(action: object) -> tuple[bool, None]:
            if failures:
                raise failures.pop()
            return False, None

        clientset.prepend_reactor("create", "leasecandidates", react)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=candidate.run, args=(ctx,), name="candidate")
        thread.start()
        b.sleep(5.0)
        stored = clientset.coordination_v1beta1().lease_candidates("default").get(ctx, "foo", metav1.GetOptions())
        cancel()
        thread.join()
    assert stored.get_name() == "foo"
    assert caplog.text.count("Ensuring lease failed") == 2


def test_run_returns_once_the_renewal_that_it_is_in_has_ended():
    with synctest.bubble() as b:
        order: list[str] = []
        clientset = fake.new_clientset()
        candidate, _ = leaderelection.new_candidate(clientset, "default", "foo", "lease", "1", "1", "")

        def slow(action: object) -> tuple[bool, None]:
            time.sleep(30.0)
            order.append("renewed")
            return False, None

        clientset.prepend_reactor("create", "leasecandidates", slow)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=lambda: (candidate.run(ctx), order.append("returned")), name="candidate")
        thread.start()
        b.sleep(10.0)
        cancel()
        thread.join()
    assert order == ["renewed", "returned"]


def test_the_worker_keeps_no_interpreter_alive():
    clientset = fake.new_clientset()
    candidate, _ = leaderelection.new_candidate(clientset, "default", "foo", "lease", "1", "1", "")
    ctx, cancel = context.with_cancel(context.background())
    runs = threading.Event()
    daemons: list[bool] = []

    def created(action: object) -> tuple[bool, None]:
        daemons.append(threading.current_thread().daemon)
        runs.set()
        return False, None

    clientset.prepend_reactor("create", "leasecandidates", created)
    thread = threading.Thread(target=candidate.run, args=(ctx,), name="candidate")
    thread.start()
    assert runs.wait(PATIENCE)
    cancel()
    thread.join()
    assert daemons == [True]


def test_cancelled_before_the_informer_has_synced():
    with synctest.bubble():
        ctx, cancel = context.with_cancel(context.background())
        cancel()
        clientset = fake.new_clientset()
        candidate, _ = leaderelection.new_candidate(clientset, "default", "foo", "lease", "1", "1", "")
        candidate.run(ctx)
    assert not [action for action in clientset.actions() if action.get_verb() == "create"]
    assert repr(candidate) == "<LeaseCandidate default/foo for lease>"


def test_only_the_candidates_own_object_is_listed_and_watched():
    with synctest.bubble() as b:
        candidate = Candidate()
        b.sleep(1.0)
        candidate.stop()
        actions = candidate.clientset.actions()
    selectors = {
        action.get_verb(): str(
            action.get_list_restrictions().fields
            if action.get_verb() == "list"
            else action.get_watch_restrictions().fields
        )
        for action in actions
        if action.get_verb() in ("list", "watch")
    }
    assert selectors and set(selectors.values()) == {"metadata.name=foo"}


def test_the_informer_has_ended_when_the_candidate_has(monkeypatch):
    with synctest.bubble() as b:
        candidate = Candidate()
        b.sleep(1.0)
        shut_down = []
        shutdown = candidate.waiter.shutdown
        monkeypatch.setattr(candidate.waiter, "shutdown", lambda: shut_down.append(shutdown()))
        candidate.stop()
        assert shut_down == [None]
