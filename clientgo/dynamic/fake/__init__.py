"""A fake dynamic client, for tests. Mirrors k8s.io/client-go/dynamic/fake.

Builds on `clientgo.testing`; nothing but tests should import it.
"""

from clientgo.dynamic.fake.simple import (
    FakeDynamicClient,
    new_simple_dynamic_client,
    new_simple_dynamic_client_with_custom_list_kinds,
)

__all__ = ["FakeDynamicClient", "new_simple_dynamic_client", "new_simple_dynamic_client_with_custom_list_kinds"]
