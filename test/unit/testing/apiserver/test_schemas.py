"""Structural schemas, tables, OpenAPI, protobuf, selectors and RBAC rules, as pure functions."""

from __future__ import annotations

import calendar
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from patience import PATIENCE

from clientgo.api import facts
from clientgo.applyconfigurations import internal
from clientgo.testing.apiserver.kinds import (
    embedded,
    protobuf,
    schema,
    schema_formats,
    selectors,
    structural,
    structural_schema,
)
from clientgo.testing.apiserver.kinds.registry import Group, Registry
from clientgo.testing.apiserver.kinds.validation import custom_resources
from clientgo.testing.apiserver.verbs import options
from clientgo.testing.apiserver.views import openapi, openapi_pb
from clientgo.testing.apiserver.wire import jsonio
from clientgo.testing.apiserver.wire.errors import ApiError

Json = dict[str, Any]


def spec(**properties: Json) -> Json:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


# ---- structural schemas


def test_pruning_keeps_what_the_schema_knows() -> None:
    schema = spec(a={"type": "integer"}, free={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    obj = {"kind": "K", "metadata": {"x": 1}, "spec": {"a": 1, "b": 2, "free": {"z": 1}}, "extra": 1}
    pruned, dropped = structural.prune(obj, schema)
    assert pruned == {"kind": "K", "metadata": {"x": 1}, "spec": {"a": 1, "free": {"z": 1}}}
    assert dropped == ["spec.b", "extra"]


def test_an_embedded_resource_keeps_its_head() -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}}
    obj = {"spec": {"it": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "data": 1}}}
    assert structural.prune(obj, spec(it=inner))[0]["spec"]["it"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
    }


