"""Media types. Mirrors the part of Go's mime package that client-go uses: mime/mediatype.go."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_to_bytes

# The parameters of a longer media type are ignored. No server needs them.
_MAX_MEDIA_TYPE: Final = 4096
_TOKEN: Final = r"[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]"
_PLAIN: Final = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_TYPE: Final = re.compile(rf"({_TOKEN}*)(/?)({_TOKEN}*)")
_NAME: Final = re.compile(rf"\s*;\s*({_TOKEN}+)\s*=\s*")
_VALUE: Final = re.compile(rf"{_TOKEN}+")
# A quoted text. A backslash only quotes the characters that are no part of a token.
_QUOTED: Final = re.compile(r'"((?:[^"\\\r\n]|\\[()<>@,;:\\"/\[\]?=]|\\)*+)"')
_ESCAPE: Final = re.compile(r'\\([()<>@,;:\\"/\[\]?=])')


class MediaTypeError(ValueError):
    """Raised for text that is no media type. `media_type` is the part that is one, or ""."""

    def __init__(self, problem: str, media_type: str = "") -> None:
        super().__init__(f"mime: {problem}")
        self.media_type = media_type


def parse_media_type(value: str) -> tuple[str, dict[str, str]]:
    """Return the media type and its parameters. Raises MediaTypeError. Go: mime.ParseMediaType. O(len(value)).

    >>> parse_media_type('Application/JSON; Charset="utf-8"')
    ('application/json', {'charset': 'utf-8'})
    """
    if _PLAIN.fullmatch(value):
        return value, {}
    base, semicolon, _ = value.partition(";")
    media_type = base.strip().lower()
    _check_type(media_type)
    if not semicolon or len(value) > _MAX_MEDIA_TYPE:
        return media_type, {}
    return media_type, _parameters(value[len(base) :], media_type)


def _check_type(media_type: str) -> None:
    match = _TYPE.match(media_type)
    assert match is not None
    name, slash, subtype = match.groups()
    if not name:
        raise MediaTypeError("no media type")
    if slash and not subtype:
        raise MediaTypeError("expected token after slash")
    if match.end() < len(media_type):
        raise MediaTypeError(
            "unexpected content after media subtype" if slash else "expected slash after first token"
        )


def _parameters(text: str, media_type: str) -> dict[str, str]:
    params: dict[str, str] = {}
    # The parts of continued and of encoded parameters (RFC 2231), by name.
    parts: dict[str, dict[str, str]] = {}
    position = 0
    while position < len(text) and not text[position:].isspace():
        name = _NAME.match(text, position)
        value = _read_value(text, name.end()) if name is not None else None
        if name is None or value is None:
            if text[position:].strip() == ";":
                break  # Go ignores semicolons at the end.
            raise MediaTypeError("invalid media parameter", media_type)
        key, (found, position) = name[1].lower(), value
        head, star, _ = key.partition("*")
        target = parts.setdefault(head, {}) if star else params
        if target.setdefault(key, found) != found:
            raise MediaTypeError("duplicate parameter name")
    for head, pieces in parts.items():
        joined = _joined(head, pieces)
        if joined is not None:
            params[head] = joined
    return params


def _read_value(text: str, start: int) -> tuple[str, int] | None:
    """Return the value at `start` and the position after it, or None."""
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        return _ESCAPE.sub(r"\1", quoted[1]), quoted.end()
    token = _VALUE.match(text, start)
    return None if token is None else (token[0], token.end())


def _joined(head: str, pieces: dict[str, str]) -> str | None:
    """Return the value of an encoded parameter, or of all its parts; None if Go ignores it."""
    single = pieces.get(f"{head}*")
    if single is not None:
        return _decoded(single)
    joined = []
    for number in range(len(pieces)):
        plain = pieces.get(f"{head}*{number}")
        encoded = pieces.get(f"{head}*{number}*")
        if plain is not None:
            joined.append(plain)
        elif encoded is not None:
            part = _decoded(encoded) if number == 0 else unquote_to_bytes(encoded).decode("utf-8", "replace")
            joined.append(part or "")
        else:
            break
    return "".join(joined) if joined else None


def _decoded(text: str) -> str | None:
    """Return the text of charset'language'text; None for a charset other than US-ASCII and UTF-8."""
    charset, _, rest = text.partition("'")
    _, quote, escaped = rest.partition("'")
    if not quote or charset.lower() not in ("us-ascii", "utf-8"):
        return None
    return unquote_to_bytes(escaped).decode("utf-8", "replace")
