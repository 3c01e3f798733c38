"""A CRD's spec in the server's internal form, which some messages print.

Values that all versions share are fields of the spec there. Mirrors apiextensions-apiserver's conversion of v1 to its
internal types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clientgo.testing.apiserver.wire.jsonio import Json

SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
"""Fields that each version has, or that all versions share."""


@dataclass(frozen=True, slots=True)
class Part:
    """A value of one of the fields SHARED, with its version and its path in the server's internal type."""

    value: Any
    version: Json
    place: str


def parts(spec: Json, name: str) -> list[Part]:
    """Return the values of one field of SHARED, without None.

    The result has a single part if all versions have the same value.
    """
    versions = spec.get("versions") or []
    found = [Part(version.get(name), version, f"spec.versions[{i}].{name}") for i, version in enumerate(versions)]
    if found and _is_shared(versions, name):
        place = "spec.validation" if name == "schema" else f"spec.{name}"
        found = [Part(found[0].value, found[0].version, place)]
    return [part for part in found if part.value is not None]


def _is_shared(versions: list[Json], name: str) -> bool:
    return all(version.get(name) == versions[0].get(name) for version in versions)


_ZERO_SCHEMA: Json = {
    **dict.fromkeys(("ID", "Schema"), ""),
    "Ref": None,
    **dict.fromkeys(("Description", "Type"), ""),
    "Nullable": False,
    **dict.fromkeys(("Format", "Title"), ""),
    **dict.fromkeys(("Default", "Maximum"), None),
    "ExclusiveMaximum": False,
    "Minimum": None,
    "ExclusiveMinimum": False,
    **dict.fromkeys(("MaxLength", "MinLength"), None),
    "Pattern": "",
    **dict.fromkeys(("MaxItems", "MinItems"), None),
    "UniqueItems": False,
    **dict.fromkeys(("MultipleOf", "Enum", "MaxProperties", "MinProperties", "Required", "Items"), None),
    **dict.fromkeys(("AllOf", "OneOf", "AnyOf", "Not", "Properties", "AdditionalProperties"), None),
    **dict.fromkeys(("PatternProperties", "Dependencies", "AdditionalItems", "Definitions"), None),
    **dict.fromkeys(("ExternalDocs", "Example", "XPreserveUnknownFields"), None),
    **dict.fromkeys(("XEmbeddedResource", "XIntOrString"), False),
    **dict.fromkeys(("XListMapKeys", "XListType", "XMapType", "XValidations"), None),
}
_NAMES = {
    "id": "ID",
    "$schema": "Schema",
    "$ref": "Ref",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    "x-kubernetes-embedded-resource": "XEmbeddedResource",
    "x-kubernetes-int-or-string": "XIntOrString",
    "x-kubernetes-list-map-keys": "XListMapKeys",
    "x-kubernetes-list-type": "XListType",
    "x-kubernetes-map-type": "XMapType",
    "x-kubernetes-validations": "XValidations",
}


def _upper(name: str) -> str:
    return _NAMES.get(name) or name[0].upper() + name[1:]


def shown_schema(schema: Json) -> Json:
    """Return a schema as Go prints the internal struct."""
    out = dict(_ZERO_SCHEMA)
    for name, value in schema.items():
        key = _upper(name)
        if name in ("allOf", "anyOf", "oneOf"):
            out[key] = [shown_schema(inner) for inner in value]
        elif name in ("properties", "patternProperties", "definitions"):
            out[key] = {inner: shown_schema(value[inner]) for inner in sorted(value)}
        elif name == "not":
            out[key] = shown_schema(value)
        elif name == "items":
            out[key] = {"Schema": shown_schema(value), "JSONSchemas": None}
        elif name in ("additionalProperties", "additionalItems"):
            inner = shown_schema(value) if isinstance(value, dict) else None
            out[key] = {"Allows": inner is not None or bool(value), "Schema": inner}
        elif name == "x-kubernetes-validations":
            out[key] = [shown_rule(rule) for rule in value]
        else:
            out[key] = value
    return out


def shown_rule(rule: Json) -> Json:
    """Return a rule as Go prints the internal struct."""
    names = ("rule", "message", "messageExpression")
    shown: Json = {_upper(name): rule.get(name) or "" for name in names}
    shown["Reason"] = rule.get("reason")
    shown["FieldPath"] = rule.get("fieldPath") or ""
    shown["OptionalOldSelf"] = rule.get("optionalOldSelf")
    return shown


def shown_versions(spec: Json) -> list[Json]:
    """Return the versions as Go prints the internal structs."""
    versions = spec.get("versions") or []
    own = [name for name in SHARED if not _is_shared(versions, name)]
    return [_shown_version({name: version[name] for name in version if name not in SHARED or name in own})
            for version in versions]  # fmt: skip


def _shown_version(version: Json) -> Json:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    columns, fields = version.get("additionalPrinterColumns"), version.get("selectableFields")
    return {
        "Name": version.get("name", ""),
        "Served": bool(version.get("served")),
        "Storage": bool(version.get("storage")),
        "Deprecated": bool(version.get("deprecated")),
        "DeprecationWarning": version.get("deprecationWarning"),
        "Schema": {"OpenAPIV3Schema": shown_schema(schema)} if schema is not None else None,
        "Subresources": _shown_subresources(version.get("subresources")),
        "AdditionalPrinterColumns": [_shown_column(column) for column in columns] if columns else None,
        "SelectableFields": [{"JSONPath": field.get("jsonPath", "")} for field in fields] if fields else None,
    }


def _shown_subresources(subresources: Json | None) -> Json | None:
    if subresources is None:
        return None
    scale = subresources.get("scale")
    paths = ("specReplicasPath", "statusReplicasPath")
    shown = None
    if scale is not None:
        shown = {_upper(name): scale.get(name, "") for name in paths}
        shown["LabelSelectorPath"] = scale.get("labelSelectorPath")
    return {"Status": {} if subresources.get("status") is not None else None, "Scale": shown}


def _shown_column(column: Json) -> Json:
    shown: Json = {_upper(name): column.get(name, "") for name in ("name", "type", "format", "description")}
    return {**shown, "Priority": column.get("priority", 0), "JSONPath": column.get("jsonPath", "")}
