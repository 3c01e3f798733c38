"""The resources the server serves: the built-in ones from recorded discovery data, custom ones from CRDs.

A Resource is one plural in one version of one group. Several may share storage (both kinds of events, both versions of
HorizontalPodAutoscaler, the versions of a CRD); then each knows how to convert from and to the stored form.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import pkgutil
import threading
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any

from clientgo.testing.apiserver.kinds import conversion, schema
from clientgo.testing.apiserver.wire.jsonio import Json

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
STATUS_VERBS = ["get", "patch", "update"]
# The path of the pod template in what makes pods, by storage.
POD_TEMPLATES = {
    "/podtemplates": ("template",),
    "/replicationcontrollers": ("spec", "template"),
    "apps/deployments": ("spec", "template"),
    "apps/replicasets": ("spec", "template"),
    "apps/statefulsets": ("spec", "template"),
    "apps/daemonsets": ("spec", "template"),
    "batch/jobs": ("spec", "template"),
    "batch/cronjobs": ("spec", "jobTemplate", "spec", "template"),
}


class Subresource:
    """A subresource such as pods/status, as discovery lists it."""

    __slots__ = ("entry", "kind", "name", "verbs")

    def __init__(self, name: str, entry: Json) -> None:
        self.name = name
        self.entry = entry
        self.kind: str = entry["kind"]
        self.verbs: list[str] = entry["verbs"]


# Before the storage of custom resources in a built-in group, whose objects and rules are none of theirs.
_CUSTOM = "custom:"


class Resource:
    """One resource in one version. Immutable once served; a changed CRD makes a new one."""

    def __init__(self, group: str, version: str, entry: Json) -> None:
        self.group = group
        self.version = version
        self.entry = entry
        self.plural: str = entry["name"]
        self.singular: str = entry.get("singularName", "")
        self.kind: str = entry["kind"]
        self.list_kind = f"{self.kind}List"
        self.namespaced: bool = entry["namespaced"]
        self.verbs: list[str] = entry["verbs"]
        self.short_names: list[str] = entry.get("shortNames", [])
        self.categories: list[str] = entry.get("categories", [])
        self.subresources: dict[str, Subresource] = {}
        self.group_version = f"{group}/{version}" if group else version
        self.storage = f"{group}/{self.plural}"
        # Set for custom resources: the spec.versions entry and the whole CRD.
        self.crd: Json | None = None
        self.crd_version: Json = {}
        self.structural: Any = None
        self.from_storage: Callable[[Json], Json] = _same
        self.to_storage: Callable[[Json], Json] = _same
        # Receives the stored objects that will be converted next, so that one call of a webhook converts all of them.
        self.prepare: Callable[[Iterable[Json]], None] = _nothing
        # {"kind":..,"apiVersion":..,  - what built-in list items leave out
        self.head = f'{{"kind":"{self.kind}","apiVersion":"{self.group_version}",'.encode()

    @cached_property
    def struct(self) -> schema.Struct | None:
        """The Go type, or None for custom resources.

        The first access links the type, since most kinds are never used.
        """
        return schema.kind_struct(self.group_version, self.kind)

    @property
    def custom(self) -> bool:
        return self.crd is not None

    @property
    def converted(self) -> bool:
        return self.from_storage is not _same

    @property
    def waits_for_webhook(self) -> bool:
        """True if a webhook converts the stored objects, so that showing one may block."""
        return self.prepare is not _nothing

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def __repr__(self) -> str:
        return f"<Resource {self.plural}.{self.version}.{self.group or 'core'}>"


def pod_template(storage: str, obj: Json) -> Json:
    """Return the pod template of an object of a storage in POD_TEMPLATES, {} if the object has none."""
    template = obj
    for name in POD_TEMPLATES[storage]:
        template = template.get(name) or {}
    return template


def _same(obj: Json) -> Json:
    return obj


def _nothing(objects: Iterable[Json]) -> None:
    """Do nothing, for resources whose conversion needs no preparation."""


class Group:
    """One API group: versions in order of preference, each with its resources by plural."""

    def __init__(self, name: str, versions: list[str], preferred: str) -> None:
        self.name = name
        self.versions = versions
        self.preferred = preferred
        self.resources: dict[str, dict[str, Resource]] = {version: {} for version in versions}
        self.entries: dict[str, list[Json]] = {version: [] for version in versions}

    def document(self) -> Json:
        """Return the APIGroup document that /apis lists."""
        prefix = f"{self.name}/"
        return {
            "name": self.name,
            "versions": [{"groupVersion": prefix + v, "version": v} for v in self.versions],
            "preferredVersion": {"groupVersion": prefix + self.preferred, "version": self.preferred},
        }


class Registry:
    """All groups. Readers take the current tables without a lock; changing a CRD swaps in new ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._builtin = _builtin_groups()
        self._custom: dict[str, Group] = {}
        self._generation = 0

    @property
    def generation(self) -> int:
        """Number of changes so far, for caches of derived documents."""
        return self._generation

    def __repr__(self) -> str:
        return f"<Registry {len(self._builtin)} built-in groups, {len(self._custom)} custom>"

    def groups(self) -> list[Group]:
        """Return all groups, the core group first."""
        return [*self._builtin.values(), *self._custom.values()]

    def group(self, name: str) -> Group | None:
        return self._builtin.get(name) or self._custom.get(name)

    def custom_group(self, name: str) -> Group | None:
        """Return the part of a group that CRDs define, or None. A built-in group of the same name is separate."""
        return self._custom.get(name)

    def is_builtin(self, group: str) -> bool:
        return group in self._builtin

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        known = self._builtin.get(group)
        if known is not None and version in known.resources:
            # In a cluster, different servers serve a group's built-in versions and its custom resources.
            return known.resources[version].get(plural)
        known = self._custom.get(group)
        return known.resources.get(version, {}).get(plural) if known is not None else None

    def by_kind(self, group_version: str, kind: str) -> Resource | None:
        group, _, version = group_version.rpartition("/")
        for known in (self._builtin.get(group), self._custom.get(group)):
            if known is None:
                continue
            for resource in known.resources.get(version, {}).values():
                if resource.kind == kind:
                    return resource
        return None

    def by_storage(self, storage: str) -> Resource | None:
        """Return the resource of a storage in the stored version, in another one if that is not served, or None."""
        group, _, plural = storage.removeprefix(_CUSTOM).partition("/")
        known = self._custom.get(group) if storage.startswith(_CUSTOM) else self.group(group)
        if known is None:
            return None
        versions = [known.resources[v][plural] for v in known.versions if plural in known.resources[v]]
        for resource in versions:
            if resource.crd_version.get("storage") if resource.custom else not resource.converted:
                return resource
        return versions[0] if versions else None

    def all(self) -> list[Resource]:
        return [r for group in self.groups() for v in group.versions for r in group.resources[v].values()]

    def storage_of_custom(self, group: str, plural: str) -> str:
        """Return the bucket of a custom resource.

        Within a built-in group it differs from a built-in resource of that name.
        """
        return f"{_CUSTOM if group in self._builtin else ''}{group}/{plural}"

    def set_custom(self, name: str, group: Group | None) -> None:
        """Replace the custom group `name`, or remove it if `group` is None.

        The method changes `group`, which must not be served yet.
        """
        for version in group.resources.values() if group is not None else ():
            for resource in version.values():
                resource.storage = self.storage_of_custom(name, resource.plural)
        with self._lock:
            groups = dict(self._custom)
            groups.pop(name, None)
            if group is not None:
                groups[name] = group
            self._custom = dict(sorted(groups.items()))
            self._generation += 1

    # ---- discovery documents

    def group_list(self) -> Json:
        groups = [group.document() for group in self.groups() if group.name]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def resource_list(self, group: Group, version: str) -> Json:
        name = f"{group.name}/{version}" if group.name else version
        head: Json = {"kind": "APIResourceList"}
        if group.name:
            head["apiVersion"] = "v1"
        return {**head, "groupVersion": name, "resources": group.entries[version]}

    def aggregated(self, core: bool, version: str = "v2") -> Json:
        items = [_aggregated_group(group) for group in self.groups() if (group.name == "") == core]
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": f"apidiscovery.k8s.io/{version}",
            "metadata": {},
            "items": items,
        }


