"""rest.Config: where the server is, what becomes of it, and clients made from it."""

from __future__ import annotations

import dataclasses
import io
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from certificates import Authority
from roundtrips import Turns, answer, client_of

from clientgo import context, rest, transport
from clientgo.apimachinery.runtime.schema import GroupVersion
from clientgo.golang import http
from clientgo.pkg import version
from clientgo.rest.config import add_user_agent, set_kubernetes_defaults
from clientgo.rest.url_utils import default_server_url
from clientgo.tools.clientcmd import api
from clientgo.util import flowcontrol

V1 = GroupVersion("", "v1")


# Go: TestValidatesHostParameter
@pytest.mark.parametrize(
    ("host", "api_path", "expected"),
    [
        ("127.0.0.1", "", ("http://127.0.0.1", "/v1")),
        ("127.0.0.1:8080", "", ("http://127.0.0.1:8080", "/v1")),
        ("foo.bar.com", "", ("http://foo.bar.com", "/v1")),
        ("localhost:8080", "/api", ("http://localhost:8080", "/api/v1")),
        ("http://host/prefix", "", ("http://host/prefix", "/v1")),
        ("http://host", "/", ("http://host", "/v1")),
        ("http://host", "/other", ("http://host", "/other/v1")),
        ("HTTPS://host", "api", ("https://host", "/api/v1")),
        ("[::1]:6443", "", ("http://[::1]:6443", "/v1")),
        ("https://[fd00::1]:6443/x", "", ("https://[fd00::1]:6443/x", "/v1")),
    ],
)
def test_default_server_url(host, api_path, expected):
    assert default_server_url(host, api_path, V1, False) == expected


@pytest.mark.parametrize("host", ["", "host/server", "http://host:port", "ho st", "///:://localhost"])
def test_what_is_no_host(host):
    with pytest.raises(ValueError, match=r"host"):
        default_server_url(host, "", V1, False)


@pytest.mark.parametrize(
    ("host", "error"),
    [
        (" http://h", 'parse "http:// http://h": invalid character " " in host name'),
        ("http://h\\b", 'host must be a URL or a host:port pair: "http://h\\\\b"'),
        ("h^", 'parse "http://h^": invalid character "^" in host name'),
        ("http://h/b%zz", 'parse "http://http://h/b%zz": invalid URL escape "%zz"'),
        ("h%41", 'parse "http://h%41": invalid URL escape "%41"'),
        ("[::1", 'parse "http://[::1": missing \']\' in host'),
        ("[::1]x", 'parse "http://[::1]x": invalid port "x" after host'),
        ("a b@h", 'parse "http://a b@h": net/url: invalid userinfo'),
        ("//h/b", 'host must be a URL or a host:port pair: "//h/b"'),
        ("h\x7f", 'parse "http://h\\x7f": net/url: invalid control character in URL'),
    ],
)
def test_a_host_that_go_rejects_is_refused_in_its_words(host: str, error: str) -> None:
    with pytest.raises(ValueError) as caught:
        default_server_url(host, "", V1, False)
    assert str(caught.value) == error


@pytest.mark.parametrize("host", ["http://h?x=1", "http://h/a;b", "https://[fe80::1%25en0]:443", "http://h%25x", "http://h:"])
def test_an_unusual_host_that_go_accepts(host: str) -> None:
    assert default_server_url(host, "", V1, False)[0].startswith(host[:8])


# Go: TestIsConfigTransportTLS
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"host": "https://localhost"}, True),
        ({"host": "localhost", "cert_file": "foo"}, True),
        ({"host": "localhost", "ca_data": b"foo"}, True),
        ({"host": "///:://localhost", "cert_file": "foo"}, False),
        ({"host": "1.2.3.4:567", "insecure": True}, True),
        ({"host": "http://1.2.3.4:567", "insecure": True}, False),
    ],
)
def test_certificates_mean_encryption(settings, expected):
    assert rest.is_config_transport_tls(rest.Config(**settings)) is expected


