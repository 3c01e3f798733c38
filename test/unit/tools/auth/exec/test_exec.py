"""A plugin reads its cluster from the environment, as a client writes it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from clientgo.pkg.apis.clientauthentication import Cluster, ExecCredential, ExecCredentialSpec
from clientgo.rest import Config, config_to_exec_cluster
from clientgo.tools.auth import exec
from clientgo.tools.clientcmd import api

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
CONFIG = {"apiVersion": "group/v1", "kind": "PluginConfig", "spec": {"names": ["marshmallow", "zelda"]}}


def cluster(**fields: Any) -> Cluster:
    wanted: dict[str, Any] = {
        "server": "https://some-server/some/path",
        "tls_server_name": "some-server-name",
        "insecure_skip_tls_verify": True,
        "certificate_authority_data": b"some-ca-data",
        "proxy_url": "https://some-proxy-url:12345",
        "disable_compression": True,
        "config": CONFIG,
        **fields,
    }
    return Cluster(**wanted)


def written(version: str, found: Cluster | None) -> bytes:
    return ExecCredential(spec=ExecCredentialSpec(cluster=found, interactive=True)).encode(version)


@pytest.mark.parametrize(
    ("version", "config"),
    [
        pytest.param(V1, CONFIG, id="v1 happy path"),
        pytest.param(V1BETA1, CONFIG, id="v1beta1 happy path"),
        pytest.param(V1, None, id="v1 nil config"),
        pytest.param(V1BETA1, None, id="v1beta1 nil config"),
    ],
)
def test_the_cluster_of_the_environment_is_loaded(version: str, config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go: TestLoadExecCredential"""
    monkeypatch.setenv("KUBERNETES_EXEC_INFO", written(version, cluster(config=config)).decode())
    credential, found = exec.load_exec_credential_from_env()

    assert credential == ExecCredential(spec=ExecCredentialSpec(cluster=cluster(config=config), interactive=True))
    assert (found.host, found.server_name, found.insecure) == (
        "https://some-server/some/path",
        "some-server-name",
        True,
    )
    assert (found.ca_data, found.disable_compression) == (b"some-ca-data", True)
    assert found.proxy is not None
    assert found.proxy("https://any") == "https://some-proxy-url:12345"
    assert (found.bearer_token, found.username, found.cert_data, found.exec_provider) == ("", "", b"", None)


INVALID = Cluster(proxy_url="invalid- url\n")


def document(**changes: Any) -> bytes:
    return json.dumps({**json.loads(written(V1, cluster())), **changes}).encode()


def of_cluster(**fields: Any) -> bytes:
    return document(spec={"cluster": {"server": "https://h", **fields}})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            written(V1, INVALID), "cannot create rest.Config: cannot parse proxy URL", id="v1 invalid cluster"
        ),
        pytest.param(written(V1BETA1, INVALID), "cannot create rest.Config", id="v1beta1 invalid cluster"),
        pytest.param(
            of_cluster(**{"proxy-url": "http://h:port"}), "cannot create rest.Config: cannot parse", id="port of proxy"
        ),
        pytest.param(written(V1, None), "ExecCredential does not contain cluster information", id="v1 nil cluster"),
        pytest.param(written(V1BETA1, None), "ExecCredential does not contain cluster", id="v1beta1 nil cluster"),
        pytest.param(
            b'{"kind":"Status","apiVersion":"v1"}',
            "invalid group/kind: wanted ExecCredential.client.authentication.k8s.io, got Status",
            id="invalid object kind",
        ),
        pytest.param(b"\x00\xff", "decode: ", id="bad data"),
        pytest.param(b"[]", "decode: couldn't get version/kind", id="list"),
        pytest.param(document(apiVersion=f"{V1}2"), "decode: no kind", id="unknown version"),
        pytest.param(document(apiVersion=3), "invalid group/kind", id="number as version"),
        pytest.param(document(spec=[]), "ExecCredential does not contain cluster", id="list as spec"),
        pytest.param(of_cluster(server=3), "decode: spec.cluster.server is no string", id="number"),
        pytest.param(
            of_cluster(**{"disable-compression": "x"}), "decode: spec.cluster.disable-compression is no bool", id="text"
        ),
        pytest.param(
            of_cluster(**{"certificate-authority-data": "?"}),
            "decode: spec.cluster.certificate-authority",
            id="no Base64",
        ),
    ],
)
def test_other_data_is_an_error(data: bytes, message: str) -> None:
    """Go: TestLoadExecCredential"""
    with pytest.raises(ValueError) as caught:
        exec.load_exec_credential(data)
    assert str(caught.value).startswith(message)


def test_an_empty_environment_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_EXEC_INFO", "")
    with pytest.raises(ValueError, match="KUBERNETES_EXEC_INFO env var is unset or empty"):
        exec.load_exec_credential_from_env()


def test_a_plugins_cluster_has_the_fields_of_a_kubeconfigs_cluster() -> None:
    """Go: TestClientAuthenticationClusterTypesAreSynced."""
    of_plugins = {each.name: each.type for each in dataclasses.fields(Cluster)}
    of_kubeconfigs = {each.name: each.type for each in dataclasses.fields(api.Cluster)}
    # The authority is given as data, and the extension for plugins as `config`.
    assert of_plugins.pop("config") == "Any"
    for name in ("location_of_origin", "certificate_authority", "extensions"):
        del of_kubeconfigs[name]
    assert of_plugins == of_kubeconfigs


def test_a_plugins_cluster_is_made_from_every_field_of_the_config() -> None:
    """Go: TestAllClusterTypesAreSynced."""
    config = Config(
        host="https://h",
        server_name="name",
        insecure=True,
        proxy=lambda url: "https://proxy:1",
        disable_compression=True,
        exec_provider=api.ExecConfig(config={"a": 1}),
    )
    made = config_to_exec_cluster(config)
    assert made == Cluster(
        server="https://h",
        tls_server_name="name",
        insecure_skip_tls_verify=True,
        proxy_url="https://proxy:1",
        disable_compression=True,
        config={"a": 1},
    )
    with_data = config_to_exec_cluster(Config(host="https://h", ca_data=b"ca"))
    assert with_data.certificate_authority_data == b"ca"
    set_fields = {name for each in (made, with_data) for name, value in vars(each).items() if value}
    assert set_fields == {each.name for each in dataclasses.fields(Cluster)}