def test_defaults_go_into_lists_maps_and_nulls() -> None:
    item = {"type": "object", "properties": {"port": {"type": "integer", "default": 80}}}
    schema = spec(
        list={"type": "array", "items": item},
        map={"type": "object", "additionalProperties": item},
        null={"type": "string", "default": "x"},
        nullable={"type": "string", "default": "x", "nullable": True},
    )
    obj = {"spec": {"list": [{}, {"port": 1}], "map": {"a": {}}, "null": None, "nullable": None}}
    assert structural.default(obj, schema)["spec"] == {
        "list": [{"port": 80}, {"port": 1}],
        "map": {"a": {"port": 80}},
        "null": "x",
        "nullable": None,
    }


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "string"}, 1, 'Invalid value: "integer": spec.v in body must be of type string: "integer"'),
        ({"type": "boolean"}, "x", 'Invalid value: "string": spec.v in body must be of type boolean: "string"'),
        ({"type": "number"}, 1, ""),
        ({"type": "integer"}, 1.0, ""),
        ({"type": "integer"}, True, 'Invalid value: "boolean": spec.v in body must be of type integer: "boolean"'),
        ({"type": "string", "nullable": True}, None, ""),
        ({"type": "string", "minLength": 2}, "a", 'Invalid value: "a": spec.v in body should be at least 2 chars long'),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 1,
         "Invalid value: 1: spec.v in body should be greater than 1"),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2, ""),
        ({"type": "integer", "minimum": 1}, 1, ""),
        ({"type": "integer", "minimum": 1}, 0,
         "Invalid value: 0: spec.v in body should be greater than or equal to 1"),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": True}, 9,
         "Invalid value: 9: spec.v in body should be less than 9"),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": True}, 8, ""),
        ({"type": "integer", "maximum": 9}, 9, ""),
        ({"type": "integer", "maximum": 9}, 10,
         "Invalid value: 10: spec.v in body should be less than or equal to 9"),
        ({"type": "integer", "multipleOf": 3}, 4, "Invalid value: 4: spec.v in body should be a multiple of 3"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 1}, ["a", "b"],
         "Too many: 2: must have at most 1 item"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, [],
         "Invalid value: 0: spec.v in body should have at least 1 items"),
        ({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}}, {"a": "", "b": ""},
         "Too many: 2: must have at most 1 item"),
        ({"type": "string", "format": "date-time"}, "2024-01-02T03:04:05Z", ""),
        ({"type": "string", "format": "date-time"}, "yesterday",
         'Invalid value: "yesterday": spec.v in body must be of type date-time: "yesterday"'),
        ({"type": "string", "format": "ipv4"}, "1.2.3.4", ""),
        ({"type": "string", "enum": ["a"]}, "a", ""),
        ({"type": "integer", "enum": [1]}, True,
         'Invalid value: "boolean": spec.v in body must be of type integer: "boolean"'),
        ({"x-kubernetes-int-or-string": True}, "50%", ""),
        ({"type": "array", "items": {"x-kubernetes-int-or-string": True}}, ["1", None],
         'Invalid value: "null": spec.v[1] in body must be of type integer,string: "null"'),
        ({"type": "array", "items": {"x-kubernetes-int-or-string": True, "nullable": True}}, [None], ""),
        ({"type": "string", "pattern": "^a+$"}, "aa", ""),
        ({"type": "string", "pattern": "^a+$"}, "ab",
         'Invalid value: "ab": spec.v in body should match \'^a+$\''),
        ({"type": "string", "pattern": "^a+$"}, "aa\n",
         'Invalid value: "aa\\n": spec.v in body should match \'^a+$\''),
        ({"type": "string", "pattern": r"^\d$"}, "\u0663",
         'Invalid value: "\u0663": spec.v in body should match \'^\\d$\''),
        ({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {},
         'Invalid value: "": "spec.v" must validate one and only one schema (oneOf). Found none valid'),
        ({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1},
         'Invalid value: "": "spec.v" must validate one and only one schema (oneOf). Found 2 valid alternatives'),
        ({"type": "object", "not": {"required": ["a"]}}, {"a": 1},
         'Invalid value: "": "spec.v" must not validate the schema (not)'),
        ({"type": "integer", "anyOf": [{"maximum": 1}, {"minimum": 5}]}, 3,
         'Invalid value: "": "spec.v" must validate at least one schema (anyOf)'),
        ({"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}, [1, 2, 1],
         "Duplicate value: 1"),
        ({"type": "string"}, None, 'Invalid value: "null": spec.v in body must be of type string: "null"'),
        ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a", "b"], ""),
        ({"type": "integer", "format": "int32"}, 2**31 - 1, ""),
        ({"type": "integer", "format": "int32"}, -(2**31), ""),
        ({"type": "integer", "format": "int64"}, -(2**63), ""),
        ({"type": "integer", "anyOf": [{"maximum": 1}, {"minimum": 5}]}, 1, ""),
        ({"type": "integer", "anyOf": [{"maximum": 1}, {"minimum": 5}]}, 5, ""),
        ({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, ""),
        ({"type": "object", "not": {"required": ["a"]}}, {"b": 1}, ""),
        ({"type": "integer", "allOf": [{"maximum": 9}, {"minimum": 5}]}, 7, ""),
        ({"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}}, {},
         "Invalid value: 0: spec.v in body should have at least 1 properties"),
    ],
)  # fmt: skip
def test_validation(schema: Json, value: Any, message: str) -> None:
    found = custom_resources.validate({"spec": {"v": value}}, spec(v=schema))
    assert (found[0].body if found else "") == message


@pytest.mark.parametrize("outer", ["anyOf", "oneOf"])
@pytest.mark.parametrize("inner", ["anyOf", "oneOf", "allOf"])
def test_the_errors_are_those_of_the_alternative_with_the_most_checks(outer: str, inner: str) -> None:
    nested = {inner: [{"properties": {"a": {"type": "integer"}}}], "required": ["most"]}
    for alternatives in ([{"required": ["few"]}, nested], [nested, {"required": ["few"]}]):
        found = custom_resources.validate({"spec": {"v": {"a": 1}}}, spec(v={"type": "object", outer: alternatives}))
        assert [error.field for error in found if error.field.startswith("spec.v.")] == ["spec.v.most"]


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("int32", -(2**31) - 1, "integer with format int32"),
        ("int32", 2**31, "integer with format int32"),
        ("int64", -(2**63) - 1, "integer with format int64"),
        ("int64", 2**63, "integer with format int64"),
        ("", 2**63, "integer (default format)"),
    ],
)
def test_an_integer_out_of_range_is_refused(form: str, value: int, text: str) -> None:
    schema = {"type": "integer", **({"format": form} if form else {})}
    bodies = [error.body for error in custom_resources.validate({"spec": {"v": value}}, spec(v=schema))]
    assert any(f"Checked value must be of type {text} in spec.v" in body for body in bodies)


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({}, "s.type"),
        ({"type": "string"}, "s.type"),
        (spec(a={}), "s.properties[spec].properties[a].type"),
        (spec(a={"type": "what"}), "s.properties[spec].properties[a].type"),
        (spec(a={"type": "array"}), "s.properties[spec].properties[a].items"),
        (spec(a={"type": "string", "default": 1}), "s.properties[spec].properties[a].default"),
        (spec(a={"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}),
         "s.properties[spec].properties[a].x-kubernetes-list-map-keys"),
    ],
)  # fmt: skip
def test_schemas_that_are_not_structural(schema: Json, field: str) -> None:
    assert field in [error.field for error in structural_schema.check_schema(schema, "s")]


