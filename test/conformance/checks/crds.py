"""Conformance checks: Custom resources and their definitions."""

import re

from checks.framework import CRDS, A, check, crd_body, rnd


@check("crd.established_condition")
def _(t):
    g = "g" + rnd(6) + ".conformance.example.com"
    body = crd_body(g)
    o = t.make(CRDS, body)
    t.cleanups.append(lambda: t.api.delete(CRDS + "/" + body["metadata"]["name"]))
    t.eq(o["status"]["storedVersions"], ["v1"], "storedVersions at create")
    t.eq(o["spec"]["conversion"], {"strategy": "None"}, "conversion default")

    def conds():
        c = {
            x["type"]: x
            for x in t.api.get(CRDS + "/" + body["metadata"]["name"]).json["status"].get("conditions") or []
        }
        return c if c.get("Established", {}).get("status") == "True" else None

    c = t.eventually(conds, "Established")
    t.eq(
        (c["NamesAccepted"]["status"], c["NamesAccepted"]["reason"], c["NamesAccepted"]["message"]),
        ("True", "NoConflicts", "no conflicts found"),
        "NamesAccepted",
    )
    t.eq(
        (c["Established"]["reason"], c["Established"]["message"]),
        ("InitialNamesAccepted", "the initial names have been accepted"),
        "Established",
    )
    st = t.api.get(CRDS + "/" + body["metadata"]["name"]).json["status"]
    t.eq(st["acceptedNames"]["plural"], "widgets", "acceptedNames")


@check("crd.name_must_match")
def _(t):
    b = crd_body("g" + rnd(6) + ".conformance.example.com")
    b["metadata"]["name"] = "wrong.example.com"
    st = t.status(t.api.post(CRDS, b), 422, "Invalid")
    t.eq(st["details"]["causes"][0]["field"], "metadata.name", "field")
    t.ok('must be spec.names.plural+"."+spec.group' in st["message"], "message", st["message"])


@check("crd.schema_required")
def _(t):
    b = crd_body("g" + rnd(6) + ".conformance.example.com")
    del b["spec"]["versions"][0]["schema"]
    st = t.status(t.api.post(CRDS, b), 422, "Invalid")
    t.eq(st["details"]["causes"][0]["field"], "spec.versions[0].schema.openAPIV3Schema", "field")
    t.eq(st["details"]["causes"][0]["reason"], "FieldValueRequired", "reason")


@check("crd.k8s_io_group_needs_approval")
def _(t):
    b = crd_body("g" + rnd(6) + ".k8s.io")
    st = t.status(t.api.post(CRDS, b), 422, "Invalid")
    t.eq(st["details"]["causes"][0]["field"], "metadata.annotations[api-approved.kubernetes.io]", "field")


@check("crd.custom_resource_crud")
def _(t):
    g, _p = t.widgets()
    o = t.make(t.W(), t.widget("x"))
    t.eq((o["apiVersion"], o["kind"], o["metadata"]["namespace"]), (g + "/v1", "Widget", t.ns))
    listed = t.code(t.api.get(t.W()), 200).json
    t.eq((listed["kind"], listed["apiVersion"], len(listed["items"])), ("WidgetList", g + "/v1", 1), "list")
    t.eq(
        (listed["items"][0].get("kind"), listed["items"][0].get("apiVersion")),
        ("Widget", g + "/v1"),
        "custom resources keep kind/apiVersion inside lists",
    )
    o["spec"]["size"] = 4
    u = t.code(t.api.put(t.W("x"), o), 200).json
    t.eq(u["spec"]["size"], 4)
    d = t.code(t.api.delete(t.W("x")), 200).json
    t.eq(
        (d["status"], d["details"]),
        ("Success", {"name": "x", "group": g, "kind": "widgets", "uid": o["metadata"]["uid"]}),
        "delete",
    )


@check("crd.validation_minimum")
def _(t):
    g, _p = t.widgets()
    m = "Invalid value: 0: spec.size in body should be greater than or equal to 1"
    t.status(
        t.api.post(t.W(), t.widget("x", {"size": 0})),
        422,
        "Invalid",
        f'Widget.{g} "x" is invalid: spec.size: {m}',
        {
            "name": "x",
            "group": g,
            "kind": "Widget",
            "causes": [{"reason": "FieldValueInvalid", "message": m, "field": "spec.size"}],
        },
    )


