"""Conformance checks: The errors of invalid requests."""

from checks.framework import STRATEGIC, A, P, check, cm, deployment, pod, rnd


@check("errors.notfound_object")
def _(t):
    t.status(
        t.api.get(P(t.ns, "pods", "nope")), 404, "NotFound", 'pods "nope" not found', {"name": "nope", "kind": "pods"}
    )


@check("errors.notfound_group_in_details")
def _(t):
    t.status(
        t.api.get(A("apps", "v1", t.ns, "deployments", "nope")),
        404,
        "NotFound",
        'deployments.apps "nope" not found',
        {"name": "nope", "group": "apps", "kind": "deployments"},
    )


@check("errors.notfound_custom_resource")
def _(t):
    g, _p = t.widgets()
    t.status(
        t.api.get(t.W("nope")),
        404,
        "NotFound",
        f'widgets.{g} "nope" not found',
        {"name": "nope", "group": g, "kind": "widgets"},
    )


@check("errors.notfound_on_delete_put_patch")
def _(t):
    p = P(t.ns, "configmaps", "nope")
    d = {"name": "nope", "kind": "configmaps"}
    t.status(t.api.delete(p), 404, "NotFound", 'configmaps "nope" not found', d)
    t.status(t.api.put(p, cm("nope", resourceVersion="1")), 404, "NotFound", 'configmaps "nope" not found', d)
    t.status(t.api.patch(p, {"data": {"a": "b"}}), 404, "NotFound", 'configmaps "nope" not found', d)


@check("errors.unknown_resource_known_version")
def _(t):
    want = "the server could not find the requested resource"
    t.status(t.api.get("/api/v1/nopes"), 404, "NotFound", want, {})
    t.status(t.api.get("/apis/apps/v1/nopes"), 404, "NotFound", want, {})
    t.status(t.api.get("/apis/apps/v9/deployments"), 404, "NotFound", want, {})


@check("errors.unknown_group_is_plain_text")
def _(t):
    for p in ("/apis/nope.example.com/v1", "/apis/nope.example.com/v1/foos", "/nope"):
        r = t.code(t.api.get(p), 404, p)
        t.eq(r.text, "404 page not found\n", "body of " + p)
        t.ok(r.ctype.startswith("text/plain"), "content type", r.ctype, "text/plain")


@check("errors.unknown_resource_in_crd_group")
def _(t):
    g, _p = t.widgets()
    r = t.code(t.api.get(f"/apis/{g}/v1/gadgets"), 404)
    t.eq(r.text, "404 page not found\n", "body")
    r = t.code(t.api.get(f"/apis/{g}/v7/widgets"), 404)
    t.eq(r.text, "404 page not found\n", "body")


@check("errors.unsupported_media_type_create")
def _(t):
    t.status(
        t.api.post(P(t.ns, "configmaps"), "a: b", ct="text/plain"),
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        "absent",
    )


@check("errors.unsupported_media_type_patch")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    t.status(
        t.api.patch(P(t.ns, "configmaps", "x"), {}, ct="application/json"),
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
        {},
    )


@check("errors.strategic_patch_on_custom_resource")
def _(t):
    t.make(t.W(), t.widget("x"))
    t.status(
        t.api.patch(t.W("x"), {"spec": {"size": 4}}, ct=STRATEGIC),
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
        "absent",
    )


@check("errors.not_acceptable")
def _(t):
    r = t.api.get(P(t.ns, "configmaps"), headers={"Accept": "text/html"})
    t.status(
        r,
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json, "
        "application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, "
        "application/vnd.kubernetes.protobuf;stream=watch",
    )


@check("errors.bad_json")
def _(t):
    t.status(
        t.api.post(P(t.ns, "configmaps"), "{bad"),
        400,
        "BadRequest",
        match="couldn't get version/kind; json parse error: "
        "invalid character 'b' looking for beginning of object key string",
    )


@check("errors.wrong_kind")
def _(t):
    t.status(
        t.api.post(P(t.ns, "configmaps"), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}),
        400,
        "BadRequest",
        match='^Secret in version "v1" cannot be handled as a ConfigMap',
    )


@check("errors.wrong_field_type")
def _(t):
    b = pod("x")
    b["spec"]["containers"] = "notalist"
    t.status(
        t.api.post(P(t.ns, "pods"), b),
        400,
        "BadRequest",
        match=r"^Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field "
        r"PodSpec.spec.containers of type \[\]v1.Container$",
    )


@check("errors.namespace_mismatch")
def _(t):
    t.status(
        t.api.post(P(t.ns, "configmaps"), cm("x", namespace="other")),
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
        "absent",
    )


@check("errors.name_mismatch_put")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    o["metadata"]["name"] = "y"
    t.status(
        t.api.put(P(t.ns, "configmaps", "x"), o),
        400,
        "BadRequest",
        "the name of the object (y) does not match the name on the URL (x)",
        "absent",
    )


