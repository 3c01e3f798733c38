"""The construction of a rest config from a kubeconfig, overrides and the environment.

Mirrors tools/clientcmd/client_config.go.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from typing import Protocol, TextIO, TypeVar
from urllib.parse import urlsplit, urlunsplit

from clientgo import klog
from clientgo.golang.io import read_file
from clientgo.golang.strconv import quote
from clientgo.rest import config as rest
from clientgo.rest.plugin import AuthProviderConfigPersister
from clientgo.tools import auth
from clientgo.tools.clientcmd.api import AuthInfo, Cluster, Config, Context
from clientgo.tools.clientcmd.auth_loaders import new_prompting_auth_loader
from clientgo.tools.clientcmd.config import ConfigAccess, persister_for_user
from clientgo.tools.clientcmd.helpers import file_error, parse_proxy_url, parse_timeout
from clientgo.tools.clientcmd.loader import (
    ClientConfigGetter,
    ClientConfigLoadingRules,
    KubeconfigGetter,
    load,
    new_default_client_config_loading_rules,
)
from clientgo.tools.clientcmd.merge import merge
from clientgo.tools.clientcmd.overrides import ConfigOverrides
from clientgo.tools.clientcmd.validation import (
    ErrEmptyCluster,
    ErrEmptyConfig,
    context_not_found,
    raise_if_invalid,
    validate_auth_info,
    validate_cluster_info,
)

T = TypeVar("T")

# The cluster's extension for plugins.
_CLUSTER_EXTENSION_KEY = "client.authentication.k8s.io/exec"

_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def _get_default_server() -> str:
    return os.environ.get("KUBERNETES_MASTER") or "http://localhost:8080"


class ClientConfig(Protocol):
    """A source of a rest config."""

    def raw_config(self) -> Config:
        """Return the loaded config, without overrides."""
        ...

    def client_config(self) -> rest.Config:
        """Return the rest config."""
        ...

    def namespace(self) -> tuple[str, bool]:
        """Return the namespace, and whether it was overridden."""
        ...

    def config_access(self) -> ConfigAccess | None:
        """Return the access to the config's files."""
        ...


class OverridingClientConfig(ClientConfig, Protocol):
    """A ClientConfig that can return the config with its overrides."""

    def merged_raw_config(self) -> Config:
        """Return the config with all overrides applied."""
        ...


PersistAuthProviderConfigForUser = Callable[[str], AuthProviderConfigPersister]


