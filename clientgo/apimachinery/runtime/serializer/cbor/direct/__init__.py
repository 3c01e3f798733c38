"""CBOR of JSON values, as the serializer writes it. Mirrors runtime/serializer/cbor/direct."""

from clientgo.apimachinery.runtime.serializer.cbor.direct.direct import diagnose, marshal, unmarshal

__all__ = ["diagnose", "marshal", "unmarshal"]
