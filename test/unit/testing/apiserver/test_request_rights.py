"""The rights that a request needs: those of its verb, as kube-apiserver computes it, and of all else that it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from apiclient import Api, let_bob

from clientgo.testing.apiserver import Environment, Server
from clientgo.testing.apiserver.access import routing
from clientgo.testing.apiserver.wire.http import Request

Json = dict[str, Any]
GROUP = "rbac.authorization.k8s.io"
RBAC = f"/apis/{GROUP}/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
APPLY = "application/apply-patch+yaml"


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def on(resources: str, *verbs: str, group: str = "", names: tuple[str, ...] = ()) -> Json:
    rule: Json = {"apiGroups": [group], "resources": [resources], "verbs": list(verbs)}
    return rule | ({"resourceNames": list(names)} if names else {})


METHODS = ("LIST", "WATCH", "DELETECOLLECTION", "CREATE", "UPDATE", "GETS", "list", "get", "Get", "PROXY", "CONNECT")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", [MAPS, f"{MAPS}/mine", "/api/v1/namespaces", "/apis/apps/v1/deployments"])
def test_an_unknown_method_has_no_verb(method: str, path: str) -> None:
    info = routing.parse(method, path, False)
    assert info is not None
    assert info.verb == ""


@pytest.mark.parametrize("method", ["LIST", "DELETECOLLECTION", "WATCH"])
def test_a_method_named_after_a_verb_reaches_nothing(api: Api, method: str) -> None:
    for name in ("mine", "other"):
        api("POST", MAPS, {"metadata": {"name": name}}, want=201)
    everything = on("configmaps", "get", "list", "watch", "delete", "deletecollection", names=("mine",))
    let_bob(api, everything, on("configmaps", "get"))
    for path in (MAPS, f"{MAPS}?fieldSelector=metadata.name=mine", f"{MAPS}/mine", "/api/v1/configmaps"):
        assert api.request(method, path, None, "application/json").status_code in (403, 405)
    assert {each["metadata"]["name"] for each in _all(api)} >= {"mine", "other"}


def _all(api: Api) -> list[Json]:
    del api.session.headers["Impersonate-User"]
    return _list(api)


def _list(api: Api) -> list[Json]:
    found: list[Json] = api("GET", MAPS, want=200)["items"]
    return found


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "POST", "REPORT"])
@pytest.mark.parametrize(
    "path", ["/configmaps", "/namespaces/default/configmaps", "/namespaces/default/configmaps/mine"]
)
def test_the_verb_below_watch_is_watch(method: str, path: str) -> None:
    info = routing.parse(method, f"/api/v1/watch{path}", False)
    assert info is not None
    assert (info.verb, info.resource) == ("watch", "configmaps")


def test_nothing_is_written_through_the_path_of_a_watch(api: Api) -> None:
    api("POST", MAPS, {"metadata": {"name": "mine"}}, want=201)
    path = "/api/v1/watch/namespaces/default/configmaps"
    api("DELETE", f"{path}/mine", want=405)
    api("PUT", f"{path}/mine", {"metadata": {"name": "mine"}, "data": {"a": "b"}}, want=405)
    api("POST", path, {"metadata": {"name": "other"}}, want=405)
    api("DELETE", path, want=405)
    (left,) = (each for each in _list(api) if each["metadata"]["name"] != "kube-root-ca.crt")
    assert left["metadata"]["name"] == "mine"
    assert "data" not in left


def test_a_master_is_told_that_an_unknown_method_is_not_allowed(api: Api) -> None:
    assert api.request("LIST", MAPS, None, "application/json").status_code == 405


def test_resource_names_do_not_allow_the_deletion_of_a_collection(api: Api) -> None:
    """Go takes the name out of a field selector for lists and watches alone."""
    let_bob(api, on("configmaps", "deletecollection", "list", names=("mine",)))
    selected = f"{MAPS}?fieldSelector=metadata.name=mine"
    api("GET", selected, want=200)
    api("DELETE", selected, want=403)


def test_owners_may_be_blocked_without_a_right_on_their_finalizers(api: Api) -> None:
    """kube-apiserver does not enable OwnerReferencesPermissionEnforcement by default."""
    owner = api("POST", MAPS, {"metadata": {"name": "owner"}}, want=201)
    let_bob(api, on("configmaps", "create", "patch"))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    metadata = {"name": "owned", "ownerReferences": [{**reference, "blockOwnerDeletion": True}]}
    api("POST", MAPS, {"metadata": metadata}, want=201)
    api("PATCH", f"{MAPS}/owned", {"metadata": metadata}, media="application/merge-patch+json", want=200)
    with pytest.raises(ValueError, match="admission-plugin 'OwnerReferencesPermissionEnforcement' is unknown"):
        Server(enable_admission_plugins=["OwnerReferencesPermissionEnforcement"])


# ---- requests that do two things

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
FORBIDDEN = 'leases.coordination.k8s.io "new" is forbidden: User "bob" cannot create resource "leases" in API group '


@pytest.mark.parametrize(
    ("method", "media", "verb"), [("PUT", "application/json", "update"), ("PATCH", APPLY, "patch")]
)
def test_a_write_that_creates_needs_the_right_to_create(api: Api, method: str, media: str, verb: str) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new"}}
    path = f"{LEASES}/new?fieldManager=me"
    let_bob(api, on("leases", verb, "get", group="coordination.k8s.io"))

    refused = api(method, path, lease, media=media, want=403)
    assert refused["message"].startswith(FORBIDDEN)
    assert refused["reason"] == "Forbidden"
    api("GET", f"{LEASES}/new", want=404)
    # Not even to try it.
    api(method, f"{path}&dryRun=All", lease, media=media, want=403)

    del api.session.headers["Impersonate-User"]
    lease = api("POST", LEASES, lease, want=201)
    lease["metadata"].pop("managedFields", None)
    api.session.headers["Impersonate-User"] = "bob"
    api(method, path, lease, media=media, want=200)


@pytest.mark.parametrize(
    ("method", "media", "verb"), [("PUT", "application/json", "update"), ("PATCH", APPLY, "patch")]
)
def test_with_the_right_to_create_it_is_created(api: Api, method: str, media: str, verb: str) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new"}}
    let_bob(api, on("leases", verb, "create", group="coordination.k8s.io"))
    api(method, f"{LEASES}/new?fieldManager=me", lease, media=media, want=201)


NODE = "/apis/node.k8s.io/v1/runtimeclasses"
READER = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
CREATED_BY_PUT = [
    (f"{RBAC}/namespaces/default/roles", {"rules": [READER]}),
    (f"{RBAC}/clusterroles", {"rules": [READER]}),
    (f"{RBAC}/namespaces/default/rolebindings", {"roleRef": {"kind": "ClusterRole", "name": "view"}}),
    (f"{RBAC}/clusterrolebindings", {"roleRef": {"kind": "ClusterRole", "name": "view"}}),
    (NODE, {"handler": "runc"}),
    ("/api/v1/namespaces/default/services", {"spec": {"ports": [{"port": 80}]}}),
    ("/api/v1/namespaces/default/endpoints", {}),
    ("/api/v1/namespaces/default/limitranges", {"spec": {"limits": []}}),
]


@pytest.mark.parametrize(("path", "fields"), CREATED_BY_PUT)
def test_a_put_of_an_absent_object_creates_it_with_the_right_to_create(api: Api, path: str, fields: Json) -> None:
    """These are the kinds for which Go's strategies allow a creation on update."""
    plural = path.rpartition("/")[2]
    group = path.split("/")[2] if path.startswith("/apis/") else ""
    # Bob has the rights that he grants, so that only the right to create is missing.
    every = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    obj = {"metadata": {"name": "new"}, **fields}
    let_bob(api, on(plural, "update", "bind", group=group), on("clusterroles", "bind", group=GROUP), every)
    refused = api("PUT", f"{path}/new", obj, want=403)
    assert f'User "bob" cannot create resource "{plural}"' in refused["message"]
    api("PUT", f"{path}/new?dryRun=All", obj, want=403)
    api("GET", f"{path}/new", want=404)

    del api.session.headers["Impersonate-User"]
    made = api("PUT", f"{path}/new", obj, want=201)
    assert api("GET", f"{path}/new", want=200)["metadata"]["uid"] == made["metadata"]["uid"]


