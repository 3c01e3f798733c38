"""A user's defaulter as a mutating webhook. Mirrors pkg/webhook/admission/defaulter_custom.go.

A Defaulter changes the object in place. If it raises, the webhook denies the request: with the status of an API error,
otherwise with 403 and the error's text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.apimachinery.runtime.converter import to_go_document
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.unknown_fields import UnknownFieldsError
from clientgo.apimachinery.util.errors.chain import as_type
from clientgo.context import Context
from clientgo.controller_runtime.internal.panics import is_panic
from clientgo.controller_runtime.webhook.admission.decode import new_decoder
from clientgo.controller_runtime.webhook.admission.response import (
    denied,
    errored,
    patch_response_from_raw,
    validation_response_from_status,
)
from clientgo.controller_runtime.webhook.admission.webhook import Request, Response, Webhook, new_context_with_request
from clientgo.golang.functions import require_object
from clientgo.klog.exceptions import full_text

__all__ = [
    "CustomDefaulter",
    "Defaulter",
    "DefaulterOption",
    "defaulter_remove_unknown_or_omitable_fields",
    "with_custom_defaulter",
    "with_defaulter",
]

ObjectT = TypeVar("ObjectT", bound=Object)
ObjectT_contra = TypeVar("ObjectT_contra", bound=Object, contravariant=True)


class Defaulter(Protocol[ObjectT_contra]):
    """A function that sets missing values of an object. Several threads call it concurrently.

    Go: admission.Defaulter.
    """

    def default(self, ctx: Context, obj: ObjectT_contra, /) -> None:
        """Change `obj` in place. `request_from_context(ctx)` returns the request."""
        ...


CustomDefaulter: TypeAlias = Defaulter[Any]
"""Deprecated: use Defaulter."""

DefaulterOption: TypeAlias = Callable[["_Options"], None]
"""An option of a defaulter. Go: admission.DefaulterOption."""


class _Options:
    remove_unknown_or_omitable_fields = False


def defaulter_remove_unknown_or_omitable_fields(options: _Options) -> None:
    """Remove unknown fields and zero values, which Go's encoder omits. Go: DefaulterRemoveUnknownOrOmitableFields."""
    options.remove_unknown_or_omitable_fields = True


def with_defaulter(
    scheme: Scheme, cls: type[ObjectT], defaulter: Defaulter[ObjectT], *opts: DefaulterOption
) -> Webhook:
    """Return a webhook that defaults objects of `cls`. Go: WithDefaulter."""
    options = _Options()
    for opt in opts:
        opt(options)
    return Webhook(handler=_DefaulterForType(scheme, cls, defaulter, options))


def with_custom_defaulter(
    scheme: Scheme, cls: type[Object], defaulter: CustomDefaulter, *opts: DefaulterOption
) -> Webhook:
    """Return a webhook that defaults objects of `cls`, as `with_defaulter` does. Go: WithCustomDefaulter."""
    return with_defaulter(scheme, cls, defaulter, *opts)


class _DefaulterForType(Generic[ObjectT]):
    """Go: defaulterForType."""

    def __init__(self, scheme: Scheme, cls: type[ObjectT], defaulter: Defaulter[ObjectT], options: _Options) -> None:
        if defaulter is None:
            raise ValueError("defaulter should never be nil")
        require_object(defaulter, "the defaulter", {"default": "ctx, obj"})
        self._decoder = new_decoder(scheme)
        self._cls = cls
        self._defaulter = defaulter
        self._options = options

    def handle(self, ctx: Context, req: Request) -> Response:
        if req.operation == admissionv1.Operation.DELETE:
            # A deletion needs no defaulting.
            return Response(allowed=True, result=metav1.Status(code=200))
        ctx = new_context_with_request(ctx, req)
        try:
            obj = self._decoder.decode(req, self._cls)
        except ValueError as err:
            return errored(400, err)
        try:
            returned: object = self._defaulter.default(ctx, obj)  # type: ignore[func-returns-value]
            if isinstance(returned, (Object, Coroutine, Generator, BaseException)) and returned is not obj:
                raise TypeError(f"a defaulter changes the object that it gets; this one returned {returned!r}")
            current = json_document_of(obj)
        except UnknownFieldsError as err:  # It has copied them from an object of another kind.
            return errored(500, err)
        except Exception as err:
            return rejection(err)
        if self._options.remove_unknown_or_omitable_fields:
            current = _kept(current, to_go_document(obj))
        return patch_response_from_raw(_json(req.object), _json(current))


def rejection(err: Exception) -> Response:
    """Return the response for the error of a defaulter or validator. Reraises an error that is a bug."""
    if is_panic(err):
        raise err
    status = as_type(err, errors.StatusError)
    return denied(full_text(err)) if status is None else validation_response_from_status(False, status.status())


def _kept(document: Any, encoded: Any) -> Any:
    """Return the parts of the document that Go's encoder also writes."""
    if isinstance(document, dict) and isinstance(encoded, dict):
        return {key: _kept(value, encoded[key]) for key, value in document.items() if key in encoded}
    if isinstance(document, list) and isinstance(encoded, list):
        return [_kept(value, one) for value, one in zip(document, encoded)]
    return document


def _json(document: Any) -> bytes:
    return json.dumps(document).encode()
