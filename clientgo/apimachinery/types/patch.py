"""The content types of PATCH requests (k8s.io/apimachinery/pkg/types/patch.go)."""

from __future__ import annotations

from typing import ClassVar


class PatchType(str):
    """The content type of a patch. A server may support more, so any text is accepted. Go: types.PatchType."""

    __slots__ = ()

    JSON: ClassVar[PatchType]
    MERGE: ClassVar[PatchType]
    STRATEGIC_MERGE: ClassVar[PatchType]
    APPLY: ClassVar[PatchType]
    APPLY_YAML: ClassVar[PatchType]
    APPLY_CBOR: ClassVar[PatchType]


PatchType.JSON = PatchType("application/json-patch+json")
PatchType.MERGE = PatchType("application/merge-patch+json")
PatchType.STRATEGIC_MERGE = PatchType("application/strategic-merge-patch+json")
PatchType.APPLY_YAML = PatchType("application/apply-patch+yaml")
PatchType.APPLY_CBOR = PatchType("application/apply-patch+cbor")
PatchType.APPLY = PatchType.APPLY_YAML
