"""Validation of sources of a container's environment and files: fields of the pod, ConfigMaps, Secrets."""

from __future__ import annotations

from collections.abc import Sequence

from clientgo.apimachinery.util.validation import is_config_map_key, is_qualified_name, is_relaxed_env_var_name
from clientgo.testing.apiserver.kinds.validation.fields import each, named, required
from clientgo.testing.apiserver.wire.errors import FieldError, field_invalid, field_not_supported, field_required
from clientgo.testing.apiserver.wire.jsonio import Json

# All fields of the downward API. Each use allows some of them.
_LABELS = {
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
}  # fmt: skip
_ENVIRONMENT = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_MAPS = ("metadata.annotations", "metadata.labels")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def object_field(reference: Json, field: str, allowed: Sequence[str], *, with_maps: bool = False) -> list[FieldError]:
    """Validate a reference to a field of the pod, or to one of its labels or annotations."""
    errors = required(reference, field, "apiVersion")
    if errors:
        return errors
    path = reference.get("fieldPath", "")
    if not path:
        return [field_required(f"{field}.fieldPath")]
    base, bracket, rest = path.partition("['")
    if bracket and rest.endswith("']") and base in _MAPS:
        key = rest[:-2]
        return named(key.lower() if base == "metadata.annotations" else key, field, is_qualified_name)
    if path not in _LABELS:
        text = f"error converting fieldPath: field label not supported: {path}"
        return [field_invalid(f"{field}.fieldPath", path, text)]
    if path not in allowed and not (with_maps and path in _MAPS):
        return [field_not_supported(f"{field}.fieldPath", path, sorted(allowed))]
    return []


def environment(variables: list[Json], field: str) -> list[FieldError]:
    return each(variables, field, _variable)


def _variable(variable: Json, field: str) -> list[FieldError]:
    name = variable.get("name", "")
    errors = named(name, f"{field}.name", is_relaxed_env_var_name) if name else [field_required(f"{field}.name")]
    return errors + _value_from(variable, f"{field}.valueFrom")


def _value_from(variable: Json, field: str) -> list[FieldError]:
    sources = variable.get("valueFrom")
    if sources is None:
        return []
    errors = []
    given = [name for name in _SOURCES if sources.get(name) is not None]
    for name in given:
        where = f"{field}.{name}"
        if name == "fieldRef":
            errors += object_field(sources[name], where, _ENVIRONMENT)
        elif name == "resourceFieldRef":
            errors += required(sources[name], where, "resource")
        elif name == "fileKeyRef":
            errors += required(sources[name], where, "volumeName", "path", "key")
        else:
            errors += _key_selector(sources[name], where)
    if not given:
        choices = ", ".join(f"`{name}`" for name in _SOURCES[:-1])
        errors.append(field_invalid(field, "", f"must specify one of: {choices} or `{_SOURCES[-1]}`"))
    elif variable.get("value"):
        errors.append(field_invalid(field, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        errors.append(field_invalid(field, "", "may not have more than one field specified at a time"))
    return errors


def _key_selector(reference: Json, field: str) -> list[FieldError]:
    key = reference.get("key", "")
    errors = required(reference, field, "name")
    return errors + (named(key, f"{field}.key", is_config_map_key) if key else [field_required(f"{field}.key")])


def environment_from(sources: list[Json], field: str) -> list[FieldError]:
    return each(sources, field, _all_of)


def _all_of(source: Json, field: str) -> list[FieldError]:
    """Validate an entry of envFrom, which refers to a whole ConfigMap or Secret."""
    prefix = source.get("prefix", "")
    errors = named(prefix, f"{field}.prefix", is_relaxed_env_var_name) if prefix else []
    given = [name for name in ("configMapRef", "secretRef") if source.get(name) is not None]
    for name in given:
        errors += required(source[name], f"{field}.{name}", "name")
    if not given:
        errors.append(field_invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
    elif len(given) > 1:
        errors.append(field_invalid(field, "", "may not have more than one field specified at a time"))
    return errors
