"""The modes of the CBOR codec, for the packages around this one. Mirrors runtime/serializer/cbor/internal."""
