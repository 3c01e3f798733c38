"""The lock on a Lease, the double lock, and the choice of a lock."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from electionlock import RecordingLock, SharedRecord
from fakeleases import FakeLeases

from clientgo import context, kubernetes, rest
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.tools.leaderelection import resourcelock as rl

CTX = context.background()
THEN = datetime(2020, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
RECORD = rl.LeaderElectionRecord(
    holder_identity="me", lease_duration_seconds=15, acquire_time=THEN, renew_time=THEN, leader_transitions=2
)


class Recorder:
    def __init__(self) -> None:
        self.events: list[tuple[Any, str, str, str]] = []

    def eventf(self, obj: Any, event_type: str, reason: str, message: str, *args: object) -> None:
        self.events.append((obj, event_type, reason, message % args))


def lock_on(client: FakeLeases, recorder: Recorder | None = None, labels: dict[str, str] | None = None) -> rl.LeaseLock:
    config = rl.ResourceLockConfig(identity="me", event_recorder=recorder)
    return rl.LeaseLock(metav1.ObjectMeta(namespace="ns", name="lock"), client, config, labels)


def lease(labels: dict[str, str] | None = None) -> coordinationv1.Lease:
    metadata = metav1.ObjectMeta(namespace="ns", name="lock")
    if labels is not None:
        metadata.labels = labels
    return coordinationv1.Lease(metadata=metadata, spec=rl.leader_election_record_to_lease_spec(RECORD))


def test_get():
    """Go: TestGet."""
    client = FakeLeases()
    client.put(lease())
    lock = lock_on(client)
    record, raw = lock.get(CTX)
    assert record == RECORD
    assert raw == RECORD.to_json()
    lock.update(CTX, RECORD)  # it remembers the lease


def test_api_errors_are_passed_on():
    """Go: TestGetError, Go: TestCreateError."""
    client = FakeLeases()
    lock = lock_on(client)
    with pytest.raises(errors.StatusError) as caught:
        lock.get(CTX)
    assert errors.is_not_found(caught.value)
    client.put(lease())
    with pytest.raises(errors.StatusError) as caught:
        lock.create(CTX, RECORD)
    assert errors.is_already_exists(caught.value)


def test_update_needs_a_get_or_create_first():
    """Go: TestUpdateError."""
    lock = lock_on(FakeLeases())
    with pytest.raises(RuntimeError, match="lease not initialized, call get or create first"):
        lock.update(CTX, RECORD)


def test_update_conflicts_with_another_writer():
    client = FakeLeases()
    mine, other = lock_on(client), lock_on(client)
    mine.create(CTX, RECORD)
    other.get(CTX)
    other.update(CTX, RECORD)
    with pytest.raises(errors.StatusError) as caught:
        mine.update(CTX, RECORD)
    assert errors.is_conflict(caught.value)


def test_the_record_survives_in_the_lease():
    """Go: TestLeaseConversion."""
    client = FakeLeases()
    lock_on(client).create(CTX, RECORD)
    assert lock_on(client).get(CTX)[0] == RECORD
    full = rl.LeaderElectionRecord(strategy="OldestEmulationVersion", preferred_holder="b")
    spec = rl.leader_election_record_to_lease_spec(full)
    assert rl.lease_spec_to_leader_election_record(spec) == full
    assert rl.lease_spec_to_leader_election_record(coordinationv1.LeaseSpec()) == rl.LeaderElectionRecord()
    assert spec.holder_identity == ""


def test_the_records_bytes_are_gos():
    assert json.loads(RECORD.to_json()) == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2020-01-01T12:00:00Z",
        "renewTime": "2020-01-01T12:00:00Z",
        "leaderTransitions": 2,
        "strategy": "",
        "preferredHolder": "",
    }
    empty = json.loads(rl.LeaderElectionRecord().to_json())
    assert empty == dict.fromkeys(empty, "") | {
        "leaseDurationSeconds": 0,
        "leaderTransitions": 0,
        "acquireTime": None,
        "renewTime": None,
    }
    assert b'"holderIdentity":"\\u003ca\\u003e"' in rl.LeaderElectionRecord(holder_identity="<a>").to_json()


def test_record_event():
    """Go: TestRecordEventSuccess."""
    recorder = Recorder()
    lock = lock_on(FakeLeases(), recorder)
    lock.create(CTX, RECORD)
    lock.record_event("became 100% leader")
    ((subject, event_type, reason, text),) = recorder.events
    assert (event_type, reason, text) == ("Normal", "LeaderElection", "me became 100% leader")
    assert (subject.kind, subject.api_version, subject.metadata.name) == ("Lease", "coordination.k8s.io/v1", "lock")


def test_record_event_without_recorder_or_lease():
    """Go: TestRecordEventNilRecorder."""
    lock_on(FakeLeases()).record_event("x")
    recorder = Recorder()
    lock_on(FakeLeases(), recorder).record_event("x")
    assert recorder.events == []


def test_describe():
    """Go: TestDescribe."""
    lock = lock_on(FakeLeases())
    assert lock.describe() == "ns/lock"
    assert lock.identity() == "me"
    assert repr(lock) == "<LeaseLock ns/lock for me>"


@pytest.mark.parametrize(
    ("on_lease", "on_lock", "merged"),
    [
        (None, {"a": "lock"}, {"a": "lock"}),
        ({"a": "lease"}, None, {"a": "lease"}),
        ({"a": "lease", "b": "lease"}, {"a": "lock"}, {"a": "lock", "b": "lease"}),
    ],
)
def test_labels(on_lease, on_lock, merged):
    """Go: TestUpdateWithNilLabelsOnLease, Go: TestUpdateWithNilLabelsOnLeaseLock, Go: TestLabelUpdate."""
    client = FakeLeases()
    client.put(lease(on_lease))
    lock = lock_on(client, labels=on_lock)
    lock.get(CTX)
    lock.update(CTX, RECORD)
    assert client.stored("lock").metadata.labels == merged


def test_create_sets_the_labels():
    client = FakeLeases()
    lock_on(client, labels={"a": "b"}).create(CTX, RECORD)
    assert client.stored("lock").metadata.labels == {"a": "b"}


def test_new():
    client = FakeLeases()
    config = rl.ResourceLockConfig(identity="me")
    lock = rl.new_with_labels(rl.LEASES_RESOURCE_LOCK, "ns", "lock", None, client, config, {"a": "b"})
    assert isinstance(lock, rl.LeaseLock)
    assert (lock.describe(), lock.identity(), lock.labels) == ("ns/lock", "me", {"a": "b"})
    assert rl.new("leases", "ns", "lock", None, client, config).describe() == "ns/lock"


@pytest.mark.parametrize(
    ("lock_type", "message"),
    [
        ("endpoints", "endpoints lock is removed, migrate to leases"),
        ("configmaps", "configmaps lock is removed, migrate to leases"),
        ("endpointsleases", "endpointsleases lock is removed, migrate to leases"),
        ("configmapsleases", "configmapsleases lock is removed, migrated to leases"),
        ("nope", "Invalid lock-type nope"),
    ],
)
def test_locks_that_are_gone(lock_type, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        rl.new(lock_type, "ns", "lock", None, FakeLeases(), rl.ResourceLockConfig(identity="me"))


@pytest.mark.parametrize(("renew_deadline", "timeout"), [(10.0, 5.0), (3.0, 1.5), (1.0, 1.0)])
def test_requests_of_a_lock_from_a_kubeconfig_take_at_most_half_of_the_deadline(renew_deadline, timeout, monkeypatch):
    """Go: NewFromKubeconfig; at least a second."""
    configs: list[rest.Config] = []
    make = kubernetes.new_for_config_or_die
    monkeypatch.setattr(kubernetes, "new_for_config_or_die", lambda config: (configs.append(config), make(config))[1])
    given = rest.Config(host="http://127.0.0.1:1", timeout=60.0)
    lock = rl.new_from_kubeconfig("leases", "ns", "lock", rl.ResourceLockConfig(identity="me"), given, renew_deadline)
    assert (lock.describe(), lock.identity()) == ("ns/lock", "me")
    assert [config.timeout for config in configs] == [timeout]
    assert configs[0].user_agent.endswith("/leader-election")
    assert given.timeout == 60.0, "the caller's config is left as it is"


class Two:
    """A double lock over two records."""

    def __init__(self) -> None:
        self.first, self.second = SharedRecord(), SharedRecord()
        self.primary = RecordingLock("me", self.first, lambda record: record)
        self.secondary = RecordingLock("me", self.second, lambda record: record)
        self.lock = rl.MultiLock(self.primary, self.secondary)


def held_by(identity: str) -> rl.LeaderElectionRecord:
    return rl.LeaderElectionRecord(holder_identity=identity)


def test_multilock_holds_both():
    two = Two()
    two.lock.create(CTX, RECORD)
    record, raw = two.lock.get(CTX)
    assert record == RECORD
    assert raw == RECORD.to_json() + b"," + RECORD.to_json() == rl.concat_raw_record(RECORD.to_json(), RECORD.to_json())
    two.lock.update(CTX, held_by("me"))
    assert two.first.record == two.second.record == held_by("me")
    assert (two.lock.describe(), two.lock.identity()) == ("ns/lock", "me")
    two.lock.record_event("x")
    assert two.primary.ops[-1]["text"] == two.secondary.ops[-1]["text"] == "x"


def test_multilock_with_different_holders_has_an_unknown_leader():
    two = Two()
    two.first.write(held_by("a"))
    two.second.write(held_by("b"))
    record, raw = two.lock.get(CTX)
    assert record.holder_identity == rl.UNKNOWN_LEADER
    assert raw.startswith(b'{"holderIdentity":"leaderelection.k8s.io/unknown"')


def test_multilock_without_secondary():
    two = Two()
    two.first.write(held_by("old version"))
    assert two.lock.get(CTX) == (held_by("old version"), held_by("old version").to_json())
    two.first.write(held_by("me"))
    with pytest.raises(errors.StatusError):
        two.lock.get(CTX)
    two.primary.get(CTX)
    two.secondary.ops.clear()
    two.lock.update(CTX, held_by("me"))
    assert two.second.record == held_by("me")
    assert [each["op"] for each in two.secondary.ops] == ["get", "create"], "what was just created needs no update"


def test_multilock_create_leaves_an_existing_primary_alone():
    two = Two()
    two.first.write(held_by("a"))
    two.lock.create(CTX, held_by("me"))
    assert (two.first.record, two.second.record) == (held_by("a"), held_by("me"))
    refused = errors.new_forbidden(coordinationv1.resource("leases"), "lock", RuntimeError("no"))

    def refuse(op: str, ctx: context.Context) -> None:
        if op == "create":
            raise refused

    two.primary.before, calls = refuse, len(two.secondary.ops)
    with pytest.raises(errors.StatusError, match="forbidden"):
        two.lock.create(CTX, held_by("me"))
    assert len(two.secondary.ops) == calls
    two.primary.before = lambda op, ctx: None
    two.primary.fail["create"] = 1
    with pytest.raises(RuntimeError, match="injected"):
        two.lock.create(CTX, held_by("me"))
