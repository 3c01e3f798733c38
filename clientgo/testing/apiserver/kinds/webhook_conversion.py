"""Conversion of custom resources by a webhook. Mirrors apiextensions-apiserver's conversion/webhook_converter.go.

A converter remembers its results until the stored object changes, as Go's watch cache of each version does. Differs:
for watches a webhook has two seconds, not thirty, since one thread serves all of them. If an object cannot be
converted, the watch ends and its client lists again.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.webhooks import CallError, ClientError, WebhookClients

if TYPE_CHECKING:
    from clientgo.apiextensions.v1 import ConversionResponse

TIMEOUT, WATCH_TIMEOUT = 30.0, 2.0
_KEPT = 10_000
_IDENTITY = ("name", "namespace", "uid")


class Converter:
    """A converter of one kind's objects to one version. Thread-safe; blocks while it calls the webhook."""

    def __init__(self, clients: WebhookClients, webhook: Json, api_version: str) -> None:
        self._clients = clients
        self._webhook = webhook
        self._api_version = api_version
        # Guards _known: by uid, the stored object, which never changes, and what it was made into.
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Json, Json]] = {}

    def __repr__(self) -> str:
        return f"<Converter to {self._api_version}>"

    def convert(self, obj: Json, timeout: float = TIMEOUT) -> Json:
        """Return a stored object in this converter's version. Raises ApiError 500 if the webhook fails.

        The result is remembered until the stored object changes.
        """
        if obj.get("apiVersion") == self._api_version:
            return obj
        known = self._remembered(obj)
        if known is None:
            (known,) = self._convert_remotely([obj], timeout)
            self._remember([(obj, known)])
        return known

    def convert_once(self, obj: Json) -> Json:
        """Return an object that is not stored yet in this converter's version, without remembering it.

        Raises ApiError 500.
        """
        return obj if obj.get("apiVersion") == self._api_version else self._convert_remotely([obj], TIMEOUT)[0]

    def prepare(self, objects: Iterable[Json]) -> None:
        """Convert many stored objects in one call, so that `convert` finds them. Raises ApiError 500."""
        missing = [
            obj for obj in objects if obj.get("apiVersion") != self._api_version and self._remembered(obj) is None
        ]
        if missing:
            self._remember(list(zip(missing, self._convert_remotely(missing, TIMEOUT), strict=True)))

    def _remember(self, pairs: list[tuple[Json, Json]]) -> None:
        with self._lock:
            if len(self._known) > _KEPT:
                self._known.clear()
            for obj, made in pairs:
                self._known[obj["metadata"].get("uid", "")] = (obj, made)

    def _remembered(self, obj: Json) -> Json | None:
        with self._lock:
            known = self._known.get(obj["metadata"].get("uid", ""))
        return known[1] if known is not None and known[0] is obj else None

    def _convert_remotely(self, objects: list[Json], timeout: float) -> list[Json]:
        kind = f"{objects[0].get('apiVersion')}, Kind={objects[0].get('kind')}"
        try:
            converted = self._answer(objects, timeout)
        except (CallError, ClientError, ValueError, TypeError) as err:
            raise errors.internal_text(f"conversion webhook for {kind} failed: {err}") from None
        if len(converted) != len(objects):
            text = f"conversion webhook for {kind} returned {len(converted)} objects, expected {len(objects)}"
            raise errors.internal_text(text)
        try:
            return [self._checked(old, new) for old, new in zip(objects, converted, strict=True)]
        except ValueError as err:
            raise _invalid(kind, err) from None

    def _answer(self, objects: list[Json], timeout: float) -> list[Json]:
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
        answer = self._clients.post(self._webhook.get("clientConfig") or {}, {**kind, "request": request}, timeout)
        given = {name: answer.get(name) for name in kind}
        if given != kind:
            wanted = f"{kind['apiVersion']}, Kind={kind['kind']}"
            raise ValueError(f"expected webhook response of {wanted}, got {given['apiVersion']}, Kind={given['kind']}")
        return _objects(ConversionReview.from_dict(answer).response, uid)

    def _checked(self, old: Json, new: Json) -> Json:
        """Validate the new object and return it with the old metadata, but its own labels and annotations.

        Raises ValueError.
        """
        metadata = new.get("metadata") if isinstance(new, dict) else None
        if not isinstance(metadata, dict):
            raise ValueError("missing metadata in converted object")
        if new.get("apiVersion") != self._api_version:
            raise ValueError(f"invalid groupVersion {new.get('apiVersion')}, expected {self._api_version}")
        if new.get("kind") != old.get("kind"):
            raise ValueError(f"must have the same kind: {new.get('kind')} != {old.get('kind')}")
        for name in _IDENTITY:
            before, after = old["metadata"].get(name), metadata.get(name)
            if (before or "") != (after or ""):
                raise ValueError(f"must have the same {'UID' if name == 'uid' else name}: {after} != {before}")
        out = dict(old["metadata"])
        for name in ("labels", "annotations"):
            given = metadata.get(name)
            if given and not (isinstance(given, dict) and all(isinstance(value, str) for value in given.values())):
                raise ValueError(f"invalid metadata.{name} in converted object: values must be strings")
            out.pop(name, None)
            if given:
                out[name] = given
        return {**new, "metadata": {name: out[name] for name in sorted(out)}}


def _objects(response: ConversionResponse | None, uid: str) -> list[Json]:
    """Return the converted objects of a response.

    Raises ValueError if it is missing, has another UID, or reports a failure.
    """
    if response is None:
        raise ValueError("no response provided")
    if response.uid != uid:
        raise ValueError(f"expected response.uid={quote(uid)}, got {quote(response.uid)}")
    status = response.result.status
    if status != "Success":
        raise ValueError(response.result.message or f"response.result.status was '{status}', expected 'Success'")
    return list(response.to_dict().get("convertedObjects") or ())


def _invalid(kind: str, err: ValueError) -> ApiError:
    return errors.internal_text(f"conversion webhook for {kind} returned invalid converted object: {err}")
