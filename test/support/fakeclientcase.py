"""A golden case of the fake client at work, a step at a time."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from goldenruntime import (
    Document,
    dense,
    error_of,
    example,
    is_typed,
    kind_of,
    list_example,
    mapper,
    shown,
    to_object,
)

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake
from clientgo.testing import synctest

_WIDGET = kind_of("example.com/v1", "Widget")


def build(config: Document) -> client.WithWatch:
    """Return the fake client of a case."""
    builder = fake.new_client_builder().with_rest_mapper(mapper(widget=False))
    builder.with_objects(*(to_object(doc, "typed") for doc in config["objects"]))
    if config["widget_has_status_subresource"]:
        widget = Unstructured()
        widget.set_group_version_kind(_WIDGET)
        builder.with_status_subresource(widget)
    if config.get("return_managed_fields"):
        builder.with_return_managed_fields()
    for name in config.get("configmap_indexes", ()):
        builder.with_index(corev1.ConfigMap, name, _INDEXES[name])
    return builder.build()


def _data_v(obj: Any) -> list[str]:
    return [obj.to_dict().get("data", {}).get("v", "")]


def _app(obj: Any) -> list[str]:
    found = obj.get_labels().get("app")
    return [found] if found else []


_INDEXES = {"data.v": _data_v, "app": _app}


class FakeClientCase:
    """One case; `step` does one step and returns what there is to see then."""

    def __init__(self, bubble: synctest.Bubble, config: Document) -> None:
        self._bubble = bubble
        self.client = build(config)
        self._ctx = context.background()
        self._watcher: watch.Interface | None = None

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()

    def step(self, op: str, args: Document) -> Document:
        if op != "watch":
            self._bubble.sleep(1)
        given = {("as_" if name == "as" else name): value for name, value in args.items()}
        outcome: Document = getattr(self, op)(**given)
        self._bubble.wait()
        if self._watcher is not None and op != "watch":
            outcome["watch_events"] = self._events()
        return outcome

    def _events(self) -> list[Document]:
        assert self._watcher is not None
        events: list[Document] = []
        while True:
            event, ok, ready = self._watcher.result_chan().try_receive()
            if not ready or not ok or event is None:
                return events
            obj: Any = event.object
            events.append(
                {
                    "type": str(event.type),
                    "namespace": obj.get_namespace(),
                    "name": obj.get_name(),
                    "resource_version": obj.get_resource_version(),
                }
            )

    def _write(self, obj: Any, call: Any) -> Document:
        """Call, and show the caller's object afterwards; when the call fails it must be as it was."""
        before = obj.to_dict()
        try:
            call()
        except Exception as err:
            assert obj.to_dict() == before, "a failed write changed the caller's object"
            return {"error": error_of(err)}
        return {"error": None, "object": shown(obj)}

    def create(self, object: Document, dry_run: bool = False) -> Document:
        obj = to_object(object, "typed")
        return self._write(obj, lambda: self.client.create(self._ctx, obj, *_dry_run(dry_run)))

    def update(self, object: Document, dry_run: bool = False) -> Document:
        obj = to_object(object, "typed")
        return self._write(obj, lambda: self.client.update(self._ctx, obj, *_dry_run(dry_run)))

    def status_update(self, object: Document) -> Document:
        obj = to_object(object, "typed")
        return self._write(obj, lambda: self.client.status().update(self._ctx, obj))

    def apply(self, object: Document, field_owner: str, force: bool, status: bool = False) -> Document:
        obj = to_object(object, "unstructured")
        opts: list[Any] = [client.FieldOwner(field_owner)] if field_owner else []
        if force:
            opts.append(client.FORCE_OWNERSHIP)
        where: Any = self.client.status() if status else self.client
        return self._write(obj, lambda: where.apply(self._ctx, obj, *opts))

    def patch(self, **args: Any) -> Document:
        return self._patch(self.client, **args)

    def status_patch(self, **args: Any) -> Document:
        return self._patch(self.client.status(), **args)

    def _patch(
        self,
        where: Any,
        apiVersion: str,
        kind: str,
        as_: str,
        name: str,
        namespace: str,
        patch: str,
        type: str,
        dry_run: bool = False,
        force: bool = False,
    ) -> Document:
        document = {"apiVersion": apiVersion, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
        obj = to_object(document, as_)
        opts = [*_dry_run(dry_run), *([client.FORCE_OWNERSHIP] if force else [])]
        return self._write(obj, lambda: where.patch(self._ctx, obj, client.raw_patch(type, patch.encode()), *opts))

    def patch_from(self, **args: Any) -> Document:
        return self._patch_from(self.client, **args)

    def status_patch_from(self, **args: Any) -> Document:
        return self._patch_from(self.client.status(), **args)

    def _patch_from(
        self, where: Any, original: Document, modified: Document, optimistic_lock: bool, strategic: bool
    ) -> Document:
        before, obj = to_object(original, "typed"), to_object(modified, "typed")
        lock = [client.MergeFromWithOptimisticLock()] if optimistic_lock else []
        make = client.strategic_merge_from if strategic else client.merge_from_with_options
        patch = make(before, *lock)
        try:
            data, data_error = patch.data(obj).decode(), None
        except Exception as err:
            data, data_error = "", str(err)
        outcome = self._write(obj, lambda: where.patch(self._ctx, obj, patch))
        return {**outcome, "data": data, "data_error": data_error, "type": patch.type()}

    def get(self, apiVersion: str, kind: str, as_: str, name: str, namespace: str) -> Document:
        try:
            found = self.client.get(self._ctx, client.ObjectKey(namespace, name), example(apiVersion, kind, as_))
        except Exception as err:
            return {"error": error_of(err)}
        assert is_typed(as_, kind) or found.group_version_kind() == kind_of(apiVersion, kind)
        return {"error": None, "object": shown(found)}

    def list(self, apiVersion: str, kind: str, as_: str, **given: Any) -> Document:
        opts: list[Any] = []
        if "in_namespace" in given:
            opts.append(client.InNamespace(given["in_namespace"]))
        if "matching_labels" in given:
            opts.append(client.MatchingLabels(given["matching_labels"]))
        if "has_labels" in given:
            opts.append(client.HasLabels(given["has_labels"]))
        if "label_selector" in given:
            opts.append(client.MatchingLabelsSelector(labels.parse(given["label_selector"])))
        if "matching_fields" in given:
            opts.append(client.MatchingFields(given["matching_fields"]))
        if "limit" in given:
            opts.append(client.Limit(given["limit"]))
        try:
            listed = self.client.list(self._ctx, list_example(apiVersion, kind, as_), *opts)
        except Exception as err:
            return {"error": error_of(err)}
        return {
            "error": None,
            "continue": listed.get_continue(),
            "resource_version": listed.get_resource_version(),
            "items_sorted": sorted(_shorthand(item) for item in meta.extract_list(listed)),
        }

    def delete(
        self,
        apiVersion: str,
        kind: str,
        name: str,
        namespace: str,
        dry_run: bool = False,
        precondition_resource_version: str | None = None,
    ) -> Document:
        document = {"apiVersion": apiVersion, "kind": kind, "metadata": {"name": name, "namespace": namespace}}
        opts: list[Any] = [*_dry_run(dry_run)]
        if precondition_resource_version is not None:
            opts.append(client.Preconditions(resource_version=precondition_resource_version))
        try:
            self.client.delete(self._ctx, to_object(document, "typed"), *opts)
        except Exception as err:
            return {"error": error_of(err)}
        return {"error": None}

    def delete_all_of(
        self, apiVersion: str, kind: str, in_namespace: str = "", matching_labels: Document | None = None
    ) -> Document:
        opts: list[Any] = [client.InNamespace(in_namespace)] if in_namespace else []
        if matching_labels is not None:
            opts.append(client.MatchingLabels(matching_labels))
        error = None
        try:
            self.client.delete_all_of(self._ctx, example(apiVersion, kind, "typed"), *opts)
        except Exception as err:
            error = error_of(err)
        left = self.client.list(self._ctx, list_example(apiVersion, kind, "typed"))
        return {"error": error, "left_sorted": sorted(_left(item) for item in meta.extract_list(left))}

    def watch(self, apiVersion: str, kind: str, namespace: str) -> Document:
        self._watcher = self.client.watch(
            self._ctx, list_example(apiVersion, kind, "typed"), client.InNamespace(namespace)
        )
        return {"error": None}


def _dry_run(wanted: bool) -> list[Any]:
    return [client.DRY_RUN_ALL] if wanted else []


def _shorthand(obj: Any) -> str:
    return f"{obj.get_namespace() or '<nil>'}/{obj.get_name()}@{obj.get_resource_version()}"


def _left(obj: Any) -> str:
    return f"{_shorthand(obj)} deleting={str(obj.get_deletion_timestamp() is not None).lower()}"


# What the fake client itself says of a patch; everything else without a status comes from Go's patch libraries.
_OWN_TEXTS = ("rejected patch", "error: Unable to edit", "cannot use OptimisticLock")


def comparable(outcome: Document) -> Document:
    """Return the outcome without unspecified parts: the texts of patch libraries, and Go's format of objects.

    The object of a failed write is removed too. Go may have changed it. Here it is unchanged, which `step` checks.
    """
    shown_outcome = dict(outcome)
    error = shown_outcome.get("error")
    if error is not None:
        shown_outcome.pop("object", None)
    elif "object" in shown_outcome:
        shown_outcome["object"] = dense(shown_outcome["object"])
    if error is None and "managedFields" in shown_outcome.get("object", {}).get("metadata", {}):
        _make_managed_fields_comparable(shown_outcome["object"])
    for name in ("error", "data_error"):
        value = shown_outcome.get(name)
        message = value["message"] if isinstance(value, dict) else value
        if message and message.startswith("cannot use OptimisticLock"):
            shown_outcome[name] = message.partition(", object ")[0]
    return shown_outcome


def _make_managed_fields_comparable(obj: Document) -> None:
    """Leave who owns which fields that have a value.

    In Go zero values are owned as well, since its structs have them all; documents here hold none. The times are left
    out: the cases were not made to show them.
    """
    entries = []
    for entry in obj["metadata"].pop("managedFields"):
        owned = _owned(entry.get("fieldsV1") or {}, obj)
        if owned:
            entries.append({**{key: entry[key] for key in entry if key not in ("time", "fieldsV1")}, "owned": owned})
    obj["metadata"]["managedFields"] = entries


# Owned as a whole, whatever is in them.
_ATOMIC = ("f:selector", "f:finalizers", "f:items")


def _owned(fields: Document, value: Any) -> list[str]:
    """Return the paths of FieldsV1 that have a value. Maps and lists appear only through their items."""
    found: list[str] = []
    for name, below in sorted(fields.items()):
        item = None if name == "." else _item(value, name)
        if not item:
            continue
        if name in _ATOMIC or not isinstance(item, (dict, list)):
            found.append(name)
        else:
            found += [f"{name} {path}" for path in _owned(below, item)]
    return found


def _item(value: Any, name: str) -> Any:
    """Return the item of a document for a path element."""
    kind, _, text = name.partition(":")
    if kind == "f":
        return value.get(text) if isinstance(value, dict) else None
    wanted = json.loads(text)
    items = value if isinstance(value, list) else []
    if kind == "v":
        return wanted if wanted in items else None
    return next((item for item in items if wanted.items() <= item.items()), None)


def from_patch_library(step: Document) -> bool:
    """Report whether the step fails with a text of Go's patch libraries."""
    error = step["expect"].get("error")
    if error is None or "code" in error or not step["op"].endswith("patch"):
        return False
    return not error["message"].startswith(_OWN_TEXTS)


def same_second(outcome: Document, expect: Document) -> Document:
    """Return the outcome with the case's deletionTimestamp, if that is at most a second away: the case's clock ran on
    at times between two steps.
    """
    got, wanted = (each.get("object", {}).get("metadata", {}) for each in (outcome, expect))
    times = [datetime.fromisoformat(each["deletionTimestamp"]) for each in (got, wanted) if "deletionTimestamp" in each]
    if len(times) == 2 and abs(times[0] - times[1]) <= timedelta(seconds=1):
        got["deletionTimestamp"] = wanted["deletionTimestamp"]
    return outcome


def beyond_go(step: Document) -> bool:
    """Report whether Go lacks a type for the step, which lists unstructured objects as metadata."""
    error = step["expect"].get("error")
    return error is not None and "can't assign or convert" in error["message"]


def without_text(outcome: Document) -> Document:
    """Return the outcome with the error replaced by a marker for "not an API error"."""
    error = outcome["error"]
    assert error is not None and "code" not in error, outcome
    return {**outcome, "error": "of a patch library"}


__all__ = ["FakeClientCase", "beyond_go", "build", "comparable", "from_patch_library", "same_second", "without_text"]
