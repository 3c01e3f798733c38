"""Conformance checks: JSON, merge and strategic merge patches."""

from checks.framework import JSONPATCH, STRATEGIC, A, P, check, cm, deployment, event, pod


@check("patch.json")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.make(P(t.ns, "configmaps"), cm("x", {"a": "1", "b": "2"}))
    u = t.code(
        t.api.patch(
            p,
            [
                {"op": "test", "path": "/data/a", "value": "1"},
                {"op": "replace", "path": "/data/a", "value": "9"},
                {"op": "remove", "path": "/data/b"},
                {"op": "add", "path": "/metadata/labels", "value": {"x": "z"}},
            ],
            ct=JSONPATCH,
        ),
        200,
    ).json
    t.eq((u["data"], u["metadata"]["labels"]), ({"a": "9"}, {"x": "z"}))


@check("patch.json_escaped_path")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x", annotations={"a.b/c": "1"}))
    u = t.code(
        t.api.patch(
            P(t.ns, "configmaps", "x"),
            [{"op": "replace", "path": "/metadata/annotations/a.b~1c", "value": "2"}],
            ct=JSONPATCH,
        ),
        200,
    ).json
    t.eq(u["metadata"]["annotations"], {"a.b/c": "2"})


@check("patch.json_test_fails")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.api.patch(P(t.ns, "configmaps", "x"), [{"op": "test", "path": "/data/k", "value": "nope"}], ct=JSONPATCH)
    t.status(r, 422, "Invalid", "the server rejected our request due to an error in our request", {})


@check("patch.json_missing_path")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.api.patch(P(t.ns, "configmaps", "x"), [{"op": "remove", "path": "/data/zz"}], ct=JSONPATCH)
    t.status(r, 422, "Invalid", "the server rejected our request due to an error in our request")


@check("patch.json_not_a_patch")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.api.patch(P(t.ns, "configmaps", "x"), {"data": {}}, ct=JSONPATCH)
    t.status(r, 400, "BadRequest", match="^error decoding patch: json: cannot unmarshal object into Go value of type ")


@check("patch.merge")
def _(t):
    t.make(t.W(), t.widget("x", {"size": 1, "tags": ["a", "b"], "free": {"a": 1, "b": 2}}))
    u = t.code(t.api.patch(t.W("x"), {"spec": {"tags": ["c"], "free": {"a": None, "c": 3}}}), 200).json
    t.eq(
        (u["spec"]["tags"], u["spec"]["free"], u["spec"]["size"]),
        (["c"], {"b": 2, "c": 3}, 1),
        "lists replaced, null deletes",
    )