@pytest.mark.parametrize("plural", ["roles", "rolebindings"])
def test_a_put_that_creates_a_role_grants_only_what_its_writer_has(api: Api, plural: str) -> None:
    let_bob(api, on(plural, "update", "create", group=GROUP))
    fields = {"rules": [READER]} if plural == "roles" else {"roleRef": {"kind": "ClusterRole", "name": "view"}}
    refused = api("PUT", f"{RBAC}/namespaces/default/{plural}/new", {"metadata": {"name": "new"}, **fields}, want=403)
    assert "is attempting to grant RBAC permissions not currently held" in refused["message"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [(MAPS, {}), ("/api/v1/namespaces/default/secrets", {}), ("/apis/apps/v1/namespaces/default/controllerrevisions",
      {"revision": 1})],
)  # fmt: skip
def test_a_put_of_most_absent_objects_creates_nothing(api: Api, path: str, fields: Json) -> None:
    api("PUT", f"{path}/new", {"metadata": {"name": "new"}, **fields}, want=404)


def test_the_right_to_create_some_names_is_enough_for_them(api: Api) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new"}}
    let_bob(
        api,
        on("leases", "patch", group="coordination.k8s.io"),
        on("leases", "create", group="coordination.k8s.io", names=("new",)),
    )
    api("PATCH", f"{LEASES}/new?fieldManager=me", lease, media=APPLY, want=201)
    lease["metadata"] = {"name": "other"}
    api("PATCH", f"{LEASES}/other?fieldManager=me", lease, media=APPLY, want=403)


