"""Resources in RBAC markers that no API server has. Without a Go file: controller-gen accepts every name.

Only the groups of Kubernetes are checked, since any other group may be custom.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

__all__ = ["warnings"]

# Resources that authorizers check and no server serves: of impersonation, of signers, and of older releases.
_UNSERVED = {
    "": ("groups", "users"),
    "authentication.k8s.io": ("groups", "serviceaccounts", "uids", "userextras", "users"),
    "certificates.k8s.io": ("signers",),
    "policy": ("podsecuritypolicies",),
}
# The subresources that authorizers check and no server serves, except those of nodes, which belong to the kubelet.
_UNSERVED_PARTS = ("binding", "driver", "finalizers", "scale", "status")


class _Group(NamedTuple):
    resources: frozenset[str]
    # Singular, kind and short name -> plural.
    other_names: dict[str, str]


class _Known(NamedTuple):
    groups: dict[str, _Group]
    subresources: tuple[str, ...]


@cache
def _known() -> _Known:
    """Return the resources of a real server, and the kinds that only other servers have, such as alpha versions."""
    # Only markers need these modules.
    from clientgo.apimachinery.api.meta import unsafe_guess_kind_to_resource
    from clientgo.kubernetes.scheme import SCHEME
    from clientgo.testing.apiserver.kinds.registry import Registry

    served = Registry().all()
    resources = {each.group: set(_UNSERVED.get(each.group, ())) for each in served}
    other_names: dict[str, dict[str, str]] = {group: {} for group in resources}
    for each in served:
        resources[each.group].add(each.plural)
        for name in (each.singular, each.kind.lower(), *each.short_names):
            other_names[each.group].setdefault(name, each.plural)
    for gvk in SCHEME.all_known_types():
        if gvk.group in resources:
            plural, singular = unsafe_guess_kind_to_resource(gvk)
            resources[gvk.group].add(plural.resource)
            other_names[gvk.group].setdefault(singular.resource, plural.resource)
    groups = {group: _Group(frozenset(found), other_names[group]) for group, found in resources.items()}
    parts = {name for each in served for name in each.subresources}
    return _Known(groups, tuple(sorted({*parts, *_UNSERVED_PARTS})))


def warnings(groups: Sequence[str], resources: Iterable[str]) -> Iterator[str]:
    """Yield a text with the remedy for each resource of a rule that none of the groups has.

    Yields nothing if one of the groups is not a group of Kubernetes.
    """
    names = ["" if group == "core" else group for group in groups]
    if not names or not all(name in _known().groups for name in names):
        return
    for value in resources:
        resource, _, part = value.partition("/")
        if resource == "*" or value != value.lower():  # the latter is reported for its case
            continue
        if not any(resource in _known().groups[name].resources for name in names):
            yield f"{value!r} in resources grants nothing: {_remedy(names, resource)}"
        elif part == "*":
            yield f"{value!r} in resources grants nothing: name each subresource, as in '{resource}/status'"
        elif resource != "nodes" and (similar := _similar(part, _known().subresources)):
            yield f"{value!r} in resources grants nothing: use '{resource}/{similar}'"


def _remedy(names: Sequence[str], resource: str) -> str:
    known = [_known().groups[name] for name in names]
    for group in known:
        if plural := group.other_names.get(resource):
            return f"resources are plural; use {plural!r}"
    owners = [name or "core" for name, group in _known().groups.items() if resource in group.resources]
    if owners:
        return f"it is a resource of {owners[0]!r}; use groups={owners[0]}"
    candidates = sorted(resource for group in known for resource in group.resources)
    if similar := _similar(resource, candidates):
        return f"use {similar!r}"
    return f"{' and '.join(repr(name or 'core') for name in names)} has no such resource"


def _similar(name: str, known: Sequence[str]) -> str:
    """Return the most similar one of the known names, or "" if there is none, or if `name` is known or empty."""
    return "" if name in known else next(iter(difflib.get_close_matches(name, known, 1, 0.7)), "")
