"""Schemes: what is registered under which names, and what goes from one version to another."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupVersion, GroupVersions

V1, V2 = GroupVersion("group", "v1"), GroupVersion("group", "v2")


class Simple(runtime.ResourceObject):
    """One version of a kind."""

    GROUP_VERSION_KIND = V1.with_kind("Simple")


class Newer(runtime.ResourceObject):
    """The next version of it."""

    GROUP_VERSION_KIND = V2.with_kind("Simple")


def named(name: str) -> Simple:
    return Simple.from_dict({"metadata": {"name": name}})


def two_versions() -> runtime.Scheme:
    scheme = runtime.new_scheme()
    scheme.add_known_types(V1, Simple)
    scheme.add_known_type_with_name(V2.with_kind("Simple"), Newer)
    return scheme


def test_the_kinds_of_a_version_are_known_by_name() -> None:
    """Go: TestKnownTypes."""
    scheme = two_versions()
    assert scheme.known_types(V1) == {"Simple": Simple} and scheme.known_types(V2) == {"Simple": Newer}
    assert scheme.known_types(GroupVersion("group", "v3")) == {}
    assert scheme.all_known_types() == {V1.with_kind("Simple"): Simple, V2.with_kind("Simple"): Newer}


def test_registering_again_changes_nothing() -> None:
    """Go: TestAddKnownTypesIdemPotent."""
    scheme = runtime.new_scheme()
    for _ in range(2):
        scheme.add_known_types(V1, Simple)
        scheme.add_known_type_with_name(V1.with_kind("Simple"), Simple)
        scheme.add_unversioned_types(V1, Simple)
    assert scheme.all_known_types() == {V1.with_kind("Simple"): Simple}
    assert scheme.object_kinds(Simple()) == ([V1.with_kind("Simple")], True)


def test_a_kind_has_one_class() -> None:
    """Go: TestConflictingAddKnownTypes."""
    scheme = two_versions()
    with pytest.raises(ValueError, match="Double registration of different types for group/v1, Kind=Simple"):
        scheme.add_known_type_with_name(V1.with_kind("Simple"), Newer)
    with pytest.raises(ValueError, match="version is required on all types"):
        scheme.add_known_types(GroupVersion("group", ""), Simple)


def test_an_unversioned_kind_is_the_same_in_every_version() -> None:
    """Go: TestUnversionedTypes."""
    scheme = two_versions()
    scheme.add_unversioned_types(GroupVersion("", "v1"), metav1.Status)
    assert scheme.is_unversioned(metav1.Status()) == (True, True)
    assert scheme.is_unversioned(Simple()) == (False, True) and scheme.is_unversioned(corev1.Pod()) == (False, False)
    converted = scheme.convert_to_version(metav1.Status(message="m"), V2)
    assert isinstance(converted, metav1.Status) and converted.get_object_kind().group_version_kind().version == "v1"
    assert isinstance(scheme.new(V2.with_kind("Status")), metav1.Status)


def test_a_kind_without_another_version_keeps_its_class_and_takes_the_name() -> None:
    """Go: TestConvertToVersionBasic, TestConvertToVersion."""
    scheme = two_versions()
    simple = named("a")
    found = scheme.convert_to_version(simple, V1)
    assert found is not simple and found.group_version_kind() == V1.with_kind("Simple")
    assert scheme.unsafe_convert_to_version(simple, V1) is simple
    with pytest.raises(runtime.NotRegisteredError, match="not suitable for converting"):
        scheme.convert_to_version(simple, GroupVersion("other", "v1"))
    with pytest.raises(runtime.NotRegisteredError, match="no kind is registered for the type"):
        scheme.convert_to_version(corev1.Pod(), V1)


def test_a_registered_function_converts() -> None:
    """Go: TestConvert, TestScheme, TestExternalToInternalMapping."""

    def upgrade(old: Any, new: Any) -> None:
        new.set_name(f"{old.get_name()}-upgraded")

    scheme = two_versions()
    simple = named("a")
    with pytest.raises(runtime.NotRegisteredError):
        scheme.convert_to_version(simple, V2)
    scheme.add_conversion_func(Simple, Newer, upgrade)
    newer = scheme.convert_to_version(simple, GroupVersions([GroupVersion("x", "v1"), V2]))
    assert isinstance(newer, Newer) and newer.get_name() == "a-upgraded" and simple.get_name() == "a"
    assert newer.group_version_kind() == V2.with_kind("Simple")
    copied = Simple()
    scheme.convert(simple, copied)
    assert copied == simple and copied is not simple


def test_what_nobody_registered_cannot_be_converted() -> None:
    """Go: TestMetaValuesUnregisteredConvert."""
    with pytest.raises(runtime.NotRegisteredError):
        runtime.new_scheme().convert(Simple(), Newer())


@pytest.mark.parametrize(
    ("priority", "ordered"),
    [
        pytest.param((), ["v1", "v2"], id="as registered"),
        pytest.param(("v2",), ["v2", "v1"], id="one named"),
        pytest.param(("v2", "v1"), ["v2", "v1"], id="all named"),
    ],
)
def test_versions_come_in_the_order_of_preference(priority: tuple[str, ...], ordered: list[str]) -> None:
    """Go: TestPreferredVersionsAllGroups."""
    scheme = two_versions()
    scheme.add_known_types(GroupVersion("apps", "v1"), appsv1.Deployment)
    scheme.set_version_priority(*(GroupVersion("group", version) for version in priority))
    assert [each.version for each in scheme.prioritized_versions_for_group("group")] == ordered
    assert [each.version for each in scheme.versions_for_group_kind(GroupKind("group", "Simple"))] == ordered
    assert {(each.group, each.version) for each in scheme.preferred_version_all_groups()} == {
        ("group", ordered[0]),
        ("apps", "v1"),
    }
    with pytest.raises(ValueError, match="only one group"):
        scheme.set_version_priority(V1, GroupVersion("apps", "v1"))


def test_equivalent_resources_are_found_from_each_of_them() -> None:
    """Go: TestResourceMapper."""
    mapper = runtime.new_equivalent_resource_registry()
    kind, resource = V1.with_kind("Simple"), V1.with_resource("simples")
    mapper.register_kind_for(resource, "", kind)
    mapper.register_kind_for(V2.with_resource("simples"), "", V2.with_kind("Simple"))
    mapper.register_kind_for(resource, "status", kind)
    assert mapper.kind_for(resource, "") == mapper.kind_for(resource, "status") == kind
    assert mapper.equivalent_resources_for(resource, "") == [resource, V2.with_resource("simples")]
    assert mapper.equivalent_resources_for(resource, "status") == [resource]
    assert mapper.kind_for(V2.with_resource("others"), "").empty()
