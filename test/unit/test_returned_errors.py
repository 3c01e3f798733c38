"""A function that returns its error, as in Go, or that is async has failed, wherever the library calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.util.errors import aggregate_goroutines
from clientgo.controller_runtime import client, source
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.controller_runtime.controller import controllerutil
from clientgo.tools import pager

CTX = context.background()
POD = corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="ns"))
NO_QUEUE: Any = None
PODS = {"apiVersion": "v1", "kind": "PodList", "items": [{"apiVersion": "v1", "kind": "Pod"}]}


def returns_its_error(*_: object) -> Any:
    return ValueError("returned")


async def is_async(*_: object) -> Any:
    raise AssertionError("nothing awaits it")


def takes_too_many(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    raise AssertionError("nothing calls it with six arguments")


def a_client(*objects: Any) -> client.WithWatch:
    return fake.new_client_builder().with_objects(*(each.deep_copy() for each in objects)).build()


def aggregate(fn: Callable[..., Any]) -> None:
    failed = aggregate_goroutines(fn)
    assert failed is not None
    raise failed.errors()[0]


def with_pager(fn: Callable[..., Any]) -> None:
    pager.new(lambda ctx, options: corev1.PodList(items=[POD])).each_list_item(CTX, metav1.ListOptions(), fn)


CALLERS: dict[str, Callable[[Callable[..., Any]], object]] = {
    "aggregate_goroutines": aggregate,
    "each item": lambda fn: meta.each_list_item(corev1.PodList(items=[POD]), fn),
    "each item of a document": lambda fn: Unstructured.from_dict(PODS).each_list_item(fn),
    "each item of a list of documents": lambda fn: UnstructuredList.from_dict(PODS).each_list_item(fn),
    "each item of all pages": with_pager,
    "pages": lambda fn: pager.new(fn).list(CTX, metav1.ListOptions()),
    "a source": lambda fn: source.Func(fn).start(CTX, NO_QUEUE),
    "create or update": lambda fn: controllerutil.create_or_update(CTX, a_client(), POD.deep_copy(), fn),
    "create or patch": lambda fn: controllerutil.create_or_patch(CTX, a_client(POD), POD.deep_copy(), fn),
}


@pytest.mark.parametrize("call", CALLERS.values(), ids=CALLERS)
def test_what_a_function_returns_in_place_of_a_result_is_its_failure(call: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="^returned$"):
        call(returns_its_error)
    with pytest.raises(TypeError, match="is_async is an async function: define it with def"):
        call(is_async)
    with pytest.raises(TypeError, match=r"missing .*: takes_too_many at test_returned_errors.py:\d+"):
        call(takes_too_many)


def calls_of(c: client.WithWatch) -> dict[str, Callable[[], object]]:
    """Return a call of each method that a function of interceptor.Funcs replaces, by the name of the function."""
    patch = client.merge_from(POD)
    applied: Any = POD
    status = c.sub_resource("status")
    return {
        "get": lambda: c.get(CTX, client.ObjectKey("ns", "p"), corev1.Pod),
        "list": lambda: c.list(CTX, corev1.PodList),
        "create": lambda: c.create(CTX, POD),
        "delete": lambda: c.delete(CTX, POD),
        "delete_all_of": lambda: c.delete_all_of(CTX, corev1.Pod),
        "update": lambda: c.update(CTX, POD),
        "patch": lambda: c.patch(CTX, POD, patch),
        "apply": lambda: c.apply(CTX, applied),
        "watch": lambda: c.watch(CTX, corev1.PodList),
        "sub_resource_get": lambda: status.get(CTX, POD, corev1.Pod),
        "sub_resource_create": lambda: status.create(CTX, POD, POD),
        "sub_resource_update": lambda: status.update(CTX, POD),
        "sub_resource_patch": lambda: status.patch(CTX, POD, patch),
        "sub_resource_apply": lambda: status.apply(CTX, applied),
    }


@pytest.mark.parametrize("name", [field.name for field in fields(interceptor.Funcs)])
def test_an_interceptor_may_return_its_error(name: str) -> None:
    intercepted = interceptor.new_client(a_client(), interceptor.Funcs(**{name: returns_its_error}))
    call = (lambda: intercepted.status()) if name == "sub_resource" else calls_of(intercepted)[name]
    with pytest.raises(ValueError, match="^returned$"):
        call()