class DirectClientConfig:
    """A loaded config with overrides, and an optional reader for prompts. Not thread-safe."""

    def __init__(
        self,
        config: Config,
        context_name: str = "",
        overrides: ConfigOverrides | None = None,
        fallback_reader: TextIO | None = None,
        config_access: ConfigAccess | None = None,
    ) -> None:
        self._config = config
        self._context_name = context_name
        self._overrides = overrides
        self._fallback_reader = fallback_reader
        self._config_access = config_access
        # The credentials that the user typed, so that they are requested only once.
        self._prompted: tuple[str, str] | None = None

    def raw_config(self) -> Config:
        """See ClientConfig."""
        return self._config

    def merged_raw_config(self) -> Config:
        """See OverridingClientConfig. Raises the errors of an unusable config."""
        self.confirm_usable()
        merged = self._config.deep_copy()
        merged.auth_infos[self._auth_info_name()[0]] = self._auth_info()
        merged.current_context = self._chosen_context_name()[0]
        merged.contexts[merged.current_context] = self._context()
        merged.clusters[self._cluster_name()[0]] = self._cluster()
        return merged

    def client_config(self) -> rest.Config:
        """See ClientConfig.

        Reads the referenced files. Raises ValueError, OSError, or one error with all problems.
        """
        # A missing name is the most useful error, so check it first.
        info = self._auth_info()
        self._context()
        cluster = self._cluster()
        self.confirm_usable()
        config = rest.Config(host=_without_query(cluster.server), disable_compression=cluster.disable_compression)
        if cluster.proxy_url:
            proxy_url = parse_proxy_url(cluster.proxy_url)
            config.proxy = lambda url: proxy_url
        if self._overrides is not None and self._overrides.timeout:
            config.timeout = parse_timeout(self._overrides.timeout)
        if info.impersonate:
            config.impersonate = _impersonation(info)
        # Never send credentials over an unencrypted connection.
        if rest.is_config_transport_tls(config):
            merge(config, self._user_identification(info, cluster))
            merge(config, _server_identification(cluster))
        return config

    def _user_identification(self, info: AuthInfo, cluster: Cluster) -> rest.Config:
        """Return a config with the user's credentials. Prompts for missing ones if a reader is available."""
        config = rest.Config()
        if info.token:
            config.bearer_token = info.token
            config.bearer_token_file = info.token_file
        elif info.token_file:
            config.bearer_token = _read_text(info.token_file)
            config.bearer_token_file = info.token_file
        if info.impersonate:
            config.impersonate = _impersonation(info)
        if info.client_certificate or info.client_certificate_data:
            config.cert_file = info.client_certificate
            config.cert_data = info.client_certificate_data
            config.key_file = info.client_key
            config.key_data = info.client_key_data
        if info.username or info.password:
            config.username = info.username
            config.password = info.password
        if info.auth_provider is not None:
            _load_auth_provider(info.auth_provider.name)
            config.auth_provider = info.auth_provider
            config.auth_config_persister = self._persister()
        if info.exec is not None:
            provider = info.exec.deep_copy()
            provider.install_hint = _clean_ansi_escape_codes(provider.install_hint)
            provider.config = cluster.extensions.get(_CLUSTER_EXTENSION_KEY)
            config.exec_provider = provider
        if _can_identify_user(config) or self._fallback_reader is None:
            return config
        return self._prompt(config, self._fallback_reader)

    def _persister(self) -> AuthProviderConfigPersister | None:
        if self._config_access is None:
            return None
        return persister_for_user(self._config_access, self._auth_info_name()[0])

    def _prompt(self, config: rest.Config, reader: TextIO) -> rest.Config:
        if self._prompted is None:
            prompted = _user_identification_config(new_prompting_auth_loader(reader).prompt())
            merge(prompted, config)
            self._prompted = prompted.username, prompted.password
            return prompted
        config.username, config.password = self._prompted
        return config

    def namespace(self) -> tuple[str, bool]:
        """See ClientConfig: "default" if no namespace is set."""
        # Also for an unusable config, so that an in-cluster client can use only the namespace.
        if self._overrides is not None and self._overrides.context.namespace:
            return self._overrides.context.namespace, True
        self.confirm_usable()
        return self._context().namespace or "default", False

    def config_access(self) -> ConfigAccess | None:
        """See ClientConfig."""
        return self._config_access

    def confirm_usable(self) -> None:
        """Validate the entries of the chosen context. Raises one error with all problems. Go: ConfirmUsable."""
        errors: list[BaseException] = []
        context_name = self._context_name or self._config.current_context
        if context_name and context_name not in self._config.contexts:
            errors.append(context_not_found(context_name))
        errors += validate_auth_info(self._auth_info_name()[0], _or_none(self._auth_info) or AuthInfo())
        errors += validate_cluster_info(self._cluster_name()[0], _or_none(self._cluster))
        if len(errors) == 1 and isinstance(errors[0], ErrEmptyCluster):
            errors = [ErrEmptyConfig()]
            if self._config.contexts and not context_name:
                _log_no_context(sorted(self._config.contexts))
        raise_if_invalid(errors)

    # Each of the three names has a flag that an override chose it: then it must exist.

    def _chosen_context_name(self) -> tuple[str, bool]:
        if self._overrides is not None and self._overrides.current_context:
            return self._overrides.current_context, True
        return self._context_name or self._config.current_context, False

    def _auth_info_name(self) -> tuple[str, bool]:
        if self._overrides is not None and self._overrides.context.auth_info:
            return self._overrides.context.auth_info, True
        return (_or_none(self._context) or Context()).auth_info, False

    def _cluster_name(self) -> tuple[str, bool]:
        if self._overrides is not None and self._overrides.context.cluster:
            return self._overrides.context.cluster, True
        return (_or_none(self._context) or Context()).cluster, False

    def _context(self) -> Context:
        name, required = self._chosen_context_name()
        merged = Context()
        if name in self._config.contexts:
            merge(merged, self._config.contexts[name])
        elif required:
            raise ValueError(f'context "{name}" does not exist')
        if self._overrides is not None:
            merge(merged, self._overrides.context)
        return merged

    def _auth_info(self) -> AuthInfo:
        name, required = self._auth_info_name()
        merged = AuthInfo()
        if name in self._config.auth_infos:
            merge(merged, self._config.auth_infos[name])
        elif required:
            raise ValueError(f'auth info "{name}" does not exist')
        if self._overrides is not None:
            override = self._overrides.auth_info
            merge(merged, override)
            # An override by file must not be combined with data of the config, and vice versa.
            if override.client_key or override.client_key_data:
                merged.client_key = override.client_key
                merged.client_key_data = override.client_key_data
            if override.client_certificate or override.client_certificate_data:
                merged.client_certificate = override.client_certificate
                merged.client_certificate_data = override.client_certificate_data
        return merged

    def _cluster(self) -> Cluster:
        name, required = self._cluster_name()
        merged = Cluster()
        if self._overrides is not None:
            merge(merged, self._overrides.cluster_defaults)
        if name in self._config.clusters:
            merge(merged, self._config.clusters[name])
        elif required:
            raise ValueError(f'cluster "{name}" does not exist')
        if self._overrides is not None:
            _override_cluster(merged, self._overrides.cluster_info)
        return merged

    def __repr__(self) -> str:
        return f"<DirectClientConfig context {self._chosen_context_name()[0]!r}>"


