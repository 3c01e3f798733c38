"""The token bucket, as golang.org/x/time/rate behaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_invariants

from clientgo import context
from clientgo.apimachinery.apis.meta.v1 import format_duration
from clientgo.testing import synctest
from clientgo.util.flowcontrol import rate
from clientgo.utils.clock.testing import FakeClock

# Steps of a tenth of a second, the time of one token at 10/s.
D = 0.1


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(0.0)


def test_every() -> None:
    assert rate.every(0.1) == pytest.approx(10.0)
    assert rate.every(0.0) == rate.INF
    assert rate.every(-1.0) == rate.INF


@pytest.mark.parametrize(
    ("burst", "asked"),
    [
        (1, [(0, 1, True), (0, 1, False), (0, 1, False), (1, 1, True), (1, 1, False), (2, 1, True), (2, 1, False)]),
        (3, [(0, 2, True), (0, 2, False), (0, 1, True), (0, 1, False), (1, 4, False), (2, 1, True), (3, 1, True)]),
        (3, [(1, 1, True), (0, 1, True), (0, 1, True), (0, 1, False), (9, 3, True), (9, 0, True)]),
    ],
)
def test_allow(clock: FakeClock, burst: int, asked: list[tuple[int, int, bool]]) -> None:
    limiter = rate.new_limiter(10, burst, clock)
    for step, n, ok in asked:
        assert limiter.allow_n(step * D, n) == ok, (step, n, limiter)
        check_invariants(limiter)


def test_time_that_goes_backwards_does_not_refill_twice(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    assert [limiter.allow_n(t * D, 1) for t in (1, 0, 0, 1, 1)] == [True, True, False, True, False]


def test_no_limit_allows_everything(clock: FakeClock) -> None:
    limiter = rate.new_limiter(rate.INF, 0, clock)
    assert limiter.allow_n(0.0, 1000)
    assert limiter.reserve_n(0.0, 5).delay() == 0.0
    limiter.reserve().cancel()
    limiter.wait(context.background())

    limiter.set_limit(1)
    assert not limiter.allow()
    limiter.set_burst(3)
    clock.step(2.0)
    assert limiter.tokens() == pytest.approx(2.0)


def test_no_refill_gives_the_burst_and_nothing_more(clock: FakeClock) -> None:
    limiter = rate.new_limiter(0, 2, clock)
    assert [limiter.allow() for _ in range(3)] == [True, True, False]
    clock.step(1e6)
    assert not limiter.allow()
    assert limiter.tokens() == 0.0


def test_reservations_queue_up(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    assert [limiter.reserve().delay() for _ in range(4)] == pytest.approx([0, 0, D, 2 * D])
    last = limiter.reserve_n(0.0, 2)
    assert last.delay() == pytest.approx(4 * D)
    clock.step(D)
    assert last.delay() == pytest.approx(3 * D)
    clock.step(1.0)
    assert last.delay() == 0.0


def test_more_than_the_burst_cannot_be_reserved(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    reservation = limiter.reserve_n(0.0, 3)
    assert not reservation.ok()
    assert reservation.delay() == rate.INF_DURATION == (2**63 - 1) / 1e9
    reservation.cancel()
    assert limiter.tokens() == 2.0
    assert repr(reservation) == "<Reservation impossible>"


def test_cancelling_the_last_reservation_gives_all_back(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    last = limiter.reserve_n(0.0, 2)
    assert limiter.tokens() == -2.0
    last.cancel()
    assert limiter.tokens() == 0.0
    assert limiter.reserve().delay() == pytest.approx(D)


def test_cancelling_keeps_what_later_reservations_stand_on(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    first = limiter.reserve_n(0.0, 2)
    limiter.reserve_n(0.0, 1)
    first.cancel()
    # One of its two tokens has become part of the later wait.
    assert limiter.tokens() == pytest.approx(-2.0)


def test_cancelling_too_late_gives_nothing_back(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    reservation = limiter.reserve_n(0.0, 1)
    clock.step(1.5 * D)
    reservation.cancel()
    assert limiter.tokens() == pytest.approx(0.5)


@pytest.mark.parametrize("start", [0.0, 1.6e9 + 0.3])
def test_a_reservation_can_be_cancelled_in_the_moment_of_its_making(start: float) -> None:
    """Also where a float of that date rounds one of the two times."""
    clock = FakeClock(start)
    limiter = rate.new_limiter(10, 5, clock)
    for _ in range(20):
        clock.step(0.7)
        limiter.reserve().cancel_at(clock.now())
        assert limiter.tokens() == pytest.approx(5.0, abs=1e-4)
        limiter.reserve_n(clock.now(), 1).cancel()
        assert limiter.tokens() == pytest.approx(5.0, abs=1e-4)


def test_cancel_never_fills_above_the_burst(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    reservation = limiter.reserve_n(0.0, 2)
    reservation.cancel_at(0.0)
    assert limiter.tokens() == 2.0
    check_invariants(limiter)


def test_set_limit_changes_the_refill_from_then_on(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    clock.step(D)
    limiter.set_limit(100)
    assert limiter.limit() == 100
    assert limiter.tokens() == pytest.approx(1.0)
    clock.step(0.005)
    assert limiter.tokens() == pytest.approx(1.5)


def test_set_burst_caps_what_is_there(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 5, clock)
    limiter.set_burst(2)
    assert limiter.burst() == 2
    assert [limiter.allow() for _ in range(3)] == [True, True, False]
    limiter.set_burst(10)
    clock.step(10.0)
    assert limiter.tokens_at(clock.now()) == 10.0


def test_a_time_that_is_passed_is_the_clocks() -> None:
    start = 1000.0
    limiter = rate.new_limiter(10, 5, FakeClock(start))
    assert [limiter.allow_n(start + at, n) for at, n in ((0.0, 5), (0.0, 1), (D, 1), (D, 1))] == [
        True,
        False,
        True,
        False,
    ]
    limiter.set_limit_at(start + 2 * D, 1.0)
    assert limiter.tokens_at(start + 2 * D + 0.5) == pytest.approx(1.5)
    limiter.set_burst_at(start + 2 * D + 1.0, 4)
    assert limiter.tokens_at(start + 2 * D + 1.0) == pytest.approx(2.0)
    limiter.reserve_n(start + 8.0, 4)
    assert repr(limiter.reserve_n(start + 8.0, 1)) == "<Reservation of 1 at 1009.0>"


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble() as b:
        yield b


def test_wait_blocks_until_the_token_is_due(bubble: synctest.Bubble) -> None:
    limiter = rate.new_limiter(10, 3)
    ctx = context.background()
    limiter.wait_n(ctx, 3)
    assert bubble.elapsed == 0.0
    limiter.wait(ctx)
    assert bubble.elapsed == pytest.approx(D)
    limiter.wait_n(ctx, 2)
    assert bubble.elapsed == pytest.approx(3 * D)


def test_wait_for_more_than_the_burst_fails(bubble: synctest.Bubble) -> None:
    with pytest.raises(ValueError, match=r"rate: Wait\(n=4\) exceeds limiter's burst 3"):
        rate.new_limiter(10, 3).wait_n(context.background(), 4)


def test_wait_fails_at_once_when_the_deadline_would_pass(bubble: synctest.Bubble) -> None:
    limiter = rate.new_limiter(10, 1)
    ctx, cancel = context.with_timeout(context.background(), D / 2)
    limiter.wait(ctx)
    with pytest.raises(ValueError, match=r"rate: Wait\(n=1\) would exceed context deadline"):
        limiter.wait(ctx)
    assert bubble.elapsed == 0.0
    assert limiter.tokens() == pytest.approx(0.0)
    cancel()


def test_cancelled_wait_gives_its_token_back(bubble: synctest.Bubble) -> None:
    limiter = rate.new_limiter(1, 1)
    ctx, cancel = context.with_cancel(context.background())
    limiter.wait(ctx)
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            limiter.wait(ctx)
        except context.Canceled as err:
            raised.append(err)

    thread = threading.Thread(target=wait)
    thread.start()
    bubble.sleep(0.25)
    assert limiter.tokens() == pytest.approx(-0.75)

    cancel()
    thread.join()

    assert [str(err) for err in raised] == ["context canceled"]
    assert limiter.tokens() == pytest.approx(0.25)
    with pytest.raises(context.Canceled):
        limiter.wait(ctx)


@given(
    limit=st.sampled_from([0.5, 1.0, 3.0, 10.0, 1000.0]),
    burst=st.integers(1, 5),
    steps=st.lists(st.tuples(st.floats(0.0, 2.0), st.integers(1, 5)), max_size=40),
)
def test_never_more_than_burst_plus_rate_times_time(limit: float, burst: int, steps: list[tuple[float, int]]) -> None:
    clock = FakeClock(0.0)
    limiter = rate.new_limiter(limit, burst, clock)
    allowed = 0
    for seconds, n in steps:
        clock.step(seconds)
        if limiter.allow_n(clock.now(), n):
            allowed += n
        check_invariants(limiter)
        assert allowed <= burst + limit * clock.now() + 0.01 * len(steps)


@given(limit=st.sampled_from([0.5, 3.0, 10.0]), burst=st.integers(1, 4), count=st.integers(1, 30))
def test_reserved_events_keep_the_rate(limit: float, burst: int, count: int) -> None:
    limiter = rate.new_limiter(limit, burst, FakeClock(0.0))
    delays = [limiter.reserve().delay() for _ in range(count)]
    assert delays == pytest.approx([max(0, number + 1 - burst) / limit for number in range(count)], abs=2e-6)


@pytest.mark.parametrize("start", [0.0, 1.6e9, 4e9])
def test_a_bucket_that_never_refills_answers_gos_longest_duration(start: float) -> None:
    """Go: rate.InfDuration, which is math.MaxInt64 nanoseconds; it grows shorter as time passes."""
    clock = FakeClock(start)
    limiter = rate.new_limiter(0, 1, clock)
    assert limiter.reserve().delay() == 0.0
    reservation = limiter.reserve()
    assert reservation.ok()
    assert format_duration(reservation.delay()) == "2562047h47m16.854775807s"
    clock.step(0.5)
    assert reservation.delay() == pytest.approx(rate.INF_DURATION - 0.5, abs=1e-4)
    clock.step(15.5)
    assert reservation.delay() == pytest.approx(rate.INF_DURATION - 16.0, abs=1e-4)
    assert rate.new_limiter(1e-12, 1, clock).reserve_n(clock.now(), 1).delay() == 0.0
    slow = rate.new_limiter(1e-12, 1, clock)
    slow.allow()
    assert slow.reserve().delay() == rate.INF_DURATION, "a token in 30,000 years"


def test_a_reservation_without_a_limit_gives_its_tokens_back_under_a_limit(clock: FakeClock) -> None:
    limiter = rate.new_limiter(rate.INF, 5, clock)
    reservation = limiter.reserve()
    limiter.set_limit(10)
    limiter.set_burst(10)
    reservation.cancel()
    assert limiter.tokens() == 6.0


def test_a_full_bucket_does_not_serve_a_context_that_is_done(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    ctx, cancel = context.with_cancel(context.background())
    cancel()
    with pytest.raises(context.Canceled):
        limiter.wait(ctx)
    assert limiter.tokens() == 2.0


def test_a_delay_shorter_than_the_clocks_resolution_is_none(clock: FakeClock) -> None:
    limiter = rate.new_limiter(1e7, 1, clock)
    assert [limiter.reserve().delay(), limiter.reserve().delay()] == [0.0, 0.0]


def test_cancelling_gives_nothing_back_when_later_reservations_stand_on_all_of_it(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    first = limiter.reserve_n(0.0, 1)
    limiter.reserve_n(0.0, 2)
    first.cancel()
    assert limiter.tokens() == pytest.approx(-3.0)


@pytest.mark.parametrize("earlier", [1, 2], ids=["one that waits", "one that is due"])
def test_after_the_last_reservation_the_one_before_it_can_be_cancelled_in_full(clock: FakeClock, earlier: int) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    if earlier == 1:
        limiter.reserve_n(0.0, 2)
    before = limiter.reserve_n(0.0, earlier)
    last = limiter.reserve_n(0.0, 1)
    tokens = limiter.tokens()
    last.cancel()
    before.cancel()
    assert limiter.tokens() == pytest.approx(tokens + 1 + earlier)


def test_lifting_the_limit_fills_the_bucket(clock: FakeClock) -> None:
    limiter = rate.new_limiter(10, 2, clock)
    limiter.reserve_n(0.0, 2)
    limiter.set_limit(rate.INF)
    assert limiter.tokens() == 2.0
