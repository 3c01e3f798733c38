"""An object that stays in its message has the same fields as its document, for any order of reads and of fields.

The messages are of all kinds: those of a server, valid ones with fields out of order, repeated, split, packed or
unknown, and damaged ones.
"""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from typing import Any

import protobuf_documents
import protobuf_engines
import pytest
from decoding import is_undecoded
from fieldnames import field_names
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.runtime.collection_views import ListView, MapView
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.object import ListObject, ResourceObject
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer
from clientgo.apimachinery.runtime.serializer.protobuf.message_source import message_source
from clientgo.apimachinery.runtime.serializer.protobuf.messages import Field, Kind, Message, Shape
from clientgo.apimachinery.runtime.serializer.protobuf.wire import (
    BYTES,
    FIXED64,
    VARINT,
    put_bytes,
    put_varint,
    spans,
)
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.kubernetes.scheme import SCHEME

seeds = st.integers(0, 2**32)

engine = protobuf_engines.fixture()


def _classes() -> list[tuple[Message, Any]]:
    found = []
    for message in protobuf_documents.all_messages():
        package, _, name = message.name.rpartition(".")
        cls = getattr(importlib.import_module(package), name, None)
        if isinstance(cls, type):
            found.append((message, cls))
    return found


OBJECTS: list[tuple[Message, type[ResourceObject]]] = [
    (message, cls) for message, cls in _classes() if issubclass(cls, ResourceObject)
]
LISTS: list[tuple[Message, Any]] = [
    (message, cls)
    for message, cls in _classes()
    if issubclass(cls, ListObject) and cls.GROUP_VERSION_KIND is not None and SCHEME.recognizes(cls.GROUP_VERSION_KIND)
]
SERIALIZER = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME)).stripping()


# What the machinery and the garbage collector's helpers ask of an object without reading its fields.
ACCESSORS: list[Callable[[Any], Any]] = [
    lambda obj: obj.object_key(),
    lambda obj: obj.get_uid(),
    lambda obj: obj.get_resource_version(),
    lambda obj: obj.get_generation(),
    lambda obj: obj.get_labels(),
    lambda obj: obj.get_annotations(),
    lambda obj: obj.get_finalizers(),
    lambda obj: obj.get_owner_references(),
    lambda obj: obj.get_managed_fields(),
    lambda obj: _outcome(lambda each: each.get_deletion_timestamp(), obj),
    lambda obj: (obj.kind, obj.api_version, repr(obj)),
]


class Pair:
    """One part of an object, read in place and from the document."""

    def __init__(self, here: Any, there: Any) -> None:
        self.here = here
        self.there = there

    def read(self, read: Callable[[Any], Any]) -> Pair:
        return Pair(_outcome(read, self.here), _outcome(read, self.there))

    def check(self) -> None:
        assert _plain(self.here) == _plain(self.there)


def _outcome(read: Callable[[Any], Any], of: Any) -> Any:
    try:
        return read(of)
    except ValueError as err:
        return f"{type(err).__name__}: {err}"


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return value.to_dict()
    return value.copy() if isinstance(value, (ListView, MapView)) else (type(value), value)


def wander(pair: Pair, chance: random.Random, seen: list[Pair], steps: int) -> None:
    """Read parts of a part, and note them all."""
    assert type(pair.here) is type(pair.there)
    seen.append(pair)
    if isinstance(pair.here, ResourceObject):
        for accessor in ACCESSORS:
            assert accessor(pair.here) == accessor(pair.there)
    if not isinstance(pair.here, (Struct, ListView, MapView)):
        assert pair.here == pair.there
        return
    for _ in range(steps):
        inner = pair.read(_step(pair.there, chance))
        wander(inner, chance, seen, steps - 1)


def _step(of: Any, chance: random.Random) -> Callable[[Any], Any]:
    if isinstance(of, Struct):
        present = [attr for attr, info in of._fields.items() if info.json in of.to_dict()]
        attr = chance.choice((present if chance.random() < 0.9 else []) or [*field_names(type(of))] or ["frozen"])
        return lambda value: getattr(value, attr, None)
    if isinstance(of, ListView):
        index = chance.randrange(-1, len(of)) if len(of) else 0
        return chance.choice((len, list, lambda value: value[index] if len(value) else None, lambda value: value[:1]))
    key = chance.choice([*of, "none"])
    return chance.choice((len, dict, lambda value: value.get(key), lambda value: key in value, lambda value: [*value]))


def write(pair: Pair, chance: random.Random) -> None:
    """Do the same to both."""
    there = pair.there
    if isinstance(there, Struct) and there._fields:
        attr, info = chance.choice([*there._fields.items()])
        value = None if chance.random() < 0.3 else _outcome(lambda of: getattr(of.deep_copy(), attr), there)
        for each in (pair.here, there):
            if not isinstance(value, str) or info.type.lstrip("*") == "string":
                setattr(each, attr, value)
    elif isinstance(there, ListView) and len(there):
        for each in (pair.here, there):
            del each[0]
    elif isinstance(there, MapView):
        for each in (pair.here, there):
            each.clear()


