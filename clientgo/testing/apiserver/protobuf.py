"""Decoding of request bodies in Kubernetes' protobuf form into the JSON objects they stand for.

Typed Go clients, kubectl create among them, send application/vnd.kubernetes.protobuf for built-in kinds. Answers are
JSON, which those clients accept as well.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from clientgo.testing.apiserver import schema

Json = dict[str, Any]

MAGIC = b"k8s\x00"
_MACHINERY = "k8s.io.apimachinery.pkg"
_MAX_DEPTH = 100


class WireError(ValueError):
    """The bytes are no message of the expected kind."""


@cache
def _messages() -> Json:
    packed = resources.files("clientgo.testing.apiserver").joinpath("data/protobuf.json.gz").read_bytes()
    messages: Json = json.loads(gzip.decompress(packed))["messages"]
    return messages


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise WireError("proto: unexpected end of varint")


def _fields(data: bytes) -> list[tuple[int, int, Any]]:
    """(number, wire type, value) of everything in a message."""
    out = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value: Any
            value, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        elif wire == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
            if len(value) != size:
                raise WireError("proto: unexpected end of message")
        else:
            raise WireError(f"proto: illegal wireType {wire}")
        if at > len(data) or number == 0:
            raise WireError("proto: illegal tag")
        out.append((number, wire, value))
    return out


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _scalar(kind: str, wire: int, value: Any) -> Any:
    if kind == "string" and wire == 2:
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise WireError("proto: invalid UTF-8 in string") from None
    if kind == "bytes" and wire == 2:
        return base64.b64encode(value).decode()
    if kind == "bool" and wire == 0:
        return bool(value)
    if kind == "double" and wire == 1:
        return struct.unpack("<d", value)[0]
    if wire == 0:
        return _signed(value)
    raise WireError(f"proto: wrong wireType = {wire}")


def _time(data: bytes, digits: bool) -> str | None:
    values = {number: value for number, _, value in _fields(data)}
    if not values:
        return None
    try:
        moment = datetime.fromtimestamp(_signed(values.get(1, 0)), UTC)
    except (OverflowError, ValueError, OSError):
        raise WireError("proto: time out of range") from None
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{values.get(2, 0) // 1000:06d}Z" if digits else f"{text}Z"


def _special(name: str, data: bytes) -> tuple[bool, Any]:
    """Messages with a JSON form of their own: (True, value)."""
    if name == f"{_MACHINERY}.apis.meta.v1.Time":
        return True, _time(data, False)
    if name == f"{_MACHINERY}.apis.meta.v1.MicroTime":
        return True, _time(data, True)
    values = None
    if name == f"{_MACHINERY}.api.resource.Quantity":
        values = {number: value for number, _, value in _fields(data)}
        return True, values.get(1, b"0").decode("utf-8", "replace")
    if name == f"{_MACHINERY}.util.intstr.IntOrString":
        values = {number: value for number, _, value in _fields(data)}
        if values.get(1, 0) == 1:
            return True, values.get(3, b"").decode("utf-8", "replace")
        return True, _signed(values.get(2, 0))
    if name in (f"{_MACHINERY}.runtime.RawExtension", f"{_MACHINERY}.apis.meta.v1.FieldsV1"):
        values = {number: value for number, _, value in _fields(data)}
        try:
            return True, json.loads(values.get(1) or b"null")
        except (ValueError, RecursionError):
            raise WireError("raw value is not JSON") from None
    if name == f"{_MACHINERY}.apis.meta.v1.Duration":
        values = {number: value for number, _, value in _fields(data)}
        return True, f"{_signed(values.get(1, 0)) / 1e9:g}s"
    return False, None


def _struct_of(name: str) -> schema.Struct | None:
    package, _, kind = name.rpartition(".")
    go_package = "k8s.io/" + package.removeprefix("k8s.io.").replace(".", "/")
    try:
        return schema.structure(go_package, kind)
    except KeyError:
        return None


def _message(name: str, data: bytes, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise WireError("proto: message too deep")
    known, value = _special(name, data)
    if known:
        return value
    facts = _messages().get(name)
    if facts is None:
        raise WireError(f"proto: unknown message {name}")
    go = _struct_of(name)
    if go is None and list(facts.values()) == [["items", "string", "repeated"]]:
        return [_scalar("string", wire, item) for _, wire, item in _fields(data)]
    out: Json = {}
    for number, wire, item in _fields(data):
        fact = facts.get(str(number))
        if fact is not None:
            _add(out, go, fact, wire, item, depth)
    return out


def _add(out: Json, go: schema.Struct | None, fact: list[str], wire: int, item: Any, depth: int) -> None:
    field, kind, label = fact
    if label == "map":
        key, value = _entry(kind, item, depth)
        out.setdefault(field, {})[key] = value
        return
    value = _message(kind, item, depth + 1) if "." in kind and wire == 2 else _scalar(kind, wire, item)
    if label == "repeated":
        out.setdefault(field, []).append(value)
    elif go is not None and field not in go.fields and isinstance(value, dict):
        # A struct that is inlined in JSON.
        out.update(value)
    else:
        out[field] = value


def _entry(kind: str, data: Any, depth: int) -> tuple[str, Any]:
    if not isinstance(data, bytes):
        raise WireError("proto: wrong wireType for a map")
    key, value = "", _message(kind, b"", depth + 1) if "." in kind else None
    for number, wire, item in _fields(data):
        if number == 1:
            key = _scalar("string", wire, item)
        elif number == 2:
            value = _message(kind, item, depth + 1) if "." in kind and wire == 2 else _scalar(kind, wire, item)
    if value is None:
        value = {"string": "", "bytes": "", "bool": False}.get(kind, 0)
    return key, value


def decode(body: bytes) -> Json:
    """The object in a body that starts with MAGIC. Raises WireError."""
    if not body.startswith(MAGIC):
        raise WireError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    envelope = {number: value for number, _, value in _fields(body[len(MAGIC) :])}
    type_meta = {number: value for number, _, value in _fields(_as_bytes(envelope.get(1)))}
    api_version = _as_bytes(type_meta.get(1)).decode("utf-8", "replace")
    kind = _as_bytes(type_meta.get(2)).decode("utf-8", "replace")
    message = _message_name(api_version, kind)
    obj = _message(message, _as_bytes(envelope.get(2)), 0)
    if not isinstance(obj, dict):
        raise WireError("proto: not an object")
    return {"kind": kind, "apiVersion": api_version, **obj}


def _as_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else b""


def _message_name(api_version: str, kind: str) -> str:
    if kind in ("DeleteOptions", "Status", "CreateOptions", "UpdateOptions"):
        return f"{_MACHINERY}.apis.meta.v1.{kind}"
    package = schema.packages_by_group_version().get(api_version)
    if package is None:
        raise WireError(f'no kind "{kind}" is registered for version "{api_version}"')
    return f"k8s.io.{package.removeprefix('k8s.io/').replace('/', '.')}.{kind}"