def test_an_apply_of_a_custom_resource_that_creates_needs_the_right_to_create(api: Api) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "things", "kind": "Thing"}
    crd = {
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, want=201)
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "new"}}
    let_bob(api, on("things", "patch", group="example.com"))
    path = "/apis/example.com/v1/namespaces/default/things/new?fieldManager=me"
    api("PATCH", path, thing, media=APPLY, want=403)


# ---- booleans of queries

TRUE = ("true", "True", "1", "", "yes", "no", "2", "FALSE0", "0.0", " false")
FALSE = ("false", "False", "FALSE", "fALSE", "0")


@pytest.mark.parametrize(("text", "wanted"), [*((text, True) for text in TRUE), *((text, False) for text in FALSE)])
def test_all_but_0_and_false_is_true(text: str, wanted: bool) -> None:
    """Go: TestConvertSliceStringToBool"""
    assert Request("GET", f"/?watch={quote(text)}", {}).flag("watch") is wanted
    assert Request("GET", f"/?watch={quote(text)}&watch={'false' if wanted else 'true'}", {}).flag("watch") is wanted


def test_a_boolean_that_is_absent_is_false() -> None:
    assert Request("GET", "/?other=true", {}).flag("watch") is False


@pytest.mark.parametrize("text", FALSE)
def test_a_list_that_is_asked_not_to_watch_is_a_list(api: Api, text: str) -> None:
    let_bob(api, on("configmaps", "list"))
    assert api("GET", f"{MAPS}?watch={text}", want=200)["kind"] == "ConfigMapList"


def test_an_empty_watch_is_a_watch(api: Api) -> None:
    let_bob(api, on("configmaps", "list"))
    assert 'cannot watch resource "configmaps"' in api("GET", f"{MAPS}?watch=&timeoutSeconds=1", want=403)["message"]


@pytest.mark.parametrize(
    ("text", "wanted"), [("true", True), ("1", True), ("T", True), ("yes", False), ("0", False), ("False", False)]
)
def test_pretty_is_read_as_go_reads_booleans_elsewhere(api: Api, text: str, wanted: bool) -> None:
    response = api.request("GET", f"{MAPS}?pretty={text}", None, "application/json")
    assert ("\n  " in response.text) is wanted


# ---- one request, two actions


