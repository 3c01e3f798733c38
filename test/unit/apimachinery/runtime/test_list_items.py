"""The items of a list that a client has just got: read one by one without decoding the others, and written to."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from decoding import TYPED, is_undecoded
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import ReadOnlyError, text_source
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer
from clientgo.kubernetes.scheme import SCHEME

PROTOBUF = ProtobufSerializer(SCHEME, TYPED)


@pytest.fixture(params=["JSON", "protobuf"])
def received(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a function that makes a list of Pods with these names, as received from a server."""
    if request.param == "JSON" and not text_source.AVAILABLE:
        pytest.skip("msgspec is not installed, or switched off")
    return lambda *names: decoded(TYPED if request.param == "JSON" else PROTOBUF, names)


def decoded(serializer: Any, names: Any) -> Any:
    return serializer.decode(serializer.encode(plain(names)), None, corev1.PodList)[0]


def plain(names: Any) -> corev1.PodList:
    items = [{"metadata": {"name": name}, "spec": {"nodeName": f"of {name}"}} for name in names]
    return corev1.PodList.from_dict({"metadata": {"resourceVersion": "9"}, "items": items})


def names_of(pods: corev1.PodList) -> list[str]:
    return [pod.metadata.name for pod in pods.items]


def test_unread_items_stay_undecoded(received) -> None:
    pods = received("a", "b", "c")
    assert (len(pods.items), names_of(pods), pods.items[-1].spec.node_name) == (3, ["a", "b", "c"], "of c")
    assert [pod.metadata.name for pod in pods.items[1:]] == ["b", "c"]
    assert is_undecoded(pods) and is_undecoded(pods.items[0])


def test_a_write_to_an_item_is_one_to_the_list(received) -> None:
    pods = received("a", "b")
    first = pods.items[0]
    first.spec.node_name = "n"
    assert [pod.spec.node_name for pod in pods.items] == ["n", "of b"]
    assert [item["spec"]["nodeName"] for item in pods.to_dict()["items"]] == ["n", "of b"]
    # And after the list was decoded, through what was read before and what is read now.
    first.metadata.name = "x"
    pods.items[1].metadata.name = "y"
    assert [item["metadata"]["name"] for item in pods.to_dict()["items"]] == ["x", "y"]
    assert pickle.loads(pickle.dumps(pods)) == pods.deep_copy() == pods


def test_a_copy_of_the_list_shares_nothing(received) -> None:
    pods = received("a")
    item = pods.items[0]
    copied = pods.deep_copy()
    item.metadata.name = "x"
    assert (names_of(copied), names_of(pods)) == (["a"], ["x"])


def test_read_only_becomes_what_was_handed_out(received) -> None:
    pods = received("a")
    item = pods.items[0]
    pods.freeze()
    for pod in (item, pods.items[0]):
        with pytest.raises(ReadOnlyError):
            pod.metadata.name = "x"
    with pytest.raises(ReadOnlyError):
        pods.items.clear()
    assert names_of(pods) == ["a"]


def test_taken_items_are_not_those_that_the_list_returned(received) -> None:
    pods = received("a")
    item = pods.items[0]
    (taken,) = pods.extract_items()
    taken.freeze()
    item.metadata.name = "x"
    assert taken.get_name() == "x"


def test_what_others_have_taken_and_made_read_only_the_list_may_still_write_to(received) -> None:
    pods = received("a")
    (taken,) = pods.extract_items()
    item = pods.items[0]
    taken.freeze()
    item.metadata.name = "x"
    assert names_of(pods) == ["x"]


def test_a_list_that_is_made_of_read_only_objects_is_not_read_only_itself(received) -> None:
    (taken,) = received("a").extract_items()
    assert not meta.new_list(corev1.PodList, {"metadata": {}}, [taken.freeze()]).items[0].frozen


def test_a_wrong_name_is_an_error_as_of_every_list(received) -> None:
    with pytest.raises(AttributeError, match="no_such_attribute"):
        _ = received("a").items.no_such_attribute


# What one may do with the items: (what it is, where, a name). The same views are used again and again.
steps = st.lists(
    st.tuples(
        st.sampled_from(["rename", "append", "insert", "put", "delete", "sort", "reverse", "swap", "clear", "decode"]),
        st.integers(0, 3),
        st.sampled_from("uvwxyz"),
    ),
    max_size=8,
)


def apply(pods: corev1.PodList, items: Any, step: tuple[str, int, str]) -> str:
    """Do it; the name of an error."""
    operation, at, name = step
    made = corev1.Pod.from_dict({"metadata": {"name": name}})
    do: dict[str, Callable[[], Any]] = {
        "rename": lambda: setattr(items[at].metadata, "name", name),
        "append": lambda: items.append(made),
        "insert": lambda: items.insert(at, made),
        "put": lambda: items.__setitem__(at, made),
        "delete": lambda: items.__delitem__(at),
        "sort": lambda: items.sort(key=lambda pod: pod.metadata.name),
        "reverse": lambda: items.reverse(),
        "swap": lambda: setattr(pods, "items", [*items][::-1]),
        "clear": lambda: items.clear(),
        "decode": lambda: pods.to_dict() and None,
    }
    try:
        do[operation]()
    except IndexError:
        return "IndexError"
    return ""


@given(serializer=st.sampled_from([TYPED, PROTOBUF]), names=st.text("abc", max_size=3), steps=steps)
def test_whatever_is_done_to_the_items_the_list_is_as_one_that_was_decoded_at_once(serializer, names, steps) -> None:
    mine, model = decoded(serializer, names), plain(names)
    kept = mine.items, model.items
    for step in steps:
        for my_items, model_items in ((mine.items, model.items), kept):
            assert apply(mine, my_items, step) == apply(model, model_items, step)
            assert [pod.metadata.name for pod in my_items] == [pod.metadata.name for pod in model_items]
            assert names_of(mine) == names_of(model)
    assert names_of(mine.deep_copy()) == names_of(model)
