"""The elasticsearch-operator in virtual time: killed after its writes, reading from late caches, with nodes that fail.

Whatever happens to it: no more nodes are away than the budget allows, masters keep their quorum, no data is out of
reach, no node is restarted while copies of its data are missing elsewhere; and the cluster arrives.
"""

from __future__ import annotations

import contextlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from processes import ROOT
from programs import ImportedProgram
from virtualcluster import CTX, Life, Program, VirtualCluster, every, up_to

from clientgo import controller_runtime as ctrl
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.api.storage import v1 as storagev1
from clientgo.controller_runtime import client
from clientgo.controller_runtime.config import Controller
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions

pytestmark = pytest.mark.takes_turns(6)

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    controller = PROGRAM.module("elasticsearch.controller")
    simulated = PROGRAM.module("elasticsearch.simulated")
    label = PROGRAM.module("elasticsearch.label")
    certificates = PROGRAM.module("elasticsearch.certificates")

NAME, NAMESPACE = "quickstart", "default"
KEY = ctrl.Request(NAMESPACE, NAME)
SCHEME = main.new_scheme()
CRD = yaml.safe_load((ROOT / "cmd/elasticsearch-operator/config/crd/elasticsearches.yaml").read_text())


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def node_set(name: str, count: int, *roles: str) -> dict[str, Any]:
    return {"name": name, "count": count, "config": {"node.roles": list(roles)}}


def spec(
    masters: int = 3,
    data: int = 2,
    version: str = "8.10.0",
    name: str = "data",
    storage: str = "1Gi",
    storage_class: str = "standard",
    image: str = "",
    **pod: Any,
) -> dict[str, Any]:
    """Return the spec of an Elasticsearch. `name` is the name of its set of data nodes, whose volumes have the size
    `storage`. `pod` is merged into the pods' template.
    """
    sets = [node_set("masters", masters, "master"), node_set(name, data, "data", "ingest")]
    asked = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class}
    claim = {
        "metadata": {"name": "elasticsearch-data"},
        "spec": asked | {"resources": {"requests": {"storage": storage}}},
    }
    sets[1]["volumeClaimTemplates"] = [claim]
    return {"version": version, "image": image, "nodeSets": [{**each, "podTemplate": {"spec": pod}} for each in sets]}


