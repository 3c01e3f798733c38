"""Streaming lists: whether a list request can be made as one, and whether a client can stream. Go: util/watchlist."""

from clientgo.util.watchlist.watch_list import (
    does_client_not_support_watch_list_semantics,
    prepare_watch_list_options_from_list_options,
)

__all__ = ["does_client_not_support_watch_list_semantics", "prepare_watch_list_options_from_list_options"]
