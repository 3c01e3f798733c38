"""A client that sends all writes as dry runs. Mirrors pkg/client/dryrun.go."""

from __future__ import annotations

from typing import TypeVar

from clientgo.context import Context
from clientgo.controller_runtime.client.interfaces import (
    ApplyConfiguration,
    Client,
    Patch,
    SubResourceClient,
)
from clientgo.controller_runtime.client.object import Object
from clientgo.controller_runtime.client.options import (
    DRY_RUN_ALL,
    ApplyOption,
    CreateOption,
    DeleteAllOfOption,
    DeleteOption,
    PatchOption,
    SubResourceApplyOption,
    SubResourceCreateOption,
    SubResourcePatchOption,
    SubResourceUpdateOption,
    UpdateOption,
)
from clientgo.controller_runtime.client.wrapped import WrappedClient, WrappedSubResourceClient
from clientgo.gentype import methods_take_context

T = TypeVar("T", bound=Object)


def new_dry_run_client(c: Client) -> Client:
    """Return a client that sends all writes as dry runs, whatever options a call has. Go: client.NewDryRunClient."""
    return _DryRunClient(c)


@methods_take_context
class _DryRunClient(WrappedClient):
    def create(self, ctx: Context, obj: Object, *opts: CreateOption) -> None:
        self._client.create(ctx, obj, *opts, DRY_RUN_ALL)

    def update(self, ctx: Context, obj: Object, *opts: UpdateOption) -> None:
        self._client.update(ctx, obj, *opts, DRY_RUN_ALL)

    def delete(self, ctx: Context, obj: Object, *opts: DeleteOption) -> None:
        self._client.delete(ctx, obj, *opts, DRY_RUN_ALL)

    def delete_all_of(self, ctx: Context, obj: type[T] | T, *opts: DeleteAllOfOption) -> None:
        self._client.delete_all_of(ctx, obj, *opts, DRY_RUN_ALL)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: PatchOption) -> None:
        self._client.patch(ctx, obj, patch, *opts, DRY_RUN_ALL)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: ApplyOption) -> None:
        self._client.apply(ctx, obj, *opts, DRY_RUN_ALL)

    def sub_resource(self, sub_resource: str) -> SubResourceClient:
        return _DryRunSubResourceClient(self._client.sub_resource(sub_resource))


@methods_take_context
class _DryRunSubResourceClient(WrappedSubResourceClient):
    def create(self, ctx: Context, obj: Object, sub_resource: Object, *opts: SubResourceCreateOption) -> None:
        self._client.create(ctx, obj, sub_resource, *opts, DRY_RUN_ALL)

    def update(self, ctx: Context, obj: Object, *opts: SubResourceUpdateOption) -> None:
        self._client.update(ctx, obj, *opts, DRY_RUN_ALL)

    def patch(self, ctx: Context, obj: Object, patch: Patch, *opts: SubResourcePatchOption) -> None:
        self._client.patch(ctx, obj, patch, *opts, DRY_RUN_ALL)

    def apply(self, ctx: Context, obj: ApplyConfiguration, *opts: SubResourceApplyOption) -> None:
        self._client.apply(ctx, obj, *opts, DRY_RUN_ALL)
