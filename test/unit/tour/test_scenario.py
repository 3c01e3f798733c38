"""The scenarios of the lessons: what happens in each, and when."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import tour
from clientgo.tour.script import FAULTS, Step
from clientgo.tour.settings import Settings

APPLE, BREAD = "0 create apple an apple", "0 create bread some bread"

# The lessons' texts, questions and pictures are about exactly these runs.
SCRIPTS: dict[str, tuple[str, str, str, dict[str, Any], float]] = {
    "list-and-watch": (
        "List and watch",
        f"{APPLE} | {BREAD}",
        "2 create cheese a cheese | 4 update apple a red apple | 6 delete bread",
        {},
        70.0,
    ),
    "deltas": (
        "Deltas: why a key keeps several",
        APPLE,
        "2 create bread some bread | 2 update bread fresh bread | 2 update bread dark bread | 2 delete bread",
        {"fifo": "DeltaFIFO"},
        30.0,
    ),
    "queue": (
        "The work queue's three sets",
        f"{APPLE} | {BREAD}",
        "1 slow-server | 2 update apple a red apple | 3 update apple a green apple | 3 update apple a yellow apple",
        {},
        30.0,
    ),
    "backoff": ("Rate limiting and backoff", APPLE, "2 writes-fail | 2 create bread some bread", {}, 30.0),
    "tombstone": ("Tombstones", f"{APPLE} | {BREAD}", "2 delete-unseen", {}, 60.0),
    "handlers": (
        "Handlers, buffers and the slow one",
        APPLE,
        "2 handler-blocks | 3 create bread some bread | 4 create cheese a cheese | 5 update bread dark bread"
        " | 8 handler-goes-on",
        {"handlers": 2},
        30.0,
    ),
    "versions": (
        "Resource versions, bookmarks, 410",
        APPLE,
        "2 create bread some bread | 10 elsewhere a-secret | 70 cut | 80 gone",
        {},
        30.0,
    ),
    "fifos": (
        "DeltaFIFO against RealFIFO",
        f"{APPLE} | {BREAD}",
        "2 create cheese a cheese | 2 update apple a red apple | 2 update cheese a ripe cheese | 2 delete cheese",
        {"fifo": "DeltaFIFO", "replace": "Sync"},
        30.0,
    ),
    "indexer": (
        "The indexer",
        f"{APPLE} | {BREAD}",
        "2 create avocado an avocado | 4 update bread dark bread | 6 delete apple",
        {"words": True},
        30.0,
    ),
    "resync": ("Resync without relist", f"{APPLE} | {BREAD}", "", {"resync": 10.0}, 15.0),
    "level": (
        "Reconcile is level-triggered",
        APPLE,
        "2 create bread some bread | 2 update bread fresh bread | 2 update bread dark bread | 6 meddle bread NONSENSE"
        " | 10 gone",
        {},
        30.0,
    ),
    "stale": (
        "Read your own writes, and stale caches",
        APPLE,
        "1 watch-lags | 2 create bread some bread | 4 update bread dark bread",
        {},
        30.0,
    ),
    "events": (
        "Events and their correlator",
        APPLE,
        "2 update apple red | 3 update apple an apple | 4 update apple red | 5 update apple green"
        " | 6 update apple yellow | 7 update apple brown | 8 update apple black | 9 update apple rotten"
        " | 10 update apple gone",
        {"events": True},
        30.0,
    ),
    "election": ("Leader election", APPLE, "6 kill | 17 create bread some bread", {"replicas": 2}, 30.0),
    "owners": (
        "Ownership, finalizers and garbage collection",
        f"{APPLE} | {BREAD}",
        "2 own slice bread | 4 hold bread | 6 delete bread | 8 release bread | 10 own core apple | 11 hold core"
        " | 12 delete-foreground apple | 14 release core",
        {},
        30.0,
    ),
    "priority": (
        "The priority queue",
        f"{APPLE} | {BREAD} | 0 create cheese a cheese",
        "0 slow-server | 3 update cheese a ripe cheese | 3 create dates some dates",
        {"queue": "PriorityQueue"},
        30.0,
    ),
}


def text_of(steps: Any) -> str:
    return " | ".join(f"{step.at:g} {step.verb} {step.name} {step.text}".strip() for step in steps)


def test_every_scenario_has_a_script() -> None:
    assert list(tour.SCENARIOS) == list(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_scenario_does_what_its_lesson_tells(name: str) -> None:
    scenario = tour.SCENARIOS[name]
    title, before, steps, settings, after = SCRIPTS[name]
    assert (scenario.name, scenario.title, scenario.after) == (name, title, after)
    assert (text_of(scenario.before), text_of(scenario.steps)) == (before, steps)
    assert scenario.settings == Settings(**settings)
    # Every verb is known, and a later step is never before an earlier one.
    known = {*scenario.program.verbs, *FAULTS}
    assert {step.verb for step in (*scenario.before, *scenario.steps)} <= known
    assert [step.at for step in scenario.steps] == sorted(step.at for step in scenario.steps)


def test_a_scenario_is_by_itself_half_a_minute_of_the_lessons_controller() -> None:
    scenario = tour.Scenario(name="a", title="b")
    assert (scenario.before, scenario.steps, scenario.settings, scenario.after) == ((), (), Settings(), 30.0)
    assert scenario.program is tour.SCENARIOS["queue"].program and text_of([Step(1.5, "cut")]) == "1.5 cut"
