"""Request bodies and responses in Kubernetes' protobuf form, which typed Go clients prefer, including kubectl.

The codec is the clients' (runtime.serializer.protobuf). This module selects the message of a kind. Fields that the
messages do not have are dropped from requests, as in Go.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from clientgo.api import facts
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes, put_varint
from clientgo.testing.apiserver.wire.jsonio import Json

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource

MAGIC = protobuf.MAGIC
WireError = protobuf.WireError
wrap = protobuf.wrap

_META = "clientgo.apimachinery.apis.meta.v1"
_API = "k8s.io/api/"
_FIELD_2 = b"\x12"
# Kinds of apis/meta/v1 that exist in every version.
_EVERYWHERE = frozenset(
    ("CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "Status", "UpdateOptions")
)


def decode(body: bytes) -> Json:
    """Decode a body that starts with MAGIC. Raises WireError, also for kinds without a message."""
    envelope = protobuf.read_envelope(body)
    message = message_of(envelope.api_version, envelope.kind)
    if message is None:
        raise WireError(f'no kind "{envelope.kind}" is registered for version "{envelope.api_version}"')
    document = protobuf.decode_message(message, body, envelope.begin, envelope.end)
    return {"kind": envelope.kind, "apiVersion": envelope.api_version, **document}


def message_of(api_version: str, kind: str) -> protobuf.Message | None:
    """Return the message of a kind, or None for kinds without one, such as custom resources and tables."""
    if kind in _EVERYWHERE or api_version == "meta.k8s.io/v1":
        return protobuf.message(_META, kind)
    package = facts.packages_by_group_version().get(api_version)
    return None if package is None else protobuf.message(_module_of(package), kind)


def encode(obj: Json) -> bytes | None:
    """Encode an object as a response body. Returns None for kinds without a message. Raises ValueError."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    message = message_of(api_version, kind)
    return None if message is None else encode_known(obj)


def encode_known(obj: Json) -> bytes:
    """Encode an object whose kind has a message. Raises LookupError."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    return protobuf.wrap(encode_message(api_version, kind, obj), api_version, kind)


def encode_message(api_version: str, kind: str, obj: Json) -> bytes:
    """Encode an object without its envelope. Raises LookupError for kinds without a message, and ValueError."""
    return protobuf.encode_message(_known_message(api_version, kind), obj)


def _known_message(api_version: str, kind: str) -> protobuf.Message:
    message = message_of(api_version, kind)
    if message is None:
        raise LookupError(f"no message for {kind} of {api_version}")
    return message


def supports(resource: Resource) -> bool:
    """Report whether the resource's objects have messages. Only custom resources and APIServices have none."""
    return not resource.custom and message_of(resource.group_version, resource.kind) is not None


def encode_list(resource: Resource, metadata: Json, items: Iterable[bytes]) -> bytes:
    """Encode a list from items that are encoded with their envelopes.

    Raises LookupError for kinds without a message.
    """
    api_version, kind = resource.group_version, resource.list_kind
    # Field 2 of a list is an item and that of an envelope its message: an item stands in a list as in its envelope.
    begin = len(protobuf.begin_envelope(api_version, resource.kind)) - len(_FIELD_2)
    end = -len(protobuf.ENVELOPE_END)
    parts = [protobuf.encode_message(_known_message(api_version, kind), {"metadata": metadata})]
    # Not views of them: ten thousand of these wake the garbage collector, which costs more than to copy twice.
    parts += [item[begin:end] for item in items]
    size = put_varint(sum(map(len, parts)))
    return b"".join((protobuf.begin_envelope(api_version, kind), size, *parts, protobuf.ENVELOPE_END))


def watch_event(kind: str, obj: bytes) -> bytes:
    """Return the frame of one watch event: a metav1.WatchEvent after its length.

    `kind` is the event's type, such as ADDED.
    """
    return b"%b%b" % (_begin_event(kind, len(obj)), obj)


# Most objects of a kind have one of a few sizes.
@lru_cache(4096)
def _begin_event(kind: str, size: int) -> bytes:
    """Return the bytes before an object of that size."""
    raw = b"\n" + put_varint(size)
    event = b"".join((put_bytes(b"\n", kind.encode()), _FIELD_2, put_varint(len(raw) + size), raw))
    return b"".join(((len(event) + size).to_bytes(4, "big"), event))


def _module_of(package: str) -> str:
    """Return the Python module with the types of a Go package."""
    if package.startswith(_API):
        return f"clientgo.api.{package.removeprefix(_API).replace('/', '.')}"
    return f"clientgo.apiextensions.{package.rpartition('/')[2]}"
