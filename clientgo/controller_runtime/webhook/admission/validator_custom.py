"""A validator of one's own as a validating webhook. Mirrors pkg/webhook/admission/validator_custom.go.

A validator returns warnings, or None; what it raises denies the request: an API error with its own status, anything
else with 403 and its text. In Go it returns both; here `raise with_warnings(err, "...")` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.context import Context
from clientgo.controller_runtime.webhook.admission.decode import new_decoder
from clientgo.controller_runtime.webhook.admission.defaulter_custom import rejection
from clientgo.controller_runtime.webhook.admission.response import allowed, errored
from clientgo.controller_runtime.webhook.admission.webhook import Request, Response, Webhook, new_context_with_request
from clientgo.golang.strconv import quote

__all__ = [
    "CustomValidator",
    "Validator",
    "Warnings",
    "with_custom_validator",
    "with_validator",
    "with_warnings",
]

ObjectT = TypeVar("ObjectT", bound=Object)
ObjectT_contra = TypeVar("ObjectT_contra", bound=Object, contravariant=True)
E = TypeVar("E", bound=BaseException)

Warnings: TypeAlias = Sequence[str]
"""What the user is told besides the decision. Go: admission.Warnings. Shorter than 120 characters each, please."""

# The attribute of an exception that carries warnings.
_WARNINGS = "admission_warnings"


class Validator(Protocol[ObjectT_contra]):
    """Decides about objects of one kind. Go: admission.Validator. Called by several threads at once.

    The request is in the context: `request_from_context`.
    """

    def validate_create(self, ctx: Context, obj: ObjectT_contra, /) -> Warnings | None:
        """Raise what is wrong with a new object."""
        ...

    def validate_update(self, ctx: Context, old_obj: ObjectT_contra, new_obj: ObjectT_contra, /) -> Warnings | None:
        """Raise what is wrong with a change."""
        ...

    def validate_delete(self, ctx: Context, obj: ObjectT_contra, /) -> Warnings | None:
        """Raise why the object must stay."""
        ...


CustomValidator: TypeAlias = Validator[Any]
"""Deprecated: Validator."""


def with_warnings(err: E, *warnings: str) -> E:
    """`err`, carrying warnings for the user: `raise with_warnings(ValueError("no"), "think again")`."""
    setattr(err, _WARNINGS, warnings)
    return err


def with_validator(scheme: Scheme, cls: type[ObjectT], validator: Validator[ObjectT]) -> Webhook:
    """A webhook that validates objects of `cls`. Go: WithValidator."""
    return Webhook(handler=_ValidatorForType(scheme, cls, validator))


def with_custom_validator(scheme: Scheme, cls: type[Object], validator: CustomValidator) -> Webhook:
    """Deprecated: `with_validator`. Go: WithCustomValidator."""
    return with_validator(scheme, cls, validator)


class _ValidatorForType(Generic[ObjectT]):
    """Go: validatorForType."""

    def __init__(self, scheme: Scheme, cls: type[ObjectT], validator: Validator[ObjectT]) -> None:
        if validator is None:
            raise ValueError("validator should never be nil")
        self._decoder = new_decoder(scheme)
        self._cls = cls
        self._validator = validator

    def handle(self, ctx: Context, req: Request) -> Response:
        ctx = new_context_with_request(ctx, req)
        try:
            arguments = self._arguments(req)
        except ValueError as err:
            return errored(400, err)
        try:
            warnings = self._validate(ctx, req.operation, arguments)
        except Exception as err:
            return rejection(err).with_warnings(*getattr(err, _WARNINGS, ()))
        return allowed("").with_warnings(*(warnings or ()))

    def _arguments(self, req: Request) -> list[ObjectT]:
        """The objects that the validator looks at."""
        if req.operation == admissionv1.Operation.CONNECT:
            return []
        if req.operation == admissionv1.Operation.CREATE:
            return [self._decoder.decode(req, self._cls)]
        if req.operation == admissionv1.Operation.UPDATE:
            new = self._decoder.decode_raw(req.object, self._cls)
            return [self._decoder.decode_raw(req.old_object, self._cls), new]
        if req.operation == admissionv1.Operation.DELETE:
            # What goes is the old object.
            return [self._decoder.decode_raw(req.old_object, self._cls)]
        raise ValueError(f"unknown operation {quote(req.operation)}")

    def _validate(self, ctx: Context, operation: str, arguments: list[ObjectT]) -> Warnings | None:
        if not arguments:
            return None
        functions: dict[str, Any] = {
            admissionv1.Operation.CREATE: self._validator.validate_create,
            admissionv1.Operation.UPDATE: self._validator.validate_update,
            admissionv1.Operation.DELETE: self._validator.validate_delete,
        }
        warnings: Warnings | None = functions[operation](ctx, *arguments)
        return warnings
