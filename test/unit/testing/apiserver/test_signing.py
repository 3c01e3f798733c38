"""Certificate signing requests and tokens: who asks is who is authenticated; approval writes a decision only."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api
from signingrequests import request_pem

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.kinds.validation import certificates

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def test_a_request_is_made_by_who_makes_it_and_decided_by_approval(api: Api) -> None:
    spec = {
        "request": request_pem("CN=a"),
        "signerName": "example.com/signer",
        "usages": ["client auth"],
        "username": "somebody",
    }
    made = api("POST", REQUESTS, {"metadata": {"name": "r"}, "spec": spec}, want=201)
    assert made["spec"]["username"] == "kubernetes-admin"
    assert "system:masters" in made["spec"]["groups"]
    condition = {"type": "Approved", "status": "True", "reason": "Fine", "message": "really"}
    decision = {**made, "spec": {**spec, "request": "YmFy"}, "status": {"conditions": [condition, {"type": "Failed"}]}}
    decided = api("PUT", f"{REQUESTS}/r/approval", decision, want=200)
    assert decided["spec"] == made["spec"]
    (known,) = decided["status"]["conditions"]
    assert known.items() >= condition.items()
    assert known["lastTransitionTime"]
    written = api("PUT", f"{REQUESTS}/r", {**decided, "status": {}}, want=200)
    assert written["status"] == decided["status"]


@pytest.mark.parametrize(
    ("seconds", "why"), [(60, "may not specify a duration less than 10 minutes"),
                         (10**12, "may not specify a duration larger than 2^32 seconds")]
)  # fmt: skip
def test_tokens_live_neither_too_short_nor_too_long(api: Api, seconds: int, why: str) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/default/token"
    assert why in api("POST", path, {"spec": {"expirationSeconds": seconds}}, want=422)["message"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"usages": []}, "spec.usages: Required value"),
        ({"usages": None}, "spec.usages: Required value"),
        ({"usages": ["client auth", "client auth"]}, 'spec.usages[1]: Duplicate value: "client auth"'),
        ({"usages": ["flying"]}, 'spec.usages[0]: Unsupported value: "flying": supported values: '),
        ({"signerName": ""}, "spec.signerName: Required value"),
        ({"signerName": "kubernetes.io/legacy-unknown"},
         'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via '
         "this API version"),
        ({"expirationSeconds": 599},
         "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"),
    ],
)  # fmt: skip
def test_a_request_needs_its_usages_and_a_signer(api: Api, change: Json, wanted: str) -> None:
    spec = {"request": request_pem("CN=a"), "signerName": "example.com/signer", "usages": ["client auth"], **change}
    answer = api("POST", REQUESTS, {"metadata": {"name": "wrong"}, "spec": spec}, want=422)
    causes = [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]
    assert [cause[: len(wanted)] for cause in causes] == [wanted]


def test_a_certificate_may_last_ten_minutes(api: Api) -> None:
    spec = {"request": request_pem("CN=a"), "signerName": "example.com/signer", "usages": ["any"]}
    spec["expirationSeconds"] = 600
    made = api("POST", REQUESTS, {"metadata": {"name": "short"}, "spec": spec}, want=201)
    assert made["spec"]["expirationSeconds"] == 600


SIGNER_RULES = (("approval", "approve"), ("status", "sign"))


@pytest.fixture
def bob(api: Api) -> Iterator[Api]:
    """Return Bob's client. Bob may write every part of a request; `let_signers` adds rights on signers."""
    rule = {
        "apiGroups": ["certificates.k8s.io"],
        "resources": [f"certificatesigningrequests{part}" for part in ("", "/approval", "/status")],
        "verbs": ["get", "create", "update"],
    }
    let(api, "bobs", [rule])
    client = Api(api.env)
    client.session.headers["Impersonate-User"] = "bob"
    yield client
    client.close()
    for plural in ("clusterroles", "clusterrolebindings"):
        for name in ("bobs", "signers"):
            api("DELETE", f"{RBAC}/{plural}/{name}")


