"""A server that is newer than this library: its messages have fields that no table here knows.

In JSON such a field has a name, so that a client that speaks JSON says what a client that speaks protobuf should do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clientgo import rest
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ResourceObject
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import Message
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.apimachinery.runtime.unknown_fields import OBJECT_META, UnknownFields
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import jsonmergepatch, strategicpatch
from clientgo.controller_runtime import client
from clientgo.golang import http

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"

Document = dict[str, Any]

# What the new fields are called in JSON, before the name of the message that has them.
_NEW = "new:"


def new_field(message: Message, text: str) -> Document:
    """Return the new field of a message, as JSON."""
    return {_NEW + message.name: (put_varint(30_000 << 3 | 2) + put_bytes(b"", text.encode())).hex()}


def field_of(message: Message, name: str) -> Field | None:
    """Return the field of that name, of the message or of a struct that it embeds."""
    field = message.by_name.get(name)
    while field is not None and not field.json:
        field = field.message.by_name.get(name)
    return field


def message_for(cls: type) -> Message:
    found = protobuf.message_of(cls)
    assert found is not None
    return found


def _each(field: Field, value: Any, change: Callable[[Message, Document], Any]) -> Any:
    """Return the value of a field, with each message in it changed."""
    if field.shape == Shape.LIST:
        return [change(field.message, item) for item in value]
    if field.shape == Shape.MAP:
        return {key: change(field.message, item) for key, item in value.items()}
    return change(field.message, value)


def _to_protobuf(message: Message, document: Document) -> Document:
    out: Document = {}
    fields: dict[str, bytes] = {}
    for key, value in document.items():
        field = field_of(message, key)
        if key.startswith(_NEW):
            fields[key.removeprefix(_NEW)] = bytes.fromhex(value)
        elif field is None or field.kind != Kind.MESSAGE or value is None:
            out[key] = value
        else:
            out[key] = _each(field, value, _to_protobuf)
            if key == "metadata" and isinstance(out[key], UnknownFields):
                fields |= out[key].fields
                out[key] = dict(out[key])
    return UnknownFields(out, fields) if fields else out


def _to_json(message: Message, document: Document) -> Document:
    out: Document = {}
    for key, value in document.items():
        field = field_of(message, key)
        is_message = field is not None and field.kind == Kind.MESSAGE and value is not None
        out[key] = _each(field, value, _to_json) if field is not None and is_message else value
    for name, data in document.fields.items() if isinstance(document, UnknownFields) else ():
        (out["metadata"] if name == OBJECT_META and message.name != name else out)[_NEW + name] = data.hex()
    return out


class NewerServer:
    """A server with one object, which records the object's changes."""

    def __init__(self, cls: type[ResourceObject], document: Document) -> None:
        self._cls = cls
        self._message = message_for(cls)
        self._api_version, self._kind = cls.GROUP_VERSION_KIND.to_api_version_and_kind()  # type: ignore[union-attr]
        # As it is in JSON, after each write; the first is what there was.
        self.states = [self._normal(document)]
        self.created: list[Document] = []
        self.sent: list[tuple[str, str, str]] = []

    @property
    def writes(self) -> int:
        return len(self.states) - 1 + len(self.created)

    def client(self, **content: str) -> client.Client:
        """Return a client that speaks protobuf unless told otherwise."""
        mapper = meta.new_default_rest_mapper([])
        mapper.add(self._cls.GROUP_VERSION_KIND, meta.REST_SCOPE_NAMESPACE)  # type: ignore[arg-type]
        opts = client.Options(http_client=http.Client(self), mapper=mapper)
        return client.new(rest.Config(host="http://newer", **content), opts)

    def round_trip(self, request: http.Request) -> http.Response:
        accept = request.headers.get("Accept") or ""
        content_type = request.headers.get("Content-Type") or ""
        self.sent.append((request.method, accept, content_type))
        state = self.states[-1]
        if request.method == "POST":
            state = self._read(request, content_type)
            self.created.append(state)
        elif request.method != "GET":
            state = self._written(request, content_type, state)
            self.states.append(state)
        return self._answer(state, accept)

    def _written(self, request: http.Request, content_type: str, old: Document) -> Document:
        if request.method == "PUT":
            new = self._read(request, content_type)
        elif content_type == PatchType.STRATEGIC_MERGE:
            new = strategicpatch.strategic_merge_map_patch(old, json.loads(_body(request)), self._cls)
        else:
            new = jsonmergepatch.merge_patch(old, json.loads(_body(request)))
        if "/status" in request.url:
            new = {**old, "status": new.get("status")}
        elif "status" in old:
            new = {**new, "status": old["status"]}
        return self._normal(new)

    def _normal(self, document: Document) -> Document:
        """Return the document in the normal form of the server's structs."""
        data = protobuf.encode_message(self._message, _to_protobuf(self._message, document))
        return _to_json(self._message, protobuf.decode_message(self._message, data))

    def _read(self, request: http.Request, content_type: str) -> Document:
        body = _body(request)
        if content_type != PROTOBUF:
            return self._normal(json.loads(body))
        envelope = protobuf.read_envelope(body)
        assert (envelope.api_version, envelope.kind) == (self._api_version, self._kind)
        return _to_json(self._message, protobuf.decode_message(self._message, body, envelope.begin, envelope.end))

    def _answer(self, state: Document, accept: str) -> http.Response:
        headers = http.Header()
        if accept.startswith(f"{PROTOBUF};as=PartialObjectMetadata;"):
            headers["Content-Type"] = PROTOBUF
            partial = message_for(metav1.PartialObjectMetadata)
            message = protobuf.encode_message(partial, _to_protobuf(partial, {"metadata": state["metadata"]}))
            body = protobuf.wrap(message, "meta.k8s.io/v1", "PartialObjectMetadata")
        elif accept.startswith(PROTOBUF):
            headers["Content-Type"] = PROTOBUF
            message = protobuf.encode_message(self._message, _to_protobuf(self._message, state))
            body = protobuf.wrap(message, self._api_version, self._kind)
        else:
            headers["Content-Type"] = JSON
            body = json.dumps({"apiVersion": self._api_version, "kind": self._kind, **state}).encode()
        return http.Response(status_code=200, headers=headers, body=http.BytesBody(body))


def _body(request: http.Request) -> bytes:
    assert isinstance(request.body, bytes)
    return request.body
