"""Conversion of connection errors to builtin exceptions with Go's texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clientgo.golang.io import ErrUnexpectedEOF

if TYPE_CHECKING:
    import ssl

__all__ = ["as_builtin", "is_lost", "with_text"]


def as_builtin(err: Exception) -> Exception:
    """Convert an error of an existing connection to an OSError, EOFError or ValueError."""
    # Imported here, since the connection has loaded these modules already.
    import http.client
    import ssl

    if isinstance(err, ssl.SSLCertVerificationError):
        return with_text(err, f"tls: failed to verify certificate: {err.verify_message}")
    if isinstance(err, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return EOFError("EOF")  # TLS works, but the server has closed the connection
    if isinstance(err, ssl.SSLError):
        return with_text(err, f"tls: {_tls_reason(err)}")
    if isinstance(err, TimeoutError):
        return TimeoutError("read: i/o timeout")
    if isinstance(err, http.client.IncompleteRead):
        return ErrUnexpectedEOF()
    if isinstance(err, http.client.HTTPException):
        return ValueError(str(err))
    if isinstance(err, OSError) and err.errno:
        return with_text(err, f"read: {str(err.strerror).lower()}")
    return err


def with_text(err: OSError, text: str) -> OSError:
    """Return an error of the same class with another text."""
    same = type(err)(err.errno, text)
    same.strerror = text
    return same


def is_lost(err: Exception) -> bool:
    """Report whether the connection broke before the first byte of the response. Expects a result of `as_builtin`."""
    if isinstance(err, EOFError):
        return not isinstance(err, ErrUnexpectedEOF)
    return isinstance(err, ConnectionError)


def _tls_reason(err: ssl.SSLError) -> str:
    reason = (err.reason or str(err)).lower().replace("_", " ")
    return reason.removeprefix("tlsv13 ").removeprefix("tlsv1 ").removeprefix("sslv3 ")
