"""The ranges of shards: complete, disjoint, the same for a client and an API server."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver.kinds import shard_selector
from clientgo.tools.sharding import ShardBy, selector_of, shard_of_value

FIELDS = st.sampled_from([ShardBy.NAMESPACE, ShardBy.UID])


@given(value=st.text(max_size=40), shards=st.integers(1, 300), by=FIELDS)
def test_an_object_is_in_exactly_the_shard_that_its_value_has(value: str, shards: int, by: ShardBy) -> None:
    metadata = metav1.ObjectMeta(namespace=value) if by is ShardBy.NAMESPACE else metav1.ObjectMeta(uid=value)
    obj = corev1.ConfigMap(metadata=metadata)
    own = shard_of_value(value, shards)
    near = {own, (own + 1) % shards, (own - 1) % shards, 0, shards - 1}
    assert {shard for shard in near if selector_of([shard], shards, by).matches(obj)} == {own}


@given(shards=st.integers(1, 40), by=FIELDS, data=st.data())
def test_ranges_do_not_overlap_and_together_are_all(shards: int, by: ShardBy, data: st.DataObject) -> None:
    held = data.draw(st.sets(st.integers(0, shards - 1), min_size=1))
    ranges = [
        (int(each.start, 16), int(each.end, 16)) for each in selector_of(held, shards, by).requirements()
    ]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ranges)), "neighbours share"
    others = set(range(shards)) - held
    if others:
        ranges += [(int(each.start, 16), int(each.end, 16)) for each in selector_of(others, shards, by).requirements()]
    ranges.sort()
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 1 << 64
    assert all(before[1] == after[0] for before, after in itertools.pairwise(ranges))


@given(shards=st.integers(1, 40), by=FIELDS, data=st.data())
def test_the_server_accepts_the_selector_and_returns_its_text(shards: int, by: ShardBy, data: st.DataObject) -> None:
    held = data.draw(st.sets(st.integers(0, shards - 1), min_size=1))
    text = str(selector_of(held, shards, by))
    assert str(shard_selector.parse(text)) == text


def test_the_shard_of_a_value_never_changes() -> None:
    # Replicas of different versions must agree.
    assert [shard_of_value(value, 8) for value in ("", "default", "kube-system", "a", "b")] == [6, 7, 6, 5, 5]


@pytest.mark.parametrize(
    ("held", "by", "text"),
    [
        ([], ShardBy.UID, "shards must be between 0 and 3, got []"),
        ([4], ShardBy.UID, "shards must be between 0 and 3, got [4]"),
        ([-1, 2], ShardBy.NAMESPACE, "shards must be between 0 and 3, got [-1, 2]"),
        ([1], ShardBy.NAME, "an API server cannot select by namespace and name"),
    ],
)
def test_a_selector_that_no_server_has_is_rejected(held: list[int], by: ShardBy, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        selector_of(held, 4, by)
    assert str(caught.value) == text
