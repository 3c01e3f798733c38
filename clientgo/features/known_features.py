"""The feature gates of this library and their history. Mirrors client-go/features/known_features.go.

Differs from Go in two ways. The TLS cache is not part of this port, so its gate has no effect.
InOrderInformers, which Go 1.36 locks, can still be disabled; then informers use DeltaFIFO.
"""

from __future__ import annotations

from clientgo.features.envvar import _new_env_var_feature_gates
from clientgo.features.features import (
    ALPHA,
    BETA,
    GA,
    Feature,
    FeatureSpec,
    VersionedSpecs,
    _initialize,
    _unversioned_feature_gates,
)

__all__ = [
    "ATOMIC_FIFO",
    "CLIENTS_ALLOW_CA_ROTATION",
    "CLIENTS_ALLOW_CBOR",
    "CLIENTS_ALLOW_TLS_CACHE_GC",
    "CLIENTS_PREFER_CBOR",
    "INFORMER_RESOURCE_VERSION",
    "IN_ORDER_INFORMERS",
    "IN_ORDER_INFORMERS_BATCH_PROCESS",
    "UNLOCK_WHILE_PROCESSING_FIFO",
    "WATCH_LIST_CLIENT",
]

ATOMIC_FIFO = Feature.ATOMIC_FIFO = Feature("AtomicFIFO")
"""Deliver a list or a resync to the consumer of the FIFO as one item instead of one per object."""

CLIENTS_ALLOW_CA_ROTATION = Feature.CLIENTS_ALLOW_CA_ROTATION = Feature("ClientsAllowCARotation")
"""Detect a changed certificate authority file without a restart."""

CLIENTS_ALLOW_CBOR = Feature.CLIENTS_ALLOW_CBOR = Feature("ClientsAllowCBOR")
"""Let dynamic clients accept CBOR, and all clients use it if their config names it. Needs the extra `cbor`."""

CLIENTS_ALLOW_TLS_CACHE_GC = Feature.CLIENTS_ALLOW_TLS_CACHE_GC = Feature("ClientsAllowTLSCacheGC")
"""Remove unused TLS transports from the cache. Not part of this port."""

CLIENTS_PREFER_CBOR = Feature.CLIENTS_PREFER_CBOR = Feature("ClientsPreferCBOR")
"""Let clients that may use CBOR write it, unless their config names another content type."""

IN_ORDER_INFORMERS = Feature.IN_ORDER_INFORMERS = Feature("InOrderInformers")
"""Use RealFIFO in informers, which keeps the order of events, instead of DeltaFIFO."""

IN_ORDER_INFORMERS_BATCH_PROCESS = Feature.IN_ORDER_INFORMERS_BATCH_PROCESS = Feature("InOrderInformersBatchProcess")
"""Take events from the queue of in-order informers in batches."""

INFORMER_RESOURCE_VERSION = Feature.INFORMER_RESOURCE_VERSION = Feature("InformerResourceVersion")
"""Let informers report the last resource version that they have seen."""

UNLOCK_WHILE_PROCESSING_FIFO = Feature.UNLOCK_WHILE_PROCESSING_FIFO = Feature("UnlockWhileProcessingFIFO")
"""Accept new items in the FIFO while others are being processed."""

WATCH_LIST_CLIENT = Feature.WATCH_LIST_CLIENT = Feature("WatchListClient")
"""Receive the initial list as a stream of watch events instead of pages."""

_default_versioned_feature_gates: dict[Feature, VersionedSpecs] = {
    ATOMIC_FIFO: [FeatureSpec(version=(1, 36), default=True, pre_release=BETA)],
    CLIENTS_ALLOW_CA_ROTATION: [FeatureSpec(version=(1, 36), default=True, pre_release=BETA)],
    CLIENTS_ALLOW_CBOR: [FeatureSpec(version=(1, 32), default=False, pre_release=ALPHA)],
    CLIENTS_ALLOW_TLS_CACHE_GC: [FeatureSpec(version=(1, 36), default=True, pre_release=BETA)],
    CLIENTS_PREFER_CBOR: [FeatureSpec(version=(1, 32), default=False, pre_release=ALPHA)],
    IN_ORDER_INFORMERS: [
        FeatureSpec(version=(1, 33), default=True, pre_release=BETA),
        # Go adds lock_to_default=True here.
        FeatureSpec(version=(1, 36), default=True, pre_release=GA),
    ],
    IN_ORDER_INFORMERS_BATCH_PROCESS: [FeatureSpec(version=(1, 35), default=True, pre_release=BETA)],
    INFORMER_RESOURCE_VERSION: [
        FeatureSpec(version=(1, 30), default=False, pre_release=ALPHA),
        FeatureSpec(version=(1, 35), default=True, pre_release=GA),
    ],
    UNLOCK_WHILE_PROCESSING_FIFO: [FeatureSpec(version=(1, 36), default=True, pre_release=BETA)],
    WATCH_LIST_CLIENT: [
        FeatureSpec(version=(1, 30), default=False, pre_release=BETA),
        FeatureSpec(version=(1, 35), default=True, pre_release=BETA),
    ],
}

_initialize(
    _new_env_var_feature_gates(_unversioned_feature_gates(_default_versioned_feature_gates)),
    _default_versioned_feature_gates,
)
