"""The elasticsearch-operator's parts: what each phase decides, expectations, Secrets, and the simulated clusters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st
from programs import ImportedProgram

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.types import NamespacedName
from clientgo.controller_runtime.client import fake
from clientgo.util import cert, keyutil
from clientgo.utils.clock.testing import FakeClock

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    certificates = PROGRAM.module("elasticsearch.certificates")
    downscale = PROGRAM.module("elasticsearch.downscale")
    esclient = PROGRAM.module("elasticsearch.client")
    expectations = PROGRAM.module("elasticsearch.expectations")
    label = PROGRAM.module("elasticsearch.label")
    names = PROGRAM.module("elasticsearch.names")
    nodespec = PROGRAM.module("elasticsearch.nodespec")
    pdb = PROGRAM.module("elasticsearch.pdb")
    predicates = PROGRAM.module("elasticsearch.predicates")
    reconciler = PROGRAM.module("elasticsearch.reconciler")
    shutdown = PROGRAM.module("elasticsearch.shutdown")
    simulated = PROGRAM.module("elasticsearch.simulated")
    sset = PROGRAM.module("elasticsearch.sset")
    state = PROGRAM.module("elasticsearch.state")
    upscale = PROGRAM.module("elasticsearch.upscale")
    validation = PROGRAM.module("elasticsearch.validation")
    voting = PROGRAM.module("elasticsearch.simulated.voting")

CTX = context.background()
SCHEME = main.new_scheme()


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def node_set(name: str, count: int, *roles: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "count": count, "config": {"node.roles": list(roles)} if roles else {}, **more}


def elasticsearch(*sets: dict[str, Any], version: str = "8.11.0", **more: Any) -> Any:
    annotations = more.pop("annotations", {})
    document = {
        "metadata": {"name": "es", "namespace": "default", "uid": "uid-of-es", "annotations": annotations},
        "spec": {"version": version, "nodeSets": list(sets) or [node_set("all", 3)], **more},
    }
    return esv1.Elasticsearch.from_dict(document)


def pod(name: str, *roles: str, ready: bool = True, version: str = "8.10.0", **metadata: Any) -> corev1.Pod:
    stateful_set = name.rpartition("-")[0]
    labels = {label.STATEFUL_SET_NAME: stateful_set, label.VERSION: version, **label.of_roles(roles)}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return corev1.Pod.from_dict(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-of-{name}", "labels": labels, **metadata},
            "status": {"conditions": conditions},
        }
    )


# ---- which pod may go


class Shards:
    """An API that knows shards alone."""

    def __init__(self, *found: Any) -> None:
        self._found = list(found)

    def shards(self) -> list[Any]:
        return self._found


def shard(number: int, node: str, primary: bool, started: bool = True) -> Any:
    shard_state = esclient.ShardState.STARTED if started else esclient.ShardState.UNASSIGNED
    return esclient.Shard("logs", number, primary, shard_state, node)


def decide(
    pods: list[corev1.Pod],
    *,
    health: str = "green",
    old: list[str] | None = None,
    away: tuple[str, ...] = (),
    shards: tuple[Any, ...] = (),
    masters: tuple[str, ...] | None = None,
    allowed: int = 1,
    es: Any = None,
    activity: int = 0,
    roles: dict[str, set[str]] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Return the pods to delete, and the predicate that keeps each other pod."""
    healthy = {each.get_name(): each for each in pods if sset.is_ready(each) and each.get_name() not in away}
    ctx = predicates.PredicateContext(
        es=es or elasticsearch(),
        api=Shards(*shards),
        health=esclient.Health(esclient.HealthStatus(health), relocating_shards=activity),
        pods=pods,
        to_update=[each for each in pods if old is None or each.get_name() in old],
        healthy=healthy,
        expected_masters=[each.get_name() for each in label.master_pods(pods)] if masters is None else list(masters),
        expected_roles=roles or {},
        max_unavailable_reached=allowed <= 0,
    )
    candidates = predicates.sort_candidates(ctx.to_update)
    gone, refused = predicates.apply_predicates(CTX, ctx, candidates, allowed)
    return [each.get_name() for each in gone], refused


def cluster(**more: Any) -> list[corev1.Pod]:
    masters = [pod(f"es-es-m-{each}", "master", **more) for each in range(3)]
    return [*masters, *(pod(f"es-es-d-{each}", "data", **more) for each in range(2))]