class World:
    """A cluster whose state of affairs is watched from its first moment on."""

    def __init__(self, cluster: VirtualCluster, indices: str = "logs=3:1") -> None:
        self.cluster = cluster
        # Everything that is wrong, in words; asserted to be empty at the end.
        self.wrong: list[str] = []
        # What runs now, by name: documents of pods and of StatefulSets, as the store has them.
        self._pods: dict[str, Any] = {}
        self._sets: dict[str, Any] = {}
        self._budget: dict[str, Any] = {}
        self._secrets: dict[str, Any] = {}
        # The images that a Job has looked at.
        self.checked: set[str] = set()
        self.clients = simulated.SimulatedClients(self._nodes, indices=simulated.parse_indices(indices))
        self.es: Any = None
        self.failing: set[str] = set()
        self.incidents: list[str] = []
        cluster.each_change(self._look)

    def apply(self, **wanted: Any) -> None:
        """Create the resource, or change it."""
        if self.es is None:
            document = {"metadata": {"name": NAME, "namespace": NAMESPACE}, "spec": spec(**wanted)}
            made = esv1.Elasticsearch.from_dict(document)
            self.cluster.client.create(CTX, made)
            self.es = made
            return
        now = self.read()
        before = now.deep_copy()
        now.spec = esv1.ElasticsearchSpec.from_dict(spec(**wanted))
        self.cluster.client.patch(CTX, now, client.merge_from(before))

    def fail(self, pod: str, fails: bool = True) -> None:
        """Let a pod be unready until further notice; whatever its uid is then."""
        self.failing = {*self.failing, pod} if fails else self.failing - {pod}
        self._set_ready(pod)

    def pass_time(self, seconds: int) -> None:
        """Advance the clock second by second. A pod that fails does so again after it is replaced, before it is ready.
        """
        for _ in range(seconds):
            self.cluster.bubble.sleep(1.0)
            for pod in self.failing & set(self._pods):
                if "simulator/ready" not in self._pods[pod]["metadata"].get("annotations", {}):
                    self._set_ready(pod)

    def _set_ready(self, pod: str) -> None:
        found = self.cluster.client.get(CTX, ctrl.Request(NAMESPACE, pod), corev1.Pod)
        before = found.deep_copy()
        found.set_annotations({**found.get_annotations(), "simulator/ready": str(pod not in self.failing).lower()})
        self.cluster.client.patch(CTX, found, client.merge_from(before))

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self._pods.items()}

    def fail_checks(self) -> None:
        """Let each pod fail that looks at an image."""
        chosen = client.HasLabels([label.IMAGE_CHECK])
        for pod in self.cluster.client.list(CTX, corev1.PodList, chosen).items:
            failing = pod.deep_copy()
            failing.set_annotations({"simulator/phase": "Failed"})
            self.cluster.client.patch(CTX, failing, client.merge_from(pod))

    def claims(self) -> dict[str, str]:
        """Return the sizes of the data nodes' volumes."""
        found = self.cluster.client.list(CTX, corev1.PersistentVolumeClaimList).items
        return {
            each.get_name().removeprefix("elasticsearch-data-quickstart-es-"): str(each.status.capacity["storage"])
            for each in found
            if "masters" not in each.get_name()
        }

    def owners(self) -> set[str]:
        """Return the kinds of the owners of pods and claims."""
        kinds = (corev1.PodList, corev1.PersistentVolumeClaimList)
        found = [each for kind in kinds for each in self.cluster.client.list(CTX, kind).items]
        return {owner.kind for each in found for owner in each.get_owner_references()}

    def events(self, reason: str) -> list[str]:
        """Return the notes of the events with the reason, oldest first."""
        found = self.cluster.client.list(CTX, eventsv1.EventList).items
        return [each.note for each in found if each.reason == reason]

    def read(self) -> Any:
        return self.cluster.client.get(CTX, KEY, esv1.Elasticsearch)

    # ---- what there is

    def _nodes(self, es: Any) -> list[Any]:
        return [self._node(pod) for pod in self._pods.values() if _is_ready(pod)]

    def _node(self, pod: Any) -> Any:
        labels = pod["metadata"]["labels"]
        roles = tuple(role for role in label.ROLES if labels.get(label.role_label(role)) == "true")
        config = self._secrets.get(f"{labels[label.STATEFUL_SET_NAME]}-es-config") or {}
        initial = tuple(config.get("cluster.initial_master_nodes") or ())
        restarts = sum(each.get("restartCount", 0) for each in pod["status"].get("containerStatuses") or ())
        instance = f"{pod['metadata']['uid']}/{restarts}"
        return simulated.Node(pod["metadata"]["name"], instance, labels[label.VERSION], roles, initial)

    def _look(self, bucket: str, event: Any) -> None:
        """Check an event. The caller holds the store's lock, so this must not call the server."""
        obj = event.new.obj
        name = obj["metadata"]["name"]
        if bucket == "batch/jobs" and _is_complete(obj):
            self.checked.add(_image_of(obj["spec"]["template"]))
        if bucket == "/pods" and label.CLUSTER_NAME in (obj["metadata"].get("labels") or {}):
            self._look_at_pod(name, None if event.type == "DELETED" else obj)
        kept = {
            "apps/statefulsets": self._sets,
            "policy/poddisruptionbudgets": self._budget,
        }.get(bucket)
        if kept is not None:
            kept.pop(name, None) if event.type == "DELETED" else kept.__setitem__(name, obj)
        if bucket == "/secrets" and name.endswith("-es-config") and event.type != "DELETED":
            self._secrets[name] = yaml.safe_load(b64decode(obj["data"]["elasticsearch.yml"]))

    def _look_at_pod(self, name: str, pod: Any) -> None:
        before = self._pods.get(name)
        leaves = _is_ready(before) and (pod is None or pod["metadata"].get("deletionTimestamp"))
        if leaves and self.es is not None:
            self._check_leaving(name, before)
        if pod is None:
            self._pods.pop(name, None)
        else:
            self._pods[name] = pod
            image = _image_of(pod)
            if not image.startswith("docker.elastic.co") and image not in self.checked:
                self._complain(f"{name} runs {image}, at which nobody has looked")
        if self.es is not None:
            with self.clients.looking_at(self.es) as seen:
                pass
            self.incidents = list(seen.incidents)

    def _check_leaving(self, name: str, pod: Any) -> None:
        """Check that the budgets allow the deletion of a working node."""
        with self.clients.looking_at(self.es) as seen:
            health = str(seen.shards.status())
            moving = seen.health().has_shard_activity if seen.has_master else True
        left = [each for other, each in self._pods.items() if other != name and _is_ready(each)]
        size = sum(each["spec"].get("replicas", 1) for each in self._sets.values())
        if len(left) < size - 1:
            self._complain(f"{name} is taken away, and only {len(left)} of {size} are left")
        owner = self._sets.get(pod["metadata"]["labels"][label.STATEFUL_SET_NAME])
        stays = owner is not None and int(name.rpartition("-")[2]) < owner["spec"].get("replicas", 1)
        least = max((each["spec"]["minAvailable"] for each in self._budget.values()), default=0)
        if stays and len(left) < least:
            self._complain(f"{name} is restarted, {len(left)} are left and the disruption budget is {least}")
        old = pod["metadata"]["labels"][label.VERSION]
        goes_on = owner is not None and old != owner["spec"]["template"]["metadata"]["labels"][label.VERSION]
        if stays and health != "green" and not (health == "yellow" and goes_on and not moving):
            self._complain(f"{name} is restarted while health is {health}")
        if not stays and any(copy.node == name for copy in seen.shards.copies if copy.is_assigned):
            self._complain(f"{name} is removed with shards on it")

    def _complain(self, text: str) -> None:
        self.wrong.append(f"at {self.cluster.bubble.elapsed:.0f} s: {text}")

    # ---- where it is to go

    def pods(self) -> dict[str, str]:
        return {name: pod["metadata"]["labels"][label.VERSION] for name, pod in sorted(self._pods.items())}

    def until_arrived(self) -> None:
        generation = self.read().get_generation()

        def there() -> bool:
            status = self.read().status
            return bool(
                status.phase == "Ready" and status.health == "green" and status.observed_generation == generation
            )

        try:
            self.cluster.until(there, seconds=3600.0, step=2.0)
        except AssertionError as err:
            raise AssertionError(f"{err}\n{self.wrong}\n{self.read().status.to_dict()}\n{self.pods()}") from None

    def check(self) -> None:
        assert self.wrong == []
        assert self.incidents == []


