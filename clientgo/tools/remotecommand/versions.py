"""The handler of a negotiated version of the protocol."""

from __future__ import annotations

from collections.abc import Callable

from clientgo import klog
from clientgo.apimachinery.util.remotecommand import (
    STREAM_PROTOCOL_V1_NAME,
    STREAM_PROTOCOL_V2_NAME,
    STREAM_PROTOCOL_V3_NAME,
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V5_NAME,
)
from clientgo.golang.strconv import quote
from clientgo.tools.remotecommand.remotecommand import StreamOptions, StreamProtocolHandler
from clientgo.tools.remotecommand.v1 import StreamProtocolV1
from clientgo.tools.remotecommand.v2 import StreamProtocolV2
from clientgo.tools.remotecommand.v3 import StreamProtocolV3
from clientgo.tools.remotecommand.v4 import StreamProtocolV4
from clientgo.tools.remotecommand.v5 import StreamProtocolV5

__all__ = ["handler_of"]

_HANDLERS: dict[str, Callable[[StreamOptions], StreamProtocolHandler]] = {
    STREAM_PROTOCOL_V1_NAME: StreamProtocolV1,
    STREAM_PROTOCOL_V2_NAME: StreamProtocolV2,
    STREAM_PROTOCOL_V3_NAME: StreamProtocolV3,
    STREAM_PROTOCOL_V4_NAME: StreamProtocolV4,
    STREAM_PROTOCOL_V5_NAME: StreamProtocolV5,
}


def handler_of(protocol: str, options: StreamOptions, logger: klog.Logger) -> StreamProtocolHandler:
    """Return the handler of a protocol; of the first version if the server chose none.

    Raises ValueError for a protocol that no client offers. Go panics.
    """
    if not protocol:
        logger.v(4).info(
            "The server did not negotiate a streaming protocol version, falling back", protocol=STREAM_PROTOCOL_V1_NAME
        )
        protocol = STREAM_PROTOCOL_V1_NAME
    handler = _HANDLERS.get(protocol)
    if handler is None:
        raise ValueError(f"the server chose an unknown streaming protocol: {quote(protocol)}")
    return handler(options)
