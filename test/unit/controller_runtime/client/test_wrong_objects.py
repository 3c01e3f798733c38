"""Arguments that Go's compiler would reject raise an error that explains the mistake, before any request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import cache, client, controller, handler, source
from clientgo.controller_runtime.client import fake

CTX = context.background()
UNREACHABLE = rest.Config(host="http://127.0.0.1:1")
KEY = client.ObjectKey("ns", "a")
PATCH = client.raw_patch(PatchType.MERGE, b"{}")
READS: list[Callable[[Any], Any]] = [
    lambda c: c.get(CTX, KEY, corev1.ConfigMapList),
    lambda c: c.get(CTX, KEY, str),
    lambda c: c.list(CTX, corev1.ConfigMap),
    lambda c: c.list(CTX, corev1.ConfigMap()),
    lambda c: c.list(CTX, [corev1.ConfigMap]),
]
WRITES: list[Callable[[Any], Any]] = [
    lambda c: c.create(CTX, corev1.ConfigMap),
    lambda c: c.create(CTX, corev1.ConfigMapList()),
    lambda c: c.update(CTX, corev1.ConfigMap),
    lambda c: c.patch(CTX, corev1.ConfigMap, PATCH),
]


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(TypeError, match="^expected ") as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("number", range(len(READS) + len(WRITES)))
@pytest.mark.parametrize("new", [lambda: client.new(UNREACHABLE), lambda: fake.new_client_builder().build()])
def test_clients_take_objects_for_objects_and_lists_for_lists(number: int, new: Callable[[], Any]) -> None:
    c = new()
    text = refusal(lambda: (READS + WRITES)[number](c))
    assert "ConfigMap" in text or "the class str" in text or "list" in text


@pytest.mark.parametrize("number", range(len(READS)))
def test_caches_do_so_too(number: int) -> None:
    c = cache.new(UNREACHABLE, cache.Options())
    refusal(lambda: READS[number](c))
    refusal(lambda: c.get_informer(CTX, corev1.ConfigMapList))  # type: ignore[type-var]
    refusal(lambda: source.kind(c, corev1.ConfigMapList, handler.EnqueueRequestForObject()))  # type: ignore[type-var]


def test_a_name_is_not_taken_by_a_controller_that_could_not_be_made() -> None:
    options: Any = controller.Options(reconciler=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a Reconciler has a method reconcile"):
        controller.new_unmanaged("not-taken", options)
    controller.new_unmanaged("not-taken", controller.Options(reconciler=lambda ctx, request: None))


@pytest.mark.parametrize("returned", ["text", False, (controller.Options, None)])
def test_a_reconciler_that_returns_no_result_has_failed(returned: Any) -> None:
    """`return Result(), nil` is what fingers that know Go type; it must not take the whole manager down."""
    calls: list[Any] = []
    ctx, cancel = context.with_cancel(CTX)

    def reconcile(ctx: context.Context, request: Any) -> Any:
        calls.append(request)
        if len(calls) == 1:
            return returned
        cancel()
        return None

    options: controller.Options = controller.Options(reconciler=reconcile, skip_name_validation=True)
    made = controller.new_unmanaged("returns-anything", options)
    made.watch(source.Func(lambda ctx, queue: queue.add(KEY)))
    made.start(ctx)
    assert calls == [KEY, KEY], "it is tried again, as after any other bug"
