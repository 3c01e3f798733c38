"""The patch rules of a type's fields: merge by key, or replace.

Mirrors k8s.io/apimachinery/pkg/util/strategicpatch/meta.go. Go reads struct tags by reflection; here the declared
fields of a runtime.Struct class provide the rules. Kinds without a class use the schemas that the server publishes as
OpenAPI v3; Go's model of OpenAPI v2 is not ported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from clientgo.apimachinery.runtime.fields import FieldInfo
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.util.mergepatch import MergePatchError


@dataclass(frozen=True, slots=True)
class PatchMeta:
    """The patch rules of one field. Go: strategicpatch.PatchMeta."""

    patch_strategies: tuple[str, ...] = ()
    patch_merge_key: str = ""

    def get_patch_strategies(self) -> tuple[str, ...]:
        """Return the patch strategies. Go: PatchMeta.GetPatchStrategies."""
        return self.patch_strategies

    def get_patch_merge_key(self) -> str:
        """Return the merge key, "" without one. Go: PatchMeta.GetPatchMergeKey."""
        return self.patch_merge_key


class LookupPatchMeta(Protocol):
    """A source of patch rules for the fields of a type. Go: strategicpatch.LookupPatchMeta."""

    def lookup_patch_metadata_for_struct(self, key: str, /) -> tuple[LookupPatchMeta, PatchMeta]:
        """Return the field's type and its rules. Raises ValueError for an unknown one."""
        ...

    def lookup_patch_metadata_for_slice(self, key: str, /) -> tuple[LookupPatchMeta, PatchMeta]:
        """Return the type of a list field's elements, and the field's rules. Raises ValueError."""
        ...

    def name(self) -> str:
        """Return the type's name for messages."""
        ...


@dataclass(frozen=True, slots=True)
class PatchMetaFromStruct:
    """The rules of a class, or of a type in Go's notation that the class' module resolves.

    Go: strategicpatch.PatchMetaFromStruct.
    """

    # A class, or the name of a list, map or scalar type.
    t: type[Struct] | str
    module: str = ""

    def lookup_patch_metadata_for_struct(self, key: str) -> tuple[PatchMetaFromStruct, PatchMeta]:
        """Return the schema and patch metadata of a field that is a struct.

        Go: PatchMetaFromStruct.LookupPatchMetadataForStruct.
        """
        if isinstance(self.t, str):
            raise MergePatchError(f"merging an object in json but data type is not struct, instead is: {self.name()}")
        info = _fields_by_json_name(self.t).get(key)
        if info is None:
            raise field_not_in_struct(self.t.__name__, key)
        strategies = tuple(info.patch_strategy.split(",")) if info.patch_strategy else ()
        # A base class in another module may declare the field.
        return _type_of(info.type, _declaring_module(self.t, info.attr)), PatchMeta(strategies, info.patch_merge_key)

    def lookup_patch_metadata_for_slice(self, key: str) -> tuple[PatchMetaFromStruct, PatchMeta]:
        """Return the schema and patch metadata of a field that is a list.

        Go: PatchMetaFromStruct.LookupPatchMetadataForSlice.
        """
        subschema, patch_meta = self.lookup_patch_metadata_for_struct(key)
        if not isinstance(subschema.t, str) and self._is_pointer(key):
            # Go also accepts a list as a pointer to a struct.
            return subschema, patch_meta
        if not isinstance(subschema.t, str) or not subschema.t.startswith("[]"):
            raise MergePatchError(f"expected slice or array type, but got: {self.name()}")
        return _type_of(subschema.t.removeprefix("[]"), subschema.module), patch_meta

    def _is_pointer(self, key: str) -> bool:
        return not isinstance(self.t, str) and _fields_by_json_name(self.t)[key].type.startswith("*")

    def name(self) -> str:
        """Return the type's kind: struct, map, slice or a scalar. Go: PatchMetaFromStruct.Name."""
        if not isinstance(self.t, str):
            return "struct"
        head, bracket, _ = self.t.partition("[")
        return self.t if not bracket else head or "slice"


