"""Streaming lists: checks whether a list request, and a client, support streaming. Go: util/watchlist."""

from clientgo.util.watchlist.watch_list import (
    does_client_not_support_watch_list_semantics,
    prepare_watch_list_options_from_list_options,
)

__all__ = ["does_client_not_support_watch_list_semantics", "prepare_watch_list_options_from_list_options"]
