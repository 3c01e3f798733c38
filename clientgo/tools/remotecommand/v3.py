"""Version 3 of the protocol, which resizes the terminal. Mirrors tools/remotecommand/v3.go."""

from __future__ import annotations

import json

from clientgo.api.core.v1 import STREAM_TYPE, STREAM_TYPE_RESIZE
from clientgo.apimachinery.util.httpstream import Stream
from clientgo.golang.http import Header
from clientgo.tools.remotecommand.remotecommand import StreamCreator, StreamOptions
from clientgo.tools.remotecommand.session import Session
from clientgo.tools.remotecommand.v2 import StreamProtocolV2

__all__ = ["StreamProtocolV3"]


class StreamProtocolV3(StreamProtocolV2):
    """Version 3 of the streaming protocol, which also sends the size of the terminal. Go: streamProtocolV3."""

    def __init__(self, options: StreamOptions) -> None:
        super().__init__(options)
        self._resize: Stream | None = None

    def _create_streams(self, conn: StreamCreator) -> None:
        super()._create_streams(conn)
        if self._options.tty:
            self._resize = conn.create_stream(Header({STREAM_TYPE: STREAM_TYPE_RESIZE}))

    def _handle_resizes(self, session: Session) -> None:
        resize, sizes = self._resize, self._options.terminal_size_queue
        if resize is None or sizes is None:
            return

        def send() -> None:
            while not session.ended.is_set() and (size := sizes.next()) is not None:
                document = json.dumps({"Width": size.width, "Height": size.height}, separators=(",", ":"))
                try:
                    resize.write(document.encode() + b"\n")
                except OSError as err:
                    session.failed(err, "Encoding terminal size failed")

        session.go("resize", send, may_stay=True)
