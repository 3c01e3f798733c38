"""ExpirationCache and MutationCache against plain models, on a fake clock."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from queueobjects import Item, key_of

from clientgo import klog
from clientgo.api.core import v1 as corev1
from clientgo.tools import cache
from clientgo.utils.clock import testing as clocktesting

NAMES = st.sampled_from("abc")
# In quarters of a second, which floats add up exactly.
STEPS = st.sampled_from([0.25, 0.5, 1.0, 2.0])
TTL = 2.0


class ExpirationMachine(RuleBasedStateMachine):
    """The model: value and time of each entry."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = clocktesting.new_fake_clock(1000.0)
        self.store = cache.new_ttl_store(key_of, TTL, clock=self.clock)
        self.model: dict[str, tuple[Item, float]] = {}

    def alive(self) -> dict[str, Item]:
        return {name: item for name, (item, at) in self.model.items() if self.clock.now() - at <= TTL}

    @rule(name=NAMES, val=st.integers(0, 3), op=st.sampled_from(["add", "update"]))
    def write(self, name: str, val: int, op: str) -> None:
        item = Item(name, val)
        getattr(self.store, op)(item)
        self.model[name] = (item, self.clock.now())

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self.store.delete(Item(name))
        self.model.pop(name, None)

    @rule(names=st.sets(NAMES))
    def replace(self, names: set[str]) -> None:
        items = [Item(name) for name in sorted(names)]
        self.store.replace(items, "1")
        self.model = {item.name: (item, self.clock.now()) for item in items}

    @rule(seconds=STEPS)
    def time_passes(self, seconds: float) -> None:
        self.clock.step(seconds)

    @rule(name=NAMES)
    def get(self, name: str) -> None:
        expected = self.alive().get(name)
        assert self.store.get_by_key(name) == (expected, expected is not None)
        if expected is None:
            self.model.pop(name, None)
            assert name not in self.store.list_keys()

    @rule()
    def list(self) -> None:
        alive = self.alive()
        assert self.store.list() == [*alive.values()] or sorted(map(key_of, self.store.list())) == sorted(alive)
        self.model = {name: entry for name, entry in self.model.items() if name in alive}

    @invariant()
    def keys_go_only_with_a_look_at_them(self) -> None:
        assert sorted(self.store.list_keys()) == sorted(self.model)


TestExpirationCache = ExpirationMachine.TestCase


def config_map(name: str, version: int, group: str) -> corev1.ConfigMap:
    return corev1.ConfigMap.from_dict(
        {"metadata": {"name": name, "resourceVersion": str(version)}, "data": {"group": group}}
    )


def by_group(obj: Any) -> list[str]:
    return [obj.data["group"]]


class MutationMachine(RuleBasedStateMachine):
    """The model: what the store has and what was written, with the time until which that is remembered."""

    @initialize(include_adds=st.booleans())
    def start(self, include_adds: bool) -> None:
        self.include_adds = include_adds
        self.clock = clocktesting.new_fake_clock(1000.0)
        self.store = cache.new_indexer(cache.meta_namespace_key_func, {"group": by_group})
        self.cache = cache.new_integer_resource_version_mutation_cache(
            klog.background(), self.store, self.store, TTL, include_adds, clock=self.clock
        )
        self.written: dict[str, tuple[Any, float]] = {}

    def remembered(self) -> dict[str, Any]:
        return {name: obj for name, (obj, until) in self.written.items() if self.clock.now() <= until}

    @rule(name=NAMES, version=st.integers(1, 5), group=st.sampled_from("xy"))
    def write(self, name: str, version: int, group: str) -> None:
        obj = config_map(name, version, group)
        known = self.remembered().get(name)
        if known is None or int(known.get_resource_version()) <= version:
            self.written[name] = (obj, self.clock.now() + TTL)
        self.cache.mutation(obj)

    @rule(name=NAMES, version=st.integers(1, 5), group=st.sampled_from("xy"))
    def observe(self, name: str, version: int, group: str) -> None:
        self.store.add(config_map(name, version, group))

    @rule(name=NAMES)
    def observe_deletion(self, name: str) -> None:
        self.store.delete(config_map(name, 1, "x"))

    @rule(seconds=STEPS)
    def time_passes(self, seconds: float) -> None:
        self.clock.step(seconds)

    def newer(self, name: str, stored: Any) -> Any:
        """Return the cache's expected answer for an object. The cache drops a write that is not newer."""
        written = self.remembered().get(name)
        if written is None:
            return stored
        if int(written.get_resource_version()) > int(stored.get_resource_version()):
            return written
        del self.written[name]
        return stored

    @rule(name=NAMES)
    def get(self, name: str) -> None:
        expected, exists = self.store.get_by_key(name)
        if not exists and self.include_adds and name in self.remembered():
            expected, exists = self.remembered()[name], True
        if exists:
            expected = self.newer(name, expected)
        assert self.cache.get_by_key(name) == (expected, exists)

    @rule(group=st.sampled_from("xy"))
    def by_index(self, group: str) -> None:
        keys = self.store.index_keys("group", group)
        expected = [self.newer(key, self.store.get_by_key(key)[0]) for key in keys]
        if self.include_adds:
            added = [obj for name, obj in self.remembered().items() if name not in keys and obj.data["group"] == group]
            expected += added
        found = self.cache.by_index("group", group)
        assert sorted(found, key=cache.meta_namespace_key_func) == sorted(expected, key=cache.meta_namespace_key_func)


TestMutationCache = MutationMachine.TestCase