@pytest.mark.parametrize("subresource", ["exec?command=ls", "attach", "portforward?ports=80"])
def test_a_stream_that_begins_with_get_needs_the_right_to_create(api: Api, subresource: str) -> None:
    """Go: TestEnsureAuthorizedForVerb. A WebSocket begins with GET, SPDY with POST; both start the same."""
    spec = {"containers": [{"name": "c", "image": "i"}]}
    for name in ("mine", "other"):
        api("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": spec}, want=201)
    path, _, query = subresource.partition("?")
    resource = f"pods/{path}"
    let_bob(api, on(resource, "get"), on(resource, "create", names=("mine",)))

    def connect(name: str) -> tuple[int, str]:
        response = api.request("GET", f"/api/v1/namespaces/default/pods/{name}/{path}?{query}")
        return response.status_code, response.json()["message"]

    assert connect("other") == (403, 'pods "other" is forbidden: ')
    assert connect("mine") == (400, "pod mine does not have a host assigned")


def test_a_proxy_needs_only_the_right_of_its_method(api: Api) -> None:
    let_bob(api, on("services/proxy", "get"))
    response = api.request("GET", "/api/v1/namespaces/default/services/none/proxy")
    assert response.status_code == 404


def test_a_gate_turns_the_second_right_of_a_stream_off() -> None:
    with Environment(feature_gates={"AuthorizePodWebsocketUpgradeCreatePermission": False}) as env:
        api = Api(env)
        let_bob(api, on("pods/exec", "get"))
        assert api.request("GET", "/api/v1/namespaces/default/pods/none/exec?command=ls").status_code == 404
        api.close()


POLICY_GROUP = "/apis/admissionregistration.k8s.io/v1"
VARIANTS = ("validating", "mutating")
BOB = "&{bob  [system:authenticated] map[]}"


def _policy(variant: str, kind: Json | None) -> Json:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec: Json = {"matchConstraints": {"resourceRules": [rule]}, **({"paramKind": kind} if kind else {})}
    if variant == "validating":
        spec["validations"] = [{"expression": "true"}]
    else:
        spec |= {"failurePolicy": "Fail", "reinvocationPolicy": "Never"}
        expression = 'Object{metadata: Object.metadata{labels: {"a": "b"}}}'
        spec["mutations"] = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]
    return {"metadata": {"name": "p"}, "spec": spec}


def _binding(variant: str, reference: Json | None, policy: str = "p") -> Json:
    spec: Json = {"policyName": policy, **({"paramRef": reference} if reference else {})}
    if variant == "validating":
        spec["validationActions"] = ["Deny"]
    return {"metadata": {"name": "b"}, "spec": spec}


def _policies(variant: str, plural: str = "policies") -> str:
    return f"{POLICY_GROUP}/{variant}admission{plural}"


