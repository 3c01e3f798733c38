"""Version 5 of the protocol, which closes single streams of a WebSocket. Mirrors tools/remotecommand/v5.go."""

from __future__ import annotations

from clientgo.tools.remotecommand.v4 import StreamProtocolV4

__all__ = ["StreamProtocolV5"]


class StreamProtocolV5(StreamProtocolV4):
    """Version 4, for a connection that can send the close. Go: streamProtocolV5."""
