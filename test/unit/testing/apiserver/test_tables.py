"""The tables of `kubectl get` for the kinds that configure a cluster, and for a Scale."""

from __future__ import annotations

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


def cells(group: str, plural: str, obj: Json) -> dict[str, Any]:
    resource = REGISTRY.find(group, "v1", plural)
    assert resource is not None
    metadata = {"name": "x", "creationTimestamp": CREATED}
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
    ],
)  # fmt: skip
def test_cells(group: str, plural: str, obj: Json, wanted: dict[str, Any]) -> None:
    found = cells(group, plural, obj)
    assert {name: found[name] for name in wanted} == wanted


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
        (".status.conditions[?(@.type)].status", None),
        ("status", None),
    ],
)
def test_a_printer_column_finds_its_value(path: str, value: Any) -> None:
    assert table.json_path(path)({"status": STATUS}) == value


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
