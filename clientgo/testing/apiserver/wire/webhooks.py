"""HTTP clients for webhooks. Mirrors apiserver's util/webhook/client.go.

Differs: a webhook that names a service cannot be reached, for there is no cluster network behind this server; that is
said instead of tried.
"""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from clientgo import context
from clientgo.golang.json import kind_of
from clientgo.klog.exceptions import operational_error
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError, dumps, loads

if TYPE_CHECKING:
    from clientgo import rest
    from clientgo.golang import http

# The bytes of an answer: as many times those of the question, which may come back changed, and so many more.
_TIMES_THE_QUESTION = 4
_MORE_THAN_THE_QUESTION = 4 * 1024 * 1024

# The bytes of a review. The largest request and the largest stored object are well below. Without a limit, an object
# could grow at each of many webhooks.
_LARGEST_REVIEW = 16 * 1024 * 1024

# The type into which Go reads the version and the kind of an answer.
_HEAD = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

# As many addresses as Go keeps clients for; the one made first goes.
_KEPT = 200

# Converted objects that are remembered, and their bytes as JSON. A byte of JSON takes several bytes of memory.
_KEPT_OBJECTS = 10_000
_KEPT_BYTES = 16 * 1024 * 1024


class _Bounded:
    """A round tripper whose answers have an end. An endless one would fill the memory before the timeout."""

    def __init__(self, transport: http.RoundTripper) -> None:
        self._transport = transport

    def round_trip(self, request: http.Request) -> http.Response:
        response = self._transport.round_trip(request)
        length = len(request.body) if isinstance(request.body, bytes) else 0
        response.body = _BoundedBody(response.body, _TIMES_THE_QUESTION * length + _MORE_THAN_THE_QUESTION)
        return response


class _BoundedBody:
    """A body that yields at most `limit` bytes. Reading more raises CallError."""

    def __init__(self, body: http.Body, limit: int) -> None:
        self._body = body
        self._limit = limit
        self._read = 0

    def read(self) -> bytes:
        return b"".join(iter(self.read_some, b""))

    def read_some(self) -> bytes:
        data = self._body.read_some()
        self._read += len(data)
        if self._read > self._limit:
            self._body.abort()
            raise CallError(f"the response is larger than {self._limit} bytes")
        return data

    def limit_silence(self, seconds: float) -> None:
        self._body.limit_silence(seconds)

    def abort(self) -> None:
        self._body.abort()

    def close(self) -> None:
        self._body.close()


@operational_error
class ClientError(Exception):
    """An invalid configuration of a webhook's client."""


@operational_error
class CallError(Exception):
    """The webhook did not answer, or not with a JSON object."""


class Conversions:
    """The converted objects of all converters of a server, with one bound on their sizes. Thread-safe.

    An entry has the stored object, which never changes, and its conversion. Those that were used last remain. The
    objects of the last `put` remain too, whatever their size, because the list that they are for needs them next.
    """

    def __init__(self) -> None:
        # Guards the other attributes.
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, tuple[Json, Json, int]] = OrderedDict()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"<Conversions {len(self._known)} objects, {self._bytes} bytes>"

    def get(self, key: Hashable, stored: Json) -> Json | None:
        """Return the conversion of this very object, or None."""
        with self._lock:
            known = self._known.get(key)
            if known is None or known[0] is not stored:
                return None
            self._known.move_to_end(key)
            return known[1]

    def put(self, made: list[tuple[Hashable, Json, Json]]) -> None:
        """Remember conversions, and drop the ones that were used least recently."""
        sized = [(key, stored, new, len(dumps(stored)) + len(dumps(new))) for key, stored, new in made]
        size_of_all = sum(size for *_, size in sized)
        with self._lock:
            while self._known and (
                self._bytes + size_of_all > _KEPT_BYTES or len(self._known) + len(sized) > _KEPT_OBJECTS
            ):
                self._drop(next(iter(self._known)))
            for key, stored, new, size in sized:
                self._drop(key)
                self._known[key] = (stored, new, size)
                self._bytes += size

    def _drop(self, key: Hashable) -> None:
        known = self._known.pop(key, None)
        self._bytes -= known[2] if known is not None else 0


