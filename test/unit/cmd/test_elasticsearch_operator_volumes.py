"""The elasticsearch-operator's volumes: what may be asked for, and each step of making a StatefulSet anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram

from clientgo import context
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.api.storage import v1 as storagev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime import schema
from clientgo.apimachinery.types import NamespacedName
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    expectations = PROGRAM.module("elasticsearch.expectations")
    names = PROGRAM.module("elasticsearch.names")
    nodespec = PROGRAM.module("elasticsearch.nodespec")
    pvc_expansion = PROGRAM.module("elasticsearch.pvc_expansion")
    state = PROGRAM.module("elasticsearch.state")

CTX = context.background()
SCHEME = main.new_scheme()
SET = NamespacedName("default", "es-es-d")
ANNOTATION = f"{names.RECREATE}es-es-d"


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


def claim(storage: Any = "1Gi", name: str = "elasticsearch-data", **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": name}, "spec": {**asked, **spec}}


def elasticsearch(*claims: dict[str, Any]) -> Any:
    node_set = {"name": "d", "count": 2, "volumeClaimTemplates": list(claims) or [claim()]}
    metadata = {"name": "es", "namespace": "default", "uid": "uid-of-es"}
    return esv1.Elasticsearch.from_dict({"metadata": metadata, "spec": {"version": "8.11.0", "nodeSets": [node_set]}})


def sets_of(es: Any) -> Any:
    return nodespec.expected_stateful_sets(nodespec.build_expected_resources(es))


def storage_class(name: str, allows: bool | None, default: bool = False) -> storagev1.StorageClass:
    note = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return storagev1.StorageClass.from_dict(
        {"metadata": {"name": name, "annotations": note}, "provisioner": "p", "allowVolumeExpansion": allows}
    )


def client_of(*objects: Any) -> Any:
    return fake.new_client_builder().with_scheme(SCHEME).with_objects(*objects).build()


# ---- what may be asked for

CLASSES = (storage_class("fast", True, default=True), storage_class("slow", None))


def why_not(before: list[Any], after: list[Any], *classes: Any) -> str:
    try:
        actual, expected = sets_of(elasticsearch(*before)), sets_of(elasticsearch(*after))
        pvc_expansion.check_claims(CTX, client_of(*(classes or CLASSES)), expected, actual)
    except state.Refused as err:
        return str(err)
    return ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (claim("1Gi"), claim("2Gi")),
        (claim("1Gi"), claim("1024Mi")),
        (claim("1Gi", volumeMode="Filesystem"), claim("1Gi")),
        (claim("1Gi", storageClassName="fast"), claim("1.5Gi", storageClassName="fast")),
    ],
)
def test_a_volume_may_grow_and_stay(before: Any, after: Any) -> None:
    assert why_not([before], [after]) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([claim()], [claim(name="data")]),
        ([claim()], [claim(), claim(name="more")]),
        ([claim(), claim(name="more")], [claim()]),
        ([claim()], [claim(storageClassName="fast")]),
        ([claim(storageClassName="fast")], [claim()]),
        ([claim()], [claim("2Gi", accessModes=["ReadWriteMany"])]),
        ([claim()], [claim(volumeMode="Block")]),
    ],
)
def test_nothing_but_the_size_of_a_volume_may_change(before: Any, after: Any) -> None:
    assert why_not(before, after) == f"StatefulSet es-es-d: {pvc_expansion.ONLY_GROWTH}"


def test_a_volume_may_not_shrink() -> None:
    text = "an attempt was made to decrease that of claim elasticsearch-data from 2Gi to 1536Mi"
    assert why_not([claim("2Gi")], [claim("1.5Gi")]) == (
        f"StatefulSet es-es-d: decreasing storage size is not supported: {text}"
    )


def test_the_storage_class_says_whether_a_volume_may_grow() -> None:
    def grown(name: str | None, *classes: Any) -> str:
        more = {} if name is None else {"storageClassName": name}
        return why_not([claim("1Gi", **more)], [claim("2Gi", **more)], *classes)

    refused = "claim elasticsearch-data (storage class slow) does not support volume expansion"
    assert grown("slow") == f"StatefulSet es-es-d: {refused}"
    assert 'storageclasses.storage.k8s.io "none" not found' in grown("none")
    assert grown(None, storage_class("slow", False, default=True)) == f"StatefulSet es-es-d: {refused}"
    assert grown(None, storage_class("fast", True)) == "StatefulSet es-es-d: no default storage class found"


def test_a_set_that_is_not_there_yet_may_have_any_volumes() -> None:
    pvc_expansion.check_claims(CTX, client_of(), sets_of(elasticsearch(claim("2Gi"))), {})


# ---- step by step


class Setup:
    """A set of two nodes whose volumes shall grow."""

    def __init__(self) -> None:
        self.es = elasticsearch(claim("1Gi"))
        (old,) = sets_of(self.es).values()
        old.set_uid("uid-of-set")
        labels = dict(old.spec.selector.match_labels)
        owner = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "es-es-d",
            "uid": "uid-of-set",
            "controller": True,
        }
        objects: list[Any] = [self.es, old]
        for ordinal in range(2):
            metadata = {"namespace": "default", "labels": labels, "ownerReferences": [owner]}
            pod = {"metadata": {**metadata, "name": f"es-es-d-{ordinal}", "uid": f"pod-{ordinal}"}}
            volume = claim()
            volume["metadata"] = {**metadata, "name": f"elasticsearch-data-es-es-d-{ordinal}"}
            objects += [corev1.Pod.from_dict(pod), corev1.PersistentVolumeClaim.from_dict(volume)]
        self.client = client_of(*objects)
        self.expectations = expectations.Expectations(self.client, self.client)
        self.state = state.State(self.es)

    def expand(self) -> bool:
        found = self.client.get(CTX, SET, appsv1.StatefulSet)
        (wanted,) = sets_of(elasticsearch(claim("2Gi"))).values()
        self.read()
        return bool(pvc_expansion.handle_volume_expansion(CTX, self.client, self.es, wanted, found, self.state))

    def recreate(self) -> list[str]:
        self.read()
        return list(pvc_expansion.recreate_stateful_sets(CTX, self.client, self.es, self.expectations))

    def read(self) -> None:
        self.es = self.client.get(CTX, NamespacedName("default", "es"), esv1.Elasticsearch)

    def set(self) -> appsv1.StatefulSet | None:
        found = self.client.list(CTX, appsv1.StatefulSetList).items
        return found[0] if found else None

    def owners(self) -> list[list[str]]:
        """Return the kinds of the owners of each pod and claim."""
        found = [
            each
            for kind in (corev1.PodList, corev1.PersistentVolumeClaimList)
            for each in self.client.list(CTX, kind).items
        ]
        return [[owner.kind for owner in each.get_owner_references()] for each in found]

    def take_over(self) -> None:
        """Adopt the pods and claims, as the StatefulSet controller does for a new StatefulSet."""
        made = self.set()
        assert made is not None
        for kind in (corev1.PodList, corev1.PersistentVolumeClaimList):
            for each in self.client.list(CTX, kind).items:
                owners = each.get_owner_references()
                owners[0].uid = made.get_uid()
                each.set_owner_references(owners)
                self.client.update(CTX, each)


def test_claims_grow_before_the_set_and_the_plan_stands_before_anything_is_deleted() -> None:
    setup = Setup()
    assert setup.recreate() == []
    assert setup.expand()
    sizes = [
        str(each.spec.resources.requests["storage"])
        for each in setup.client.list(CTX, corev1.PersistentVolumeClaimList).items
    ]
    assert sizes == ["2Gi", "2Gi"]
    setup.read()
    plan = json.loads(setup.es.get_annotations()[ANNOTATION])
    assert plan["metadata"]["uid"] == "uid-of-set"
    assert plan["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] == {"storage": "2Gi"}
    assert setup.set() is not None
    (event,) = setup.state.events
    assert event.note == "Expanding the volumes of StatefulSet es-es-d: elasticsearch-data from 1Gi to 2Gi"


def test_while_no_set_owns_them_the_cluster_owns_pods_and_claims() -> None:
    setup = Setup()
    setup.expand()
    assert setup.recreate() == ["es-es-d"]
    assert setup.set() is None
    assert setup.owners() == [["StatefulSet", "Elasticsearch"]] * 4
    # Again and again until it is so: as the operator does that was killed.
    assert setup.recreate() == ["es-es-d"]
    made = setup.set()
    assert made is not None
    assert (made.spec.replicas, setup.expectations.pending(CTX)) == (2, "")
    # Its controller has not found the pods yet.
    assert setup.recreate() == ["es-es-d"]
    assert setup.owners() == [["StatefulSet", "Elasticsearch"]] * 4
    setup.take_over()
    assert setup.recreate() == []
    assert setup.owners() == [["StatefulSet"]] * 4
    setup.read()
    assert ANNOTATION not in setup.es.get_annotations()
    assert not setup.expand()


class Deletions:
    """A client that deletes nothing: it is a conflict."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self.asked: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def delete(self, ctx: Any, obj: Any, *opts: Any) -> None:
        self.asked.append(client.DeleteOptions().apply_options(opts))
        raise errors.new_conflict(schema.GroupResource("apps", "statefulsets"), obj.get_name(), "uid")


