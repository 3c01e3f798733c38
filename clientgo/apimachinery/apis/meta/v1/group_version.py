"""Group, version, kind and resource names as values inside API objects.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/group_version.go. The classes are generated with the other types of the
package; use `runtime.schema` for names outside of documents.
"""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.types import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)

__all__ = ["GroupKind", "GroupResource", "GroupVersion", "GroupVersionKind", "GroupVersionResource"]
