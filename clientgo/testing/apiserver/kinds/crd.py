"""CustomResourceDefinitions: validation, conditions, and the resources they make the server serve."""

from __future__ import annotations

import copy
import re
from typing import Any

from clientgo.apimachinery.util.validation import is_dns1035_label, is_dns1123_subdomain
from clientgo.testing.apiserver.kinds import rule_checks, structural, structural_schema, webhook_conversion
from clientgo.testing.apiserver.kinds.registry import (
    CUSTOM_VERBS,
    STATUS_VERBS,
    Group,
    Resource,
    add_entries,
    storage_hash,
)
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json, sort_keys
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

STORAGE = "apiextensions.k8s.io/customresourcedefinitions"
CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_APPROVED = "api-approved.kubernetes.io"
_PROTECTED = re.compile(r"^(.*\.)?(k8s\.io|kubernetes\.io)$")
_TERMINATING = "Terminating"
_PENDING = "InstanceDeletionPending"
_COLUMN_TYPES = ["integer", "number", "string", "boolean", "date"]


# ---- validation


def validate(obj: Json, old: Json | None) -> list[FieldError]:
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    group, plural = spec.get("group", ""), names.get("plural", "")
    found: list[FieldError] = []
    if obj["metadata"].get("name") != f"{plural}.{group}":
        text = 'must be spec.names.plural+"."+spec.group'
        found.append(field_invalid("metadata.name", obj["metadata"].get("name", ""), text))
    found += _validate_group(group)
    if spec.get("scope") not in ("Namespaced", "Cluster"):
        found.append(
            field_required("spec.scope")
            if not spec.get("scope")
            else field_not_supported("spec.scope", spec["scope"], ["Cluster", "Namespaced"])
        )
    if spec.get("preserveUnknownFields"):
        found.append(field_invalid("spec.preserveUnknownFields", True, "must be false"))
    found += _validate_names(names)
    found += _validate_versions(spec)
    found += _validate_schemas(spec, (old or {}).get("spec") or {})
    found += _validate_approval(obj, group)
    if old is not None:
        found += _validate_update(obj, old)
    return found


def _validate_group(group: str) -> list[FieldError]:
    if not group:
        return [field_required("spec.group")]
    if "." not in group:
        return [field_invalid("spec.group", group, "should be a domain with at least one dot")]
    return [field_invalid("spec.group", group, text) for text in is_dns1123_subdomain(group)]


