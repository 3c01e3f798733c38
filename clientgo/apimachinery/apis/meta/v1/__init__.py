"""meta/v1: the types and helpers every API group shares. Mirrors k8s.io/apimachinery/pkg/apis/meta/v1."""

from clientgo.apimachinery.apis.meta.v1 import types
from clientgo.apimachinery.apis.meta.v1.register import (
    GROUP_NAME,
    SCHEME_GROUP_VERSION,
    UNVERSIONED,
    WATCH_EVENT_KIND,
    add_meta_to_scheme,
    add_to_group_version,
)
from clientgo.apimachinery.apis.meta.v1.types import *

__all__ = [
    "GROUP_NAME",
    "SCHEME_GROUP_VERSION",
    "UNVERSIONED",
    "WATCH_EVENT_KIND",
    "add_meta_to_scheme",
    "add_to_group_version",
]
__all__ += types.__all__
