"""The group version samplecontroller.k8s.io/v1alpha1 and its kinds. Mirrors register.go."""

from __future__ import annotations

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupKind, GroupResource, GroupVersion
from pkg.apis.samplecontroller import GROUP_NAME
from pkg.apis.samplecontroller.v1alpha1.types import Foo, FooList

SCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, "v1alpha1")


def kind(name: str) -> GroupKind:
    """Return a kind of this group. Go: Kind."""
    return SCHEME_GROUP_VERSION.with_kind(name).group_kind()


def resource(name: str) -> GroupResource:
    """Return a resource of this group. Go: Resource."""
    return SCHEME_GROUP_VERSION.with_resource(name).group_resource()


def add_to_scheme(scheme: runtime.Scheme) -> None:
    """Make the kinds known to `scheme`. Go: AddToScheme."""
    scheme.add_known_types(SCHEME_GROUP_VERSION, Foo, FooList)
    metav1.add_to_group_version(scheme, SCHEME_GROUP_VERSION)