def _aggregated_group(group: Group) -> Json:
    versions = [
        {
            "version": version,
            "resources": [_aggregated_resource(r) for r in _in_order(group, version)],
            "freshness": "Current",
        }
        for version in group.versions
    ]
    return {"metadata": {"name": group.name} if group.name else {}, "versions": versions}


def _in_order(group: Group, version: str) -> list[Resource]:
    return sorted(group.resources[version].values(), key=lambda r: r.plural)


def _aggregated_resource(resource: Resource) -> Json:
    entry = resource.entry
    custom = resource.custom
    group, version = (
        (resource.group, resource.version) if custom else (entry.get("group", ""), entry.get("version", ""))
    )
    out: Json = {
        "resource": resource.plural,
        "responseKind": {"group": group, "version": version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    }
    if resource.short_names:
        out["shortNames"] = resource.short_names
    if resource.categories:
        out["categories"] = resource.categories
    if resource.subresources:
        out["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": {
                    "group": sub.entry.get("group", group),
                    "version": sub.entry.get("version", version),
                    "kind": sub.kind,
                },
                "verbs": sub.verbs,
            }
            for sub in sorted(resource.subresources.values(), key=lambda s: s.name)
        ]
    return out


@cache
def _discovery() -> Json:
    """Return a real server's discovery documents of the built-in groups. Callers must not change them."""
    packed = pkgutil.get_data("clientgo.testing.apiserver.kinds", "data/discovery.json.gz")
    assert packed is not None
    found: Json = json.loads(gzip.decompress(packed))
    return found