def _override_cluster(merged: Cluster, override: Cluster) -> None:
    merge(merged, override)
    # Skipping verification clears the authority, and another authority enables verification again.
    if override.insecure_skip_tls_verify or override.certificate_authority or override.certificate_authority_data:
        merged.insecure_skip_tls_verify = override.insecure_skip_tls_verify
        merged.certificate_authority = override.certificate_authority
        merged.certificate_authority_data = override.certificate_authority_data
    # The server name belongs to the overridden server.
    if override.tls_server_name or override.server:
        merged.tls_server_name = override.tls_server_name


def _or_none(get: Callable[[], T]) -> T | None:
    try:
        return get()
    except ValueError:
        return None


# The warnings logged so far. `set.add` is atomic; two concurrent threads may log a warning twice.
_logged: set[str] = set()


def _log_no_context(contexts: list[str]) -> None:
    """Log once that a kubeconfig has contexts but no current one. Go's error reads as if the file were missing."""
    text = (
        "the kubeconfig has no current-context: set it (kubectl config use-context), or choose one of its contexts: "
        f"{', '.join(map(quote, contexts[:10]))}{', ...' if len(contexts) > 10 else ''}"
    )
    if text not in _logged:
        _logged.add(text)
        klog.warning(text)


def _without_query(server: str) -> str:
    """Return the server's URL; a URL with a path loses its query and fragment."""
    try:
        parts = urlsplit(server)
    except ValueError:
        return server
    if parts.scheme and len(parts.path) > 1 and parts.netloc:
        return urlunsplit(parts._replace(query="", fragment=""))
    return server


def _impersonation(info: AuthInfo) -> rest.ImpersonationConfig:
    return rest.ImpersonationConfig(
        user_name=info.impersonate,
        uid=info.impersonate_uid,
        groups=list(info.impersonate_groups),
        extra=dict(info.impersonate_user_extra),
    )


def _read_text(path: str) -> str:
    try:
        return read_file(path).decode("utf-8", "surrogateescape")
    except OSError as err:
        raise file_error("open", path, err) from err


def _server_identification(cluster: Cluster) -> rest.Config:
    return rest.Config(
        ca_file=cluster.certificate_authority,
        ca_data=cluster.certificate_authority_data,
        insecure=cluster.insecure_skip_tls_verify,
        server_name=cluster.tls_server_name,
    )


def _user_identification_config(info: auth.Info) -> rest.Config:
    return rest.Config(
        username=info.user,
        password=info.password,
        cert_file=info.cert_file,
        key_file=info.key_file,
        bearer_token=info.bearer_token,
    )


def _load_auth_provider(name: str) -> None:
    """Import a provider of this library, which registers it. In Go the program imports it."""
    if name == "oidc":
        # Imported here, since few kubeconfigs need it.
        import clientgo.plugin.pkg.client.auth.oidc  # noqa: F401


def _can_identify_user(config: rest.Config) -> bool:
    return bool(
        config.username
        or config.cert_file
        or config.cert_data
        or config.bearer_token
        or config.auth_provider is not None
        or config.exec_provider is not None
    )


def _clean_ansi_escape_codes(text: str) -> str:
    """Replace control characters by U+1234 notation, so that the text cannot affect a terminal."""
    return "".join(char if _is_harmless(char) else f"U+{ord(char):04X}" for char in text)


def _is_harmless(char: str) -> bool:
    return char in "\t\n\v\f\r" or unicodedata.category(char)[0] in "LMNPSZ"


def new_default_client_config(config: Config, overrides: ConfigOverrides | None) -> OverridingClientConfig:
    """Return a client config with the config's own current context. Go: NewDefaultClientConfig."""
    access = new_default_client_config_loading_rules()
    return DirectClientConfig(config, config.current_context, overrides, None, access)


