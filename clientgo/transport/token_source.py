"""Bearer tokens that change while the program runs. Mirrors transport/token_source.go.

Differs: a 401 resets the token of a token file too (Go does so only for sources given through
`resettable_token_source_wrap_transport`), so that a rotated service account token is picked up at once and not within
the minute.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from clientgo import klog
from clientgo.golang.http import Request, Response, RoundTripper
from clientgo.golang.io import read_file
from clientgo.klog.exceptions import as_operational
from clientgo.transport.config import WrapperFunc
from clientgo.utils.clock import Clock, RealClock

# A projected token is valid for ten minutes and renewed at 80 % of that: this is half of the rest.
FILE_TOKEN_PERIOD = 60.0
FILE_TOKEN_LEEWAY = 10.0


@dataclass(frozen=True)
class Token:
    """A bearer token and the time (seconds since 1970) at which it must be renewed. Go: oauth2.Token."""

    access_token: str = field(repr=False)
    expiry: float = 0.0


@runtime_checkable
class TokenSource(Protocol):
    """A source of the current token.

    Thread-safe; raises OSError or ValueError if there is none. Go: oauth2.TokenSource.
    """

    def token(self) -> Token: ...


@runtime_checkable
class ResettableTokenSource(TokenSource, Protocol):
    """A token source whose cached token can be reset after a rejection."""

    def reset_token_older_than(self, t: float, /) -> None:
        """Drop the token unless it was fetched at `t` (seconds since 1970) or later."""
        ...


def token_source_wrap_transport(ts: TokenSource) -> WrapperFunc:
    """Return a wrapper that adds the source's token to each request. Go: TokenSourceWrapTransport."""
    return lambda rt: _TokenSourceTransport(rt, ts, None)


def resettable_token_source_wrap_transport(ts: ResettableTokenSource) -> WrapperFunc:
    """Return a wrapper that adds tokens and fetches a new one after a 401.

    Go: ResettableTokenSourceWrapTransport.
    """
    return lambda rt: _TokenSourceTransport(rt, ts, ts)


def new_cached_file_token_source(path: str, clock: Clock | None = None) -> _CachingTokenSource:
    """Return a source that reads a file at most once per minute. Go: NewCachedFileTokenSource."""
    clock = clock or RealClock()
    return _CachingTokenSource(_FileTokenSource(path, FILE_TOKEN_PERIOD, clock.now), clock.now, FILE_TOKEN_LEEWAY)


def new_cached_token_source(ts: TokenSource, clock: Clock | None = None) -> _CachingTokenSource:
    """Return a source that uses another one only when its token has expired. Go: NewCachedTokenSource."""
    return _CachingTokenSource(ts, (clock or RealClock()).now, 0.0)


class _TokenSourceTransport:
    def __init__(self, base: RoundTripper, source: TokenSource, resettable: ResettableTokenSource | None) -> None:
        self._base = base
        self._source = source
        self._resettable = resettable
        self._now = RealClock().now

    def round_trip(self, request: Request) -> Response:
        # An explicit --token overrides the provider.
        if request.headers.get("Authorization"):
            return self._base.round_trip(request)
        # Taken before the request, so that a token fetched meanwhile survives the rejection of the old one.
        start = self._now()
        request = request.clone()
        request.headers["Authorization"] = "Bearer " + self._source.token().access_token
        response = self._base.round_trip(request)
        if response.status_code == 401 and self._resettable is not None:
            self._resettable.reset_token_older_than(start)
        return response

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._base


class _FileTokenSource:
    """A token source that reads a file at every call."""

    def __init__(self, path: str, period: float, now: Callable[[], float]) -> None:
        self._path = path
        self._period = period
        self._now = now

    def token(self) -> Token:
        try:
            token = read_file(self._path).decode("utf-8", "surrogateescape").strip()
        except OSError as err:
            text = f'failed to read token file "{self._path}": {err.strerror or err}'
            raise as_operational(OSError(text)) from err
        if not token:
            raise as_operational(ValueError(f'read empty token from file "{self._path}"'))
        return Token(token, self._now() + self._period)


class _CachingTokenSource:
    """A token source that caches a token until shortly before its expiry, and longer if renewal fails. Thread-safe."""

    def __init__(self, base: TokenSource, now: Callable[[], float], leeway: float) -> None:
        self._base = base
        self._now = now
        self._leeway = leeway
        # Guards the next two attributes, and lets only one thread at a time call the base.
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._fetched_at = 0.0

    def token(self) -> Token:
        """Return the cached token, or a new one.

        Blocks while the base fetches one. Raises the base's error if there never was a token.
        """
        with self._lock:
            token = self._token
            if token is not None and token.expiry + -self._leeway > self._now():  # `-` would lose the monotonic reading
                return token
            try:
                fetched = self._base.token()
            except (OSError, ValueError) as err:
                if token is None:
                    raise
                klog.background().error(err, "Unable to rotate token")
                return token
            self._fetched_at = self._now()
            self._token = fetched
            return fetched

    def reset_token_older_than(self, t: float) -> None:
        """See ResettableTokenSource."""
        with self._lock:
            if self._fetched_at < t and self._token is not None:
                # Kept as a fallback: an unreadable file must not remove the Authorization header.
                self._token = Token(self._token.access_token, 0.0)
                self._fetched_at = 0.0

    def __repr__(self) -> str:
        return f"<token source, {'holds a token' if self._token else 'empty'}>"
