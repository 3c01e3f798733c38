"""sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue: the queue of controllers."""

from clientgo.controller_runtime.controller.priorityqueue.priorityqueue import (
    AddOpts,
    Opt,
    Opts,
    PriorityQueue,
    new,
)

__all__ = [
    "AddOpts",
    "Opt",
    "Opts",
    "PriorityQueue",
    "new",
]
