"""A document of any kind is the same after it was protobuf; no bytes make the decoder do anything but refuse."""

from __future__ import annotations

import random

import protobuf_documents
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import Message

MESSAGES = protobuf_documents.all_messages()
POD = protobuf.message_of(corev1.Pod)
assert POD is not None


def survives(message: Message, chance: random.Random) -> None:
    document = protobuf_documents.document(message, chance)
    data = protobuf.encode_message(message, document)
    decoded = protobuf.decode_message(message, data)
    assert protobuf.encode_message(message, decoded) == data
    normal = protobuf_documents.normal_form(message, document)
    if normal is not None:
        assert decoded == normal


@given(seed=st.integers(0, 2**32))
def test_documents_of_all_kinds_survive(seed: int) -> None:
    chance = random.Random(seed)
    survives(chance.choice(MESSAGES), chance)


@pytest.mark.parametrize("package", protobuf_documents.packages())
def test_every_message_survives(package: str) -> None:
    own = [message for message in MESSAGES if message.name.rpartition(".")[0] == package]
    for message in own:
        survives(message, random.Random(message.name))


def test_the_server_has_facts_for_half_of_the_messages() -> None:
    """The others are of alpha and beta versions, which are compared with themselves alone."""
    assert sum(protobuf_documents.go_type(message) is not None for message in MESSAGES) > len(MESSAGES) / 2


@given(seed=st.integers(0, 2**32), extra=st.binary(min_size=1, max_size=40))
def test_unknown_fields_survive_wherever_they_stand(seed: int, extra: bytes) -> None:
    chance = random.Random(seed)
    message = chance.choice(MESSAGES)
    data = protobuf.encode_message(message, protobuf_documents.document(message, chance))
    unknown = protobuf.wire.put_bytes(protobuf.wire.put_varint(30_000 << 3 | 2), extra)
    decoded = protobuf.decode_message(message, data + unknown)
    assert protobuf.encode_message(message, decoded) == data + unknown


@given(seed=st.integers(0, 2**32), data=st.data())
def test_damaged_messages_are_refused_or_read(seed: int, data: st.DataObject) -> None:
    chance = random.Random(seed)
    message = chance.choice(MESSAGES)
    body = bytearray(protobuf.encode_message(message, protobuf_documents.document(message, chance)))
    for _ in range(data.draw(st.integers(1, 3))):
        if body:
            body[chance.randrange(len(body))] = chance.randrange(256)
    refused_or_read(message, bytes(body[: chance.randrange(len(body) + 1)]))


@given(body=st.binary(max_size=200))
def test_no_bytes_do_anything_but_be_refused_or_read(body: bytes) -> None:
    assert POD is not None
    refused_or_read(POD, body)


def refused_or_read(message: Message, body: bytes) -> None:
    try:
        decoded = protobuf.decode_message(message, body)
    except protobuf.WireError:
        return
    # What was read can be written and read again.
    assert protobuf.decode_message(message, protobuf.encode_message(message, decoded)) == decoded
