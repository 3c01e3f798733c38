"""Overrides of the kubeconfig, and their command line flags. Mirrors tools/clientcmd/overrides.go.

Difference: flags are bound to an argparse parser; where Go takes a pointer to the variable, these functions take the
object and the attribute's name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from clientgo.golang.strconv import parse_bool
from clientgo.tools.clientcmd.api import AuthInfo, Cluster, Context
from clientgo.tools.clientcmd.flag import FlagAction, appending, setting

_Bound = WeakValueDictionary[str, FlagAction]

# The bound flags of each parser by long name, which argparse does not expose. Holds no strong references. As in
# argparse, a parser belongs to one thread.
_BOUND: WeakKeyDictionary[argparse.ArgumentParser, _Bound] = WeakKeyDictionary()


@dataclass(kw_only=True)
class ConfigOverrides:
    """Values that take precedence over the loaded config; at most one user, cluster and context."""

    auth_info: AuthInfo = field(default_factory=AuthInfo)
    # Merged below the loaded cluster.
    cluster_defaults: Cluster = field(default_factory=Cluster)
    cluster_info: Cluster = field(default_factory=Cluster)
    context: Context = field(default_factory=Context)
    current_context: str = ""
    timeout: str = ""


@dataclass(frozen=True)
class FlagInfo:
    """A command line flag; without a long name it is not bound."""

    long_name: str = ""
    short_name: str = ""
    default: str = ""
    description: str = ""

    def add_secret_annotation(self, flags: argparse.ArgumentParser) -> FlagInfo:
        """Mark the value of a bound flag as a secret: its action then has `classified` set. Go: AddSecretAnnotation."""
        action = _BOUND.get(flags, _Bound()).get(self.long_name)
        if action is not None:
            action.classified = True
        return self

    def bind_string_flag(self, flags: argparse.ArgumentParser, target: object, attr: str) -> FlagInfo:
        """Make the flag set a text attribute. Go: BindStringFlag."""
        return self.bind_transforming_string_flag(flags, target, attr, str)

    def bind_transforming_string_flag(
        self, flags: argparse.ArgumentParser, target: object, attr: str, transformer: Callable[[str], str]
    ) -> FlagInfo:
        """Make the flag set a string attribute to the result of `transformer`, which may raise ValueError.

        Go: BindTransformingStringFlag.
        """
        if self.long_name:
            setattr(target, attr, self.default)
            self._add_argument(flags, setting(target, attr, transformer))
        return self

    def bind_string_array_flag(self, flags: argparse.ArgumentParser, target: object, attr: str) -> FlagInfo:
        """Make each use of the flag append to a list attribute. Go: BindStringArrayFlag."""
        if self.long_name:
            setattr(target, attr, [self.default] if self.default else [])
            self._add_argument(flags, appending(target, attr))
        return self

    def bind_bool_flag(self, flags: argparse.ArgumentParser, target: object, attr: str) -> FlagInfo:
        """Make the flag set a bool attribute: --flag or --flag=false. Go: BindBoolFlag."""
        if self.long_name:
            try:
                value = parse_bool(self.default)
            except ValueError:
                value = False
            setattr(target, attr, value)
            self._add_argument(flags, setting(target, attr, parse_bool), nargs="?", const="true")
        return self

    def _add_argument(self, flags: argparse.ArgumentParser, action: type[FlagAction], **options: Any) -> None:
        added = flags.add_argument(*self._names(), action=action, help=self._help(), **options)
        assert isinstance(added, FlagAction)
        _BOUND.setdefault(flags, _Bound())[self.long_name] = added

    def _names(self) -> list[str]:
        return ([f"-{self.short_name}"] if self.short_name else []) + [f"--{self.long_name}"]

    def _help(self) -> str:
        return self.description.replace("%", "%%")


@dataclass(frozen=True, kw_only=True)
class AuthOverrideFlags:
    """The flags of a user."""

    client_certificate: FlagInfo = FlagInfo()
    client_key: FlagInfo = FlagInfo()
    token: FlagInfo = FlagInfo()
    impersonate: FlagInfo = FlagInfo()
    impersonate_uid: FlagInfo = FlagInfo()
    impersonate_groups: FlagInfo = FlagInfo()
    username: FlagInfo = FlagInfo()
    password: FlagInfo = FlagInfo()


@dataclass(frozen=True, kw_only=True)
class ContextOverrideFlags:
    """The flags of a context."""

    cluster_name: FlagInfo = FlagInfo()
    auth_info_name: FlagInfo = FlagInfo()
    namespace: FlagInfo = FlagInfo()


@dataclass(frozen=True, kw_only=True)
class ClusterOverrideFlags:
    """The flags of a cluster."""

    api_server: FlagInfo = FlagInfo()
    api_version: FlagInfo = FlagInfo()
    certificate_authority: FlagInfo = FlagInfo()
    insecure_skip_tls_verify: FlagInfo = FlagInfo()
    tls_server_name: FlagInfo = FlagInfo()
    proxy_url: FlagInfo = FlagInfo()
    disable_compression: FlagInfo = FlagInfo()


@dataclass(frozen=True, kw_only=True)
class ConfigOverrideFlags:
    """The flags of all overrides."""

    auth_override_flags: AuthOverrideFlags = AuthOverrideFlags()
    cluster_override_flags: ClusterOverrideFlags = ClusterOverrideFlags()
    context_override_flags: ContextOverrideFlags = ContextOverrideFlags()
    current_context: FlagInfo = FlagInfo()
    timeout: FlagInfo = FlagInfo()


FLAG_CLUSTER_NAME = "cluster"
FLAG_AUTH_INFO_NAME = "user"
FLAG_CONTEXT = "context"
FLAG_NAMESPACE = "namespace"
FLAG_API_SERVER = "server"
FLAG_TLS_SERVER_NAME = "tls-server-name"
FLAG_INSECURE = "insecure-skip-tls-verify"
FLAG_CERT_FILE = "client-certificate"
FLAG_KEY_FILE = "client-key"
FLAG_CA_FILE = "certificate-authority"
FLAG_EMBED_CERTS = "embed-certs"
FLAG_BEARER_TOKEN = "token"
FLAG_IMPERSONATE = "as"
FLAG_IMPERSONATE_UID = "as-uid"
FLAG_IMPERSONATE_GROUP = "as-group"
FLAG_USERNAME = "username"
FLAG_PASSWORD = "password"
FLAG_TIMEOUT = "request-timeout"
FLAG_PROXY_URL = "proxy-url"
FLAG_DISABLE_COMPRESSION = "disable-compression"


def recommended_config_override_flags(prefix: str) -> ConfigOverrideFlags:
    """Return the common flags, with a prefix before each name. Go: RecommendedConfigOverrideFlags."""
    return ConfigOverrideFlags(
        auth_override_flags=recommended_auth_override_flags(prefix),
        cluster_override_flags=recommended_cluster_override_flags(prefix),
        context_override_flags=recommended_context_override_flags(prefix),
        current_context=FlagInfo(prefix + FLAG_CONTEXT, "", "", "The kubeconfig context to use"),
        timeout=FlagInfo(
            prefix + FLAG_TIMEOUT,
            "",
            "0",
            "How long to wait for a single server request, with a unit (1s, 2m, 3h); zero waits for ever",
        ),
    )


def recommended_auth_override_flags(prefix: str) -> AuthOverrideFlags:
    """Return the common flags of a user. Go: RecommendedAuthOverrideFlags."""
    return AuthOverrideFlags(
        client_certificate=FlagInfo(prefix + FLAG_CERT_FILE, "", "", "File with the client certificate for TLS"),
        client_key=FlagInfo(prefix + FLAG_KEY_FILE, "", "", "File with the client key for TLS"),
        token=FlagInfo(prefix + FLAG_BEARER_TOKEN, "", "", "Bearer token for the API server"),
        impersonate=FlagInfo(prefix + FLAG_IMPERSONATE, "", "", "User to act as"),
        impersonate_uid=FlagInfo(prefix + FLAG_IMPERSONATE_UID, "", "", "UID to act as"),
        impersonate_groups=FlagInfo(prefix + FLAG_IMPERSONATE_GROUP, "", "", "Group to act as; may be repeated"),
        username=FlagInfo(prefix + FLAG_USERNAME, "", "", "User name for basic authentication"),
        password=FlagInfo(prefix + FLAG_PASSWORD, "", "", "Password for basic authentication"),
    )


def recommended_cluster_override_flags(prefix: str) -> ClusterOverrideFlags:
    """Return the common flags of a cluster. Go: RecommendedClusterOverrideFlags."""
    return ClusterOverrideFlags(
        api_server=FlagInfo(prefix + FLAG_API_SERVER, "", "", "Address and port of the API server"),
        certificate_authority=FlagInfo(prefix + FLAG_CA_FILE, "", "", "File with the certificate authority"),
        insecure_skip_tls_verify=FlagInfo(
            prefix + FLAG_INSECURE, "", "false", "Do not check the server's certificate, which is insecure"
        ),
        tls_server_name=FlagInfo(
            prefix + FLAG_TLS_SERVER_NAME, "", "", "Name to check the server's certificate for, in place of the host"
        ),
        proxy_url=FlagInfo(prefix + FLAG_PROXY_URL, "", "", "Proxy to connect through"),
        disable_compression=FlagInfo(
            prefix + FLAG_DISABLE_COMPRESSION, "", "", "Ask the server not to compress responses"
        ),
    )


def recommended_context_override_flags(prefix: str) -> ContextOverrideFlags:
    """Return the common flags of a context. Go: RecommendedContextOverrideFlags."""
    return ContextOverrideFlags(
        cluster_name=FlagInfo(prefix + FLAG_CLUSTER_NAME, "", "", "The kubeconfig cluster to use"),
        auth_info_name=FlagInfo(prefix + FLAG_AUTH_INFO_NAME, "", "", "The kubeconfig user to use"),
        namespace=FlagInfo(prefix + FLAG_NAMESPACE, "n", "", "The namespace of this request"),
    )


def bind_override_flags(
    overrides: ConfigOverrides, flags: argparse.ArgumentParser, flag_names: ConfigOverrideFlags
) -> None:
    """Make the flags set the overrides. Go: BindOverrideFlags."""
    bind_auth_info_flags(overrides.auth_info, flags, flag_names.auth_override_flags)
    bind_cluster_flags(overrides.cluster_info, flags, flag_names.cluster_override_flags)
    bind_context_flags(overrides.context, flags, flag_names.context_override_flags)
    flag_names.current_context.bind_string_flag(flags, overrides, "current_context")
    flag_names.timeout.bind_string_flag(flags, overrides, "timeout")


def bind_auth_info_flags(auth_info: AuthInfo, flags: argparse.ArgumentParser, flag_names: AuthOverrideFlags) -> None:
    """Make the flags set the user. Go: BindAuthInfoFlags."""
    for attr in ("client_certificate", "client_key", "token", "impersonate", "impersonate_uid"):
        info: FlagInfo = getattr(flag_names, attr)
        info.bind_string_flag(flags, auth_info, attr).add_secret_annotation(flags)
    groups = flag_names.impersonate_groups
    groups.bind_string_array_flag(flags, auth_info, "impersonate_groups").add_secret_annotation(flags)
    flag_names.username.bind_string_flag(flags, auth_info, "username").add_secret_annotation(flags)
    flag_names.password.bind_string_flag(flags, auth_info, "password").add_secret_annotation(flags)


def bind_cluster_flags(cluster_info: Cluster, flags: argparse.ArgumentParser, flag_names: ClusterOverrideFlags) -> None:
    """Make the flags set the cluster. Go: BindClusterFlags."""
    flag_names.api_server.bind_string_flag(flags, cluster_info, "server")
    flag_names.certificate_authority.bind_string_flag(flags, cluster_info, "certificate_authority")
    flag_names.insecure_skip_tls_verify.bind_bool_flag(flags, cluster_info, "insecure_skip_tls_verify")
    flag_names.tls_server_name.bind_string_flag(flags, cluster_info, "tls_server_name")
    flag_names.proxy_url.bind_string_flag(flags, cluster_info, "proxy_url")
    flag_names.disable_compression.bind_bool_flag(flags, cluster_info, "disable_compression")


def bind_context_flags(context_info: Context, flags: argparse.ArgumentParser, flag_names: ContextOverrideFlags) -> None:
    """Make the flags set the context. Go: BindContextFlags."""
    flag_names.cluster_name.bind_string_flag(flags, context_info, "cluster")
    flag_names.auth_info_name.bind_string_flag(flags, context_info, "auth_info")
    flag_names.namespace.bind_transforming_string_flag(flags, context_info, "namespace", remove_namespaces_prefix)


def remove_namespaces_prefix(value: str) -> str:
    """Remove the prefix "ns/", "namespace/" or "namespaces/" of a name. Go: RemoveNamespacesPrefix."""
    for prefix in ("namespaces/", "namespace/", "ns/"):
        if len(value) > len(prefix) and value.lower().startswith(prefix):
            return value[len(prefix) :]
    return value
