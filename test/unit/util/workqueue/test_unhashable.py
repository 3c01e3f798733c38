"""Items that are not hashable: each operation of each queue names the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from livequeues import QUEUES

from clientgo.api.core.v1 import Pod
from clientgo.apimachinery.apis.meta.v1 import ObjectMeta
from clientgo.controller_runtime.controller.priorityqueue import priorityqueue
from clientgo.tools.cache import meta_namespace_key_func
from clientgo.util import workqueue

POD = Pod(metadata=ObjectMeta(namespace="default", name="web"))

KINDS: dict[str, Callable[[], Any]] = {
    **QUEUES,
    "dropping priority": lambda: priorityqueue.new("q"),
    "fast and slow": lambda: workqueue.new_typed_rate_limiting_queue(
        workqueue.new_typed_item_fast_slow_rate_limiter(0.1, 1.0, 2)
    ),
    "default limiter": lambda: workqueue.new_typed_rate_limiting_queue(
        workqueue.default_typed_controller_rate_limiter()
    ),
}

OPERATIONS: dict[str, Callable[[Any, object], object]] = {
    "add": lambda queue, item: queue.add(item),
    "add_after": lambda queue, item: queue.add_after(item, 5.0),
    "add_after, no delay": lambda queue, item: queue.add_after(item, 0.0),
    "add_rate_limited": lambda queue, item: queue.add_rate_limited(item),
    "add_with_opts": lambda queue, item: queue.add_with_opts(workqueue.AddOpts(priority=3), item),
    "done": lambda queue, item: queue.done(item),
    "forget": lambda queue, item: queue.forget(item),
    "num_requeues": lambda queue, item: queue.num_requeues(item),
}


LACKING = {
    "plain": ["add_after", "add_after, no delay", "add_rate_limited", "add_with_opts", "forget", "num_requeues"],
    "delaying": ["add_rate_limited", "add_with_opts", "forget", "num_requeues"],
    **{kind: ["add_with_opts"] for kind in ("rate limiting", "sharded", "fast and slow", "default limiter")},
}
"""The operations that a kind of queue does not have."""


@pytest.mark.parametrize(
    ("kind", "operation"),
    [(kind, operation) for kind in KINDS for operation in OPERATIONS if operation not in LACKING.get(kind, ())],
)
@pytest.mark.parametrize("item", [POD, {"name": "web"}, ("default", ["web"])], ids=["pod", "dict", "tuple"])
def test_an_unhashable_item_raises_an_error_that_names_the_remedy(kind, operation, item):
    queue = KINDS[kind]()
    try:
        with pytest.raises(TypeError, match=r"^unhashable type: '\w+'.*; add its key: .*meta_namespace_key_func"):
            OPERATIONS[operation](queue, item)
        assert queue.len() == 0
        queue.add(meta_namespace_key_func(POD))
        assert queue.get() == ("default/web", False)
    finally:
        queue.shut_down()


class BrokenOrder(workqueue.Queue[Any]):
    """An order of items with a bug of its own."""

    def push(self, item: Any, /) -> None:
        raise TypeError("a bug of the user's")

    def touch(self, item: Any, /) -> None: ...

    def len(self) -> int:
        return 0

    def pop(self) -> Any: ...


def test_another_type_error_keeps_its_text():
    queue = workqueue.new_typed_with_config(workqueue.TypedQueueConfig(queue=BrokenOrder()))
    with pytest.raises(TypeError, match="^a bug of the user's$"):
        queue.add("default/web")


@pytest.mark.parametrize("operation", ["when", "num_requeues", "forget"])
@pytest.mark.parametrize(
    "limiter",
    [
        workqueue.new_typed_item_exponential_failure_rate_limiter(0.1, 1.0),
        workqueue.new_typed_item_fast_slow_rate_limiter(0.1, 1.0, 2),
        workqueue.default_typed_controller_rate_limiter(),
    ],
    ids=["exponential", "fast and slow", "default"],
)
def test_a_rate_limiter_on_its_own_names_the_remedy_too(limiter: Any, operation: str) -> None:
    with pytest.raises(TypeError, match="add its key: .*meta_namespace_key_func"):
        getattr(limiter, operation)(POD)


class Comparing:
    """An item that equals all others, until its comparison breaks."""

    broken = False

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        if self.broken:
            raise TypeError("a bug of the user's")
        return True


@pytest.mark.parametrize(
    ("kind", "operation"),
    [(kind, operation) for kind in KINDS for operation in OPERATIONS if operation not in LACKING.get(kind, ())],
)
def test_an_error_of_the_items_comparison_keeps_its_text(kind, operation, monkeypatch):
    queue = KINDS[kind]()
    queue.add(Comparing())
    queue.get()
    for prepare in ("add_after", "add_rate_limited"):
        if prepare not in LACKING.get(kind, ()):
            OPERATIONS[prepare](queue, Comparing())
    monkeypatch.setattr(Comparing, "broken", True)
    with pytest.raises(TypeError, match="^a bug of the user's$"):
        OPERATIONS[operation](queue, Comparing())
    monkeypatch.undo()
    queue.shut_down()
