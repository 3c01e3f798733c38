"""Requests: their construction, transmission and results. Mirrors rest/request.go.

    pod = client.get().namespace("default").resource("pods").name("web").do(ctx).into(corev1.Pod())

Differences: `Result.into` returns the object. Getters that fill a pointer in Go return the value. A request that
prefers protobuf sends its body as JSON, if JSON can represent it. A request without a response, or a watch without data
for too long, counts as dead; Go relies on HTTP/2 pings (see REQUEST_SILENCE and watch_silence).
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from json import JSONDecodeError
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeVar, overload, runtime_checkable
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from clientgo import context, klog
from clientgo.apimachinery import watch as apiwatch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.error import NotRegisteredError
from clientgo.apimachinery.runtime.interfaces import Decoder, EventDecoder, ParameterCodec
from clientgo.apimachinery.runtime.negotiate import NegotiateError
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupResource, GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.serializer import PARAMETER_CODEC
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.runtime.types import CONTENT_TYPE_PROTOBUF
from clientgo.apimachinery.runtime.unknown_fields import UnknownFieldsError
from clientgo.apimachinery.util import net
from clientgo.apimachinery.util.json import unmarshal
from clientgo.context import Context
from clientgo.golang import hex, http, utf8
from clientgo.golang.duration import format_duration
from clientgo.golang.functions import raise_returned
from clientgo.golang.http import Body, Header, Response
from clientgo.golang.json import UnmarshalTypeError, kind_of, syntax_error
from clientgo.golang.mime import MediaTypeError, parse_media_type
from clientgo.hops import hop
from clientgo.klog.exceptions import cause_text, mark_operational, operational_error
from clientgo.rest.client import JSON, ClientContentConfig, checked_limiter
from clientgo.rest.sharding import check_deletion
from clientgo.rest.url_utils import BAD_ESCAPE, check_uri, join_below, join_path
from clientgo.rest.urlbackoff import (
    BackoffManager,
    BackoffManagerWithContext,
    NoBackoff,
    _BackoffManagerNopContext,
)
from clientgo.rest.warnings import (
    WarningHandler,
    WarningHandlerWithContext,
    WarningHeader,
    _WarningLoggerNopContext,
    handle_warnings,
)
from clientgo.rest.watch.decoder import SILENCE_AFTER_BOOKMARK
from clientgo.rest.watch.decoder import Decoder as WatchDecoder
from clientgo.rest.watch.frames import FrameDecoder
from clientgo.rest.watch.stream_watcher import BatchedStreamWatcher
from clientgo.rest.with_retry import (
    NEVER_RETRY_ERROR,
    IsRetryableErrorFunc,
    WithRetry,
    new_with_retry,
    read_and_close_response_body,
    retry_after_seconds,
)
from clientgo.tools.metrics import metrics
from clientgo.util import flowcontrol
from clientgo.utils.clock.clock import REAL_CLOCK, PassiveClock

if TYPE_CHECKING:
    from clientgo.rest.client import RESTClient

ObjectT = TypeVar("ObjectT", bound=Object)

# Seconds of client-side throttling that are logged; longer waits are logged at a lower verbosity.
_LONG_THROTTLE_LATENCY = 0.05
_EXTRA_LONG_THROTTLE_LATENCY = 1.0

# An API server responds to everything except watches and streams within 60 s (--request-timeout); half as much is
# added.
REQUEST_SILENCE = 90.0

# A server responds to a watch at once. A proxy may delay the response until the first event, which a server with
# bookmarks sends within 75 s. The watch of a server without bookmarks is reopened at the same version, without a loss
# of events.
WATCH_ANSWER_SILENCE = 2 * 75.0

# A server ends a watch at its timeoutSeconds; without it, within an hour (twice --min-request-timeout).
_WATCH_GRACE = 30.0
_DEFAULT_WATCH_TIMEOUT = 3600.0

# U+FFFD in UTF-8: in JSON, the text in place of an invalid byte.
_REPLACEMENT = "\ufffd".encode()
# The Accept header of typed clients' requests by default.
_PROTOBUF_OR_JSON = f"{CONTENT_TYPE_PROTOBUF},application/json"

# Control characters that text does not contain. Go counts tabs among them.
_CONTROL_CHARACTER = re.compile(rb"[\x00-\x09]")

# Codes whose error has no text but the server's.
_CODES_WITHOUT_TEXT = (403, 415)

# Maximum length of a response's text in an error message, if the response is not a Status.
_MAX_UNSTRUCTURED_RESPONSE_TEXT_BYTES = 2048


def watch_silence(timeout_seconds: float | None) -> float:
    """Return the seconds without data after which the connection of an open watch counts as dead.

    The server closes a healthy watch at its timeout, so silence beyond it means a lost peer. Once a server has sent a
    bookmark, which it repeats each minute, the decoder lowers the limit to watch.decoder.SILENCE_AFTER_BOOKMARK; that
    is also the limit of a stream of the initial objects.
    """
    return (timeout_seconds or _DEFAULT_WATCH_TIMEOUT) + _WATCH_GRACE


@runtime_checkable
class HTTPClient(Protocol):
    """A sender of HTTP requests; implemented by http.Client."""

    def do(self, request: http.Request, /) -> Response: ...


@runtime_checkable
class ResponseWrapper(Protocol):
    """A request whose response can be read as bytes or as a stream."""

    def do_raw(self, ctx: Context, /) -> bytes: ...

    def stream(self, ctx: Context, /) -> Body: ...


class RequestConstructionError(Exception):
    """Raised for a request that could not be built."""

    def __init__(self, err: BaseException) -> None:
        self.err = err
        super().__init__(f"request construction error: '{err}'")


@operational_error
class ThrottledError(RuntimeError):
    """Raised if the context ends before the client's rate limiter admits a request."""


