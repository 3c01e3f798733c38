"""The target of a proxy request: "<scheme>:<name>:<port>". Mirrors util/net/port_split.go."""

from __future__ import annotations

from typing import Final

_SCHEMES: Final = ("http", "https", "")


def split_scheme_name_port(id: str) -> tuple[str, str, str, bool]:
    """Split "<name>", "<name>:<port>" or "<scheme>:<name>:<port>" into (scheme, name, port, valid).

    It is valid if there is a name and the scheme is http, https or absent; a port may be a name too. Go:
    SplitSchemeNamePort.

    >>> split_scheme_name_port("https:web:metrics")
    ('https', 'web', 'metrics', True)
    """
    scheme = name = port = ""
    match id.split(":"):
        case [name]:
            pass
        case [name, port]:
            pass
        case [scheme, name, port]:
            pass
        case _:
            return "", "", "", False
    if not name or scheme not in _SCHEMES:
        return "", "", "", False
    return scheme, name, port, True


def join_scheme_name_port(scheme: str, name: str, port: str) -> str:
    """Return the shortest equivalent text; no part may contain a colon. Go: JoinSchemeNamePort.

    >>> join_scheme_name_port("", "web", "80")
    'web:80'
    """
    if scheme:
        return f"{scheme}:{name}:{port}"
    return f"{name}:{port}" if port else name
