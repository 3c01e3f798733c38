"""The rows of the built-in kinds in a Table, as Kubernetes' printers make them (pkg/printers/internalversion).

One function per kind: (object, times) to the cells in the order of the columns that table.py names.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util.duration import human_duration
from clientgo.golang.net import join_host_port
from clientgo.testing.apiserver.kinds.selectors import selector_text
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times


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


def _map_text(labels: Any) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"


def deployment(obj: Json, times: Times) -> list[Any]:
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


def replica_set(obj: Json, times: Times) -> list[Any]:
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


def stateful_set(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas') or 0}"
    return [obj["metadata"]["name"], ready, age(obj, times), names, images]


def daemon_set(obj: Json, times: Times) -> list[Any]:
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


def _job_state(obj: Json) -> str:
    # The first condition of a type counts.
    conditions = {c.get("type"): c.get("status") == "True" for c in reversed(_status(obj).get("conditions") or [])}
    if obj["metadata"].get("deletionTimestamp"):
        conditions["Terminating"] = True
    states = ("Complete", "Failed", "Terminating", "Suspended", "FailureTarget")
    return next((state for state in states if conditions.get(state)), "Running")


def job(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    names, images = _containers(spec.get("template") or {})
    done = status.get("succeeded", 0)
    wanted = spec.get("completions")
    duration = ""
    if status.get("startTime"):
        start = times.since(status["startTime"])
        duration = human_duration(
            start - times.since(status.get("completionTime")) if status.get("completionTime") else start
        )
    return [
        obj["metadata"]["name"],
        _job_state(obj),
        _completions(done, wanted, spec.get("parallelism")),
        duration,
        age(obj, times),
        names,
        images,
        selector_text(spec.get("selector")),
    ]


def cron_job(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    job_spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    names, images = _containers(job_spec.get("template") or {})
    suspend = spec.get("suspend")
    last = status.get("lastScheduleTime")
    return [
        obj["metadata"]["name"],
        spec.get("schedule", ""),
        spec.get("timeZone") or "<none>",
        "<unset>" if suspend is None else str(suspend),
        len(status.get("active") or ()),
        human_duration(times.since(last)) if last else "<none>",
        age(obj, times),
        names,
        images,
        selector_text(job_spec.get("selector")),
    ]


def _balanced(obj: Json) -> list[str]:
    """Return the addresses of the load balancer, each once, in order."""
    ingress = (_status(obj).get("loadBalancer") or {}).get("ingress") or []
    return sorted({one.get("ip") or one.get("hostname", "") for one in ingress} - {""})


def service(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    ports = []
    for port in spec.get("ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    addresses = spec.get("externalIPs") or []
    external = ",".join(addresses) or "<none>"
    if spec.get("type") == "LoadBalancer":
        external = ",".join([*_balanced(obj), *addresses]) or "<pending>"
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


def endpoints(obj: Json, times: Times) -> list[Any]:
    subsets = obj.get("subsets")
    shown = [
        join_host_port(address.get("ip", ""), str(port["port"])) if port else address.get("ip", "")
        for subset in subsets or ()
        for port in subset.get("ports") or [{}]  # a headless service may have no ports
        for address in subset.get("addresses") or ()
    ]
    return [obj["metadata"]["name"], some(shown, len(shown)) if subsets else "<none>", age(obj, times)]


_SHOWN = 3


def some(texts: list[str], count: int, shown: int = _SHOWN, separator: str = ",") -> str:
    """Return the first few of `count` texts as one text."""
    more = f" + {count - shown} more..." if count > shown else ""
    return separator.join(texts[:shown]) + more


def event(obj: Json, times: Times) -> list[Any]:
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
    target = f"{kind}/{involved['name']}" if involved.get("name") else kind
    component = source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
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


def namespace(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], _status(obj).get("phase", ""), age(obj, times)]


def node(obj: Json, times: Times) -> list[Any]:
    status = _status(obj)
    ready = [c for c in status.get("conditions") or () if c.get("type") == "Ready"]
    shown = ("Ready" if ready[0].get("status") == "True" else "NotReady") if ready else "Unknown"
    if _spec(obj).get("unschedulable"):
        shown += ",SchedulingDisabled"
    # The first address of a type counts.
    addresses = {a.get("type"): a.get("address") for a in reversed(status.get("addresses") or [])}
    info = status.get("nodeInfo") or {}
    return [
        obj["metadata"]["name"],
        shown,
        ",".join(_roles(obj)) or "<none>",
        age(obj, times),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def _roles(obj: Json) -> list[str]:
    labels = obj["metadata"].get("labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    return sorted((roles | {labels.get(_ROLE_LABEL, "")}) - {""})


def volume(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    claim = spec.get("claimRef") or {}
    return [
        obj["metadata"]["name"],
        (spec.get("capacity") or {}).get("storage", ""),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _storage_class_of(obj),
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason", ""),
        age(obj, times),
        spec.get("volumeMode") or "<unset>",
    ]


def _phase(obj: Json) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else _status(obj).get("phase", "")


def _storage_class_of(obj: Json) -> str:
    """Return the storage class of a volume or claim. An annotation of old releases takes precedence."""
    notes = obj["metadata"].get("annotations") or {}
    return str(notes.get("volume.beta.kubernetes.io/storage-class", _spec(obj).get("storageClassName") or ""))


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def claim(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    bound = bool(spec.get("volumeName"))
    return [
        obj["metadata"]["name"],
        _phase(obj),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        _storage_class_of(obj),
        spec.get("volumeAttributesClassName") or "<unset>",
        age(obj, times),
        spec.get("volumeMode") or "<unset>",
    ]


def _hosts(rules: list[Json]) -> str:
    named = [at for at, rule in enumerate(rules) if rule.get("host")]
    hosts = [rules[at]["host"] for at in named]
    if len(named) >= _SHOWN and named[_SHOWN - 1] < len(rules) - 1:
        # Rules without a host are counted too, as in Kubernetes.
        return some(hosts, len(rules))
    return ",".join(hosts) or "*"


def ingress(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    ports = "80, 443" if spec.get("tls") else "80"
    return [
        obj["metadata"]["name"],
        spec.get("ingressClassName") or "<none>",
        _hosts(spec.get("rules") or []),
        ",".join(_balanced(obj)),
        ports,
        age(obj, times),
    ]


_SHOWN_METRICS = 2
_METRIC_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metric(wanted: Json, now: Json) -> str:
    """Return the current and the wanted value of an autoscaler's metric."""
    field = _METRIC_FIELDS.get(wanted.get("type", ""))
    if field is None:
        return "<unknown type>"
    source = wanted.get(field) or {}
    target, current = source.get("target") or {}, (now.get(field) or {}).get("current") or {}
    if field in ("resource", "containerResource"):
        return f"{source.get('name')}: {_resource_metric(target, current)}"
    if "averageValue" in target:
        text = f"{current.get('averageValue', '<unknown>')}/{target['averageValue']}"
        return text if field == "pods" else f"{text} (avg)"
    return f"{current.get('value', '<unknown>')}/{target.get('value', '<unknown>')}"


