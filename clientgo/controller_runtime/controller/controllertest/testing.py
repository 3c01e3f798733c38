"""A queue for tests of handlers and sources. Mirrors pkg/controller/controllertest/testing.go."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import TypeAlias, TypeVar

from clientgo.apimachinery import runtime
from clientgo.controller_runtime.reconcile.reconcile import Request
from clientgo.util import workqueue

__all__ = ["ErrorType", "Queue", "TypedQueue"]

RequestT = TypeVar("RequestT", bound=Hashable)


class ErrorType(runtime.Object):
    """An object of a type that no scheme contains. Go: controllertest.ErrorType."""


class TypedQueue(workqueue.TypedInterface[RequestT]):
    """A work queue that ignores delays and records rate-limited additions. Thread-safe.

    It implements TypedRateLimitingInterface. Go: controllertest.TypedQueue.
    """

    def __init__(self, typed_interface: workqueue.TypedInterface[RequestT] | None = None) -> None:
        """Wrap the given queue, or a new one."""
        self.typed_interface: workqueue.TypedInterface[RequestT] = typed_interface or workqueue.new_typed()
        # Guards added_ratelimited.
        self.added_rate_limited_lock = threading.Lock()
        self.added_ratelimited: list[RequestT] = []
        """The arguments of `add_rate_limited` calls, in order."""

    def add(self, item: RequestT) -> None:
        """See TypedInterface."""
        self.typed_interface.add(item)

    def len(self) -> int:
        """See TypedInterface."""
        return self.typed_interface.len()

    def get(self) -> tuple[RequestT, bool]:
        """See TypedInterface."""
        return self.typed_interface.get()

    def done(self, item: RequestT) -> None:
        """See TypedInterface."""
        self.typed_interface.done(item)

    def shut_down(self) -> None:
        """See TypedInterface."""
        self.typed_interface.shut_down()

    def shut_down_with_drain(self) -> None:
        """See TypedInterface."""
        self.typed_interface.shut_down_with_drain()

    def shutting_down(self) -> bool:
        """See TypedInterface."""
        return self.typed_interface.shutting_down()

    def add_after(self, item: RequestT, duration: float) -> None:
        """Add `item` now. Go: AddAfter."""
        self.add(item)

    def add_rate_limited(self, item: RequestT) -> None:
        """Record `item` and add it now. Go: AddRateLimited."""
        with self.added_rate_limited_lock:
            self.added_ratelimited.append(item)
        self.add(item)

    def forget(self, item: RequestT) -> None:
        """Do nothing, since no failures are counted. Go: Forget."""

    def num_requeues(self, item: RequestT) -> int:
        """Return 0, since no failures are counted. Go: NumRequeues."""
        return 0


Queue: TypeAlias = TypedQueue[Request]
"""A queue of requests that name objects. Go: controllertest.Queue."""