@dataclass(frozen=True, kw_only=True)
class RequestParts:
    """The parameters of a request under construction, for fakes that respond without sending it."""

    verb: str
    path_prefix: str
    group_version: GroupVersion
    namespace: str
    resource: str
    name: str
    subresource: str
    subpath: str
    params: Mapping[str, Sequence[str]]
    headers: Header


class Request:
    """A request under construction, by chained calls. It raises errors when it is sent. Not thread-safe.

    Sending blocks. Cancelling the context ends it within milliseconds, also during a connect or a read.
    """

    def __init__(self, c: RESTClient) -> None:
        self._c = c
        self._content: ClientContentConfig
        self._content, self._content_type_not_set = c.client_content_config()
        self._warning_handler: WarningHandlerWithContext | None = c.warning_handler
        self._rate_limiter = c.rate_limiter
        self._backoff: BackoffManagerWithContext = c.new_backoff_manager()
        self._timeout = c.client.timeout
        self._max_retries = 10
        self._retry_fn: Callable[[int], WithRetry] = new_with_retry
        self._verb = ""
        self._base_path = unquote(urlsplit(c.base).path)
        self._path_prefix = join_path("/", self._base_path, c.versioned_api_path)
        self._subpath = ""
        self._params: dict[str, list[str]] = {}
        self._headers = Header()
        self._namespace = ""
        self._namespace_set = False
        self._resource = ""
        self._resource_name = ""
        self._subresource = ""
        self._err: Exception | None = None
        # At most one of the two is set. A stream cannot be sent twice, so there are no retries with it.
        self._body: IO[bytes] | None = None
        self._body_bytes: bytes | None = None
        self._set_accept_header()

    # --- building ---

    def use_protobuf_as_default_if_preferred(self, prefers_protobuf: bool) -> Request:
        """See use_protobuf_as_default. Go: UseProtobufAsDefaultIfPreferred."""
        return self.use_protobuf_as_default() if prefers_protobuf else self

    def use_protobuf_as_default(self) -> Request:
        """Accept protobuf, and JSON from a server without protobuf, unless the config sets content types.

        The body is JSON; Go's is protobuf. JSON is cheaper to encode here, and the server reports unknown fields by
        name. Only an object with fields of a newer server, or with a string that is not valid UTF-8, is sent as
        protobuf, since JSON cannot represent these. Go: UseProtobufAsDefault.
        """
        if self._content_type_not_set and not self._content.accept_content_types:
            self._content = replace(self._content, content_type=JSON, accept_content_types=_PROTOBUF_OR_JSON)
            self._set_accept_header()
        return self

    def _set_accept_header(self) -> None:
        if self._content.accept_content_types:
            self.set_header("Accept", self._content.accept_content_types)
        elif self._content.content_type:
            self.set_header("Accept", self._content.content_type + ", */*")

    def verb(self, verb: str) -> Request:
        """Set the HTTP method."""
        self._verb = verb
        return self

    def prefix(self, *segments: str) -> Request:
        """Add segments to the path before namespace and resource; `..` cannot leave the existing path."""
        if self._err is None:
            self._path_prefix = join_path(self._path_prefix, join_below(*segments))
        return self

    def suffix(self, *segments: str) -> Request:
        """Add segments to the end of the path; `..` cannot leave the existing path."""
        if self._err is None:
            self._subpath = join_path(self._subpath, join_below(*segments))
        return self

    def resource(self, resource: str) -> Request:
        """Set the resource, once."""
        if self._err is not None:
            return self
        if self._resource:
            return self._fail(f'resource already set to "{self._resource}", cannot change to "{resource}"')
        if messages := is_valid_path_segment_name(resource):
            return self._fail(f'invalid resource "{resource}": {_go_list(messages)}')
        self._resource = resource
        return self

    def back_off(self, manager: BackoffManager | None) -> Request:
        """Set the backoff; None disables it. Deprecated: use back_off_with_context."""
        self._backoff = NoBackoff(self._c.clock) if manager is None else _BackoffManagerNopContext(manager)
        return self

    def back_off_with_context(self, manager: BackoffManagerWithContext | None) -> Request:
        """Set the backoff; None disables it."""
        self._backoff = manager if manager is not None else NoBackoff(self._c.clock)
        return self

    def warning_handler(self, handler: WarningHandler | None) -> Request:
        """Set the handler for API warnings; None selects the default."""
        self._warning_handler = None if handler is None else _WarningLoggerNopContext(handler)
        return self

    def warning_handler_with_context(self, handler: WarningHandlerWithContext | None) -> Request:
        """Set the handler for API warnings; None selects the default."""
        self._warning_handler = handler
        return self

    def throttle(self, limiter: flowcontrol.RateLimiter | None) -> Request:
        """Set the rate limiter. Raises TypeError for an object that cannot wait, or whose `wait` is async."""
        self._rate_limiter = checked_limiter(limiter)
        return self

    def sub_resource(self, *subresources: str) -> Request:
        """Set the subresource, which may have several segments, once."""
        if self._err is not None:
            return self
        subresource = join_path(*subresources)
        if self._subresource:
            return self._fail(f'subresource already set to "{self._subresource}", cannot change to "{subresource}"')
        for segment in subresources:
            if messages := is_valid_path_segment_name(segment):
                return self._fail(f'invalid subresource "{segment}": {_go_list(messages)}')
        self._subresource = subresource
        return self

    def name(self, resource_name: str) -> Request:
        """Set the object's name, once."""
        if self._err is not None:
            return self
        if not resource_name:
            return self._fail("resource name may not be empty")
        if self._resource_name:
            return self._fail(
                f'resource name already set to "{self._resource_name}", cannot change to "{resource_name}"'
            )
        if messages := is_valid_path_segment_name(resource_name):
            return self._fail(f'invalid resource name "{resource_name}": {_go_list(messages)}')
        self._resource_name = resource_name
        return self

    def namespace(self, namespace: str) -> Request:
        """Set the namespace, once."""
        if self._err is not None:
            return self
        if self._namespace_set:
            return self._fail(f'namespace already set to "{self._namespace}", cannot change to "{namespace}"')
        if messages := is_valid_path_segment_name(namespace):
            return self._fail(f'invalid namespace "{namespace}": {_go_list(messages)}')
        self._namespace_set = True
        self._namespace = namespace
        return self

    def namespace_if_scoped(self, namespace: str, scoped: bool) -> Request:
        """Set the namespace if `scoped`."""
        return self.namespace(namespace) if scoped else self

    def abs_path(self, *segments: str) -> Request:
        """Replace the path before namespace and resource, below the path of the base URL.

        A single segment keeps its trailing slash. `..` cannot leave the base path (in Go it can).
        """
        if self._err is not None:
            return self
        self._path_prefix = join_path(self._base_path, join_below(*segments))
        if len(segments) == 1 and segments[0].endswith("/") and (len(self._base_path) > 1 or len(segments[0]) > 1):
            self._path_prefix = self._path_prefix.rstrip("/") + "/"
        return self

    def request_uri(self, uri: str) -> Request:
        """Replace path and parameters by those of a URI relative to the server; `..` cannot leave the base path."""
        if self._err is not None:
            return self
        try:
            check_uri(uri)
            parts = urlsplit(uri)
        except ValueError as err:
            self._err = err
            return self
        self.abs_path(unquote(parts.path))
        self._params = {}
        # As in Go, a parameter with a semicolon or an incomplete escape is dropped.
        pairs = [pair for pair in parts.query.split("&") if ";" not in pair and not BAD_ESCAPE.search(pair)]
        for name, value in parse_qsl("&".join(pairs), keep_blank_values=True):
            self._params.setdefault(name, []).append(value)
        return self

    def param(self, param_name: str, s: str) -> Request:
        """Add a query parameter."""
        if self._err is None:
            self._params.setdefault(param_name, []).append(s)
        return self

    def versioned_params(self, obj: Struct, codec: ParameterCodec = PARAMETER_CODEC) -> Request:
        """Add the set fields of an options object as query parameters."""
        return self.specifically_versioned_params(obj, codec, self._content.group_version)

    def specifically_versioned_params(self, obj: Struct, codec: ParameterCodec, version: GroupVersion) -> Request:
        """Add the set fields of an options object, converted to `version`, as query parameters."""
        if self._err is not None:
            return self
        try:
            parameters = codec.encode_parameters(obj, version)  # type: ignore[arg-type]
        except (ValueError, TypeError) as err:
            self._err = err
            return self
        for name, values in parameters.items():
            self._params.setdefault(name, []).extend(values)
        return self

    def set_header(self, key: str, *values: str) -> Request:
        """Replace a header."""
        self._headers.discard(key)
        for value in values:
            self._headers.add(key, value)
        return self

    def timeout(self, d: float) -> Request:
        """Limit the whole request to `d` seconds, and send the limit to the server; 0 for no limit."""
        if self._err is None:
            self._timeout = d
        return self

    def max_retries(self, max_retries: int) -> Request:
        """Set the number of retries when the server asks for one; 10 by default."""
        self._max_retries = max(max_retries, 0)
        return self

    def body(self, obj: Object | bytes | str | IO[bytes] | None) -> Request:
        """Set the body: bytes, a binary file to stream, an object to encode, or the path of a file."""
        if self._err is not None or obj is None:
            return self
        try:
            self._set_body(obj)
        except (OSError, ValueError, TypeError, NegotiateError) as err:
            self._err = err
        return self

    def _set_body(self, obj: Any) -> None:
        self._body = None
        if isinstance(obj, bytes):
            self._body_bytes = obj
        elif isinstance(obj, str):
            with open(obj, "rb") as file:
                self._body_bytes = file.read()
        elif isinstance(obj, Object):
            self._body_bytes, content_type = self._encoded(obj)
            self.set_header("Content-Type", content_type)
        elif hasattr(obj, "read"):
            self._body, self._body_bytes = obj, None
        else:
            raise TypeError(f"unknown type used for body: {type(obj).__name__}")

    def _encoded(self, obj: Object) -> tuple[bytes, str]:
        """Return the encoded object and its content type.

        If the config sets no content type, protobuf is used for objects that JSON cannot represent: those with fields
        of a newer server, or with strings that are not valid UTF-8.
        """
        content_type, negotiator = self._content.content_type, self._content.negotiator
        may_choose = self._content_type_not_set and CONTENT_TYPE_PROTOBUF in self._content.accept_content_types
        try:
            data = negotiator.encoder(content_type, {}).encode(obj)
        except UnknownFieldsError:
            if not may_choose:
                raise
        else:
            # Few bodies contain a replacement character, so few documents are searched.
            if not may_choose or _REPLACEMENT not in data or not utf8.has_escaped_bytes(document_of(obj)):
                return data, content_type
            with contextlib.suppress(ValueError):  # raised for a kind without a protobuf message
                return negotiator.encoder(CONTENT_TYPE_PROTOBUF, {}).encode(obj), CONTENT_TYPE_PROTOBUF
            return data, content_type
        return negotiator.encoder(CONTENT_TYPE_PROTOBUF, {}).encode(obj), CONTENT_TYPE_PROTOBUF

    def _fail(self, message: str) -> Request:
        self._err = ValueError(message)
        return self

    def error(self) -> Exception | None:
        """Return the first error in building the request, or None."""
        return self._err

    def parts(self) -> RequestParts:
        """Return the parameters set so far. Beyond Go."""
        return RequestParts(
            verb=self._verb,
            path_prefix=self._path_prefix,
            group_version=self._content.group_version,
            namespace=self._namespace,
            resource=self._resource,
            name=self._resource_name,
            subresource=self._subresource,
            subpath=self._subpath,
            params=self._params,
            headers=self._headers,
        )

    def url(self) -> str:
        """Return the current URL; valid only while `error` is None."""
        query = dict(self._params)
        if self._timeout:
            query["timeout"] = [format_duration(self._timeout)]
        base = urlsplit(self._c.base)
        encoded = urlencode(sorted(query.items()), doseq=True, errors="surrogateescape")
        return urlunsplit((base.scheme, base.netloc, quote(utf8.encode(self._path()), safe="/$&+,:;=@~"), encoded, ""))

    def _path(self) -> str:
        path = self._path_prefix
        if self._namespace_set and self._namespace:
            path = join_path(path, "namespaces", self._namespace)
        if self._resource:
            path = join_path(path, self._resource.lower())
        if self._resource_name or self._subpath or self._subresource:
            path = join_path(path, self._resource_name, self._subresource, self._subpath)
        return path

    def has_stream_body(self) -> bool:
        """Report whether the body is a stream, which can be sent only once."""
        return self._body is not None

    def backoff_manager(self) -> BackoffManagerWithContext:
        """Return the backoff between attempts."""
        return self._backoff

    def __repr__(self) -> str:
        return f"<Request {self._verb} {http.redacted_url(self.url())}>"

    # --- sending ---

    def _final_url_template(self) -> str:
        """Return the URL with placeholders for names and values, to limit the number of metrics.

        Go: finalURLTemplate.
        """
        base = urlsplit(self._c.base)
        path = _path_template(self._path(), self._base_path)
        values = dict.fromkeys(self._params, "{value}")
        if self._timeout:
            values["timeout"] = format_duration(self._timeout)
        query = "&".join(f"{quote(name)}={value}" for name, value in sorted(values.items()))
        return urlunsplit((base.scheme, self._host(), path, "" if path == _PREFIX_TEMPLATE else query, ""))

    def try_throttle_with_info(self, ctx: Context, retry_info: str = "") -> None:
        """Wait for the rate limiter. Raises the limiter's error if the context ends first."""
        if self._rate_limiter is None:
            return
        clock = self._c.clock
        start = clock.now()
        try:
            raise_returned(self._rate_limiter.wait(ctx))  # type: ignore[func-returns-value]
        except Exception as err:
            throttled = ThrottledError(f"client rate limiter Wait returned an error: {cause_text(err)}")
            throttled.add_note(f"{self._verb} {self._path()}: not sent")
            raise throttled from err
        finally:
            latency = clock.since(start)
            if latency > _LONG_THROTTLE_LATENCY:
                self._log_throttling(ctx, latency, retry_info)
            metrics.RATE_LIMITER_LATENCY.observe(ctx, self._verb, self._final_url_template(), latency)

    def _log_throttling(self, ctx: Context, latency: float, retry_info: str) -> None:
        logger = klog.from_context(ctx)
        pairs: dict[str, Any] = {
            "delay": format_duration(latency),
            "reason": retry_info or "client-side throttling, not priority and fairness",
            "verb": self._verb,
            "URL": http.redacted_url(self.url()),
        }
        logger.v(3).info("Waited before sending request", **pairs)
        if latency > _EXTRA_LONG_THROTTLE_LATENCY:
            GLOBAL_THROTTLED_LOGGER.info(logger, "Waited before sending request", **pairs)
        if self._rate_limiter is not None:
            # Loaded here, since few clients wait.
            from clientgo.rest.slow_limiter import log_remedy

            log_remedy(logger, self._rate_limiter, latency, self._c.clock.now())

    def count_attempt(self, ctx: Context, response: Response | None, is_retry: bool) -> None:
        """Report an attempt to the metrics."""
        code = str(response.status_code) if response is not None else "<error>"
        metrics.REQUEST_RESULT.increment(ctx, code, self._verb, self._host())
        if is_retry:
            metrics.REQUEST_RETRY.increment_retry(ctx, code, self._verb, self._host())

    def watch(self, ctx: Context, expected: type[Object] | None = None) -> apiwatch.Interface:
        """Open a watch. Blocks until the server responds. Bypasses the rate limiter. Go: Watch.

        Objects of kinds that the client's scheme does not know are decoded as the class `expected`. If the connection
        breaks, returns a watch that has ended. Raises StatusError, URLError.
        """
        self._log_request_body(ctx)
        if self._err is not None:
            raise self._err
        retry = self._retry_fn(self._max_retries)
        while True:
            self._before(retry, ctx)
            request = self._new_http_request(ctx, self._watch_silence(), WATCH_ANSWER_SILENCE)
            response, failure = self._attempt(request)
            retry.after(ctx, self, response, failure)
            if failure is None and response is not None and response.status_code == 200:
                return self._new_stream_watcher(ctx, request, response, expected)
            try:
                if retry.is_next_retry(ctx, self, request, response, failure, _WATCH_RETRYABLE):
                    continue
                if failure is not None:
                    if _WATCH_RETRYABLE.is_error_retryable(request, failure):
                        return apiwatch.new_empty_watch()
                    raise retry.wrap_previous_error(failure)
                assert response is not None
                raise retry.wrap_previous_error(self._watch_error(ctx, response, request))
            finally:
                read_and_close_response_body(response)

    def _watch_error(self, ctx: Context, response: Response, request: http.Request) -> Exception:
        err = self._transform_response(ctx, response, request).error()
        url = http.redacted_url(request.url)
        return err or RuntimeError(f"for request {url}, got status: {response.status_code}")

    def _watch_silence(self) -> float:
        wanted = self._params.get("timeoutSeconds", [""])[0]
        silence = watch_silence(float(wanted) if wanted.isdecimal() else None)
        # A server that streams the initial objects sends bookmarks: one at their end, and then one each minute.
        streams = self._params.get("sendInitialEvents") == ["true"]
        return min(silence, SILENCE_AFTER_BOOKMARK) if streams else silence

    def _new_stream_watcher(
        self, ctx: Context, request: http.Request, response: Response, expected: type[Object] | None
    ) -> apiwatch.Interface:
        media_type, params = _stream_media_type(response)
        try:
            decoder, _, framer = self._content.negotiator.stream_decoder(media_type, params)
        except NegotiateError as err:
            response.close()
            _add_note(err, request, response.status_code)
            raise
        if expected is not None:
            decoder = decoder.expecting(expected)
        handle_warnings(ctx, response.headers, self._warning_handler)
        # Report an internal error (500): other codes have a specific meaning in HTTP.
        reporter = errors.new_client_error_reporter(500, self._verb, "ClientWatchDecoding")
        source = _watch_decoder(response.body, framer.new_frame_reader(response.body), decoder)
        return BatchedStreamWatcher(source, reporter, klog.from_context(ctx), self._resource or self._path_prefix)

    def stream(self, ctx: Context) -> Body:
        """Return the body of a successful response; the caller reads and closes it. Raises StatusError, URLError.

        Go: Stream.
        """
        self._log_request_body(ctx)
        if self._err is not None:
            raise self._err
        self.try_throttle_with_info(ctx)
        retry = self._retry_fn(self._max_retries)
        while True:
            retry.before(ctx, self)
            request = self._new_http_request(ctx, None)
            response, failure = self._attempt(request)
            retry.after(ctx, self, response, failure)
            if failure is not None:
                raise failure
            assert response is not None
            if 200 <= response.status_code < 300:
                handle_warnings(ctx, response.headers, self._warning_handler)
                return response.body
            try:
                if retry.is_next_retry(ctx, self, request, response, None, NEVER_RETRY_ERROR):
                    continue
                result = self._transform_response(ctx, response, request)
                url = http.redacted_url(request.url)
                raise result.error() or RuntimeError(f"{response.status_code} while accessing {url}")
            finally:
                response.close()

    def _log_request_body(self, ctx: Context) -> None:
        # A stream cannot be logged: it can be read only once.
        if self._body is None:
            _log_body(ctx, "Request Body", self._body_bytes)

    def _request_preflight_check(self) -> None:
        """Reject requests that are certainly mistakes, such as an empty namespace where one is required."""
        if not self._namespace_set or self._namespace:
            return
        if self._verb == "POST":
            raise ValueError("an empty namespace may not be set during creation")
        if self._verb in ("GET", "PUT", "DELETE") and self._resource_name:
            raise ValueError("an empty namespace may not be set when a resource name is provided")

    @hop("reflector.request", go="(*Request).newHTTPRequest")
    def _new_http_request(
        self, ctx: Context, read_timeout: float | None, header_timeout: float | None = None
    ) -> http.Request:
        return http.Request(
            method=self._verb or "GET",
            url=self.url(),
            headers=self._headers.copy(),
            body=self._body if self._body is not None else self._body_bytes,
            ctx=ctx,
            read_timeout=read_timeout,
            header_timeout=header_timeout,
            trace=http.ClientTrace(dns_done=partial(metrics.RESOLVER_LATENCY.observe, ctx)),
        )

    def _attempt(self, request: http.Request) -> tuple[Response | None, Exception | None]:
        """Send the request once; return the response, or the error."""
        try:
            return self._c.client.do(request), None
        except Exception as err:
            return None, err

    def _before(self, retry: WithRetry, ctx: Context) -> None:
        try:
            retry.before(ctx, self)
        except Exception as err:
            wrapped = retry.wrap_previous_error(err)
            raise wrapped from wrapped.__cause__

    def _request(self, ctx: Context, fn: Callable[[http.Request, Response], None]) -> None:
        """Send the request with retries, and call `fn` once with the response. Raises if there is none."""
        start = self._c.clock.now()
        try:
            self._request_with_retries(ctx, fn)
        finally:
            latency = self._c.clock.since(start)
            metrics.REQUEST_LATENCY.observe(ctx, self._verb, self._final_url_template(), latency)

    def _request_with_retries(self, ctx: Context, fn: Callable[[http.Request, Response], None]) -> None:
        if self._err is not None:
            klog.from_context(ctx).v(4).info("Error in request", err=self._err)
            raise self._err
        self._request_preflight_check()
        check_deletion(ctx, self._verb, "".join(self._params.get("shardSelector", ())))
        # Before the timeout starts: a throttled client must not time out before it sends the request.
        self.try_throttle_with_info(ctx)
        cancel: Callable[[], None] | None = None
        if self._timeout > 0:
            ctx, cancel = context.with_timeout(ctx, self._timeout, self._c.clock)
        retry = self._retry_fn(self._max_retries)
        try:
            while self._request_once(ctx, retry, fn):
                pass
        finally:
            if cancel is not None:
                cancel()

    def _request_once(self, ctx: Context, retry: WithRetry, fn: Callable[[http.Request, Response], None]) -> bool:
        """Make one attempt and report whether to retry."""
        self._before(retry, ctx)
        request = self._new_http_request(ctx, max(REQUEST_SILENCE, self._timeout + _WATCH_GRACE))
        response, failure = self._attempt(request)
        if self._body is None:
            metrics.REQUEST_SIZE.observe(ctx, self._verb, self._host(), float(len(self._body_bytes or b"")))
        if response is not None and response.status_code == 415:
            self._c.unsupported_media_type(request.headers.get("Content-Type") or "")
        retry.after(ctx, self, response, failure)
        try:
            if retry.is_next_retry(ctx, self, request, response, failure, _GET_RETRYABLE):
                return True
            if failure is not None:
                raise retry.wrap_previous_error(failure)
            assert response is not None
            fn(request, response)
            return False
        finally:
            read_and_close_response_body(response)

    def _host(self) -> str:
        return urlsplit(self._c.base).netloc.rpartition("@")[2]

    def do(self, ctx: Context) -> Result:
        """Send the request and return the result with the object or the error. Go: Do."""
        self._log_request_body(ctx)
        results: list[Result] = []
        try:
            self._request(
                ctx, lambda request, response: results.append(self._transform_response(ctx, response, request))
            )
        except Exception as err:
            return Result(err=err, logger=klog.from_context(ctx))
        result = results[0]
        if result._err is None or result._body:
            metrics.RESPONSE_SIZE.observe(ctx, self._verb, self._host(), float(len(result._body)))
        return result

    def do_raw(self, ctx: Context) -> bytes:
        """Send the request and return the undecoded body. Raises StatusError, URLError. Go: DoRaw."""
        self._log_request_body(ctx)
        bodies: list[bytes] = []

        def read(request: http.Request, response: Response) -> None:
            try:
                body = _read_body(response)
            except Exception as err:
                _add_note(err, request, response.status_code)
                failure = http.URLError(request.method.capitalize(), request.url, err)
                _add_note(failure, request, response.status_code)
                raise failure from err
            _log_body(ctx, "Response Body", body)
            if not 200 <= response.status_code <= 206:
                raise self._unstructured_error(request, response, body)
            bodies.append(body)

        self._request(ctx, read)
        metrics.RESPONSE_SIZE.observe(ctx, self._verb, self._host(), float(len(bodies[0])))
        return bodies[0]

    # --- reading the response ---

    def _transform_response(self, ctx: Context, response: Response, request: http.Request) -> Result:
        logger = klog.from_context(ctx)
        try:
            body = _read_body(response)
        except Exception as err:
            _add_note(err, request, response.status_code)
            if not ctx.done().is_set():
                logger.error(err, "Unexpected error when reading response body")
            unexpected = RuntimeError(
                f"unexpected error when reading response body. Please retry. Original error: {http.describe(err)}"
            )
            unexpected.__cause__ = err
            _add_note(unexpected, request, response.status_code)
            return Result(err=unexpected, logger=logger)
        _log_body(ctx, "Response Body", body)
        content_type = response.headers.get("Content-Type") or self._content.content_type
        failed = _is_failure(response)
        decoder: Decoder | None = None
        if content_type:
            try:
                media_type, params = parse_media_type(content_type)
            except MediaTypeError as err:
                internal = errors.new_internal_error(err)
                _add_note(internal, request, response.status_code)
                return Result(err=internal, logger=logger)
            # Without a decoder only the raw result is available; a failure has no more than its error, as in Go.
            try:
                decoder = self._content.negotiator.decoder(media_type, params)
            except NegotiateError:
                if failed:
                    return Result(err=self._unstructured_error(request, response, body), logger=logger)
        return Result(
            body=body,
            content_type=content_type,
            status_code=response.status_code,
            decoder=decoder,
            err=self._unstructured_error(request, response, body) if failed else None,
            warnings=handle_warnings(ctx, response.headers, self._warning_handler),
            logger=logger,
            request=request,
        )

    def _unstructured_error(self, request: http.Request, response: Response, body: bytes) -> errors.StatusError:
        """Return an error with code and text, for a response that is not a Status."""
        message = "unknown"
        if _is_text_response(response):
            text = body[:_MAX_UNSTRUCTURED_RESPONSE_TEXT_BYTES].decode("utf-8", "replace").strip()
            # Unlike in Go, whose error of such a response is only " (get pods)".
            says_nothing = not text and response.status_code in _CODES_WITHOUT_TEXT
            message = message if says_nothing else text
        group = self._content.group_version.group if self._resource else ""
        err = errors.new_generic_server_response(
            response.status_code,
            request.method,
            GroupResource(group, self._resource),
            self._resource_name,
            message,
            retry_after_seconds(response) or 0,
            True,
        )
        _add_note(err, request, response.status_code)
        return err