def new_non_interactive_client_config(
    config: Config, context_name: str, overrides: ConfigOverrides | None, config_access: ConfigAccess | None
) -> OverridingClientConfig:
    """Return a client config for a given context that never prompts. Go: NewNonInteractiveClientConfig."""
    return DirectClientConfig(config, context_name, overrides, None, config_access)


def new_interactive_client_config(
    config: Config,
    context_name: str,
    overrides: ConfigOverrides | None,
    fallback_reader: TextIO | None,
    config_access: ConfigAccess | None,
) -> OverridingClientConfig:
    """Return a client config for a given context that prompts for missing credentials.

    Go: NewInteractiveClientConfig.
    """
    return DirectClientConfig(config, context_name, overrides, fallback_reader, config_access)


def new_client_config_from_bytes(config_bytes: bytes) -> OverridingClientConfig:
    """Return a client config from a kubeconfig's content. Raises ValueError. Go: NewClientConfigFromBytes."""
    return DirectClientConfig(load(config_bytes), "", ConfigOverrides())


def rest_config_from_kube_config(config_bytes: bytes) -> rest.Config:
    """Return a rest config from a kubeconfig's content. Raises the errors of client_config.

    Go: RESTConfigFromKubeConfig.
    """
    return new_client_config_from_bytes(config_bytes).client_config()


class _InClusterClientConfig:
    """The config of a pod, with overrides."""

    def __init__(
        self,
        overrides: ConfigOverrides | None,
        in_cluster_config_provider: Callable[[], rest.Config] = rest.in_cluster_config,
        service_account: str = _SERVICE_ACCOUNT,
    ) -> None:
        self._overrides = overrides
        self._provider = in_cluster_config_provider
        self._service_account = service_account

    def raw_config(self) -> Config:
        raise ValueError("inCluster environment config doesn't support multiple clusters")

    def client_config(self) -> rest.Config:
        config = self._provider()
        if self._overrides is not None:
            cluster, info = self._overrides.cluster_info, self._overrides.auth_info
            config.host = cluster.server or config.host
            if info.token or info.token_file:
                config.bearer_token = info.token
                config.bearer_token_file = info.token_file
            config.ca_file = cluster.certificate_authority or config.ca_file
        return config

    def namespace(self) -> tuple[str, bool]:
        if name := os.environ.get("POD_NAMESPACE"):
            return name, False
        try:
            name = _read_text(f"{self._service_account}/namespace").strip()
        except OSError:
            name = ""
        return name or "default", False

    def config_access(self) -> ConfigAccess:
        return new_default_client_config_loading_rules()

    def possible(self) -> bool:
        """Report whether this process runs in a pod with a service account."""
        in_pod = os.environ.get("KUBERNETES_SERVICE_HOST") and os.environ.get("KUBERNETES_SERVICE_PORT")
        return bool(in_pod) and os.path.isfile(f"{self._service_account}/token")


def build_config_from_flags(master_url: str, kubeconfig_path: str) -> rest.Config:
    """Return a rest config from the two common flags of controllers; without them, the pod's config.

    Raises OSError, ValueError, or one error with all problems of the kubeconfig. Go: BuildConfigFromFlags.
    """
    from clientgo.tools.clientcmd.merged_client_builder import new_non_interactive_deferred_loading_client_config

    if not kubeconfig_path and not master_url:
        klog.warning(
            "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work."
        )
        try:
            return rest.in_cluster_config()
        except (rest.ErrNotInCluster, OSError) as err:
            klog.warning("error creating inClusterConfig, falling back to default config: ", err)
    return new_non_interactive_deferred_loading_client_config(
        ClientConfigLoadingRules(explicit_path=kubeconfig_path),
        ConfigOverrides(cluster_info=Cluster(server=master_url)),
    ).client_config()


def build_config_from_kubeconfig_getter(master_url: str, kubeconfig_getter: KubeconfigGetter) -> rest.Config:
    """Return a rest config from a function that loads the kubeconfig. Go: BuildConfigFromKubeconfigGetter."""
    from clientgo.tools.clientcmd.merged_client_builder import new_non_interactive_deferred_loading_client_config

    return new_non_interactive_deferred_loading_client_config(
        ClientConfigGetter(kubeconfig_getter), ConfigOverrides(cluster_info=Cluster(server=master_url))
    ).client_config()


# Deprecated in Go: a config without any file, whose server comes from KUBERNETES_MASTER.
CLUSTER_DEFAULTS = Cluster(server=_get_default_server())
DEFAULT_CLIENT_CONFIG = DirectClientConfig(
    Config(),
    "",
    ConfigOverrides(cluster_defaults=CLUSTER_DEFAULTS),
    None,
    new_default_client_config_loading_rules(),
)