def field_not_in_struct(struct: str, key: str) -> MergePatchError:
    """Return the error for a field that a struct does not declare. Go has no name for it."""
    return MergePatchError(f'unable to find api field in struct {struct} for the json field "{key}"')


def new_patch_meta_from_struct(data_struct: Any) -> PatchMetaFromStruct:
    """Return the rules of a class, or of an object's class. Raises TypeError. Go:
    strategicpatch.NewPatchMetaFromStruct.
    """
    return PatchMetaFromStruct(get_tag_struct_type_or_die(data_struct))


def get_tag_struct_type_or_die(data_struct: Any) -> type[Struct]:
    """Return the class. Raises TypeError for other values. Go: strategicpatch.GetTagStructTypeOrDie."""
    cls = data_struct if isinstance(data_struct, type) else type(data_struct)
    if not issubclass(cls, Struct):
        raise TypeError(f"expected a struct, but received a {cls.__name__}")
    return cls


@dataclass(frozen=True, slots=True)
class PatchMetaFromOpenAPIV3:
    """The rules of a schema in a server's OpenAPI v3 document. Go: strategicpatch.PatchMetaFromOpenAPIV3.

    `schema_list` is the document's components.schemas, which resolve references.
    """

    schema_list: Mapping[str, Mapping[str, Any]]
    schema: Mapping[str, Any] | None

    def lookup_patch_metadata_for_struct(self, key: str) -> tuple[PatchMetaFromOpenAPIV3, PatchMeta]:
        """Return the field's type and its rules. Raises ValueError for an unknown field or reference.

        Go: LookupPatchMetadataForStruct.
        """
        field = self._property(key)
        return self._resolved(field), _rules_of(field)

    def lookup_patch_metadata_for_slice(self, key: str) -> tuple[PatchMetaFromOpenAPIV3, PatchMeta]:
        """Return the type of a list field's elements, and the field's rules. Raises ValueError for an unknown one.

        Go: LookupPatchMetadataForSlice.
        """
        field = self._property(key)
        return self._resolved(field.get("items") or field), _rules_of(field)

    def _property(self, key: str) -> Mapping[str, Any]:
        if self.schema is None:
            return {}
        field = (self.schema.get("properties") or {}).get(key)
        if field is None:
            raise ValueError(f'unable to find api field "{key}"')
        return cast("Mapping[str, Any]", field)

    def _resolved(self, schema: Mapping[str, Any]) -> PatchMetaFromOpenAPIV3:
        """Return the referenced schema. A reference with siblings is the only element of an allOf."""
        schema = next(iter(schema.get("allOf") or ()), schema)
        reference = schema.get("$ref")
        if not reference:
            return PatchMetaFromOpenAPIV3(self.schema_list, schema or None)
        found = self.schema_list.get(reference.removeprefix("#/components/schemas/"))
        if found is None:
            raise ValueError(f"unable to resolve {reference} in OpenAPI V3")
        return PatchMetaFromOpenAPIV3(self.schema_list, found)

    def name(self) -> str:
        """Return the type of the schema, "Struct" without one. Go: Name."""
        return str((self.schema or {}).get("type") or "Struct")


def _rules_of(field: Mapping[str, Any]) -> PatchMeta:
    strategies = field.get("x-kubernetes-patch-strategy", "")
    return PatchMeta(tuple(strategies.split(",")) if strategies else (), field.get("x-kubernetes-patch-merge-key", ""))


@cache
def _fields_by_json_name(cls: type[Struct]) -> dict[str, FieldInfo]:
    return {info.json: info for info in cls._fields.values()}


def _declaring_module(cls: type[Struct], attr: str) -> str:
    return next((base.__module__ for base in cls.__mro__ if attr in vars(base)), cls.__module__)


@cache
def _type_of(text: str, module: str) -> PatchMetaFromStruct:
    text = text.lstrip("*")
    if text.startswith(("[]", "map[string]")):
        return PatchMetaFromStruct(text, module)
    found: Any = sys.modules[module]
    for part in text.split("."):
        found = getattr(found, part, None)
    return PatchMetaFromStruct(found if isinstance(found, type) and issubclass(found, Struct) else text, module)
