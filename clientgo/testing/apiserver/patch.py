"""The patch kinds: JSON patch, JSON merge patch and strategic merge patch, on raw objects.

Pure functions; the original is never changed. Strategic merge is clientgo.apimachinery.util.strategicpatch, to which
Rules tells merge keys and strategies from the type facts of the built-in APIs. Errors are PatchError (the patch does
not fit: 422 or 400 as the caller decides).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo.apimachinery.util import strategicpatch
from clientgo.apimachinery.util.strategicpatch import FieldNotFoundError, PatchMeta
from clientgo.testing.apiserver import schema
from clientgo.testing.apiserver.jsonio import copy

Json = dict[str, Any]

MAX_OPERATIONS = 10000


class PatchError(Exception):
    """The patch cannot be applied to this object."""


# ---- JSON merge patch (RFC 7386)


def merge_patch(original: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return copy(patch)
    out = dict(original) if isinstance(original, dict) else {}
    for name, value in patch.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merge_patch(out.get(name), value)
    return out


# ---- JSON patch (RFC 6902)


def json_patch(original: Any, operations: list[Any]) -> Any:
    """Apply the operations in order. Raises PatchError when one of them does not fit."""
    document = copy(original)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError("missing path")
        document = _apply_operation(document, operation)
    return document


def _apply_operation(document: Any, operation: Json) -> Any:
    kind = operation.get("op")
    path = _pointer(operation["path"])
    if kind == "test":
        if _lookup(document, path) != operation.get("value"):
            raise PatchError(f"testing value {operation['path']} failed")
        return document
    if kind == "remove":
        return _remove(document, path)
    if kind == "add":
        return _add(document, path, copy(operation.get("value")))
    if kind == "replace":
        _lookup(document, path)
        return _replace(document, path, copy(operation.get("value")))
    if kind in ("move", "copy"):
        source = _pointer(str(operation.get("from", "")))
        value = copy(_lookup(document, source))
        if kind == "move":
            if path[: len(source)] == source and len(path) > len(source):
                raise PatchError("cannot move a value into itself")
            document = _remove(document, source)
        return _add(document, path, value)
    raise PatchError(f"Unexpected kind: {kind}")


def _pointer(text: str) -> list[str]:
    if text == "":
        return []
    if not text.startswith("/"):
        raise PatchError(f"invalid path {text}")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _index(items: list[Any], name: str, *, end: bool) -> int:
    if name == "-" and end:
        return len(items)
    if not name.lstrip("-").isascii() or not name.lstrip("-").isdigit():
        raise PatchError(f"invalid array index {name}")
    at = int(name)
    if at < 0 or at > len(items) - (0 if end else 1):
        raise PatchError(f"array index {name} out of bounds")
    return at


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        if name not in value:
            raise PatchError(f"missing key {name}")
        return value[name]
    if isinstance(value, list):
        return value[_index(value, name, end=False)]
    raise PatchError(f"no value at {name}")


def _lookup(document: Any, path: list[str]) -> Any:
    for name in path:
        document = _step(document, name)
    return document


def _parent(document: Any, path: list[str]) -> Any:
    return _lookup(document, path[:-1])


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[name] = value
    elif isinstance(parent, list):
        parent.insert(_index(parent, name, end=True), value)
    else:
        raise PatchError("add operation does not apply")
    return document


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        parent[_index(parent, name, end=False)] = value
    else:
        parent[name] = value
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        raise PatchError("remove operation does not apply")
    parent, name = _parent(document, path), path[-1]
    if isinstance(parent, list):
        del parent[_index(parent, name, end=False)]
    elif isinstance(parent, dict) and name in parent:
        del parent[name]
    else:
        raise PatchError(f"Unable to remove nonexistent key: {name}")
    return document


# ---- strategic merge patch


def strategic_patch(original: Any, patch: Any, struct: schema.Struct | None) -> Any:
    """Merge `patch` into `original` with the merge keys of `struct`; without struct lists are replaced."""
    if not isinstance(patch, dict):
        raise PatchError("expected a map")
    before = original if isinstance(original, dict) else {}
    rules = Rules(struct)
    try:
        return strategicpatch.strategic_merge_map_patch_using_lookup_patch_meta(before, patch, rules)
    except ValueError as err:
        raise PatchError(str(err)) from None


@dataclass(frozen=True, slots=True)
class Rules:
    """The patch rules of a type, taken from the type facts: a strategicpatch.LookupPatchMeta.

    What is below a type without facts (arbitrary JSON, scalars) has no rules: maps merge, lists are replaced.
    """

    struct: schema.Struct | None = None
    # Of a map type instead of a struct: what its values are.
    values: schema.Codec | None = None

    def name(self) -> str:
        return self.struct.name if self.struct is not None else ""

    def lookup_patch_metadata_for_struct(self, key: str) -> tuple[Rules, PatchMeta]:
        if self.struct is None:
            return Rules(self.values.struct if self.values is not None else None), _NO_META
        field = self._field(key)
        if field.struct is not None:
            return Rules(field.struct), _meta(field)
        package = self.struct.package
        values = schema.element(field.type, package) if schema.collection_kind(field.type, package) == "map" else None
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
            raise FieldNotFoundError(self.name(), key)
        return field


_NO_META = PatchMeta()


def _meta(field: schema.Field) -> PatchMeta:
    if not field.merge_strategy:
        return _NO_META
    return PatchMeta(tuple(field.merge_strategy.split(",")), field.merge_key)


_GO_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
# What Go converts in principle and JSON does not.
_UNCONVERTED = {("int64", "string"), ("float64", "int32"), ("float64", "int64")}


def conversion_text(err: schema.DecodeError) -> str:
    """How a strategic merge patch says that a value does not fit: it converts maps to structs, and decodes no JSON."""
    wanted, got = err.go_type, _GO_KINDS.get(type(err.value), "")
    if not wanted or not got:
        return str(err)
    if wanted.startswith("map["):
        return f"cannot restore map from {got}"
    if wanted.startswith("[]"):
        return f"cannot restore slice from {got}"
    if "." in wanted:
        return f"cannot restore struct from: {got}"
    return f"cannot convert {got} to {wanted}" if (got, wanted) in _UNCONVERTED else f"unrecognized type: {wanted}"
