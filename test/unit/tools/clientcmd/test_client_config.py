"""From kubeconfigs and overrides to rest configs."""

from __future__ import annotations

import argparse
import getpass
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clientgo import rest, transport
from clientgo.golang.io import read_file
from clientgo.tools import clientcmd
from clientgo.tools.auth import clientauth
from clientgo.tools.clientcmd import api
from clientgo.tools.clientcmd.api import flatten_content
from clientgo.tools.clientcmd.client_config import _clean_ansi_escape_codes, _InClusterClientConfig
from clientgo.tools.clientcmd.merge import merge


def good(**cluster) -> api.Config:
    return api.Config(
        clusters={"clean": api.Cluster(**{"server": "https://localhost:8443", **cluster})},
        auth_infos={"clean": api.AuthInfo(token="the-token")},
        contexts={"clean": api.Context(cluster="clean", auth_info="clean")},
        current_context="clean",
    )


def built(
    config: api.Config, overrides: clientcmd.ConfigOverrides | None = None, context: str = "clean"
) -> rest.Config:
    return clientcmd.new_non_interactive_client_config(config, context, overrides, None).client_config()


def test_merge_semantics():
    """Go: TestMergeSemantics/#0-#5
    Go: TestMergeSemantics/zero noop
    Go: TestMergeSemantics/override zero dst
    Go: TestMergeSemantics/noop zero src
    Go: TestMergeSemantics/overwrite non-zero values, merge maps"""
    dst = api.AuthInfo(username="one", impersonate_groups=["a", "b"], impersonate_user_extra={"k": ["1"], "l": ["2"]})
    merge(dst, api.AuthInfo())
    assert dst.username == "one"
    exec_config = api.ExecConfig(command="x")
    merge(
        dst,
        api.AuthInfo(username="two", impersonate_groups=["c"], impersonate_user_extra={"k": ["3"]}, exec=exec_config),
    )
    assert dst.username == "two"
    assert dst.impersonate_groups == ["c"]
    assert dst.impersonate_user_extra == {"k": ["3"], "l": ["2"]}
    assert dst.exec is exec_config
    zero = api.Config()
    merge(zero, api.Config(preferences=api.Preferences(colors=True)))
    assert zero.preferences.colors
    merge(zero, None)
    with pytest.raises(TypeError, match="cannot merge mismatched types"):
        merge(zero, api.Cluster())


def test_the_cluster_reaches_the_rest_config():
    """Go: TestDisableCompression
    Go: TestTLSServerName
    Go: TestCreateClean
    Go: TestCreateCleanDefault"""
    config = built(good(disable_compression=True, tls_server_name="name", certificate_authority_data=b"ca"))
    assert config.disable_compression
    assert config.server_name == "name"
    assert config.ca_data == b"ca"
    assert (config.host, config.bearer_token) == ("https://localhost:8443", "the-token")
    default = clientcmd.new_default_client_config(good(), clientcmd.ConfigOverrides()).client_config()
    assert default.host == "https://localhost:8443"


def test_overrides_of_the_cluster(tmp_path):
    """Go: TestInsecureOverridesCA
    Go: TestCAOverridesCAData
    Go: TestTLSServerNameClearsWhenServerNameSet
    Go: TestCreateCleanDefaultCluster"""
    file = tmp_path / "ca"
    file.write_text("ca-source")
    config = built(
        good(certificate_authority=str(file)),
        clientcmd.ConfigOverrides(cluster_info=api.Cluster(insecure_skip_tls_verify=True)),
    )
    assert (config.insecure, config.ca_file, config.ca_data) == (True, "", b"")
    config = built(
        good(certificate_authority_data=b"data"),
        clientcmd.ConfigOverrides(cluster_info=api.Cluster(certificate_authority=str(file))),
    )
    assert (config.insecure, config.ca_file, config.ca_data) == (False, str(file), b"")
    config = built(
        good(tls_server_name="inherited"),
        clientcmd.ConfigOverrides(cluster_info=api.Cluster(server="https://other")),
    )
    assert (config.host, config.server_name) == ("https://other", "")
    config = built(good(), clientcmd.ConfigOverrides(cluster_defaults=api.Cluster(server="http://default")))
    assert config.host == "https://localhost:8443"


