"""Validation of CustomResourceDefinitions.

Mirrors apiextensions-apiserver's pkg/apis/apiextensions/validation. structural_schema.py validates the schemas.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.validation import is_dns1035_label, is_dns1123_subdomain
from clientgo.golang import utf8
from clientgo.testing.apiserver.kinds import crd, crd_internal, rule_checks, structural_schema
from clientgo.testing.apiserver.kinds.expression_texts import check_expression_texts
from clientgo.testing.apiserver.kinds.rule_paths import PathError, resolved_path
from clientgo.testing.apiserver.kinds.validation import webhooks
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
    field_too_many,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_PRESERVED = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
_REVIEWS = ("v1", "v1beta1")
_MOST_SELECTABLE = 8
_LONGEST_WARNING = 256


def validate(obj: Json, old: Json | None) -> list[FieldError]:
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    group, plural = spec.get("group", ""), names.get("plural", "")
    found: list[FieldError] = []
    if obj["metadata"].get("name") != f"{plural}.{group}":
        text = 'must be spec.names.plural+"."+spec.group'
        found.append(field_invalid("metadata.name", obj["metadata"].get("name", ""), text))
    found += _group(group)
    found += _choice(spec.get("scope"), "spec.scope", ["Cluster", "Namespaced"])
    found += _versions(spec)
    if spec.get("preserveUnknownFields"):
        found.append(field_invalid("spec.preserveUnknownFields", True, _PRESERVED))
    found += _required_names(names)
    found += _names(names, "spec.names")
    found += _schemas(spec, (old or {}).get("spec") or {})
    for part in crd_internal.parts(spec, "subresources"):
        found += _scale(part.value.get("scale"), f"{part.place}.scale")
    for part in crd_internal.parts(spec, "additionalPrinterColumns"):
        for i, column in enumerate(part.value):
            found += _column(column, f"{part.place}[{i}]")
    for part in crd_internal.parts(spec, "selectableFields"):
        found += _selectable_fields(part.value, _schema(part.version) or {}, part.place)
    found += _conversion(spec.get("conversion"))
    if old is not None:
        found += _update(spec, old.get("spec") or {})
    found += _stored_versions((obj.get("status") or {}).get("storedVersions"), spec.get("versions") or [])
    return found + _approval(obj, group)


def _choice(value: Any, field: str, choices: list[str]) -> list[FieldError]:
    if not value:
        return [field_required(field)]
    return [] if value in choices else [field_not_supported(field, value, choices)]


def _joined(value: str, field: str, texts: list[str], head: str = "") -> list[FieldError]:
    return [field_invalid(field, value, head + ",".join(texts))] if texts else []


def _group(group: str) -> list[FieldError]:
    if not group:
        return [field_required("spec.group")]
    wrong = _joined(group, "spec.group", is_dns1123_subdomain(group))
    if not wrong and "." not in group:
        return [field_invalid("spec.group", group, "should be a domain with at least one dot")]
    return wrong


def validate_status(obj: Json) -> list[FieldError]:
    """Validate an update of the status. It may empty `storedVersions`, as in Go.

    Go: ValidateUpdateCustomResourceDefinitionStatus.
    """
    return _names((obj.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")


def _required_names(names: Json) -> list[FieldError]:
    """Return the errors of names that a spec must have, but not a status."""
    fields = ("plural", "singular", "kind", "listKind")
    return [field_required(f"spec.names.{name}") for name in fields if not names.get(name)]


def _names(names: Json, where: str) -> list[FieldError]:
    found: list[FieldError] = []
    for name in ("plural", "singular", "kind", "listKind"):
        value = names.get(name) or ""
        if not value:
            continue
        if name in ("plural", "singular"):
            found += _joined(value, f"{where}.{name}", is_dns1035_label(value))
        else:
            head = "may have mixed case, but should otherwise match: "
            found += _joined(value, f"{where}.{name}", is_dns1035_label(value.lower()), head)
    for kind in ("shortNames", "categories"):
        for i, value in enumerate(names.get(kind) or ()):
            found += _joined(value, f"{where}.{kind}[{i}]", is_dns1035_label(value))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        found.append(field_invalid(f"{where}.listKind", names["listKind"], "kind and listKind may not be the same"))
    return found


def _versions(spec: Json) -> list[FieldError]:
    found = []
    versions = spec.get("versions") or []
    for i, version in enumerate(versions):
        where = f"spec.versions[{i}]"
        if _schema(version) is None:
            found.append(field_required(f"{where}.schema.openAPIV3Schema"))
        name = version.get("name", "")
        found += _joined(name, f"{where}.name", is_dns1035_label(name))
        found += _deprecation(version, f"{where}.deprecationWarning")
    names = [version.get("name", "") for version in versions]
    if len(set(names)) < len(names):
        text = "must contain unique version names"
        found.append(field_invalid("spec.versions", crd_internal.shown_versions(spec), text))
    if sum(1 for version in versions if version.get("storage")) != 1:
        text = "must have exactly one version marked as storage version"
        found.append(field_invalid("spec.versions", crd_internal.shown_versions(spec), text))
    return found


def _deprecation(version: Json, field: str) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    texts = []
    if not version.get("deprecated"):
        texts.append("can only be set for deprecated versions")
    if len(utf8.encode(warning)) > _LONGEST_WARNING:
        texts.append(f"must be <= {_LONGEST_WARNING} characters long")
    if not warning:
        texts.append("must not be an empty string")
    unprintable = next((i for i, sign in enumerate(warning) if not sign.isprintable()), None)
    if unprintable is not None:
        text = f"non-printable character found at index {unprintable}"
        texts.append(f"must only contain printable UTF-8 characters; {text}")
    return [field_invalid(field, warning, text) for text in texts]


def _schema(version: Json) -> Json | None:
    schema: Json | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _schemas(spec: Json, old: Json) -> list[FieldError]:
    before = [_schema(version) for version in old.get("versions") or ()]
    found = check_expression_texts(spec, "spec.versions")
    is_bounded = not found
    for part in crd_internal.parts(spec, "schema"):
        schema, place = part.value.get("openAPIV3Schema"), f"{part.place}.openAPIV3Schema"
        if schema is None:
            continue
        wrong = structural_schema.check_schema(schema, place)
        # Rules that were stored once are not looked at again, should this server now refuse them.
        if is_bounded and schema not in before and structural_schema.is_structural(wrong):
            wrong += rule_checks.check_rules(schema, place, wrong)
        found += wrong
    return found


_SCALE_PATHS = (
    ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", (".status.",), "should be a json path under .status"),
    ("labelSelectorPath", (".spec.", ".status."), "should be a json path under either .spec or .status"),
)


def _scale(scale: Json | None, where: str) -> list[FieldError]:
    if scale is None:
        return []
    found = []
    for name, heads, text in _SCALE_PATHS:
        path, field = scale.get(name) or "", f"{where}.{name}"
        if path:
            wrong = _simple_path(path, field)
            found += wrong or ([] if path.startswith(heads) else [field_invalid(field, path, text)])
        elif name != "labelSelectorPath":
            found.append(field_required(field))
    return found


def _simple_path(path: str, field: str) -> list[FieldError]:
    return [] if path.startswith(".") else [field_invalid(field, path, "must be a simple json path starting with .")]


def _column(column: Json, where: str) -> list[FieldError]:
    found = [] if column.get("name") else [field_required(f"{where}.name")]
    kind, form, path = column.get("type", ""), column.get("format", ""), column.get("jsonPath", "")
    if not kind:
        found.append(field_required(f"{where}.type", f"must be one of {','.join(_COLUMN_TYPES)}"))
    elif kind not in _COLUMN_TYPES:
        found.append(field_invalid(f"{where}.type", kind, f"must be one of {','.join(_COLUMN_TYPES)}"))
    if form and form not in _COLUMN_FORMATS:
        found.append(field_invalid(f"{where}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    return found + (_simple_path(path, f"{where}.JSONPath") if path else [field_required(f"{where}.JSONPath")])


def _selectable_fields(fields: list[Json], schema: Json, where: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[str] = set()
    for i, selectable in enumerate(fields):
        field, given = f"{where}[{i}].jsonPath", selectable.get("jsonPath", "")
        if not given:
            found.append(field_required(field))
            continue
        try:
            path, leaf = resolved_path(given, schema, brackets=False)
        except PathError as err:
            found.append(field_invalid(field, given, f"is an invalid path: {err}"))
            continue
        found += _selectable(given, leaf, field)
        if path in seen:
            found.append(field_duplicate(field, given))
        seen.add(path)
    if len(seen) > _MOST_SELECTABLE:
        found.append(field_too_many(where, len(seen), _MOST_SELECTABLE))
    return found


def _selectable(given: str, schema: Json, field: str) -> list[FieldError]:
    found = []
    if given[1:].partition(".")[0] == "metadata":
        found.append(field_invalid(field, given, "must not point to fields in metadata"))
    if schema.get("type") not in ("string", "boolean", "integer"):
        text = "must point to a field of type string, boolean or integer. "
        text += "Enum string fields and strings with formats are allowed."
        found.append(field_invalid(field, given, text))
    return found


def _conversion(conversion: Json | None) -> list[FieldError]:
    if conversion is None:
        return []
    found = _choice(conversion.get("strategy"), "spec.conversion.strategy", ["None", "Webhook"])
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    where, versions = "spec.conversion.webhookClientConfig", "spec.conversion.conversionReviewVersions"
    if conversion.get("strategy") != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        return found + [field_forbidden(field, text)
                        for field, value in ((where, client), (versions, reviews)) if value]  # fmt: skip
    if client is None:
        found.append(field_required(where, "required when strategy is set to Webhook"))
    else:
        found += webhooks.client_config(client, where)
    return found + _review_versions(reviews, versions)


def _review_versions(versions: list[str], field: str) -> list[FieldError]:
    if not versions:
        return [field_required(field)]
    found = []
    for i, version in enumerate(versions):
        if version in versions[:i]:
            found.append(field_invalid(f"{field}[{i}]", version, "duplicate version"))
        else:
            found += [field_invalid(f"{field}[{i}]", version, text) for text in is_dns1035_label(version)]
    if not set(versions) & set(_REVIEWS):
        found.append(field_invalid(field, versions, f"must include at least one of {', '.join(_REVIEWS)}"))
    return found


def _approval(obj: Json, group: str) -> list[FieldError]:
    if not crd.is_protected(group):
        return []
    field = f"metadata.annotations[{crd.APPROVED}]"
    reason, message = crd.approval_state(obj)
    if reason == "MissingAnnotation":
        return [field_required(field, message)]
    if reason == "InvalidAnnotation":
        return [field_invalid(field, obj["metadata"]["annotations"][crd.APPROVED], message)]
    return []


def _update(spec: Json, old: Json) -> list[FieldError]:
    text = "field is immutable"
    found = [
        field_invalid(f"spec.{name}", spec.get(name), text)
        for name in ("group", "scope")
        if spec.get(name) != old.get(name)
    ]
    names, before = spec.get("names") or {}, old.get("names") or {}
    return found + [
        field_invalid(f"spec.names.{name}", names.get(name), text)
        for name in ("plural", "kind")
        if names.get(name) != before.get(name)
    ]


def _stored_versions(stored: list[str] | None, versions: list[Json]) -> list[FieldError]:
    field = "status.storedVersions"
    if not stored:
        return [field_invalid(field, stored or None, "must have at least one stored version")]
    found = [
        field_invalid(field, stored, f"must have the storage version {version['name']}")
        for version in versions
        if version.get("storage") and version.get("name") not in stored
    ]
    kept = {version.get("name") for version in versions}
    return found + [_missing(name, f"{field}[{i}]") for i, name in enumerate(stored) if name not in kept]


def _missing(name: str, field: str) -> FieldError:
    text = f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
    text += f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
    return field_invalid(field, name, f"{text}status.storedVersions")
