"""Check, if the environment asks for it, that a streamed list brought what an ordinary list brings.

Mirrors tools/cache/reflector_data_consistency_detector.go.
"""

from __future__ import annotations

from clientgo import context
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.util import consistencydetector


def check_watch_list_data_consistency_if_requested(
    ctx: context.Context,
    identity: str,
    last_synced_resource_version: str,
    list_fn: consistencydetector.ListFunc,
    list_item_transform_func: consistencydetector.TransformFunc | None,
    retrieve_items_fn: consistencydetector.RetrieveItemsFunc,
) -> None:
    """Call `check_data_consistency` if KUBE_WATCHLIST_INCONSISTENCY_DETECTOR was set.

    Raises DataInconsistencyError. Go: checkWatchListDataConsistencyIfRequested.
    """
    if not consistencydetector.is_data_consistency_detection_for_watch_list_enabled():
        return
    # Empty options: what an informer filters by is hidden inside its list function.
    consistencydetector.check_data_consistency(
        ctx,
        identity,
        last_synced_resource_version,
        list_fn,
        list_item_transform_func,
        metav1.ListOptions(),
        retrieve_items_fn,
    )


__all__ = ["check_watch_list_data_consistency_if_requested"]
