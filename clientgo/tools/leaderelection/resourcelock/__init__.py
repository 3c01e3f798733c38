"""Locks for leader election. Mirrors k8s.io/client-go/tools/leaderelection/resourcelock."""

from clientgo.tools.leaderelection.resourcelock.interface import (
    LEADER_ELECTION_RECORD_ANNOTATION_KEY,
    LEASES_RESOURCE_LOCK,
    EventRecorder,
    Interface,
    LeaderElectionRecord,
    ResourceLockConfig,
    new,
    new_from_kubeconfig,
    new_with_labels,
)
from clientgo.tools.leaderelection.resourcelock.leaselock import (
    LeaseLock,
    leader_election_record_to_lease_spec,
    lease_spec_to_leader_election_record,
)
from clientgo.tools.leaderelection.resourcelock.multilock import UNKNOWN_LEADER, MultiLock, concat_raw_record

__all__ = [
    "LEADER_ELECTION_RECORD_ANNOTATION_KEY",
    "LEASES_RESOURCE_LOCK",
    "UNKNOWN_LEADER",
    "EventRecorder",
    "Interface",
    "LeaderElectionRecord",
    "LeaseLock",
    "MultiLock",
    "ResourceLockConfig",
    "concat_raw_record",
    "leader_election_record_to_lease_spec",
    "lease_spec_to_leader_election_record",
    "new",
    "new_from_kubeconfig",
    "new_with_labels",
]
