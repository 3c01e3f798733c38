"""A server's end of a reflector, for tests. Go: tools/cache/testing (whose package is called framework)."""

from clientgo.tools.cache.testing.fake_controller_source import (
    FakeControllerSource,
    FakePVCControllerSource,
    FakePVControllerSource,
    new_fake_controller_source,
    new_fake_pv_controller_source,
    new_fake_pvc_controller_source,
)

__all__ = [
    "FakeControllerSource",
    "FakePVCControllerSource",
    "FakePVControllerSource",
    "new_fake_controller_source",
    "new_fake_pv_controller_source",
    "new_fake_pvc_controller_source",
]
