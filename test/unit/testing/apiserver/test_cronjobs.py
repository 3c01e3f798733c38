"""The Jobs that a simulated CronJob starts and deletes, one check at a time.

No server runs, and the clock stands still between the checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context
from clientgo.api.batch import v1 as batchv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing.apiserver.simulator import cronjobs
from clientgo.testing.apiserver.simulator.cronjobs import CronJobs
from clientgo.testing.apiserver.simulator.schedules import Schedule
from clientgo.testing.apiserver.wire.times import Times
from clientgo.tools import record
from clientgo.utils.clock import testing as clocktesting

CTX = context.background()
# At the full hour.
START = 1_600_002_000.0


class World:
    """A CronJob of every hour, made at START, that the controller has not looked at yet."""

    def __init__(self, *jobs: batchv1.Job, **spec: Any) -> None:
        self.clock = clocktesting.new_fake_clock(START)
        times = Times(self.clock)
        document = {
            "metadata": {"name": "tick", "namespace": "ns", "uid": "u", "creationTimestamp": times.text(START)},
            "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {}}, **spec},
        }
        self.client = fake.new_clientset(batchv1.CronJob.from_dict(document), *jobs)
        self.recorder = record.new_fake_recorder(100)
        self.later: list[float] = []
        self.cron_jobs = CronJobs(self.client, times, self.recorder, lambda key, seconds: self.later.append(seconds))

    def look(self, after: float) -> list[str]:
        """Return the reasons of the events of one check, `seconds` later."""
        self.clock.step(after)
        self.cron_jobs.sync(CTX, "ns", "tick")
        channel = self.recorder.events
        assert channel is not None
        return [str(channel.receive()[0]).split()[1] for _ in range(len(channel))]

    def jobs(self) -> list[str]:
        return sorted(job.get_name() for job in self.client.batch_v1().jobs("ns").list(CTX, metav1.ListOptions()).items)


def job(name: str, **status: Any) -> batchv1.Job:
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u", "controller": True}
    metadata = {"name": name, "namespace": "ns", "uid": name, "ownerReferences": [owner]}
    return batchv1.Job.from_dict({"metadata": metadata, "status": status})


def test_a_job_starts_when_its_time_has_come_and_the_next_look_is_at_the_next_one() -> None:
    world = World()
    assert (world.look(3599.0), world.jobs(), world.later) == ([], [], [1.0])
    assert world.look(1.0) == ["SuccessfulCreate"]
    (name,) = world.jobs()
    assert (name, world.later) == (f"tick-{int(START + 3600) // 60}", [1.0, 3600.0])
    assert world.look(1.0) == [] and world.jobs() == [name]


def test_of_several_times_that_were_missed_the_last_one_counts() -> None:
    world = World()
    assert world.look(3 * 3600.0 + 5.0) == ["SuccessfulCreate"]
    assert world.jobs() == [f"tick-{int(START + 3 * 3600) // 60}"]


@pytest.mark.parametrize(("late", "reasons"), [(9.5, ["SuccessfulCreate"]), (10.0, [])])
def test_a_job_starts_before_its_deadline(late: float, reasons: list[str]) -> None:
    assert World(startingDeadlineSeconds=10).look(3600.0 + late) == reasons


@pytest.mark.parametrize(
    ("policy", "reasons", "left"),
    [
        ("Allow", ["SuccessfulCreate"], 2),
        ("Forbid", ["JobAlreadyActive"], 1),
        ("Replace", ["SuccessfulDelete", "SuccessfulCreate"], 1),
    ],
)
def test_what_becomes_of_a_job_that_runs_is_said_by_the_policy(policy: str, reasons: list[str], left: int) -> None:
    world = World(job("running"), concurrencyPolicy=policy)
    assert world.look(3600.0) == reasons
    assert len(world.jobs()) == left
    assert ("running" in world.jobs()) is (policy != "Replace")


@pytest.mark.parametrize("policy", ["Allow", "Forbid", "Replace"])
def test_a_job_that_has_ended_hinders_no_other(policy: str) -> None:
    ended = job("done", conditions=[{"type": "Complete", "status": "True"}])
    assert World(ended, concurrencyPolicy=policy).look(3600.0) == ["SuccessfulCreate"]


def test_a_suspended_cron_job_starts_nothing() -> None:
    world = World(suspend=True)
    assert (world.look(7200.0), world.jobs(), world.later) == ([], [], [])


def finished(name: str, created: str, outcome: str = "Complete") -> batchv1.Job:
    made = job(name, conditions=[{"type": outcome, "status": "True"}])
    return batchv1.Job.from_dict(
        {**made.to_dict(), "metadata": {**made.to_dict()["metadata"], "creationTimestamp": created}}
    )


@pytest.mark.parametrize(
    ("outcome", "field"), [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")]
)
def test_the_oldest_jobs_beyond_the_limit_go(outcome: str, field: str) -> None:
    days = {"a": 3, "b": 1, "c": 2, "d": 1}
    jobs = [finished(name, f"2020-09-0{day}T00:00:00Z", outcome) for name, day in days.items()]
    world = World(*jobs, suspend=True, **{field: 1})
    assert world.look(1.0) == ["SuccessfulDelete"] * 3
    assert world.jobs() == ["a"]


@pytest.mark.parametrize("limit", [4, 5, None])
def test_jobs_within_the_limit_stay(limit: int | None) -> None:
    jobs = [finished(name, "2020-09-01T00:00:00Z") for name in "abcd"]
    world = World(*jobs, job("running"), finished("failed", "2020-01-01T00:00:00Z", "Failed"), suspend=True,
                  **({} if limit is None else {"successfulJobsHistoryLimit": limit}))  # fmt: skip
    assert (world.look(1.0), len(world.jobs())) == ([], 6)


@pytest.mark.parametrize("missed", [1, 2, 99, 100, 101, 102, 1000])
@pytest.mark.parametrize("text", ["* * * * *", "*/5 * * * *", "0 * * * *", "@every 90s"])
def test_the_last_of_many_missed_times_is_found(text: str, missed: int) -> None:
    schedule = Schedule(text, None)
    first = schedule.next(START) or 0.0
    interval = (schedule.next(first) or 0.0) - first
    last = first + (missed - 1) * interval

    assert cronjobs._last_due(schedule, START, last) == (last, last + interval)
    assert cronjobs._last_due(schedule, START, last + interval - 1.0) == (last, last + interval)


def test_a_cron_job_in_deletion_starts_nothing() -> None:
    world = World()
    api = world.client.batch_v1().cron_jobs("ns")
    document = api.get(CTX, "tick").to_dict()
    document["metadata"]["deletionTimestamp"] = "2020-09-13T13:00:00Z"
    api.update(CTX, batchv1.CronJob.from_dict(document))
    assert (world.look(7200.0), world.jobs(), world.later) == ([], [], [])


@pytest.mark.parametrize(
    ("new_error", "reasons"),
    [
        (lambda: errors.new_already_exists(batchv1.resource("jobs"), "tick"), []),
        (lambda: errors.new_forbidden(batchv1.resource("jobs"), "tick", None), ["FailedCreate"]),
    ],
)
def test_a_job_that_cannot_be_created_is_reported(
    new_error: Callable[[], errors.StatusError], reasons: list[str]
) -> None:
    world = World()

    def refuse(action: Any) -> Any:
        raise new_error()

    world.client.prepend_reactor("create", "jobs", refuse)
    if reasons:
        with pytest.raises(errors.StatusError):
            world.look(3600.0)
        assert world.recorder.events is not None
        assert str(world.recorder.events.receive()[0]).split()[:2] == ["Warning", *reasons]
    else:
        assert world.look(3600.0) == []
    assert world.client.batch_v1().cron_jobs("ns").get(CTX, "tick").to_dict().get("status") in (None, {})
