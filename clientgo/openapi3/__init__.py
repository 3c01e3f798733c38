"""The group versions and the documents of OpenAPI v3. Mirrors k8s.io/client-go/openapi3."""

from clientgo.openapi3.root import GroupVersionNotFoundError, Root, new_root

__all__ = ["GroupVersionNotFoundError", "Root", "new_root"]
