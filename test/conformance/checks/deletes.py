"""Conformance checks: Deletions: options, finalizers, collections, garbage collection."""

from checks.framework import A, P, check, cm, deployment, pod


@check("delete.precondition_uid")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.api.delete(
        P(t.ns, "configmaps", "x"), {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "abc"}}
    )
    t.status(
        r,
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition (abc) '
        "does not match the UID in record ({}). "
        "The object might have been deleted and then recreated".format(o["metadata"]["uid"]),
        {"name": "x", "kind": "ConfigMap"},
    )


@check("delete.precondition_resource_version")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    rv = o["metadata"]["resourceVersion"]
    r = t.api.delete(P(t.ns, "configmaps", "x"), {"preconditions": {"resourceVersion": "1"}})
    t.status(
        r,
        409,
        "Conflict",
        'Operation cannot be fulfilled on ConfigMap "x": the ResourceVersion in the '
        "precondition (1) does not match the "
        f"ResourceVersion in record ({rv}). The object might have been modified",
        {"name": "x", "kind": "ConfigMap"},
    )
    t.code(
        t.api.delete(
            P(t.ns, "configmaps", "x"), {"preconditions": {"resourceVersion": rv, "uid": o["metadata"]["uid"]}}
        ),
        200,
    )


@check("delete.finalizer_flow")
def _(t):
    p = P(t.ns, "configmaps", "x")
    o = t.make(P(t.ns, "configmaps"), cm("x", finalizers=["example.com/hold"]))
    t.cleanups.append(lambda: t.api.patch(p, {"metadata": {"finalizers": None}}))
    with t.api.watch(P(t.ns, "configmaps"), resourceVersion=o["metadata"]["resourceVersion"], timeoutSeconds=20) as w:
        d = t.code(t.api.delete(p), 200).json
        t.eq(d["kind"], "ConfigMap", "delete answers with the object while finalizers remain")
        t.ok(d["metadata"]["deletionTimestamp"], "deletionTimestamp")
        t.eq(d["metadata"]["deletionGracePeriodSeconds"], 0, "deletionGracePeriodSeconds")
        t.eq(t.code(t.api.get(p), 200).json["metadata"]["deletionTimestamp"], d["metadata"]["deletionTimestamp"])
        d2 = t.code(t.api.delete(p), 200).json
        t.eq(d2["metadata"]["resourceVersion"], d["metadata"]["resourceVersion"], "a second delete changes nothing")
        u = t.code(t.api.patch(p, {"metadata": {"finalizers": None}}), 200).json
        t.ok("finalizers" not in u["metadata"], "finalizers in the answer", u["metadata"], "absent")
        t.code(t.api.get(p), 404, "after the last finalizer goes")
        t.eq([w.next()["type"] for _ in range(2)], ["MODIFIED", "DELETED"], "watch events")


