"""OpenAPI v3 documents without a server, for tests. Mirrors k8s.io/client-go/openapi/openapitest."""

from clientgo.openapi.openapitest.fakeclient import FakeClient, FakeGroupVersion, new_fake_client
from clientgo.openapi.openapitest.fileclient import new_file_client

__all__ = ["FakeClient", "FakeGroupVersion", "new_fake_client", "new_file_client"]