def _resource_metric(target: Json, current: Json) -> str:
    if "averageValue" in target:
        return f"{current.get('averageValue', '<unknown>')}/{target['averageValue']}"
    return f"{_percent(current, '<unknown>')}/{_percent(target, '<auto>')}"


def _percent(values: Json, missing: str) -> str:
    return f"{values['averageUtilization']}%" if "averageUtilization" in values else missing


def hpa(obj: Json, times: Times) -> list[Any]:
    spec, status = _spec(obj), _status(obj)
    target = spec.get("scaleTargetRef") or {}
    now = status.get("currentMetrics") or []
    metrics = [_metric(wanted, now[at] if at < len(now) else {}) for at, wanted in enumerate(spec.get("metrics") or ())]
    return [
        obj["metadata"]["name"],
        f"{target.get('kind')}/{target.get('name')}",
        some(metrics, len(metrics), _SHOWN_METRICS, ", ") or "<none>",
        str(spec.get("minReplicas")) if spec.get("minReplicas") is not None else "<unset>",
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age(obj, times),
    ]


def lease(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], _spec(obj).get("holderIdentity") or "", age(obj, times)]


def binding(obj: Json, times: Times) -> list[Any]:
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


def created(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], obj["metadata"].get("creationTimestamp", "")]


def data(obj: Json, times: Times) -> list[Any]:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [obj["metadata"]["name"], count, age(obj, times)]


def secret(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], obj.get("type", ""), len(obj.get("data") or ()), age(obj, times)]


def service_account(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], len(obj.get("secrets") or ()), age(obj, times)]


def budget(obj: Json, times: Times) -> list[Any]:
    spec = _spec(obj)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        obj["metadata"]["name"],
        str(least) if least is not None else "N/A",
        str(most) if most is not None else "N/A",
        _status(obj).get("disruptionsAllowed", 0),
        age(obj, times),
    ]


def network_policy(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], selector_text(_spec(obj).get("podSelector")), age(obj, times)]


def name_of_class(obj: Json, *prefixes: str) -> str:
    """Return the name of a class, with a note if an annotation makes it the default."""
    notes = obj["metadata"].get("annotations") or {}
    is_default = any(notes.get(f"{prefix}/is-default-class") == "true" for prefix in prefixes)
    return f"{obj['metadata']['name']} (default)" if is_default else str(obj["metadata"]["name"])


def storage_class(obj: Json, times: Times) -> list[Any]:
    return [
        name_of_class(obj, "storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", ""),
        obj.get("volumeBindingMode", ""),
        bool(obj.get("allowVolumeExpansion")),
        age(obj, times),
    ]


def priority_class(obj: Json, times: Times) -> list[Any]:
    return [
        obj["metadata"]["name"],
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, times),
        obj.get("preemptionPolicy", ""),
    ]


def controller_revision(obj: Json, times: Times) -> list[Any]:
    owners = [r for r in obj["metadata"].get("ownerReferences") or () if r.get("controller")]
    owner = "<none>"
    if owners:
        group = owners[0]["apiVersion"].rpartition("/")[0]
        kind = owners[0]["kind"].lower()
        owner = f"{kind}.{group}/{owners[0]['name']}" if group else f"{kind}/{owners[0]['name']}"
    return [obj["metadata"]["name"], owner, obj.get("revision", 0), age(obj, times)]


def default_row(obj: Json, times: Times) -> list[Any]:
    return [obj["metadata"]["name"], age(obj, times)]
