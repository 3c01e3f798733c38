"""The Table form: what `kubectl get` prints, computed by the server, as Kubernetes' printers do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo.testing.apiserver.jsonio import dumps_text
from clientgo.testing.apiserver.times import Times, human_duration

if TYPE_CHECKING:
    from clientgo.testing.apiserver.registry import Resource

Json = dict[str, Any]
Row = Callable[[Json, Times], list[Any]]

_NAME_TEXT = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may "
    "allow a client "
    "to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and "
    "configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
_AGE_TEXT = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be "
    "set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 "
    "form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


def column(name: str, kind: str = "string", priority: int = 0, text: str = "", form: str = "") -> Json:
    return {"name": name, "type": kind, "format": form, "description": text, "priority": priority}


_NAME = column("Name", text=_NAME_TEXT, form="name")
_AGE = column("Age", text=_AGE_TEXT)


def _columns(*names: str) -> list[Json]:
    """Columns by name: "+Name" is shown only in the wide form, "#Name" is a number."""
    out = []
    for name in names:
        wide = name.startswith("+")
        number = name.lstrip("+").startswith("#")
        plain = name.lstrip("+#")
        if plain == "Name":
            out.append(_NAME)
        elif plain == "Age" and not wide:
            out.append(_AGE)
        else:
            out.append(column(plain, "integer" if number else "string", 1 if wide else 0, f"{plain} of the object."))
    return out


def age(obj: Json, times: Times) -> str:
    created = obj["metadata"].get("creationTimestamp")
    return human_duration(times.since(created)) if created else "<unknown>"


def _since(text: Any, times: Times) -> str:
    return human_duration(times.since(text)) if text else "<unknown>"


def _spec(obj: Json) -> Json:
    return obj.get("spec") or {}


def _status(obj: Json) -> Json:
    return obj.get("status") or {}


def _none(value: Any) -> Any:
    return value if value not in (None, "", []) else "<none>"


def _containers(template: Json) -> tuple[str, str]:
    containers = (template.get("spec") or {}).get("containers") or []
    return ",".join(c.get("name", "") for c in containers), ",".join(c.get("image", "") for c in containers)


def selector_text(selector: Any) -> str:
    """A LabelSelector as metav1.FormatLabelSelector prints it."""
    if not selector:
        return "<none>"
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        key, operator, values = term.get("key"), term.get("operator"), ",".join(sorted(term.get("values") or ()))
        parts.append(
            {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": f"{key}"}.get(
                operator, f"!{key}"
            )
        )
    return ",".join(parts) or "<none>"


def _map_text(labels: Any) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"


# ---- rows of the built-in kinds


def _pod(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    statuses = status.get("containerStatuses") or []
    reason = status.get("reason") or status.get("phase", "")
    restarts = 0
    last_restart = ""
    for container in reversed(statuses):
        restarts += container.get("restartCount", 0)
        finished = ((container.get("lastState") or {}).get("terminated") or {}).get("finishedAt")
        last_restart = max(last_restart, finished or "")
        state = container.get("state") or {}
        waiting, terminated = state.get("waiting") or {}, state.get("terminated") or {}
        if waiting.get("reason"):
            reason = waiting["reason"]
        elif terminated.get("reason"):
            reason = terminated["reason"]
        elif terminated:
            signal = terminated.get("signal")
            reason = f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"
    ready = sum(1 for container in statuses if container.get("ready"))
    if obj["metadata"].get("deletionTimestamp"):
        reason = "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    shown = str(restarts)
    if restarts and last_restart:
        shown = f"{restarts} ({human_duration(times.since(last_restart))} ago)"
    gates = spec.get("readinessGates") or []
    conditions = {c.get("type"): c.get("status") for c in status.get("conditions") or ()}
    passed = sum(1 for gate in gates if conditions.get(gate.get("conditionType")) == "True")
    return [
        obj["metadata"]["name"],
        f"{ready}/{len(spec.get('containers') or ())}",
        reason,
        shown,
        age(obj, times),
        _none(status.get("podIP")),
        _none(spec.get("nodeName")),
        _none(status.get("nominatedNodeName")),
        f"{passed}/{len(gates)}" if gates else "<none>",
    ]


def _deployment(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    return [
        obj["metadata"]["name"],
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas') or 0}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, times),
        names,
        images,
        selector_text(spec.get("selector")),
    ]


def _replica_set(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    selector = spec.get("selector")
    text = selector_text(selector) if isinstance(selector, dict) and "matchLabels" in selector else _map_text(selector)
    return [
        obj["metadata"]["name"],
        spec.get("replicas") or 0,
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, times),
        names,
        images,
        text,
    ]


def _stateful_set(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas') or 0}"
    return [obj["metadata"]["name"], ready, age(obj, times), names, images]


def _daemon_set(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    template = spec.get("template") or {}
    names, images = _containers(template)
    return [
        obj["metadata"]["name"],
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        _map_text((template.get("spec") or {}).get("nodeSelector")),
        age(obj, times),
        names,
        images,
        selector_text(spec.get("selector")),
    ]


def _completions(done: int, wanted: int | None, parallelism: int | None) -> str:
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallelism}" if (parallelism or 0) > 1 else f"{done}/1"


def _job(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    done = status.get("succeeded", 0)
    wanted = spec.get("completions")
    conditions = {c.get("type") for c in status.get("conditions") or () if c.get("status") == "True"}
    state = "Running"
    for name in ("Complete", "Failed", "Suspended"):
        if name in conditions:
            state = name
    duration = ""
    if status.get("startTime"):
        start = times.since(status["startTime"])
        duration = human_duration(
            start - times.since(status.get("completionTime")) if status.get("completionTime") else start
        )
    return [
        obj["metadata"]["name"],
        state,
        _completions(done, wanted, spec.get("parallelism")),
        duration,
        age(obj, times),
        names,
        images,
        selector_text(spec.get("selector")),
    ]


def _cron_job(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    template = ((spec.get("jobTemplate") or {}).get("spec") or {}).get("template") or {}
    names, images = _containers(template)
    last = status.get("lastScheduleTime")
    return [
        obj["metadata"]["name"],
        spec.get("schedule", ""),
        spec.get("timeZone") or "<none>",
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or ()),
        human_duration(times.since(last)) if last else "<none>",
        age(obj, times),
        names,
        images,
        "<none>",
    ]


def _service(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    ports = []
    for port in spec.get("ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    external = ",".join(spec.get("externalIPs") or ()) or "<none>"
    if spec.get("type") == "LoadBalancer":
        ingress = (_status(obj).get("loadBalancer") or {}).get("ingress") or []
        external = ",".join(i.get("ip") or i.get("hostname", "") for i in ingress) or "<pending>"
    elif spec.get("type") == "ExternalName":
        external = spec.get("externalName", "")
    return [
        obj["metadata"]["name"],
        spec.get("type", ""),
        spec.get("clusterIP") or "<none>",
        external,
        ",".join(ports) or "<none>",
        age(obj, times),
        _map_text(spec.get("selector")),
    ]


def _endpoints(obj: Json, times: Times) -> list[Any]:
    shown = [
        f"{address.get('ip')}:{port.get('port')}"
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or [{}]
        for address in subset.get("addresses") or ()
    ]
    more = f" + {len(shown) - 3} more..." if len(shown) > 3 else ""
    return [obj["metadata"]["name"], (",".join(shown[:3]) or "<none>") + more, age(obj, times)]


def _event(obj: Json, times: Times) -> list[Any]:
    involved = obj.get("involvedObject") or obj.get("regarding") or {}
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    first = obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp")
    last = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    count = obj.get("count") or obj.get("deprecatedCount") or 1
    series = obj.get("series") or {}
    first_text = _since(first or obj.get("eventTime"), times)
    last_text = _since(last, times) if last else first_text
    if series:
        last_text = _since(series.get("lastObservedTime"), times)
        count = series.get("count", count)
    kind = (involved.get("kind") or "").lower()
    target = f"{kind}/{involved.get('name', '')}" if kind else involved.get("name", "")
    component = obj.get("reportingComponent") or obj.get("reportingController") or source.get("component", "")
    host = obj.get("reportingInstance") or source.get("host", "")
    return [
        last_text,
        obj.get("type", ""),
        obj.get("reason", ""),
        target,
        involved.get("fieldPath", ""),
        f"{component}, {host}" if host else component,
        (obj.get("message") or obj.get("note") or "").strip(),
        first_text,
        count,
        obj["metadata"]["name"],
    ]


def _namespace(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], _status(obj).get("phase", ""), age(obj, times)]


def _node(obj: Json, times: Times) -> list[Any]:
    status = _status(obj)
    ready = [c for c in status.get("conditions") or () if c.get("type") == "Ready"]
    shown = ("Ready" if ready[0].get("status") == "True" else "NotReady") if ready else "Unknown"
    if _spec(obj).get("unschedulable"):
        shown += ",SchedulingDisabled"
    labels = obj["metadata"].get("labels") or {}
    roles = sorted(key.partition("/")[2] for key in labels if key.startswith("node-role.kubernetes.io/"))
    addresses = {a.get("type"): a.get("address") for a in status.get("addresses") or ()}
    info = status.get("nodeInfo") or {}
    return [
        obj["metadata"]["name"],
        shown,
        ",".join(roles) or "<none>",
        age(obj, times),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _volume(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    claim = spec.get("claimRef") or {}
    return [
        obj["metadata"]["name"],
        (spec.get("capacity") or {}).get("storage", ""),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        status.get("phase", ""),
        f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason", ""),
        age(obj, times),
        spec.get("volumeMode") or "<unset>",
    ]


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(modes: Any) -> str:
    return ",".join(_MODES.get(mode, mode) for mode in modes or ())


def _claim(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    bound = bool(spec.get("volumeName"))
    return [
        obj["metadata"]["name"],
        status.get("phase", ""),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        age(obj, times),
        spec.get("volumeMode") or "<unset>",
    ]


def _ingress(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    hosts = [rule.get("host") or "*" for rule in spec.get("rules") or ()]
    ingress = (_status(obj).get("loadBalancer") or {}).get("ingress") or []
    address = ",".join(i.get("ip") or i.get("hostname", "") for i in ingress)
    ports = "80, 443" if spec.get("tls") else "80"
    return [
        obj["metadata"]["name"],
        spec.get("ingressClassName") or "<none>",
        ",".join(hosts) or "*",
        address,
        ports,
        age(obj, times),
    ]


def _hpa(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    target = spec.get("scaleTargetRef") or {}
    metrics = []
    for metric in spec.get("metrics") or ():
        resource = metric.get("resource") or {}
        wanted = (resource.get("target") or {}).get("averageUtilization")
        if wanted is not None:
            metrics.append(f"{resource.get('name')}: <unknown>/{wanted}%")
    return [
        obj["metadata"]["name"],
        f"{target.get('kind')}/{target.get('name')}",
        ", ".join(metrics) or "<none>",
        str(spec.get("minReplicas")) if spec.get("minReplicas") is not None else "<unset>",
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age(obj, times),
    ]


def _lease(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], _spec(obj).get("holderIdentity") or "", age(obj, times)]


def _binding(obj: Json, times: Times) -> list[Any]:
    reference = obj.get("roleRef") or {}
    by_kind: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or ():
        name = subject.get("name", "")
        if subject.get("kind") == "ServiceAccount":
            name = f"{subject.get('namespace')}/{name}"
        by_kind.setdefault(subject.get("kind", ""), []).append(name)
    return [
        obj["metadata"]["name"],
        f"{reference.get('kind')}/{reference.get('name')}",
        age(obj, times),
        ", ".join(by_kind["User"]),
        ", ".join(by_kind["Group"]),
        ", ".join(by_kind["ServiceAccount"]),
    ]


def _role(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], obj["metadata"].get("creationTimestamp", "")]


def _data(obj: Json, times: Times) -> list[Any]:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [obj["metadata"]["name"], count, age(obj, times)]


def _secret(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], obj.get("type", ""), len(obj.get("data") or ()), age(obj, times)]


def _service_account(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], len(obj.get("secrets") or ()), age(obj, times)]


def _crd(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], obj["metadata"].get("creationTimestamp", "")]


def _budget(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        obj["metadata"]["name"],
        str(least) if least is not None else "N/A",
        str(most) if most is not None else "N/A",
        _status(obj).get("disruptionsAllowed", 0),
        age(obj, times),
    ]


def _network_policy(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], selector_text(_spec(obj).get("podSelector")), age(obj, times)]


def _storage_class(obj: Json, times: Times) -> list[Any]:
    name = obj["metadata"]["name"]
    notes = obj["metadata"].get("annotations") or {}
    if notes.get("storageclass.kubernetes.io/is-default-class") == "true":
        name += " (default)"
    return [
        name,
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", ""),
        obj.get("volumeBindingMode", ""),
        bool(obj.get("allowVolumeExpansion")),
        age(obj, times),
    ]


def _priority_class(obj: Json, times: Times) -> list[Any]:
    return [
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, times),
        obj.get("preemptionPolicy", ""),
    ]


def _controller_revision(obj: Json, times: Times) -> list[Any]:
    owners = [r for r in obj["metadata"].get("ownerReferences") or () if r.get("controller")]
    owner = "<none>"
    if owners:
        group = owners[0]["apiVersion"].rpartition("/")[0]
        kind = owners[0]["kind"].lower()
        owner = f"{kind}.{group}/{owners[0]['name']}" if group else f"{kind}/{owners[0]['name']}"
    return [obj["metadata"]["name"], owner, obj.get("revision", 0), age(obj, times)]


_POD_COLUMNS = [
    _NAME,
    column("Ready", text="The aggregate readiness state of this pod for accepting traffic."),
    column("Status", text="The aggregate status of the containers in this pod."),
    column(
        "Restarts",
        text="The number of times the containers in this pod have been restarted and when the last container in "
        "this pod "
        "has restarted.",
    ),
    _AGE,
    *_columns("+IP", "+Node", "+Nominated Node", "+Readiness Gates"),
]
_ROLES = ("rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterroles")
_BINDINGS = ("rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/clusterrolebindings")
_TABLES: dict[str, tuple[list[Json], Row]] = {
    "/pods": (_POD_COLUMNS, _pod),
    "apps/deployments": (
        _columns("Name", "Ready", "Up-to-date", "Available", "Age", "+Containers", "+Images", "+Selector"),
        _deployment,
    ),
    "apps/replicasets": (
        _columns("Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"),
        _replica_set,
    ),
    "/replicationcontrollers": (
        _columns("Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"),
        _replica_set,
    ),
    "apps/statefulsets": (_columns("Name", "Ready", "Age", "+Containers", "+Images"), _stateful_set),
    "apps/daemonsets": (
        _columns(
            "Name",
            "#Desired",
            "#Current",
            "#Ready",
            "#Up-to-date",
            "#Available",
            "Node Selector",
            "Age",
            "+Containers",
            "+Images",
            "+Selector",
        ),
        _daemon_set,
    ),
    "apps/controllerrevisions": (_columns("Name", "Controller", "#Revision", "Age"), _controller_revision),
    "batch/jobs": (
        _columns("Name", "Status", "Completions", "Duration", "Age", "+Containers", "+Images", "+Selector"),
        _job,
    ),
    "batch/cronjobs": (
        _columns(
            "Name",
            "Schedule",
            "Timezone",
            "Suspend",
            "#Active",
            "Last Schedule",
            "Age",
            "+Containers",
            "+Images",
            "+Selector",
        ),
        _cron_job,
    ),
    "/services": (_columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"), _service),
    "/endpoints": (_columns("Name", "Endpoints", "Age"), _endpoints),
    "/events": (
        _columns(
            "Last Seen",
            "Type",
            "Reason",
            "Object",
            "+Subobject",
            "+Source",
            "Message",
            "+First Seen",
            "+#Count",
            "+Name",
        ),
        _event,
    ),
    "/namespaces": (_columns("Name", "Status", "Age"), _namespace),
    "/nodes": (
        _columns(
            "Name",
            "Status",
            "Roles",
            "Age",
            "Version",
            "+Internal-IP",
            "+External-IP",
            "+OS-Image",
            "+Kernel-Version",
            "+Container-Runtime",
        ),
        _node,
    ),
    "/persistentvolumes": (
        _columns(
            "Name",
            "Capacity",
            "Access Modes",
            "Reclaim Policy",
            "Status",
            "Claim",
            "StorageClass",
            "VolumeAttributesClass",
            "Reason",
            "Age",
            "+VolumeMode",
        ),
        _volume,
    ),
    "/persistentvolumeclaims": (
        _columns(
            "Name",
            "Status",
            "Volume",
            "Capacity",
            "Access Modes",
            "StorageClass",
            "VolumeAttributesClass",
            "Age",
            "+VolumeMode",
        ),
        _claim,
    ),
    "networking.k8s.io/ingresses": (_columns("Name", "Class", "Hosts", "Address", "Ports", "Age"), _ingress),
    "networking.k8s.io/networkpolicies": (_columns("Name", "Pod-Selector", "Age"), _network_policy),
    "autoscaling/horizontalpodautoscalers": (
        _columns("Name", "Reference", "Targets", "MinPods", "#MaxPods", "#Replicas", "Age"),
        _hpa,
    ),
    "coordination.k8s.io/leases": (_columns("Name", "Holder", "Age"), _lease),
    **{
        name: (_columns("Name", "Role", "Age", "+Users", "+Groups", "+ServiceAccounts"), _binding) for name in _BINDINGS
    },
    **{name: (_columns("Name", "Created At"), _role) for name in _ROLES},
    "/configmaps": (_columns("Name", "#Data", "Age"), _data),
    "/secrets": (_columns("Name", "Type", "#Data", "Age"), _secret),
    "/serviceaccounts": (_columns("Name", "#Secrets", "Age"), _service_account),
    "apiextensions.k8s.io/customresourcedefinitions": (_columns("Name", "Created At"), _crd),
    "policy/poddisruptionbudgets": (
        _columns("Name", "Min Available", "Max Unavailable", "#Allowed Disruptions", "Age"),
        _budget,
    ),
    "storage.k8s.io/storageclasses": (
        _columns("Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"),
        _storage_class,
    ),
    "scheduling.k8s.io/priorityclasses": (
        _columns("Name", "#Value", "Global-Default", "Age", "+PreemptionPolicy"),
        _priority_class,
    ),
}


def _default_row(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], age(obj, times)]


_DEFAULT = (_columns("Name", "Age"), _default_row)


# ---- custom resources


def _custom(resource: Resource) -> tuple[list[Json], Row]:
    extra = resource.crd_version.get("additionalPrinterColumns")
    if not extra:
        return _DEFAULT
    columns = [_NAME]
    getters: list[tuple[str, Callable[[Any], Any]]] = []
    for one in extra:
        path = one["jsonPath"]
        text = one.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
        columns.append(column(one["name"], one["type"], one.get("priority", 0), text, one.get("format", "")))
        getters.append((one["type"], json_path(path)))

    def row(obj: Json, times: Times) -> list[Any]:
        return [obj["metadata"]["name"], *(_cell(kind, get(obj), times) for kind, get in getters)]

    return columns, row


def _cell(kind: str, value: Any, times: Times) -> Any:
    """One value in the type of its column; what does not fit shows as nothing."""
    if value is None:
        return None
    if kind == "date":
        return human_duration(times.since(value)) if isinstance(value, str) and value else "<invalid>"
    if kind == "integer":
        return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    return value if isinstance(value, str) else dumps_text(value)


_STEP = re.compile(r"""\.([\w$-]+)|\['((?:[^'\\]|\\.)+)'\]|\["((?:[^"\\]|\\.)+)"\]|\[(-?\d+|\*)\]|\[\?\((.+?)\)\]""")
_FILTER = re.compile(r"""^@\.([\w.-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|(\S+))$""")


