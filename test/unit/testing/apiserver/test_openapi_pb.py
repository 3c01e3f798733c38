"""The OpenAPI document as protobuf, read back by the field numbers of gnostic's openapiv2.proto."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from clientgo.testing.apiserver.views import openapi_pb

Fields = dict[int, list[Any]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset behind it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> Fields:
    """Return the values of a message by field number: numbers, and bytes of texts and messages."""
    found: Fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        value: Any
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        else:
            assert wire == 2
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        found.setdefault(number, []).append(value)
    assert at == len(data)
    return found


def document(**more: Any) -> dict[str, Any]:
    return {"swagger": "2.0", "info": {"title": "T", "version": "v9"}, "paths": {}, "definitions": {}, **more}


def schema_of(schema: dict[str, Any]) -> Fields:
    """Return the fields of a schema in an encoded document."""
    top = fields(openapi_pb.encode(document(definitions={"D": schema})))
    (definitions,) = top[9]
    (named,) = fields(definitions)[1]
    assert fields(named)[1] == [b"D"]
    return fields(fields(named)[2][0])


def test_the_document_has_its_version_and_title() -> None:
    top = fields(openapi_pb.encode(document()))
    assert top[1] == [b"2.0"]
    assert fields(top[2][0]) == {1: [b"T"], 2: [b"v9"]}


@pytest.mark.parametrize(
    ("keyword", "value", "number", "wanted"),
    [
        ("$ref", "#/definitions/X", 1, b"#/definitions/X"),
        ("format", "int32", 2, b"int32"),
        ("title", "t", 3, b"t"),
        ("description", "d", 4, b"d"),
        ("multipleOf", 2.5, 6, 2.5),
        ("maximum", 3, 7, 3.0),
        ("exclusiveMaximum", True, 8, 1),
        ("minimum", -1.5, 9, -1.5),
        ("exclusiveMinimum", True, 10, 1),
        ("maxLength", 300, 11, 300),
        ("minLength", 1, 12, 1),
        ("pattern", "^a$", 13, b"^a$"),
        ("maxItems", 127, 14, 127),
        ("minItems", 128, 15, 128),
        ("uniqueItems", True, 16, 1),
        ("maxProperties", 2**31 - 1, 17, 2**31 - 1),
        ("minProperties", 2, 18, 2),
    ],
)
def test_each_keyword_has_its_number(keyword: str, value: Any, number: int, wanted: Any) -> None:
    assert schema_of({keyword: value}) == {number: [wanted]}


@pytest.mark.parametrize("keyword", ["exclusiveMaximum", "exclusiveMinimum", "uniqueItems"])
def test_what_is_false_is_left_out(keyword: str) -> None:
    assert schema_of({keyword: False}) == {}


def test_lists_repeat_their_number() -> None:
    schema = schema_of({"required": ["a", "b"], "enum": ["x", 1], "type": "object"})
    assert schema[19] == [b"a", b"b"]
    assert [json.loads(fields(each)[2][0]) for each in schema[20]] == ["x", 1]
    assert fields(schema[22][0]) == {1: [b"object"]}


def test_a_default_and_an_extension_are_json() -> None:
    schema = schema_of({"default": {"a": [1]}, "x-b": True, "x-a": [{"k": "v"}]})
    assert json.loads(fields(schema[5][0])[2][0]) == {"a": [1]}
    named = [fields(each) for each in schema[31]]
    assert [each[1][0] for each in named] == [b"x-a", b"x-b"]
    assert [json.loads(fields(each[2][0])[2][0]) for each in named] == [[{"k": "v"}], True]


def test_schemas_stand_in_schemas() -> None:
    inner = {"type": "string"}
    encoded = fields(openapi_pb.encode(document(definitions={"D": inner})))[9][0]
    message = fields(fields(encoded)[1][0])[2][0]
    schema = schema_of({"items": inner, "allOf": [inner, inner], "properties": {"p": inner, "q": inner}})
    assert fields(schema[23][0]) == {1: [message]}
    assert schema[24] == [message, message]
    named = [fields(each) for each in fields(schema[25][0])[1]]
    assert named == [{1: [b"p"], 2: [message]}, {1: [b"q"], 2: [message]}]
    assert fields(schema_of({"additionalProperties": inner})[21][0]) == {1: [message]}
    assert fields(schema_of({"additionalProperties": True})[21][0]) == {2: [1]}
    assert schema_of({"additionalProperties": False, "properties": {}}) == {}


def test_a_patch_names_its_kind_and_its_query_parameters() -> None:
    kind = {"group": "g", "kind": "K", "version": "v1"}
    patch = {
        "tags": ["t"],
        "operationId": "patchK",
        "consumes": ["application/json", "application/merge-patch+json"],
        "parameters": [
            {"name": "dryRun", "in": "query", "type": "string", "description": "when present"},
            {"name": "name", "in": "path"},
        ],
        "x-kubernetes-group-version-kind": kind,
    }
    top = fields(openapi_pb.encode(document(paths={"/k": {"patch": patch}, "/only/get": {"get": patch}})))
    (named,) = fields(top[8][0])[2]
    assert fields(named)[1] == [b"/k"]
    operation = fields(fields(fields(named)[2][0])[8][0])
    assert (operation[1], operation[5]) == ([b"t"], [b"patchK"])
    assert operation[7] == [b"application/json", b"application/merge-patch+json"]
    (parameter,) = operation[8]
    inner = fields(fields(fields(fields(parameter)[1][0])[2][0])[3][0])
    assert inner == {2: [b"query"], 3: [b"when present"], 4: [b"dryRun"], 5: [b"string"]}
    extension = fields(operation[13][0])
    assert extension[1] == [b"x-kubernetes-group-version-kind"]
    assert json.loads(fields(extension[2][0])[2][0]) == kind