def _watch_decoder(body: Body, frames: Any, decoder: Decoder) -> WatchDecoder:
    """Return the decoder of a watch's body; `frames` is the framer's reader of it."""
    if not isinstance(decoder, EventDecoder):
        return WatchDecoder(frames, decoder)
    if frames is body:
        return FrameDecoder(frames, decoder)
    from clientgo.rest.watch.sequence import SequenceDecoder  # imported here, since few clients use CBOR

    return SequenceDecoder(body, frames, decoder)


def new_request(c: RESTClient) -> Request:
    """Create a request. Go: NewRequest."""
    return Request(c)


def new_request_with_client(
    base: str, versioned_api_path: str, content: ClientContentConfig, client: http.Client
) -> Request:
    """Create a request without a RESTClient, for tests. Go: NewRequestWithClient."""
    from clientgo.rest.client import new_rest_client

    return Request(new_rest_client(base, versioned_api_path, content, None, client))


def _get_is_retryable(request: http.Request, err: BaseException) -> bool:
    """Report whether to retry after the error: yes after a lost connection, but never repeat a write."""
    return request.method == "GET" and (net.is_connection_reset(err) or net.is_probable_eof(err))


_GET_RETRYABLE = IsRetryableErrorFunc(_get_is_retryable)
_WATCH_RETRYABLE = IsRetryableErrorFunc(lambda request, err: net.is_probable_eof(err) or net.is_timeout(err))


