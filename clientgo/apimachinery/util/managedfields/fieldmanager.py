"""Who owns which field: updates and server-side apply on plain documents, conflicts, metadata.managedFields.

Mirrors k8s.io/apimachinery/pkg/util/managedfields (fieldmanager.go and its internal package). Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from clientgo.apimachinery.runtime.view import copy_json
from clientgo.apimachinery.util.managedfields.fieldpath import (
    FieldSet,
    NoPathError,
    Path,
    format_set,
    parse_set,
    path_text,
)
from clientgo.apimachinery.util.managedfields.schema import Node
from clientgo.apimachinery.util.managedfields.typed import Comparison, all_paths, compare, merge, remove
from clientgo.golang.strconv import quote

MAX_UPDATE_MANAGERS = 10
_ANCIENT = "ancient-changes"
_META = ("f:metadata",)
# What the server owns itself and no manager is shown to own.
_STRIPPED = {
    ("f:apiVersion",),
    ("f:kind",),
    _META,
    *(
        (*_META, f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    ),
}


class Writer(NamedTuple):
    """Who writes: the manager, the version it speaks, and the subresource it writes to."""

    manager: str
    api_version: str
    subresource: str = ""


class ConflictError(Exception):
    """An apply without force would take fields from others.

    `causes` has (field, message) for each, in the order a server lists them. Go: merge.Conflicts.
    """

    def __init__(self, message: str, causes: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.causes = causes


class Managers:
    """The managedFields of one object, decoded: entries by (manager, operation, apiVersion, subresource)."""

    Key = tuple[str, str, str, str]

    def __init__(self, entries: Any) -> None:
        self.sets: dict[Managers.Key, FieldSet] = {}
        self.times: dict[Managers.Key, str] = {}
        for entry in entries or ():
            if not isinstance(entry, dict) or (not entry.get("manager") and not entry.get("operation")):
                continue
            key = (
                entry.get("manager", ""),
                entry.get("operation", ""),
                entry.get("apiVersion", ""),
                entry.get("subresource", ""),
            )
            self.sets[key] = parse_set(entry.get("fieldsV1"))
            self.times[key] = entry.get("time") or ""

    def __repr__(self) -> str:
        return f"<Managers {[key[0] for key in self.sets]}>"

    def encode(self) -> list[dict[str, Any]]:
        """Entries in the order of the real server."""
        keys = [key for key, paths in self.sets.items() if paths]
        keys.sort(key=lambda key: (key[1], self.times.get(key, ""), key[0], key[2], key[3]))
        return [self._entry(key) for key in keys]

    def _entry(self, key: Managers.Key) -> dict[str, Any]:
        manager, operation, api_version, subresource = key
        entry: dict[str, Any] = {"manager": manager, "operation": operation, "apiVersion": api_version}
        if self.times.get(key):
            entry["time"] = self.times[key]
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = format_set(self.sets[key])
        if subresource:
            entry["subresource"] = subresource
        return entry

    def clone(self) -> Managers:
        out = Managers(())
        out.sets = {key: set(paths) for key, paths in self.sets.items()}
        out.times = dict(self.times)
        return out

    def cap(self) -> None:
        """Fold the oldest Update managers into one when there are too many."""
        updates = sorted((key for key in self.sets if key[1] == "Update"), key=lambda key: self.times.get(key, ""))
        surplus = len(updates) - MAX_UPDATE_MANAGERS
        if surplus <= 0:
            return
        known = [key for key in updates if key[0] == _ANCIENT]
        old = [key for key in updates if key[0] != _ANCIENT]
        # The first time the common entry itself takes a place.
        for key in old[: surplus if known else surplus + 1]:
            bucket = (_ANCIENT, "Update", key[2], "")
            self.sets[bucket] = self.sets.get(bucket, set()) | self.sets.pop(key)
            self.times[bucket] = self.times.pop(key, "")


def validate_managed_fields(encoded_managed_fields: Sequence[Any]) -> None:
    """Raise ValueError for entries that cannot be read: `Managers` would leave them out, or read less than they say.

    `encoded_managed_fields` as in JSON. Go: managedfields.ValidateManagedFields.
    """
    for number, entry in enumerate(encoded_managed_fields):
        if entry.get("operation") not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        fields_type = entry.get("fieldsType")
        if not fields_type:
            raise ValueError(f"missing fieldsType in managed fields entry {number}")
        if fields_type != "FieldsV1":
            raise ValueError(f"invalid fieldsType {quote(fields_type)} in managed fields entry {number}")
        _validate_fields(entry.get("fieldsV1") or {}, number)


def _validate_fields(trie: Any, number: int) -> None:
    if not isinstance(trie, dict):
        raise ValueError(f"error decoding managed fields entry {number}: not an object")
    for name, inner in trie.items():
        if name != "." and name[:2] not in ("f:", "k:", "v:", "i:"):
            raise ValueError(f"error decoding managed fields entry {number}: unrecognized key {quote(name)}")
        _validate_fields(inner, number)


def updated(
    node: Node,
    live: dict[str, Any],
    new: dict[str, Any],
    entries: Any,
    writer: Writer,
    now: str,
    ignored: Collection[str] = (),
) -> list[dict[str, Any]]:
    """The managedFields after an update. `ignored`: the top-level fields that this request cannot write.

    None of an object that has what no path leads to.
    """
    try:
        diff = _without_system_fields(compare(node, live, new))
    except NoPathError:
        return []
    if ignored:
        heads = {f"f:{name}" for name in ignored}
        for paths in (diff.added, diff.modified, diff.removed):
            paths.difference_update([path for path in paths if path[0] in heads])
    before = Managers(entries)
    after = before.clone()
    if diff:
        key = (writer.manager, "Update", writer.api_version, writer.subresource)
        changed = diff.added | diff.modified
        for other in after.sets:
            if other != key:
                after.sets[other] -= changed
            after.sets[other] -= diff.removed
        if changed:
            after.sets[key] = (after.sets.get(key) or set()) | changed
            # Whoever loses fields by that keeps their time.
            after.times[key] = now
        after.cap()
    return after.encode()


def applied(
    node: Node,
    live: dict[str, Any],
    config: dict[str, Any],
    entries: Any,
    writer: Writer,
    now: str,
    *,
    force: bool,
    created: bool,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Server-side apply: the merged object and its managedFields. Raises ConflictError unless `force`."""
    before = Managers(entries)
    if not created and not before.sets:
        everything: FieldSet = set()
        all_paths(node, live, (), everything, containers=True)
        first = "before-first-apply", "Update", writer.api_version, ""
        before.sets[first], before.times[first] = everything - _STRIPPED, now
    after = before.clone()
    key = (writer.manager, "Apply", writer.api_version, writer.subresource)
    owned: FieldSet = set()
    all_paths(node, config, (), owned, containers=False)
    owned -= _STRIPPED
    if writer.subresource:
        owned = {path for path in owned if path[0] != "f:spec" and path[0] != "f:metadata"}
    previous = after.sets.get(key) or set()
    after.sets[key] = owned

    merged = merge(node, live, config)
    kept: FieldSet = set().union(*after.sets.values())
    gone = {path for path in previous - kept if not _owned_below(path, kept)}
    if gone:
        merged = remove(node, merged, gone)
    diff = compare(node, live, merged)
    if diff:
        # An apply that changes nothing leaves the time, of a new entry none at all.
        after.times[key] = now
    diff = _without_system_fields(diff)
    conflicts = [] if created else _conflicts(after, key, diff.added | diff.modified)
    if conflicts and not force:
        raise _conflict_error(conflicts)
    for other, clash in conflicts:
        after.sets[other] = after.sets[other] - clash
    for other in after.sets:
        if other != key:
            after.sets[other] -= diff.removed
    return copy_json(merged), after.encode()


