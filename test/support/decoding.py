"""Objects decoded the two ways there are: where they arrive, and when they are read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from clientgo.apimachinery.runtime import text_source
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.runtime.source import Source
from clientgo.dynamic.scheme import BasicNegotiatedSerializer
from clientgo.golang.http import BytesBody
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest.watch import Decoder

# Whether typed clients of built-in groups ask for JSON here, by CLIENTGO_TEST_ENCODING=json: see conftest.py.
OVER_JSON = os.environ.get("CLIENTGO_TEST_ENCODING") == "json"

# For tests of the default itself.
protobuf_is_the_default = pytest.mark.skipif(OVER_JSON, reason="typed clients ask for JSON in this pass")

# For tests of objects that are still undecoded.
needs_msgspec = pytest.mark.skipif(not text_source.AVAILABLE, reason="msgspec is not installed, or switched off")

TYPED = JSONSerializer(SCHEME, strip=True)
DYNAMIC = BasicNegotiatedSerializer().supported_media_types()[0].serializer
_POD = '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{}}}'


def is_undecoded(obj: Object) -> bool:
    return isinstance(obj._source, Source)


@contextlib.contextmanager
def decoding_at_once() -> Iterator[None]:
    """Decode all objects at once within the block."""
    with mock.patch.object(text_source, "AVAILABLE", False):
        yield


def event(text: str, serializer: Any = TYPED) -> Any:
    """Return the object of a second watch event, since the first of a kind is decoded at once."""
    decoder = Decoder(BytesBody(()), serializer)
    decoder.decode_line(_POD)
    return decoder.decode_line(text).object


def outcome(read: Any) -> str:
    """Return the exact result of a call, including the order of keys, int or float, and the message of an error."""
    try:
        return repr(read())
    except Exception as err:
        return f"{type(err).__name__}: {err}"