# ---- OpenAPI


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return found.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()


def test_every_reference_of_v2_is_defined() -> None:
    document = openapi.v2_document(Registry())
    assert {f"#/definitions/{name}" for name in document["definitions"]} >= references(document)
    assert openapi_pb.encode(document)


def test_every_reference_of_v3_is_defined() -> None:
    registry = Registry()
    for group in registry.groups():
        for version in group.versions:
            document = openapi.v3_document(registry, group.name, version)
            assert document is not None
            schemas = document["components"]["schemas"]
            assert {f"#/components/schemas/{name}" for name in schemas} >= references(document)


def test_kinds_are_marked_and_merge_keys_published() -> None:
    document = openapi.v3_document(Registry(), "apps", "v1")
    assert document is not None
    schemas = document["components"]["schemas"]
    deployment = schemas["io.k8s.api.apps.v1.Deployment"]
    assert deployment["x-kubernetes-group-version-kind"] == [{"group": "apps", "version": "v1", "kind": "Deployment"}]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert schemas["io.k8s.api.core.v1.PodSpec"]["required"] == ["containers"]


# ---- protobuf


def field(number: int, body: bytes) -> bytes:
    return bytes((number << 3 | 2, len(body))) + body


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    meta = field(1, api_version.encode()) + field(2, kind.encode())
    return protobuf.MAGIC + field(1, meta) + field(2, raw)


def test_a_config_map_in_protobuf() -> None:
    entry = field(1, b"key") + field(2, b"value")
    raw = field(1, field(1, b"name")) + field(2, entry)
    assert protobuf.decode(envelope("v1", "ConfigMap", raw)) == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "name"},
        "data": {"key": "value"},
    }


@pytest.mark.parametrize(
    "given", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.9Z", "2026-01-02T05:04:05+02:00"]
)
def test_times_are_those_of_utc_in_whole_seconds(given: str) -> None:
    struct = schema.structure(schema.META_V1, "ObjectMeta")
    decoded = struct.decode({"creationTimestamp": given}, schema.Context(), "", "")["creationTimestamp"]
    assert decoded == "2026-01-02T03:04:05Z"


