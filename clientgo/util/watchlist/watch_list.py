"""Conversion of a list request to a watch that starts with the same objects.

Mirrors util/watchlist/watch_list.go. Go validates with the internal version of ListOptions; this module contains the
relevant rules.
"""

from __future__ import annotations

from clientgo import features
from clientgo.apimachinery.apis.meta import v1 as metav1


def prepare_watch_list_options_from_list_options(
    list_options: metav1.ListOptions,
) -> tuple[metav1.ListOptions, bool]:
    """Return the options of a watch that streams the objects of a list, and whether that is possible.

    It is not possible for a page of a list, for a list at an exact version, for options that a server rejects, and with
    the gate WatchListClient disabled; then the options are empty. Go: PrepareWatchListOptionsFromListOptions.
    """
    if not features.feature_gates().enabled(features.WATCH_LIST_CLIENT) or not _can_stream(list_options):
        return metav1.ListOptions(), False
    options = list_options.deep_copy()
    options.limit = 0
    options.resource_version_match = metav1.ResourceVersionMatch.NOT_OLDER_THAN
    options.watch = True
    options.allow_watch_bookmarks = True
    options.send_initial_events = True
    return options, True


def _can_stream(options: metav1.ListOptions) -> bool:
    if options.continue_:
        return False
    # A watch cache ignores the limit of a list of any data, so that such a list may be streamed completely.
    if options.limit > 0 and options.resource_version != "0":
        return False
    match = options.resource_version_match
    if match and not options.resource_version and not options.watch:
        return False
    return match in ("", metav1.ResourceVersionMatch.NOT_OLDER_THAN) and options.send_initial_events is None


def does_client_not_support_watch_list_semantics(client: object) -> bool:
    """Report whether `client` declares that it cannot stream lists, as fakes do.

    It declares this with the method `is_watch_list_semantics_un_supported()`. A client without this method supports
    streaming. Go: DoesClientNotSupportWatchListSemantics.
    """
    unsupported = getattr(client, "is_watch_list_semantics_un_supported", None)
    return unsupported is not None and bool(unsupported())


__all__ = ["does_client_not_support_watch_list_semantics", "prepare_watch_list_options_from_list_options"]
