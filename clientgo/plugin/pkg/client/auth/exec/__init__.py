"""Credentials from an exec plugin. Mirrors k8s.io/client-go/plugin/pkg/client/auth/exec."""

from clientgo.plugin.pkg.client.auth.exec.exec import (
    Authenticator,
    get_authenticator,
    validate_plugin_policy,
)

__all__ = ["Authenticator", "get_authenticator", "validate_plugin_policy"]
