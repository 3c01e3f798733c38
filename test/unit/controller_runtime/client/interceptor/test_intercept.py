"""Interceptors: each call goes to the function that is given for it, and to the client without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context
from clientgo.api.autoscaling import v1 as autoscalingv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import interceptor

CTX = context.background()
POD = corev1.Pod()
KEY = client.ObjectKey(namespace="ns", name="p")
PATCH = client.merge_from(POD)
APPLIED = corev1.Pod()
OPTION = client.DRY_RUN_ALL


class Below:
    """A client that notes what is called, whatever it is."""

    def __init__(self, calls: list[Any], path: str = "") -> None:
        self._calls = calls
        self._path = path

    def status(self) -> Below:
        return Below(self._calls, "status.")

    def sub_resource(self, name: str) -> Below:
        return Below(self._calls, f"{name}.")

    def __getattr__(self, name: str) -> Callable[..., str]:
        def call(*args: Any) -> str:
            self._calls.append((self._path + name, *args))
            return "from below"

        return call


CALLS: dict[str, tuple[Any, ...]] = {
    "get": (CTX, KEY, corev1.Pod, client.GetOptions()),
    "list": (CTX, corev1.PodList, client.Limit(1)),
    "create": (CTX, POD, OPTION),
    "delete": (CTX, POD, OPTION),
    "delete_all_of": (CTX, corev1.Pod, client.InNamespace("ns")),
    "update": (CTX, POD, OPTION),
    "patch": (CTX, POD, PATCH, OPTION),
    "apply": (CTX, APPLIED, OPTION),
    "watch": (CTX, corev1.PodList, client.InNamespace("ns")),
}
SUB_CALLS: dict[str, tuple[Any, ...]] = {
    "get": (CTX, POD, autoscalingv1.Scale),
    "create": (CTX, POD, policyv1.Eviction(), OPTION),
    "update": (CTX, POD, OPTION),
    "patch": (CTX, POD, PATCH, OPTION),
    "apply": (CTX, APPLIED, OPTION),
}
ANSWERING = {"get", "list", "watch"}


def call(c: Any, verb: str, args: tuple[Any, ...]) -> Any:
    return getattr(c, verb)(*args)


@pytest.mark.parametrize("verb", CALLS)
def test_a_call_goes_to_its_function_and_to_nothing_else(verb: str) -> None:
    """
    Go: client/interceptor: NewClient > should call the provided
    """
    calls: list[Any] = []
    seen: list[Any] = []
    below: Any = Below(calls)

    def function(*args: Any) -> str:
        seen.append(args)
        return "from the function"

    answer = call(interceptor.new_client(below, interceptor.Funcs(**{verb: function})), verb, CALLS[verb])
    ctx, *others = CALLS[verb]
    assert seen == [(ctx, below, *others)]
    assert calls == []
    if verb in ANSWERING:
        assert answer == "from the function"


@pytest.mark.parametrize("verb", CALLS)
def test_a_call_without_a_function_goes_to_the_client_below(verb: str) -> None:
    """
    Go: client/interceptor: NewClient > should call the underlying client if the provided
    """
    calls: list[Any] = []
    below: Any = Below(calls)
    others = {name: pytest.fail for name in CALLS if name != verb}
    answer = call(interceptor.new_client(below, interceptor.Funcs(**others)), verb, CALLS[verb])  # type: ignore[arg-type]
    assert calls == [(verb, *CALLS[verb])]
    if verb in ANSWERING:
        assert answer == "from below"


@pytest.mark.parametrize("name", ["status", "scale"])
@pytest.mark.parametrize("verb", SUB_CALLS)
def test_a_call_of_a_subresource_goes_to_its_function(verb: str, name: str) -> None:
    """
    Go: client/interceptor: NewSubResourceClient > should call the provided
    """
    calls: list[Any] = []
    seen: list[Any] = []
    below: Any = Below(calls)

    def function(*args: Any) -> str:
        seen.append(args)
        return "from the function"

    c = interceptor.new_client(below, interceptor.Funcs(**{f"sub_resource_{verb}": function}))  # type: ignore[arg-type]
    sub = c.status() if name == "status" else c.sub_resource(name)
    answer = call(sub, verb, SUB_CALLS[verb])
    ctx, *others = SUB_CALLS[verb]
    assert seen == [(ctx, below, name, *others)]
    assert calls == []
    if verb == "get":
        assert answer == "from the function"


@pytest.mark.parametrize("name", ["status", "scale"])
@pytest.mark.parametrize("verb", SUB_CALLS)
def test_a_call_of_a_subresource_without_a_function_goes_below(verb: str, name: str) -> None:
    """
    Go: client/interceptor: NewSubResourceClient > should call the underlying client if the provided
    """
    calls: list[Any] = []
    below: Any = Below(calls)
    c = interceptor.new_client(below, interceptor.Funcs())
    sub = c.status() if name == "status" else c.sub_resource(name)
    call(sub, verb, SUB_CALLS[verb])
    assert calls == [(f"{name}.{verb}", *SUB_CALLS[verb])]


@pytest.mark.parametrize("name", ["status", "scale"])
def test_the_whole_client_of_a_subresource_can_be_given(name: str) -> None:
    """
    Go: client/interceptor: NewClient > should call the provided SubResource function with 'status' when calling
    ... Status()
    """
    seen: list[Any] = []
    below: Any = Below([])
    mine: Any = Below([])

    def sub_resource(c: Any, asked: str) -> Any:
        seen.append((c, asked))
        return mine

    c = interceptor.new_client(below, interceptor.Funcs(sub_resource=sub_resource))
    assert (c.status() if name == "status" else c.sub_resource(name)) is mine
    assert seen == [(below, name)]


def test_a_function_can_call_the_client_below() -> None:
    calls: list[Any] = []
    below: Any = Below(calls)

    def create(ctx: context.Context, c: Any, obj: client.Object, *opts: Any) -> None:
        c.create(ctx, obj, client.FieldOwner("me"), *opts)

    interceptor.new_client(below, interceptor.Funcs(create=create)).create(CTX, POD)
    assert calls == [("create", CTX, POD, "me")]
