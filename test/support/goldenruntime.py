"""Helpers of controller-runtime's golden cases: objects, kinds and errors. Their README describes the format."""

from __future__ import annotations

from typing import Any

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ListObject, ResourceObject
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.apimachinery.util.errors import chain

Document = dict[str, Any]

TYPED: dict[str, tuple[type[ResourceObject], type[ListObject]]] = {
    "ConfigMap": (corev1.ConfigMap, corev1.ConfigMapList),
    "Secret": (corev1.Secret, corev1.SecretList),
    "Pod": (corev1.Pod, corev1.PodList),
    "Node": (corev1.Node, corev1.NodeList),
    "Deployment": (appsv1.Deployment, appsv1.DeploymentList),
    "ReplicaSet": (appsv1.ReplicaSet, appsv1.ReplicaSetList),
}
CLUSTER_SCOPED = ("Node", "Namespace", "ClusterRole")


def mapper(*, widget: bool) -> meta.RESTMapper:
    """Return the cases' mapper: all kinds with their lists, and Widget if the area has it."""
    made = meta.new_default_rest_mapper([])
    names = {"v1": ["ConfigMap", "Secret", "Pod", "Node", "Namespace"], "apps/v1": ["Deployment", "ReplicaSet"]}
    names["rbac.authorization.k8s.io/v1"] = ["ClusterRole"]
    if widget:
        names["example.com/v1"] = ["Widget"]
    for api_version, kinds in names.items():
        for kind in kinds:
            scope = meta.REST_SCOPE_ROOT if kind in CLUSTER_SCOPED else meta.REST_SCOPE_NAMESPACE
            made.add(kind_of(api_version, kind), scope)
            made.add(kind_of(api_version, f"{kind}List"), scope)
    return made


def kind_of(api_version: str, kind: str) -> GroupVersionKind:
    return parse_group_version(api_version).with_kind(kind)


def is_typed(as_: str, kind: str) -> bool:
    """Report whether the kind is typed. Widget has no class, so it never is."""
    return as_ == "typed" and kind in TYPED


def to_object(document: Document, as_: str) -> ResourceObject:
    """Return the object of a document, of the class that `as` asks for."""
    document = _copy(document)
    if is_typed(as_, document["kind"]):
        return TYPED[document["kind"]][0].from_dict(document)
    if as_ == "metadata":
        return metav1.PartialObjectMetadata.from_dict(
            {key: document[key] for key in ("apiVersion", "kind", "metadata") if key in document}
        )
    return Unstructured(document)


def example(api_version: str, kind: str, as_: str) -> Any:
    """Return the argument of a get of the kind: a class, or an example."""
    if is_typed(as_, kind):
        return TYPED[kind][0]
    cls = metav1.PartialObjectMetadata if as_ == "metadata" else Unstructured
    return cls.from_dict({"apiVersion": api_version, "kind": kind})


def list_example(api_version: str, kind: str, as_: str) -> Any:
    """Return the argument of a list of the kind."""
    if is_typed(as_, kind):
        return TYPED[kind][1]
    cls = metav1.PartialObjectMetadataList if as_ == "metadata" else UnstructuredList
    return cls.from_dict({"apiVersion": api_version, "kind": f"{kind}List"})


def shown(obj: ResourceObject | None) -> Document | None:
    """Return an object in an expectation's form: with its kind, without empty fields."""
    if obj is None:
        return None
    document = obj.to_dict()
    own = type(obj).GROUP_VERSION_KIND
    if own is not None and not isinstance(obj, metav1.PartialObjectMetadata):
        document["apiVersion"], document["kind"] = own.to_api_version_and_kind()
    return dense(document) or {}


def dense(value: Any) -> Any:
    """Return the value without Go's zero values: Go writes some for typed objects, and leaves out others that it was
    given.
    """
    if isinstance(value, dict):
        kept = {key: item if key == "fieldsV1" else dense(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item}
    if isinstance(value, list):
        return [dense(item) for item in value]
    return value


def error_of(err: BaseException | None) -> Document | None:
    """Return an error in an expectation's form."""
    if err is None:
        return None
    answer: Document = {"message": str(err).removesuffix("\n")}
    for each in chain(err):
        if isinstance(each, apierrors.StatusError):
            answer["reason"], answer["code"] = str(each.status().reason), each.status().code
            break
    return answer


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
