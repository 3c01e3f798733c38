"""Strategic merge patches by the schemas a server publishes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import strategicpatch
from clientgo.apimachinery.util.strategicpatch import PatchMeta, PatchMetaFromOpenAPIV3

SCHEMAS: dict[str, Any] = {
    "PodSpec": {
        "type": "object",
        "properties": {
            "containers": {
                "type": "array",
                "items": {"default": {}, "allOf": [{"$ref": "#/components/schemas/Container"}]},
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge",
            },
            "volumes": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/Container"},
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge,retainKeys",
            },
            "broken": {"$ref": "#/components/schemas/Nowhere"},
            "nodeName": {"type": "string"},
        },
    },
    "Container": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "args": {"type": "array", "items": {"type": "string"}}},
    },
}
SCHEMAS["Pod"] = {"properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/PodSpec"}], "default": {}}}}
POD = PatchMetaFromOpenAPIV3(SCHEMAS, SCHEMAS["Pod"])


def test_rules_are_found_through_references() -> None:
    spec, rules = POD.lookup_patch_metadata_for_struct("spec")
    assert (spec.name(), rules) == ("object", PatchMeta())
    container, rules = spec.lookup_patch_metadata_for_slice("containers")
    assert container.schema is SCHEMAS["Container"]
    assert rules == PatchMeta(("merge",), "name")
    assert spec.lookup_patch_metadata_for_slice("volumes")[1] == PatchMeta(("merge", "retainKeys"), "name")
    assert container.lookup_patch_metadata_for_slice("args")[0].name() == "string"
    assert POD.name() == "Struct"


def test_what_cannot_be_found() -> None:
    spec, _ = POD.lookup_patch_metadata_for_struct("spec")
    with pytest.raises(ValueError, match='unable to find api field "foo"'):
        spec.lookup_patch_metadata_for_struct("foo")
    with pytest.raises(ValueError, match="unable to resolve #/components/schemas/Nowhere in OpenAPI V3"):
        spec.lookup_patch_metadata_for_struct("broken")
    with pytest.raises(ValueError, match='unable to find api field "x"'):
        spec.lookup_patch_metadata_for_struct("nodeName")[0].lookup_patch_metadata_for_struct("x")
    assert PatchMetaFromOpenAPIV3({}, None).lookup_patch_metadata_for_struct("x")[1] == PatchMeta()


def test_a_patch_by_schema_is_the_patch_by_class() -> None:
    before = {"spec": {"containers": [{"name": "a", "args": ["1"]}, {"name": "b"}], "nodeName": "n"}}
    after = {"spec": {"containers": [{"name": "b", "args": ["2"]}, {"name": "c"}]}}
    texts = [json.dumps(document) for document in (before, after)]

    patch = strategicpatch.create_two_way_merge_patch_using_lookup_patch_meta(*texts, POD)
    assert json.loads(patch) == json.loads(strategicpatch.create_two_way_merge_patch(*texts, corev1.Pod))
    merged = strategicpatch.strategic_merge_patch_using_lookup_patch_meta(texts[0], patch, POD)
    assert json.loads(merged) == after