@check("errors.missing_namespace_404")
def _(t):
    n = "missing-" + rnd()
    t.status(
        t.api.post(P(n, "configmaps"), cm("x")),
        404,
        "NotFound",
        f'namespaces "{n}" not found',
        {"name": n, "kind": "namespaces"},
    )
    b = t.code(t.api.get(P(n, "configmaps")), 200, "list in a missing namespace").json
    t.eq(b["items"], [], "items")


@check("errors.already_exists")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    t.status(
        t.api.post(P(t.ns, "configmaps"), cm("x")),
        409,
        "AlreadyExists",
        'configmaps "x" already exists',
        {"name": "x", "kind": "configmaps"},
    )


@check("errors.already_exists_group")
def _(t):
    t.make(A("apps", "v1", t.ns, "deployments"), deployment("x"))
    t.status(
        t.api.post(A("apps", "v1", t.ns, "deployments"), deployment("x")),
        409,
        "AlreadyExists",
        'deployments.apps "x" already exists',
        {"name": "x", "group": "apps", "kind": "deployments"},
    )


SUBDOMAIN = (
    'Invalid value: "%s": a lowercase RFC 1123 subdomain must consist of lower case '
    "alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@check("errors.invalid_name")
def _(t):
    m = SUBDOMAIN % "Bad_Name"
    t.status(
        t.api.post(P(t.ns, "configmaps"), cm("Bad_Name")),
        422,
        "Invalid",
        'ConfigMap "Bad_Name" is invalid: metadata.name: ' + m,
        {
            "name": "Bad_Name",
            "kind": "ConfigMap",
            "causes": [{"reason": "FieldValueInvalid", "message": m, "field": "metadata.name"}],
        },
    )


@check("errors.missing_name")
def _(t):
    m = "Required value: name or generateName is required"
    t.status(
        t.api.post(P(t.ns, "configmaps"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: ' + m,
        {"kind": "ConfigMap", "causes": [{"reason": "FieldValueRequired", "message": m, "field": "metadata.name"}]},
    )


@check("errors.several_causes")
def _(t):
    b = t.status(
        t.api.post(
            P(t.ns, "pods"),
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{}]}},
        ),
        422,
        "Invalid",
    )
    t.eq(
        [c["field"] for c in b["details"]["causes"]],
        ["spec.containers[0].name", "spec.containers[0].image"],
        "cause fields",
    )
    t.eq(
        b["message"],
        'Pod "x" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]',
        "message",
    )


@check("errors.invalid_label_value")
def _(t):
    b = t.status(t.api.post(P(t.ns, "configmaps"), cm("x", labels={"a": "b c"})), 422, "Invalid")
    t.eq(b["details"]["causes"][0]["field"], "metadata.labels", "field")
    t.ok(
        b["details"]["causes"][0]["message"].startswith(
            'Invalid value: "b c": a valid label must be an empty string or consist of'
        ),
        "message",
        b["details"]["causes"][0]["message"],
    )


@check("errors.method_not_allowed")
def _(t):
    want = "the server does not allow this method on the requested resource"
    t.status(t.api.put(P(t.ns, "configmaps"), cm("x")), 405, "MethodNotAllowed", want, {})
    t.status(t.api.post(P(t.ns, "configmaps", "x"), cm("x")), 405, "MethodNotAllowed", want, {})


@check("errors.wrong_method_custom_resource")
def _(t):
    t.status(t.api.put(t.W(), t.widget("x")), 400, "BadRequest", "name must be provided", "absent")
    t.code(t.api.post(t.W("x"), t.widget("x")), 201, "POST to a named custom resource (creates it)")


@check("errors.unknown_field_dropped_with_warning")
def _(t):
    b = cm("x")
    b["bogus"] = 1
    r = t.code(t.api.post(P(t.ns, "configmaps"), b), 201)
    t.ok("bogus" not in r.json, "unknown field", r.json)
    t.eq(
        r.headers.get("Warning"),
        '299 - "unknown field \\"bogus\\""',
        "Warning header (fieldValidation defaults to Warn)",
    )
    r = t.code(t.api.patch(P(t.ns, "configmaps", "x"), {"bogus": 2}, fieldValidation="Ignore"), 200)
    t.eq(r.headers.get("Warning"), None, "Warning header with Ignore")


@check("errors.field_validation_strict")
def _(t):
    b = cm("x")
    b["bogus"] = 1
    t.status(
        t.api.post(P(t.ns, "configmaps"), b, fieldValidation="Strict"),
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "bogus"',
        "absent",
    )


@check("errors.field_validation_warn")
def _(t):
    b = cm("x")
    b["bogus"] = 1
    r = t.code(t.api.post(P(t.ns, "configmaps"), b, fieldValidation="Warn"), 201)
    t.eq(r.headers.get("Warning"), '299 - "unknown field \\"bogus\\""', "Warning header")