DATA_0, DATA_1, MASTER_0, MASTER_1, MASTER_2 = "es-es-d-0", "es-es-d-1", "es-es-m-0", "es-es-m-1", "es-es-m-2"


def test_data_nodes_go_before_masters_and_the_highest_ordinal_first() -> None:
    order = [each.get_name() for each in predicates.sort_candidates(cluster())]
    assert order == [DATA_1, DATA_0, MASTER_2, MASTER_1, MASTER_0]
    assert decide(cluster()) == ([DATA_1], {})


def test_when_as_many_are_away_as_may_be_only_one_that_is_away_itself_may_go() -> None:
    gone, refused = decide(cluster(), away=(DATA_0,), allowed=0)
    assert gone == [DATA_0]
    assert refused == {DATA_1: "do_not_restart_healthy_node_if_MaxUnavailable_reached"}


def test_while_data_is_missing_no_working_node_leaves() -> None:
    gone, refused = decide(cluster(), health="red", away=(MASTER_0,))
    assert gone == [MASTER_0]
    assert set(refused.values()) == {"only_restart_healthy_node_if_green_or_yellow"}


def test_while_copies_are_missing_nodes_go_only_for_a_new_version_and_in_quiet() -> None:
    name = "if_yellow_only_restart_upgrading_nodes_with_unassigned_replicas"
    assert decide(cluster(version="8.11.0"), health="yellow")[1][DATA_1] == name
    assert decide(cluster(), health="yellow", activity=1)[1][DATA_1] == name
    assert decide(cluster(), health="yellow")[0] == [DATA_1]


def test_the_only_copy_of_a_shard_stays() -> None:
    found = (shard(0, DATA_1, primary=True), shard(0, "", primary=False, started=False))
    gone, refused = decide(cluster(), health="yellow", shards=found)
    assert (gone, refused) == ([DATA_0], {DATA_1: "require_started_replica"})
    # An index without replicas has to bear it.
    assert decide(cluster(), health="yellow", shards=found[:1])[0] == [DATA_1]


def test_masters_go_one_by_one_and_each_when_all_others_are_there() -> None:
    old = [MASTER_0, MASTER_1, MASTER_2]
    gone, refused = decide(cluster(), old=old, allowed=5)
    assert gone == [MASTER_2]
    assert set(refused.values()) == {"one_master_at_a_time"}
    gone, refused = decide(cluster(), old=[MASTER_1, MASTER_2], away=(MASTER_0,), allowed=5)
    assert (gone, set(refused.values())) == ([], {"one_master_at_a_time"})


def test_a_master_that_stays_one_waits_for_those_that_are_to_come() -> None:
    gone, refused = decide(cluster(), old=[MASTER_2], masters=(MASTER_0, MASTER_1, MASTER_2, "es-es-m-3"))
    assert (gone, refused) == ([], {MASTER_2: "one_master_at_a_time"})
    assert decide(cluster(), old=[MASTER_2], masters=(MASTER_0, MASTER_1, "es-es-m-3")) == ([MASTER_2], {})


def test_a_node_that_is_to_become_master_counts_as_one() -> None:
    masters = (MASTER_0, MASTER_1, MASTER_2, DATA_0, DATA_1)
    gone, refused = decide(cluster(), old=[DATA_0, DATA_1], masters=masters, allowed=5)
    assert (gone, refused) == ([DATA_1], {DATA_0: "one_master_at_a_time"})


def test_the_last_old_master_waits_for_all_others() -> None:
    gone, refused = decide(cluster(), old=[MASTER_0, DATA_1], health="red", away=(DATA_1,), allowed=5)
    assert gone == [DATA_1]
    refused = decide(cluster(), old=[MASTER_0, DATA_1], away=(MASTER_0,), allowed=0)[1]
    name = "do_not_delete_last_master_if_all_master_ineligible_nodes_are_not_upgraded"
    assert refused[MASTER_0] == name


def test_no_two_with_copies_of_one_shard_go_at_once() -> None:
    pods = [*cluster(), pod("es-es-d-2", "data")]
    found = (shard(0, "es-es-d-2", primary=True), shard(0, DATA_1, primary=False))
    gone, refused = decide(pods, old=[DATA_0, DATA_1, "es-es-d-2"], shards=found, allowed=5)
    assert gone == ["es-es-d-2", DATA_0]
    assert refused == {DATA_1: "do_not_delete_pods_with_same_shards"}


