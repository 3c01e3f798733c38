"""The settings of a machine: their defaults, their limits, and the messages about those that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.tour.settings import Settings


def test_the_settings_are_at_first_todays_machine() -> None:
    assert Settings().to_dict() == {
        "fifo": "RealFIFO",
        "replace": "Replaced",
        "watch_list": False,
        "resync": 0.0,
        "handlers": 1,
        "workers": 1,
        "queue": "workqueue",
        "limiter": "exponential",
        "base_delay": 1.0,
        "replicas": 1,
        "events": False,
        "words": False,
        "last": "",
    }
    given = {**Settings().to_dict(), "resync": 5, "events": True, "last": "x" * 100}
    made = Settings.of(given)
    assert made == Settings(resync=5.0, events=True, last="x" * 100) and type(made.resync) is float


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "least"),
    [
        ("handlers", 1, 2, 1),
        ("workers", 1, 4, 1),
        ("replicas", 1, 2, 1),
        ("resync", 0.0, 3600.0, 0.5),
        ("base_delay", 0.001, 1000.0, 0.0005),
    ],
)
def test_a_number_has_its_limits(name: str, lowest: float, highest: float, least: float) -> None:
    for good in (lowest, highest):
        assert getattr(Settings.of({name: good}), name) == good
    for bad in (lowest - least, highest + least):
        with pytest.raises(ValueError, match=f"^{name} is between {lowest} and {highest}, not {bad}$"):
            Settings.of({name: bad})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fifo": "x"}, "fifo is RealFIFO or DeltaFIFO, not 'x'"),
        ({"replace": "x"}, "replace is Replaced or Sync, not 'x'"),
        ({"queue": "x"}, "queue is workqueue or PriorityQueue, not 'x'"),
        ({"limiter": "x"}, "limiter is exponential or fast-slow or default, not 'x'"),
        ({"last": "x" * 101}, "last is the beginning of a thread's name, at most 100 characters"),
        ({"workers": 1.0}, "the setting 'workers' is no int: 1.0"),
        ({"events": 1}, "the setting 'events' is no bool: 1"),
        ({"resync": True}, "the setting 'resync' is no float: True"),
        ({"speed": 1}, "there is no setting 'speed'"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_choices(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Settings.of(given)
    assert str(caught.value) == message
