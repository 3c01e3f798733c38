"""One step of the simulated scheduler, kubelet, volumes, budgets and endpoints at a time. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from fakeworld import NOW, World

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.api.policy import v1 as policyv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.kubernetes import fake
from clientgo.testing.apiserver.simulator import pods as kubelet
from clientgo.testing.apiserver.simulator import scheduler
from clientgo.testing.apiserver.simulator.budgets import Budgets
from clientgo.testing.apiserver.simulator.claims import Claims
from clientgo.testing.apiserver.simulator.endpoints import Endpoints
from clientgo.testing.apiserver.simulator.nodes import Nodes
from clientgo.testing.apiserver.simulator.volumes import Volumes

CTX = context.background()
GOING = "2020-09-13T12:00:00Z"
GET = metav1.GetOptions()
Json = dict[str, Any]


class Lister:
    """A lister of given objects, for any namespace."""

    def __init__(self, *objects: Any) -> None:
        self.objects = {one.metadata.name: one for one in objects}

    def __call__(self, namespace: str) -> Lister:
        return self

    pods = services = pod_disruption_budgets = __call__

    def get(self, name: str) -> Any:
        if name not in self.objects:
            raise errors.new_not_found(corev1.resource("things"), name)
        return self.objects[name]

    def list(self, selector: Any) -> Any:
        return [*self.objects.values()]


# ---- the scheduler: which node takes a pod


def a_node(name: str = "n", *, ready: str = "True", labels: Json | None = None, **spec: Any) -> Json:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": {"conditions": conditions}}


def tainted(effect: str = "NoSchedule", **taint: Any) -> Json:
    return a_node(taints=[{"key": "k", "value": "v", "effect": effect, **taint}])


def a_pod(**spec: Any) -> Json:
    return {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": spec}


def tolerating(**toleration: Any) -> Json:
    return a_pod(tolerations=[toleration])


def at_nodes(*terms: list[list[str]]) -> Json:
    """Return a pod whose affinity has a term for each argument: lists of names that all have to hold."""
    found = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": v} for v in term]} for term in terms]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": found}}
    return a_pod(affinity={"nodeAffinity": required})


CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint {k: v}"
UNMATCHED = "node(s) didn't match Pod's node affinity/selector"
NOT_READY = "node(s) were not ready"


@pytest.mark.parametrize(
    ("node", "pod", "obstacle"),
    [
        (a_node(), a_pod(), ""),
        (a_node(ready="False"), a_pod(), NOT_READY),
        (a_node(ready="Unknown"), a_pod(), NOT_READY),
        ({"metadata": {"name": "n"}}, a_pod(), NOT_READY),
        (a_node(unschedulable=True), a_pod(), CORDONED),
        (a_node(unschedulable=False), a_pod(), ""),
        (a_node(unschedulable=True), tolerating(operator="Exists"), ""),
        (a_node(unschedulable=True), tolerating(key="node.kubernetes.io/unschedulable", operator="Exists"), ""),
        (a_node(unschedulable=True), tolerating(key="k", operator="Exists"), CORDONED),
        (tainted(), a_pod(), TAINTED),
        (tainted("NoExecute"), a_pod(), TAINTED),
        (tainted("PreferNoSchedule"), a_pod(), ""),
        (a_node(taints=[{"key": "k", "effect": "NoSchedule"}]), a_pod(), "node(s) had untolerated taint {k: }"),
        (tainted(), tolerating(operator="Exists"), ""),
        (tainted(), tolerating(key="k", operator="Exists"), ""),
        (tainted(), tolerating(key="other", operator="Exists"), TAINTED),
        (tainted(), tolerating(key="k", value="v"), ""),
        (tainted(), tolerating(key="k", value="v", operator="Equal"), ""),
        (tainted(), tolerating(key="k", value="other"), TAINTED),
        (tainted(), tolerating(key="k"), TAINTED),
        (tainted(value=""), tolerating(key="k"), ""),
        # A value alone is no toleration: without a key the operator has to be Exists.
        (tainted(), tolerating(value="v"), TAINTED),
        (tainted(), tolerating(key="k", operator="Exists", effect="NoSchedule"), ""),
        (tainted(), tolerating(key="k", operator="Exists", effect=""), ""),
        (tainted(), tolerating(key="k", operator="Exists", effect="NoExecute"), TAINTED),
        (tainted(), a_pod(tolerations=[{"key": "x"}, {"key": "k", "operator": "Exists"}]), ""),
        (a_node(labels={"a": "b", "c": "d"}), a_pod(nodeSelector={"a": "b"}), ""),
        (a_node(labels={"a": "x"}), a_pod(nodeSelector={"a": "b"}), UNMATCHED),
        (a_node(), a_pod(nodeSelector={"a": "b"}), UNMATCHED),
        (a_node(labels={"a": "b"}), a_pod(nodeSelector={"a": "b", "c": "d"}), UNMATCHED),
        (a_node(), at_nodes([["n"]]), ""),
        (a_node(), at_nodes([["other"]]), UNMATCHED),
        (a_node(), at_nodes([["other"]], [["n"]]), ""),
        (a_node(), at_nodes([["n"], ["other"]]), UNMATCHED),
        (a_node(), at_nodes([["other", "n"]]), ""),
        (a_node(), at_nodes(), ""),
        (a_node(ready="False", unschedulable=True), a_pod(), CORDONED),
    ],
)
def test_a_node_takes_a_pod_or_there_is_a_reason(node: Json, pod: Json, obstacle: str) -> None:
    assert scheduler._obstacle(node, pod) == obstacle
    assert scheduler.takes(node, pod) == (obstacle in ("", NOT_READY))


class Scheduling(World):
    """A scheduler whose bindings are only recorded."""

    def __init__(self, *objects: Any, cached: tuple[Any, ...] = ()) -> None:
        super().__init__(*objects)
        lister: Any = Lister(*cached)
        self.scheduler = scheduler.Scheduler(self.client, lister, self.times, self.recorder)
        self.bound: list[str] = []

    def schedule(self, pod: corev1.Pod) -> None:
        self.scheduler._bind = self._bind  # type: ignore[method-assign]
        self.scheduler.schedule(CTX, pod)

    def _bind(self, ctx: Any, pod: corev1.Pod, node: str) -> None:
        self.bound.append(node)
        self.scheduler._given[node] += 1


def nodes(*documents: Json) -> list[corev1.Node]:
    return [corev1.Node.from_dict(one) for one in documents]


def using(*claims: str, **more: Any) -> corev1.Pod:
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    document = a_pod(volumes=[{"name": "e", "emptyDir": {}}, *volumes])
    return corev1.Pod.from_dict({**document, **more})


def a_claim(name: str = "c", *, phase: str = "Bound", **more: Any) -> corev1.PersistentVolumeClaim:
    """Return a claim for 1Gi."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": more.pop("wants", "1Gi")}}}
    spec |= {key: more.pop(key) for key in ("volumeName", "storageClassName", "volumeMode") if key in more}
    status = {"phase": phase, "capacity": {"storage": more.pop("has", "1Gi")}} if phase else {}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", **more}
    return corev1.PersistentVolumeClaim.from_dict({"metadata": metadata, "spec": spec, "status": status})


