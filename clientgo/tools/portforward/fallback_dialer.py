"""A dialer with a second one for servers that lack the first one's protocol.

Mirrors tools/portforward/fallback_dialer.go.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo import klog
from clientgo.apimachinery.util import httpstream
from clientgo.klog.answers import is_true

__all__ = ["FallbackDialer", "new_fallback_dialer"]


class FallbackDialer:
    """Tries `primary`, and after some errors `secondary`. Go: portforward.FallbackDialer."""

    def __init__(
        self,
        primary: httpstream.Dialer,
        secondary: httpstream.Dialer,
        should_fallback: Callable[[Exception], bool],
    ) -> None:
        self._primary = primary
        self._secondary = secondary
        self._should_fallback = should_fallback

    def dial(self, *protocols: str) -> tuple[httpstream.Connection, str]:
        """See Dialer. Go: FallbackDialer.Dial."""
        try:
            return self._primary.dial(*protocols)
        except Exception as err:
            if not is_true(self._should_fallback, err):
                raise
            klog.v(4).info("fallback to secondary dialer from primary dialer", err=err)
        return self._secondary.dial(*protocols)

    def __repr__(self) -> str:
        return f"<FallbackDialer {self._primary!r}, {self._secondary!r}>"


def new_fallback_dialer(
    primary: httpstream.Dialer, secondary: httpstream.Dialer, should_fallback: Callable[[Exception], bool]
) -> httpstream.Dialer:
    """Return a dialer that uses `secondary` if `should_fallback` accepts the error of `primary`. Go: NewFallbackDialer.

    kubectl's condition is `httpstream.is_upgrade_failure` or `httpstream.is_https_proxy_error`.
    """
    return FallbackDialer(primary, secondary, should_fallback)
