"""Conversion of custom resources by a webhook. Mirrors apiextensions-apiserver's conversion/webhook_converter.go.

A converter remembers its results until the stored object changes, as Go's watch cache of each version does. Differs:
the results of all converters have one bound, and a list converts its objects in one call. If an object cannot be
converted, the watch ends and its client lists again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from clientgo.golang.json import kind_of
from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.kinds.object_meta import check_annotations, check_labels
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text
from clientgo.testing.apiserver.wire.webhooks import CallError, ClientError, WebhookClients

if TYPE_CHECKING:
    from clientgo.apiextensions.v1 import ConversionResponse

# Seconds for one call.
_TIMEOUT = 30.0
_IDENTITY = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))
# Go's names of the types that it reads JSON into.
_GO_TYPES = {dict: "map[string]interface {}", list: "[]interface {}", int: "int64", float: "float64", str: "string"}


class Converter:
    """A converter of one kind's objects to one version. Thread-safe; blocks while it calls the webhook."""

    def __init__(self, clients: WebhookClients, webhook: Json, api_version: str) -> None:
        self._clients = clients
        self._webhook = webhook
        self._api_version = api_version

    def __repr__(self) -> str:
        return f"<Converter to {self._api_version}>"

    def convert(self, obj: Json) -> Json:
        """Return a stored object in this converter's version. Raises ApiError 500 if the webhook fails.

        The result is remembered until the stored object changes, or others need its room.
        """
        if obj.get("apiVersion") == self._api_version:
            return obj
        known = self._remembered(obj)
        if known is None:
            (known,) = self._convert_remotely([obj])
            self._remember([(obj, known)])
        return known

    def convert_once(self, obj: Json) -> Json:
        """Return an object that is not stored yet in this converter's version, without remembering it.

        Raises ApiError 500.
        """
        return obj if obj.get("apiVersion") == self._api_version else self._convert_remotely([obj])[0]

    def prepare(self, objects: Iterable[Json]) -> None:
        """Convert many stored objects in one call, so that `convert` finds them. Raises ApiError 500."""
        missing = [
            obj for obj in objects if obj.get("apiVersion") != self._api_version and self._remembered(obj) is None
        ]
        if missing:
            self._remember(list(zip(missing, self._convert_remotely(missing), strict=True)))

    def _remember(self, pairs: list[tuple[Json, Json]]) -> None:
        self._clients.conversions.put([(self._key(obj), obj, made) for obj, made in pairs])

    def _remembered(self, obj: Json) -> Json | None:
        return self._clients.conversions.get(self._key(obj), obj)

    def _key(self, obj: Json) -> tuple[Converter, str]:
        return self, obj["metadata"].get("uid", "")

    def _convert_remotely(self, objects: list[Json]) -> list[Json]:
        kind = f"{objects[0].get('apiVersion')}, Kind={objects[0].get('kind')}"
        try:
            converted = self._answer(objects)
        except (CallError, ClientError, ValueError, TypeError) as err:
            raise errors.internal_text(f"conversion webhook for {kind} failed: {err}") from None
        if len(converted) != len(objects):
            text = f"conversion webhook for {kind} returned {len(converted)} objects, expected {len(objects)}"
            raise errors.internal_text(text)
        return [self._checked(kind, old, new) for old, new in zip(objects, converted, strict=True)]

    def _answer(self, objects: list[Json]) -> list[Json]:
        """Send the objects to the webhook and return the converted ones.

        Raises CallError, ClientError or ValueError.
        """
        from clientgo.apiextensions.v1 import ConversionReview  # Here: most servers convert by no webhook.

        versions = self._webhook.get("conversionReviewVersions") or ()
        version = next((one for one in versions if one in ("v1", "v1beta1")), None)
        if version is None:
            raise ValueError("no supported conversion review versions")
        uid = str(uuid.uuid4())
        kind: Json = {"kind": "ConversionReview", "apiVersion": f"apiextensions.k8s.io/{version}"}
        request = {"uid": uid, "desiredAPIVersion": self._api_version, "objects": objects}
        answer = self._clients.post(self._webhook.get("clientConfig") or {}, {**kind, "request": request}, _TIMEOUT)
        review = ConversionReview.from_dict(answer)
        if version == "v1":
            _check_kind(answer, kind)
        return _objects(review.response, uid if version == "v1" else None)

    def _checked(self, kind: str, old: Json, new: Any) -> Json:
        """Validate the new object and return it with the old metadata, but its own labels and annotations.

        Raises ApiError 500.
        """
        head = f"conversion webhook for {kind} returned invalid"
        _check_object(new)
        api_version, wanted = _text(new, "apiVersion"), self._api_version
        for name, before, after in (("groupVersion", wanted, api_version), ("kind", old["kind"], new["kind"])):
            if before != after:
                text = f"{head} object at index 0: invalid {name} (expected {before}, received {after})"
                raise errors.internal_text(text)
        metadata = new.get("metadata")
        for field, name in _IDENTITY:
            before, after = _text(old["metadata"], field), _text(metadata, field)
            if before != after:
                raise errors.internal_text(f"{head} object: must have the same {name}: {before} != {after}")
        try:
            return {**new, "metadata": _restored(old["metadata"], new)}
        except ValueError as err:
            raise errors.internal_text(f"{head} metadata: {err}") from None