@pytest.mark.parametrize(
    ("argv", "release", "commit", "expected"),
    [
        ("/usr/bin/manager", "v1.2.3-alpha+g", "1234567890", "manager/v1.2.3 ("),
        ("manager.py", "v1.2.3", "1234", "manager.py/v1.2.3 ("),
        ("", "", "", "unknown/unknown ("),
    ],
)
def test_user_agent(monkeypatch, argv, release, commit, expected):
    """
    Go: TestAdjustVersion, TestAdjustCommit, TestAdjustCommand, TestBuildUserAgent
    Go: TestSetKubernetesDefaultsUserAgent, TestDefaultKubernetesUserAgent
    """
    info = dataclasses.replace(version.get(), git_version=release, git_commit=commit)
    monkeypatch.setattr(version, "get", lambda: info)
    monkeypatch.setattr("sys.argv", [argv])
    agent = rest.default_kubernetes_user_agent()
    assert agent.startswith(expected)
    assert agent.endswith(f" kubernetes/{commit[:7] or 'unknown'}")
    config = rest.Config()
    set_kubernetes_defaults(config)
    assert config.user_agent == agent
    assert add_user_agent(config, "controller").user_agent == f"{agent}/controller"


@pytest.mark.parametrize(
    ("settings", "qps"),
    [({}, 5.0), ({"qps": 7.0}, 7.0), ({"qps": 7.0, "burst": 1}, 7.0), ({"qps": -1.0}, None)],
)
def test_rate_limits(settings, qps):
    """
    Go: TestRESTClientLimiter/with no QPS
    Go: TestRESTClientLimiter/with QPS:10
    Go: TestRESTClientLimiter/with QPS:-1
    Go: TestRESTClientLimiter/with RateLimiter
    """
    limiter = rest.unversioned_rest_client_for(rest.Config(host="h", **settings)).get_rate_limiter()
    assert (limiter.qps() if limiter is not None else None) == qps
    shared = flowcontrol.new_fake_always_rate_limiter()
    config = rest.Config(host="h", group_version=V1, rate_limiter=shared, **settings)
    assert rest.rest_client_for(config).get_rate_limiter() is shared
    assert rest.rest_client_for(config).get_rate_limiter() is shared, "all clients of a config wait together"


def test_a_client_needs_a_version():
    """Go: TestRESTClientRequires"""
    with pytest.raises(ValueError, match="GroupVersion is required when initializing a RESTClient"):
        rest.rest_client_for(rest.Config(host="127.0.0.1"))
    with pytest.raises(ValueError, match="GroupVersion is required"):  # before anything else that may be wrong
        rest.rest_client_for(rest.Config(host="http://h:port"))
    assert rest.unversioned_rest_client_for(rest.Config(host="127.0.0.1")).base == "http://127.0.0.1/"


def filled() -> rest.Config:
    """Return a config with a value in each field."""

    class Limiter:
        pass

    values: dict[str, Any] = {}
    for each in dataclasses.fields(rest.Config):
        sample: dict[str, Any] = {"str": "x", "bytes": b"x", "bool": True, "float": 1.5, "int": 3, "list[str]": ["x"]}
        values[each.name] = sample.get(str(each.type), object())
    values["impersonate"] = rest.ImpersonationConfig(user_name="u", groups=["g"], extra={"k": ["v"]})
    values["exec_provider"] = api.ExecConfig(command="c")
    return rest.Config(**values)


def test_an_anonymous_config_keeps_everything_but_credentials_and_transports():
    """Go: TestAnonymousAuthConfig. A field that comes later has to be put on one side or the other."""
    config = filled()
    anonymous = rest.anonymous_client_config(config)
    dropped = {each.name for each in dataclasses.fields(config) if not getattr(anonymous, each.name)}
    dropped |= {"impersonate"} if anonymous.impersonate == rest.ImpersonationConfig() else set()
    assert dropped == {
        *("username", "password", "bearer_token", "bearer_token_file", "impersonate", "auth_provider"),
        *("auth_config_persister", "exec_provider", "cert_file", "cert_data", "key_file", "key_data"),
        *("transport", "wrap_transport"),
    }
    for each in dataclasses.fields(config):
        if each.name not in dropped:
            assert getattr(anonymous, each.name) == getattr(config, each.name)