class WebhookClients:
    """One client for each address and authority. Thread-safe; a call blocks its thread until `stop` or its timeout."""

    def __init__(self) -> None:
        # Ends all calls that are under way.
        self._ctx, self._cancel = context.with_cancel(context.background())
        # Guards _clients.
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], rest.RESTClient] = {}
        self.conversions = Conversions()

    def __repr__(self) -> str:
        return f"<WebhookClients {len(self._clients)} clients>"

    def stop(self) -> None:
        """Abort all calls, and close all connections. Idempotent."""
        self._cancel()
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            client.close()

    def review(self, config: Json, review: Json, timeout: float) -> Json:
        """Post an admission review like `post`, with the timeout in the URL.

        Raises CallError also for a review that is too large.
        """
        body = dumps(review)
        if len(body) > _LARGEST_REVIEW:
            raise CallError(f"the request is larger than {_LARGEST_REVIEW} bytes")
        return self._post(config, body, timeout, f"{timeout:g}s")

    def post(self, config: Json, document: Json, timeout: float) -> Json:
        """Post a document and return the answer, within `timeout` seconds. Raises ClientError, CallError.

        `config` is a WebhookClientConfig.
        """
        return self._post(config, dumps(document), timeout, "")

    def _post(self, config: Json, body: bytes, timeout: float, shown_timeout: str) -> Json:
        url = _url(config)
        client = self._client(f"{url.scheme}://{url.netloc}", config.get("caBundle") or "")
        request = client.post().abs_path(url.path or "/").set_header("Content-Type", "application/json")
        if shown_timeout:
            request = request.param("timeout", shown_timeout)
        # Here, as in _made: most servers call no webhook.
        from clientgo.apimachinery.api.errors import StatusError
        from clientgo.golang.http import URLError

        ctx, cancel = context.with_timeout(self._ctx, timeout)
        try:
            result = request.body(body).do(ctx).raise_for_error()
            return _document(result.raw(), result.status_code(), result.content_type())
        except ParseError as err:
            raise CallError(f"couldn't get version/kind; json parse error: {err}") from None
        except (StatusError, URLError, context.DeadlineExceeded, context.Canceled, OSError, ValueError) as err:
            raise CallError(str(err)) from None
        except RuntimeError as err:
            # The body of the answer could not be read.
            raise CallError(str(err)) from None
        finally:
            cancel()

    def _client(self, host: str, bundle: str) -> rest.RESTClient:
        key = (host, bundle)
        with self._lock:
            known = self._clients.get(key)
            if known is None:
                known = self._clients[key] = _made(host, bundle)
                oldest = next(iter(self._clients)) if len(self._clients) > _KEPT else None
                gone = self._clients.pop(oldest) if oldest is not None else None
            else:
                gone = None
        if gone is not None:
            gone.close()
        return known


def _document(body: bytes, code: int, media: str) -> Json:
    """Parse the body of an answer. Raises ParseError, or ValueError for a body without content."""
    if not body:
        raise ValueError(f"0-length response with status code: {code} and content type: {media}")
    answer = loads(body)
    if answer is None:
        return {}
    if not isinstance(answer, dict):
        raise ParseError(f"json: cannot unmarshal {kind_of(answer)} into Go value of type {_HEAD}")
    return answer


def _url(config: Json) -> SplitResult:
    service = config.get("service")
    if service:
        name = f"{service.get('namespace', '')}/{service.get('name', '')}"
        raise ClientError(f'service "{name}" cannot be reached: this server has no cluster network, give a URL instead')
    text = config.get("url") or ""
    if not text:
        raise ClientError("webhook configuration must have either service or URL")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as err:
        raise ClientError(f"Unparsable webhook URL: {err}") from None
    if url.scheme != "https" or not url.hostname or port == 0:
        raise ClientError(f'url "{text}" is none of a webhook: it must begin with https:// and name a host')
    return url


def _made(host: str, bundle: str) -> rest.RESTClient:
    from clientgo import rest  # Here, not above: a client of HTTP takes as long to import as half the server.

    try:
        authorities = base64.b64decode(bundle, validate=True)
        config = rest.Config(host=host, ca_data=authorities, qps=-1, user_agent="kube-apiserver-admission")
        config.wrap_transport = _Bounded
        return rest.unversioned_rest_client_for(config)
    except (ValueError, OSError) as err:
        raise ClientError(str(err)) from None
