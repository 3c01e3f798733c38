"""Conformance checks: Discovery and OpenAPI."""

import re

from checks.framework import AGG, check


@check("discovery.version")
def _(t):
    r = t.code(t.api.get("/version"), 200)
    b = r.json
    for k in (
        "major",
        "minor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
        "platform",
    ):
        t.ok(k in b, f"key {k} in /version", sorted(b), k)
    t.eq(b["major"], "1", "major")
    t.ok(b["gitVersion"].startswith("v"), "gitVersion", b["gitVersion"], "v...")


for _p in ("healthz", "readyz", "livez"):

    def _mk(p):
        @check("discovery." + p)
        def _(t):
            r = t.code(t.api.get("/" + p), 200)
            t.eq(r.text, "ok", "body")
            t.ok(r.ctype.startswith("text/plain"), "content type", r.ctype, "text/plain")

    _mk(_p)


@check("discovery.readyz_verbose")
def _(t):
    r = t.code(t.api.get("/readyz", verbose="true"), 200)
    t.ok(re.match(r"\[\+\]ping ok\n", r.text), "first line", r.text[:60], "[+]ping ok")
    t.ok(r.text.endswith("readyz check passed\n"), "last line", r.text[-40:], "readyz check passed")


@check("discovery.api")
def _(t):
    b = t.code(t.api.get("/api"), 200).json
    t.eq((b["kind"], b["versions"]), ("APIVersions", ["v1"]))
    t.ok("apiVersion" not in b, "apiVersion of APIVersions", b.get("apiVersion", ""), "absent")
    t.ok(b["serverAddressByClientCIDRs"][0]["clientCIDR"], "serverAddressByClientCIDRs")


@check("discovery.apis")
def _(t):
    b = t.code(t.api.get("/apis"), 200).json
    t.eq((b["kind"], b["apiVersion"]), ("APIGroupList", "v1"))
    g = {x["name"]: x for x in b["groups"]}
    for name, gv in (
        ("apps", "apps/v1"),
        ("coordination.k8s.io", "coordination.k8s.io/v1"),
        ("apiextensions.k8s.io", "apiextensions.k8s.io/v1"),
        ("events.k8s.io", "events.k8s.io/v1"),
    ):
        t.ok(name in g, "group " + name, sorted(g), name)
        t.eq(g[name]["preferredVersion"], {"groupVersion": gv, "version": "v1"}, "preferredVersion of " + name)
        t.eq(g[name]["versions"][0], {"groupVersion": gv, "version": "v1"}, "first version of " + name)


@check("discovery.api_v1")
def _(t):
    b = t.code(t.api.get("/api/v1"), 200).json
    t.eq((b["kind"], b["groupVersion"]), ("APIResourceList", "v1"))
    r = {x["name"]: x for x in b["resources"]}
    p = r["pods"]
    t.eq(
        (p["kind"], p["namespaced"], p["singularName"], p["shortNames"], p["categories"]),
        ("Pod", True, "pod", ["po"], ["all"]),
        "pods",
    )
    t.eq(p["verbs"], ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], "pods verbs")
    t.eq((r["pods/status"]["kind"], r["pods/status"]["verbs"]), ("Pod", ["get", "patch", "update"]), "pods/status")
    t.eq((r["namespaces"]["namespaced"], r["namespaces"]["shortNames"]), (False, ["ns"]), "namespaces")
    t.eq(
        r["namespaces"]["verbs"],
        ["create", "delete", "get", "list", "patch", "update", "watch"],
        "namespaces verbs (no deletecollection)",
    )
    t.eq(r["configmaps"]["shortNames"], ["cm"], "configmaps")
    t.eq(r["events"]["shortNames"], ["ev"], "events")


@check("discovery.apis_apps")
def _(t):
    b = t.code(t.api.get("/apis/apps"), 200).json
    t.eq((b["kind"], b["apiVersion"], b["name"]), ("APIGroup", "v1", "apps"))
    t.eq(b["preferredVersion"], {"groupVersion": "apps/v1", "version": "v1"}, "preferredVersion")


@check("discovery.apis_apps_v1")
def _(t):
    b = t.code(t.api.get("/apis/apps/v1"), 200).json
    t.eq((b["kind"], b["apiVersion"], b["groupVersion"]), ("APIResourceList", "v1", "apps/v1"))
    r = {x["name"]: x for x in b["resources"]}
    t.eq((r["deployments"]["shortNames"], r["deployments"]["categories"]), (["deploy"], ["all"]), "deployments")
    s = r["deployments/scale"]
    t.eq(
        (s["group"], s["version"], s["kind"], s["verbs"]),
        ("autoscaling", "v1", "Scale", ["get", "patch", "update"]),
        "scale",
    )
    t.eq(r["replicasets"]["shortNames"], ["rs"], "replicasets")


