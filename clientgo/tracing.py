"""OpenTelemetry spans of requests and reconciles, for programs that export traces.

    config.wrap(tracing.wrapper_for())
    builder.complete(tracing.traced_reconciler(reconciler, "guestbook"))

Mirrors k8s.io/component-base/tracing, which wraps the transport in the same way; reconciles have no counterpart there.
The requests that a reconcile sends are children of its span, because both run in the same thread. Needs the extra
`tracing`, which installs OpenTelemetry's API alone. The program chooses the SDK and the exporter; without an SDK the
spans cost a microsecond and go nowhere.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

if find_spec("opentelemetry") is None:
    raise ModuleNotFoundError(
        "clientgo.tracing needs opentelemetry-api: pip install 'clientgo[tracing]'", name="opentelemetry"
    )

from opentelemetry import propagate, trace

from clientgo.context import Context
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.transport.config import WrapperFunc

__all__ = ["traced_reconciler", "wrapper_for"]

_NAME = "clientgo"
RequestT = TypeVar("RequestT")
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)
ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


class _Reconciler(Protocol[RequestT_contra, ResultT_co]):
    def reconcile(self, ctx: Context, request: RequestT_contra, /) -> ResultT_co: ...


def wrapper_for(tracer_provider: trace.TracerProvider | None = None) -> WrapperFunc:
    """Return a wrapper for `rest.Config.wrap` that makes a span for each attempt of a request.

    The span begins before the request is sent and ends when the headers of the response have arrived, so a watch does
    not keep one open. The request carries the span's context in the headers of the global propagator, normally
    `traceparent`. Attributes follow OpenTelemetry's conventions for HTTP; query and credentials are left out. A status
    of 400 or more, and a request without a response, is an error. `tracer_provider` None selects the global one.
    Thread-safe. Go: tracing.WrapperFor.
    """
    tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
    return lambda rt: _RoundTripper(rt, tracer)


class _RoundTripper:
    def __init__(self, rt: RoundTripper, tracer: trace.Tracer) -> None:
        self._rt = rt
        self._tracer = tracer

    def round_trip(self, request: Request) -> Response:
        url = urlsplit(request.url)
        attributes: dict[str, str | int] = {
            "http.request.method": request.method,
            "server.address": url.hostname or "",
            "url.path": url.path,
        }
        if url.port:
            attributes["server.port"] = url.port
        with self._tracer.start_as_current_span(
            request.method, kind=trace.SpanKind.CLIENT, attributes=attributes
        ) as span:
            request = request.clone()
            carrier: dict[str, str] = {}
            propagate.inject(carrier)
            for name, value in carrier.items():
                request.headers[name] = value
            response = self._rt.round_trip(request)
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 400:
                span.set_attribute("error.type", str(response.status_code))
                span.set_status(trace.StatusCode.ERROR)
            return response

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._rt


def traced_reconciler(
    reconciler: _Reconciler[RequestT, ResultT], name: str, tracer_provider: trace.TracerProvider | None = None
) -> _Reconciler[RequestT, ResultT]:
    """Return a reconciler that makes a span for each reconcile of `reconciler`. `name` is the controller's name.

    The span has the name "reconcile NAME", and the request's namespace and name if it has these. It records an
    exception, which is raised unchanged. `tracer_provider` None selects the global one. Thread-safe if `reconciler` is.
    """
    return _TracedReconciler(reconciler, name, trace.get_tracer(_NAME, tracer_provider=tracer_provider))


class _TracedReconciler(_Reconciler[RequestT, ResultT]):
    def __init__(self, reconciler: _Reconciler[RequestT, ResultT], name: str, tracer: trace.Tracer) -> None:
        self._reconciler = reconciler
        self._name = name
        self._tracer = tracer

    def reconcile(self, ctx: Context, request: RequestT, /) -> ResultT:
        attributes = {
            "controller": self._name,
            "k8s.namespace.name": getattr(request, "namespace", ""),
            "k8s.object.name": getattr(request, "name", ""),
        }
        with self._tracer.start_as_current_span(f"reconcile {self._name}", attributes=attributes):
            return self._reconciler.reconcile(ctx, request)

    def __repr__(self) -> str:
        return f"<traced {self._reconciler!r}>"