RBAC = "/apis/rbac.authorization.k8s.io/v1"


def let(api: Api, name: str, rules: list[Json]) -> None:
    api("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules}, want=201)
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}
    binding = {"metadata": {"name": name}, "roleRef": {"kind": "ClusterRole", "name": name}, "subjects": [subject]}
    api("POST", f"{RBAC}/clusterrolebindings", binding, want=201)


def request_of(api: Api, name: str, signer: str = "example.com/signer") -> Json:
    spec = {"request": request_pem("CN=a"), "signerName": signer, "usages": ["client auth"]}
    made: Json = api("POST", REQUESTS, {"metadata": {"name": name}, "spec": spec}, want=201)
    return made


@pytest.mark.parametrize("media", ["application/json", "application/merge-patch+json"])
def test_no_update_changes_the_spec_of_a_request(api: Api, media: str) -> None:
    made = request_of(api, f"fixed-{len(media)}")
    path = f"{REQUESTS}/{made['metadata']['name']}"
    change: Json = {"signerName": "example.com/other", "username": "system:admin", "groups": ["system:masters", "x"]}
    if media == "application/json":
        changed = api("PUT", path, {**made, "spec": {**made["spec"], **change}}, want=200)
    else:
        changed = api("PATCH", path, {"spec": change}, media=media, want=200)
    assert changed["spec"] == made["spec"]


POLICIES = "/apis/admissionregistration.k8s.io/v1"


@contextlib.contextmanager
def rewriting(api: Api) -> Iterator[None]:
    """Let a mutating policy write into every request that is written."""
    operations = [f'JSONPatch{{op: "add", path: "/{path}", value: "QUJD"}}' for path in CHANGED]
    rule = {"apiGroups": ["certificates.k8s.io"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"]}
    rule["resources"] = ["certificatesigningrequests", "certificatesigningrequests/*"]
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{', '.join(operations)}]"}}],
        "reinvocationPolicy": "Never",
    }
    api("POST", f"{POLICIES}/mutatingadmissionpolicies", {"metadata": {"name": "rewrite"}, "spec": spec}, want=201)
    bound = {"metadata": {"name": "rewrite"}, "spec": {"policyName": "rewrite"}}
    api("POST", f"{POLICIES}/mutatingadmissionpolicybindings", bound, want=201)
    try:
        yield
    finally:
        for plural in ("mutatingadmissionpolicybindings", "mutatingadmissionpolicies"):
            api("DELETE", f"{POLICIES}/{plural}/rewrite", want=200)


CHANGED = ("spec/username", "spec/signerName", "status/certificate")


@pytest.mark.parametrize("subresource", ["", "/approval"])
def test_no_mutating_policy_changes_the_spec_of_a_request(api: Api, subresource: str) -> None:
    made = request_of(api, f"rewritten-{len(subresource)}")
    path = f"{REQUESTS}/{made['metadata']['name']}{subresource}"
    with rewriting(api):
        written = api("PUT", path, with_conditions(made, "Approved"), want=200)
    assert written["spec"] == made["spec"]
    assert "certificate" not in written["status"]


