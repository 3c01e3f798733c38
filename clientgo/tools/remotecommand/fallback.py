"""An executor with a second one for servers that lack the first one's protocol.

Mirrors tools/remotecommand/fallback.go.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import klog
from clientgo.context import Context, background
from clientgo.klog.answers import is_true
from clientgo.tools.remotecommand.remotecommand import Executor, StreamOptions

__all__ = ["FallbackExecutor", "new_fallback_executor"]


class FallbackExecutor:
    """Tries `primary`, and after some errors `secondary`. Go: remotecommand.FallbackExecutor."""

    def __init__(
        self, primary: Executor, secondary: Executor, should_fallback: Callable[[Exception], bool]
    ) -> None:
        self._primary = primary
        self._secondary = secondary
        self._should_fallback = should_fallback

    def stream(self, options: StreamOptions) -> None:
        """Deprecated: use `stream_with_context`. Go: FallbackExecutor.Stream."""
        self.stream_with_context(background(), options)

    def stream_with_context(self, ctx: Context, options: StreamOptions) -> None:
        """See Executor. Go: FallbackExecutor.StreamWithContext."""
        try:
            self._primary.stream_with_context(ctx, options)
            return
        except Exception as err:
            if not is_true(self._should_fallback, err):
                raise
            klog.from_context(ctx).v(4).info("RemoteCommand fallback", err=err)
        self._secondary.stream_with_context(ctx, options)

    def __repr__(self) -> str:
        return f"<FallbackExecutor {self._primary!r}, {self._secondary!r}>"


def new_fallback_executor(
    primary: Executor, secondary: Executor, should_fallback: Callable[[Exception], bool]
) -> Executor:
    """Return an executor that uses `secondary` if `should_fallback` accepts the error of `primary`.

    kubectl's condition is `httpstream.is_upgrade_failure` or `httpstream.is_https_proxy_error`.
    Go: NewFallbackExecutor.
    """
    return FallbackExecutor(primary, secondary, should_fallback)
