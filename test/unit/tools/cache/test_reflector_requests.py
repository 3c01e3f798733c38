"""The requests of a reflector to a server that keeps failing: exactly client-go's, and never without a pause.

Each case says in which order the requests of a pass come: `w` for a watch (the first of a pass asks for a stream of the
initial objects), `l` for a list, `p` for a pause. Between two passes there is a pause too. The k-th pause lasts between
4/3 s * 2^k and a fifth longer, depending on the jitter. client-go's may last as long, but also less; these let no more
than two passes into the first four seconds.

Where client-go asks again at once and without end there is a pause, `v`, that grows from the first: the k-th lasts
16^k microseconds.
"""

from __future__ import annotations

import itertools
import logging
import random
import re
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache

Answers = list[dict[str, Any]]
Calls = list[tuple[str, float]]

SEEDS = range(8)
LISTED = {"items": [{"name": "a", "rv": "1"}], "resource_version": "1"}
PAGE = LISTED | {"continue": "more"}
ADDED = {"type": "ADDED", "object": {"name": "a", "rv": "1"}}
BOOKMARK = {"type": "BOOKMARK", "object": {"name": "", "rv": "1"}}
SYNCED = BOOKMARK | {"initial_events_end": True}
CLOSE = {"type": "CLOSE"}
# What a server that knows no streaming lists answers.
REFUSED = {"error": "invalid"}


def sends(*events: dict[str, Any]) -> dict[str, Any]:
    """Return an opened watch with these events."""
    return {"events": list(events)}


def error_event(kind: str) -> dict[str, Any]:
    return {"type": "ERROR", "status": kind}


def pauses(seed: int) -> Iterator[float]:
    """Yield the default backoff: doubling pauses with a jitter of up to 20 %."""
    jitter = random.Random(seed)
    for step in itertools.count():
        pause = min(4 / 3 * 2**step, 50.0)
        yield pause + jitter.random() * pause * 0.2


def expected(first_pass: str, later_passes: str, seconds: float, seed: int) -> Calls:
    """Return the calls during `seconds`, each with its time."""
    now, calls, pause = 0.0, [], pauses(seed)
    backoff = 1e-6
    for step in itertools.chain(first_pass + "p", itertools.cycle(later_passes + "p")):
        if step == "p":
            now += next(pause)
        elif step == "v":
            now += backoff
            backoff = min(backoff * 16, 50.0)
        elif step == "0":
            backoff = 1e-6
        else:
            calls.append(({"w": "watch", "l": "list"}[step], pytest.approx(now, abs=0.002)))
        if now > seconds:
            return calls if step in "pv0" else calls[:-1]
    raise AssertionError


def requests_in(
    seconds: float, watches: Answers, lists: Answers, monkeypatch: pytest.MonkeyPatch, seed: int, retry_for: float = 0.0
) -> Calls:
    """Return a reflector's calls to a server that repeats these answers."""
    monkeypatch.setattr(random, "random", random.Random(seed).random)
    with synctest.bubble() as bubble:
        server = ScriptedListerWatcher(bubble, Script(deque(lists * 500), deque(watches * 500)))
        reflector = cache.new_reflector_with_options(
            server, corev1.ConfigMap(), RecordingStore(), cache.ReflectorOptions(name="asker")
        )
        reflector.max_internal_error_retry_duration = retry_for
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.sleep(seconds)
        cancel()
        thread.join()
        server.join()
        return [(call["call"], call["at_ms"] / 1000) for call in server.calls]


# The answers to watches, and the requests of the first pass and of each later one.
WATCHES: dict[str, tuple[Answers, str, str]] = {
    # A server that knows no streaming lists, by whichever code it says so, or does not say so but fails.
    **{
        f"{kind} to the stream, 500 to the watch": ([{"error": kind}, {"error": "internal"}], "wlw", "wlw")
        for kind in ("invalid", "bad_request", "forbidden", "not_found", "method_not_supported", "not_acceptable")
    },
    **{
        f"{kind} to all": ([{"error": kind}], "wlw", "wlw")
        for kind in ("internal", "unauthorized", "forbidden", "not_found", "eof", "unexpected_eof", "plain")
    },
    "410 to the watch": ([REFUSED, {"error": "expired"}], "wlw", "wlw"),
    "410 (Gone) to the watch": ([REFUSED, {"error": "gone"}], "wlw", "wlw"),
    "too new a version": ([REFUSED, {"error": "too_large_rv"}], "wlw", "wlw"),
    "410 in the watch": ([REFUSED, sends(error_event("expired"))], "wlw", "wlw"),
    "500 in the watch": ([REFUSED, sends(error_event("internal"))], "wlw", "wlw"),
    "close at once": ([sends(CLOSE)], "wlw", "wlw"),
    # After the initial objects.
    "410 behind the bookmark": ([sends(ADDED, SYNCED, error_event("expired"))], "w", "w"),
    "500 behind the bookmark": ([sends(ADDED, SYNCED, error_event("internal"))], "w", "w"),
    "close behind the bookmark": ([sends(ADDED, SYNCED, CLOSE)], "w", "w"),
    # A server that is down or busy is asked for the same again.
    "refused": ([{"error": "connection_refused"}], "wp" * 50, "w"),
    "refused watch": ([REFUSED] + [{"error": "connection_refused"}] * 50, "wl" + "wp" * 50, "w"),
    "429": ([{"error": "too_many_requests"}], "wp" * 50, "w"),
    "429 in the stream": ([sends(ADDED, error_event("too_many_requests"))], "wp" * 50, "w"),
    "429 in the watch": ([REFUSED] + [sends(error_event("too_many_requests"))] * 50, "wl" + "wp" * 50, "w"),
    "500 in the stream": ([sends(ADDED, error_event("internal"))], "wlw", "wlw"),
}

