"""Endpoints: the addresses behind a Service, as an EndpointSlice and, in the older form, as Endpoints.

Does what Kubernetes' two endpoint controllers do for Services with a selector, for at most a thousand pods. A pod that
is not ready has the condition `ready: false` in the EndpointSlice and an entry in the `notReadyAddresses` of the
Endpoints, unless the Service has `publishNotReadyAddresses`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clientgo import kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.api.discovery import v1 as discoveryv1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import Context
from clientgo.listers.core import v1 as listers
from clientgo.testing.apiserver.kinds.validation import selector_matches
from clientgo.testing.apiserver.simulator.pods import is_ready
from clientgo.testing.apiserver.wire.jsonio import Json

KIND = corev1.SCHEME_GROUP_VERSION.with_kind("Service")
SERVICE_NAME = "kubernetes.io/service-name"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"


class Endpoints:
    """A controller that syncs one Service at a time; called by one worker thread."""

    def __init__(
        self, client: kubernetes.Clientset, services: listers.ServiceLister, pods: listers.PodLister
    ) -> None:
        self._client = client
        self._services = services
        self._pods = pods

    def __repr__(self) -> str:
        return "<Endpoints>"

    def keys_of(self, pod: corev1.Pod) -> Iterable[str]:
        """Return the keys of the Services that a changed pod concerns."""
        for service in self._services.services(pod.get_namespace()).list(labels.everything()):
            if _selects(service, pod):
                yield f"{service.get_namespace()}/{service.get_name()}"

    def sync(self, ctx: Context, namespace: str, name: str) -> None:
        """Write the slice and the Endpoints of one Service. Raises StatusError.

        From the cache: what changes there queues the Service again.
        """
        service = self._services.services(namespace).get(name)
        if service.metadata.deletion_timestamp is not None or not service.spec.selector:
            return
        pods = [
            pod
            for pod in self._pods.pods(namespace).list(labels.everything())
            if _selects(service, pod) and pod.status.pod_ip and pod.status.phase not in ("Succeeded", "Failed")
        ]
        pods.sort(key=lambda pod: pod.get_name())
        slices = self._client.discovery_v1().endpoint_slices(namespace)
        _put(ctx, slices, discoveryv1.EndpointSlice, _slice_of(service, pods))
        _put(ctx, self._client.core_v1().endpoints(namespace), corev1.Endpoints, _endpoints_of(service, pods))


def _put(ctx: Context, client: Any, cls: Any, wanted: Json) -> None:
    """Create the object, or update the existing one."""
    try:
        document = client.get(ctx, wanted["metadata"]["name"], metav1.GetOptions()).to_dict()
    except errors.StatusError as err:
        if not errors.is_not_found(err):
            raise
        client.create(ctx, cls.from_dict(wanted), metav1.CreateOptions())
        return
    rest = {key: value for key, value in wanted.items() if key != "metadata"}
    if any(document.get(key) != value for key, value in rest.items()):
        client.update(ctx, cls.from_dict({**document, **rest}), metav1.UpdateOptions())


def _selects(service: corev1.Service, pod: corev1.Pod) -> bool:
    selector = dict(service.spec.selector)
    return bool(selector) and selector_matches({"matchLabels": selector}, dict(pod.metadata.labels))


def _target(pod: corev1.Pod) -> Json:
    return {"kind": "Pod", "namespace": pod.get_namespace(), "name": pod.get_name(), "uid": pod.metadata.uid}


def _ports(service: corev1.Service, pods: list[corev1.Pod]) -> list[Json]:
    """Return the ports at which the pods listen. A named port is that of the first pod that has it."""
    found = []
    for port in service.spec.ports:
        target = port.to_dict().get("targetPort", port.port)
        number = target if isinstance(target, int) else _named_port(pods, target)
        if number:
            found.append({"name": port.name, "port": number, "protocol": port.protocol or "TCP"})
    return found


def _named_port(pods: list[corev1.Pod], name: str) -> int:
    return next(
        (port.container_port for pod in pods for one in pod.spec.containers for port in one.ports if port.name == name),
        0,
    )


def _slice_of(service: corev1.Service, pods: list[corev1.Pod]) -> Json:
    endpoints: list[Json] = []
    for pod in pods:
        going = pod.metadata.deletion_timestamp is not None
        ready = is_ready(pod)
        shown = (ready and not going) or service.spec.publish_not_ready_addresses
        endpoint: Json = {
            "addresses": [pod.status.pod_ip],
            "conditions": {"ready": shown, "serving": ready, "terminating": going},
            "targetRef": _target(pod),
            "nodeName": pod.spec.node_name,
        }
        if pod.spec.hostname and pod.spec.subdomain == service.get_name():
            endpoint["hostname"] = pod.spec.hostname
        endpoints.append(endpoint)
    return {
        "metadata": {
            "name": f"{service.get_name()}-simulated",
            "namespace": service.get_namespace(),
            "labels": {
                **dict(service.metadata.labels),
                SERVICE_NAME: service.get_name(),
                _MANAGED_BY: "endpointslice-controller.k8s.io",
            },
            "ownerReferences": [metav1.new_controller_ref(service, KIND).to_dict()],
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": _ports(service, pods),
    }


def _endpoints_of(service: corev1.Service, pods: list[corev1.Pod]) -> Json:
    subset: Json = {}
    for pod in pods:
        if pod.metadata.deletion_timestamp is not None:
            continue
        ready = is_ready(pod) or service.spec.publish_not_ready_addresses
        address: Json = {"ip": pod.status.pod_ip, "nodeName": pod.spec.node_name, "targetRef": _target(pod)}
        if pod.spec.hostname and pod.spec.subdomain == service.get_name():
            address["hostname"] = pod.spec.hostname
        subset.setdefault("addresses" if ready else "notReadyAddresses", []).append(address)
    ports = [{key: value for key, value in port.items() if value} for port in _ports(service, pods)]
    if subset and ports:
        subset["ports"] = ports
    metadata: Json = {
        "name": service.get_name(),
        "namespace": service.get_namespace(),
        "labels": dict(service.metadata.labels),
    }
    metadata["ownerReferences"] = [metav1.new_controller_ref(service, KIND).to_dict()]
    return {"metadata": metadata, "subsets": [subset] if subset else []}
