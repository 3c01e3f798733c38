"""Validation of the volumes of pods and of PersistentVolumes, which share most sources."""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery.util.validation import is_dns1123_label
from clientgo.testing.apiserver.kinds.validation.fields import each, named, required
from clientgo.testing.apiserver.kinds.validation.references import object_field
from clientgo.testing.apiserver.kinds.validation.resources import parse
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_HOST_PATH_TYPES = [
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
]  # fmt: skip
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32
_DOWNWARD = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")


def volumes(items: list[Json], field: str) -> tuple[list[FieldError], set[str]]:
    """Validate a pod's volumes. Returns the errors and the names of the volumes that can be mounted."""
    errors: list[FieldError] = []
    known: set[str] = set()
    for i, volume in enumerate(items):
        where, name = f"{field}[{i}]", volume.get("name", "")
        wrong = source(volume, where)
        wrong += named(name, f"{where}.name", is_dns1123_label) if name else [field_required(f"{where}.name")]
        if name in known:
            wrong.append(field_duplicate(f"{where}.name", name))
        if not wrong:
            known.add(name)
        errors += wrong
    return errors, known


def source(volume: Json, field: str) -> list[FieldError]:
    """Validate that a volume has exactly one source, and validate that source."""
    given = [name for name in _ORDER if volume.get(name) is not None]
    given += [name for name in volume if name not in _ORDER and name != "name" and volume[name] is not None]
    if not given:
        return [field_required(field, "must specify a volume type")]
    check = _SOURCES.get(given[0])
    errors = check(volume[given[0]], f"{field}.{given[0]}") if check is not None else []
    return errors + [
        field_forbidden(f"{field}.{name}", "may not specify more than 1 volume type") for name in given[1:]
    ]


def _empty_dir(value: Json, field: str) -> list[FieldError]:
    limit = value.get("sizeLimit")
    if limit is not None and parse(limit).sign() < 0:
        return [field_forbidden(f"{field}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def host_path(value: Json, field: str) -> list[FieldError]:
    path = value.get("path", "")
    if not path:
        return [field_required(f"{field}.path")]
    errors = _no_backsteps(path, f"{field}.path")
    if value.get("type") not in (None, *_HOST_PATH_TYPES):
        errors.append(field_not_supported(f"{field}.type", value["type"], _HOST_PATH_TYPES))
    return errors


def nfs(value: Json, field: str) -> list[FieldError]:
    errors = required(value, field, "server", "path")
    if not value.get("path", "").startswith("/"):
        errors.append(field_invalid(f"{field}.path", value.get("path", ""), "must be an absolute path"))
    return errors


def _secret(value: Json, field: str) -> list[FieldError]:
    return required(value, field, "secretName") + _files(value, field)


def _config_map(value: Json, field: str) -> list[FieldError]:
    return required(value, field, "name") + _files(value, field)


def _files(value: Json, field: str) -> list[FieldError]:
    return _mode(value, field, "defaultMode") + each(value.get("items"), f"{field}.items", _key_to_path)


def _mode(value: Json, field: str, name: str) -> list[FieldError]:
    mode = value.get(name)
    return [] if mode is None or 0 <= mode <= 0o777 else [field_invalid(f"{field}.{name}", mode, _MODE_TEXT)]


def _key_to_path(item: Json, field: str) -> list[FieldError]:
    return required(item, field, "key", "path") + _inner_path(item.get("path", ""), field) + _mode(item, field, "mode")


def _claim(value: Json, field: str) -> list[FieldError]:
    return required(value, field, "claimName")


def _ephemeral(value: Json, field: str) -> list[FieldError]:
    return required(value, field, "volumeClaimTemplate")


def _downward(value: Json, field: str) -> list[FieldError]:
    # The items stand at the volume, as far as errors go.
    return _mode(value, field, "defaultMode") + [
        error for item in value.get("items") or () for error in _downward_item(item, field)
    ]


def _downward_item(item: Json, field: str) -> list[FieldError]:
    errors = required(item, field, "path") + _inner_path(item.get("path", ""), field)
    if item.get("fieldRef") is not None:
        errors += object_field(item["fieldRef"], f"{field}.fieldRef", _DOWNWARD, with_maps=True)
        if item.get("resourceFieldRef") is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(field_invalid(field, "resource", text))
    elif item.get("resourceFieldRef") is None:
        errors.append(field_required(field, "one of fieldRef and resourceFieldRef is required"))
    return errors + _mode(item, field, "mode")


def _projected(value: Json, field: str) -> list[FieldError]:
    errors = []
    for i, one in enumerate(value.get("sources") or ()):
        errors += _projection(one, f"{field}.sources[{i}]", field)
    return errors + _mode(value, field, "defaultMode")


def _projection(one: Json, where: str, field: str) -> list[FieldError]:
    errors = []
    for name in ("secret", "configMap"):
        if one.get(name) is not None:
            errors += required(one[name], f"{where}.{name}", "name")
            errors += each(one[name].get("items"), f"{where}.{name}.items", _key_to_path)
    for item in (one.get("downwardAPI") or {}).get("items") or ():
        errors += _downward_item(item, f"{where}.downwardAPI")
    token = one.get("serviceAccountToken")
    if token is not None:
        seconds, where = token.get("expirationSeconds", 0), f"{where}.serviceAccountToken"
        if seconds < _SHORTEST_TOKEN:
            text = "may not specify a duration less than 10 minutes"
            errors.append(field_invalid(f"{where}.expirationSeconds", seconds, text))
        elif seconds > _LONGEST_TOKEN:
            text = "may not specify a duration larger than 2^32 seconds"
            errors.append(field_invalid(f"{where}.expirationSeconds", seconds, text))
        if not token.get("path"):
            errors.append(field_required(f"{field}.path"))
    return errors


def _inner_path(path: str, field: str) -> list[FieldError]:
    """Validate a relative path inside a volume. It must not contain a `..` segment or start with `..`."""
    if path.startswith("/"):
        return [field_invalid(f"{field}.path", path, "must be a relative path")]
    errors = _no_backsteps(path, f"{field}.path")
    if path.startswith("..") and not path.startswith("../") and path != "..":
        errors.append(field_invalid(f"{field}.path", path, "must not start with '..'"))
    return errors


def _no_backsteps(path: str, field: str) -> list[FieldError]:
    return [field_invalid(field, path, "must not contain '..'")] if ".." in path.split("/") else []


def _empty(value: Json, field: str) -> list[FieldError]:
    return []


# Checks in Kubernetes' order. The first source that is set is validated, and the others are errors.
_SOURCES: dict[str, Callable[[Json, str], list[FieldError]]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _empty,
    "gcePersistentDisk": _empty,
    "awsElasticBlockStore": _empty,
    "secret": _secret,
    "nfs": nfs,
    "iscsi": _empty,
    "persistentVolumeClaim": _claim,
    "downwardAPI": _downward,
    "configMap": _config_map,
    "projected": _projected,
    "ephemeral": _ephemeral,
    "csi": _empty,
    "image": _empty,
}
_ORDER = tuple(_SOURCES)