def test_a_copy_is_equal_and_independent():
    """Go: TestCopyConfig"""
    config = filled()
    copied = rest.copy_config(config)
    for each in dataclasses.fields(config):
        assert getattr(copied, each.name) == getattr(config, each.name), each.name
    copied.host, copied.impersonate.user_name = "other", "other"
    assert copied.exec_provider is not None
    copied.exec_provider.command = "other"
    assert (config.host, config.impersonate.user_name) == ("x", "u")
    assert config.exec_provider is not None
    assert config.exec_provider.command == "c"


def test_wrappers_are_laid_over_each_other_in_order():
    """Go: TestConfigWrap. The first one added is the innermost."""
    seen: list[str] = []

    def wrapper(name: str) -> transport.WrapperFunc:
        class Wrapper:
            def __init__(self, inner: transport.RoundTripper) -> None:
                self.inner = inner

            def round_trip(self, request: http.Request) -> http.Response:
                seen.append(name)
                return self.inner.round_trip(request)

        return Wrapper

    class Bottom:
        def round_trip(self, request: http.Request) -> http.Response:
            seen.append("bottom")
            assert request.headers["Authorization"] == "Bearer t"
            return http.Response(status_code=200)

    config = rest.Config(host="h", transport=Bottom(), bearer_token="t")
    config.wrap(wrapper("first"))
    config.wrap(wrapper("second"))
    rest.http_client_for(config).do(http.Request(method="GET", url="http://h/"))
    assert seen == ["second", "first", "bottom"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transport": object(), "insecure": True}, "using a custom transport with TLS certificate options"),
        ({"transport": object(), "ca_data": b"x"}, "using a custom transport with TLS certificate options"),
        ({"username": "u", "bearer_token": "t"}, "username/password or bearer token may be set, but not both"),
        (
            {"exec_provider": api.ExecConfig(), "auth_provider": api.AuthProviderConfig()},
            "execProvider and authProvider cannot be used in combination",
        ),
        ({"auth_provider": api.AuthProviderConfig(name="gcp")}, 'no Auth Provider found for name "gcp"'),
        ({"insecure": True, "ca_data": b"x"}, "root certificates file with the insecure flag is not allowed"),
    ],
)
def test_contradictions(settings, message):
    with pytest.raises(ValueError, match=message):
        rest.http_client_for(rest.Config(host="https://h", **settings))


def test_connections_are_made_by_the_configs_dialer():
    asked: list[tuple[str, int]] = []

    def dial(host: str, port: int) -> socket.socket:
        asked.append((host, port))
        raise ConnectionRefusedError("dial tcp: no, thank you")

    client = rest.http_client_for(rest.Config(dial=dial))
    with pytest.raises(rest.URLError, match="dial tcp: no, thank you"):
        client.do(http.Request(method="GET", url="http://api.example:81/"))
    assert asked == [("api.example", 81)]


