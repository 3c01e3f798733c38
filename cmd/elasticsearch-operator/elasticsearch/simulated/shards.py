"""Simulated shards: the nodes of their copies while nodes stop, return and are emptied before their removal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from elasticsearch import version
from elasticsearch.client import HealthStatus, Shard, ShardState

_SERVING = (ShardState.STARTED, ShardState.RELOCATING)


@dataclass(frozen=True)
class Pace:
    """The simulated durations, in seconds."""

    # The recovery of a copy after its creation or its node's return.
    recovery: float = 2.0
    # The move of a copy to another node.
    relocation: float = 5.0
    # The wait for a lost node before its copies are recreated elsewhere; the wait for a node that announced a restart.
    delayed: float = 60.0
    delayed_restart: float = 300.0
    # The preparation of a node for its restart.
    prepare: float = 1.0

    def times(self, speed: float) -> Pace:
        """Return a pace that is `speed` times as fast."""
        return Pace(**{key: seconds / speed for key, seconds in asdict(self).items()})


@dataclass
class Copy:
    """One copy of a shard."""

    index: str
    number: int
    primary: bool
    state: str = ShardState.UNASSIGNED
    # The present or last node; "" before the first assignment.
    node: str = ""
    # The target of its move.
    target: str = ""
    # The end of its recovery or move; the time at which it lost its node.
    until: float = 0.0
    lost: float = 0.0

    @property
    def key(self) -> tuple[str, int]:
        return self.index, self.number

    @property
    def is_assigned(self) -> bool:
        return self.state != ShardState.UNASSIGNED

    def sits_on(self, node: str) -> bool:
        return self.is_assigned and node in (self.node, self.target)


@dataclass
class Shards:
    """The copies of all shards of a cluster, and the rules of their allocation."""

    pace: Pace
    copies: list[Copy] = field(default_factory=list)
    # The versions of the running data nodes, by name; the nodes that will be removed; the nodes that will return.
    nodes: Mapping[str, str] = field(default_factory=dict)
    leaving: frozenset[str] = frozenset()
    restarting: frozenset[str] = frozenset()

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(copy) for copy in self.copies]

    @classmethod
    def from_json(cls, pace: Pace, copies: Iterable[Mapping[str, Any]]) -> Shards:
        return cls(pace, [Copy(**copy) for copy in copies])

    def create_index(self, name: str, primaries: int, replicas: int) -> None:
        """Create an index. The next `advance` allocates the copies of its shards."""
        for number in range(primaries):
            self.copies.append(Copy(name, number, primary=True))
            self.copies += [Copy(name, number, primary=False) for _ in range(replicas)]

    def view(self) -> list[Shard]:
        """Return the shards as the API shows them."""
        return [
            Shard(copy.index, copy.number, copy.primary, ShardState(copy.state), copy.node if copy.is_assigned else "")
            for copy in self.copies
        ]

    def status(self) -> HealthStatus:
        if any(copy.primary and copy.state not in _SERVING for copy in self.copies):
            return HealthStatus.RED
        return HealthStatus.GREEN if all(copy.state in _SERVING for copy in self.copies) else HealthStatus.YELLOW

    def count(self, state: ShardState) -> int:
        return sum(copy.state == state for copy in self.copies)

    def on(self, node: str) -> list[Copy]:
        """Return the copies that the node holds, initializes or receives."""
        return [copy for copy in self.copies if copy.sits_on(node)]

    def left_behind_by(self, node: str) -> list[Copy]:
        """Return the copies that were on the node when it left and have no other node yet."""
        return [copy for copy in self.copies if not copy.is_assigned and copy.node == node]

    # ---- what happens

    def node_left(self, node: str, now: float) -> None:
        """Remove a node and its copies. Another copy becomes the primary of a lost primary's shard, if there is one."""
        for copy in self.on(node):
            if copy.node != node:  # it was on its way there, and stays
                copy.state, copy.target, copy.until = ShardState.STARTED, "", 0.0
                continue
            copy.state, copy.target, copy.until, copy.lost = ShardState.UNASSIGNED, "", 0.0, now
        for copy in self.left_behind_by(node):
            heir = self._serving(copy.key)
            if copy.primary and heir is not None:
                copy.primary, heir.primary = False, True

    def advance(self, now: float) -> None:
        """Simulate all events until `now`, in the order of their times."""
        while (due := self._next_due(now)) is not None:
            for copy in self.copies:
                if copy.is_assigned and 0.0 < copy.until <= due:
                    self._arrive(copy)
            self._allocate(due)
            self._move(due)
        self._allocate(now)
        self._move(now)

    def _next_due(self, now: float) -> float | None:
        """Return the time of the next arrival of a copy, or None. Copies that only wait are checked in every round."""
        return min((copy.until for copy in self.copies if 0.0 < copy.until <= now), default=None)

    @staticmethod
    def _arrive(copy: Copy) -> None:
        if copy.state == ShardState.RELOCATING:
            copy.node = copy.target
        copy.state, copy.target, copy.until = ShardState.STARTED, "", 0.0

    def _allocate(self, now: float) -> None:
        """Assign each unassigned copy to its last node, or to another one after the wait."""
        for copy in sorted(self.copies, key=lambda each: not each.primary):
            if copy.is_assigned or not (copy.primary or self._serving(copy.key)):
                continue
            place = self._place_for(copy, now)
            if place:
                copy.state, copy.node, copy.until = ShardState.INITIALIZING, place, now + self.pace.recovery

    def _place_for(self, copy: Copy, now: float) -> str:
        if copy.node in self.nodes and self._may_go_to(copy, copy.node):
            return copy.node
        if copy.primary and copy.node:  # its only content is where it was
            return ""
        patience = self.pace.delayed_restart if copy.node in self.restarting else self.pace.delayed
        return self._best_for(copy) if not copy.node or now - copy.lost >= patience else ""

    def _move(self, now: float) -> None:
        """Move copies off each leaving node, one at a time, or else balance the load of the nodes."""
        for node in sorted(self.leaving):
            held = [copy for copy in self.on(node) if copy.node == node]
            if not any(copy.state == ShardState.RELOCATING for copy in held):
                next(filter(lambda copy: self._send(copy, self._best_for(copy), now), held), None)
        if self.status() != HealthStatus.GREEN or self.count(ShardState.RELOCATING):
            return
        load = self._load()
        for copy in self.copies:
            place = self._best_for(copy)
            if place and load[copy.node] - load[place] > 1 and self._send(copy, place, now):
                return

    def _send(self, copy: Copy, place: str, now: float) -> bool:
        if not place or copy.state != ShardState.STARTED:
            return False
        copy.state, copy.target, copy.until = ShardState.RELOCATING, place, now + self.pace.relocation
        return True

    def can_move(self, node: str) -> bool:
        """Report whether a copy moves off the node, or can move."""
        held = self.on(node)
        return any(copy.state != ShardState.STARTED or self._best_for(copy) for copy in held)

    def _best_for(self, copy: Copy) -> str:
        """Return the node with the least load that may hold the copy, or "" when there is none."""
        load = self._load()
        places = [node for node in self.nodes if node not in self.leaving and self._may_go_to(copy, node)]
        return min(places, key=lambda node: (load[node], node), default="")

    def _may_go_to(self, copy: Copy, node: str) -> bool:
        """Report whether the node has no copy of the shard and is not older than the node that fills the copy."""
        if any(each.key == copy.key and each.sits_on(node) for each in self.copies):
            return False
        source = self._serving(copy.key)
        if source is None or source.node not in self.nodes:
            return True
        return version.parse(self.nodes[node]) >= version.parse(self.nodes[source.node])

    def _serving(self, key: tuple[str, int]) -> Copy | None:
        """Return the primary, or a copy that could become the primary."""
        found = [copy for copy in self.copies if copy.key == key and copy.state in _SERVING]
        return max(found, key=lambda copy: copy.primary, default=None)

    def _load(self) -> Counter[str]:
        load: Counter[str] = Counter()
        for copy in self.copies:
            if copy.is_assigned:
                load[copy.target or copy.node] += 1
        return load
