"""Schemes: what is registered under which names, and what goes from one version to another."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
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


def test_an_unregistered_kind_cannot_be_converted() -> None:
    """Go: TestMetaValuesUnregisteredConvert."""
    with pytest.raises(runtime.NotRegisteredError):
        runtime.new_scheme().convert(Simple(), Newer())


def simple_document(name: str, version: str = "group/v1") -> Any:
    return {"apiVersion": version, "kind": "Simple", "metadata": {"name": name}}


def test_an_unstructured_object_takes_any_kind() -> None:
    """Go: TestScheme (Convert external to unstructured, Convert unstructured to unstructured)."""
    scheme, found = two_versions(), Unstructured({"old": 1})
    scheme.convert(named("a"), found)
    assert found.to_dict() == simple_document("a")
    content = {"test": ["other", {"a": 1}]}
    scheme.convert(Unstructured(content), found)
    found.object["test"][1]["a"] = 2
    assert (content, found.object) == ({"test": ["other", {"a": 1}]}, {"test": ["other", {"a": 2}]})
    scheme.add_unversioned_types(GroupVersion("", "v1"), metav1.Status)
    scheme.convert(metav1.Status(message="m"), found)
    assert found.to_dict() == {"apiVersion": "v1", "kind": "Status", "message": "m"}
    with pytest.raises(TypeError, match="unable to convert object type dict to Unstructured, must be a runtime.Object"):
        scheme.convert({}, found)
    with pytest.raises(runtime.NotRegisteredError, match="no kind is registered for the type"):
        scheme.convert(corev1.Pod(), found)


def test_an_unstructured_object_becomes_one_of_its_kind_first() -> None:
    """Go: TestScheme (Convert unstructured to structured), TestConvertToVersion (converts from unstructured)."""
    scheme, source, simple = two_versions(), Unstructured(simple_document("a")), Simple()
    scheme.convert(source, simple)
    assert simple.to_dict() == simple_document("a")
    simple.set_name("b")
    assert source.get_name() == "a"
    found = scheme.convert_to_version(source, V1)
    assert type(found) is Simple and found.to_dict() == simple_document("a")
    scheme.add_conversion_func(Simple, Newer, lambda old, new: new.set_name(f"{old.get_name()}-upgraded"))
    newer = Newer()
    scheme.convert(source, newer)
    assert newer.get_name() == "a-upgraded"
    assert scheme.convert_to_version(source, V2).to_dict() == simple_document("a-upgraded", "group/v2")
    with pytest.raises(runtime.MissingKindError):
        scheme.convert(Unstructured(), simple)
    with pytest.raises(runtime.NotRegisteredError):
        scheme.convert(Unstructured({"apiVersion": "x/v1", "kind": "Y"}), simple)


def test_an_internal_version_is_never_written() -> None:
    """Go: TestScheme (Convert internal to unstructured), TestConvertToVersion (converts to internal)."""
    internal = GroupVersion("group", runtime.API_VERSION_INTERNAL)
    scheme, found = runtime.new_scheme(), Unstructured()
    scheme.add_known_types(V1, Simple)
    scheme.add_known_type_with_name(internal.with_kind("Simple"), Newer)
    scheme.add_conversion_func(Simple, Newer, lambda old, new: new.set_name(old.get_name()))
    scheme.add_conversion_func(Newer, Simple, lambda new, old: old.set_name(new.get_name()))
    newer = scheme.convert_to_version(named("a"), internal)
    assert type(newer) is Newer and newer.group_version_kind().empty() and newer.get_name() == "a"
    with pytest.raises(ValueError, match="to Unstructured without providing a preferred version to convert to"):
        scheme.convert(newer, found)
    scheme.convert(newer, found, V1)
    assert found.to_dict() == simple_document("a")


def test_an_unversioned_kind_is_named_as_the_target_names_it() -> None:
    """Go: Scheme.convertToVersion."""
    scheme = runtime.new_scheme()
    scheme.add_unversioned_types(GroupVersion("", "v1"), metav1.Status)
    for target, version in ((GroupVersion("", "v2"), "v2"), (V2, "v1")):
        assert scheme.convert_to_version(metav1.Status(), target).to_dict() == {"apiVersion": version, "kind": "Status"}


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
