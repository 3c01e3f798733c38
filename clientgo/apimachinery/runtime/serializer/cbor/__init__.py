"""Objects as CBOR. Mirrors k8s.io/apimachinery/pkg/runtime/serializer/cbor.

The package needs the extra `cbor`: `pip install 'clientgo[cbor]'`. Go's raw.go has no counterpart: a RawExtension and a
FieldsV1 are plain JSON values here, in CBOR too.
"""

from clientgo.apimachinery.runtime.serializer.cbor.cbor import (
    SELF_DESCRIBED,
    CBORSerializer,
    Option,
    Serializer,
    new_serializer,
    new_serializer_info,
    read_document,
    strict,
    transcode,
)
from clientgo.apimachinery.runtime.serializer.cbor.framer import FrameReader, new_framer

__all__ = [
    "SELF_DESCRIBED",
    "CBORSerializer",
    "FrameReader",
    "Option",
    "Serializer",
    "new_framer",
    "new_serializer",
    "new_serializer_info",
    "read_document",
    "strict",
    "transcode",
]
