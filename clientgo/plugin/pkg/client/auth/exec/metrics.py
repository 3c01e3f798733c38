"""The metric of the next expiry of a plugin's certificate. Mirrors plugin/pkg/client/auth/exec/metrics.go.

Difference: the tracker forgets an authenticator that is collected.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from clientgo.tools.metrics import metrics

if TYPE_CHECKING:
    from clientgo.plugin.pkg.client.auth.exec.exec import Authenticator

__all__ = ["EXPIRATION_METRICS", "CertificateExpirationTracker"]


class CertificateExpirationTracker:
    """A reporter of the earliest expiry among the authenticators' certificates. Thread-safe.

    Go: certificateExpirationTracker.
    """

    def __init__(self, metric_set: Callable[[float | None], object]) -> None:
        """Initialize a tracker that calls `metric_set` with seconds since 1970, or None without certificates."""
        self._metric_set = metric_set
        # Guards the next attribute. Held during `metric_set`, so that the last call has the latest value.
        self._lock = threading.Lock()
        self._expiries: weakref.WeakKeyDictionary[Authenticator, float | None] = weakref.WeakKeyDictionary()

    def set(self, authenticator: Authenticator, expiry: float | None) -> None:
        """Store the expiry of the authenticator's certificate, None for no certificate, and report the earliest one."""
        with self._lock:
            self._expiries[authenticator] = expiry
            self._metric_set(min((each for each in self._expiries.values() if each is not None), default=None))


# Go: expirationMetrics.
EXPIRATION_METRICS = CertificateExpirationTracker(lambda expiry: metrics.CLIENT_CERT_EXPIRY.set(expiry))
