"""The construction of a round tripper from a transport config.

Mirrors transport/transport.go, cert_rotation.go and ca_rotation.go. Differences: there is no process-wide cache of
transports; a client's round tripper, which all its API groups share, keeps the connections. It checks certificate and
CA files before a request, at most once per second, and a change results in a new TLS context for new connections; Go
uses a background goroutine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clientgo import klog
from clientgo.context import Context
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.golang.http.transport import Transport
from clientgo.golang.io import read_file
from clientgo.transport.config import Certificate, Config, TLSConfig, WrapperFunc
from clientgo.transport.round_trippers import http_wrappers_for_config
from clientgo.utils.clock import Clock, RealClock

if TYPE_CHECKING:
    import ssl

# Seconds between two checks of certificate files.
_FILE_CHECK_PERIOD = 1.0


def new(config: Config) -> RoundTripper:
    """Return a round tripper with the config's security and authentication. Go: New.

    Raises ValueError for a contradictory config, OSError for an unreadable file.
    """
    tls = config.tls
    if config.transport is not None and (
        config.has_ca() or config.has_cert_auth() or config.has_cert_callback() or tls.insecure
    ):
        raise ValueError("using a custom transport with TLS certificate options or the insecure flag is not allowed")
    base = config.transport if config.transport is not None else _new_transport(config)
    return http_wrappers_for_config(config, base)


def _new_transport(config: Config) -> Transport:
    source = _ContextSource(config)
    if config.has_ca() or config.has_cert_auth():
        source.context()  # an invalid certificate is an error of the configuration, not of the first request
    return ClockCheckingTransport(
        ssl_context=source.context,
        server_name=config.tls.server_name,
        proxy=config.proxy,
        dial=config.dial_holder.dial if config.dial_holder is not None else None,
        disable_compression=config.disable_compression,
    )


class ClockCheckingTransport(Transport):
    """A transport that logs once if a server rejects credentials because of a clock. Thread-safe. Beyond Go."""

    def __init__(self, *, now: Callable[[], float] = time.time, **settings: Any) -> None:
        """Initialize the transport. `now` returns the seconds since 1970; Transport lists the other settings."""
        super().__init__(**settings)
        self._now = now
        # Guards the next attribute, so that requests that fail at once log one line. Held while it is logged.
        self._report_lock = threading.Lock()
        self._is_reported = False

    def round_trip(self, request: Request) -> Response:
        """See Transport."""
        response = super().round_trip(request)
        if response.status_code == 401 and not self._is_reported:
            from clientgo.transport.clock_skew import report_clock_skew

            with self._report_lock:
                self._is_reported = self._is_reported or report_clock_skew(request, response, self._now())
        return response


def tls_config_for(c: Config) -> ssl.SSLContext | None:
    """Return the TLS context of the config, or None if it has no TLS settings. Go: TLSConfigFor.

    Records in `c.tls` which settings come from files. Raises ValueError, OSError.
    """
    tls = c.tls
    if not (c.has_ca() or c.has_cert_auth() or c.has_cert_callback() or tls.insecure or tls.server_name):
        return None
    if c.has_ca() and tls.insecure:
        raise ValueError("specifying a root certificates file with the insecure flag is not allowed")
    tls.reload_ca_files = bool(tls.ca_file and not tls.ca_data)
    tls.reload_tls_files = bool(tls.cert_file and not tls.cert_data and tls.key_file and not tls.key_data)
    return _build_context(tls, _load_material(c), has_ca=c.has_ca())


# The current certificate authorities and client certificate, from data, files or the callback. A new TLS context is
# needed only if they change.
_Material = tuple[bytes, Certificate | None]


def _load_material(c: Config) -> _Material:
    tls = c.tls
    ca = _data_from_slice_or_file(tls.ca_data, tls.ca_file)
    if not c.has_cert_auth():
        return ca, _certificate_of_callback(tls)
    cert = _data_from_slice_or_file(tls.cert_data, tls.cert_file)
    key = _data_from_slice_or_file(tls.key_data, tls.key_file)
    # Without this check an empty file would make the client anonymous.
    for part, data in (("certificate", cert), ("key", key)):
        if not data:
            raise ValueError(f"tls: failed to find any PEM data in {part} input")
    return ca, Certificate(cert, key)


def _build_context(tls: TLSConfig, material: _Material, *, has_ca: bool) -> ssl.SSLContext:
    # Imported here, since importing ssl is slow, and a program may create clients without sending requests.
    from clientgo.transport.tls import build_context

    ca, certificate = material
    return build_context(ca if has_ca else None, certificate, insecure=tls.insecure)


def _certificate_of_callback(tls: TLSConfig) -> Certificate | None:
    return tls.get_cert_holder.get_cert() if tls.get_cert_holder is not None else None


def _data_from_slice_or_file(data: bytes, path: str) -> bytes:
    if data or not path:
        return data
    return read_file(path)


class _ContextSource:
    """A source of the TLS context for the next request, which changes with the certificates. Thread-safe."""

    def __init__(self, config: Config, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or RealClock()
        # Guards the other attributes; held while files are read.
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._material: _Material = (b"", None)
        self._checked_at = 0.0
        # The error of the last check of the files.
        self._problem = ""

    def context(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:
                self._context = tls_config_for(self._config) or _build_context(
                    self._config.tls, self._material, has_ca=False
                )
                self._material = _load_material(self._config)
                self._checked_at = self._clock.now()
            elif self._may_have_changed():
                self._reload()
            return self._context

    def _may_have_changed(self) -> bool:
        tls = self._config.tls
        _, certificate = self._material
        if not self._config.has_cert_auth() and _certificate_of_callback(tls) != certificate:
            return True
        if not (tls.reload_ca_files or tls.reload_tls_files):
            return False
        now = self._clock.now()
        if now - self._checked_at < _FILE_CHECK_PERIOD:
            return False
        self._checked_at = now
        return True

    def _reload(self) -> None:
        # A rotation writes several files; while they do not match, the old context stays in use.
        try:
            material = _load_material(self._config)
            (ca_before, _), (ca, _) = self._material, material
            if ca_before and not ca:
                raise ValueError(f"CA file {self._config.tls.ca_file} is empty")
            if material != self._material:
                self._context = _build_context(self._config.tls, material, has_ca=self._config.has_ca())
                self._material = material
        except (OSError, ValueError) as err:
            if str(err) != self._problem:
                klog.background().error(err, "Failed to reload certificates, those in use are kept")
            self._problem = str(err)
        else:
            self._problem = ""


def wrappers(*fns: WrapperFunc | None) -> WrapperFunc | None:
    """Return a wrapper that applies the given ones in order and ignores None. Go: Wrappers."""
    present = [fn for fn in fns if fn is not None]
    if not present:
        return None
    if len(present) == 1:
        return present[0]

    def wrap(rt: RoundTripper) -> RoundTripper:
        for fn in present:
            rt = fn(rt)
        return rt

    return wrap


def context_canceller(ctx: Context, err: Exception) -> WrapperFunc:
    """Return a wrapper that rejects new requests with `err` once the context is done. Go: ContextCanceller."""
    return lambda rt: _ContextCanceller(ctx, err, rt)


class _ContextCanceller:
    def __init__(self, ctx: Context, err: Exception, rt: RoundTripper) -> None:
        self._ctx = ctx
        self._err = err
        self._rt = rt

    def round_trip(self, request: Request) -> Response:
        if self._ctx.done().is_set():
            raise self._err
        return self._rt.round_trip(request)

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._rt
