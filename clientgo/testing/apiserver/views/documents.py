"""Responses in bytes: objects, lists, tables, metadata, bookmarks; JSON, compact or pretty, YAML, protobuf or CBOR."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from clientgo.testing.apiserver import kinds
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.store.view import INITIAL_EVENTS_END, JSON_LINES, Framing
from clientgo.testing.apiserver.wire import http
from clientgo.testing.apiserver.wire.jsonio import Json, dumps, dumps_pretty, dumps_yaml, sort_keys
from clientgo.testing.apiserver.wire.negotiation import CBOR, CBOR_SEQUENCE, JSON, PROTOBUF, YAML, Form, include_object
from clientgo.testing.apiserver.wire.times import Times

NO_CACHE = "no-cache, private"


def render(value: Any, form: Form | None, status: int = 200, headers: dict[str, str] | None = None) -> http.Response:
    """Return a response with any document."""
    head = {"Cache-Control": NO_CACHE, **(headers or {})}
    if form is not None and form.media == YAML:
        return http.Response(status, dumps_yaml(value), YAML, head)
    if form is not None and form.media == PROTOBUF:
        message = kinds.protobuf.encode(value)
        if message is not None:
            return http.Response(status, message, PROTOBUF, head)
    if form is not None and form.media == CBOR:
        return http.Response(status, _cbor(value), CBOR, head)
    body = dumps_pretty(value) if form is not None and form.pretty else dumps(value) + b"\n"
    return http.Response(status, body, "application/json", head)


def meta_in_order(metadata: Json) -> Json:
    """Return ObjectMeta in the order of the Go struct, also for custom resources."""
    out: Json = schema.structure(schema.META_V1, "ObjectMeta").decode(metadata, schema.Context(), "", "")
    return out


PROTOBUF_FRAMES = Framing(
    f"{PROTOBUF};stream=watch",
    lambda kind, obj: kinds.protobuf.watch_event(kind, obj),
    lambda obj: kinds.protobuf.encode_known(obj),
    lambda data: kinds.protobuf.decode(data),
)


def _cbor(obj: Json) -> bytes:
    from clientgo.testing.apiserver.wire import cborio  # Here, since the extra `cbor` may be missing.

    return cborio.dumps(obj)


def _cbor_event(kind: str, raw: bytes) -> bytes:
    from clientgo.testing.apiserver.wire import cborio  # Here, since the extra `cbor` may be missing.

    return cborio.watch_event(kind, raw)


def _from_cbor(data: bytes) -> Json:
    from clientgo.testing.apiserver.wire import cborio  # Here, since the extra `cbor` may be missing.

    return cborio.loads(data)


CBOR_ITEMS = Framing(CBOR_SEQUENCE, _cbor_event, _cbor, _from_cbor)


class Documents:
    """Encodes responses. Its only state is the clock, for ages."""

    def __init__(self, times: Times) -> None:
        self._times = times

    def __repr__(self) -> str:
        return "<Documents>"

    def view(self, resource: Resource, stored: Stored) -> Json:
        """Return the object in the version of the request."""
        return resource.from_storage(stored.obj) if resource.converted else stored.obj

    def raw(self, resource: Resource, stored: Stored) -> bytes:
        return dumps(resource.from_storage(stored.obj)) if resource.converted else stored.raw

    # ---- one object

    def one(self, resource: Resource, stored: Stored, form: Form, request: http.Request, status: int) -> http.Response:
        if not form.kind and not form.pretty and form.media == JSON:
            body = self.raw(resource, stored) + b"\n"
            return http.Response(status, body, "application/json", {"Cache-Control": NO_CACHE})
        obj = self.view(resource, stored)
        if form.media == PROTOBUF and not form.kind:
            return http.Response(status, self._message(resource, stored), PROTOBUF, {"Cache-Control": NO_CACHE})
        if form.kind == "Table":
            rows = self._table(resource, [obj], include_object(request), form)
            rows["metadata"] = {"resourceVersion": str(stored.rv)}
            return render(rows, form, status)
        if form.kind == "PartialObjectMetadata":
            return render(self._partial(obj, form), form, status)
        return render(obj, form, status)

    def _table(self, resource: Resource, objects: list[Json], include: str, form: Form) -> Json:
        # Imported here: few clients other than kubectl request tables, and the import loads the columns of all kinds.
        from clientgo.testing.apiserver.views import table

        return table.make(resource, objects, self._times, include, form.version)

    def _message(self, resource: Resource, stored: Stored) -> bytes:
        """Return the object as protobuf in its envelope."""
        encode = kinds.protobuf.encode_known
        return encode(resource.from_storage(stored.obj)) if resource.converted else stored.message(encode)

    @staticmethod
    def _partial(obj: Json, form: Form) -> Json:
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": f"meta.k8s.io/{form.version}",
            "metadata": meta_in_order(obj["metadata"]),
        }

    def deleted(self, resource: Resource, name: str, uid: str, form: Form) -> http.Response:
        """Return the Success status of a completed delete."""
        details = {"name": name, "group": resource.group, "kind": resource.plural, "uid": uid}
        if not resource.group:
            del details["group"]
        return render(
            {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}, form
        )

    # ---- lists

    def many(
        self,
        resource: Resource,
        items: list[Stored],
        metadata: Json,
        form: Form,
        request: http.Request,
        shard_info: Json | None = None,
    ) -> http.Response:
        """Return the response with a list. Only lists of built-in kinds show `shard_info`, as in the real server."""
        resource.prepare(item.obj for item in items)
        if form.kind == "Table":
            objects = [self.view(resource, item) for item in items]
            rows = self._table(resource, objects, include_object(request), form)
            return render({**rows, "metadata": metadata}, form)
        if form.kind == "PartialObjectMetadata":
            listed = [self._partial(self.view(resource, item), form) for item in items]
            head = {"kind": "PartialObjectMetadataList", "apiVersion": f"meta.k8s.io/{form.version}"}
            return render({**head, "metadata": metadata, "items": listed or None}, form)
        if shard_info is not None and not resource.custom:
            metadata = {**metadata, "shardInfo": shard_info}
        if form.media == PROTOBUF:
            body = kinds.protobuf.encode_list(resource, metadata, [self._message(resource, item) for item in items])
            return http.Response(200, body, PROTOBUF, {"Cache-Control": NO_CACHE})
        if form.pretty or form.media in (YAML, CBOR):
            return render(self._list_object(resource, items, metadata), form)
        return http.Response(
            200, self._list_bytes(resource, items, metadata), "application/json", {"Cache-Control": NO_CACHE}
        )

    def _list_object(self, resource: Resource, items: list[Stored], metadata: Json) -> Json:
        objects = [self.view(resource, item) for item in items]
        head = {"kind": resource.list_kind, "apiVersion": resource.group_version}
        if resource.custom:
            return {**head, "metadata": {"continue": "", **metadata}, "items": objects}
        listed = [{k: v for k, v in obj.items() if k not in ("kind", "apiVersion")} for obj in objects]
        return {**head, "metadata": metadata, "items": listed}

    def _list_bytes(self, resource: Resource, items: list[Stored], metadata: Json) -> bytes:
        """Return the list without decoding and encoding its objects again."""
        if resource.custom:
            joined = b",".join([self.raw(resource, item) for item in items])
            head = f'{{"apiVersion":"{resource.group_version}","items":['.encode()
            tail = b'],"kind":"%b","metadata":%b}\n' % (
                resource.list_kind.encode(),
                dumps(sort_keys({"continue": "", **metadata})),
            )
            return head + joined + tail
        cut = len(resource.head)
        raws = [self.raw(resource, item) for item in items] if resource.converted else [item.raw for item in items]
        head = f'{{"kind":"{resource.list_kind}","apiVersion":"{resource.group_version}","metadata":'.encode()
        start = b'%b%b,"items":[' % (head, dumps(metadata))
        if not raws:
            return start + b"]}\n"
        # Views, so that megabytes are copied only once. The text between two objects belongs to the second one.
        parts: list[bytes | memoryview] = [start]
        for raw in raws:
            parts += (b",{", memoryview(raw)[cut:])
        parts[1] = b"{"
        parts.append(b"]}\n")
        return b"".join(parts)

    # ---- watches

    def watch_encoder(self, resource: Resource, form: Form, request: http.Request) -> Callable[[Stored], bytes] | None:
        """Return the encoder of a watch's objects, or None for the stored bytes."""
        framing = self.framing(form)
        if form.kind == "PartialObjectMetadata":
            return lambda stored: framing.encode(self._partial(self.view(resource, stored), form))
        if form.kind == "Table":
            return self._table_encoder(resource, form, include_object(request))
        if framing is CBOR_ITEMS:
            return lambda stored: framing.encode(self.view(resource, stored))
        if framing is not JSON_LINES:
            if resource.converted:
                return partial(self._message, resource)
            known = kinds.protobuf.encode_known
            return lambda stored: stored.message(known)
        if resource.converted:
            return lambda stored: self.raw(resource, stored)
        return None

    @staticmethod
    def framing(form: Form) -> Framing:
        """Return the framing of a watch's events."""
        if form.media == CBOR:
            return CBOR_ITEMS
        return PROTOBUF_FRAMES if form.media == PROTOBUF else JSON_LINES

    def _table_encoder(self, resource: Resource, form: Form, include: str) -> Callable[[Stored], bytes]:
        first, framing = True, self.framing(form)

        def encode(stored: Stored) -> bytes:
            nonlocal first
            rows = self._table(resource, [self.view(resource, stored)], include, form)
            rows["metadata"] = {"resourceVersion": str(stored.rv)}
            if not first:
                rows["columnDefinitions"] = None
            first = False
            return framing.encode(rows)

        return encode

    def bookmark(self, resource: Resource, version: int, end: bool, form: Form) -> Json:
        """Return an object of the kind that has only a resourceVersion."""
        metadata: Json = {"resourceVersion": str(version)}
        if end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        head = {"kind": resource.kind, "apiVersion": resource.group_version}
        if form.kind == "PartialObjectMetadata":
            return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{form.version}", "metadata": metadata}
        if resource.struct is None:
            return {**head, "metadata": metadata}
        obj: Json = resource.struct.decode({**head, "metadata": metadata}, schema.Context(), "", "")
        return obj

    def table_bookmark(self, encode: Callable[[Stored], bytes], bookmark: Json, form: Form) -> Json:
        """Return a bookmark as a Table of an object without a name. `encode` is the watch's encoder."""
        metadata = bookmark["metadata"]
        nameless = {**bookmark, "metadata": {"name": "", **metadata}}
        return self.framing(form).decode(encode(Stored("", nameless, int(metadata["resourceVersion"]))))

    def error_stream(self, status: Json, form: Form) -> http.Response:
        """Return a watch that consists of one ERROR event."""
        framing = self.framing(form)
        event = framing.frame("ERROR", framing.encode(status))
        return http.Response(200, event, framing.media, {"Cache-Control": NO_CACHE, "Transfer-Encoding": "chunked"})
