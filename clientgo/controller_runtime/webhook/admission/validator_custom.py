"""A user's validator as a validating webhook. Mirrors pkg/webhook/admission/validator_custom.go.

A validator returns warnings, or None. If it raises, the webhook denies the request: with the status of an API error,
otherwise with 403 and the error's text. Go returns both warnings and an error; here use `raise with_warnings(err,
"...")`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clientgo.api.admission import v1 as admissionv1
from clientgo.apimachinery.runtime import Object, Scheme
from clientgo.context import Context
from clientgo.controller_runtime.webhook.admission.decode import new_decoder
from clientgo.controller_runtime.webhook.admission.defaulter_custom import rejection
from clientgo.controller_runtime.webhook.admission.response import allowed, errored
from clientgo.controller_runtime.webhook.admission.webhook import Request, Response, Webhook, new_context_with_request
from clientgo.golang.functions import require_object
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
"""Warnings that the API server sends to the user. Each should have fewer than 120 characters.

Go: admission.Warnings.
"""

# The attribute of an exception that holds warnings.
_WARNINGS = "admission_warnings"


class Validator(Protocol[ObjectT_contra]):
    """A validator of the objects of one kind. Several threads call it concurrently. Go: admission.Validator.

    `request_from_context(ctx)` returns the request.
    """

    def validate_create(self, ctx: Context, obj: ObjectT_contra, /) -> Warnings | None:
        """Raise an error if a new object is invalid."""
        ...

    def validate_update(self, ctx: Context, old_obj: ObjectT_contra, new_obj: ObjectT_contra, /) -> Warnings | None:
        """Raise an error if a change is invalid."""
        ...

    def validate_delete(self, ctx: Context, obj: ObjectT_contra, /) -> Warnings | None:
        """Raise an error if the object must not be deleted."""
        ...


CustomValidator: TypeAlias = Validator[Any]
"""Deprecated: use Validator."""


def with_warnings(err: E, *warnings: str) -> E:
    """Attach warnings to `err` and return it: `raise with_warnings(ValueError("no"), "think again")`."""
    setattr(err, _WARNINGS, warnings)
    return err


def with_validator(scheme: Scheme, cls: type[ObjectT], validator: Validator[ObjectT]) -> Webhook:
    """Return a webhook that validates objects of `cls`. Go: WithValidator."""
    return Webhook(handler=_ValidatorForType(scheme, cls, validator))


def with_custom_validator(scheme: Scheme, cls: type[Object], validator: CustomValidator) -> Webhook:
    """Deprecated: use `with_validator`. Go: WithCustomValidator."""
    return with_validator(scheme, cls, validator)


def _require_warnings(returned: object) -> Warnings | None:
    """Return a validator's warnings. Raises TypeError for other values, which admit an object by mistake."""
    if returned is None or isinstance(returned, (list, tuple)):
        return returned
    if isinstance(returned, Iterable) and not isinstance(returned, (str, bytes)):
        return list(returned)
    raise TypeError(
        f"a validator returns a list of warnings or None, and raises an error to reject; this one returned {returned!r}"
    )


class _ValidatorForType(Generic[ObjectT]):
    """Go: validatorForType."""

    def __init__(self, scheme: Scheme, cls: type[ObjectT], validator: Validator[ObjectT]) -> None:
        if validator is None:
            raise ValueError("validator should never be nil")
        require_object(
            validator,
            "the validator",
            {"validate_create": "ctx, obj", "validate_update": "ctx, old, new", "validate_delete": "ctx, obj"},
        )
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
        """Return the objects to validate."""
        if req.operation == admissionv1.Operation.CONNECT:
            return []
        if req.operation == admissionv1.Operation.CREATE:
            return [self._decoder.decode(req, self._cls)]
        if req.operation == admissionv1.Operation.UPDATE:
            new = self._decoder.decode_raw(req.object, self._cls)
            return [self._decoder.decode_raw(req.old_object, self._cls), new]
        if req.operation == admissionv1.Operation.DELETE:
            # A deletion carries the old object.
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
        return _require_warnings(functions[operation](ctx, *arguments))
