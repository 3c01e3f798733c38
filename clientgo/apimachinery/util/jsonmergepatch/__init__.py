"""JSON merge patches (k8s.io/apimachinery/pkg/util/jsonmergepatch)."""

from clientgo.apimachinery.util.jsonmergepatch.patch import (
    BadJSONDocError,
    BadJSONPatchError,
    create_merge_patch,
    create_three_way_json_merge_patch,
    merge_patch,
)

__all__ = [
    "BadJSONDocError",
    "BadJSONPatchError",
    "create_merge_patch",
    "create_three_way_json_merge_patch",
    "merge_patch",
]
