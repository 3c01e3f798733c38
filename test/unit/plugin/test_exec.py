"""Exec credential plugins: a real program, its environment, and what is wrong with its answers."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import ssl
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificates import Authority, Pair
from cryptography import x509
from httpscript import Answer, Received, ScriptedServer
from patience import PATIENCE

from clientgo import context, kubernetes, rest
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.informers import new_shared_informer_factory
from clientgo.pkg.apis import clientauthentication
from clientgo.plugin.pkg.client.auth.exec import validate_plugin_policy
from clientgo.plugin.pkg.client.auth.exec.exec import Authenticator, _Cache, _cache_key, _new_authenticator
from clientgo.plugin.pkg.client.auth.exec.metrics import EXPIRATION_METRICS, CertificateExpirationTracker
from clientgo.tools.clientcmd import api
from clientgo.tools.metrics import metrics
from clientgo.transport.cache import TLS_CACHE
from clientgo.utils.clock.testing import FakeClock

CTX = context.background()
V1 = "client.authentication.k8s.io/v1"

# Counts its runs in a file, and prints the JSON in another one.
PROGRAM = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
with open(folder / "runs", "a") as runs:
    runs.write(os.environ["KUBERNETES_EXEC_INFO"] + "\\n")
print((folder / "answer").read_text())
sys.exit(int(os.environ.get("EXIT_CODE", "0")))
"""


class Plugin:
    """A plugin on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "plugin.py").write_text(PROGRAM)
        self.answer({"token": "first"})

    def answer(self, status: dict[str, Any] | None, **more: Any) -> None:
        document = {"kind": "ExecCredential", "apiVersion": V1, **({"status": status} if status is not None else {})}
        (self.folder / "answer").write_text(json.dumps({**document, **more}))

    def runs(self) -> list[Any]:
        path = self.folder / "runs"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def config(self, **fields: Any) -> api.ExecConfig:
        args = [str(self.folder / "plugin.py"), str(self.folder)]
        return api.ExecConfig(
            **{"command": sys.executable, "args": args, "api_version": V1, "interactive_mode": "Never", **fields}
        )

    def authenticator(self, clock: FakeClock | None = None, **fields: Any) -> Authenticator:
        return _new_authenticator(_Cache(), self.config(**fields), None, clock=clock or FakeClock(0.0))


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


def test_a_token_is_fetched_once_and_again_after_a_401(plugin):
    """Go: TestRoundTripper."""
    def answer(request: Received) -> Answer:
        return Answer(200 if request.headers["Authorization"] == "Bearer second" else 401, b"{}")

    with ScriptedServer(answer) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), qps=-1)
        config.exec_provider = plugin.config()
        client = rest.rest_client_for(config)
        assert plugin.runs() == [], "nothing runs before the first request"
        assert client.get().resource("pods").do(CTX).error() is not None
        plugin.answer({"token": "second"})
        client.get().resource("pods").do(CTX)
        assert client.get().resource("pods").do(CTX).status_code() == 200
        client.client.close_idle_connections()
    # The first run, and the one the first 401 caused, brought "first".
    sent = [request.headers["Authorization"] for request in server.requests]
    assert sent == ["Bearer first", "Bearer first", "Bearer second"]


def test_credentials_expire(plugin):
    clock = FakeClock(0.0)
    plugin.answer({"token": "a", "expirationTimestamp": "1970-01-01T00:01:00Z"})
    authenticator = plugin.authenticator(clock)
    assert authenticator.get_creds().token == "a"
    clock.step(59)
    authenticator.get_creds()
    assert len(plugin.runs()) == 1
    clock.step(2)
    authenticator.get_creds()
    assert len(plugin.runs()) == 2


def test_a_plugin_whose_credentials_have_already_expired_is_logged_once(plugin, lines):
    # given
    clock = FakeClock(7200.0)
    plugin.answer({"token": "a", "expirationTimestamp": "1970-01-01T01:00:00Z"})
    authenticator = plugin.authenticator(clock)
    # when
    for _ in range(3):
        authenticator.get_creds()
    # then
    [line] = lines()
    assert "already expired" in line and sys.executable in line and "1970-01-01" in line
    assert len(plugin.runs()) == 3


def test_the_plugin_gets_the_cluster_only_on_request(plugin):
    """Go: TestRefreshCreds."""
    config = rest.Config(host="https://h", ca_data=b"ca", server_name="n")
    config.exec_provider = plugin.config(provide_cluster_info=True, config={"audience": "x"})
    cluster = rest.config_to_exec_cluster(config)
    _new_authenticator(_Cache(), config.exec_provider, cluster).get_creds()
    [run] = plugin.runs()
    assert run["spec"] == {
        "cluster": {
            "server": "https://h",
            "tls-server-name": "n",
            "certificate-authority-data": "Y2E=",
            "config": {"audience": "x"},
        },
        "interactive": False,
    }
    plugin.authenticator().get_creds()
    assert plugin.runs()[1]["spec"] == {"interactive": False}


@pytest.mark.parametrize(
    ("status", "more", "message"),
    [
        (None, {}, "exec plugin didn't return a status field"),
        ({}, {}, "exec plugin didn't return a token or cert/key pair"),
        ({"clientCertificateData": "c"}, {}, "exec plugin returned only certificate or key, not both"),
        (
            {"token": "t"},
            {"apiVersion": "client.authentication.k8s.io/v1beta1"},
            f"exec plugin is configured to use API version {V1}, plugin returned version "
            "client.authentication.k8s.io/v1beta1",
        ),
        ({"token": "t"}, {"kind": "Pod"}, 'decoding stdout: no kind "Pod" is registered'),
    ],
)
def test_wrong_answers(plugin, status, more, message):
    """Go: TestRefreshCreds."""
    plugin.answer(status, **more)
    with pytest.raises(ValueError, match=message):
        plugin.authenticator().get_creds()


def test_an_answer_in_yaml(plugin):
    """Go's decoder accepts YAML too."""
    answer = f"""\
kind: ExecCredential
apiVersion: {V1}
status:
  token: 1e5
  expirationTimestamp: 1970-01-01T00:01:00Z
"""
    (plugin.folder / "answer").write_text(answer)
    clock = FakeClock(0.0)
    authenticator = plugin.authenticator(clock)
    assert authenticator.get_creds().token == "1e5"
    clock.step(61)
    authenticator.get_creds()
    assert len(plugin.runs()) == 2


