"""CEL rules of CRDs on a running server: recorded answers of kube-apiserver 1.36.2, and what those do not show."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from apiclient import Api, eventually

from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.kinds import rules

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RECORDED = json.loads(gzip.decompress((Path(__file__).parent / "data/rules.json.gz").read_bytes()))
RULES = "x-kubernetes-validations"
needs_regex = pytest.mark.skipif(not regex.AVAILABLE, reason="needs the extra `cel`")


@pytest.fixture
def api(server: Api) -> Api:
    return server


def sorted_causes(causes: list[Json]) -> list[str]:
    return sorted(json.dumps(cause, sort_keys=True) for cause in causes)


@needs_regex
@pytest.mark.parametrize("case", RECORDED, ids=[case["name"] for case in RECORDED])
def test_answers_are_those_of_the_real_server(api: Api, case: Json) -> None:
    namespace = "ns-" + case["name"].replace("/", "-").replace("#", "-")
    api("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}}, want=201)
    for step in case["steps"]:
        step = json.loads(json.dumps(step).replace("$NS", namespace))
        media = step.get("headers", {}).get("Content-Type", "application/json")
        response = api.request(step["method"], step["path"], step["body"], media)
        if step["path"] == DEFINITIONS and response.status_code == 201:
            group = f"/apis/{namespace}.example.com/v1"
            eventually(lambda group=group: api.request("GET", group).status_code == 200)  # type: ignore[misc]
        if "code" in step:
            assert response.status_code == step["code"], (step, response.text)
        if "causes" in step:
            assert sorted_causes(response.json()["details"]["causes"]) == sorted_causes(step["causes"]), step


# ---- what the recorded cases do not show


def errors(schema: Json, obj: Any, old: Any = None) -> list[str]:
    """Return the errors of a schema's rules for spec."""
    made = rules.Rules({"type": "object", "properties": {"spec": schema}})
    found, _ = made.validate({"spec": obj}, None if old is None else {"spec": old})
    return [str(error) for error in found]


def schema(kind: str = "object", rule: str | None = None, **more: Any) -> Json:
    return {"type": kind, **({RULES: [{"rule": rule}]} if rule else {}), **more}


INT = {"type": "integer"}
STRING = {"type": "string"}


def test_rules_hold_at_every_level() -> None:
    inner = schema("integer", "self > 1")
    spec = schema(
        rule="self.size >= 1",
        properties={
            "size": INT,
            "list": schema("array", "self.size() < 3", items=inner),
            "map": schema("object", additionalProperties=inner),
            "any": {"x-kubernetes-preserve-unknown-fields": True, "type": "object", RULES: [{"rule": "false"}]},
        },
    )
    assert errors(spec, {"size": 1, "list": [2], "map": {"k": 3}}) == []
    assert errors(spec, {"size": 0, "list": [2, 0, 3], "map": {"k": 1}, "any": {"x": 1}}) == [
        "spec: Invalid value: failed rule: self.size >= 1",
        "spec.any: Invalid value: failed rule: false",
        "spec.list: Invalid value: failed rule: self.size() < 3",
        "spec.list[1]: Invalid value: 0: failed rule: self > 1",
        "spec.map[k]: Invalid value: 1: failed rule: self > 1",
    ]


def test_names_that_cel_cannot_write_are_escaped() -> None:
    names = ["namespace", "a-b", "c.d", "e/f", "g__h"]
    spec = schema(properties=dict.fromkeys(names, INT))
    rule = "self.__namespace__ + self.a__dash__b + self.c__dot__d + self.e__slash__f + self.g__underscores__h == 5"
    assert errors({**spec, RULES: [{"rule": rule}]}, dict.fromkeys(names, 1)) == []


def test_lists_compare_as_their_schema_says() -> None:
    keyed = schema("array", items=schema(properties={"k": STRING, "v": INT}))
    keyed |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    of_set = schema("array", items=INT) | {"x-kubernetes-list-type": "set"}
    ordered = schema("array", items=INT)
    spec = schema(properties={"keyed": keyed, "set": of_set, "ordered": ordered})

    def same(name: str, new: list[Any], old: list[Any]) -> bool:
        rule = {RULES: [{"rule": f"self.{name} == oldSelf.{name}"}]}
        return errors({**spec, **rule}, {name: new}, {name: old}) == []

    one, two = {"k": "a", "v": 1}, {"k": "b", "v": 2}
    assert same("keyed", [one, two], [two, one])
    assert not same("keyed", [one, two], [one, {**two, "v": 3}])
    assert same("set", [1, 2], [2, 1])
    assert not same("ordered", [1, 2], [2, 1])
    joined = {RULES: [{"rule": "self.set + [2, 3] == [1, 2, 3] && self.keyed + [] == self.keyed"}]}
    assert errors({**spec, **joined}, {"set": [1, 2], "keyed": [one]}) == []


