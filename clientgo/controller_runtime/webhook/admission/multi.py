"""A handler that combines several admission handlers. Mirrors pkg/webhook/admission/multi.go."""

from __future__ import annotations

import json

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.jsonpatch import Operation
from clientgo.context import Context
from clientgo.controller_runtime.webhook.admission.response import errored
from clientgo.controller_runtime.webhook.admission.webhook import Handler, HandlerOf, Request, Response, to_function

__all__ = ["multi_mutating_handler", "multi_validating_handler"]


class _MultiMutating:
    """Go: multiMutating."""

    def __init__(self, handlers: tuple[HandlerOf, ...]) -> None:
        self._handlers = [to_function(handler) for handler in handlers]

    def handle(self, ctx: Context, req: Request) -> Response:
        patches: list[Operation] = []
        warnings: list[str] = []
        for handle in self._handlers:
            response = handle(ctx, req)
            if not response.allowed:
                return response
            if response.patch_type not in (None, admissionv1.PatchType.JSON_PATCH):
                text = f"unexpected patch type returned by the handler: {response.patch_type}, only allow: JSONPatch"
                return errored(500, text)
            patches += response.patches
            warnings += response.warnings
        return Response(
            allowed=True,
            result=metav1.Status(code=200),
            patch=json.dumps([step.to_dict() for step in patches]).encode(),
            patch_type=admissionv1.PatchType.JSON_PATCH,
            warnings=warnings,
        )


class _MultiValidating:
    """Go: multiValidating."""

    def __init__(self, handlers: tuple[HandlerOf, ...]) -> None:
        self._handlers = [to_function(handler) for handler in handlers]

    def handle(self, ctx: Context, req: Request) -> Response:
        warnings: list[str] = []
        for handle in self._handlers:
            response = handle(ctx, req)
            if not response.allowed:
                return response
            warnings += response.warnings
        return Response(allowed=True, result=metav1.Status(code=200), warnings=warnings)


def multi_mutating_handler(*handlers: HandlerOf) -> Handler:
    """Return a handler that calls all handlers in turn. The first denial is the response; otherwise it has all patches.

    Each handler receives the original object, without the changes of the handlers before it. Go: MultiMutatingHandler.
    """
    return _MultiMutating(handlers)


def multi_validating_handler(*handlers: HandlerOf) -> Handler:
    """Return a handler that calls all handlers in turn. The first denial is the response.

    Go: MultiValidatingHandler.
    """
    return _MultiValidating(handlers)
