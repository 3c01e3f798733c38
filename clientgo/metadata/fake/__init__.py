"""A metadata client without a server. Mirrors k8s.io/client-go/metadata/fake."""

from clientgo.metadata.fake.simple import (
    FakeMetadataClient,
    MetadataClient,
    new_simple_metadata_client,
    new_test_scheme,
)

__all__ = ["FakeMetadataClient", "MetadataClient", "new_simple_metadata_client", "new_test_scheme"]
