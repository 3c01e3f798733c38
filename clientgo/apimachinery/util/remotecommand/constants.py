"""Names and numbers of the protocols of exec and attach. Mirrors apimachinery/pkg/util/remotecommand/constants.go."""

from __future__ import annotations

from typing import Final

from clientgo.apimachinery.apis.meta.v1 import CauseType, StatusReason

__all__ = [
    "DEFAULT_STREAM_CREATION_TIMEOUT",
    "EXIT_CODE_CAUSE_TYPE",
    "NON_ZERO_EXIT_CODE_REASON",
    "STREAM_CLOSE",
    "STREAM_ERR",
    "STREAM_PROTOCOL_V1_NAME",
    "STREAM_PROTOCOL_V2_NAME",
    "STREAM_PROTOCOL_V3_NAME",
    "STREAM_PROTOCOL_V4_NAME",
    "STREAM_PROTOCOL_V5_NAME",
    "STREAM_RESIZE",
    "STREAM_STD_ERR",
    "STREAM_STD_IN",
    "STREAM_STD_OUT",
    "SUPPORTED_STREAMING_PROTOCOLS",
]

DEFAULT_STREAM_CREATION_TIMEOUT: Final = 30.0

STREAM_PROTOCOL_V1_NAME: Final = "channel.k8s.io"
# Ends a non-interactive standard input.
STREAM_PROTOCOL_V2_NAME: Final = "v2.channel.k8s.io"
# Adds the terminal's size.
STREAM_PROTOCOL_V3_NAME: Final = "v3.channel.k8s.io"
# Adds exit codes.
STREAM_PROTOCOL_V4_NAME: Final = "v4.channel.k8s.io"
# Adds the signal that closes a stream of a WebSocket.
STREAM_PROTOCOL_V5_NAME: Final = "v5.channel.k8s.io"

NON_ZERO_EXIT_CODE_REASON: Final = StatusReason("NonZeroExitCode")
EXIT_CODE_CAUSE_TYPE: Final = CauseType("ExitCode")

# The first byte of a message of a WebSocket. The first three are the file descriptors.
STREAM_STD_IN: Final = 0
STREAM_STD_OUT: Final = 1
STREAM_STD_ERR: Final = 2
STREAM_ERR: Final = 3
STREAM_RESIZE: Final = 4
STREAM_CLOSE: Final = 255

SUPPORTED_STREAMING_PROTOCOLS: Final = [
    STREAM_PROTOCOL_V4_NAME,
    STREAM_PROTOCOL_V3_NAME,
    STREAM_PROTOCOL_V2_NAME,
    STREAM_PROTOCOL_V1_NAME,
]