def test_each_tier_keeps_a_node() -> None:
    gone, refused = decide(cluster(), old=[DATA_0, DATA_1], allowed=5)
    assert (gone, refused) == ([DATA_1], {DATA_0: "do_not_delete_all_members_of_a_tier"})
    # Of masters others take care; this is switched off here.
    es = elasticsearch(annotations={names.DISABLE_PREDICATES: "one_master_at_a_time"})
    assert decide(cluster(), old=[MASTER_0], away=(MASTER_1, MASTER_2), es=es) == ([MASTER_0], {})


def test_colder_data_nodes_take_a_new_version_first() -> None:
    pods = [pod("es-es-hot-0", "data_hot"), pod("es-es-hot-1", "data_hot"), pod("es-es-warm-0", "data_warm")]
    roles = {"es-es-hot": {"data_hot"}, "es-es-warm": {"data_warm"}}
    gone, refused = decide(pods, roles=roles)
    assert gone == ["es-es-warm-0"]
    assert set(refused.values()) == {"data_tier_with_higher_priority_must_be_upgraded_first"}


def test_one_on_its_way_out_is_not_deleted_again() -> None:
    going = pod(DATA_1, "data", deletionTimestamp="2026-01-01T00:00:00Z")
    refused = decide([pod(DATA_0, "data"), going], old=[DATA_1])[1]
    assert refused == {DATA_1: "skip_already_terminating_pods"}


def test_an_annotation_disables_predicates() -> None:
    off = "only_restart_healthy_node_if_green_or_yellow"
    for value in (off, f"x,{off}", "*"):
        es = elasticsearch(annotations={names.DISABLE_PREDICATES: value})
        assert decide(cluster(), health="red", es=es)[0] == [DATA_1]


# ---- growing and shrinking


def stateful_sets(**sizes: int) -> Any:
    sets = [node_set(name, size, "master" if name == "m" else "data") for name, size in sizes.items()]
    return nodespec.expected_stateful_sets(nodespec.build_expected_resources(elasticsearch(*sets)))


def why_not(expected: Any, actual: Any, pods: list[corev1.Pod], **budget: Any) -> list[str]:
    es = elasticsearch(updateStrategy={"changeBudget": budget})
    invariants = downscale.Invariants(es, expected, actual, pods)
    return [invariants.check(each) for each in downscale.removals(expected, actual)]


def test_one_node_at_a_time_is_removed() -> None:
    reasons = why_not(stateful_sets(m=1, d=1), stateful_sets(m=3, d=2), cluster())
    assert reasons == ["", downscale.ONE_NODE_AT_A_TIME]


def test_the_last_master_and_the_quorum_of_masters_stay() -> None:
    pods = cluster()
    others = [pod(each.get_name(), "master", ready=False) for each in pods[:2]]
    actual, few = stateful_sets(m=3, d=2), [*others, *pods[2:]]
    assert why_not(stateful_sets(m=1, d=2), actual, few) == [downscale.AT_LEAST_ONE_RUNNING_MASTER]
    one_away = [others[0], *pods[1:]]
    assert why_not(stateful_sets(m=2, d=2), actual, one_away, maxUnavailable=-1) == [downscale.MASTERS_QUORUM]


def test_while_too_many_are_away_only_one_of_them_is_removed() -> None:
    expected, actual = stateful_sets(m=3, d=1), stateful_sets(m=3, d=2)
    away = [pod(each, "master", ready=False) for each in (MASTER_0, MASTER_1)]
    works, fails = pod(DATA_1, "data"), pod(DATA_1, "data", ready=False)
    rest = [pod(MASTER_2, "master"), pod(DATA_0, "data")]
    assert why_not(expected, actual, [*away, *rest, works]) == [downscale.RESPECT_MAX_UNAVAILABLE]
    assert why_not(expected, actual, [*away, *rest, fails]) == [""]
    assert why_not(expected, actual, [*away, *rest, works], maxUnavailable=-1) == [""]


def sizes_after(es: Any, actual: Any) -> tuple[dict[str, int], list[str]]:
    results = state.Results()
    up = upscale.Upscale(None, es, None, state.State(es), results)
    adjusted = upscale.adjust(CTX, up, actual, nodespec.build_expected_resources(es))
    return {each.name: sset.replicas_of(each.stateful_set) for each in adjusted}, results.reasons