@pytest.mark.parametrize(
    "answer", ["[" * 100_000, "- " * 100_000, "a: " + "[" * 3000 + "]" * 3000], ids=["json", "yaml", "deep"]
)
def test_an_answer_that_is_too_deep_is_refused(plugin, answer):
    (plugin.folder / "answer").write_text(answer)
    with pytest.raises(ValueError, match="decoding stdout"):
        plugin.authenticator().get_creds()


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00Z", 5])
def test_an_expiration_that_is_no_time_is_refused(plugin, time):
    plugin.answer({"token": "t", "expirationTimestamp": time})
    with pytest.raises(ValueError, match="decoding stdout: expirationTimestamp is not a time"):
        plugin.authenticator().get_creds()


def test_a_token_with_half_a_surrogate_pair_is_sent_as_in_go(plugin):
    (plugin.folder / "answer").write_text(
        f'{{"kind": "ExecCredential", "apiVersion": "{V1}", "status": {{"token": "a\\ud800"}}}}'
    )
    assert plugin.authenticator().get_creds().token == "a\ufffd"


def test_a_plugin_that_writes_without_end_is_killed(plugin, tmp_path):
    (tmp_path / "plugin.py").write_text("while True:\n    print('x' * 65536)\n")
    with pytest.raises(ValueError, match=r"exec: executable .* wrote more than 4194304 bytes"):
        plugin.authenticator().get_creds()


def test_no_token_in_an_error_about_the_answer(plugin):
    (plugin.folder / "answer").write_text('{"status": {"token": "very-secret"')
    with pytest.raises(ValueError, match="decoding stdout") as caught:
        plugin.authenticator().get_creds()
    assert "very-secret" not in str(caught.value)


