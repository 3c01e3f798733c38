"""A kind source whose program stops before its informer has synced."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.controller_runtime import handler, source


class Waiting:
    """A cache whose informer does not sync before the context ends."""

    def __init__(self, end: Any) -> None:
        self._end = end

    def get_informer(self, ctx: context.Context, obj: Any) -> Any:
        self._end()
        raise errors.new_timeout_error("failed waiting for Pod Informer to sync", 0)


def started(ctx: context.Context, end: Any) -> None:
    cache: Any = Waiting(end)
    kind = source.kind(cache, corev1.Pod, handler.EnqueueRequestForObject())
    queue: Any = object()
    kind.start(ctx, queue)
    with pytest.raises(RuntimeError, match="failed waiting for Pod Informer to sync"):
        kind.wait_for_sync(context.background())


def test_a_stop_of_the_program_is_no_timeout_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    ctx, cancel = context.with_cancel(context.background())
    started(ctx, cancel)
    assert "failed to get informer" not in caplog.text


def test_a_deadline_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    ctx, cancel = context.with_timeout(context.background(), 0.02)
    started(ctx, lambda: ctx.done().wait())
    cancel()
    assert "failed to get informer from cache" in caplog.text
