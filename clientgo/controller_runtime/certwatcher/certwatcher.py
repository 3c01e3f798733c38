"""A certificate and its key, read again when their files change. Mirrors pkg/certwatcher/certwatcher.go.

Differs: the standard library hears nothing of changed files, so they are looked at every second, where Go is told and
looks every ten seconds besides. A pair that does not fit together, or is half written, is an error that is logged and
counted; the last good pair stays.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from clientgo.context import Context, sleep
from clientgo.controller_runtime.certwatcher import metrics
from clientgo.controller_runtime.internal.log.log import RUNTIME_LOG
from clientgo.utils.clock import REAL_CLOCK, Clock

__all__ = ["CertWatcher", "Certificate", "new"]

_LOG = RUNTIME_LOG.with_name("certwatcher")
_DEFAULT_WATCH_INTERVAL = 1.0


@dataclass(frozen=True)
class Certificate:
    """A certificate with its chain, and its key, both in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def new(cert_path: str | Path, key_path: str | Path) -> CertWatcher:
    """A watcher that has read the pair once. Raises OSError for a file that cannot be read, ssl.SSLError for no pair.

    Go: certwatcher.New.
    """
    watcher = CertWatcher(Path(cert_path), Path(key_path))
    watcher.read_certificate()
    return watcher


class CertWatcher:
    """Watches one pair of files. Go: certwatcher.CertWatcher. Make it with `new`.

    `start` is a runnable of a manager and belongs to one thread; the rest may be called from any.
    """

    def __init__(self, cert_path: Path, key_path: Path, clock: Clock = REAL_CLOCK) -> None:
        self.cert_path = cert_path
        self.key_path = key_path
        self._interval = _DEFAULT_WATCH_INTERVAL
        self._clock = clock
        # Guards _current and _callback; held while the files are read, so that an older pair never replaces a newer.
        self._lock = threading.Lock()
        self._current: Certificate | None = None
        self._callback: Callable[[Certificate], object] | None = None

    def __repr__(self) -> str:
        return f"<CertWatcher {self.cert_path}>"

    def with_watch_interval(self, interval: float) -> CertWatcher:
        """Look every `interval` seconds; call it before `start`. Go: WithWatchInterval."""
        self._interval = interval
        return self

    def register_callback(self, callback: Callable[[Certificate], object]) -> None:
        """Have `callback` called with the pair now, if there is one, and each time it changes. Go: RegisterCallback."""
        with self._lock:
            self._callback = callback
            current = self._current
        if current is not None:
            callback(current)

    def get_certificate(self) -> Certificate | None:
        """The pair as it was read last. Never blocks longer than the lock. Go: GetCertificate."""
        with self._lock:
            return self._current

    def start(self, ctx: Context) -> None:
        """Look for changes until `ctx` is done. Blocks. Go: Start."""
        _LOG.info("Starting certificate poll+watcher", interval=self._interval)
        while sleep(ctx, self._interval, self._clock):
            self.watch()

    def watch(self) -> None:
        """Look once; what goes wrong is logged and counted. Go: Watch."""
        try:
            self.read_certificate()
        except (OSError, ValueError) as err:
            _LOG.error(err, "failed read certificate")

    def read_certificate(self) -> None:
        """Read the pair, and tell the callback if it is another one. Raises OSError, ssl.SSLError.

        Go: ReadCertificate.
        """
        metrics.READ_CERTIFICATE_TOTAL.inc()
        try:
            with self._lock:
                changed = self._read()
                callback = self._callback
        except BaseException:
            metrics.READ_CERTIFICATE_ERRORS.inc()
            raise
        if changed is None:
            _LOG.v(7).info("certificate already cached")
            return
        _LOG.info("Updated current TLS certificate")
        if callback is not None:
            callback(changed)

    def _read(self) -> Certificate | None:
        """The new pair, None when it is the one there was."""
        found = self._files()
        if found == self._current:
            return None
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.cert_path, self.key_path)
        if self._files() != found:
            raise ValueError(f"{self.cert_path} or its key changed while it was read")
        self._current = found
        return found

    def _files(self) -> Certificate:
        return Certificate(self.cert_path.read_bytes(), self.key_path.read_bytes())

    def need_leader_election(self) -> bool:
        """Every replica serves. Go: NeedLeaderElection."""
        return False