def _is_ready(pod: Any) -> bool:
    if pod is None or pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _image_of(pod: Any) -> str:
    return str(pod["spec"]["containers"][0]["image"])


def _is_complete(job: Any) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


class MortalClients:
    """Clients of the cluster in which the operator may crash at each change."""

    def __init__(self, world: World, life: Life) -> None:
        self._world = world
        self._life = life

    def client_for(self, es: Any) -> Any:
        return _MortalClient(self._world.clients.client_for(es), self._life)


class _MortalClient:
    def __init__(self, api: Any, life: Life) -> None:
        self._api = api
        self._life = life

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._api, name)
        self._life.check()
        if not name.startswith(("put_", "delete_", "add_")):
            return method
        return lambda *arguments: self._life.effect(name, lambda: method(*arguments))


def fake_certificates(hosts: list[str]) -> tuple[str, str, str]:
    return "authority\n", "certificate\n", "key\n"


def operator(world: World) -> Callable[[Life], None]:
    def run(life: Life) -> None:
        options = ctrl.Options(
            scheme=SCHEME,
            metrics=MetricsOptions(bind_address="0"),
            controller=Controller(skip_name_validation=True),
            # It takes a while to find out about all kinds, and they stay the same.
            mapper_provider=lambda config, http_client: world.cluster.client.rest_mapper(),
        )
        mgr = ctrl.new_manager(life.config, options)
        reconciler = controller.ReconcileElasticsearch(
            client=mgr.get_client(),
            live=mgr.get_api_reader(),
            recorder=mgr.get_event_recorder("elasticsearch-controller"),
            clients=MortalClients(world, life),
            certificates=certificates.Certificates(mgr.get_client(), maker=fake_certificates),
        )
        reconciler.setup_with_manager(mgr)
        mgr.start(life.ctx)

    return run


