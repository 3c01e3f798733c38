"""Authorization by the roles and bindings in the store. No server runs."""

from __future__ import annotations

import time
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


# ---- time: these take milliseconds, and the comparison of all parts or all pairs would take minutes


def grant(held: Json, rule: Json) -> None:
    """Let a user with the held rule create a ClusterRole with the other one."""
    store = Store(clocktesting.new_fake_clock(0.0))
    store.create(f"{GROUP}/clusterroles", "held", {"metadata": {"name": "held"}, "rules": [held]})
    reference = {"kind": "ClusterRole", "name": "held"}
    binding = {"metadata": {"name": "held"}, "roleRef": reference, "subjects": [BOB]}
    store.create(f"{GROUP}/clusterrolebindings", "held", binding)
    resource = Registry().find(GROUP, "v1", "clusterroles")
    assert resource is not None
    made = {"metadata": {"name": "made"}, "rules": [rule]}
    escalation.check(Authorizer(store), User("bob"), resource, "", made, None)


SIXTY = [f"n{i}" for i in range(60)]
MILLIONS: Json = {"apiGroups": SIXTY, "resources": SIXTY, "verbs": SIXTY, "resourceNames": SIXTY}
MANY_URLS: Json = {"nonResourceURLs": [f"/{i}" for i in range(3000)], "verbs": [f"v{i}" for i in range(3000)]}
LONG_NAMES: Json = {**READ, "verbs": SIXTY, "resources": ["x" * 500_000]}


@pytest.mark.parametrize("rule", [MILLIONS, MANY_URLS, LONG_NAMES], ids=["names", "urls", "long"])
@pytest.mark.parametrize("held", [READ, MILLIONS | {"verbs": ["n1"]}], ids=["one", "many"])
def test_a_rule_with_millions_of_parts_is_refused_at_once(held: Json, rule: Json) -> None:
    started = time.thread_time()
    with pytest.raises(ApiError) as refused:
        grant(held, rule)
    assert time.thread_time() - started < 5
    assert refused.value.code == 500
    assert refused.value.message == "the rules grant too many rights to compare them with those of the user"


@pytest.mark.parametrize("rule", [MILLIONS, MANY_URLS, LONG_NAMES], ids=["names", "urls", "long"])
@pytest.mark.parametrize("kept", [(), ("resourceNames",)])
def test_a_rule_with_millions_of_parts_is_granted_by_a_user_with_the_whole_rule(
    rule: Json, kept: tuple[str, ...]
) -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "nonResourceURLs": ["*"]}
    grant({**everything, **{name: rule[name] for name in kept if name in rule}}, rule)
    grant(rule, rule)


@pytest.mark.parametrize("rule", [READ, {**READ, "resourceNames": ["other"]}, {**READ, "verbs": ["get", "list"]}])
def test_a_part_without_a_held_name_is_refused(rule: Json) -> None:
    with pytest.raises(ApiError) as refused:
        grant({**READ, "resourceNames": ["a", "b"]}, rule)
    assert refused.value.code == 403


def test_a_user_of_many_groups_is_compared_with_many_subjects_in_linear_time() -> None:
    authorizer = bound(*({"kind": "Group", "name": f"g{i}"} for i in range(20_000)))
    started = time.thread_time()
    assert authorizer.allowed(User("bob", groups=tuple(f"h{i}" for i in range(100_000))), pods()) == (False, "")
    assert time.thread_time() - started < 5
