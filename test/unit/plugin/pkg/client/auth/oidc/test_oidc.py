"""A kubeconfig's auth provider `oidc` sends the id-token, and refreshes it at an issuer over TLS."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer

from clientgo import context, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.plugin.pkg.client.auth import oidc
from clientgo.tools import clientcmd
from clientgo.utils.clock import REAL_CLOCK

CTX = context.background()
HOUR = 3600.0


def jwt(expiry: object) -> str:
    """Return a token whose signature no client checks."""
    claims = json.dumps({"sub": "jane", "exp": expiry}).encode()
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b"{}", claims, b"signature"))


def expired() -> str:
    return jwt(int(REAL_CLOCK.now() - HOUR))


class Issuer:
    """An issuer over TLS. `respond` answers the requests for tokens."""

    def __init__(self, folder: Path) -> None:
        self._authority = Authority(folder)
        pair = self._authority.issue("issuer", "IP:127.0.0.1")
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(pair.cert, pair.key)
        self.server = ScriptedServer(self._answer, self.tls)
        self.discovery = Answer(200, json.dumps({"token_endpoint": f"{self.server.url}/token"}).encode())
        self.respond: Callable[[Received], Answer] = lambda request: Answer(404)

    def _answer(self, request: Received) -> Answer:
        return self.discovery if request.method == "GET" else self.respond(request)

    def config(self, **more: str) -> dict[str, str]:
        return {
            "idp-issuer-url": f"{self.server.url}/",
            "client-id": "my client",
            "client-secret": "s&cret",
            "idp-certificate-authority-data": base64.b64encode(self._authority.data).decode(),
            **{name.replace("_", "-"): value for name, value in more.items()},
        }

    @property
    def ca_file(self) -> str:
        return self._authority.path

    @property
    def asked(self) -> list[str]:
        return [f"{each.method} {each.target}" for each in self.server.requests]


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    monkeypatch.setattr(oidc.oidc, "_CACHE", oidc.oidc._ClientCache())
    issuer = Issuer(tmp_path)
    with issuer.server:
        yield issuer


class Persister:
    """A persister in memory."""

    def __init__(self, error: Exception | None = None) -> None:
        self.written: list[dict[str, str]] = []
        self._error = error

    def persist(self, config: Any) -> None:
        if self._error is not None:
            raise self._error
        self.written.append(dict(config))


class Recorder:
    """A round tripper that records what would be sent to the cluster."""

    def __init__(self) -> None:
        self.authorizations: list[str | None] = []

    def round_trip(self, request: http.Request) -> http.Response:
        self.authorizations.append(request.headers.get("Authorization"))
        return http.Response(status_code=200, reason="OK", headers=http.Header(), body=http.BytesBody(b""))


def send(provider: rest.AuthProvider, **headers: str) -> str | None:
    recorder = Recorder()
    request = http.Request(method="GET", url="https://cluster/")
    for name, value in headers.items():
        request.headers[name] = value
    provider.wrap_transport(recorder).round_trip(request)
    assert request.headers.get("Authorization") == headers.get("Authorization")
    return recorder.authorizations[0]


def renewed(token: str, **more: str) -> Callable[[Received], Answer]:
    return lambda request: Answer(200, json.dumps({"access_token": "a", "id_token": token, **more}).encode())


def test_a_valid_token_is_sent_without_a_question_to_the_issuer(issuer: Issuer) -> None:
    token = jwt(REAL_CLOCK.now() + HOUR)
    provider = oidc.new_oidc_auth_provider("c", issuer.config(id_token=token), Persister())
    assert send(provider) == f"Bearer {token}"
    assert send(provider, Authorization="Basic x") == "Basic x"
    assert issuer.asked == []


def test_an_expired_token_is_refreshed_once_and_written_back(issuer: Issuer) -> None:
    token = jwt(int(REAL_CLOCK.now() + HOUR))
    issuer.respond = renewed(token, refresh_token="second")
    persister = Persister()
    config = issuer.config(id_token=expired(), refresh_token="first", extra_scopes="groups")
    provider = oidc.new_oidc_auth_provider("c", config, persister)

    threads = [threading.Thread(target=send, args=(provider,), name=f"client-{n}") for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert send(provider) == f"Bearer {token}"

    assert issuer.asked == ["GET /.well-known/openid-configuration", "POST /token"]
    refresh = issuer.server.requests[1]
    assert parse_qs(refresh.body.decode()) == {"grant_type": ["refresh_token"], "refresh_token": ["first"]}
    name, secret = base64.b64decode(refresh.headers["Authorization"].removeprefix("Basic ")).decode().split(":")
    assert (name, secret) == ("my+client", "s%26cret")
    assert persister.written == [{**config, "id-token": token, "refresh-token": "second"}]


def test_a_token_that_expires_within_ten_seconds_is_refreshed(issuer: Issuer) -> None:
    token = jwt(int(REAL_CLOCK.now() + HOUR))
    issuer.respond = renewed(token)
    persister = Persister()
    config = issuer.config(id_token=jwt(REAL_CLOCK.now() + 8), refresh_token="first")
    assert send(oidc.new_oidc_auth_provider("c", config, persister)) == f"Bearer {token}"
    assert persister.written[0]["refresh-token"] == "first"


def test_an_issuer_that_wants_the_client_in_the_body_gets_it_there(issuer: Issuer) -> None:
    token = jwt(int(REAL_CLOCK.now() + HOUR))

    def respond(request: Received) -> Answer:
        if "Authorization" in request.headers:
            return Answer(401, b'{"error":"invalid_client"}')
        assert parse_qs(request.body.decode())["client_secret"] == ["s&cret"]
        return renewed(token)(request)

    issuer.respond = respond
    provider = oidc.new_oidc_auth_provider("c", issuer.config(refresh_token="first"), Persister())
    assert send(provider) == f"Bearer {token}"
    assert issuer.asked[1:] == ["POST /token"] * 2


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Answer(400, b'{"error":"invalid_grant","error_description":"revoked"}'),
            'failed to refresh token: oauth2: "invalid_grant" "revoked"',
        ),
        (Answer(500, b"x" * 200), "failed to refresh token: oauth2: cannot fetch token: 500"),
        (Answer(200, b"<html>"), "failed to refresh token: oauth2: cannot parse json"),
        (Answer(200, b"[]"), "failed to refresh token: oauth2: cannot parse json: it is no JSON object"),
        (Answer(200, b"{}"), "failed to refresh token: oauth2: server response missing access_token"),
        (Answer(200, b'{"access_token":"a"}'), "token response did not contain an id_token"),
        (Answer(200, b"access_token=a&x=y", dict(FORM)), "token response did not contain an id_token"),
        (Answer(200, b"error=invalid_scope", dict(FORM)), 'oauth2: "invalid_scope"'),
    ],
    ids=["error", "status", "no JSON", "no object", "no token", "no id-token", "form", "error in form"],
)
def test_an_answer_without_a_token_is_an_error(issuer: Issuer, answer: Answer, message: str) -> None:
    issuer.respond = lambda request: answer
    persister = Persister()
    provider = oidc.new_oidc_auth_provider("c", issuer.config(refresh_token="first"), persister)
    with pytest.raises(ValueError) as caught:
        send(provider)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "first" not in str(caught.value)
    assert not persister.written


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(404, b"y" * 100), f'oidc: failed to query metadata endpoint 404 Scripted: "{"y" * 80}..."'),
        (Answer(200, b"<html>"), "oidc: failed to decode provider discovery object"),
        (Answer(200, b"{}"), "oidc: discovery object doesn't contain a token_endpoint"),
    ],
)
def test_an_issuer_without_discovery_is_an_error(issuer: Issuer, answer: Answer, message: str) -> None:
    issuer.discovery = answer
    provider = oidc.new_oidc_auth_provider("c", issuer.config(refresh_token="first"), Persister())
    with pytest.raises(ValueError) as caught:
        send(provider)
    assert message in str(caught.value)


def test_an_issuer_of_another_authority_is_refused(issuer: Issuer) -> None:
    config = issuer.config(refresh_token="first")
    del config["idp-certificate-authority-data"]
    with pytest.raises(rest.URLError, match="failed to verify certificate"):
        send(oidc.new_oidc_auth_provider("c", config, Persister()))


def test_tokens_that_cannot_be_written_back_are_not_used(issuer: Issuer) -> None:
    issuer.respond = renewed(jwt(int(REAL_CLOCK.now() + HOUR)))
    config = issuer.config(refresh_token="first")
    provider = oidc.new_oidc_auth_provider("c", config, Persister(OSError("read-only")))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="could not persist new tokens: read-only"):
            send(provider)


def test_without_a_refresh_token_an_expired_token_is_an_error(issuer: Issuer) -> None:
    provider = oidc.new_oidc_auth_provider("c", issuer.config(id_token=expired()), Persister())
    with pytest.raises(ValueError, match="No valid id-token, and cannot refresh without refresh-token"):
        send(provider)
    with pytest.raises(RuntimeError, match="not yet implemented"):
        provider.login()


@pytest.mark.parametrize(
    ("token", "message"),
    [
        pytest.param(jwt("error!"), "parsing claims", id="bad exp claim"),
        pytest.param(jwt([1]), "parsing claims", id="list as exp claim"),
        pytest.param(jwt(True), "parsing claims", id="bool as exp claim"),
        pytest.param("nottoken", "ID Token is not a valid JWT", id="not an id token"),
        pytest.param("a.!!.c", "ID Token is not a valid JWT", id="no Base64"),
    ],
)
def test_what_is_no_token_is_an_error(issuer: Issuer, token: str, message: str) -> None:
    """Go: TestExpired"""
    provider = oidc.new_oidc_auth_provider("c", issuer.config(id_token=token, refresh_token="r"), Persister())
    with pytest.raises(ValueError, match=message):
        send(provider)
    assert issuer.asked == []


@pytest.mark.parametrize("make", [int, float, lambda seconds: f"{seconds:.0f}"], ids=["int", "float", "string"])
def test_the_time_of_expiry_is_a_number_of_any_kind(issuer: Issuer, make: Callable[[float], object]) -> None:
    """Go: TestJSONTime

    Go: TestExpired/valid
    Go: TestExpired/expired
    """
    for offset, is_valid in ((HOUR, True), (-HOUR, False)):
        config = issuer.config(id_token=jwt(make(REAL_CLOCK.now() + offset)))
        provider = oidc.new_oidc_auth_provider(f"c{offset}", config, Persister())
        if is_valid:
            assert send(provider) == f"Bearer {config['id-token']}"
        else:
            with pytest.raises(ValueError, match="No valid id-token"):
                send(provider)


def test_clients_of_one_cluster_issuer_and_client_share_a_provider(issuer: Issuer) -> None:
    """Go: TestClientCache"""
    first = oidc.new_oidc_auth_provider("c", issuer.config(), Persister())
    assert oidc.new_oidc_auth_provider("c", issuer.config(id_token="x"), Persister()) is first
    assert oidc.new_oidc_auth_provider("d", issuer.config(), Persister()) is not first
    assert oidc.new_oidc_auth_provider("c", issuer.config(client_id="other"), Persister()) is not first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"idp-issuer-url": ""}, "Must provide idp-issuer-url"),
        ({"client-id": ""}, "Must provide client-id"),
        ({"idp-certificate-authority-data": "?"}, "idp-certificate-authority-data: "),
        ({"idp-certificate-authority-data": "eA=="}, "unable to load root certificates"),
    ],
)
def test_an_incomplete_configuration_is_an_error(issuer: Issuer, change: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        oidc.new_oidc_auth_provider("c", {**issuer.config(), **change}, Persister())


def test_a_kubeconfig_with_the_provider_works_and_gets_the_new_tokens(issuer: Issuer, tmp_path: Path) -> None:
    token = jwt(int(REAL_CLOCK.now() + HOUR))
    issuer.respond = renewed(token, refresh_token="second")
    with ScriptedServer(lambda request: Answer(200, b'{"kind":"Pod","apiVersion":"v1"}'), issuer.tls) as cluster:
        provider = {
            "idp-issuer-url": issuer.server.url,
            "client-id": "id",
            "idp-certificate-authority": issuer.ca_file,
            "id-token": expired(),
            "refresh-token": "first",
        }
        path = tmp_path / "kubeconfig"
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "clusters": [
                        {"name": "c", "cluster": {"server": cluster.url, "certificate-authority": issuer.ca_file}}
                    ],
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "jane"}}],
                    "users": [{"name": "jane", "user": {"auth-provider": {"name": "oidc", "config": provider}}}],
                }
            )
        )
        for _ in range(2):
            config = clientcmd.new_non_interactive_deferred_loading_client_config(
                clientcmd.ClientConfigLoadingRules(explicit_path=str(path)), clientcmd.ConfigOverrides()
            ).client_config()
            config.api_path, config.group_version = "/api", GroupVersion("", "v1")
            client = rest.rest_client_for(config)
            assert client.get().resource("pods").do(CTX).raw()
            client.client.close_idle_connections()
        sent = {request.headers["Authorization"] for request in cluster.requests}
    assert sent == {f"Bearer {token}"}
    assert issuer.asked.count("POST /token") == 1
    [user] = yaml.safe_load(path.read_text())["users"]
    assert user["user"]["auth-provider"]["config"] == {**provider, "id-token": token, "refresh-token": "second"}
