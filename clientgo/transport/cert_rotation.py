"""The current TLS context of a transport whose certificates may change. Mirrors cert_rotation.go and ca_rotation.go.

Differences: no thread reloads the files. A request checks them, at most once per CERT_CALLBACK_REFRESH_DURATION, which
is a second and not five minutes; a watch that is alone is checked when it is renewed. A new certificate authority and a
new client certificate result in one new context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from clientgo import klog
from clientgo.golang.io import read_file
from clientgo.transport.config import Certificate, Config, TLSConfig
from clientgo.utils.clock import Clock, RealClock

if TYPE_CHECKING:
    import ssl

__all__ = [
    "CERT_CALLBACK_REFRESH_DURATION",
    "ContextSource",
    "loaded_tls",
    "require_readable",
    "set_reloads",
    "tls_config_for",
]

CERT_CALLBACK_REFRESH_DURATION = 1.0
"""Seconds between two checks of certificate files. Programs set the attribute of this module.

Go: CertCallbackRefreshDuration.
"""

# The current certificate authorities and client certificate, from data, files or the callback. A new TLS context is
# needed only if they change.
_Material = tuple[bytes, Certificate | None]


def tls_config_for(c: Config) -> ssl.SSLContext | None:
    """Return the TLS context of the config, or None if it has no TLS settings. Go: TLSConfigFor.

    Records in `c.tls` which settings come from files. Raises ValueError, OSError.
    """
    if not _has_settings(c):
        return None
    return _build_context(c.tls, _first_material(c), has_ca=c.has_ca())


def _first_material(c: Config) -> _Material:
    """Check the settings, record which of them come from files, and load them."""
    if c.has_ca() and c.tls.insecure:
        raise ValueError("specifying a root certificates file with the insecure flag is not allowed")
    set_reloads(c.tls)
    return _load_material(c)


def set_reloads(tls: TLSConfig) -> None:
    """Record which files are to be read again."""
    if tls.ca_file and not tls.ca_data:
        from clientgo import features

        tls.reload_ca_files = features.feature_gates().enabled(features.CLIENTS_ALLOW_CA_ROTATION)
    else:
        tls.reload_ca_files = False
    tls.reload_tls_files = bool(tls.cert_file and not tls.cert_data and tls.key_file and not tls.key_data)


def loaded_tls(c: Config) -> TLSConfig:
    """Return the TLS settings with the contents of the files that are read only once. Raises OSError.

    Records in `c.tls` which files are to be read again. Go: loadTLSFiles.
    """
    set_reloads(c.tls)
    loaded = replace(c.tls, next_protos=list(c.tls.next_protos))
    if not loaded.reload_ca_files:
        loaded.ca_data = _data_from_slice_or_file(loaded.ca_data, loaded.ca_file)
    if not loaded.reload_tls_files:
        loaded.cert_data = _data_from_slice_or_file(loaded.cert_data, loaded.cert_file)
        loaded.key_data = _data_from_slice_or_file(loaded.key_data, loaded.key_file)
    return loaded


def require_readable(tls: TLSConfig) -> None:
    """Raise OSError if a file that is to be read again cannot be read."""
    for path in (tls.ca_file,) if tls.reload_ca_files else ():
        read_file(path)
    for path in (tls.cert_file, tls.key_file) if tls.reload_tls_files else ():
        read_file(path)


def _has_settings(c: Config) -> bool:
    return c.has_ca() or c.has_cert_auth() or c.has_cert_callback() or c.tls.insecure or bool(c.tls.server_name)


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


class ContextSource:
    """A source of the TLS context for the next request, which changes with the certificates. Thread-safe."""

    def __init__(
        self, config: Config, clock: Clock | None = None, on_rotation: Callable[[], object] | None = None
    ) -> None:
        """Initialize a source. It calls `on_rotation` when the files have a new client certificate."""
        self._config = config
        self._clock = clock or RealClock()
        self._on_rotation = on_rotation
        # Guards the other attributes; held while files are read.
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._material: _Material = (b"", None)
        self._checked_at = 0.0
        # The error of the last check of the files.
        self._problem = ""

    def context(self) -> ssl.SSLContext:
        """Return the current context. Raises ValueError and OSError for the first one only."""
        is_rotated = False
        with self._lock:
            if self._context is None:
                material = _first_material(self._config)
                self._context = _build_context(self._config.tls, material, has_ca=self._config.has_ca())
                self._material = material
                self._checked_at = self._clock.now()
            elif self._may_have_changed():
                is_rotated = self._reload()
            context = self._context
        if is_rotated and self._on_rotation is not None:
            klog.background().v(1).info(
                "Certificate rotation detected, shutting down client connections to start using new credentials"
            )
            self._on_rotation()
        return context

    def _may_have_changed(self) -> bool:
        tls = self._config.tls
        _, certificate = self._material
        if not self._config.has_cert_auth() and _certificate_of_callback(tls) != certificate:
            return True
        if not (tls.reload_ca_files or tls.reload_tls_files):
            return False
        now = self._clock.now()
        if now - self._checked_at < CERT_CALLBACK_REFRESH_DURATION:
            return False
        self._checked_at = now
        return True

    def _reload(self) -> bool:
        """Read the files again and report whether they have another client certificate."""
        # A rotation writes several files; while they do not match, the old context stays in use.
        result = ("success", "unchanged")
        before, certificate_before = self._material
        try:
            try:
                material = _load_material(self._config)
            except OSError:
                result = ("failure", "read_error")
                raise
            ca, certificate = material if self._config.tls.reload_ca_files else (before, material[1])
            if before and not ca:
                result = ("failure", "empty")
                raise ValueError(f"CA file {self._config.tls.ca_file} is empty")
            material = ca, certificate
            if material != self._material:
                result = ("failure", "ca_parse_error")
                self._context = _build_context(self._config.tls, material, has_ca=self._config.has_ca())
                self._material = material
                result = ("success", "updated" if ca != before else "unchanged")
        except (OSError, ValueError) as err:
            if str(err) != self._problem:
                klog.background().error(err, "Failed to reload certificates, those in use are kept")
            self._problem = str(err)
        else:
            self._problem = ""
        if self._config.tls.reload_ca_files:
            from clientgo.tools.metrics import metrics

            metrics.TRANSPORT_CA_RELOADS.increment(*result)
        return self._config.tls.reload_tls_files and self._material[1] != certificate_before
