"""Work queues and rate limiters answer as Go's do, step by step, in virtual time.

Where the cases move the clock in a single jump, past what becomes due on the way, a FakeClock jumps; the bubble then
only tells when all threads have come to rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from goldenfile import cases
from invariants import check_invariants

from clientgo.testing import synctest
from clientgo.util import workqueue
from clientgo.util.flowcontrol import rate
from clientgo.utils.clock.testing import FakeClock

NS = 1e-9
MS = 1e-3

Step = dict[str, Any]


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    # Floats resolve nanoseconds near zero, not near today's date.
    with synctest.bubble(start=0.0) as b:
        yield b


def now_ms(bubble: synctest.Bubble) -> int:
    return round(bubble.elapsed / MS)


def get_all(queue: workqueue.TypedInterface[str]) -> list[str]:
    items = []
    while queue.len():
        item, shutdown = queue.get()
        assert not shutdown
        items.append(item)
    return items


@pytest.mark.parametrize("case", cases("workqueue/queue.jsonl"))
def test_queue(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    queue = workqueue.new_typed()
    drains: list[threading.Thread] = []
    returned: list[None] = []

    def drain() -> None:
        queue.shut_down_with_drain()
        returned.append(None)

    def take(step: Step) -> dict[str, Any]:
        match step["op"]:
            case "add":
                queue.add(step["args"]["item"])
            case "get":
                item, shutdown = queue.get()
                return {"item": item, "shutdown": shutdown}
            case "done":
                queue.done(step["args"]["item"])
            case "shut_down":
                queue.shut_down()
            case "shut_down_with_drain":
                drains.append(threading.Thread(target=drain, name="drain"))
                drains[-1].start()
            case "len":
                pass
            case op:
                raise AssertionError(op)
        return {}

    for step in case["steps"]:
        got = take(step)
        bubble.wait()
        got |= {"len": queue.len(), "shutting_down": queue.shutting_down()}
        if "drains_returned" in step["expect"]:
            got["drains_returned"] = len(returned)
        assert got == step["expect"], (step, queue)
    queue.shut_down()
    for thread in drains:
        thread.join()


@pytest.mark.parametrize("case", cases("workqueue/delaying_queue.jsonl"))
def test_delaying_queue(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    clock = FakeClock()
    queue = workqueue.new_typed_delaying_queue_with_config(workqueue.TypedDelayingQueueConfig(clock=clock))

    def take(step: Step) -> dict[str, Any]:
        args = step["args"]
        match step["op"]:
            case "add_after":
                queue.add_after(args["item"], args["delay_ms"] * MS)
            case "add":
                queue.add(args["item"])
            case "advance":
                clock.step(args["ms"] * MS)
            case "drain":
                items = get_all(queue)
                for item in items:
                    queue.done(item)
                return {"items": items}
            case "shut_down":
                queue.shut_down()
                return {"shutting_down": queue.shutting_down()}
            case "len":
                pass
            case op:
                raise AssertionError(op)
        return {}

    for step in case["steps"]:
        got = take(step)
        bubble.wait()
        got |= {"len": queue.len(), "now_ms": round(clock.now() / MS)}
        assert got == step["expect"], (step, queue)
        check_invariants(queue)
    queue.shut_down()


def make_limiter(config: dict[str, Any]) -> workqueue.TypedRateLimiter[str]:
    match config["kind"]:
        case "item_exponential_failure":
            return workqueue.new_typed_item_exponential_failure_rate_limiter(
                config["base_delay_ns"] * NS, config["max_delay_ns"] * NS
            )
        case "item_fast_slow":
            return workqueue.new_typed_item_fast_slow_rate_limiter(
                config["fast_delay_ns"] * NS, config["slow_delay_ns"] * NS, config["max_fast_attempts"]
            )
        case "max_of":
            return workqueue.new_typed_max_of_rate_limiter(*map(make_limiter, config["limiters"]))
        case "with_max_wait":
            return workqueue.new_typed_with_max_wait_rate_limiter(
                make_limiter(config["inner"]), config["max_delay_ns"] * NS
            )
        case "default_item_based":
            return workqueue.default_typed_item_based_rate_limiter()
        case "bucket":
            return workqueue.TypedBucketRateLimiter(limiter=rate.new_limiter(config["qps"], config["burst"]))
        case "default_controller":
            return workqueue.default_typed_controller_rate_limiter()
        case kind:
            raise AssertionError(kind)


def check_limiter(case: dict[str, Any], advance: Callable[[float], int], tolerance_ns: float) -> None:
    limiter = make_limiter(case["config"]["limiter"])
    for step in case["steps"]:
        args, expect = step["args"], step["expect"]
        match step["op"]:
            case "advance":
                assert advance(args["ms"] * MS) == expect["now_ms"]
                continue
            case "when":
                delay = limiter.when(args["item"])
            case "when_n":
                for _ in range(args["n"]):
                    delay = limiter.when(args["item"])
            case "forget":
                limiter.forget(args["item"])
            case "num_requeues":
                pass
            case op:
                raise AssertionError(op)
        assert limiter.num_requeues(args["item"]) == expect["num_requeues"], (step, limiter)
        if "delay_ns" in expect:
            assert delay / NS == pytest.approx(expect["delay_ns"], rel=1e-15, abs=tolerance_ns), (step, limiter)


@pytest.mark.parametrize("case", cases("workqueue/rate_limiters.jsonl"))
def test_rate_limiters(case: dict[str, Any]) -> None:
    def no_time(_: float) -> int:
        raise AssertionError("these cases know no time")

    check_limiter(case, no_time, 0.01)


@pytest.mark.parametrize("case", cases("workqueue/bucket_rate_limiter.jsonl"))
def test_bucket_rate_limiter(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    def advance(seconds: float) -> int:
        bubble.sleep(seconds)
        return now_ms(bubble)

    # Go truncates to whole nanoseconds.
    check_limiter(case, advance, 2.0)


@pytest.mark.parametrize("case", cases("workqueue/rate_limiting_queue.jsonl"))
def test_rate_limiting_queue(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    queue = workqueue.new_typed_rate_limiting_queue(make_limiter(case["config"]["limiter"]))

    def take(step: Step) -> dict[str, Any]:
        args = step["args"]
        match step["op"]:
            case "add_rate_limited":
                queue.add_rate_limited(args["item"])
            case "forget":
                queue.forget(args["item"])
            case "num_requeues":
                pass
            case "advance":
                bubble.sleep(args["ms"] * MS)
            case "get_all":
                return {"items_sorted": sorted(get_all(queue))}
            case "done_all":
                for item in args["items"]:
                    queue.done(item)
            case "shut_down":
                queue.shut_down()
            case op:
                raise AssertionError(op)
        return {"num_requeues": queue.num_requeues(args["item"])} if "item" in args else {}

    for step in case["steps"]:
        got = take(step)
        bubble.wait()
        if step["expect"]:
            got |= {"len": queue.len(), "now_ms": now_ms(bubble)}
        assert got == step["expect"], (step, queue)
    queue.shut_down()


class RecordingProvider:
    """A provider that records every call of its metrics."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def metric(self, name: str) -> Any:
        return RecordingMetric(self.calls, name)

    def new_depth_metric(self, name: str) -> workqueue.GaugeMetric:
        return self.metric("depth")

    def new_adds_metric(self, name: str) -> workqueue.CounterMetric:
        return self.metric("adds")

    def new_latency_metric(self, name: str) -> workqueue.HistogramMetric:
        return self.metric("latency")

    def new_work_duration_metric(self, name: str) -> workqueue.HistogramMetric:
        return self.metric("work_duration")

    def new_unfinished_work_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return self.metric("unfinished_work_seconds")

    def new_longest_running_processor_seconds_metric(self, name: str) -> workqueue.SettableGaugeMetric:
        return self.metric("longest_running_processor_seconds")

    def new_retries_metric(self, name: str) -> workqueue.CounterMetric:
        return self.metric("retries")