def test_growth_is_bounded_by_the_surge_and_shrinking_is_left_for_later() -> None:
    actual = stateful_sets(m=3, d=3)
    sets = [node_set("m", 3, "master"), node_set("d", 1, "data"), node_set("e", 3, "data")]
    bounded = elasticsearch(*sets, updateStrategy={"changeBudget": {"maxSurge": 0}})
    assert sizes_after(bounded, actual) == ({"es-es-m": 3, "es-es-d": 3, "es-es-e": 1}, ["Upscale in progress"])
    assert sizes_after(elasticsearch(*sets), actual)[0] == {"es-es-m": 3, "es-es-d": 3, "es-es-e": 3}


@pytest.mark.parametrize(
    ("sizes", "health", "allowed"),
    [
        ({"m": 3, "d": 2}, "green", 1),
        ({"m": 3, "d": 2}, "yellow", 0),
        ({"m": 1, "d": 2}, "green", 0),
        ({"m": 3, "d": 1}, "green", 0),
        ({"m": 1}, "red", 1),
    ],
)
def test_others_may_take_one_node_of_a_healthy_cluster(sizes: dict[str, int], health: str, allowed: int) -> None:
    assert pdb.allowed_disruptions(stateful_sets(**sizes), esclient.HealthStatus(health)) == allowed


# ---- expectations


class Cache:
    """A cache and the server behind it, each a fake client."""

    def __init__(self) -> None:
        self.cache = fake.new_client_builder().with_scheme(SCHEME).build()
        self.server = fake.new_client_builder().with_scheme(SCHEME).build()
        self.expectations = expectations.Expectations(self.cache, self.server)

    def pending(self) -> str:
        return self.expectations.pending(CTX)


def written(generation: int, uid: str = "one") -> appsv1.StatefulSet:
    metadata = metav1.ObjectMeta(name="es-es-d", namespace="default", uid=uid, generation=generation)
    return appsv1.StatefulSet(metadata=metadata)


def shown(client: Any, obj: Any) -> Any:
    made = obj.deep_copy()
    client.create(CTX, made)
    return made


def test_a_write_is_pending_until_the_cache_shows_it() -> None:
    setup = Cache()
    old = shown(setup.cache, written(2))
    setup.expectations.generations.expect_generation(written(3))
    assert setup.pending() == "StatefulSets not reconciled yet: es-es-d"
    setup.cache.delete(CTX, old)
    shown(setup.cache, written(3))
    assert setup.pending() == ""


def test_a_new_object_is_pending_until_the_cache_shows_it_or_it_is_gone() -> None:
    setup = Cache()
    on_server = shown(setup.server, written(1))
    setup.expectations.generations.expect_generation(written(1))
    assert setup.pending()
    # Deleted before the cache ever saw it: nothing would end the wait.
    setup.server.delete(CTX, on_server)
    assert setup.pending() == ""


def test_what_the_cache_has_shown_once_and_does_not_any_more_is_gone() -> None:
    """The server is not asked: only of a new object it knows more than the cache."""
    setup = Cache()
    shown(setup.server, written(2))
    setup.expectations.generations.expect_generation(written(2))
    assert setup.pending() == ""


def test_the_expectations_of_a_cluster_end_with_it() -> None:
    setup = Cache()
    clusters = expectations.ClustersExpectations(setup.cache, setup.server)
    es = elasticsearch()
    mine = clusters.for_cluster(es)
    assert clusters.for_cluster(es) is mine
    clusters.forget(NamespacedName("default", "other"))
    assert clusters.for_cluster(es) is mine
    clusters.forget(NamespacedName("default", "es"))
    assert clusters.for_cluster(es) is not mine


def test_another_object_of_the_name_ends_the_wait() -> None:
    setup = Cache()
    shown(setup.cache, written(1, uid="two"))
    setup.expectations.generations.expect_generation(written(5))
    assert setup.pending() == ""


def test_a_deletion_is_pending_until_the_pod_is_gone_or_another() -> None:
    setup = Cache()
    known = shown(setup.cache, pod(DATA_0, "data"))
    setup.expectations.deletions.expect_deletion(known)
    assert setup.pending() == f"Expecting deletion for Pods: {DATA_0}"
    setup.cache.delete(CTX, known)
    again = pod(DATA_0, "data")
    again.metadata.uid = "another"
    shown(setup.cache, again)
    assert setup.pending() == ""


