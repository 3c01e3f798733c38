"""samplecontroller.k8s.io/v1alpha1."""

from pkg.apis.samplecontroller import GROUP_NAME
from pkg.apis.samplecontroller.v1alpha1.register import SCHEME_GROUP_VERSION, add_to_scheme, kind, resource
from pkg.apis.samplecontroller.v1alpha1.types import Foo, FooList, FooSpec, FooStatus

__all__ = [
    "GROUP_NAME",
    "SCHEME_GROUP_VERSION",
    "Foo",
    "FooList",
    "FooSpec",
    "FooStatus",
    "add_to_scheme",
    "kind",
    "resource",
]
