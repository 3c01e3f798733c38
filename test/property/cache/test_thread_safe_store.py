"""ThreadSafeStore against a plain model: whatever is done to it, its indexes agree with its content."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from invariants import check_invariants

from clientgo.tools import cache
from clientgo.tools.cache import ThreadSafeStoreTransaction, TransactionType

KEYS = st.sampled_from("abcde")
# An object is the values it is indexed under, per index.
VALUES = st.lists(st.sampled_from("xyz"), max_size=3)
OBJECTS = st.fixed_dictionaries({"many": VALUES, "one": st.sampled_from("pq"), "late": VALUES})
TRANSACTIONS = st.lists(st.tuples(st.sampled_from(TransactionType), KEYS, OBJECTS), max_size=5)


class StoreMachine(RuleBasedStateMachine):
    """The model is a dict of objects; what an index should hold is computed from it."""

    def __init__(self) -> None:
        super().__init__()
        self.indexers: dict[str, cache.IndexFunc] = {"many": lambda obj: obj["many"], "one": lambda obj: [obj["one"]]}
        self.store: Any = cache.new_thread_safe_store(self.indexers, {})
        self.model: dict[str, Any] = {}

    @rule(key=KEYS, obj=OBJECTS, op=st.sampled_from(["add", "update"]))
    def write(self, key: str, obj: Any, op: str) -> None:
        getattr(self.store, op)(key, obj)
        self.model[key] = obj

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        self.store.delete(key)
        self.model.pop(key, None)

    @rule(objs=st.dictionaries(KEYS, OBJECTS), version=st.sampled_from(["", "1", "2"]))
    def replace(self, objs: dict[str, Any], version: str) -> None:
        self.store.replace(dict(objs), version)
        self.model = dict(objs)
        assert self.store.last_store_sync_resource_version() == version

    @rule(txns=TRANSACTIONS)
    def transaction(self, txns: list[tuple[TransactionType, str, Any]]) -> None:
        self.store.transaction(*(ThreadSafeStoreTransaction(obj, type, key) for type, key, obj in txns))
        for type, key, obj in txns:
            if type == TransactionType.DELETE:
                self.model.pop(key, None)
            else:
                self.model[key] = obj

    @precondition(lambda self: "late" not in self.indexers)
    @rule()
    def add_indexers(self) -> None:
        late: dict[str, cache.IndexFunc] = {"late": lambda obj: obj["late"]}
        self.store.add_indexers(late)
        self.indexers.update(late)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        assert self.store.get(key) == (self.model.get(key), key in self.model)

    @rule(obj=OBJECTS)
    def index(self, obj: Any) -> None:
        for name, index_func in self.indexers.items():
            values = set(index_func(obj))
            expected = [each for each in self.model.values() if values & set(index_func(each))]
            found = self.store.index(name, obj)
            assert sorted(map(id, found)) == sorted(map(id, expected)), (name, values)

    @invariant()
    def the_content_is_that_of_the_model(self) -> None:
        assert dict(zip(self.store.list_keys(), self.store.list())) == self.model

    @invariant()
    def statistics_match_contents(self) -> None:
        statistics = self.store.statistics()
        assert statistics.objects == len(self.model)
        values = {name: {value for obj in self.model.values() for value in f(obj)} for name, f in self.indexers.items()}
        assert statistics.indexes == {name: len(found) for name, found in values.items()}

    @invariant()
    def the_indexes_are_those_of_the_model(self) -> None:
        check_invariants(self.store)
        for name, index_func in self.indexers.items():
            expected: dict[str, set[str]] = {}
            for key, obj in self.model.items():
                for value in index_func(obj):
                    expected.setdefault(value, set()).add(key)
            assert sorted(self.store.list_index_func_values(name)) == sorted(expected)
            for value in "xyzpq":
                keys = self.store.index_keys(name, value)
                assert keys == sorted(expected.get(value, ()))
                assert len(self.store.by_index(name, value)) == len(keys)


TestStore = StoreMachine.TestCase