@pytest.mark.parametrize("missing", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_a_token_without_the_servers_address_makes_no_cluster(tmp_path: Path, monkeypatch, missing):
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.setenv(name, "" if name == missing else "443")
    (tmp_path / "token").write_bytes(b"t")

    with pytest.raises(rest.ErrNotInCluster):
        rest.in_cluster_config(str(tmp_path))


def test_a_pod_without_a_usable_authority_trusts_the_systems(tmp_path: Path, monkeypatch, caplog):
    """Go: InClusterConfig logs the problem and leaves the file out."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_bytes(b"t\xff\n")
    ca_file = tmp_path / "ca.crt"
    for content in (None, b"", b"half a certif"):
        if content is not None:
            ca_file.write_bytes(content)
        config = rest.in_cluster_config(str(tmp_path))
        assert (config.host, config.ca_file) == ("https://[fd00::1]:443", "")
        assert f"Expected to load root CA config from {ca_file}" in caplog.text
        caplog.clear()
    ca_file.write_bytes(Authority(tmp_path, "made").data)
    assert rest.in_cluster_config(str(tmp_path)).ca_file == str(ca_file)
    assert not caplog.records


@pytest.mark.parametrize("field", ["password", "bearer_token", "key_data", "cert_data"])
@pytest.mark.parametrize("render", [str, repr, "{}".format, "%s".__mod__])
def test_no_text_of_a_config_shows_a_credential(field, render):
    """
    Go: TestConfigStringer/non-sensitive config
    Go: TestConfigStringer/sensitive config
    Go: TestConfigSprint
    """
    secret = b"s3cr3t" if field.endswith("_data") else "s3cr3t"
    config = rest.Config(host="localhost:8080", api_path="v1", username="gopher", **{field: secret})
    text = render(config)
    assert "s3cr3t" not in text
    assert "localhost:8080" in text and "v1" in text
    assert "s3cr3t" not in render({"config": config})


@pytest.fixture
def default_warnings() -> Iterator[None]:
    """Restore the default handler of warnings after the test."""
    yield
    rest.set_default_warning_handler_with_context(rest.WarningLogger())


class RecordingHandler:
    """A handler of both forms."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_warning_header(self, code: int, agent: str, text: str) -> None:
        self.texts.append(text)

    def handle_warning_header_with_context(self, ctx: context.Context, code: int, agent: str, text: str) -> None:
        self.texts.append(f"{text} with context")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # Go: TestConfigWarningHandler/none
        ((), []),
        # Go: TestConfigWarningHandler/no-context
        (("warning_handler",), ["old"]),
        # Go: TestConfigWarningHandler/with-context
        (("warning_handler_with_context",), ["old with context"]),
        # Go: TestConfigWarningHandler/both
        (("warning_handler", "warning_handler_with_context"), ["old with context"]),
    ],
)
def test_a_configs_handler_hears_the_warnings_the_one_with_a_context_first(fields, expected, default_warnings):
    default, handler = RecordingHandler(), RecordingHandler()
    rest.set_default_warning_handler_with_context(default)
    turns = Turns(answer(200, {}, Warning='299 - "old"'))
    client, _ = client_of(turns, **dict.fromkeys(fields, handler))
    client.get().do(context.background()).raise_for_error()
    assert handler.texts == expected
    assert default.texts == ([] if expected else ["old with context"])


def test_an_answer_without_warnings_has_an_empty_list_of_them():
    client, _ = client_of(Turns(answer(200, {})))
    assert client.get().do(context.background()).warnings() == []


def test_the_default_handler_of_warnings_logs_and_may_be_replaced(default_warnings, caplog):
    """
    Go: TestDefaultWarningHandler/default
    Go: TestDefaultWarningHandler/no-context
    Go: TestDefaultWarningHandler/with-context
    """

    def warn() -> None:
        client, _ = client_of(Turns(answer(200, {}, Warning='299 - "old", 214 - "no warning of Kubernetes"')))
        client.get().do(context.background()).raise_for_error()

    with caplog.at_level("INFO"):
        warn()
    assert [record.getMessage() for record in caplog.records] == ['"Warning: old"']
    plain, contextual = RecordingHandler(), RecordingHandler()
    rest.set_default_warning_handler(plain)
    warn()
    rest.set_default_warning_handler_with_context(contextual)
    warn()
    rest.set_default_warning_handler(None)
    warn()
    assert plain.texts == ["old", "no warning of Kubernetes"]
    assert contextual.texts == ["old with context", "no warning of Kubernetes with context"]
    assert len(caplog.records) == 1