def _without_system_fields(diff: Comparison) -> Comparison:
    return diff.without(_STRIPPED)


def _owned_below(path: Path, kept: FieldSet) -> bool:
    size = len(path)
    return any(other[:size] == path for other in kept)


def _conflicts(managers: Managers, key: Managers.Key, changed: FieldSet) -> list[tuple[Managers.Key, FieldSet]]:
    """Who else owns what has changed."""
    clashes = ((other, paths & changed) for other, paths in managers.sets.items() if other != key)
    return [(other, clash) for other, clash in clashes if clash]


def _conflict_error(conflicts: list[tuple[Managers.Key, FieldSet]]) -> ConflictError:
    """The text is grouped by manager, as the real server does it."""
    causes: list[tuple[str, str]] = []
    by_manager: list[str] = []
    for key, paths in sorted(conflicts):
        who = f'"{key[0]}"'
        if key[3]:
            who += f' with subresource "{key[3]}"'
        if key[1] == "Update":
            who += f" using {key[2]}"
        shown = [path_text(path) for path in sorted(paths)]
        causes += [(text, f"conflict with {who}") for text in shown]
        by_manager.append("\n- ".join([f"conflicts with {who}:", *shown]))
    if len(causes) == 1:
        field, who = causes[0]
        return ConflictError(f"Apply failed with 1 conflict: {who}: {field}", causes)
    return ConflictError(f"Apply failed with {len(causes)} conflicts: " + "\n".join(by_manager), causes)
