"""The rules of structural schemas, and definitions as errors print them. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.kinds import crd_internal, schema, structural_schema

Json = dict[str, Any]
INT, PRESERVE = "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"
EMBEDDED, LIST, KEYS, MAP = (
    "x-kubernetes-embedded-resource", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
)  # fmt: skip
TEXT: Json = {"type": "string"}


def found(schema: Any) -> list[str]:
    return [str(error) for error in structural_schema.check_schema(schema, "s")]


def root(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def embedded(**more: Any) -> Json:
    return {"type": "object", EMBEDDED: True, **more}


TYPES = '"array", "boolean", "integer", "number", "object", "string"'
EMPTY = "must not be empty for specified object fields"
IMPLIED = "must not specify anything other than name and generateName, but metadata is implicitly specified"


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (None, []),
        ({}, ["s.type: Required value: must not be empty at the root"]),
        ({"type": "object"}, []),
        (TEXT, ['s.type: Invalid value: "string": must be object at the root']),
        ({"type": "x"}, [f's.type: Unsupported value: "x": supported values: {TYPES}',
                         's.type: Invalid value: "x": must be object at the root']),
        ({"type": "object", PRESERVE: True}, []),
        ({"type": "object", PRESERVE: False}, [f"s.{PRESERVE}: Invalid value: false: must be true or undefined"]),
        # A redefinition of the fields of every object.
        (root(kind=TEXT, apiVersion=TEXT, metadata={"type": "object"}), []),
        (root(kind={"type": "integer"}, apiVersion={"type": "object"}, metadata=TEXT),
         ['s.properties[kind].type: Invalid value: "integer": must be string',
          's.properties[apiVersion].type: Invalid value: "object": must be string',
          's.properties[metadata].type: Invalid value: "string": must be object']),
        (root(metadata=root(name=TEXT, generateName=TEXT)), []),
        (root(metadata={**root(name={"type": "string", "maxLength": 3}), "description": "d"}), []),
        (root(metadata=root(labels={"type": "object"})), [f"s.properties[metadata]: Forbidden: {IMPLIED}"]),
        (root(metadata={"type": "object", "maxProperties": 1}), [f"s.properties[metadata]: Forbidden: {IMPLIED}"]),
        (root(metadata=root(name={})), []),
    ],
)  # fmt: skip
def test_the_root_is_an_object(schema: Any, wanted: list[str]) -> None:
    assert found(schema) == wanted


A = "s.properties[a]"


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({}, [f"{A}.type: Required value: {EMPTY}"]),
        *(({"type": kind}, []) for kind in ("boolean", "integer", "number", "object", "string")),
        ({INT: True}, []),
        ({PRESERVE: True}, []),
        ({"type": "array"}, [f"{A}.items: Required value: must be specified"]),
        ({"type": "array", "items": TEXT}, []),
        ({"type": "array", "items": {"description": "d"}}, [f"{A}.items.type: Required value: {EMPTY}"]),
        ({"type": "object", "additionalProperties": TEXT}, []),
        ({"type": "object", "additionalProperties": True}, []),
        ({"type": "object", "additionalProperties": {"description": "d"}},
         [f"{A}.additionalProperties.type: Required value: {EMPTY}"]),
        (root(b=root(c={})), [f"{A}.properties[b].properties[c].type: Required value: {EMPTY}"]),
        (root(metadata={}), [f"{A}.properties[metadata].type: Required value: {EMPTY}"]),
        (embedded(), [f"{A}.properties: Required value: must not be empty if {EMBEDDED} is true without {PRESERVE}"]),
        (embedded(**{PRESERVE: True}), []),
        (embedded(properties={"spec": {"type": "object"}}), []),
        (embedded(properties={"kind": {"type": "integer"}}),
         [f'{A}.properties[kind].type: Invalid value: "integer": must be string']),
        (embedded(properties={"metadata": root(labels={"type": "object"})}),
         [f"{A}.properties[metadata]: Forbidden: {IMPLIED}"]),
        ({"type": "string", "uniqueItems": True},
         [f"{A}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
          "quadratic"]),
        ({"type": "string", "uniqueItems": False}, []),
        ({**root(b=TEXT), "additionalProperties": TEXT},
         [f"{A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
        *(({"type": "object", name: value}, [f"{A}.{name}: Forbidden: {name} is not supported"]) for name, value in (
            ("id", "x"), ("$ref", "x"), ("additionalItems", True), ("patternProperties", {"a": TEXT}),
            ("definitions", {"a": TEXT}), ("dependencies", {"a": ["b"]}))),
        ({"type": "string", "pattern": "a+"}, []),
    ],
)  # fmt: skip
def test_each_field_has_a_structure(schema: Json, wanted: list[str]) -> None:
    assert found(root(a=schema)) == wanted


NOT_STRUCTURAL = "must be undefined to be structural"


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "string", "default": "a"}, []),
        ({"type": "string", "default": 1},
         [f'{A}.default: Invalid value: "integer":  in body must be of type string: "integer"']),
        ({**root(b=TEXT), "default": {"b": "x"}}, []),
        ({**root(b=TEXT), "default": {"c": "x"}},
         [f'{A}.default: Invalid value: {{"c":"x"}}: must not have unknown fields']),
        ({"type": "object", "default": {"c": "x"}},
         [f'{A}.default: Invalid value: {{"c":"x"}}: must not have unknown fields']),
        ({"type": "object", PRESERVE: True, "default": {"c": "x"}}, []),
        *((schema, [f'{A}.{where}.default: Invalid value: "integer":  in body must be of type string: "integer"'])
          for where, schema in (
              ("properties[b]", root(b={"type": "string", "default": 1})),
              ("items", {"type": "array", "items": {"type": "string", "default": 1}}),
              ("additionalProperties", {"type": "object", "additionalProperties": {"type": "string", "default": 1}}))),
    ],
)  # fmt: skip
def test_a_default_fits_its_schema(schema: Json, wanted: list[str]) -> None:
    assert found(root(a=schema)) == wanted


def test_defaults_are_looked_at_in_a_structure_alone() -> None:
    assert found(root(a={"type": "string", "default": 1}, b={})) == [
        f"s.properties[b].type: Required value: {EMPTY}"
    ]


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "array", "items": TEXT, LIST: "atomic"}, []),
        ({"type": "array", "items": TEXT, LIST: "set"}, []),
        ({"type": "array", "items": TEXT, LIST: "x"},
         [f'{A}.{LIST}: Unsupported value: "x": supported values: "atomic", "map", "set"']),
        ({"type": "object", LIST: "atomic"},
         [f'{A}.type: Invalid value: "object": must be array if {LIST} is specified']),
        ({"type": "array", "items": {"type": "object"}, LIST: "set"},
         [f"{A}.items.{MAP}: Invalid value: null: must be atomic as item of a list with {LIST}=set"]),
        ({"type": "array", "items": {"type": "object", MAP: "granular"}, LIST: "set"},
         [f'{A}.items.{MAP}: Invalid value: "granular": must be atomic as item of a list with {LIST}=set']),
        ({"type": "array", "items": {"type": "object", MAP: "atomic"}, LIST: "set"}, []),
        ({"type": "array", "items": {**root(k=TEXT), "required": ["k"]}, LIST: "map", KEYS: ["k"]}, []),
        ({"type": "array", "items": root(k={**TEXT, "default": "d"}), LIST: "map", KEYS: ["k"]}, []),
        ({"type": "array", "items": root(k=TEXT), LIST: "map", KEYS: ["k"]},
         [f"{A}.items.properties[k].default: Required value: this property is in {KEYS}, so it must have a default or "
          "be a required property"]),
        ({"type": "array", "items": root(k=TEXT), LIST: "map"},
         [f"{A}.{KEYS}: Required value: must not be empty if {LIST} is map"]),
        ({"type": "array", "items": {**root(k=TEXT), "required": ["k"]}, LIST: "map", KEYS: ["k", "z"]},
         [f'{A}.{KEYS}: Invalid value: ["k","z"]: entries must all be names of item properties']),
        ({"type": "object", MAP: "atomic"}, []),
        ({"type": "object", MAP: "granular"}, []),
        ({"type": "object", MAP: "x"},
         [f'{A}.{MAP}: Unsupported value: "x": supported values: "atomic", "granular"']),
        ({"type": "string", MAP: "atomic"},
         [f'{A}.type: Invalid value: "string": must be object if {MAP} is specified']),
        ({PRESERVE: True, MAP: "atomic"}, [f"{A}.type: Required value: must be object if {MAP} is specified"]),
    ],
)  # fmt: skip
def test_lists_and_maps_have_a_kind_that_fits_them(schema: Json, wanted: list[str]) -> None:
    assert found(root(a=schema)) == wanted


@pytest.mark.parametrize(
    ("alternatives", "wanted"),
    [
        *(({kind: [{"minLength": 1}, {"enum": ["a"]}]}, []) for kind in ("allOf", "anyOf", "oneOf")),
        ({"not": {"enum": ["a"]}}, []),
        *(({kind: [{}, {"type": "string"}]},
           [f"{A}.{kind}[1].type: Forbidden: must be empty to be structural"]) for kind in ("allOf", "anyOf", "oneOf")),
        ({"not": {"type": "string"}}, [f"{A}.not.type: Forbidden: must be empty to be structural"]),
        *(({"not": {name: value}}, [f"{A}.not.{name}: Forbidden: {text}"]) for name, value, text in (
            ("title", "t", "must be empty to be structural"), ("description", "t", "must be empty to be structural"),
            ("default", "t", NOT_STRUCTURAL), ("additionalProperties", True, NOT_STRUCTURAL),
            ("nullable", True, "must be false to be structural"))),
        *(({"not": {name: value}}, []) for name, value in (("title", ""), ("nullable", False), ("default", None))),
        ({"not": {"properties": {"b": {"type": "string"}}}},
         [f"{A}.not.properties[b].type: Forbidden: must be empty to be structural"]),
        ({"not": {"items": {"type": "string"}}},
         [f"{A}.not.items.type: Forbidden: must be empty to be structural"]),
        *(({"not": {kind: [{"type": "string"}]}},
           [f"{A}.not.{kind}[0].type: Forbidden: must be empty to be structural"])
          for kind in ("allOf", "anyOf", "oneOf")),
        ({"not": {"$ref": "x"}}, [f"{A}.not.$ref: Forbidden: $ref is not supported"]),
        ({INT: True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
        ({INT: True, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]}, []),
        ({INT: True, "not": {"title": "t"}}, [f"{A}.not.title: Forbidden: must be empty to be structural"]),
    ],
)  # fmt: skip
def test_alternatives_restrict_values_and_add_no_structure(alternatives: Json, wanted: list[str]) -> None:
    of = {} if INT in alternatives else {"type": "object"}
    assert found(root(a={**of, **alternatives})) == wanted


@pytest.mark.parametrize(
    ("texts", "structural"),
    [
        ([], True),
        ([f"{A}.{LIST}: Unsupported value"], True),
        ([f"{A}.{MAP}: Unsupported value"], True),
        ([f"{A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"], True),
        ([f"{A}.type: Required value: {EMPTY}"], False),
        ([f"{A}.{LIST}: Unsupported value", f"{A}.type: Required value: {EMPTY}"], False),
    ],
)
def test_some_errors_leave_a_structure(texts: list[Any], structural: bool) -> None:
    assert structural_schema.is_structural(texts) is structural


# ---- definitions as errors print them


def given(schema: Json) -> Json:
    """Return what a schema prints beyond an empty one."""
    empty = crd_internal.shown_schema({})
    return {name: value for name, value in crd_internal.shown_schema(schema).items() if value != empty[name]}


SHOWN: Json = {**crd_internal.shown_schema({}), "Type": "string"}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({}, {}),
        (TEXT, {"Type": "string"}),
        ({"id": "i", "$schema": "s", "$ref": "r"}, {"ID": "i", "Schema": "s", "Ref": "r"}),
        ({"minLength": 1, "maxItems": 2, "enum": ["a"]}, {"MinLength": 1, "MaxItems": 2, "Enum": ["a"]}),
        ({PRESERVE: True, EMBEDDED: True, INT: True},
         {"XPreserveUnknownFields": True, "XEmbeddedResource": True, "XIntOrString": True}),
        ({KEYS: ["k"], LIST: "map", MAP: "atomic"},
         {"XListMapKeys": ["k"], "XListType": "map", "XMapType": "atomic"}),
        *(({name: [TEXT]}, {name[0].upper() + name[1:]: [SHOWN]}) for name in ("allOf", "anyOf", "oneOf")),
        *(({name: {"b": TEXT, "a": TEXT}}, {name[0].upper() + name[1:]: {"a": SHOWN, "b": SHOWN}})
          for name in ("properties", "patternProperties", "definitions")),
        ({"not": TEXT}, {"Not": SHOWN}),
        ({"items": TEXT}, {"Items": {"Schema": SHOWN, "JSONSchemas": None}}),
        *(({name: value}, {name[0].upper() + name[1:]: shown}) for name in ("additionalProperties", "additionalItems")
          for value, shown in (
              (TEXT, {"Allows": True, "Schema": SHOWN}), (True, {"Allows": True, "Schema": None}),
              (False, {"Allows": False, "Schema": None}))),
        ({"x-kubernetes-validations": [{"rule": "self"}]},
         {"XValidations": [{"Rule": "self", "Message": "", "MessageExpression": "", "Reason": None, "FieldPath": "",
                            "OptionalOldSelf": None}]}),
        ({"x-kubernetes-validations": [{"rule": "r", "message": "m", "messageExpression": "e", "reason": "R",
                                        "fieldPath": ".a", "optionalOldSelf": True}]},
         {"XValidations": [{"Rule": "r", "Message": "m", "MessageExpression": "e", "Reason": "R", "FieldPath": ".a",
                            "OptionalOldSelf": True}]}),
    ],
)  # fmt: skip
def test_a_schema_is_printed_as_its_internal_struct(schema: Json, shown: Json) -> None:
    assert given(schema) == shown


def test_properties_are_printed_in_the_order_of_their_names() -> None:
    assert [*crd_internal.shown_schema({"properties": {"b": TEXT, "a": TEXT}})["Properties"]] == ["a", "b"]


V1: Json = {"name": "v1", "served": True, "storage": True}
EMPTY_VERSION: Json = {
    "Name": "", "Served": False, "Storage": False, "Deprecated": False, "DeprecationWarning": None, "Schema": None,
    "Subresources": None, "AdditionalPrinterColumns": None, "SelectableFields": None,
}  # fmt: skip
SUBRESOURCES = {"status": {}, "scale": {"specReplicasPath": ".s", "statusReplicasPath": ".t"}}


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ({}, {}),
        (V1, {"Name": "v1", "Served": True, "Storage": True}),
        ({"deprecated": True, "deprecationWarning": "w"}, {"Deprecated": True, "DeprecationWarning": "w"}),
        ({"schema": {"openAPIV3Schema": TEXT}}, {"Schema": {"OpenAPIV3Schema": SHOWN}}),
        ({"subresources": SUBRESOURCES},
         {"Subresources": {"Status": {}, "Scale": {"SpecReplicasPath": ".s", "StatusReplicasPath": ".t",
                                                   "LabelSelectorPath": None}}}),
        ({"subresources": {"scale": {"labelSelectorPath": ".l"}}},
         {"Subresources": {"Status": None, "Scale": {"SpecReplicasPath": "", "StatusReplicasPath": "",
                                                     "LabelSelectorPath": ".l"}}}),
        ({"subresources": {}}, {"Subresources": {"Status": None, "Scale": None}}),
        ({"additionalPrinterColumns": [{"name": "c", "jsonPath": ".c", "type": "string", "priority": 1}]},
         {"AdditionalPrinterColumns": [{"Name": "c", "Type": "string", "Format": "", "Description": "", "Priority": 1,
                                        "JSONPath": ".c"}]}),
        ({"selectableFields": [{"jsonPath": ".f"}]}, {"SelectableFields": [{"JSONPath": ".f"}]}),
    ],
)  # fmt: skip
def test_a_version_is_printed_as_its_internal_struct(version: Json, shown: Json) -> None:
    other: Json = {"name": "other", "schema": {}, "subresources": None, "additionalPrinterColumns": [{}],
             "selectableFields": [{}, {}]}  # fmt: skip
    first, _ = crd_internal.shown_versions({"versions": [version, other]})

    assert first == {**EMPTY_VERSION, **shown}


def test_what_all_versions_share_is_a_part_of_the_definition() -> None:
    schema, other = {"openAPIV3Schema": {"type": "object"}}, {"openAPIV3Schema": TEXT}
    shared = {"versions": [{"name": "a", "schema": schema}, {"name": "b", "schema": schema}]}
    own = {"versions": [{"name": "a", "schema": schema}, {"name": "b", "schema": other}, {"name": "c"}]}

    assert [(one.value, one.version["name"], one.place) for one in crd_internal.parts(shared, "schema")] == [
        (schema, "a", "spec.validation")
    ]
    assert [one.place for one in crd_internal.parts({"versions": [{"subresources": {}}]}, "subresources")] == [
        "spec.subresources"
    ]
    assert [(one.value, one.place) for one in crd_internal.parts(own, "schema")] == [
        (schema, "spec.versions[0].schema"), (other, "spec.versions[1].schema"),
    ]  # fmt: skip
    assert crd_internal.parts({"versions": []}, "schema") == crd_internal.parts({}, "schema") == []
    assert [one["Schema"] for one in crd_internal.shown_versions(shared)] == [None, None]


# ---- numbers


@pytest.mark.parametrize(
    ("kind", "lowest", "highest"),
    [
        ("int32", -(2**31), 2**31 - 1),
        ("int64", -(2**63), 2**63 - 1),
        ("int", -(2**63), 2**63 - 1),
        ("uint32", 0, 2**32 - 1),
        ("byte", 0, 255),
    ],
)
def test_the_range_of_an_integer_is_that_of_gos_type(kind: str, lowest: int, highest: int) -> None:
    assert schema._INT_RANGES[kind] == (lowest, highest)
