"""Informers and Retry-After with any value: the client waits for it, and then the reflector backs off.

The client tries up to ten times more, after as many seconds as it was told and past its rate limit (five a second, ten
at once); only then the reflector hears of the failure. As in client-go.
"""

from __future__ import annotations

import random
import threading

import pytest
from virtualserver import Call, Reply, VirtualServer, document, failure, pod_informer, pod_list

from clientgo.testing import synctest

BUSY = "TooManyRequests"


def calls_in(seconds: float, to_watch: Reply, monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Return the calls of an informer whose watches, including watch-lists, all get this answer."""
    monkeypatch.setattr(random, "random", random.Random(0).random)
    with synctest.bubble() as bubble:
        lists = document(200, pod_list("1", "a"))
        server = VirtualServer(bubble, lambda call: to_watch if call.verb == "watch" else lists)
        stop = threading.Event()
        thread = threading.Thread(target=pod_informer(server).run, args=(stop,), name="informer")
        thread.start()
        bubble.sleep(seconds)
        stopped_at = bubble.elapsed
        stop.set()
        thread.join()
        assert bubble.elapsed == stopped_at, "a stop waits for no server"
        assert server.open_bodies == 0
        return server.calls


@pytest.mark.parametrize("seconds", ["0", "-1", "-99999999999"])
def test_without_a_wait_the_clients_rate_limit_is_the_limit(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_in(4.0, failure(429, BUSY, **{"Retry-After": seconds}), monkeypatch)
    assert len([call for call in calls if call.at == 0.0]) == 1 + 10
    # The first of each row of eleven passes no rate limit; there is a pause before.
    rows = 3
    assert 11 < len(calls) <= 10 + 5 * 4 + rows


@pytest.mark.parametrize("value", ["", "soon", "1.5", "1e1", "0x1", "1_0", "Wed, 21 Oct 2026 07:28:00 GMT", "\u0663"])
@pytest.mark.parametrize("code", [429, 500, 503])
def test_what_is_no_number_is_as_none(code: int, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    notified = calls_in(4.0, failure(code, BUSY, **{"Retry-After": value}), monkeypatch)
    untold = calls_in(4.0, failure(code, BUSY), monkeypatch)
    assert [(call.at, call.verb) for call in notified] == [(call.at, call.verb) for call in untold]
    # A watch each pass for a busy server; else a stream, a list and a watch.
    assert len(notified) <= 3 * (1 if code == 429 else 3)


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_wait_is_waited(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_in(3.5, failure(code, BUSY, **{"Retry-After": "1"}), monkeypatch)
    assert [call.at for call in calls] == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("seconds", ["86400", "99999999999", "1000000000000000000"])
def test_a_long_wait_is_waited_and_cut_short_by_the_stop(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(calls_in(3600.0, failure(429, BUSY, **{"Retry-After": seconds}), monkeypatch)) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 422])
def test_other_codes_are_not_tried_again_whatever_they_say(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_in(0.5, failure(code, "", **{"Retry-After": "0"}), monkeypatch)
    streams = 6 if code == 410 else 1  # a stream may be too old and the next one not
    assert [call.verb for call in calls] == ["watch"] * streams + ["list", "watch"]
