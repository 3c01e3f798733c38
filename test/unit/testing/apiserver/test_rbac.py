"""Authorization by the roles and bindings in the store. No server runs."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.access import escalation, rbac
from clientgo.testing.apiserver.access.rbac import Attributes, Authorizer, rule_allows
from clientgo.testing.apiserver.access.users import MASTERS, User
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.store.storage import Store
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.utils.clock import testing as clocktesting

Json = dict[str, Any]
GROUP = "rbac.authorization.k8s.io"
READ: Json = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def bound(*subjects: Json, kind: str = "Role", namespace: str = "team") -> Authorizer:
    """Return a role that may read pods, and a binding to the subjects. An empty namespace means the cluster."""
    store = Store(clocktesting.new_fake_clock(0.0))
    roles = "roles" if kind == "Role" else "clusterroles"
    store.create(f"{GROUP}/{roles}", f"{namespace}/r" if kind == "Role" else "r", {"metadata": {}, "rules": [READ]})
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"kind": kind, "name": "r"},
        "subjects": list(subjects),
    }
    bindings, key = ("rolebindings", f"{namespace}/b") if namespace else ("clusterrolebindings", "b")
    store.create(f"{GROUP}/{bindings}", key, binding)
    return Authorizer(store)


def pods(namespace: str = "team", verb: str = "get") -> Attributes:
    return Attributes(verb, resource="pods", namespace=namespace)


BOB = {"kind": "User", "name": "bob"}
ROBOT = {"kind": "ServiceAccount", "name": "robot"}


def test_a_master_may_everything_without_a_reason() -> None:
    assert bound().allowed(User("root", groups=(MASTERS,)), pods(verb="delete")) == (True, "")


@pytest.mark.parametrize(
    ("subject", "user", "reason"),
    [
        (BOB, User("bob"), 'User "bob"'),
        (BOB, User("alice", groups=("bob",)), ""),
        ({"kind": "Group", "name": "devs"}, User("alice", groups=("devs",)), 'Group "devs"'),
        ({"kind": "Group", "name": "devs"}, User("devs"), ""),
        (ROBOT, User("system:serviceaccount:team:robot"), 'ServiceAccount "robot"'),
        (ROBOT, User("system:serviceaccount:other:robot"), ""),
        ({**ROBOT, "namespace": "other"}, User("system:serviceaccount:other:robot"), 'ServiceAccount "robot/other"'),
        ({**ROBOT, "namespace": "other"}, User("system:serviceaccount:team:robot"), ""),
    ],
)
def test_a_binding_holds_for_its_subjects(subject: Json, user: User, reason: str) -> None:
    why = f'RBAC: allowed by RoleBinding "b/team" of Role "r" to {reason}'
    assert bound(subject).allowed(user, pods()) == ((True, why) if reason else (False, ""))


def test_a_role_binding_holds_in_its_namespace_and_a_cluster_role_binding_everywhere() -> None:
    here, everywhere = bound(BOB, kind="ClusterRole"), bound(BOB, kind="ClusterRole", namespace="")
    for namespace, outcome in (("team", (True, True)), ("other", (False, True)), ("", (False, True))):
        asked = pods(namespace)
        assert (here.allowed(User("bob"), asked)[0], everywhere.allowed(User("bob"), asked)[0]) == outcome
    everywhere.check(User("bob"), pods())
    with pytest.raises(ApiError, match='User "bob" cannot delete resource "pods" in API group "" in the namespace'):
        everywhere.check(User("bob"), pods(verb="delete"))


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        ({}, {}, True),
        ({"verbs": ["*"]}, {"verb": "delete"}, True),
        ({}, {"verb": "delete"}, False),
        ({"apiGroups": ["*"]}, {"group": "apps"}, True),
        ({}, {"group": "apps"}, False),
        ({}, {"subresource": "log"}, False),
        ({"resources": ["pods/log"]}, {"subresource": "log"}, True),
        ({"resources": ["pods/log"]}, {}, False),
        ({"resources": ["*/log"]}, {"subresource": "log"}, True),
        ({"resources": ["*/log"]}, {"subresource": "exec"}, False),
        ({"resources": ["*"]}, {"subresource": "exec"}, True),
        ({"resources": ["*/"]}, {}, False),
        ({"resources": ["*/"]}, {"subresource": "exec"}, False),
        ({"resourceNames": ["web"]}, {"name": "web"}, True),
        ({"resourceNames": ["web"]}, {"name": "db"}, False),
        ({"resourceNames": ["web"]}, {}, False),
        ({}, {"path": "/healthz"}, False),
        ({"nonResourceURLs": ["/healthz"]}, {"path": "/healthz"}, True),
        ({"nonResourceURLs": ["/healthz"]}, {"path": "/healthz/etcd"}, False),
        ({"nonResourceURLs": ["/healthz/*"]}, {"path": "/healthz/etcd"}, True),
        ({"nonResourceURLs": ["*"]}, {"path": "/metrics"}, True),
        ({"nonResourceURLs": ["/metrics/**"]}, {"path": "/metrics/a"}, True),
    ],
)
def test_a_rule_allows_what_it_names(rule: Json, asked: Json, allowed: bool) -> None:
    attributes = Attributes(**{"verb": "get", "resource": "pods", **asked})
    assert rule_allows({**READ, **rule}, attributes) is allowed


def resource(group: str) -> Resource:
    """Return the roles of a group."""
    known = Registry().find(GROUP, "v1", "roles")
    assert known is not None
    return Resource(group, "v1", known.entry)


def test_what_only_is_called_a_role_grants_nothing() -> None:
    """A custom resource `roles` of another group is data, whatever it says."""
    role = {"metadata": {"name": "x"}, "rules": [{**READ, "verbs": ["*"]}]}
    escalation.check(bound(BOB), User("bob"), resource("example.com"), "team", role, None)
    with pytest.raises(ApiError, match="attempting to grant RBAC permissions not currently held"):
        escalation.check(bound(BOB), User("bob"), resource(GROUP), "team", role, None)
    escalation.check(bound(BOB), User("root", groups=(MASTERS,)), resource(GROUP), "team", role, None)


def test_the_roles_a_cluster_starts_with_are_those_its_bindings_refer_to() -> None:
    names: dict[str, set[str]] = {"clusterroles": set(), "clusterrolebindings": set()}
    for plural, obj in rbac.bootstrap_objects():
        names[plural].add(obj.get("roleRef", obj["metadata"])["name"])
    assert {"cluster-admin", "admin", "edit", "view"} <= names["clusterroles"]
    assert names["clusterrolebindings"] and names["clusterrolebindings"] <= names["clusterroles"]


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({"matchLabels": {"a": "b"}}, True),
        ({"matchLabels": {"a": "c"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, False),
        ({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "z", "operator": "Exists"}]}, False),
        ({}, True),
    ],
)
def test_an_aggregated_role_uses_the_whole_selector(selector: Json, matches: bool) -> None:
    store = Store(clocktesting.new_fake_clock(0.0))
    store.create(f"{GROUP}/clusterroles", "part", {"metadata": {"name": "part", "labels": {"a": "b"}}, "rules": [READ]})
    rule = {"clusterRoleSelectors": [selector]}
    store.create(f"{GROUP}/clusterroles", "sum", {"metadata": {"name": "sum"}, "aggregationRule": rule})
    granted = Authorizer(store).rules_of({"kind": "ClusterRole", "name": "sum"}, "")
    assert granted == ([READ] if matches else [])


def test_aggregated_roles_aggregate_each_other_without_end() -> None:
    store = Store(clocktesting.new_fake_clock(0.0))

    def add(name: str, label: str, selects: str = "", rules: tuple[Json, ...] = ()) -> None:
        role: Json = {"metadata": {"name": name, "labels": {"to": label}}, "rules": [*rules]}
        if selects:
            role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"to": selects}}]}
        store.create(f"{GROUP}/clusterroles", name, role)

    def granted(name: str) -> list[Json] | None:
        return Authorizer(store).rules_of({"kind": "ClusterRole", "name": name}, "")

    add("admin", "", selects="admin")
    add("edit", "admin", selects="edit")
    add("circle", "edit", selects="admin")
    add("part", "edit", rules=(READ,))
    assert granted("admin") == granted("edit") == granted("circle") == [READ]
    part = store.get(f"{GROUP}/clusterroles", "part")
    assert part is not None
    store.delete(f"{GROUP}/clusterroles", "part", part.rv)
    assert granted("admin") == []
