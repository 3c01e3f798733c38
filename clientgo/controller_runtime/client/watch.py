"""A client that can also watch. Mirrors pkg/client/watch.go."""

from __future__ import annotations

from typing import TypeVar

from clientgo import rest
from clientgo.apimachinery import watch
from clientgo.context import Context
from clientgo.controller_runtime.client.client import BaseClient, Options, new_client
from clientgo.controller_runtime.client.interfaces import WithWatch
from clientgo.controller_runtime.client.object import ObjectList
from clientgo.controller_runtime.client.options import ListOption
from clientgo.gentype import methods_take_context

L = TypeVar("L", bound=ObjectList)


def new_with_watch(config: rest.Config, options: Options | None = None) -> WithWatch:
    """Return a client that can also watch. As in Go it ignores dry_run, field_owner and field_validation.

    Go: client.NewWithWatch.
    """
    return new_client(config, options or Options(), _WatchingClient)


@methods_take_context
class _WatchingClient(BaseClient):
    def watch(self, ctx: Context, obj: type[L] | L, *opts: ListOption) -> watch.Interface:
        return self.client_for(obj).watch(ctx, obj, *opts)
