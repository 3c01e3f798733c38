"""The check that a user's roles and bindings grant only rights that the user has.

Mirrors the policy-based storages of Kubernetes' RBAC registry. In a real cluster a controller that creates Roles for
others meets this check first. Users with the verb `escalate` or `bind` on the role skip it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer
from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text

_GROUP = "rbac.authorization.k8s.io"
_ROLES = ("roles", "clusterroles")
_BINDINGS = ("rolebindings", "clusterrolebindings")
# The fields of metadata that the garbage collector changes, and those that the server changes with them.
_OF_DELETION = ("ownerReferences", "finalizers", "managedFields", "resourceVersion")
# The most that one comparison of rights costs: the characters of the granted parts, and the comparisons of each part
# with a held rule. Kubernetes has no such bound: four short lists in one rule make millions of parts.
_MAX_COST: Final = 4 << 20
_COST_OF_COMPARISON: Final = 16

_Rule = dict[str, frozenset[str]]

_EVERYTHING: list[Json] = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]


def check(
    authorizer: Authorizer, user: User | None, resource: Resource, namespace: str, obj: Json, old: Json | None
) -> None:
    """Raise ApiError 403 if a role or binding grants rights that its writer does not have.

    A writer with the verb escalate on the role, or bind on the bound role, may grant all rights. An update that changes
    other fields is checked too, since a label can aggregate the role's rules into a role that the writer has. Raises
    ApiError 404 if a binding's role does not exist.
    """
    if resource.group != _GROUP or user is None or user.master:
        return
    if old is not None and _serves_deletion(obj, old):
        return
    if resource.plural in _ROLES:
        _check_role(authorizer, user, resource.plural, namespace, obj, old)
    elif resource.plural in _BINDINGS:
        _check_binding(authorizer, user, resource.plural, namespace, obj)


def _serves_deletion(obj: Json, old: Json) -> bool:
    """Report whether an update changes only what decides about the object's deletion. Go: IsOnlyMutatingGCFields."""
    return _without_deletion(obj) == _without_deletion(old)


def _without_deletion(obj: Json) -> Json:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _OF_DELETION}
    return {**obj, "metadata": metadata}


def _check_role(authorizer: Authorizer, user: User, plural: str, namespace: str, obj: Json, old: Json | None) -> None:
    name = obj["metadata"].get("name", "")
    if _may(authorizer, user, "escalate", plural, namespace, name):
        return
    held = [rule for rule, _ in authorizer.rules(user, namespace)]
    _confirm(plural, user, name, held, obj.get("rules") or [])
    aggregates = obj.get("aggregationRule") or (old or {}).get("aggregationRule")
    if aggregates and _missing(held, _EVERYTHING):
        why = "must have cluster-admin privileges to use the aggregationRule"
        raise errors.forbidden(_GROUP, plural, name, why)


def _check_binding(authorizer: Authorizer, user: User, plural: str, namespace: str, obj: Json) -> None:
    reference = obj.get("roleRef") or {}
    kind, role = reference.get("kind", ""), reference.get("name", "")
    roles = "clusterroles" if kind == "ClusterRole" else "roles"
    if _may(authorizer, user, "bind", roles, namespace, role):
        return
    granted = authorizer.rules_of(reference, namespace)
    if granted is None:
        raise errors.not_found(_GROUP, roles, role)
    held = [rule for rule, _ in authorizer.rules(user, namespace)]
    _confirm(plural, user, obj["metadata"].get("name", ""), held, granted)


def _may(authorizer: Authorizer, user: User, verb: str, plural: str, namespace: str, name: str) -> bool:
    attributes = Attributes(verb, group=_GROUP, version="v1", resource=plural, namespace=namespace, name=name)
    return authorizer.allowed(user, attributes)[0]


def _confirm(plural: str, user: User, name: str, held: list[Json], granted: Iterable[Json]) -> None:
    missing = _missing(held, granted)
    if not missing:
        return
    groups = " ".join(map(dumps_text, user.groups))
    texts = "\n".join(sorted(map(_compact_text, _compact(missing))))
    why = (
        f"user {dumps_text(user.name)} (groups=[{groups}]) is attempting to grant RBAC permissions not currently "
        f"held:\n{texts}"
    )
    raise errors.forbidden(_GROUP, plural, name, why)


