"""No credential in any log line at the highest verbosity, in any exception or traceback, nor in any text of an object.

Every form of credential, with requests that succeed, are refused, get lost, and are never sent.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority
from httpscript import Answer, Received, ScriptedServer, status
from proxies import HTTPProxy

from clientgo import context, klog, rest, transport
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.pkg.apis.clientauthentication import decode
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api

CTX = context.background()

# Made at run time, so that tracebacks, which show lines of this file, do not hold it.
SECRET = "".join(["sen", "ti", "nel-of-", "this-test"])


@pytest.fixture(autouse=True)
def everything_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    klog.set_verbosity(10)
    caplog.set_level(logging.DEBUG)
    yield
    klog.set_verbosity(0)


def config_for(host: str, **settings: Any) -> rest.Config:
    return rest.Config(host=host, api_path="/api", group_version=GroupVersion("", "v1"), qps=-1, **settings)


def spelled(secret: str) -> list[str]:
    """Return the secret in the forms of basic authentication, URLs and kubeconfigs."""
    encoded = [b64encode(text.encode()).decode().rstrip("=") for text in (secret, f"user:{secret}", f":{secret}")]
    return [secret, *encoded]


def assert_clean(*texts: object) -> None:
    for text in texts:
        for secret in spelled(SECRET):
            assert secret not in str(text)


def everything_about(err: BaseException) -> str:
    """Return everything that a program might print of an exception and its causes."""
    parts = ["".join(traceback.format_exception(err))]
    seen: list[BaseException] = []
    each: BaseException | None = err
    while each is not None:
        assert all(each is not other for other in seen), "an exception is its own cause"
        seen.append(each)
        parts += [str(each), repr(each), str(each.args), str(getattr(each, "__notes__", ""))]
        each = each.__cause__ or each.__context__
    return "\n".join(parts)


def plugin(folder: Path, status: dict[str, Any]) -> api.ExecConfig:
    document = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status}
    (folder / "answer.json").write_text(json.dumps(document))
    return api.ExecConfig(
        command=sys.executable,
        args=["-c", "import sys; print(open(sys.argv[1]).read())", str(folder / "answer.json"), SECRET],
        env=[api.ExecEnvVar(name="SECRET", value=SECRET)],
        api_version="client.authentication.k8s.io/v1",
        interactive_mode="Never",
    )


def token_file(folder: Path, content: bytes) -> str:
    (folder / "token").write_bytes(content)
    return str(folder / "token")


class Provider:
    """An authentication provider as a program may bring one."""

    def wrap_transport(self, rt: transport.RoundTripper) -> transport.RoundTripper:
        return transport.new_bearer_auth_round_tripper(SECRET, rt)

    def login(self) -> None: ...


rest.register_auth_provider_plugin("test-secrets", lambda address, config, persister: Provider())

CREDENTIALS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "token": lambda folder: {"bearer_token": SECRET},
    "token with a line end": lambda folder: {"bearer_token": f"{SECRET}\n"},
    "token in unicode": lambda folder: {"bearer_token": f"ж{SECRET}"},
    "token file": lambda folder: {"bearer_token_file": token_file(folder, SECRET.encode() + b"\n")},
    "token file of bytes": lambda folder: {"bearer_token_file": token_file(folder, b"\xff" + SECRET.encode())},
    "token file with control characters": lambda folder: {
        "bearer_token_file": token_file(folder, SECRET.encode() + b"\x00\n" + SECRET.encode())
    },
    "password": lambda folder: {"username": "user", "password": SECRET},
    "plugin's token": lambda folder: {"exec_provider": plugin(folder, {"token": SECRET})},
    "plugin's bad token": lambda folder: {"exec_provider": plugin(folder, {"token": f"{SECRET}\r\n"})},
    "plugin's bad key": lambda folder: {
        "exec_provider": plugin(folder, {"clientCertificateData": SECRET, "clientKeyData": SECRET})
    },
    "plugin's wrong field": lambda folder: {"exec_provider": plugin(folder, {"token": {"value": SECRET}})},
    "auth provider": lambda folder: {
        "auth_provider": api.AuthProviderConfig(name="test-secrets", config={"id-token": SECRET})
    },
}


def requests_of(client: rest.RESTClient) -> Iterator[Any]:
    """Yield requests of all kinds, as functions."""
    base = client.get().namespace("d").resource("pods").max_retries(1)
    yield lambda: base.do(CTX).into(corev1.PodList)
    yield lambda: client.get().resource("pods").max_retries(0).do_raw(CTX)
    yield lambda: client.post().resource("pods").body(b"{}").max_retries(0).do(CTX).get()
    yield lambda: client.get().resource("pods").sub_resource("log").max_retries(0).stream(CTX).close()
    yield lambda: client.get().resource("pods").max_retries(0).watch(CTX).stop()
    yield lambda: client.get().resource("pods").set_header("X-Bad", "a\n").max_retries(0).do(CTX).get()


ANSWERS: dict[str, Callable[[Received], Answer]] = {
    "success": lambda request: Answer(200, b'{"kind":"PodList","apiVersion":"v1","items":[]}'),
    "a Status": lambda request: status(401, "Unauthorized", "Unauthorized"),
    "text": lambda request: Answer(502, b"bad gateway", {"Content-Type": "text/plain"}),
    "retry": lambda request: status(429, "TooManyRequests", "later", Retry_After="0"),
    "no JSON": lambda request: Answer(200, b"{"),
    "hanging up": lambda request: Answer(hang_up=True),
    "half an answer": lambda request: Answer(200, b"{", claimed_length=99, hang_up=True),
    "a redirect": lambda request: Answer(302, b"", {"Location": "http://127.0.0.1:1/"}),
}


def attempt(config: rest.Config) -> int:
    """Send everything; how many requests raised. All that was raised is clean."""
    raised = 0
    client = rest.rest_client_for(config)
    client.clock = _Hasty()
    assert_clean(client, client.client, client.client.transport, client.get().resource("pods"))
    for request in requests_of(client):
        try:
            request()
        except Exception as err:
            raised += 1
            assert_clean(everything_about(err))
    client.client.close_idle_connections()
    return raised


class _Hasty(type(rest.RESTClient("http://h/", "", None, None, None).clock)):  # type: ignore[misc, arg-type]
    """A clock on which every wait is over at once."""

    def wait(self, cond: Any, timeout: float | None = None) -> bool:
        return False


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_no_credential_in_logs_and_exceptions(tmp_path, caplog, credential):
    settings = CREDENTIALS[credential](tmp_path)
    # A plugin whose answer is no good runs for every request, and nothing is ever sent.
    nothing_is_sent = credential in ("plugin's bad key", "plugin's wrong field")
    for name, answer in ANSWERS.items() if not nothing_is_sent else [("a Status", ANSWERS["a Status"])]:
        with ScriptedServer(answer) as server:
            config = config_for(server.url, **settings)
            assert_clean(repr(config), str(config), repr(config.transport_config()))
            raised = attempt(config)
        assert raised >= (0 if name == "success" else 3)
    assert "curlCommand" in caplog.text, "requests are logged at this verbosity"
    assert_clean(caplog.text)


@pytest.mark.parametrize("answer", ["success", "a Status", "hanging up"])
def test_no_password_of_a_url(caplog, answer):
    with ScriptedServer(ANSWERS[answer]) as server, HTTPProxy(server.port) as proxy:
        for host, proxy_url in (
            (server.url.replace("://", f"://user:{SECRET}@"), None),
            ("http://api.example", proxy.url.replace("://", f"://user:{SECRET}@")),
            (f"http://user:{SECRET}@127.0.0.1:1", None),
            ("http://api.example", f"http://user:{SECRET}@127.0.0.1:1"),
            ("https://api.example", f"https://user:{SECRET}@127.0.0.1:1"),
            ("https://api.example", f"socks5://user:{SECRET}@127.0.0.1:1"),
        ):
            config = config_for(host)
            if proxy_url is not None:
                config.proxy = lambda url, proxy_url=proxy_url: proxy_url
            attempt(config)
            assert_clean(repr(config))
    assert_clean(caplog.text)


@pytest.mark.parametrize(
    "host", ["https://user:{}@ho st", "user:{}@host:1/path", "https://user:{}@host:port", "https://user:{}@[::1"]
)
def test_no_password_of_a_broken_url(host):
    with pytest.raises(ValueError, match=r".") as caught:
        rest.rest_client_for(config_for(host.format(SECRET)))
    assert_clean(everything_about(caught.value))


def test_no_key_in_texts_of_certificates(tmp_path):
    pair = Authority(tmp_path).issue("client")
    key = pair.key.read_bytes()
    config = config_for("https://h", cert_data=pair.cert.read_bytes(), key_data=key)
    body = key.decode().split("\n")[1]
    for text in (repr(config), repr(config.transport_config()), repr(transport.Certificate(b"", key))):
        assert body not in text
    config.cert_data = b"nonsense"
    with pytest.raises(ValueError, match="tls: failed to load the client certificate") as caught:
        rest.rest_client_for(config)
    assert body not in everything_about(caught.value)


KUBECONFIG = f"""
apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://u:{SECRET}@h", proxy-url: "http://u:{SECRET}@p"}}}}]
users:
- name: u
  user:
    token: {SECRET}
    password: {SECRET}
    username: u
    client-key-data: {b64encode(SECRET.encode()).decode()}
    auth-provider: {{name: p, config: {{id-token: {SECRET}}}}}
    exec: {{apiVersion: v1, command: x, args: [{SECRET}], env: [{{name: A, value: {SECRET}}}]}}
