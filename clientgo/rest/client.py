"""A client for one API version of one server.

Mirrors rest/client.go. JSON, or protobuf where the content type or a request says so.

Differs: there is no CBOR, which client-go has behind the feature gate ClientsAllowCBOR, off by default; a config that
asks for CBOR gets JSON, as with the gate off. For that reason there is no fallback after 415 (Unsupported Media Type)
either: Go's client falls back to JSON only after a request in CBOR. Any other 415 is the caller's StatusError, here and
in Go.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit, urlunsplit

from clientgo.apimachinery.runtime.interfaces import ClientNegotiator
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.rest.urlbackoff import BackoffManagerWithContext, NoBackoff, URLBackoff
from clientgo.rest.warnings import WarningHandlerWithContext
from clientgo.util import flowcontrol
from clientgo.utils.clock.clock import REAL_CLOCK, WithDelayedExecution

if TYPE_CHECKING:
    from clientgo.rest.request import Request

# Both must be whole numbers of seconds, or there is no backoff between the requests to a server.
_ENV_BACKOFF_BASE = "KUBE_CLIENT_BACKOFF_BASE"
_ENV_BACKOFF_DURATION = "KUBE_CLIENT_BACKOFF_DURATION"

JSON = "application/json"

_NO_VERSION = GroupVersion("", "")


class Interface(Protocol):
    """What begins requests. Thread-safe."""

    def get_rate_limiter(self) -> flowcontrol.RateLimiter | None: ...

    def verb(self, verb: str) -> Request: ...

    def post(self) -> Request: ...

    def put(self) -> Request: ...

    def patch(self, pt: str) -> Request: ...

    def get(self) -> Request: ...

    def delete(self) -> Request: ...

    def api_version(self) -> GroupVersion: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ClientContentConfig:
    """How objects are written and read."""

    accept_content_types: str = ""
    """Goes into the Accept header as it is; without it the content type is accepted."""
    content_type: str = ""
    """JSON when empty."""
    group_version: GroupVersion = _NO_VERSION
    negotiator: ClientNegotiator


class RESTClient:
    """Begins requests against one base URL with a common rate limit. Thread-safe. Implements Interface."""

    def __init__(
        self,
        base: str,
        versioned_api_path: str,
        content: ClientContentConfig,
        rate_limiter: flowcontrol.RateLimiter | None,
        client: http.Client | None,
        *,
        warning_handler: WarningHandlerWithContext | None = None,
        clock: WithDelayedExecution | None = None,
        content_type_defaulted: bool = False,
    ) -> None:
        # Ends in a slash, has neither query nor fragment.
        self.base = base
        self.versioned_api_path = versioned_api_path
        # A request that prefers protobuf may ask for it when nobody chose a content type.
        self.content_type_defaulted = content_type_defaulted
        self.content = content
        self.rate_limiter = rate_limiter
        self.client = client if client is not None else http.Client(http_default_transport())
        self.warning_handler = warning_handler
        self.clock = clock or REAL_CLOCK

    def new_backoff_manager(self) -> BackoffManagerWithContext:
        """The backoff of a request, as the environment asks for it."""
        return _read_exp_backoff_config(self.clock)

    def get_rate_limiter(self) -> flowcontrol.RateLimiter | None:
        """The limiter all requests of this client pass; None for no limit. Go: GetRateLimiter."""
        return self.rate_limiter

    def verb(self, verb: str) -> Request:
        """Begin a request with an HTTP method. Go: Verb."""
        from clientgo.rest.request import new_request

        return new_request(self).verb(verb)

    def post(self) -> Request:
        """Begin a POST."""
        return self.verb("POST")

    def put(self) -> Request:
        """Begin a PUT."""
        return self.verb("PUT")

    def patch(self, pt: str) -> Request:
        """Begin a PATCH with a body of the patch type `pt`."""
        return self.verb("PATCH").set_header("Content-Type", str(pt))

    def get(self) -> Request:
        """Begin a GET."""
        return self.verb("GET")

    def delete(self) -> Request:
        """Begin a DELETE."""
        return self.verb("DELETE")

    def api_version(self) -> GroupVersion:
        """The version this client writes. Go: APIVersion."""
        return self.content.group_version

    def close(self) -> None:
        """Close the connections no request uses now; the client can be used again. Go: Client.CloseIdleConnections."""
        self.client.close_idle_connections()

    def __repr__(self) -> str:
        return f"<RESTClient {http.redacted_url(self.base)}, {self.content.group_version}>"


def new_rest_client(
    base_url: str,
    versioned_api_path: str,
    config: ClientContentConfig,
    rate_limiter: flowcontrol.RateLimiter | None,
    client: http.Client | None,
) -> RESTClient:
    """A client for the API below `base_url`. Go: NewRESTClient."""
    parts = urlsplit(base_url)
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    return RESTClient(
        base,
        versioned_api_path,
        _without_cbor(config),
        rate_limiter,
        client,
        content_type_defaulted=not config.content_type,
    )


def _without_cbor(config: ClientContentConfig) -> ClientContentConfig:
    """Ask for JSON wherever the config says CBOR, which is switched off in client-go too."""
    content_type = JSON if config.content_type.split(";")[0].strip() == "application/cbor" else config.content_type
    accept = config.accept_content_types.replace("application/cbor", JSON)
    return replace(config, content_type=content_type or JSON, accept_content_types=accept)


def http_default_transport() -> http.RoundTripper:
    """A transport without credentials. Go: http.DefaultTransport."""
    from clientgo import transport

    return transport.new(transport.Config())


def _read_exp_backoff_config(clock: WithDelayedExecution) -> BackoffManagerWithContext:
    try:
        base = int(os.environ.get(_ENV_BACKOFF_BASE, ""))
        duration = int(os.environ.get(_ENV_BACKOFF_DURATION, ""))
    except ValueError:
        return NoBackoff(clock)
    return URLBackoff(flowcontrol.new_back_off(float(base), float(duration)))