def test_sets_and_pods_must_agree() -> None:
    actual = stateful_sets(d=2)
    pods = [pod(DATA_0, "data"), pod(DATA_1, "data")]
    actual["es-es-d"].metadata.generation = actual["es-es-d"].status.observed_generation = 4
    assert sset.pending_reconciliation(actual, pods) == ""
    assert sset.pending_reconciliation(actual, pods[:1]) == f"Waiting for Pods to be created: {DATA_1}"
    surplus = [*pods, pod("es-es-d-2", "data")]
    assert sset.pending_reconciliation(actual, surplus) == "Waiting for Pods to be deleted: es-es-d-2"
    actual["es-es-d"].metadata.generation = 5
    assert "observedGeneration is not reconciled yet" in sset.pending_reconciliation(actual, pods)


# ---- what is made


def test_a_node_set_becomes_a_stateful_set_that_restarts_nothing_by_itself() -> None:
    template = {
        "metadata": {"labels": {"team": "search"}},
        "spec": {"containers": [{"name": "elasticsearch", "env": [{"name": "A", "value": "b"}]}, {"name": "sidecar"}]},
    }
    es = elasticsearch(node_set("all", 3, podTemplate=template))
    (made,) = nodespec.build_expected_resources(es)
    spec = made.stateful_set.spec
    assert (spec.update_strategy.type, spec.pod_management_policy, spec.replicas) == ("OnDelete", "Parallel", 3)
    assert [each.name for each in spec.template.spec.containers] == ["elasticsearch", "sidecar"]
    container = spec.template.spec.containers[0]
    assert container.image == "docker.elastic.co/elasticsearch/elasticsearch:8.11.0"
    assert [each.name for each in container.env] == ["A", "POD_NAME", "NAMESPACE", "HEADLESS_SERVICE_NAME"]
    labels = dict(spec.template.metadata.labels)
    assert (labels["team"], labels[label.role_label("master")]) == ("search", "true")


def test_the_initial_masters_change_without_a_restart() -> None:
    es = elasticsearch(node_set("m", 3, "master"), node_set("d", 2, "data"))
    masters, data = nodespec.build_expected_resources(es)
    before = dict(masters.stateful_set.spec.template.metadata.annotations)
    text = nodespec.config_secret(es, masters, ["es-es-m-0"]).data[names.CONFIG_FILE]
    assert b"cluster.initial_master_nodes:\n- es-es-m-0\n" in text
    assert b"initial" not in nodespec.config_secret(es, data, ["es-es-m-0"]).data[names.CONFIG_FILE]
    assert dict(masters.stateful_set.spec.template.metadata.annotations) == before


def test_what_others_add_is_left_and_what_they_change_is_put_back() -> None:
    expected = {"spec": {"replicas": 2, "ports": [{"port": 1}]}, "labels": {}}
    assert reconciler.covers({"spec": {"replicas": 2, "ports": [{"port": 1, "x": 1}], "y": 2}}, expected)
    assert not reconciler.covers({"spec": {"replicas": 3, "ports": [{"port": 1}]}}, expected)
    assert not reconciler.covers({"spec": {"replicas": 2, "ports": [{"port": 1}, {"port": 2}]}}, expected)
    assert not reconciler.covers({"spec": 1}, expected)


def test_certificates_are_made_anew_for_new_hosts_and_in_time_and_the_old_authority_stays_trusted() -> None:
    client = fake.new_client_builder().with_scheme(SCHEME).build()
    clock, made = FakeClock(1_700_000_000.0), []

    def maker(hosts: list[str]) -> tuple[str, str, str]:
        made.append(hosts)
        authority = f"-----BEGIN CERTIFICATE-----\n{len(made)}\n-----END CERTIFICATE-----\n"
        return authority, f"certificate {len(made)}", f"key {len(made)}"

    keeper = certificates.Certificates(client, clock, maker)

    def secret(name: str) -> corev1.Secret:
        return client.get(CTX, main.ctrl.Request("default", name), corev1.Secret)

    es = elasticsearch(node_set("d", 1))
    keeper.reconcile(CTX, es)
    keeper.reconcile(CTX, es)
    assert len(made) == 2
    password = secret("es-es-elastic-user").data["elastic"]
    assert len(password) > 20
    assert set(secret("es-es-http-certs-public").data) == {"ca.crt", "tls.crt"}

    es = elasticsearch(node_set("d", 1), node_set("e", 1))
    keeper.reconcile(CTX, es)
    assert made[2:] == [["*.es-es-d.default.svc", "*.es-es-e.default.svc"]]
    assert secret("es-es-transport-certs").data["ca.crt"].count(b"BEGIN") == 2

    clock.step(364 * 24 * 3600.0 + 1)
    keeper.reconcile(CTX, es)
    assert len(made) == 5
    assert secret("es-es-transport-certs").data["ca.crt"].count(b"BEGIN") == 2
    assert secret("es-es-http-certs-public").data["tls.crt"] == b"certificate 4"
    assert secret("es-es-elastic-user").data["elastic"] == password


