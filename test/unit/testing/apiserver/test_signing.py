"""Certificate signing requests and tokens: who asks is who is authenticated; approval writes a decision only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

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
    spec = {"request": "Zm9v", "signerName": "example.com/signer", "usages": ["client auth"], "username": "somebody"}
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
