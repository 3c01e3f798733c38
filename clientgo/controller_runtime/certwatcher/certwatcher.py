"""A watcher that reloads a certificate and its key when their files change. Mirrors pkg/certwatcher/certwatcher.go.

Difference: the standard library has no file notifications, so the watcher polls the files every second; Go uses
notifications and polls every ten seconds. If the pair does not match or is half written, the watcher logs and counts an
error and keeps the last valid pair. `follow` replaces the GetCertificate of a tls.Config.
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
from clientgo.golang.tls import load_key_pair
from clientgo.klog.exceptions import operational
from clientgo.utils.clock import REAL_CLOCK, Clock

__all__ = ["CertWatcher", "Certificate", "follow", "new"]

_LOG = RUNTIME_LOG.with_name("certwatcher")
_DEFAULT_WATCH_INTERVAL = 1.0


@dataclass(frozen=True)
class Certificate:
    """A certificate with its chain, and its key, both in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def new(cert_path: str | Path, key_path: str | Path) -> CertWatcher:
    """Return a watcher that has loaded the pair once. Go: certwatcher.New.

    Raises OSError if a file cannot be read, ssl.SSLError if the files are not a matching pair.
    """
    watcher = CertWatcher(Path(cert_path), Path(key_path))
    watcher.read_certificate()
    return watcher


def follow(watcher: CertWatcher, context: ssl.SSLContext, configured: Callable[[], ssl.SSLContext]) -> None:
    """Present the watcher's current pair in each handshake of a server with `context`.

    `configured` returns a new context with the server's settings, for each pair. OpenSSL must not load a pair into a
    context with which other threads accept connections: the process may crash. Open connections keep their certificate.
    Uses the watcher's callback and the context's `sni_callback`, which OpenSSL also calls without a server name.
    """
    current: ssl.SSLContext | None = None

    def replace(pair: Certificate) -> None:
        nonlocal current
        made = configured()
        # Only comments have other characters.
        certificate, key = (each.decode("ascii", "ignore") for each in (pair.certificate, pair.key))
        load_key_pair(made, certificate, key)
        current = made

    def take_over(connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        if current is not None:
            connection.context = current

    watcher.register_callback(replace)
    context.sni_callback = take_over


class CertWatcher:
    """A watcher of one certificate file and one key file, made by `new`. Go: certwatcher.CertWatcher.

    `start` is a manager's runnable and must run in one thread; the other methods are thread-safe.
    """

    def __init__(self, cert_path: Path, key_path: Path, clock: Clock = REAL_CLOCK) -> None:
        self.cert_path = cert_path
        self.key_path = key_path
        self._interval = _DEFAULT_WATCH_INTERVAL
        self._clock = clock
        # Guards _current and _callback. Held while the files are read, so that an older pair never replaces a newer
        # one.
        self._lock = threading.Lock()
        self._current: Certificate | None = None
        self._callback: Callable[[Certificate], object] | None = None

    def __repr__(self) -> str:
        return f"<CertWatcher {self.cert_path}>"

    def with_watch_interval(self, interval: float) -> CertWatcher:
        """Poll the files every `interval` seconds. Call it before `start`. Go: WithWatchInterval."""
        self._interval = interval
        return self

    def register_callback(self, callback: Callable[[Certificate], object]) -> None:
        """Call `callback` with the current pair, if there is one, and again after each change. Go: RegisterCallback."""
        with self._lock:
            self._callback = callback
            current = self._current
        if current is not None:
            callback(current)

    def get_certificate(self) -> Certificate | None:
        """Return the pair that was loaded last. Blocks only for the lock. Go: GetCertificate."""
        with self._lock:
            return self._current

    def start(self, ctx: Context) -> None:
        """Poll the files until `ctx` is done. Blocks. Go: Start."""
        _LOG.info("Starting certificate poll+watcher", interval=self._interval)
        while sleep(ctx, self._interval, self._clock):
            self.watch()

    def watch(self) -> None:
        """Check the files once; log and count errors. Go: Watch."""
        try:
            self.read_certificate()
        except (OSError, ValueError) as err:
            _LOG.error(err, "failed read certificate")

    def read_certificate(self) -> None:
        """Load the pair, and call the callback if it has changed. Raises OSError, ssl.SSLError. Go: ReadCertificate."""
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
        """Return the new pair, or None if it has not changed."""
        found = self._files()
        if found == self._current:
            return None
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.cert_path, self.key_path)
        if self._files() != found:
            raise ValueError(f"{self.cert_path} or its key changed while it was read")
        self._current = found
        return found

    def _files(self) -> Certificate:
        with operational(OSError):
            return Certificate(self.cert_path.read_bytes(), self.key_path.read_bytes())

    def need_leader_election(self) -> bool:
        """Return False: every replica serves. Go: NeedLeaderElection."""
        return False
