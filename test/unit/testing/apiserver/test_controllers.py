"""The server's controllers, which run only when an object concerns them or a request waits for them."""

from __future__ import annotations

from clientgo.testing.apiserver.server import Server


def test_what_concerns_no_controller_rests_until_somebody_waits() -> None:
    server = Server(listen=False)
    maps = server.registry.find("", "v1", "configmaps")
    assert maps is not None
    try:
        server.start()
        assert server.controllers.wait_idle()
        server.create(maps, "default", {"metadata": {"name": "free"}})
        assert repr(server.controllers) == "<Controllers 1 queued>"
        assert server.controllers.wait_idle()
        assert repr(server.controllers) == "<Controllers 0 queued>"
    finally:
        server.stop()