class RecordingMetric:
    def __init__(self, calls: list[dict[str, Any]], name: str) -> None:
        self.calls = calls
        self.name = name

    def inc(self) -> None:
        self.calls.append({"metric": self.name, "op": "inc"})

    def dec(self) -> None:
        self.calls.append({"metric": self.name, "op": "dec"})

    def set(self, value: float) -> None:
        self.calls.append({"metric": self.name, "op": "set", "value": pytest.approx(value, abs=1e-9)})

    def observe(self, value: float) -> None:
        self.calls.append({"metric": self.name, "op": "observe", "value": pytest.approx(value, abs=1e-9)})


@pytest.mark.parametrize("case", cases("workqueue/metrics.jsonl"))
def test_metrics(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    clock = FakeClock()
    provider = RecordingProvider()
    queue = workqueue.new_typed_delaying_queue_with_config(
        workqueue.TypedDelayingQueueConfig(name=case["config"]["queue_name"], metrics_provider=provider, clock=clock)
    )

    bubble.wait()

    def take(step: Step) -> dict[str, Any]:
        args = step["args"]
        match step["op"]:
            case "add":
                queue.add(args["item"])
            case "add_after":
                queue.add_after(args["item"], args["delay_ms"] * MS)
            case "get":
                item, shutdown = queue.get()
                return {"item": item, "shutdown": shutdown}
            case "done":
                queue.done(args["item"])
            case "advance":
                clock.step(args["ms"] * MS)
            case "shut_down":
                queue.shut_down()
            case op:
                raise AssertionError(op)
        return {}

    for step in case["steps"]:
        provider.calls.clear()
        got = take(step)
        bubble.wait()
        metrics = list(provider.calls)
        if step["op"] == "advance":
            metrics.sort(key=lambda call: str(call["metric"]))
        got |= {"metrics": metrics, "len": queue.len(), "now_ms": round(clock.now() / MS)}
        assert got == step["expect"], (step, queue)
    queue.shut_down()
