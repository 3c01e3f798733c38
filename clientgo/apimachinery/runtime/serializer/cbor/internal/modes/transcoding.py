"""JSON to CBOR and back. Mirrors runtime/serializer/cbor/internal/modes/transcoding.go.

Differs: the functions take and return bytes, so Go's suppressor of a final newline is not needed.
"""

from __future__ import annotations

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.decode import unmarshal
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.encode import encode
from clientgo.apimachinery.util import json

__all__ = ["transcode_from_json", "transcode_to_json"]


def transcode_from_json(data: bytes) -> bytes:
    """Return one JSON value as CBOR. Raises ValueError for malformed JSON. Go: TranscodeFromJSON."""
    return encode(json.unmarshal(data))


def transcode_to_json(data: bytes) -> bytes:
    """Return one item of CBOR as JSON. Raises as `decode.unmarshal` does. Go: TranscodeToJSON."""
    return json.marshal(unmarshal(data)).encode()
