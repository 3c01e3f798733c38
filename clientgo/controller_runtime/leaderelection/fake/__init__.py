"""sigs.k8s.io/controller-runtime/pkg/leaderelection/fake: a lock for tests."""

from clientgo.controller_runtime.leaderelection.fake.leader_election import (
    ControllableResourceLockInterface,
    new_resource_lock,
)

__all__ = ["ControllableResourceLockInterface", "new_resource_lock"]
