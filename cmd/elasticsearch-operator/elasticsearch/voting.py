"""Who forms the cluster, and who votes in it: what must be right whenever masters come or go."""

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
    """Who is to form the cluster; empty once it is formed. Raises StatusError.

    Two answers to this question could form two clusters. So the first is kept in an annotation, before any node
    starts, and given again until the cluster is there.
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
    """Whether the cluster is formed; the first time that is so, note it. Raises StatusError, Unreachable."""
    if names.is_formed(es) and not names.initial_master_nodes(es):
        return True
    uuid = api.cluster_uuid()
    if not uuid:
        return False
    ctrl.logger_from(ctx).info("Zen 2 bootstrap is complete", cluster_uuid=uuid)
    # In one write: a cluster that is neither formed nor being formed would be formed again.
    annotate(ctx, c, es, {names.CLUSTER_UUID: uuid, names.INITIAL_MASTER_NODES: None})
    return True


def annotate(ctx: Context, c: client.Client, es: Elasticsearch, changes: dict[str, str | None]) -> None:
    """Set annotations, or take them away; Conflict when the cluster has changed since it was read."""
    before = es.deep_copy()
    annotations = {**es.get_annotations(), **changes}
    es.set_annotations({key: value for key, value in annotations.items() if value is not None})
    c.patch(ctx, es, client.merge_from_with_options(before, client.MergeFromWithOptimisticLock()))


def exclude(ctx: Context, api: Client, leaving: list[str]) -> None:
    """Let masters that are about to go vote no longer. Raises RequestFailed, Unreachable."""
    if set(leaving) <= set(api.voting_config_exclusions()):
        return
    ctrl.logger_from(ctx).info("Setting voting config exclusions", nodes=leaving)
    api.add_voting_config_exclusions(leaving)


def clear_exclusions(ctx: Context, api: Client, leaving: Collection[str]) -> None:
    """Let everybody vote again, unless all who do not are about to go. Raises Unreachable.

    To be called when nobody is on the way out. Those `leaving` were excluded to go next: an operator that dies between
    that and taking them away must not begin with the opposite.
    """
    if set(api.voting_config_exclusions()) <= set(leaving):
        return
    ctrl.logger_from(ctx).info("Ensuring no voting exclusions are set")
    api.delete_voting_config_exclusions()
