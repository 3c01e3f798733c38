"""The server's feature gates and the flag that sets them. Mirrors k8s.io/component-base/featuregate in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clientgo.golang.strconv import parse_bool

AUTHORIZE_POD_WEBSOCKET_UPGRADE: Final = "AuthorizePodWebsocketUpgradeCreatePermission"
CBOR_SERVING_AND_STORAGE: Final = "CBORServingAndStorage"
SHARDED_LIST_AND_WATCH: Final = "ShardedListAndWatch"
WATCH_LIST: Final = "WatchList"

# Stage and default of each known gate.
KNOWN: Final[Mapping[str, tuple[str, bool]]] = {
    AUTHORIZE_POD_WEBSOCKET_UPGRADE: ("BETA", True),
    CBOR_SERVING_AND_STORAGE: ("ALPHA", False),
    SHARDED_LIST_AND_WATCH: ("ALPHA", False),
    WATCH_LIST: ("BETA", True),
}


def parse_feature_gates(text: str) -> dict[str, bool]:
    """Return the gates of a flag's value, `Name=true,Other=false`. Raises ValueError with Go's text."""
    gates: dict[str, bool] = {}
    for pair in text.split(","):
        if not pair:
            continue
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        try:
            gates[name] = parse_bool(value)
        except ValueError as err:
            raise ValueError(f"invalid value of {name}={value}, err: {err}") from None
    return check(gates)


def check(gates: Mapping[str, bool]) -> dict[str, bool]:
    """Return the gates as a dict. Raises ValueError for a gate that the server does not have."""
    for name in gates:
        if name not in KNOWN:
            raise ValueError(f"unrecognized feature gate: {name}")
    return dict(gates)


class FeatureGates:
    """The state of every known gate; fixed at the start of the server."""

    def __init__(self, gates: Mapping[str, bool]) -> None:
        self._enabled = {name: default for name, (_, default) in KNOWN.items()} | check(gates)

    def __repr__(self) -> str:
        return f"<FeatureGates {self._enabled}>"

    def enabled(self, name: str) -> bool:
        """Report whether the gate is on. Raises KeyError for an unknown gate."""
        return self._enabled[name]

    def metrics(self) -> list[str]:
        """Return the lines of the metric kubernetes_feature_enabled."""
        lines = ["# TYPE kubernetes_feature_enabled gauge"]
        for name, (stage, _) in KNOWN.items():
            lines.append(f'kubernetes_feature_enabled{{name="{name}",stage="{stage}"}} {int(self._enabled[name])}')
        return lines