def test_the_user_reaches_the_rest_config(tmp_path):
    """Go: TestFullImpersonateConfig
    Go: TestCertificateData
    Go: TestBasicAuthData
    Go: TestBasicTokenFile
    Go: TestPrecedenceTokenFile"""
    token_file = tmp_path / "token"
    token_file.write_text("from-file")
    config = good()
    config.auth_infos["clean"] = api.AuthInfo(
        client_certificate_data=b"cert",
        client_key_data=b"key",
        username="me",
        password="secret",
        impersonate="alice",
        impersonate_uid="abc123",
        impersonate_groups=["g"],
        impersonate_user_extra={"k": ["v"]},
    )
    found = built(config)
    assert (found.cert_data, found.key_data, found.username, found.password) == (b"cert", b"key", "me", "secret")
    assert found.impersonate == rest.ImpersonationConfig(
        user_name="alice", uid="abc123", groups=["g"], extra={"k": ["v"]}
    )
    config.auth_infos["clean"] = api.AuthInfo(token_file=str(token_file))
    found = built(config)
    assert (found.bearer_token, found.bearer_token_file) == ("from-file", str(token_file))
    config.auth_infos["clean"] = api.AuthInfo(token_file=str(token_file), token="inline")
    found = built(config)
    assert (found.bearer_token, found.bearer_token_file) == ("inline", str(token_file)), (
        "the transport prefers the file"
    )


@pytest.mark.parametrize("data", [False, True])
def test_an_overriding_certificate_clears_the_inherited_one(tmp_path, data):
    """Go: TestClientCertOverrideData/override-with-file-paths
    Go: TestClientCertOverrideData/override-with-data-fields"""
    file = tmp_path / "pem"
    file.write_text("x")
    by_file = {"client_certificate": str(file), "client_key": str(file)}
    by_data = {"client_certificate_data": b"c", "client_key_data": b"k"}
    config = good()
    config.auth_infos["clean"] = api.AuthInfo(**(by_file if data else by_data))
    found = built(config, clientcmd.ConfigOverrides(auth_info=api.AuthInfo(**(by_data if data else by_file))))
    assert (found.cert_data, found.key_data) == ((b"c", b"k") if data else (b"", b""))
    assert (found.cert_file, found.key_file) == (("", "") if data else (str(file), str(file)))


def test_contexts():
    """Go: TestMergeContext
    Go: TestModifyContext
    Go: TestCreateMissingContextNoDefault
    Go: TestCreateMissingContext
    Go: TestNamespaceOverride"""
    config = good()
    config.contexts["other"] = api.Context(cluster="clean", auth_info="clean", namespace="other-ns")
    overrides = clientcmd.ConfigOverrides(context=api.Context(namespace="overridden"))
    client = clientcmd.new_non_interactive_client_config(config, "clean", overrides, None)
    assert client.namespace() == ("overridden", True)
    assert client.merged_raw_config().contexts["clean"].namespace == "overridden"
    selected = clientcmd.new_non_interactive_client_config(
        config, "", clientcmd.ConfigOverrides(current_context="other"), None
    )
    assert selected.namespace() == ("other-ns", False)
    with pytest.raises(Exception, match="context was not found for specified context: not-present"):
        built(config, clientcmd.ConfigOverrides(), "not-present")
    with pytest.raises(ValueError, match='context "gone" does not exist'):
        built(config, clientcmd.ConfigOverrides(current_context="gone"))


def test_merged_raw_config_shows_the_overrides():
    """Go: TestMergeRawConfigDoOverride"""
    overrides = clientcmd.ConfigOverrides(
        cluster_info=api.Cluster(server="https://o"),
        auth_info=api.AuthInfo(token="o"),
        context=api.Context(namespace="o"),
    )
    merged = clientcmd.new_non_interactive_client_config(good(), "", overrides, None).merged_raw_config()
    assert merged.current_context == "clean"
    assert merged.clusters["clean"].server == "https://o"
    assert merged.auth_infos["clean"].token == "o"
    assert merged.contexts["clean"].namespace == "o"
    loaded = good()
    clientcmd.new_non_interactive_client_config(loaded, "", overrides, None).merged_raw_config()
    assert loaded == good(), "the loaded config stays as it is"


