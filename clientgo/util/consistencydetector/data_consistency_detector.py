"""A comparison of streamed objects with a list at the same version.

Mirrors util/consistencydetector/data_consistency_detector.go. It costs a full list from the server's database: it is
for continuous integration and enabled by the environment variable KUBE_WATCHLIST_INCONSISTENCY_DETECTOR.

Difference from Go: an inconsistency raises DataInconsistencyError (Go panics).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from clientgo import context, klog
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util import wait

# Returns the objects to check. Go: RetrieveItemsFunc.
RetrieveItemsFunc = Callable[[], Sequence[Any]]
# Returns the list for the comparison. Go: ListFunc.
ListFunc = Callable[[context.Context, metav1.ListOptions], runtime.Object]
# The transform of the objects to check. Go: TransformFunc.
TransformFunc = Callable[[Any], Any]

# The texts that Go's strconv.ParseBool accepts as true.
_TRUE = ("1", "t", "T", "true", "TRUE", "True")

_enabled = os.environ.get("KUBE_WATCHLIST_INCONSISTENCY_DETECTOR", "") in _TRUE


class DataInconsistencyError(AssertionError):
    """Raised if the stream and the list differ. Go panics with the same text."""


def is_data_consistency_detection_for_watch_list_enabled() -> bool:
    """Report whether the environment enabled the check when the process started.

    Go: IsDataConsistencyDetectionForWatchListEnabled.
    """
    return _enabled


def set_data_consistency_detection_for_watch_list_enabled_for_test(enabled: bool) -> Callable[[], None]:
    """Enable or disable the check; the returned function undoes that.

    Go: SetDataConsistencyDetectionForWatchListEnabledForTest.
    """
    global _enabled
    original = _enabled
    _enabled = enabled

    def restore() -> None:
        global _enabled
        _enabled = original

    return restore


def check_data_consistency(
    ctx: context.Context,
    identity: str,
    last_synced_resource_version: str,
    list_fn: ListFunc,
    list_item_transform_func: TransformFunc | None,
    list_options: metav1.ListOptions,
    retrieve_items_fn: RetrieveItemsFunc,
) -> None:
    """List at exactly `last_synced_resource_version` and compare with `retrieve_items_fn()`.

    Retries the list each second until `ctx` is done. Raises DataInconsistencyError. Go: CheckDataConsistency.
    """
    if not _can_form_additional_list_call(last_synced_resource_version, list_options):
        klog.v(4).info(
            f"data consistency check for {identity} is enabled but the parameters (RV, ListOptions) doesn't allow for "
            "creating a valid LIST request. Skipping the data consistency check."
        )
        return
    klog.warning(
        f"data consistency check for {identity} is enabled, this will result in an additional call to the API server."
    )
    retrieved = list(retrieve_items_fn())
    options = _prepare_list_call_options(last_synced_resource_version, list_options, len(retrieved))
    try:
        listed = _list_until_it_works(ctx, list_fn, options)
    except Exception as err:
        klog.errorf(
            "failed to list data from the server, the data consistency check for %s won't be performed, "
            "stopCh was closed, err: %s",
            identity,
            err,
        )
        return
    items = list(meta.extract_list_with_alloc(listed))
    if list_item_transform_func is not None:
        items = [list_item_transform_func(item) for item in items]
    if _sorted_by_uid(items) != _sorted_by_uid(retrieved):
        klog.info(
            f"previously received data for {identity} is different than received by the standard list api call "
            f"against etcd, listed: {items!r}, received: {retrieved!r}"
        )
        raise DataInconsistencyError(f"data inconsistency detected for {identity}, panicking!")


def _list_until_it_works(ctx: context.Context, list_fn: ListFunc, options: metav1.ListOptions) -> runtime.Object:
    """List with retries. Raises the wait's error if `ctx` is done first."""
    listed: list[runtime.Object] = []

    def try_list(_: context.Context) -> bool:
        try:
            listed.append(list_fn(ctx, options))
        except Exception as err:
            klog.errorf("failed to list data from the server, retrying until stopCh is closed, err: %s", err)
            return False
        return True

    wait.poll_until_context_cancel(ctx, 1.0, True, try_list)
    return listed[0]


def _can_form_additional_list_call(last_synced_resource_version: str, list_options: metav1.ListOptions) -> bool:
    """Report whether a list at an exact version is possible: it needs no continue token and a version except "0"."""
    return not list_options.continue_ and last_synced_resource_version != "0"


def _prepare_list_call_options(
    last_synced_resource_version: str, list_options: metav1.ListOptions, retrieved_items_count: int
) -> metav1.ListOptions:
    """Return the options that fetch the same objects from the server's database."""
    options = list_options.deep_copy()
    # A watch cache ignores the limit of a list of any data; the database would not.
    if options.resource_version == "0" and 0 < options.limit < retrieved_items_count:
        options.limit = 0
    options.resource_version = last_synced_resource_version
    options.resource_version_match = metav1.ResourceVersionMatch.EXACT
    return options


def _sorted_by_uid(items: Sequence[Any]) -> list[Any]:
    return sorted(items, key=lambda item: str(meta.accessor(item).get_uid()))


__all__ = [
    "DataInconsistencyError",
    "ListFunc",
    "RetrieveItemsFunc",
    "TransformFunc",
    "check_data_consistency",
    "is_data_consistency_detection_for_watch_list_enabled",
    "set_data_consistency_detection_for_watch_list_enabled_for_test",
]
