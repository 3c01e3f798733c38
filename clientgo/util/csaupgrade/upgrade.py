"""Conversion of managed fields from client-side to server-side apply. Mirrors util/csaupgrade/upgrade.go.

A set of fields is a `managedfields.FieldSet`: Python's set of paths. Differences from Go: several client-side managers
are upgraded in alphabetical order, in Go in random order; a different order of fields is not a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.util.json import encode, escape_html
from clientgo.apimachinery.util.managedfields import FieldSet, format_set, parse_set
from clientgo.util.csaupgrade.options import Option, Options

__all__ = ["find_fields_owners", "upgrade_managed_fields", "upgrade_managed_fields_patch"]

_APPLY = metav1.ManagedFieldsOperationType.MANAGED_FIELDS_OPERATION_APPLY
_UPDATE = metav1.ManagedFieldsOperationType.MANAGED_FIELDS_OPERATION_UPDATE


def find_fields_owners(
    managed_fields: Iterable[metav1.ManagedFieldsEntry], operation: str, fields: FieldSet
) -> list[metav1.ManagedFieldsEntry]:
    """Return the entries of the operation that own all of the fields. An entry with unreadable fields owns none.

    Go: csaupgrade.FindFieldsOwners.
    """
    return [entry for entry in managed_fields if entry.operation == operation and _owns(entry, fields)]


def _owns(entry: metav1.ManagedFieldsEntry, fields: FieldSet) -> bool:
    try:
        return fields <= parse_set(entry.fields_v1)
    except ValueError:
        return False


def upgrade_managed_fields(
    obj: Object, csa_manager_names: Iterable[str], ssa_manager_name: str, *opts: Option
) -> None:
    """Transfer fields that client-side managers own by Update to the Apply of another manager.

    Changes `obj`. This cannot be undone. Raises ValueError for unreadable fields. Go: csaupgrade.UpgradeManagedFields.
    """
    accessor = meta.accessor(obj)
    upgraded = _upgraded_by_all(accessor.get_managed_fields(), csa_manager_names, ssa_manager_name, opts)
    accessor.set_managed_fields(upgraded)


def upgrade_managed_fields_patch(
    obj: Object, csa_manager_names: Iterable[str], ssa_manager_name: str, *opts: Option
) -> bytes | None:
    """Return a JSON patch that has the effect of `upgrade_managed_fields` on the server, or None without a change.

    The server responds with a conflict if the object has changed since. Raises ValueError for unreadable fields.
    Go: csaupgrade.UpgradeManagedFieldsPatch.
    """
    accessor = meta.accessor(obj)
    before = _documents(accessor.get_managed_fields())
    after = _documents(_upgraded_by_all(accessor.get_managed_fields(), csa_manager_names, ssa_manager_name, opts))
    if before == after:
        return None
    patch = [
        {"op": "replace", "path": "/metadata/managedFields", "value": after or None},
        # "replace" instead of "test", so that the storage responds with a conflict, not the server with an invalid
        # request.
        {"op": "replace", "path": "/metadata/resourceVersion", "value": accessor.get_resource_version()},
    ]
    return escape_html(encode(patch)).encode()


def _documents(entries: Iterable[metav1.ManagedFieldsEntry]) -> list[dict[str, Any]]:
    return [entry.to_dict() for entry in entries]


def _upgraded_by_all(
    entries: list[metav1.ManagedFieldsEntry],
    csa_manager_names: Iterable[str],
    ssa_manager_name: str,
    opts: Sequence[Option],
) -> list[metav1.ManagedFieldsEntry]:
    options = Options()
    for opt in opts:
        opt(options)
    for csa_manager_name in sorted(csa_manager_names):
        entries = _upgraded(entries, csa_manager_name, ssa_manager_name, options.subresource)
    return entries


def _upgraded(
    entries: list[metav1.ManagedFieldsEntry], csa_manager_name: str, ssa_manager_name: str, subresource: str
) -> list[metav1.ManagedFieldsEntry]:
    """Return the entries without those of the client-side manager. Changes the entries in place."""
    updates = [
        entry for entry in entries if _is_of(entry, csa_manager_name, _UPDATE) and entry.subresource == subresource
    ]
    applies = [
        entry for entry in entries if _is_of(entry, ssa_manager_name, _APPLY) and entry.subresource == subresource
    ]
    if not applies and not updates:
        return entries
    if applies:
        target = applies[0]
    else:
        # The most recent entry comes first. It is not an update any more, so it is neither merged nor removed below.
        target = updates.pop(0)
        target.operation, target.manager = _APPLY, ssa_manager_name
    fields = _fields(target)
    same_version = next((entry for entry in updates if entry.api_version == target.api_version), None)
    if same_version is not None:
        fields = fields | _fields(same_version)
    target.fields_v1 = format_set(fields)
    return [entry for entry in entries if all(entry is not update for update in updates)]


def _is_of(entry: metav1.ManagedFieldsEntry, manager: str, operation: str) -> bool:
    return entry.manager == manager and entry.operation == operation


def _fields(entry: metav1.ManagedFieldsEntry) -> FieldSet:
    try:
        return parse_set(entry.fields_v1)
    except ValueError as err:
        raise ValueError(f"failed to convert fields to set: {err}") from err
