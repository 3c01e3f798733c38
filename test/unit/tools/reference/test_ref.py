"""References to objects with and without a kind (Go: ref_test.go)."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.kubernetes.scheme import SCHEME
from clientgo.tools import reference


class Foo(runtime.ResourceObject):
    """A kind of our own."""

    GROUP_VERSION_KIND = GroupVersion("foo.group", "v3").with_kind("Foo")


def test_the_scheme_supplies_an_objects_missing_kind() -> None:
    """Go: TestGetReferenceRefVersion"""
    # Go: TestGetReferenceRefVersion/v1 GV from scheme
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="p"))
    assert (reference.get_reference(SCHEME, pod).api_version, reference.get_reference(SCHEME, pod).kind) == (
        "v1",
        "Pod",
    )
    # Go: TestGetReferenceRefVersion/foo.group/v3 GV from scheme
    scheme = runtime.new_scheme()
    scheme.add_known_types(GroupVersion("foo.group", "v3"), Foo)
    found = reference.get_reference(scheme, Foo())
    assert (found.api_version, found.kind) == ("foo.group/v3", "Foo")


def test_without_scheme_and_kind_there_is_no_reference() -> None:
    """Go: TestGetReferenceNilScheme"""
    with pytest.raises(ValueError, match="scheme is required to look up gvk"):
        reference.get_reference(None, corev1.Pod())


def test_nothing_has_no_reference() -> None:
    """Go: ErrNilObject."""
    with pytest.raises(reference.ErrNilObject, match="^can't reference a nil object$"):
        reference.get_reference(None, None)


def test_an_object_that_carries_its_kind_needs_no_scheme() -> None:
    """Go: TestGetReferenceNilSchemeWithPopulatedGVK"""
    found = reference.get_reference(None, corev1.Pod(api_version="v1", kind="Pod"))
    assert (found.api_version, found.kind) == ("v1", "Pod")


def test_a_partial_reference_leaves_the_reference_given_alone() -> None:
    ref = corev1.ObjectReference(kind="Pod", name="p")
    part = reference.get_partial_reference(None, ref, "spec.containers{c}")
    assert (part.field_path, ref.field_path) == ("spec.containers{c}", "")


def test_an_object_from_a_cache_can_be_referred_to() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="p", uid="u")).freeze()
    assert reference.get_reference(SCHEME, pod).uid == "u"
