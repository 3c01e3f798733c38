"""Discovery from a list of resources. Mirrors client-go's discovery/fake/discovery.go.

The class is in clientgo.testing.fake_discovery, since each fake clientset has one.
"""

from __future__ import annotations

from clientgo.testing.fake_discovery import FakeDiscovery

__all__ = ["FakeDiscovery"]
