"""The config of the cluster that a program connects to. Mirrors pkg/client/config."""

from clientgo.controller_runtime.client.config.config import (
    KUBECONFIG_FLAG_NAME,
    get_config,
    get_config_or_die,
    get_config_with_context,
    register_flags,
)

__all__ = [
    "KUBECONFIG_FLAG_NAME",
    "get_config",
    "get_config_or_die",
    "get_config_with_context",
    "register_flags",
]
