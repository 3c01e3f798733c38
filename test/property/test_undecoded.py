"""Decoding later gives what decoding at once gives, for every text: the same object, or the same error on arrival.

Texts with a number that no float64 can hold are left out: what is undecoded reports such a number when it is read (see
text_source, and the test of it in test_undecoded of the unit tests).
"""

from __future__ import annotations

import functools
import json
import random
from typing import Any, TypeVar

from decoding import DYNAMIC, TYPED, decoding_at_once, event, needs_msgspec, outcome
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta.v1.unstructured import UnstructuredList
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.util.json import unmarshal

pytestmark = needs_msgspec

_T = TypeVar("_T")


@st.composite
def mostly(draw: st.DrawFn, common: st.SearchStrategy[_T], rare: st.SearchStrategy[_T]) -> _T:
    return draw(rare if draw(st.integers(0, 19)) == 7 else common)


# Texts of JSON values: what a server sends, and what it might send.
scalars = st.one_of(
    st.sampled_from(["null", "true", "false", "0", "-0", "-0.0", "1.0", "1e5", "1E-7", "1e999", "-1e400", "5e-324"]),
    st.sampled_from([r'"\ud83d\ude00"', '"\x7f"', '"\u2028"', r'"\/"', f"{'9' * 300}.5"]),
    st.integers().map(str),
    st.integers(10**15, 10**400).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.text().map(json.dumps),
    st.text().map(lambda text: json.dumps(text, ensure_ascii=False)),
)
# What is none, or not for everybody.
malformed = st.one_of(
    st.sampled_from(["NaN", "-Infinity", "01", "1.", ".5", "-", "1e", "+1", "0x1", "tru", "'a'", "", "9" * 5000]),
    st.sampled_from([r'"\ud800"', r'"\udc00"', r'"\u12g4"', r'"\x"', '"\x01"', '"\\', '"']),
    st.sampled_from(["[" * 50_000 + "]" * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000, "[" * 50 + "]" * 49]),
)
spaces = mostly(st.sampled_from(["", " ", "\t\r"]), st.sampled_from(["\x0b", "\u00a0"]))
metadata_keys = st.sampled_from(["name", "labels", "annotations", "ownerReferences", "generation", "deletionTimestamp"])
keys = mostly(
    st.sampled_from(["spec", "status", "data", "", r"sp\u0065c"]) | st.text(max_size=3),
    st.sampled_from(["kind", "apiVersion", "metadata", "items"]) | metadata_keys,
).map(lambda key: json.dumps(key).replace("\\\\", "\\"))


