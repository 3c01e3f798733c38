"""Every field of every built-in kind reads from bytes as from the document, in any order, from several threads."""

from __future__ import annotations

import importlib
import json
import random
import threading
from collections.abc import Callable
from typing import Any

import protobuf_documents
import protobuf_engines
import pytest
from decoding import TYPED, decoding_at_once, is_undecoded
from fieldnames import field_names
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.runtime import text_source
from clientgo.apimachinery.runtime.collection_views import ListView, MapView
from clientgo.apimachinery.runtime.object import ResourceObject
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import Message
from clientgo.apimachinery.runtime.serializer.protobuf.message_source import message_source
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.golang.http import BytesBody
from clientgo.kubernetes.scheme import SCHEME
from clientgo.rest.watch import Decoder

engine = protobuf_engines.fixture()

THREADS = 3


def _kinds() -> dict[str, tuple[Message, type[ResourceObject]]]:
    found = {}
    for message in protobuf_documents.all_messages():
        package, _, name = message.name.rpartition(".")
        cls = getattr(importlib.import_module(package), name, None)
        if isinstance(cls, type) and issubclass(cls, ResourceObject):
            found[message.name.removeprefix("clientgo.")] = (message, cls)
    return found


KINDS = _kinds()


def everything(value: Any, chance: random.Random) -> Any:
    """Read all that is in a value, in an order of its own."""
    if isinstance(value, Struct) and (names := field_names(type(value))):
        attributes = [*names]
        chance.shuffle(attributes)
        read = {attr: everything(outcome(value, attr), chance) for attr in attributes}
        return type(value), {attr: read[attr] for attr in names}
    if isinstance(value, Struct):
        return value.to_dict()
    if isinstance(value, ListView):
        indices = [*range(len(value))]
        chance.shuffle(indices)
        elements = {index: everything(value[index], chance) for index in indices}
        return [elements[index] for index in range(len(value))]
    if isinstance(value, MapView):
        keys = [*value]
        chance.shuffle(keys)
        entries = {key: everything(value[key], chance) for key in keys}
        return [(key, entries[key]) for key in value]
    return type(value), value


def outcome(value: Any, attr: str) -> Any:
    try:
        return getattr(value, attr)
    except ValueError as err:
        return f"{type(err).__name__}: {err}"


def check(make: Callable[[], Any], expected: Any, chance: random.Random) -> None:
    """Read a free, a frozen and a copied object, each from several threads at once."""
    facts = everything(expected, chance)
    for obj in (make(), make().freeze(), make().freeze().deep_copy()):
        assert is_undecoded(obj)
        read: list[Any] = []
        start = threading.Barrier(THREADS)
        seeds = [chance.random() for _ in range(THREADS)]

        def run(seed: float, obj: Any = obj, read: list[Any] = read, start: threading.Barrier = start) -> None:
            start.wait()
            read.append(everything(obj, random.Random(seed)))

        threads = [threading.Thread(target=run, args=(seed,), name=f"reader {at}") for at, seed in enumerate(seeds)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert read == [facts] * THREADS
        assert is_undecoded(obj)
        assert obj == expected and obj.to_dict() == expected.to_dict()


def check_message(message: Message, cls: type[ResourceObject], chance: random.Random) -> None:
    data = protobuf.encode_message(message, protobuf_documents.document(message, chance))

    def make() -> Any:
        source = message_source(message, data)
        assert source is not None
        return cls.from_source(source)

    check(make, cls.from_dict(protobuf.decode_message(message, data)), chance)


def test_there_are_kinds_of_all_groups() -> None:
    assert len(KINDS) > 80


@pytest.mark.takes_turns(3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_reads_from_its_message_as_from_its_document(kind: str) -> None:
    for seed in range(2):
        check_message(*KINDS[kind], random.Random(f"{kind} {seed}"))


def has_client(cls: Any) -> bool:
    """Report whether a client of this library has the kind."""
    return cls.GROUP_VERSION_KIND is not None and SCHEME.recognizes(cls.GROUP_VERSION_KIND)


@given(seed=st.integers(0, 2**32))
def test_any_object_reads_from_its_message_as_from_its_document(seed: int) -> None:
    chance = random.Random(seed)
    check_message(*KINDS[chance.choice([*KINDS])], chance)


@pytest.mark.takes_turns(3)
@pytest.mark.skipif(not text_source.AVAILABLE, reason="msgspec is not installed, or switched off")
@pytest.mark.parametrize("kind", [kind for kind, (_, cls) in KINDS.items() if has_client(cls)])
def test_every_kind_reads_from_its_text_as_from_its_document(kind: str) -> None:
    message, cls = KINDS[kind]
    assert cls.GROUP_VERSION_KIND is not None
    chance = random.Random(kind)
    data = protobuf.encode_message(message, protobuf_documents.document(message, chance))
    document = protobuf.decode_message(message, data)
    document["apiVersion"], document["kind"] = cls.GROUP_VERSION_KIND.to_api_version_and_kind()
    line = json.dumps({"type": "ADDED", "object": document})
    decoder = Decoder(BytesBody(()), TYPED)
    with decoding_at_once():
        expected = decoder.decode_line(line).object
    check(lambda: decoder.decode_line(line).object, expected, chance)
