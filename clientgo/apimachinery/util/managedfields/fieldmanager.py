"""Field ownership in updates and server-side apply: conflicts, and metadata.managedFields.

Mirrors k8s.io/apimachinery/pkg/util/managedfields (fieldmanager.go and its internal package). Pure functions on plain
documents.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from clientgo.apimachinery.util.managedfields.fieldpath import (
    FieldSet,
    NoPathError,
    Path,
    format_set,
    parse_set,
    path_text,
)
from clientgo.apimachinery.util.managedfields.schema import Node
from clientgo.apimachinery.util.managedfields.typed import (
    Comparison,
    compare,
    field_set,
    merge,
    remove,
    with_named_fields,
)
from clientgo.golang.strconv import quote
from clientgo.klog.exceptions import operational_error

MAX_UPDATE_MANAGERS = 10
_ANCIENT = "ancient-changes"
_BEFORE_FIRST_APPLY = "before-first-apply"
_META = ("f:metadata",)
# Fields of the server, which no manager owns.
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
        )
    ),
}


class Writer(NamedTuple):
    """The writer of an object: its manager, the version it uses, and the subresource it writes to."""

    manager: str
    api_version: str
    subresource: str = ""


@operational_error
class ConflictError(Exception):
    """Raised when an apply without force would take fields from other managers.

    `causes` holds (field, message) for each field, in the order of a real server. Go: merge.Conflicts.
    """

    def __init__(self, message: str, causes: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.causes = causes


class Managers:
    """The managedFields of one object, decoded: entries by manager, operation, version and subresource.

    An applier is the same manager in all versions, so its key has no version; `versions` holds the entry's version.
    """

    Key = tuple[str, str, str, str]

    def __init__(self, entries: Any) -> None:
        self.sets: dict[Managers.Key, FieldSet] = {}
        self.times: dict[Managers.Key, str] = {}
        self.versions: dict[Managers.Key, str] = {}
        for entry in entries or ():
            if not isinstance(entry, dict) or (not entry.get("manager") and not entry.get("operation")):
                continue
            version = entry.get("apiVersion", "")
            key = self.key(entry.get("manager", ""), entry.get("operation", ""), version, entry.get("subresource", ""))
            self.sets[key] = parse_set(entry.get("fieldsV1"))
            self.times[key] = entry.get("time") or ""
            self.versions[key] = version

    def __repr__(self) -> str:
        return f"<Managers {[key[0] for key in self.sets]}>"

    @staticmethod
    def key(manager: str, operation: str, api_version: str, subresource: str) -> Managers.Key:
        """Return the key of a manager's entry. Go: internal.BuildManagerIdentifier."""
        return manager, operation, "" if operation == "Apply" else api_version, subresource

    def encode(self) -> list[dict[str, Any]]:
        """Return the entries in the order of a real server."""
        keys = [key for key, paths in self.sets.items() if paths]
        keys.sort(key=lambda key: (key[1], self.times.get(key, ""), key[0], self.versions[key], key[3]))
        return [self._entry(key) for key in keys]

    def _entry(self, key: Managers.Key) -> dict[str, Any]:
        manager, operation, _, subresource = key
        entry: dict[str, Any] = {"manager": manager, "operation": operation, "apiVersion": self.versions[key]}
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
        out.versions = dict(self.versions)
        return out

    def cap(self) -> None:
        """Merge the oldest Update managers of a version while there are too many; keep the only one of a version."""
        updates = [key for key in self.sets if key[1] == "Update"]
        updates.sort(key=lambda key: (self.times.get(key, ""), key))
        oldest: dict[str, Managers.Key] = {}
        for key in updates:
            if sum(each[1] == "Update" for each in self.sets) <= MAX_UPDATE_MANAGERS:
                return
            version = key[2]
            first = oldest.setdefault(version, key)
            if first != key:
                bucket = oldest[version] = (_ANCIENT, "Update", version, "")
                merged = self.sets.pop(first) | self.sets.pop(key)
                self.sets[bucket] = merged | self.sets.get(bucket, set())
                self.times.pop(first, None)
                self.times[bucket] = self.times.pop(key, "")
                self.versions[bucket] = version