@check("discovery.aggregated_apis")
def _(t):
    r = t.code(t.api.get("/apis", headers={"Accept": AGG}), 200)
    t.eq(r.ctype, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "content type")
    b = r.json
    t.eq((b["kind"], b["apiVersion"]), ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"))
    apps = next(i for i in b["items"] if i["metadata"]["name"] == "apps")
    v = apps["versions"][0]
    t.eq((v["version"], v["freshness"]), ("v1", "Current"), "apps version")
    d = next(x for x in v["resources"] if x["resource"] == "deployments")
    t.eq(
        (d["scope"], d["responseKind"], d["singularResource"], d["shortNames"]),
        ("Namespaced", {"group": "", "kind": "Deployment", "version": ""}, "deployment", ["deploy"]),
        "deployments (empty group/version in responseKind mean those of the list)",
    )
    t.eq(sorted(s["subresource"] for s in d["subresources"]), ["scale", "status"], "subresources")


@check("discovery.aggregated_api")
def _(t):
    b = t.code(t.api.get("/api", headers={"Accept": AGG}), 200).json
    t.eq((b["kind"], len(b["items"])), ("APIGroupDiscoveryList", 1))
    names = [x["resource"] for x in b["items"][0]["versions"][0]["resources"]]
    t.ok("pods" in names and "namespaces" in names, "core resources", names)
    ns = next(x for x in b["items"][0]["versions"][0]["resources"] if x["resource"] == "namespaces")
    t.eq(ns["scope"], "Cluster", "namespaces scope")


@check("discovery.aggregated_etag")
def _(t):
    r = t.api.get("/api", headers={"Accept": AGG})
    tag = r.headers.get("ETag")
    t.ok(tag, "ETag", tag, "set")
    r = t.api.get("/api", headers={"Accept": AGG, "If-None-Match": tag})
    t.eq((r.code, r.text), (304, ""), "conditional request")


@check("discovery.root_paths")
def _(t):
    b = t.code(t.api.get("/"), 200).json
    t.eq(list(b), ["paths"])
    for p in ("/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/version", "/openapi/v2"):
        t.ok(p in b["paths"], "path list", b["paths"][:20], p)


@check("discovery.openapi_v2")
def _(t):
    b = t.code(t.api.get("/openapi/v2"), 200).json
    t.eq(b["swagger"], "2.0")
    t.ok("io.k8s.api.apps.v1.Deployment" in b["definitions"], "Deployment definition")
    t.ok("/apis/apps/v1/namespaces/{namespace}/deployments" in b["paths"], "deployment path")


@check("discovery.openapi_v3_index")
def _(t):
    b = t.code(t.api.get("/openapi/v3"), 200).json
    for p in ("api/v1", "apis/apps/v1"):
        t.ok(p in b["paths"], "openapi v3 path", sorted(b["paths"])[:30], p)
        t.ok(
            b["paths"][p]["serverRelativeURL"].startswith(f"/openapi/v3/{p}?hash="),
            "serverRelativeURL",
            b["paths"][p],
        )


@check("discovery.openapi_v3_group")
def _(t):
    url = t.api.get("/openapi/v3").json["paths"]["apis/apps/v1"]["serverRelativeURL"]
    b = t.code(t.api.get(url), 200).json
    t.ok(b["openapi"].startswith("3.0"), "openapi", b["openapi"], "3.0.x")
    t.ok("io.k8s.api.apps.v1.Deployment" in b["components"]["schemas"], "Deployment schema")
    t.ok("/apis/apps/v1/namespaces/{namespace}/deployments/{name}" in b["paths"], "deployment path")


@check("discovery.crd_resources")
def _(t):
    g, _ = t.widgets()
    b = t.code(t.api.get(f"/apis/{g}/v1"), 200).json
    r = {x["name"]: x for x in b["resources"]}
    w = r["widgets"]
    t.eq(
        (w["kind"], w["singularName"], w["namespaced"], w["shortNames"], w["categories"]),
        ("Widget", "widget", True, ["wdg"], ["all"]),
        "widgets",
    )
    t.eq(
        w["verbs"],
        ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        "custom resource verbs (order too)",
    )
    t.eq(
        (r["widgets/status"]["kind"], r["widgets/status"]["verbs"]),
        ("Widget", ["get", "patch", "update"]),
        "widgets/status",
    )
    t.eq((r["widgets/scale"]["kind"], r["widgets/scale"]["group"]), ("Scale", "autoscaling"), "widgets/scale")
    grp = t.code(t.api.get("/apis/" + g), 200).json
    t.eq(grp["preferredVersion"], {"groupVersion": g + "/v1", "version": "v1"}, "preferredVersion")
    t.eventually(lambda: g in [x["name"] for x in t.api.get("/apis").json["groups"]], "group listed in /apis")


@check("discovery.crd_openapi_v3")
def _(t):
    g, _p = t.widgets()
    t.eventually(lambda: f"apis/{g}/v1" in t.api.get("/openapi/v3").json["paths"], "CRD group in openapi v3", 300, 0.5)
    b = t.code(t.api.get(f"/openapi/v3/apis/{g}/v1"), 200).json
    t.ok(
        any(k.endswith(".v1.Widget") for k in b["components"]["schemas"]),
        "Widget schema",
        sorted(b["components"]["schemas"])[:9],
    )
    t.ok(f"/apis/{g}/v1/namespaces/{{namespace}}/widgets/{{name}}" in b["paths"], "widget path", sorted(b["paths"])[:9])
