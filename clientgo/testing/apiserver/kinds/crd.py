"""CustomResourceDefinitions: their conditions, and the resources that the server serves for them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from clientgo.golang.strconv import quote
from clientgo.testing.apiserver.kinds import structural
from clientgo.testing.apiserver.kinds.registry import (
    CUSTOM_VERBS,
    STATUS_VERBS,
    Group,
    Resource,
    add_entries,
    storage_hash,
)
from clientgo.testing.apiserver.wire.jsonio import Json, sort_keys
from clientgo.testing.apiserver.wire.webhooks import WebhookClients

STORAGE = "apiextensions.k8s.io/customresourcedefinitions"
CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_TERMINATING = "Terminating"
_PENDING = "InstanceDeletionPending"


# ---- conditions


def condition(kind: str, status: str, reason: str, message: str, now: str) -> Json:
    return {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}


def _with_condition(obj: Json, new: Json) -> Json:
    """Return the CRD with one condition set. Its lastTransitionTime changes only together with its status."""
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
    """Return the CRD after the server has deleted all its instances.

    Its condition Terminating is False, and its cleanup finalizer is removed.
    """
    metadata = dict(obj["metadata"])
    metadata["finalizers"] = [name for name in metadata.get("finalizers") or () if name != CLEANUP_FINALIZER]
    done = condition(_TERMINATING, "False", "InstanceDeletionCompleted", "removed all instances", now)
    return _with_condition({**obj, "metadata": metadata}, done)


def is_terminating(obj: Json) -> bool:
    return _is_true(obj, _TERMINATING)


def is_established(obj: Json) -> bool:
    return _is_true(obj, "Established")


def stored_versions(spec: Json, known: list[str]) -> list[str]:
    """Return the versions in which instances may be stored: the known ones, and the storage version of the spec."""
    storage = [version["name"] for version in spec.get("versions") or () if version.get("storage")][:1]
    return [*known, *(name for name in storage if name not in known)]


def _is_true(obj: Json, kind: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == kind and c.get("status") == "True" for c in conditions)


def accepted_status(obj: Json, others: list[Json], now: str) -> Json:
    """Return the status after the naming and establishing controllers: each name is accepted unless it is in use.

    A definition that is established stays so. Go: NamingConditionController.calculateNamesAndConditions.
    """
    status = dict(obj.get("status") or {})
    names, conflict = _accepted_names(obj, others)
    wanted = [
        condition("NamesAccepted", "False", *conflict, now)
        if conflict is not None
        else condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
    ]
    if conflict is None:
        wanted.append(
            condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now)
        )
    elif not is_established(obj):
        wanted.append(condition("Established", "False", "NotAccepted", "not all names are accepted", now))
    wanted += _approval(obj, now)
    known = {c.get("type"): c for c in status.get("conditions") or ()}
    for new in wanted:
        before = known.get(new["type"])
        if before is not None and before.get("status") == new["status"]:
            new["lastTransitionTime"] = before.get("lastTransitionTime", now)
        known[new["type"]] = new
    return {**status, "acceptedNames": names, "conditions": list(known.values())}


APPROVED = "api-approved.kubernetes.io"
_COMMUNITY = ("k8s.io", "kubernetes.io")


def is_protected(group: str) -> bool:
    """Report whether definitions of a group need an approval. Go: apihelpers.IsProtectedCommunityGroup."""
    return any(group == name or group.endswith(f".{name}") for name in _COMMUNITY)


def approval_state(obj: Json) -> tuple[str, str]:
    """Return the reason and the message about the approval of a definition. Go: apihelpers.GetAPIApprovalState."""
    annotation = (obj["metadata"].get("annotations") or {}).get(APPROVED, "")
    needed = f'protected groups must have approval annotation "{APPROVED}"'
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not annotation:
        return "MissingAnnotation", f"{needed}, {see}"
    if annotation.startswith("unapproved"):
        return "UnapprovedAnnotation", f"not approved: {quote(annotation)}"
    if _is_url(annotation):
        return "ApprovedAnnotation", f"approved in {annotation}"
    return "InvalidAnnotation", f'{needed} with either a URL or a reason starting with "unapproved", {see}'


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return bool(url.scheme and url.netloc)
    except ValueError:
        return False


def _approval(obj: Json, now: str) -> list[Json]:
    """Return the condition about the approval of a definition, if its group needs one."""
    if not is_protected(obj["spec"]["group"]):
        return []
    reason, message = approval_state(obj)
    status = "True" if reason == "ApprovedAnnotation" else "False"
    return [condition("KubernetesAPIApprovalPolicyConformant", status, reason, message, now)]


_UNIQUE_NAMES = (
    ("plural", "PluralConflict", "resource"),
    ("singular", "SingularConflict", "resource"),
    ("shortNames", "ShortNamesConflict", "resource"),
    ("kind", "KindConflict", "kind"),
    ("listKind", "ListKindConflict", "kind"),
)


def _accepted_names(obj: Json, others: list[Json]) -> tuple[Json, tuple[str, str] | None]:
    """Return the names to accept, and reason and message of the last conflict."""
    wanted, accepted = obj["spec"]["names"], (obj.get("status") or {}).get("acceptedNames") or {}
    used = _used_names(obj, others)
    names, conflict = dict(wanted), None
    for field, reason, sort in _UNIQUE_NAMES:
        asked, ours = wanted.get(field), accepted.get(field)
        if asked == ours or not asked:
            continue
        if field == "shortNames":
            taken = [name for name in asked if name not in (ours or ()) and name in used[sort]]
        else:
            taken = [asked] if asked in used[sort] else []
        if taken:
            texts = [f'"{name}" is already in use' for name in taken]
            conflict = reason, texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            names[field] = ours if ours is not None or field not in ("plural", "kind") else ""
    return {field: value for field, value in names.items() if value is not None}, conflict


def waits_for_names(obj: Json, group: str) -> bool:
    """Report whether a definition of this group has names that are not accepted."""
    accepted = (obj.get("status") or {}).get("acceptedNames")
    return bool(obj["spec"]["group"] == group and obj["spec"]["names"] != accepted)


def _used_names(obj: Json, others: list[Json]) -> dict[str, set[str]]:
    """Return the names in use by the definitions of the object's group, including its own, grouped by field."""
    used: dict[str, set[str]] = {"resource": set(), "kind": set()}
    for other in [obj, *others]:
        if other["spec"]["group"] == obj["spec"]["group"]:
            taken = (other.get("status") or {}).get("acceptedNames") or {}
            used["resource"].update((taken.get("plural", ""), taken.get("singular", "")), taken.get("shortNames") or ())
            used["kind"].update((taken.get("kind", ""), taken.get("listKind", "")))
    return used


