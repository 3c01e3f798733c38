"""Conformance checks: Label and field selectors."""

from checks.framework import A, P, check, cm, event, pod


@check("selector.labels")
def _(t):
    p = P(t.ns, "configmaps")
    t.make(p, cm("a", labels={"env": "prod", "tier": "web"}))
    t.make(p, cm("b", labels={"env": "dev"}))
    t.make(p, cm("c"))
    for sel, want in (
        ("env=prod", ["a"]),
        ("env==prod", ["a"]),
        ("env!=prod", ["b", "c"]),
        ("env", ["a", "b"]),
        ("!env", ["c"]),
        ("env in (prod,dev)", ["a", "b"]),
        ("env notin (prod)", ["b", "c"]),
        ("env=prod,tier=web", ["a"]),
        ("env,!tier", ["b"]),
        ("env=none", []),
    ):
        got = [i["metadata"]["name"] for i in t.code(t.api.get(p, labelSelector=sel), 200, sel).json["items"]]
        t.eq(got, want, "labelSelector " + sel)


@check("selector.labels_bad")
def _(t):
    t.status(
        t.api.get(P(t.ns, "configmaps"), labelSelector="!!"),
        400,
        "BadRequest",
        "unable to parse requirement: found '!', expected: identifier",
        "absent",
    )


@check("selector.field_metadata_name")
def _(t):
    t.cms(3)
    p = P(t.ns, "configmaps")
    t.eq([i["metadata"]["name"] for i in t.api.get(p, fieldSelector="metadata.name=c1").json["items"]], ["c1"])
    t.eq([i["metadata"]["name"] for i in t.api.get(p, fieldSelector="metadata.name!=c1").json["items"]], ["c0", "c2"])


@check("selector.field_metadata_namespace")
def _(t):
    t.cms(1)
    b = t.api.get("/api/v1/configmaps", fieldSelector="metadata.namespace=" + t.ns).json
    t.eq([i["metadata"]["name"] for i in b["items"]], ["c0"])
    b = t.api.get("/api/v1/configmaps", fieldSelector=f"metadata.namespace={t.ns},metadata.name=zz").json
    t.eq(b["items"], [])


@check("selector.field_unknown")
def _(t):
    t.status(
        t.api.get(P(t.ns, "configmaps"), fieldSelector="foo=bar"),
        400,
        "BadRequest",
        '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        "absent",
    )
    t.status(
        t.api.get(P(t.ns, "pods"), fieldSelector="foo=bar"),
        400,
        "BadRequest",
        "field label not supported: foo",
        "absent",
    )


@check("selector.field_malformed")
def _(t):
    t.status(
        t.api.get(P(t.ns, "configmaps"), fieldSelector="foo"),
        400,
        "BadRequest",
        match="^invalid selector: 'foo'; can't understand 'foo'$",
    )


@check("selector.field_custom_resource")
def _(t):
    t.make(t.W(), t.widget("x"))
    t.make(t.W(), t.widget("y"))
    t.eq([i["metadata"]["name"] for i in t.api.get(t.W(), fieldSelector="metadata.name=y").json["items"]], ["y"])
    t.status(
        t.api.get(t.W(), fieldSelector="spec.size=1"),
        400,
        "BadRequest",
        "field label not supported: spec.size",
        "absent",
    )


@check("selector.crd_selectable_fields")
def _(t):
    g, plural = t.crd(selectable=[{"jsonPath": ".spec.colour"}])
    p = A(g, "v1", t.ns, plural)
    for n, c in (("a", "red"), ("b", "blue")):
        t.make(
            p, {"apiVersion": g + "/v1", "kind": "Widget", "metadata": {"name": n}, "spec": {"size": 1, "colour": c}}
        )
    t.eq(
        [i["metadata"]["name"] for i in t.code(t.api.get(p, fieldSelector="spec.colour=blue"), 200).json["items"]],
        ["b"],
    )


@check("selector.field_pods")
def _(t):
    p = P(t.ns, "pods")
    t.make(p, pod("a"))
    t.make(p, pod("b", nodeName="node-1"))
    t.code(t.api.patch(p + "/b/status", {"status": {"phase": "Running"}}), 200)
    for sel, want in (
        ("spec.nodeName=node-1", ["b"]),
        ("spec.nodeName=", ["a"]),
        ("status.phase=Running", ["b"]),
        ("status.phase!=Running", ["a"]),
        ("status.phase=Pending,metadata.name=a", ["a"]),
        ("spec.restartPolicy=Always", ["a", "b"]),
        ("spec.schedulerName=default-scheduler", ["a", "b"]),
    ):
        got = [i["metadata"]["name"] for i in t.code(t.api.get(p, fieldSelector=sel), 200, sel).json["items"]]
        t.eq(got, want, "fieldSelector " + sel)


@check("selector.field_events_involved_object")
def _(t):
    p = P(t.ns, "events")
    t.make(p, event("e1", t.ns, {"kind": "Pod", "namespace": t.ns, "name": "p1", "uid": "u1"}))
    t.make(
        p,
        event(
            "e2",
            t.ns,
            {"kind": "Widget", "namespace": t.ns, "name": "w1", "uid": "u2"},
            reason="Other",
            type_="Warning",
        ),
    )
    for sel, want in (
        ("involvedObject.kind=Pod", ["e1"]),
        ("involvedObject.name=w1", ["e2"]),
        ("involvedObject.uid=u1", ["e1"]),
        ("involvedObject.namespace=" + t.ns, ["e1", "e2"]),
        ("reason=Other", ["e2"]),
        ("type=Warning", ["e2"]),
        ("source=conformance", ["e1", "e2"]),
        ("involvedObject.kind=Pod,involvedObject.name=p1", ["e1"]),
    ):
        got = [i["metadata"]["name"] for i in t.code(t.api.get(p, fieldSelector=sel), 200, sel).json["items"]]
        t.eq(got, want, "fieldSelector " + sel)


@check("selector.field_secrets_type")
def _(t):
    t.make(P(t.ns, "secrets"), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
    t.make(
        P(t.ns, "secrets"), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "u"}, "type": "example.com/x"}
    )
    t.eq(
        [i["metadata"]["name"] for i in t.api.get(P(t.ns, "secrets"), fieldSelector="type=Opaque").json["items"]], ["s"]
    )
