"""The lists that a watch-list can replace, and its options."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features import WATCH_LIST_CLIENT
from clientgo.features.testing import set_feature_during_test
from clientgo.util import watchlist


class Client:
    def __init__(self, unsupported: bool) -> None:
        self._unsupported = unsupported

    def is_watch_list_semantics_un_supported(self) -> bool:
        return self._unsupported


@pytest.mark.parametrize(
    ("client", "unsupported"),
    [(Client(False), False), (Client(True), True), (object(), False), (None, False)],
    ids=["supports it", "does not", "says nothing", "no client"],
)
def test_does_client_not_support_watch_list_semantics(client, unsupported):
    """Go: TestDoesClientNotSupportWatchListSemantics."""
    assert watchlist.does_client_not_support_watch_list_semantics(client) is unsupported


# resourceVersionMatch, resourceVersion, limit, continue -> whether it can be a stream
TABLE = [
    ("", "", 0, "", True),
    ("", "0", 0, "", True),
    ("", "100", 0, "", True),
    ("", "0", 4, "", True),
    ("", "100", 4, "", False),
    ("", "0", 0, "FakeToken", False),
    ("NotOlderThan", "", 0, "", False),
    ("NotOlderThan", "0", 0, "", True),
    ("NotOlderThan", "100", 0, "", True),
    ("NotOlderThan", "0", 4, "", True),
    ("NotOlderThan", "0", 0, "FakeToken", False),
    ("Exact", "", 0, "", False),
    ("Exact", "0", 0, "", False),
    ("Exact", "100", 0, "", False),
    ("Exact", "0", 4, "", False),
    ("Exact", "0", 0, "FakeToken", False),
    ("Unknown", "100", 0, "", False),
]


@pytest.mark.parametrize(("match", "version", "limit", "token", "streamed"), TABLE)
def test_prepare_watch_list_options(match, version, limit, token, streamed):
    """Go: TestPrepareWatchListOptionsFromListOptions."""
    options = metav1.ListOptions(
        resource_version_match=match, resource_version=version, limit=limit, continue_=token, label_selector="a=b"
    )
    before = options.to_dict()
    with set_feature_during_test(WATCH_LIST_CLIENT, True):
        prepared, ok = watchlist.prepare_watch_list_options_from_list_options(options)
    assert ok is streamed
    assert options.to_dict() == before, "the caller's options are not changed"
    if not streamed:
        assert prepared == metav1.ListOptions()
        return
    assert prepared.resource_version == version
    assert prepared.resource_version_match == "NotOlderThan"
    assert prepared.label_selector == "a=b"
    assert (prepared.limit, prepared.watch, prepared.allow_watch_bookmarks) == (0, True, True)
    assert prepared.send_initial_events is True


def test_prepare_watch_list_options_goes_by_the_gate():
    with set_feature_during_test(WATCH_LIST_CLIENT, False):
        prepared, ok = watchlist.prepare_watch_list_options_from_list_options(metav1.ListOptions())
    assert (prepared, ok) == (metav1.ListOptions(), False)


def test_a_list_cannot_ask_for_initial_events_itself():
    with set_feature_during_test(WATCH_LIST_CLIENT, True):
        options = metav1.ListOptions(send_initial_events=True)
        assert not watchlist.prepare_watch_list_options_from_list_options(options)[1]
