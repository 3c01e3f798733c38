"""Strategic merge patches on plain documents, by the type facts of the built-in APIs.

clientgo.apimachinery.util.strategicpatch merges; `Rules` supplies its merge keys and strategies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo.api import facts
from clientgo.apimachinery.util import mergepatch, strategicpatch
from clientgo.apimachinery.util.strategicpatch import PatchMeta
from clientgo.apimachinery.util.strategicpatch.meta import field_not_in_struct
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.wire import errors


def strategic_patch(original: Any, patch: Any, struct: schema.Struct | None) -> Any:
    """Merge `patch` into `original` with the merge keys of `struct`; without struct lists are replaced.

    Raises ApiError 400 for some invalid patches and 500 for the others, as kube-apiserver does.
    """
    try:
        return strategicpatch.strategic_merge_map_patch_using_lookup_patch_meta(original, patch, Rules(struct))
    except _BAD_FORMATS as err:
        raise errors.bad_request(str(err)) from None
    except ValueError as err:
        raise errors.internal_text(str(err)) from None


_BAD_FORMATS = (
    mergepatch.ErrBadJSONDoc,
    mergepatch.ErrBadPatchFormatForPrimitiveList,
    mergepatch.ErrBadPatchFormatForRetainKeys,
    mergepatch.ErrBadPatchFormatForSetElementOrderList,
    mergepatch.ErrUnsupportedStrategicMergePatchFormat,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The patch rules of a type, taken from the type facts: a strategicpatch.LookupPatchMeta.

    Values below a type without facts (arbitrary JSON, scalars) have no rules: maps merge, lists are replaced.
    """

    struct: schema.Struct | None = None
    # The codec of the values if the type is a map and not a struct.
    values: schema.Codec | None = None

    def name(self) -> str:
        return "struct" if self.struct is not None else "map"

    def lookup_patch_metadata_for_struct(self, key: str) -> tuple[Rules, PatchMeta]:
        if self.struct is None:
            return Rules(self.values.struct if self.values is not None else None), _NO_META
        field = self._field(key)
        if field.struct is not None:
            return Rules(field.struct), _meta(field)
        package = self.struct.package
        values = schema.element(field.type, package) if facts.collection_of(field.type, package)[0] == "map" else None
        return Rules(values=values), _meta(field)

    def lookup_patch_metadata_for_slice(self, key: str) -> tuple[Rules, PatchMeta]:
        if self.struct is None:
            return Rules(), _NO_META
        field = self._field(key)
        element = schema.element(field.type, self.struct.package)
        return Rules(element.struct if element is not None else None), _meta(field)

    def _field(self, key: str) -> schema.Field:
        assert self.struct is not None
        field = self.struct.fields.get(key)
        if field is None:
            raise field_not_in_struct(self.struct.name, key)
        return field


_NO_META = PatchMeta()


def _meta(field: schema.Field) -> PatchMeta:
    if not field.merge_strategy:
        return _NO_META
    return PatchMeta(tuple(field.merge_strategy.split(",")), field.merge_key)


_GO_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
# Conversions that Go's converter allows, but not for values from JSON.
_UNCONVERTED = {("int64", "string"), ("float64", "int32"), ("float64", "int64")}


def conversion_text(err: schema.DecodeError) -> str:
    """Return the message of a strategic merge patch for a value that does not fit.

    Go converts maps to structs there.
    """
    wanted, got = err.underlying, _GO_KINDS.get(type(err.value), "")
    if not wanted or not got:
        return str(err)
    if wanted.startswith("map["):
        return f"cannot restore map from {got}"
    if wanted.startswith("[]"):
        return f"cannot restore slice from {got}"
    if "." in wanted:
        return f"cannot restore struct from: {got}"
    return f"cannot convert {got} to {err.go_type}" if (got, wanted) in _UNCONVERTED else f"unrecognized type: {wanted}"