# The errors of decoders and of a body's framing, as far as their classes do not mark them as operational.
_CONTENT_ERRORS = (ValueError, EOFError, OSError, NotRegisteredError)


def _add_note(err: BaseException, request: http.Request, code: int) -> None:
    """Name the request in tracebacks. The text of a Status is not changed.

    An error about the content of a response is logged on one line, as in Go: it is no bug of the program.
    """
    if isinstance(err, _CONTENT_ERRORS):
        mark_operational(err)
    path = urlsplit(request.url)
    err.add_note(f"{request.method} {path.path}{'?' + path.query if path.query else ''}: {code}")


class Result:
    """The result of `Request.do`. `into`, `get` and `raw` raise its error if there is one."""

    def __init__(
        self,
        *,
        body: bytes = b"",
        content_type: str = "",
        status_code: int = 0,
        decoder: Decoder | None = None,
        err: Exception | None = None,
        warnings: Sequence[WarningHeader] = (),
        logger: klog.Logger | None = None,
        request: http.Request | None = None,
    ) -> None:
        self._body = body
        self._content_type = content_type
        self._status_code = status_code
        self._decoder = decoder
        self._err = err
        self._warnings = list(warnings)
        self._logger = logger or klog.background()
        self._request = request

    def raw(self) -> bytes:
        """Return the body. Go: Raw."""
        if self._err is not None:
            raise self._err
        return self._body

    def json_object(self) -> dict[str, Any]:
        """Return the body as a JSON object; null becomes an empty one, as in Go. Raises StatusError, ValueError."""
        self.raise_for_error()
        with self._request_in_notes():
            try:
                document = unmarshal(self._body)
            except JSONDecodeError as err:
                raise ValueError(syntax_error(err)) from err
            if not isinstance(document, dict | None):
                raise ValueError(f"json: cannot unmarshal {kind_of(document)} into an object")
        return document or {}

    def get(self) -> Object:
        """Return the decoded object. Raises StatusError and the decoder's errors. Go: Get."""
        self.raise_for_error()
        with self._request_in_notes():
            obj, _ = self._decoder_or_raise().decode(self._body)
        return self._unless_failure(obj)

    def status_code(self) -> int:
        """Return the HTTP status code; 0 if there was no response. Go: StatusCode."""
        return self._status_code

    def content_type(self) -> str:
        """Return the response's Content-Type. Go: ContentType."""
        return self._content_type

    @overload
    def into(self, obj: type[ObjectT]) -> ObjectT: ...
    @overload
    def into(self, obj: ObjectT) -> ObjectT: ...
    def into(self, obj: Any) -> Any:
        """Fill `obj` from the body and return it, or a new object if `obj` is a class. Go: Into.

        The decoded document replaces the object's content. As in Go, a response of another kind does not change the
        object: for example a Status with Success, or the Scale that patching a Deployment's scale returns. Raises
        StatusError and the decoder's errors.
        """
        self.raise_for_error()
        with self._request_in_notes():
            decoder = self._decoder_or_raise()
            if not self._body:
                raise ValueError(
                    f"0-length response with status code: {self._status_code} and content type: {self._content_type}"
                )
            out, _ = decoder.decode(self._body, None, obj)
        if type(out) is (obj if isinstance(obj, type) else type(obj)):
            if isinstance(out, metav1.Status):
                with self._request_in_notes():
                    _check_status(out)
            return out
        self._unless_failure(out)
        return obj() if isinstance(obj, type) else obj

    def was_created(self) -> bool:
        """Report whether the server responded with 201. Go: WasCreated."""
        return self._status_code == 201

    def error(self) -> Exception | None:
        """Return the error of the request, or None; the server's Status if it sent one. Go: Error."""
        err = self._err
        if err is None or not errors.is_unexpected_server_error(err) or not self._body or self._decoder is None:
            return err
        try:
            out, _ = self._decoder.decode(self._body, GroupVersionKind("", "v1", ""))
            if isinstance(out, metav1.Status):
                _check_status(out)
        except Exception as undecodable:
            self._logger.v(5).info("Body was not decodable (unable to check for Status)", err=undecodable)
            return err
        if isinstance(out, metav1.Status) and out.status == "Failure":
            return self._status_error(out)
        return err

    def raise_for_error(self) -> Result:
        """Raise the error if there is one; otherwise return the result itself."""
        err = self.error()
        if err is not None:
            raise err
        return self

    def warnings(self) -> list[WarningHeader]:
        """Return the warnings of the response. Go: Warnings."""
        return self._warnings

    @contextlib.contextmanager
    def _request_in_notes(self) -> Iterator[None]:
        """Add the request to the notes of an exception about the body."""
        try:
            yield
        except Exception as err:
            if self._request is not None:
                _add_note(err, self._request, self._status_code)
            raise

    def _decoder_or_raise(self) -> Decoder:
        if self._decoder is None:
            raise ValueError(f"serializer for {self._content_type} doesn't exist")
        return self._decoder

    def _unless_failure(self, obj: Object) -> Object:
        """Return the object; raise it as an error if it is a Status that is not Success."""
        if isinstance(obj, metav1.Status):
            with self._request_in_notes():
                _check_status(obj)
            if obj.status != "Success":
                raise self._status_error(obj)
        return obj

    def _status_error(self, status: metav1.Status) -> Exception:
        err = errors.from_object(status)
        if self._request is not None:
            _add_note(err, self._request, self._status_code)
        return err

    def __repr__(self) -> str:
        return f"<Result {self._status_code}, {len(self._body)} bytes{', ' + repr(self._err) if self._err else ''}>"


