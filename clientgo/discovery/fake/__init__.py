"""Discovery without a server, for tests. Mirrors k8s.io/client-go/discovery/fake."""

from clientgo.discovery.fake.discovery import FakeDiscovery

__all__ = ["FakeDiscovery"]