@pytest.mark.parametrize(("subresource", "verb"), SIGNER_RULES)
@pytest.mark.parametrize("signer", ["example.com/signer", "example.com/*"])
def test_approval_and_signing_need_a_right_on_the_signer(
    api: Api, bob: Api, subresource: str, verb: str, signer: str
) -> None:
    made = request_of(api, f"{verb}-{len(signer)}")
    path = f"{REQUESTS}/{made['metadata']['name']}/{subresource}"
    kind = "Approved" if subresource == "approval" else "Failed"
    condition = {"type": kind, "status": "True", "reason": "r", "message": "m"}
    wanted = {**made, "status": {"conditions": [condition]}}
    refused = bob("PUT", path, wanted, want=403)
    assert f'user not permitted to {verb} requests with signerName "example.com/signer"' in refused["message"]
    names = {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": [signer]}
    let(api, "signers", [{**names, "verbs": [verb]}])
    assert bob("PUT", path, wanted, want=200)["status"]["conditions"][0]["type"] == kind


MASTERS = "system:masters"


@pytest.mark.parametrize(
    "subject",
    [
        {"sets": ["O=system:masters"]},
        {"sets": ["CN=eve", "O=devs", "O=system:masters"]},
        {"sets": ["CN=eve+O=system:masters"]},
        {"sets": ["O=" + "x" * 300, "O=system:masters"]},
        {"sets": ["O=system:masters"], "tag": 0x13},
        {"sets": ["O=system:masters"], "tag": 0x1E, "encoding": "utf-16-be"},
    ],
)
def test_a_client_of_the_api_server_cannot_ask_for_its_administrators(api: Api, subject: Any) -> None:
    request = request_pem(*subject.pop("sets"), **subject)
    spec = {"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}
    refused = api("POST", REQUESTS, {"metadata": {"name": "eve"}, "spec": spec}, want=403)
    assert "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed" in str(refused)
    other = {**spec, "signerName": "example.com/signer"}
    api("POST", f"{REQUESTS}?dryRun=All", {"metadata": {"name": "eve"}, "spec": other}, want=201)


DER = b"0\x03\x02\x01"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"",
        b"foo",
        b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\nMIQ=\n-----END CERTIFICATE REQUEST-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\n" + base64.b64encode(DER) + b"\n-----END CERTIFICATE REQUEST-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\nMIT/////AA==\n-----END CERTIFICATE REQUEST-----",
        b"-----BEGIN CERTIFICATE REQUEST-----\nA\n-----END CERTIFICATE REQUEST-----",
        b"\xff\x00",
    ],
)
def test_a_request_that_is_none_is_invalid(api: Api, request_bytes: bytes) -> None:
    text = base64.b64encode(request_bytes).decode()
    spec = {"request": text, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]}
    refused = api("POST", REQUESTS, {"metadata": {"name": "no"}, "spec": spec}, want=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["spec.request"]


def pem(kind: str, der: bytes = b"0\0", headers: str = "") -> str:
    body = f"-----BEGIN {kind}-----\n{headers}{base64.b64encode(der).decode()}\n-----END {kind}-----\n"
    return base64.b64encode(body.encode()).decode()


def with_conditions(made: Json, *kinds: str, status: str = "True", **more: Any) -> Json:
    conditions = [{"type": kind, "status": status, "reason": "r", "message": "m"} for kind in kinds]
    return {**made, "status": {"conditions": conditions, **more}}


def test_a_write_to_the_status_decides_nothing(api: Api) -> None:
    path = f"{REQUESTS}/signed"
    made = request_of(api, "signed")
    refused = api("PUT", f"{path}/status", with_conditions(made, "Approved"), want=422)
    assert 'updates may not add a condition of type "Approved"' in refused["message"]
    approved = api("PUT", f"{path}/approval", with_conditions(made, "Approved", certificate="Zm9v"), want=200)
    assert "certificate" not in approved["status"], "approval issues nothing"
    issued = api("PUT", f"{path}/status", {**approved, "status": {"certificate": pem("CERTIFICATE")}}, want=200)
    assert issued["status"]["conditions"] == approved["status"]["conditions"], "a decision stays"
    assert issued["status"]["certificate"] == pem("CERTIFICATE")
    other = {**issued, "status": {**issued["status"], "certificate": "YmFy"}}
    assert "may not modify existing certificate" in api("PUT", f"{path}/status", other, want=422)["message"]


def owned_by(obj: Json, manager: str) -> Json:
    [entry] = [each for each in obj["metadata"]["managedFields"] if each["manager"] == manager]
    fields: Json = entry["fieldsV1"]
    return fields


def test_an_apply_to_the_approval_decides_and_owns_only_the_decision(api: Api) -> None:
    made = request_of(api, "applied")
    about = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    spec = {**made["spec"], "usages": ["server auth"]}
    config = {**about, "metadata": {"name": "applied", "labels": {"by": "ann"}}, "spec": spec}
    path, media = f"{REQUESTS}/applied/approval?fieldManager=ann&force=true", "application/apply-patch+yaml"
    approved = api("PATCH", path, with_conditions(config, "Approved"), want=200, media=media)
    assert approved["spec"] == made["spec"] and approved["metadata"]["labels"] == {"by": "ann"}
    [condition] = approved["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("Approved", "r") and condition["lastTransitionTime"]
    assert set(owned_by(approved, "ann")) == {"f:metadata", "f:status"}
    # The request itself is the other way round: its apply does not own the status.
    path = f"{REQUESTS}/applied?fieldManager=ben&force=true"
    kept = api("PATCH", path, with_conditions(config, "Denied"), want=200, media=media)
    assert kept["status"] == approved["status"] and set(owned_by(kept, "ben")) == {"f:metadata", "f:spec"}


@pytest.mark.parametrize(
    ("media", "patch"),
    [
        ("application/merge-patch+json", {"spec": {"usages": None}, "status": {"conditions": []}}),
        ("application/strategic-merge-patch+json", {"spec": {"signerName": "example.com/other"}}),
        ("application/json-patch+json", [{"op": "add", "path": "/status/conditions", "value": []}]),
    ],
)
def test_a_patch_of_the_approval_changes_the_decision_alone(api: Api, media: str, patch: Any) -> None:
    made = request_of(api, f"patched-{media[12]}{len(str(patch))}")
    path = f"{REQUESTS}/{made['metadata']['name']}/approval"
    conditions = with_conditions({}, "Denied")["status"]["conditions"]
    if isinstance(patch, list):
        patch = [{"op": "replace", "path": "/spec", "value": {}}, {"op": "add", "path": "/status", "value": {}}, *patch]
        patch[-1]["value"] = conditions
    else:
        patch = {**patch, "status": {"conditions": conditions, "certificate": "QQ=="}}
    denied = api("PATCH", path, patch, want=200, media=media)
    assert denied["spec"] == made["spec"] and set(denied["status"]) == {"conditions"}
    assert [each["type"] for each in denied["status"]["conditions"]] == ["Denied"]


def test_a_decision_is_final(api: Api) -> None:
    path = f"{REQUESTS}/decided/approval"
    made = request_of(api, "decided")
    both = api("PUT", path, with_conditions(made, "Approved", "Denied"), want=422)
    assert "Approved and Denied conditions are mutually exclusive" in both["message"]
    unsure = api("PUT", path, with_conditions(made, "Denied", status="False"), want=422)
    assert 'Unsupported value: "False": supported values: "True"' in unsure["message"]
    denied = api("PUT", path, with_conditions(made, "Denied"), want=200)
    removed = api("PUT", path, with_conditions(denied, "Approved"), want=422)
    assert 'updates may not remove a condition of type "Denied"' in removed["message"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"signerName": ""}, "spec.signerName: Required value"),
        ({"signerName": "signer"}, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        ({"signerName": "a.b/c/d"}, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        ({"signerName": "local/signer"}, "should be a domain with at least two segments separated by dots"),
        ({"signerName": "Example.com/signer"}, 'Invalid value: "Example.com": validating label "Example": '),
        ({"signerName": "example.com/"}, 'Invalid value: "": validating label "": '),
        ({"signerName": "example.com/" + "a" * 600}, "Too long: may not be more than 571 bytes"),
        ({"signerName": "a." * 130 + "a/x"}, "Too long: may not be more than 253 bytes"),
        ({"signerName": "kubernetes.io/legacy-unknown"}, "the legacy signerName is not allowed via this API version"),
        ({"usages": ["client auth", "flying"]}, 'spec.usages[1]: Unsupported value: "flying": supported values: "any"'),
        ({"usages": ["any", "any"]}, 'spec.usages[1]: Duplicate value: "any"'),
        ({"expirationSeconds": 599}, "may not specify a duration less than 600 seconds (10 minutes)"),
    ],
)
def test_a_request_names_a_signer_and_known_usages(api: Api, change: Json, why: str) -> None:
    spec = {"request": request_pem("CN=a"), "signerName": "example.com/signer", "usages": ["any"], **change}
    refused = api("POST", REQUESTS, {"metadata": {"name": "unfit"}, "spec": spec}, want=422)
    assert why in refused["message"]


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        ("Zm9v", "must contain one or more CERTIFICATE PEM blocks"),
        (pem("PRIVATE KEY"), 'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"'),
        (pem("CERTIFICATE", b"0"), "asn1: syntax error: data truncated"),
        (pem("CERTIFICATE", b"0\0\0"), "x509: trailing data"),
    ],
)
def test_a_certificate_is_one_in_pem(api: Api, certificate: str, why: str) -> None:
    made = request_of(api, f"garbage-{len(why)}-{len(certificate)}")
    path = f"{REQUESTS}/{made['metadata']['name']}/status"
    refused = api("PUT", path, {**made, "status": {"certificate": certificate}}, want=422)
    assert why.replace('\\"', '"') in refused["message"]


