"""A client for one API version of one server.

Mirrors rest/client.go. JSON, or protobuf where the content type or a request says so.

Difference: there is no CBOR, which client-go has behind the feature gate ClientsAllowCBOR, off by default. A config for
CBOR results in JSON, as with the gate disabled. Therefore there is no fallback after 415 (Unsupported Media Type)
either: Go's client falls back to JSON only after a CBOR request. Any other 415 raises StatusError, here and in Go.
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
    """A factory for requests. Thread-safe."""

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
    """Content types for reading and writing objects."""

    accept_content_types: str = ""
    """Value of the Accept header; "" selects `content_type`."""
    content_type: str = ""
    """Content type of request bodies; "" selects JSON."""
    group_version: GroupVersion = _NO_VERSION
    negotiator: ClientNegotiator


class RESTClient:
    """A factory for requests to one base URL, with a common rate limit; implements Interface. Thread-safe."""

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
        # True if the config sets no content type; then a request may prefer protobuf.
        self.content_type_defaulted = content_type_defaulted
        self.content = content
        self.rate_limiter = rate_limiter
        self.client = client if client is not None else http.Client(http_default_transport())
        self.warning_handler = warning_handler
        self.clock = clock or REAL_CLOCK

    def new_backoff_manager(self) -> BackoffManagerWithContext:
        """Return a request's backoff, as configured by the environment variables."""
        return _read_exp_backoff_config(self.clock)

    def get_rate_limiter(self) -> flowcontrol.RateLimiter | None:
        """Return the rate limiter of this client's requests; None for no limit. Go: GetRateLimiter."""
        return self.rate_limiter

    def verb(self, verb: str) -> Request:
        """Create a request with an HTTP method. Go: Verb."""
        from clientgo.rest.request import new_request

        return new_request(self).verb(verb)

    def post(self) -> Request:
        """Create a POST request."""
        return self.verb("POST")

    def put(self) -> Request:
        """Create a PUT request."""
        return self.verb("PUT")

    def patch(self, pt: str) -> Request:
        """Create a PATCH request with a body of the patch type `pt`."""
        return self.verb("PATCH").set_header("Content-Type", str(pt))

    def get(self) -> Request:
        """Create a GET request."""
        return self.verb("GET")

    def delete(self) -> Request:
        """Create a DELETE request."""
        return self.verb("DELETE")

    def api_version(self) -> GroupVersion:
        """Return the version that this client writes. Go: APIVersion."""
        return self.content.group_version

    def close(self) -> None:
        """Close the idle connections; the client can still be used. Go: Client.CloseIdleConnections."""
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
    """Return a client for the API below `base_url`. Go: NewRESTClient."""
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
    """Replace CBOR by JSON in the config. client-go disables CBOR by default too."""
    content_type = JSON if config.content_type.split(";")[0].strip() == "application/cbor" else config.content_type
    accept = config.accept_content_types.replace("application/cbor", JSON)
    return replace(config, content_type=content_type or JSON, accept_content_types=accept)


def http_default_transport() -> http.RoundTripper:
    """Return a transport without credentials. Go: http.DefaultTransport."""
    from clientgo import transport

    return transport.new(transport.Config())


def _read_exp_backoff_config(clock: WithDelayedExecution) -> BackoffManagerWithContext:
    try:
        base = int(os.environ.get(_ENV_BACKOFF_BASE, ""))
        duration = int(os.environ.get(_ENV_BACKOFF_DURATION, ""))
    except ValueError:
        return NoBackoff(clock)
    return URLBackoff(flowcontrol.new_back_off(float(base), float(duration)))