def test_the_node_with_the_fewest_pods_gets_the_next_one_and_the_first_by_name_among_equals() -> None:
    world = Scheduling(*nodes(a_node("b"), a_node("a"), a_node("c", unschedulable=True)))
    for _ in range(4):
        world.schedule(using())

    assert world.bound == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("objects", "claims", "message"),
    [
        ([], [], "no nodes available to schedule pods"),
        (nodes(a_node("a", unschedulable=True)), [], f"0/1 nodes are available: 1 {CORDONED}."),
        (nodes(a_node("a", unschedulable=True), a_node("b", ready="False"), a_node("c", ready="False")), [],
         f"0/3 nodes are available: 2 {NOT_READY}, 1 {CORDONED}."),
        (nodes(a_node()), ["c"], '0/1 nodes are available: 1 persistentvolumeclaim "c" not found.'),
        ([*nodes(a_node()), a_claim(phase="Pending")], ["c"],
         "0/1 nodes are available: 1 pod has unbound immediate PersistentVolumeClaims."),
        ([*nodes(a_node()), a_claim()], ["c", "d"],
         '0/1 nodes are available: 1 persistentvolumeclaim "d" not found.'),
    ],
)  # fmt: skip
def test_a_pod_that_no_node_takes_says_why_once(objects: list[Any], claims: list[str], message: str) -> None:
    before = [{"type": "Other", "status": "True"}]
    pod = using(*claims, status={"conditions": before})
    world = Scheduling(*objects, pod)
    world.schedule(pod)

    found = world.client.core_v1().pods("ns").get(CTX, "p", GET)
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    conditions = found.to_dict()["status"]["conditions"]
    assert conditions[0] == before[0]
    assert {key: conditions[1][key] for key in condition} == condition
    assert conditions[1]["lastTransitionTime"] == NOW
    assert world.events() == [f"Warning FailedScheduling {message}"]

    world.schedule(found)
    assert (world.events(), world.writes()) == ([], ["update pods/status"])
    assert world.bound == []


def test_a_pod_whose_claims_are_bound_gets_a_node() -> None:
    pod = using("c")
    world = Scheduling(*nodes(a_node()), a_claim(), pod)
    world.schedule(pod)

    assert world.bound == ["n"]


@pytest.mark.parametrize(
    ("node", "pod", "leaves"),
    [
        (a_node(), a_pod(), False),
        (tainted("NoSchedule"), a_pod(), False),
        (tainted("NoExecute"), a_pod(), True),
        (tainted("NoExecute"), tolerating(operator="Exists"), False),
        (a_node("other"), a_pod(), False),
    ],
)
def test_a_taint_that_executes_drives_pods_away(node: Json, pod: Json, leaves: bool) -> None:
    world = Scheduling(cached=tuple(nodes(node)))
    one = corev1.Pod.from_dict({**pod, "spec": {**pod["spec"], "nodeName": "n"}})

    assert world.scheduler.must_leave(one) is leaves
    assert world.scheduler.is_node_ready("n") is (node["metadata"]["name"] == "n")


@pytest.mark.parametrize("ready", ["True", "False", "Unknown"])
def test_a_node_is_ready_when_its_condition_is_true(ready: str) -> None:
    world = Scheduling(cached=tuple(nodes(a_node(ready=ready))))

    assert world.scheduler.is_node_ready("n") is (ready == "True")


# ---- the kubelet


