"""Delays of items. More cases, compared with Go, are in test/golden/workqueue."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.apimachinery.apis.meta.v1 import format_duration
from clientgo.util import workqueue
from clientgo.util.flowcontrol import rate
from clientgo.util.workqueue.beyond.inspection import components_of
from clientgo.utils.clock.testing import FakeClock

MS = 0.001


def test_delay_doubles_per_failure_of_an_item() -> None:
    """Go: TestItemExponentialFailureRateLimiter"""
    limiter = workqueue.new_item_exponential_failure_rate_limiter(1 * MS, 1.0)
    assert [limiter.when("one") for _ in range(5)] == [1 * MS, 2 * MS, 4 * MS, 8 * MS, 16 * MS]
    assert limiter.num_requeues("one") == 5

    assert [limiter.when("two") for _ in range(2)] == [1 * MS, 2 * MS]
    assert limiter.num_requeues("two") == 2

    limiter.forget("one")
    assert limiter.num_requeues("one") == 0
    assert limiter.when("one") == 1 * MS


@pytest.mark.parametrize(("base", "maximum", "calls"), [(1 * MS, 1000.0, 5000), (60.0, 3600.0 * 1000, 1200)])
def test_delay_stays_at_the_maximum_after_very_many_failures(base: float, maximum: float, calls: int) -> None:
    """Go: TestItemExponentialFailureRateLimiterOverFlow"""
    limiter = workqueue.new_item_exponential_failure_rate_limiter(base, maximum)
    delays = [limiter.when("overflow") for _ in range(calls)]
    assert delays == sorted(delays)
    assert delays[-1] == maximum


def test_fast_then_slow() -> None:
    """Go: TestItemFastSlowRateLimiter"""
    limiter = workqueue.new_item_fast_slow_rate_limiter(5 * MS, 10.0, 3)
    assert [limiter.when("one") for _ in range(5)] == [5 * MS, 5 * MS, 5 * MS, 10.0, 10.0]
    assert limiter.num_requeues("one") == 5
    assert limiter.when("two") == 5 * MS
    limiter.forget("one")
    assert limiter.num_requeues("one") == 0
    assert limiter.when("one") == 5 * MS


def test_worst_limiter_wins() -> None:
    """Go: TestMaxOfRateLimiter"""
    limiter = workqueue.new_max_of_rate_limiter(
        workqueue.new_item_fast_slow_rate_limiter(5 * MS, 3.0, 3),
        workqueue.new_item_exponential_failure_rate_limiter(1 * MS, 1.0),
    )
    assert [limiter.when("one") for _ in range(5)] == [5 * MS, 5 * MS, 5 * MS, 3.0, 3.0]
    assert limiter.num_requeues("one") == 5
    assert limiter.when("two") == 5 * MS
    limiter.forget("one")
    assert limiter.num_requeues("one") == 0
    assert limiter.when("one") == 5 * MS


def test_no_limiter_at_all() -> None:
    limiter = workqueue.new_max_of_rate_limiter()
    assert (limiter.when("a"), limiter.num_requeues("a")) == (0.0, 0)


def test_wait_is_capped() -> None:
    """Go: TestWithMaxWaitRateLimiter"""
    limiter = workqueue.new_with_max_wait_rate_limiter(
        workqueue.new_item_exponential_failure_rate_limiter(1 * MS, 1000.0), 4 * MS
    )
    assert [limiter.when("one") for _ in range(5)] == [1 * MS, 2 * MS, 4 * MS, 4 * MS, 4 * MS]
    assert limiter.num_requeues("one") == 5
    limiter.forget("one")
    assert limiter.when("one") == 1 * MS


def test_bucket_reserves_tokens_of_the_future() -> None:
    clock = FakeClock()
    limiter: workqueue.BucketRateLimiter = workqueue.TypedBucketRateLimiter(limiter=rate.new_limiter(10, 2, clock))
    assert [limiter.when(item) for item in "aabc"] == [0.0, 0.0, pytest.approx(0.1), pytest.approx(0.2)]
    clock.step(0.2)
    assert limiter.when("d") == pytest.approx(0.1)
    assert limiter.num_requeues("a") == 0
    limiter.forget("a")


def test_empty_bucket_without_refill_never_gives_a_token() -> None:
    limiter: workqueue.BucketRateLimiter = workqueue.TypedBucketRateLimiter(limiter=rate.new_limiter(0, 0, FakeClock()))
    assert limiter.when("a") == rate.INF_DURATION
    assert format_duration(limiter.when("a")) == "2562047h47m16.854775807s"


def test_the_recommended_limiter_has_the_delays_of_go() -> None:
    """5 ms, doubled up to 1000 s for one item; for all items a burst of 100, then 10 per second."""
    limiter = workqueue.default_typed_controller_rate_limiter(FakeClock(1000.0))
    delays = [limiter.when("a") for _ in range(20)]
    assert delays == pytest.approx([min(0.005 * 2**n, 1000.0) for n in range(20)])
    burst = [limiter.when(f"item {n}") for n in range(80)]
    assert burst == [0.005] * 80
    later = [limiter.when(f"late {n}") for n in range(5)]
    assert later == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])


@pytest.mark.parametrize(
    "new", [workqueue.default_item_based_rate_limiter, workqueue.default_typed_item_based_rate_limiter]
)
def test_the_limiter_without_a_bucket_has_the_delays_of_go(new: Callable[[], workqueue.RateLimiter]) -> None:
    limiter = new()
    delays = [limiter.when("a") for _ in range(22)]
    assert delays == pytest.approx([min(0.001 * 2**n, 1000.0) for n in range(22)])


def test_no_base_delay_is_no_delay_while_a_float_holds_the_factor() -> None:
    limiter = workqueue.new_item_exponential_failure_rate_limiter(0.0, 1000.0)
    assert [limiter.when("a") for _ in range(1024)] == [0.0] * 1024


def test_a_delay_of_two_to_the_63rd_nanoseconds_overflows_as_in_go() -> None:
    limiter = workqueue.new_item_exponential_failure_rate_limiter(1e-9, 1e12)
    delays = [limiter.when("a") for _ in range(65)]
    assert delays[62:] == [2.0**62 / 1e9, -(2.0**63) / 1e9, 1e12]


def combined() -> tuple[workqueue.RateLimiter, ...]:
    """Return an exponential limiter, that limiter capped, a bucket, and the maximum of both."""
    inner = workqueue.new_item_exponential_failure_rate_limiter(0.5, 9.0)
    capped = workqueue.new_with_max_wait_rate_limiter(inner, 4.0)
    bucket: workqueue.BucketRateLimiter = workqueue.TypedBucketRateLimiter(limiter=rate.new_limiter(10, 2, FakeClock()))
    return inner, capped, bucket, workqueue.new_max_of_rate_limiter(capped, bucket)


def test_the_largest_count_of_several_limiters_counts() -> None:
    inner, _, _, limiter = combined()
    inner.when("a")
    limiter.when("a")
    assert limiter.num_requeues("a") == 2


def test_a_combined_limiter_names_its_components() -> None:
    inner, capped, bucket, limiter = combined()
    assert components_of(capped) == (inner,)
    assert components_of(limiter) == (inner, bucket)


def test_a_limiter_shows_its_delays_and_the_number_of_its_items() -> None:
    *_, limiter = combined()
    limiter.when("a")
    assert repr(limiter) == (
        "<TypedMaxOfRateLimiter <TypedWithMaxWaitRateLimiter 4.0s, <TypedItemExponentialFailureRateLimiter 0.5s to "
        "9.0s, 1 items>>, <TypedBucketRateLimiter <Limiter 10/s, burst 2, 1 tokens>>>"
    )
