"""The cockroach-operator in virtual time: the pods' account, where pods go, and how the database is reached."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from typing import Any

import pytest
from cockroachclusters import CTX, PROGRAM, World, crdb_cluster, operated
from virtualcluster import every, up_to

from clientgo import controller_runtime as ctrl
from clientgo.api.core import v1 as corev1
from clientgo.api.networking import v1 as networkingv1
from clientgo.api.rbac import v1 as rbacv1

pytestmark = pytest.mark.takes_turns(6)

SQL, OTHER_SQL, UI = "sql.example.com", "db.example.com", "ui.example.com"
PASS_THROUGH = "nginx.ingress.kubernetes.io/ssl-passthrough"


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def patch(world: World, **spec: Any) -> None:
    """Apply a merge patch to the spec, in which None removes a field."""
    data = json.dumps({"spec": spec}).encode()
    world.client.patch(CTX, world.get().deep_copy(), ctrl.client.raw_patch("application/merge-patch+json", data))


def ingresses(world: World) -> dict[str, Any]:
    return {each.get_name(): each.to_dict() for each in world.client.list(CTX, networkingv1.IngressList).items}


def true_conditions(world: World) -> set[str]:
    return {each.type for each in world.get().status.conditions if each.status == "True"}


def certificate(world: World) -> bytes:
    return bytes(world.client.get(CTX, ctrl.Request("default", "crdb-node"), corev1.Secret).data["tls.crt"])


def until_exposed(world: World, *names: str, host: str = "") -> None:
    conditions = {"ui-crdb": "UIIngressExposed", "sql-crdb": "SQLIngressExposed"}

    def is_so() -> bool:
        exposed = true_conditions(world) & set(conditions.values())
        return (set(ingresses(world)), exposed, world.get().status.sql_host) == (
            set(names), {conditions[name] for name in names}, host,
        )  # fmt: skip

    world.cluster.until(is_so)
    world.until_arrived()


def journey(world: World) -> None:
    """Expose the cluster, then change its host, expose the page too, and stop exposing it."""
    world.client.create(CTX, crdb_cluster(tlsEnabled=True, ingress={"sql": {"host": SQL}}))
    world.until_arrived()
    until_exposed(world, "sql-crdb", host=SQL)
    first = certificate(world)
    assert SQL.encode() in _der(first)
    # It had its certificate before any node started.
    assert world.budget.taken == []
    patch(world, ingress={"ui": {"host": UI}, "sql": {"host": OTHER_SQL}})
    until_exposed(world, "sql-crdb", "ui-crdb", host=OTHER_SQL)
    # The nodes have been restarted for it, one after the other and once.
    world.cluster.until(lambda: len(world.budget.taken) == 3)
    world.until_arrived()
    second = certificate(world)
    assert OTHER_SQL.encode() in _der(second)
    assert SQL.encode() not in _der(second)
    patch(world, ingress=None)
    until_exposed(world)
    # The same host once more needs no other certificate.
    patch(world, ingress={"sql": {"host": OTHER_SQL}})
    until_exposed(world, "sql-crdb", host=OTHER_SQL)
    assert certificate(world) == second
    assert world.budget.taken == ["crdb-2", "crdb-1", "crdb-0"]


def _der(pem: bytes) -> bytes:
    return ssl.PEM_cert_to_DER_cert(pem.decode())


def test_the_database_and_its_page_are_reached_from_outside_as_long_as_that_is_asked_for() -> None:
    with operated() as world:
        journey(world)
        written = len(world.operator.writes)
        world.cluster.bubble.sleep(600.0)
        assert len(world.operator.writes) == written


def test_killed_between_any_two_writes_it_arrives_and_restarts_nodes_once() -> None:
    with operated(dies_after=every(1)) as world:
        journey(world)
        assert world.operator.deaths == world.operator.writes


def test_with_a_cache_that_is_behind_nodes_are_restarted_once() -> None:
    with operated(delay=up_to(10.0, seed=3)) as world:
        journey(world)


def test_what_leads_there_is_what_was_asked_for_and_what_others_change_is_put_back() -> None:
    tls = [{"hosts": [UI], "secretName": "ui-tls"}]
    ui = {"host": UI, "ingressClassName": "nginx", "tls": tls, "annotations": {"mine": "yes"}}
    with operated() as world:
        world.client.create(CTX, crdb_cluster(ingress={"ui": ui, "sql": {"host": SQL}}))
        # Not before the database runs.
        world.cluster.until(lambda: "crdb-0" in world.budget.pods, step=0.1)
        assert ingresses(world) == {}
        until_exposed(world, "ui-crdb", "sql-crdb")
        found = ingresses(world)
        path = found["ui-crdb"]["spec"]["rules"][0]["http"]["paths"][0]
        assert path["backend"]["service"] == {"name": "crdb-public", "port": {"name": "http"}}
        assert found["ui-crdb"]["spec"]["rules"][0]["host"] == UI
        assert (found["ui-crdb"]["spec"]["ingressClassName"], found["ui-crdb"]["spec"]["tls"]) == ("nginx", tls)
        annotations = found["ui-crdb"]["metadata"]["annotations"]
        assert (annotations["mine"], annotations[PASS_THROUGH]) == ("yes", "true")
        path = found["sql-crdb"]["spec"]["rules"][0]["http"]["paths"][0]
        assert path["backend"]["service"] == {"name": "crdb-public", "port": {"name": "sql"}}

        world.client.delete(CTX, networkingv1.Ingress.from_dict(found["sql-crdb"]))
        changed = found["ui-crdb"]
        changed["spec"]["rules"][0]["host"] = "evil.example.com"
        world.client.update(CTX, networkingv1.Ingress.from_dict(changed))
        world.cluster.until(lambda: "sql-crdb" in ingresses(world))
        world.cluster.until(lambda: ingresses(world)["ui-crdb"]["spec"]["rules"][0]["host"] == UI)
        # What is no longer asked for goes.
        patch(world, ingress={"ui": {"ingressClassName": None, "tls": None}})
        world.cluster.until(lambda: "ingressClassName" not in ingresses(world)["ui-crdb"]["spec"])
        assert not ingresses(world)["ui-crdb"]["spec"].get("tls")


def test_an_ingress_of_another_owner_is_left_alone() -> None:
    with operated() as world:
        document = {"metadata": {"name": "ui-crdb", "namespace": "default"}, "spec": {"rules": [{"host": "x.org"}]}}
        world.client.create(CTX, networkingv1.Ingress.from_dict(document))
        world.client.create(CTX, crdb_cluster(ingress={"ui": {"host": UI}}))
        annotations = "Ingress ui-crdb belongs to somebody else"
        world.cluster.until(lambda: annotations in [each.message for each in world.get().status.operator_actions])
        patch(world, ingress=None)
        world.until_arrived()
        assert ingresses(world)["ui-crdb"]["spec"]["rules"][0]["host"] == "x.org"


def test_pods_run_as_an_account_of_their_own_with_next_to_no_rights() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster())
        world.until_arrived()
        role = world.client.get(CTX, ctrl.Request("default", "crdb-role"), rbacv1.Role)
        (rule,) = role.to_dict()["rules"]
        assert (rule["resources"], rule["verbs"]) == (["securitycontextconstraints"], ["use"])
        binding = world.client.get(CTX, ctrl.Request("default", "crdb-role-binding"), rbacv1.RoleBinding)
        assert binding.role_ref.name == "crdb-role"
        assert [each.name for each in binding.subjects] == ["crdb-sa"]
        assert {pod["spec"]["serviceAccountName"] for pod in world.budget.pods.values()} == {"crdb-sa"}
        # Made again, and put back, whichever of them it is.
        rule["verbs"] = ["*"]
        world.client.update(CTX, rbacv1.Role.from_dict({**role.to_dict(), "rules": [rule]}))
        world.client.delete(CTX, binding)
        world.cluster.until(lambda: world.client.list(CTX, rbacv1.RoleBindingList).items)

        def verbs() -> list[str]:
            found = world.client.get(CTX, ctrl.Request("default", "crdb-role"), rbacv1.Role)
            return list(found.to_dict()["rules"][0]["verbs"])

        world.cluster.until(lambda: verbs() == ["use"])


TERM = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": {"matchLabels": {"app.kubernetes.io/instance": "crdb"}},
}
AFFINITY = {
    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": TERM}]}
}
SPREAD = [{"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", **TERM}]
TOLERATIONS = [{"key": "database", "operator": "Exists"}]


def placements(world: World) -> list[tuple[Any, ...]]:
    """Return the scheduling fields of each pod, without the tolerations that every pod has."""
    found = []
    for name in sorted(world.budget.pods):
        spec = world.budget.pods[name]["spec"]
        tolerated = [each for each in spec.get("tolerations", ()) if not each["key"].startswith("node.kubernetes.io/")]
        found.append((spec.get("affinity"), spec.get("topologySpreadConstraints") or None, tolerated or None))
    return found


def test_where_pods_go_is_said_by_rules_that_come_to_one_node_after_the_other() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster(affinity=AFFINITY))
        world.until_arrived()
        assert placements(world) == [(AFFINITY, None, None)] * 3
        patch(world, topologySpreadConstraints=SPREAD, tolerations=TOLERATIONS)
        world.cluster.until(lambda: placements(world) == [(AFFINITY, SPREAD, TOLERATIONS)] * 3)
        world.until_arrived()
        patch(world, affinity=None, topologySpreadConstraints=None, tolerations=None)
        world.cluster.until(lambda: placements(world) == [(None, None, None)] * 3)
        world.until_arrived()
        assert world.budget.taken == ["crdb-2", "crdb-1", "crdb-0"] * 2


def test_without_their_gates_rules_change_nothing() -> None:
    gates = "AffinityRules=false,TopologySpreadRules=false,TolerationRules=false"
    with operated(gates=gates) as world:
        world.client.create(CTX, crdb_cluster(affinity=AFFINITY))
        world.until_arrived()
        patch(world, topologySpreadConstraints=SPREAD, tolerations=TOLERATIONS)
        world.cluster.bubble.sleep(60.0)
        assert placements(world) == [(None, None, None)] * 3
        assert world.budget.taken == []