def json_path(path: str) -> Callable[[Any], Any]:
    """A getter for the JSONPath subset of printer columns: fields, quoted fields, indices, * and one filter."""
    text = path.replace(r"\.", "\x00")
    steps = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return lambda obj: None
        field = match[1] or match[2] or match[3]
        steps.append((field.replace("\x00", ".") if field else None, match[4], match[5]))
        at = match.end()

    def get(obj: Any) -> Any:
        values = [obj]
        for field, index, condition in steps:
            values = [found for value in values for found in _follow(value, field, index, condition)]
        if not values:
            return None
        return values[0]

    return get


def _follow(value: Any, field: str | None, index: str | None, condition: str | None) -> list[Any]:
    if field is not None:
        return [value[field]] if isinstance(value, dict) and field in value else []
    if index == "*":
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if not isinstance(value, list):
        return []
    if index is not None:
        at = int(index)
        return [value[at]] if -len(value) <= at < len(value) else []
    match = _FILTER.match((condition or "").strip())
    if match is None:
        return []
    wanted = next((part for part in match.groups()[2:] if part is not None), "")
    out = []
    for item in value:
        found: Any = item
        for name in match[1].split("."):
            found = found.get(name) if isinstance(found, dict) else None
        text = str(found).lower() if isinstance(found, bool) else str(found)
        if (found is not None and text == wanted) is (match[2] == "=="):
            out.append(item)
    return out


# ---- the Table


def make(resource: Resource, objects: list[Json], times: Times, include: str, version: str = "v1") -> Json:
    """A Table of the objects; `include` is Object, None or (the default) Metadata."""
    columns, row = _custom(resource) if resource.custom else _TABLES.get(resource.storage, _DEFAULT)
    rows = []
    for obj in objects:
        entry: Json = {"cells": row(obj, times)}
        if include == "Object":
            entry["object"] = obj
        elif include != "None":
            from clientgo.testing.apiserver.documents import meta_in_order

            entry["object"] = {
                "kind": "PartialObjectMetadata",
                "apiVersion": f"meta.k8s.io/{version}",
                "metadata": meta_in_order(obj["metadata"]),
            }
        rows.append(entry)
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": {},
        "columnDefinitions": columns,
        "rows": rows,
    }
