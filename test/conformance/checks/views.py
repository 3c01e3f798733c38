"""Conformance checks: Tables, partial objects, scale and dry runs."""

import re

from checks.framework import PARTIAL, PARTIAL_LIST, TABLE, A, P, check, cm, deployment, pod


@check("table.pods")
def _(t):
    t.make(P(t.ns, "pods"), pod("p"))
    r = t.code(t.api.get(P(t.ns, "pods"), headers={"Accept": TABLE}), 200)
    b = r.json
    t.eq((b["kind"], b["apiVersion"]), ("Table", "meta.k8s.io/v1"))
    t.eq(
        [c["name"] for c in b["columnDefinitions"]],
        ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"],
        "columns",
    )
    t.eq([c["priority"] for c in b["columnDefinitions"]], [0, 0, 0, 0, 0, 1, 1, 1, 1], "priorities")
    cells = b["rows"][0]["cells"]
    t.eq(cells[:4] + cells[5:], ["p", "0/1", "Pending", "0", "<none>", "<none>", "<none>", "<none>"], "cells")
    t.eq(
        (b["rows"][0]["object"]["kind"], "spec" in b["rows"][0]["object"]),
        ("PartialObjectMetadata", False),
        "row object",
    )
    t.ok(b["metadata"]["resourceVersion"], "resourceVersion")


@check("table.single_object_and_include_object")
def _(t):
    t.make(P(t.ns, "pods"), pod("p"))
    b = t.code(t.api.get(P(t.ns, "pods", "p"), headers={"Accept": TABLE}), 200).json
    t.eq((b["kind"], len(b["rows"])), ("Table", 1))
    b = t.code(t.api.get(P(t.ns, "pods"), headers={"Accept": TABLE}, includeObject="Object"), 200).json
    t.eq(b["rows"][0]["object"]["kind"], "Pod", "includeObject=Object")
    b = t.code(t.api.get(P(t.ns, "pods"), headers={"Accept": TABLE}, includeObject="None"), 200).json
    t.eq(b["rows"][0].get("object"), None, "includeObject=None")


@check("table.deployments")
def _(t):
    t.make(A("apps", "v1", t.ns, "deployments"), deployment("d", 3))
    b = t.code(t.api.get(A("apps", "v1", t.ns, "deployments"), headers={"Accept": TABLE}), 200).json
    t.eq(
        [c["name"] for c in b["columnDefinitions"]],
        ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"],
        "columns",
    )
    cells = b["rows"][0]["cells"]
    t.eq(cells[:4] + cells[5:], ["d", "0/3", 0, 0, "web", "example.com/web:1", "app=d"], "cells")


@check("table.configmaps_and_namespaces")
def _(t):
    t.cms(1)
    b = t.code(t.api.get(P(t.ns, "configmaps"), headers={"Accept": TABLE}), 200).json
    t.eq([c["name"] for c in b["columnDefinitions"]], ["Name", "Data", "Age"], "columns")
    t.eq(b["rows"][0]["cells"][:2], ["c0", 1], "cells")
    b = t.code(t.api.get("/api/v1/namespaces/" + t.ns, headers={"Accept": TABLE}), 200).json
    t.eq(b["rows"][0]["cells"][:2], [t.ns, "Active"], "cells")


@check("table.custom_resource_columns")
def _(t):
    o = t.make(t.W(), t.widget("x"))
    b = t.code(t.api.get(t.W(), headers={"Accept": TABLE}), 200).json
    t.eq(
        [(c["name"], c["type"], c["priority"]) for c in b["columnDefinitions"]],
        [("Name", "string", 0), ("Size", "integer", 0), ("Colour", "string", 1), ("Age", "date", 0)],
        "columns",
    )
    t.eq(b["columnDefinitions"][2]["description"], "its colour", "description")
    cells = b["rows"][0]["cells"]
    t.eq(cells[:3], ["x", 3, "red"], "cells")
    t.ok(re.match(r"^\d+s$", cells[3]), "age cell", cells[3], "like 0s ({})".format(o["metadata"]["creationTimestamp"]))


