"""A dynamic client without a server. Mirrors k8s.io/client-go/dynamic/fake."""

from clientgo.dynamic.fake.simple import (
    FakeDynamicClient,
    new_simple_dynamic_client,
    new_simple_dynamic_client_with_custom_list_kinds,
)

__all__ = [
    "FakeDynamicClient",
    "new_simple_dynamic_client",
    "new_simple_dynamic_client_with_custom_list_kinds",
]