_PREFIX_TEMPLATE = "/{prefix}"


def _path_template(path: str, base_path: str) -> str:
    """Return the path with "{namespace}" and "{name}" as placeholders; "/{prefix}" outside the API groups."""
    base = base_path.rstrip("/")
    below = path.removeprefix(base) if path.startswith(f"{base}/") else path
    segments = below.split("/")
    if len(segments) <= 2:
        return path
    # The position of the resource, or of "namespaces".
    index = {"api": 3, "apis": 4}.get(segments[1])
    if index is None:
        return _PREFIX_TEMPLATE
    match segments[index:]:
        case [_, _]:
            segments[index + 1] = "{name}"
        case [_, _, "finalize" | "status"]:
            segments[index + 1] = "{name}"
        case [_, _, _]:
            segments[index + 1] = "{namespace}"
        case [_, _, _, "finalize" | "status", *_]:
            segments[index + 1] = "{namespace}"
        case [_, _, _, _, *_]:
            segments[index + 1], segments[index + 3] = "{namespace}", "{name}"
    return f"{base}{'/'.join(segments)}"


def _check_status(status: metav1.Status) -> None:
    """Raise the error of a field with a wrong type. Go decodes all fields at once and otherwise has no Status."""
    from clientgo.apimachinery.runtime.converter import check_fields  # imported here, since few responses need it

    try:
        check_fields(status)
    except UnmarshalTypeError as err:
        err.args = (err.text,)  # Go does not name the object.
        raise