def test_a_write_to_the_status_keeps_the_decision_and_stamps_conditions(api: Api) -> None:
    path = f"{REQUESTS}/stamped"
    approved = api("PUT", f"{path}/approval", with_conditions(request_of(api, "stamped"), "Approved"), want=200)
    # Another reason for the approval changes nothing, and a new condition gets its times.
    changed = with_conditions(approved, "Failed", "Approved")
    changed["status"]["conditions"][1]["reason"] = "Other"
    written = api("PUT", f"{path}/status", changed, want=200)
    failed, kept = written["status"]["conditions"]
    assert [kept] == approved["status"]["conditions"]
    assert failed["type"] == "Failed"
    assert failed["lastUpdateTime"] and failed["lastTransitionTime"]
    without = api("PUT", f"{path}/status", with_conditions(written, "Failed"), want=200)
    assert [each["type"] for each in without["status"]["conditions"]] == ["Failed", "Approved"]
    refused = api("PUT", f"{path}/status", with_conditions(without, "Failed", "Approved", "Approved"), want=422)
    assert 'may not add a condition of type "Approved"' in refused["message"]


def condition(kind: str, status: str = "True") -> Json:
    return {"type": kind, "status": status}


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ([condition("Approved"), condition("Approved")], '[1].type: Duplicate value: "Approved"'),
        ([condition("Mine"), condition("Mine", "False")], '[1].type: Duplicate value: "Mine"'),
        ([condition("Denied"), condition("Approved")],
         '[1].type: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive'),
        ([condition("Mine", "maybe")],
         '[0].status: Unsupported value: "maybe": supported values: "False", "True", "Unknown"'),
        ([condition("Failed", "Unknown")], '[0].status: Unsupported value: "Unknown": supported values: "True"'),
        ([condition("Mine", "")], "[0].status: Required value"),
        ([condition("")], "[0].type: Required value"),
    ],
)  # fmt: skip
def test_conditions_are_of_different_types_and_have_a_known_status(conditions: list[Json], why: str) -> None:
    found = certificates.approval_update({"status": {"conditions": conditions}}, {"status": {}})
    assert [*map(str, found)] == [f"status.conditions{why}"]


@pytest.mark.parametrize("kinds", [["Mine", "Mine"], ["", "Mine"], ["Approved", "Denied"]])
def test_what_an_older_server_stored_may_stay(kinds: list[str]) -> None:
    stored = {"status": {"conditions": [condition(kind) for kind in kinds]}}
    assert certificates.approval_update(stored, stored) == []