class Kubelet(World):
    def __init__(self, pod: corev1.Pod, node: Json | None = None, delay: float = 5.0) -> None:
        super().__init__(pod)
        self.later: list[tuple[str, float]] = []
        self.scheduled: list[str] = []
        known = nodes(node or a_node())
        lister: Any = Lister(*known)
        scheduling = scheduler.Scheduler(self.client, lister, self.times, self.recorder)
        scheduling.schedule = lambda ctx, pod: self.scheduled.append(pod.metadata.name)  # type: ignore[method-assign]
        self.pods = kubelet.Pods(
            self.client,
            self,  # type: ignore[arg-type]
            scheduling,
            self.times,
            lambda component: self.recorder,
            lambda key, seconds: self.later.append((key, seconds)),
            delay,
        )

    def get(self, name: str) -> corev1.Pod:
        return self.client.core_v1().pods("ns").get(CTX, name, GET)

    def sync(self, after: float = 0.0) -> Json:
        """Return the pod's status after one sync, some seconds later."""
        self.clock.step(after)
        self.pods._lister = SimpleNamespace(pods=lambda namespace: self)  # type: ignore[assignment]
        self.pods.sync(CTX, "ns", "p")
        found: Json = self.get("p").to_dict().get("status") or {}
        return found

    def conditions(self) -> dict[str, str]:
        found = self.get("p").to_dict()["status"]["conditions"]
        return {one["type"]: f"{one['status']} {one.get('reason', '')}".strip() for one in found}

    def annotate(self, **notes: str) -> None:
        one = self.get("p").to_dict()
        one["metadata"]["annotations"] = {f"simulator/{name}": text for name, text in notes.items()}
        self.client.core_v1().pods("ns").update(CTX, corev1.Pod.from_dict(one), metav1.UpdateOptions())


