"""Handshakes of the package `websockets` with the subprotocols of Kubernetes.

"SPDY/3.1+portforward.k8s.io" is no token by RFC 6455, since it has a slash; gorilla does not check that, `websockets`
does. These classes replace the two public methods that parse the header.
"""

from __future__ import annotations

from collections.abc import Sequence

from websockets.client import ClientProtocol
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader, NegotiationError
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from clientgo.transport.websocket.conn import LOGGER, MAX_MESSAGE

__all__ = ["ClientHandshake", "ServerHandshake"]

_HEADER = "Sec-WebSocket-Protocol"


def _offered(headers: Headers) -> list[str]:
    """Return the subprotocols of the header, in order."""
    values = ",".join(headers.get_all(_HEADER)).split(",")
    return [stripped for value in values if (stripped := value.strip(" \t"))]


class ClientHandshake(ClientProtocol):
    """The client's side. `process_subprotocol` also accepts that the server chooses none, as gorilla does."""

    def __init__(self, url: str, subprotocols: Sequence[str]) -> None:
        wanted = [Subprotocol(each) for each in subprotocols] or None
        super().__init__(parse_uri(url), subprotocols=wanted, max_size=MAX_MESSAGE, logger=LOGGER)
        self._wanted = subprotocols

    def process_subprotocol(self, headers: Headers) -> Subprotocol | None:
        """Return the server's choice. Raises InvalidHandshake."""
        chosen = _offered(headers)
        if len(chosen) > 1:
            raise InvalidHeader(_HEADER, f"multiple values: {', '.join(chosen)}")
        if chosen and chosen[0] not in self._wanted:
            raise NegotiationError(f"unsupported subprotocol: {chosen[0]}")
        return Subprotocol(chosen[0]) if chosen else None


class ServerHandshake(ServerProtocol):
    """The server's side, which has chosen a subprotocol, or "" for none."""

    def __init__(self, subprotocol: str) -> None:
        super().__init__(max_size=MAX_MESSAGE, logger=LOGGER)
        self._chosen = subprotocol

    def process_subprotocol(self, headers: Headers) -> Subprotocol | None:
        """Return the subprotocol for the response."""
        return Subprotocol(self._chosen) if self._chosen else None
