"""Which lists can be streamed. Go: util/watchlist/watch_list_test.go."""

from __future__ import annotations

import pytest

from clientgo import features
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.features.testing import set_feature_during_test
from clientgo.util import watchlist


def stream_from(version: str) -> metav1.ListOptions:
    return metav1.ListOptions(
        resource_version=version,
        resource_version_match="NotOlderThan",
        watch=True,
        allow_watch_bookmarks=True,
        send_initial_events=True,
    )


@pytest.mark.parametrize(
    ("match", "version", "limit", "token", "streamed"),
    [
        ("", "", 0, "", True),
        ("", "0", 0, "", True),
        ("", "100", 0, "", True),
        # A watch cache ignores the limit here.
        ("", "0", 4, "", True),
        ("", "", 4, "", False),
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
    ],
)
def test_list_options_become_options_of_a_stream(
    match: str, version: str, limit: int, token: str, streamed: bool
) -> None:
    options = metav1.ListOptions(resource_version_match=match, resource_version=version, limit=limit, continue_=token)
    before = options.deep_copy()
    with set_feature_during_test(features.WATCH_LIST_CLIENT, True):
        prepared, ok = watchlist.prepare_watch_list_options_from_list_options(options)
    assert ok is streamed
    assert prepared == (stream_from(version) if streamed else metav1.ListOptions())
    assert options == before


def test_with_the_gate_off_nothing_is_streamed() -> None:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        prepared, ok = watchlist.prepare_watch_list_options_from_list_options(metav1.ListOptions())
    assert (prepared, ok) == (metav1.ListOptions(), False)


class Client:
    def __init__(self, unsupported: bool) -> None:
        self._unsupported = unsupported

    def is_watch_list_semantics_un_supported(self) -> bool:
        return self._unsupported


@pytest.mark.parametrize(
    ("client", "unsupported"), [(None, False), (object(), False), (Client(True), True), (Client(False), False)]
)
def test_a_client_may_say_that_it_cannot_stream(client: object, unsupported: bool) -> None:
    assert watchlist.does_client_not_support_watch_list_semantics(client) is unsupported
