"""Conversion webhooks of CRDs: the embedded API server asks a real webhook server between the versions."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from patience import PATIENCE
from webhookserver import Webhooks, hook

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
from clientgo.context import Context
from clientgo.controller_runtime.webhook import admission, conversion
from clientgo.controller_runtime.webhook.admission import Response
from clientgo.golang.http.server import Request, ResponseWriter

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "jobs.example.com"
MERGE = "application/merge-patch+json"


@pytest.fixture
def hooks() -> Iterator[Webhooks]:
    made = Webhooks()
    yield made
    made.close()


class JobV1(runtime.ResourceObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind(GROUP, "v1", "Job")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    every: str = runtime.field("every", "string", default="")

    def convert_to(self, dst: runtime.Object) -> None:
        assert isinstance(dst, JobV2)
        dst.metadata, dst.schedule = self.metadata, self.every

    def convert_from(self, src: runtime.Object) -> None:
        assert isinstance(src, JobV2)
        self.metadata, self.every = src.metadata, src.schedule


class JobV2(runtime.ResourceObject):
    GROUP_VERSION_KIND = schema.GroupVersionKind(GROUP, "v2", "Job")
    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    schedule: str = runtime.field("schedule", "string", default="")

    def hub(self) -> None:
        pass


def definition(config: Json, **webhook: Any) -> Json:
    def version(name: str, field: str) -> Json:
        properties = {field: {"type": "string"}}
        shape = {"openAPIV3Schema": {"type": "object", "properties": properties}}
        return {"name": name, "served": True, "storage": name == "v2", "schema": shape}

    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": config, **webhook}
    return {
        "metadata": {"name": f"jobs.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Job", "plural": "jobs"},
            "versions": [version("v1", "every"), version("v2", "schedule")],
            "conversion": {"strategy": "Webhook", "webhook": webhook},
        },
    }


def path(version: str, name: str = "") -> str:
    return f"/apis/{GROUP}/{version}/namespaces/default/jobs" + (f"/{name}" if name else "")


def job(version: str, name: str, **fields: str) -> Json:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Job", "metadata": {"name": name}, **fields}


def serve(hooks: Webhooks, change: Callable[[Json, list[Json]], Any] | None = None) -> list[int]:
    """Install the definition with a real converter, whose answers `change` spoils: how many objects each call had."""
    scheme = runtime.Scheme()
    for cls in (JobV1, JobV2):
        scheme.add_known_type_with_name(cls.GROUP_VERSION_KIND, cls)
    handler = conversion.new_webhook_handler(scheme, conversion.new_registry())
    counts: list[int] = []

    def convert(resp: ResponseWriter, req: Request) -> None:
        body = req.read_body(1 << 22)
        asked = json.loads(body)["request"]["objects"]
        counts.append(len(asked))
        inner = ResponseWriter()
        handler(inner, Request("POST", "/", req.headers, lambda n: body, req.context()))
        review = json.loads(bytes(inner.body))
        if change is not None:
            review = change(review, asked) or review
        resp.write(json.dumps(review))

    hooks.api("POST", DEFINITIONS, definition(hooks.serve_raw(convert)), want=201)
    return counts


def test_an_object_is_written_read_and_changed_in_any_version(hooks: Webhooks) -> None:
    counts = serve(hooks)
    made = hooks.api("POST", path("v1"), job("v1", "one", every="day"), want=201)
    assert (made["apiVersion"], made["every"]) == (f"{GROUP}/v1", "day")
    stored = hooks.api("GET", path("v2", "one"), want=200)
    assert (stored["schedule"], "every" in stored) == ("day", False)
    assert stored["metadata"] == made["metadata"]
    changed = hooks.api("PATCH", path("v1", "one"), {"every": "week"}, want=200, media=MERGE)
    assert changed["every"] == "week"
    stored = hooks.api("GET", path("v2", "one"), want=200)
    assert stored["schedule"] == "week"
    hooks.api("PUT", path("v2", "one"), {**stored, "schedule": "year"}, want=200)
    assert hooks.api("GET", path("v1", "one"), want=200)["every"] == "year"
    dry = {"every": "never"}
    assert hooks.api("PATCH", path("v1", "one") + "?dryRun=All", dry, want=200, media=MERGE)["every"] == "never"
    assert hooks.api("GET", path("v1", "one"), want=200)["every"] == "year"
    assert set(counts) == {1}


def test_a_list_is_one_call(hooks: Webhooks) -> None:
    counts = serve(hooks)
    for i in range(5):
        hooks.api("POST", path("v2"), job("v2", f"job-{i}", schedule=str(i)), want=201)
    assert counts == []
    for _ in range(2):
        items = hooks.api("GET", path("v1"), want=200)["items"]
        assert [item["every"] for item in items] == ["0", "1", "2", "3", "4"]
        assert {item["apiVersion"] for item in items} == {f"{GROUP}/v1"}
    assert counts == [5]


def test_a_watch_shows_the_version_that_is_watched(hooks: Webhooks) -> None:
    serve(hooks)
    made = hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    where = f"{hooks.env.url}{path('v1')}?watch=true&timeoutSeconds=20"
    with hooks.api.session.get(where, stream=True, timeout=PATIENCE) as answer:
        lines = answer.iter_lines()
        first = json.loads(next(lines))
        headers = {"Authorization": f"Bearer {hooks.env.token}"}
        changed, to = {**made, "schedule": "week"}, f"{hooks.env.url}{path('v2', 'one')}"
        requests.put(to, json=changed, headers=headers, timeout=PATIENCE).raise_for_status()
        second = json.loads(next(lines))
    shown = [(event["type"], event["object"]["apiVersion"], event["object"]["every"]) for event in (first, second)]
    assert shown == [("ADDED", f"{GROUP}/v1", "day"), ("MODIFIED", f"{GROUP}/v1", "week")]


def test_admission_webhooks_see_the_version_they_ask_for(hooks: Webhooks) -> None:
    serve(hooks)
    seen: list[Any] = []

    def look(ctx: Context, req: admission.Request) -> Response:
        seen.append(req.object)
        return admission.allowed("")

    rule = {"apiGroups": [GROUP], "apiVersions": ["v2"], "operations": ["CREATE"], "resources": ["jobs"]}
    hooks.configure("Mutating", "m", hook("m.example.com", hooks.serve(look), rules=[rule]))
    hooks.configure("Validating", "v", hook("v.example.com", hooks.serve(look), rules=[rule]))
    hooks.api("POST", path("v1"), job("v1", "one", every="day"), want=201)
    shown = [json.loads(obj) if isinstance(obj, str | bytes) else obj for obj in seen]
    assert [(obj["apiVersion"], obj["schedule"]) for obj in shown] == [(f"{GROUP}/v2", "day")] * 2


def in_object(**fields: Any) -> Callable[[Json, list[Json]], None]:
    def change(review: Json, asked: list[Json]) -> None:
        review["response"]["convertedObjects"][0].update(fields)

    return change


def in_metadata(**fields: Any) -> Callable[[Json, list[Json]], None]:
    def change(review: Json, asked: list[Json]) -> None:
        review["response"]["convertedObjects"][0]["metadata"].update(fields)

    return change


def in_response(**fields: Any) -> Callable[[Json, list[Json]], None]:
    def change(review: Json, asked: list[Json]) -> None:
        review["response"].update(fields)

    return change


def test_only_labels_and_annotations_may_change(hooks: Webhooks) -> None:
    serve(hooks, in_metadata(labels={"a": "b"}, annotations={"c": "d"}, finalizers=["mine/x"], generation=99))
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    metadata = hooks.api("GET", path("v1", "one"), want=200)["metadata"]
    assert (metadata["labels"], metadata["annotations"], metadata["generation"]) == ({"a": "b"}, {"c": "d"}, 1)
    assert "finalizers" not in metadata


HEAD = f"conversion webhook for {GROUP}/v2, Kind=Job "
SPOILED = [
    (in_metadata(name="two"), "returned invalid converted object: must have the same name: two != one"),
    (in_metadata(uid="two"), "returned invalid converted object: must have the same UID: two != "),
    (in_metadata(namespace="two"), "returned invalid converted object: must have the same namespace: two != default"),
    (in_metadata(labels={"a": 1}), "returned invalid converted object: invalid metadata.labels in converted object"),
    (in_object(kind="Other"), "returned invalid converted object: must have the same kind: Other != Job"),
    (in_object(apiVersion="x/v1"), f"converted object: invalid groupVersion x/v1, expected {GROUP}/v1"),
    (in_object(metadata=None), "returned invalid converted object: missing metadata in converted object"),
    (in_response(convertedObjects=[]), "returned 0 objects, expected 1"),
    (in_response(uid="other"), "failed: expected response.uid="),
    (in_response(result={"status": "Failure", "message": "no way"}), "failed: no way"),
    (in_response(result={"status": "Failure"}), "failed: response.result.status was 'Failure', expected 'Success'"),
    (lambda review, asked: {"kind": "Odd"}, "failed: expected webhook response of apiextensions.k8s.io/v1, Kind="),
    (lambda review, asked: {**review, "response": None}, "failed: no response provided"),
    (lambda review, asked: {**review, "response": "x"}, "failed: json: cannot unmarshal string into"),
    (lambda review, asked: [1], "failed: couldn't get version/kind"),
]


@pytest.mark.parametrize(("change", "why"), SPOILED)
def test_an_answer_that_is_none_is_an_error_of_the_read(hooks: Webhooks, change: Any, why: str) -> None:
    serve(hooks, change)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    for where in (path("v1", "one"), path("v1")):
        message = hooks.api("GET", where, want=500)["message"]
        assert message.startswith(HEAD)
        assert why in message
    assert hooks.api("GET", path("v2", "one"), want=200)["schedule"] == "day"


def test_a_webhook_that_cannot_be_reached_costs_neither_the_object_nor_the_other_version(hooks: Webhooks) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = f"https://127.0.0.1:{listener.getsockname()[1]}"
    hooks.api("POST", DEFINITIONS, definition({"url": dead}), want=201)
    message = hooks.api("POST", path("v1"), job("v1", "one", every="day"), want=500)["message"]
    assert message.startswith(f'conversion webhook for {GROUP}/v1, Kind=Job failed: Post "{dead}/": ')
    assert "refused" in message
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    hooks.api("GET", path("v1"), want=500)
    hooks.api("DELETE", path("v2", "one"), want=200)
    assert hooks.api("GET", path("v1"), want=200)["items"] == []
