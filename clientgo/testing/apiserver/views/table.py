"""The Table form: what `kubectl get` prints, computed by the server, as Kubernetes' printers do."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from clientgo.apimachinery.runtime.timestamps import parse_time
from clientgo.apimachinery.util.duration import human_duration
from clientgo.testing.apiserver.views import printers, printers_config, printers_pods
from clientgo.testing.apiserver.views.columns import described
from clientgo.testing.apiserver.wire.jsonio import Json, dumps_text
from clientgo.testing.apiserver.wire.times import Times

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds.registry import Resource

Row = Callable[[Json, Times], list[Any]]

_NAME_TEXT = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
_AGE_TEXT = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


def column(name: str, kind: str = "string", priority: int = 0, text: str = "", form: str = "") -> Json:
    return {"name": name, "type": kind, "format": form, "description": text, "priority": priority}


_NAME = column("Name", text=_NAME_TEXT, form="name")
_AGE = column("Age", text=_AGE_TEXT)


def _columns(*names: str) -> list[Json]:
    """Return columns by name: "+Name" appears only in the wide form, "#Name" is a number, "?Name" true or false."""
    out = []
    for name in names:
        wide = name.startswith("+")
        kind = {"#": "integer", "?": "boolean"}.get(name.lstrip("+")[0], "string")
        plain = name.lstrip("+#?")
        if plain == "Name":
            out.append(_NAME)
        elif plain == "Age" and not wide:
            out.append(_AGE)
        else:
            out.append(column(plain, kind, 1 if wide else 0, f"{plain} of the object."))
    return out


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
_FLOW_SCHEMAS = "flowcontrol.apiserver.k8s.io/flowschemas"
_ROLES = ("rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/clusterroles")
_BINDINGS = ("rbac.authorization.k8s.io/rolebindings", "rbac.authorization.k8s.io/clusterrolebindings")
_TABLES: dict[str, tuple[list[Json], Row]] = {
    "/pods": (_POD_COLUMNS, printers_pods.pod),
    "apps/deployments": (
        _columns("Name", "Ready", "Up-to-date", "Available", "Age", "+Containers", "+Images", "+Selector"),
        printers.deployment,
    ),
    "apps/replicasets": (
        _columns("Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"),
        printers.replica_set,
    ),
    "/replicationcontrollers": (
        _columns("Name", "#Desired", "#Current", "#Ready", "Age", "+Containers", "+Images", "+Selector"),
        printers.replica_set,
    ),
    "apps/statefulsets": (_columns("Name", "Ready", "Age", "+Containers", "+Images"), printers.stateful_set),
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
        printers.daemon_set,
    ),
    "apps/controllerrevisions": (_columns("Name", "Controller", "#Revision", "Age"), printers.controller_revision),
    "batch/jobs": (
        _columns("Name", "Status", "Completions", "Duration", "Age", "+Containers", "+Images", "+Selector"),
        printers.job,
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
        printers.cron_job,
    ),
    "/services": (
        _columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "+Selector"),
        printers.service,
    ),
    "/endpoints": (_columns("Name", "Endpoints", "Age"), printers.endpoints),
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
        printers.event,
    ),
    "/namespaces": (_columns("Name", "Status", "Age"), printers.namespace),
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
        printers.node,
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
        printers.volume,
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
        printers.claim,
    ),
    "networking.k8s.io/ingresses": (_columns("Name", "Class", "Hosts", "Address", "Ports", "Age"), printers.ingress),
    "networking.k8s.io/networkpolicies": (_columns("Name", "Pod-Selector", "Age"), printers.network_policy),
    "autoscaling/horizontalpodautoscalers": (
        _columns("Name", "Reference", "Targets", "MinPods", "#MaxPods", "#Replicas", "Age"),
        printers.hpa,
    ),
    "coordination.k8s.io/leases": (_columns("Name", "Holder", "Age"), printers.lease),
    **{
        name: (_columns("Name", "Role", "Age", "+Users", "+Groups", "+ServiceAccounts"), printers.binding)
        for name in _BINDINGS
    },
    **{name: (_columns("Name", "Created At"), printers.created) for name in _ROLES},
    "/configmaps": (_columns("Name", "#Data", "Age"), printers.data),
    "/secrets": (_columns("Name", "Type", "#Data", "Age"), printers.secret),
    "/serviceaccounts": (_columns("Name", "#Secrets", "Age"), printers.service_account),
    "apiextensions.k8s.io/customresourcedefinitions": (_columns("Name", "Created At"), printers.created),
    "policy/poddisruptionbudgets": (
        _columns("Name", "Min Available", "Max Unavailable", "#Allowed Disruptions", "Age"),
        printers.budget,
    ),
    "storage.k8s.io/storageclasses": (
        _columns("Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"),
        printers.storage_class,
    ),
    "scheduling.k8s.io/priorityclasses": (
        _columns("Name", "#Value", "?Global-Default", "Age", "PreemptionPolicy"),
        printers.priority_class,
    ),
    "/resourcequotas": (_columns("Name", "Request", "Limit", "Age"), printers_config.quota),
    "/limitranges": (_columns("Name", "Created At"), printers.created),
    "/podtemplates": (_columns("Name", "Containers", "Images", "Pod Labels"), printers_config.pod_template),
    "discovery.k8s.io/endpointslices": (
        _columns("Name", "AddressType", "Ports", "Endpoints", "Age"),
        printers_config.endpoint_slice,
    ),
    "networking.k8s.io/ingressclasses": (
        _columns("Name", "Controller", "Parameters", "Age"),
        printers_config.ingress_class,
    ),
    "node.k8s.io/runtimeclasses": (_columns("Name", "Handler", "Age"), printers_config.runtime_class),
    "storage.k8s.io/csinodes": (_columns("Name", "#Drivers", "Age"), printers_config.storage_node),
    "storage.k8s.io/volumeattachments": (
        _columns("Name", "Attacher", "PV", "Node", "?Attached", "Age"),
        printers_config.volume_attachment,
    ),
    "certificates.k8s.io/certificatesigningrequests": (
        _columns("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"),
        printers_config.signing_request,
    ),
    "admissionregistration.k8s.io/validatingadmissionpolicies": (
        _columns("Name", "#Validations", "ParamKind", "Age"),
        printers_config.admission_policy,
    ),
    **{
        f"admissionregistration.k8s.io/{name}": (
            _columns("Name", "PolicyName", "ParamRef", "Age"),
            printers_config.admission_binding,
        )
        for name in ("validatingadmissionpolicybindings", "mutatingadmissionpolicybindings")
    },
    "admissionregistration.k8s.io/mutatingadmissionpolicies": (
        _columns("Name", "#Mutations", "ParamKind", "Age"),
        printers_config.admission_policy,
    ),
    "/componentstatuses": (_columns("Name", "Status", "Message", "Error"), printers_config.component_status),
    "apiregistration.k8s.io/apiservices": (
        _columns("Name", "Service", "Available", "Age"),
        printers_config.api_service,
    ),
    _FLOW_SCHEMAS: (
        _columns("Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"),
        printers_config.flow_schema,
    ),
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": (
        _columns("Name", "Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit", "Age"),
        printers_config.priority_level,
    ),
    "networking.k8s.io/ipaddresses": (_columns("Name", "ParentRef"), printers_config.ip_address),
    "networking.k8s.io/servicecidrs": (_columns("Name", "CIDRs", "Age"), printers_config.service_cidr),
    "resource.k8s.io/deviceclasses": (_columns("Name", "Age"), printers_config.device_class),
    "resource.k8s.io/resourceclaims": (_columns("Name", "State", "Age"), printers_config.resource_claim),
    "resource.k8s.io/resourceclaimtemplates": (_columns("Name", "Age"), printers_config.device_class),
    "resource.k8s.io/resourceslices": (
        _columns("Name", "Node", "Driver", "Pool", "Age"),
        printers_config.resource_slice,
    ),
    "storage.k8s.io/csidrivers": (
        _columns(
            "Name",
            "?AttachRequired",
            "?PodInfoOnMount",
            "?StorageCapacity",
            "TokenRequests",
            "?RequiresRepublish",
            "Modes",
            "Age",
        ),
        printers_config.storage_driver,
    ),
    "storage.k8s.io/csistoragecapacities": (
        _columns("Name", "StorageClassName", "Capacity"),
        printers_config.storage_capacity,
    ),
    "storage.k8s.io/volumeattributesclasses": (
        _columns("Name", "DriverName", "Age"),
        printers_config.volume_attributes_class,
    ),
    **{
        f"admissionregistration.k8s.io/{name}": (_columns("Name", "#Webhooks", "Age"), printers_config.webhooks)
        for name in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
    },
}

_SCALE = (_columns("Name", "#Desired", "#Available", "Age"), printers_config.scale)
_DEFAULT = (_columns("Name", "Age"), printers.default_row)


# ---- custom resources


def _custom(resource: Resource) -> tuple[list[Json], Row]:
    extra = resource.crd_version.get("additionalPrinterColumns")
    if not extra:
        return [_NAME, {**_AGE, "type": "date"}], printers.default_row
    columns = [_NAME]
    getters: list[tuple[str, Callable[[Any], Any]]] = []
    for one in extra:
        path = one["jsonPath"]
        try:
            getter = json_path(path)
        except ValueError:
            # As in Go, an invalid path ends the columns.
            break
        text = one.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
        columns.append(column(one["name"], one["type"], one.get("priority", 0), text, one.get("format", "")))
        getters.append((one["type"], getter))

    def row(obj: Json, times: Times) -> list[Any]:
        return [obj["metadata"]["name"], *(_cell(kind, get(obj), times) for kind, get in getters)]

    return columns, row


def _cell(kind: str, value: Any, times: Times) -> Any:
    """Return a value as its column's type shows it, or None if it does not fit."""
    if value is None:
        return None
    if kind == "date":
        return _age(value, times) if isinstance(value, str) else None
    if kind == "integer":
        return _int64(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    return value if isinstance(value, str) else dumps_text(value)


def _age(text: str, times: Times) -> str:
    """Return the time since an RFC 3339 time. Go: ConvertToHumanReadableDateType."""
    if text in ("", "null"):
        return "<unknown>"
    try:
        return human_duration(times.clock.now() - parse_time(text).timestamp())
    except ValueError:
        return "<invalid>"


def _int64(value: float) -> int:
    """Return a number without its fraction; as in Go, one that is too large becomes the least integer."""
    return int(value) if -_TOO_LARGE <= value < _TOO_LARGE else -_TOO_LARGE


_TOO_LARGE = 2**63
# Digits of an index; no list has as many items.
_LONGEST_INDEX = 10
_STEP = re.compile(
    r"""\.((?:\\.|[^\s.,\[\]@{}\\])+)|\['((?:[^'\\]|\\.)+)'\]|\["((?:[^"\\]|\\.)+)"\]|\[(-?\d+|\*)\]|\[\?\((.+?)\)\]"""
)
_FILTER = re.compile(r"""^@\.([\w.-]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|(\S+))$""")


def json_path(path: str) -> Callable[[Any], Any]:
    """Return a getter for the JSONPath of a printer column, which returns the first value found, or None.

    Fields, quoted fields, indices, * and filters that compare with a constant are read here, all others by
    util.jsonpath. Raises ValueError for an invalid path.
    """
    steps = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (match[5] and _FILTER.match(match[5].strip()) is None):
            return _template(path)
        field = match[1] or match[2] or match[3]
        steps.append((field.replace("\\", "") if field else None, match[4], match[5]))
        at = match.end()

    def get(obj: Any) -> Any:
        values = [obj]
        for field, index, condition in steps:
            values = [found for value in values for found in _follow(value, field, index, condition)]
        if not values:
            return None
        return values[0]

    return get


# Of an expression. Two descents, or many unions, would find each value again and again.
_LONGEST = 1000
_MOST_DESCENTS = 1
_MOST_COMMAS = 16


def _template(path: str) -> Callable[[Any], Any]:
    """Return a getter for any JSONPath. Returns one that finds nothing if it might take long.

    Raises ValueError for an invalid path.
    """
    from clientgo.util import jsonpath  # Here: few columns need it.

    template = jsonpath.new("column").allow_missing_keys(True)
    if len(path) > _LONGEST or path.count("..") > _MOST_DESCENTS or path.count(",") > _MOST_COMMAS:
        return lambda obj: None
    template.parse(f"{{{path}}}")

    def get(obj: Any) -> Any:
        try:
            found = template.find_results(obj)
        except jsonpath.JSONPathError:
            return None
        return found[0][0] if found and found[0] else None

    return get


def _follow(value: Any, field: str | None, index: str | None, condition: str | None) -> list[Any]:
    if field is not None:
        return [value[field]] if isinstance(value, dict) and field in value else []
    if index == "*":
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if not isinstance(value, list):
        return []
    if index is not None:
        at = int(index) if len(index) < _LONGEST_INDEX else len(value)
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
    """Return a Table of the objects. `include` is Object, None or (the default) Metadata."""
    if resource.storage == _FLOW_SCHEMAS:
        # In the order in which they match requests.
        objects = sorted(objects, key=_precedence)
    out = _table(*_format_of(resource), objects, times, include, version)
    if resource.storage == "/pods":
        for row, obj in zip(out["rows"], objects, strict=True):
            if found := printers_pods.row_conditions(obj):
                row["conditions"] = found
    elif not objects and not resource.custom and not _has_printer(resource.storage):
        # Kubernetes' default printer makes no list of rows for an empty list.
        out["rows"] = None
    return out


def _precedence(obj: Json) -> tuple[int, str]:
    return (obj.get("spec") or {}).get("matchingPrecedence", 0), obj["metadata"]["name"]


def _has_printer(storage: str) -> bool:
    _, row = _TABLES.get(storage, _DEFAULT)
    return row is not printers.created and row is not printers.default_row


def of_scale(scale: Json, times: Times, include: str, version: str = "v1") -> Json:
    """Return a Table of one Scale."""
    return _table(*_SCALE, [scale], times, include, version)


def _format_of(resource: Resource) -> tuple[list[Json], Row]:
    return _custom(resource) if resource.custom else _built_in(resource.storage)


@cache
def _built_in(storage: str) -> tuple[list[Json], Row]:
    columns, row = _TABLES.get(storage, _DEFAULT)
    return described(storage, columns), row


def _table(columns: list[Json], row: Row, objects: list[Json], times: Times, include: str, version: str) -> Json:
    rows = []
    for obj in objects:
        entry: Json = {"cells": row(obj, times)}
        if include == "Object":
            entry["object"] = obj
        elif include == "None":
            entry["object"] = None
        else:
            from clientgo.testing.apiserver.views.documents import meta_in_order  # Here: documents make tables.

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
