"""Conformance checks: The status subresource and the generation."""

from checks.framework import A, P, check, deployment, pod


@check("status.deployment_spec_write_ignores_status")
def _(t):
    p = A("apps", "v1", t.ns, "deployments", "d")
    b = deployment("d")
    b["status"] = {"replicas": 4}
    o = t.make(A("apps", "v1", t.ns, "deployments"), b)
    t.eq(o["status"], {}, "status at create")
    o["status"] = {"replicas": 5}
    o["spec"]["replicas"] = 2
    u = t.code(t.api.put(p, o), 200).json
    t.eq((u["status"], u["spec"]["replicas"], u["metadata"]["generation"]), ({}, 2, 2), "after PUT")


@check("status.deployment_status_write_ignores_spec")
def _(t):
    p = A("apps", "v1", t.ns, "deployments", "d")
    o = t.make(A("apps", "v1", t.ns, "deployments"), deployment("d"))
    o["status"] = {"replicas": 1, "availableReplicas": 1, "readyReplicas": 1, "observedGeneration": 1}
    o["spec"]["replicas"] = 9
    o["metadata"]["annotations"] = {"a": "b"}
    u = t.code(t.api.put(p + "/status", o), 200).json
    t.eq((u["status"]["replicas"], u["spec"]["replicas"], u["metadata"]["generation"]), (1, 1, 1), "after PUT status")
    t.eq(u["metadata"].get("annotations"), {"a": "b"}, "annotations through /status of a Deployment")


@check("status.generation_metadata_change_does_not_bump")
def _(t):
    p = A("apps", "v1", t.ns, "deployments", "d")
    t.make(A("apps", "v1", t.ns, "deployments"), deployment("d"))
    u = t.code(t.api.patch(p, {"metadata": {"labels": {"x": "y"}}}), 200).json
    t.eq(u["metadata"]["generation"], 1, "generation after a label change")
    u = t.code(t.api.patch(p, {"metadata": {"annotations": {"x": "y"}}}), 200).json
    t.eq(u["metadata"]["generation"], 2, "generation after an annotation change of a Deployment")
    u = t.code(t.api.patch(p, {"spec": {"paused": True}}), 200).json
    t.eq(u["metadata"]["generation"], 3, "generation after a spec change")


@check("status.cr_create_drops_status")
def _(t):
    b = t.widget("x")
    b["status"] = {"phase": "Made"}
    o = t.make(t.W(), b)
    t.ok("status" not in o, "status at create", o.get("status", ""), "absent")
    t.eq(o["metadata"]["generation"], 1, "generation")


@check("status.cr_spec_write_ignores_status")
def _(t):
    o = t.make(t.W(), t.widget("x"))
    o["status"] = {"phase": "No"}
    o["spec"]["size"] = 4
    u = t.code(t.api.put(t.W("x"), o), 200).json
    t.eq((u.get("status"), u["spec"]["size"], u["metadata"]["generation"]), (None, 4, 2), "after PUT")
    rv = u["metadata"]["resourceVersion"]
    u = t.code(t.api.patch(t.W("x"), {"status": {"phase": "No"}}), 200).json
    t.eq(
        (u.get("status"), u["metadata"]["resourceVersion"]),
        (None, rv),
        "a status-only PATCH of the main resource is a no-op",
    )


@check("status.cr_status_write_ignores_spec_and_metadata")
def _(t):
    o = t.make(t.W(), t.widget("x"))
    o["status"] = {"phase": "Ready"}
    o["spec"]["size"] = 9
    o["metadata"]["labels"] = {"a": "b"}
    u = t.code(t.api.put(t.W("x", "status"), o), 200).json
    t.eq((u["status"], u["spec"]["size"], u["metadata"]["generation"]), ({"phase": "Ready"}, 3, 1), "after PUT status")
    t.eq(u["metadata"].get("labels"), None, "labels through /status of a custom resource")
    t.eq(t.api.get(t.W("x", "status")).json["kind"], "Widget", "GET status")


@check("status.cr_status_conflict_and_patch")
def _(t):
    o = t.make(t.W(), t.widget("x"))
    u = t.code(t.api.patch(t.W("x", "status"), {"status": {"phase": "A"}}), 200).json
    t.eq(u["status"], {"phase": "A"}, "merge patch of status")
    o["status"] = {"phase": "B"}
    t.status(t.api.put(t.W("x", "status"), o), 409, "Conflict", match="the object has been modified")


@check("status.cr_generation_rules")
def _(t):
    t.make(t.W(), t.widget("x"))
    u = t.code(t.api.patch(t.W("x"), {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}), 200).json
    t.eq(u["metadata"]["generation"], 1, "generation after a metadata change")
    u = t.code(t.api.patch(t.W("x"), {"spec": {"size": 5}}), 200).json
    t.eq(u["metadata"]["generation"], 2, "generation after a spec change")
    u = t.code(t.api.patch(t.W("x", "status"), {"status": {"phase": "A"}}), 200).json
    t.eq(u["metadata"]["generation"], 2, "generation after a status change")


@check("status.cr_without_status_subresource")
def _(t):
    g, plural = t.crd(status=False)
    p = A(g, "v1", t.ns, plural)
    o = t.make(
        p,
        {
            "apiVersion": g + "/v1",
            "kind": "Widget",
            "metadata": {"name": "x"},
            "spec": {"size": 1},
            "status": {"phase": "Kept"},
        },
    )
    t.eq((o["status"], o["metadata"]["generation"]), ({"phase": "Kept"}, 1), "status kept at create")
    u = t.code(t.api.patch(p + "/x", {"status": {"phase": "Other"}}), 200).json
    t.eq((u["status"], u["metadata"]["generation"]), ({"phase": "Other"}, 2), "status write bumps generation")
    t.status(
        t.api.get(p + "/x/status"),
        404,
        "NotFound",
        f'widgets.{g} "x" not found',
        {"name": "x", "group": g, "kind": "widgets"},
    )


@check("status.pod_status_patch")
def _(t):
    t.make(P(t.ns, "pods"), pod("p"))
    u = t.code(t.api.patch(P(t.ns, "pods", "p", "status"), {"status": {"phase": "Running"}}), 200).json
    t.eq((u["status"]["phase"], u["metadata"]["generation"]), ("Running", 1))