def test_every_day_is_stored_as_given_and_no_other_day_is_a_time() -> None:
    struct = schema.structure(schema.META_V1, "ObjectMeta")

    def decoded(day: str) -> str:
        text = f"{day}T00:00:00Z"
        found: str = struct.decode({"creationTimestamp": text}, schema.Context(), "", "")["creationTimestamp"]
        assert found == text
        return found

    wrong = []
    for year in (1900, 2000, 2023, 2024, 2026, 2028):
        for month in range(1, 13):
            for day in range(32):
                text = f"{year}-{month:02}-{day:02}"
                exists = 1 <= day <= calendar.monthrange(year, month)[1]
                try:
                    decoded(text)
                    accepted = True
                except schema.DecodeError:
                    accepted = False
                # The common form is recognised without a calendar, also on the last days of a month.
                is_plain = schema._PLAIN_TIME.fullmatch(f"{text}T00:00:00Z") is not None
                if accepted != exists or is_plain != (exists and text != "2000-02-29"):
                    wrong.append(text)
    assert wrong == []


def test_inlined_structs_quantities_and_times_in_protobuf() -> None:
    volume = field(1, b"v") + field(2, field(2, field(1, b"Memory")))
    spec_bytes = field(1, volume)
    creation = field(8, bytes((1 << 3, 60)))
    decoded = protobuf.decode(envelope("v1", "Pod", field(1, creation) + field(2, spec_bytes)))
    assert decoded["spec"]["volumes"] == [{"name": "v", "emptyDir": {"medium": "Memory"}}]
    assert decoded["metadata"]["creationTimestamp"] == "1970-01-01T00:01:00Z"


@pytest.mark.parametrize("body", [b"", b"{}", protobuf.MAGIC, envelope("v1", "Nope", b""), envelope("v9", "Pod", b"")])
def test_what_is_no_object_in_protobuf(body: bytes) -> None:
    with pytest.raises(protobuf.WireError):
        protobuf.decode(body)


# ---- selectors and rules


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True), ("a", True), ("!a", False), ("!b", True), ("a=1", True), ("a==1", True), ("a!=1", False),
        ("b!=1", True),
        ("a in (1,2)", True), ("a in ()", False), ("a notin (1)", False), ("b notin (1)", True), ("a=1,!b", True),
        ("a=1,b", False),
        ("n>3", True), ("n<3", False), ("a=", False), (" a = 1 , n = 5 ", True),
    ],
)  # fmt: skip
def test_label_selectors(text: str, matches: bool) -> None:
    predicate = selectors.parse_labels(text)
    assert (predicate is None or predicate({"a": "1", "n": "5"})) is matches


@pytest.mark.parametrize(
    "text", ["=", "a=b=c", "a in", "a in (", "a in (b", "a,", "a b", "-a", "a=-", "n>x", "(", "a in b"]
)
def test_label_selectors_that_make_no_sense(text: str) -> None:
    with pytest.raises(ApiError) as raised:
        selectors.parse_labels(text)
    assert raised.value.code == 400


def test_field_selectors_unescape_values() -> None:
    terms = selectors.parse_fields(r"a=x\,y,b!=z\=")
    assert [(term.field, term.operator, term.value) for term in terms] == [("a", "=", "x,y"), ("b", "!=", "z=")]


def test_selectors_that_make_no_sense_are_refused_in_the_words_of_apimachinery() -> None:
    with pytest.raises(ApiError, match=r"^unable to parse requirement: found 'web' expected: '\('$"):
        selectors.parse_labels("app in web")
    with pytest.raises(ApiError, match="invalid escape sequence"):
        selectors.parse_fields(r"a=\x")


# ---- JSON


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\xff"', "\ufffd"),
        (b"9223372036854775807", 2**63 - 1),
        (b"9223372036854775808", 2.0**63),
        (b"12345678901234567890123", 1.2345678901234568e22),
    ],
)
def test_json_is_read_as_go_reads_it(text: bytes, value: Any) -> None:
    read = jsonio.loads(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("!", 0), ("a+/b!Zg==", 4), ("Zm9v-_==", 4), ("é", 0), ("Zm9vY", 4), ("Zm9vYY\n", 5), ("Z===", 1), ("Zg=", 3),
        ("Zg=\n", 4), ("Zg=a", 2), ("Zg==Zg==", 4), ("Zg==\n!", 5), ("Zm8=\r\nZ", 6),
        ("Zm9v=", 4), ("Zm9vY=", 5), ("Zm9vYmFyZ===", 9), ("Zm9vYmFy=", 8),
    ],
)  # fmt: skip
def test_bytes_that_are_no_base64_say_where(text: str, at: int) -> None:
    """Go: base64.CorruptInputError."""
    with pytest.raises(schema.DecodeError, match=f"illegal base64 data at input byte {at}$"):
        schema.codec("[]byte", "core/v1").decode(text, schema.Context(), "", "")