def test_real_certificates_are_for_their_hosts() -> None:
    authority, certificate, key = certificates.make(["*.es-es-d.default.svc", "es"])
    assert [text.count("BEGIN") for text in (authority, certificate, key)] == [1, 1, 1]
    issuer, own = cert.parse_certs_pem((authority + certificate).encode())
    own.verify_directly_issued_by(issuer)
    names = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["*.es-es-d.default.svc", "es"]
    assert keyutil.parse_public_keys_pem(key.encode()) == [own.public_key()]


def test_what_cannot_work_is_named() -> None:
    es = elasticsearch(node_set("d", 2, "data", "date"), version="8.9.0")
    es.status.version = "8.10.0"
    assert [str(each) for each in validation.validate(es)] == [
        "spec.version: Forbidden: Downgrades are not supported",
        'spec.nodeSets[0].config[node.roles]: Invalid value: "date": is no role of a node',
        'spec.nodeSets: Invalid value: ["d"]: Elasticsearch needs to have at least one master node',
    ]
    assert validation.validate(elasticsearch()) == []


# ---- the simulated clusters


@given(
    config=st.sets(st.sampled_from("abcdefg"), min_size=1),
    live=st.sets(st.sampled_from("abcdefg")),
    excluded=st.sets(st.sampled_from("abcdefg"), max_size=2),
)
def test_votes_change_only_to_a_quorum_that_is_there(config: set[str], live: set[str], excluded: set[str]) -> None:
    after = voting.reconfigure(sorted(config), live, excluded)
    assert after == sorted(config) or voting.has_quorum(after, live - excluded)
    # Once done, it is done.
    assert voting.reconfigure(after, live, excluded) == after


def test_a_master_that_goes_with_its_vote_is_missed_and_one_without_is_not() -> None:
    three = ["a", "b", "c"]
    assert voting.reconfigure(three, ["a", "b"], []) == three
    assert voting.reconfigure(three, three, ["c"]) == ["a"]


def node(name: str, *roles: str, version: str = "8.10.0", instance: int = 0) -> Any:
    return simulated.Node(name, f"{name}/{instance}", version, roles, ("m0", "m1", "m2"))


MASTERS = [node(f"m{each}", "master") for each in range(3)]


def test_a_node_that_is_to_be_removed_hands_its_shards_over_one_by_one() -> None:
    found = simulated.Cluster(simulated.Pace(), (("logs", 2, 1),))
    data = [node(f"d{each}", "data") for each in range(3)]
    found.observe([*MASTERS, *data], 0.0)
    found.observe([*MASTERS, *data], 100.0)
    assert found.health().status == "green"
    (leaving,) = (each for each in data if len(found.shards.on(each.name)) == 2)
    found.put_shutdown(leaving.id, esclient.ShutdownType.REMOVE, "why")

    def status() -> str:
        return found.shutdown_views()[leaving.id].status

    seen = []
    for second in range(100, 112):
        found.observe([*MASTERS, *data], float(second))
        seen.append((status(), found.health().relocating_shards))
    assert set(seen[:10]) == {("IN_PROGRESS", 1)}
    assert seen[10:] == [("COMPLETE", 0)] * 2


def test_without_a_quorum_of_masters_nothing_can_be_asked() -> None:
    found = simulated.Cluster(simulated.Pace())
    with pytest.raises(esclient.Unreachable):
        found.health()
    found.observe(MASTERS[:1], 0.0)
    with pytest.raises(esclient.NoMaster):
        found.health()
    found.observe(MASTERS, 1.0)
    assert found.uuid
    found.observe(MASTERS[:1], 2.0)
    with pytest.raises(esclient.NoMaster):
        found.exclude(["m2"])
    assert found.incidents == ["no quorum at 2"]