# The same for what Go asks without end and without a pause. A list comes in place of a pause of a second.
STREAMS = "wv" * 5 + "w"
STORMS: dict[str, tuple[Answers, str, str]] = {
    "410 to all": ([{"error": "expired"}], STREAMS + "lw", "wlw"),
    "410 (Gone) to all": ([{"error": "gone"}], STREAMS + "lw", "wlw"),
    "too new a version to all": ([{"error": "too_large_rv_cause"}], STREAMS + "lw", "wlw"),
    "410 in the stream": ([sends(ADDED, error_event("expired"))], STREAMS + "lw", "wlw"),
    "410 at the start of the stream": ([sends(error_event("gone"))], STREAMS + "lw", "wlw"),
    "no bookmark, close at once": ([sends(ADDED, CLOSE)], STREAMS + "l0w" + "vw" * 50, "w"),
    "close at once behind known events": ([REFUSED] + [sends(ADDED, BOOKMARK, CLOSE)] * 50, "wlw" + "vw" * 50, "w"),
}

# The answers to lists, of a server that knows no streaming lists, and the requests of each pass.
LISTS: dict[str, tuple[Answers, str]] = {
    **{
        kind: ([{"error": kind}], "wl")
        for kind in ("internal", "unauthorized", "forbidden", "connection_refused", "too_many_requests", "eof")
    },
    # Asked at once for the newest data, once.
    "410": ([{"error": "expired"}], "wll"),
    "410 (Gone)": ([{"error": "gone"}], "wll"),
    "too new a version": ([{"error": "too_large_rv"}], "wll"),
    # The second page has expired, as has the list as a whole: once at any version and once at the newest.
    "410 to each second page": ([PAGE, {"error": "expired"}, {"error": "expired"}], "wllllll"),
    "500 to each second page": ([PAGE, {"error": "internal"}], "wll"),
}


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("case", WATCHES | STORMS)
def test_failing_watches_are_asked_for_exactly_so_often(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    watches, first_pass, later_passes = (WATCHES | STORMS)[case]
    for seed in SEEDS:
        calls = requests_in(60.0, watches, [LISTED], monkeypatch, seed)
        assert calls == expected(first_pass, later_passes, 60.0, seed)


@pytest.mark.parametrize("case", LISTS)
def test_failing_lists_are_asked_for_exactly_so_often(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lists, each_pass = LISTS[case]
    for seed in SEEDS:
        calls = requests_in(60.0, [REFUSED], lists, monkeypatch, seed)
        assert calls == expected(each_pass, each_pass, 60.0, seed)


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("case", WATCHES)
def test_the_first_four_seconds_hold_no_more_requests_than_client_go_sends_to_a_failing_server(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two passes, of one list and two watches each."""
    watches, _, _ = WATCHES[case]
    for seed in range(16):
        calls = [call for call, _ in requests_in(4.0, watches, [LISTED], monkeypatch, seed)]
        assert calls.count("list") <= 2
        assert len(calls) <= 6
        if "bookmark" not in case:
            assert calls.count("watch") <= 4


@pytest.mark.parametrize("kind", ["500 in the watch", "410 to the watch"])
def test_two_lists_and_four_watches(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strict figure, whatever the jitter."""
    watches, _, _ = WATCHES[kind]
    seen = set()
    for seed in range(40):
        calls = [call for call, _ in requests_in(4.0, watches, [LISTED], monkeypatch, seed)]
        seen.add((calls.count("list"), calls.count("watch")))
    assert seen == {(2, 4)}


@pytest.mark.parametrize("case", STORMS)
def test_where_client_go_asks_without_end_the_first_minutes_hold_few_requests(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches, _, _ = STORMS[case]
    assert len(requests_in(4.0, watches, [LISTED], monkeypatch, seed=0)) <= 15
    assert len(requests_in(600.0, watches, [LISTED], monkeypatch, seed=0)) <= 100


@pytest.mark.parametrize("failure", [{"error": "expired"}, sends(ADDED, CLOSE)], ids=["expired", "incomplete"])
@pytest.mark.parametrize("times", range(1, 6))
def test_a_stream_that_works_in_the_end_is_asked_for_as_soon_as_by_client_go(
    times: int, failure: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go was seen to open a fourth stream at once after three that had expired, and to get its data from that."""
    watches = [failure] * times + [sends(ADDED, SYNCED)]
    calls = requests_in(1.0, watches, [LISTED], monkeypatch, seed=0)
    assert [call for call, _ in calls] == ["watch"] * (times + 1)
    assert calls[-1][1] <= (0.005 if times <= 4 else 0.1)


def test_streams_that_are_refused_slowly_are_no_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Go too, neither a pause nor a list follows."""
    watches = [sends(error_event("expired") | {"delay_ms": 1500})]
    calls = requests_in(14.9, watches, [LISTED], monkeypatch, seed=0)
    assert calls == [("watch", 1.5 * n) for n in range(10)]


def test_internal_errors_that_are_retried_are_not_retried_without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Go retries them at once for as long as it was told to."""
    watches = [REFUSED] + [sends(error_event("internal"))] * 50
    calls = requests_in(4.0, watches, [LISTED], monkeypatch, seed=1, retry_for=30.0)
    assert calls == expected("wlw" + "vw" * 50, "w", 4.0, seed=1)


def test_a_stream_that_works_makes_up_for_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two refusals, success, two refusals, success: no pause but those between passes."""
    gone = {"error": "expired"}
    watches = [gone, gone, sends(ADDED, SYNCED, error_event("expired"))]
    assert requests_in(4.0, watches, [LISTED], monkeypatch, seed=3) == expected("www", "www", 4.0, seed=3)


def test_a_stream_that_lasts_is_begun_anew_at_once_however_often(monkeypatch: pytest.MonkeyPatch) -> None:
    watches = [sends(ADDED, CLOSE | {"delay_ms": 1500})]
    calls = requests_in(14.9, watches, [LISTED], monkeypatch, seed=0)
    assert calls == [("watch", 1.5 * n) for n in range(10)]


def test_a_stream_without_bookmark_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the server ends it, which it was asked to do within ten minutes."""
    calls = requests_in(3000.0, [sends(ADDED, CLOSE | {"delay_ms": 300_000})], [LISTED], monkeypatch, seed=0)
    assert len(calls) <= 11


def test_a_watch_that_brings_something_new_is_opened_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    news = [sends({"type": "MODIFIED", "object": {"name": "a", "rv": str(rv)}}, CLOSE) for rv in range(2, 12)]
    calls = requests_in(0.5, [REFUSED, *news, sends()], [LISTED], monkeypatch, seed=0)
    assert calls == [("watch", 0.0), ("list", 0.0)] + [("watch", 0.0)] * 11


def test_a_stop_cuts_the_pause_after_refusals_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """And asks for nothing more."""
    calls = requests_in(0.05, [{"error": "expired"}], [LISTED], monkeypatch, seed=0)
    assert [call for call, _ in calls] == ["watch"] * 5


@pytest.mark.parametrize("streams", [True, False])
def test_a_missing_server_is_logged_immediately_and_then_less_often(
    streams: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Go says so at -v=2 only, so that a program without a server says nothing for ever."""
    refused = {"error": "connection_refused"}
    notified: list[tuple[float, str]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            message = record.getMessage()
            if "onnect" in message:
                notified.append((round(bubble.elapsed), message))

    handler = Handler()
    logging.getLogger("clientgo").addHandler(handler)
    try:
        with (
            set_feature_during_test(features.WATCH_LIST_CLIENT, streams),
            synctest.bubble() as bubble,
        ):
            watches: Answers = [] if streams else [sends(CLOSE | {"delay_ms": 1500})]
            server = ScriptedListerWatcher(bubble, Script(deque([LISTED]), deque([*watches, *[refused] * 1000])))
            reflector = cache.new_reflector_with_options(
                server, corev1.ConfigMap(), RecordingStore(), cache.ReflectorOptions(name="asker")
            )
            ctx, cancel = context.with_cancel(context.background())
            thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
            thread.start()
            bubble.sleep(4 * 3600.0)
            server.script.watches.clear()
            server.script.watches.append(sends(ADDED, SYNCED))
            bubble.sleep(120.0)
            assert len(server.script.watches) == 0
            cancel()
            thread.join()
            server.join()
    finally:
        logging.getLogger("clientgo").removeHandler(handler)
    *during, (_, after) = notified
    start = during[0][0]
    assert start <= 2
    gaps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(during)]
    assert all(later >= 0.9 * earlier for earlier, later in itertools.pairwise(gaps)), "less and less often"
    assert 60 <= gaps[0] <= 150
    assert 3600 <= gaps[-1] <= 3700
    assert len(gaps) <= 10
    assert all("cannot connect to the API server" in message for _, message in during)
    assert "check the address in the kubeconfig" in during[0][1]
    assert 'since="0s"' in during[0][1]
    assert "asker" in during[0][1]
    assert "Connected to the API server again" in after
    assert re.search(r'after="(3h59m5|4h)', after)  # it begins up to two seconds late, and ends up to a pause late