@pytest.mark.parametrize(
    ("value", "quantity"), [("1Gi", "1Gi"), ("1.5", "1500m"), (" 2 ", "2"), (5, "5"), (1.5, "1500m"), ("1000m", "1")]
)
def test_a_quantity_is_a_text_or_a_number_and_kept_in_its_shortest_form(value: Any, quantity: str) -> None:
    assert schema.codec("resource.Quantity", "core/v1").decode(value, schema.Context(), "", "") == quantity


@pytest.mark.parametrize("value", [True, None, {}, ["1"], "x", "1 Gi"])
def test_what_is_no_quantity_is_refused(value: Any) -> None:
    with pytest.raises(schema.DecodeError, match=r"^(quantities must match|unable to parse quantity's suffix)"):
        schema.codec("resource.Quantity", "core/v1").decode(value, schema.Context(), "", "")


def test_bytes_are_kept_without_the_ends_of_lines() -> None:
    assert schema.codec("[]byte", "core/v1").decode("Zm9v\r\nYg==\n", schema.Context(), "", "") == "Zm9vYg=="


@pytest.mark.parametrize("text", [b"1e999", b"1" * 5000])
def test_numbers_beyond_a_float_are_refused(text: bytes) -> None:
    with pytest.raises(jsonio.ParseError, match="cannot unmarshal number"):
        jsonio.loads(text)


@pytest.mark.parametrize(
    ("token", "why"),
    [("a b", "illegal base64 data at input byte 1"), ("abc", "invalid character 'i' looking for beginning of value")],
)
def test_a_continue_token_of_somebody_elses(token: str, why: str) -> None:
    with pytest.raises(ApiError, match=f"invalid continue token: continue key is not valid: {why}"):
        options.decode_token(token)


@pytest.mark.parametrize("start", ["../kube-system/", "a/../b\0", "//a", "a/./b", "/.."])
def test_a_continue_token_leads_to_no_other_folder(start: str) -> None:
    with pytest.raises(ApiError, match="invalid continue token: continue key is not valid: "):
        options.decode_token(options.encode_token(1, start))


@pytest.mark.parametrize("start", ["a\0", "/team/a\0", "a..b\0", "..a\0"])
def test_a_continue_token_of_this_server_is_read(start: str) -> None:
    assert options.decode_token(options.encode_token(7, start)) == (7, start.removeprefix("/").removesuffix("\0"))


def test_whole_floats_print_as_go_prints_them() -> None:
    read = jsonio.loads(b'{"c":1.0,"b":12345678901234567890,"a":[1e30,2.5]}')
    assert jsonio.dumps(jsonio.sort_keys(read)) == b'{"a":[1e+30,2.5],"b":12345678901234567000,"c":1}'


# ---- what is no structural schema

TEXT: Json = {"type": "string"}
LISTED: Json = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


