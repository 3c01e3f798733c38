"""sigs.k8s.io/controller-runtime/pkg/leaderelection: the lock that lets one manager at a time be the leader."""

from clientgo.controller_runtime.leaderelection.leader_election import (
    Options,
    new_resource_lock,
)

__all__ = [
    "Options",
    "new_resource_lock",
]