def test_a_plugin_that_fails_or_is_not_there(plugin):
    with pytest.raises(ValueError, match="failed with exit code 3"):
        plugin.authenticator(env=[api.ExecEnvVar(name="EXIT_CODE", value="3")]).get_creds()
    missing = plugin.authenticator(command="no-such-plugin", install_hint="apt install it")
    with pytest.raises(ValueError, match="exec: executable no-such-plugin not found") as caught:
        missing.get_creds()
    assert "It looks like you are trying to use a client-go credential plugin" in str(caught.value)
    assert str(caught.value).endswith("apt install it")
    for _ in range(10):
        with pytest.raises(ValueError, match="not found") as caught:
            missing.get_creds()
    assert str(caught.value) == "exec: executable no-such-plugin not found", "the hint is not repeated for ever"


@pytest.mark.parametrize(
    ("mode", "terminal", "fields", "expected"),
    [
        ("Never", True, {}, False),
        ("IfAvailable", True, {}, True),
        ("IfAvailable", False, {}, False),
        ("IfAvailable", True, {"stdin_unavailable": True}, False),
        ("Always", True, {}, True),
        ("Always", False, {}, "exec plugin cannot support interactive mode: standard input is not a terminal"),
        (
            "Always",
            True,
            {"stdin_unavailable": True, "stdin_unavailable_message": "used by -f -"},
            "exec plugin cannot support interactive mode: standard input is unavailable: used by -f -",
        ),
        ("Sometimes", True, {}, 'exec plugin cannot support interactive mode: unknown interactiveMode: "Sometimes"'),
    ],
)
def test_interactive_modes(plugin, mode, terminal, fields, expected):
    """Go: TestRefreshCreds."""
    config = plugin.config(interactive_mode=mode, **fields)
    authenticator = _new_authenticator(_Cache(), config, None, is_terminal=lambda: terminal)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            authenticator.get_creds()
        return
    authenticator.get_creds()
    assert plugin.runs()[0]["spec"]["interactive"] is expected


def test_policies(plugin):
    """Go: TestPluginPolicy."""
    deny = api.PluginPolicy(policy_type="DenyAll")
    with pytest.raises(ValueError, match='not allowed: policy set to "DenyAll"'):
        plugin.authenticator(plugin_policy=deny).get_creds()
    listed = api.PluginPolicy(policy_type="Allowlist", allowlist=[api.AllowlistEntry(command=sys.executable)])
    assert plugin.authenticator(plugin_policy=listed).get_creds().token == "first"
    other = api.PluginPolicy(policy_type="Allowlist", allowlist=[api.AllowlistEntry(command="/bin/other")])
    with pytest.raises(ValueError, match="is not permitted by the credential plugin allowlist"):
        plugin.authenticator(plugin_policy=other).get_creds()
    for policy, message in (
        (api.PluginPolicy(policy_type="Allowlist"), "allowlist is unspecified"),
        (api.PluginPolicy(policy_type="Allowlist", allowlist=[]), "allowlist is empty"),
        (api.PluginPolicy(policy_type="DenyAll", allowlist=[]), "allowlist is non-nil"),
        (api.PluginPolicy(policy_type="Maybe"), "unknown plugin policy"),
        (api.PluginPolicy(policy_type="Allowlist", allowlist=[api.AllowlistEntry()]), "empty allowlist entry #1"),
        (api.PluginPolicy(policy_type="Allowlist", allowlist=[api.AllowlistEntry(command="a/../b")]), "non-normalized"),
    ):
        with pytest.raises(ValueError, match=message):
            validate_plugin_policy(policy)


def test_an_unknown_version_is_refused_at_once(plugin):
    with pytest.raises(ValueError, match='exec plugin: invalid apiVersion "v1"'):
        plugin.authenticator(api_version="v1")


# --- certificates ---


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


def pem(pair: Pair) -> dict[str, str]:
    return {"clientCertificateData": pair.cert.read_text(), "clientKeyData": pair.key.read_text()}


