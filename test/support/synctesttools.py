"""Questions that tests of synctest itself ask of a bubble."""

from __future__ import annotations

import re
import threading

from clientgo.testing import synctest

# A bubble replaces the method; this one waits in real time, for a thread outside of the bubble.
REAL_JOIN = threading.Thread.join


def steps_of(bubble: synctest.Bubble) -> int:
    """Return the number of operations so far, which the bubble's repr shows."""
    found = re.search(r"(\d+) steps>$", repr(bubble))
    assert found
    return int(found[1])