@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 3)), st.integers(0, 200), st.sampled_from([None, "remove", "restart"]),
            st.integers(0, 3),
        ),
        max_size=12,
    )
)
def test_no_copy_is_lost_while_nodes_come_and_go(steps: list[Any]) -> None:
    found = simulated.Cluster(simulated.Pace(), (("logs", 3, 1),))
    data = [node(f"d{each}", "data") for each in range(4)]
    now, runs = 0.0, 0
    found.observe([*MASTERS, *data], now)
    for here, seconds, kind, name in steps:
        now, runs = now + seconds, runs + 1
        found.observe([*MASTERS, *(node(f"d{each}", "data", instance=runs % 2) for each in here)], now)
        if kind is not None and name in here:
            found.put_shutdown(data[name].id, esclient.ShutdownType(kind), "why")
    for shutdown_of in data:
        found.delete_shutdown(shutdown_of.id)
    for later in (1000.0, 2000.0, 3000.0):
        found.observe([*MASTERS, *data], now + later)
    assert found.health().status == "green"
    assert len(found.shards.copies) == 6
    again = simulated.Cluster.from_json(simulated.Pace(), found.indices, found.to_json())
    assert again.to_json() == found.to_json()


def test_a_simulated_cluster_outlives_the_program_in_its_file(tmp_path: Path) -> None:
    file, es = tmp_path / "state.json", elasticsearch()

    def clients() -> Any:
        return simulated.SimulatedClients(lambda es: MASTERS, path=file, clock=FakeClock(0.0))

    first = clients()
    first.client_for(es).add_voting_config_exclusions(["m2"])
    second = clients()
    assert second.client_for(es).voting_config_exclusions() == ["m2"]
    # Both run, one leads: what the other does is seen.
    second.client_for(es).delete_voting_config_exclusions()
    assert first.client_for(es).voting_config_exclusions() == []
    assert first.client_for(es).cluster_uuid() == second.client_for(es).cluster_uuid() != ""


@pytest.mark.parametrize("text", ["[]", "{", '{"clusters": {"a": {}}}', '{"clusters": 1}', "[" * 100_000])
def test_a_file_that_is_none_is_named_and_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "precious.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"precious\.txt is no state of simulated clusters"):
        simulated.SimulatedClients(lambda es: [], path=file)
    assert file.read_text() == text


def test_a_node_that_is_not_there_may_go_when_nothing_is_missing() -> None:
    data = [node("d0", "data"), node("d1", "data")]
    there, clock = [*MASTERS, *data], FakeClock(0.0)
    clients = simulated.SimulatedClients(lambda es: there, indices=(("logs", 1, 1),), clock=clock)

    def api() -> Any:
        """Return a client as a new reconcile has it."""
        return clients.client_for(elasticsearch())

    assert api().nodes().keys() == {"m0", "m1", "m2", "d0", "d1"}
    clock.step(10.0)
    assert api().health().status == "green"
    there.remove(data[1])

    def status() -> Any:
        return shutdown.NodeShutdowns(api(), esclient.ShutdownType.REMOVE, "why").status("d1")

    assert (status().status, "d1 is not in the cluster" in status().explanation) == ("STALLED", True)
    there.append(node("d2", "data"))
    clock.step(100.0)
    assert api().health().status == "yellow"  # looked at too early: it begins to recover now
    clock.step(10.0)
    assert status().status == "COMPLETE"


def test_indices_are_given_by_name_and_number() -> None:
    with pytest.raises(ValueError, match="invalid index 'logs': expected NAME=PRIMARIES:REPLICAS"):
        simulated.parse_indices("logs")
    flags = main.parse_flags(main.zap.Options(), ["--simulated-indices=logs=3:1"])
    assert flags.simulated_indices == (("logs", 3, 1),)


def test_the_flags_are_gos(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main.parse_flags(main.zap.Options(), ["-simulated-indices=logs"])
    assert end.value.code == 2
    assert "expected NAME=PRIMARIES:REPLICAS" in capsys.readouterr().err
    options = main.manager_options(main.parse_flags(main.zap.Options(), ["-leader-elect"]))
    assert (options.leader_election, options.lease_duration) == (True, 15.0)
