"""Cached OpenAPI v3 documents. Mirrors k8s.io/client-go/openapi/cached."""

from clientgo.openapi.cached.client import new_client

__all__ = ["new_client"]
