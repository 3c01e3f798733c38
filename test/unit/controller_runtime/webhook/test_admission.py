"""Admission webhooks: decoders, loggers, what completes an answer. What Go answers over HTTP stands in test/golden."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.jsonpatch import Operation
from clientgo.context import Context, background
from clientgo.controller_runtime import log
from clientgo.controller_runtime.log import zap
from clientgo.controller_runtime.metrics import REGISTRY
from clientgo.controller_runtime.webhook import admission
from clientgo.golang.http import Header
from clientgo.golang.http.server import Request, ResponseWriter
from clientgo.klog import Logger
from clientgo.kubernetes.scheme import SCHEME

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns"}}
REQUEST = admission.Request.from_dict(
    {
        "uid": "u1",
        "name": "a",
        "namespace": "ns",
        "operation": "CREATE",
        "object": POD,
        "oldObject": {**POD, "metadata": {"name": "old"}},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "userInfo": {"username": "ada"},
    }
)


def handled(response: admission.Response, **options: Any) -> admission.Response:
    return admission.Webhook(handler=lambda ctx, req: response, **options).handle(background(), REQUEST)


def test_decoders_make_typed_and_unstructured_objects() -> None:
    """Go: webhook/admission: Admission Webhook Decoder"""
    decoder = admission.new_decoder(SCHEME)
    pod = decoder.decode(REQUEST, corev1.Pod)
    assert (type(pod), pod.metadata.name, pod.metadata.namespace) == (corev1.Pod, "a", "ns")
    assert decoder.decode_raw(REQUEST.old_object, corev1.Pod).metadata.name == "old"
    anything = decoder.decode(REQUEST, unstructured.Unstructured)
    assert (anything.get_kind(), anything.get_name()) == ("Pod", "a")
    with pytest.raises(ValueError, match="unable to decode /v1, Kind=Pod into Node"):
        decoder.decode(REQUEST, corev1.Node)
    nameless = admission.Request.from_dict({"object": {"metadata": {"name": "b"}}})
    assert decoder.decode(nameless, corev1.Pod).metadata.name == "b"
    with pytest.raises(ValueError, match="there is no content to decode"):
        decoder.decode(admission.Request(), corev1.Pod)


def test_what_is_decoded_is_no_part_of_the_request() -> None:
    decoded = admission.new_decoder(SCHEME).decode(REQUEST, corev1.Pod)
    decoded.metadata.labels["mine"] = "yes"
    assert "labels" not in REQUEST.to_dict()["object"]["metadata"]


def test_answers_are_completed() -> None:
    """Go: webhook/admission: Admission Webhooks > should invoke the handler to get a response
    Go: webhook/admission: Admission Webhooks > should ensure that the response's UID is set to the request's UID
    Go: webhook/admission: Admission Webhooks > should populate the status on a response if one is not provided
    Go: webhook/admission: Admission Webhooks > shouldn't overwrite the status on a response
    """
    assert handled(admission.Response(allowed=True)).to_dict() == {
        "uid": "u1",
        "allowed": True,
        "status": {"code": 200},
    }
    own = handled(admission.Response(allowed=True, result=metav1.Status(code=201, message="Ground Control")))
    assert own.result is not None
    assert (own.result.code, own.result.message) == (201, "Ground Control")


def test_patches_become_one() -> None:
    """Go: webhook/admission: Admission Webhooks > should serialize patch operations into a single jsonpatch blob
    Go: webhook/admission: Admission Webhook Response Helpers > Patched
    """
    patches = [Operation("add", "/a", 2), Operation("replace", "/b", 4)]
    answer = handled(admission.patched("", *patches))
    assert (answer.allowed, answer.patch_type) == (True, "JSONPatch")
    assert answer.patch is not None
    assert json.loads(bytes(answer.patch)) == [
        {"op": "add", "path": "/a", "value": 2},
        {"op": "replace", "path": "/b", "value": 4},
    ]
    explained = admission.patched("because", *patches)
    assert explained.result is not None
    assert (explained.result.code, explained.result.message) == (200, "because")


def test_a_patch_that_is_no_json_is_an_answer() -> None:
    answer = handled(admission.patched("", Operation("add", "/a", float("nan"))))
    assert not answer.allowed
    assert answer.result is not None
    assert (answer.result.code, answer.result.message) == (500, "unable to encode response")


def test_a_standalone_webhook_with_a_path_for_metrics_counts_its_requests() -> None:
    hook = admission.Webhook(handler=lambda ctx, req: admission.allowed(""))
    handler = admission.standalone_webhook(hook, admission.StandaloneOptions(metrics_path="/standalone"))
    assert callable(handler)

    def count(name: str, **labels: str) -> Any:
        registry: Any = REGISTRY
        return registry.get_sample_value(f"controller_runtime_webhook_{name}", {"webhook": "/standalone", **labels})

    before = count("requests_total", code="200"), count("requests_total", code="500"), count("latency_seconds_count")
    body = json.dumps({"request": REQUEST.to_dict()}).encode()
    request = Request("POST", "/", read=lambda size: body[:size])
    request.headers["Content-Type"], request.headers["Content-Length"] = "application/json", str(len(body))
    response = ResponseWriter()
    handler(response, request)
    assert json.loads(response.body)["response"]["allowed"]
    assert before == (0, 0, 0)
    assert (count("requests_total", code="200"), count("requests_total", code="500")) == (1, 0)
    assert (count("latency_seconds_count"), count("requests_in_flight")) == (1, 0)


def logged_by_handler(log_constructor: Any) -> dict[str, Any]:
    """Return what a handler logs through its context."""
    out = io.StringIO()
    sink = zap.new(zap.write_to(out))

    def handle(ctx: Context, req: admission.Request) -> admission.Response:
        log.from_context(ctx).info("Received request")
        return admission.allowed("")

    hook = admission.Webhook(handler=handle, log_constructor=log_constructor)
    handler = admission.standalone_webhook(hook, admission.StandaloneOptions(logger=sink))
    body = json.dumps({"request": REQUEST.to_dict()}).encode()
    request = Request("POST", "/", read=lambda count: body[:count])
    request.headers["Content-Type"], request.headers["Content-Length"] = "application/json", str(len(body))
    assert not callable(handler)
    response = ResponseWriter()
    handler.serve_http(response, request)
    assert json.loads(response.body)["response"]["allowed"]
    found: dict[str, Any] = {}
    for line in map(json.loads, out.getvalue().splitlines()):
        if line["msg"] == "Received request":
            found = line
    return found


def test_handlers_log_with_what_the_request_is_about() -> None:
    """Go: webhook/admission: Admission Webhooks > should pass a request logger via the context"""
    line = logged_by_handler(None)
    assert (line["object"], line["namespace"], line["name"]) == ("ns/a", "ns", "a")
    assert (line["user"], line["requestID"]) == ("ada", "u1")
    assert line["resource"].endswith("Resource=pods")


def test_a_program_may_make_the_loggers() -> None:
    """Go: webhook/admission: Admission Webhooks > should pass a request logger created by LogConstructor via
    ... the context
    """
    out = io.StringIO()

    def construct(base: Logger, req: admission.Request | None) -> Logger:
        return zap.new(zap.write_to(out)).with_values(operation=req.operation if req else "none")

    assert logged_by_handler(construct) == {}
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["operation"] for line in lines if line["msg"] == "Received request"] == ["CREATE"]


def panics(ctx: Context, req: admission.Request) -> admission.Response:
    raise AssertionError("fake panic test")


@pytest.mark.parametrize("recover", [None, True])
def test_bugs_are_answered_with_500(recover: bool | None) -> None:
    """Go: webhook/admission: Admission Webhooks > panic recovery > should recover panic if RecoverPanic is true"""
    answer = admission.Webhook(handler=panics, recover_panic=recover).handle(background(), REQUEST)
    assert (answer.allowed, answer.uid) == (False, "u1")
    assert answer.result is not None
    assert (answer.result.code, answer.result.message) == (500, "panic: fake panic test [recovered]")


def test_the_programs_handlers_hear_of_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: reported.append(str(err))])
    admission.Webhook(handler=panics).handle(background(), REQUEST)
    assert reported == ["fake panic test"]


def test_the_line_about_a_bug_names_its_type(caplog: pytest.LogCaptureFixture) -> None:
    def looks_up(ctx: Any, req: Any) -> Any:
        return dict[str, Any]()["replicas"]

    with pytest.raises(KeyError):
        admission.Webhook(handler=looks_up, recover_panic=False).handle(background(), REQUEST)
    assert "Observed a panic: KeyError: 'replicas'" in caplog.text


def test_bugs_are_the_servers_if_so_wished() -> None:
    """Go: webhook/admission: Admission Webhooks > panic recovery > should not recover panic if RecoverPanic is false"""
    hook = admission.Webhook(handler=panics).with_recover_panic(False)
    with pytest.raises(AssertionError, match="fake panic test"):
        hook.handle(background(), REQUEST)


def test_a_context_carries_the_request() -> None:
    """Go: webhook/admission:  > Should be able to write/read admission.Request to/from context"""
    with pytest.raises(LookupError, match="not found in context"):
        admission.request_from_context(background())
    ctx = admission.new_context_with_request(background(), REQUEST)
    assert admission.request_from_context(ctx) is REQUEST


def test_an_object_in_the_place_of_a_function_is_asked() -> None:
    class Never:
        def handle(self, ctx: Context, req: admission.Request) -> admission.Response:
            return admission.denied("never")

    assert not admission.Webhook(handler=Never()).handle(background(), REQUEST).allowed
    with pytest.raises(TypeError, match="a handler has a method handle"):
        nothing: Any = 7
        admission.Webhook(handler=nothing, recover_panic=False).handle(background(), REQUEST)


def served(body: bytes, announced: int | None = None) -> str:
    """Return the response of a webhook that admits every request."""
    headers = Header()
    headers["Content-Type"] = "application/json"
    headers["Content-Length"] = str(len(body) if announced is None else announced)
    response = ResponseWriter()
    hook = admission.Webhook(handler=lambda ctx, req: admission.Response(allowed=True))
    hook.serve_http(response, Request("POST", "/", headers, io.BytesIO(body).read))
    return bytes(response.body).decode()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "request body is empty"),
        (b"{", "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (b' {"request":{"uid":"u"', "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (
            b'{"request":{"dryRun":tr',
            "couldn't get version/kind; json parse error: invalid character ' ' in literal true (expecting 'u')",
        ),
        (
            b'{"request":{}}}',
            "couldn't get version/kind; json parse error: invalid character '}' after top-level value",
        ),
        (
            b'{"request":NaN}',
            "couldn't get version/kind; json parse error: invalid character 'N' looking for beginning of value",
        ),
        (
            b'{"kind":5}',
            "couldn't get version/kind; json parse error: "
            "json: cannot unmarshal number into Go struct field .kind of type string",
        ),
        (
            b'{"request":{"uid":5}}',
            "json: cannot unmarshal number into Go struct field AdmissionRequest.request.uid of type types.UID",
        ),
        (
            b'{"request":{"userInfo":{"groups":"a"}}}',
            "json: cannot unmarshal string into Go struct field UserInfo.request.userInfo.groups of type []string",
        ),
    ],
)
def test_a_body_that_is_no_review_is_answered_with_go_s_error_and_an_empty_uid(body: bytes, text: str) -> None:
    """Go: webhook/admission: Admission Webhooks > should return bad-request when given an undecodable body
    Go: webhook/admission: Admission Webhooks > should return bad-request when given an empty body
    """
    answer = json.loads(served(body))
    assert answer == {"response": {"uid": "", "allowed": False, "status": {"message": text, "code": 400}}}


def test_half_of_a_surrogate_pair_is_read_as_go_reads_it() -> None:
    answer = json.loads(served(b'{"request":{"uid":"a\\ud800b\\udc00c\\ud83d\\ude00"}}'))
    assert answer["response"]["uid"] == "a\ufffdb\ufffdc\U0001f600"


def test_a_body_shorter_than_announced_is_a_bad_request() -> None:
    """Go: io.ReadAll fails for a connection that ends early."""
    body = b'{"request":{}}'
    answer = json.loads(served(body, announced=len(body) + 1))
    assert answer["response"]["status"] == {"message": "unexpected EOF", "code": 400}
    assert answer["response"]["uid"] == ""


@pytest.mark.parametrize(
    "body", [b'{"request":{}}', b'{"request":{"uid":""}}', b'{"request":null}', b"{}", b" ", b"request: {}"]
)
def test_the_answer_has_the_uid_of_the_request_though_it_is_empty(body: bytes) -> None:
    """Go: webhook/admission: Admission Webhooks > should return the response given by the handler with version
    ... defaulted to v1
    """
    answer = json.loads(served(body))
    assert (answer["kind"], answer["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    assert answer["response"] == {"uid": "", "allowed": True, "status": {"code": 200}}


class Judge:
    """A validator and a defaulter whose functions return a given value."""

    def __init__(self, returned: Any) -> None:
        self.returned = returned

    def validate_create(self, ctx: Context, obj: corev1.Pod) -> Any:
        return self.returned

    def validate_update(self, ctx: Context, old: corev1.Pod, new: corev1.Pod) -> Any:
        return self.returned

    validate_delete: Any = validate_create

    def default(self, ctx: Context, obj: corev1.Pod) -> Any:
        return obj if self.returned == "itself" else self.returned


@pytest.mark.parametrize("returned", [False, True, "beware", 3])
def test_a_validator_that_returns_no_warnings_rejects_the_object_and_is_explained(
    returned: object, caplog: pytest.LogCaptureFixture
) -> None:
    """False would admit the object, and a text would be one warning for each of its letters."""
    answer = admission.with_validator(SCHEME, corev1.Pod, Judge(returned)).handle(background(), REQUEST)
    assert not answer.allowed and answer.result is not None
    text = f"raises an error to reject; this one returned {returned!r}"
    assert text in answer.result.message
    assert text in caplog.messages[0].splitlines()[0]


@pytest.mark.parametrize(
    ("returned", "warnings"),
    [(None, []), ([], []), (["a", "b"], ["a", "b"]), (("a",), ["a"]), (iter(["a"]), ["a"]), ({"a": 1}, ["a"])],
)
def test_a_validator_returns_its_warnings_in_any_collection(returned: Any, warnings: list[str]) -> None:
    answer = admission.with_validator(SCHEME, corev1.Pod, Judge(returned)).handle(background(), REQUEST)
    assert answer.allowed
    assert answer.warnings == warnings


def test_a_defaulter_that_returns_another_object_is_explained(caplog: pytest.LogCaptureFixture) -> None:
    """Its defaults would be lost."""
    answer = admission.with_defaulter(SCHEME, corev1.Pod, Judge(corev1.Pod())).handle(background(), REQUEST)
    assert not answer.allowed
    assert "a defaulter changes the object that it gets" in caplog.messages[0].splitlines()[0]
    for harmless in (None, "itself"):
        assert admission.with_defaulter(SCHEME, corev1.Pod, Judge(harmless)).handle(background(), REQUEST).allowed


@pytest.mark.parametrize("combine", [None, admission.multi_mutating_handler, admission.multi_validating_handler])
@pytest.mark.parametrize("returned", [None, True, {"allowed": True}])
def test_a_handler_that_returns_no_response_is_named(
    combine: Any, returned: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def forgetful(ctx: Context, req: admission.Request) -> Any:
        return returned

    handler = forgetful if combine is None else combine(forgetful)
    answer = admission.Webhook(handler=handler).handle(background(), REQUEST)
    assert not answer.allowed and answer.result is not None
    text = f"forgetful returned {returned!r}"
    assert text in answer.result.message
    assert text in caplog.messages[0].splitlines()[0]