@check("table.custom_resource_default_columns")
def _(t):
    g, plural = t.crd()
    t.make(
        A(g, "v1", t.ns, plural),
        {"apiVersion": g + "/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"size": 1}},
    )
    b = t.code(t.api.get(A(g, "v1", t.ns, plural), headers={"Accept": TABLE}), 200).json
    t.eq([c["name"] for c in b["columnDefinitions"]], ["Name", "Age"], "columns")


@check("table.empty_list")
def _(t):
    b = t.code(t.api.get(P(t.ns, "pods"), headers={"Accept": TABLE}), 200).json
    t.eq(b["rows"], [], "rows")


@check("partial.list")
def _(t):
    t.cms(1, labels={"a": "b"})
    r = t.code(t.api.get(P(t.ns, "configmaps"), headers={"Accept": PARTIAL_LIST}), 200)
    b = r.json
    t.eq((b["kind"], b["apiVersion"]), ("PartialObjectMetadataList", "meta.k8s.io/v1"))
    i = b["items"][0]
    t.eq(
        (i["kind"], i["apiVersion"], i["metadata"]["labels"], "data" in i),
        ("PartialObjectMetadata", "meta.k8s.io/v1", {"a": "b"}, False),
        "item",
    )


@check("partial.get_and_custom_resource")
def _(t):
    t.cms(1)
    b = t.code(t.api.get(P(t.ns, "configmaps", "c0"), headers={"Accept": PARTIAL}), 200).json
    t.eq((b["kind"], sorted(b)), ("PartialObjectMetadata", ["apiVersion", "kind", "metadata"]))
    t.make(t.W(), t.widget("x"))
    b = t.code(t.api.get(t.W("x"), headers={"Accept": PARTIAL}), 200).json
    t.eq((b["kind"], "spec" in b), ("PartialObjectMetadata", False))


@check("scale.deployment")
def _(t):
    p = A("apps", "v1", t.ns, "deployments", "d")
    o = t.make(A("apps", "v1", t.ns, "deployments"), deployment("d", 2))
    s = t.code(t.api.get(p + "/scale"), 200).json
    t.eq(
        (s["kind"], s["apiVersion"], s["spec"], s["status"]),
        ("Scale", "autoscaling/v1", {"replicas": 2}, {"replicas": 0, "selector": "app=d"}),
        "GET scale",
    )
    t.eq(
        (s["metadata"]["name"], s["metadata"]["uid"], s["metadata"]["resourceVersion"]),
        ("d", o["metadata"]["uid"], o["metadata"]["resourceVersion"]),
        "metadata",
    )
    s["spec"]["replicas"] = 5
    u = t.code(t.api.put(p + "/scale", s), 200).json
    t.eq(u["spec"]["replicas"], 5, "PUT scale")
    d = t.api.get(p).json
    t.eq((d["spec"]["replicas"], d["metadata"]["generation"]), (5, 2), "deployment")
    u = t.code(t.api.patch(p + "/scale", {"spec": {"replicas": 1}}), 200).json
    t.eq((u["kind"], u["spec"]["replicas"]), ("Scale", 1), "PATCH scale")
    t.status(t.api.put(p + "/scale", s), 409, "Conflict", match="the object has been modified")


@check("scale.zero_omitted")
def _(t):
    t.make(A("apps", "v1", t.ns, "deployments"), deployment("d", 0))
    s = t.code(t.api.get(A("apps", "v1", t.ns, "deployments", "d", "scale")), 200).json
    t.eq(s["spec"], {}, "spec with zero replicas")


@check("scale.custom_resource")
def _(t):
    t.make(t.W(), t.widget("x", {"size": 1, "replicas": 3}))
    t.code(t.api.patch(t.W("x", "status"), {"status": {"replicas": 2, "selector": "a=b"}}), 200)
    s = t.code(t.api.get(t.W("x", "scale")), 200).json
    t.eq((s["kind"], s["spec"], s["status"]), ("Scale", {"replicas": 3}, {"replicas": 2, "selector": "a=b"}))
    t.code(t.api.patch(t.W("x", "scale"), {"spec": {"replicas": 7}}), 200)
    t.eq(t.api.get(t.W("x")).json["spec"]["replicas"], 7, "widget")


@check("dryrun.create_update_delete")
def _(t):
    p = P(t.ns, "configmaps")
    r = t.code(t.api.post(p, cm("x"), dryRun="All"), 201)
    t.ok(
        r.json["metadata"]["uid"] and "resourceVersion" not in r.json["metadata"],
        "dry-run create answer",
        r.json["metadata"],
        "uid but no resourceVersion",
    )
    t.code(t.api.get(p + "/x"), 404)
    o = t.make(p, cm("x"))
    u = t.code(t.api.patch(p + "/x", {"data": {"k": "2"}}, dryRun="All"), 200).json
    t.eq(
        (u["data"], u["metadata"]["resourceVersion"]),
        ({"k": "2"}, o["metadata"]["resourceVersion"]),
        "dry-run patch answer",
    )
    t.code(t.api.delete(p + "/x", dryRun="All"), 200)
    t.eq(t.code(t.api.get(p + "/x"), 200).json, o, "nothing persisted")


@check("dryrun.invalid_value")
def _(t):
    st = t.status(t.api.post(P(t.ns, "configmaps"), cm("x"), dryRun="Some"), 422, "Invalid")
    t.eq(
        (st["details"]["kind"], st["details"]["causes"][0]["field"], st["details"]["causes"][0]["message"]),
        ("CreateOptions", "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'),
    )
