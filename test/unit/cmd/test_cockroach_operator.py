"""The cockroach-operator in virtual time: its whole life, its deaths, late caches, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from cockroachclusters import (
    CTX,
    IMAGE,
    KEY,
    NEWER,
    PROGRAM,
    World,
    crdb_cluster,
    database,
    is_ready,
    operated,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from virtualcluster import every, up_to

from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver.store.storage import Event

pytestmark = pytest.mark.takes_turns(6)

PRUNING = "AutoPrunePVC=true"


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def set_nodes(world: World, nodes: int) -> None:
    world.change(lambda crdb: setattr(crdb.spec, "nodes", nodes))


def set_image(world: World, image: str) -> None:
    world.change(lambda crdb: setattr(crdb.spec.image, "name", image))


def set_size(world: World, size: str) -> None:
    claim = {"spec": {"resources": {"requests": {"storage": size}}}}
    patch = json.dumps({"spec": {"dataStore": {"pvc": claim}}}).encode()
    world.client.patch(CTX, world.get().deep_copy(), ctrl.client.raw_patch("application/merge-patch+json", patch))


def restart(world: World, how: str) -> None:
    world.change(lambda crdb: crdb.metadata.annotations.update({"crdb.io/restarttype": how}))


def is_restarted(world: World) -> bool:
    return not any("restart" in name for name in world.get().get_annotations())


def uids(world: World) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in world.budget.pods.items()}


def actions(world: World) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status, each.message) for each in world.get().status.operator_actions}


def claims(world: World) -> dict[str, str]:
    found = world.client.list(CTX, corev1.PersistentVolumeClaimList).items
    return {claim.get_name(): claim.to_dict()["status"]["capacity"]["storage"] for claim in found}


def life(world: World) -> None:
    """Run a cluster from its first node to an update of its version."""
    world.client.create(CTX, crdb_cluster(3, tlsEnabled=True))
    world.until_arrived()
    set_nodes(world, 5)
    world.until_arrived(5)
    set_nodes(world, 3)
    world.until_arrived(3)
    assert world.budget.sizes == [3, 5, 4, 3]
    set_image(world, NEWER)
    world.until_arrived(3, NEWER)
    assert world.budget.taken == ["crdb-4", "crdb-3", "crdb-2", "crdb-1", "crdb-0"]


def changes(world: World) -> None:
    """Make the other changes to a cluster with data."""
    world.client.create(CTX, crdb_cluster(3))
    world.until_arrived()
    first = uids(world)
    restart(world, "Rolling")
    world.cluster.until(lambda: is_restarted(world))
    world.until_arrived()
    second = uids(world)
    assert not set(first.values()) & set(second.values())
    set_size(world, "2Gi")
    world.cluster.until(lambda: set(claims(world).values()) == {"2Gi"} and _template_size(world) == "2Gi")
    world.until_arrived()
    assert uids(world) == second
    world.change(lambda crdb: crdb.spec.additional_args.append("--locality=region=eu"))
    world.cluster.until(lambda: all("region=eu" in str(pod["spec"]) for pod in world.budget.pods.values()))
    world.until_arrived()
    assert world.budget.taken == ["crdb-2", "crdb-1", "crdb-0"] * 2
    # All at once, which no budget allows: the user asked for that.
    third = uids(world)
    world.budget.is_on = False
    restart(world, "FullCluster")
    world.cluster.until(lambda: is_restarted(world))
    world.until_arrived()
    assert not set(third.values()) & set(uids(world).values())


def _template_size(world: World) -> str:
    try:
        templates = world.stateful_set().spec.volume_claim_templates
    except errors.StatusError:
        return ""
    return str(templates[0].to_dict()["spec"]["resources"]["requests"]["storage"])


JOURNEYS = {"life": life, "changes": changes}


# ---- what it does


def test_the_life_of_a_cluster_and_what_is_said_of_it() -> None:
    with operated(gates=PRUNING) as world:
        life(world)
        status = world.get().status
        assert status.version == "v22.2.0"
        assert {each.type: each.status for each in status.conditions} == {
            "Initialized": "True",
            "CrdbVersionChecked": "True",
            "CertificateGenerated": "True",
        }
        assert actions(world)["Initialize"] == ("Finished", "")
        assert set(claims(world)) == {f"datadir-crdb-{number}" for number in range(3)}
        owned = world.client.list(CTX, corev1.ServiceList, ctrl.client.InNamespace("default")).items
        assert {one.get_name() for one in owned} == {"kubernetes", "crdb", "crdb-public"}
        secrets = world.client.list(CTX, corev1.SecretList, ctrl.client.InNamespace("default")).items
        assert {one.get_name() for one in secrets} == {"crdb-ca", "crdb-node", "crdb-root"}
        assert len({one.data["ca.crt"] for one in secrets}) == 1
        # At rest it writes nothing.
        written = len(world.operator.writes)
        world.cluster.bubble.sleep(600.0)
        assert len(world.operator.writes) == written


def test_restarts_volumes_and_templates() -> None:
    with operated() as world:
        changes(world)


def test_starting_it_says_why_it_waits() -> None:
    with operated() as world:
        events: list[tuple[str, str]] = []
        world.cluster.each_change(
            lambda bucket, event: (
                events.extend(
                    (each["type"], each["message"])
                    for each in event.new.obj.get("status", {}).get("operatorActions", ())
                )
                if bucket.endswith("/crdbclusters")
                else None
            )
        )
        world.client.create(CTX, crdb_cluster())
        world.cluster.until(lambda: world.get().status.cluster_status == "Failed", step=0.01)
        world.until_arrived()
        assert ("VersionCheckerAction", "waiting for the version checker's job") in events
        assert ("Initialize", "pod is not running") in events


def test_evictions_take_one_node_at_a_time() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster())
        world.until_arrived()
        budget = world.client.get(CTX, KEY, policyv1.PodDisruptionBudget)
        assert (budget.spec.max_unavailable, budget.spec.min_available) == (1, None)
        pods = world.cluster.clientset.core_v1().pods("default")
        evicted = []
        for name in sorted(world.budget.pods):
            eviction = policyv1.Eviction(metadata=metav1.ObjectMeta(name=name, namespace="default"))
            try:
                pods.evict_v1(CTX, eviction)
                evicted.append(name)
            except errors.StatusError as err:
                assert errors.is_too_many_requests(err)
        assert evicted == ["crdb-0"]
        world.until_arrived()


def test_a_node_that_fails_stops_an_update_until_it_is_well_again() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster(4))
        world.until_arrived(4)
        world.annotate("crdb-1", ready="false")
        world.cluster.bubble.sleep(5.0)
        set_image(world, NEWER)
        world.cluster.bubble.sleep(60.0)
        assert world.budget.taken == []
        assert actions(world)["PartitionedUpdate"] == ("Failed", "pod 1 is not ready")
        assert world.get().status.cluster_status == "Failed"
        world.annotate("crdb-1", ready=None)
        world.cluster.until(lambda: world.budget.taken)
        # Now while the update is under way.
        world.annotate("crdb-0", crash="1")
        world.until_arrived(4, NEWER)
        assert world.budget.taken == ["crdb-3", "crdb-2", "crdb-1", "crdb-0"]


def test_a_node_that_fails_stops_a_decommissioning() -> None:
    with operated(gates=PRUNING) as world:
        world.client.create(CTX, crdb_cluster(5))
        world.until_arrived(5)
        world.annotate("crdb-0", ready="false")
        world.cluster.bubble.sleep(5.0)
        set_nodes(world, 4)
        world.cluster.bubble.sleep(60.0)
        assert (world.budget.taken, world.budget.sizes) == ([], [5])
        assert "decommission" not in world.database.membership("default", "crdb-4")
        assert actions(world)["Decommission"] == ("Failed", "pod 0 is not ready")
        world.annotate("crdb-0", ready=None)
        world.until_arrived(4)


def test_a_decommissioning_that_has_begun_ends_and_a_new_node_comes() -> None:
    with operated(gates=PRUNING) as world:
        world.client.create(CTX, crdb_cluster(4))
        world.until_arrived(4)
        before = uids(world)["crdb-3"]
        set_nodes(world, 3)
        world.cluster.until(lambda: world.database.membership("default", "crdb-3") == "decommissioning", step=0.1)
        set_nodes(world, 4)
        assert "node 4 has not completed draining yet" in actions(world)["Decommission"][1]
        world.cluster.until(lambda: world.budget.taken == ["crdb-3"])
        world.until_arrived(4)
        assert uids(world)["crdb-3"] != before
        # On a new volume, or it would not have been let in.
        world.cluster.bubble.sleep(5.0)
        node = database.Node(world.database, _Named())
        assert [(each.id, each.membership) for each in node.statuses(CTX)][-2:] == [
            (4, "decommissioned"),
            (5, "active"),
        ]


class _Named:
    """Of a Cluster, what a Node asks."""

    statefulset_name = discovery_service_name = "crdb"
    namespace, secure_mode = "default", "--insecure"

    class spec:
        grpc_port = 26258


def test_a_deleted_stateful_set_is_recreated_with_its_size() -> None:
    with operated(gates=PRUNING) as world:
        world.client.create(CTX, crdb_cluster(5))
        world.until_arrived(5)
        before = uids(world)
        world.client.delete(CTX, world.stateful_set(), ctrl.client.PropagationPolicy("Orphan"))
        set_nodes(world, 3)
        # Its nodes leave one after the other, as ever.
        world.until_arrived(3)
        assert world.budget.taken == ["crdb-4", "crdb-3"]
        assert uids(world).items() <= before.items()


def test_a_node_that_the_database_does_not_let_in_stops_an_update() -> None:
    """Its pod is ready, but its volume belongs to a node that left the cluster and was not pruned."""
    with operated() as world:
        world.client.create(CTX, crdb_cluster(4))
        for nodes in (4, 3, 4):
            set_nodes(world, nodes)
            world.until_arrived(nodes)
        set_image(world, NEWER)
        world.cluster.bubble.sleep(120.0)
        assert world.budget.taken == ["crdb-3", "crdb-3"]
        assert actions(world)["PartitionedUpdate"] == ("Failed", "the node in pod 3 is not live")
        for kind, name in ((corev1.PersistentVolumeClaim, "datadir-crdb-3"), (corev1.Pod, "crdb-3")):
            world.client.delete(CTX, world.client.get(CTX, ctrl.Request("default", name), kind))
        world.until_arrived(4, NEWER)


def test_what_is_known_of_a_cluster_is_not_undone_by_an_older_look_at_it() -> None:
    lag = [0.0]
    initialized: list[str] = []

    def look(bucket: str, event: Event) -> None:
        if bucket.endswith("/crdbclusters"):
            conditions = event.new.obj.get("status", {}).get("conditions", ())
            initialized.extend(each["status"] for each in conditions if each["type"] == "Initialized")

    with operated(delay=lambda: lag[0]) as world:
        world.cluster.each_change(look)
        world.client.create(CTX, crdb_cluster())
        world.cluster.until(lambda: "crdb-2" in world.budget.pods, step=0.01)
        # It hears of the new image in a minute, and of what it writes itself before that much later still.
        lag[0] = 60.0
        set_image(world, NEWER)
        lag[0] = 200.0
        world.cluster.bubble.sleep(150.0)
        lag[0] = 0.0
        world.until_arrived(3, NEWER)
    assert initialized == sorted(initialized)


def test_a_bad_version_is_put_back() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster())
        world.until_arrived()
        set_image(world, "cockroachdb/cockroach:v23.2.0")
        world.cluster.until(lambda: "PartitionedUpdate" in actions(world))
        assert actions(world)["PartitionedUpdate"] == ("Failed", "upgrading from v22.1.3 to v23.2.0 not allowed")
        world.cluster.bubble.sleep(600.0)
        assert world.budget.taken == []
        set_image(world, IMAGE)
        world.until_arrived()
        # One that no node comes up with: it has cost one node, which comes back with the old version.
        set_image(world, NEWER)
        world.cluster.until(lambda: world.budget.taken == ["crdb-2"], step=0.1)
        world.cluster.until(lambda: "crdb-2" in world.budget.pods, step=0.1)
        world.annotate("crdb-2", ready="false")
        world.cluster.bubble.sleep(60.0)
        assert world.budget.taken == ["crdb-2"]
        set_image(world, IMAGE)
        world.until_arrived()
        assert world.budget.taken == ["crdb-2", "crdb-2"]


def test_what_cannot_be_is_refused_and_tried_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELATED_IMAGE_COCKROACH_v22_1_3", IMAGE)
    with operated() as world:
        with pytest.raises(errors.StatusError, match="should be greater than or equal to 3"):
            world.client.create(CTX, crdb_cluster(2))
        unknown = crdb_cluster(cockroachDBVersion="v1.0.0")
        unknown.spec.image = None
        world.client.create(CTX, unknown)
        world.cluster.until(lambda: "VersionCheckerAction" in actions(world))
        assert actions(world)["VersionCheckerAction"] == ("Failed", "crdb version v1.0.0 not supported")
        written = len(world.operator.writes)
        world.cluster.bubble.sleep(600.0)
        assert len(world.operator.writes) == written
        world.change(lambda crdb: setattr(crdb.spec, "cockroach_db_version", "v22.1.3"))
        world.until_arrived()
        # Without a Job: the operator knows what version that is.
        assert not any("/jobs" in write for write in world.operator.writes)
        set_size(world, "512Mi")
        world.cluster.until(lambda: "ResizePVC" in actions(world))
        assert actions(world)["ResizePVC"] == ("Failed", "cannot shrink volumes from 1Gi to 512Mi")
        restart(world, "Sideways")
        world.cluster.until(lambda: "ClusterRestart" in actions(world))
        assert "please use Rolling or FullCluster" in actions(world)["ClusterRestart"][1]


def test_an_image_that_is_no_database_is_never_deployed() -> None:
    with operated() as world:
        world.client.create(CTX, crdb_cluster(image="nginx:1.25"))
        world.cluster.until(lambda: "no version was retrieved" in str(actions(world)))
        written = len(world.operator.writes)
        world.cluster.bubble.sleep(600.0)
        assert len(world.operator.writes) == written
        assert world.budget.pods == {}
        set_image(world, IMAGE)
        world.until_arrived()


def test_what_others_change_is_put_back_and_what_is_not_its_own_is_left() -> None:
    with operated() as world:
        service = corev1.Service(metadata=metav1.ObjectMeta(name="crdb-public", namespace="default"))
        service.spec.ports.append(corev1.ServicePort(port=80))
        world.client.create(CTX, service)
        world.client.create(CTX, crdb_cluster())
        world.cluster.until(lambda: "Deploy" in actions(world))
        assert actions(world)["Deploy"] == ("Failed", "Service crdb-public belongs to somebody else")
        world.client.delete(CTX, service)
        world.until_arrived()
        found = world.stateful_set().deep_copy()
        found.spec.template.spec.containers[0].image = "evil:1"
        found.spec.update_strategy.rolling_update = appsv1.RollingUpdateStatefulSetStrategy(partition=3)
        world.client.update(CTX, found)
        world.client.delete(CTX, world.client.get(CTX, KEY, policyv1.PodDisruptionBudget))
        world.cluster.until(lambda: world.stateful_set().spec.template.spec.containers[0].image == IMAGE)
        world.until_arrived()
        world.client.get(CTX, KEY, policyv1.PodDisruptionBudget)


# ---- what may happen to it


@pytest.mark.parametrize("journey", list(JOURNEYS))
def test_killed_between_any_two_writes_it_arrives(journey: str) -> None:
    """Each write is a life's last one; and what is written in an undisturbed life is all among them."""
    with operated(gates=PRUNING) as world:
        JOURNEYS[journey](world)
        undisturbed = set(world.operator.writes)
    with operated(gates=PRUNING, dies_after=every(1)) as world:
        JOURNEYS[journey](world)
        assert world.operator.deaths == world.operator.writes
        assert undisturbed <= set(world.operator.deaths)


@settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(deaths=st.frozensets(st.integers(0, 60), min_size=1), seed=st.integers(0, 99), lag=st.sampled_from((0.0, 10.0)))
def test_whenever_it_is_killed_and_however_late_its_cache_is_it_arrives(
    deaths: frozenset[int], seed: int, lag: float
) -> None:
    with operated(gates=PRUNING, dies_after=deaths.__contains__, delay=up_to(lag, seed)) as world:
        life(world)


@pytest.mark.parametrize("seed", [1, 2])
def test_with_a_cache_that_is_behind_it_arrives(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), operated(gates=PRUNING, delay=up_to(20.0, seed)) as world:
        JOURNEYS[("changes", "life")[seed - 1]](world)
    # A cache that is behind passes by itself: it is no error, and takes one line at the default level.
    behind = [record for record in caplog.records if "The cache is behind" in record.getMessage()]
    assert {record.levelname for record in behind} == {"INFO"}
    assert not any("\n" in record.getMessage() for record in behind)


def test_before_a_node_is_taken_the_server_is_asked_and_not_the_cache() -> None:
    """The cache is up to date, except that it does not show a node's failure yet."""
    lag = [0.0]

    def look(bucket: str, event: Event) -> None:
        if bucket == "/pods" and event.new.name == "crdb-0" and not is_ready(event.new.obj):
            lag[0] = 0.0

    with operated(delay=lambda: lag[0]) as world:
        world.client.create(CTX, crdb_cluster(4))
        world.until_arrived(4)
        set_image(world, NEWER)
        world.cluster.until(lambda: world.budget.taken == ["crdb-3"], step=0.1)
        world.cluster.each_change(look)
        # It hears that the new node is ready, and that all is well otherwise, when that is no longer so.
        lag[0] = 10.0
        world.cluster.until(lambda: is_ready(world.budget.pods.get("crdb-3", {})), step=0.1)
        lag[0] = 100.0
        world.annotate("crdb-0", ready="false")
        world.cluster.bubble.sleep(60.0)
        assert (world.budget.taken, world.budget.broken) == (["crdb-3"], [])
        world.annotate("crdb-0", ready=None)
        world.until_arrived(4, NEWER)