@pytest.mark.parametrize("url", ["", "socks5://example.com", "https://example.com", "http://example.com"])
def test_proxy_url(url):
    """Go: TestProxyURL/no proxy-url
    Go: TestProxyURL/socks5 proxy-url
    Go: TestProxyURL/https proxy-url
    Go: TestProxyURL/http proxy-url"""
    config = built(good(proxy_url=url))
    assert (config.proxy("https://x") if config.proxy else "") == url


@pytest.mark.parametrize("url", ["smtp://example.com", "example.com", "bad\x7fproxy:// "])
def test_bad_proxy_urls(url):
    """Go: TestProxyURL/bad scheme proxy-url
    Go: TestProxyURL/no scheme proxy-url
    Go: TestProxyURL/not a url proxy-url"""
    with pytest.raises(Exception, match="invalid 'proxy-url'"):
        built(good(proxy_url=url))


@pytest.mark.parametrize(
    "server",
    [
        "https://anything.com:8080/foo/bar",
        "http://anything.com:8080/foo/bar",
        "http://anything.com:8080/foo/bar/",
        "http://anything.com:8080/",
        "http://anything.com:8080//",
        "anything.com:8080/foo/bar",
        "anything.com:8080",
        "anything.com",
        "anything",
    ],
)
def test_the_host_is_passed_on_as_written(server):
    """Go: TestCreateCleanWithPrefix/#0-#8"""
    assert built(good(server=server)).host == server
    empty = good(server="")
    defaults = clientcmd.ConfigOverrides(cluster_defaults=api.Cluster(server=server))
    assert built(empty, defaults).host == server


@pytest.mark.parametrize("provided", [False, True])
def test_the_exec_section_reaches_the_rest_config(provided):
    """Go: TestAuthConfigMerge
    Go: TestCreateAuthConfigExecInstallHintCleanup"""
    config = good(extensions={"client.authentication.k8s.io/exec": {"audience": "foo"}})
    provider = api.ExecConfig(
        command="some-command",
        args=["arg"],
        api_version="client.authentication.k8s.io/v1",
        interactive_mode="IfAvailable",
        provide_cluster_info=provided,
        install_hint="some install hint with \x1b[1mcontrol\x1b[0m chars\nand a newline",
    )
    config.auth_infos["clean"] = api.AuthInfo(exec=provider)
    found = built(config).exec_provider
    assert found is not None
    assert (found.command, found.args, found.provide_cluster_info) == ("some-command", ["arg"], provided)
    assert (found.api_version, found.interactive_mode) == ("client.authentication.k8s.io/v1", "IfAvailable")
    assert found.config == {"audience": "foo"}
    assert found.install_hint == "some install hint with U+001B[1mcontrolU+001B[0m chars\nand a newline"
    assert provider.config is None, "the loaded config stays as it is"


def test_an_exec_section_overrides_the_whole_of_the_kubeconfigs():
    """Go merges a pointer as a whole: fields that the override lacks do not come from the kubeconfig."""
    config = good()
    config.auth_infos["clean"] = api.AuthInfo(
        exec=api.ExecConfig(
            command="loaded",
            args=["arg"],
            api_version="client.authentication.k8s.io/v1",
            interactive_mode="Never",
            provide_cluster_info=True,
        )
    )
    override = api.ExecConfig(
        command="overriding", api_version="client.authentication.k8s.io/v1beta1", interactive_mode="Always"
    )
    found = built(config, clientcmd.ConfigOverrides(auth_info=api.AuthInfo(exec=override))).exec_provider
    assert found is not None
    assert (found.command, found.args, found.provide_cluster_info) == ("overriding", [], False)
    assert (found.api_version, found.interactive_mode) == ("client.authentication.k8s.io/v1beta1", "Always")


EXEC = api.ExecConfig(command="c", api_version="client.authentication.k8s.io/v1", interactive_mode="Never")


