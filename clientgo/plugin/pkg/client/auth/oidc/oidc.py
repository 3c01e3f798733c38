"""Tokens of an OpenID Connect issuer, for the auth provider `oidc` of a kubeconfig. Mirrors auth/oidc/oidc.go.

The provider sends the kubeconfig's id-token. Shortly before the token expires, it asks the issuer for another one with
the refresh-token, and writes both back to the kubeconfig.

Importing this module registers the provider. Differences: `tools.clientcmd` imports it for a kubeconfig that names the
provider, where Go's programs import it themselves. An exchange with the issuer ends after 30 seconds per request, and
leaves no open connection. The refresh, which Go does in golang.org/x/oauth2, is here.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, quote_plus, urlencode

from clientgo import klog, rest
from clientgo.golang import http
from clientgo.golang.http.client import basic_auth
from clientgo.golang.strconv import quote
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["new_oidc_auth_provider"]

_ISSUER_URL: Final = "idp-issuer-url"
_CLIENT_ID: Final = "client-id"
_CLIENT_SECRET: Final = "client-secret"
_CERTIFICATE_AUTHORITY: Final = "idp-certificate-authority"
_CERTIFICATE_AUTHORITY_DATA: Final = "idp-certificate-authority-data"
_ID_TOKEN: Final = "id-token"
_REFRESH_TOKEN: Final = "refresh-token"
_EXTRA_SCOPES: Final = "extra-scopes"

# Seconds by which a token expires early, since clocks differ.
_EXPIRY_DELTA: Final = 10.0
# Seconds for one request to the issuer.
_TIMEOUT: Final = 30.0
# Bytes of a response of the issuer that are read, and characters of it in an error.
_MAX_BODY: Final = 1 << 20
_MAX_TEXT: Final = 80


class _ClientCache:
    """The providers by cluster, issuer and client, so that clients do not refresh the same token concurrently."""

    def __init__(self) -> None:
        # Guards _providers.
        self._lock = threading.Lock()
        self._providers: dict[tuple[str, str, str], _OIDCAuthProvider] = {}

    def get(self, key: tuple[str, str, str]) -> _OIDCAuthProvider | None:
        with self._lock:
            return self._providers.get(key)

    def put(self, key: tuple[str, str, str], provider: _OIDCAuthProvider) -> _OIDCAuthProvider:
        """Return the provider that has the key already, or the new one."""
        with self._lock:
            return self._providers.setdefault(key, provider)


_CACHE: Final = _ClientCache()


def new_oidc_auth_provider(
    cluster_address: str, config: Mapping[str, str], persister: rest.AuthProviderConfigPersister
) -> rest.AuthProvider:
    """Return the provider of a cluster, an issuer and a client. The first one in the process is used for all.

    Sends nothing yet. Raises ValueError for an incomplete configuration or an invalid certificate authority, and
    OSError. Go: newOIDCAuthProvider.
    """
    for name in (_ISSUER_URL, _CLIENT_ID):
        if not config.get(name):
            raise ValueError(f"Must provide {name}")
    key = cluster_address, config[_ISSUER_URL], config[_CLIENT_ID]
    provider = _CACHE.get(key)
    if provider is not None:
        return provider
    if config.get(_EXTRA_SCOPES):
        klog.v(2).info(f"{_EXTRA_SCOPES} auth provider field is deprecated, refresh requests send no scopes")
    try:
        ca_data = base64.b64decode(config.get(_CERTIFICATE_AUTHORITY_DATA, ""), validate=True)
    except binascii.Error as err:
        raise ValueError(f"{_CERTIFICATE_AUTHORITY_DATA}: {err}") from None
    settings = rest.Config(ca_file=config.get(_CERTIFICATE_AUTHORITY, ""), ca_data=ca_data)
    client = http.Client(rest.transport_for(settings), _TIMEOUT)
    return _CACHE.put(key, _OIDCAuthProvider(client, config, persister))


rest.register_auth_provider_plugin("oidc", new_oidc_auth_provider)


class _OIDCAuthProvider:
    """A provider for one issuer. Thread-safe; a request that needs a new token waits for the issuer."""

    def __init__(
        self,
        client: http.Client,
        config: Mapping[str, str],
        persister: rest.AuthProviderConfigPersister,
        now: Callable[[], float] = REAL_CLOCK.now,
    ) -> None:
        self._client = client
        self._persister = persister
        self._now = now
        # Guards the next attribute; held during a refresh, so that there is only one at a time.
        self._lock = threading.Lock()
        self._config = dict(config)

    def wrap_transport(self, rt: http.RoundTripper) -> http.RoundTripper:
        """See AuthProvider."""
        return _RoundTripper(self, rt)

    def login(self) -> None:
        """See AuthProvider. Not supported, as in Go."""
        raise RuntimeError("not yet implemented")

    def id_token(self) -> str:
        """Return a valid token, from the issuer if necessary.

        Raises ValueError for invalid tokens and answers, URLError if the issuer cannot be reached, and RuntimeError if
        the new token cannot be written back.
        """
        with self._lock:
            token = self._config.get(_ID_TOKEN)
            if token and self._now() + _EXPIRY_DELTA < _expiry(token):
                return token
            refresh_token = self._config.get(_REFRESH_TOKEN)
            if not refresh_token:
                raise ValueError("No valid id-token, and cannot refresh without refresh-token")
            try:
                answer = self._refresh(refresh_token)
            finally:
                self._client.close_idle_connections()
            new = {**self._config, _ID_TOKEN: answer[_ID_TOKEN]}
            if answer.get(_REFRESH_TOKEN):
                new[_REFRESH_TOKEN] = answer[_REFRESH_TOKEN]
            try:
                self._persister.persist(dict(new))
            except Exception as err:
                raise RuntimeError(f"could not persist new tokens: {err}") from err
            self._config = new
            return new[_ID_TOKEN]

    def _refresh(self, refresh_token: str) -> dict[str, str]:
        """Return the new tokens by their names in the configuration."""
        url = _token_endpoint(self._client, self._config[_ISSUER_URL])
        fields = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        client_id, secret = self._config[_CLIENT_ID], self._config.get(_CLIENT_SECRET, "")
        try:
            # RFC 6749 requires that issuers accept the header, and many accept only the fields.
            try:
                header = basic_auth(quote_plus(client_id), quote_plus(secret))
                found = _fetch_token(self._client, url, fields, header)
            except ValueError:
                fields |= {"client_id": client_id, **({"client_secret": secret} if secret else {})}
                found = _fetch_token(self._client, url, fields, "")
        except ValueError as err:
            raise ValueError(f"failed to refresh token: {err}") from None
        token = found.get("id_token")
        if not isinstance(token, str):
            raise ValueError(
                'token response did not contain an id_token, either the scope "openid" wasn\'t requested upon login, '
                "or the provider doesn't support id_tokens as part of the refresh response"
            )
        renewed = found.get("refresh_token")
        return {_ID_TOKEN: token, **({_REFRESH_TOKEN: renewed} if isinstance(renewed, str) else {})}

    def __repr__(self) -> str:
        return f"<OIDC provider of {self._config[_ISSUER_URL]}>"


class _RoundTripper:
    """A round tripper that adds the token to requests without credentials."""

    def __init__(self, provider: _OIDCAuthProvider, wrapped: http.RoundTripper) -> None:
        self._provider = provider
        self._wrapped = wrapped

    def round_trip(self, request: http.Request) -> http.Response:
        if request.headers.get("Authorization"):
            return self._wrapped.round_trip(request)
        token = self._provider.id_token()
        request = request.clone()
        request.headers["Authorization"] = f"Bearer {token}"
        return self._wrapped.round_trip(request)

    def wrapped_round_tripper(self) -> http.RoundTripper:
        return self._wrapped


def _token_endpoint(client: http.Client, issuer: str) -> str:
    """Return the URL at which the issuer gives out tokens. Raises ValueError, URLError."""
    url = f"{issuer.removesuffix('/')}/.well-known/openid-configuration"
    status, _, body = _send(client, http.Request(method="GET", url=url))
    if not status.startswith("200"):
        raise ValueError(f"oidc: failed to query metadata endpoint {status}: {quote(_short(body))}")
    try:
        endpoint = _object(body).get("token_endpoint")
    except ValueError as err:
        raise ValueError(f"oidc: failed to decode provider discovery object: {err}") from None
    if not isinstance(endpoint, str) or not endpoint:
        raise ValueError("oidc: discovery object doesn't contain a token_endpoint")
    return endpoint


def _fetch_token(client: http.Client, url: str, fields: Mapping[str, str], authorization: str) -> dict[str, Any]:
    """Return the answer of the token endpoint. Raises ValueError if it is an error, URLError. Go: oauth2."""
    request = http.Request(method="POST", url=url, body=urlencode(fields).encode())
    request.headers["Content-Type"] = "application/x-www-form-urlencoded"
    if authorization:
        request.headers["Authorization"] = authorization
    status, content_type, body = _send(client, request)
    is_error = not status.startswith("2")
    answer: dict[str, Any] = {}
    if content_type.partition(";")[0].strip() in ("application/x-www-form-urlencoded", "text/plain"):
        answer = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
    else:
        try:
            answer = _object(body)
        except ValueError as err:
            if not is_error:
                raise ValueError(f"oauth2: cannot parse json: {err}") from None
    if answer.get("error"):
        texts = [answer.get(name) for name in ("error", "error_description", "error_uri")]
        raise ValueError("oauth2: " + " ".join(quote(str(each)) for each in texts if each))
    if is_error:
        raise ValueError(f"oauth2: cannot fetch token: {status}\nResponse: {_short(body)}")
    if not answer.get("access_token"):
        raise ValueError("oauth2: server response missing access_token")
    return answer


def _send(client: http.Client, request: http.Request) -> tuple[str, str, bytes]:
    """Return the status with its reason, the content type, and the body up to its limit."""
    response = client.do(request)
    body = bytearray()
    try:
        while len(body) <= _MAX_BODY and (part := response.body.read_some()):
            body += part
    finally:
        response.close()
    status = f"{response.status_code} {response.reason}".strip()
    return status, response.headers.get("Content-Type", ""), bytes(body[:_MAX_BODY])


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as err:
        raise ValueError(str(err)) from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _short(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def _expiry(token: str) -> float:
    """Return the time at which a token expires, 0 if it has none. Raises ValueError for what is no token."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("ID Token is not a valid JWT")
    try:
        payload = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as err:
        raise ValueError(f"ID Token is not a valid JWT: {err}") from None
    try:
        return _json_time(_object(payload).get("exp"))
    except ValueError as err:
        raise ValueError(f"parsing claims: {err}") from None


def _json_time(value: Any) -> float:
    """Return the seconds since 1970 of a JSON number, which a string may contain, as in Go."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"invalid time {value!r}")
    try:
        return float(int(value)) if isinstance(value, int) else float(int(float(value)))
    except (ValueError, OverflowError):
        raise ValueError(f"invalid time {value!r}") from None
