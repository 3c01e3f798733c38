"""How often a reflector asks a server whose watches keep failing: never more often than client-go does.

The figures are those of client-go v0.36 against a server that refuses streaming lists: in the first four seconds
2 lists and 4 watches when watches are answered 500, 3 and 6 when they begin well and then send 410. Half of these
watches are the attempts to stream.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import pytest
from recordingstore import RecordingStore
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.testing import synctest
from clientgo.tools import cache

OBJECT = {"type": "ADDED", "object": {"name": "a", "rv": "1"}}
SYNCED = {"type": "BOOKMARK", "object": {"name": "", "rv": "1"}, "initial_events_end": True}
FAILURES = {
    "500": {"error": "internal"},
    "410": {"error": "expired"},
    "500 in the stream": {"events": [{"type": "ERROR", "status": "internal"}]},
    "410 in the stream": {"events": [{"type": "ERROR", "status": "expired"}]},
}
REFUSED = {"error": "invalid"}  # 422, as a server without streaming lists answers


def begun(failure: dict[str, Any]) -> dict[str, Any]:
    """A streaming list that succeeds, and the failure in the same stream; a call that fails has none."""
    return {"events": [OBJECT, SYNCED, *failure["events"]]} if "events" in failure else failure


def requests_in(seconds: float, watches: list[dict[str, Any]]) -> tuple[int, int]:
    """(lists, watches) of a reflector whose watches are answered so, over and over."""
    with synctest.bubble() as bubble:
        lists = [{"items": [{"name": "a", "rv": str(rv)}], "resource_version": str(rv)} for rv in range(1, 200)]
        server = ScriptedListerWatcher(bubble, Script(deque(lists), deque(watches * 200)))
        options = cache.ReflectorOptions()
        reflector = cache.new_reflector_with_options(server, corev1.ConfigMap(), RecordingStore(), options)
        ctx, cancel = context.with_cancel(context.background())
        thread = threading.Thread(target=reflector.run_with_context, args=(ctx,), name="reflector")
        thread.start()
        bubble.sleep(seconds)
        cancel()
        thread.join()
        server.join()
    calls = [call["call"] for call in server.calls]
    return calls.count("list"), calls.count("watch")


@pytest.mark.parametrize("failure", FAILURES)
def test_a_server_that_refuses_streaming_lists_is_not_stormed(failure: str) -> None:
    lists, watches = requests_in(4.0, [REFUSED, FAILURES[failure]])
    assert 2 <= lists <= 3
    assert watches <= 2 * lists


# Without "410": a server that calls a streaming list from no version too old is asked again at once, as by client-go.
@pytest.mark.parametrize("failure", [name for name in FAILURES if name != "410"])
def test_a_server_that_streams_lists_is_not_stormed(failure: str) -> None:
    lists, watches = requests_in(4.0, [begun(FAILURES[failure])])
    assert lists <= 3
    assert 2 <= watches <= 6
