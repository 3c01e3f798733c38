"""Validation of objects that are embedded in custom resources. Mirrors apiextensions-apiserver's schema/objectmeta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.util.validation import is_dns1035_label
from clientgo.testing.apiserver.kinds import embedded
from clientgo.testing.apiserver.kinds.object_meta import check_annotations, check_labels
from clientgo.testing.apiserver.kinds.schema import DecodeError
from clientgo.testing.apiserver.kinds.validation.metadata import finalizers, path_segment
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

_NOT_EMPTY = "must not be empty"


def validate(obj: Json, schema: Json | None) -> list[FieldError]:
    """Validate the embedded objects."""
    if schema is None or not embedded.is_in(schema):
        return []
    errors: list[FieldError] = []
    _validate(obj, schema, "", errors)
    return errors


def _validate(value: Any, schema: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        for i, item in enumerate(value):
            _validate(item, schema.get("items"), f"{path}[{i}]", errors)
    if not isinstance(value, dict):
        return
    if schema.get(embedded.EMBEDDED):
        errors += _embedded_object(value, path)
    properties = schema.get("properties") or {}
    for name, item in value.items():
        below = (f"{path}.{name}" if path else name) if name in properties else f"{path}[{name}]"
        _validate(item, embedded.inner_schema(schema, name), below, errors)


def _embedded_object(obj: Json, path: str) -> list[FieldError]:
    errors = [field_required(f"{path}.{name}") for name in ("apiVersion", "kind") if name not in obj]
    if "apiVersion" in obj:
        errors += _named(obj["apiVersion"], f"{path}.apiVersion", _group_version)
    if "kind" in obj:
        errors += _named(obj["kind"], f"{path}.kind", _kind)
    if "metadata" in obj:
        errors += _object_meta(obj["metadata"], f"{path}.metadata")
    return errors


def _named(value: Any, path: str, check: Callable[[str], str]) -> list[FieldError]:
    if not isinstance(value, str):
        return [field_invalid(path, value, "must be a string")]
    text = check(value) if value else _NOT_EMPTY
    return [field_invalid(path, value, text)] if text else []


def _group_version(text: str) -> str:
    return f"unexpected GroupVersion string: {text}" if text.count("/") > 1 else ""


def _kind(text: str) -> str:
    wrong = ",".join(is_dns1035_label(text.lower()))
    return f"may have mixed case, but should otherwise match: {wrong}" if wrong else ""


def _object_meta(value: Any, path: str) -> list[FieldError]:
    try:
        meta = embedded.decoded(value, [])
    except DecodeError as err:
        return [field_invalid(path, value, str(err))]
    errors = []
    for name in ("generateName", "name"):
        if meta.get(name):
            errors += [field_invalid(f"{path}.{name}", meta[name], text) for text in path_segment(meta[name])]
    errors += check_labels(meta.get("labels"), f"{path}.labels")
    errors += check_annotations(meta.get("annotations"), f"{path}.annotations")
    return errors + finalizers(meta.get("finalizers"))