def test_threads_may_make_transports_of_one_config_at_the_same_time():
    """Go: TestTransportForThreadSafe"""
    from queueobjects import in_threads, join

    made: list[object] = []
    for settings in ({}, {"ca_file": "none"}, {"dial": lambda host, port: socket.socket()}, {"insecure": True}):
        config = rest.Config(host="https://h", username="gopher", password="g0ph3r", **settings)

        def make(config: rest.Config = config) -> None:
            try:
                made.append(rest.transport_for(config))
            except OSError as err:
                made.append(str(err))

        join(in_threads([make] * 8))
    assert len(made) == 4 * 8
    assert len({each for each in made if isinstance(each, str)}) == 1


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["Warning: old", "Warning: new", "Warning: old"]),
        ({"deduplicate": True}, ["Warning: old", "Warning: new"]),
        ({"deduplicate": True, "color": True}, ["\x1b[33;1mWarning:\x1b[0m old", "\x1b[33;1mWarning:\x1b[0m new"]),
    ],
)
def test_a_writer_of_warnings_writes_a_line_for_each(options, lines):
    out = io.StringIO()
    writer = rest.new_warning_writer(out, rest.WarningWriterOptions(**options))
    for code, text in ((299, "old"), (299, "new"), (214, "of another"), (299, ""), (299, "old")):
        writer.handle_warning_header(code, "agent", text)
    assert out.getvalue().splitlines() == lines
    assert writer.warning_count() == len(lines)


def test_a_logger_of_warnings_needs_no_context(caplog):
    with caplog.at_level("INFO"):
        for code, text in ((299, "old"), (214, "of another"), (299, "")):
            rest.WarningLogger().handle_warning_header(code, "agent", text)
    assert [record.getMessage() for record in caplog.records] == ['"Warning: old"']


def test_the_files_of_a_config_are_read_into_its_data(tmp_path: Path) -> None:
    config = rest.Config(host="https://h")
    tls = config.tls_client_config if hasattr(config, "tls_client_config") else config
    for name in ("ca", "cert", "key"):
        (tmp_path / name).write_bytes(name.encode())
        setattr(tls, f"{name}_file", str(tmp_path / name))
    rest.load_tls_files(config)
    assert (tls.ca_data, tls.cert_data, tls.key_data) == (b"ca", b"cert", b"key")

    (tmp_path / "ca").write_bytes(b"changed")
    rest.load_tls_files(config)
    assert tls.ca_data == b"ca", "data take precedence over the file"

    tls.key_data = b""
    (tmp_path / "key").unlink()
    with pytest.raises(FileNotFoundError):
        rest.load_tls_files(config)


@pytest.mark.parametrize(
    ("system", "machine", "shown"),
    [("Linux", "x86_64", "linux/amd64"), ("Darwin", "arm64", "darwin/arm64"), ("Linux", "aarch64", "linux/arm64")],
)
@pytest.mark.parametrize("has_uname", [True, False])
def test_the_user_agent_names_the_system_as_go_does(monkeypatch, system, machine, shown, has_uname):
    names = SimpleNamespace(sysname=system, machine=machine)
    if has_uname:
        monkeypatch.setattr(os, "uname", lambda: names)
    else:
        monkeypatch.delattr(os, "uname")
        monkeypatch.setattr("platform.system", lambda: system)
        monkeypatch.setattr("platform.machine", lambda: machine)
    assert f"({shown}) kubernetes/" in rest.default_kubernetes_user_agent()


def test_a_new_config_has_no_limits_of_its_own():
    config = rest.Config(host="h")
    assert (config.qps, config.burst, config.timeout, config.max_silence) == (0.0, 0, 0.0, 0.0)
    assert (config.insecure, config.disable_compression) == (False, False)


@pytest.mark.parametrize("make", [rest.rest_client_for, rest.unversioned_rest_client_for])
def test_a_client_of_a_wrong_host_is_refused(make):
    with pytest.raises(ValueError, match="host"):
        make(rest.Config(host="http://host:port", group_version=V1))


def test_clients_without_a_version_send_to_the_root():
    config = rest.Config(host="http://h", api_path="/apis", qps=-1)
    for client in (
        rest.unversioned_rest_client_for(config),
        rest.unversioned_rest_client_for_config_and_client(config, None),
    ):
        assert client.get().resource("x").url() == "http://h/apis/x"
