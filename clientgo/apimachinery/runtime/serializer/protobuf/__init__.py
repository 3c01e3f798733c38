"""Kubernetes' protobuf. Mirrors k8s.io/apimachinery/pkg/runtime/serializer/protobuf.

Loaded when protobuf is first used. `messages` describes the messages of the built-in kinds. `decoding` and `encoding`
convert a message to a JSON document and back. `message_source` has objects that stay messages; `parts`, and `upb` or
`walk`, read their fields. `protobuf` is the serializer.
"""

from clientgo.apimachinery.runtime.serializer.protobuf.decoding import decode_message
from clientgo.apimachinery.runtime.serializer.protobuf.encoding import EncodeError, encode_message
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Message, message, message_of
from clientgo.apimachinery.runtime.serializer.protobuf.protobuf import (
    ENVELOPE_END,
    LENGTH_DELIMITED_FRAMER,
    MAGIC,
    ProtobufSerializer,
    begin_envelope,
    read_envelope,
    wrap,
)
from clientgo.apimachinery.runtime.serializer.protobuf.wire import WireError

__all__ = [
    "ENVELOPE_END",
    "LENGTH_DELIMITED_FRAMER",
    "MAGIC",
    "EncodeError",
    "Message",
    "ProtobufSerializer",
    "WireError",
    "begin_envelope",
    "decode_message",
    "encode_message",
    "message",
    "message_of",
    "read_envelope",
    "wrap",
]
