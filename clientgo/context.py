"""Go's `context`, under the name that programs use: `from clientgo import context`.

The implementation is in clientgo.golang.context, with the other parts of Go's standard library.
"""

from __future__ import annotations

from clientgo.golang.context import (
    CancelCauseFunc,
    Canceled,
    CancelFunc,
    Context,
    DeadlineExceeded,
    Done,
    StopChannel,
    after_func,
    background,
    cause,
    sleep,
    todo,
    with_cancel,
    with_cancel_cause,
    with_deadline,
    with_deadline_cause,
    with_timeout,
    with_timeout_cause,
    with_value,
    without_cancel,
)

__all__ = [
    "CancelCauseFunc",
    "CancelFunc",
    "Canceled",
    "Context",
    "DeadlineExceeded",
    "Done",
    "StopChannel",
    "after_func",
    "background",
    "cause",
    "sleep",
    "todo",
    "with_cancel",
    "with_cancel_cause",
    "with_deadline",
    "with_deadline_cause",
    "with_timeout",
    "with_timeout_cause",
    "with_value",
    "without_cancel",
]
