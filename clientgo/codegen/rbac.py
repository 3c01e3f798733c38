"""Roles from the markers of a program. Each marker is next to the code that needs the permission.

    # +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch

Arguments: `groups` (`core` or `""` for the core group), `resources`, `resourceNames`, `urls`, `verbs`, `namespace`
(a Role there instead of the ClusterRole), `roleName` (another role). Stands for controller-gen's rbac; equal rules are
joined as it joins them. Unlike controller-gen it logs a warning for a value that grants nothing, such as the verb `read`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clientgo import klog
from clientgo.apimachinery.runtime import JSONObject
from clientgo.codegen import rbac_resources
from clientgo.codegen.markers import Marker

MARKER = "kubebuilder:rbac"

_API_VERSION = "rbac.authorization.k8s.io/v1"
_KNOWN = ("groups", "resources", "resourceNames", "urls", "verbs", "namespace", "roleName")

# Verbs of requests, and those that an API server checks in addition to a request's own.
_REQUEST_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*")
_SPECIAL_VERBS = ("approve", "attest", "bind", "escalate", "impersonate", "sign", "use")
# A request for a URL that is no resource has its HTTP method as its verb.
_URL_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "*")

_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")

_Strings = tuple[str, ...]


@dataclass(frozen=True, order=True)
class _Rule:
    groups: _Strings
    resources: _Strings
    resource_names: _Strings
    urls: _Strings
    verbs: _Strings


def roles(markers: Iterable[Marker], name: str) -> list[JSONObject]:
    """Return the documents: the ClusterRole `name`, and the Roles in namespaces.

    Raises ValueError with the place of a fault. Logs values that are valid in a rule, but are in no request.
    """
    by_role: dict[tuple[str, str], list[_Rule]] = {}
    for marker in markers:
        marker.check(_KNOWN, ["verbs"])
        for warning in _warnings(marker):
            klog.warning(f"{marker.place}: {warning}")
        key = (marker.text("namespace"), marker.text("roleName", name))
        by_role.setdefault(key, []).append(_rule(marker))
    return [_document(*key, _joined(rules)) for key, rules in sorted(by_role.items())]


def empty(name: str) -> JSONObject:
    """Return a ClusterRole that allows nothing."""
    return _document("", name, [])


def _warnings(marker: Marker) -> Iterator[str]:
    """Yield a text with the remedy for each value that grants nothing."""
    urls = marker.list("urls")
    known = _URL_VERBS if urls else (*_REQUEST_VERBS, *_SPECIAL_VERBS)
    for verb in marker.list("verbs"):
        # `impersonate:user-info` and the like are verbs with a scope; an API of one's own may check `example.com/eject`.
        if verb and verb not in known and (urls or verb != verb.lower() or not {":", "/"} & set(verb)):
            shown = _URL_VERBS if urls else _REQUEST_VERBS
            yield f"the verb {verb!r} grants nothing: no request has it; use {', '.join(shown)}"
    for name in ("groups", "resources"):
        for value in marker.list(name):
            if value != value.lower():
                yield f"{value!r} in {name} grants nothing: API {name} are in lower case; use {value.lower()!r}"
    for group in marker.list("groups"):
        name, _, version = group.rpartition("/")
        if _VERSION.fullmatch(version):
            yield f"{group!r} in groups grants nothing: a group has no version; use {name or 'core'!r}"
    yield from rbac_resources.warnings(marker.list("groups"), marker.list("resources"))
    for url in urls:
        if url != "*" and not url.startswith("/"):
            yield f"the URL {url!r} grants nothing: a request's path begins with a slash; use {'/' + url!r}"


def _rule(marker: Marker) -> _Rule:
    groups = ["" if group == "core" else group for group in marker.list("groups")]
    resources, urls = marker.list("resources"), marker.list("urls")
    if urls and (groups or resources or marker.list("namespace")):
        raise ValueError(f"{marker.place}: urls are of no group, resource or namespace")
    if not urls and not (groups and resources):
        raise ValueError(f"{marker.place}: groups and resources are needed, or urls")
    if "" in resources or not all(marker.list("verbs")):
        raise ValueError(f"{marker.place}: a resource or verb is empty")
    return _Rule(
        _set(groups), _set(resources), _set(marker.list("resourceNames")), _set(urls), _set(marker.list("verbs"))
    )


def _set(values: Iterable[str]) -> _Strings:
    """Return the sorted distinct values, or only `*` when it is among them."""
    found = set(values)
    return ("*",) if "*" in found else tuple(sorted(found))


def _joined(rules: Iterable[_Rule]) -> list[_Rule]:
    """Return the fewest rules that allow the same: rules that differ in one field only are merged."""
    found = set(rules)
    for respect in ("verbs", "resources", "groups", "urls"):
        together: dict[_Rule, set[str]] = {}
        for rule in found:
            together.setdefault(replace(rule, **{respect: ()}), set()).update(getattr(rule, respect))
        found = {replace(rule, **{respect: _set(values)}) for rule, values in together.items()}
    return sorted(found)


def _document(namespace: str, name: str, rules: list[_Rule]) -> JSONObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "apiVersion": _API_VERSION,
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": [_rule_document(rule) for rule in rules],
    }


def _rule_document(rule: _Rule) -> JSONObject:
    document = {
        "apiGroups": rule.groups,
        "resources": rule.resources,
        "resourceNames": rule.resource_names,
        "nonResourceURLs": rule.urls,
        "verbs": rule.verbs,
    }
    return {name: list(values) for name, values in document.items() if values}
