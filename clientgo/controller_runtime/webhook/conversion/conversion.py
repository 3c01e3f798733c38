"""The webhook that converts custom resources between their versions. Mirrors pkg/webhook/conversion/conversion.go.

The webhook uses the converter that is registered for the kind, or else methods of its types (Hub, Convertible).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.converter import decode_as_go
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.apimachinery.util.json import unmarshal
from clientgo.context import Context
from clientgo.controller_runtime.conversion import Convertible, Hub
from clientgo.controller_runtime.internal.panics import describe_panic, is_panic
from clientgo.controller_runtime.log.log import LOG
from clientgo.controller_runtime.webhook.conversion.conversion_registry import Registry
from clientgo.controller_runtime.webhook.conversion.decoder import new_decoder
from clientgo.controller_runtime.webhook.conversion.metrics import WEBHOOK_PANICS
from clientgo.golang.functions import call_checked
from clientgo.golang.http.server import Request, RequestBodyTooLarge, ResponseWriter
from clientgo.klog.exceptions import full_text

__all__ = ["PartialImplementationError", "is_convertible", "new_webhook_handler"]

_LOG = LOG.with_name("conversion-webhook")
# The number of bytes that the API server accepts in a response.
_MAX_REQUEST_SIZE = 64 * 1024 * 1024


def new_webhook_handler(scheme: Scheme, registry: Registry) -> Callable[[ResponseWriter, Request], None]:
    """Return a handler of conversion reviews for the kinds of `scheme`. Go: NewWebhookHandler."""
    return _Webhook(scheme, registry).serve_http


class _Webhook:
    """Go: webhook. Thread-safe."""

    def __init__(self, scheme: Scheme, registry: Registry) -> None:
        self._scheme = scheme
        self._registry = registry
        self._decoder = new_decoder(scheme)

    def serve_http(self, resp: ResponseWriter, req: Request) -> None:
        try:
            document = unmarshal(req.read_body(_MAX_REQUEST_SIZE))
            if document is not None and not isinstance(document, dict):
                raise ValueError("the review is no object")
            review = decode_as_go(apiextensionsv1.ConversionReview, document or {})
        except (ValueError, TypeError, RecursionError, OSError, RequestBodyTooLarge) as err:
            _LOG.error(err, "failed to read conversion request")
            resp.write_header(400)
            return
        request = review.request
        if request is None:
            _LOG.error(None, "conversion request is nil")
            resp.write_header(400)
            return
        response = self._answer(req.context(), request)
        response.uid = request.uid
        # As in Go, the answer has the kind and version that the request states.
        review.request, review.response = None, response
        resp.header()["Content-Type"] = "application/json"
        resp.write(json.dumps(review.to_dict()) + "\n")

    def _answer(self, ctx: Context, request: apiextensionsv1.ConversionRequest) -> apiextensionsv1.ConversionResponse:
        """Convert all objects or none. An error or a bug in a converter becomes a failed response."""
        try:
            converted = [self._converted(ctx, obj, request.desired_api_version) for obj in request.objects]
        except Exception as err:
            if is_panic(err):
                WEBHOOK_PANICS.inc()
                for handler in utilruntime.PANIC_HANDLERS:
                    handler(ctx, err)
                err = RuntimeError(f"panic: {describe_panic(err)} [recovered]")
            _LOG.error(err, "failed to convert", request=request.uid)
            return apiextensionsv1.ConversionResponse(result=metav1.Status(status="Failure", message=full_text(err)))
        return apiextensionsv1.ConversionResponse(
            converted_objects=converted, result=metav1.Status(status="Success")
        )

    def _converted(self, ctx: Context, document: dict[str, Any], desired: str) -> dict[str, Any]:
        src, gvk = self._decoder.decode(document)
        wanted = parse_group_version(desired).with_kind(gvk.kind)
        dst = self._scheme.new(wanted)
        self._convert(ctx, src, gvk, dst, wanted)
        return {**json_document_of(dst), "apiVersion": desired, "kind": gvk.kind}

    def _convert(self, ctx: Context, src: Object, gvk: GroupVersionKind, dst: Object, wanted: GroupVersionKind) -> None:
        here, there = type(src).__name__, type(dst).__name__
        if gvk.group_kind() != wanted.group_kind():
            raise ValueError(f"src {here} and dst {there} does not belong to same API Group")
        if gvk == wanted:
            raise ValueError(f"conversion is not allowed between same type {here}")
        converter, found = self._registry.get_converter(gvk.group_kind())
        if found and converter is not None:
            call_checked(converter.convert_object, ctx, src, dst)
        elif isinstance(src, Hub) and isinstance(dst, Convertible):
            call_checked(dst.convert_from, src)
        elif isinstance(dst, Hub) and isinstance(src, Convertible):
            call_checked(src.convert_to, dst)
        elif isinstance(src, Convertible) and isinstance(dst, Convertible):
            hub = self._hub_of(gvk)
            call_checked(src.convert_to, hub)
            call_checked(dst.convert_from, hub)
        else:
            raise ValueError(f"{here} is not convertible to {there}")

    def _hub_of(self, gvk: GroupVersionKind) -> Object:
        """Return an empty object of the hub version."""
        hubs = [cls for cls in _versions(self._scheme, gvk) if isinstance(cls(), Hub)]
        if len(hubs) != 1:
            problem = "multiple hub versions defined for" if hubs else "does not have any Hub defined:"
            raise ValueError(f"{problem} {gvk.group_kind()}")
        return hubs[0]()


def _versions(scheme: Scheme, gvk: GroupVersionKind) -> list[type[Object]]:
    known = scheme.all_known_types()
    return [cls for other, cls in known.items() if other.group_kind() == gvk.group_kind()]


def is_convertible(scheme: Scheme, obj: Object) -> bool:
    """Report whether all versions of the object's kind convert by methods. Returns False for a single version.

    Raises PartialImplementationError if only some versions do. Go: IsConvertible.
    """
    gvk = type(obj).GROUP_VERSION_KIND
    if gvk is None:
        return False
    versions = _versions(scheme, gvk)
    if len(versions) <= 1:
        return False
    hubs = [cls for cls in versions if isinstance(cls(), Hub)]
    spokes = [cls for cls in versions if cls not in hubs and isinstance(cls(), Convertible)]
    others = [cls for cls in versions if cls not in hubs and cls not in spokes]
    if not hubs and not spokes:
        return False
    if len(hubs) == 1 and not others:
        return True
    raise PartialImplementationError(gvk, hubs, others, spokes)


class PartialImplementationError(ValueError):
    """Raised when some versions of a kind convert and others do not. Go: conversion.PartialImplementationError."""

    def __init__(
        self,
        gvk: GroupVersionKind,
        hubs: list[type[Object]],
        non_spokes: list[type[Object]],
        spokes: list[type[Object]],
    ) -> None:
        def names(classes: list[type[Object]]) -> str:
            return "[" + " ".join(cls.__name__ for cls in classes) + "]"

        if not hubs:
            text = f"no hub defined for gvk {gvk}"
        elif len(hubs) > 1:
            text = f"multiple({len(hubs)}) hubs defined for group-kind '{gvk.kind}' hubs {names(hubs)}"
        else:
            text = f"{len(non_spokes)} inconvertible types detected for group-kind '{gvk.kind}': {names(non_spokes)}"
        super().__init__(text)
        self.hubs = hubs
        self.non_spokes = non_spokes
        self.spokes = spokes
