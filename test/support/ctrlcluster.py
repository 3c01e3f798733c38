"""An embedded API server for tests of controller-runtime's clients and caches, and objects in all three forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clientgo import context, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ResourceObject, Struct
from clientgo.controller_runtime import client
from clientgo.testing.apiserver import Environment

CTX = context.background()

FORMS = ["typed", "unstructured", "metadata"]

WIDGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}


class Cluster:
    """A server, a client of it, and namespaces for tests of their own."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.config = environment.config
        self.http_client = rest.http_client_for(self.config)
        self._numbers = itertools.count(1)
        self.client = self.new_client()

    def new_client(self, config: rest.Config | None = None, **options: Any) -> client.Client:
        options.setdefault("http_client", self.http_client)
        return client.new(config or self.config, client.Options(**options))

    def watching_client(self) -> client.WithWatch:
        return client.new_with_watch(self.config, client.Options(http_client=self.http_client))

    def new_name(self, prefix: str = "n") -> str:
        return f"{prefix}{next(self._numbers)}"

    def new_namespace(self) -> str:
        name = self.new_name("ns")
        self.client.create(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name=name)))
        return name

    def close(self) -> None:
        self.http_client.close_idle_connections()


@contextmanager
def new_cluster(**options: Any) -> Iterator[Cluster]:
    with Environment(**options) as environment:
        cluster = Cluster(environment)
        yield cluster
        cluster.close()


def in_form(obj: Any, form: str) -> Any:
    """Return a typed object in another form. The form of PartialObjectMetadata has only the metadata."""
    if form == "typed":
        return obj
    document = obj.to_dict()
    document["apiVersion"], document["kind"] = type(obj).GROUP_VERSION_KIND.to_api_version_and_kind()
    if form == "unstructured":
        return Unstructured(document)
    head = {name: document[name] for name in ("apiVersion", "kind", "metadata") if name in document}
    return metav1.PartialObjectMetadata.from_dict(head)


def kind_in_form(cls: type[ResourceObject], form: str) -> Any:
    """Return the argument for a client's call: the class, or an example of the other forms."""
    if form == "typed":
        return cls
    assert cls.GROUP_VERSION_KIND is not None
    api_version, kind = cls.GROUP_VERSION_KIND.to_api_version_and_kind()
    if kind.endswith("List"):
        example: Any = UnstructuredList() if form == "unstructured" else metav1.PartialObjectMetadataList()
    else:
        example = Unstructured() if form == "unstructured" else metav1.PartialObjectMetadata()
    example.set_group_version_kind(cls.GROUP_VERSION_KIND)
    assert (example.api_version, example.kind) == (api_version, kind)
    return example


def deployment(namespace: str, name: str, replicas: int = 1, **labels: str) -> appsv1.Deployment:
    own = {"app": name}
    template = corev1.PodTemplateSpec(
        metadata=metav1.ObjectMeta(labels=own),
        spec=corev1.PodSpec(containers=[corev1.Container(name="c", image="i")]),
    )
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name=name, namespace=namespace, labels=labels),
        spec=appsv1.DeploymentSpec(
            replicas=replicas, selector=metav1.LabelSelector(match_labels=own), template=template
        ),
    )


def pod(namespace: str, name: str, node: str = "", **labels: str) -> corev1.Pod:
    return corev1.Pod(
        metadata=metav1.ObjectMeta(name=name, namespace=namespace, labels=labels),
        spec=corev1.PodSpec(containers=[corev1.Container(name="c", image="i")], node_name=node),
    )


def node(name: str, **labels: str) -> corev1.Node:
    return corev1.Node(metadata=metav1.ObjectMeta(name=name, labels=labels))


def document_of(obj: Struct) -> dict[str, Any]:
    """Return the object's document without the fields that the server sets."""
    document = obj.to_dict()
    for name in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
        document.get("metadata", {}).pop(name, None)
    return document
