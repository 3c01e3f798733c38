"""Features that the user enables. Mirrors pkg/features: `-feature-gates=AutoPrunePVC=true,ResizePVC=false`."""

from __future__ import annotations

import enum

from clientgo.golang.strconv import parse_bool


class Feature(enum.StrEnum):
    """The feature gates; DEFAULTS below has their default values."""

    AFFINITY_RULES = "AffinityRules"
    AUTO_PRUNE_PVC = "AutoPrunePVC"
    CLUSTER_RESTART = "ClusterRestart"
    CRDB_VERSION_VALIDATOR = "CrdbVersionValidator"
    DECOMMISSION = "UseDecommission"
    GENERATE_CERTS = "GenerateCerts"
    PARTITIONED_UPDATE = "PartitionedUpdate"
    RESIZE_PVC = "ResizePVC"
    TOLERATION_RULES = "TolerationRules"
    TOPOLOGY_SPREAD_RULES = "TopologySpreadRules"


# Pruning a claim deletes its data, so the user has to enable it. Go disables the three rules by default, too, and
# opens them in its manifest.
DEFAULTS = {feature: feature is not Feature.AUTO_PRUNE_PVC for feature in Feature}


class FeatureGates:
    """The enabled features. Immutable."""

    def __init__(self, text: str = "") -> None:
        """Parse the flag's value; "" selects the defaults. Raises ValueError for unknown features."""
        self._enabled = dict(DEFAULTS)
        for pair in filter(None, text.split(",")):
            name, equals, value = pair.partition("=")
            if not equals:
                raise ValueError(f"missing bool value for feature gate {name!r}")
            try:
                feature = Feature(name.strip())
            except ValueError:
                raise ValueError(f"unrecognized feature gate: {name.strip()}") from None
            self._enabled[feature] = parse_bool(value.strip())

    def __repr__(self) -> str:
        return ",".join(f"{feature}={str(on).lower()}" for feature, on in self._enabled.items())

    def enabled(self, feature: Feature) -> bool:
        return self._enabled[feature]