def test_certificates_of_a_plugin_are_shown_and_replaced(plugin, authority):
    """A new certificate means a new connection, the same one again does not.

    Go: TestTLSCredentials.
    """
    server_pair = authority.issue("server", "IP:127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server_pair.cert, server_pair.key)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(authority.path)
    codes = iter([200, 401, 200, 401, 200])
    with ScriptedServer(lambda request: Answer(next(codes), b"{}"), tls) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), qps=-1, ca_data=authority.data)
        config.exec_provider = plugin.config()
        first = pem(authority.issue("client-a"))
        plugin.answer(first)
        client = rest.rest_client_for(config)
        client.get().resource("pods").do(CTX)
        plugin.answer({**first, "token": "now with a token"})
        client.get().resource("pods").do(CTX)  # 401: the plugin runs again
        client.get().resource("pods").do(CTX)
        plugin.answer(pem(authority.issue("client-b")))
        client.get().resource("pods").do(CTX)  # 401
        client.get().resource("pods").do(CTX)
        client.client.close_idle_connections()
    assert [request.connection for request in server.requests] == [1, 1, 1, 1, 2]
    sent = [request.headers.get("Authorization") for request in server.requests]
    assert sent == [None, None, "Bearer now with a token", "Bearer now with a token", None]
    assert len(plugin.runs()) == 3


def test_the_expiry_and_the_age_of_certificates_are_reported(plugin, authority, monkeypatch):
    expiries: list[float | None] = []
    ages: list[float] = []

    class Recorder:
        def set(self, expiry: float | None, /) -> None:
            expiries.append(expiry)

        def observe(self, age: float, /) -> None:
            ages.append(age)

    monkeypatch.setattr(metrics, "CLIENT_CERT_EXPIRY", Recorder())
    monkeypatch.setattr(metrics, "CLIENT_CERT_ROTATION_AGE", Recorder())
    # Without the authenticators of other tests.
    tracker = CertificateExpirationTracker(EXPIRATION_METRICS._metric_set)
    monkeypatch.setattr("clientgo.plugin.pkg.client.auth.exec.exec.EXPIRATION_METRICS", tracker)
    pair = authority.issue("aging", days=20)
    decoded = x509.load_pem_x509_certificate(pair.cert.read_bytes())
    start, end = decoded.not_valid_before_utc.timestamp(), decoded.not_valid_after_utc.timestamp()
    clock = FakeClock(start + 100.0)
    authenticator = plugin.authenticator(clock)
    plugin.answer(pem(pair))
    used = authenticator.get_creds()
    assert (expiries, ages) == ([end], [])
    plugin.answer({**pem(pair), "token": "a"})
    authenticator.maybe_refresh_creds(used)
    assert (expiries, ages) == ([end, end], [])
    clock.step(50.0)
    plugin.answer({"token": "alone"})
    authenticator.maybe_refresh_creds(authenticator.get_creds())
    assert expiries[2:] == [None]
    assert ages == [150.0]


