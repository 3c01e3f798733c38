"""The controller of the lessons: what its handler enqueues, and how its workers treat a key."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tour.program import Enqueuer, Shouter
from clientgo.util import workqueue

BACKGROUND = context.background()


def config_map(name: str, **data: str) -> corev1.ConfigMap:
    return corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name, namespace="default"), data=data)


class Recorder:
    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def event(self, obj: Any, *about: Any) -> None:
        self.events.append((obj.get_name(), *about))


def shouter(*objects: corev1.ConfigMap, recorder: Any = None) -> tuple[Shouter, Any, Any]:
    """Return a controller whose cache and server have these objects, its queue and its client."""
    indexer = cache.new_indexer(cache.meta_namespace_key_func, {})
    for each in objects:
        indexer.add(each)
    client: Any = fake.new_clientset(*objects)
    limiter: Any = workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, 9.0)
    queue: Any = workqueue.new_typed_rate_limiting_queue(limiter)
    return Shouter(client, indexer, queue, recorder), queue, client


def writes(client: Any) -> list[str]:
    return [action.get_verb() for action in client.actions() if action.get_verb() != "get"]


@pytest.mark.parametrize(
    ("data", "shout"),
    [({"text": "an apple"}, "AN APPLE"), ({"text": "a", "shout": "old"}, "A"), ({"shout": "old"}, "")],
)
def test_a_text_is_shouted_once(data: dict[str, str], shout: str) -> None:
    recorder = Recorder()
    before = config_map("apple", **data)
    controller, queue, client = shouter(before, recorder=recorder)
    controller.reconcile(BACKGROUND, "default/apple")
    found = client.core_v1().config_maps("default").get(BACKGROUND, "apple", metav1.GetOptions())
    assert found.data["shout"] == shout and writes(client) == ["update"]
    assert before.data == data, "what is cached stays as it is"
    assert recorder.events == [("apple", "Normal", "Shouted", f"Wrote {shout}")]
    queue.shut_down()


@pytest.mark.parametrize("data", [{"text": "a", "shout": "A"}, {}, {"shout": ""}])
def test_what_is_in_order_is_not_written(data: dict[str, str]) -> None:
    recorder = Recorder()
    controller, queue, client = shouter(config_map("apple", **data), recorder=recorder)
    controller.reconcile(BACKGROUND, "default/apple")
    controller.reconcile(BACKGROUND, "default/none")
    assert writes(client) == [] and recorder.events == []
    queue.shut_down()


def test_a_key_that_fails_is_tried_again_later_and_forgotten_when_it_succeeds() -> None:
    with synctest.bubble() as bubble:
        controller, queue, client = shouter(config_map("apple", text="a"))
        failures = [RuntimeError("no"), RuntimeError("no")]

        def react(action: Any) -> tuple[bool, Any]:
            if failures:
                raise failures.pop()
            return False, None

        client.prepend_reactor("update", "configmaps", react)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=controller.run, args=(ctx, 2), daemon=True)
        thread.start()
        queue.add("default/apple")
        bubble.sleep(0.5)
        workers = [each for each in threading.enumerate() if each.name.startswith("worker-")]
        assert sorted(each.name for each in workers) == ["worker-0", "worker-1"]
        assert all(each.daemon for each in workers)
        assert queue.num_requeues("default/apple") == 1 and queue.contents().processing == frozenset()
        bubble.sleep(1.0)
        assert queue.num_requeues("default/apple") == 2
        bubble.sleep(2.0)
        assert queue.num_requeues("default/apple") == 0 and writes(client).count("update") == 3
        cancel()
        thread.join()
        assert queue.shutting_down() and not any(each.is_alive() for each in workers)


def test_whatever_happens_to_an_object_its_key_is_enqueued() -> None:
    queue: Any = SimpleNamespace(items=[])
    queue.add = queue.items.append
    enqueuer = Enqueuer(queue)
    enqueuer.on_add(config_map("a"), True)
    enqueuer.on_update(config_map("x"), config_map("b"))
    enqueuer.on_delete(config_map("c"))
    enqueuer.on_delete(cache.DeletedFinalStateUnknown("default/d", None))
    assert queue.items == [f"default/{name}" for name in "abcd"]
    assert enqueuer.handler_name() == "shouter.Enqueuer" and Enqueuer(queue, "x").handler_name() == "x.Enqueuer"
