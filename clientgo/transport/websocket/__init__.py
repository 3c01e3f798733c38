"""WebSocket connections with a client's TLS and authentication. Mirrors k8s.io/client-go/transport/websocket.

The package needs the extra `stream`: `pip install 'clientgo[stream]'`.
"""

from importlib.util import find_spec

if find_spec("websockets") is None:
    raise ModuleNotFoundError(
        "clientgo.transport.websocket needs websockets: pip install 'clientgo[stream]'",
        name="websockets",
    )

from clientgo.transport.websocket.conn import CloseError, Conn
from clientgo.transport.websocket.roundtripper import ConnectionHolder, RoundTripper, negotiate, round_tripper_for

__all__ = ["CloseError", "Conn", "ConnectionHolder", "RoundTripper", "negotiate", "round_tripper_for"]