@check("delete.finalizers_cannot_be_added_while_deleting")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.make(P(t.ns, "configmaps"), cm("x", finalizers=["example.com/hold"]))
    t.cleanups.append(lambda: t.api.patch(p, {"metadata": {"finalizers": None}}))
    t.code(t.api.delete(p), 200)
    r = t.api.patch(p, {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    st = t.status(r, 422, "Invalid", match="no new finalizers can be added if the object is being deleted")
    t.eq(
        (st["details"]["causes"][0]["field"], st["details"]["causes"][0]["reason"]),
        ("metadata.finalizers", "FieldValueForbidden"),
    )


@check("delete.finalizer_generation_bump_cr")
def _(t):
    o = t.make(t.W(), t.widget("x", finalizers=["example.com/hold"]))
    t.cleanups.append(lambda: t.api.patch(t.W("x"), {"metadata": {"finalizers": None}}))
    d = t.code(t.api.delete(t.W("x")), 200).json
    t.eq(
        (o["metadata"]["generation"], d["metadata"]["generation"]),
        (1, 2),
        "generation before and after the delete request",
    )


@check("delete.finalizer_name_unqualified_warns")
def _(t):
    r = t.code(t.api.post(t.W(), t.widget("x", finalizers=["hold"])), 201)
    t.cleanups.append(lambda: t.api.patch(t.W("x"), {"metadata": {"finalizers": None}}))
    t.eq(
        r.headers.get("Warning"),
        '299 - "metadata.finalizers: \\"hold\\": prefer a domain-qualified finalizer name to avoid '
        'accidental conflicts with other finalizer writers"',
        "Warning",
    )
    t.status(t.api.post(t.W(), t.widget("y", finalizers=["no good"])), 422, "Invalid", match="metadata.finalizers")


@check("delete.propagation_orphan_and_foreground")
def _(t):
    p = A("apps", "v1", t.ns, "deployments", "d")
    for policy, fin in (("Orphan", "orphan"), ("Foreground", "foregroundDeletion")):
        t.make(A("apps", "v1", t.ns, "deployments"), deployment("d"))
        r = t.code(t.api.delete(p, {"propagationPolicy": policy}), 200)
        t.eq((r.json["kind"], r.json["metadata"].get("finalizers")), ("Deployment", [fin]), policy)
        t.api.patch(p, {"metadata": {"finalizers": None}})
        t.eventually(lambda: t.api.get(p).code == 404, "gone")
    t.make(A("apps", "v1", t.ns, "deployments"), deployment("d"))
    r = t.code(t.api.delete(p, propagationPolicy="Background"), 200)
    t.eq(r.json["kind"], "Status", "Background")


@check("delete.propagation_invalid")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    st = t.status(t.api.delete(P(t.ns, "configmaps", "x"), propagationPolicy="Foo"), 422, "Invalid")
    t.eq(
        (st["details"]["kind"], st["details"]["causes"][0]["field"]), ("DeleteOptions", "propagationPolicy"), "details"
    )


@check("delete.pod_grace_unscheduled_is_immediate")
def _(t):
    t.make(P(t.ns, "pods"), pod("p"))
    d = t.code(t.api.delete(P(t.ns, "pods", "p")), 200).json
    t.eq((d["kind"], d["metadata"]["deletionGracePeriodSeconds"]), ("Pod", 0), "delete answers with the pod")
    t.code(t.api.get(P(t.ns, "pods", "p")), 404)


@check("delete.pod_grace_scheduled")
def _(t):
    p = P(t.ns, "pods", "p")
    t.make(P(t.ns, "pods"), pod("p", nodeName="node-1"))
    d = t.code(t.api.delete(p), 200).json
    t.eq(d["metadata"]["deletionGracePeriodSeconds"], 30, "grace")
    t.ok(t.code(t.api.get(p), 200).json["metadata"]["deletionTimestamp"], "still there")
    t.code(t.api.delete(p, gracePeriodSeconds=0), 200)
    t.code(t.api.get(p), 404)


@check("delete.collection")
def _(t):
    p = P(t.ns, "configmaps")
    t.make(p, cm("a", labels={"x": "1"}))
    t.make(p, cm("b", labels={"x": "1"}))
    t.make(p, cm("c"))
    r = t.code(t.api.delete(p, labelSelector="x=1"), 200)
    t.eq(
        (r.json["kind"], [i["metadata"]["name"] for i in r.json["items"]]),
        ("ConfigMapList", ["a", "b"]),
        "answer lists what went",
    )
    t.eq([i["metadata"]["name"] for i in t.api.get(p).json["items"]], ["c"], "left")


@check("delete.collection_custom_resource")
def _(t):
    t.make(t.W(), t.widget("a"))
    t.make(t.W(), t.widget("b"))
    r = t.code(t.api.delete(t.W()), 200)
    t.eq((r.json["kind"], len(r.json["items"])), ("WidgetList", 2), "answer")
    t.eq(t.api.get(t.W()).json["items"], [], "left")


@check("delete.namespaces_collection_not_allowed")
def _(t):
    t.status(t.api.delete("/api/v1/namespaces", labelSelector="no=such"), 405, "MethodNotAllowed")


@check("delete.recreate_gets_new_uid")
def _(t):
    a = t.make(P(t.ns, "configmaps"), cm("x"))
    t.code(t.api.delete(P(t.ns, "configmaps", "x")), 200)
    b = t.make(P(t.ns, "configmaps"), cm("x"))
    t.ok(a["metadata"]["uid"] != b["metadata"]["uid"], "uid")


@check("delete.owner_reference_validation")
def _(t):
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": ""}
    st = t.status(t.api.post(P(t.ns, "configmaps"), cm("x", ownerReferences=[ref])), 422, "Invalid")
    t.ok(st["details"]["causes"][0]["field"].startswith("metadata.ownerReferences"), "field", st["details"]["causes"])
    refs = [dict(ref, uid=f"u{i}", name=f"o{i}", controller=True) for i in range(2)]
    t.status(
        t.api.post(P(t.ns, "configmaps"), cm("x", ownerReferences=refs)),
        422,
        "Invalid",
        match="Only one reference can have Controller set to true",
    )


@check("delete.garbage_collection_background", optional=True)
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("owner"))
    t.make(
        P(t.ns, "configmaps"),
        cm(
            "child",
            ownerReferences=[
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "owner",
                    "uid": o["metadata"]["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        ),
    )
    t.code(t.api.delete(P(t.ns, "configmaps", "owner")), 200)
    t.eventually(lambda: t.api.get(P(t.ns, "configmaps", "child")).code == 404, "child collected", t.args.gc_timeout)


@check("delete.garbage_collection_foreground", optional=True)
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("owner"))
    t.make(
        P(t.ns, "configmaps"),
        cm(
            "child",
            finalizers=["example.com/hold"],
            ownerReferences=[
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "name": "owner",
                    "uid": o["metadata"]["uid"],
                    "blockOwnerDeletion": True,
                }
            ],
        ),
    )
    c = P(t.ns, "configmaps", "child")
    t.cleanups.append(lambda: t.api.patch(c, {"metadata": {"finalizers": None}}))
    t.code(t.api.delete(P(t.ns, "configmaps", "owner"), propagationPolicy="Foreground"), 200)
    t.eventually(lambda: "deletionTimestamp" in t.api.get(c).json["metadata"], "child being deleted", t.args.gc_timeout)
    t.code(t.api.get(P(t.ns, "configmaps", "owner")), 200, "owner waits for the child")
    t.code(t.api.patch(c, {"metadata": {"finalizers": None}}), 200)
    t.eventually(lambda: t.api.get(P(t.ns, "configmaps", "owner")).code == 404, "owner gone", t.args.gc_timeout)
