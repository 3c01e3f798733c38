"""The initial masters and the voting exclusions. Both must be right whenever masters are added or removed."""

from __future__ import annotations

from collections.abc import Collection

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.context import Context
from clientgo.controller_runtime import client
from elasticsearch import names, sset
from elasticsearch.client import Client


def setup_initial_master_nodes(
    ctx: Context, c: client.Client, es: Elasticsearch, expected: sset.StatefulSets
) -> list[str]:
    """Return the initial masters; empty once the cluster is formed. Raises StatusError.

    Two different results could form two clusters. So the first one is stored in an annotation before any node starts,
    and returned until the cluster is formed.
    """
    if known := names.initial_master_nodes(es):
        return known
    if names.is_formed(es):
        return []
    masters = sset.master_names(expected)
    ctrl.logger_from(ctx).info("Setting `cluster.initial_master_nodes`", nodes=masters)
    annotate(ctx, c, es, {names.INITIAL_MASTER_NODES: ",".join(masters)})
    return masters


def complete_bootstrap(ctx: Context, c: client.Client, es: Elasticsearch, api: Client) -> bool:
    """Report whether the cluster is formed, and record this the first time. Raises StatusError, Unreachable."""
    if names.is_formed(es) and not names.initial_master_nodes(es):
        return True
    uuid = api.cluster_uuid()
    if not uuid:
        return False
    ctrl.logger_from(ctx).info("Zen 2 bootstrap is complete", cluster_uuid=uuid)
    # Both in one write: without both annotations the cluster would be formed again.
    annotate(ctx, c, es, {names.CLUSTER_UUID: uuid, names.INITIAL_MASTER_NODES: None})
    return True


def annotate(ctx: Context, c: client.Client, es: Elasticsearch, changes: dict[str, str | None]) -> None:
    """Set annotations, or remove those with the value None. Raises Conflict if the cluster has changed."""
    before = es.deep_copy()
    annotations = {**es.get_annotations(), **changes}
    es.set_annotations({key: value for key, value in annotations.items() if value is not None})
    c.patch(ctx, es, client.merge_from_with_options(before, client.MergeFromWithOptimisticLock()))


def exclude(ctx: Context, api: Client, leaving: list[str]) -> None:
    """Exclude masters from voting before their removal. Raises RequestFailed, Unreachable."""
    if set(leaving) <= set(api.voting_config_exclusions()):
        return
    ctrl.logger_from(ctx).info("Setting voting config exclusions", nodes=leaving)
    api.add_voting_config_exclusions(leaving)


def clear_exclusions(ctx: Context, api: Client, leaving: Collection[str]) -> None:
    """Remove the voting exclusions, unless all excluded nodes are `leaving`. Raises Unreachable.

    Call this only while no node is being removed. The nodes in `leaving` were excluded because they go next. An
    operator that was killed before their removal must not undo this.
    """
    if set(api.voting_config_exclusions()) <= set(leaving):
        return
    ctrl.logger_from(ctx).info("Ensuring no voting exclusions are set")
    api.delete_voting_config_exclusions()