@contextlib.contextmanager
def living(**options: Any) -> Iterator[tuple[World, Program]]:
    with VirtualCluster(crds=[CRD], scheme=SCHEME, ready_delay=5.0) as cluster:
        world = World(cluster)
        with Program(cluster, operator(world), **options) as program:
            yield world, program
        world.check()


def walk(world: World) -> None:
    """Create the cluster, grow it with larger volumes, upgrade it, and shrink it."""
    world.apply()
    world.until_arrived()
    uids = world.uids()
    world.apply(data=3, storage="2Gi")
    world.until_arrived()
    assert world.claims() == {f"data-{ordinal}": "2Gi" for ordinal in range(3)}
    # Under running nodes, and nothing is left of how it was done.
    assert uids.items() <= world.uids().items()
    assert world.owners() == {"StatefulSet"}
    assert not any("recreate" in each for each in world.read().get_annotations())
    # To an image of one's own, which a Job looks at before any node gets it.
    new: dict[str, Any] = {"storage": "2Gi", "version": "8.11.0", "image": "registry.example/es:8.11.0"}
    world.apply(data=3, **new)
    world.until_arrived()
    assert world.checked == {"registry.example/es:8.11.0"}
    world.apply(data=2, masters=1, **new)
    world.until_arrived()
    nodes = ("data-0", "data-1", "masters-0")
    assert world.pods() == {f"quickstart-es-{node}": "8.11.0" for node in nodes}


def test_killed_after_each_of_its_writes_it_arrives_within_its_budgets() -> None:
    with living(dies_after=every(1)) as (world, program):
        walk(world)
    assert len(program.deaths) == len(program.writes) > 50


def test_killed_now_and_then_with_a_late_cache_it_moves_all_data_to_other_nodes() -> None:
    with living(dies_after=every(5, offset=3), delay=up_to(15.0, seed=6)) as (world, program):
        world.apply()
        world.until_arrived()
        world.apply(name="hot")
        world.until_arrived()
        moved = [name for name in world.pods() if "masters" not in name]
        assert moved == ["quickstart-es-hot-0", "quickstart-es-hot-1"]
    assert len(program.deaths) > 10


def test_with_a_cache_that_is_later_than_a_node_needs_to_restart_it_keeps_its_budgets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with living(delay=up_to(15.0, seed=2)) as (world, _program):
        walk(world)
    assert world.cluster.bubble.elapsed > 200.0
    # A cache that is behind passes by itself: it is no error, and takes one line.
    behind = [record for record in caplog.records if "The cache is behind" in record.getMessage()]
    assert behind
    assert {record.levelname for record in behind} == {"INFO"}
    assert not any("\n" in record.getMessage() for record in behind)
    assert not any("Reconciler error" in message and "has been modified" in message for message in caplog.messages)


def test_while_a_node_fails_no_other_is_taken_away() -> None:
    failing = "data-0"
    with living() as (world, _program):
        world.apply()
        world.until_arrived()
        world.fail(f"quickstart-es-{failing}")
        uids = world.uids()
        world.apply(priorityClassName="system-cluster-critical")
        world.pass_time(120)

        # The failing node may be restarted, since that may repair it. The others may not.
        assert {name: uid for name, uid in world.uids().items() if failing not in name} == {
            name: uid for name, uid in uids.items() if failing not in name
        }
        operations = world.read().status.in_progress_operations
        held = {node.name: node.predicate for node in operations.upgrade.nodes}
        assert held["quickstart-es-data-1"] == "do_not_restart_healthy_node_if_MaxUnavailable_reached"

        world.fail(f"quickstart-es-{failing}", fails=False)
        world.until_arrived()
        assert not set(uids.values()) & set(world.uids().values())


