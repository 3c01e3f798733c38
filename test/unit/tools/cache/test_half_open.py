"""Servers that stop responding while the connection stays open: an informer detects this, reports it and recovers.

The limits, and why they are what they are:
  * a request that is no watch: 90 s. An API server answers within 60 s (--request-timeout);
  * the answer to a watch: 150 s. A server answers at once, but a proxy may hold that back until the first bookmark;
  * a watch: 30 s more than the 5 to 10 minutes after which the server was asked to end it;
  * a watch that has brought a bookmark, or streams the initial objects, which end with one: 150 s. Servers send one
    each minute, up to a quarter later;
  * a cache counts as stale after 11 minutes, unless the health check has another limit. No healthy watch is silent for
    longer.
TCP keep-alive finds a dead network within 45 s, but not a proxy that keeps the connection and lets nothing through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from virtualserver import (
    SILENCE,
    Call,
    Reply,
    VirtualServer,
    document,
    event,
    failure,
    pod,
    pod_informer,
    pod_list,
)

from clientgo import features
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache

MINUTE = 60.0
LIST_LIMIT = 90.0
ANSWER_LIMIT = 150.0
WATCH_LIMITS = (330.0, 630.0)
BOOKMARK_LIMIT = 150.0
# The first pause of a reflector's backoff.
PAUSE = (4 / 3, 1.6)


@pytest.fixture(autouse=True)
def list_mode() -> Iterator[None]:
    with set_feature_during_test(features.WATCH_LIST_CLIENT, False):
        yield


def stream_lists() -> None:
    """Enable watch-lists until the end of the test."""
    features.feature_gates().set_for_testing(features.WATCH_LIST_CLIENT, True)  # type: ignore[attr-defined]


def bookmark(version: str, after: float = MINUTE) -> tuple[float, bytes]:
    return after, event("BOOKMARK", pod("", version))


# A watch that lives: a pod that is added, and a bookmark each minute.
HEALTHY = Reply(pieces=[(0.0, event("ADDED", pod("new", "9"))), *(bookmark(str(rv)) for rv in range(10, 500)), SILENCE])
LISTED = document(200, pod_list("5", "old"))


@contextmanager
def running(informer: cache.SharedIndexInformer) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=informer.run, args=(stop,), name="informer")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def is_stale(check: cache.StalenessCheck) -> bool:
    try:
        check.check()
    except cache.StaleError:
        return True
    return False


def seconds_until(bubble: synctest.Bubble, condition: Callable[[], bool], limit: float) -> float:
    began = bubble.elapsed
    while not condition():
        assert bubble.elapsed - began < limit, "never"
        bubble.sleep(0.5)
    return bubble.elapsed - began


def recovery(first_list: Reply, first_watch: Reply, max_silence: float) -> tuple[float, float, float]:
    """Return the seconds until the health check fails, until it passes again, and until the informer has the new pod.

    The first answers are these, all later ones are healthy.
    """
    with synctest.bubble() as bubble:
        left = {"list": [first_list], "watch": [first_watch]}
        healthy = {"list": LISTED, "watch": HEALTHY}

        def answer(call: Call) -> Reply:
            return left[call.verb].pop() if left[call.verb] else healthy[call.verb]

        server = VirtualServer(bubble, answer)
        informer = pod_informer(server)
        check = cache.StalenessCheck(max_silence)
        check.add("pods", informer)
        with running(informer):
            failed = seconds_until(bubble, lambda: is_stale(check), 1000.0)
            seconds_until(bubble, lambda: not is_stale(check), 1000.0)
            passed = bubble.elapsed
            seconds_until(bubble, lambda: "new" in informer.get_store().list_keys(), 10.0)
            recovered = bubble.elapsed
            bubble.sleep(20 * MINUTE)
            assert not is_stale(check), "a watch that brings nothing but bookmarks is healthy"
        assert server.open_bodies == 0
        return failed, passed, recovered


SILENT = Reply(delay=float("inf"))


@pytest.mark.parametrize(
    ("first_list", "first_watch", "silent_since", "least", "most"),
    [
        pytest.param(SILENT, HEALTHY, 0.0, LIST_LIMIT, LIST_LIMIT, id="no headers to a list"),
        pytest.param(
            Reply(pieces=[(20.0, b'{"kind":"PodList","items":['), SILENCE]),
            HEALTHY,
            0.0,
            20.0 + LIST_LIMIT,
            20.0 + LIST_LIMIT,
            id="in the middle of a list",
        ),
        pytest.param(LISTED, SILENT, 0.0, ANSWER_LIMIT, ANSWER_LIMIT, id="no headers to a watch"),
        pytest.param(LISTED, Reply(pieces=[SILENCE]), 0.0, *WATCH_LIMITS, id="a watch before any bookmark"),
        pytest.param(
            LISTED,
            Reply(pieces=[(5.0, event("MODIFIED", pod("old", "6"))), SILENCE]),
            5.0,
            *(5.0 + limit for limit in WATCH_LIMITS),
            id="a watch behind an event",
        ),
        pytest.param(
            LISTED,
            Reply(pieces=[bookmark("6"), bookmark("7"), SILENCE]),
            2 * MINUTE,
            2 * MINUTE + BOOKMARK_LIMIT,
            2 * MINUTE + BOOKMARK_LIMIT,
            id="a watch behind bookmarks",
        ),
    ],
)
def test_a_silent_server_is_noticed_reported_and_left(
    first_list: Reply, first_watch: Reply, silent_since: float, least: float, most: float
) -> None:
    failed, passed, recovered = recovery(first_list, first_watch, max_silence=75.0)
    assert silent_since + 75.0 <= failed <= silent_since + 76.0
    assert least <= passed <= most + PAUSE[1] + 1.0
    assert recovered <= most + PAUSE[1] + 1.0


def test_a_silent_server_is_noticed_while_it_streams_the_initial_objects() -> None:
    stream_lists()
    with synctest.bubble() as bubble:
        initial = pod("", "8") | {
            "metadata": {"resourceVersion": "8", "annotations": {"k8s.io/initial-events-end": "true"}}
        }
        half = Reply(pieces=[(0.0, event("ADDED", pod("old", "1"))), SILENCE])
        complete = Reply(pieces=[(0.0, event("ADDED", pod("new", "1"))), (0.0, event("BOOKMARK", initial)), SILENCE])
        answers = [complete, half]
        server = VirtualServer(bubble, lambda call: answers.pop())
        informer = pod_informer(server)
        with running(informer):
            bubble.sleep(BOOKMARK_LIMIT - 1.0)
            assert not informer.has_synced()
            assert informer.get_store().list_keys() == [], "half of the objects are nobody's business"
            seconds_until(bubble, informer.has_synced, 2.0)
            assert informer.get_store().list_keys() == ["new"]
        assert [call.verb for call in server.calls] == ["watch", "watch"]


def test_a_silent_watch_without_bookmarks_is_healthy_for_as_long_as_the_server_may_keep_it() -> None:
    with synctest.bubble() as bubble:

        def answer(call: Call) -> Reply:
            if call.verb == "list":
                return LISTED
            return Reply(pieces=[(float(call.query["timeoutSeconds"][0]), b"")])

        informer = pod_informer(VirtualServer(bubble, answer))
        check = cache.StalenessCheck()
        check.add("pods", informer)
        with running(informer):
            for _ in range(120):
                bubble.sleep(MINUTE)
                check.check()


def test_a_proxy_may_hold_the_answer_to_a_watch_back_until_the_first_bookmark() -> None:
    with synctest.bubble() as bubble:
        held = Reply(delay=75.0, pieces=[(0.0, bookmark("6")[1]), *(bookmark(str(rv), 75.0) for rv in range(7, 50))])
        server = VirtualServer(bubble, lambda call: LISTED if call.verb == "list" else held)
        informer = pod_informer(server)
        with running(informer):
            bubble.sleep(40 * MINUTE)
        assert [call.verb for call in server.calls] == ["list", "watch"]


STATUS = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError", "code": 500}
BROKEN_STREAM = Reply(pieces=[(0.0, event("ERROR", STATUS))])


@pytest.mark.parametrize("to_watch", [failure(500, "InternalError"), BROKEN_STREAM], ids=["refused", "in the stream"])
def test_a_server_that_only_fails_is_not_heard(to_watch: Reply) -> None:
    """The server's responses do not make the cache any newer."""
    stream_lists()
    with synctest.bubble() as bubble:
        failing = {"list": failure(500, "InternalError"), "watch": to_watch}
        server = VirtualServer(bubble, lambda call: failing[call.verb])
        informer = pod_informer(server)
        check = cache.StalenessCheck(5 * MINUTE)
        check.add("pods", informer)
        with running(informer):
            bubble.sleep(5 * MINUTE)
            assert not is_stale(check)
            bubble.sleep(1.0)
            assert is_stale(check)
            assert informer.last_contact() is None
