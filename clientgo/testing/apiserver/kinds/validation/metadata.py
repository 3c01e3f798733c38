"""Validation of object metadata. Mirrors apimachinery's api/validation package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clientgo.apimachinery.util.validation import (
    is_dns1123_label,
    is_dns1123_subdomain,
    is_qualified_name,
)
from clientgo.testing.apiserver.kinds.object_meta import check_annotations, check_labels
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource


_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def path_segment(name: str) -> list[str]:
    """Return messages for a name that cannot be a path segment. RBAC names have no other restrictions."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def _any_name(name: str) -> list[str]:
    return []


# Resources whose names Go does not validate.
_UNCHECKED_NAMES = {"policy/poddisruptionbudgets"}
_LABEL_NAMED = {"/namespaces", "/services"}
_RBAC = "rbac.authorization.k8s.io/"


def name_check(resource: Resource) -> Callable[[str], list[str]]:
    storage = resource.storage
    if storage in _LABEL_NAMED:
        return is_dns1123_label
    if storage.startswith(_RBAC) or (storage == "/events" and not resource.group):
        return path_segment
    return is_dns1123_subdomain


def metadata(resource: Resource, meta: Json) -> list[FieldError]:
    """Validate ObjectMeta for a create or update."""
    errors: list[FieldError] = []
    name = meta.get("name", "")
    check = name_check(resource)
    if resource.storage in _UNCHECKED_NAMES and name:
        check = _any_name
    generate = meta.get("generateName", "")
    if generate:
        # Generated characters follow the prefix, so it may end with a dash.
        masked = f"{generate[:-1]}a" if generate.endswith("-") and len(generate) > 1 else generate
        errors += [field_invalid("metadata.generateName", generate, text) for text in check(masked)]
    if not name:
        errors.append(field_required("metadata.name", "name or generateName is required"))
    else:
        errors += [field_invalid("metadata.name", name, text) for text in check(name)]
    errors += check_labels(meta.get("labels"), "metadata.labels")
    errors += check_annotations(meta.get("annotations"), "metadata.annotations")
    errors += finalizers(meta.get("finalizers"))
    errors += owner_references(meta.get("ownerReferences"))
    return errors + _kube_finalizers(resource, meta.get("finalizers"))


def finalizers(values: list[str] | None) -> list[FieldError]:
    errors = []
    for value in values or ():
        errors += [field_invalid("metadata.finalizers", value, text) for text in is_qualified_name(value)]
    found = set(values or ())
    if {"orphan", "foregroundDeletion"} <= found:
        errors.append(
            field_invalid("metadata.finalizers", values, "finalizer orphan and foregroundDeletion cannot be both set")
        )
    return errors


def finalizer_warnings(values: list[str] | None) -> list[str]:
    return [
        f'metadata.finalizers: "{value}": prefer a domain-qualified finalizer name to avoid accidental conflicts with '
        "other finalizer writers"
        for value in values or ()
        if "/" not in value and value not in _STANDARD_FINALIZERS
    ]


def owner_references(references: list[Json] | None) -> list[FieldError]:
    errors = []
    controllers = 0
    for reference in references or ():
        # Go's path has no index here.
        field = "metadata.ownerReferences"
        api_version = reference.get("apiVersion", "")
        if not api_version.rpartition("/")[2] or api_version.count("/") > 1:
            errors.append(field_invalid(f"{field}.apiVersion", api_version, "version must not be empty"))
        for name in ("kind", "name", "uid"):
            if not reference.get(name):
                errors.append(field_invalid(f"{field}.{name}", "", "must not be empty"))
        if api_version == "v1" and reference.get("kind") == "Event":
            text = "/v1, Kind=Event is disallowed from being an owner"
            errors.append(field_invalid(field, dict(reference), text))
        if reference.get("controller"):
            controllers += 1
    if controllers > 1:
        shown = [dict(reference) for reference in references or ()]
        errors.append(
            field_invalid(
                "metadata.ownerReferences",
                shown,
                'Only one reference can have Controller set to true. Found "true" in references for '
                + " and ".join(f"{r.get('kind')}/{r.get('name')}" for r in shown if r.get("controller")),
            )
        )
    return errors


def metadata_update(resource: Resource, old: Json, new: Json, subresource: str = "") -> list[FieldError]:
    """Validate ObjectMeta for an update.

    Like kube-apiserver, reports an error once for each of its validations that finds it.
    """
    full = metadata(resource, new) if subresource != "status" else []
    always = _changes(old, new)
    if full:
        always += check_labels(new.get("labels"), "metadata.labels")
        always += check_annotations(new.get("annotations"), "metadata.annotations")
        always += owner_references(new.get("ownerReferences"))
    own = always + _kube_finalizers(resource, new.get("finalizers"))
    found = _generic_only(full) + always + own
    return found + full if resource.storage in _CHECKED_WHOLE else found


# Resources for which Go validates the whole new object again in an update.
_CHECKED_WHOLE = {
    "/configmaps",
    "/limitranges",
    "/persistentvolumeclaims",
    "/pods",
    "/secrets",
    "/serviceaccounts",
    "/services",
}


def _generic_only(found: list[FieldError]) -> list[FieldError]:
    """Return the errors without those about finalizers. Only validation of kube-apiserver's own kinds reports these."""
    return [error for error in found if not error.field.startswith("metadata.finalizers[")]


def _changes(old: Json, new: Json) -> list[FieldError]:
    errors = []
    if old.get("deletionTimestamp"):
        known = {*(old.get("finalizers") or ())}
        added = [each for each in new.get("finalizers") or () if each not in known]
        if added:
            detail = (
                f"no new finalizers can be added if the object is being deleted, found new finalizers {_go_list(added)}"
            )
            errors.append(field_forbidden("metadata.finalizers", detail))
    for name in ("name", "namespace", "uid"):
        if new.get(name, "") != old.get(name, ""):
            errors.append(field_invalid(f"metadata.{name}", new.get(name, ""), "field is immutable"))
    for name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if new.get(name) != old.get(name):
            errors.append(field_invalid(f"metadata.{name}", new.get(name), "field is immutable"))
    return errors


# Served by apiserver's own registries, which check finalizers as those of custom resources.
_GENERIC_GROUPS = {"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}


def _kube_finalizers(resource: Resource, values: list[str] | None) -> list[FieldError]:
    """Go: core/validation.validateKubeFinalizerName."""
    if resource.custom or resource.group in _GENERIC_GROUPS:
        return []
    text = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        field_invalid(f"metadata.finalizers[{i}]", value, text)
        for i, value in enumerate(values or ())
        if "/" not in value and value not in _STANDARD_FINALIZERS
    ]


def _go_list(values: list[str]) -> str:
    return "[]string{" + ", ".join(f'"{value}"' for value in values) + "}"
