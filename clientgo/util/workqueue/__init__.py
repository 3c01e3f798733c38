"""Work queues for controllers. Mirrors util/workqueue.

A queue hands items to workers

* fairly: in the order in which they were added;
* stingily: an item is never in two workers' hands, and adding it again before a worker takes it changes nothing;
* to many consumers from many producers; an item may be added again while it is processed and is then processed again;
* until it is shut down, which every worker is told.

`Typed` is that queue, the delaying queue adds items later, the rate limiting queue decides how much later, and
`PriorityQueue` (not in Go) hands out what matters first.
"""

from clientgo.util.workqueue.metrics import (
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
    MetricsProvider,
    SettableGaugeMetric,
    SummaryMetric,
    set_provider,
)
from clientgo.util.workqueue.queue import (
    Interface,
    Queue,
    QueueConfig,
    Type,
    Typed,
    TypedInterface,
    TypedQueueConfig,
    default_queue,
    new,
    new_named,
    new_typed,
    new_typed_with_config,
    new_with_config,
)

__all__ = [
    "CounterMetric",
    "GaugeMetric",
    "HistogramMetric",
    "Interface",
    "MetricsProvider",
    "Queue",
    "QueueConfig",
    "SettableGaugeMetric",
    "SummaryMetric",
    "Type",
    "Typed",
    "TypedInterface",
    "TypedQueueConfig",
    "default_queue",
    "new",
    "new_named",
    "new_typed",
    "new_typed_with_config",
    "new_with_config",
    "set_provider",
]