@pytest.mark.parametrize(
    ("user", "asked"),
    [
        ({"username": "me"}, False),
        ({"token": "t"}, False),
        ({"client_certificate_data": b"c", "client_key_data": b"k"}, False),
        ({"auth_provider": api.AuthProviderConfig(name="p")}, False),
        ({"exec": EXEC}, False),
        ({"impersonate": "somebody"}, True),
        ({}, True),
    ],
)
def test_a_config_that_identifies_the_user_does_not_prompt(monkeypatch, user, asked):
    """An exec plugin gets its own credentials, so that its users are not prompted first. Go: canIdentifyUser."""
    monkeypatch.setattr("sys.stdin", type("Terminal", (io.StringIO,), {"isatty": lambda self: True})())
    monkeypatch.setattr(getpass, "getpass", lambda prompt: "typed")
    reader = io.StringIO("typist\n")
    config = good()
    config.auth_infos["clean"] = api.AuthInfo(**user)
    found = clientcmd.new_interactive_client_config(config, "clean", None, reader, None).client_config()
    assert (reader.tell() > 0) == asked
    assert ((found.username, found.password) == ("typist", "typed")) == asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\x1b[1mbold tuna\x1b[0m", "U+001B[1mbold tunaU+001B[0m", id="DenyBoldCharacters"),
        pytest.param("\x1b[2Atuna", "U+001B[2Atuna", id="DenyCursorNavigation"),
        pytest.param("\x1b[2Jtuna", "U+001B[2Jtuna", id="DenyClearScreen"),
        pytest.param("\t\n\v\f\r ", "\t\n\v\f\r ", id="AllowSpaceCharactersUnchanged"),
        pytest.param("tunaツ", "tunaツ", id="AllowLetters"),
        pytest.param("fís̖h", "fís̖h", id="AllowMarks"),
        pytest.param("1ƨ", "1ƨ", id="AllowNumbers"),
        pytest.param("!?", "!?", id="AllowPunctuation"),
        pytest.param("$+", "$+", id="AllowSymbols"),
        pytest.param("a\u2028b\u00a0", "a\u2028b\u00a0", id="AllowSepatators"),  # as Go spells it
    ],
)
def test_escape_codes_cannot_reach_the_terminal(text, expected):
    """Go: TestCleanANSIEscapeCodes"""
    assert _clean_ansi_escape_codes(text) == expected


@pytest.mark.parametrize(
    ("cluster", "user", "expected"),
    [
        (api.Cluster(server="https://o"), api.AuthInfo(), ("https://o", "in-token", "in-file", "in-ca")),
        (api.Cluster(), api.AuthInfo(token="o"), ("https://in", "o", "", "in-ca")),
        (api.Cluster(), api.AuthInfo(token_file="/o"), ("https://in", "", "/o", "in-ca")),
        (api.Cluster(certificate_authority="/ca"), api.AuthInfo(), ("https://in", "in-token", "in-file", "/ca")),
        (
            api.Cluster(server="https://o", certificate_authority="/ca"),
            api.AuthInfo(),
            ("https://o", "in-token", "in-file", "/ca"),
        ),
        (api.Cluster(server="https://o"), api.AuthInfo(token="o"), ("https://o", "o", "", "in-ca")),
        (api.Cluster(certificate_authority="/ca"), api.AuthInfo(token="o"), ("https://in", "o", "", "/ca")),
        (
            api.Cluster(server="https://o", certificate_authority="/ca"),
            api.AuthInfo(token="o"),
            ("https://o", "o", "", "/ca"),
        ),
        (
            api.Cluster(server="https://o", certificate_authority="/ca"),
            api.AuthInfo(token="o", token_file="/o"),
            ("https://o", "o", "/o", "/ca"),
        ),
        (api.Cluster(), api.AuthInfo(), ("https://in", "in-token", "in-file", "in-ca")),
    ],
)
def test_overrides_of_the_pods_config(cluster, user, expected):
    """Go: TestInClusterClientConfigPrecedence/#0-#9"""
    inside = rest.Config(host="https://in", bearer_token="in-token", bearer_token_file="in-file", ca_file="in-ca")
    overrides = clientcmd.ConfigOverrides(cluster_info=cluster, auth_info=user)
    found = _InClusterClientConfig(overrides, lambda: inside).client_config()
    assert (found.host, found.bearer_token, found.bearer_token_file, found.ca_file) == expected


class FakeInCluster:
    """A pod's config for tests; counts how often it is asked."""

    def __init__(self, possible: bool = True, failure: Exception | None = None) -> None:
        self.is_possible = possible
        self.failure = failure
        self.asked = 0
        self.config = rest.Config(host="https://in-cluster")

    def possible(self) -> bool:
        self.asked += 1
        return self.is_possible

    def client_config(self) -> rest.Config:
        if self.failure is not None:
            raise self.failure
        return self.config

    def namespace(self) -> tuple[str, bool]:
        if self.failure is not None:
            raise self.failure
        return "in-cluster-ns", False

    def raw_config(self) -> api.Config:
        raise AssertionError

    def config_access(self) -> None:
        return None


class FakeLoader(clientcmd.ClientConfigLoadingRules):
    """Rules that load a given config."""

    def __init__(self, config: api.Config) -> None:
        super().__init__()
        self.config = config

    def load(self) -> api.Config:
        return self.config


def deferred(
    config: api.Config, icc: FakeInCluster, default: api.Config | None = None
) -> clientcmd.DeferredLoadingClientConfig:
    loader = FakeLoader(config)
    if default is not None:
        loader.default_client_config = clientcmd.new_non_interactive_client_config(default, "", None, None)
    return clientcmd.DeferredLoadingClientConfig(loader, clientcmd.ConfigOverrides(), None, icc)


def test_the_pods_config_stands_in_for_an_empty_or_default_one():
    """Go: TestInClusterConfig/in-cluster checked on other error
    Go: TestInClusterConfig/in-cluster not checked on non-empty error
    Go: TestInClusterConfig/in-cluster checked when config is default
    Go: TestInClusterConfig/in-cluster not checked when config is not equal to default
    Go: TestInClusterConfig/in-cluster error returned when config is empty
    Go: TestInClusterConfig/in-cluster config returned when config is empty"""
    inside = FakeInCluster()
    assert deferred(api.Config(), inside).client_config() is inside.config
    assert deferred(good(), inside, default=good()).client_config() is inside.config
    assert deferred(good(), inside, default=good(server="https://d")).client_config().host == "https://localhost:8443"
    outside = FakeInCluster(possible=False)
    with pytest.raises(Exception, match="no configuration has been provided"):
        deferred(api.Config(), outside).client_config()
    assert outside.asked == 1
    with pytest.raises(OSError, match="boom"):
        deferred(api.Config(), FakeInCluster(failure=OSError("boom"))).client_config()
    broken = good()
    broken.auth_infos["clean"].username = "too"
    unasked = FakeInCluster()
    with pytest.raises(Exception, match="more than one authentication method"):
        deferred(broken, unasked).client_config()
    assert unasked.asked == 0


def test_the_namespace_comes_from_the_kubeconfig_first():
    """Go: TestInClusterConfigNamespace/in-cluster checked on empty error
    Go: TestInClusterConfigNamespace/in-cluster not checked on non-empty error
    Go: TestInClusterConfigNamespace/in-cluster error returned when config is empty
    Go: TestInClusterConfigNamespace/in-cluster config returned when config is empty
    Go: TestInClusterConfigNamespace/overridden context used to verify explicit namespace in config"""
    inside = FakeInCluster()
    assert deferred(api.Config(), inside).namespace() == ("in-cluster-ns", False)
    named = good()
    named.contexts["clean"].namespace = "mine"
    assert deferred(named, inside).namespace() == ("mine", False)
    assert deferred(good(), inside).namespace() == ("in-cluster-ns", False), "a default nobody wrote"
    named.contexts["clean"].namespace = "default"
    assert deferred(named, inside).namespace() == ("default", False)
    with pytest.raises(OSError, match="boom"):
        deferred(api.Config(), FakeInCluster(failure=OSError("boom"))).namespace()
    with pytest.raises(Exception, match="no configuration has been provided"):
        deferred(api.Config(), FakeInCluster(possible=False)).namespace()


@pytest.mark.parametrize(
    ("written", "variable", "expected"),
    [
        ("mine\n", None, "mine"),
        (" mine \r\n", None, "mine"),
        ("\n", None, "default"),
        (None, None, "default"),
        ("mine", "of-the-variable", "of-the-variable"),
        ("mine", "", "mine"),
    ],
)
def test_a_pods_namespace_is_that_of_the_variable_or_the_file(monkeypatch, tmp_path, written, variable, expected):
    """A file's line end is no part of the name. Go: inClusterClientConfig.Namespace."""
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    if variable is not None:
        monkeypatch.setenv("POD_NAMESPACE", variable)
    if written is not None:
        (tmp_path / "namespace").write_text(written, newline="")
    assert _InClusterClientConfig(None, service_account=str(tmp_path)).namespace() == (expected, False)


def test_namespace_prefixes_are_stripped_on_the_command_line():
    """Go: TestNamespacePrefixStrip"""
    for prefix in ("namespaces/", "Namespace/", "ns/", ""):
        overrides = clientcmd.ConfigOverrides()
        parser = argparse.ArgumentParser()
        clientcmd.bind_override_flags(overrides, parser, clientcmd.recommended_config_override_flags(""))
        parser.parse_args(["--namespace", f"{prefix}foo", "--as-group=a", "--as-group=b", "--insecure-skip-tls-verify"])
        assert overrides.context.namespace == "foo"
        assert overrides.auth_info.impersonate_groups == ["a", "b"]
        assert overrides.cluster_info.insecure_skip_tls_verify


def test_timeouts():
    assert clientcmd.parse_timeout("30") == 30.0
    assert clientcmd.parse_timeout("1m30s") == 90.0
    with pytest.raises(ValueError, match="Invalid timeout value"):
        clientcmd.parse_timeout("soon")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file")
@pytest.mark.parametrize(
    ("section", "field"),
    [
        ("clusters", "certificate-authority"),
        ("users", "client-certificate"),
        ("users", "client-key"),
        ("users", "tokenFile"),
    ],
)
def test_a_file_without_an_end_is_an_error(section: str, field: str) -> None:
    document: dict[str, Any] = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    document[section][0][section[:-1]][field] = "/dev/zero"
    if field.startswith("client"):
        document["users"][0]["user"] = {"client-certificate": "/dev/zero", "client-key": "/dev/zero"}
    with pytest.raises((OSError, ValueError), match="(?i)file too large"):
        rest.http_client_for(clientcmd.rest_config_from_kube_config(json.dumps(document).encode()))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file")
def test_no_reader_of_credentials_reads_a_file_without_an_end(tmp_path: Path) -> None:
    readers: list[Callable[[], object]] = [
        lambda: read_file("/dev/zero"),
        lambda: clientauth.load_from_file("/dev/zero"),
        lambda: flatten_content("/dev/zero", b"", ""),
        lambda: transport.new_cached_file_token_source("/dev/zero").token(),
        clientcmd.ClientConfigLoadingRules(migration_rules={str(tmp_path / "new"): "/dev/zero"}).migrate,
    ]
    for read in readers:
        with pytest.raises(OSError, match="(?i)file too large"):
            read()
    assert not (tmp_path / "new").exists()


def test_a_file_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(b"x" * 5)
    assert read_file(path, 5) == b"x" * 5
    with pytest.raises(OSError, match="(?i)file too large"):
        read_file(path, 4)


def test_a_kubeconfig_without_a_current_context_names_its_contexts_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING")
    config = good()
    config.contexts["staging\x1b[2J"] = config.contexts["clean"]
    config.current_context = ""
    for _ in range(2):
        with pytest.raises(Exception, match="no configuration has been provided"):
            built(config, context="")
    [record] = caplog.records
    assert 'choose one of its contexts: "clean", "staging\\x1b[2J"' in record.getMessage()
    caplog.clear()
    with pytest.raises(Exception, match="no configuration has been provided"):
        built(api.Config(), context="")
    assert caplog.records == []
