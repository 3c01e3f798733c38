"""CreateOrUpdate and CreateOrPatch (golden controller_runtime/controllerutil/create_or.jsonl)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fakeclientcase import build
from goldenfile import cases
from goldenruntime import Document, dense, error_of, shown, to_object

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ReadOnlyError
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.controller_runtime.controller import controllerutil

_THINGS = GroupResource("", "things")


def injected(error: str) -> Exception:
    name = "x"
    match error:
        case "error":
            return RuntimeError("injected error")
        case "not_found":
            return apierrors.new_not_found(_THINGS, name)
        case "conflict":
            return apierrors.new_conflict(_THINGS, name, "modified")
        case "already_exists":
            return apierrors.new_already_exists(_THINGS, name)
        case "forbidden":
            return apierrors.new_forbidden(_THINGS, name, "no")
    raise AssertionError(f"unknown error {error}")


class Recorder:
    """A client that records its calls, and can fail the next request of a verb."""

    def __init__(self, config: Document) -> None:
        self.requests: list[Document] = []
        self.inject: Document = {}
        funcs = interceptor.Funcs(
            get=self._get,
            create=self._create,
            update=self._update,
            patch=self._patch,
            sub_resource_patch=self._sub_resource_patch,
        )
        self.client = interceptor.new_client(build(config), funcs)

    def _note(self, verb: str, **fields: Any) -> None:
        self.requests.append({"verb": verb, **fields})
        if self.inject.get("verb") == verb:
            error, self.inject = self.inject["error"], {}
            raise injected(error)

    def _note_patch(self, verb: str, obj: Any, patch: client.Patch) -> None:
        key = str(client.object_key_from_object(obj))
        self._note(verb, key=key, type=patch.type(), data=patch.data(obj).decode())

    def _get(self, ctx: Any, c: client.Client, key: client.ObjectKey, obj: Any, *opts: Any) -> Any:
        self._note("get", key=str(key))
        return c.get(ctx, key, obj, *opts)

    def _create(self, ctx: Any, c: client.Client, obj: Any, *opts: Any) -> None:
        self._note("create", object=shown(obj))
        c.create(ctx, obj, *opts)

    def _update(self, ctx: Any, c: client.Client, obj: Any, *opts: Any) -> None:
        self._note("update", object=shown(obj))
        c.update(ctx, obj, *opts)

    def _patch(self, ctx: Any, c: client.Client, obj: Any, patch: client.Patch, *opts: Any) -> None:
        self._note_patch("patch", obj, patch)
        c.patch(ctx, obj, patch, *opts)

    def _sub_resource_patch(
        self, ctx: Any, c: client.Client, sub_resource: str, obj: Any, patch: client.Patch, *opts: Any
    ) -> None:
        self._note_patch(f"patch/{sub_resource}", obj, patch)
        c.sub_resource(sub_resource).patch(ctx, obj, patch, *opts)


def mutation(obj: Any, changes: list[Document] | None) -> Callable[[], None] | None:
    """Return a mutate function that applies `changes` in order."""
    if changes is None:
        return None

    def mutate() -> None:
        for change in changes:
            for name, value in change.items():
                _CHANGES[name](obj, value)

    return mutate


def _set_spec(obj: Any, value: int) -> None:
    match shown(obj):
        case {"kind": "Deployment"}:
            obj.spec.replicas = value
        case {"kind": "ConfigMap"}:
            obj.data = {"n": str(value)}
        case {"kind": "Pod"}:
            obj.spec.node_name = f"node{value}"
        case _:
            obj.object.setdefault("spec", {})["n"] = value


def _set_status(obj: Any, value: int) -> None:
    match shown(obj):
        case {"kind": "Deployment"}:
            obj.status.replicas = value
        case {"kind": "Pod"}:
            obj.status.message = str(value)
        case {"kind": "Widget"}:
            status = obj.object.setdefault("status", {})
            if status is not None:  # Go's helper cannot set a field of null.
                status["n"] = value


def _fail(obj: Any, value: Any) -> None:
    raise RuntimeError("mutate failed")


_CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "set_spec": _set_spec,
    "set_status": _set_status,
    "set_label": lambda obj, value: obj.set_labels({"l": value}),
    "remove_labels": lambda obj, value: obj.set_labels(None),
    "set_name": lambda obj, value: obj.set_name(value),
    "error": _fail,
}


def loses_status(step: Document) -> bool:
    """Report whether Go forgets the status here: its CreateOrPatch removes that from an unstructured object for good,
    when it means to leave it out of a comparison. A patch then deletes it, or does not write it. Not copied.
    """
    return step["op"] == "create_or_patch" and step["args"]["object"]["kind"] == "Widget"


def without_status(outcome: Document) -> Document:
    requests = [dict(request) for request in outcome["requests"]]
    for request in requests:
        if request["verb"].startswith("patch"):
            data = json.loads(request["data"])
            data.pop("status", None)
            request["data"] = data
    return {**outcome, "requests": requests, "object": {**outcome["object"], "status": None}}


@pytest.mark.parametrize("case", cases("controller_runtime/controllerutil/create_or.jsonl"))
def test_create_or_update_and_patch_do_what_go_does(case: dict[str, Any]) -> None:
    """
    Go: controller/controllerutil: Controllerutil > CreateOrUpdate
    Go: controller/controllerutil: Controllerutil > CreateOrPatch
    Go: controller/controllerutil: ExampleCreateOrUpdate
    """
    recorder = Recorder(case["config"])
    for step in case["steps"]:
        args = step["args"]
        obj = to_object(args["object"], "typed")
        recorder.requests.clear()
        recorder.inject = dict(args.get("inject") or {})
        got: Document = {"error": None}
        call = getattr(controllerutil, step["op"])
        try:
            got["result"] = str(call(context.background(), recorder.client, obj, mutation(obj, args["mutate"])))
        except Exception as err:
            got["error"] = error_of(err)
            got["result"] = str(getattr(err, "operation_result", controllerutil.OperationResult.NONE))
        got["object"] = shown(obj)
        got["requests"] = [dense(request) for request in recorder.requests]
        expect = {**step["expect"], "object": dense(step["expect"]["object"])}
        expect["requests"] = [dense(request) for request in expect["requests"]]
        if got["error"] is not None:
            # A failed write of Go's fake client leaves these in the caller's object.
            expect["object"]["metadata"].pop("managedFields", None)
        if got == expect:
            continue
        assert loses_status(step), [(k, got.get(k), expect.get(k)) for k in expect if got.get(k) != expect.get(k)]
        assert without_status(got) == without_status(expect), step
        break  # From here on there is another status.


@pytest.mark.parametrize("function", [controllerutil.create_or_update, controllerutil.create_or_patch])
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_object_is_refused_before_any_request(function: Any, exists: bool) -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="a"))
    requests: list[str] = []

    def get(ctx: context.Context, c: client.WithWatch, key: Any, into: Any, *opts: Any) -> Any:
        requests.append("get")
        raise apierrors.new_not_found(_THINGS, key.name)

    builder = fake.new_client_builder().with_objects(*[pod] * exists)
    c = interceptor.new_client(builder.build(), interceptor.Funcs(get=get))
    with pytest.raises(ReadOnlyError):
        function(context.background(), c, pod.deep_copy().freeze(), lambda: None)
    assert requests == []