def _is_failure(response: Response) -> bool:
    return response.status_code != 101 and not 200 <= response.status_code <= 206


# The bytes of a failure's body that are read. A Status is never nearly as large; Go reads a body of any size.
_MAX_FAILURE = 16 * 1024 * 1024


def _read_body(response: Response) -> bytes:
    """Return the body; of a failure, at most the first `_MAX_FAILURE` bytes. Blocks."""
    if not _is_failure(response):
        return response.body.read()
    pieces: list[bytes] = []
    size = 0
    while size < _MAX_FAILURE and (piece := response.body.read_some()):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)[:_MAX_FAILURE]


def _is_text_response(response: Response) -> bool:
    content_type = response.headers.get("Content-Type", "")
    try:
        return not content_type or parse_media_type(content_type)[0].startswith("text/")
    except MediaTypeError:
        return False


def _stream_media_type(response: Response) -> tuple[str, dict[str, str]]:
    """Return the media type of a watch's body. As in Go, an invalid one means the default."""
    content_type = response.headers.get("Content-Type", "")
    try:
        return parse_media_type(content_type)
    except MediaTypeError as err:
        klog.background().v(4).info("Unexpected content type from the server", contentType=content_type, err=err)
        return err.media_type, {}


def _go_list(messages: Sequence[str]) -> str:
    return f"[{' '.join(messages)}]"


