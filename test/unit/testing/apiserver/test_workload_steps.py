"""One sync of a simulated ReplicaSet, DaemonSet, Deployment or Job at a time. No server runs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from fakeworld import NOW, World

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.batch import v1 as batchv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver.simulator.daemonsets import DaemonSets
from clientgo.testing.apiserver.simulator.deployments import Deployments
from clientgo.testing.apiserver.simulator.jobs import Jobs
from clientgo.testing.apiserver.simulator.replicasets import ReplicaSets

CTX = context.background()
LABELS = {"app": "web"}
SELECTOR = {"matchLabels": LABELS}
Json = dict[str, Any]
GOING = "2020-09-13T12:00:00Z"


def template(image: str = "i", **metadata: Any) -> Json:
    return {"metadata": {"labels": LABELS, **metadata}, "spec": {"containers": [{"name": "c", "image": image}]}}


def owned_by(kind: str, uid: str = "u") -> list[Json]:
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return [{"apiVersion": group, "kind": kind, "name": "web", "uid": uid, "controller": True}]


class PodWorld(World):
    """A world whose server names pods."""

    def __init__(self, *objects: Any) -> None:
        super().__init__(*objects)
        numbers = itertools.count()

        def named(action: Any) -> tuple[bool, Any]:
            metadata = action.get_object().metadata
            metadata.name = metadata.name or f"{metadata.generate_name}{next(numbers)}"
            return False, None

        self.client.prepend_reactor("create", "pods", named)

    def pods(self) -> list[str]:
        pods = self.client.core_v1().pods("ns").list(CTX, metav1.ListOptions()).items
        return sorted(pod.metadata.name for pod in pods)


def pod(name: str, kind: str, *, ready: bool = True, phase: str = "Running", **more: Any) -> corev1.Pod:
    metadata = {"name": name, "namespace": "ns", "uid": name, "labels": LABELS, "ownerReferences": owned_by(kind)}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]}
    return corev1.Pod.from_dict({"metadata": {**metadata, **more}, "spec": {}, "status": status})


# ---- ReplicaSets


def replica_set(replicas: int, **metadata: Any) -> appsv1.ReplicaSet:
    own = {"name": "web", "namespace": "ns", "uid": "u", "generation": 4, **metadata}
    return appsv1.ReplicaSet.from_dict(
        {"metadata": own, "spec": {"replicas": replicas, "selector": SELECTOR, "template": template()}}
    )


def of_a_set(name: str, **more: Any) -> corev1.Pod:
    return pod(name, "ReplicaSet", **more)


@pytest.mark.parametrize(
    ("replicas", "pods", "left", "status"),
    [
        (2, [], ["web-0", "web-1"], {"replicas": 2, "fullyLabeledReplicas": 2}),
        (0, [], [], {"replicas": 0}),
        (1, [of_a_set("a")], ["a"], {"replicas": 1, "fullyLabeledReplicas": 1, "ready": 1}),
        (2, [of_a_set("a")], ["a", "web-0"], {"replicas": 2, "fullyLabeledReplicas": 2, "ready": 1}),
        # What is not ready goes first, wherever it stands.
        (1, [of_a_set("a"), of_a_set("b", ready=False)], ["a"], {"replicas": 1, "fullyLabeledReplicas": 1, "ready": 1}),
        (1, [of_a_set("a", ready=False), of_a_set("b")], ["b"], {"replicas": 1, "fullyLabeledReplicas": 1, "ready": 1}),
        (1, [of_a_set(name) for name in "abc"], ["c"], {"replicas": 1, "fullyLabeledReplicas": 1, "ready": 1}),
        (0, [of_a_set("a")], [], {"replicas": 0}),
        # None of these counts: they have ended, are going, or are another owner's.
        (1, [of_a_set("a", phase="Failed")], ["a", "web-0"], {"replicas": 1, "fullyLabeledReplicas": 1}),
        (1, [of_a_set("a", phase="Succeeded")], ["a", "web-0"], {"replicas": 1, "fullyLabeledReplicas": 1}),
        (1, [of_a_set("a", deletionTimestamp=GOING)], ["a", "web-0"], {"replicas": 1, "fullyLabeledReplicas": 1}),
        (1, [of_a_set("a", ownerReferences=owned_by("ReplicaSet", "other"))], ["a", "web-0"],
         {"replicas": 1, "fullyLabeledReplicas": 1}),
    ],
)  # fmt: skip
def test_a_replica_set_has_as_many_pods_as_it_asks_for(
    replicas: int, pods: list[corev1.Pod], left: list[str], status: Json
) -> None:
    world = PodWorld(replica_set(replicas), *pods)

    ReplicaSets(world.client, world.recorder).sync(CTX, "ns", "web")

    before = {one.metadata.name for one in pods}
    created, deleted = sorted(set(left) - before), sorted(before - set(left))
    assert world.pods() == left
    assert sorted(world.events()) == [
        *(f"Normal SuccessfulCreate Created pod: {name}" for name in created),
        *(f"Normal SuccessfulDelete Deleted pod: {name}" for name in deleted),
    ]
    ready = status.pop("ready", 0)
    if ready:
        status |= {"readyReplicas": ready, "availableReplicas": ready}
    found = world.client.apps_v1().replica_sets("ns").get(CTX, "web", metav1.GetOptions()).to_dict()["status"]
    assert found == {**status, "observedGeneration": 4}


def test_a_replica_set_that_has_what_it_asks_for_is_not_written() -> None:
    world = PodWorld(replica_set(1), of_a_set("a"))
    sets = ReplicaSets(world.client, world.recorder)
    sets.sync(CTX, "ns", "web")
    sets.sync(CTX, "ns", "web")

    assert world.writes() == ["update replicasets/status"]


def test_a_replica_set_that_is_deleted_makes_no_pods() -> None:
    world = PodWorld(replica_set(1, deletionTimestamp=GOING))
    ReplicaSets(world.client, world.recorder).sync(CTX, "ns", "web")

    assert world.writes() == []


def test_the_pods_of_a_replica_set_are_its_templates() -> None:
    world = PodWorld(replica_set(1))
    ReplicaSets(world.client, world.recorder).sync(CTX, "ns", "web")

    made = world.client.core_v1().pods("ns").get(CTX, "web-0", metav1.GetOptions()).to_dict()
    owner = made["metadata"]["ownerReferences"][0]
    assert made["metadata"]["labels"] == LABELS
    assert made["metadata"]["generateName"] == "web-"
    assert made["spec"]["containers"] == template()["spec"]["containers"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("ReplicaSet", "web", "u", True)


# ---- DaemonSets


def daemon_set(*, going: bool = False, **spec: Any) -> appsv1.DaemonSet:
    metadata: Json = {"name": "web", "namespace": "ns", "uid": "u", "generation": 4}
    metadata |= {"deletionTimestamp": GOING} if going else {}
    return appsv1.DaemonSet.from_dict(
        {"metadata": metadata, "spec": {"selector": SELECTOR, "template": template(), **spec}}
    )


def node(name: str, *, ready: bool = True, **spec: Any) -> corev1.Node:
    status = {"conditions": [{"type": "Ready", "status": str(ready)}]}
    return corev1.Node.from_dict({"metadata": {"name": name}, "spec": spec, "status": status})


def of_a_daemon(name: str, at: str, **more: Any) -> corev1.Pod:
    """Return a pod of an older template at a node."""
    one = pod(name, "DaemonSet", **more)
    one.spec.node_name = at
    return one


class Daemons(PodWorld):
    def sync(self) -> list[str]:
        DaemonSets(self.client, self.recorder).sync(CTX, "ns", "web")
        return [" ".join(text.split()[2:5:2]) for text in self.events()]

    def status(self) -> Json:
        found: Json = self.client.apps_v1().daemon_sets("ns").get(CTX, "web", metav1.GetOptions()).to_dict()["status"]
        return found


TAINT = {"key": "k", "value": "v"}
ON_DELETE: Json = {"updateStrategy": {"type": "OnDelete"}}


def rolling(most: int | str) -> Json:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}}


@pytest.mark.parametrize(
    ("nodes", "pods", "spec", "steps"),
    [
        ([node("a"), node("b")], [], {}, ["Created web-0", "Created web-1"]),
        ([], [], {}, []),
        # It tolerates what keeps other pods away, but no taint of a user.
        ([node("a", ready=False)], [], {}, ["Created web-0"]),
        ([node("a", unschedulable=True)], [], {}, ["Created web-0"]),
        ([node("a", taints=[{**TAINT, "effect": "NoSchedule"}])], [], {}, []),
        ([node("a", taints=[{**TAINT, "effect": "NoExecute"}])], [], {}, []),
        ([node("a", taints=[{**TAINT, "effect": "PreferNoSchedule"}])], [], {}, ["Created web-0"]),
        ([node("a")], [of_a_daemon("p", "a")], ON_DELETE, []),
        ([node("a")], [of_a_daemon("p", "a", phase="Failed")], ON_DELETE, ["Deleted p"]),
        ([node("a")], [of_a_daemon("p", "a", phase="Succeeded")], ON_DELETE, ["Deleted p"]),
        ([node("a")], [of_a_daemon("p", "a", deletionTimestamp=GOING)], ON_DELETE, []),
        ([node("a")], [of_a_daemon("p", "gone")], ON_DELETE, ["Created web-0", "Deleted p"]),
        ([node("a")], [of_a_daemon("p", "gone", deletionTimestamp=GOING)], ON_DELETE, ["Created web-0"]),
        ([node("a")], [of_a_daemon("p", "a", ownerReferences=owned_by("DaemonSet", "other"))], ON_DELETE,
         ["Created web-0"]),
        ([node("a")], [of_a_daemon("p", "a", ownerReferences=[])], ON_DELETE, []),
        # Of an older template one may be missing, unless the set says otherwise.
        ([node("a")], [of_a_daemon("p", "a")], {}, ["Deleted p"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b")], {}, ["Deleted p"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b")], rolling(2),
         ["Deleted p", "Deleted q"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b")], rolling("50%"), ["Deleted p"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b")], rolling("51%"),
         ["Deleted p", "Deleted q"]),
        # What is not ready goes first, and costs nothing.
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b", ready=False)], {}, ["Deleted q"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b", ready=False)], rolling(2),
         ["Deleted q", "Deleted p"]),
        ([node("a"), node("b")], [of_a_daemon("p", "a"), of_a_daemon("q", "b", deletionTimestamp=GOING)], {}, []),
    ],
)  # fmt: skip
def test_a_daemon_set_has_one_pod_at_each_node(
    nodes: list[corev1.Node], pods: list[corev1.Pod], spec: Json, steps: list[str]
) -> None:
    assert Daemons(daemon_set(**spec), *nodes, *pods).sync() == steps


@pytest.mark.parametrize(
    ("pods", "status"),
    [
        ([], {"current": 2, "mis": 0, "ready": 0, "updated": 2, "unavailable": 2}),
        ([of_a_daemon("p", "a"), of_a_daemon("q", "b")],
         {"current": 2, "mis": 0, "ready": 2, "available": 2}),
        ([of_a_daemon("p", "a"), of_a_daemon("q", "b", ready=False)],
         {"current": 2, "mis": 0, "ready": 1, "available": 1, "unavailable": 1}),
        # It is still there while it goes.
        ([of_a_daemon("p", "a"), of_a_daemon("q", "b"), of_a_daemon("r", "gone", deletionTimestamp=GOING)],
         {"current": 2, "mis": 1, "ready": 2, "available": 2}),
    ],
)  # fmt: skip
def test_the_status_of_a_daemon_set_counts_its_pods(pods: list[corev1.Pod], status: Json) -> None:
    world = Daemons(daemon_set(**ON_DELETE), node("a"), node("b"), *pods)
    world.sync()

    optional = {"updated": "updatedNumberScheduled", "available": "numberAvailable", "unavailable": "numberUnavailable"}
    assert world.status() == {
        "desiredNumberScheduled": 2,
        "currentNumberScheduled": status["current"],
        "numberMisscheduled": status["mis"],
        "numberReady": status["ready"],
        "observedGeneration": 4,
        **{optional[name]: status[name] for name in optional if name in status},
    }


def test_a_daemon_set_without_changes_is_not_written() -> None:
    world = Daemons(daemon_set(**ON_DELETE), node("a"), of_a_daemon("p", "a"))
    world.sync()
    before = world.writes()
    world.sync()

    assert before == ["create controllerrevisions", "update daemonsets/status"]
    assert world.writes() == before


def test_a_daemon_set_that_is_deleted_does_nothing() -> None:
    world = Daemons(daemon_set(going=True), node("a"))

    assert (world.sync(), world.writes()) == ([], [])


def test_a_pod_of_a_daemon_set_names_its_node_and_tolerates_troubles() -> None:
    given = template()
    given["spec"] |= {"tolerations": [{"key": "mine"}], "affinity": {"podAffinity": {}}}
    world = Daemons(daemon_set(template=given), node("a"))
    world.sync()

    made = world.client.core_v1().pods("ns").get(CTX, "web-0", metav1.GetOptions()).to_dict()
    (term,) = made["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    tolerations = made["spec"]["tolerations"]
    tolerated = [(one["key"].removeprefix("node.kubernetes.io/"), one.get("effect")) for one in tolerations]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    assert "podAffinity" in made["spec"]["affinity"]
    assert tolerated == [
        ("mine", None),
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ]
    assert made["metadata"]["labels"]["pod-template-generation"] == "4"
    assert made["metadata"]["labels"]["app"] == "web"
    # The pod has no node yet, and is that of the node it names nevertheless.
    assert world.sync() == []


# ---- Deployments


def deployment(
    replicas: int = 4, *, notes: Json | None = None, going: bool = False, **spec: Any
) -> appsv1.Deployment:
    metadata: Json = {"name": "web", "namespace": "ns", "uid": "u", "generation": 4, "annotations": notes or {}}
    metadata |= {"deletionTimestamp": GOING} if going else {}
    body = {"replicas": replicas, "selector": SELECTOR, "template": template("new"), **spec}
    return appsv1.Deployment.from_dict({"metadata": metadata, "spec": body})


def owned(name: str, size: int, available: int | None = None, **more: Any) -> appsv1.ReplicaSet:
    """Return a ReplicaSet of the Deployment: that of its template if it is named "new"."""
    given = template(name)
    given["metadata"] = {"labels": {**LABELS, "pod-template-hash": name}}
    count = size if available is None else available
    revision = {"deployment.kubernetes.io/revision": str(more.pop("revision", 1))}
    status = {"replicas": size, "availableReplicas": count, "readyReplicas": count, **more}
    return appsv1.ReplicaSet.from_dict(
        {
            "metadata": {
                "name": name,
                "namespace": "ns",
                "uid": name,
                "labels": given["metadata"]["labels"],
                "annotations": revision,
                "ownerReferences": owned_by("Deployment"),
            },
            "spec": {"replicas": size, "selector": SELECTOR, "template": given},
            "status": status,
        }
    )


class Rollout(PodWorld):
    def sync(self) -> list[str]:
        Deployments(self.client, self.times, self.recorder).sync(CTX, "ns", "web")
        return [text.removeprefix("Normal ScalingReplicaSet Scaled ") for text in self.events()]

    def sets(self) -> dict[str, appsv1.ReplicaSet]:
        items = self.client.apps_v1().replica_sets("ns").list(CTX, metav1.ListOptions()).items
        return {one.metadata.name: one for one in items}

    def deployment(self) -> Json:
        found: Json = self.client.apps_v1().deployments("ns").get(CTX, "web", metav1.GetOptions()).to_dict()
        return found


def limits(surge: int | str, unavailable: int | str) -> Json:
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}


RECREATE = {"strategy": {"type": "Recreate"}}


def up(name: str, before: int, after: int) -> str:
    return f"up replica set {name} from {before} to {after}"


def down(name: str, before: int, after: int) -> str:
    return f"down replica set {name} from {before} to {after}"


@pytest.mark.parametrize(
    ("spec", "sets", "steps"),
    [
        ({}, [owned("new", 4)], []),
        ({}, [owned("new", 2)], [up("new", 2, 4)]),
        ({}, [owned("new", 6)], [down("new", 6, 4)]),
        # A quarter may be above, rounded up, and a quarter missing, rounded down.
        ({}, [owned("old", 4), owned("new", 0)], [up("new", 0, 1), down("old", 4, 3)]),
        ({"replicas": 3}, [owned("old", 3), owned("new", 0)], [up("new", 0, 1)]),
        ({"replicas": 3}, [owned("old", 3), owned("new", 1)], [down("old", 3, 2)]),
        ({"replicas": 3}, [owned("old", 3), owned("new", 1, 0)], []),
        ({"replicas": 3}, [owned("old", 2), owned("new", 1)], [up("new", 1, 2)]),
        (limits(1, 0), [owned("old", 4), owned("new", 0)], [up("new", 0, 1)]),
        (limits(1, 0), [owned("old", 4), owned("new", 1, 0)], []),
        (limits(1, 0), [owned("old", 4), owned("new", 1)], [down("old", 4, 3)]),
        (limits(0, 1), [owned("old", 4), owned("new", 0)], [down("old", 4, 3)]),
        (limits(0, 1), [owned("old", 3), owned("new", 0)], [up("new", 0, 1)]),
        (limits(0, 0), [owned("old", 4), owned("new", 0)], [down("old", 4, 3)]),
        (limits(2, 2), [owned("old", 4), owned("new", 0)], [up("new", 0, 2), down("old", 4, 2)]),
        (limits("100%", 0), [owned("old", 4), owned("new", 0)], [up("new", 0, 4)]),
        (limits(0, "100%"), [owned("old", 4), owned("new", 0)], [down("old", 4, 0)]),
        (limits(0, 9), [owned("old", 4), owned("new", 0)], [down("old", 4, 0)]),
        (limits(10, 0), [owned("old", 4), owned("new", 0)], [up("new", 0, 4)]),
        # Replicas that are not available go first, of the oldest set at once.
        (limits(1, 1), [owned("old", 4, 2), owned("new", 1)], [down("old", 4, 2)]),
        (limits(1, 1), [owned("old", 4, 0), owned("new", 1)], [down("old", 4, 2)]),
        (limits(0, 1), [owned("o1", 2, revision=1), owned("o2", 2, revision=2), owned("new", 0, revision=3)],
         [down("o1", 2, 1)]),
        (limits(0, 3), [owned("o1", 2, revision=1), owned("o2", 2, revision=2), owned("new", 0, revision=3)],
         [down("o1", 2, 0), down("o2", 2, 1)]),
        (limits(0, 3), [owned("o1", 2, revision=2), owned("o2", 2, revision=1), owned("new", 0, revision=3)],
         [down("o2", 2, 0), down("o1", 2, 1)]),
        (limits(0, 1), [owned("o1", 2, 1, revision=1), owned("o2", 2, 1, revision=2), owned("new", 0, revision=3)],
         [down("o1", 2, 1)]),
        (RECREATE, [owned("old", 4), owned("new", 0)], [down("old", 4, 0)]),
        (RECREATE, [owned("old", 0, replicas=1), owned("new", 0)], []),
        (RECREATE, [owned("old", 0), owned("new", 0)], [up("new", 0, 4)]),
        ({"paused": True}, [owned("old", 4), owned("new", 0)], []),
    ],
)  # fmt: skip
def test_a_deployment_takes_one_step_within_its_limits(
    spec: Json, sets: list[appsv1.ReplicaSet], steps: list[str]
) -> None:
    replicas = spec.get("replicas", 4)
    world = Rollout(deployment(**{"replicas": replicas, **spec}), *sets)

    assert world.sync() == steps


def test_a_new_template_has_a_replica_set_with_the_next_revision() -> None:
    world = Rollout(deployment(notes={"mine": "x"}, **limits(1, 0)), owned("old", 4, revision=7))
    world.sync()

    (name,) = set(world.sets()) - {"old"}
    made = world.sets()[name].to_dict()
    code = name.removeprefix("web-")
    assert made["metadata"]["annotations"] == {
        "mine": "x",
        "deployment.kubernetes.io/revision": "8",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
    }
    assert made["metadata"]["labels"] == {**LABELS, "pod-template-hash": code}
    assert made["spec"]["selector"] == {"matchLabels": {**LABELS, "pod-template-hash": code}}
    assert made["spec"]["template"]["metadata"]["labels"] == {**LABELS, "pod-template-hash": code}
    assert made["metadata"]["ownerReferences"][0]["uid"] == "u"
    assert made["spec"]["replicas"] == 1
    assert world.deployment()["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "8"


def test_a_template_that_comes_back_gets_the_highest_revision() -> None:
    world = Rollout(deployment(), owned("new", 0, revision=1), owned("old", 4, revision=2))
    world.sync()

    assert world.sets()["new"].metadata.annotations["deployment.kubernetes.io/revision"] == "3"


@pytest.mark.parametrize("note", ["kubectl.kubernetes.io/last-applied-configuration"])
def test_some_annotations_of_a_deployment_are_its_own(note: str) -> None:
    world = Rollout(deployment(notes={note: "x", "mine": "y"}), owned("new", 4))
    world.sync()

    assert note not in world.sets()["new"].metadata.annotations
    assert world.sets()["new"].metadata.annotations["mine"] == "y"


@pytest.mark.parametrize(
    ("limit", "left"),
    [(None, list("abc")), (3, list("abc")), (2, list("bc")), (1, ["c"]), (0, [])],
)
def test_the_oldest_empty_sets_beyond_the_limit_go(limit: int | None, left: list[str]) -> None:
    spec: Json = {} if limit is None else {"revisionHistoryLimit": limit}
    old = [owned(name, 0, revision=number) for number, name in enumerate("abc", 1)]
    world = Rollout(deployment(**spec), owned("new", 4, revision=9), *old[::-1])
    world.sync()

    assert sorted(set(world.sets()) - {"new"}) == left


@pytest.mark.parametrize("busy", [{"size": 1}, {"size": 0, "replicas": 1}])
def test_an_old_set_with_pods_stays_whatever_the_limit(busy: Json) -> None:
    spec = {**limits(0, 0), "revisionHistoryLimit": 0}
    world = Rollout(deployment(**spec), owned("new", 3, revision=9), owned("old", **busy))
    world.sync()

    assert "old" in world.sets()


def test_the_history_of_a_deployment_has_ten_sets_by_default() -> None:
    old = [owned(f"s{number:02}", 0, revision=number) for number in range(1, 13)]
    world = Rollout(deployment(), owned("new", 4, revision=99), *old)
    world.sync()

    assert sorted(set(world.sets()) - {"new"}) == [f"s{number:02}" for number in range(3, 13)]


AVAILABLE = ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
UNAVAILABLE = (
    "Available",
    "False",
    "MinimumReplicasUnavailable",
    "Deployment does not have minimum availability.",
)
DONE = ("Progressing", "True", "NewReplicaSetAvailable", 'ReplicaSet "new" has successfully progressed.')
UNDERWAY = ("Progressing", "True", "ReplicaSetUpdated", 'ReplicaSet "new" is progressing.')


@pytest.mark.parametrize(
    ("sets", "counts", "conditions"),
    [
        ([owned("new", 4)], {"replicas": 4, "updated": 4, "ready": 4, "available": 4}, [AVAILABLE, DONE]),
        ([owned("new", 4, 3)], {"replicas": 4, "updated": 4, "ready": 3, "available": 3, "unavailable": 1},
         [AVAILABLE, UNDERWAY]),
        ([owned("new", 4, 2)], {"replicas": 4, "updated": 4, "ready": 2, "available": 2, "unavailable": 2},
         [UNAVAILABLE, UNDERWAY]),
        ([owned("new", 4, 4), owned("old", 0, 0, replicas=1)],
         {"replicas": 5, "updated": 4, "ready": 4, "available": 4}, [AVAILABLE, UNDERWAY]),
        ([owned("new", 3, 3), owned("old", 1)],
         {"replicas": 4, "updated": 3, "ready": 4, "available": 4}, [AVAILABLE, UNDERWAY]),
    ],
)  # fmt: skip
def test_the_status_of_a_deployment_adds_up_its_sets(
    sets: list[appsv1.ReplicaSet], counts: Json, conditions: list[tuple[str, str, str, str]]
) -> None:
    world = Rollout(deployment(), *sets)
    world.sync()

    status = world.deployment()["status"]
    found = [(one["type"], one["status"], one["reason"], one["message"]) for one in status.pop("conditions")]
    names = {name: name if name == "replicas" else f"{name}Replicas" for name in counts}
    assert status == {"observedGeneration": 4, **{names[name]: count for name, count in counts.items()}}
    assert found == conditions


def test_the_times_of_a_condition_change_with_its_status() -> None:
    world = Rollout(deployment(), owned("new", 4, 2))
    world.sync()
    ready = owned("new", 4)
    ready.metadata.annotations = world.sets()["new"].metadata.annotations
    world.clock.step(60.0)
    world.client.apps_v1().replica_sets("ns").update_status(CTX, ready, metav1.UpdateOptions())
    world.sync()

    times = [(one["lastTransitionTime"], one["lastUpdateTime"]) for one in world.deployment()["status"]["conditions"]]
    later = "2020-09-13T12:27:40Z"
    # Progressing stays true; only its reason is another one.
    assert times == [(later, later), (NOW, later)]
    world.clock.step(60.0)
    before = world.writes()
    world.sync()
    assert world.writes() == before


def test_a_deployment_that_is_deleted_does_nothing() -> None:
    world = Rollout(deployment(going=True))

    assert (world.sync(), world.writes()) == ([], [])


# ---- Jobs


def job(**spec: Any) -> batchv1.Job:
    status = spec.pop("status", {})
    metadata = {"name": "web", "namespace": "ns", "uid": "u", **spec.pop("metadata", {})}
    spec = {"selector": SELECTOR, "template": template(), **spec}
    return batchv1.Job.from_dict({"metadata": metadata, "spec": spec, "status": status})


def of_a_job(name: str, phase: str = "Running", **more: Any) -> corev1.Pod:
    return pod(name, "Job", phase=phase, **more)


def many(count: int, phase: str) -> list[corev1.Pod]:
    return [of_a_job(f"{phase.lower()}{number}", phase) for number in range(count)]


class Work(PodWorld):
    def sync(self) -> list[str]:
        Jobs(self.client, self.times, self.recorder).sync(CTX, "ns", "web")
        return [text.removeprefix("Normal ") for text in self.events()]

    def status(self) -> Json:
        found: Json = self.client.batch_v1().jobs("ns").get(CTX, "web", metav1.GetOptions()).to_dict()["status"]
        return found


def created(*names: str) -> list[str]:
    return [f"SuccessfulCreate Created pod: {name}" for name in names]


COMPLETED = ["Completed Job completed"]
FAILED = ["Warning BackoffLimitExceeded Job has reached the specified backoff limit"]
NUMBERS: Json = {"ready": 0, "uncountedTerminatedPods": {}}


@pytest.mark.parametrize(
    ("spec", "pods", "events", "counts"),
    [
        ({}, [], created("web-0"), {"active": 1}),
        ({"completions": 3, "parallelism": 2}, [], created("web-0", "web-1"), {"active": 2}),
        ({"completions": 3, "parallelism": 2}, [of_a_job("a")], created("web-0"), {"active": 2, "ready": 1}),
        ({"completions": 3, "parallelism": 2}, many(2, "Succeeded"), created("web-0"), {"active": 1, "succeeded": 2}),
        ({"completions": 3, "parallelism": 2}, many(3, "Succeeded"), COMPLETED, {"succeeded": 3}),
        ({"completions": 3, "parallelism": 2}, [*many(3, "Succeeded"), of_a_job("a")], [],
         {"succeeded": 3, "active": 1, "ready": 1}),
        ({"completions": 0}, [], COMPLETED, {}),
        ({"completions": 2, "parallelism": 0}, [], [], {}),
        # Without completions one success is enough, and no more pods start.
        ({"parallelism": 2}, many(1, "Succeeded"), COMPLETED, {"succeeded": 1}),
        ({"parallelism": 2}, [*many(1, "Succeeded"), of_a_job("a", ready=False)], [], {"succeeded": 1, "active": 1}),
        ({"parallelism": 2}, [of_a_job("a")], created("web-0"), {"active": 2, "ready": 1}),
        # A failed pod is replaced, as often as the limit allows.
        ({}, many(6, "Failed"), created("web-0"), {"active": 1, "failed": 6}),
        ({}, many(7, "Failed"), FAILED, {"failed": 7}),
        ({"backoffLimit": 0}, many(1, "Failed"), FAILED, {"failed": 1}),
        ({"backoffLimit": 1}, many(1, "Failed"), created("web-0"), {"active": 1, "failed": 1}),
        ({"backoffLimit": 0}, [*many(1, "Failed"), of_a_job("a")], FAILED, {"failed": 1}),
        ({}, [of_a_job("a", ownerReferences=owned_by("Job", "other"))], created("web-0"), {"active": 1}),
    ],
)  # fmt: skip
def test_a_job_starts_pods_until_enough_have_succeeded(
    spec: Json, pods: list[corev1.Pod], events: list[str], counts: Json
) -> None:
    world = Work(job(**spec), *pods)

    assert world.sync() == events
    status = world.status()
    conditions = [f"{one['type']} {one['status']} {one['reason']}" for one in status.pop("conditions", [])]
    if events == COMPLETED:
        assert conditions == [f"{kind} True CompletionsReached" for kind in ("SuccessCriteriaMet", "Complete")]
        assert status.pop("completionTime") == NOW
    elif events == FAILED:
        assert conditions == [f"{kind} True BackoffLimitExceeded" for kind in ("FailureTarget", "Failed")]
        assert not [name for name in world.pods() if not name.startswith("failed")]
    else:
        assert conditions == []
    assert status == {**NUMBERS, "startTime": NOW, **counts}


@pytest.mark.parametrize(
    "spec",
    [
        {"metadata": {"deletionTimestamp": GOING}},
        {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
        {"status": {"conditions": [{"type": "Failed", "status": "True"}]}},
    ],
)
def test_a_job_that_has_ended_or_goes_starts_nothing(spec: Json) -> None:
    world = Work(job(**spec))

    assert (world.sync(), world.writes()) == ([], [])


def test_a_job_keeps_its_first_time_and_is_not_written_without_changes() -> None:
    world = Work(job(completions=2), of_a_job("a"))
    world.sync()
    world.clock.step(60.0)
    before = world.writes()
    world.sync()
    assert world.writes() == before == ["update jobs/status"]

    world.client.core_v1().pods("ns").update_status(CTX, of_a_job("a", "Succeeded"), metav1.UpdateOptions())
    assert world.sync() == created("web-0")
    assert world.status()["startTime"] == NOW


def test_a_job_that_is_suspended_loses_its_pods_and_its_time_and_says_so() -> None:
    world = Work(job(suspend=True, completions=2), of_a_job("a"), of_a_job("b", "Succeeded"))
    world.sync()

    assert world.pods() == ["b"]
    assert "startTime" not in world.status()
    (condition,) = world.status()["conditions"]
    assert condition == {
        "type": "Suspended",
        "status": "True",
        "reason": "JobSuspended",
        "message": "Job suspended",
        "lastProbeTime": NOW,
        "lastTransitionTime": NOW,
    }

    jobs = world.client.batch_v1().jobs("ns")
    goes_on = jobs.get(CTX, "web", metav1.GetOptions()).to_dict()
    goes_on["spec"]["suspend"] = False
    jobs.update(CTX, batchv1.Job.from_dict(goes_on), metav1.UpdateOptions())
    world.clock.step(60.0)
    assert world.sync() == created("web-0")
    (condition,) = world.status()["conditions"]
    assert (condition["status"], condition["reason"], condition["message"]) == ("False", "JobResumed", "Job resumed")
    assert condition["lastTransitionTime"] == world.status()["startTime"] == "2020-09-13T12:27:40Z"
    world.clock.step(60.0)
    before = world.writes()
    world.sync()
    assert world.writes() == before