def validate_managed_fields(encoded_managed_fields: Sequence[Any]) -> None:
    """Raise ValueError for entries that cannot be decoded: `Managers` would drop them, entirely or in part.

    `encoded_managed_fields` is in JSON form. Go: managedfields.ValidateManagedFields.
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
        try:
            parse_set(entry.get("fieldsV1"))
        except ValueError as err:
            raise ValueError(f"error decoding managed fields entry {number}: {err}") from err


def live_or_new(given: Any, live: Any, *, subresource: bool = False) -> Any:
    """Return the entries that an update starts from: the given ones, or the live ones if those are missing or invalid.

    An empty list, or one empty entry, clears all of them; a subresource cannot set any. Invalid live entries count as
    missing. Go: managedfields.decodeLiveOrNew.
    """
    if subresource or given is None or (given != live and not _is_reset(given) and not _is_readable(given)):
        return live if _is_readable(live or ()) else []
    return [] if _is_reset(given) else given


def _is_reset(given: Any) -> bool:
    return not given or (len(given) == 1 and all(value is None or value == "" for value in (given[0] or {}).values()))


def _is_readable(entries: Any) -> bool:
    try:
        validate_managed_fields(entries)
    except ValueError:
        return False
    return True


def updated(
    node: Node,
    live: dict[str, Any],
    new: dict[str, Any],
    entries: Any,
    writer: Writer,
    now: str,
    ignored: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the managedFields after an update. `ignored` lists the top-level fields that this request cannot write.

    Returns None if the object has a value that no path can address.
    """
    try:
        diff = _without_system_fields(compare(node, live, new))
    except NoPathError:
        return []
    if ignored:
        heads = {f"f:{name}" for name in ignored}
        for paths in (diff.added, diff.modified, diff.removed):
            paths.difference_update([path for path in paths if path[0] in heads])
    after = Managers(entries)
    if diff:
        key = after.key(writer.manager, "Update", writer.api_version, writer.subresource)
        changed = diff.added | diff.modified
        for other in after.sets:
            if other != key:
                after.sets[other] -= changed
            after.sets[other] -= diff.removed
        if changed:
            after.sets[key] = (after.sets.get(key) or set()) | changed
            # Managers that lose fields keep their time.
            after.times[key] = now
            after.versions[key] = writer.api_version
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
    empty: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Apply a configuration; return the merged object and its managedFields. Raises ConflictError unless `force`.

    `empty` is an object of the type with only its zero values.
    """
    if not created and not Managers(entries).sets:
        before = Writer(_BEFORE_FIRST_APPLY, writer.api_version)
        entries = updated(node, empty or {}, live, (), before, now)
    after = Managers(entries)
    key = after.key(writer.manager, "Apply", writer.api_version, writer.subresource)
    last = after.sets.get(key) or set()
    after.sets[key] = field_set(node, config)
    after.versions[key] = writer.api_version

    merged = _pruned(node, merge(node, live, config), after, last)
    diff = compare(node, live, merged)
    if diff:
        # An apply without changes keeps the time; a new entry then has none.
        after.times[key] = now
    conflicts = [] if created else _conflicts(after, key, diff.added | diff.modified)
    if conflicts and not force:
        raise _conflict_error(conflicts)
    for other, clash in conflicts:
        after.sets[other] -= clash
    for other in after.sets:
        if other != key:
            after.sets[other] -= diff.removed
    after.sets[key] -= _STRIPPED
    # Imported here, since field ownership alone does not need the object model.
    from clientgo.apimachinery.runtime.view import copy_json

    return copy_json(merged), after.encode()


def _pruned(node: Node, merged: dict[str, Any], managers: Managers, last: FieldSet) -> Any:
    """Return the merged object without the fields that this manager applied last time and that have no owner now.

    Go: Updater.prune.
    """
    owned: FieldSet = set().union(*managers.sets.values())
    if last <= owned:
        return merged
    last = with_named_fields(node, last)
    there = with_named_fields(node, field_set(node, merged))
    # Remove all of them, then add back the owned fields and those outside of the set.
    bare = with_named_fields(node, field_set(node, remove(node, merged, last)))
    pruned = remove(node, merged, there - bare - with_named_fields(node, owned))
    kept = with_named_fields(node, field_set(node, pruned))
    out: dict[str, Any] = remove(node, merged, (there - kept) & last)
    return out


def _without_system_fields(diff: Comparison) -> Comparison:
    return diff.without(_STRIPPED)


def _conflicts(managers: Managers, key: Managers.Key, changed: FieldSet) -> list[tuple[Managers.Key, FieldSet]]:
    """Return the changed fields that other managers own, by manager."""
    clashes = ((other, paths & changed) for other, paths in managers.sets.items() if other != key)
    return [(other, clash) for other, clash in clashes if clash]


def _members_first(path: Path) -> list[tuple[bool, str]]:
    """Return a key that sorts a field before all fields below its siblings, as in Go's sets."""
    return [(place < len(path), element) for place, element in enumerate(path, 1)]


def _conflict_error(conflicts: list[tuple[Managers.Key, FieldSet]]) -> ConflictError:
    """Return an error whose text groups the fields by manager, as a real server does."""
    causes: list[tuple[str, str]] = []
    by_manager: list[str] = []
    for key, paths in sorted(conflicts):
        manager = f'"{key[0]}"'
        if key[3]:
            manager += f' with subresource "{key[3]}"'
        if key[1] == "Update":
            manager += f" using {key[2]}"
        shown = [path_text(path) for path in sorted(paths, key=_members_first)]
        causes += [(text, f"conflict with {manager}") for text in shown]
        by_manager.append("\n- ".join([f"conflicts with {manager}:", *shown]))
    if len(causes) == 1:
        field, manager = causes[0]
        return ConflictError(f"Apply failed with 1 conflict: {manager}: {field}", causes)
    return ConflictError(f"Apply failed with {len(causes)} conflicts: " + "\n".join(by_manager), causes)
