"""The bottom of the stack: HTTP/1.1 through requests and urllib3, on connections that another thread can break off.

Stands where Go has net/http's Transport, with the settings of client-go's transport/cache.go. What it adds to requests:
every request in flight can be aborted from any thread by shutting its socket down, also while it connects, so that
cancelling a context or stopping a watch takes milliseconds; dead peers are noticed by TCP keep-alive; proxies, SOCKS5
among them, are chosen by Go's rules; and a reading request whose kept connection turns out to be dead gets another one.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3.connection
import urllib3.connectionpool
import urllib3.exceptions
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from requests.hooks import default_hooks

from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.apimachinery.util.strconv import quote
from clientgo.transport import httpproxy
from clientgo.transport.dial import CONNECTING, Exchange, connect, with_text
from clientgo.transport.http import Header, Request, Response
from clientgo.transport.socks import socks_proxy
from clientgo.utils.clock.clock import REAL_CLOCK

__all__ = ["Transport"]

# Go's transport keeps as many idle connections to a server. A watch takes its connection out of the pool for good, and
# a pool that has none left makes one more, so that any number of informers can watch at once.
IDLE_CONNECTIONS_PER_HOST = 25

# Go does not use a connection again that was idle for longer: something in between may have forgotten it.
IDLE_TIMEOUT = 90.0

# Go's dialer gives up on a connection after 30 s, its TLS handshake after 10 s; one limit serves both here.
CONNECT_TIMEOUT = 30.0

# The largest piece `read_some` asks for. A busy stream then costs one system call for many events.
_PIECE = 64 * 1024

_MAX_CHUNK_HEADER = 4096


class _Current(threading.local):
    exchange: Exchange | None = None


# The exchange whose request this thread is sending: urllib3 has no other way to hand it down to the connection.
_current = _Current()


class _HeaderLines:
    """Reads lines from a response's file and remembers whether the last one was its end."""

    def __init__(self, fp: Any) -> None:
        self._fp = fp
        self.at_end = False

    def readline(self, limit: int = -1) -> bytes:
        line: bytes = self._fp.readline(limit)
        self.at_end = not line
        return line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fp, name)


class _Response(http.client.HTTPResponse):
    """A response whose headers have to be complete; http.client takes the end of the connection for their end."""

    fp: Any

    def begin(self) -> None:
        if getattr(self, "headers", None) is not None:
            return
        fp = self.fp
        self.fp = lines = _HeaderLines(fp)
        try:
            super().begin()
        finally:
            if self.fp is lines:
                self.fp = fp
        if lines.at_end:
            raise http.client.IncompleteRead(b"")


class _Abortable(urllib3.connection.HTTPConnection):
    """Tells the exchange of the running request which socket it uses."""

    response_class = _Response
    # When its last response was read to the end.
    idle_since: float | None = None

    def _new_conn(self) -> socket.socket:
        exchange = _current.exchange
        assert exchange is not None
        timeout = self.timeout if isinstance(self.timeout, (int, float)) else None
        try:
            return connect(exchange, self._dns_host, self.port, timeout, via_proxy=self.proxy is not None)
        except TimeoutError as err:
            raise urllib3.exceptions.ConnectTimeoutError(self, str(err)) from err
        except OSError as err:
            raise urllib3.exceptions.NewConnectionError(self, str(err)) from err

    def connect(self) -> None:
        if _current.exchange is not None:
            _current.exchange.connected = True
        super().connect()
        self._attach()

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._attach()
        super().request(*args, **kwargs)

    def _attach(self) -> None:
        if self.sock is not None and _current.exchange is not None:
            _current.exchange.attach(self.sock)


class _HTTPSConnection(_Abortable, urllib3.connection.HTTPSConnection):
    pass


class _HTTPPool(urllib3.connectionpool.HTTPConnectionPool):
    """Keeps connections for as long as Go does, and drops those it has no room for without a warning."""

    ConnectionCls = _Abortable

    def _put_conn(self, conn: Any) -> None:
        pool = self.pool
        # That many requests went on at once is nobody's mistake.
        if conn is not None and pool is not None and pool.full():
            conn.close()
            return
        if conn is not None:
            conn.idle_since = REAL_CLOCK.now()
        super()._put_conn(conn)

    def _get_conn(self, timeout: float | None = None) -> Any:
        conn: Any = super()._get_conn(timeout)
        # A closed connection opens itself again when it is used.
        if conn.idle_since is not None and REAL_CLOCK.now() - conn.idle_since >= IDLE_TIMEOUT:
            conn.close()
        return conn


