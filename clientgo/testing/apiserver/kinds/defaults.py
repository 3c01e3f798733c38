"""Defaults of the built-in kinds, as Kubernetes' defaulting functions set them on decoding, and as admission does.

Each function changes a freshly decoded object in place. The caller owns the object, and restores the order of fields of
the Go type before it stores the object.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.golang import utf8
from clientgo.golang.strconv import atoi_clipped
from clientgo.testing.apiserver.kinds import services
from clientgo.testing.apiserver.wire.jsonio import Json


def _set(obj: Json, **values: Any) -> None:
    """Set the fields that are absent, null, "" or 0. An explicit 0 stays if the Go field is a pointer."""
    for name, value in values.items():
        if (obj.get(name) in (None, "", 0) and obj.get(name) is not False and name not in _ZERO_MATTERS) or obj.get(
            name
        ) is None:
            obj[name] = value


# Pointers in Go: an explicit 0 is a value there.
_ZERO_MATTERS = {
    "replicas",
    "revisionHistoryLimit",
    "progressDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "backoffLimit",
    "completions",
    "parallelism",
    "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit",
    "maxUnavailable",
    "maxSurge",
    "partition",
    "defaultMode",
    "tolerationSeconds",
    "minReplicas",
}


_IMAGE = re.compile(r"([\w.-]+(:\d+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*(:[\w][\w.-]*)?", re.ASCII)


def _image_policy(image: str) -> str:
    if "@" in image or not _IMAGE.fullmatch(image):
        # An invalid image is not pulled again either.
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _http_get(handler: Json) -> None:
    if isinstance(handler.get("httpGet"), dict):
        _set(handler["httpGet"], path="/", scheme="HTTP")


def _probe(probe: Json) -> None:
    _set(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    _http_get(probe)
    if isinstance(probe.get("grpc"), dict) and probe["grpc"].get("service") is None:
        probe["grpc"]["service"] = ""


def _container(container: Json) -> None:
    _set(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy=_image_policy(container.get("image", "")),
    )
    for port in container.get("ports") or ():
        _set(port, protocol="TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(name), dict):
            _probe(container[name])
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _http_get(handler)
    for env in container.get("env") or ():
        reference = (env.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            _set(reference, apiVersion="v1")


def _host_path(source: Json) -> None:
    if isinstance(source.get("hostPath"), dict) and source["hostPath"].get("type") is None:
        source["hostPath"]["type"] = ""


def _downward(source: Json | None) -> None:
    for item in (source or {}).get("items") or ():
        if item.get("fieldRef") is not None:
            _set(item["fieldRef"], apiVersion="v1")


def _volume(volume: Json) -> None:
    for name in ("secret", "configMap", "downwardAPI", "projected"):
        if isinstance(volume.get(name), dict):
            _set(volume[name], defaultMode=420)
    _host_path(volume)
    _downward(volume.get("downwardAPI"))
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        _set(template.setdefault("spec", {}), volumeMode="Filesystem")
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None:
            _set(token, expirationSeconds=3600)
        _downward(source.get("downwardAPI"))
    if set(volume) == {"name"}:
        volume["emptyDir"] = {}


def pod_spec(spec: Json) -> None:
    for group in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            _container(container)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    _set(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        schedulerName="default-scheduler",
    )
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        # The second is the older name of the first.
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    if spec.get("hostNetwork"):
        for container in spec.get("containers") or ():
            for port in container.get("ports") or ():
                _set(port, hostPort=port.get("containerPort", 0))


def _request_limits(container: Json) -> None:
    """Set missing requests to the limits. Applies to pods, not to pod templates."""
    resources = container.get("resources") or {}
    if resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, value in resources["limits"].items():
            requests.setdefault(name, value)


def _template(template: Json) -> None:
    pod_spec(template.setdefault("spec", {}))


def _pod(obj: Json) -> None:
    spec = obj["spec"]
    pod_spec(spec)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        _request_limits(container)
    # A pod has requests and limits of its own, too.
    _request_limits(spec)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True


def _deployment(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec.setdefault("strategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
        _set(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    _template(spec["template"])


def _replica_set(obj: Json) -> None:
    _set(obj["spec"], replicas=1)
    _template(obj["spec"]["template"])


def _replication_controller(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, replicas=1)
    template = spec.get("template")
    if template is None:
        return
    _template(template)
    labels = (template.get("metadata") or {}).get("labels")
    if labels and not spec.get("selector"):
        spec["selector"] = dict(labels)
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _stateful_set(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
        _set(strategy["rollingUpdate"], partition=0)
    if spec.get("persistentVolumeClaimRetentionPolicy") is None:
        spec["persistentVolumeClaimRetentionPolicy"] = {}
    _set(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        _set(claim, apiVersion="v1", kind="PersistentVolumeClaim")
    _template(spec["template"])
    for claim in spec.get("volumeClaimTemplates") or ():
        _set(claim["spec"], volumeMode="Filesystem")
        claim["status"] = {"phase": "Pending"}


# The counter of templates that DaemonSets had before revisions; every answer still shows it.
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def template_generation(annotations: Json | None) -> int:
    text = (annotations or {}).get(TEMPLATE_GENERATION, "")
    return atoi_clipped(text) if text.isascii() and text.isdigit() else 0


def _daemon_set(obj: Json) -> None:
    spec, metadata = obj["spec"], obj["metadata"]
    counted = template_generation(metadata.get("annotations"))
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_GENERATION: str(counted)}
    _set(spec, revisionHistoryLimit=10)
    strategy = spec.setdefault("updateStrategy", {})
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        if strategy.get("rollingUpdate") is None:
            strategy["rollingUpdate"] = {}
        _set(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)
    _template(spec["template"])


def _job_spec(spec: Json) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    replacement = "Failed" if spec.get("podFailurePolicy") is not None else "TerminatingOrFailed"
    _set(spec, parallelism=1, backoffLimit=6, completionMode="NonIndexed", podReplacementPolicy=replacement)
    if spec.get("suspend") is None:
        spec["suspend"] = False
    pod_spec(spec["template"].setdefault("spec", {}))


def _job(obj: Json) -> None:
    spec = obj["spec"]
    if not (spec.get("template") or {}).get("spec", {}).get("restartPolicy"):
        # Jobs demand an explicit policy; pods default to Always, which validation then refuses.
        spec.setdefault("template", {}).setdefault("spec", {})
    _job_spec(spec)
    if spec.get("manualSelector") is None:
        spec["manualSelector"] = False
    job_labels(obj)


def job_labels(obj: Json) -> None:
    """Copy the template's labels to a Job without labels."""
    labels = (obj["spec"]["template"].get("metadata") or {}).get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _cron_job(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, concurrencyPolicy="Allow", successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    if spec.get("suspend") is None:
        spec["suspend"] = False
    pod_spec(spec["jobTemplate"]["spec"]["template"].setdefault("spec", {}))


def _node(obj: Json) -> None:
    """Make podCIDR the first of podCIDRs, and set a missing allocatable to the capacity."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    networks = spec.get("podCIDRs") or []
    if spec.get("podCIDR") and networks[:1] != [spec["podCIDR"]]:
        networks = [spec["podCIDR"]]
    if networks:
        spec["podCIDRs"] = networks
        if networks[0]:
            spec["podCIDR"] = networks[0]
    if status.get("capacity") and status.get("allocatable") is None:
        status["allocatable"] = dict(status["capacity"])


def _ingress_class(obj: Json) -> None:
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _service(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, sessionAffinity="None", type="ClusterIP")
    for port in spec.get("ports") or ():
        _set(port, protocol="TCP", targetPort=port.get("port", 0))
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP" and spec.get("sessionAffinityConfig") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    if services.needs_external_policy(spec):
        _set(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True
    if spec["type"] != "ExternalName":
        _set(spec, internalTrafficPolicy="Cluster")


def _secret(obj: Json) -> None:
    _set(obj, type="Opaque")
    strings = obj.pop("stringData", None)
    if strings:
        data = dict(obj.get("data") or {})
        data.update((name, base64.b64encode(utf8.encode(text)).decode()) for name, text in strings.items())
        obj["data"] = {name: data[name] for name in sorted(data)}


def _namespace(obj: Json) -> None:
    labels = {**(obj["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": obj["metadata"].get("name", "")}
    obj["metadata"]["labels"] = dict(sorted(labels.items()))
    _set(obj.setdefault("status", {}), phase="Active")


def _claim(obj: Json) -> None:
    _set(obj["spec"], volumeMode="Filesystem")
    _set(obj.setdefault("status", {}), phase="Pending")


def _volume_object(obj: Json) -> None:
    _host_path(obj["spec"])
    _set(obj["spec"], volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
    _set(obj.setdefault("status", {}), phase="Pending")


def _scaling(behavior: Json) -> None:
    """Set the default behavior of an autoscaler: fast scaling up without delay, slower scaling down."""
    every = {"type": "Percent", "value": 100, "periodSeconds": 15}
    up, down = (behavior.get(name) or {} for name in ("scaleUp", "scaleDown"))
    fast = [{"type": "Pods", "value": 4, "periodSeconds": 15}, every]
    for rules, policies in ((up, fast), (down, [every])):
        _set(rules, selectPolicy="Max")
        if rules.get("policies") is None:
            rules["policies"] = [dict(policy) for policy in policies]
    if up.get("stabilizationWindowSeconds") is None:
        up["stabilizationWindowSeconds"] = 0
    behavior["scaleUp"], behavior["scaleDown"] = up, down


def _hpa(obj: Json) -> None:
    spec = obj["spec"]
    _set(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1" and spec.get("targetCPUUtilizationPercentage") is None:
        spec["targetCPUUtilizationPercentage"] = 80
    if spec.get("behavior") is not None:
        _scaling(spec["behavior"])
    if obj["apiVersion"] == "autoscaling/v2" and not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _network_policy(obj: Json) -> None:
    spec = obj["spec"]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            _set(port, protocol="TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def _binding(obj: Json) -> None:
    _set(obj["roleRef"], apiGroup="rbac.authorization.k8s.io")
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group"):
            _set(subject, apiGroup="rbac.authorization.k8s.io")


def _storage_class(obj: Json) -> None:
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _priority_class(obj: Json) -> None:
    _set(obj, preemptionPolicy="PreemptLowerPriority")


def _endpoint_slice(obj: Json) -> None:
    for port in obj.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        _set(port, protocol="TCP")


def _endpoints(obj: Json) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            _set(port, protocol="TCP")


def _webhooks(obj: Json) -> None:
    for hook in obj.get("webhooks") or ():
        _set(hook, failurePolicy="Fail", matchPolicy="Equivalent")
        if hook.get("timeoutSeconds") is None:
            hook["timeoutSeconds"] = 10
        for name in ("namespaceSelector", "objectSelector"):
            if hook.get(name) is None:
                hook[name] = {}
        for rule in hook.get("rules") or ():
            _set(rule, scope="*")
        service = (hook.get("clientConfig") or {}).get("service")
        if service is not None:
            _set(service, port=443)
        if obj["kind"].startswith("Mutating"):
            _set(hook, reinvocationPolicy="Never")


def _admission_policy(obj: Json) -> None:
    spec = obj.get("spec") or {}
    _set(spec, failurePolicy="Fail")
    _match_resources(spec.get("matchConstraints"))


def _admission_policy_binding(obj: Json) -> None:
    _match_resources((obj.get("spec") or {}).get("matchResources"))


def _match_resources(given: Json | None) -> None:
    if given is None:
        return
    _set(given, matchPolicy="Equivalent")
    for name in ("namespaceSelector", "objectSelector"):
        if given.get(name) is None:
            given[name] = {}
    for rule in (*(given.get("resourceRules") or ()), *(given.get("excludeResourceRules") or ())):
        _set(rule, scope="*")


def _crd(obj: Json) -> None:
    spec = obj["spec"]
    names = spec["names"]
    kind = names.get("kind", "")
    if kind:
        _set(names, singular=kind.lower(), listKind=f"{kind}List")
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    if spec.get("scope") in (None, ""):
        spec["scope"] = ""


def _limit_range(obj: Json) -> None:
    """Set the default limits and requests of a LimitRange for containers.

    The default limit of a resource falls back to `max`. The default request falls back to the default limit, then to
    `min`.
    """
    for limit in (obj.get("spec") or {}).get("limits") or ():
        if limit.get("type") != "Container":
            continue
        limits = {**(limit.get("max") or {}), **(limit.get("default") or {})}
        requests = {**(limit.get("min") or {}), **limits, **(limit.get("defaultRequest") or {})}
        for name, values in (("default", limits), ("defaultRequest", requests)):
            if values:
                limit[name] = dict(sorted(values.items()))


_DEFAULTS: dict[str, Callable[[Json], None]] = {
    "v1/Pod": _pod,
    "v1/PodTemplate": lambda obj: _template(obj["template"]),
    "v1/ReplicationController": _replication_controller,
    "v1/Service": _service,
    "v1/Secret": _secret,
    "v1/Namespace": _namespace,
    "v1/PersistentVolumeClaim": _claim,
    "v1/PersistentVolume": _volume_object,
    "v1/Endpoints": _endpoints,
    "v1/Node": _node,
    "networking.k8s.io/v1/IngressClass": _ingress_class,
    "v1/LimitRange": _limit_range,
    "apps/v1/Deployment": _deployment,
    "apps/v1/ReplicaSet": _replica_set,
    "apps/v1/StatefulSet": _stateful_set,
    "apps/v1/DaemonSet": _daemon_set,
    "batch/v1/Job": _job,
    "batch/v1/CronJob": _cron_job,
    "autoscaling/v1/HorizontalPodAutoscaler": _hpa,
    "autoscaling/v2/HorizontalPodAutoscaler": _hpa,
    "networking.k8s.io/v1/NetworkPolicy": _network_policy,
    "rbac.authorization.k8s.io/v1/RoleBinding": _binding,
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding": _binding,
    "storage.k8s.io/v1/StorageClass": _storage_class,
    "scheduling.k8s.io/v1/PriorityClass": _priority_class,
    "discovery.k8s.io/v1/EndpointSlice": _endpoint_slice,
    "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": _webhooks,
    "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": _webhooks,
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": _admission_policy,
    "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": _admission_policy_binding,
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": _admission_policy,
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": _admission_policy_binding,
    "apiextensions.k8s.io/v1/CustomResourceDefinition": _crd,
}


def for_kind(group_version: str, kind: str) -> Callable[[Json], None] | None:
    """Return the defaulting function of a kind, or None if the kind has no defaults."""
    return _DEFAULTS.get(f"{group_version}/{kind}")


# ---- what admission plugins and allocators set, after field ownership was computed


def qos_class(spec: Json) -> str:
    """Return the quality of service of a pod. Go: ComputePodQOS.

    Only cpu and memory count, and only amounts above zero. The pod's own resources take precedence over those of its
    containers.
    """
    holders = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if spec.get("resources"):
        holders = [spec]
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    is_limited = True
    for resources in (holder.get("resources") or {} for holder in holders):
        _add_counted(requests, resources.get("requests"))
        is_limited &= _add_counted(limits, resources.get("limits")) == len(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if is_limited and requests == limits else "Burstable"


_COUNTED = ("cpu", "memory")


def _add_counted(total: dict[str, Quantity], amounts: Json | None) -> int:
    """Add the amounts that decide about the quality of service, and return their number."""
    count = 0
    for name in _COUNTED:
        amount = parse_quantity(str((amounts or {}).get(name, "0")))
        if amount.sign() > 0:
            count += 1
            total[name] = total[name] + amount if name in total else amount
    return count
