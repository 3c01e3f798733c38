"""Pods that come in protobuf, as events of a watch: for tests of objects that stay their bytes."""

from __future__ import annotations

from typing import Any

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.kubernetes.scheme import CODECS
from clientgo.testing.apiserver.kinds.protobuf import watch_event

MESSAGE = protobuf.message_of(corev1.Pod)
assert MESSAGE is not None
META = MESSAGE.by_name["metadata"].message
SERIALIZER: Any = CODECS.without_conversion().decoder_to_version(
    CODECS.serializer_info("application/vnd.kubernetes.protobuf").serializer, None  # type: ignore[union-attr]
)  # fmt: skip


def frame(data: bytes) -> bytes:
    """Return an event without its length prefix."""
    return watch_event("ADDED", protobuf.wrap(data, "v1", "Pod"))[4:]


def from_event(data: bytes) -> Any:
    for _ in range(2):  # The first of its kind is decoded where it arrives.
        obj = SERIALIZER.decode_event(frame(data))[1]
    return obj
