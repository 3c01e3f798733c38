"""Authentication providers that are compiled into a program. Mirrors rest/plugin.go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from clientgo.golang.functions import create_checked
from clientgo.golang.http import RoundTripper

if TYPE_CHECKING:
    from clientgo.tools.clientcmd.api import AuthProviderConfig


class AuthProvider(Protocol):
    """A provider that adds credentials to requests."""

    def wrap_transport(self, rt: RoundTripper, /) -> RoundTripper:
        """Return a round tripper that adds the credentials."""
        ...

    def login(self) -> None:
        """Set up the provider's configuration without user interaction."""
        ...


class AuthProviderConfigPersister(Protocol):
    """A store for a provider's configuration, for example a kubeconfig."""

    def persist(self, config: Mapping[str, str], /) -> None: ...


# Makes a provider from the cluster's address, the provider's configuration and the persister.
Factory = Callable[[str, Mapping[str, str], AuthProviderConfigPersister], AuthProvider]


class _NoopPersister:
    def persist(self, config: Mapping[str, str]) -> None: ...


# Guards _plugins.
_plugins_lock = threading.Lock()
_plugins: dict[str, Factory] = {}


def register_auth_provider_plugin(name: str, plugin: Factory) -> None:
    """Register a provider. Raises ValueError if the name is taken. Go: RegisterAuthProviderPlugin."""
    with _plugins_lock:
        if name in _plugins:
            raise ValueError(f'auth Provider Plugin "{name}" was registered twice')
        _plugins[name] = plugin


def get_auth_provider(
    cluster_address: str, apc: AuthProviderConfig, persister: AuthProviderConfigPersister | None
) -> AuthProvider:
    """Return the provider that a kubeconfig names.

    Raises ValueError if it is not registered, and the errors of the provider. Go: GetAuthProvider.
    """
    with _plugins_lock:
        plugin = _plugins.get(apc.name)
    if plugin is None:
        raise ValueError(f'no Auth Provider found for name "{apc.name}"')
    args = (cluster_address, apc.config, persister or _NoopPersister())
    return create_checked(plugin, args, "wrap_transport")
