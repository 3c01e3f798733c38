"""pods/eviction without a disruption controller: what a budget's status allows is what happens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

Json = dict[str, Any]
PODS = "/api/v1/namespaces/default/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def run_pod(api: Api, name: str, phase: str = "Running", ready: bool = True) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    api("POST", PODS, {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}, want=201)
    conditions = [{"type": "Ready", "status": "True"}] if ready else []
    status = {"status": {"phase": phase, "conditions": conditions}}
    api("PATCH", f"{PODS}/{name}/status", status, media="application/merge-patch+json", want=200)


def make_budget(api: Api, name: str = "guard", status: Json | None = None, **spec: Any) -> None:
    selector = {"matchLabels": {"app": "web"}}
    api(
        "POST",
        BUDGETS,
        {"metadata": {"name": name}, "spec": {"selector": selector, "minAvailable": 1, **spec}},
        want=201,
    )
    if status is not None:
        body = {"status": {"observedGeneration": 1, **status}}
        api("PATCH", f"{BUDGETS}/{name}/status", body, media="application/merge-patch+json", want=200)


def evict(api: Api, name: str, want: int = 201, query: str = "", **body: Any) -> Json:
    doc = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **body}
    answer: Json = api("POST", f"{PODS}/{name}/eviction{query}", doc, want=want)
    return answer


def test_a_pod_without_a_budget_goes(api: Api) -> None:
    run_pod(api, "a")
    assert evict(api, "a") == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    api("GET", f"{PODS}/a", want=404)
    assert evict(api, "a", want=404)["message"] == 'pods "a" not found'


def test_an_eviction_is_taken_from_the_budget(api: Api) -> None:
    run_pod(api, "a")
    run_pod(api, "b")
    make_budget(api, status={"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2})
    evict(api, "a", query="?dryRun=All")
    assert api("GET", f"{BUDGETS}/guard")["status"]["disruptionsAllowed"] == 1
    evict(api, "a")
    status = api("GET", f"{BUDGETS}/guard")["status"]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["a"])
    assert [c["reason"] for c in status["conditions"]] == ["InsufficientPods"]
    refused = evict(api, "b", want=429)
    cause = {
        "reason": "DisruptionBudget",
        "message": "The disruption budget guard needs 1 healthy pods and has 2 currently",
    }
    assert (refused["reason"], refused["message"]) == ("TooManyRequests", VIOLATED)
    assert refused["details"] == {"causes": [cause]}


def test_a_budget_nobody_has_looked_at_allows_nothing(api: Api) -> None:
    run_pod(api, "a")
    make_budget(api)
    (cause,) = evict(api, "a", want=429)["details"]["causes"]
    assert cause["message"] == "The disruption budget guard is still being processed by the server."


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_a_pod_that_does_not_run_needs_no_budget(api: Api, phase: str) -> None:
    run_pod(api, "a", phase, ready=False)
    make_budget(api, status={"disruptionsAllowed": 0})
    evict(api, "a")


def test_a_pod_that_is_not_ready_goes_when_enough_others_are(api: Api) -> None:
    run_pod(api, "sick", ready=False)
    make_budget(api, status={"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1})
    evict(api, "sick", want=429)
    body = {"status": {"currentHealthy": 1}}
    api("PATCH", f"{BUDGETS}/guard/status", body, media="application/merge-patch+json", want=200)
    evict(api, "sick")


def test_always_allow_lets_sick_pods_go(api: Api) -> None:
    run_pod(api, "sick", ready=False)
    make_budget(api, status={"disruptionsAllowed": 0, "desiredHealthy": 1}, unhealthyPodEvictionPolicy="AlwaysAllow")
    evict(api, "sick")


def test_two_budgets_for_one_pod_are_an_error(api: Api) -> None:
    run_pod(api, "a")
    make_budget(api)
    make_budget(api, "other")
    assert "more than one PodDisruptionBudget" in evict(api, "a", want=500)["message"]


def test_an_evicted_pod_that_is_held_says_why(api: Api) -> None:
    run_pod(api, "a")
    body = {"metadata": {"finalizers": ["example.com/hold"]}}
    api("PATCH", f"{PODS}/a", body, media="application/merge-patch+json", want=200)
    evict(api, "a", deleteOptions={"gracePeriodSeconds": 0})
    pod = api("GET", f"{PODS}/a", want=200)
    assert pod["metadata"]["deletionTimestamp"]
    reasons = {c["type"]: c.get("reason") for c in pod["status"]["conditions"]}
    assert reasons["DisruptionTarget"] == "EvictionByEvictionAPI"


def test_the_name_must_be_that_of_the_path(api: Api) -> None:
    run_pod(api, "a")
    answer = api("POST", f"{PODS}/a/eviction", {"metadata": {"name": "b"}}, want=400)
    assert answer["message"] == "name in URL does not match name in Eviction object"
