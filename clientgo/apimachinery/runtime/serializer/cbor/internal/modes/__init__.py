"""The modes in which Kubernetes reads and writes CBOR. Mirrors runtime/serializer/cbor/internal/modes.

The package needs the extra `cbor`: `pip install 'clientgo[cbor]'`. Go's pool of buffers (buffers.go) has no
counterpart, since Python's memory allocator reuses memory.
"""

from importlib.util import find_spec

if find_spec("cbor2") is None:
    raise ModuleNotFoundError(
        "CBOR needs cbor2: pip install 'clientgo[cbor]'",
        name="cbor2",
    )

from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.decode import (
    interpret,
    read_map,
    unmarshal,
    unmarshal_map,
)
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.diagnostic import diagnose
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.encode import encode, encode_nondeterministic
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.errors import (
    DupMapKeyError,
    InadmissibleTagContentTypeError,
    InvalidCBORError,
    SemanticError,
    UnacceptableDataItemError,
    UnknownFieldError,
    UnmarshalTypeError,
    WellformednessError,
)
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.transcoding import (
    transcode_from_json,
    transcode_to_json,
)
from clientgo.apimachinery.runtime.serializer.cbor.internal.modes.wellformed import FRAME, Limits, Scanner

__all__ = [
    "FRAME",
    "DupMapKeyError",
    "InadmissibleTagContentTypeError",
    "InvalidCBORError",
    "Limits",
    "Scanner",
    "SemanticError",
    "UnacceptableDataItemError",
    "UnknownFieldError",
    "UnmarshalTypeError",
    "WellformednessError",
    "diagnose",
    "encode",
    "encode_nondeterministic",
    "interpret",
    "read_map",
    "transcode_from_json",
    "transcode_to_json",
    "unmarshal",
    "unmarshal_map",
]
