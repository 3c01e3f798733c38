"""RBAC, evaluated from the Role, ClusterRole and binding objects in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds.validation import fields
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.jsonio import Json

_GROUP = "rbac.authorization.k8s.io"
# Aggregates that this server creates with all their rules.
_COMPLETE = ("admin", "edit", "view")


class Attributes:
    """The attributes of an authorization check: of a resource request, or of a path if `path` is set."""

    __slots__ = ("group", "name", "namespace", "path", "resource", "subresource", "verb", "version")

    def __init__(
        self,
        verb: str,
        *,
        group: str = "",
        version: str = "",
        resource: str = "",
        subresource: str = "",
        namespace: str = "",
        name: str = "",
        path: str = "",
    ) -> None:
        self.verb = verb
        self.group = group
        self.version = version
        self.resource = resource
        self.subresource = subresource
        self.namespace = namespace
        self.name = name
        self.path = path

    def __repr__(self) -> str:
        target = self.path or f"{self.resource}/{self.subresource} {self.namespace}/{self.name}"
        return f"<Attributes {self.verb} {target}>"


class Authorizer:
    """Decides from the store; no cache, the objects are few."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __repr__(self) -> str:
        return "<Authorizer RBAC>"

    def check(self, user: User, attributes: Attributes) -> None:
        """Raise ApiError 403 with kube-apiserver's text if the user lacks the right."""
        allowed, reason = self.allowed(user, attributes)
        if not allowed:
            raise forbidden(user, attributes, reason)

    def allowed(self, user: User, attributes: Attributes) -> tuple[bool, str]:
        """Report whether a binding allows the request, and which one.

        If none does, the reason names missing roles of the user's bindings.
        """
        if user.master:
            return True, ""
        missing: list[str] = []
        for rule, reason in self.rules(user, attributes.namespace, missing):
            if rule_allows(rule, attributes):
                return True, reason
        if not missing:
            return False, ""
        texts = list(dict.fromkeys(missing))
        return False, f"RBAC: {texts[0]}" if len(texts) == 1 else f"RBAC: [{', '.join(texts)}]"

    def rules(self, user: User, namespace: str, missing: list[str] | None = None) -> Iterator[tuple[Json, str]]:
        """Yield all rules that apply to the user, cluster-wide and in the namespace.

        Adds an error text to `missing` for each role not found.
        """
        for stored in self._store.list(f"{_GROUP}/clusterrolebindings")[1]:
            yield from self._granted(user, stored.obj, "", missing)
        if namespace:
            for stored in self._store.list(f"{_GROUP}/rolebindings", f"{namespace}/")[1]:
                yield from self._granted(user, stored.obj, namespace, missing)

    def _granted(
        self, user: User, binding: Json, namespace: str, missing: list[str] | None
    ) -> Iterator[tuple[Json, str]]:
        subjects = binding.get("subjects") or ()
        if not any(_is_subject(user, subject, namespace) for subject in subjects):
            return
        reference = binding["roleRef"]
        rules = self.rules_of(reference, namespace)
        kind, name = reference["kind"], reference["name"]
        if rules is None:
            if missing is not None:
                missing.append(f'{kind.lower()}.{_GROUP} "{name}" not found')
            return
        role_binding = "RoleBinding" if namespace else "ClusterRoleBinding"
        where = f"{binding['metadata']['name']}/{namespace}" if namespace else binding["metadata"]["name"]
        subject = _subject_text(user, subjects, namespace)
        reason = f'RBAC: allowed by {role_binding} "{where}" of {kind} "{name}" to {subject}'
        for rule in rules:
            yield rule, reason

    def rules_of(self, reference: Json, namespace: str) -> list[Json] | None:
        """Return the rules of the role that a binding refers to, or None if the role does not exist."""
        name = reference.get("name", "")
        if reference.get("kind") == "ClusterRole":
            role = self._store.get(f"{_GROUP}/clusterroles", name)
        else:
            role = self._store.get(f"{_GROUP}/roles", f"{namespace}/{name}")
        if role is None:
            return None
        rules = [*_own_rules(role.obj)]
        if role.obj.get("aggregationRule"):
            rules += self._aggregated(role.obj)
        return rules

    def _aggregated(self, role: Json) -> Iterator[Json]:
        """Yield the rules that a cluster's controller writes into a role with an aggregationRule.

        A selected role may be an aggregate itself, even of the first one.
        """
        roles = [stored.obj for stored in self._store.list(f"{_GROUP}/clusterroles")[1]]
        waiting, seen = [role], {role["metadata"]["name"]}
        while waiting:
            selectors = waiting.pop()["aggregationRule"].get("clusterRoleSelectors") or ()
            for each in roles:
                if each["metadata"]["name"] in seen or not _is_selected(each, selectors):
                    continue
                seen.add(each["metadata"]["name"])
                yield from _own_rules(each)
                if each.get("aggregationRule"):
                    waiting.append(each)


