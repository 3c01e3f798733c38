"""Three processes stand for election on a real server; the leader dies, freezes, or loses the network."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cuttable
import pytest
from processes import Program, eventually, post_mortem, python

from clientgo import context, kubernetes
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools import watch
from clientgo.tools.cache import ListWatch
from clientgo.utils.clock import REAL_CLOCK

CANDIDATE = Path(cuttable.__file__).with_name("leader_candidate.py")
LEASE, DEADLINE, PERIOD = 3.0, 2.0, 0.4
# The next leader's last look may have come just before the lease ended; the rest is for a slow machine.
TAKEOVER = LEASE + PERIOD * 2.2
SLACK = 10.0


class History:
    """Every state the Lease has had, in order, as a watch from the beginning shows them."""

    def __init__(self, env: Environment, leases: Any) -> None:
        self._lock = threading.Lock()
        self.states: list[tuple[str, datetime, datetime]] = []
        self._ctx, self._cancel = context.with_cancel(context.background())
        start = leases.list(self._ctx, metav1.ListOptions()).get_resource_version()
        client = ListWatch(watch_func_with_context=lambda ctx, options: leases.watch(ctx, options))
        self._watcher = watch.new_retry_watcher_with_context(self._ctx, start, client)
        self._thread = threading.Thread(target=self._read, name="lease history", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for event in self._watcher.result_chan():
            spec = event.object.spec
            with self._lock:
                self.states.append((spec.holder_identity, spec.acquire_time, spec.renew_time))

    def leader(self) -> str:
        with self._lock:
            return self.states[-1][0] if self.states else ""

    def stop(self) -> None:
        self._cancel()
        self._watcher.done().wait()
        self._thread.join()

    def check_one_leader_at_a_time(self) -> None:
        """Check that each holder got the lock after the lease before had ended or was released."""
        for (before, _, renewed), (after, acquired, _) in zip(self.states, self.states[1:]):
            if before and after and after != before:
                gap = acquired - renewed
                assert gap >= timedelta(seconds=LEASE) - timedelta(milliseconds=1), (before, after, gap)


class Contest:
    """Three candidates, each on a network of its own."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.env = stack.enter_context(Environment())
        self.leases = kubernetes.new_for_config(self.env.config).coordination_v1().leases("default")
        self.history = History(self.env, self.leases)
        stack.callback(self.history.stop)
        host, _, port = self.env.url.removeprefix("http://").rpartition(":")
        self.networks = {f"c{i}": stack.enter_context(cuttable.CuttableProxy((host, int(port)))) for i in range(3)}
        self.candidates = {name: stack.enter_context(self._start(name)) for name in self.networks}

    def _start(self, name: str) -> Program:
        durations = [str(seconds) for seconds in (LEASE, DEADLINE, PERIOD)]
        return python(CANDIDATE, name, self.networks[name].url, self.env.token, "default", "lock", *durations)

    def leader(self) -> str:
        with post_mortem(self.candidates.values(), lambda: self.history.states):
            return str(eventually("a leader", self.history.leader))

    def next_leader(self, former: str) -> str:
        def other() -> str:
            leader = self.history.leader()
            return leader if leader != former else ""

        with post_mortem(self.candidates.values(), lambda: self.history.states):
            return str(eventually("the next leader", other, TAKEOVER + SLACK))


@pytest.fixture
def contest() -> Iterator[Contest]:
    with contextlib.ExitStack() as stack:
        yield Contest(stack)


@pytest.mark.parametrize("failure", ["killed", "frozen", "cut off"])
def test_the_next_leader_takes_over(contest, failure):
    first = contest.leader()
    contest.candidates[first].wait_for("^leading$")
    lost_at = REAL_CLOCK.now()
    if failure == "killed":
        contest.candidates[first].send(signal.SIGKILL)
    elif failure == "frozen":
        contest.candidates[first].send(signal.SIGSTOP)
    else:
        contest.networks[first].cut()

    second = contest.next_leader(first)
    assert REAL_CLOCK.since(lost_at) < TAKEOVER + SLACK
    contest.candidates[second].wait_for("^leading$")
    if failure == "frozen":
        contest.candidates[first].send(signal.SIGCONT)
    if failure != "killed":
        # It notices by itself that it leads no more, and ends.
        contest.candidates[first].wait_for("^stopped$")
        assert contest.candidates[first].wait() == 0
        # One that wakes up late gives back the lock it thinks it holds, as Go's does (golden cases have it): then the
        # lock is free for a moment, and goes to one of the two others.
        assert eventually("a leader", contest.history.leader) != first
    contest.history.check_one_leader_at_a_time()


def test_a_leader_that_is_stopped_hands_over_at_once(contest):
    first = contest.leader()
    contest.candidates[first].wait_for("^leading$")
    assert contest.candidates[first].stop() == 0
    second = contest.next_leader(first)
    assert second in contest.candidates
    eventually("the release", lambda: "" in [holder for holder, _, _ in contest.history.states])
    contest.history.check_one_leader_at_a_time()