def pairs(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for objects, in which keys may occur twice."""
    entry = st.tuples(keys, spaces, values).map(lambda parts: f"{parts[0]}{parts[1]}:{parts[2]}")
    return st.lists(entry, max_size=4).map(lambda entries: "{" + ",".join(entries) + "}")


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, max_size=3).map(lambda items: "[" + ",".join(items) + "]")


values = mostly(
    st.recursive(scalars, lambda inner: st.one_of(pairs(inner), arrays(inner)), max_leaves=8),
    st.recursive(scalars | malformed, lambda inner: st.one_of(pairs(inner), arrays(inner)), max_leaves=4),
)


@st.composite
def objects(draw: st.DrawFn) -> str:
    """Return a random object like those that a server sends."""
    kind = draw(
        mostly(
            st.just('"kind":"Pod","apiVersion":"v1"'),
            st.sampled_from(['"apiVersion":"v1"', '"kind":"Pod"', '"kind":"Status","apiVersion":"v1"']),
        )
    )
    name = r'"name":"a","namespace":"ns","uid":"\u0075","resourceVersion":"7","labels":{"a":"b"}'
    more = draw(mostly(st.just("annotations") | st.just("finalizers"), metadata_keys | st.text(max_size=2)))
    metadata = f"{{{name},{json.dumps(more)}:{draw(values)}}}"
    return f'{{{kind},{draw(spaces)}"metadata":{metadata},{draw(keys)}:{draw(values)}}}'


def damaged(draw: st.DrawFn, text: str) -> str:
    """Return the text, perhaps with one character removed, added or changed, or cut off."""
    position = draw(st.integers(0, len(text)))
    stray = draw(
        st.sampled_from(
            ["", '"', "\\", "{", "}", "[", "]", ",", ":", "0", "e", "-", "\x00", "\x1f", " ", "\ufeff", "é", "😀"]
        )
    )
    how = draw(mostly(st.just(""), st.sampled_from(["replace", "insert", "cut"])))
    if how == "cut":
        return text[:position]
    return text if not how else text[:position] + stray + text[position + (how == "replace") :]


@st.composite
def events(draw: st.DrawFn) -> str:
    template = draw(
        st.sampled_from(
            [
                '{"type":"ADDED","object":%s}',
                '{ "object" : %s , "type" : "DELETED" }',
                '{"type":"ADDED","object":{},"object":%s,"x":0}',
            ]
        )
    )
    line = damaged(draw, template % draw(objects()))
    # The reader of the stream has cut at newlines, and replaced what is no text.
    return line.replace("\n", " ")


@st.composite
def lists(draw: st.DrawFn) -> bytes:
    items = ",".join(draw(st.lists(objects(), max_size=3)))
    more = draw(
        st.sampled_from(
            [
                "",
                ',"metadata":{"resourceVersion":"9"}',
                ',"items":[]',
                ',"extra":[1]',
                ',"extra":1e999',
                ',"metadata":[]',
            ]
        )
    )
    kind = draw(
        mostly(
            st.just('"kind":"PodList","apiVersion":"v1"'),
            st.sampled_from(['"kind":"Pod","apiVersion":"v1"', '"kind":"PodList"', '"apiVersion":null']),
        )
    )
    text = damaged(draw, f'{{{kind},"items":[{items}]{more}}}')
    encoding = draw(mostly(st.just("utf-8"), st.sampled_from(["utf-8-sig", "utf-16"])))
    data = text.encode(encoding)
    if draw(st.integers(0, 9)) or not data:
        return data
    position = random.Random(len(data)).randrange(len(data))
    return data[:position] + draw(st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\xc3", b"\x00"])) + data[position:]


def has_number_out_of_range(text: str | bytes) -> bool:
    try:
        unmarshal(text)
    except ValueError as err:
        return str(err).endswith("into Go value of type float64")
    return False


def facts_of(obj: Any) -> list[Any]:
    """Return what an object's accessors return before it is decoded, and then its document."""
    early = (obj.object_key(), obj.get_uid(), obj.get_resource_version(), obj.get_labels(), obj.get_annotations())
    more = (
        obj.get_generation(),
        obj.get_finalizers(),
        outcome(obj.get_owner_references),
        outcome(obj.get_deletion_timestamp),
    )
    documents = [document_of(obj.deep_copy()), document_of(obj)]
    return [type(obj), obj.group_version_kind(), early, more, *documents, obj.frozen]


def facts_of_list(listed: Any) -> list[Any]:
    items = listed.extract_items()
    return [
        outcome(lambda: (listed, listed.get_continue())),
        [outcome(functools.partial(facts_of, item)) for item in items],
        document_of(listed),
    ]


@given(events(), st.sampled_from([TYPED, DYNAMIC]))
def test_events(line: str, serializer: Any) -> None:
    assume(not has_number_out_of_range(line))

    def read() -> Any:
        obj = event(line, serializer)
        return facts_of(obj) if hasattr(obj, "object_key") else repr(obj)

    with decoding_at_once():
        arrives, expected = outcome(lambda: event(line, serializer)), outcome(read)
    assert outcome(lambda: event(line, serializer)) == arrives
    assert outcome(read) == expected


@given(lists(), st.sampled_from([(TYPED, corev1.PodList), (DYNAMIC, UnstructuredList)]))
@example(b"\xef\xbb\xbf{}", (TYPED, corev1.PodList))
def test_lists(data: bytes, way: Any) -> None:
    assume(not has_number_out_of_range(data))
    serializer, cls = way

    def arrive() -> Any:
        return serializer.decode(data, None, cls)

    def read() -> Any:
        listed, gvk = arrive()
        return gvk, facts_of_list(listed)

    with decoding_at_once():
        arrives, expected = outcome(arrive), outcome(read)
    assert outcome(arrive) == arrives
    assert outcome(read) == expected