def pair_of(message: Message, cls: type[ResourceObject], data: bytes) -> Pair:
    pending = message_source(message, data)
    document = protobuf.decode_message(message, data)
    assert pending is not None
    return Pair(cls.from_source(pending), cls.from_dict(document))


def any_object(chance: random.Random) -> tuple[Message, type[ResourceObject], bytes]:
    message, cls = chance.choice(OBJECTS)
    return message, cls, protobuf.encode_message(message, protobuf_documents.document(message, chance))


def test_there_are_objects_of_all_groups() -> None:
    assert len(OBJECTS) > 80


@given(seeds)
def test_what_is_read_in_place_is_what_the_document_says(seed: int) -> None:
    chance = random.Random(seed)
    pair = pair_of(*any_object(chance))
    if chance.random() < 0.5:
        pair.here.freeze()
    wander(pair, chance, [], 4)
    if pair.here.frozen:
        assert is_undecoded(pair.here)
    assert pair.here == pair.there
    assert pair.here.deep_copy() == pair.there


@given(seeds)
def test_views_follow_what_is_written(seed: int) -> None:
    chance = random.Random(seed)
    pair = pair_of(*any_object(chance))
    seen: list[Pair] = []
    wander(pair, chance, seen, 3)
    copied = pair.read(lambda value: value.deep_copy())
    for _ in range(2):
        write(chance.choice(seen), chance)
    for each in seen:
        each.check()
    wander(pair, chance, seen, 3)
    copied.check()


# --- Valid messages that no server writes


def disordered(message: Message, data: bytes, chance: random.Random, depth: int = 0) -> bytes:
    """Return the same fields in another order, some repeated, split, packed or with long lengths, and unknown fields.
    """
    fields: list[bytes] = []
    for number, wire_type, begin, stop in spans(data, 0, len(data)):
        field = message.numbers[number]
        value = data[begin:stop]
        tag = put_varint(number << 3 | wire_type)
        if field.kind == Kind.MESSAGE and field.shape != Shape.MAP:
            value = disordered(field.message, value, chance, depth + 1)
        if wire_type != BYTES:
            fields.append(tag + value)
            if field.shape == Shape.LIST and wire_type == VARINT:
                fields[-1] = put_bytes(put_varint(number << 3 | BYTES), value * chance.randrange(1, 3))
        elif field.kind == Kind.MESSAGE and field.shape == Shape.ONE and chance.random() < 0.2:
            fields += _in_parts(tag, value, chance)
        else:
            fields.append(tag + _long(len(value), chance) + value)
        if field.shape == Shape.ONE and field.kind != Kind.MESSAGE and chance.random() < 0.2:
            fields.append(fields[-1] if chance.random() < 0.5 else tag + (b"\0" * (8 if wire_type == 1 else 1)))
    if chance.random() < 0.5:
        chance.shuffle(fields)
    if chance.random() < 0.3:
        fields.insert(chance.randrange(len(fields) + 1), put_bytes(put_varint(30_000 << 3 | BYTES), b"later"))
    return b"".join(fields)


def _in_parts(tag: bytes, value: bytes, chance: random.Random) -> list[bytes]:
    ends = [0, *(stop for *_, stop in spans(value, 0, len(value)))]
    middle = chance.choice(ends)
    return [put_bytes(tag, value[:middle]), put_bytes(tag, value[middle:])]


def _long(size: int, chance: random.Random) -> bytes:
    """Return an encoded length, sometimes in more bytes than necessary."""
    if size < 128 and chance.random() < 0.1:
        return bytes((size | 0x80, 0x80, 0))
    return put_varint(size)


@given(seeds)
def test_disorder_is_read_in_place_as_it_is_decoded(seed: int) -> None:
    chance = random.Random(seed)
    message, cls, data = any_object(chance)
    data = disordered(message, data, chance)
    if message_source(message, data) is None:  # Its metadata came in parts.
        return
    pair = pair_of(message, cls, data)
    if chance.random() < 0.5:
        pair.here.freeze()
    seen: list[Pair] = []
    wander(pair, chance, seen, 4)
    assert pair.here == pair.there
    if not pair.here.frozen:
        write(chance.choice(seen), chance)
    for each in seen:
        each.check()


@given(seeds)
def test_what_is_left_without_managed_fields_is_what_the_document_has_left(seed: int) -> None:
    chance = random.Random(seed)
    message, cls, data = any_object(chance)
    data = disordered(message, data, chance)
    if message_source(message, data) is None:  # Its metadata came in parts.
        return
    pair = pair_of(message, cls, data)
    here, there = pair.here.without_managed_fields(), pair.there.without_managed_fields()
    assert here.get_managed_fields() == []
    assert here == there == pair.there
    assert here.to_dict() == there.to_dict()
    assert protobuf.encode_message(message, document_of(here)) == protobuf.encode_message(message, document_of(there))