class Calls:
    """A metric that keeps its calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def increment(self, *values: Any) -> None:
        self.calls.append(values)


def test_runs_of_a_plugin_are_counted_by_exit_code(plugin, monkeypatch):
    """Go: TestCallsMetric"""
    counted = Calls()
    monkeypatch.setattr(metrics, "EXEC_PLUGIN_CALLS", counted)
    for code in (0, 1, 2, 0):
        authenticator = plugin.authenticator(env=[api.ExecEnvVar(name="EXIT_CODE", value=str(code))])
        used = None
        for _ in range(2):
            if code:
                with pytest.raises(ValueError, match=f"failed with exit code {code}"):
                    authenticator.get_creds()
            else:
                authenticator.maybe_refresh_creds(used)
                used = authenticator.get_creds()
    for command in ("does not exist without path slashes", "./does/not/exist", "/does/not/exist"):
        with pytest.raises(ValueError, match="not found"):
            plugin.authenticator(command=command).get_creds()
    good, failed = (0, "no_error"), "plugin_execution_error"
    absent = [(1, "plugin_not_found_error")] * 3
    assert counted.calls == [good, good, (1, failed), (1, failed), (2, failed), (2, failed), good, good, *absent]


def test_decisions_about_plugins_are_counted(plugin, monkeypatch):
    """Go: TestPolicyCallsMetric"""
    counted = Calls()
    monkeypatch.setattr(metrics, "EXEC_PLUGIN_POLICY_CALLS", counted)

    def allowlist(*commands: str) -> api.PluginPolicy:
        entries = [api.AllowlistEntry(command=command) for command in commands]
        return api.PluginPolicy(policy_type=api.PolicyType.PLUGIN_POLICY_ALLOWLIST, allowlist=entries)

    cases = [
        (api.PluginPolicy(policy_type=api.PolicyType.PLUGIN_POLICY_ALLOW_ALL), "allowed"),
        (api.PluginPolicy(policy_type=api.PolicyType.PLUGIN_POLICY_DENY_ALL), "denied"),
        (allowlist("foobar", sys.executable), "allowed"),
        (allowlist("foobar", "baz"), "denied"),
    ]
    for policy, decision in cases:
        authenticator = plugin.authenticator(plugin_policy=policy)
        if decision == "allowed":
            authenticator.get_creds()
        else:
            with pytest.raises(ValueError, match="not allowed|not permitted"):
                authenticator.get_creds()
    assert counted.calls == [(decision,) for _, decision in cases]


def test_the_earliest_expiry_of_all_authenticators_is_reported(plugin):
    """Go: TestCertificateExpirationTracker"""
    reported: list[float | None] = []
    tracker = CertificateExpirationTracker(reported.append)
    first, second = plugin.authenticator(), plugin.authenticator()
    tracker.set(first, 600.0)
    tracker.set(second, 300.0)
    tracker.set(second, 900.0)
    tracker.set(first, None)
    tracker.set(second, None)
    assert reported == [600.0, 300.0, 600.0, 900.0, None]
    tracker.set(second, 100.0)
    del second
    gc.collect()
    tracker.set(first, 200.0)
    assert reported[5:] == [100.0, 200.0]


@pytest.mark.parametrize(
    ("cert", "key"),
    [("secret-nonsense", "secret-nonsense"), ("a", "b"), ("b", "a"), ("a", "secret-nonsense")],
)
def test_a_broken_certificate_is_an_error_and_not_an_anonymous_request(plugin, authority, cert, key):
    pairs = {name: authority.issue(f"broken-{name}") for name in ("a", "b")}
    plugin.answer(
        {
            "clientCertificateData": pairs[cert].cert.read_text() if cert in pairs else cert,
            "clientKeyData": pairs[key].key.read_text() if key in pairs else key,
        }
    )
    with pytest.raises(ValueError, match="failed parsing client key/certificate: tls: ") as caught:
        plugin.authenticator().get_creds()
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_plugin_that_breaks_keeps_the_old_credentials_out_of_use_but_not_lost(plugin):
    """The failed run is an error of its request; the next one asks again."""
    clock = FakeClock(0.0)
    plugin.answer({"token": "a", "expirationTimestamp": "1970-01-01T00:01:00Z"})
    authenticator = plugin.authenticator(clock)
    authenticator.get_creds()
    clock.step(61)
    plugin.answer(None)
    with pytest.raises(ValueError, match="didn't return a status field"):
        authenticator.get_creds()
    plugin.answer({"token": "b"})
    assert authenticator.get_creds().token == "b"


# --- the process ---


def program(path: Path, text: str) -> str:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


def test_the_clients_own_path_finds_the_plugin(plugin, tmp_path):
    """In Go too, the PATH of `env` is only for the plugin."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    document = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "mine"}})
    program(tmp_path / "mine" / "found-plugin", f"print({document!r})")
    environ = {**os.environ, "PATH": str(tmp_path / "mine")}

    def authenticator(path: str) -> Authenticator:
        config = plugin.config(command="found-plugin", args=[], env=[api.ExecEnvVar(name="PATH", value=path)])
        return _new_authenticator(_Cache(), config, None, environ=lambda: environ)

    assert authenticator(str(tmp_path / "other")).get_creds().token == "mine"
    environ["PATH"] = str(tmp_path / "other")
    with pytest.raises(ValueError, match="exec: executable found-plugin not found"):
        authenticator(str(tmp_path / "mine")).get_creds()


def test_a_plugin_that_cannot_be_executed(plugin, tmp_path):
    (tmp_path / "no-program").write_text("not executable")
    with pytest.raises(ValueError, match=r"exec: executable .*/no-program not found"):
        plugin.authenticator(command=str(tmp_path / "no-program")).get_creds()


def test_a_plugin_that_was_killed(plugin, tmp_path):
    killed = program(tmp_path / "killed", f"import os\nos.kill(os.getpid(), {int(signal.SIGKILL)})")
    with pytest.raises(ValueError, match="failed with exit code -1"):
        plugin.authenticator(command=killed, args=[]).get_creds()


