"""The webhook server over real connections: registration, certificates that change, client authorities, its end."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, Pair
from patience import PATIENCE

from clientgo import context
from clientgo.context import Context
from clientgo.controller_runtime import certwatcher, webhook
from clientgo.controller_runtime.webhook import admission
from clientgo.golang.http.server import Request, ResponseWriter

REVIEW = json.dumps({"request": {"uid": "u1", "operation": "CREATE"}})


class Serving:
    """A server at a free port, with a certificate of the authority."""

    def __init__(self, authority: Authority, folder: Path, **options: Any) -> None:
        self.authority = authority
        self.pair = Pair(folder / "tls.crt", folder / "tls.key")
        self.install("server")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server = webhook.new_server(webhook.Options(cert_dir=str(folder), listener=self.listener, **options))
        self.ctx, self._cancel = context.with_cancel(context.background())
        self._thread = threading.Thread(target=self.server.start, args=(self.ctx,), name="webhook-server")

    def install(self, name: str) -> None:
        pair = self.authority.issue(name, "IP:127.0.0.1", common_name=name)
        self.pair.key.write_bytes(pair.key.read_bytes())
        self.pair.cert.write_bytes(pair.cert.read_bytes())

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._cancel()
        if self._thread.ident is not None:
            self._thread.join()
        self.listener.close()

    def client(self, pair: Pair | None = None) -> HTTPSConnection:
        trust = self.authority.trust()
        if pair is not None:
            trust.load_cert_chain(pair.cert, pair.key)
        return HTTPSConnection("127.0.0.1", self.port, context=trust, timeout=PATIENCE)

    def post(self, path: str, pair: Pair | None = None) -> tuple[int, Any]:
        connection = self.client(pair)
        try:
            connection.request("POST", path, REVIEW, {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read()
            return response.status, json.loads(body) if response.status == 200 else body
        finally:
            connection.close()

    def subject(self) -> str:
        """Return the name in the certificate of a new connection."""
        connection = self.client()
        try:
            connection.connect()
            shown = connection.sock.getpeercert()
            return next(value for part in shown["subject"] for key, value in part if key == "commonName")
        finally:
            connection.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    folder = tmp_path / "ca"
    folder.mkdir()
    return Authority(folder)


@pytest.fixture
def serving(authority: Authority, tmp_path: Path) -> Iterator[Serving]:
    made = Serving(authority, tmp_path)
    yield made
    made.stop()


def deny(ctx: Context, req: admission.Request) -> admission.Response:
    return admission.denied("never")


def test_webhooks_registered_before_and_after_the_start_are_served(serving: Serving) -> None:
    """Go: webhook: Webhook Server > when registering new webhooks before starting > should serve a
    ... webhook on the requested path
    Go: webhook: Webhook Server > when registering webhooks after starting > should serve a webhook on
    ... the requested path
    """
    serving.server.register("/before", admission.Webhook(handler=deny))
    serving.start()
    status, review = serving.post("/before")
    assert status == 200
    assert review["response"]["uid"] == "u1"
    assert review["response"]["status"]["message"] == "never"
    serving.server.register("/after", admission.Webhook(handler=deny))
    assert serving.post("/after")[0] == 200
    assert serving.post("/nowhere")[0] == 404


def test_a_path_is_registered_once(serving: Serving) -> None:
    """Go: webhook: Webhook Server > should panic if a duplicate path is registered"""
    serving.server.register("/one", admission.Webhook(handler=deny))
    with pytest.raises(ValueError, match="can't register duplicate path: /one"):
        serving.server.register("/one", admission.Webhook(handler=deny))


@pytest.fixture
def watchers(monkeypatch: pytest.MonkeyPatch) -> list[certwatcher.CertWatcher]:
    """Return the watchers that the server makes."""
    made: list[certwatcher.CertWatcher] = []
    new = certwatcher.new
    monkeypatch.setattr(certwatcher, "new", lambda *pair: made.append(new(*pair)) or made[-1])
    return made


def test_a_new_certificate_is_shown_without_a_restart(
    authority: Authority, tmp_path: Path, watchers: list[certwatcher.CertWatcher]
) -> None:
    serving = Serving(authority, tmp_path)
    try:
        serving.server.register("/", admission.Webhook(handler=deny))
        serving.start()
        assert serving.subject() == "server"
        serving.install("renewed")
        watchers[0].watch()
        assert serving.subject() == "renewed"
        assert serving.post("/")[0] == 200
    finally:
        serving.stop()


def test_clients_need_a_certificate_when_an_authority_for_them_is_named(
    authority: Authority, tmp_path: Path, watchers: list[certwatcher.CertWatcher]
) -> None:
    """Go: webhook: Webhook Server > when serving > should verify the client CA name when asked to"""
    (tmp_path / "clients.crt").write_bytes("# Für Clients\n".encode() + authority.data)
    serving = Serving(authority, tmp_path, client_ca_name="clients.crt")
    try:
        serving.server.register("/", admission.Webhook(handler=deny))
        serving.start()
        for _ in range(2):
            assert serving.post("/", authority.issue("client"))[0] == 200
            with pytest.raises(OSError):
                serving.post("/")
            serving.install("renewed")
            watchers[0].watch()
        assert serving.subject() == "renewed"
    finally:
        serving.stop()


def test_tls_options_change_the_settings(authority: Authority, tmp_path: Path) -> None:
    """Go: webhook: Webhook Server > should respect passed in TLS configurations"""

    def only_new(tls: ssl.SSLContext) -> None:
        tls.minimum_version = ssl.TLSVersion.TLSv1_3

    serving = Serving(authority, tmp_path, tls_opts=[only_new])
    try:
        serving.server.register("/", admission.Webhook(handler=deny))
        serving.start()
        assert serving.post("/")[0] == 200
        trust = authority.trust()
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        with (
            pytest.raises(OSError),
            socket.create_connection(("127.0.0.1", serving.port), timeout=PATIENCE) as connection,
        ):
            trust.wrap_socket(connection, server_hostname="127.0.0.1")
    finally:
        serving.stop()


def test_certificates_that_a_tls_option_brings_are_shown_instead_of_the_files(
    authority: Authority, tmp_path: Path
) -> None:
    """Go: webhook: Webhook Server > should prefer GetCertificate through TLSOpts"""
    brought = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def bring(tls: ssl.SSLContext) -> None:
        def choose(connection: Any, name: str | None, of: ssl.SSLContext) -> None:
            connection.context = brought

        tls.sni_callback = choose
        tls.minimum_version = ssl.TLSVersion.TLSv1_2

    serving = Serving(authority, tmp_path, tls_opts=[bring])
    pair = authority.issue("brought", "IP:127.0.0.1", common_name="brought")
    brought.load_cert_chain(pair.cert, pair.key)
    try:
        serving.server.register("/", admission.Webhook(handler=deny))
        serving.start()
        assert serving.post("/")[0] == 200
        assert serving.subject() == "brought"
    finally:
        serving.stop()


def test_the_health_check_says_whether_the_server_answers(serving: Serving) -> None:
    check = serving.server.started_checker()
    with pytest.raises(RuntimeError, match="has not been started yet"):
        check(Request())
    serving.server.register("/", admission.Webhook(handler=deny))
    serving.start()
    assert serving.post("/")[0] == 200
    check(Request())
    serving.stop()
    with pytest.raises(RuntimeError, match="is not reachable"):
        check(Request())


def test_a_missing_certificate_is_an_error_of_the_start(tmp_path: Path) -> None:
    server = webhook.new_server(webhook.Options(cert_dir=str(tmp_path)))
    with pytest.raises(FileNotFoundError, match=r"tls\.crt"):
        server.start(context.background())


def test_the_context_of_a_request_can_be_made_by_the_program(serving: Serving) -> None:
    """Go: webhook/admission: Admission Webhooks > HTTP Handler > should present the Context from the
    ... HTTP request, if any
    Go: webhook/admission: Admission Webhooks > HTTP Handler > should mutate the Context from the HTTP
    ... request, if func supplied
    """
    seen: list[object] = []

    def handle(ctx: Context, req: admission.Request) -> admission.Response:
        seen.extend([ctx.value("agent"), ctx.done().is_set()])
        return admission.allowed("")

    def with_agent(ctx: Context, req: Request) -> Context:
        return context.with_value(ctx, "agent", req.headers.get("User-Agent", "none"))

    serving.server.register("/", admission.Webhook(handler=handle, with_context_func=with_agent))
    serving.start()
    assert serving.post("/")[0] == 200
    assert seen == ["none", False]


def test_an_infinite_body_is_refused(serving: Serving) -> None:
    """Go: webhook/admission: Admission Webhooks > HTTP Handler > should error when given an infinite body"""
    response = ResponseWriter()
    request = Request("POST", "/", read=lambda count: b"x" * count)
    request.headers["Content-Length"] = str(10**12)
    admission.Webhook(handler=deny).serve_http(response, request)
    status = json.loads(response.body)["response"]["status"]
    assert status["code"] == 413
    assert "request entity is too large; limit is 7340032 bytes" in status["message"]