def test_a_transition_rule_needs_an_old_value_unless_it_is_optional() -> None:
    transition = schema("integer", "self >= oldSelf")
    assert errors(transition, 1) == []
    assert errors(transition, 1, 2) == ["spec: Invalid value: 1: failed rule: self >= oldSelf"]
    keyed = schema("array", items=schema(properties={"k": STRING, "v": transition}))
    keyed |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    old = [{"k": "a", "v": 1}, {"k": "b", "v": 5}]
    assert errors(keyed, [{"k": "b", "v": 4}, {"k": "c", "v": 0}, {"k": "a", "v": 1}], old) == [
        "spec[0].v: Invalid value: 4: failed rule: self >= oldSelf"
    ]
    once = {"type": "integer", RULES: [{"rule": "!oldSelf.hasValue()", "optionalOldSelf": True}]}
    assert errors(once, 1) == []
    assert len(errors(once, 1, 1)) == 1


def test_what_did_not_change_is_only_warned_of() -> None:
    made = rules.Rules(schema(properties={"spec": schema(properties={"a": schema("integer", "self > 3"), "b": INT})}))
    old = {"spec": {"a": 1, "b": 1}}
    found, warned = made.validate({"spec": {"a": 1, "b": 2}}, old)
    assert (found, warned) == ([], ["spec.a: Invalid value: 1: failed rule: self > 3"])
    found, warned = made.validate({"spec": {"a": 2, "b": 1}}, old)
    assert ([str(error) for error in found], warned) == (["spec.a: Invalid value: 2: failed rule: self > 3"], [])


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"message": " too small "}, "Invalid value: 1: too small"),
        ({"messageExpression": "'is ' + string(self)"}, "Invalid value: 1: is 1"),
        ({"messageExpression": "string(1 / 0)", "message": "instead"}, "Invalid value: 1: instead"),
        ({"messageExpression": "'two\\nlines'"}, "Invalid value: 1: failed rule: self > 3"),
        ({"messageExpression": "'  '"}, "Invalid value: 1: failed rule: self > 3"),
        ({"reason": "FieldValueForbidden", "message": "no"}, "Forbidden: no"),
        ({"reason": "FieldValueRequired", "message": "give"}, "Required value: give"),
        ({"reason": "FieldValueDuplicate"}, "Duplicate value: 1"),
    ],
)
def test_messages_and_reasons(more: Json, text: str) -> None:
    assert errors({"type": "integer", RULES: [{"rule": "self > 3", **more}]}, 1) == [f"spec: {text}"]


@pytest.mark.parametrize(
    ("path", "where"),
    [(".a", "spec.a"), ("['a']", "spec.a"), (".m['k.l']", "spec.m[k.l]"), (".a.b", None), ("a", None), (".m[0]", None)],
)
def test_errors_point_where_field_path_says(path: str, where: str | None) -> None:
    properties = {"a": INT, "m": schema(additionalProperties=INT)}
    spec = {**schema(properties=properties), RULES: [{"rule": "false", "fieldPath": path}]}
    assert errors(spec, {"a": 1}) == [f"{where or 'spec'}: Invalid value: failed rule: false"]


def test_formats_are_values_of_their_types() -> None:
    forms = {"at": "date-time", "day": "date", "for": "duration", "raw": "byte"}
    spec = schema(properties={name: {"type": "string", "format": form} for name, form in forms.items()})
    rule = "self.at.getFullYear() == self.day.getFullYear() && self.__for__ == duration('90s') && self.raw == b'hi'"
    value = {"at": "2020-01-02T03:04:05Z", "day": "2020-05-06", "for": "1m30s", "raw": "aGk="}
    assert errors({**spec, RULES: [{"rule": rule}]}, value) == []
    (wrong,) = errors({**spec, RULES: [{"rule": rule}]}, {**value, "for": "soon"})
    assert "evaluating rule" in wrong
    number = {"type": "number", RULES: [{"rule": "self / 2.0 == 1.5 && type(self) == double"}]}
    assert errors(number, 3) == []


