"""Feature gates: switches for new or deprecated behaviour. Mirrors client-go/features/features.go.

Call `features.feature_gates().enabled(features.WATCH_LIST_CLIENT)`. The module known_features has the gates and their
defaults; by default an environment variable can change each (envvar.py). A version is a pair of ints; Go has a parsed
version.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from clientgo import context
from clientgo.apimachinery.util import runtime as utilruntime

__all__ = [
    "ALPHA",
    "BETA",
    "DEPRECATED",
    "GA",
    "Feature",
    "FeatureSpec",
    "Gates",
    "Registry",
    "VersionedRegistry",
    "VersionedSpecs",
    "add_features_to_existing_feature_gates",
    "add_versioned_features_to_existing_feature_gates",
    "feature_gates",
    "replace_feature_gates",
]


class _Prerelease(str):
    """The maturity of a feature. Other registries may define more stages."""

    __slots__ = ()


ALPHA: str = _Prerelease("ALPHA")
BETA: str = _Prerelease("BETA")
GA: str = _Prerelease("")
DEPRECATED: str = _Prerelease("DEPRECATED")


class Feature(str):
    """The name of a gate. Programs may use other names than the ones declared here. Go: features.Feature."""

    __slots__ = ()

    ATOMIC_FIFO: ClassVar[Feature]
    CLIENTS_ALLOW_CA_ROTATION: ClassVar[Feature]
    CLIENTS_ALLOW_CBOR: ClassVar[Feature]
    CLIENTS_ALLOW_TLS_CACHE_GC: ClassVar[Feature]
    CLIENTS_PREFER_CBOR: ClassVar[Feature]
    IN_ORDER_INFORMERS: ClassVar[Feature]
    IN_ORDER_INFORMERS_BATCH_PROCESS: ClassVar[Feature]
    INFORMER_RESOURCE_VERSION: ClassVar[Feature]
    UNLOCK_WHILE_PROCESSING_FIFO: ClassVar[Feature]
    WATCH_LIST_CLIENT: ClassVar[Feature]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSpec:
    """The properties of a feature gate, from a version on. Go: features.FeatureSpec."""

    default: bool = False
    """True if the feature is enabled by default."""
    lock_to_default: bool = False
    """True if programs cannot change the feature."""
    pre_release: str = GA
    """ALPHA, BETA, GA or DEPRECATED."""
    version: tuple[int, int] | None = None
    """The first Kubernetes version with these properties, as (major, minor)."""


VersionedSpecs = Sequence[FeatureSpec]
"""The history of a gate, oldest first. Go: features.VersionedSpecs."""


class Gates(Protocol):
    """A source of the states of features. Go: features.Gates."""

    def enabled(self, key: Feature, /) -> bool:
        """Report whether the feature is enabled. Raises LookupError for an unknown one (Go panics).

        Go: Gates.Enabled.
        """
        ...


class Registry(Protocol):
    """The feature gates of a program, which can include those of this library. Go: features.Registry."""

    def add(self, features: Mapping[Feature, FeatureSpec], /) -> None:
        """Add these gates. May raise errors about them. Go: Registry.Add."""
        ...


class VersionedRegistry(Protocol):
    """A Registry with the history of each gate. Go: features.VersionedRegistry."""

    def add_versioned(self, features: Mapping[Feature, VersionedSpecs], /) -> None:
        """Add these gates. May raise errors about them. Go: VersionedRegistry.AddVersioned."""
        ...


def feature_gates() -> Gates:
    """Return the current gates, which `replace_feature_gates` may have set. Go: features.FeatureGates."""
    return _feature_gates


def add_features_to_existing_feature_gates(registry: Registry) -> None:
    """Add this library's gates to the program's own; call `replace_feature_gates` with those afterwards.

    Go: features.AddFeaturesToExistingFeatureGates.
    """
    registry.add(_unversioned_feature_gates(_known_features))


def add_versioned_features_to_existing_feature_gates(registry: VersionedRegistry) -> None:
    """Add the gates with their histories to an existing registry.

    Go: features.AddVersionedFeaturesToExistingFeatureGates.
    """
    registry.add_versioned(_known_features)


def replace_feature_gates(new_feature_gates: Gates) -> None:
    """Use the program's own gates from now on.

    Logs an error if the default gates were used before, since objects created meanwhile may use other values.
    Go: features.ReplaceFeatureGates.
    """
    if _replace_feature_gates_with_warning_indicator(new_feature_gates):
        utilruntime.handle_error_with_context(
            context.todo(),
            None,
            "The default feature gates implementation has already been used and now it's being overwritten. "
            "This might lead to unexpected behaviour. Check your initialization order.",
        )


def _replace_feature_gates_with_warning_indicator(new_feature_gates: Gates) -> bool:
    from clientgo.features.envvar import _EnvVarFeatureGates  # Here: envvar imports this module.

    global _feature_gates
    replaced, _feature_gates = _feature_gates, new_feature_gates
    return isinstance(replaced, _EnvVarFeatureGates) and replaced._has_already_read_env_var()


def _unversioned_feature_gates(gates: Mapping[Feature, VersionedSpecs]) -> dict[Feature, FeatureSpec]:
    """Return the latest spec of each gate, without its version."""
    return {feature: dataclasses.replace(specs[-1], version=None) for feature, specs in gates.items() if specs}


def _initialize(gates: Gates, known_features: Mapping[Feature, VersionedSpecs]) -> None:
    """Set the default gates and this library's features. Only known_features calls it, when it is imported."""
    global _feature_gates, _known_features
    _feature_gates, _known_features = gates, known_features


# Both are set by `_initialize`, since Go initializes its variables after all files. The package imports known_features.
# Read and replaced atomically, so there is no lock.
_feature_gates: Gates
_known_features: Mapping[Feature, VersionedSpecs]