def _validate_names(names: Json) -> list[FieldError]:
    found = []
    for name in ("plural", "singular", "kind", "listKind"):
        value = names.get(name, "")
        if not value:
            found.append(field_required(f"spec.names.{name}"))
            continue
        found += [field_invalid(f"spec.names.{name}", value, text) for text in is_dns1035_label(value.lower())]
    for i, short in enumerate(names.get("shortNames") or ()):
        found += [field_invalid(f"spec.names.shortNames[{i}]", short, text) for text in is_dns1035_label(short)]
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        found.append(field_invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same"))
    return found


def _validate_versions(spec: Json) -> list[FieldError]:
    found = []
    versions = spec.get("versions") or []
    if not versions:
        found.append(field_required("spec.versions", "must have at least one version"))
    storage = [version for version in versions if version.get("storage")]
    if versions and len(storage) != 1:
        text = "must have exactly one version marked as storage version"
        found.append(field_invalid("spec.versions", [v.get("name") for v in versions], text))
    seen: set[str] = set()
    for i, version in enumerate(versions):
        where = f"spec.versions[{i}]"
        name = version.get("name", "")
        found += [field_invalid(f"{where}.name", name, text) for text in is_dns1035_label(name)]
        if name in seen:
            found.append(field_duplicate(f"{where}.name", name))
        seen.add(name)
        if _schema(version) is None:
            found.append(field_required(f"{where}.schema.openAPIV3Schema", "schemas are required"))
        found += _validate_scale((version.get("subresources") or {}).get("scale"), f"{where}.subresources.scale")
        for j, column in enumerate(version.get("additionalPrinterColumns") or ()):
            at = f"{where}.additionalPrinterColumns[{j}]"
            if not column.get("name"):
                found.append(field_required(f"{at}.name"))
            if column.get("type") not in _COLUMN_TYPES:
                found.append(field_not_supported(f"{at}.type", column.get("type", ""), _COLUMN_TYPES))
            if not column.get("jsonPath"):
                found.append(field_required(f"{at}.JSONPath"))
    return found


def _schema(version: Json) -> Json | None:
    schema: Json | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _validate_schemas(spec: Json, old: Json) -> list[FieldError]:
    """What is wrong with the schemas. One that all versions share stands, for the server, above the versions."""
    versions = spec.get("versions") or []
    schemas = [_schema(version) for version in versions]
    shared = bool(schemas) and all(schema == schemas[0] for schema in schemas)
    before = [_schema(version) for version in old.get("versions") or ()]
    found: list[FieldError] = []
    for i, schema in enumerate(schemas[:1] if shared else schemas):
        if schema is None:
            continue
        place = "spec.validation" if shared else f"spec.versions[{i}].schema"
        wrong = structural_schema.check_schema(schema, f"{place}.openAPIV3Schema")
        # Rules that were stored once are not looked at again, should this server now refuse them.
        if schema not in before and structural_schema.is_structural(wrong):
            wrong += rule_checks.check_rules(schema, f"{place}.openAPIV3Schema", wrong)
        found += wrong
    return found


_SCALE_PATHS = (
    ("specReplicasPath", (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", (".status.",), "should be a json path under .status"),
    ("labelSelectorPath", (".spec.", ".status."), "should be a json path under either .spec or .status"),
)


def _validate_scale(scale: Json | None, where: str) -> list[FieldError]:
    if scale is None:
        return []
    found = []
    for name, heads, text in _SCALE_PATHS:
        path = scale.get(name) or ""
        if path and not path.startswith(heads):
            found.append(field_invalid(f"{where}.{name}", path, text))
        elif not path and name != "labelSelectorPath":
            found.append(field_required(f"{where}.{name}"))
    return found


def _validate_approval(obj: Json, group: str) -> list[FieldError]:
    if not _PROTECTED.match(group):
        return []
    field = f"metadata.annotations[{_APPROVED}]"
    value = (obj["metadata"].get("annotations") or {}).get(_APPROVED, "")
    if not value:
        text = 'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111'
        return [field_required(field, text)]
    if value.startswith("unapproved") or re.match(r"^https?://[^/]+/.+", value):
        return []
    return [
        field_invalid(
            field,
            value,
            'protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a '
            'reason starting with "unapproved"',
        )
    ]


def _validate_update(obj: Json, old: Json) -> list[FieldError]:
    found = []
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    for name in ("group", "scope"):
        if new_spec.get(name) != old_spec.get(name):
            found.append(field_invalid(f"spec.{name}", new_spec.get(name), "field is immutable"))
    for name in ("plural", "kind"):
        if (new_spec.get("names") or {}).get(name) != (old_spec.get("names") or {}).get(name):
            found.append(
                field_invalid(f"spec.names.{name}", (new_spec.get("names") or {}).get(name), "field is immutable")
            )
    kept = {version.get("name") for version in new_spec.get("versions") or ()}
    for i, name in enumerate((old.get("status") or {}).get("storedVersions") or ()):
        if name not in kept:
            found.append(
                field_invalid(
                    f"status.storedVersions[{i}]",
                    name,
                    f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                    f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                    f"removes {name} from status.storedVersions",
                )
            )
    return found


# ---- conditions


def condition(kind: str, status: str, reason: str, message: str, now: str) -> Json:
    return {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}


def _with_condition(obj: Json, new: Json) -> Json:
    """The CRD with one condition set; its time stays when its status does."""
    status = dict(obj.get("status") or {})
    known = {c["type"]: c for c in status.get("conditions") or ()}
    before = known.get(new["type"], {})
    if before.get("status") == new["status"]:
        new["lastTransitionTime"] = before.get("lastTransitionTime", new["lastTransitionTime"])
    known[new["type"]] = new
    return {**obj, "status": {**status, "conditions": list(known.values())}}


def marked_for_deletion(obj: Json, now: str) -> Json:
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    return obj if is_terminating(obj) else _with_condition(obj, condition(_TERMINATING, "True", _PENDING, text, now))


def terminating(obj: Json, now: str) -> Json:
    text = "CustomResource deletion is in progress"
    return _with_condition(obj, condition(_TERMINATING, "True", "InstanceDeletionInProgress", text, now))


def terminated(obj: Json, now: str) -> Json:
    """The CRD without instances, which nothing of the server's own holds any more."""
    metadata = dict(obj["metadata"])
    metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != CLEANUP_FINALIZER]
    done = condition(_TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances", now)
    return _with_condition({**obj, "metadata": metadata}, done)


def is_terminating(obj: Json) -> bool:
    return _is_true(obj, _TERMINATING)


def is_established(obj: Json) -> bool:
    return _is_true(obj, "Established")


def _is_true(obj: Json, kind: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == kind and c.get("status") == "True" for c in conditions)


def accepted_status(obj: Json, others: list[Json], now: str) -> Json:
    """The status after the naming and establishing controllers: names accepted unless another CRD has them."""
    spec, status = obj["spec"], dict(obj.get("status") or {})
    names = spec["names"]
    conflict = _name_conflict(obj, others)
    stored = list(status.get("storedVersions") or ())
    for version in spec.get("versions") or ():
        if version.get("storage") and version["name"] not in stored:
            stored.append(version["name"])
    known = {c["type"]: c for c in status.get("conditions") or ()}
    if conflict is None:
        wanted = [
            condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
            condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now),
        ]
        status["acceptedNames"] = names
    else:
        wanted = [
            condition("NamesAccepted", "False", *conflict, now),
            condition("Established", "False", "NotAccepted", "not all names are accepted", now),
        ]
    for new in wanted:
        before = known.get(new["type"])
        if before is not None and before.get("status") == new["status"]:
            new["lastTransitionTime"] = before.get("lastTransitionTime", now)
        known[new["type"]] = new
    status["conditions"] = list(known.values())
    status["storedVersions"] = stored
    return status


def _name_conflict(obj: Json, others: list[Json]) -> tuple[str, str] | None:
    names = obj["spec"]["names"]
    for other in others:
        if other["spec"]["group"] != obj["spec"]["group"] or other["metadata"]["name"] == obj["metadata"]["name"]:
            continue
        taken = (other.get("status") or {}).get("acceptedNames") or {}
        resources = {taken.get("plural"), taken.get("singular"), *(taken.get("shortNames") or ())}
        for field, reason in (("plural", "PluralConflict"), ("singular", "SingularConflict")):
            if names.get(field) in resources:
                return reason, f'"{names[field]}" is already in use'
        for short in names.get("shortNames") or ():
            if short in resources:
                return "ShortNamesConflict", f'"{short}" is already in use'
        kinds = {taken.get("kind"), taken.get("listKind")}
        for field, reason in (("kind", "KindConflict"), ("listKind", "ListKindConflict")):
            if names.get(field) in kinds:
                return reason, f'"{names[field]}" is already in use'
    return None


# ---- serving


_VERSION = re.compile(r"^v(\d+)(?:(alpha|beta)(\d+))?$")


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Sort key of kube-aware version priority: v10, v2, v1, v11beta2, v1alpha1, then the others by name."""
    match = _VERSION.match(version)
    if match is None:
        return (1, 0, 0, version)
    stage = {"alpha": 1, "beta": 2, None: 3}[match[2]]
    return (0, -stage * 1_000_000 - int(match[1]), -int(match[3] or 0), "")


def make_group(name: str, definitions: list[Json], clients: WebhookClients) -> Group | None:
    """The group that the established CRDs of one group make, None when there is none."""
    served: dict[str, list[tuple[Json, Json]]] = {}
    for obj in definitions:
        if not is_established(obj):
            continue
        for version in obj["spec"]["versions"]:
            if version.get("served"):
                served.setdefault(version["name"], []).append((obj, version))
    if not served:
        return None
    versions = sorted(served, key=version_rank)
    group = Group(name, versions, versions[0])
    for version_name, pairs in served.items():
        for obj, version in sorted(pairs, key=lambda pair: pair[0]["metadata"]["name"]):
            _add_resource(group, version_name, obj, version, clients)
    return group


def _add_resource(group: Group, version_name: str, obj: Json, version: Json, clients: WebhookClients) -> Resource:
    spec = obj["spec"]
    names = (obj.get("status") or {}).get("acceptedNames") or spec["names"]
    namespaced = spec["scope"] == "Namespaced"
    entry: Json = {
        "name": names["plural"],
        "singularName": names.get("singular", ""),
        "namespaced": namespaced,
        "kind": names["kind"],
        "verbs": CUSTOM_VERBS,
    }
    if names.get("shortNames"):
        entry["shortNames"] = names["shortNames"]
    if names.get("categories"):
        entry["categories"] = names["categories"]
    entry["storageVersionHash"] = storage_hash(f"{group.name}/{version_name}/{names['kind']}")
    entries = [entry]
    subresources = version.get("subresources") or {}
    base = {"singularName": "", "namespaced": namespaced}
    if subresources.get("status") is not None:
        entries.append({"name": f"{names['plural']}/status", **base, "kind": names["kind"], "verbs": STATUS_VERBS})
    if subresources.get("scale") is not None:
        scale = {"name": f"{names['plural']}/scale", **base, "group": "autoscaling", "version": "v1"}
        entries.append({**scale, "kind": "Scale", "verbs": STATUS_VERBS})
    resource = add_entries(group, version_name, entries)[0]
    resource.crd = obj
    resource.crd_version = version
    resource.list_kind = names.get("listKind") or f"{names['kind']}List"
    resource.structural = _schema(version)
    resource.struct = None
    storage = next(v["name"] for v in spec["versions"] if v.get("storage"))
    if storage != version_name and (spec.get("conversion") or {}).get("strategy") == "Webhook":
        _convert_by_webhook(resource, spec["conversion"].get("webhook") or {}, f"{group.name}/{storage}", clients)
    elif storage != version_name:
        resource.from_storage = _with_version(f"{group.name}/{version_name}", resource)
        resource.to_storage = _with_version(f"{group.name}/{storage}", None)
    return resource


def _convert_by_webhook(resource: Resource, webhook: Json, stored: str, clients: WebhookClients) -> None:
    load = webhook_conversion.Converter(clients, webhook, resource.group_version)
    save = webhook_conversion.Converter(clients, webhook, stored)
    known_only = _with_version(resource.group_version, resource)
    resource.from_storage = lambda obj: known_only(load.convert(obj))
    resource.to_storage = lambda obj: sort_keys(save.convert_once(obj))
    resource.prepare = load.prepare
    watched = resource.as_watched = copy.copy(resource)
    watched.from_storage = lambda obj: known_only(load.convert(obj, webhook_conversion.WATCH_TIMEOUT))


def _with_version(api_version: str, resource: Resource | None) -> Any:
    """Conversion strategy None: only the apiVersion changes, and what the other version does not know goes."""

    def convert(obj: Json) -> Json:
        out: Json = {**obj, "apiVersion": api_version}
        if resource is not None:
            out = structural.prune(out, resource.structural)[0]
            out = sort_keys(structural.default(out, resource.structural))
        return out

    return convert
