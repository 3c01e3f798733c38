"""A client for one API version of one server.

Mirrors rest/client.go. JSON, or protobuf where the content type or a request says so.

CBOR needs the feature gate ClientsAllowCBOR; without it, a config for CBOR results in JSON. After a server responded
with 415 (Unsupported Media Type) to CBOR, the client's later requests are JSON. The request itself, and any other 415,
raises StatusError, here and in Go.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit, urlunsplit

from clientgo import features
from clientgo.apimachinery.runtime.interfaces import ClientNegotiator, Decoder, Encoder, Framer, Serializer
from clientgo.apimachinery.runtime.negotiate import NegotiateError
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_CBOR, CONTENT_TYPE_CBOR_SEQUENCE
from clientgo.golang import http
from clientgo.golang.functions import require_object
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
# As in types.PatchType, which few clients need.
_APPLY_CBOR = "application/apply-patch+cbor"

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
        self.rate_limiter = checked_limiter(rate_limiter)
        self.client = client if client is not None else http.Client(http_default_transport())
        self.warning_handler = warning_handler
        self.clock = clock or REAL_CLOCK
        # Set once, when the server did not understand CBOR; only grows, so threads need no lock.
        self._must_not_write_cbor = False

    def client_content_config(self) -> tuple[ClientContentConfig, bool]:
        """Return the content types of a new request, and whether the config names none for bodies.

        Go: GetClientContentConfig.
        """
        content, defaulted = self.content, self.content_type_defaulted
        if not _allows_cbor():
            return content, defaulted
        if defaulted and features.feature_gates().enabled(features.CLIENTS_PREFER_CBOR):
            content = replace(content, content_type=CONTENT_TYPE_CBOR)
        if self._must_not_write_cbor and _media_type(content.content_type) == CONTENT_TYPE_CBOR:
            content = replace(content, content_type=JSON)
        return content, defaulted

    def unsupported_media_type(self, request_content_type: str) -> None:
        """Take note of a 415 to a request with this content type. Thread-safe. Go: UnsupportedMediaType."""
        if _allows_cbor() and _media_type(request_content_type) in (CONTENT_TYPE_CBOR, _APPLY_CBOR):
            self._must_not_write_cbor = True

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


def checked_limiter(limiter: flowcontrol.RateLimiter | None) -> flowcontrol.RateLimiter | None:
    """Return the rate limiter. Raises TypeError for an object that cannot wait, or whose `wait` is async."""
    if limiter is not None:
        require_object(limiter, "the rate limiter of a client", {"wait": "ctx"})
    return limiter


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
        _scrub_cbor_if_disabled(config),
        rate_limiter,
        client,
        content_type_defaulted=not config.content_type,
    )


def _scrub_cbor_if_disabled(config: ClientContentConfig) -> ClientContentConfig:
    """Return the config with JSON in place of CBOR, unless the feature gate is enabled.

    Go: scrubCBORContentConfigIfDisabled.
    """
    config = replace(config, content_type=config.content_type or JSON)
    if _allows_cbor():
        return replace(config, negotiator=_CBORSequenceNegotiator(config.negotiator))
    if _media_type(config.content_type) == CONTENT_TYPE_CBOR:
        config = replace(config, content_type=JSON)
    clauses = _accepted(config.accept_content_types)
    if all(media_type != CONTENT_TYPE_CBOR for media_type, _ in clauses):
        return config
    parts = [
        "; ".join((JSON if media_type == CONTENT_TYPE_CBOR else media_type, *params)) for media_type, params in clauses
    ]
    return replace(config, accept_content_types=",".join(parts))


def _accepted(accept: str) -> list[tuple[str, list[str]]]:
    """Return the media types of an Accept header and their parameters, the preferred first. Go: ParseAccept."""
    clauses: list[tuple[float, str, list[str]]] = []
    for clause in accept.split(","):
        media_type, *params = (part.strip() for part in clause.split(";"))
        quality = 1.0
        for param in params:
            if param.startswith("q="):
                with contextlib.suppress(ValueError):
                    quality = float(param.removeprefix("q="))
        kept = [param for param in params if not param.startswith("q=")]
        if quality < 1:
            kept.append(f"q={quality:.3g}")
        clauses.append((quality, media_type.lower(), kept))
    clauses.sort(key=lambda clause: -clause[0])
    return [(media_type, params) for _, media_type, params in clauses]


def _allows_cbor() -> bool:
    return features.feature_gates().enabled(features.CLIENTS_ALLOW_CBOR)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


class _CBORSequenceNegotiator:
    """A negotiator that reads watches in CBOR sequences, and no watch in a single item of CBOR.

    Go: clientNegotiatorWithCBORSequenceStreamDecoder.
    """

    def __init__(self, negotiator: ClientNegotiator) -> None:
        self._negotiator = negotiator

    def encoder(self, content_type: str, params: dict[str, str]) -> Encoder:
        return self._negotiator.encoder(content_type, params)

    def decoder(self, content_type: str, params: dict[str, str]) -> Decoder:
        return self._negotiator.decoder(content_type, params)

    def stream_decoder(self, content_type: str, params: dict[str, str]) -> tuple[Decoder, Serializer, Framer]:
        if _allows_cbor():
            if content_type == CONTENT_TYPE_CBOR:
                raise NegotiateError(content_type, stream=True)
            if content_type == CONTENT_TYPE_CBOR_SEQUENCE:
                content_type = CONTENT_TYPE_CBOR
        return self._negotiator.stream_decoder(content_type, params)


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