def test_no_node_that_works_is_removed_while_too_many_are_away() -> None:
    with living() as (world, _program):
        world.apply(masters=5)
        world.until_arrived()
        for ordinal in (0, 1):
            world.fail(f"quickstart-es-masters-{ordinal}")
        world.pass_time(30)
        world.apply(masters=3)
        world.pass_time(120)
        assert len(world.pods()) == 7
        for ordinal in (0, 1):
            world.fail(f"quickstart-es-masters-{ordinal}", fails=False)
        world.until_arrived()
        assert len(world.pods()) == 5


def test_data_that_has_nowhere_to_go_keeps_its_node() -> None:
    with living() as (world, _program):
        world.apply()
        world.until_arrived()
        world.apply(data=1)
        world.cluster.until(lambda: world.read().status.phase == "Stalled", seconds=600.0)
        (node,) = world.read().status.in_progress_operations.downscale.nodes
        assert (node.name, node.shutdown_status) == ("quickstart-es-data-1", "STALLED")
        assert "have no other node that they could move to" in node.explanation
        world.apply(data=2)
        world.until_arrived()


def test_a_specification_that_never_ran_is_replaced_without_a_reachable_cluster() -> None:
    with living() as (world, _program):
        world.apply(nodeSelector={"disk": "none"})
        world.pass_time(30)
        assert world.read().status.phase == "ApplyingChanges"
        assert len(world.pods()) == 5
        world.apply()
        world.until_arrived()


# ---- images


def test_no_node_gets_an_image_that_holds_another_version() -> None:
    with living() as (world, program):
        world.apply(masters=1)
        world.until_arrived()
        uids, written = world.uids(), len(program.writes)
        world.apply(masters=1, data=3, version="8.11.0", image="registry.example/es:8.10.9")
        world.cluster.until(lambda: world.fail_checks() or world.read().status.phase == "Invalid", seconds=600.0)
        world.pass_time(60)
        (note,) = world.events("Refused")
        assert note == "image registry.example/es:8.10.9 does not hold Elasticsearch 8.11.0, or does not run"
        assert _reason(world) == note
        assert world.uids() == uids
        changed = [each for each in program.writes[written:] if "/jobs" not in each and "/status" not in each]
        assert changed == []
        world.apply(masters=1, data=3)
        world.until_arrived()
        # Nothing is left of it.
        world.pass_time(10)
        assert world.cluster.client.list(CTX, batchv1.JobList).items == []
        assert len(world.cluster.client.list(CTX, corev1.PodList).items) == 4


# ---- volumes


def test_what_is_no_growth_is_refused_in_words_and_changes_nothing() -> None:
    with living() as (world, program):
        slow = storagev1.StorageClass.from_dict({"metadata": {"name": "slow"}, "provisioner": "none"})
        world.cluster.client.create(CTX, slow)
        world.apply(masters=1, storage="2Gi")
        world.until_arrived()
        written = len(program.writes)

        def refused(message: str, **wanted: Any) -> None:
            world.apply(masters=1, data=3, **wanted)
            world.cluster.until(lambda: message in _reason(world))
            world.pass_time(60)
            assert world.read().status.phase == "Invalid"
            assert len([note for note in world.events("Refused") if message in note]) == 1

        refused("decreasing storage size is not supported", storage="1Gi")
        refused("any other change is forbidden", storage="2Gi", storage_class="slow")
        assert all("/status" in write for write in program.writes[written:])
        # Only the spelling differs.
        world.apply(masters=1, storage="2048Mi")
        world.until_arrived()
        # A class that allows it later.
        world.apply(masters=1, name="cold", storage="2Gi", storage_class="slow")
        world.until_arrived()
        refused(
            "claim elasticsearch-data (storage class slow) does not support volume expansion",
            name="cold",
            storage="3Gi",
            storage_class="slow",
        )
        slow.allow_volume_expansion = True
        world.cluster.client.update(CTX, slow)
        world.until_arrived()
        assert world.claims() == {f"cold-{ordinal}": "3Gi" for ordinal in range(3)}
        assert world.events("VolumeExpansion") == [
            "Expanding the volumes of StatefulSet quickstart-es-cold: elasticsearch-data from 2Gi to 3Gi"
        ]


def _reason(world: World) -> str:
    conditions = world.read().status.conditions
    return next((each.message for each in conditions if each.type == "ReconciliationComplete"), "")
