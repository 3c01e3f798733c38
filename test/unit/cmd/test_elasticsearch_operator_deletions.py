"""The elasticsearch-operator deletes exactly the pod that it has looked at: against a server that checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram
from virtualcluster import CTX, VirtualCluster

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.controller_runtime import client

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    expectations = PROGRAM.module("elasticsearch.expectations")
    state = PROGRAM.module("elasticsearch.state")
    upgrade = PROGRAM.module("elasticsearch.upgrade")

NAME = "es-es-data-0"
KEY = client.ObjectKey("default", NAME)


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


@pytest.fixture
def cluster() -> Iterator[VirtualCluster]:
    with VirtualCluster(scheme=main.new_scheme()) as cluster:
        yield cluster


class Deleting:
    """The phase, as far as deleting a pod needs it."""

    def __init__(self, c: Any) -> None:
        self.client = c
        self.state = state.State(esv1.Elasticsearch())
        self.expectations = expectations.Expectations(c, c)
        self.phase = upgrade.Upgrade(
            c, self.state.es, self.expectations, self.state, state.Results(), expected={}, actual={}, pods=[]
        )

    def delete(self, pod: corev1.Pod) -> bool:
        return bool(upgrade.delete_pod(CTX, self.phase, pod, upgrade.ROLLING))

    def reported_nodes(self) -> list[str]:
        """Return the nodes whose deletion the status reports."""
        es = esv1.Elasticsearch()
        self.state.write_to(es)
        return [node.name for node in es.status.in_progress_operations.upgrade.nodes]


def make_pod(cluster: VirtualCluster) -> corev1.Pod:
    document = {
        "metadata": {"name": NAME, "namespace": "default"},
        "spec": {"containers": [{"name": "elasticsearch", "image": "es"}]},
    }
    cluster.client.create(CTX, corev1.Pod.from_dict(document))
    cluster.bubble.sleep(10.0)
    return cluster.client.get(CTX, KEY, corev1.Pod)


def test_a_pod_is_deleted_as_it_was_seen_and_its_end_is_expected(cluster: VirtualCluster) -> None:
    pod, deleting = make_pod(cluster), Deleting(cluster.client)
    assert deleting.delete(pod)
    assert deleting.reported_nodes() == [NAME]
    cluster.until(lambda: deleting.expectations.pending(CTX) == "")
    assert cluster.client.list(CTX, corev1.PodList).items == []


def test_a_pod_that_has_changed_since_it_was_seen_is_left(cluster: VirtualCluster) -> None:
    """It may have been unready at that time, and the budget may need it now."""
    seen, deleting = make_pod(cluster), Deleting(cluster.client)
    changed = seen.deep_copy()
    changed.set_annotations({"changed": "yes"})
    cluster.client.patch(CTX, changed, client.merge_from(seen))
    assert not deleting.delete(seen)
    assert cluster.client.get(CTX, KEY, corev1.Pod).get_deletion_timestamp() is None
    assert (deleting.reported_nodes(), deleting.expectations.pending(CTX)) == ([], "")


def test_a_pod_that_has_the_name_of_the_one_that_was_seen_is_left(cluster: VirtualCluster) -> None:
    seen, deleting = make_pod(cluster), Deleting(cluster.client)
    cluster.client.delete(CTX, seen)
    cluster.until(lambda: not cluster.client.list(CTX, corev1.PodList).items)
    assert not deleting.delete(seen)
    young = make_pod(cluster)
    # Its uid alone tells them apart: a version means nothing without it.
    seen.set_resource_version(young.get_resource_version())
    assert not deleting.delete(seen)
    assert cluster.client.get(CTX, KEY, corev1.Pod).get_uid() == young.get_uid() != seen.get_uid()
    assert (deleting.reported_nodes(), deleting.expectations.pending(CTX)) == ([], "")


def test_what_else_goes_wrong_is_raised(cluster: VirtualCluster) -> None:
    class FailingClient:
        def delete(self, *arguments: Any) -> None:
            raise errors.new_bad_request("no")

    pod, deleting = make_pod(cluster), Deleting(cluster.client)
    deleting.phase.client = FailingClient()
    with pytest.raises(errors.StatusError, match="no"):
        deleting.delete(pod)
    assert (deleting.reported_nodes(), deleting.expectations.pending(CTX)) == ([], "")
