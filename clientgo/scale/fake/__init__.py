"""A fake scale client for tests. Mirrors k8s.io/client-go/scale/fake."""

from clientgo.scale.fake.client import FakeScaleClient

__all__ = ["FakeScaleClient"]
