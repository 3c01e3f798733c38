"""Feature gates in tests. Mirrors k8s.io/client-go/features/testing."""

from clientgo.features.testing.features import set_feature_during_test

__all__ = ["set_feature_during_test"]