@check("crd.validation_maximum_type_required_enum_pattern")
def _(t):
    for spec, reason, field, msg in (
        (
            {"size": 11},
            "FieldValueInvalid",
            "spec.size",
            "Invalid value: 11: spec.size in body should be less than or equal to 10",
        ),
        (
            {"size": "a"},
            "FieldValueTypeInvalid",
            "spec.size",
            'Invalid value: "string": spec.size in body must be of type integer: "string"',
        ),
        ({"colour": "red"}, "FieldValueRequired", "spec.size", "Required value"),
        (
            {"size": 1, "colour": "pink"},
            "FieldValueNotSupported",
            "spec.colour",
            'Unsupported value: "pink": supported values: "red", "green", "blue"',
        ),
        (
            {"size": 1, "code": "A1"},
            "FieldValueInvalid",
            "spec.code",
            "Invalid value: \"A1\": spec.code in body should match '^[a-z]+$'",
        ),
        ({"size": 1, "code": "abcdef"}, "FieldValueTooLong", "spec.code", "Too long: may not be more than 5 bytes"),
        (
            {"size": 1, "either": []},
            "FieldValueTypeInvalid",
            "spec.either",
            'Invalid value: "array": spec.either in body must be of type integer,string: "array"',
        ),
    ):
        st = t.status(t.api.post(t.W(), t.widget("x", spec)), 422, "Invalid")
        c = st["details"]["causes"][0]
        t.eq((c["reason"], c["field"], c["message"]), (reason, field, msg), f"cause for {spec}")


@check("crd.validation_multiple_causes")
def _(t):
    st = t.status(t.api.post(t.W(), t.widget("x", {"size": 0, "colour": "pink"})), 422, "Invalid")
    t.eq(sorted(c["field"] for c in st["details"]["causes"]), ["spec.colour", "spec.size"], "fields")
    t.ok(re.search(r"is invalid: \[spec\..*, spec\..*\]$", st["message"]), "message in brackets", st["message"])


@check("crd.validation_list_map_duplicates")
def _(t):
    st = t.status(t.api.post(t.W(), t.widget("x", {"size": 1, "ports": [{"port": 1}, {"port": 1}]})), 422, "Invalid")
    c = st["details"]["causes"][0]
    t.eq(
        (c["reason"], c["field"], c["message"]),
        ("FieldValueDuplicate", "spec.ports[1]", 'Duplicate value: {"port":1}'),
        "cause",
    )


@check("crd.validation_on_patch")
def _(t):
    t.make(t.W(), t.widget("x"))
    st = t.status(t.api.patch(t.W("x"), {"spec": {"size": 99}}), 422, "Invalid")
    t.eq(st["details"]["causes"][0]["field"], "spec.size", "field")


@check("crd.pruning")
def _(t):
    o = t.make(
        t.W(), t.widget("x", {"size": 1, "bogus": 1, "nest": {"bad": 2, "level": 1}, "free": {"kept": {"deep": [1]}}})
    )
    t.ok("bogus" not in o["spec"], "unknown field", o["spec"], "pruned")
    t.eq((o["spec"]["nest"], o["spec"]["free"]), ({"level": 1}, {"kept": {"deep": [1]}}), "nested")


@check("crd.pruning_strict_and_warn")
def _(t):
    w = t.widget("x", {"size": 1, "bogus": 1})
    t.status(
        t.api.post(t.W(), w, fieldValidation="Strict"),
        400,
        "BadRequest",
        match='strict decoding error: unknown field "spec.bogus"',
    )
    r = t.code(t.api.post(t.W(), w, fieldValidation="Warn"), 201)
    t.eq(r.headers.get("Warning"), '299 - "unknown field \\"spec.bogus\\""', "Warning")


@check("crd.defaulting")
def _(t):
    o = t.make(t.W(), t.widget("x", {"size": 1, "nest": {}}))
    t.eq((o["spec"]["colour"], o["spec"]["nest"]), ("red", {"level": 7}), "defaults")
    o = t.make(t.W(), t.widget("y", {"size": 1}))
    t.ok("nest" not in o["spec"], "defaults inside an absent parent", o["spec"], "absent")
    o = t.make(t.W(), t.widget("z", {"size": 1, "colour": None}))
    t.eq(o["spec"]["colour"], "red", "null is defaulted when not nullable")


@check("crd.wrong_apiversion_in_body")
def _(t):
    g, _p = t.widgets()
    b = t.widget("x")
    b["apiVersion"] = g + "/v2"
    t.status(
        t.api.post(t.W(), b),
        400,
        "BadRequest",
        f"the API version in the data ({g}/v2) does not match the expected API version ({g}/v1)",
        "absent",
    )


@check("crd.wrong_kind_in_body")
def _(t):
    b = t.widget("x")
    b["kind"] = "Gadget"
    g, _p = t.widgets()
    t.status(
        t.api.post(t.W(), b),
        422,
        "Invalid",
        f'Gadget.{g} "x" is invalid: kind: Invalid value: "Gadget": must be Widget',
    )


@check("crd.missing_kind_in_body")
def _(t):
    b = t.widget("x")
    del b["kind"]
    t.status(t.api.post(t.W(), b), 400, "BadRequest", match="Object 'Kind' is missing in ")


@check("crd.delete_removes_resources")
def _(t):
    g, plural = t.crd()
    p = A(g, "v1", t.ns, plural)
    t.make(p, {"apiVersion": g + "/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {"size": 1}})
    t.code(t.api.delete(CRDS + "/widgets." + g), 200)
    t.eventually(lambda: t.api.get(CRDS + "/widgets." + g).code == 404, "CRD gone")
    t.eventually(lambda: t.api.get(p).code == 404, "collection gone")