@check("patch.merge_replaces_lists_in_pods")
def _(t):
    t.make(P(t.ns, "pods"), pod("p", containers=[{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:1"}]))
    r = t.api.patch(P(t.ns, "pods", "p"), {"spec": {"containers": [{"name": "a", "image": "i:2"}]}})
    t.status(r, 422, "Invalid", match="pod updates may not add or remove containers")


@check("patch.strategic_merge_containers")
def _(t):
    b = deployment("d")
    b["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "example.com/side:1"})
    t.make(A("apps", "v1", t.ns, "deployments"), b)
    u = t.code(
        t.api.patch(
            A("apps", "v1", t.ns, "deployments", "d"),
            {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [
                                {"name": "web", "image": "example.com/web:2", "env": [{"name": "A", "value": "1"}]}
                            ]
                        }
                    }
                }
            },
            ct=STRATEGIC,
        ),
        200,
    ).json
    c = {x["name"]: x for x in u["spec"]["template"]["spec"]["containers"]}
    t.eq(
        (c["web"]["image"], c["side"]["image"], c["web"]["env"]),
        ("example.com/web:2", "example.com/side:1", [{"name": "A", "value": "1"}]),
    )


@check("patch.strategic_delete_and_replace_directives")
def _(t):
    b = deployment("d")
    b["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "example.com/side:1"})
    p = A("apps", "v1", t.ns, "deployments", "d")
    t.make(A("apps", "v1", t.ns, "deployments"), b)
    u = t.code(
        t.api.patch(
            p, {"spec": {"template": {"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}}}, ct=STRATEGIC
        ),
        200,
    ).json
    t.eq([c["name"] for c in u["spec"]["template"]["spec"]["containers"]], ["web"], "after $patch delete")
    u = t.code(
        t.api.patch(
            p,
            {"spec": {"template": {"spec": {"containers": [{"name": "only", "image": "i:3"}, {"$patch": "replace"}]}}}},
            ct=STRATEGIC,
        ),
        200,
    ).json
    t.eq([c["name"] for c in u["spec"]["template"]["spec"]["containers"]], ["only"], "after $patch replace")
    u = t.code(
        t.api.patch(p, {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, ct=STRATEGIC), 200
    ).json
    t.eq(u["spec"]["strategy"], {"type": "Recreate"}, "after $retainKeys")


@check("patch.strategic_pod_conditions")
def _(t):
    p = P(t.ns, "pods", "p", "status")
    t.make(P(t.ns, "pods"), pod("p"))
    t.code(t.api.patch(p, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, ct=STRATEGIC), 200)
    u = t.code(
        t.api.patch(p, {"status": {"conditions": [{"type": "Initialized", "status": "True"}]}}, ct=STRATEGIC), 200
    ).json
    t.eq(sorted(c["type"] for c in u["status"]["conditions"]), ["Initialized", "Ready"], "conditions merged by type")


@check("patch.strategic_finalizers_and_setelementorder")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.make(P(t.ns, "configmaps"), cm("x", finalizers=["example.com/a"]))
    t.cleanups.append(lambda: t.api.patch(p, {"metadata": {"finalizers": None}}))
    u = t.code(t.api.patch(p, {"metadata": {"finalizers": ["example.com/b"]}}, ct=STRATEGIC), 200).json
    t.eq(sorted(u["metadata"]["finalizers"]), ["example.com/a", "example.com/b"], "finalizers are merged")
    u = t.code(
        t.api.patch(p, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}, ct=STRATEGIC), 200
    ).json
    t.eq(u["metadata"]["finalizers"], ["example.com/b"], "$deleteFromPrimitiveList")


@check("patch.strategic_event_count")
def _(t):
    t.make(P(t.ns, "events"), event("e", t.ns, {"kind": "Pod", "namespace": t.ns, "name": "p"}))
    u = t.code(
        t.api.patch(
            P(t.ns, "events", "e"),
            {"count": 2, "lastTimestamp": "2024-01-01T00:00:00Z", "message": "again"},
            ct=STRATEGIC,
        ),
        200,
    ).json
    t.eq((u["count"], u["message"], u["lastTimestamp"]), (2, "again", "2024-01-01T00:00:00Z"))


@check("patch.with_resource_version_precondition")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    p = P(t.ns, "configmaps", "x")
    t.code(t.api.patch(p, {"data": {"k": "2"}}), 200)
    r = t.api.patch(p, {"metadata": {"resourceVersion": o["metadata"]["resourceVersion"]}, "data": {"k": "3"}})
    t.status(r, 409, "Conflict", match="the object has been modified")


@check("patch.immutable_name_and_uid")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    p = P(t.ns, "configmaps", "x")
    r = t.api.patch(p, {"metadata": {"name": "y"}})
    t.status(r, 400, "BadRequest", "the name of the object (y) does not match the name on the URL (x)")
    r = t.api.patch(p, {"metadata": {"uid": "11111111-1111-4111-8111-111111111111"}})
    t.status(
        r,
        422,
        "Invalid",
        'ConfigMap "x" is invalid: metadata.uid: Invalid value: '
        '"11111111-1111-4111-8111-111111111111": field is immutable',
    )
