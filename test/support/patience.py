"""The time that a test waits for an event that normally happens at once."""

from __future__ import annotations

# Seconds. A machine under load may stand still for minutes, so only what is really stuck comes to this end. It is half
# of what hack/test gives the whole test, so that the wait says what did not come before the test is ended.
PATIENCE = 300.0