# ---- rules


def _missing(held: list[Json], granted: Iterable[Json]) -> list[Json]:
    """Return the granted rules, split into simple ones, that no held rule covers.

    Raises ApiError 500 if the rules have too many parts.
    """
    owners = [{name: frozenset(rule.get(name) or ()) for name in _SHOWN} for rule in held]
    comparisons = len(owners) + sum(len(owner["nonResourceURLs"]) for owner in owners)
    cost, missing = 0, []
    for rule in granted:
        if any(_covers_all(owner, rule) for owner in owners):
            continue
        for simple in _simple(rule):
            cost += _COST_OF_COMPARISON * (comparisons + 1) + sum(len(text) for (text,) in simple.values())
            if cost > _MAX_COST:
                raise errors.internal_text("the rules grant too many rights to compare them with those of the user")
            if not any(_covers(owner, simple) for owner in owners):
                missing.append(simple)
    return missing


def _covers_all(owner: _Rule, rule: Json) -> bool:
    """Report whether the held rule has every name of the other rule, without patterns other than `*` alone."""
    names = frozenset(rule.get("resourceNames") or ())
    if owner["resourceNames"] and not (names and owner["resourceNames"] >= names):
        return False
    return all(
        "*" in owner[name] or owner[name].issuperset(rule.get(name) or ())
        for name in ("verbs", "apiGroups", "resources", "nonResourceURLs")
    )


def _simple(rule: Json) -> Iterator[Json]:
    """Yield the parts of a rule: one verb on one resource or URL.

    A part has one resource of one group, and one name if the rule has names.
    """
    verbs = rule.get("verbs") or ()
    for url, verb in itertools.product(rule.get("nonResourceURLs") or (), verbs):
        yield {"nonResourceURLs": [url], "verbs": [verb]}
    names: list[list[str]] = [[name] for name in rule.get("resourceNames") or ()] or [[]]
    for group, resource, verb in itertools.product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs):
        for name in names:
            simple: Json = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
            yield {**simple, "resourceNames": name} if name else simple


def _covers(owner: _Rule, simple: Json) -> bool:
    if not _has(owner, "verbs", simple["verbs"][0]):
        return False
    if "nonResourceURLs" in simple:
        return _covers_url(owner["nonResourceURLs"], simple["nonResourceURLs"][0])
    resource = simple["resources"][0]
    below = f"*/{resource.partition('/')[2]}" if "/" in resource else resource
    if not _has(owner, "apiGroups", simple["apiGroups"][0]):
        return False
    if not _has(owner, "resources", resource) and below not in owner["resources"]:
        return False
    names = owner["resourceNames"]
    return not names or simple.get("resourceNames", [""])[0] in names


def _has(rule: _Rule, field: str, value: str) -> bool:
    return "*" in rule[field] or value in rule[field]


def _covers_url(known: Iterable[str], url: str) -> bool:
    return any(one in ("*", url) or (one.endswith("*") and url.startswith(one[:-1])) for one in known)


def _compact(rules: list[Json]) -> list[Json]:
    """Merge simple rules that differ only in their verbs."""
    merged: dict[str, Json] = {}
    for rule in rules:
        key = dumps_text({name: value for name, value in rule.items() if name != "verbs"})
        known = merged.setdefault(key, {**rule, "verbs": []})
        known["verbs"] = [*known["verbs"], *rule["verbs"]]
    return list(merged.values())


_SHOWN = ("apiGroups", "resources", "nonResourceURLs", "resourceNames", "verbs")


def _compact_text(rule: Json) -> str:
    parts = []
    for name in _SHOWN:
        if rule.get(name):
            head = "APIGroups" if name == "apiGroups" else name[0].upper() + name[1:]
            parts.append(f"{head}:[{' '.join(map(dumps_text, rule[name]))}]")
    return f"{{{', '.join(parts)}}}"
