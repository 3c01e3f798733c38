"""Version 4 of the protocol, which reports exit codes. Mirrors tools/remotecommand/v4.go."""

from __future__ import annotations

import json
import re

from clientgo.apimachinery.apis.meta.v1 import STATUS_FAILURE, STATUS_SUCCESS, Status
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.util.json import unmarshal
from clientgo.apimachinery.util.remotecommand import EXIT_CODE_CAUSE_TYPE, NON_ZERO_EXIT_CODE_REASON
from clientgo.golang.json import UnmarshalTypeError, syntax_error
from clientgo.golang.strconv import quote
from clientgo.tools.remotecommand.errorstream import ErrorStreamDecoder
from clientgo.tools.remotecommand.v3 import StreamProtocolV3
from clientgo.util.exec import CodeExitError

__all__ = ["ErrorDecoderV4", "StreamProtocolV4"]

_EXIT_CODE = re.compile(r"0*(\d{1,3})", re.ASCII)


class StreamProtocolV4(StreamProtocolV3):
    """Version 4 of the streaming protocol, which also reports the exit code. Go: streamProtocolV4."""

    def _decoder(self) -> ErrorStreamDecoder:
        return ErrorDecoderV4()


class ErrorDecoderV4:
    """A decoder of Status objects in JSON. Go: errorDecoderV4."""

    def decode(self, message: bytes) -> Exception | None:
        """Return None for success, CodeExitError for a command that failed, another error otherwise."""
        shown = quote(message.decode("utf-8", "replace"))
        try:
            document = unmarshal(message)
        except json.JSONDecodeError as err:
            return ValueError(f"error stream protocol error: {syntax_error(err)} in {shown}")
        except ValueError as err:
            return ValueError(f"error stream protocol error: {err} in {shown}")
        if not isinstance(document, dict):
            return ValueError(f"error stream protocol error: no JSON object in {shown}")
        status = Status.from_dict(document)
        try:
            check_fields(status)
        except UnmarshalTypeError as err:
            return ValueError(f"error stream protocol error: {err.text} in {shown}")
        if status.status == STATUS_SUCCESS:
            return None
        if status.status != STATUS_FAILURE:
            return ValueError("error stream protocol error: unknown error")
        if status.reason != NON_ZERO_EXIT_CODE_REASON:
            return RuntimeError(status.message)
        if status.details is None:
            return ValueError("error stream protocol error: details must be set")
        for cause in status.details.causes:
            if cause.type == EXIT_CODE_CAUSE_TYPE:
                return _exit_error(cause.message)
        return ValueError(f"error stream protocol error: no {EXIT_CODE_CAUSE_TYPE} cause given")


def _exit_error(text: str) -> Exception:
    found = _EXIT_CODE.fullmatch(text)
    if found is None or int(found[1]) > 255:
        return ValueError(f"error stream protocol error: invalid exit code value {quote(text)}")
    code = int(found[1])
    return CodeExitError(err=RuntimeError(f"command terminated with exit code {code}"), code=code)
