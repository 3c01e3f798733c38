"""The queue for tests adds at once, and tells what it should have added later."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import controller, event, handler, reconcile, source
from clientgo.controller_runtime.client import apiutil
from clientgo.controller_runtime.controller import controllertest
from clientgo.kubernetes.scheme import SCHEME
from clientgo.util import workqueue

A, B = reconcile.Request("ns", "a"), reconcile.Request("ns", "b")


def taken(queue: controllertest.Queue) -> list[reconcile.Request]:
    found = []
    while queue.len():
        item, _ = queue.get()
        queue.done(item)
        found.append(item)
    return found


def test_nothing_waits_and_what_was_rate_limited_is_noted() -> None:
    queue: controllertest.Queue = controllertest.TypedQueue()
    queue.add_rate_limited(A)
    queue.add_after(B, 3600.0)
    queue.forget(A)
    assert (queue.added_ratelimited, queue.num_requeues(A)) == ([A], 0)
    assert taken(queue) == [A, B]
    queue.shut_down()
    assert queue.shutting_down() and queue.get()[1]


def test_handlers_take_it() -> None:
    queue: controllertest.Queue = controllertest.TypedQueue(workqueue.new_typed())
    pod = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="a"))
    handler.EnqueueRequestForObject().create(context.background(), event.CreateEvent(object=pod), queue)
    assert taken(queue) == [A]
    queue.shut_down_with_drain()


def test_a_controller_works_with_it() -> None:
    """Without priorities: the controller wraps it."""
    queue: Any = controllertest.TypedQueue()
    ctx, cancel = context.with_cancel(context.background())
    seen: list[reconcile.Request] = []

    def work(ctx: context.Context, request: reconcile.Request) -> None:
        seen.append(request)
        if len(seen) == 1:
            raise ValueError("once")
        cancel()

    options: controller.Options = controller.Options(
        reconciler=work, new_queue=lambda name, limiter: queue, skip_name_validation=True
    )
    made = controller.new_unmanaged("tested", options)
    made.watch(source.Func(lambda ctx, q: q.add(A)))
    made.start(ctx)
    assert seen == [A, A] and queue.added_ratelimited == [A]


def test_an_error_type_is_of_no_kind() -> None:
    with pytest.raises(Exception, match="Kind. is missing"):
        apiutil.gvk_for_object(controllertest.ErrorType(), SCHEME)
