"""A client that selects the server's validation of unknown fields. Mirrors pkg/client/fieldvalidation.go."""

from __future__ import annotations

from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import Client, Patch, SubResourceClient
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.client.options import (
    CreateOption,
    FieldValidation,
    PatchOption,
    SubResourceCreateOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
)
from clientgo.controller_runtime.client.wrapped import WrappedClient, WrappedSubResourceClient
from clientgo.gentype import methods_take_context


def with_field_validation(c: Client, validation: FieldValidation) -> Client:
    """Return a client whose writes request this validation, unless a call names another.

    Not for `apply`, which is always strict. Raises TypeError for anything but a FieldValidation.
    Go: client.WithFieldValidation.
    """
    if not isinstance(validation, FieldValidation):
        raise TypeError(f"expected a client.FieldValidation, got {validation!r} of type {type(validation).__name__}")
    return _ClientWithFieldValidation(c, validation)


@methods_take_context
class _ClientWithFieldValidation(WrappedClient):
    def __init__(self, client: Client, validation: FieldValidation) -> None:
        super().__init__(client)
        self._validation = validation

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self._client.create(ctx, obj, self._validation, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        self._client.update(ctx, obj, self._validation, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self._client.patch(ctx, obj, patch, self._validation, *opts)

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return _SubResourceClientWithFieldValidation(self._client.sub_resource(sub_resource), self._validation)


@methods_take_context
class _SubResourceClientWithFieldValidation(WrappedSubResourceClient):
    def __init__(self, client: SubResourceClient, validation: FieldValidation) -> None:
        super().__init__(client)
        self._validation = validation

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self._client.create(ctx, obj, sub_resource, self._validation, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self._client.update(ctx, obj, self._validation, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._client.patch(ctx, obj, patch, self._validation, *opts)
