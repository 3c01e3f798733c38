"""Round trippers that add credentials, impersonation and a user agent, or log requests.

Mirrors transport/round_trippers.go. Differences: the debugging round tripper does not measure DNS, dial and TLS times.
A wrapped chain needs no CancelRequest, since cancelling the request's context has the same effect.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any

from clientgo import klog
from clientgo.golang.functions import describe_function
from clientgo.golang.http import Header, Request, Response, RoundTripper, basic_auth, redacted_url
from clientgo.golang.strconv import quote
from clientgo.transport.config import Config, ImpersonationConfig
from clientgo.transport.token_source import ResettableTokenSource, new_cached_file_token_source
from clientgo.utils.clock import RealClock

IMPERSONATE_USER_HEADER = "Impersonate-User"
IMPERSONATE_UID_HEADER = "Impersonate-Uid"
IMPERSONATE_GROUP_HEADER = "Impersonate-Group"
# The prefix of headers for entries of `extra`; a header may occur several times.
IMPERSONATE_USER_EXTRA_HEADER_PREFIX = "Impersonate-Extra-"


def http_wrappers_for_config(config: Config, rt: RoundTripper) -> RoundTripper:
    """Wrap `rt` in everything that the config requires. Raises ValueError, OSError. Go: HTTPWrappersForConfig."""
    if config.wrap_transport is not None:
        rt = config.wrap_transport(rt)
        if not callable(getattr(rt, "round_trip", None)):
            function = describe_function(config.wrap_transport)
            raise TypeError(f"{function} returned {rt!r}: wrap_transport returns an object with round_trip(request)")
    rt = debug_wrappers(rt)
    if config.has_basic_auth() and config.has_token_auth():
        raise ValueError("username/password or bearer token may be set, but not both")
    if config.has_token_auth():
        rt = new_bearer_auth_with_refresh_round_tripper(config.bearer_token, config.bearer_token_file, rt)
    elif config.has_basic_auth():
        rt = new_basic_auth_round_tripper(config.username, config.password, rt)
    if config.user_agent:
        rt = new_user_agent_round_tripper(config.user_agent, rt)
    impersonate = config.impersonate
    if impersonate.user_name or impersonate.uid or impersonate.groups or impersonate.extra:
        rt = new_impersonating_round_tripper(impersonate, rt)
    return rt


def debug_wrappers(rt: RoundTripper) -> RoundTripper:
    """Log requests if the current verbosity is at least 6. Go: DebugWrappers."""
    return new_debugging_round_tripper(rt, DebugLevel.BY_CONTEXT) if klog.v(6).enabled() else rt


class _Wrapper:
    """A round tripper that wraps another one."""

    def __init__(self, rt: RoundTripper) -> None:
        self._rt = rt

    def wrapped_round_tripper(self) -> RoundTripper:
        return self._rt

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lstrip('_')} over {self._rt!r}>"


def new_auth_proxy_round_tripper(
    username: str, uid: str, groups: Sequence[str], extra: Mapping[str, Sequence[str]], rt: RoundTripper
) -> RoundTripper:
    """Return a round tripper that sends the user's identity to the backend of an authenticating proxy.

    Go: NewAuthProxyRoundTripper.
    """
    return _AuthProxyRoundTripper(username, uid, groups, extra, rt)


class _AuthProxyRoundTripper(_Wrapper):
    def __init__(
        self, username: str, uid: str, groups: Sequence[str], extra: Mapping[str, Sequence[str]], rt: RoundTripper
    ) -> None:
        super().__init__(rt)
        self._user = (username, uid, groups, extra)

    def round_trip(self, request: Request) -> Response:
        request = request.clone()
        set_auth_proxy_headers(request, *self._user)
        return self._rt.round_trip(request)


def set_auth_proxy_headers(
    request: Request, username: str, uid: str, groups: Sequence[str], extra: Mapping[str, Sequence[str]]
) -> None:
    """Replace the X-Remote headers of the request. Go: SetAuthProxyHeaders."""
    stale = [key for key in request.headers if key.lower().startswith("x-remote-extra-")]
    for key in ("X-Remote-User", "X-Remote-Uid", "X-Remote-Group", *stale):
        request.headers.discard(key)
    request.headers["X-Remote-User"] = username
    if uid:
        request.headers["X-Remote-Uid"] = uid
    for group in groups:
        request.headers.add("X-Remote-Group", group)
    _add_extra(request.headers, "X-Remote-Extra-", extra)


def _add_extra(headers: Header, prefix: str, extra: Mapping[str, Sequence[str]]) -> None:
    for key, values in extra.items():
        for value in values:
            headers.add(prefix + header_key_escape(key), value)


def new_user_agent_round_tripper(agent: str, rt: RoundTripper) -> RoundTripper:
    """Return a round tripper that adds a User-Agent to requests without one. Go: NewUserAgentRoundTripper."""
    return _UserAgentRoundTripper(agent, rt)


class _UserAgentRoundTripper(_Wrapper):
    def __init__(self, agent: str, rt: RoundTripper) -> None:
        super().__init__(rt)
        self._agent = agent

    def round_trip(self, request: Request) -> Response:
        if not request.headers.get("User-Agent"):
            request = request.clone()
            request.headers["User-Agent"] = self._agent
        return self._rt.round_trip(request)


def new_basic_auth_round_tripper(username: str, password: str, rt: RoundTripper) -> RoundTripper:
    """Return a round tripper that adds basic authentication to requests without Authorization.

    Go: NewBasicAuthRoundTripper.
    """
    return _BasicAuthRoundTripper(username, password, rt)


class _BasicAuthRoundTripper(_Wrapper):
    def __init__(self, username: str, password: str, rt: RoundTripper) -> None:
        super().__init__(rt)
        self._authorization = basic_auth(username, password)

    def round_trip(self, request: Request) -> Response:
        if not request.headers.get("Authorization"):
            request = request.clone()
            request.headers["Authorization"] = self._authorization
        return self._rt.round_trip(request)


def new_impersonating_round_tripper(impersonate: ImpersonationConfig, delegate: RoundTripper) -> RoundTripper:
    """Return a round tripper that adds impersonation headers to requests without them.

    Go: NewImpersonatingRoundTripper.
    """
    return _ImpersonatingRoundTripper(impersonate, delegate)


class _ImpersonatingRoundTripper(_Wrapper):
    def __init__(self, impersonate: ImpersonationConfig, delegate: RoundTripper) -> None:
        super().__init__(delegate)
        self._impersonate = impersonate

    def round_trip(self, request: Request) -> Response:
        if request.headers.get(IMPERSONATE_USER_HEADER):
            return self._rt.round_trip(request)
        request = request.clone()
        impersonate = self._impersonate
        request.headers[IMPERSONATE_USER_HEADER] = impersonate.user_name
        if impersonate.uid:
            request.headers[IMPERSONATE_UID_HEADER] = impersonate.uid
        for group in impersonate.groups:
            request.headers.add(IMPERSONATE_GROUP_HEADER, group)
        _add_extra(request.headers, IMPERSONATE_USER_EXTRA_HEADER_PREFIX, impersonate.extra)
        return self._rt.round_trip(request)


def new_bearer_auth_round_tripper(bearer: str, rt: RoundTripper) -> RoundTripper:
    """Return a round tripper that adds a bearer token to requests without Authorization.

    Go: NewBearerAuthRoundTripper.
    """
    return _BearerAuthRoundTripper(bearer, None, rt)


def new_bearer_auth_with_refresh_round_tripper(bearer: str, token_file: str, rt: RoundTripper) -> RoundTripper:
    """Return a round tripper with a bearer token from a file, which it rereads each minute and after a 401.

    Reads the file now if `bearer` is empty. Raises OSError or ValueError if that fails.
    Go: NewBearerAuthWithRefreshRoundTripper.
    """
    if not token_file:
        return _BearerAuthRoundTripper(bearer, None, rt)
    source = new_cached_file_token_source(token_file)
    return _BearerAuthRoundTripper(bearer or source.token().access_token, source, rt)


class _BearerAuthRoundTripper(_Wrapper):
    def __init__(self, bearer: str, source: ResettableTokenSource | None, rt: RoundTripper) -> None:
        super().__init__(rt)
        self._bearer = bearer
        self._source = source
        self._now = RealClock().now

    def round_trip(self, request: Request) -> Response:
        if request.headers.get("Authorization"):
            return self._rt.round_trip(request)
        start = self._now()
        request = request.clone()
        request.headers["Authorization"] = f"Bearer {self._token()}"
        response = self._rt.round_trip(request)
        if response.status_code == 401 and self._source is not None:
            self._source.reset_token_older_than(start)
        return response

    def _token(self) -> str:
        if self._source is None:
            return self._bearer
        try:
            return self._source.token().access_token
        except (OSError, ValueError):
            return self._bearer


class DebugLevel(enum.IntEnum):
    """The detail of the debugging round tripper's log. `BY_CONTEXT` uses the verbosity of the request's logger."""

    JUST_URL = 0
    URL_TIMING = 1
    CURL_COMMAND = 2
    REQUEST_HEADERS = 3
    RESPONSE_STATUS = 4
    RESPONSE_HEADERS = 5
    DETAILED_TIMING = 6
    BY_CONTEXT = 7


_LEVELS_BY_VERBOSITY: tuple[tuple[int, frozenset[DebugLevel]], ...] = (
    (
        9,
        frozenset(
            {DebugLevel.CURL_COMMAND, DebugLevel.URL_TIMING, DebugLevel.DETAILED_TIMING, DebugLevel.RESPONSE_HEADERS}
        ),
    ),
    (
        8,
        frozenset(
            {
                DebugLevel.JUST_URL,
                DebugLevel.REQUEST_HEADERS,
                DebugLevel.RESPONSE_STATUS,
                DebugLevel.RESPONSE_HEADERS,
            }
        ),
    ),
    (7, frozenset({DebugLevel.JUST_URL, DebugLevel.REQUEST_HEADERS, DebugLevel.RESPONSE_STATUS})),
    (6, frozenset({DebugLevel.URL_TIMING})),
)


def new_debugging_round_tripper(rt: RoundTripper, *levels: DebugLevel) -> RoundTripper:
    """Return a round tripper that logs requests and responses, with masked credentials.

    Go: NewDebuggingRoundTripper.
    """
    return _DebuggingRoundTripper(rt, frozenset(levels))


class _DebuggingRoundTripper(_Wrapper):
    def __init__(self, rt: RoundTripper, levels: frozenset[DebugLevel]) -> None:
        super().__init__(rt)
        self._levels = levels
        self._clock = RealClock()

    def round_trip(self, request: Request) -> Response:
        logger = klog.from_context(request.ctx)
        levels = self._effective_levels(logger)
        self._log_request(logger, levels, request)
        start = self._clock.now()
        status, headers = "", Header()
        try:
            response = self._rt.round_trip(request)
            status, headers = f"{response.status_code} {response.reason}".rstrip(), response.headers
            return response
        finally:
            self._log_response(logger, levels, request, status, headers, self._clock.since(start))

    def _effective_levels(self, logger: klog.Logger) -> frozenset[DebugLevel]:
        if DebugLevel.BY_CONTEXT not in self._levels:
            return self._levels
        for verbosity, levels in _LEVELS_BY_VERBOSITY:
            if logger.v(verbosity).enabled():
                return self._levels | levels
        return self._levels

    def _log_request(self, logger: klog.Logger, levels: frozenset[DebugLevel], request: Request) -> None:
        fields: dict[str, Any] = {}
        if DebugLevel.JUST_URL in levels:
            fields.update(verb=request.method, url=redacted_url(request.url))
        if DebugLevel.CURL_COMMAND in levels:
            fields["curlCommand"] = _to_curl(request)
        if DebugLevel.REQUEST_HEADERS in levels:
            fields["headers"] = _headers_text(request.headers)
        if fields:
            logger.info("Request", **fields)

    def _log_response(
        self,
        logger: klog.Logger,
        levels: frozenset[DebugLevel],
        request: Request,
        status: str,
        headers: Header,
        seconds: float,
    ) -> None:
        fields: dict[str, Any] = {}
        if DebugLevel.URL_TIMING in levels:
            fields.update(verb=request.method, url=redacted_url(request.url))
        if levels & {DebugLevel.URL_TIMING, DebugLevel.RESPONSE_STATUS}:
            fields["status"] = status
        if DebugLevel.RESPONSE_HEADERS in levels:
            fields["headers"] = _headers_text(headers)
        if levels & {DebugLevel.URL_TIMING, DebugLevel.DETAILED_TIMING, DebugLevel.RESPONSE_STATUS}:
            fields["milliseconds"] = int(seconds * 1000)
        if fields:
            logger.info("Response", **fields)


_KNOWN_AUTH_TYPES = ("bearer", "basic", "negotiate")


def _mask_value(key: str, value: str) -> str:
    if key.lower() != "authorization" or not value:
        return value
    scheme, space, credentials = value.partition(" ")
    if scheme.lower() not in _KNOWN_AUTH_TYPES:
        return "<masked>"
    return f"{scheme} <masked>" if space and credentials else scheme


def _to_curl(request: Request) -> str:
    headers = "".join(f" -H {quote(f'{key}: {_mask_value(key, value)}')}" for key, value in request.headers.items())
    return f"curl -v -X{request.method} {headers} '{redacted_url(request.url)}'\n"


def _headers_text(headers: Header) -> str:
    return "".join(f"{key}: {_mask_value(key, value)}\n" for key, value in sorted(headers.items()))


_ILLEGAL_IN_HEADER_KEY = re.compile(rb"[^!#$&'*+\-.0-9A-Z^_`a-z|~]")


def header_key_escape(key: str) -> str:
    """Percent-encode the characters that a header's name must not contain. Go: headerKeyEscape."""
    return _ILLEGAL_IN_HEADER_KEY.sub(lambda match: b"%%%02X" % match.group()[0], key.encode()).decode("ascii")
