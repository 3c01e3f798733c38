"""Conformance checks: Authentication and authorization."""

from checks.framework import P, Skip, check, pod


def _bob(t):
    if not t.args.user_token:
        raise Skip("--user-token not given")
    return t.args.user_token


@check("auth.bad_token_401")
def _(t):
    if not t.api.token:
        raise Skip("server used without a token")
    t.status(
        t.api.get(P("default", "pods"), token="certainly-not-valid"), 401, "Unauthorized", "Unauthorized", "absent"
    )


@check("auth.anonymous_403")
def _(t):
    if not t.api.token:
        raise Skip("server used without a token")
    r = t.api.get("/api/v1/pods", token="")
    t.status(
        r,
        403,
        "Forbidden",
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope',
        {"kind": "pods"},
    )


@check("auth.anonymous_may_read_version")
def _(t):
    for p in ("/version", "/healthz", "/readyz", "/livez"):
        t.code(t.api.get(p, token=""), 200, p)


@check("auth.forbidden_list")
def _(t):
    t.status(
        t.api.get("/apis/apps/v1/deployments", token=_bob(t)),
        403,
        "Forbidden",
        'deployments.apps is forbidden: User "bob" cannot list resource "deployments" in API '
        'group "apps" at the cluster scope',
        {"group": "apps", "kind": "deployments"},
    )


@check("auth.forbidden_get_named")
def _(t):
    r = t.api.get(P("default", "pods", "x"), token=_bob(t))
    t.status(
        r,
        403,
        "Forbidden",
        'pods "x" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "default"',
        {"name": "x", "kind": "pods"},
    )
    t.eq(r.headers.get("X-Content-Type-Options"), "nosniff", "X-Content-Type-Options")


@check("auth.forbidden_watch_is_plain_status")
def _(t):
    t.status(
        t.api.get(P("default", "pods"), watch="1", token=_bob(t)),
        403,
        "Forbidden",
        'pods is forbidden: User "bob" cannot watch resource "pods" in API group "" in the namespace "default"',
    )


@check("auth.forbidden_subresource_and_path")
def _(t):
    t.status(
        t.api.put(P("default", "pods", "x", "status"), pod("x"), token=_bob(t)),
        403,
        "Forbidden",
        'pods "x" is forbidden: User "bob" cannot update resource "pods/status" in API group '
        '"" in the namespace "default"',
    )
    t.status(
        t.api.get("/metrics", token=_bob(t)), 403, "Forbidden", 'forbidden: User "bob" cannot get path "/metrics"', {}
    )


@check("auth.self_subject_access_review")
def _(t):
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"namespace": "default", "verb": "list", "resource": "pods"}},
    }
    r = t.code(t.api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body), 201)
    t.eq(r.json["status"]["allowed"], True, "allowed")
