"""A client that sets the field owner of its writes. Mirrors pkg/client/fieldowner.go."""

from __future__ import annotations

from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import ApplyConfiguration, Client, Patch, SubResourceClient
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.client.options import (
    ApplyOption,
    CreateOption,
    FieldOwner,
    PatchOption,
    SubResourceApplyOption,
    SubResourceCreateOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
)
from clientgo.controller_runtime.client.wrapped import WrappedClient, WrappedSubResourceClient
from clientgo.gentype import methods_take_context


def with_field_owner(c: Client, field_owner: str) -> Client:
    """Return a client whose writes use this field owner, unless a call names another. Go: client.WithFieldOwner."""
    return _ClientWithFieldManager(c, FieldOwner(field_owner))


@methods_take_context
class _ClientWithFieldManager(WrappedClient):
    def __init__(self, client: Client, owner: FieldOwner) -> None:
        super().__init__(client)
        self._owner = owner

    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self._client.create(ctx, obj, self._owner, *opts)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        self._client.update(ctx, obj, self._owner, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self._client.patch(ctx, obj, patch, self._owner, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        self._client.apply(ctx, obj, self._owner, *opts)

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return _SubResourceClientWithFieldOwner(self._client.sub_resource(sub_resource), self._owner)


@methods_take_context
class _SubResourceClientWithFieldOwner(WrappedSubResourceClient):
    def __init__(self, client: SubResourceClient, owner: FieldOwner) -> None:
        super().__init__(client)
        self._owner = owner

    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self._client.create(ctx, obj, sub_resource, self._owner, *opts)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self._client.update(ctx, obj, self._owner, *opts)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._client.patch(ctx, obj, patch, self._owner, *opts)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        self._client.apply(ctx, obj, self._owner, *opts)