def test_what_a_plugin_says_on_stderr_reaches_the_user(plugin, tmp_path, capfd):
    noisy = program(tmp_path / "noisy", "import sys\nsys.exit('please log in')")
    with pytest.raises(ValueError, match="failed with exit code 1"):
        plugin.authenticator(command=noisy, args=[]).get_creds()
    assert capfd.readouterr().err == "please log in\n"


def test_the_standard_input_is_the_plugins_only_if_it_may_ask(plugin, tmp_path):
    document = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "TOKEN"}})
    reader = program(
        tmp_path / "reader",
        f"import os\nprint({document!r}.replace('TOKEN', os.path.realpath('/proc/self/fd/0').split('/')[1]))",
    )
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc here")
    assert plugin.authenticator(command=reader, args=[]).get_creds().token == "dev", "that is /dev/null"


def test_the_old_version_is_spoken_too(plugin):
    version = "client.authentication.k8s.io/v1beta1"
    plugin.answer({"token": "old"}, apiVersion=version)
    assert plugin.authenticator(api_version=version).get_creds().token == "old"
    assert plugin.runs()[0]["apiVersion"] == version


def test_many_requests_at_once_run_the_plugin_once(plugin):
    """They wait for the same run; and of those that are refused together one runs it again."""
    together = threading.Barrier(8)

    def answer(request: Received) -> Answer:
        together.wait(PATIENCE)
        return Answer(401, b"{}")

    with ScriptedServer(answer) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), qps=-1)
        config.exec_provider = plugin.config()
        clients = [rest.rest_client_for(config) for _ in range(2)]
        codes: list[int] = []

        def call(client: rest.RESTClient) -> None:
            codes.append(client.get().resource("pods").do(CTX).status_code())

        threads = [threading.Thread(target=call, args=(clients[number % 2],)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        for client in clients:
            client.client.close_idle_connections()
    assert codes == [401] * 8
    assert len(plugin.runs()) == 2, "also with several clients of one configuration"


def test_a_request_that_brings_credentials_runs_nothing(plugin):
    """Go: TestAuthorizationHeaderPresentCancelsExecAction."""
    with ScriptedServer(lambda request: Answer(200, b"{}")) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), qps=-1)
        config.exec_provider = plugin.config()
        client = rest.rest_client_for(config)
        client.get().resource("pods").set_header("Authorization", "Bearer own").do(CTX).raise_for_error()
        config.bearer_token = "given"
        rest.rest_client_for(config).get().resource("pods").do(CTX).raise_for_error()
        client.client.close_idle_connections()
    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer own", "Bearer given"]
    assert plugin.runs() == []


@pytest.mark.parametrize("path", ["", ".", ":/none", "/none:", "/none::/nowhere", "./", "bin", "./bin:/none"])
@pytest.mark.parametrize("allowed", [None, "found-plugin", "other"])
def test_a_plugin_that_path_finds_relative_to_the_working_directory_is_not_executed(
    plugin, tmp_path, monkeypatch, path, allowed
):
    """Go: exec.ErrDot."""
    (tmp_path / "bin").mkdir()
    for place in (tmp_path, tmp_path / "bin"):
        program(place / "found-plugin", f"open({str(tmp_path / 'executed')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    config = plugin.config(command="found-plugin", args=[])
    if allowed is not None:
        entries = [api.AllowlistEntry(command=allowed)]
        config.plugin_policy = api.PluginPolicy(policy_type="Allowlist", allowlist=entries)
    with pytest.raises(ValueError, match="found-plugin"):
        _new_authenticator(_Cache(), config, None, environ=lambda: {"PATH": path}).get_creds()
    assert not (tmp_path / "executed").exists()


def test_a_plugin_of_a_relative_command_is_executed_as_before(plugin, tmp_path, monkeypatch):
    """The user has chosen the directory, as in Go."""
    document = json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "mine"}})
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "found-plugin", f"print({document!r})")
    monkeypatch.chdir(tmp_path)
    config = plugin.config(command="./bin/found-plugin", args=[])
    assert _new_authenticator(_Cache(), config, None, environ=lambda: {"PATH": ""}).get_creds().token == "mine"


# Writes its process id, starts a process that keeps its output open, and waits for the end of its own.
HANGING = """#!/bin/sh
sleep 600 &
echo "$! $$" > {pids}
wait
"""


