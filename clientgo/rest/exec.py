"""Cluster information for exec plugins. Mirrors rest/exec.go."""

from __future__ import annotations

from urllib.parse import urlsplit

from clientgo.pkg.apis.clientauthentication import Cluster
from clientgo.rest.config import Config, data_from_slice_or_file


def config_to_exec_cluster(config: Config) -> Cluster:
    """Return the cluster information for an exec plugin. Go: ConfigToExecCluster.

    Raises OSError for an unreadable authority, ValueError when the config's proxy function fails.
    """
    try:
        ca_data = data_from_slice_or_file(config.ca_data, config.ca_file)
    except OSError as err:
        raise OSError(f"failed to load CA bundle for execProvider: {err}") from err
    return Cluster(
        server=config.host,
        tls_server_name=config.server_name,
        insecure_skip_tls_verify=config.insecure,
        certificate_authority_data=ca_data,
        proxy_url=_proxy_url(config),
        disable_compression=config.disable_compression,
        config=config.exec_provider.config if config.exec_provider is not None else None,
    )


def _proxy_url(config: Config) -> str:
    if config.proxy is None:
        return ""
    try:
        return config.proxy(config.host) or ""
    except Exception as err:
        raise ValueError(f"failed to get proxy URL for execProvider: {err}") from err


def exec_cluster_to_config(cluster: Cluster) -> Config:
    """Return a config without credentials for that cluster. Raises ValueError for a malformed URL of its proxy.

    Go: ExecClusterToConfig.
    """
    proxy_url = cluster.proxy_url
    try:
        if not proxy_url.isprintable():
            raise ValueError("invalid control character in URL")
        _ = urlsplit(proxy_url).port
    except ValueError as err:
        raise ValueError(f"cannot parse proxy URL: {err}") from None
    return Config(
        host=cluster.server,
        insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
        ca_data=cluster.certificate_authority_data,
        proxy=(lambda url: proxy_url) if proxy_url else None,
        disable_compression=cluster.disable_compression,
    )
