"""sigs.k8s.io/controller-runtime/pkg/source: sources of events."""

from clientgo.controller_runtime.source.source import (
    ChannelOpt,
    Func,
    Informer,
    Source,
    SyncingSource,
    TypedFunc,
    TypedSource,
    TypedSyncingSource,
    channel,
    kind,
    typed_channel,
    typed_kind,
    with_buffer_size,
    with_predicates,
)

__all__ = [
    "ChannelOpt",
    "Func",
    "Informer",
    "Source",
    "SyncingSource",
    "TypedFunc",
    "TypedSource",
    "TypedSyncingSource",
    "channel",
    "kind",
    "typed_channel",
    "typed_kind",
    "with_buffer_size",
    "with_predicates",
]