class Collected:
    """The exceptions of calls in threads."""

    def __init__(self) -> None:
        self.seen: list[Exception] = []

    def start(self, fn: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                fn()
            except Exception as err:
                self.seen.append(err)

        thread = threading.Thread(target=run, name="call")
        thread.start()
        return thread


class HangingPlugin:
    """A plugin that never ends by itself, and a process that outlives it with its output."""

    def __init__(self, folder: Path) -> None:
        self._pids = folder / "pids"
        os.mkfifo(self._pids)
        self.command = script(folder, HANGING.format(pids=self._pids))

    def started(self) -> tuple[int, int]:
        """Wait for the start; return the ids of the process that outlives the plugin, and of the plugin."""
        child, own = self._pids.read_text().split()
        return int(child), int(own)


def script(folder: Path, text: str) -> str:
    path = folder / "hanging"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records if "exec plugin" in record.getMessage()]


def test_the_end_of_a_context_ends_the_plugin_that_its_request_started(plugin, tmp_path):
    hanging = HangingPlugin(tmp_path)
    ctx, cancel = context.with_cancel(CTX)
    authenticator = plugin.authenticator(command=hanging.command, args=[])
    errors = Collected()
    first = errors.start(lambda: authenticator.get_creds(ctx))
    child, own = hanging.started()
    try:
        cancel()
        first.join(PATIENCE)
        assert not first.is_alive()
        assert [type(err) for err in errors.seen] == [context.Canceled]
        with pytest.raises(ProcessLookupError):
            os.kill(own, 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_request_that_waits_for_the_plugin_ends_with_its_own_context(plugin, tmp_path):
    hanging = HangingPlugin(tmp_path)
    first_ctx, cancel_first = context.with_cancel(CTX)
    second_ctx, cancel_second = context.with_cancel(CTX)
    authenticator = plugin.authenticator(command=hanging.command, args=[])
    errors = Collected()
    first = errors.start(lambda: authenticator.get_creds(first_ctx))
    child, own = hanging.started()
    second = errors.start(lambda: authenticator.get_creds(second_ctx))
    try:
        cancel_second()
        second.join(PATIENCE)
        assert not second.is_alive()
        assert first.is_alive(), "its context is not done"
        os.kill(own, 0)
    finally:
        cancel_first()
        first.join(PATIENCE)
        os.kill(child, signal.SIGKILL)
    assert [type(err) for err in errors.seen] == [context.Canceled] * 2


class ReportingClock(FakeClock):
    """A clock that reports when a check is scheduled, which happens after the plugin has started."""

    def __init__(self) -> None:
        super().__init__(0.0)
        self.scheduled = threading.Event()

    def call_later(self, d: float, fn: Callable[[], None]) -> Callable[[], bool]:
        cancel = super().call_later(d, fn)
        self.scheduled.set()
        return cancel


def test_a_line_names_the_plugin_that_does_not_end(plugin, tmp_path, lines):
    hanging, clock = HangingPlugin(tmp_path), ReportingClock()
    ctx, cancel = context.with_cancel(CTX)
    authenticator = plugin.authenticator(clock, command=hanging.command, args=["--password=hunter2"])
    first = Collected().start(lambda: authenticator.get_creds(ctx))
    child, own = hanging.started()
    try:
        assert clock.scheduled.wait(PATIENCE)
        clock.step(9.0)
        assert lines() == []
        clock.step(100.0)
        [line] = lines()
        assert f'command="{hanging.command}" pid={own} running="10s"' in line
        assert "end its process" in line
        assert "hunter2" not in line
    finally:
        cancel()
        first.join(PATIENCE)
        os.kill(child, signal.SIGKILL)


def test_no_line_about_a_plugin_that_ends_in_time(plugin, lines):
    clock = FakeClock(0.0)
    plugin.authenticator(clock).get_creds()
    clock.step(1000.0)
    assert lines() == []


def test_an_informer_stops_while_its_plugin_hangs(plugin, tmp_path):
    hanging = HangingPlugin(tmp_path)
    config = rest.Config(host="http://127.0.0.1:1", exec_provider=plugin.config(command=hanging.command, args=[]))
    factory = new_shared_informer_factory(kubernetes.new_for_config(config), 0)
    factory.core().v1().pods().informer()
    ctx, cancel = context.with_cancel(CTX)
    factory.start(ctx.done())
    child, _ = hanging.started()
    try:
        cancel()
        stopping = Collected().start(factory.shutdown)
        stopping.join(PATIENCE)
        assert not stopping.is_alive()
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_401_whose_context_ends_during_the_next_run_is_returned(plugin, tmp_path):
    # given a server that rejects the first token, and a plugin that hangs when it runs again
    hanging = HangingPlugin(tmp_path)
    run_once = script(
        tmp_path,
        f"#!/bin/sh\nif [ -e {tmp_path}/second ]; then exec {hanging.command}-again; fi\ntouch {tmp_path}/second\n"
        f"cat {tmp_path}/answer\n",
    )
    again = Path(f"{hanging.command}-again")
    again.write_text(HANGING.format(pids=tmp_path / "pids"))
    again.chmod(0o755)
    ctx, cancel = context.with_cancel(CTX)
    with ScriptedServer(lambda request: Answer(401, b"{}")) as server:
        config = rest.Config(host=server.url, group_version=GroupVersion("", "v1"), qps=-1)
        config.exec_provider = plugin.config(command=run_once, args=[])
        client = rest.rest_client_for(config)
        errors = Collected()
        request = errors.start(lambda: client.get().resource("pods").do(ctx).raw())
        child, _ = hanging.started()
        try:
            cancel()
            request.join(PATIENCE)
            assert not request.is_alive()
        finally:
            os.kill(child, signal.SIGKILL)
            client.client.close_idle_connections()
    assert len(errors.seen) == 1


def test_configurations_that_differ_have_keys_of_their_own(plugin):
    """Go: TestCacheKey."""
    configs = [
        (plugin.config(**fields), cluster)
        for fields, cluster in (
            ({}, None),
            ({"command": "other"}, None),
            ({"args": ["x", "y"]}, None),
            ({"args": ["x y"]}, None),
            ({"env": [api.ExecEnvVar(name="A", value="b")]}, None),
            ({"env": [api.ExecEnvVar(name="A", value="c")]}, None),
            ({"api_version": "client.authentication.k8s.io/v1beta1"}, None),
            ({"install_hint": "apt"}, None),
            ({"provide_cluster_info": True}, None),
            ({"config": {"a": 1}}, None),
            ({"interactive_mode": "Always"}, None),
            ({"stdin_unavailable": True}, None),
            ({"plugin_policy": api.PluginPolicy(policy_type="DenyAll")}, None),
            ({}, clientauthentication.Cluster(server="https://a")),
            ({}, clientauthentication.Cluster(server="https://a", certificate_authority_data=b"x")),
        )
    ]
    keys = [_cache_key(config, cluster) for config, cluster in configs]
    assert len(set(keys)) == len(keys)
    assert [_cache_key(config.deep_copy(), cluster) for config, cluster in configs] == keys


def test_the_hint_to_install_a_plugin_is_printed_ten_times_an_hour(plugin):
    """Go: TestInstallHintRateLimit."""
    clock = FakeClock(0.0)
    missing = plugin.authenticator(clock, command="no-such-plugin", install_hint="apt install it")

    def hints(runs: int) -> list[bool]:
        found = []
        for _ in range(runs):
            with pytest.raises(ValueError, match="not found") as caught:
                missing.get_creds()
            found.append("apt install it" in str(caught.value))
        return found

    assert hints(12) == [True] * 10 + [False] * 2
    clock.step(3599.0)
    assert hints(1) == [False]
    clock.step(1.0)
    assert hints(11) == [True] * 10 + [False]


def test_clients_of_a_plugin_that_are_created_at_once_share_a_transport(plugin):
    """Go: TestConcurrentUpdateTransportConfig, TestExecTLSCache."""
    together = threading.Barrier(4)
    found = []

    def create() -> None:
        config = rest.Config(host="https://127.0.0.1:1", group_version=GroupVersion("", "v1"))
        config.exec_provider = plugin.config()
        transports = config.transport_config()
        together.wait(PATIENCE)
        found.append((transports.tls.get_cert_holder, TLS_CACHE.get(transports)))

    threads = [threading.Thread(target=create, name="test-create") for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(found) == 4
    assert len({id(holder) for holder, _ in found}) == 1
    assert len({id(made) for _, made in found}) == 1
