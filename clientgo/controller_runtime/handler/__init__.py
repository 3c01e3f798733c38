"""sigs.k8s.io/controller-runtime/pkg/handler: handlers, which turn events into requests."""

from clientgo.controller_runtime.handler.enqueue import (
    EnqueueRequestForObject,
    TypedEnqueueRequestForObject,
)
from clientgo.controller_runtime.handler.enqueue_mapped import (
    MapFunc,
    TypedMapFunc,
    enqueue_requests_from_map_func,
    typed_enqueue_requests_from_map_func,
)
from clientgo.controller_runtime.handler.enqueue_owner import (
    OwnerOption,
    enqueue_request_for_owner,
    only_controller_owner,
    typed_enqueue_request_for_owner,
)
from clientgo.controller_runtime.handler.eventhandler import (
    LOW_PRIORITY,
    EventHandler,
    Funcs,
    TypedEventHandler,
    TypedFuncs,
    with_low_priority_when_unchanged,
)

__all__ = [
    "LOW_PRIORITY",
    "EnqueueRequestForObject",
    "EventHandler",
    "Funcs",
    "MapFunc",
    "OwnerOption",
    "TypedEnqueueRequestForObject",
    "TypedEventHandler",
    "TypedFuncs",
    "TypedMapFunc",
    "enqueue_request_for_owner",
    "enqueue_requests_from_map_func",
    "only_controller_owner",
    "typed_enqueue_request_for_owner",
    "typed_enqueue_requests_from_map_func",
    "with_low_priority_when_unchanged",
]