def _own_rules(role: Json) -> Sequence[Json]:
    """Return the rules that a role has beside those of other roles.

    A controller overwrites the rules of an aggregate. Those of admin, edit and view count, since this server has no
    roles such as system:aggregate-to-view.
    """
    is_overwritten = role.get("aggregationRule") and role["metadata"]["name"] not in _COMPLETE
    return () if is_overwritten else role.get("rules") or ()


def _is_selected(role: Json, selectors: Sequence[Json]) -> bool:
    labels = role["metadata"].get("labels") or {}
    return any(fields.selector_matches(selector, labels) for selector in selectors)


def _is_subject(user: User, subject: Json, namespace: str) -> bool:
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "User":
        return bool(user.name == name)
    if kind == "Group":
        return user.is_in(name or "")
    owner = subject.get("namespace") or namespace
    return kind == "ServiceAccount" and bool(owner) and bool(user.name == f"system:serviceaccount:{owner}:{name}")


def _subject_text(user: User, subjects: Any, namespace: str) -> str:
    for subject in subjects:
        if _is_subject(user, subject, namespace):
            where = f"/{subject['namespace']}" if subject.get("namespace") else ""
            return f'{subject["kind"]} "{subject["name"]}{where}"'
    return ""


def rule_allows(rule: Json, attributes: Attributes) -> bool:
    verbs = rule.get("verbs") or ()
    if "*" not in verbs and attributes.verb not in verbs:
        return False
    if attributes.path:
        return any(
            url == "*" or url == attributes.path or (url.endswith("*") and attributes.path.startswith(url.rstrip("*")))
            for url in rule.get("nonResourceURLs") or ()
        )
    groups = rule.get("apiGroups") or ()
    if "*" not in groups and attributes.group not in groups:
        return False
    resources = rule.get("resources") or ()
    names = {attributes.resource}
    if attributes.subresource:
        names = {f"{attributes.resource}/{attributes.subresource}", f"*/{attributes.subresource}"}
    if "*" not in resources and names.isdisjoint(resources):
        return False
    only = rule.get("resourceNames") or ()
    return not only or attributes.name in only


def forbidden(user: User, attributes: Attributes, reason: str = "") -> errors.ApiError:
    headers = {"X-Content-Type-Options": "nosniff"}
    if attributes.path:
        message = f'forbidden: User "{user.name}" cannot {attributes.verb} path "{attributes.path}"'
        message += f": {reason}" if reason else ""
        return errors.ApiError(403, "Forbidden", message, {}, headers=headers)
    full = f"{attributes.resource}/{attributes.subresource}" if attributes.subresource else attributes.resource
    if attributes.namespace:
        where = f'in the namespace "{attributes.namespace}"'
    else:
        where = "at the cluster scope"
    why = f'User "{user.name}" cannot {attributes.verb} resource "{full}" in API group "{attributes.group}" {where}'
    why += f": {reason}" if reason else ""
    error = errors.forbidden(attributes.group, attributes.resource, attributes.name, why)
    error.headers.update(headers)
    return error


# ---- the roles a cluster starts with


