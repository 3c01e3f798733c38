"""Work queues for controllers. Mirrors util/workqueue.

A queue has these properties:

* Fair: items are processed in the order in which they were added.
* Stingy: at most one worker processes an item at a time. An item that is added several times before a worker gets it is
  processed once.
* Multiple consumers and producers: an item may be added again while a worker processes it. It is then processed again.
* Shutdown: `get` reports the shutdown to every worker.

`Typed` is the basic queue. The delaying queue adds items after a delay. The rate limiting queue computes the delay from
the item's failures. `PriorityQueue` (not in Go) returns the items of the highest priority first.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach
from clientgo.util.workqueue.beyond.dropping_priority_queue import DroppingPriorityQueue
from clientgo.util.workqueue.beyond.inspection import QueueContents, QueueStatistics
from clientgo.util.workqueue.beyond.priority_options import (
    LOW_PRIORITY,
    AddOpts,
    DepthMetricWithPriority,
    MetricsProviderWithPriority,
    PriorityQueueConfig,
)
from clientgo.util.workqueue.beyond.priority_queue import PriorityQueue, add_event, new_priority_queue
from clientgo.util.workqueue.default_rate_limiters import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
    TypedBucketRateLimiter,
    TypedItemExponentialFailureRateLimiter,
    TypedItemFastSlowRateLimiter,
    TypedMaxOfRateLimiter,
    TypedRateLimiter,
    TypedWithMaxWaitRateLimiter,
    WithMaxWaitRateLimiter,
    default_controller_rate_limiter,
    default_item_based_rate_limiter,
    default_typed_controller_rate_limiter,
    default_typed_item_based_rate_limiter,
    new_item_exponential_failure_rate_limiter,
    new_item_fast_slow_rate_limiter,
    new_max_of_rate_limiter,
    new_typed_item_exponential_failure_rate_limiter,
    new_typed_item_fast_slow_rate_limiter,
    new_typed_max_of_rate_limiter,
    new_typed_with_max_wait_rate_limiter,
    new_with_max_wait_rate_limiter,
)
from clientgo.util.workqueue.delaying_queue import (
    DelayingInterface,
    DelayingQueueConfig,
    TypedDelayingInterface,
    TypedDelayingQueueConfig,
    new_delaying_queue,
    new_delaying_queue_with_config,
    new_delaying_queue_with_custom_clock,
    new_delaying_queue_with_custom_queue,
    new_named_delaying_queue,
    new_typed_delaying_queue,
    new_typed_delaying_queue_with_config,
    typed_new_delaying_queue,
)
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
from clientgo.util.workqueue.rate_limiting_queue import (
    RateLimitingInterface,
    RateLimitingQueueConfig,
    TypedRateLimitingInterface,
    TypedRateLimitingQueueConfig,
    new_named_rate_limiting_queue,
    new_rate_limiting_queue,
    new_rate_limiting_queue_with_config,
    new_rate_limiting_queue_with_delaying_interface,
    new_typed_rate_limiting_queue,
    new_typed_rate_limiting_queue_with_config,
)

if TYPE_CHECKING:
    from clientgo.util.workqueue.parallelizer import DoWorkPieceFunc, Options, parallelize_until, with_chunk_size
else:
    __getattr__, __dir__ = attach(
        __name__, {"parallelizer": ["DoWorkPieceFunc", "Options", "parallelize_until", "with_chunk_size"]}
    )

__all__ = [
    "LOW_PRIORITY",
    "AddOpts",
    "BucketRateLimiter",
    "CounterMetric",
    "DelayingInterface",
    "DelayingQueueConfig",
    "DepthMetricWithPriority",
    "DoWorkPieceFunc",
    "DroppingPriorityQueue",
    "GaugeMetric",
    "HistogramMetric",
    "Interface",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "MetricsProvider",
    "MetricsProviderWithPriority",
    "Options",
    "PriorityQueue",
    "PriorityQueueConfig",
    "Queue",
    "QueueConfig",
    "QueueContents",
    "QueueStatistics",
    "RateLimiter",
    "RateLimitingInterface",
    "RateLimitingQueueConfig",
    "SettableGaugeMetric",
    "SummaryMetric",
    "Type",
    "Typed",
    "TypedBucketRateLimiter",
    "TypedDelayingInterface",
    "TypedDelayingQueueConfig",
    "TypedInterface",
    "TypedItemExponentialFailureRateLimiter",
    "TypedItemFastSlowRateLimiter",
    "TypedMaxOfRateLimiter",
    "TypedQueueConfig",
    "TypedRateLimiter",
    "TypedRateLimitingInterface",
    "TypedRateLimitingQueueConfig",
    "TypedWithMaxWaitRateLimiter",
    "WithMaxWaitRateLimiter",
    "add_event",
    "default_controller_rate_limiter",
    "default_item_based_rate_limiter",
    "default_queue",
    "default_typed_controller_rate_limiter",
    "default_typed_item_based_rate_limiter",
    "new",
    "new_delaying_queue",
    "new_delaying_queue_with_config",
    "new_delaying_queue_with_custom_clock",
    "new_delaying_queue_with_custom_queue",
    "new_item_exponential_failure_rate_limiter",
    "new_item_fast_slow_rate_limiter",
    "new_max_of_rate_limiter",
    "new_named",
    "new_named_delaying_queue",
    "new_named_rate_limiting_queue",
    "new_priority_queue",
    "new_rate_limiting_queue",
    "new_rate_limiting_queue_with_config",
    "new_rate_limiting_queue_with_delaying_interface",
    "new_typed",
    "new_typed_delaying_queue",
    "new_typed_delaying_queue_with_config",
    "new_typed_item_exponential_failure_rate_limiter",
    "new_typed_item_fast_slow_rate_limiter",
    "new_typed_max_of_rate_limiter",
    "new_typed_rate_limiting_queue",
    "new_typed_rate_limiting_queue_with_config",
    "new_typed_with_config",
    "new_typed_with_max_wait_rate_limiter",
    "new_with_config",
    "new_with_max_wait_rate_limiter",
    "parallelize_until",
    "set_provider",
    "typed_new_delaying_queue",
    "with_chunk_size",
]
