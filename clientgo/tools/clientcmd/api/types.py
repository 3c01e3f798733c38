"""The types of a kubeconfig in memory. Mirrors tools/clientcmd/api/types.go.

Differs: these are dataclasses, since kubeconfigs are merged and edited field by field and are not API objects. An
extension is any JSON value. `repr` never shows credentials.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from clientgo.apimachinery.runtime.schema import GroupVersionKind, parse_group_version
from clientgo.golang.http import redacted_url

_REDACTED = "--- REDACTED ---"

# The metadata entry "datapolicy" of a field states the kind of its secret.
_SECRET = "datapolicy"


class _Copied:
    def deep_copy(self) -> Self:
        """Return a deep copy. Go: DeepCopy."""
        return copy.deepcopy(self)


@dataclass(kw_only=True)
class Preferences(_Copied):
    """Preferences of command line tools, which are no longer used."""

    colors: bool = False
    extensions: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, repr=False)
class Cluster(_Copied):
    """The address of a cluster, and its certificate authority."""

    # The file that contains this entry.
    location_of_origin: str = ""
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    # PEM; it takes precedence over the file.
    certificate_authority_data: bytes = b""
    # An http, https or socks5 URL; None selects the environment's proxy.
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = {each.name: getattr(self, each.name) for each in fields(self)}
        # Both may contain a password.
        shown.update(server=redacted_url(self.server), proxy_url=redacted_url(self.proxy_url))
        return f"Cluster({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


@dataclass(kw_only=True)
class AuthInfo(_Copied):
    """A user's identity and credentials."""

    location_of_origin: str = ""
    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = field(default=b"", repr=False, metadata={_SECRET: "security-key"})
    token: str = field(default="", repr=False, metadata={_SECRET: "token"})
    # Reread when it changes; its content takes precedence over `token`.
    token_file: str = ""
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: list[str] = field(default_factory=list)
    impersonate_user_extra: dict[str, list[str]] = field(default_factory=dict)
    username: str = ""
    password: str = field(default="", repr=False, metadata={_SECRET: "password"})
    auth_provider: AuthProviderConfig | None = None
    exec: ExecConfig | None = None
    extensions: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class Context(_Copied):
    """A cluster, a user and a namespace."""

    location_of_origin: str = ""
    cluster: str = ""
    auth_info: str = ""
    namespace: str = ""
    extensions: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, repr=False)
class AuthProviderConfig(_Copied):
    """An authentication provider that is compiled into the program."""

    name: str = ""
    config: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"AuthProviderConfig(name={self.name!r}, config={_REDACTED if self.config else None})"

    def __repr__(self) -> str:
        return str(self)


@dataclass(kw_only=True)
class ExecEnvVar(_Copied):
    """An environment variable for a plugin."""

    name: str = ""
    value: str = field(default="", repr=False)


class ExecInteractiveMode(str):
    """The policy for user interaction of an exec plugin: a string, since a kubeconfig may contain any value."""

    NEVER: ExecInteractiveMode
    IF_AVAILABLE: ExecInteractiveMode
    ALWAYS: ExecInteractiveMode


ExecInteractiveMode.NEVER = ExecInteractiveMode("Never")
ExecInteractiveMode.IF_AVAILABLE = ExecInteractiveMode("IfAvailable")
ExecInteractiveMode.ALWAYS = ExecInteractiveMode("Always")


class PolicyType(StrEnum):
    """A policy that selects the plugins that may run."""

    PLUGIN_POLICY_ALLOW_ALL = "AllowAll"
    PLUGIN_POLICY_DENY_ALL = "DenyAll"
    PLUGIN_POLICY_ALLOWLIST = "Allowlist"


@dataclass(kw_only=True)
class AllowlistEntry(_Copied):
    """A plugin that may run, by the path or name of its command."""

    command: str = ""


@dataclass(kw_only=True)
class PluginPolicy(_Copied):
    """The program's policy on plugins. "" is PLUGIN_POLICY_ALLOW_ALL."""

    policy_type: str = ""
    # None means no list, which only the policy PLUGIN_POLICY_ALLOWLIST rejects.
    allowlist: list[AllowlistEntry] | None = None


@dataclass(kw_only=True, repr=False)
class ExecConfig(_Copied):
    """A plugin, which is a program that provides credentials.

    The program that uses this library sets the fields that kubeconfigs do not contain.
    """

    command: str = ""
    args: list[str] = field(default_factory=list)
    env: list[ExecEnvVar] = field(default_factory=list)
    api_version: str = ""
    install_hint: str = ""
    """A message for users without the command."""
    provide_cluster_info: bool = False
    """Pass the cluster's information to the plugin."""
    config: Any = None
    """The cluster's extension for plugins. Not in the kubeconfig's user."""
    interactive_mode: str = ""
    stdin_unavailable: bool = False
    """The reason why the program's standard input is unavailable. Not in the kubeconfig."""
    stdin_unavailable_message: str = ""
    plugin_policy: PluginPolicy = field(default_factory=PluginPolicy)
    """Not in the kubeconfig."""

    def __str__(self) -> str:
        args = f"[{_REDACTED!r}]" if self.args else "[]"
        env = f"[{_REDACTED}]" if self.env else "[]"
        config = _REDACTED if self.config is not None else None
        return (
            f"ExecConfig(command={self.command!r}, args={args}, env={env}, api_version={self.api_version!r}, "
            f"provide_cluster_info={self.provide_cluster_info}, config={config}, "
            f"stdin_unavailable={self.stdin_unavailable})"
        )

    def __repr__(self) -> str:
        return str(self)


@dataclass(kw_only=True)
class Config(_Copied):
    """A kubeconfig, or several merged: clusters, users and contexts by name."""

    kind: str = ""
    api_version: str = ""
    preferences: Preferences = field(default_factory=Preferences)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    auth_infos: dict[str, AuthInfo] = field(default_factory=dict)
    contexts: dict[str, Context] = field(default_factory=dict)
    current_context: str = ""
    extensions: dict[str, Any] = field(default_factory=dict)

    def get_object_kind(self) -> Self:
        """Return the config itself. Go: GetObjectKind."""
        return self

    def group_version_kind(self) -> GroupVersionKind:
        """Return the GroupVersionKind in api_version and kind. Go: GroupVersionKind."""
        return parse_group_version(self.api_version).with_kind(self.kind)

    def set_group_version_kind(self, gvk: GroupVersionKind) -> None:
        """Set api_version and kind. Go: SetGroupVersionKind."""
        self.api_version, self.kind = gvk.to_api_version_and_kind()


def new_config() -> Config:
    """Return an empty kubeconfig. Go: NewConfig."""
    return Config()


def new_context() -> Context:
    """Return an empty context. Go: NewContext."""
    return Context()


def new_cluster() -> Cluster:
    """Return an empty cluster. Go: NewCluster."""
    return Cluster()


def new_auth_info() -> AuthInfo:
    """Return an empty user. Go: NewAuthInfo."""
    return AuthInfo()


def new_preferences() -> Preferences:
    """Return empty preferences. Go: NewPreferences."""
    return Preferences()
