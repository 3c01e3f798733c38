"""The errors of CustomResourceDefinitions: each rule, on both sides of each limit."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from clientgo.testing.apiserver.kinds.validation import definitions

Json = dict[str, Any]
OBJECT: Json = {"openAPIV3Schema": {"type": "object"}}
COLUMN: Json = {"name": "A", "type": "string", "jsonPath": ".spec.a"}
COLUMN_TYPES = "must be one of boolean,date,integer,number,string"
COLUMN_FORMATS = "must be one of byte,date,date-time,double,float,int32,int64,password"
PROPERTIES: Json = {f"f{i}": {"type": "string"} for i in range(9)} | {
    "n": {"type": "number"},
    "o": {"type": "object"},
    "l": {"type": "array", "items": {"type": "string"}},
    "m": {"type": "object", "additionalProperties": {"type": "string"}},
}
APPROVAL = "api-approved.kubernetes.io"
APPROVED = f'protected groups must have approval annotation "{APPROVAL}"'
SEE = "see https://github.com/kubernetes/enhancements/pull/1111"
REASONS = f'with either a URL or a reason starting with "unapproved", {SEE}'
WARNING = "spec.versions[0].deprecationWarning"
SELECTABLE = "spec.selectableFields"
CONVERSION = "spec.conversion"
NO_FIELD = "must point to a field of type string, boolean or integer. "
NO_FIELD += "Enum string fields and strings with formats are allowed."


def definition(**spec: Any) -> Json:
    version = {"name": "v1", "served": True, "storage": True, "schema": OBJECT}
    names = {"plural": "as", "singular": "a", "kind": "A", "listKind": "AList"}
    base = {"group": "x.io", "scope": "Cluster", "names": names, "versions": [version]}
    group = spec.get("group", "x.io")
    return copy.deepcopy(
        {"metadata": {"name": f"as.{group}"}, "spec": base | spec, "status": {"storedVersions": ["v1"]}}
    )


def version(**fields: Any) -> Json:
    """Return the fields of a spec with one version that has these fields, too."""
    return {"versions": [{"name": "v1", "served": True, "storage": True, "schema": OBJECT, **fields}]}


def selecting(*paths: str) -> Json:
    properties = {"spec": {"type": "object", "properties": PROPERTIES}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return version(schema=schema, selectableFields=[{"jsonPath": path} for path in paths])


def columns(**changes: Any) -> Json:
    return version(additionalPrinterColumns=[{**COLUMN, **changes}])


def converting(strategy: str | None, client: Json | None = None, reviews: list[str] | None = None) -> Json:
    webhook = {"clientConfig": client, "conversionReviewVersions": reviews}
    return {"conversion": {"strategy": strategy, "webhook": webhook}}


def found(obj: Json, old: Json | None = None) -> list[str]:
    return [f"{error.field}: {error.body}" for error in definitions.validate(obj, old)]


def invalid(field: str, value: str, text: str) -> str:
    return f'{field}: Invalid value: "{value}": {text}'


URL = {"url": "https://x.io/convert"}
LONG = "w" * 256
SPECS: list[tuple[str, Json, list[str]]] = [
    ("nothing wrong", {}, []),
    ("no group", {"group": ""}, ["spec.group: Required value"]),
    ("a group without a dot", {"group": "x"}, [invalid("spec.group", "x", "should be a domain with at least one dot")]),
    ("no scope", {"scope": ""}, ["spec.scope: Required value"]),
    ("a wrong scope", {"scope": "x"},
     ['spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"']),
    ("no schema", version(schema=None), ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
    ("an empty schema", version(schema={}), ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
    ("a warning", version(deprecated=True, deprecationWarning="w"), []),
    ("the longest warning", version(deprecated=True, deprecationWarning=LONG), []),
    ("too long a warning", version(deprecated=True, deprecationWarning=LONG + "w"),
     [invalid(WARNING, LONG + "w", "must be <= 256 characters long")]),
    ("a warning of too many bytes", version(deprecated=True, deprecationWarning=LONG[1:] + "é"),
     [invalid(WARNING, LONG[1:] + "é", "must be <= 256 characters long")]),
    ("an empty warning", version(deprecated=True, deprecationWarning=""),
     [invalid(WARNING, "", "must not be an empty string")]),
    ("a warning of a supported version", version(deprecationWarning="w"),
     [invalid(WARNING, "w", "can only be set for deprecated versions")]),
    ("a line break in a warning", version(deprecated=True, deprecationWarning="ab\n"),
     [invalid(WARNING, "ab\\n",
              "must only contain printable UTF-8 characters; non-printable character found at index 2")]),
    ("a column", columns(), []),
    ("a column with a format", columns(format="date"), []),
    ("a column without a type", columns(type=""),
     [f"spec.additionalPrinterColumns[0].type: Required value: {COLUMN_TYPES}"]),
    ("a column of a wrong type", columns(type="x"),
     [invalid("spec.additionalPrinterColumns[0].type", "x", COLUMN_TYPES)]),
    ("a column of a wrong format", columns(format="x"),
     [invalid("spec.additionalPrinterColumns[0].format", "x", COLUMN_FORMATS)]),
    ("a column without a name", columns(name=""),
     ["spec.additionalPrinterColumns[0].name: Required value"]),
    ("a column without a path", columns(jsonPath=""),
     ["spec.additionalPrinterColumns[0].JSONPath: Required value"]),
    ("a column with a wrong path", columns(jsonPath="a"),
     [invalid("spec.additionalPrinterColumns[0].JSONPath", "a",
              "must be a simple json path starting with .")]),
    ("eight selectable fields", selecting(*(f".spec.f{i}" for i in range(8))), []),
    ("nine selectable fields", selecting(*(f".spec.f{i}" for i in range(9))),
     [f"{SELECTABLE}: Too many: 9: must have at most 8 items"]),
    ("an empty selectable field", selecting(""), [f"{SELECTABLE}[0].jsonPath: Required value"]),
    ("an unknown selectable field", selecting(".spec.x"),
     [invalid(f"{SELECTABLE}[0].jsonPath", ".spec.x", "is an invalid path: does not refer to a valid field")]),
    ("a selectable path without a dot", selecting("spec.f0"),
     [invalid(f"{SELECTABLE}[0].jsonPath", "spec.f0", "is an invalid path: expected [ or . but got: spec")]),
    ("a selectable path that ends", selecting(".spec."),
     [invalid(f"{SELECTABLE}[0].jsonPath", ".spec.", "is an invalid path: unexpected end of JSON path")]),
    ("a selectable path in brackets", selecting("['spec']['f0']"),
     [invalid(f"{SELECTABLE}[0].jsonPath", "['spec']['f0']", "is an invalid path: array notation is not allowed")]),
    ("a selectable item", selecting(".spec.l[0]"),
     [invalid(f"{SELECTABLE}[0].jsonPath", ".spec.l[0]", "is an invalid path: array notation is not allowed")]),
    ("a selectable value of a map", selecting(".spec.m.k"), []),
    ("a selectable field twice", selecting(".spec.f0", ".spec.f0"),
     [f'{SELECTABLE}[1].jsonPath: Duplicate value: ".spec.f0"']),
    ("a selectable number", selecting(".spec.n"), [invalid(f"{SELECTABLE}[0].jsonPath", ".spec.n", NO_FIELD)]),
    ("a selectable object", selecting(".spec.o"), [invalid(f"{SELECTABLE}[0].jsonPath", ".spec.o", NO_FIELD)]),
    ("no conversion", converting("None"), []),
    ("a strategy is missing", converting(None), [f"{CONVERSION}.strategy: Required value"]),
    ("a wrong strategy", converting("x"),
     [f'{CONVERSION}.strategy: Unsupported value: "x": supported values: "None", "Webhook"']),
    ("a webhook", converting("Webhook", URL, ["v1", "v2"]), []),
    ("a webhook without a client", converting("Webhook", None, ["v1"]),
     [f"{CONVERSION}.webhookClientConfig: Required value: required when strategy is set to Webhook"]),
    ("a client without an address", converting("Webhook", {}, ["v1"]),
     [f"{CONVERSION}.webhookClientConfig: Required value: exactly one of url or service is required"]),
    ("a webhook without reviews", converting("Webhook", URL),
     [f"{CONVERSION}.conversionReviewVersions: Required value"]),
    ("a review twice", converting("Webhook", URL, ["v1", "v1"]),
     [invalid(f"{CONVERSION}.conversionReviewVersions[1]", "v1", "duplicate version")]),
    ("a client without a webhook", converting("None", URL),
     [f"{CONVERSION}.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook"]),
    ("reviews without a webhook", converting("None", None, ["v1"]),
     [f"{CONVERSION}.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook"]),
    ("fields that are kept", {"preserveUnknownFields": True},
     ["spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields "
      "to true in spec.versions[*].schema instead"]),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "errors"), [each[1:] for each in SPECS], ids=[each[0] for each in SPECS])
def test_each_rule_of_a_definition_has_its_error(spec: Json, errors: list[str]) -> None:
    assert found(definition(**spec)) == errors


def test_reviews_must_include_a_known_version() -> None:
    (error,) = found(definition(**converting("Webhook", URL, ["v2"])))
    assert error.startswith("spec.conversion.conversionReviewVersions: Invalid value: ")
    assert error.endswith(": must include at least one of v1, v1beta1")


@pytest.mark.parametrize("group", ["k8s.io", "x.k8s.io", "kubernetes.io", "x.kubernetes.io"])
@pytest.mark.parametrize(
    ("value", "error"),
    [
        (None, f"Required value: {APPROVED}, {SEE}"),
        ("https://github.com/pull", ""),
        ("http://x/y", ""),
        ("https://x", ""),
        ("ftp://x", ""),
        ("https:///x", f'Invalid value: "https:///x": {APPROVED} {REASONS}'),
        ("unapproved, an experiment", ""),
        ("no", f'Invalid value: "no": {APPROVED} {REASONS}'),
    ],
)
def test_a_group_of_kubernetes_needs_an_approval(group: str, value: str | None, error: str) -> None:
    obj = definition(group=group)
    if value is not None:
        obj["metadata"]["annotations"] = {APPROVAL: value}
    assert found(obj) == ([f"metadata.annotations[{APPROVAL}]: {error}"] if error else [])


@pytest.mark.parametrize("group", ["xk8s.io", "k8s.io.example.com", "mykubernetes.io"])
def test_another_group_needs_no_approval(group: str) -> None:
    assert found(definition(group=group)) == []


def test_what_names_the_kind_stays() -> None:
    names = {"plural": "bs", "singular": "b", "kind": "B", "listKind": "BList"}
    new = definition(scope="Namespaced", names=names)
    new["metadata"]["name"] = "bs.x.io"
    text = "field is immutable"
    assert found(new, definition()) == [
        invalid("spec.scope", "Namespaced", text),
        invalid("spec.names.plural", "bs", text),
        invalid("spec.names.kind", "B", text),
    ]
    new["spec"] |= {"scope": "Cluster", "names": {**definition()["spec"]["names"], "singular": "other"}}
    new["metadata"]["name"] = "as.x.io"
    assert found(new, definition()) == []


def test_the_name_is_that_of_the_plural_and_the_group() -> None:
    obj = definition()
    obj["metadata"]["name"] = "other"
    assert found(obj) == [invalid("metadata.name", "other", 'must be spec.names.plural+"."+spec.group')]


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        (["v1"], ""),
        ([], "status.storedVersions: Invalid value: null: must have at least one stored version"),
        (None, "status.storedVersions: Invalid value: null: must have at least one stored version"),
    ],
)
def test_a_stored_version_is_remembered(stored: list[str] | None, error: str) -> None:
    obj = definition()
    obj["status"]["storedVersions"] = stored
    assert found(obj) == ([error] if error else [])