# ---- serving


_VERSION = re.compile(r"^v(\d+)(?:(alpha|beta)(\d+))?$")


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Return the sort key of kube-aware version priority: v10, v2, v1, v11beta2, v1alpha1, then the others by name."""
    match = _VERSION.match(version)
    if match is None:
        return (1, 0, 0, version)
    stage = {"alpha": 1, "beta": 2, None: 3}[match[2]]
    return (0, -stage * 1_000_000 - int(match[1]), -int(match[3] or 0), "")


def make_group(name: str, definitions: list[Json], clients: WebhookClients) -> Group | None:
    """Return the API group that the established CRDs of one group define, or None if no version is served."""
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
    # The accepted names; those of the spec where a writer of the status has taken them away.
    accepted = (obj.get("status") or {}).get("acceptedNames") or {}
    names = {**spec["names"], **{field: value for field, value in accepted.items() if value}}
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
    _convert(resource, obj, version_name, clients)
    return resource


def _schema(version: Json) -> Json | None:
    schema: Json | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema


def _convert(resource: Resource, obj: Json, version_name: str, clients: WebhookClients) -> None:
    """Set the conversion between stored and served objects. Sets none if all versions are stored as they are served."""
    spec, group = obj["spec"], resource.group
    storage = next(v["name"] for v in spec["versions"] if v.get("storage"))
    schemas = {f"{group}/{v['name']}": _schema(v) for v in spec["versions"]}
    stored, shown = f"{group}/{storage}", f"{group}/{version_name}"
    if storage != version_name and (spec.get("conversion") or {}).get("strategy") == "Webhook":
        _convert_by_webhook(resource, spec["conversion"].get("webhook") or {}, stored, schemas, clients)
    elif len(schemas) > 1 or obj["metadata"].get("generation") != 1:
        resource.from_storage = lambda doc: _as_version(_as_stored(doc, schemas), shown, schemas)
        resource.to_storage = lambda doc: _as_version(doc, stored, schemas)


def _convert_by_webhook(
    resource: Resource, webhook: Json, stored: str, schemas: dict[str, Json | None], clients: WebhookClients
) -> None:
    # Imported here: few definitions have such a webhook, and its caller needs a client's errors.
    from clientgo.testing.apiserver.kinds import webhook_conversion

    load = webhook_conversion.Converter(clients, webhook, resource.group_version)
    save = webhook_conversion.Converter(clients, webhook, stored)
    resource.from_storage = lambda doc: _as_stored(load.convert(doc), schemas)
    resource.to_storage = lambda doc: sort_keys(save.convert_once(doc))
    resource.prepare = load.prepare


def _as_stored(doc: Json, schemas: dict[str, Json | None]) -> Json:
    """Return a stored object after pruning and defaulting by the current schema of its version."""
    schema = schemas.get(doc["apiVersion"])
    return sort_keys(structural.complete(structural.prune(doc, schema)[0], schema)) if schema else doc


def _as_version(doc: Json, api_version: str, schemas: dict[str, Json | None]) -> Json:
    """Return the object with another apiVersion and without the fields that the other version does not have.

    This is the conversion strategy None.
    """
    if doc["apiVersion"] != api_version:
        doc = {**doc, "apiVersion": api_version}
    return structural.prune(doc, schemas.get(api_version))[0]
