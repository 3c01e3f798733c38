"""Conformance checks: Server-side apply."""

import yaml

from checks.framework import APPLY, A, P, check, cm, deployment


@check("apply.create")
def _(t):
    p = P(t.ns, "configmaps", "x")
    r = t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1"})), ct=APPLY, fieldManager="one")
    t.code(r, 201)
    mf = r.json["metadata"]["managedFields"]
    t.eq(len(mf), 1, "entries")
    t.eq(
        (mf[0]["manager"], mf[0]["operation"], mf[0]["apiVersion"], mf[0]["fieldsType"], mf[0]["fieldsV1"]),
        ("one", "Apply", "v1", "FieldsV1", {"f:data": {"f:a": {}}}),
        "managedFields",
    )


@check("apply.requires_field_manager")
def _(t):
    r = t.api.patch(P(t.ns, "configmaps", "x"), yaml.safe_dump(cm("x")), ct=APPLY)
    t.status(
        r,
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        {
            "group": "meta.k8s.io",
            "kind": "PatchOptions",
            "causes": [
                {
                    "reason": "FieldValueRequired",
                    "message": "Required value: is required for apply patch",
                    "field": "fieldManager",
                }
            ],
        },
    )


@check("apply.reapply_is_noop")
def _(t):
    p = P(t.ns, "configmaps", "x")
    a = t.code(t.api.patch(p, yaml.safe_dump(cm("x")), ct=APPLY, fieldManager="one"), 201).json
    b = t.code(t.api.patch(p, yaml.safe_dump(cm("x")), ct=APPLY, fieldManager="one"), 200).json
    t.eq(a, b, "second apply")


@check("apply.removes_owned_fields")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1", "b": "2"})), ct=APPLY, fieldManager="one"), 201)
    b = t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1"})), ct=APPLY, fieldManager="one"), 200).json
    t.eq(b["data"], {"a": "1"}, "data")


@check("apply.conflict")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1"})), ct=APPLY, fieldManager="one"), 201)
    r = t.api.patch(p, yaml.safe_dump(cm("x", {"a": "2"})), ct=APPLY, fieldManager="two")
    t.status(
        r,
        409,
        "Conflict",
        'Apply failed with 1 conflict: conflict with "one": .data.a',
        {"causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"}]},
    )


@check("apply.force")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1"})), ct=APPLY, fieldManager="one"), 201)
    b = t.code(
        t.api.patch(p, yaml.safe_dump(cm("x", {"a": "2"})), ct=APPLY, fieldManager="two", force="true"), 200
    ).json
    t.eq(b["data"], {"a": "2"}, "data")
    t.eq([m["manager"] for m in b["metadata"]["managedFields"]], ["two"], "managers left")


@check("apply.shared_ownership")
def _(t):
    p = P(t.ns, "configmaps", "x")
    t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1"})), ct=APPLY, fieldManager="one"), 201)
    b = t.code(t.api.patch(p, yaml.safe_dump(cm("x", {"a": "1", "b": "2"})), ct=APPLY, fieldManager="two"), 200).json
    t.eq(sorted(m["manager"] for m in b["metadata"]["managedFields"]), ["one", "two"], "managers")
    b = t.code(
        t.api.patch(
            p,
            yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}),
            ct=APPLY,
            fieldManager="one",
        ),
        200,
    ).json
    t.eq(b["data"], {"a": "1", "b": "2"}, "a field another manager still owns survives")


@check("apply.update_managed_fields")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x", labels={"l": "1"}), fieldManager="creator")
    mf = o["metadata"]["managedFields"]
    t.eq(
        (len(mf), mf[0]["manager"], mf[0]["operation"], mf[0]["fieldsV1"]),
        (1, "creator", "Update", {"f:data": {".": {}, "f:k": {}}, "f:metadata": {"f:labels": {".": {}, "f:l": {}}}}),
        "after create",
    )
    o = t.make(P(t.ns, "configmaps"), cm("y"))
    t.eq(
        o["metadata"]["managedFields"][0]["manager"],
        "conformance",
        "manager defaults to the User-Agent up to the slash",
    )


@check("apply.conflict_with_update_manager")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x", {"a": "1"}), fieldManager="creator")
    r = t.api.patch(P(t.ns, "configmaps", "x"), yaml.safe_dump(cm("x", {"a": "2"})), ct=APPLY, fieldManager="two")
    t.status(r, 409, "Conflict", match=r'^Apply failed with 1 conflict: conflict with "creator" using v1: \.data\.a$')


@check("apply.list_map_keys")
def _(t):
    b = deployment("d")
    t.code(t.api.patch(A("apps", "v1", t.ns, "deployments", "d"), yaml.safe_dump(b), ct=APPLY, fieldManager="one"), 201)
    side = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "example.com/side:1"}]}}},
    }
    u = t.code(
        t.api.patch(A("apps", "v1", t.ns, "deployments", "d"), yaml.safe_dump(side), ct=APPLY, fieldManager="two"), 200
    ).json
    t.eq([c["name"] for c in u["spec"]["template"]["spec"]["containers"]], ["web", "side"], "containers merged by name")
    m = next(x for x in u["metadata"]["managedFields"] if x["manager"] == "two")["fieldsV1"]
    t.eq(
        list(m["f:spec"]["f:template"]["f:spec"]["f:containers"]), ['k:{"name":"side"}'], "field path of the list item"
    )


@check("apply.custom_resource_and_status")
def _(t):
    g, _p = t.widgets()
    b = t.widget("x", {"size": 2, "ports": [{"port": 1}]})
    r = t.code(t.api.patch(t.W("x"), yaml.safe_dump(b), ct=APPLY, fieldManager="one"), 201)
    t.eq(
        r.json["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:ports"],
        {'k:{"port":1}': {".": {}, "f:port": {}}},
        "list map item",
    )
    b["spec"] = {"size": 2, "ports": [{"port": 2}]}
    r = t.code(t.api.patch(t.W("x"), yaml.safe_dump(b), ct=APPLY, fieldManager="two"), 200)
    t.eq([x["port"] for x in r.json["spec"]["ports"]], [1, 2], "ports merged by key")
    s = {"apiVersion": g + "/v1", "kind": "Widget", "metadata": {"name": "x"}, "status": {"phase": "S"}}
    r = t.code(t.api.patch(t.W("x", "status"), yaml.safe_dump(s), ct=APPLY, fieldManager="st"), 200)
    t.eq(r.json["status"], {"phase": "S"}, "status")
    m = next(x for x in r.json["metadata"]["managedFields"] if x["manager"] == "st")
    t.eq(
        (m["subresource"], m["fieldsV1"]),
        ("status", {"f:status": {"f:phase": {}}}),
        "managedFields of the status apply",
    )


@check("apply.managed_fields_in_body_refused")
def _(t):
    b = cm(
        "x",
        managedFields=[
            {"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}
        ],
    )
    r = t.api.patch(P(t.ns, "configmaps", "x"), yaml.safe_dump(b), ct=APPLY, fieldManager="one")
    t.status(r, 400, "BadRequest", "metadata.managedFields must be nil", "absent")
