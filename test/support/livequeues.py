"""A work queue of each kind, with something in every state: what a live tour must be able to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from clientgo.tools.sharding import ShardedQueue
from clientgo.util import workqueue

ODD_KEYS = ("default/" + "a-very-long-name-" * 14, "default/مرحبا-שלום", "default/𝒳🍞𠮷-bread", "ключ/𝔘")
"""A long name, right-to-left text, characters of four bytes."""


class _Owner:
    """A sharder that owns every shard."""

    def owns(self, namespace: str, name: str) -> bool:
        return True

    @contextmanager
    def working_on(self, namespace: str, name: str) -> Iterator[bool]:
        yield True


def _limiter() -> Any:
    return workqueue.new_typed_item_exponential_failure_rate_limiter(1000.0, 10_000.0)


_INNER: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def _sharded() -> Any:
    owner: Any = _Owner()
    inner = workqueue.new_typed_rate_limiting_queue(_limiter())
    queue: Any = ShardedQueue(inner, owner, lambda key: ("default", key))
    _INNER[queue] = inner
    return queue


def inspected(queue: Any) -> Any:
    """Return the queue whose contents a picture shows: of a sharded queue the inner one."""
    return _INNER.get(queue, queue)


QUEUES: Mapping[str, Callable[[], Any]] = {
    "plain": workqueue.new_typed,
    "delaying": workqueue.new_typed_delaying_queue,
    "rate limiting": lambda: workqueue.new_typed_rate_limiting_queue(_limiter()),
    "priority": lambda: workqueue.new_priority_queue(workqueue.PriorityQueueConfig(rate_limiter=_limiter())),
    "sharded": _sharded,
}


def fill(queue: Any, many: int = 0) -> None:
    """Bring items into every state that the queue has: in work, in work and dirty, ready, waiting, failed."""
    queue.add("default/working")
    queue.get()
    queue.add("default/again")
    queue.get()
    queue.add("default/again")
    for key in (*ODD_KEYS, *(f"default/ready-{number}" for number in range(many))):
        queue.add(key)
    if hasattr(queue, "add_after"):
        queue.add_after("default/later", 1000.0)
    if hasattr(queue, "add_rate_limited"):
        queue.add_rate_limited("default/failed")
