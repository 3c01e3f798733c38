"""Tokens of an OpenID Connect issuer. Mirrors k8s.io/client-go/plugin/pkg/client/auth/oidc."""

from clientgo.plugin.pkg.client.auth.oidc.oidc import new_oidc_auth_provider

__all__ = ["new_oidc_auth_provider"]
