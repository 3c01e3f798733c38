"""Conversion webhooks of CRDs: the embedded API server asks a real webhook server between the versions."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from apiclient import eventually
from patience import PATIENCE
from webhookserver import Webhooks, hook

from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
from clientgo.context import Context
from clientgo.controller_runtime.webhook import admission, conversion
from clientgo.controller_runtime.webhook.admission import Response
from clientgo.golang.http.server import Request, ResponseWriter
from clientgo.testing.apiserver.wire import webhooks

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


def test_remembered_conversions_of_all_kinds_have_one_bound_of_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_KEPT_BYTES", 1000)
    known = webhooks.Conversions()
    objects = [{"metadata": {"uid": str(i)}, "text": "x" * 100} for i in range(20)]
    for i, obj in enumerate(objects):
        known.put([((i % 3, str(i)), obj, obj)])
    assert [known.get((i % 3, str(i)), obj) is not None for i, obj in enumerate(objects)] == [False] * 17 + [True] * 3
    # A list is complete once it is converted, whatever its size, and makes room at the next one.
    known.put([(i, obj, obj) for i, obj in enumerate(objects)])
    assert all(known.get(i, obj) is obj for i, obj in enumerate(objects))
    known.put([(0, objects[0], objects[0]), (0, objects[1], objects[1])])
    assert [known.get(i, obj) is not None for i, obj in enumerate(objects)] == [False] * 19 + [True]
    assert repr(known) == "<Conversions 2 objects, 538 bytes>", "a repeated key counts once"
    assert known.get(0, objects[0]) is None, "another object with this key"


def test_a_conversion_that_had_to_make_room_is_made_again(hooks: Webhooks, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = serve(hooks)
    for name in ("one", "two"):
        hooks.api("POST", path("v2"), job("v2", name, schedule=name * 100), want=201)
    monkeypatch.setattr(webhooks, "_KEPT_BYTES", 2000)
    for name in ("one", "one", "two", "one"):
        assert hooks.api("GET", path("v1", name), want=200)["every"] == name * 100
    assert counts == [1, 1, 1]


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
AT_0 = f"{HEAD}returned invalid object at index 0: invalid "
INVALID = f"{HEAD}returned invalid object: must have the same "
METADATA = f"{HEAD}returned invalid metadata: "
REVIEW = "apiextensions.k8s.io/v1, Kind=ConversionReview"


def as_only_object(value: Any) -> Callable[[Json, list[Json]], None]:
    return in_response(convertedObjects=[value])


# What the webhook answers, and how the error of the read begins.
SPOILED = [
    (in_metadata(name="two"), f"{INVALID}name: one != two"),
    (in_metadata(name=None), f"{INVALID}name: one != "),
    (in_metadata(name=3), f"{INVALID}name: one != "),
    (in_metadata(namespace="two"), f"{INVALID}namespace: default != two"),
    (in_object(metadata=None), f"{INVALID}name: one != "),
    (in_object(metadata=["x"]), f"{INVALID}name: one != "),
    (in_metadata(labels={"a": 1}), f"{METADATA}metadata.labels[a] must be a string, but is int64 in converted object"),
    (in_metadata(annotations={"a": None}), f"{METADATA}metadata.annotations[a] must be a string, but is <nil> in"),
    (in_metadata(labels=[]), f"{METADATA}invalid metadata.labels of type []interface {{}} in converted object"),
    (in_metadata(labels=""), f"{METADATA}invalid metadata.labels of type string in converted object"),
    (in_metadata(annotations=False), f"{METADATA}invalid metadata.annotations of type bool in converted object"),
    (in_metadata(labels={"a/": "b"}), f'{METADATA}[metadata.labels: Invalid value: "a/": name part must be non-empty'),
    (in_metadata(annotations={"/a": "b"}), f'{METADATA}metadata.annotation: Invalid value: "/a": prefix part must be'),
    (in_object(kind="Other"), f"{AT_0}kind (expected Job, received Other)"),
    (in_object(kind=["Job"]), "Object 'Kind' is missing in '{"),
    (in_object(apiVersion="x/v1"), f"{AT_0}groupVersion (expected {GROUP}/v1, received x/v1)"),
    (in_object(apiVersion=None), f"{AT_0}groupVersion (expected {GROUP}/v1, received )"),
    (as_only_object(None), "unexpected end of JSON input"),
    (as_only_object("x"), "json: cannot unmarshal string into Go value of type map[string]interface {}"),
    (as_only_object([1]), "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    (in_response(convertedObjects=[]), f"{HEAD}returned 0 objects, expected 1"),
    (in_response(uid="other"), f"{HEAD}failed: expected response.uid="),
    (in_response(result={"status": "Failure", "message": "no way"}), f"{HEAD}failed: no way"),
    (in_response(result={"status": "Failure"}), f"{HEAD}failed: response.result.status was 'Failure', not 'Success'"),
    (in_response(result=None), f"{HEAD}failed: response.result.status was '', not 'Success'"),
    (lambda review, asked: {"kind": "Odd"}, f"{HEAD}failed: expected webhook response of {REVIEW}, got /, Kind=Odd"),
    (lambda review, asked: {"a": 1}, f"{HEAD}failed: expected webhook response of {REVIEW}, got /, Kind="),
    (lambda review, asked: {**review, "response": None}, f"{HEAD}failed: no response provided"),
    (lambda review, asked: {**review, "response": "x"}, f"{HEAD}failed: json: cannot unmarshal string into"),
    (lambda review, asked: [1], f"{HEAD}failed: couldn't get version/kind; json parse error: json: cannot unm"),
]


@pytest.mark.parametrize(("change", "why"), SPOILED)
def test_an_answer_that_is_none_is_an_error_of_the_read(hooks: Webhooks, change: Any, why: str) -> None:
    serve(hooks, change)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    for where in (path("v1", "one"), path("v1")):
        message = hooks.api("GET", where, want=500)["message"]
        assert message[: len(why)] == why
    assert hooks.api("GET", path("v2", "one"), want=200)["schedule"] == "day"


RESPONSES = [
    (200, b"", "0-length response with status code: 200 and content type: application/json"),
    (200, b"null", f"expected webhook response of {REVIEW}, got /, Kind="),
    (200, b"7", "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of"),
    (500, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"boom","code":500}', "boom"),
]


@pytest.mark.parametrize(("code", "body", "why"), RESPONSES)
def test_a_response_without_a_review_is_an_error_of_the_read(
    hooks: Webhooks, code: int, body: bytes, why: str
) -> None:
    def respond(resp: ResponseWriter, req: Request) -> None:
        req.read_body(1 << 22)
        resp.header()["Content-Type"] = "application/json"
        resp.write_header(code)
        resp.write(body)

    hooks.api("POST", DEFINITIONS, definition(hooks.serve_raw(respond)), want=201)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    assert hooks.api("GET", path("v1", "one"), want=500)["message"].startswith(f"{HEAD}failed: {why}")


def test_a_review_of_v1beta1_needs_neither_kind_nor_uid(hooks: Webhooks) -> None:
    def convert(resp: ResponseWriter, req: Request) -> None:
        request = json.loads(req.read_body(1 << 22))["request"]
        objects = [{**obj, "apiVersion": request["desiredAPIVersion"]} for obj in request["objects"]]
        resp.write(json.dumps({"response": {"result": {"status": "Success"}, "convertedObjects": objects}}))

    made = definition(hooks.serve_raw(convert), conversionReviewVersions=["v1beta1", "v1"])
    hooks.api("POST", DEFINITIONS, made, want=201)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    assert hooks.api("GET", path("v1", "one"), want=200)["apiVersion"] == f"{GROUP}/v1"


class _Watch:
    """A watch of any version, read line by line."""

    def __init__(self, hooks: Webhooks, where: str) -> None:
        headers = {"Authorization": f"Bearer {hooks.env.token}"}
        self.answer = requests.get(
            f"{hooks.env.url}{where}?watch=true", headers=headers, stream=True, timeout=PATIENCE
        )
        self._lines = self.answer.iter_lines()

    def next(self) -> tuple[str, str]:
        event = json.loads(next(self._lines))
        return event["type"], event["object"]["metadata"]["name"]


def test_a_webhook_that_does_not_answer_delays_no_other_watch(hooks: Webhooks) -> None:
    asked, answer = threading.Event(), threading.Event()

    def wait(review: Json, objects: list[Json]) -> None:
        asked.set()
        assert answer.wait(PATIENCE)

    serve(hooks, wait)
    others = {"configmaps": _Watch(hooks, "/api/v1/namespaces/default/configmaps"), "v2": _Watch(hooks, path("v2"))}
    converted = _Watch(hooks, path("v1"))
    try:
        hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
        assert asked.wait(PATIENCE)
        hooks.api("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "other"}}, want=201)
        assert others["v2"].next() == ("ADDED", "one")
        while others["configmaps"].next() != ("ADDED", "other"):
            pass
    finally:
        answer.set()
    assert converted.next() == ("ADDED", "one")
    for watch in (converted, *others.values()):
        watch.answer.close()


def test_a_watch_begins_with_one_call_or_with_the_error(hooks: Webhooks) -> None:
    spoiled: list[int] = []
    counts = serve(hooks, lambda review, asked: {"kind": "Odd"} if spoiled else None)
    for i in range(3):
        hooks.api("POST", path("v2"), job("v2", f"job-{i}", schedule=str(i)), want=201)
    watch = _Watch(hooks, path("v1"))
    assert [watch.next()[1] for _ in range(3)] == ["job-0", "job-1", "job-2"]
    watch.answer.close()
    assert counts == [3]
    spoiled.append(1)
    hooks.api("POST", path("v2"), job("v2", "job-3", schedule="3"), want=201)
    assert "got /, Kind=Odd" in hooks.api("GET", f"{path('v1')}?watch=true", want=500)["message"]


def test_the_thread_of_converted_watches_ends_with_their_definition(hooks: Webhooks) -> None:
    def pumps() -> int:
        return sum(thread.name == "apiserver-watch-pump" for thread in threading.enumerate())

    before = pumps()
    serve(hooks)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    watches = [_Watch(hooks, path("v1")) for _ in range(2)]
    assert [watch.next() for watch in watches] == [("ADDED", "one")] * 2
    assert pumps() == before + 1
    hooks.api("DELETE", f"{DEFINITIONS}/jobs.{GROUP}", want=200)
    eventually(lambda: pumps() == before)
    assert [watch.next() for watch in watches] == [("DELETED", "one")] * 2
    for watch in watches:
        watch.answer.close()


def test_a_failed_conversion_is_logged_on_one_line(hooks: Webhooks, caplog: pytest.LogCaptureFixture,
                                                     capfd: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    spoiled: list[int] = []
    serve(hooks, lambda review, asked: {"kind": "Odd"} if spoiled else None)
    watch = _Watch(hooks, path("v1"))
    spoiled.append(1)
    hooks.api("POST", path("v2"), job("v2", "one", schedule="day"), want=201)
    with pytest.raises(requests.exceptions.RequestException):
        watch.next()
    logged = capfd.readouterr().err + caplog.text
    assert '"Could not show an event" err="conversion webhook for ' in logged
    assert "Traceback" not in logged


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