def _log_body(ctx: Context, prefix: str, body: bytes | None) -> None:
    """Log the body, in hexadecimal if it contains control characters, as protobuf does."""
    logger = klog.from_context(ctx)
    if not logger.v(8).enabled():
        return
    body = body or b""
    text = hex.dump(body) if _CONTROL_CHARACTER.search(body) else body.decode("utf-8", "backslashreplace")
    logger.v(8).info(prefix, body=_truncate_body(logger, text))


def _truncate_body(logger: klog.Logger, body: str) -> str:
    if logger.v(10).enabled():
        return body
    limit = 10240 if logger.v(9).enabled() else 1024
    return body if len(body) <= limit else f"{body[:limit]} [truncated {len(body) - limit} chars]"


class _ThrottledLogger:
    """Logs at the first enabled verbosity, with a minimum interval between lines."""

    # (verbosity, seconds between lines)
    _SETTINGS = ((2, 1.0), (0, 10.0))

    def __init__(self, clock: PassiveClock) -> None:
        self._clock = clock
        # Guards _last, the time of the last line by verbosity.
        self._lock = threading.Lock()
        self._last: dict[int, float] = {}

    def info(self, logger: klog.Logger, message: str, /, **pairs: object) -> None:
        for level, interval in self._SETTINGS:
            if logger.v(level).enabled():
                if self._may_log(level, interval):
                    logger.v(level).info(message, **pairs)
                return

    def _may_log(self, level: int, interval: float) -> bool:
        now = self._clock.now()
        with self._lock:
            last = self._last.get(level)
            if last is not None and now - last < interval:
                return False
            self._last[level] = now
            return True


