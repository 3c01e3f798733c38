"""The errors of the rules in a CustomResourceDefinition's schema, and the values that count as equal in CEL."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.cel.common import values
from clientgo.testing.apiserver.cel.common.values import EvalError, TypedList, Uint
from clientgo.testing.apiserver.kinds import rule_checks

Json = dict[str, Any]
SCHEMA: Json = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "list": {"type": "array", "maxItems": 3, "items": {"type": "integer"}}},
}
BLANK = "must be non-empty if specified"
BREAKS = "must not contain line breaks"
REASONS = '"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'


def texts(rule: Json) -> list[str]:
    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": "self.a > 0", **rule}]}
    head = "s.x-kubernetes-validations[0]."
    return [str(error).removeprefix(head) for error in rule_checks.check_texts(schema, "s")]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ({}, []),
        ({"rule": ""}, ["rule: Required value: rule is not specified"]),
        ({"rule": " \n"}, ["rule: Required value: rule is not specified"]),
        ({"message": "m"}, []),
        ({"message": " "}, [f'message: Invalid value: " ": {BLANK}']),
        ({"message": "a\nb"}, [f'message: Invalid value: "a\\nb": {BREAKS}']),
        ({"message": "a\n"}, []),
        ({"rule": "true\n&& true"},
         ["message: Required value: message must be specified if rule contains line breaks"]),
        ({"rule": "true\n&& true", "message": "m"}, []),
        ({"messageExpression": " "},
         ["messageExpression: Required value: messageExpression must be non-empty if specified"]),
        ({"messageExpression": "'m'"}, []),
        ({"reason": "FieldValueInvalid"}, []),
        ({"reason": "X"}, [f'reason: Unsupported value: "X": supported values: {REASONS}']),
        ({"fieldPath": ".a"}, []),
        ({"fieldPath": " "},
         [f'fieldPath: Invalid value: " ": {BLANK}', 'fieldPath: Invalid value: " ": must be a valid path']),
        ({"fieldPath": ".a\n"},
         [f'fieldPath: Invalid value: ".a\\n": {BREAKS}', 'fieldPath: Invalid value: ".a\\n": must be a valid path']),
        ({"fieldPath": ".b"}, ['fieldPath: Invalid value: ".b": must be a valid path']),
    ],
)  # fmt: skip
def test_the_texts_of_a_rule(rule: Json, wanted: list[str]) -> None:
    assert sorted(texts(rule)) == sorted(wanted)


def checked(rule: Json, schema: Json = SCHEMA, path: str = "") -> list[str]:
    """Return the errors of a rule of the schema at a path of property names, or of `items`."""
    made: Any = {**schema, "properties": {**schema["properties"]}}
    inner = made
    for name in path.split("/") if path else ():
        if name == "items":
            inner["items"] = inner = {**inner["items"]}
        else:
            inner["properties"] = {**inner["properties"], name: {**inner["properties"][name]}}
            inner = inner["properties"][name]
    inner["x-kubernetes-validations"] = [rule]
    return [str(error) for error in rule_checks.check_rules(made, "s", [])]


ROOT = "s.x-kubernetes-validations[0]"
ITEM = "s.properties[list].items.x-kubernetes-validations[0]"
OLD = "oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[list]"


@pytest.mark.parametrize(
    ("rule", "path", "wanted"),
    [
        ({"rule": "self.a > 0"}, "", []),
        ({"rule": "self.a > oldSelf.a"}, "", []),
        ({"rule": "self.a > oldSelf.a", "optionalOldSelf": False}, "", []),
        (
            {"rule": "self.a > 0", "optionalOldSelf": True},
            "",
            [f"{ROOT}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"],
        ),
        ({"rule": "self > 0"}, "list/items", []),
        ({"rule": "self > oldSelf"}, "list/items", [f'{ITEM}.rule: Invalid value: "self > oldSelf": {OLD}']),
    ],
)
def test_the_use_of_the_old_value(rule: Json, path: str, wanted: list[str]) -> None:
    assert checked(rule, path=path) == wanted


def test_the_items_of_a_keyed_list_have_old_values() -> None:
    item = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 5}}}
    keyed = {"type": "array", "maxItems": 3, "items": item, "x-kubernetes-list-type": "map",
             "x-kubernetes-list-map-keys": ["k"]}  # fmt: skip
    schema = {"type": "object", "properties": {"list": keyed}}
    assert checked({"rule": "self.k == oldSelf.k"}, schema, "list/items") == []


@pytest.mark.parametrize(("rule", "text"), [("self.zz > 0", "undefined field 'zz'"), ("self.a", "must evaluate to a")])
def test_an_invalid_expression_is_an_error_of_its_rule(rule: str, text: str) -> None:
    (found,) = checked({"rule": rule})
    assert found.startswith(f"{ROOT}.rule: Invalid value: ")
    assert text in found


def test_a_message_has_its_own_errors() -> None:
    (found,) = checked({"rule": "true", "messageExpression": "1"})
    assert found.startswith(f"{ROOT}.messageExpression: Invalid value: ")


def test_levels_with_other_errors_are_skipped() -> None:
    from clientgo.testing.apiserver.wire.errors import field_required

    schema = {**SCHEMA, "x-kubernetes-validations": [{"rule": "self.zz > 0"}]}
    assert rule_checks.check_rules(schema, "s", [field_required("s.properties[a].type")]) == []
    assert len(rule_checks.check_rules(schema, "s", [field_required("sibling.type")])) == 1


def test_a_rule_of_an_unbounded_list_costs_too_much() -> None:
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "array", "items": text}}}}
    found = checked({"rule": "self.list.all(x, x.all(y, self.list.all(z, z.exists(w, w == y))))"}, schema)
    assert f"{ROOT}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x" in found[0]
    assert "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema" in found[1]
    assert found[2].startswith(
        "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget"
    )


# ---- equality


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (True, True, True),
        (True, 1, False),
        (1, 1.0, True),
        (1, Uint(1), True),
        ([True], [1], False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (TypedList([1, 2], "set", ()), [2, 1], True),
        (TypedList([True], "set", ()), [1], False),
        (TypedList([[True]], "set", ()), [[1]], False),
        (TypedList([{"a": True}], "set", ()), [{"a": 1}], False),
        (TypedList([{"a": [1]}], "set", ()), [{"a": [1]}], True),
        (TypedList([{"k": 1, "v": 2}, {"k": 2}], "map", ("k",)), [{"k": 2}, {"k": 1, "v": 2}], True),
        (TypedList([{"k": 1, "v": 2}], "map", ("k",)), [{"k": 1, "v": 3}], False),
        (TypedList([{"k": True}], "map", ("k",)), [{"k": 1}], False),
    ],
)
def test_equality(one: Any, other: Any, wanted: bool) -> None:
    assert values.equal(one, other) is wanted
    assert values.equal(other, one) is wanted


@pytest.mark.parametrize("value", [True, False, 1, "a", Uint(2)])
def test_a_key_of_a_map_keeps_its_value(value: Any) -> None:
    key = values.key_of(value)
    assert values.from_key(key) is value or values.from_key(key) == value
    assert type(values.from_key(key)) is type(value)


def test_true_and_one_are_different_keys() -> None:
    assert values.key_of(True) != values.key_of(1)
    assert values.key_of(1.0) == values.key_of(1)


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, b"a"])
def test_other_values_are_no_keys(value: Any) -> None:
    with pytest.raises(EvalError, match="unsupported key type: "):
        values.key_of(value)
