"""Our counters, gauges and histograms show the same values as prometheus_client's."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

prometheus_client = pytest.importorskip("prometheus_client")

from clientgo.metrics import instruments  # noqa: E402 (needs prometheus_client)

BOUNDS = [0.1, 1.0, 2.5]
LABELS = st.tuples(st.sampled_from("ab"), st.sampled_from(['"', "\\", "x\ny"]))


def text(*collectors: Any) -> str:
    registry = prometheus_client.CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    shown = prometheus_client.generate_latest(registry).decode()
    return "".join(line for line in shown.splitlines(keepends=True) if "_created" not in line)


@given(
    st.lists(
        st.tuples(
            LABELS, st.sampled_from(["count", "up", "down", "set", "see"]), st.sampled_from([0, 0.1, 0.5, 1, 2.5, 3])
        ),
        max_size=600,
    )
)
def test_they_show_what_prometheus_clients_own_show(steps: list[tuple[tuple[str, str], str, float]]) -> None:
    names = ["one", "two"]
    ours = (
        instruments.counter_vec("things_total", "Things.", names),
        instruments.gauge_vec("level", "A level.", names),
        instruments.histogram_vec("seconds", "Times.", names, BOUNDS),
    )
    theirs = (
        prometheus_client.Counter("things_total", "Things.", names, registry=None),
        prometheus_client.Gauge("level", "A level.", names, registry=None),
        prometheus_client.Histogram("seconds", "Times.", names, buckets=BOUNDS, registry=None),
    )
    for counter, gauge, histogram in (ours, theirs):
        for labels, operation, amount in steps:
            if operation == "count":
                counter.labels(*labels).inc(amount)
            elif operation == "see":
                histogram.labels(*labels).observe(amount)
            else:
                {"up": gauge.labels(*labels).inc, "down": gauge.labels(*labels).dec, "set": gauge.labels(*labels).set}[
                    operation
                ](amount)
    assert rounded(text(*ours)) == rounded(text(*theirs))


def rounded(shown: str) -> list[str]:
    """Round the values, since a sum of floats depends on the order of the additions."""
    lines = [line.rpartition(" ") for line in shown.splitlines()]
    return sorted(
        f"{series} {float(value):.6f}" if not series.startswith("#") else f"{series} {value}"
        for series, _, value in lines
    )


def test_concurrent_counts_and_reads_lose_nothing() -> None:
    number, distribution = instruments.Number(), instruments.Distribution(BOUNDS)
    begin = threading.Barrier(5)

    def count() -> None:
        begin.wait()
        for _ in range(2000):
            number.inc()
            distribution.observe(0.5)

    def read() -> None:
        begin.wait()
        for _ in range(200):
            number.value()
            distribution.buckets()

    threads = [threading.Thread(target=count) for _ in range(4)] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.value() == 8000
    assert distribution.buckets() == ([("0.1", 0.0), ("1.0", 8000.0), ("2.5", 8000.0), ("+Inf", 8000.0)], 4000.0)


def test_unread_values_do_not_accumulate() -> None:
    class Amount(float):
        """A number that can be referred to weakly."""

    number, distribution = instruments.Number(), instruments.Distribution(BOUNDS)
    kept: dict[Any, list[weakref.ref[Amount]]] = {number.inc: [], distribution.observe: []}
    for take, references in kept.items():
        for _ in range(10_000):
            amount = Amount(1)
            references.append(weakref.ref(amount))
            take(amount)
    for references in kept.values():
        assert sum(each() is not None for each in references) < 1000


def test_what_is_refused() -> None:
    vec = instruments.counter_vec("things_total", "Things.", ["one", "two"])
    with pytest.raises(ValueError, match="expected 2 label values"):
        vec.labels("a")
    with pytest.raises(ValueError, match="increasing order"):
        instruments.histogram_vec("seconds", "Times.", [], [1.0, 1.0])
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        text(vec, instruments.gauge_vec("things", "A clash.", []))


def test_one_without_labels_is_there_from_the_beginning() -> None:
    assert "things_total 0.0" in text(instruments.counter_vec("things_total", "Things.", []))