def _text(document: Any, field: str) -> str:
    """Return a field that is a text, "" for all others. Go: unstructured.Unstructured.GetName and its like."""
    value = document.get(field) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""


def _check_kind(answer: Json, kind: Json) -> None:
    """Raise ValueError unless a review has the requested kind. Reviews of v1beta1 may have any kind or none."""
    given = {name: _text(answer, name) for name in kind}
    if given != kind:
        wanted = f"{kind['apiVersion']}, Kind={kind['kind']}"
        text = f"{given['apiVersion'] or '/'}, Kind={given['kind']}"
        raise ValueError(f"expected webhook response of {wanted}, got {text}")


def _objects(response: ConversionResponse | None, uid: str | None) -> list[Json]:
    """Return the converted objects of a response. `uid` is None if the response needs none.

    Raises ValueError if it is missing, has another UID, or reports a failure.
    """
    if response is None:
        raise ValueError("no response provided")
    if uid is not None and response.uid != uid:
        raise ValueError(f"expected response.uid={quote(uid)}, got {quote(response.uid)}")
    status = response.result.status
    if status != "Success":
        raise ValueError(response.result.message or f"response.result.status was '{status}', not 'Success'")
    return list(response.to_dict().get("convertedObjects") or ())


def _check_object(obj: Any) -> None:
    """Raise ApiError 500 unless a converted object is an object with a kind."""
    if obj is None:
        raise errors.internal_text("unexpected end of JSON input")
    if not isinstance(obj, dict):
        text = f"json: cannot unmarshal {kind_of(obj)} into Go value of type {_GO_TYPES[dict]}"
        raise errors.internal_text(text)
    if not _text(obj, "kind"):
        raise errors.internal_text(f"Object 'Kind' is missing in '{dumps_text(obj)}'")


def _restored(old: Json, new: Json) -> Json:
    """Return the old metadata with the new object's labels and annotations. Raises ValueError if those are invalid.

    Go: restoreObjectMeta.
    """
    if "metadata" not in new:
        raise ValueError("missing metadata in converted object")
    given = new["metadata"]
    if not isinstance(given, dict):
        raise ValueError(f"invalid metadata of type {_go_type(given)} in converted object")
    # Go names the field of annotations so.
    checks = (("labels", check_labels, "metadata.labels"), ("annotations", check_annotations, "metadata.annotation"))
    out = dict(old)
    for name, check, field in checks:
        values = given.get(name)
        before = out.pop(name, None) or {}
        if values is None:
            continue
        if not isinstance(values, dict):
            raise ValueError(f"invalid metadata.{name} of type {_go_type(values)} in converted object")
        for key, value in values.items():
            if not isinstance(value, str):
                text = f"metadata.{name}[{key}] must be a string, but is {_go_type(value)} in converted object"
                raise ValueError(text)
        if values != before and (wrong := check(values, field)):
            raise ValueError(errors.aggregate(wrong))
        if values:
            out[name] = values
    return {name: out[name] for name in sorted(out)}


def _go_type(value: Any) -> str:
    """Return the name of the type that Go reads a JSON value into."""
    return "<nil>" if value is None else "bool" if isinstance(value, bool) else _GO_TYPES[type(value)]
