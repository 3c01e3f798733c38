"""Spans of requests and reconciles, in the SDK's exporter that keeps them in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the SDK of OpenTelemetry is not installed")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from clientgo import context, kubernetes, rest, tracing
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.types import NamespacedName
from clientgo.context import Context
from clientgo.golang.http import Request, Response

CTX = context.background()


class Spans:
    """A provider of tracers, and the spans that have ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def ended(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())


class Server:
    """A transport with one answer, which keeps the requests."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.requests: list[Request] = []

    def round_trip(self, request: Request) -> Response:
        self.requests.append(request)
        if not self.status:
            raise OSError("no route")
        return Response(status_code=self.status)


@pytest.fixture
def spans() -> Iterator[Spans]:
    made = Spans()
    yield made
    made.provider.shutdown()


def request() -> Request:
    return Request(method="GET", url="https://user:secret@host:6443/api/v1/pods?watch=true")


def test_a_request_has_a_span_and_carries_its_context(spans: Spans) -> None:
    server, sent = Server(), request()

    tracing.wrapper_for(spans.provider)(server).round_trip(sent)

    (span,) = spans.ended()
    assert (span.name, span.kind, span.status.status_code) == ("GET", SpanKind.CLIENT, StatusCode.UNSET)
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "server.address": "host",
        "server.port": 6443,
        "url.path": "/api/v1/pods",
        "http.response.status_code": 200,
    }
    assert span.context is not None
    trace_id, span_id = f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"
    assert server.requests[0].headers["traceparent"] .startswith(f"00-{trace_id}-{span_id}-")
    assert "traceparent" not in sent.headers


@pytest.mark.parametrize(("status", "failed"), [(399, False), (400, True), (503, True)])
def test_a_status_from_400_on_is_an_error(spans: Spans, status: int, failed: bool) -> None:
    tracing.wrapper_for(spans.provider)(Server(status)).round_trip(request())

    (span,) = spans.ended()
    assert (span.status.status_code is StatusCode.ERROR) == failed
    assert (span.attributes or {}).get("error.type") == (str(status) if failed else None)


def test_a_request_without_a_response_is_an_error_with_its_exception(spans: Spans) -> None:
    with pytest.raises(OSError, match="no route"):
        tracing.wrapper_for(spans.provider)(Server(0)).round_trip(request())

    (span,) = spans.ended()
    assert span.status.status_code is StatusCode.ERROR
    assert [event.name for event in span.events] == ["exception"]


class Reconciler:
    """A reconciler that reads an object."""

    def __init__(self, client: kubernetes.Interface) -> None:
        self._client = client

    def reconcile(self, ctx: Context, request: NamespacedName, /) -> str:
        return self._client.core_v1().config_maps(request.namespace).get(ctx, request.name).get_name()


def test_the_requests_of_a_reconcile_are_children_of_its_span(spans: Spans) -> None:
    config = rest.Config(host="http://host", transport=Server(404))
    config.wrap(tracing.wrapper_for(spans.provider))
    traced = tracing.traced_reconciler(Reconciler(kubernetes.new_for_config(config)), "guestbook", spans.provider)

    with pytest.raises(errors.StatusError):
        traced.reconcile(CTX, NamespacedName("default", "web"))

    get, reconcile = spans.ended()
    assert (get.name, reconcile.name) == ("GET", "reconcile guestbook")
    assert get.parent is not None
    assert reconcile.context is not None
    assert get.parent.span_id == reconcile.context.span_id
    assert reconcile.status.status_code is StatusCode.ERROR
    assert dict(reconcile.attributes or {}) == {
        "controller": "guestbook",
        "k8s.namespace.name": "default",
        "k8s.object.name": "web",
    }


def test_the_result_of_a_reconciler_is_returned(spans: Spans) -> None:
    class Done:
        def reconcile(self, ctx: Context, request: str, /) -> int:
            return len(request)

    assert tracing.traced_reconciler(Done(), "x", spans.provider).reconcile(CTX, "abc") == 3
