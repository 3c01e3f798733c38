"""Watches: streams of changes (k8s.io/apimachinery/pkg/watch).

`DEFAULT_CHAN_SIZE` can be read here; to change it, set it in `clientgo.apimachinery.watch.watch`.
"""

from clientgo.apimachinery.watch.filter import FilterFunc, Recorder, filter, new_recorder
from clientgo.apimachinery.watch.mux import (
    Broadcaster,
    FullChannelBehavior,
    new_broadcaster,
    new_long_queue_broadcaster,
)
from clientgo.apimachinery.watch.streamwatcher import (
    Decoder,
    Reporter,
    StreamWatcher,
    new_stream_watcher,
    new_stream_watcher_with_logger,
)
from clientgo.apimachinery.watch.watch import (
    DEFAULT_CHAN_SIZE,
    Event,
    EventType,
    FakeOptions,
    FakeWatcher,
    Interface,
    MockWatcher,
    ProxyWatcher,
    RaceFreeFakeWatcher,
    new_empty_watch,
    new_fake,
    new_fake_with_chan_size,
    new_fake_with_options,
    new_proxy_watcher,
    new_race_free_fake,
    new_race_free_fake_with_logger,
)

__all__ = [
    "DEFAULT_CHAN_SIZE",
    "Broadcaster",
    "Decoder",
    "Event",
    "EventType",
    "FakeOptions",
    "FakeWatcher",
    "FilterFunc",
    "FullChannelBehavior",
    "Interface",
    "MockWatcher",
    "ProxyWatcher",
    "RaceFreeFakeWatcher",
    "Recorder",
    "Reporter",
    "StreamWatcher",
    "filter",
    "new_broadcaster",
    "new_empty_watch",
    "new_fake",
    "new_fake_with_chan_size",
    "new_fake_with_options",
    "new_long_queue_broadcaster",
    "new_proxy_watcher",
    "new_race_free_fake",
    "new_race_free_fake_with_logger",
    "new_recorder",
    "new_stream_watcher",
    "new_stream_watcher_with_logger",
]