@given(seeds)
def test_a_list_reads_as_it_is_decoded(seed: int) -> None:
    """Also one with fields of a newer server in the list, in its items, in both; and with metadata in parts."""
    chance = random.Random(seed)
    message, cls = chance.choice(LISTS)
    data = disordered(message, protobuf.encode_message(message, protobuf_documents.document(message, chance)), chance)
    document = protobuf.decode_message(message, data)
    document["items"] = document.get("items") or []
    there = cls.from_dict(document)
    assert cls.GROUP_VERSION_KIND is not None
    body = protobuf.wrap(data, *cls.GROUP_VERSION_KIND.to_api_version_and_kind())
    for into in (cls, None):
        here = SERIALIZER.decode(body, None, into)[0]
        if chance.random() < 0.5:
            here.freeze()
        assert [item.to_dict() for item in here.items] == [item.to_dict() for item in there.items]
        assert here.to_dict() == there.to_dict() == json.loads(json.dumps(there.to_dict()))
        written = [protobuf.encode_message(message, document_of(each)) for each in (here, there)]
        assert written[0] == written[1]
        taken = SERIALIZER.decode(body, None, into)[0].extract_items()
        assert [item.to_dict() for item in taken] == [item.to_dict() for item in there.items]


@given(seeds, st.data())
def test_damage_is_refused_or_read_as_it_is_decoded(seed: int, data: st.DataObject) -> None:
    chance = random.Random(seed)
    message, cls, encoded = any_object(chance)
    body = bytearray(disordered(message, encoded, chance))
    for _ in range(data.draw(st.integers(0, 3))):
        if body:
            body[chance.randrange(len(body))] = chance.choice((chance.randrange(256), 0xFF, 0))
    if chance.random() < 0.5:
        del body[chance.randrange(len(body) + 1) :]
    refused_or_read(message, cls, bytes(body), chance)


def sections_of(message: Message) -> list[Field]:
    """Return the messages of an object except its metadata, such as spec and status."""
    inner = [field for field in message.fields if field.kind == Kind.MESSAGE and field.shape == Shape.ONE]
    return [field for field in inner if field.json not in ("metadata", "") and field.message.fields]


@given(seeds)
def test_a_known_field_of_another_wire_type_is_refused_by_both(seed: int) -> None:
    chance = random.Random(seed)
    message, cls = chance.choice([(each, cls) for each, cls in OBJECTS if sections_of(each)])
    section = chance.choice(sections_of(message))
    field = chance.choice(section.message.fields)
    wrong = chance.choice([each for each in (VARINT, FIXED64, BYTES) if each != field.key & 7])
    if wrong == BYTES and field.shape == Shape.LIST:  # Numbers may come in one piece.
        return
    value = {VARINT: b"\x01", FIXED64: b"12345678", BYTES: b"\0"}[wrong]
    part = protobuf.encode_message(section.message, protobuf_documents.document(section.message, chance))
    data = put_bytes(section.tag, part + put_varint(field.number << 3 | wrong) + value)
    with pytest.raises(protobuf.WireError, match="wrong wireType"):
        protobuf.decode_message(message, data)
    pending = message_source(message, data)
    assert pending is not None
    here: Any = cls.from_source(pending).freeze()
    attr = next(attr for attr, info in cls._fields.items() if info.json == section.json)
    with pytest.raises(protobuf.WireError, match="wrong wireType"):
        part_read = getattr(here, attr)
        getattr(part_read, chance.choice([*field_names(type(part_read))]))


@given(seeds)
def test_what_was_learnt_of_a_message_is_not_taken_for_one_of_the_same_size(seed: int) -> None:
    chance = random.Random(seed)
    message, cls, data = any_object(chance)
    for _ in range(2):
        wander(pair_of(message, cls, data), chance, [], 4)
    for _ in range(4):
        body = bytearray(data)
        for _ in range(chance.randrange(1, 3)):
            at = chance.randrange(len(body))
            body[at] = chance.choice((body[at] ^ 1, chance.randrange(256), body[chance.randrange(len(body))]))
        refused_or_read(message, cls, bytes(body), chance)


@given(st.binary(max_size=60), seeds)
def test_no_bytes_do_anything_but_be_refused_or_read(body: bytes, seed: int) -> None:
    chance = random.Random(seed)
    refused_or_read(*chance.choice(OBJECTS), body, chance)


def refused_or_read(message: Message, cls: type[ResourceObject], body: bytes, chance: random.Random) -> None:
    try:
        pending = message_source(message, body)
    except protobuf.WireError:
        return
    if pending is None:
        return
    here = cls.from_source(pending).freeze()
    try:
        there = cls.from_dict(protobuf.decode_message(message, body))
    except protobuf.WireError:
        explore(here, chance, 3)
        return
    wander(Pair(here, there), chance, [], 3)


def explore(here: Any, chance: random.Random, steps: int) -> None:
    """Read what no document says: it is read, or refused with a ValueError."""
    for _ in range(steps):
        try:
            if isinstance(here, Struct):
                explore(getattr(here, chance.choice([*field_names(type(here))] or ["frozen"]), None), chance, steps - 1)
            elif isinstance(here, ListView):
                for each in here:
                    explore(each, chance, steps - 1)
            elif isinstance(here, MapView):
                dict(here)
        except ValueError:
            continue
