"""A write of the status that comes too late is no error of an operator: its cluster has changed, or is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from programs import ImportedProgram

from clientgo import context
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.apimachinery.types import NamespacedName
from clientgo.controller_runtime.client import fake, interceptor
from clientgo.tools import events

ELASTICSEARCH = ImportedProgram("elasticsearch-operator")
with ELASTICSEARCH:
    esv1 = ELASTICSEARCH.module("api.v1")
    es_main = ELASTICSEARCH.module("main")
    es_controller = ELASTICSEARCH.module("elasticsearch.controller")
COCKROACH = ImportedProgram("cockroach-operator")
with COCKROACH:
    crdb_api = COCKROACH.module("api.v1alpha1")
    crdb_main = COCKROACH.module("main")
    crdb_controller = COCKROACH.module("controller")

CTX = context.background()
KEY = NamespacedName("default", "late")
RESOURCE = GroupResource("example.com", "clusters")
METADATA = metav1.ObjectMeta(name=KEY.name, namespace=KEY.namespace)
CONFLICT = errors.new_conflict(RESOURCE, KEY.name, RuntimeError("changed"))
GONE = errors.new_not_found(RESOURCE, KEY.name)
FORBIDDEN = errors.new_forbidden(RESOURCE, KEY.name, RuntimeError("no"))


@pytest.fixture
def imported(request: pytest.FixtureRequest) -> Iterator[None]:
    with request.param:
        yield


def client_that_refuses(scheme: Any, obj: Any, err: Exception) -> Any:
    def patch(ctx: Any, client: Any, name: str, obj: Any, patch: Any, *opts: Any) -> None:
        raise err

    builder = fake.new_client_builder().with_scheme(scheme).with_objects(obj).with_status_subresource(obj)
    return builder.with_interceptor_funcs(interceptor.Funcs(sub_resource_patch=patch)).build()


def elasticsearch(err: Exception) -> Any:
    """Reconcile a cluster whose manifest is invalid, which is its status."""
    client = client_that_refuses(es_main.new_scheme(), esv1.Elasticsearch(metadata=METADATA), err)
    reconciler = es_controller.ReconcileElasticsearch(client, client, events.new_fake_recorder(10), None)
    return reconciler.reconcile(CTX, ctrl.Request(KEY.namespace, KEY.name))


def cockroach(err: Exception) -> Any:
    """Reconcile a new cluster, whose first status is "Starting"."""
    client = client_that_refuses(crdb_main.new_scheme(), crdb_api.CrdbCluster(metadata=METADATA), err)
    return crdb_controller.ClusterReconciler(client, client, None).reconcile(CTX, ctrl.Request(KEY.namespace, KEY.name))


OPERATORS = pytest.mark.parametrize(
    ("operator", "imported"), [(elasticsearch, ELASTICSEARCH), (cockroach, COCKROACH)], indirect=["imported"]
)


@OPERATORS
def test_a_conflict_of_the_status_is_tried_again_at_once(operator: Any, imported: None) -> None:
    assert operator(CONFLICT).requeue


@OPERATORS
def test_the_status_of_a_cluster_that_is_gone_is_no_error(operator: Any, imported: None) -> None:
    operator(GONE)


@OPERATORS
def test_another_refusal_of_the_status_is_an_error(operator: Any, imported: None) -> None:
    with pytest.raises(errors.StatusError, match="forbidden"):
        operator(FORBIDDEN)
