"""The owners of an object's replicas, and the owners of the replicas of its Scale."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.apimachinery.util import managedfields

Json = dict[str, Any]
REPLICAS = ("f:spec", "f:replicas")
OWNS_REPLICAS = {"f:spec": {"f:replicas": {}}}
OWNS_SELECTOR = {"f:spec": {"f:selector": {}}}
OWNS_BOTH = {"f:spec": {"f:replicas": {}, "f:selector": {}}}


def entry(manager: str, operation: str, version: str, fields: Json, subresource: str = "") -> Json:
    head = {"manager": manager, "operation": operation, "apiVersion": version}
    tail = {"subresource": subresource} if subresource else {}
    return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields, **tail}


def of_object(manager: str, operation: str, fields: Json, subresource: str = "") -> Json:
    return entry(manager, operation, "apps/v1", fields, subresource)


def of_scale(manager: str, operation: str, fields: Json = OWNS_REPLICAS, subresource: str = "scale") -> Json:
    return entry(manager, operation, "autoscaling/v1", fields, subresource)


def handler(*entries: Json) -> managedfields.ScaleHandler:
    return managedfields.ScaleHandler(entries, "apps/v1", {"apps/v1": REPLICAS})


# Go: TestTransformManagedFieldsToSubresource
@pytest.mark.parametrize(
    ("entries", "shown"),
    [
        pytest.param(
            [
                of_object("one", "Apply", OWNS_SELECTOR),
                {**of_object("two", "Apply", OWNS_REPLICAS), "time": "2001-02-03T04:05:06Z"},
            ],
            [{**of_scale("two", "Apply", subresource=""), "time": "2001-02-03T04:05:06Z"}],
            id="filter one entry and transform it into a subresource entry",
        ),
        pytest.param(
            [of_object("one", "Apply", OWNS_REPLICAS), of_object("two", "Apply", OWNS_REPLICAS, "scale")],
            [of_scale("one", "Apply", subresource=""), of_scale("two", "Apply")],
            id="transform all entries",
        ),
        pytest.param(
            [entry("one", "Apply", "apps/v10", OWNS_REPLICAS)], [], id="drops fields if the api version is unknown"
        ),
    ],
)
def test_a_scale_shows_the_owner_of_the_replicas(entries: list[Json], shown: list[Json]) -> None:
    assert handler(*entries).to_subresource() == shown


# Go: TestTransformingManagedFieldsToParent
@pytest.mark.parametrize("manager", ["test", "scale"])
@pytest.mark.parametrize("before", ["Apply", "Update"])
@pytest.mark.parametrize("after", ["Apply", "Update"])
def test_writing_the_scale_takes_the_replicas_from_the_objects_manager(
    before: str, after: str, manager: str
) -> None:
    """The writer counts as another manager, since it writes to a subresource.

    Go: TestTransformingManagedFieldsToParent/different-managers: apply -> update
    Go: TestTransformingManagedFieldsToParent/different-managers: apply -> apply
    Go: TestTransformingManagedFieldsToParent/different-managers: update -> update
    Go: TestTransformingManagedFieldsToParent/different-managers: update -> apply
    Go: TestTransformingManagedFieldsToParent/same manager: apply -> update
    Go: TestTransformingManagedFieldsToParent/same manager: apply -> apply
    Go: TestTransformingManagedFieldsToParent/same manager: update -> update
    Go: TestTransformingManagedFieldsToParent/same manager: update -> apply
    """
    found = handler(of_object("test", before, OWNS_BOTH)).to_parent([of_scale(manager, after)])
    wanted = [of_object("test", before, OWNS_SELECTOR), of_object(manager, after, OWNS_REPLICAS, "scale")]
    # Those who apply come first, and then the names count.
    assert found == sorted(wanted, key=lambda each: (each["operation"], each["manager"]))


# Go: TestTransformingManagedFieldsToParent
@pytest.mark.parametrize(
    ("entries", "scale", "wanted"),
    [
        pytest.param(
            [of_object("test", "Apply", OWNS_SELECTOR)],
            [of_scale("scale", "Update", {"f:status": {"f:replicas": {}}})],
            [of_object("test", "Apply", OWNS_SELECTOR)],
            id="subresource doesn't own the path anymore",
        ),
        pytest.param(
            [of_object("test", "Apply", OWNS_REPLICAS)],
            [of_scale("scale", "Update")],
            [of_object("scale", "Update", OWNS_REPLICAS, "scale")],
            id="Subresource steals all the fields of the parent resource",
        ),
        pytest.param(
            [of_object("test", "Apply", OWNS_BOTH)],
            [of_scale("test", "Apply", subresource=""), of_scale("test", "Apply")],
            [of_object("test", "Apply", OWNS_BOTH), of_object("test", "Apply", OWNS_REPLICAS, "scale")],
            id="apply without stealing",
        ),
        pytest.param(
            [of_object("test", "Apply", OWNS_REPLICAS), entry("other", "Apply", "apps/v10", OWNS_SELECTOR)],
            [of_scale("scale", "Update", subresource="")],
            [of_object("scale", "Update", OWNS_REPLICAS)],
            id="drops the entry if the api version is unknown",
        ),
    ],
)
def test_the_owners_of_an_object_after_a_write_to_its_scale(
    entries: list[Json], scale: list[Json], wanted: list[Json]
) -> None:
    assert handler(*entries).to_parent(scale) == wanted


# Go: TestTransformingManagedFieldsToParentMultiVersion
@pytest.mark.parametrize(
    ("path", "other", "left"),
    [
        pytest.param(
            ("f:spec", "f:b"), {"f:spec": {"f:b": {}, "f:c": {}}}, {"f:spec": {"f:c": {}}}, id="multi-version"
        ),
        pytest.param(
            None,
            {"f:spec": {"f:b": {}}},
            {"f:spec": {"f:b": {}}},
            id="Custom resource without scale subresource, scaling a version with `scale`",
        ),
    ],
)
def test_each_version_has_its_replicas_elsewhere(path: managedfields.Path | None, other: Json, left: Json) -> None:
    before = [
        entry("one", "Apply", "g/v1", {"f:spec": {"f:a": {}, "f:c": {}}}),
        entry("two", "Apply", "g/v2", other),
    ]
    found = managedfields.ScaleHandler(before, "g/v1", {"g/v1": ("f:spec", "f:a"), "g/v2": path})
    assert found.to_parent([of_scale("three", "Update")]) == [
        entry("one", "Apply", "g/v1", {"f:spec": {"f:c": {}}}),
        entry("two", "Apply", "g/v2", left),
        entry("three", "Update", "g/v1", {"f:spec": {"f:a": {}}}, "scale"),
    ]