@pytest.mark.parametrize(
    ("name", "schema", "wanted"),
    [
        ("metadata", {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}, None),
        ("metadata", {"type": "object", "properties": {"labels": {"type": "object"}}},
         ": Forbidden: must not specify anything other than name and generateName, "
         "but metadata is implicitly specified"),
        ("a", {**LISTED, "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
         ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, "
         "so it must have a default or be a required property"),
        ("a", {**LISTED, "items": {"type": "object", "properties": {"k": {"type": "string", "default": ""}}}}, None),
        ("a", {**LISTED, "items": {"type": "object", "required": ["k"], "properties": {"k": TEXT}}}, None),
        ("a", {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}},
         ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
         "x-kubernetes-list-type=set"),
        ("a", {"type": "integer", "anyOf": [{"minimum": 1}, {"type": "integer"}]},
         ".anyOf[1].type: Forbidden: must be empty to be structural"),
        ("a", {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, None),
        ("a", {"type": "object", "not": {"properties": {"x": {"default": 1}}}},
         ".not.properties[x].default: Forbidden: must be undefined to be structural"),
        ("a", {"type": "object", "x-kubernetes-embedded-resource": True},
         ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
         "x-kubernetes-preserve-unknown-fields"),
    ],
)  # fmt: skip
def test_what_makes_a_schema_not_structural(name: str, schema: Json, wanted: str | None) -> None:
    found = structural_schema.check_schema({"type": "object", "properties": {name: schema}}, "s")
    assert [str(error) for error in found] == ([] if wanted is None else [f"s.properties[{name}]{wanted}"])


def test_an_embedded_resource_has_a_kind() -> None:
    schema = spec(e={"type": "object", "x-kubernetes-embedded-resource": True})
    found = [str(error) for error in custom_resources.validate({"spec": {"e": {"kind": "K"}}}, schema)]
    assert found == ["spec.e.apiVersion: Required value"]


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("bsonobjectid", "507f1f77bcf86cd799439011", "x"),
        ("cidr", "10.0.0.1/8", "10.0.0.1"),
        ("cidr", "fe80::/10", "fe80::/129"),
        ("creditcard", "4111111111111111", "4111111111111112"),
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T01:02:03Z", "2026-02-28"),
        ("duration", "1w", "1 fortnight"),
        ("duration", "1h30m", "h"),
        ("email", "a@b.c", "x"),
        ("hexcolor", "#fff", "red"),
        ("hostname", "example.com", "-a"),
        ("ipv4", "01.2.3.4", "1.2.3.256"),
        ("ipv6", "::1", "1.2.3.4"),
        ("isbn", "0321751043", "0321751044"),
        ("isbn13", "9783161484100", "9783161484101"),
        ("k8s-short-name", "abc", "a.b"),
        ("k8s-long-name", "a.b", "A"),
        ("mac", "00:11:22:33:44:55", "00:11"),
        ("rgbcolor", "rgb(1,2,3)", "rgb(1,2,300)"),
        ("ssn", "111-11-1111", "1"),
        ("uri", "/x", "not a uri"),
        ("uri", "https://a/b", ""),
        ("uuid", "00000000-0000-4000-8000-000000000001", "nope"),
        ("uuid4", "00000000-0000-4000-8000-000000000001", "00000000-0000-1000-8000-000000000001"),
        ("byte", "YQ==", "YQ="),
    ],
)
def test_formats(form: str, good: str, bad: str) -> None:
    assert (schema_formats.passes(form, good), schema_formats.passes(form, bad)) == (True, False)


def test_what_no_format_is_known_by_passes() -> None:
    assert schema_formats.passes("int32", "anything")
    assert not schema_formats.is_known("int32")