def _role(name: str, rules: list[Json], labels: dict[str, str] | None = None) -> Json:
    metadata = {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults", **(labels or {})}}
    return {"apiVersion": f"{_GROUP}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _aggregate(name: str, rules: list[Json], part_of: str = "") -> Json:
    """Return a role that also grants the rules of the roles with the label aggregate-to-`name`.

    Such a label makes the role itself a part of `part_of`.
    """
    role = _role(name, rules, {f"{_GROUP}/aggregate-to-{part_of}": "true"} if part_of else None)
    selector = {"matchLabels": {f"{_GROUP}/aggregate-to-{name}": "true"}}
    return {**role, "aggregationRule": {"clusterRoleSelectors": [selector]}}


def _bind(name: str, role: str, *groups: str) -> Json:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"}},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _GROUP, "kind": "Group", "name": group} for group in groups],
    }


_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]
_HEALTH = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_DISCOVERY = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
]
_NAMESPACED: list[tuple[str, list[str]]] = [
    (
        "",
        [
            "configmaps",
            "endpoints",
            "persistentvolumeclaims",
            "pods",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "serviceaccounts",
            "services",
        ],
    ),
    (
        "apps",
        [
            "controllerrevisions",
            "daemonsets",
            "deployments",
            "deployments/scale",
            "replicasets",
            "replicasets/scale",
            "statefulsets",
            "statefulsets/scale",
        ],
    ),
    ("autoscaling", ["horizontalpodautoscalers"]),
    ("batch", ["cronjobs", "jobs"]),
    ("networking.k8s.io", ["ingresses", "networkpolicies"]),
    ("policy", ["poddisruptionbudgets"]),
]


def _view_rules() -> list[Json]:
    rules = [{"apiGroups": [g], "resources": r, "verbs": _READ} for g, r in _NAMESPACED]
    more = [
        "bindings",
        "events",
        "limitranges",
        "namespaces",
        "namespaces/status",
        "pods/log",
        "pods/status",
        "resourcequotas",
    ]
    return [*rules, {"apiGroups": [""], "resources": more, "verbs": _READ}]


def _edit_rules() -> list[Json]:
    rules = [{"apiGroups": [g], "resources": r, "verbs": _WRITE} for g, r in _NAMESPACED]
    return [
        *_view_rules(),
        *rules,
        {"apiGroups": [""], "resources": ["secrets"], "verbs": [*_READ, *_WRITE]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": [*_READ, *_WRITE]},
        {
            "apiGroups": [""],
            "resources": ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy"],
            "verbs": ["get", *_WRITE],
        },
        {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": _WRITE},
    ]


def bootstrap_objects() -> list[tuple[str, Json]]:
    """Return the default roles and bindings as pairs of plural and object."""
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]}]
    reviews = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
    basic = [
        {"apiGroups": ["authorization.k8s.io"], "resources": reviews, "verbs": ["create"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["create"]},
    ]
    own = [
        {"apiGroups": [_GROUP], "resources": ["rolebindings", "roles"], "verbs": [*_READ, *_WRITE]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["localsubjectaccessreviews"], "verbs": ["create"]},
    ]
    roles = [
        _role("cluster-admin", everything),
        _aggregate("admin", [*_edit_rules(), *own]),
        _aggregate("edit", _edit_rules(), part_of="admin"),
        _aggregate("view", _view_rules(), part_of="edit"),
        _role("system:basic-user", basic),
        _role("system:discovery", [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}]),
        _role("system:public-info-viewer", [{"nonResourceURLs": _HEALTH, "verbs": ["get"]}]),
    ]
    bindings = [
        _bind("cluster-admin", "cluster-admin", "system:masters"),
        _bind("system:basic-user", "system:basic-user", "system:authenticated"),
        _bind("system:discovery", "system:discovery", "system:authenticated"),
        _bind(
            "system:public-info-viewer", "system:public-info-viewer", "system:authenticated", "system:unauthenticated"
        ),
    ]
    return [("clusterroles", role) for role in roles] + [("clusterrolebindings", binding) for binding in bindings]