class _HTTPSPool(_HTTPPool, urllib3.connectionpool.HTTPSConnectionPool):
    ConnectionCls = _HTTPSConnection

    def _validate_conn(self, conn: Any) -> None:
        """Connect, without urllib3's warning about checks that the user switched off in the configuration."""
        if conn.is_closed:
            conn.connect()


_POOLS = {"http": _HTTPPool, "https": _HTTPSPool}


class _Adapter(HTTPAdapter):
    """requests' adapter with our connections and exactly our TLS context: no bundled or system roots added to it."""

    def __init__(self, ssl_context: ssl.SSLContext | None, server_name: str) -> None:
        self._ssl_context = ssl_context
        self._tls: dict[str, Any] = {}
        if ssl_context is not None:
            self._tls["ssl_context"] = ssl_context
        if server_name:
            self._tls["server_hostname"] = server_name
        super().__init__(pool_connections=4, pool_maxsize=IDLE_CONNECTIONS_PER_HOST, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs, **self._tls)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        # As in Go an https proxy has to have a certificate that the cluster's authority signed.
        manager: Any = super().proxy_manager_for(proxy, proxy_ssl_context=self._ssl_context, **kwargs, **self._tls)
        manager.pool_classes_by_scheme = _POOLS
        return manager

    def build_connection_pool_key_attributes(self, request: Any, verify: Any, cert: Any = None) -> tuple[Any, Any]:
        parts = urlsplit(request.url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return {"scheme": parts.scheme, "host": parts.hostname, "port": port}, {}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """The context says all there is to say."""


class Transport:
    """Sends requests to servers (Go: http.Transport). Thread-safe; a request blocks the thread that makes it.

    Connections are kept for the next request when a response was read to its end. Proxies come from `proxy`, a function
    from URL to proxy URL or None, or from the environment as it is when the transport is made. They may be http, https
    and socks5.
    """

    def __init__(
        self,
        *,
        ssl_context: Callable[[], ssl.SSLContext | None] = lambda: None,
        server_name: str = "",
        proxy: Callable[[str], str | None] | None = None,
        dial: Callable[[str, int], socket.socket] | None = None,
        disable_compression: bool = False,
    ) -> None:
        """`ssl_context` is asked before each request; when it returns another one, new connections use that."""
        self._ssl_context = ssl_context
        self._server_name = server_name
        self._proxy = proxy if proxy is not None else httpproxy.from_environment().proxy_func()
        self._dial = dial
        self._disable_compression = disable_compression
        # Guards the next two.
        self._lock = threading.Lock()
        self._session: requests.Session | None = None
        self._session_context: ssl.SSLContext | None = None

    def round_trip(self, request: Request) -> Response:
        """See RoundTripper. Follows redirects as requests does: credentials never leave for another host."""
        failure = request.ctx.err()
        if failure is not None:
            raise failure
        prepared = self._prepared(request)
        proxy = self._proxy(request.url)
        socks = socks_proxy(proxy) if proxy else None
        exchange = Exchange(request, self._dial, socks)
        forget = request.ctx.add_done_callback(exchange.abort)

        def finish() -> None:
            forget()
            exchange.finish()

        try:
            answer = self._send(prepared, None if socks is not None else proxy, exchange)
        except BaseException:
            finish()
            raise
        body = _ResponseBody(answer, exchange, request, finish)
        return Response(
            status_code=answer.status_code, reason=answer.reason or "", headers=answer.raw.headers, body=body
        )

    def _send(self, prepared: requests.PreparedRequest, proxy: str | None, exchange: Exchange) -> requests.Response:
        request = exchange.request
        silence = _shorter(request.header_timeout, request.read_timeout)
        previous, _current.exchange = _current.exchange, exchange
        try:
            with _translated(request, exchange):
                while True:
                    exchange.connected = False
                    session = self._current_session(request.url, proxy)
                    try:
                        answer = session.send(
                            prepared,
                            stream=True,
                            timeout=(_shorter(CONNECT_TIMEOUT, silence), silence),
                            proxies={"all": proxy} if proxy else {},
                            allow_redirects=True,
                        )
                        exchange.set_timeout(request.read_timeout)
                        return answer
                    except requests.RequestException as err:
                        if not _deserves_a_fresh_connection(err, exchange):
                            raise
        finally:
            _current.exchange = previous

    def _prepared(self, request: Request) -> requests.PreparedRequest:
        headers = _encoded_headers(request.headers)
        body = request.body
        if isinstance(body, bytes):
            headers["Content-Length"] = str(len(body))
        elif body is None and request.method in ("POST", "PUT", "PATCH"):
            headers["Content-Length"] = "0"
        if "Accept-Encoding" not in headers:
            headers["Accept-Encoding"] = "identity" if self._disable_compression else "gzip"
        prepared: Any = requests.PreparedRequest()
        prepared.method = request.method
        prepared.url = request.url
        prepared.headers = headers
        prepared.body = body
        prepared.hooks = default_hooks()
        prepared._cookies = RequestsCookieJar()
        return prepared  # type: ignore[no-any-return]

    def _current_session(self, url: str, proxy: str | None) -> requests.Session:
        encrypted = url.startswith("https:") or (proxy is not None and proxy.startswith("https:"))
        context = self._ssl_context() if encrypted else None
        with self._lock:
            if self._session is None or context is not self._session_context:
                if self._session is not None:
                    self._session.close()
                self._session = self._new_session(context)
                self._session_context = context
            return self._session

    def _new_session(self, context: ssl.SSLContext | None) -> requests.Session:
        session = requests.Session()
        # Neither ~/.netrc nor REQUESTS_CA_BUNDLE may have a say in how a cluster is reached.
        session.trust_env = False
        session.headers.clear()
        session.max_redirects = 10
        adapter = _Adapter(context, self._server_name)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        return session

    def close_idle_connections(self) -> None:
        """Close the pooled connections; requests under way go on."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()

    def __repr__(self) -> str:
        return f"<Transport server_name={self._server_name!r}, {'open' if self._session else 'idle'}>"


_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ILLEGAL_IN_HEADER_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _encoded_headers(headers: Header) -> Header:
    """The headers as http.client wants them: it makes a byte of each character, so that UTF-8 has to come in its bytes.

    Raises ValueError, never with a value in it: that may be a secret.
    """
    encoded = Header()
    for name, value in headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            raise ValueError(f"net/http: invalid header field name {quote(name)}")
        if _ILLEGAL_IN_HEADER_VALUE.search(value) is not None:
            raise ValueError(f"net/http: invalid header field value for {quote(name)}")
        encoded.add(name, value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("latin-1"))
    return encoded


def _deserves_a_fresh_connection(err: BaseException, exchange: Exchange) -> bool:
    """Whether it is the connection's fault alone, so that the request can go over another one (Go: shouldRetryRequest).

    A server closes a connection that was idle for long; only the next request finds that out. It may not be sent again
    if it could have changed something before it got lost.
    """
    if exchange.aborted:
        return False
    root = _root(err)
    if isinstance(root, urllib3.exceptions.ClosedPoolError):
        return True  # certificates changed while the request was about to take a connection
    is_lost = isinstance(
        root, (ConnectionResetError, BrokenPipeError, ConnectionAbortedError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
    )
    return is_lost and not exchange.connected and _is_replayable(exchange.request)


def _is_replayable(request: Request) -> bool:
    if request.body is not None and not isinstance(request.body, bytes):
        return False
    reads = request.method in ("GET", "HEAD", "OPTIONS", "TRACE")
    return reads or any(name in request.headers for name in ("Idempotency-Key", "X-Idempotency-Key"))


def _shorter(one: float | None, other: float | None) -> float | None:
    """The shorter one of two timeouts."""
    return min((each for each in (one, other) if each is not None), default=None)


class _ResponseBody:
    """A response's body on its connection. See http.Body."""

    def __init__(
        self, answer: requests.Response, exchange: Exchange, request: Request, finish: Callable[[], None]
    ) -> None:
        self._answer = answer
        self._raw: Any = answer.raw
        # Reads pieces straight from the connection; made by the first `read_some` where that is possible.
        self._pieces: Callable[[], bytes] | None = None
        self._exchange = exchange
        self._request = request
        self._finish = finish

    def read(self) -> bytes:
        try:
            with _translated(self._request, self._exchange):
                data: bytes = self._raw.read(decode_content=not self._is_gzip())
            return _gunzipped(data) if self._is_gzip() else data
        finally:
            self._finish()

    def read_some(self) -> bytes:
        try:
            if self._pieces is None:
                self._pieces = self._piece_reader()
            return self._pieces()
        except EOFError:
            failure = self._request.ctx.err()
            if failure is not None:
                raise failure from None
            raise
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ValueError) as err:
            raise _translate(err, self._request, self._exchange) from None

    def _piece_reader(self) -> Callable[[], bytes]:
        """How to read what has arrived: many chunks at once if we may take the connection for ourselves."""
        raw = self._raw
        if self._is_gzip():
            return _GzipReader(lambda: bytes(raw.read1(_PIECE, decode_content=False))).read_some
        connection = getattr(getattr(raw, "_fp", None), "fp", None)
        if raw.chunked and "Content-Encoding" not in raw.headers and hasattr(connection, "read1"):
            return _ChunkedReader(connection).read_some
        return lambda: bytes(raw.read1(_PIECE, decode_content=True))

    def _is_gzip(self) -> bool:
        # Unpacked here and not by urllib3, which takes a stream that breaks off for one that is over.
        return str(self._raw.headers.get("Content-Encoding", "")).lower() == "gzip"

    def limit_silence(self, seconds: float) -> None:
        limit = self._request.read_timeout
        self._exchange.set_timeout(seconds if limit is None else min(seconds, limit))

    def abort(self) -> None:
        self._exchange.abort()

    def close(self) -> None:
        self._answer.close()
        self._finish()


