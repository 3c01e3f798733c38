"""Validation of PersistentVolumes, their claims, and StorageClasses."""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.validation import is_dns1123_subdomain, is_qualified_name
from clientgo.testing.apiserver.kinds.validation import pods, volumes
from clientgo.testing.apiserver.kinds.validation.fields import (
    choice,
    difference,
    each,
    immutable,
    label_selector,
    named,
    required,
)
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

_ACCESS = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
_MODES = ["Block", "Filesystem"]
# Fields of a volume's spec that are not its source.
_NOT_SOURCE = {
    "capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions",
    "volumeMode", "nodeAffinity", "volumeAttributesClassName",
}  # fmt: skip
_CLAIM_TEXT = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
)


def _positive(amount: Any, field: str) -> list[FieldError]:
    return [] if parse(amount).sign() > 0 else [field_invalid(field, amount, "must be greater than zero")]


def _access(modes: list[str], field: str) -> list[FieldError]:
    errors = [field_not_supported(field, mode, _ACCESS) for mode in modes if mode not in _ACCESS]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        errors.append(field_forbidden(field, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _source(spec: Json) -> Json:
    return {name: value for name, value in spec.items() if name not in _NOT_SOURCE}


def volume(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = required(spec, "spec", "accessModes") + _access(spec.get("accessModes") or [], "spec.accessModes")
    capacity = spec.get("capacity")
    if not capacity:
        errors.append(field_required("spec.capacity"))
    if list(capacity or ()) != ["storage"]:
        errors.append(field_not_supported("spec.capacity", capacity or None, ["storage"]))
    for name, amount in (capacity or {}).items():
        errors += _positive(amount, f"spec.capacity[{name}]")
    errors += choice(spec, "spec", "persistentVolumeReclaimPolicy", ["Delete", "Recycle", "Retain"])
    affinity = (spec.get("nodeAffinity") or {}).get("required")
    if spec.get("nodeAffinity") is not None:
        where = "spec.nodeAffinity.required"
        errors += [field_required(where, "must specify required node constraints")] if affinity is None else []
        errors += pods.node_selector(affinity, where) if affinity is not None else []
    errors += volumes.source(_source(spec), "spec")
    if (spec.get("hostPath") or {}).get("path") == "/" and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        errors.append(
            field_forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
        )
    if spec.get("storageClassName"):
        errors += named(spec["storageClassName"], "spec.storageClassName", is_dns1123_subdomain)
    return errors + choice(spec, "spec", "volumeMode", _MODES)


def volume_update(obj: Json, old: Json) -> list[FieldError]:
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    errors = []
    if _source(new_spec) != _source(old_spec):
        text = "spec.persistentvolumesource is immutable after creation\n"
        errors.append(
            field_forbidden("spec.persistentvolumesource", text + difference(_source(old_spec), _source(new_spec)))
        )
    errors += immutable(new_spec.get("volumeMode"), old_spec.get("volumeMode"), "volumeMode")
    if old_spec.get("nodeAffinity") is not None:
        errors += immutable(new_spec.get("nodeAffinity"), old_spec["nodeAffinity"], "nodeAffinity")
    return errors


def claim(obj: Json) -> list[FieldError]:
    return claim_spec(obj.get("spec") or {}, "spec")


def claim_spec(spec: Json, field: str) -> list[FieldError]:
    errors = []
    if not spec.get("accessModes"):
        errors.append(field_required(f"{field}.accessModes", "at least 1 access mode is required"))
    errors += label_selector(spec.get("selector"), f"{field}.selector")
    errors += _access(spec.get("accessModes") or [], f"{field}.accessModes")
    wanted = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if wanted is None:
        errors.append(field_required(f"{field}.resources[storage]"))
    else:
        errors += _positive(wanted, f"{field}.resources[storage]")
    if spec.get("storageClassName"):
        errors += named(spec["storageClassName"], f"{field}.storageClassName", is_dns1123_subdomain)
    errors += choice(spec, field, "volumeMode", _MODES)
    for name in ("dataSource", "dataSourceRef"):
        if spec.get(name) is not None:
            errors += _data_source(spec[name], f"{field}.{name}")
    return errors


def _data_source(source: Json, field: str) -> list[FieldError]:
    errors = required(source, field, "name", "kind")
    if not source.get("apiGroup") and source.get("kind") != "PersistentVolumeClaim":
        text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(field_invalid(f"{field}.kind", source.get("kind", ""), text))
    return errors


def claim_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate an update of a PersistentVolumeClaim.

    A bound claim may change resources and volumeAttributesClassName; a smaller request must be above the capacity in
    the status. An update may set volumeName and storageClassName while they are unset. Everything else is immutable.
    """
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    bound = (old.get("status") or {}).get("phase") == "Bound"
    after, before = _fixed_claim(new_spec, bound), _fixed_claim(old_spec, bound)
    if not old_spec.get("volumeName"):
        after.pop("volumeName", None)
    if old_spec.get("storageClassName") is None:
        after.pop("storageClassName", None)
    errors = [field_forbidden("spec", _CLAIM_TEXT + difference(old_spec, new_spec))] if after != before else []
    smaller = parse(_requested(new_spec)).cmp(parse(_requested(old_spec))) < 0
    capacity = ((old.get("status") or {}).get("capacity") or {}).get("storage", "0")
    if smaller and parse(_requested(new_spec)).cmp(parse(capacity)) <= 0:
        text = "field can not be less than status.capacity"
        errors.append(field_forbidden("spec.resources.requests.storage", text))
    return errors


def _requested(spec: Json) -> str:
    return str(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))


def _fixed_claim(spec: Json, bound: bool) -> Json:
    loose = ("resources", "volumeAttributesClassName") if bound else ()
    return {name: value for name, value in spec.items() if name not in loose}


def storage_class(obj: Json) -> list[FieldError]:
    provisioner = obj.get("provisioner", "")
    errors = []
    if not provisioner:
        errors.append(field_required("provisioner"))
    else:
        errors += named(provisioner.lower(), "provisioner", is_qualified_name)
    for key in obj.get("parameters") or {}:
        if not key:
            errors.append(field_invalid("parameters", key, "field can not be empty."))
    errors += choice(obj, "", "reclaimPolicy", ["Delete", "Retain"])
    errors += choice(obj, "", "volumeBindingMode", ["Immediate", "WaitForFirstConsumer"])
    return errors + each(obj.get("allowedTopologies"), "allowedTopologies", _topology)


def _topology(term: Json, field: str) -> list[FieldError]:
    return each(term.get("matchLabelExpressions"), f"{field}.matchLabelExpressions", _topology_requirement)


def _topology_requirement(one: Json, field: str) -> list[FieldError]:
    values = one.get("values") or []
    errors = required(one, field, "values")
    for i, value in enumerate(values):
        if value in values[:i]:
            errors.append(field_duplicate(f"{field}.values[{i}]", value))
    return errors + named(one.get("key", ""), f"{field}.key", is_qualified_name)


def storage_class_update(obj: Json, old: Json) -> list[FieldError]:
    errors = []
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        errors += immutable(obj.get(name), old.get(name), name)
    return errors
