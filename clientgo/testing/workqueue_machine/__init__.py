"""Put any work queue under test: a small model, sessions that compare a queue with it, and Hypothesis state machines.

Has no Go file. `clientgo/util/workqueue` is tested with it, and so can be your own queue:

    from clientgo.testing import workqueue_machine

    def new_queue(metrics_provider):            # the queue may ignore the provider; then its metrics are not checked
        return MyQueue()

    TestMyQueue = workqueue_machine.QueueMachine.of(new_queue).TestCase     # random operations, one at a time

    @synctest.explore()                                                     # random interleavings of real threads
    def test_my_queue_interleaved(schedule):
        workqueue_machine.interleave(new_queue, schedule)

Everything runs in a `synctest` bubble: time is virtual, and a call that blocks goes on in its thread until a later
operation lets it return. The queue has to take its locks from `threading` at call time and its time from RealClock or
the `time` module.

A failure prints the shortest script Hypothesis found. It runs as it stands, without Hypothesis:

    q.done('a'): len() is 0, expected 1

    with QueueSession(new_queue) as q:
        q.add('a')
        q.get()  # 'a'
        q.add('a')
        q.done('a')  # <- len() is 0, expected 1

`pytest -p clientgo.testing.thorough --hypothesis-profile thorough` searches for hours and shows how far it is.
Needs Hypothesis, which the extra `test` brings.
"""

from clientgo.testing.synctest.schedule import need_hypothesis

need_hypothesis(__name__)

from clientgo.testing.workqueue_machine.interleaving import QueueRace, interleave
from clientgo.testing.workqueue_machine.machine import (
    DelayingQueueMachine,
    PriorityQueueMachine,
    QueueMachine,
    RateLimitingQueueMachine,
)
from clientgo.testing.workqueue_machine.metrics import RecordingMetrics
from clientgo.testing.workqueue_machine.model import (
    DelayingQueueModel,
    PriorityQueueModel,
    QueueModel,
    RateLimitingQueueModel,
)
from clientgo.testing.workqueue_machine.session import (
    DelayingQueueSession,
    NewQueue,
    PriorityQueueSession,
    QueueMismatch,
    QueueSession,
    RateLimitingQueueSession,
    exponential,
)

__all__ = [
    "DelayingQueueMachine",
    "DelayingQueueModel",
    "DelayingQueueSession",
    "NewQueue",
    "PriorityQueueMachine",
    "PriorityQueueModel",
    "PriorityQueueSession",
    "QueueMachine",
    "QueueMismatch",
    "QueueModel",
    "QueueRace",
    "QueueSession",
    "RateLimitingQueueMachine",
    "RateLimitingQueueModel",
    "RateLimitingQueueSession",
    "RecordingMetrics",
    "exponential",
    "interleave",
]
