"""The classes of the `protobuf` package's messages, which it does not protect from the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.serializer.protobuf import upb
from clientgo.apimachinery.runtime.serializer.protobuf.messages import message_of
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes

# A Pod whose metadata has a name and a label.
POD = put_bytes(b"\n", put_bytes(b"\n", b"n") + put_bytes(b"Z", put_bytes(b"\n", b"l") + put_bytes(b"\x12", b"v")))


class Finalized:
    """An object that calls a function when it is deleted."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run

    def __del__(self) -> None:
        self._run()


def test_a_message_that_is_read_during_a_garbage_collection_keeps_its_class() -> None:
    """The collector runs a finalizer, and another thread reads meanwhile. If the class of the message was garbage, the
    package returned it all the same, the collector deleted it next, and the process crashed.
    """
    if upb.LOOKUP.engine() is None:
        pytest.skip("the protobuf package is not used here")
    message = message_of(corev1.Pod)
    assert message is not None
    engine = upb.Engine()
    pod = engine.parse(message, POD)
    read: list[Any] = []
    # The finalizer of an older object runs while the collector deletes the younger object that refers to it.
    old = Finalized(lambda: read.extend((pod.f1, pod.f1.f11[0])))
    gc.collect()
    cycle: list[Any] = [old]
    cycle.append(cycle)
    classes = [weakref.ref(type(each)) for each in (pod.f1, pod.f1.f11[0])]
    del old, cycle

    gc.collect(0)

    assert len(read) == 2
    assert [each() for each in classes] == [type(each) for each in read]
    assert [type(each).__mro__[-1] for each in read] == [object, object]