"""


def test_no_credential_in_texts_of_a_kubeconfig(tmp_path, caplog):
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    config = clientcmd.load_from_file(str(path))
    assert_clean(
        repr(config), str(config), *map(repr, config.auth_infos.values()), *map(repr, config.clusters.values())
    )
    with pytest.raises(Exception, match="invalid configuration") as caught:
        clientcmd.build_config_from_flags("", str(path))
    assert_clean(everything_about(caught.value), caplog.text)


@pytest.mark.parametrize(
    "mutate",
    [
        lambda text: text.replace("token: ", "token: [", 1),
        lambda text: text.replace("token: ", "token: ]", 1),
        lambda text: text.replace("token: ", "token: *", 1),
        lambda text: text.replace("token: ", "token: !", 1),
        lambda text: text.replace("token: ", f"token: &{SECRET} a\n    tokenFile: &{SECRET} ", 1),
        lambda text: text.replace("    token: ", "  token: ", 1),
        lambda text: text.replace("token: ", "token: {a: ", 1),
        lambda text: text.replace("client-key-data: ", "client-key-data: %", 1),
        lambda text: text.replace("- name: u", f"- {SECRET}", 1),
        lambda text: text.replace("users:", "users: &a", 1).replace("token: ", "token: '\x01", 1),
        lambda text: text.replace('proxy-url: "http:', 'proxy-url: "ftp:', 1),
    ],
)
def test_no_credential_in_an_error_about_a_kubeconfig(tmp_path, mutate):
    path = tmp_path / "config"
    path.write_text(mutate(KUBECONFIG))
    with pytest.raises(Exception, match=r".") as caught:
        clientcmd.build_config_from_flags("", str(path))
    assert_clean(everything_about(caught.value))
    for each in caught.value.errors():
        assert_clean(everything_about(each))


@pytest.mark.parametrize(
    "answer", ['{"status": {"token": "%s"', '"%s"', '{"kind": "ExecCredential", "status": {"token": ["%s"]}}', "%s"]
)
def test_no_credential_in_an_error_about_a_plugins_answer(answer):
    with pytest.raises(ValueError, match=r".") as caught:
        decode((answer % SECRET).encode(), "client.authentication.k8s.io/v1")
    assert_clean(everything_about(caught.value))