def release() -> str:
    """Return the release of Kubernetes whose API the server serves.

    >>> release()
    '1.36.0'
    """
    return str(_discovery()["release"])


@cache
def _builtin_groups() -> dict[str, Group]:
    """Return the built-in groups, which all servers of this process share. Callers must not change them."""
    facts = _discovery()
    groups = {"": Group("", ["v1"], "v1")}
    for entry in facts["apis"]["groups"]:
        versions = [version["version"] for version in entry["versions"]]
        groups[entry["name"]] = Group(entry["name"], versions, entry["preferredVersion"]["version"])
    for group_version, listing in facts["resources"].items():
        name, _, version = group_version.rpartition("/")
        add_entries(groups[name], version, listing["resources"])
    _share(
        groups["events.k8s.io"].resources["v1"]["events"],
        "/events",
        conversion.event_from_core,
        conversion.event_to_core,
    )
    _share(
        groups["autoscaling"].resources["v1"]["horizontalpodautoscalers"],
        "autoscaling/horizontalpodautoscalers",
        conversion.hpa_v1_from_v2,
        conversion.hpa_v1_to_v2,
    )
    return groups


def _share(resource: Resource, storage: str, load: Callable[[Json], Json], save: Callable[[Json], Json]) -> None:
    resource.storage = storage
    resource.from_storage = load
    resource.to_storage = save


def add_entries(group: Group, version: str, entries: list[Json]) -> list[Resource]:
    """Add the entries of an APIResourceList to a group, and return the resources.

    Subresources become part of their resource.
    """
    table = group.resources[version]
    group.entries[version].extend(entries)
    added = []
    for entry in entries:
        if "/" not in entry["name"]:
            table[entry["name"]] = resource = Resource(group.name, version, entry)
            added.append(resource)
    for entry in entries:
        plural, slash, name = entry["name"].partition("/")
        if slash and plural in table:
            table[plural].subresources[name] = Subresource(name, entry)
    return added


def storage_hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()