SECRETS = {"apiVersion": "v1", "kind": "Secret"}
UNKNOWN = {"apiVersion": "example.com/v1", "kind": "Nothing"}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("kind", "rule", "allowed"),
    [
        (None, on("pods", "get"), True),
        (SECRETS, on("pods", "get"), False),
        (SECRETS, on("secrets", "list", "watch"), False),
        (SECRETS, on("secrets", "get", names=("one",)), False),
        (SECRETS, on("secrets/status", "get"), False),
        (SECRETS, on("secrets", "get", group="apps"), False),
        (SECRETS, on("secrets", "get"), True),
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, on("deployments", "get", group="apps"), True),
        (UNKNOWN, on("nothings", "get", group="example.com"), False),
        (UNKNOWN, on("*", "get", group="example.com"), True),
        ({"apiVersion": "a/b/c", "kind": "Nothing"}, on("*", "get", group="a"), False),
        ({"apiVersion": "a/b/c", "kind": "Nothing"}, on("*", "get", group="*"), True),
    ],
)
def test_a_policy_reads_only_kinds_that_its_writer_may_read(
    api: Api, variant: str, kind: Json | None, rule: Json, allowed: bool
) -> None:
    policies = on("*", "create", "update", "patch", group="admissionregistration.k8s.io")
    let_bob(api, policies, rule)
    answer = api("POST", _policies(variant), _policy(variant, kind))
    if allowed:
        assert answer["kind"].endswith("AdmissionPolicy"), answer
        return
    assert kind is not None
    assert answer["code"] == 422
    assert answer["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": f'Forbidden: user {BOB} must have "get" permission on all objects of the referenced paramKind '
            f"(kind={kind['kind']}, apiVersion={kind['apiVersion']})",
            "field": "spec.paramKind",
        }
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_update_of_a_policy_is_checked_when_it_changes_the_kind(api: Api, variant: str) -> None:
    api("POST", _policies(variant), _policy(variant, SECRETS), want=201)
    let_bob(api, on("*", "create", "update", "patch", group="admissionregistration.k8s.io"))
    path, merge = f"{_policies(variant)}/p", "application/merge-patch+json"
    api("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, want=200, media=merge)
    api("PATCH", path, {"spec": {"paramKind": {"kind": "Pod"}}}, want=422, media=merge)
    whole = {"apiVersion": "admissionregistration.k8s.io/v1", **_policy(variant, {"apiVersion": "v1", "kind": "Node"})}
    whole["kind"] = f"{variant.title()}AdmissionPolicy"
    api("PATCH", f"{path}?fieldManager=m&force=true", whole, want=422, media=APPLY)
    api("PATCH", path, {"spec": {"paramKind": None}}, want=200, media=merge)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("reference", "rule", "missing"),
    [
        ({"name": "one", "namespace": "default"}, on("secrets", "get", names=("one",)), ""),
        ({"name": "one"}, on("secrets", "get"), ""),
        ({"name": "one"}, on("secrets", "list"), "get"),
        ({"name": "one"}, on("secrets", "get", names=("two",)), "get"),
        ({"selector": {}}, on("secrets", "get"), "list"),
        ({"selector": {"matchLabels": {"a": "b"}}}, on("secrets", "list"), ""),
    ],
)
def test_a_binding_refers_to_what_its_writer_may_read(
    api: Api, variant: str, reference: Json, rule: Json, missing: str
) -> None:
    api("POST", _policies(variant), _policy(variant, SECRETS), want=201)
    let_bob(api, on("*", "create", "update", "patch", group="admissionregistration.k8s.io"), rule)
    reference = {**reference, "parameterNotFoundAction": "Deny"}
    answer = api("POST", _policies(variant, "policybindings"), _binding(variant, reference))
    if not missing:
        assert answer["kind"].endswith("Binding"), answer
        return
    text = f'Forbidden: user {BOB} does not have "{missing}" permission on the object referenced by paramRef'
    assert answer["details"]["causes"] == [
        {"reason": "FieldValueForbidden", "message": text, "field": "spec.paramRef"}
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_binding_to_an_unknown_policy_or_kind_needs_the_right_to_read_all(api: Api, variant: str) -> None:
    api("POST", _policies(variant), _policy(variant, UNKNOWN), want=201)
    let_bob(api, on("*", "create", "update", group="admissionregistration.k8s.io"), on("secrets", "get"))
    bindings, reference = _policies(variant, "policybindings"), {"name": "one", "parameterNotFoundAction": "Deny"}
    rest = (
        f"to determine minimum required permissions and user {BOB} does not have "
        '"get" permission for all groups, versions and resources'
    )
    for policy, text in (("none", "unable to get policy none"), ("p", "unable to resolve paramKind")):
        message = api("POST", bindings, _binding(variant, reference, policy), want=422)["message"]
        assert text in message
        assert rest in message


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_binding_that_reads_the_same_may_be_changed(api: Api, variant: str) -> None:
    api("POST", _policies(variant), _policy(variant, SECRETS), want=201)
    reference = {"name": "one", "parameterNotFoundAction": "Deny"}
    bindings, merge = _policies(variant, "policybindings"), "application/merge-patch+json"
    api("POST", bindings, _binding(variant, reference), want=201)
    let_bob(api, on("*", "create", "update", "patch", group="admissionregistration.k8s.io"))
    path = f"{bindings}/b"
    api("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, want=200, media=merge)
    api("PATCH", path, {"spec": {"policyName": "q"}}, want=422, media=merge)
    api("PATCH", path, {"spec": {"paramRef": {"name": "two"}}}, want=422, media=merge)
    api("PATCH", path, {"spec": {"paramRef": None}}, want=200, media=merge)