def bound(*, owner: str = "ReplicaSet", **status: Any) -> corev1.Pod:
    owners = [{"apiVersion": "v1", "kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
    metadata = {"name": "p", "namespace": "ns", "uid": "u", "ownerReferences": owners}
    spec = {"nodeName": "n", "containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}
    return corev1.Pod.from_dict({"metadata": metadata, "spec": spec, "status": status})


READY = {"PodReadyToStartContainers": "True", "Initialized": "True", "Ready": "True", "ContainersReady": "True",
         "PodScheduled": "True"}  # fmt: skip
OVER = {**READY, **dict.fromkeys(("PodReadyToStartContainers", "Ready", "ContainersReady"), "False PodCompleted")}
UNREADY = {**READY, **dict.fromkeys(("Ready", "ContainersReady"), "False ContainersNotReady")}


def running(**more: Any) -> Kubelet:
    world = Kubelet(bound(**more), delay=0.0)
    world.sync()
    world.pods._ready_delay = 5.0
    world.events()
    return world


def test_a_pod_runs_after_its_delay_and_its_events_say_so() -> None:
    world = Kubelet(bound())

    assert world.sync() == {}
    assert world.sync(after=2.0) == {}
    assert world.later == [("ns/p", 5.0), ("ns/p", 3.0)]
    status = world.sync(after=3.0)
    assert (status["phase"], status["startTime"], status["hostIP"]) == ("Running", "2020-09-13T12:26:45Z", "10.0.0.1")
    assert status["podIPs"] == [{"ip": status["podIP"]}]
    assert world.conditions() == READY
    for one, name, image in zip(status["containerStatuses"], "ab", "ij", strict=True):
        assert (one["name"], one["image"], one["ready"], one["started"]) == (name, image, True, True)
        assert one["restartCount"] == 0
        assert one["state"] == {"running": {"startedAt": "2020-09-13T12:26:45Z"}}
    assert world.events() == [
        text
        for name, image in zip("ab", "ij", strict=True)
        for text in (
            f'Normal Pulled Container image "{image}" already present on machine',
            f"Normal Created Created container: {name}",
            f"Normal Started Started container {name}",
        )
    ]
    assert len(world.later) == 2


def test_a_pod_without_a_node_is_scheduled_and_one_that_is_deleted_goes() -> None:
    waits = Kubelet(corev1.Pod.from_dict(a_pod()))
    waits.sync()
    assert waits.scheduled == ["p"]

    one = bound().to_dict()
    one["metadata"]["deletionTimestamp"] = GOING
    goes = Kubelet(corev1.Pod.from_dict(one))
    with pytest.raises(errors.StatusError, match="not found"):
        goes.sync()
    delete: Any
    (delete,) = [action for action in goes.client.actions() if action.get_verb() == "delete"]
    assert delete.get_delete_options().grace_period_seconds == 0
    assert delete.get_delete_options().preconditions.uid == "u"


def test_a_pod_leaves_a_node_that_drives_it_away() -> None:
    world = Kubelet(bound(), tainted("NoExecute"))
    with pytest.raises(errors.StatusError, match="not found"):
        world.sync()

    assert world.events() == ["Normal TaintManagerEviction Marking for deletion Pod ns/p"]
    assert world.writes() == ["delete pods"]


@pytest.mark.parametrize(
    ("phase", "code", "reason"), [("Succeeded", 0, "Completed"), ("Failed", 1, "Error")]
)
def test_a_pod_ends_as_its_annotation_says(phase: str, code: int, reason: str) -> None:
    world = running()
    world.annotate(phase=phase)
    status = world.sync(after=10.0)

    assert status["phase"] == phase
    assert world.conditions() == OVER
    for one in status["containerStatuses"]:
        ended = {"exitCode": code, "reason": reason, "startedAt": NOW, "finishedAt": "2020-09-13T12:26:50Z"}
        assert (one["ready"], one["started"], one["state"]) == (False, False, {"terminated": ended})
    before = world.writes()
    world.sync()
    assert world.writes() == before


def test_an_annotation_that_names_no_end_ends_nothing() -> None:
    world = running()
    world.annotate(phase="Running")

    assert world.sync()["phase"] == "Running"


@pytest.mark.parametrize(("owner", "ends"), [("Job", True), ("ReplicaSet", False), ("", False)])
def test_only_the_pods_of_a_job_end_by_themselves(owner: str, ends: bool) -> None:
    world = running(owner=owner)
    world.sync()
    status = world.sync(after=5.0)

    assert status["phase"] == ("Succeeded" if ends else "Running")
    assert world.later == ([("ns/p", 5.0)] if ends else [])


def test_a_pod_that_crashes_counts_it_and_is_ready_again_with_the_next_step() -> None:
    world = running()
    world.annotate(crash="1")
    status = world.sync(after=10.0)

    now = "2020-09-13T12:26:50Z"
    ended = {"exitCode": 1, "reason": "Error", "startedAt": NOW, "finishedAt": now}
    assert world.conditions() == UNREADY
    for one in status["containerStatuses"]:
        assert (one["ready"], one["restartCount"]) == (False, 1)
        assert one["lastState"] == {"terminated": ended}
        assert one["state"] == {"running": {"startedAt": now}}
    assert world.events() == [f"Warning BackOff Back-off restarting failed container {name} in pod p" for name in "ab"]
    world.sync()
    assert world.conditions() == READY
    world.annotate(crash="2")
    assert [one["restartCount"] for one in world.sync()["containerStatuses"]] == [2, 2]
    world.sync()
    assert world.conditions() == READY
    before = world.writes()
    world.sync()
    assert world.writes() == before


def test_a_pod_is_as_ready_as_its_annotation_and_its_node_say() -> None:
    world = running()
    world.annotate(ready="false")
    status = world.sync(after=10.0)
    assert world.conditions() == UNREADY
    assert [one["ready"] for one in status["containerStatuses"]] == [False, False]
    changed = {one["type"]: one["lastTransitionTime"] for one in status["conditions"]}
    assert changed["Ready"] == changed["ContainersReady"] == "2020-09-13T12:26:50Z"
    assert changed["Initialized"] == NOW

    world.annotate(ready="true")
    status = world.sync()
    assert world.conditions() == READY
    assert [one["ready"] for one in status["containerStatuses"]] == [True, True]

    world.pods._scheduler._nodes = Lister(*nodes(a_node(ready="False")))  # type: ignore[assignment]
    world.sync()
    assert world.conditions() == UNREADY


def test_how_long_a_pod_is_ready_counts_from_its_last_change() -> None:
    world = running()
    world.clock.step(7.0)
    assert kubelet.ready_for(world.get("p"), world.times) == 7.0
    world.annotate(ready="false")
    world.sync()
    assert kubelet.ready_for(world.get("p"), world.times) == 0.0


# ---- claims and volumes


def a_volume(name: str = "pvc-uid-c", *, phase: str = "Bound", **more: Any) -> corev1.PersistentVolume:
    reference = {"namespace": "ns", "name": "c", "uid": "uid-c", **more.pop("claim", {})}
    spec = {"capacity": {"storage": "1Gi"}, "persistentVolumeReclaimPolicy": more.pop("policy", "Delete")}
    if reference["name"]:
        spec["claimRef"] = reference
    return corev1.PersistentVolume.from_dict(
        {"metadata": {"name": name, **more}, "spec": spec, "status": {"phase": phase}}
    )


class Storage(World):
    def sync(self) -> list[str]:
        Claims(self.client, self.recorder).sync(CTX, "ns", "c")
        return self.events()

    def claim(self) -> Json:
        found: Json = self.client.core_v1().persistent_volume_claims("ns").get(CTX, "c", GET).to_dict()
        return found

    def volumes(self) -> dict[str, Json]:
        items = self.client.core_v1().persistent_volumes().list(CTX, metav1.ListOptions()).items
        return {one.metadata.name: one.to_dict() for one in items}


@pytest.mark.parametrize(
    ("given", "storage_class", "mode"),
    [({}, "standard", "Filesystem"), ({"storageClassName": "s", "volumeMode": "Block"}, "s", "Block")],
)
def test_a_new_claim_gets_a_volume_of_its_size(given: Json, storage_class: str, mode: str) -> None:
    world = Storage(a_claim(phase="", **given))

    assert world.sync() == ["Normal ProvisioningSucceeded Successfully provisioned volume pvc-uid-c"]
    claim, volume = world.claim(), world.volumes()["pvc-uid-c"]
    assert claim["spec"]["volumeName"] == "pvc-uid-c"
    assert claim["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    assert volume["status"]["phase"] == "Bound"
    assert volume["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": "simulator/hostpath"}
    reference = volume["spec"].pop("claimRef")
    assert (reference["kind"], reference["namespace"], reference["name"], reference["uid"]) == (
        "PersistentVolumeClaim", "ns", "c", "uid-c",
    )  # fmt: skip
    assert volume["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/simulated/pvc-uid-c", "type": ""},
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": storage_class,
        "volumeMode": mode,
    }


def test_a_claim_whose_volume_exists_already_is_bound_to_it() -> None:
    world = Storage(a_claim(phase=""), a_volume(phase="Pending"))
    world.sync()

    assert world.volumes()["pvc-uid-c"]["status"]["phase"] == "Bound"
    assert world.claim()["status"]["phase"] == "Bound"


@pytest.mark.parametrize(
    ("claim", "writes", "events"),
    [
        # It has what it asks for.
        (a_claim(volumeName="pvc-uid-c"), [], []),
        (a_claim(volumeName="pvc-uid-c", wants="1024Mi"), [], []),
        (a_claim(volumeName="pvc-uid-c", wants="500Mi"), [], []),
        (a_claim(volumeName="pvc-uid-c", phase="Pending"), ["update persistentvolumeclaims/status"], []),
        (a_claim(volumeName="pvc-uid-c", wants="2Gi"),
         ["update persistentvolumes", "update persistentvolumeclaims/status"],
         ["Normal FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume"]),
        # A deleted claim waits for its pods only.
        (a_claim(volumeName="pvc-uid-c", deletionTimestamp=GOING), [], []),
        (a_claim(volumeName="pvc-uid-c", deletionTimestamp=GOING, finalizers=["mine"]), [], []),
        (a_claim(volumeName="pvc-uid-c", deletionTimestamp=GOING, finalizers=["kubernetes.io/pvc-protection"]),
         ["update persistentvolumeclaims"], []),
    ],
)  # fmt: skip
def test_a_claim_takes_one_step(claim: Any, writes: list[str], events: list[str]) -> None:
    world = Storage(claim, a_volume())

    assert (world.sync(), world.writes()) == (events, writes)


def test_a_claim_that_grows_has_a_volume_of_the_new_size() -> None:
    world = Storage(a_claim(volumeName="pvc-uid-c", wants="2Gi"), a_volume())
    world.sync()

    assert world.volumes()["pvc-uid-c"]["spec"]["capacity"] == {"storage": "2Gi"}
    assert world.claim()["status"]["capacity"] == {"storage": "2Gi"}


@pytest.mark.parametrize(("used_by", "left"), [("c", True), ("other", False)])
def test_a_deleted_claim_stays_while_a_pod_uses_it(used_by: str, left: bool) -> None:
    finalizers = ["mine", "kubernetes.io/pvc-protection"]
    claim = a_claim(volumeName="pvc-uid-c", deletionTimestamp=GOING, finalizers=finalizers)
    world = Storage(claim, using(used_by))
    world.sync()

    assert world.claim()["metadata"]["finalizers"] == (finalizers if left else ["mine"])


@pytest.mark.parametrize(
    ("volume", "left"),
    [
        (a_volume("v"), None),
        (a_volume("v", phase="Released"), None),
        (a_volume("v", policy="Retain"), "Released"),
        (a_volume("v", claim={"name": "other"}), "Bound"),
        (a_volume("v", claim={"namespace": "other"}), "Bound"),
        (a_volume("v", claim={"name": ""}), "Bound"),
        # Its claim is another one of that name, which is gone too.
        (a_volume("v", claim={"uid": "older"}), None),
    ],
)
def test_the_volume_of_a_claim_that_is_gone_goes_unless_its_policy_keeps_it(
    volume: corev1.PersistentVolume, left: str | None
) -> None:
    world = Storage(volume)
    world.sync()

    assert {name: one["status"]["phase"] for name, one in world.volumes().items()} == ({"v": left} if left else {})


@pytest.mark.parametrize(("uid", "stays"), [("older", False), ("uid-c", True), ("", True)])
def test_a_new_claim_lets_go_the_volume_of_one_that_had_its_name(uid: str, stays: bool) -> None:
    world = Storage(a_claim(phase=""), a_volume("v", claim={"uid": uid}))
    world.sync()

    assert ("v" in world.volumes()) is stays


def test_there_is_one_storage_class_by_default() -> None:
    world = World()
    claims = Claims(world.client, world.recorder)
    claims.make_storage_class(CTX)
    claims.make_storage_class(CTX)  # at the next start it exists

    (one,) = world.client.storage_v1().storage_classes().list(CTX, metav1.ListOptions()).items
    document = one.to_dict()
    assert document["metadata"]["name"] == "standard"
    assert document["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert {key: document[key] for key in document if key not in ("metadata", "kind", "apiVersion")} == {
        "provisioner": "simulator/hostpath",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
        "allowVolumeExpansion": True,
    }


PROTECTED: Json = {"finalizers": ["mine", "kubernetes.io/pv-protection"]}


@pytest.mark.parametrize(
    ("volume", "finalizers"),
    [
        (a_volume("v", deletionTimestamp=GOING, phase="Released", **PROTECTED), ["mine"]),
        (a_volume("v", deletionTimestamp=GOING, **PROTECTED), PROTECTED["finalizers"]),
        (a_volume("v", phase="Released", **PROTECTED), PROTECTED["finalizers"]),
        (a_volume("v", deletionTimestamp=GOING, phase="Released", finalizers=["mine"]), ["mine"]),
    ],
)
def test_a_deleted_volume_is_protected_while_a_claim_has_it(
    volume: corev1.PersistentVolume, finalizers: list[str]
) -> None:
    world = World(volume)
    Volumes(world.client).sync(CTX, "", "v")

    assert world.client.core_v1().persistent_volumes().get(CTX, "v", GET).metadata.finalizers == finalizers
    assert bool(world.writes()) == (finalizers != volume.metadata.finalizers)


NEW = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
MINE = {"key": "mine", "effect": "NoSchedule"}
EXECUTES = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("taints", "ready", "left"),
    [
        ([NEW, MINE], "True", [MINE]),
        ([NEW, MINE], "False", [NEW, MINE]),
        ([NEW], "Unknown", [NEW]),
        ([EXECUTES, MINE], "True", [EXECUTES, MINE]),
        ([], "True", []),
    ],
)
def test_a_node_that_becomes_ready_opens(taints: list[Json], ready: str, left: list[Json]) -> None:
    world = World(*nodes(a_node(ready=ready, taints=taints)))
    Nodes(world.client).sync(CTX, "", "n")

    found = world.client.core_v1().nodes().get(CTX, "n", GET).to_dict()["spec"].get("taints") or []
    assert found == left
    assert bool(world.writes()) == (left != taints)


def test_what_is_gone_needs_no_step() -> None:
    world = World()
    Nodes(world.client).sync(CTX, "", "n")
    Volumes(world.client).sync(CTX, "", "v")

    assert world.writes() == []


# ---- budgets


def workload(kind: str, name: str, replicas: int, owner: str = "") -> Any:
    cls = {"ReplicaSet": appsv1.ReplicaSet, "StatefulSet": appsv1.StatefulSet, "Deployment": appsv1.Deployment}[kind]
    owners = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": owner, "controller": True}]
    metadata = {"name": name, "namespace": "ns", "uid": name, "ownerReferences": owners if owner else []}
    return cls.from_dict({"metadata": metadata, "spec": {"replicas": replicas}})  # type: ignore[attr-defined]


def member(name: str, owner: str = "", *, ready: bool = True, phase: str = "Running", **more: Any) -> corev1.Pod:
    kind, _, of = owner.partition("/")
    owners = [{"apiVersion": "apps/v1", "kind": kind, "name": of, "uid": of, "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "ns", "uid": name, "labels": {"a": "b"}, "ownerReferences": owners, **more}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]}
    return corev1.Pod.from_dict({"metadata": metadata, "spec": {}, "status": status})


def budget(*, status: Json | None = None, **spec: Any) -> policyv1.PodDisruptionBudget:
    document = {
        "metadata": {"name": "b", "namespace": "ns", "generation": 4},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, **spec},
        "status": status or {},
    }
    return policyv1.PodDisruptionBudget.from_dict(document)


class Guarded(World):
    def sync(self) -> Json:
        Budgets(self.client, Lister(), self.times).sync(CTX, "ns", "b")  # type: ignore[arg-type]
        found: Json = self.client.policy_v1().pod_disruption_budgets("ns").get(CTX, "b", GET).to_dict()["status"]
        return found


THREE = [member(name, "ReplicaSet/r") for name in "xyz"]
SET = [workload("ReplicaSet", "r", 3)]


@pytest.mark.parametrize(
    ("spec", "objects", "numbers"),
    [
        # Expected, desired, healthy, allowed.
        ({"minAvailable": 2}, [*SET, *THREE], (3, 2, 3, 1)),
        ({"minAvailable": 4}, [*SET, *THREE], (3, 4, 3, 0)),
        ({"minAvailable": "50%"}, [*SET, *THREE], (3, 2, 3, 1)),
        ({"minAvailable": "34%"}, [*SET, *THREE], (3, 2, 3, 1)),
        ({"minAvailable": "33%"}, [*SET, *THREE], (3, 1, 3, 2)),
        ({"maxUnavailable": 1}, [*SET, *THREE], (3, 2, 3, 1)),
        ({"maxUnavailable": "34%"}, [*SET, *THREE], (3, 1, 3, 2)),
        ({"maxUnavailable": 4}, [*SET, *THREE], (3, 0, 3, 3)),
        ({}, [*SET, *THREE], (3, 0, 3, 3)),
        ({"minAvailable": 0}, [], (0, 0, 0, 0)),
        ({"maxUnavailable": 1}, [], (0, 0, 0, 0)),
        # What its owners ask for counts, not the pods there are.
        ({"maxUnavailable": 1}, [workload("ReplicaSet", "r", 5), *THREE], (5, 4, 3, 0)),
        ({"maxUnavailable": 1}, [workload("StatefulSet", "s", 2), member("x", "StatefulSet/s")], (2, 1, 1, 0)),
        ({"maxUnavailable": 1},
         [workload("Deployment", "d", 4), workload("ReplicaSet", "r", 3, "d"), workload("ReplicaSet", "q", 1, "d"),
          *THREE, member("w", "ReplicaSet/q")], (4, 3, 4, 1)),
        ({"maxUnavailable": 1}, [member("x"), member("y")], (2, 1, 2, 1)),
        ({"maxUnavailable": 1}, [member("x", "Job/j"), member("y", "ReplicaSet/gone")], (1, 0, 2, 2)),
        ({"minAvailable": 1}, [member("x", "ReplicaSet/gone")], (1, 1, 1, 0)),
        # These do not count as healthy, and what has ended not at all.
        ({"minAvailable": 1}, [member("x"), member("y", ready=False)], (2, 1, 1, 0)),
        ({"minAvailable": 1}, [member("x"), member("y", deletionTimestamp=GOING)], (2, 1, 1, 0)),
        ({"minAvailable": 1}, [member("x"), member("y", phase="Failed")], (1, 1, 1, 0)),
        ({"minAvailable": 1}, [member("x"), member("y", phase="Succeeded")], (1, 1, 1, 0)),
        ({"minAvailable": 1}, [member("x"), member("y", labels={"a": "c"})], (1, 1, 1, 0)),
        ({"minAvailable": 1, "selector": {}}, [member("x"), member("y", labels={})], (2, 1, 2, 1)),
        ({"minAvailable": 1, "selector": None}, [member("x")], (0, 1, 0, 0)),
    ],
)  # fmt: skip
def test_a_budget_allows_what_is_healthy_beyond_what_it_demands(
    spec: Json, objects: list[Any], numbers: tuple[int, int, int, int]
) -> None:
    status = Guarded(budget(**spec), *objects).sync()

    names = "expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed"
    assert tuple(status[name] for name in names) == numbers
    assert status["observedGeneration"] == 4
    (condition,) = status["conditions"]
    assert (condition["type"], condition["status"]) == ("DisruptionAllowed", "True" if numbers[3] else "False")


@pytest.mark.parametrize(
    ("since", "pods", "disrupted"),
    [
        ("2020-09-13T12:25:40Z", [member("x"), member("y")], True),
        ("2020-09-13T12:24:41Z", [member("x"), member("y")], True),
        # After two minutes it was not evicted after all.
        ("2020-09-13T12:24:40Z", [member("x"), member("y")], False),
        ("2020-09-13T12:25:40Z", [member("x", deletionTimestamp=GOING), member("y")], False),
        ("2020-09-13T12:25:40Z", [member("y")], False),
    ],
)
def test_a_pod_that_is_being_evicted_counts_as_gone_for_two_minutes(
    since: str, pods: list[corev1.Pod], disrupted: bool
) -> None:
    status = Guarded(budget(minAvailable=0, status={"disruptedPods": {"x": since}}), *pods).sync()

    healthy = sum(pod.metadata.deletion_timestamp is None for pod in pods)
    assert status.get("disruptedPods") == ({"x": since} if disrupted else None)
    assert status["currentHealthy"] == healthy - disrupted


def test_a_budget_without_changes_is_not_written() -> None:
    world = Guarded(budget(minAvailable=1), member("x"))
    world.sync()
    world.clock.step(60.0)
    world.sync()

    assert world.writes() == ["update poddisruptionbudgets/status"]


def test_a_pod_concerns_the_budgets_that_select_it() -> None:
    other = budget(selector={"matchLabels": {"a": "c"}})
    other.metadata.name = "other"
    none = budget(selector=None)
    none.metadata.name = "none"
    world = World()
    budgets = Budgets(world.client, Lister(budget(), other, none), world.times)  # type: ignore[arg-type]

    assert [*budgets.keys_of(member("x"))] == ["ns/b"]


# ---- endpoints


def service(**spec: Any) -> corev1.Service:
    metadata = {"name": "s", "namespace": "ns", "uid": "u", "labels": {"l": "m"}, **spec.pop("metadata", {})}
    ports = [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]
    return corev1.Service.from_dict({"metadata": metadata, "spec": {"selector": {"a": "b"}, "ports": ports, **spec}})


def behind(name: str, ip: str = "10.0.0.1", *, spec: Json | None = None, **more: Any) -> corev1.Pod:
    document = member(name, **more).to_dict()
    document["spec"] = {"nodeName": "n", **(spec or {})}
    document["status"] = {**document["status"], "podIP": ip}
    return corev1.Pod.from_dict(document)


class Behind(World):
    def sync(self, one: corev1.Service, *pods: corev1.Pod) -> tuple[Json, Json]:
        """Return the slice and the Endpoints."""
        self.endpoints = Endpoints(self.client, Lister(one), Lister(*pods))  # type: ignore[arg-type]
        self.endpoints.sync(CTX, "ns", "s")
        slices = self.client.discovery_v1().endpoint_slices("ns").list(CTX, metav1.ListOptions()).items
        older = self.client.core_v1().endpoints("ns").list(CTX, metav1.ListOptions()).items
        return (slices[0].to_dict(), older[0].to_dict()) if slices else ({}, {})


@pytest.mark.parametrize(
    ("pod", "spec", "ready", "serving", "terminating", "listed"),
    [
        (behind("x"), {}, True, True, False, "addresses"),
        (behind("x", ready=False), {}, False, False, False, "notReadyAddresses"),
        (behind("x", ready=False), {"publishNotReadyAddresses": True}, True, False, False, "addresses"),
        (behind("x", deletionTimestamp=GOING), {}, False, True, True, ""),
        (behind("x", deletionTimestamp=GOING), {"publishNotReadyAddresses": True}, True, True, True, ""),
    ],
)
def test_an_endpoint_says_whether_its_pod_is_ready_and_going(
    pod: corev1.Pod, spec: Json, ready: bool, serving: bool, terminating: bool, listed: str
) -> None:
    slice_, older = Behind().sync(service(**spec), pod)

    (endpoint,) = slice_["endpoints"]
    target = {"kind": "Pod", "namespace": "ns", "name": "x", "uid": "x"}
    assert endpoint["conditions"] == {"ready": ready, "serving": serving, "terminating": terminating}
    assert (endpoint["addresses"], endpoint["nodeName"], endpoint["targetRef"]) == (["10.0.0.1"], "n", target)
    if listed:
        port = {"name": "http", "port": 8080, "protocol": "TCP"}
        address = {"ip": "10.0.0.1", "nodeName": "n", "targetRef": target}
        assert older["subsets"] == [{listed: [address], "ports": [port]}]
    else:
        assert not older.get("subsets")


def test_the_slice_and_the_endpoints_are_the_services() -> None:
    slice_, older = Behind().sync(service(), behind("x"))

    assert slice_["metadata"]["name"] == "s-simulated"
    assert slice_["addressType"] == "IPv4"
    assert slice_["metadata"]["labels"] == {
        "l": "m",
        "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert older["metadata"]["name"] == "s"
    assert older["metadata"]["labels"] == {"l": "m"}
    for one in (slice_, older):
        owner = one["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Service", "s", "u")


@pytest.mark.parametrize(
    ("pods", "addresses"),
    [
        ([behind("y", "10.0.0.2"), behind("x", "10.0.0.1")], ["10.0.0.1", "10.0.0.2"]),
        ([behind("x"), behind("y", "")], ["10.0.0.1"]),
        ([behind("x"), behind("y", "10.0.0.2", phase="Failed")], ["10.0.0.1"]),
        ([behind("x"), behind("y", "10.0.0.2", phase="Succeeded")], ["10.0.0.1"]),
        ([behind("x"), behind("y", "10.0.0.2", labels={"a": "c"})], ["10.0.0.1"]),
        ([], []),
    ],
)
def test_the_endpoints_of_a_service_are_the_pods_that_it_selects(pods: list[corev1.Pod], addresses: list[str]) -> None:
    slice_, older = Behind().sync(service(), *pods)

    assert [address for one in slice_.get("endpoints") or () for address in one["addresses"]] == addresses
    assert [one["ip"] for subset in older.get("subsets") or () for one in subset["addresses"]] == addresses


@pytest.mark.parametrize(
    "one", [service(metadata={"deletionTimestamp": GOING}), service(selector={}), service(selector=None)]
)
def test_a_service_that_goes_or_selects_nothing_has_no_endpoints(one: corev1.Service) -> None:
    world = Behind()
    world.sync(one, behind("x"))

    assert world.writes() == []


NAMED = {"containers": [{"name": "c", "ports": [{"name": "web", "containerPort": 9000}]}]}


@pytest.mark.parametrize(
    ("port", "found"),
    [
        ({"name": "a", "port": 80}, [{"name": "a", "port": 80, "protocol": "TCP"}]),
        ({"name": "a", "port": 80, "targetPort": 81, "protocol": "UDP"},
         [{"name": "a", "port": 81, "protocol": "UDP"}]),
        ({"name": "a", "port": 80, "targetPort": "web"}, [{"name": "a", "port": 9000, "protocol": "TCP"}]),
        ({"name": "a", "port": 80, "targetPort": "other"}, []),
    ],
)  # fmt: skip
def test_an_endpoint_listens_at_the_target_of_the_services_port(port: Json, found: list[Json]) -> None:
    slice_, older = Behind().sync(service(ports=[port]), behind("x"), behind("y", spec=NAMED))

    assert (slice_.get("ports") or []) == found
    assert (older["subsets"][0].get("ports") or []) == found


@pytest.mark.parametrize(
    ("spec", "hostname"),
    [
        ({"hostname": "h", "subdomain": "s"}, "h"),
        ({"hostname": "h", "subdomain": "other"}, None),
        ({"hostname": "h"}, None),
        ({"subdomain": "s"}, None),
    ],
)
def test_a_pod_of_a_services_domain_has_its_hostname(spec: Json, hostname: str | None) -> None:
    slice_, older = Behind().sync(service(), behind("x", spec=spec))

    assert slice_["endpoints"][0].get("hostname") == hostname
    assert older["subsets"][0]["addresses"][0].get("hostname") == hostname


def test_endpoints_are_written_when_they_change() -> None:
    world = Behind()
    world.sync(service(), behind("x"))
    world.sync(service(), behind("x"))
    assert world.writes() == ["create endpointslices", "create endpoints"]
    slice_, older = world.sync(service(), behind("x", ready=False))

    assert world.writes()[2:] == ["update endpointslices", "update endpoints"]
    assert slice_["endpoints"][0]["conditions"]["ready"] is False
    assert "notReadyAddresses" in older["subsets"][0]


def test_a_pod_concerns_the_services_that_select_it() -> None:
    other = service(metadata={"name": "other"}, selector={"a": "c"})
    none = service(metadata={"name": "none"}, selector={})
    endpoints = Endpoints(fake.new_clientset(), Lister(service(), other, none), Lister())  # type: ignore[arg-type]

    assert [*endpoints.keys_of(member("x"))] == ["ns/s"]
