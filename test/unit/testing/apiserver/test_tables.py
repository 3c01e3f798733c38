"""The tables of `kubectl get` for the kinds that configure a cluster, and for a Scale."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.registry import Registry, Resource
from clientgo.testing.apiserver.views import table
from clientgo.testing.apiserver.wire.times import Times
from clientgo.utils.clock import testing as clocktesting

Json = dict[str, Any]
REGISTRY = Registry()
NOW = 1_600_000_000.0
CREATED = "2020-09-13T12:26:40Z"


def cells(group: str, plural: str, obj: Json, **meta: Any) -> dict[str, Any]:
    resource = REGISTRY.find(group, "v1", plural)
    assert resource is not None
    metadata = {"name": "x", "creationTimestamp": CREATED, **meta}
    made = table.make(resource, [{"metadata": metadata, **obj}], Times(clocktesting.new_fake_clock(NOW)), "None")
    (row,) = made["rows"]
    columns = [column["name"] for column in made["columnDefinitions"]]
    assert len(columns) == len(row["cells"])
    return dict(zip(columns, row["cells"]))


@pytest.mark.parametrize(
    ("group", "plural", "obj", "wanted"),
    [
        ("", "resourcequotas",
         {"status": {"hard": {"pods": "10", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "3"}}},
         {"Request": "cpu: 0/1, pods: 3/10", "Limit": "limits.cpu: 0/2"}),
        ("", "limitranges", {}, {"Created At": CREATED}),
        ("", "podtemplates",
         {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
         {"Containers": "c", "Images": "i", "Pod Labels": "a=b"}),
        ("discovery.k8s.io", "endpointslices",
         {"addressType": "IPv4", "ports": [{"port": 80}], "endpoints": [{"addresses": [c]} for c in "abcde"]},
         {"Ports": "80", "Endpoints": "a,b,c + 2 more..."}),
        ("discovery.k8s.io", "endpointslices", {}, {"Ports": "<unset>", "Endpoints": "<unset>"}),
        ("networking.k8s.io", "ingressclasses",
         {"spec": {"controller": "c", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}}},
         {"Controller": "c", "Parameters": "K.g/n"}),
        ("certificates.k8s.io", "certificatesigningrequests",
         {"spec": {"signerName": "s", "username": "u", "expirationSeconds": 3600},
          "status": {"conditions": [{"type": "Approved"}], "certificate": "Zg=="}},
         {"Condition": "Approved,Issued", "RequestedDuration": "60m"}),
        ("certificates.k8s.io", "certificatesigningrequests", {}, {"Condition": "Pending", "SignerName": "<none>"}),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations", {"webhooks": [{}, {}]}, {"Webhooks": 2}),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies",
         {"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}}, {"ParamKind": "v1/ConfigMap"}),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings",
         {"spec": {"policyName": "p", "paramRef": {"name": "n", "namespace": "s"}}}, {"ParamRef": "s/n"}),
        ("storage.k8s.io", "volumeattachments",
         {"spec": {"attacher": "a", "source": {"persistentVolumeName": "pv"}, "nodeName": "n"},
          "status": {"attached": True}},
         {"PV": "pv", "Attached": True}),
        ("storage.k8s.io", "csinodes", {"spec": {"drivers": [{}]}}, {"Drivers": 1}),
        ("node.k8s.io", "runtimeclasses", {"handler": "runc"}, {"Handler": "runc", "Age": "0s"}),
        ("rbac.authorization.k8s.io", "roles", {}, {"Created At": CREATED}),
        ("", "resourcequotas", {"status": {"hard": {"x.limits": "1", "limits": "2"}}},
         {"Request": "limits: 0/2, x.limits: 0/1", "Limit": ""}),
        ("discovery.k8s.io", "endpointslices", {"ports": [{"name": "http"}, {}, {"port": 1}, {"port": 2}, {"port": 3}]},
         {"Ports": "http,*,1 + 2 more..."}),
        ("certificates.k8s.io", "certificatesigningrequests",
         {"status": {"conditions": [{"type": "Approved"}, {"type": "Failed"}, {"type": "Denied"}]}},
         {"Condition": "Denied,Failed"}),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings", {"spec": {"paramRef": {"name": "n"}}},
         {"ParamRef": "*/n"}),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
         {"spec": {"policyName": "p", "paramRef": {"selector": {
             "matchLabels": {"b": "c", "a": "b"},
             "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}]}}}},
         {"PolicyName": "p",
          "ParamRef": "&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},MatchExpressions:[]LabelSelector"
                      "Requirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}"}),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", {"spec": {}}, {"ParamRef": "<unset>"}),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies", {"spec": {"mutations": [{}, {}]}},
         {"Mutations": 2, "ParamKind": "<unset>"}),
        ("", "componentstatuses", {}, {"Status": "Unknown", "Message": "", "Error": ""}),
        ("", "componentstatuses",
         {"conditions": [{"type": "Other"}, {"type": "Healthy", "status": "True", "message": "ok"}]},
         {"Status": "Healthy", "Message": "ok"}),
        ("", "componentstatuses", {"conditions": [{"type": "Healthy", "status": "False", "error": "e"}]},
         {"Status": "Unhealthy", "Error": "e"}),
        ("apiregistration.k8s.io", "apiservices", {}, {"Service": "Local", "Available": "Unknown"}),
        ("apiregistration.k8s.io", "apiservices",
         {"spec": {"service": {"namespace": "s", "name": "n"}},
          "status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]}},
         {"Service": "s/n", "Available": "False (MissingEndpoints)"}),
        ("apiregistration.k8s.io", "apiservices",
         {"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Local"}]}},
         {"Available": "True"}),
        ("flowcontrol.apiserver.k8s.io", "flowschemas", {"spec": {}},
         {"PriorityLevel": "", "MatchingPrecedence": 0, "DistinguisherMethod": "<none>", "MissingPL": "?"}),
        ("flowcontrol.apiserver.k8s.io", "flowschemas",
         {"spec": {"priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 7,
                   "distinguisherMethod": {"type": "ByUser"}},
          "status": {"conditions": [{"type": "Dangling", "status": "False"}]}},
         {"PriorityLevel": "l", "MatchingPrecedence": 7, "DistinguisherMethod": "ByUser", "MissingPL": "False"}),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", {"spec": {"type": "Exempt"}},
         {"Type": "Exempt", "NominalConcurrencyShares": "<none>", "Queues": "<none>", "QueueLengthLimit": "<none>"}),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations",
         {"spec": {"limited": {"nominalConcurrencyShares": 5, "limitResponse": {
             "queuing": {"queues": 1, "handSize": 2, "queueLengthLimit": 3}}}}},
         {"NominalConcurrencyShares": 5, "Queues": 1, "HandSize": 2, "QueueLengthLimit": 3}),
        ("networking.k8s.io", "ipaddresses", {"spec": {}}, {"ParentRef": "<none>"}),
        ("networking.k8s.io", "ipaddresses",
         {"spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "kubernetes"}}},
         {"Name": "x", "ParentRef": "services/default/kubernetes"}),
        ("networking.k8s.io", "ipaddresses",
         {"spec": {"parentRef": {"group": "g.k8s.io", "resource": "Nets", "name": "N"}}},
         {"ParentRef": "nets.g.k8s.io/N"}),
        ("networking.k8s.io", "servicecidrs", {"spec": {"cidrs": ["10.0.0.0/8", "fd00::/64"]}},
         {"CIDRs": "10.0.0.0/8,fd00::/64", "Age": "0s"}),
        ("resource.k8s.io", "deviceclasses", {}, {"Name": "x", "Age": "0s"}),
        ("resource.k8s.io", "resourceclaims", {}, {"State": "pending"}),
        ("resource.k8s.io", "resourceclaims", {"status": {"reservedFor": [{}]}}, {"State": "pending"}),
        ("resource.k8s.io", "resourceclaims", {"status": {"allocation": {"a": 1}}}, {"State": "allocated"}),
        ("resource.k8s.io", "resourceclaims", {"status": {"allocation": {"a": 1}, "reservedFor": [{}]}},
         {"State": "allocated,reserved"}),
        ("resource.k8s.io", "resourceslices", {"spec": {"nodeName": "n", "driver": "d", "pool": {"name": "p"}}},
         {"Node": "n", "Driver": "d", "Pool": "p", "Age": "0s"}),
        ("storage.k8s.io", "csidrivers", {"spec": {}},
         {"AttachRequired": True, "PodInfoOnMount": False, "StorageCapacity": False, "TokenRequests": "<unset>",
          "RequiresRepublish": False, "Modes": "<none>"}),
        ("storage.k8s.io", "csidrivers",
         {"spec": {"attachRequired": False, "podInfoOnMount": True, "storageCapacity": True, "requiresRepublish": True,
                   "tokenRequests": [{"audience": "a"}, {"audience": "b"}],
                   "volumeLifecycleModes": ["Persistent", "E"]}},
         {"AttachRequired": False, "PodInfoOnMount": True, "StorageCapacity": True, "TokenRequests": "a,b",
          "RequiresRepublish": True, "Modes": "Persistent,E"}),
        ("storage.k8s.io", "csistoragecapacities", {"storageClassName": "s"},
         {"StorageClassName": "s", "Capacity": "<unset>"}),
        ("storage.k8s.io", "csistoragecapacities", {"capacity": "1Gi"}, {"Capacity": "1Gi"}),
        ("storage.k8s.io", "volumeattributesclasses", {"driverName": "d"}, {"Name": "x", "DriverName": "d"}),
        ("", "endpoints", {}, {"Endpoints": "<none>"}),
        ("", "endpoints", {"subsets": [{"ports": [{"port": 80}]}]}, {"Endpoints": ""}),
        ("", "endpoints",
         {"subsets": [{"addresses": [{"ip": "::1"}], "ports": [{"port": 80}]}, {"addresses": [{"ip": "10.0.0.1"}]}]},
         {"Endpoints": "[::1]:80,10.0.0.1"}),
        ("", "endpoints",
         {"subsets": [{"addresses": [{"ip": "a"}, {"ip": "b"}], "ports": [{"port": 1}, {"port": 2}]}]},
         {"Endpoints": "a:1,b:1,a:2 + 1 more..."}),
        ("batch", "jobs", {"spec": {}, "status": {"conditions": [{"type": "FailureTarget", "status": "True"}]}},
         {"Status": "FailureTarget"}),
        ("batch", "jobs",
         {"spec": {}, "status": {"conditions": [
             {"type": "Complete", "status": "False"}, {"type": "Complete", "status": "True"},
             {"type": "FailureTarget", "status": "True"}, {"type": "Suspended", "status": "True"}]}},
         {"Status": "Suspended"}),
        ("batch", "jobs",
         {"spec": {}, "status": {"conditions": [
             {"type": "Failed", "status": "True"}, {"type": "Complete", "status": "True"}]}},
         {"Status": "Complete"}),
        ("batch", "jobs", {"spec": {}}, {"Status": "Running"}),
        ("batch", "cronjobs", {"spec": {}}, {"Suspend": "<unset>", "Selector": "<none>", "Last Schedule": "<none>"}),
        ("batch", "cronjobs",
         {"spec": {"suspend": False, "jobTemplate": {"spec": {"selector": {
             "matchLabels": {"b": "1"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}}}}},
         {"Suspend": "False", "Selector": "a,b=1"}),
        ("batch", "cronjobs", {"spec": {"suspend": True}}, {"Suspend": "True"}),
        ("", "services",
         {"spec": {"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]},
          "status": {"loadBalancer": {"ingress": [{"hostname": "b"}, {"ip": "a", "hostname": "x"}, {"ip": "a"}, {}]}}},
         {"External-IP": "a,b,9.9.9.9"}),
        ("networking.k8s.io", "ingresses", {"spec": {"rules": [{}, {"host": "a"}]}}, {"Hosts": "a"}),
        ("networking.k8s.io", "ingresses", {"spec": {"rules": [{}, {}]}}, {"Hosts": "*"}),
        ("networking.k8s.io", "ingresses", {"spec": {"rules": [{"host": h} for h in "abc"]}}, {"Hosts": "a,b,c"}),
        ("networking.k8s.io", "ingresses", {"spec": {"rules": [{}, *({"host": h} for h in "abc"), {}]}},
         {"Hosts": "a,b,c + 2 more..."}),
        ("networking.k8s.io", "ingresses",
         {"status": {"loadBalancer": {"ingress": [{"ip": "2"}, {"hostname": "1"}]}}}, {"Address": "1,2"}),
        ("", "events", {"involvedObject": {"name": "n"}, "source": {"component": "c"}, "reportingComponent": "r",
                        "reportingInstance": "i"}, {"Object": "/n", "Source": "c, i"}),
        ("", "events", {"involvedObject": {"kind": "Pod"}, "reportingComponent": "r"},
         {"Object": "pod", "Source": "r"}),
        ("", "nodes",
         {"status": {"addresses": [{"type": "InternalIP", "address": "1"}, {"type": "InternalIP", "address": "2"}]}},
         {"Internal-IP": "1", "External-IP": "<none>", "Roles": "<none>", "Status": "Unknown"}),
        ("", "persistentvolumes", {"spec": {"accessModes": ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"],
                                            "claimRef": {"name": "c"}}},
         {"Access Modes": "RWO,RWX", "Claim": "/c"}),
        ("scheduling.k8s.io", "priorityclasses", {"value": 7}, {"Value": 7, "Global-Default": False}),
    ],
)  # fmt: skip
def test_cells(group: str, plural: str, obj: Json, wanted: dict[str, Any]) -> None:
    found = cells(group, plural, obj)
    assert {name: found[name] for name in wanted} == wanted


def metric(kind: str, target: Json, current: Json | None = None) -> tuple[Json, Json]:
    field = kind[:1].lower() + kind[1:]
    named = {"name": "cpu"} if "Resource" in kind else {}
    return {"type": kind, field: {**named, "target": target}}, {field: {"current": current}} if current else {}


@pytest.mark.parametrize(
    ("metrics", "text"),
    [
        ([], "<none>"),
        ([metric("Resource", {"averageUtilization": 80})], "cpu: <unknown>/80%"),
        ([metric("Resource", {"averageUtilization": 80}, {"averageUtilization": 0})], "cpu: 0%/80%"),
        ([metric("Resource", {}, {"averageUtilization": 5})], "cpu: 5%/<auto>"),
        ([metric("Resource", {"averageValue": "100m"}, {"averageValue": "1"})], "cpu: 1/100m"),
        ([metric("ContainerResource", {"averageValue": "100m"})], "cpu: <unknown>/100m"),
        ([metric("ContainerResource", {"averageUtilization": 7}, {"averageUtilization": 6})], "cpu: 6%/7%"),
        ([metric("Pods", {"averageValue": "3"}, {"averageValue": "2"})], "2/3"),
        ([metric("Object", {"averageValue": "3"}, {"averageValue": "2"})], "2/3 (avg)"),
        ([metric("Object", {"value": "3"}, {"value": "2"})], "2/3"),
        ([metric("External", {"averageValue": "3"})], "<unknown>/3 (avg)"),
        ([metric("External", {"value": "3"})], "<unknown>/3"),
        ([({"type": "New"}, {})], "<unknown type>"),
        ([metric("Pods", {"averageValue": "1"})] * 2, "<unknown>/1, <unknown>/1"),
        ([metric("Pods", {"averageValue": "1"})] * 4, "<unknown>/1, <unknown>/1 + 2 more..."),
    ],
)
def test_the_metrics_of_an_autoscaler(metrics: list[tuple[Json, Json]], text: str) -> None:
    spec = {"metrics": [wanted for wanted, _ in metrics]}
    # The status may have fewer metrics than the spec.
    status = {"currentMetrics": [now for _, now in metrics if now]}
    assert cells("autoscaling", "horizontalpodautoscalers", {"spec": spec, "status": status})["Targets"] == text


DELETED = {"deletionTimestamp": CREATED}


@pytest.mark.parametrize(
    ("group", "plural", "obj", "meta", "wanted"),
    [
        ("batch", "jobs", {"spec": {}}, DELETED, {"Status": "Terminating"}),
        ("batch", "jobs", {"spec": {}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]}}, DELETED,
         {"Status": "Terminating"}),
        ("batch", "jobs", {"spec": {}, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}, DELETED,
         {"Status": "Failed"}),
        ("", "persistentvolumes", {"spec": {}, "status": {"phase": "Bound"}}, DELETED, {"Status": "Terminating"}),
        ("", "persistentvolumeclaims", {"spec": {}, "status": {"phase": "Bound"}}, DELETED, {"Status": "Terminating"}),
        ("", "persistentvolumeclaims", {"spec": {"storageClassName": "new"}},
         {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}, {"StorageClass": "old"}),
        ("", "persistentvolumes", {"spec": {"storageClassName": "new"}}, {}, {"StorageClass": "new"}),
        ("", "nodes", {}, {"labels": {"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a",
                                      "node-role.kubernetes.io/": "", "other": "c"}}, {"Roles": "a,b"}),
        ("resource.k8s.io", "resourceclaims", {}, DELETED, {"State": "deleted"}),
        ("resource.k8s.io", "resourceclaims", {"status": {"allocation": {"a": 1}}}, DELETED,
         {"State": "deleted,allocated"}),
        ("storage.k8s.io", "storageclasses", {},
         {"annotations": {"storageclass.beta.kubernetes.io/is-default-class": "true"}}, {"Name": "x (default)"}),
        ("storage.k8s.io", "storageclasses", {},
         {"annotations": {"storageclass.kubernetes.io/is-default-class": "false"}}, {"Name": "x"}),
        ("storage.k8s.io", "volumeattributesclasses", {},
         {"annotations": {"volumeattributesclass.alpha.kubernetes.io/is-default-class": "true"}},
         {"Name": "x (default)"}),
    ],
)  # fmt: skip
def test_cells_that_depend_on_the_metadata(
    group: str, plural: str, obj: Json, meta: dict[str, Any], wanted: dict[str, Any]
) -> None:
    found = cells(group, plural, obj, **meta)
    assert {name: found[name] for name in wanted} == wanted


def test_flow_schemas_come_in_the_order_in_which_they_match() -> None:
    resource = REGISTRY.find("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")
    assert resource is not None
    objects = [
        {"metadata": {"name": name, "creationTimestamp": CREATED}, "spec": {"matchingPrecedence": precedence}}
        for name, precedence in (("a", 9000), ("c", 5), ("b", 5), ("d", 10))
    ]
    made = table.make(resource, objects, Times(clocktesting.new_fake_clock(NOW)), "None")
    assert [row["cells"][0] for row in made["rows"]] == ["b", "c", "d", "a"]
    assert objects[0]["metadata"]["name"] == "a"


@pytest.mark.parametrize("resource", [r for r in REGISTRY.all() if r.version == "v1" and "list" in r.verbs], ids=repr)
def test_every_kind_has_as_many_cells_as_columns(resource: Resource) -> None:
    obj = {} if resource.struct is None else resource.struct.decode({}, schema.Context(), "", "")
    obj.pop("metadata", None)
    assert cells(resource.group, resource.plural, obj)


STATUS = {
    "phase": "Up",
    "conditions": [
        {"type": "Ready", "status": "True", "observed": False},
        {"type": "Stalled", "status": "False", "observed": True},
    ],
    "ports": {"http": 80},
    "a.b/c": "dotted",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (".status.phase", "Up"),
        (".status.phase.deeper", None),
        (".status.nothing", None),
        (r".status.a\.b/c", "dotted"),
        (".status['a.b/c']", "dotted"),
        ('.status["phase"]', "Up"),
        (".status.conditions[0].type", "Ready"),
        (".status.conditions[1].type", "Stalled"),
        (".status.conditions[-1].type", "Stalled"),
        (".status.conditions[2].type", None),
        (".status.conditions[-3].type", None),
        (".status.conditions[*].type", "Ready"),
        (".status.ports[*]", 80),
        (".status.phase[0]", None),
        (".status.phase[*]", None),
        ('.status.conditions[?(@.type=="Stalled")].status', "False"),
        (".status.conditions[?(@.type != 'Ready')].status", "False"),
        (".status.conditions[?(@.observed==true)].type", "Stalled"),
        ('.status.conditions[?(@.type=="Other")].status', None),
        ('.status.ports[?(@.type=="Ready")]', None),
        (".status.conditions[?(@.type)].status", "True"),
        ('.status.conditions[?(@.type>"Ready")].status', "False"),
        (".status.conditions[?(@.nothing)].status", None),
        (".status.conditions[?(@.status>1)].status", None),
        (".status.conditions[-1:].type", "Stalled"),
        (".status.conditions[0:2].type", "Ready"),
        (".status.conditions[1,0].type", "Stalled"),
        (".status['phase','ports']", "Up"),
        ("..http", 80),
        (".status..observed", False),
        (".status..observed..observed", None),
        (".status.conditions[0:1:0].type", None),
        (f".status.conditions[{','.join('0' * 30)}].type", None),
        (f".status{'.a' * 2000}[0:1]", None),
        ("status", None),
    ],
)
def test_a_printer_column_finds_its_value(path: str, value: Any) -> None:
    assert table.json_path(path)({"status": STATUS}) == value


@pytest.mark.parametrize("path", [".a[", ".a[?(", ".a{b}"])
def test_an_invalid_path_of_a_printer_column_is_reported(path: str) -> None:
    with pytest.raises(ValueError):
        table.json_path(path)


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("date", "2023-11-14T22:13:10Z", "10s"),
        ("date", "2023-11-14T23:13:10.5+01:00", "9s"),
        ("date", "", "<unknown>"),
        ("date", "null", "<unknown>"),
        ("date", "yesterday", "<invalid>"),
        ("date", "2023-11-14", "<invalid>"),
        ("date", 7, None),
        ("date", {"a": 1}, None),
        ("integer", 1.9, 1),
        ("integer", 1e300, -(2**63)),
        ("integer", True, None),
        ("integer", "1", None),
        ("number", 1.5, 1.5),
        ("boolean", 1, None),
        ("string", {"a": 1}, '{"a":1}'),
    ],
)
def test_a_value_is_shown_by_the_type_of_its_column(kind: str, value: Any, cell: Any) -> None:
    version = {"name": "v1", "additionalPrinterColumns": [{"name": "C", "type": kind, "jsonPath": ".spec.c"}]}
    resource: Any = SimpleNamespace(custom=True, crd_version=version, storage="x/xs")
    obj = {"metadata": {"name": "x"}, "spec": {"c": value}}
    times = Times(clocktesting.FakeClock(1700000000.0))
    assert table.make(resource, [obj], times, "None")["rows"][0]["cells"] == ["x", cell]


def test_a_scale_as_a_table() -> None:
    with Environment() as env:
        api = Api(env)
        labels = {"a": "b"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
        path = "/apis/apps/v1/namespaces/default/deployments"
        api("POST", path, {"metadata": {"name": "d"}, "spec": spec}, want=201)
        api.session.headers["Accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io"
        answer = api("GET", f"{path}/d/scale", want=200)
        api.close()
    assert [column["name"] for column in answer["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert answer["rows"][0]["cells"][:3] == ["d", 3, 0]


@pytest.mark.parametrize(
    ("group", "plural", "rows"),
    [
        ("", "pods", []),
        ("", "services", []),
        ("", "configmaps", []),
        ("", "limitranges", None),
        ("rbac.authorization.k8s.io", "roles", None),
        ("rbac.authorization.k8s.io", "rolebindings", []),
        ("apiextensions.k8s.io", "customresourcedefinitions", None),
    ],
)
def test_an_empty_list_has_rows_only_where_the_kind_has_a_printer(
    group: str, plural: str, rows: list[Any] | None
) -> None:
    resource = REGISTRY.find(group, "v1", plural)
    assert resource is not None
    times = Times(clocktesting.new_fake_clock(NOW))
    assert table.make(resource, [], times, "None")["rows"] == rows
    assert len(table.make(resource, [{"metadata": {"name": "x"}}], times, "None")["rows"]) == 1
