"""A client config that is loaded on first use. Mirrors tools/clientcmd/merged_client_builder.go."""

from __future__ import annotations

import os
import threading
from typing import Protocol, TextIO

from clientgo import klog
from clientgo.rest import config as rest
from clientgo.tools.clientcmd.api import Config, is_config_empty
from clientgo.tools.clientcmd.client_config import (
    ClientConfig,
    _InClusterClientConfig,
    new_interactive_client_config,
    new_non_interactive_client_config,
)
from clientgo.tools.clientcmd.config import ConfigAccess
from clientgo.tools.clientcmd.loader import ClientConfigLoader, ClientConfigLoadingRules, warn_of_empty_files
from clientgo.tools.clientcmd.overrides import ConfigOverrides
from clientgo.tools.clientcmd.validation import is_empty_config


class InClusterConfig(ClientConfig, Protocol):
    """The config of a pod."""

    def possible(self) -> bool:
        """Report whether this process runs in a pod."""
        ...


class DeferredLoadingClientConfig:
    """A client config that is loaded on first use, when flags have set the rules and overrides. Thread-safe.

    In a pod, the pod's config replaces an empty or default config.
    """

    def __init__(
        self,
        loader: ClientConfigLoader,
        overrides: ConfigOverrides | None,
        fallback_reader: TextIO | None = None,
        icc: InClusterConfig | None = None,
    ) -> None:
        self._loader = loader
        self._overrides = overrides
        self._fallback_reader = fallback_reader
        self._icc = icc if icc is not None else _InClusterClientConfig(overrides)
        # Guards _client_config; held while files are read.
        self._loading_lock = threading.Lock()
        self._client_config: ClientConfig | None = None

    def _create_client_config(self) -> ClientConfig:
        with self._loading_lock:
            if self._client_config is None:
                self._client_config = self._new_client_config(self._loader.load())
            return self._client_config

    def _new_client_config(self, config: Config) -> ClientConfig:
        context = self._overrides.current_context if self._overrides is not None else ""
        if self._fallback_reader is not None:
            reader = self._fallback_reader
            return new_interactive_client_config(config, context, self._overrides, reader, self._loader)
        return new_non_interactive_client_config(config, context, self._overrides, self._loader)

    def raw_config(self) -> Config:
        """See ClientConfig. Reads files."""
        return self._create_client_config().raw_config()

    def client_config(self) -> rest.Config:
        """See ClientConfig. Reads files."""
        loaded = self._create_client_config()
        merged: rest.Config | None = None
        failure: Exception | None = None
        try:
            merged = loaded.client_config()
        except Exception as err:
            if not is_empty_config(err):
                raise
            failure = err
        if merged is not None and not self._loader.is_default_config(merged):
            return merged
        if self._icc.possible():
            klog.v(4).infof("Using in-cluster configuration")
            return self._icc.client_config()
        if merged is None:
            assert failure is not None
            self._warn_if_empty()
            raise failure
        return merged

    def _warn_if_empty(self) -> None:
        """Log the names of files without a configuration: the error that follows names none."""
        files = [name for name in self._loader.get_loading_precedence() if name and os.path.isfile(name)]
        if files and isinstance(self._loader, ClientConfigLoadingRules) and is_config_empty(self.raw_config()):
            warn_of_empty_files(files)

    def namespace(self) -> tuple[str, bool]:
        """See ClientConfig. Reads files."""
        loaded = self._create_client_config()
        namespace, overridden = "", False
        failure: Exception | None = None
        try:
            namespace, overridden = loaded.namespace()
        except Exception as err:
            failure = err
        if (failure is not None and not is_empty_config(failure)) or overridden or not self._icc.possible():
            if failure is not None:
                raise failure
            return namespace, overridden
        if namespace and (namespace != "default" or self._names_namespace(loaded)):
            return namespace, False
        klog.v(4).infof("Using in-cluster namespace")
        return self._icc.namespace()

    def _names_namespace(self, loaded: ClientConfig) -> bool:
        """Report whether the current context itself sets the namespace "default"."""
        raw = loaded.raw_config()
        name = (self._overrides.current_context if self._overrides is not None else "") or raw.current_context
        context = raw.contexts.get(name)
        return context is not None and bool(context.namespace)

    def config_access(self) -> ConfigAccess:
        """See ClientConfig."""
        return self._loader

    def __repr__(self) -> str:
        return f"<DeferredLoadingClientConfig {'loaded' if self._client_config else 'not loaded'}>"


def new_non_interactive_deferred_loading_client_config(
    loader: ClientConfigLoader, overrides: ConfigOverrides | None
) -> ClientConfig:
    """Return a deferred client config that never prompts. Go: NewNonInteractiveDeferredLoadingClientConfig."""
    return DeferredLoadingClientConfig(loader, overrides)


def new_interactive_deferred_loading_client_config(
    loader: ClientConfigLoader, overrides: ConfigOverrides | None, fallback_reader: TextIO | None
) -> ClientConfig:
    """Return a deferred client config that prompts for missing credentials.

    Go: NewInteractiveDeferredLoadingClientConfig.
    """
    return DeferredLoadingClientConfig(loader, overrides, fallback_reader)
