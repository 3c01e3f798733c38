"""Scenarios: scripts of a user's kubectl commands next to a controller, and those of the lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clientgo.tour.machine import Program
from clientgo.tour.script import SHOUTER, Step
from clientgo.tour.settings import Settings

__all__ = ["SCENARIOS", "Scenario"]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A script and the settings of its machine."""

    name: str
    title: str
    before: Sequence[Step] = ()
    """Steps before the controller starts."""
    steps: Sequence[Step] = ()
    settings: Settings = field(default_factory=Settings)
    after: float = 30.0
    """Seconds from the last step to the end of the run."""
    program: Program = SHOUTER


_APPLE = Step(0, "create", "apple", "an apple")
_BREAD = Step(0, "create", "bread", "some bread")

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            name="list-and-watch",
            title="List and watch",
            before=[_APPLE, _BREAD],
            steps=[
                Step(2, "create", "cheese", "a cheese"),
                Step(4, "update", "apple", "a red apple"),
                Step(6, "delete", "bread"),
            ],
            after=70.0,
        ),
        Scenario(
            name="deltas",
            title="Deltas: why a key keeps several",
            before=[_APPLE],
            steps=[
                Step(2, "create", "bread", "some bread"),
                Step(2, "update", "bread", "fresh bread"),
                Step(2, "update", "bread", "dark bread"),
                Step(2, "delete", "bread"),
            ],
            settings=Settings(fifo="DeltaFIFO"),
        ),
        Scenario(
            name="queue",
            title="The work queue's three sets",
            before=[_APPLE, _BREAD],
            steps=[
                Step(1, "slow-server"),  # so that a worker is at it while more happens
                Step(2, "update", "apple", "a red apple"),
                Step(3, "update", "apple", "a green apple"),
                Step(3, "update", "apple", "a yellow apple"),
            ],
        ),
        Scenario(
            name="backoff",
            title="Rate limiting and backoff",
            before=[_APPLE],
            steps=[Step(2, "writes-fail"), Step(2, "create", "bread", "some bread")],
        ),
        Scenario(
            name="tombstone",
            title="Tombstones",
            before=[_APPLE, _BREAD],
            steps=[Step(2, "delete-unseen")],
            after=60.0,
        ),
        Scenario(
            name="handlers",
            title="Handlers, buffers and the slow one",
            before=[_APPLE],
            steps=[
                Step(2, "handler-blocks"),
                Step(3, "create", "bread", "some bread"),
                Step(4, "create", "cheese", "a cheese"),
                Step(5, "update", "bread", "dark bread"),
                Step(8, "handler-goes-on"),
            ],
            settings=Settings(handlers=2),
        ),
        Scenario(
            name="versions",
            title="Resource versions, bookmarks, 410",
            before=[_APPLE],
            steps=[
                Step(2, "create", "bread", "some bread"),
                Step(10, "elsewhere", "a-secret"),
                Step(70, "cut"),
                Step(80, "gone"),
            ],
        ),
        Scenario(
            name="fifos",
            title="DeltaFIFO against RealFIFO",
            before=[_APPLE, _BREAD],
            steps=[
                Step(2, "create", "cheese", "a cheese"),
                Step(2, "update", "apple", "a red apple"),
                Step(2, "update", "cheese", "a ripe cheese"),
                Step(2, "delete", "cheese"),
            ],
            settings=Settings(fifo="DeltaFIFO", replace="Sync"),
        ),
        Scenario(
            name="indexer",
            title="The indexer",
            before=[_APPLE, _BREAD],
            steps=[
                Step(2, "create", "avocado", "an avocado"),
                Step(4, "update", "bread", "dark bread"),
                Step(6, "delete", "apple"),
            ],
            settings=Settings(words=True),
        ),
        Scenario(
            name="resync",
            title="Resync without relist",
            before=[_APPLE, _BREAD],
            steps=[],
            settings=Settings(resync=10.0),
            after=15.0,
        ),
        Scenario(
            name="level",
            title="Reconcile is level-triggered",
            before=[_APPLE],
            steps=[
                Step(2, "create", "bread", "some bread"),
                Step(2, "update", "bread", "fresh bread"),
                Step(2, "update", "bread", "dark bread"),
                Step(6, "meddle", "bread", "NONSENSE"),
                Step(10, "gone"),
            ],
        ),
        Scenario(
            name="stale",
            title="Read your own writes, and stale caches",
            before=[_APPLE],
            steps=[
                Step(1, "watch-lags"),
                Step(2, "create", "bread", "some bread"),
                Step(4, "update", "bread", "dark bread"),
            ],
        ),
        Scenario(
            name="events",
            title="Events and their correlator",
            before=[_APPLE],
            steps=[
                Step(2, "update", "apple", "red"),
                Step(3, "update", "apple", "an apple"),
                Step(4, "update", "apple", "red"),
                Step(5, "update", "apple", "green"),
                Step(6, "update", "apple", "yellow"),
                Step(7, "update", "apple", "brown"),
                Step(8, "update", "apple", "black"),
                Step(9, "update", "apple", "rotten"),
                Step(10, "update", "apple", "gone"),
            ],
            settings=Settings(events=True),
        ),
        Scenario(
            name="election",
            title="Leader election",
            before=[_APPLE],
            steps=[
                Step(6, "kill"),
                Step(17, "create", "bread", "some bread"),
            ],
            settings=Settings(replicas=2),
        ),
        Scenario(
            name="owners",
            title="Ownership, finalizers and garbage collection",
            before=[_APPLE, _BREAD],
            steps=[
                Step(2, "own", "slice", "bread"),
                Step(4, "hold", "bread"),
                Step(6, "delete", "bread"),
                Step(8, "release", "bread"),
                Step(10, "own", "core", "apple"),
                Step(11, "hold", "core"),
                Step(12, "delete-foreground", "apple"),
                Step(14, "release", "core"),
            ],
        ),
        Scenario(
            name="priority",
            title="The priority queue",
            before=[_APPLE, _BREAD, Step(0, "create", "cheese", "a cheese")],
            steps=[
                Step(0, "slow-server"),
                Step(3, "update", "cheese", "a ripe cheese"),
                Step(3, "create", "dates", "some dates"),
            ],
            settings=Settings(queue="PriorityQueue"),
        ),
    )
}
"""The lessons' scenarios by name."""
