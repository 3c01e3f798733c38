"""The log lines of leader election: their texts and levels are those of Go, which users search for and alert on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from electionlock import from_ms
from fakeleases import FakeLeases

from clientgo import context, klog
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.api.coordination import v1beta1 as coordinationv1beta1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import LeaderCallbacks, LeaderElectionConfig, LeaderElector
from clientgo.tools.leaderelection import resourcelock as rl
from clientgo.utils.clock.testing import FakeClock

START = 1_600_000_000.0
BACKGROUND = context.background()


def record_of(holder: str, **more: object) -> rl.LeaderElectionRecord:
    now = from_ms(0, START)
    record = rl.LeaderElectionRecord(
        holder_identity=holder, lease_duration_seconds=15, acquire_time=now, renew_time=now
    )
    return replace(record, **more)  # type: ignore[arg-type]


class Setting:
    """An elector named "me", its server and its clock."""

    def __init__(self, coordinated: bool) -> None:
        self.client = FakeLeases()
        self.clock = FakeClock(START)
        lock = rl.LeaseLock(
            metav1.ObjectMeta(namespace="ns", name="lock"), self.client, rl.ResourceLockConfig(identity="me")
        )
        callbacks = LeaderCallbacks(on_started_leading=lambda ctx: None, on_stopped_leading=lambda: None)
        self.config = LeaderElectionConfig(
            lock=lock,
            lease_duration=15.0,
            renew_deadline=10.0,
            retry_period=2.0,
            callbacks=callbacks,
            coordinated=coordinated,
        )
        self.elector = LeaderElector(self.config, self.clock)

    def put(self, record: rl.LeaderElectionRecord) -> None:
        made = coordinationv1.Lease(metadata=metav1.ObjectMeta(namespace="ns", name="lock"))
        made.spec = rl.leader_election_record_to_lease_spec(record)
        self.client.put(made)

    def fail(self, *verbs: str) -> None:
        """Let the next call of each verb fail."""
        left = list(verbs)

        def react(verb: str, ctx: context.Context) -> None:
            if verb in left:
                left.remove(verb)
                raise ConnectionError(f"{verb} is down")

        self.client.react = react

    def attempt(self) -> bool:
        return self.elector._try(BACKGROUND)


def held_by_another(setting: Setting) -> None:
    setting.put(record_of("other"))


def led(setting: Setting) -> None:
    """Let the elector lead."""
    setting.put(record_of("me"))
    assert setting.attempt()


def no_lease(setting: Setting) -> None:
    """Leave the server empty."""


def expired(setting: Setting) -> None:
    setting.put(record_of("other"))
    assert not setting.attempt()
    setting.clock.step(16.0)


def at_end_of_term(setting: Setting) -> None:
    led(setting)
    setting.put(record_of("me", preferred_holder="other"))


UPDATE_DOWN = 'err="update is down"'


@pytest.mark.parametrize(
    ("coordinated", "given", "failing", "lines"),
    [
        (False, held_by_another, (), [(4, '"Lease is held by and has not yet expired" lock="ns/lock" holder="other"')]),
        (False, no_lease, ("get",), ['"Error retrieving lease lock" err="get is down" lock="ns/lock"']),
        (
            False,
            no_lease,
            ("create",),
            ['"Error initially creating lease lock" err="create is down" lock="ns/lock"'],
        ),
        (
            False,
            led,
            ("update",),
            [
                (
                    2,
                    '"Failed to update lease optimistically, falling back to slow path" lock="ns/lock" ' + UPDATE_DOWN,
                )
            ],
        ),
        (
            False,
            led,
            ("update", "get"),
            [
                (
                    2,
                    '"Failed to update lease optimistically, falling back to slow path" lock="ns/lock" ' + UPDATE_DOWN,
                ),
                '"Error retrieving lease lock" err="get is down" lock="ns/lock"',
            ],
        ),
        (False, expired, ("update",), [f'"Failed to update lease" {UPDATE_DOWN} lock="ns/lock"']),
        (True, no_lease, (), [(0, '"Lease lock not found" lock="ns/lock" err="leases.coordination.k8s.io')]),
        (True, no_lease, ("get",), ['"Error retrieving lease lock" err="get is down" lock="ns/lock"']),
        (True, held_by_another, (), [(6, '"Lease is held and has not yet expired" lock="ns/lock" holder="other"')]),
        (True, expired, (), [(0, '"Lease has expired" lock="ns/lock"')]),
        (True, at_end_of_term, (), [(4, '"Lease is marked as \'end of term\'" lock="ns/lock"')]),
        (True, led, ("update",), [f'"Failed to update lock" {UPDATE_DOWN} lock="ns/lock"']),
    ],
)
def test_an_attempt_logs_its_reason(
    coordinated: bool,
    given: Callable[[Setting], None],
    failing: tuple[str, ...],
    lines: list[tuple[int, str] | str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = Setting(coordinated)
    given(setting)
    setting.fail(*failing)
    caplog.set_level(1, logger="clientgo")
    caplog.clear()

    setting.attempt()

    assert_lines(caplog, lines)


def assert_lines(caplog: pytest.LogCaptureFixture, lines: list[tuple[int, str] | str]) -> None:
    """Compare the lines from leader election; a line with a verbosity is no error."""
    records = [each for each in caplog.records if each.filename.startswith("lease") or "leader" in each.filename]
    found = [(each.levelno, each.getMessage()) for each in records]
    expected = [(logging.ERROR, line) if isinstance(line, str) else (logging.INFO - line[0], line[1]) for line in lines]
    assert [level for level, _ in found] == [level for level, _ in expected], found
    for (_, text), (_, beginning) in zip(found, expected, strict=True):
        assert text.startswith(beginning)


@pytest.mark.parametrize(
    ("failing", "line"),
    [
        (("get",), '"error retrieving resource lock" err="get is down" lock="ns/lock"'),
        (("update",), f'"Failed to release lease" {UPDATE_DOWN} lock="ns/lock"'),
    ],
)
def test_a_release_that_fails_logs_its_reason(
    failing: tuple[str, ...], line: str, caplog: pytest.LogCaptureFixture
) -> None:
    setting = Setting(coordinated=False)
    led(setting)
    setting.fail(*failing)
    caplog.clear()

    assert not setting.elector._release(klog.background())

    assert_lines(caplog, [line])


def test_a_release_without_a_lease_logs_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="clientgo")
    assert not Setting(coordinated=False).elector._release(klog.background())
    assert_lines(caplog, [(0, '"lease lock not found" lock="ns/lock"')])


def test_a_term_logs_its_beginning_its_renewals_and_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1, logger="clientgo")
    with synctest.bubble() as bubble:
        client = FakeLeases()
        lock = rl.LeaseLock(
            metav1.ObjectMeta(namespace="ns", name="lock"), client, rl.ResourceLockConfig(identity="me")
        )
        callbacks = LeaderCallbacks(on_started_leading=lambda ctx: ctx.done().wait(), on_stopped_leading=lambda: None)
        config = LeaderElectionConfig(
            lock=lock, lease_duration=15.0, renew_deadline=10.0, retry_period=2.0, callbacks=callbacks
        )
        running = threading.Thread(target=lambda: leaderelection.run_or_die(BACKGROUND, config), name="elector")
        running.start()
        bubble.sleep(3.0)

        def down(verb: str, ctx: context.Context) -> None:
            raise OSError("down")

        client.react = down
        running.join()
    lines = [(each.levelno, each.getMessage()) for each in caplog.records if each.filename == "leaderelection.py"]
    assert lines[0] == (20, '"Attempting to acquire leader lease..." lock="ns/lock"')
    assert lines[1] == (20, '"Successfully acquired lease" lock="ns/lock"')
    assert lines[2:4] == [(15, '"Successfully renewed lease" lock="ns/lock"')] * 2
    assert lines[-1] == (20, '"Failed to renew lease" lock="ns/lock" err="context deadline exceeded"')


def test_a_candidate_logs_each_attempt_in_vain(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO - 4, logger="clientgo")
    with synctest.bubble():
        setting = Setting(coordinated=False)
        held_by_another(setting)
        ctx, cancel = context.with_timeout(BACKGROUND, 1.0)
        LeaderElector(setting.config).run(ctx)
        cancel()
    lines = [(each.levelno, each.getMessage()) for each in caplog.records if each.filename == "leaderelection.py"]
    assert lines[-1] == (16, '"Failed to acquire lease" lock="ns/lock"')


def test_a_candidate_logs_the_creation_and_the_renewal_of_its_object(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO - 2, logger="clientgo")
    with synctest.bubble() as bubble:
        clientset = fake.new_clientset()
        candidate, _ = leaderelection.new_candidate(clientset, "ns", "me", "lease", "1", "1", "Oldest")
        ctx, cancel = context.with_cancel(BACKGROUND)
        running = threading.Thread(target=candidate.run, args=(ctx,), name="candidate")
        running.start()
        bubble.sleep(400.0)
        stored = clientset.coordination_v1beta1().lease_candidates("ns").get(ctx, "me", metav1.GetOptions())
        cancel()
        running.join()
    assert isinstance(stored, coordinationv1beta1.LeaseCandidate)
    lines = [(each.levelno, each.getMessage()) for each in caplog.records if each.filename == "leasecandidate.py"]
    assert lines == [
        (18, '"Creating lease candidate" logger="leasecandidate"'),
        (18, '"Created lease candidate" logger="leasecandidate"'),
        (18, '"Lease candidate exists. Renewing." logger="leasecandidate"'),
    ]
