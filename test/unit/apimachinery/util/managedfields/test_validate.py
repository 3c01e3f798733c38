"""Server-side apply refuses what does not fit the type, in the words of structured-merge-diff."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.apimachinery.util import managedfields
from clientgo.applyconfigurations import internal

Json = dict[str, Any]


def deployment(container: Json, **spec: Any) -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i", **container}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def problems(obj: Json) -> list[str]:
    node = internal.of_kind(obj["apiVersion"], obj["kind"])
    assert node is not None
    return managedfields.problems(node, obj)


IN_C = '.spec.template.spec.containers[name="c"]'


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (deployment({}), []),
        (deployment({}, replicas="2"), [".spec.replicas: expected numeric (int or float), got string"]),
        (deployment({}, replicas=True), [".spec.replicas: expected numeric (int or float), got bool"]),
        (deployment({}, replics=2), [".spec.replics: field not declared in schema"]),
        (deployment({}, paused="yes"), [".spec.paused: expected boolean, got &{yes}"]),
        (deployment({"image": 1}), [f"{IN_C}.image: expected string, got &value.valueUnstructured{{Value:1}}"]),
        (deployment({"command": "sh"}), [f"{IN_C}.command: expected list, got &{{sh}}"]),
        (deployment({"command": [["a"]]}), [
            f'{IN_C}.command[0]: expected string, got &value.valueUnstructured{{Value:[]interface {{}}{{"a"}}}}',
        ]),
        (deployment({"resources": [1]}), [f"{IN_C}.resources: expected map, got &{{[1]}}"]),
        (deployment({"resources": {"limits": {"cpu": {}}}}), [
            f"{IN_C}.resources.limits.cpu: expected any scalar, got &{{map[]}}",
        ]),
        (deployment({"resources": {"limits": {"cpu": 1}}}), []),
        (deployment({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}],
                     "env": [{"name": "A"}, {"name": "A", "valeu": "b"}]}), [
            f'{IN_C}.ports: duplicate entries for key [containerPort=80,protocol="TCP"]',
            f'{IN_C}.env: duplicate entries for key [name="A"]',
            f'{IN_C}.env[name="A"].valeu: field not declared in schema',
        ]),
        # That the key is missing is for validation to say.
        (deployment({"env": [{"value": "x"}]}), []),
        (deployment({}, selector={"matchLabels": {"a": 1}}), [
            ".spec.selector.matchLabels.a: expected string, got &value.valueUnstructured{Value:1}",
        ]),
        (deployment({}, selector={"matchExpressions": [{"kei": "a"}]}), [
            ".spec.selector.matchExpressions[0].kei: field not declared in schema",
        ]),
        (deployment({}, strategy=None), []),
        (deployment({"imagePullPolicy": False}), [
            f"{IN_C}.imagePullPolicy: expected string, got &value.valueUnstructured{{Value:false}}",
        ]),
    ],
)  # fmt: skip
def test_built_in_types(obj: Json, wanted: list[str]) -> None:
    assert problems(obj) == wanted


SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"x-kubernetes-int-or-string": True},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "any": {"type": "object"},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                "when": {"type": "string", "format": "date-time"},
                "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"size": 1, "free": {"x": [1]}, "any": {"y": {}}, "map": {"z": 1}, "when": "2026-01-01T00:00:00Z"}, []),
        ({"size": [1]}, [".spec.size: expected any scalar, got &{[1]}"]),
        ({"tags": ["a", "a"]}, ['.spec.tags: duplicate entries for key [="a"]']),
        ({"tags": [{}]}, [".spec.tags: element 0: associative list without keys has an element that's a map type"]),
        ({"tags": [1]}, [".spec.tags[=1]: expected string, got &value.valueUnstructured{Value:1}"]),
        ({"map": {"z": "1"}}, [".spec.map.z: expected numeric (int or float), got string"]),
        ({"list": [{"a": "1"}, {"b": "1"}]}, [".spec.list[1].b: field not declared in schema"]),
        ({"other": 1}, [".spec.other: field not declared in schema"]),
    ],
)
def test_custom_types(spec: Json, wanted: list[str]) -> None:
    obj = {"apiVersion": "v", "kind": "k", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": spec}
    assert managedfields.problems(managedfields.of_schema(SCHEMA, root=True), obj) == wanted