def test_the_set_that_was_planned_is_deleted_without_its_pods_and_no_other() -> None:
    setup = Setup()
    setup.expand()
    setup.client = Deletions(setup.client)
    # The cache is behind: there is another one by now, and the next look will show it.
    assert setup.recreate() == ["es-es-d"]
    (options,) = setup.client.asked
    assert options.preconditions.uid == "uid-of-set"
    assert options.propagation_policy == "Orphan"


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", "null", "{}", "[" * 100_000,
        '{"metadata": {"name": "es-es-d", "namespace": "default"}}',
        '{"metadata": {"name": "es-es-d", "namespace": "other", "uid": "u"}}',
        '{"metadata": {"name": "other", "namespace": "default", "uid": "u"}}',
    ],
)  # fmt: skip
def test_a_plan_not_written_by_the_operator_is_refused(text: str) -> None:
    setup = Setup()
    setup.es.set_annotations({ANNOTATION: text})
    with pytest.raises(state.Refused, match="annotation .*recreate-es-es-d is no StatefulSet es-es-d"):
        pvc_expansion.recreate_stateful_sets(CTX, setup.client, setup.es, setup.expectations)
    assert setup.set() is not None


# ---- messages to the user


def test_of_a_refusal_the_user_hears_once() -> None:
    es = elasticsearch()
    for answer, events in (("no", 1), ("no", 0), ("never", 1)):
        found = state.State(es)
        found.refuse("Refused", answer)
        found.write_to(es)
        assert (es.status.phase, len(found.events)) == ("Invalid", events)
        assert answer in [each.message for each in es.status.conditions]