def test_nulls_go_where_they_may_not_be() -> None:
    schema = spec(
        plain={"type": "string"},
        nullable={"type": "string", "nullable": True},
        default={"type": "string", "default": "d"},
        many={"type": "object", "additionalProperties": {"type": "string"}},
    )
    obj = {"spec": {"plain": None, "nullable": None, "default": None, "many": {"a": None, "b": "c"}}}
    assert structural.complete(obj, schema)["spec"] == {"nullable": None, "default": "d", "many": {"b": "c"}}


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"type": "string", "enum": ["a"]}, 1,
         ['spec.v: Invalid value: "integer": spec.v in body must be of type string: "integer"',
          'spec.v: Unsupported value: 1: supported values: "a"']),
        ({"type": "integer"}, 1.5,
         ['spec.v: Invalid value: "number": spec.v in body must be of type integer: "number"',
          '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.v']),
        ({"type": "integer", "format": "int32"}, 2**31,
         ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.v']),
        ({"type": "number", "multipleOf": 0.1}, 0.3, []),
        ({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 1}, {"a": 1, "b": 2},
         ["spec.v: Too many: 2: must have at most 1 item"]),
        ({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"]}, [{"k": 1}, {"k": 1}, {"k": 1}],
         ['spec.v[1]: Duplicate value: {"k":1}']),
        ({"type": "object", "x-kubernetes-embedded-resource": True}, {"apiVersion": "a/b/c", "kind": ""},
         ['spec.v.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
          'spec.v.kind: Invalid value: "": must not be empty']),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"properties": {"b": {"maximum": 1}}}]}, {"b": 3},
         ['<nil>: Invalid value: "": "spec.v" must validate at least one schema (anyOf)',
          "spec.v.b: Invalid value: 3: spec.v.b in body should be less than or equal to 1"]),
    ],
)  # fmt: skip
def test_all_that_is_found(schema: Json, value: Any, wanted: list[str]) -> None:
    assert [str(error) for error in custom_resources.validate({"spec": {"v": value}}, spec(v=schema))] == wanted


def test_items_of_keyed_lists_are_known_again() -> None:
    """Unchanged items stay valid in any order. Only new and changed items are validated."""
    item = {"type": "object", "properties": {"k": {"type": "string"}, "n": {"type": "integer", "maximum": 1}}}
    listed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    schema = spec(l=listed)
    old = {"spec": {"l": [{"k": "a", "n": 5}, {"k": "b", "n": 6}]}}

    def found(*items: Json) -> list[str]:
        return [error.field for error in custom_resources.validate({"spec": {"l": list(items)}}, schema, old)]

    assert found({"k": "b", "n": 6}, {"k": "a", "n": 5}) == []
    assert found({"k": "b", "n": 6}, {"k": "c", "n": 5}) == ["spec.l[1].n"]
    assert found({"k": "a", "n": 4}) == ["spec.l[0].n"]


def test_a_status_is_looked_at_alone() -> None:
    status = {"type": "object", "properties": {"c": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": {"type": "integer"}, "status": status}}
    (error,) = custom_resources.validate({"spec": "x", "status": {"c": "x"}}, schema, {"spec": "x"}, status=True)
    assert str(error) == 'status.c: Invalid value: "string": c in body must be of type integer: "string"'


def test_embedded_metadata_is_read() -> None:
    schema = spec(e={"type": "object", "x-kubernetes-embedded-resource": True})
    obj = {"spec": {"e": {"metadata": {"name": "n", "creationTimestamp": None, "bogus": 1}}}}
    assert embedded.coerce(obj, schema) == ({"spec": {"e": {"metadata": {"name": "n"}}}}, ["spec.e.metadata.bogus"])
    with pytest.raises(embedded.CoerceError, match=r"spec\.e\.kind: Invalid value: 1: must be a string"):
        embedded.coerce({"spec": {"e": {"kind": 1}}}, schema)


@pytest.mark.parametrize("link", [schema.structure, internal.of_type])
def test_nobody_gets_a_type_before_all_its_fields_are_there(
    link: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(len(link("made/up", "Type").fields)), name="other")

    def fields_of(package: str, name: str) -> Iterator[facts.FieldFact]:
        yield facts.FieldFact("first", "string", False, False, "", "")
        other.start()
        # It must not end; if it wrongly does, that is long enough.
        other.join(0.05)
        yield facts.FieldFact("second", "string", False, False, "", "")

    monkeypatch.setattr(facts, "fields_of", fields_of)
    link("made/up", "Type")
    other.join(PATIENCE)
    assert found == [2]


def test_servers_of_one_process_share_the_built_in_kinds_alone() -> None:
    one, other = Registry(), Registry()
    one.set_custom("example.com", Group("example.com", ["v1"], "v1"))
    assert one.find("", "v1", "pods") is other.find("", "v1", "pods") is not None
    assert [group.name for group in one.groups() if group not in other.groups()] == ["example.com"]