def test_rules_end_when_the_budget_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BUDGET", rules.BUDGET // 20)
    heavy = "self.all(a, self.all(b, a + b >= 0))"
    spec = schema("array", items=INT) | {RULES: [{"rule": heavy}] * 10}
    found = errors(spec, list(range(100)))
    assert found[-1] == (
        'spec: Invalid value: "array": validation failed due to running out of cost budget, no further validation '
        "rules will be run"
    )
    monkeypatch.undo()
    heavier = "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"
    (limit,) = errors(schema("array", heavier, items=INT), list(range(120)))
    assert limit.startswith(
        "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation "
        "rules will be run due to call cost exceeds limit for rule: self.all("
    )


DEFINITION: Json = {
    "metadata": {"name": "things.rules.example.com"},
    "spec": {
        "group": "rules.example.com",
        "scope": "Cluster",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}


def refusals(api: Api, spec: Json) -> list[str]:
    """Return the causes for which the server rejects a definition, below the schema of spec."""
    body = copy.deepcopy(DEFINITION)
    body["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema(properties={"spec": spec})}
    answer = api("POST", f"{DEFINITIONS}?dryRun=All", body)
    head = "spec.validation.openAPIV3Schema.properties[spec]."
    causes = (answer.get("details") or {}).get("causes") or []
    return [f"{cause['field'].removeprefix(head)}: {cause['message']}" for cause in causes]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"rule": " "}, f"{RULES}[0].rule: Required value: rule is not specified"),
        ({"rule": "true", "message": " "}, f'{RULES}[0].message: Invalid value: " ": must be non-empty if specified'),
        ({"rule": "true\n"}, ""),
        ({"rule": "true\n&& true"}, f"{RULES}[0].message: Required value: message must be specified if rule contains "
         "line breaks"),
        ({"rule": "self.zz == 1"}, "undefined field 'zz'\n | self.zz == 1\n | ....^"),
        ({"rule": "true", "messageExpression": "1"}, "messageExpression must evaluate to a string"),
        ({"rule": "true", "messageExpression": "x"}, "messageExpression compilation failed: ERROR: <input>:1:1:"),
        ({"rule": "true", "optionalOldSelf": True}, "may not be set if oldSelf is not used in rule"),
        ({"rule": "self.a"}, "cel expression must evaluate to a bool"),
    ],
)  # fmt: skip
def test_wrong_rules_are_refused_with_the_definition(api: Api, rule: Json, text: str) -> None:
    found = refusals(api, schema(properties={"a": INT}) | {RULES: [rule]})
    assert len(found) == (1 if text else 0)
    assert all(text in one for one in found)


def test_rules_that_may_cost_too_much_are_refused(api: Api) -> None:
    nested = schema("array", "self.all(x, self.all(y, x == y))", items=STRING)
    (rule, total, everything) = refusals(api, nested)
    head = f"{RULES}[0].rule: Forbidden: estimated rule cost exceeds budget by factor of"
    assert rule.startswith(f"{head} more than 100x")
    assert "contributed to estimated rule cost total" in total
    assert "for entire OpenAPIv3 schema exceeds budget by factor" in everything
    assert refusals(api, nested | {"maxItems": 10, "items": {**STRING, "maxLength": 10}}) == []
    unbounded = schema("array", items=schema("string", "self.contains('abc') && self != 'x'", maxLength=1000))
    assert len(refusals(api, unbounded)) == 3
    assert refusals(api, unbounded | {"maxItems": 100}) == []


def test_an_old_value_is_not_known_of_what_has_no_key(api: Api) -> None:
    (found,) = refusals(api, schema("array", items=schema("integer", "self == oldSelf"), maxItems=5))
    assert found.endswith(
        "oldSelf cannot be used on the uncorrelatable portion of the schema within "
        "spec.validation.openAPIV3Schema.properties[spec]"
    )


def test_without_re2_what_needs_it_is_said_and_not_evaluated(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "AVAILABLE", False)
    body = copy.deepcopy(DEFINITION)
    spec = schema(properties={"a": schema("string", "self.matches('^x')"), "b": schema("integer", "self > 3")})
    body["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": schema(properties={"spec": spec})}
    (warning,) = api.warnings("POST", DEFINITIONS, body)
    assert "not evaluated" in warning
    assert "clientgo[cel]" in warning
    things = "/apis/rules.example.com/v1/things"
    eventually(lambda: api.request("GET", things).status_code == 200)
    wrong: Json = {"apiVersion": "rules.example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}
    wrong["spec"] = {"a": "y", "b": 1}
    assert [cause["field"] for cause in api("POST", things, wrong, want=422)["details"]["causes"]] == ["spec.b"]
    api("DELETE", f"{DEFINITIONS}/things.rules.example.com", want=200)
