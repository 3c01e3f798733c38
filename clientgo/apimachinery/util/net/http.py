"""Classification of HTTP exceptions: end of stream, or timeout.

Mirrors the error functions of k8s.io/apimachinery/pkg/util/net/http.go. Go names its errors. Here they are builtin
exceptions, or those of urllib3 and requests if a user's round tripper uses these libraries. They wrap each other in
several ways, so the functions search all related errors. Exceptions of the libraries are recognised by name, since this
module does not import them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from clientgo.context import Canceled, DeadlineExceeded
from clientgo.klog.exceptions import cause_text

_EOF_CLASSES: Final = (
    EOFError,
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
)
_EOF_NAMES: Final = frozenset({"IncompleteRead", "ProtocolError", "ChunkedEncodingError"})
_EOF_TEXTS: Final = (
    "http: can't write http request on broken connection",
    "http2: server sent goaway and closed the connection",
    "connection reset by peer",
    "use of closed network connection",
    "operation on closed file",
    "bad file descriptor",
)
_TIMEOUT_NAMES: Final = frozenset({"Timeout", "TimeoutError"})
_NO_TIMEOUT_NAMES: Final = frozenset({"NewConnectionError"})
_LIBRARIES: Final = ("http.client", "requests.", "urllib3.")


def is_timeout(err: BaseException | None) -> bool:
    """Report whether the error is a timeout. Go: net.IsTimeout."""
    return any(_is_timeout(each) for each in family(err))


def _is_timeout(err: BaseException) -> bool:
    if isinstance(err, TimeoutError):
        return True
    # For compatibility, urllib3 derives "connection refused" from its timeout class.
    return _has_class(err, _TIMEOUT_NAMES) and not _has_class(err, _NO_TIMEOUT_NAMES)


def is_probable_eof(err: BaseException | None) -> bool:
    """Report whether the connection ended normally, so that a watch can be reopened. Go: net.IsProbableEOF."""
    return any(_is_eof(each) for each in family(err))


def _is_eof(err: BaseException) -> bool:
    if isinstance(err, _EOF_CLASSES) or _has_class(err, _EOF_NAMES):
        return True
    message = cause_text(err).lower()
    return any(text in message for text in _EOF_TEXTS)


def _has_class(err: BaseException, names: frozenset[str]) -> bool:
    """Report whether the error is an instance of such a class of http.client, requests or urllib3."""
    return any(cls.__name__ in names and cls.__module__.startswith(_LIBRARIES) for cls in type(err).__mro__)


def family(err: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and all errors inside it.

    These are causes, contexts without a cause, `reason` (urllib3) and arguments (requests). Errors inside the error of
    a context are excluded: the connection of a cancelled request is irrelevant.
    """
    seen: set[int] = set()
    waiting: list[object] = [err]
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, (Canceled, DeadlineExceeded)):
            continue
        waiting.append(each.__context__ if each.__cause__ is None else each.__cause__)
        with contextlib.suppress(Exception):  # the user's own class, whose attributes may raise
            waiting += [*each.args, getattr(each, "reason", None)]