GLOBAL_THROTTLED_LOGGER = _ThrottledLogger(REAL_CLOCK)

# Names that cannot be a segment of a path, and texts that a segment must not contain.
NAME_MAY_NOT_BE = [".", ".."]
NAME_MAY_NOT_CONTAIN = ["/", "%"]


def require_namespace(namespace: str) -> str:
    """Return the namespace. Raises TypeError if it is no str, such as None."""
    if isinstance(namespace, str):
        return namespace
    raise TypeError(f'a namespace is a str, or "" for all namespaces; got {namespace!r}')


def require_patch(data: bytes) -> None:
    """Raise TypeError for a patch that is not encoded. A request takes a str as the name of a file."""
    if not isinstance(data, bytes):
        raise TypeError(f"the data of a patch are bytes, such as json.dumps(...).encode(); got {type(data).__name__}")


def is_valid_path_segment_name(name: str) -> list[str]:
    """Return the reasons why the name cannot be a path segment; empty if it can. Go: IsValidPathSegmentName.

    Raises TypeError for a name that is no str.
    """
    if not isinstance(name, str):
        raise TypeError(f"a name is a str; got {name!r}")
    if name in NAME_MAY_NOT_BE:
        return [f"may not be '{name}'"]
    return is_valid_path_segment_prefix(name)


def is_valid_path_segment_prefix(name: str) -> list[str]:
    """Return the reasons why the name cannot start a path segment. Go: IsValidPathSegmentPrefix."""
    return [f"may not contain '{text}'" for text in NAME_MAY_NOT_CONTAIN if text in name]


def validate_path_segment_name(name: str, prefix: bool) -> list[str]:
    """Return the reasons why the name cannot be, or start, a path segment. Go: ValidatePathSegmentName."""
    return is_valid_path_segment_prefix(name) if prefix else is_valid_path_segment_name(name)
