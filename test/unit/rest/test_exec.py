"""The cluster information for exec plugins, and a config made from it. Go: rest/exec_test.go."""

from __future__ import annotations

import pytest

from clientgo import rest
from clientgo.pkg.apis.clientauthentication import Cluster
from clientgo.tools.clientcmd import api


def config(**settings: object) -> rest.Config:
    values = {"host": "https://h:6443", "server_name": "n", "insecure": True, **settings}
    return rest.Config(**values)  # type: ignore[arg-type]


def cluster(**settings: object) -> Cluster:
    values = {"server": "https://h:6443", "tls_server_name": "n", "insecure_skip_tls_verify": True, **settings}
    return Cluster(**values)  # type: ignore[arg-type]


def test_a_cluster_has_what_the_config_says_of_it_and_no_credentials(tmp_path):
    """
    Go: TestConfigToExecCluster/CA data from memory
    Go: TestConfigToExecCluster/CA data from file
    Go: TestConfigToExecCluster/nil proxy
    Go: TestConfigToExecCluster/proxy returns nil
    """
    (tmp_path / "ca").write_bytes(b"authority")
    secrets = {"username": "u", "password": "p", "cert_data": b"c", "key_data": b"k", "bearer_token": "t"}
    provider = api.ExecConfig(command="c", config={"audience": "x"})
    for authority in ({"ca_data": b"authority"}, {"ca_file": str(tmp_path / "ca")}):
        made = rest.config_to_exec_cluster(config(**authority, **secrets, exec_provider=provider))
        assert made == cluster(certificate_authority_data=b"authority", config={"audience": "x"})
    assert rest.config_to_exec_cluster(config(proxy=lambda url: None)) == cluster()
    assert rest.config_to_exec_cluster(config(proxy=lambda url: f"{url}/proxy")) == cluster(
        proxy_url="https://h:6443/proxy"
    )


def test_an_unusable_cluster_config_is_reported(tmp_path):
    """
    Go: TestConfigToExecCluster/no CA data
    Go: TestConfigToExecCluster/bad proxy
    """
    with pytest.raises(OSError, match="failed to load CA bundle for execProvider: "):
        rest.config_to_exec_cluster(config(ca_file=str(tmp_path / "none")))

    def broken(url: str) -> str:
        raise OSError("some proxy error")

    with pytest.raises(ValueError, match="failed to get proxy URL for execProvider: some proxy error"):
        rest.config_to_exec_cluster(config(proxy=broken))


@pytest.mark.parametrize("more", [{}, {"proxy_url": "http://p:3128"}, {"disable_compression": True}])
def test_a_config_from_a_cluster_gives_that_cluster_again(more):
    """Go: TestExecClusterToConfigRoundtrip, TestConfigToExecClusterRoundtrip"""
    cluster_info = cluster(certificate_authority_data=b"ca", **more)
    made = rest.exec_cluster_to_config(cluster_info)
    assert rest.config_to_exec_cluster(made) == cluster_info
    assert (made.username, made.bearer_token, made.cert_data, made.exec_provider) == ("", "", b"", None)


@pytest.mark.parametrize("provides_cluster_info", [True, False])
def test_the_plugin_of_a_config_gives_the_transport_its_credentials(provides_cluster_info, monkeypatch):
    """The plugin also gets the cluster information if it asks for it."""
    asked = []

    class Authenticator:
        def update_transport_config(self, conf):
            conf.bearer_token = "of the plugin"

    def get_authenticator(provider, about):
        asked.append((provider.command, about))
        return Authenticator()

    monkeypatch.setattr("clientgo.plugin.pkg.client.auth.exec.get_authenticator", get_authenticator)
    provider = api.ExecConfig(command="c", provide_cluster_info=provides_cluster_info)
    made = config(exec_provider=provider).transport_config()
    assert made.bearer_token == "of the plugin"
    assert asked == [("c", cluster() if provides_cluster_info else None)]
