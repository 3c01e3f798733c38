"""The server's OpenAPI v3 documents. Mirrors k8s.io/client-go/openapi."""

from clientgo.openapi.client import Client, GroupVersion, new_client

__all__ = ["Client", "GroupVersion", "new_client"]