def _gunzipped(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise ErrUnexpectedEOF() from None
    except (OSError, zlib.error) as err:
        raise ValueError(f"gzip: {err}") from err


class _GzipReader:
    """Unpacks a gzip body as it comes. One that ends before its end is an error, as if the connection had broken."""

    def __init__(self, read_packed: Callable[[], bytes]) -> None:
        self._read_packed = read_packed
        # The gzip member being read; a body may have several. None between two.
        self._member: zlib._Decompress | None = None

    def read_some(self) -> bytes:
        """What has arrived, at least one byte; b"" at the end. Raises ErrUnexpectedEOF, ValueError."""
        while packed := self._read_packed():
            if data := self._unpack(packed):
                return data
        if self._member is not None:
            raise ErrUnexpectedEOF()
        return b""

    def _unpack(self, packed: bytes) -> bytes:
        pieces: list[bytes] = []
        while packed:
            member = self._member or zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            try:
                pieces.append(member.decompress(packed))
            except zlib.error as err:
                raise ValueError(f"gzip: {err}") from err
            self._member = None if member.eof else member
            packed = member.unused_data
        return b"".join(pieces)


class _ChunkedReader:
    """Takes the chunked transfer coding apart, everything that one system call brought at once.

    http.client reads at most one chunk a call, and a server sends each watch event in a chunk of its own. A reader owns
    its connection from the first call on: http.client no longer knows where in the stream it is.
    """

    def __init__(self, connection: Any) -> None:
        self._read1: Callable[[int], bytes] = connection.read1
        # The start of a chunk header that has not arrived in full.
        self._rest = b""
        # Bytes of the current chunk still to come, and of the line end behind it.
        self._left = 0
        self._skip = 0
        self._ended = False
        # What is wrong behind all that was given out.
        self._failure: ValueError | None = None

    def read_some(self) -> bytes:
        """What has arrived, at least one byte, after waiting for it; b"" at the end.

        Raises ErrUnexpectedEOF, and ValueError for what is no chunk, after what came before that.
        """
        while not self._ended:
            if self._failure is not None:
                raise self._failure
            data = self._read1(_PIECE)
            if not data:
                raise ErrUnexpectedEOF()
            pieces = self._feed(self._rest + data if self._rest else data)
            if pieces:
                return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return b""

    def _feed(self, data: bytes) -> list[bytes]:
        self._rest = b""
        position, end = 0, len(data)
        pieces: list[bytes] = []
        while position < end:
            # The rest of a chunk and of its line end; for nearly all chunks that is all of both.
            if self._left:
                stop = min(position + self._left, end)
                pieces.append(data[position:stop])
                self._left -= stop - position
                position = stop
            if self._skip and not self._left:
                skipped = min(self._skip, end - position)
                position += skipped
                self._skip -= skipped
            if position == end:
                break
            line_end = data.find(b"\r\n", position)
            if line_end < 0:
                self._keep(data[position:])
                break
            self._begin_chunk(data[position:line_end])
            if self._ended or self._failure is not None:
                break
            position = line_end + 2
        return pieces

    def _keep(self, header: bytes) -> None:
        if len(header) > _MAX_CHUNK_HEADER:
            self._failure = ValueError("http: chunk header too long")
        self._rest = header

    def _begin_chunk(self, header: bytes) -> None:
        try:
            size = int(header.partition(b";")[0], 16)
        except ValueError:
            size = -1
        if size < 0:
            self._failure = ValueError("http: invalid byte in chunk length")
            return
        # What follows the last chunk, trailers at most, is nobody's business: the connection is closed.
        self._ended = size == 0
        self._left, self._skip = size, 2


@contextlib.contextmanager
def _translated(request: Request, exchange: Exchange) -> Iterator[None]:
    """Turn what requests, urllib3 and http.client raise into the builtin exception behind it."""
    try:
        yield
    except (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as err:
        raise _translate(err, request, exchange) from None


def _translate(err: BaseException, request: Request, exchange: Exchange) -> Exception:
    failure = request.ctx.err()
    if failure is not None:
        return failure
    if exchange.aborted:
        return ConnectionAbortedError("use of closed network connection")
    return _as_builtin(_root(err))


def _root(err: BaseException) -> BaseException:
    """Walk down through the wrappers of requests and urllib3 to the error that started it."""
    for _ in range(10):
        inner = _inner(err)
        if inner is None:
            return err
        err = inner
    return err


def _inner(err: BaseException) -> BaseException | None:
    if isinstance(err, urllib3.exceptions.MaxRetryError):
        return err.reason
    if isinstance(err, urllib3.exceptions.ProxyError):
        return err.original_error
    if isinstance(err, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)):
        return err.__cause__
    if isinstance(err, (requests.RequestException, urllib3.exceptions.HTTPError)):
        return next((arg for arg in err.args if isinstance(arg, BaseException)), None)
    return None


def _as_builtin(err: BaseException) -> Exception:
    if isinstance(err, ssl.SSLCertVerificationError):
        return with_text(err, f"tls: failed to verify certificate: {err.verify_message}")
    if isinstance(err, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return EOFError("EOF")  # nothing is wrong with TLS: the server went away while it shook hands
    if isinstance(err, ssl.SSLError):
        return with_text(err, f"tls: {_tls_reason(err)}")
    if isinstance(err, http.client.RemoteDisconnected):
        return EOFError("EOF")
    if isinstance(err, (http.client.IncompleteRead, urllib3.exceptions.IncompleteRead)):
        return ErrUnexpectedEOF()
    if isinstance(err, (TimeoutError, urllib3.exceptions.TimeoutError)):
        return TimeoutError(str(err) if str(err).startswith(CONNECTING) else "read: i/o timeout")
    if isinstance(err, OSError) and not isinstance(err, requests.RequestException):
        named = not err.errno or str(err.strerror).startswith(CONNECTING)
        return _again(err) if named else with_text(err, f"read: {str(err.strerror).lower()}")
    return _again(err) if isinstance(err, (EOFError, ValueError)) else OSError(str(err))


def _again(err: Exception) -> Exception:
    """The same error anew: raised while those that wrap it are handled, itself would be its own cause."""
    return type(err)(*err.args)


def _tls_reason(err: ssl.SSLError) -> str:
    reason = (err.reason or str(err)).lower().replace("_", " ")
    return reason.removeprefix("tlsv13 ").removeprefix("tlsv1 ").removeprefix("sslv3 ")
