"""The headers of a request as http.client wants them."""

from __future__ import annotations

import re
from typing import Final

from clientgo.golang.http.message import Header
from clientgo.golang.strconv import quote

__all__ = ["encoded"]

_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_ILLEGAL_IN_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def encoded(headers: Header) -> Header:
    """A copy with UTF-8 in its bytes, for http.client makes a byte of each character.

    Raises ValueError, never with a value in it: that may be a secret.
    """
    result = Header()
    for name, value in headers.items():
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"net/http: invalid header field name {quote(name)}")
        if _ILLEGAL_IN_VALUE.search(value) is not None:
            raise ValueError(f"net/http: invalid header field value for {quote(name)}")
        result.add(name, value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("latin-1"))
    return result
