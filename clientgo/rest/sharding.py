"""Keeps a shard selector away from deletions unless the server is known to apply it. Has no Go counterpart.

An API server without the feature gate ShardedListAndWatch ignores the query parameter `shardSelector`. For a list or a
watch that is harmless: the client filters again. A deletecollection would delete the whole collection instead of the
shard, so a request that deletes with a shard selector is rejected before it is sent.
"""

from __future__ import annotations

from clientgo import context
from clientgo.context import Context

__all__ = ["check_deletion", "with_sharding_server"]


class _Key:
    """The context key; see `with_sharding_server`."""


def with_sharding_server(ctx: Context) -> Context:
    """Return a context for requests to a server that is known to apply shard selectors.

    The caller states this for every API server behind the address: during an upgrade some may have the feature gate
    off. `clientgo.tools.sharding.supports_sharding` asks one of them.
    """
    return context.with_value(ctx, _Key, True)


def check_deletion(ctx: Context, verb: str, shard_selector: str) -> None:
    """Raise ValueError for a deletion with a shard selector if the context is not `with_sharding_server`'s."""
    if verb == "DELETE" and shard_selector and ctx.value(_Key) is not True:
        raise ValueError(
            "deletecollection with a shard selector deletes the whole collection on a server without the feature gate "
            "ShardedListAndWatch; see clientgo.rest.with_sharding_server"
        )
