"""The fields of client-side apply become those of server-side apply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo import kubernetes
from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.managedfields import parse_set
from clientgo.context import background
from clientgo.testing.apiserver import Environment
from clientgo.util import csaupgrade

A = {"f:data": {"f:a": {}}}
B = {"f:data": {"f:b": {}}}
C = {"f:data": {"f:c": {}}}
AB = {"f:data": {"f:a": {}, "f:b": {}}}


def entry(manager: str, operation: str, fields: Any, version: str = "v1", subresource: str = "") -> dict[str, Any]:
    document = {"manager": manager, "operation": operation, "apiVersion": version}
    document |= {"fieldsType": "FieldsV1", "fieldsV1": fields}
    return document | ({"subresource": subresource} if subresource else {})


def config_map(*entries: dict[str, Any]) -> v1.ConfigMap:
    metadata = {"name": "x", "resourceVersion": "7", "managedFields": list(entries)}
    return v1.ConfigMap.from_dict({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


def entries_of(obj: v1.ConfigMap) -> list[dict[str, Any]]:
    return [each.to_dict() for each in obj.get_managed_fields()]


@pytest.mark.parametrize(
    ("entries", "fields", "owners"),
    [
        pytest.param([("a", "Update", A)], A, ["a"], id="Basic"),
        pytest.param([("a", "Update", A), ("b", "Update", B)], A, ["a"], id="OneOfMultiple"),
        pytest.param([("a", "Update", A), ("b", "Update", AB)], A, ["a", "b"], id="ManyOfMultiple"),
        pytest.param([("a", "Update", AB)], AB, ["a"], id="BasicMultipleFields"),
        pytest.param([("a", "Update", A)], AB, [], id="MissingOneField"),
        pytest.param([("a", "Update", A)], B, [], id="NotFound"),
        pytest.param([("a", "Apply", A)], A, [], id="ApplyOperation"),
        pytest.param([("a", "Update", {"no path": {}}), ("b", "Update", A)], A, ["b"], id="unreadable"),
    ],
)
def test_the_owners_of_fields_own_all_of_them(entries: list[Any], fields: Any, owners: list[str]) -> None:
    """Go: TestFindOwners."""
    obj = config_map(*(entry(*each) for each in entries))

    found = csaupgrade.find_fields_owners(obj.get_managed_fields(), "Update", parse_set(fields))

    assert [each.manager for each in found] == owners


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([entry("csa", "Update", A)], [entry("ssa", "Apply", A)], id="csa-basic-direct-conversion"),
        pytest.param(
            [entry("csa", "Update", A), entry("ssa", "Apply", A)],
            [entry("ssa", "Apply", A)],
            id="csa-combine-with-ssa-duplicate-keys",
        ),
        pytest.param(
            [entry("csa", "Update", B), entry("ssa", "Apply", A)],
            [entry("ssa", "Apply", AB)],
            id="csa-combine-with-ssa-additional-keys",
        ),
        pytest.param(
            [entry("csa", "Update", B, "v2"), entry("ssa", "Apply", A, "v5")],
            [entry("ssa", "Apply", A, "v5")],
            id="csa-no-applicable-version",
        ),
        pytest.param(
            [entry("csa", "Update", C, "v2"), entry("csa", "Update", B), entry("ssa", "Apply", A)],
            [entry("ssa", "Apply", AB)],
            id="csa-single-applicable-version",
        ),
        pytest.param(
            [entry("csa", "Update", A, "v2"), entry("csa", "Update", B)],
            [entry("ssa", "Apply", A, "v2")],
            id="the most recent of several",
        ),
        pytest.param([entry("other", "Update", A)], [entry("other", "Update", A)], id="noop"),
        pytest.param(
            [entry("csa", "Update", A, subresource="status"), entry("csa", "Update", B)],
            [entry("csa", "Update", A, subresource="status"), entry("ssa", "Apply", B)],
            id="another subresource",
        ),
    ],
)
def test_updates_become_an_apply(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    """Go: TestUpgradeCSA."""
    obj, original = config_map(*before), config_map(*before)

    csaupgrade.upgrade_managed_fields(obj, {"csa"}, "ssa")
    patch = csaupgrade.upgrade_managed_fields_patch(original, {"csa"}, "ssa")

    assert entries_of(obj) == after
    assert entries_of(original) == before
    if before == after:
        assert patch is None
    else:
        assert patch is not None
        assert json.loads(patch) == [
            {"op": "replace", "path": "/metadata/managedFields", "value": after},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        ]


def test_several_managers_are_upgraded() -> None:
    """The first of several managers becomes the server-side one.

    Go: TestUpgradeCSA/multipleTargetsExisting
    Go: TestUpgradeCSA/multipleTargetsNewInsertion
    """
    obj = config_map(entry("one", "Update", A), entry("two", "Update", B), entry("other", "Update", AB))

    csaupgrade.upgrade_managed_fields(obj, {"two", "one", "three"}, "ssa")

    assert entries_of(obj) == [entry("ssa", "Apply", AB), entry("other", "Update", AB)]


def test_a_subresource_is_upgraded_where_asked_for() -> None:
    """Go: TestUpgradeCSA/subresource."""
    obj = config_map(entry("csa", "Update", A, subresource="status"), entry("csa", "Update", B))

    csaupgrade.upgrade_managed_fields(obj, {"csa"}, "ssa", csaupgrade.subresource("status"))

    assert entries_of(obj) == [entry("ssa", "Apply", A, subresource="status"), entry("csa", "Update", B)]


def test_fields_that_cannot_be_read_are_an_error() -> None:
    obj = config_map(entry("csa", "Update", {"x": {}}))

    with pytest.raises(ValueError, match="^failed to convert fields to set: "):
        csaupgrade.upgrade_managed_fields(obj, {"csa"}, "ssa")


def test_after_the_patch_a_field_that_is_no_longer_applied_goes() -> None:
    with Environment() as environment:
        client = kubernetes.new_for_config(environment.config)
        maps = client.core_v1().config_maps("default")
        created = v1.ConfigMap(metadata=metav1.ObjectMeta(name="x"), data={"a": "1", "b": "2"})
        obj = maps.create(background(), created, metav1.CreateOptions(field_manager="csa"))

        patch = csaupgrade.upgrade_managed_fields_patch(obj, {"csa"}, "ssa")
        assert patch is not None
        maps.patch(background(), "x", PatchType.JSON, patch, metav1.PatchOptions())
        wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}}
        applied = maps.apply(background(), wanted, metav1.ApplyOptions(field_manager="ssa"))

        assert applied.data == {"a": "1"}
