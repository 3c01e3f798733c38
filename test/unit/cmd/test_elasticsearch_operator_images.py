"""The elasticsearch-operator's version checks: which images a Job looks at, and what comes of that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram

from clientgo import context
from clientgo.api.batch import v1 as batchv1
from clientgo.controller_runtime.client import fake

PROGRAM = ImportedProgram("elasticsearch-operator")
with PROGRAM:
    esv1 = PROGRAM.module("api.v1")
    main = PROGRAM.module("main")
    image_check = PROGRAM.module("elasticsearch.image_check")
    nodespec = PROGRAM.module("elasticsearch.nodespec")
    state = PROGRAM.module("elasticsearch.state")

CTX = context.background()
SCHEME = main.new_scheme()
OWN = "registry.example/es:8.11.0"


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


class Setup:
    """The Jobs of a cluster of two node sets."""

    def __init__(self) -> None:
        self.client = fake.new_client_builder().with_scheme(SCHEME).with_status_subresource(batchv1.Job()).build()

    def reconcile(self, image: str = "", version: str = "8.11.0", name: str = "es", **pod: Any) -> list[str]:
        """Reconcile a resource with two node sets. `pod` is the pod template's spec of the second."""
        sets = [{"name": "a", "count": 1}, {"name": "b", "count": 1, "podTemplate": {"spec": pod}}]
        metadata = {"name": name, "namespace": "default", "uid": f"uid-of-{name}"}
        spec = {"version": version, "image": image, "nodeSets": sets}
        es = esv1.Elasticsearch.from_dict({"metadata": metadata, "spec": spec})
        expected = nodespec.build_expected_resources(es)
        return list(image_check.reconcile_image_checks(CTX, self.client, es, expected))

    def jobs(self) -> list[batchv1.Job]:
        return list(self.client.list(CTX, batchv1.JobList).items)

    def end(self, condition: str) -> None:
        """Give all Jobs the condition."""
        for job in self.jobs():
            job.status.conditions = [batchv1.JobCondition(type=condition, status="True")]
            self.client.status().update(CTX, job)


def test_the_image_of_a_version_is_not_looked_at() -> None:
    setup = Setup()
    assert setup.reconcile() == []
    assert setup.reconcile(image=nodespec.default_image("8.11.0")) == []
    assert setup.jobs() == []


def test_an_image_of_ones_own_is_looked_at_once_and_stays_looked_at() -> None:
    setup = Setup()
    assert setup.reconcile(image=OWN) == [OWN]
    assert setup.reconcile(image=OWN) == [OWN]
    (job,) = setup.jobs()
    (container,) = job.spec.template.spec.containers
    assert (container.image, {each.name: each.value for each in container.env}) == (OWN, {"EXPECTED_VERSION": "8.11.0"})
    assert [owner.name for owner in job.get_owner_references()] == ["es"]
    # Its pod is not a node: no Service selects it, and the operator does not count it.
    assert not {"elasticsearch.k8s.elastic.co/cluster-name"} & set(job.spec.template.metadata.labels)
    setup.end("Complete")
    assert setup.reconcile(image=OWN) == []
    assert setup.reconcile(image=OWN) == []
    assert len(setup.jobs()) == 1


def test_the_same_image_for_another_version_is_looked_at_again() -> None:
    setup = Setup()
    setup.reconcile(image=OWN)
    setup.end("Complete")
    assert setup.reconcile(image=OWN, version="8.12.0") == [OWN]
    (job,) = setup.jobs()
    assert [each.value for each in job.spec.template.spec.containers[0].env] == ["8.12.0"]


def test_a_set_with_an_image_of_its_own_has_a_job_of_its_own() -> None:
    setup = Setup()
    container = {"name": "elasticsearch", "image": "registry.example/other:1"}
    secret = {"name": "key-of-the-registry"}
    images = setup.reconcile(image=OWN, containers=[container], imagePullSecrets=[secret])
    assert images == [OWN, "registry.example/other:1"]
    secrets = {
        job.spec.template.spec.containers[0].image: [each.name for each in job.spec.template.spec.image_pull_secrets]
        for job in setup.jobs()
    }
    assert secrets == {OWN: [], "registry.example/other:1": ["key-of-the-registry"]}


def test_an_image_that_holds_something_else_is_refused_until_another_is_asked_for() -> None:
    setup = Setup()
    setup.reconcile(image=OWN)
    setup.end("Failed")
    for _ in range(2):
        with pytest.raises(state.Refused, match=f"image {OWN} does not hold Elasticsearch 8.11.0, or does not run"):
            setup.reconcile(image=OWN)
    assert setup.reconcile() == []
    assert setup.jobs() == []


def test_the_jobs_of_other_clusters_are_left_alone() -> None:
    setup = Setup()
    setup.reconcile(image=OWN, name="other")
    setup.reconcile()
    assert len(setup.jobs()) == 1
