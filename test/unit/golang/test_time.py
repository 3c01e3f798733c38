"""An instant is a date by the wall clock and a distance by the monotonic one."""

from __future__ import annotations

import copy
import json
import pickle
import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo import context
from clientgo.apimachinery.apis.meta.v1.time import from_clock
from clientgo.apimachinery.apis.meta.v1.time import now as metav1_now
from clientgo.golang.time import Time
from clientgo.golang.time import now as time_now
from clientgo.transport.token_source import Token, new_cached_file_token_source, new_cached_token_source
from clientgo.util import workqueue
from clientgo.util.flowcontrol.rate import Limiter
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import FakePassiveClock

READINGS = st.tuples(st.floats(0, 4e9), st.floats(0, 1e6))


@pytest.fixture(params=[3600.0, -3600.0], ids=["an hour ahead", "an hour back"])
def step(request, monkeypatch):
    """Return a function that changes the wall clock."""
    real = time.time

    def put() -> None:
        monkeypatch.setattr(time, "time", lambda: real() + request.param)

    put.seconds = request.param  # type: ignore[attr-defined]
    return put


@given(READINGS, READINGS)
def test_two_instants_are_compared_by_the_monotonic_clock(first, second):
    a, b = Time.of(*first), Time.of(*second)
    assert (a < b, a <= b, a > b, a >= b) == (
        first[1] < second[1],
        first[1] <= second[1],
        first[1] > second[1],
        first[1] >= second[1],
    )
    assert a - b == first[1] - second[1]


@given(READINGS, st.floats(0, 4e9))
def test_beside_a_plain_float_an_instant_is_wall_time(reading, other):
    a = Time.of(*reading)
    assert (a < other, a > other, a - other, other - a) == (
        reading[0] < other,
        reading[0] > other,
        reading[0] - other,
        other - reading[0],
    )
    assert a == reading[0]
    assert hash(a) == hash(reading[0])


@given(READINGS, st.floats(-1e6, 1e6))
def test_a_later_instant_is_later_on_both_clocks(reading, seconds):
    for later in (Time.of(*reading) + seconds, seconds + Time.of(*reading)):
        assert (float(later), later.monotonic) == (reading[0] + seconds, reading[1] + seconds)


def test_an_instant_goes_where_a_float_goes():
    instant = time_now()
    assert json.loads(json.dumps([instant])) == [float(instant)]
    assert datetime.fromtimestamp(instant).timestamp() == pytest.approx(instant, abs=1e-5)
    for copied in (copy.copy(instant), copy.deepcopy(instant), pickle.loads(pickle.dumps(instant))):
        assert (copied, copied.monotonic) == (instant, instant.monotonic)


def test_the_real_clock_follows_the_wall_clock(step):
    step()
    assert REAL_CLOCK.now() == pytest.approx(time.time(), abs=5)
    assert metav1_now().timestamp() == pytest.approx(time.time(), abs=5)
    assert from_clock(REAL_CLOCK.now()).timestamp() == pytest.approx(time.time(), abs=5)


def test_a_step_of_the_wall_clock_is_no_length_of_time(step):
    before = REAL_CLOCK.now()
    deadline = before + 60
    step()
    assert 0 <= REAL_CLOCK.since(before) < 30
    assert before < REAL_CLOCK.now() < deadline
    assert 30 < deadline - REAL_CLOCK.now() <= 60


def test_timers_and_deadlines_keep_their_length_over_a_step(step):
    ctx, cancel = context.with_timeout(context.background(), 0.2)
    timer, never = REAL_CLOCK.new_timer(0.1), REAL_CLOCK.new_timer(1800)
    ticker = REAL_CLOCK.new_ticker(0.05)
    step()
    timer.c().receive(timeout=PATIENCE)
    ticker.c().receive(timeout=PATIENCE)
    ticker.c().receive(timeout=PATIENCE)
    ctx.done().wait(PATIENCE)
    assert ctx.err() is not None
    assert never.stop()
    ticker.stop()
    cancel()


def test_a_delayed_item_comes_at_its_time_over_a_step(step):
    queue = workqueue.new_typed_delaying_queue()
    queue.add_after("soon", 0.1)
    queue.add_after("late", 1800)
    step()
    assert queue.get() == ("soon", False)
    queue.done("soon")
    assert queue.len() == 0
    queue.shut_down()


def test_a_token_bucket_fills_by_time_that_passed_over_a_step(step):
    limiter = Limiter(1.0, 10)
    assert limiter.allow_n(REAL_CLOCK.now(), 10)
    step()
    assert limiter.tokens() < 5
    assert limiter.reserve_n(REAL_CLOCK.now(), 10).delay() <= 10.5


def test_a_token_expires_by_its_date_when_the_clock_was_put(step):
    """While a laptop is suspended, the monotonic clock stops and the date advances."""
    fetched: list[str] = []

    class Source:
        def token(self) -> Token:
            fetched.append("token")
            return Token("token", time.time() + 600.0)

    source = new_cached_token_source(Source())
    source.token()
    source.token()
    assert len(fetched) == 1
    step()
    source.token()
    assert len(fetched) == (2 if step.seconds > 0 else 1)


def test_a_clock_that_has_only_one_reading_stays_a_float():
    assert type(FakePassiveClock(5.0).now()) is float


def test_a_token_file_is_read_again_by_the_time_that_passed(step, tmp_path):
    path = tmp_path / "token"
    path.write_text("first")
    source = new_cached_file_token_source(str(path))
    assert source.token().access_token == "first"
    path.write_text("second")
    step()
    assert source.token().access_token == "first", "a step of the wall clock is no minute that passed"
