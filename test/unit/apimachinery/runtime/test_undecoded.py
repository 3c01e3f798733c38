"""Objects that are decoded when they are read: only speed and memory differ from decoded ones."""

from __future__ import annotations

import copy
import functools
import inspect
import json
import pickle
import re
import sys
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from decoding import DYNAMIC, TYPED, decoding_at_once, event, is_undecoded, needs_msgspec, outcome
from fieldnames import field_names
from virtualserver import SILENCE, Call, Reply, VirtualServer, document, pod, pod_informer, pod_list
from virtualserver import event as event_line

from clientgo import context, features
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime import ReadOnlyError, source
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.features.testing import set_feature_during_test
from clientgo.testing import synctest
from clientgo.tools import cache, pager

pytestmark = needs_msgspec

POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "a",
        "generateName": "a-",
        "namespace": "ns",
        "uid": "u-1",
        "resourceVersion": "7",
        "generation": 3,
        "labels": {"app": "shop"},
        "annotations": {"note": "größer 😀"},
        "creationTimestamp": "2026-03-01T08:15:00Z",
        "deletionTimestamp": "2026-03-01T08:16:00Z",
        "deletionGracePeriodSeconds": 0,
        "finalizers": ["f"],
        "selfLink": "/x",
        "ownerReferences": [{"kind": "ReplicaSet", "name": "o", "uid": "u-2", "controller": True}],
        "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}],
    },
    "spec": {"containers": [{"name": "c", "image": "i"}], "priority": 7, "unknown": [1.0, -0.0, None, True, 2**70]},
}

ACCESSORS: list[Callable[[Any], Any]] = [
    lambda obj: obj.object_key(),
    lambda obj: obj.get_name(),
    lambda obj: obj.get_generate_name(),
    lambda obj: obj.get_namespace(),
    lambda obj: obj.get_uid(),
    lambda obj: obj.get_resource_version(),
    lambda obj: obj.get_generation(),
    lambda obj: obj.get_labels(),
    lambda obj: obj.get_annotations(),
    lambda obj: obj.get_creation_timestamp(),
    lambda obj: obj.get_deletion_timestamp(),
    lambda obj: obj.get_deletion_grace_period_seconds(),
    lambda obj: obj.get_finalizers(),
    lambda obj: obj.get_self_link(),
    lambda obj: obj.get_owner_references(),
    lambda obj: obj.get_managed_fields(),
    lambda obj: metav1.get_controller_of(obj),
    lambda obj: obj.group_version_kind(),
    lambda obj: obj.frozen,
    repr,
]


def from_event(document: dict[str, Any], serializer: Any = TYPED) -> Any:
    return event(json.dumps({"type": "MODIFIED", "object": document}, ensure_ascii=False), serializer)


def from_list(document: dict[str, Any], serializer: Any = TYPED) -> Any:
    (obj,) = listed(document, serializer=serializer).extract_items()
    return obj


def listed(*documents: dict[str, Any], serializer: Any = TYPED, **more: Any) -> Any:
    body = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": documents, **more}
    data = json.dumps(body, ensure_ascii=False).encode()
    return serializer.decode(data, None, corev1.PodList if serializer is TYPED else UnstructuredList)[0]


@pytest.fixture(params=["event", "event, unstructured", "list", "list, unstructured"])
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    """Return a function that makes an undecoded object of a document, for each source of such objects."""
    serializer = DYNAMIC if "unstructured" in request.param else TYPED
    return lambda document: (from_event if "event" in request.param else from_list)(document, serializer)


def decoded(make: Callable[[dict[str, Any]], Any], document: dict[str, Any] = POD) -> Any:
    with decoding_at_once():
        obj = make(document)
    assert not is_undecoded(obj)
    return obj


@pytest.mark.parametrize("document", [POD, {"kind": "Pod", "apiVersion": "v1"}], ids=["full", "empty"])
def test_the_accessors_answer_without_decoding(make, document) -> None:
    obj, other = make(document), decoded(make, document)

    for read in ACCESSORS:
        assert repr(read(obj)) == repr(read(other))

    assert is_undecoded(obj)


@pytest.mark.parametrize(
    "read",
    [
        lambda obj: obj.to_dict(),
        lambda obj: obj.spec if isinstance(obj, corev1.Pod) else obj.object,
        lambda obj: (obj.kind, obj.api_version),
        lambda obj: pickle.loads(pickle.dumps(obj)).to_dict(),
        lambda obj: copy.copy(obj).to_dict(),
        lambda obj: copy.deepcopy(obj).to_dict(),
        lambda obj: obj.deep_copy().deep_copy().to_dict(),
        lambda obj: TYPED.encode(obj) if isinstance(obj, corev1.Pod) else DYNAMIC.encode(obj),
        lambda obj: obj.nonsense,
        lambda obj: document_of(obj),
    ],
)
def test_everything_reads_as_if_it_were_decoded(make, read) -> None:
    assert outcome(lambda: read(make(POD))) == outcome(lambda: read(decoded(make)))


def test_reading_cached_objects_costs_no_memory() -> None:
    """Handlers read all cached objects with the ordinary attribute syntax."""
    config_map = {"metadata": POD["metadata"], "data": {f"key-{i}": "x" * 20 for i in range(50)}}
    data = json.dumps({"kind": "ConfigMapList", "apiVersion": "v1", "items": [config_map] * 500}).encode()
    maps = [obj.freeze() for obj in TYPED.decode(data, None, corev1.ConfigMapList)[0].extract_items()]

    def kept(read: Callable[[Any], Any]) -> int:
        tracemalloc.start()
        try:
            for obj in maps:
                read(obj)
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    by_metadata = kept(lambda obj: (obj.metadata.name, obj.metadata.labels.get("app"), obj.metadata.annotations))
    by_data = kept(lambda obj: obj.data)
    documents: list[Any] = []
    kept_documents = kept(lambda obj: documents.append(document_of(obj)))
    assert by_metadata * 100 < kept_documents and by_data * 20 < kept_documents


# --- Metadata -------------------------------------------------------------------------------------------------------


METADATA: list[Callable[[Any], Any]] = [
    *(lambda meta, attr=attr: getattr(meta, attr) for attr in field_names(metav1.ObjectMeta)),
    lambda meta: meta.labels["app"],
    lambda meta: meta.labels.get("none"),
    lambda meta: [owner.name for owner in meta.owner_references],
    lambda meta: meta.managed_fields[0].manager,
    lambda meta: meta.to_dict(),
    lambda meta: meta.deep_copy(),
    lambda meta: meta == metav1.ObjectMeta.from_dict(POD["metadata"]),
    lambda meta: metav1.ObjectMeta.from_dict(POD["metadata"]) == meta,
    lambda meta: corev1.PodTemplateSpec(metadata=meta).to_dict(),
    lambda meta: pickle.loads(pickle.dumps(meta)),
    lambda meta: meta.get_labels(),
    lambda meta: meta.get_managed_fields(),
    lambda meta: meta.no_such_field,
    repr,
]


@pytest.fixture(params=["event", "list"])
def make_typed(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return from_event if request.param == "event" else from_list


@pytest.mark.parametrize("frozen", [True, False], ids=["read-only", "free"])
@pytest.mark.parametrize(
    "metadata", [POD["metadata"], {"future": 1}, {}, None], ids=["full", "unknown", "empty", "none"]
)
def test_metadata_reads_as_if_it_were_decoded(make_typed, frozen: bool, metadata: Any) -> None:
    document = {key: value for key, value in (POD | {"metadata": metadata}).items() if value is not None}

    def result(read: Callable[[Any], Any], obj: Any) -> str:
        return outcome(lambda: read((obj.freeze() if frozen else obj).metadata))

    for read in METADATA:
        assert result(read, make_typed(document)) == result(read, decoded(make_typed, document))


def test_the_metadata_of_a_cached_object_is_read_without_decoding_it(make_typed) -> None:
    obj = make_typed(POD).freeze()
    for read in METADATA:
        outcome(functools.partial(read, obj.metadata))
    other = decoded(make_typed)
    assert (obj.kind, obj.api_version) == (other.kind, other.api_version)
    assert is_undecoded(obj)
    assert obj.spec.priority == 7
    assert is_undecoded(obj), "what is decoded of a cached object is not kept in it"


def test_of_cached_objects_only_a_few_documents_are_kept_and_each_is_decoded_once_for_many_reads() -> None:
    pods = [{**POD, "metadata": {"name": str(i)}} for i in range(20)]
    objects = [obj.freeze() for obj in listed(*pods).extract_items()]
    documents = []
    for obj in objects:
        assert obj.spec.priority == 7
        documents.append(obj._snapshot())
        assert obj._snapshot() is documents[-1] and obj.spec._source is obj.spec._source
    assert [obj._snapshot() for obj in objects] == documents
    kept = [obj for obj in objects if obj._source in source._RECENT.parts]
    assert 0 < len(kept) < 10
    assert all(map(is_undecoded, objects))


def test_of_a_cached_object_the_part_that_is_read_is_decoded_alone(make_typed) -> None:
    pod = make_typed(POD | {"status": {"phase": "Running"}}).freeze()
    assert (pod.status.phase, pod.metadata.labels["app"], pod.status.reason) == ("Running", "shop", "")
    root = source._RECENT.parts[pod._source]
    assert ([*root.kept], root._document) == (["status", "metadata"], None)
    assert pod.spec.priority == 7
    assert (document_of(pod.spec) is document_of(pod.spec), pod.to_dict()["status"]) == (True, {"phase": "Running"})


@pytest.mark.parametrize("frozen", [True, False], ids=["read-only", "free"])
@pytest.mark.parametrize(
    "parts",
    [
        '"spec":{"priority":1},"spec":{"priority":2}',
        '"spec":null,"status":null',
        '"spec":{"priority":1e99}',
        '"spec":{"priority":2147483648}',
        '"metadata":{"name":"a"},"spec":7,"status":[]',
        '"spec":{"nodeName":"\\ud800 \\u00e4 ä"}',
        '"status":{"phase":"Running"},"spec":{}',
        '"spec": {"nodeName" : "n"} , "status" :{ }',
        '"metadata":{"name":"b"},"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}',
        '"metadata":{"name":"","namespace":"","labels":{},"resourceVersion":"","deletionTimestamp":""}',
    ],
)
def test_parts_read_as_if_they_were_decoded(parts: str, frozen: bool) -> None:
    reads: list[Callable[[Any], Any]] = [
        lambda obj: obj.spec.priority,
        lambda obj: obj.spec.node_name,
        lambda obj: obj.status.phase,
        lambda obj: obj.metadata.name,
        *ACCESSORS,
    ]

    def result(read: Callable[[Any], Any]) -> str:
        obj = event(f'{{"type":"ADDED","object":{{"kind":"Pod","apiVersion":"v1",{parts}}}}}', TYPED)
        return outcome(lambda: read(obj.freeze() if frozen else obj))

    for read in reads:
        with decoding_at_once():
            expected = result(read)
        assert result(read) == expected


@pytest.mark.parametrize("read_before", [True, False])
def test_what_is_written_through_spec_and_status_is_in_the_object(make_typed, read_before: bool) -> None:
    pod = make_typed(POD | {"spec": {"nodeName": "old"}, "status": {"phase": "Pending"}})
    if read_before:
        cached = pod.deep_copy().freeze()
        assert [each.spec.node_name for each in (cached, pod)] == ["old", "old"]
        assert [each.status.phase for each in (cached, pod)] == ["Pending", "Pending"]
    spec = pod.spec
    spec.node_name, pod.status.phase = "n", "Running"
    pod.spec.node_selector["zone"] = "a"
    assert (spec.node_name, pod.spec.node_name, pod.status.phase) == ("n", "n", "Running")
    document = pod.to_dict()
    assert document["spec"] == {"nodeName": "n", "nodeSelector": {"zone": "a"}}
    assert document["status"] == {"phase": "Running"}


def test_a_cached_object_takes_little_more_than_its_text() -> None:
    indexer = cache.new_indexer(cache.deletion_handling_meta_namespace_key_func,
                                {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func})  # fmt: skip
    metadata = {**POD["metadata"], "labels": {f"label-{i}": f"value-{i}" for i in range(8)}, "uid": "u" * 36}
    documents = [{**POD, "metadata": {**metadata, "name": f"pod-{i:04}"}, "spec": {}} for i in range(1000)]
    size = len(json.dumps(documents[0]))
    tracemalloc.start()
    try:
        for each in listed(*documents).extract_items():
            indexer.add(each.freeze())
        del each
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert (len(indexer.list_keys()), indexer.list()[0].get_labels()["label-7"]) == (1000, "value-7")
    assert taken / 1000 < size + 1000


def test_the_names_in_the_metadata_of_a_free_object_are_read_without_decoding_it(make_typed) -> None:
    obj = make_typed(POD)
    meta = obj.metadata
    assert (meta.name, meta.namespace, meta.uid, meta.resource_version) == ("a", "ns", "u-1", "7")
    assert meta.creation_timestamp == obj.get_creation_timestamp()
    assert is_undecoded(obj)


@pytest.mark.parametrize(
    "write",
    [
        lambda meta: setattr(meta, "name", "b"),
        lambda meta: meta.labels.update(a="b"),
        lambda meta: meta.labels.clear(),
        lambda meta: meta.annotations.update(a="b"),
        lambda meta: meta.finalizers.append("g"),
        lambda meta: meta.owner_references[0].__setattr__("name", "p"),
        lambda meta: meta.set_labels({"a": "b"}),
        lambda meta: meta.set_name("b"),
    ],
)
@pytest.mark.parametrize("metadata", [POD["metadata"], {"name": "a"}, None], ids=["full", "short", "none"])
def test_what_is_written_through_the_metadata_is_in_the_object(make_typed, write, metadata: Any) -> None:
    document = {key: value for key, value in (POD | {"metadata": metadata}).items() if value is not None}

    def written(obj: Any) -> Any:
        early, labels = obj.metadata, obj.metadata.labels
        early_labels = early.labels
        write(obj.metadata)
        return obj.to_dict(), early.name, early.to_dict(), dict(labels), dict(early_labels)

    obj = make_typed(document)
    copied = obj.deep_copy()
    assert outcome(lambda: written(obj)) == outcome(lambda: written(decoded(make_typed, document)))
    assert copied.to_dict() == decoded(make_typed, document).to_dict()
    frozen = make_typed(document).freeze()
    if metadata == POD["metadata"]:
        with pytest.raises(ReadOnlyError, match="ns/a"):
            write(frozen.metadata)
        assert is_undecoded(frozen)


def test_a_metadata_view_follows_the_object_when_that_is_decoded_and_written(make_typed) -> None:
    obj = make_typed(POD)
    meta = obj.metadata
    obj.set_name("b")
    obj.metadata.labels["app"] = "other"
    assert (meta.name, meta.labels, meta.to_dict()["name"]) == ("b", {"app": "other"}, "b")


def test_a_view_of_metadata_that_was_taken_away_is_written_as_that_of_a_decoded_object(make_typed) -> None:
    for obj in (make_typed(POD), decoded(make_typed)):
        meta = obj.metadata
        obj.metadata = None
        meta.name = "b"
        assert (meta.name, obj.metadata.name, "metadata" in obj.to_dict()) == ("b", "", False)
        obj.metadata.name = "c"
        assert obj.to_dict()["metadata"] == {"name": "c"}


def test_the_metadata_of_a_list_is_read_and_written_without_decoding_its_items() -> None:
    pods = listed(POD)
    assert pods.metadata.resource_version == "9"
    assert is_undecoded(pods)
    pods.metadata.resource_version = "10"
    assert pods.to_dict()["metadata"] == {"resourceVersion": "10"}
    assert pods.get_resource_version() == "10"


# --- Views, copies and threads --------------------------------------------------------------------------------------


def test_equality_is_equality_of_documents(make) -> None:
    obj, same = make(POD), make(POD)
    assert obj == same == decoded(make)
    assert make(POD) != make(POD | {"spec": {}})


def test_a_document_is_read_once_and_all_views_share_it(make) -> None:
    obj = make(POD)
    assert document_of(obj) is document_of(obj)
    assert not is_undecoded(obj)


def test_writing_goes_into_the_document_and_the_accessors_follow(make) -> None:
    obj = make(POD)
    obj.set_name("b")
    obj.set_labels({"app": "other"})
    obj.set_group_version_kind(obj.group_version_kind())

    assert (obj.get_name(), obj.object_key(), obj.get_labels()) == ("b", "ns/b", {"app": "other"})
    assert obj.to_dict()["metadata"]["name"] == "b"


def test_naming_its_kind_decodes_nothing_and_shows_in_the_document_and_in_copies(make_typed) -> None:
    obj = make_typed(POD)
    copied = obj.deep_copy()
    obj.set_group_version_kind(GroupVersionKind("apps", "v7", "Deployment"))
    again = obj.deep_copy()
    assert is_undecoded(obj)
    assert obj.api_version_and_kind() == again.api_version_and_kind() == ("apps/v7", "Deployment")
    assert obj.to_dict()["apiVersion"] == again.to_dict()["apiVersion"] == "apps/v7"
    assert copied.group_version_kind() != obj.group_version_kind()
    again = make_typed(POD)
    again.set_group_version_kind(GroupVersionKind("", "", ""))
    assert "kind" not in again.to_dict()
    assert again.freeze().spec.containers[0].name == "c"
    with pytest.raises(ReadOnlyError):
        again.set_group_version_kind(GroupVersionKind("", "v1", "Pod"))


def test_naming_a_list_leaves_its_items_undecoded() -> None:
    found = listed(POD, POD)
    found.set_group_version_kind(GroupVersionKind("", "v1", "PodList"))
    assert found.api_version_and_kind() == ("v1", "PodList")
    assert all(is_undecoded(item) for item in meta.extract_list(found))
    assert (found.to_dict()["apiVersion"], found.to_dict()["kind"]) == ("v1", "PodList")


def test_a_frozen_one_refuses_writes_and_stays_undecoded(make) -> None:
    obj = make(POD).freeze()

    with pytest.raises(ReadOnlyError, match="ns/a"):
        obj.set_name("b")

    assert is_undecoded(obj)
    free = obj.deep_copy()
    free.set_name("b")
    assert (free.get_name(), obj.get_name(), obj.frozen, free.frozen) == ("b", "a", True, False)
    assert is_undecoded(obj)


def test_copies_share_the_text_and_nothing_else(make) -> None:
    obj = make(POD)
    copied = obj.deep_copy()
    assert is_undecoded(obj)
    assert is_undecoded(copied)

    copied.get_labels()["app"] = "changed"
    copied.set_annotations({})

    assert obj.get_labels() == {"app": "shop"}
    assert obj.to_dict() == decoded(make).to_dict()


def test_two_threads_that_decode_at_once_end_with_one_document(make) -> None:
    obj = make(POD)
    source = obj._source

    # A second thread loaded the source before the first one replaced it.
    first = document_of(obj)
    assert source.document() is first and obj._source is first

    racing = make(POD)
    start = threading.Barrier(8)
    found: list[Any] = []

    def read() -> None:
        start.wait()
        found.append(document_of(racing))

    threads = [threading.Thread(target=read, name=f"reader {i}", daemon=True) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {id(document) for document in found} == {id(document_of(racing))}


def test_a_reader_with_little_stack_left_can_read_what_is_deep(make) -> None:
    depth = sys.getrecursionlimit() // 2
    spec: Any = 1
    for _ in range(depth):
        spec = [spec]
    text = json.dumps(POD | {"spec": "SPEC"}).replace('"SPEC"', "[" * depth + "]" * depth)
    obj = event(f'{{"type":"ADDED","object":{text}}}')
    assert is_undecoded(obj)

    def descend(levels: int) -> Any:
        return descend(levels - 1) if levels else document_of(obj)["metadata"]["name"]

    left = sys.getrecursionlimit() - len(inspect.stack(0))
    assert descend(left - 150) == "a"


# --- What must not be left for later --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":1}}',
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":null}}',
        '{"kind":"Pod","apiVersion":"v1","metadata":null}',
        '{"kind":"Pod","apiVersion":"v1","metadata":{"labels":{"a":1}}}',
        '{"kind":"Pod","apiVersion":"v1","metadata":{"labels":null}}',
        '{"kind":"Pod","apiVersion":"v1","spec":NaN}',
        '{"kind":"Pod","apiVersion":"v1","spec":"\\ud800"}',
        '{"kind":"Pod","apiVersion":"v1","spec":%s}' % ("9" * 5000),
        '{"kind":"Pod","apiVersion":"v1","spec":[-%s]}' % ("9" * 4301),
        '{"kind":"Pod","apiVersion":"v1","spec":"%s"}' % ("9" * 5000),
        '{"kind":"Pod","apiVersion":"v1","spec":"\\x"}',
        '{"kind":"Pod","apiVersion":"v1","spec":"\x01"}',
        '{"kind":"Pod","apiVersion":"v1","spec":01}',
        '{"kind":"Pod","apiVersion":"v1","spec":tru}',
        '{"kind":"Pod","apiVersion":"v1","spec":{}',
        '{"kind":"Pod","apiVersion":"v1","spec":{}}}',
        '{"kind":"Pod","apiVersion":"v1","spec":%s}' % ("[" * 100_000),
        '{"kind":"Pod","apiVersion":"v1","items":[]}',
        '{"kind":"Pod","apiVersion":1}',
        '{"kind":"Strange","apiVersion":"example.com/v1"}',
        '{"kind":"Status","apiVersion":"v1","message":"no"}',
        '{"kind":"","apiVersion":"v1"}',
        '{"apiVersion":"v1"}',
        '{"kind":null,"apiVersion":"v1"}',
        "[]",
        "null",
        '"text"',
    ],
)
@pytest.mark.parametrize("serializer", [TYPED, DYNAMIC], ids=["typed", "unstructured"])
def test_what_is_doubtful_is_decoded_where_it_arrives(text: str, serializer: Any) -> None:
    line = f'{{"type":"ADDED","object":{text}}}'
    cls = corev1.PodList if serializer is TYPED else UnstructuredList
    data = f'{{"kind":"PodList","apiVersion":"v1","items":[{text}]}}'.encode()

    def arrive() -> list[str]:
        return [
            outcome(lambda: event(line, serializer)),
            outcome(lambda: serializer.decode(data, None, cls)[0].extract_items()),
        ]

    with decoding_at_once():
        expected = arrive()
    assert arrive() == expected


@pytest.mark.parametrize(
    "line",
    ['{"type":"STRANGE","object":{}}', '{"object":{}}', '{"type":"ADDED"}', '{"type":"ADDED","object":1}', "{}", "[]"],
)
def test_what_is_no_event(line: str) -> None:
    with decoding_at_once():
        expected = outcome(lambda: event(line))
    assert outcome(lambda: event(line)) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}},"object":'
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"metadata":{"name":"b"}}}',
        '{"object":{"spec":1e308,"kind":"Pod","met\\u0061data":{"name":"\\u00e4","name":"\\ud83d\\ude00"},'
        '"apiVersion":"v1"},"type":"ADDED","more":[]}',
        '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"annotations":{"a":-1e308},"generation":1.0}}}',
        ' \t{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","n":1e308}} \r',
    ],
)
def test_odd_but_valid_events_stay_undecoded_and_say_the_same(text: str) -> None:
    obj = event(text)
    assert is_undecoded(obj)
    with decoding_at_once():
        other = event(text)
    for read in ACCESSORS:
        assert outcome(functools.partial(read, obj)) == outcome(functools.partial(read, other))
    assert repr(document_of(obj)) == repr(document_of(other))


@pytest.mark.parametrize("serializer", [TYPED, DYNAMIC], ids=["typed", "unstructured"])
@pytest.mark.parametrize("number", ["1e999", "-1E+400"])
def test_a_number_that_no_float64_can_hold_is_an_error_when_it_is_read(number: str, serializer: Any) -> None:
    def received(fields: str) -> Any:
        text = f'{{"type":"ADDED","object":{{"kind":"Pod","apiVersion":"v1",{fields}}}}}'
        return event(text, serializer)

    with decoding_at_once(), pytest.raises(ValueError, match="invalid JSON"):
        received(f'"metadata":{{"name":"a"}},"spec":{{"n":{number}}}')

    message = f"object 'ns/a': json: cannot unmarshal number {number} into Go value of type float64"
    pod = received(f'"metadata":{{"name":"a","namespace":"ns"}},"spec":{{"n":{number}}},"status":{{}}')
    assert (pod.get_name(), pod.get_annotations()) == ("a", {})
    for read in (lambda: document_of(pod)["spec"]["n"], pod.to_dict, lambda: pod.deep_copy().to_dict()):
        with pytest.raises(ValueError, match=re.escape(message)):
            read()

    pod = received(f'"metadata":{{"name":"a","namespace":"ns","annotations":{{"n":{number}}}}}')
    with pytest.raises(ValueError, match=re.escape(message)):
        pod.get_annotations()


def test_a_stray_byte_in_a_list_is_replaced_where_it_arrives() -> None:
    data = b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"},"spec":{"nodeName":"\xff"}}]}'
    pods, _ = TYPED.decode(data, None, corev1.PodList)
    assert not is_undecoded(pods)
    assert pods.items[0].spec.node_name == "\ufffd"


# --- Lists ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("serializer", [TYPED, DYNAMIC], ids=["typed", "unstructured"])
def test_a_list_and_its_extracted_items_share_documents(serializer) -> None:
    pods = listed(POD, POD, serializer=serializer)
    assert (pods.get_resource_version(), is_undecoded(pods)) == ("9", True)

    first, second = meta.extract_list(pods)
    assert (is_undecoded(pods), is_undecoded(first)) == (True, True)

    first.set_name("b")
    assert document_of(pods)["items"][0] is document_of(first)
    assert pods.items[0].get_name() == "b"
    pods.items[1].set_name("c")
    assert second.get_name() == "c"


def test_items_extracted_twice_are_objects_of_their_own() -> None:
    pods = listed(POD)
    (first,), (second,) = pods.extract_items(), pods.extract_items()
    assert first is not second
    first.freeze()
    second.set_name("b")
    assert first.get_name() == "b"


def cached_list(*documents: dict[str, Any]) -> Any:
    """Return a frozen list, as a cache returns it."""
    objects = [obj.freeze() for obj in listed(*documents).extract_items()]
    return meta.new_list(corev1.PodList, {"metadata": {}}, objects).freeze()


def test_only_what_is_read_of_the_items_of_a_read_only_list_is_decoded() -> None:
    pods = cached_list(POD, {**POD, "metadata": {"name": "b"}})
    items = pods.items
    assert (len(items), [item.get_name() for item in items], items[-1].get_name()) == (2, ["a", "b"], "b")
    assert [item.get_name() for item in items[1:]] == ["b"]
    assert items[1].spec.containers[0].name == "c"
    assert [is_undecoded(item) for item in items] == [True, True] and is_undecoded(pods)


def test_the_items_of_a_read_only_list_read_as_if_it_were_decoded() -> None:
    pods, plain = cached_list(POD), corev1.PodList.from_dict({"items": [POD]})
    assert pods.items == plain.items and plain.items == pods.items and pods.items == [*plain.items]
    assert POD["metadata"]["name"] == pods.items[0].metadata.name and pods.items[0] in pods.items
    assert repr(pods.items) == repr(plain.items)
    copied = pods.items.deep_copy()
    copied[0].metadata.name = "other"
    assert pods.items[0].metadata.name == "a"
    for write in (lambda: pods.items.clear(), lambda: setattr(pods.items[0].metadata, "name", "x")):
        with pytest.raises(ReadOnlyError):
            write()
    with pytest.raises(AttributeError):
        _ = pods.items.no_such_attribute


def test_items_that_may_be_written_to_are_not_those_of_a_read_only_list() -> None:
    pods = listed(POD)
    (mine,) = pods.extract_items()
    pods.freeze()
    with pytest.raises(ReadOnlyError):
        pods.items[0].metadata.name = "x"
    mine.metadata.name = "mine"
    assert mine.get_name() == "mine"


@pytest.mark.parametrize("serializer", [TYPED, DYNAMIC], ids=["typed", "unstructured"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        *({"items": items} for items in ([], None, "x", [1])),
        *({"extra": extra} for extra in ([1], {"a": 1}, 1)),
        *({"kind": kind} for kind in ("Pod", "Status", "", "Pods")),
        {"apiVersion": None},
        {"metadata": None},
    ],
    ids=str,
)
def test_lists_are_the_same_either_way(serializer, more) -> None:
    nameless = {key: value for key, value in POD.items() if key not in ("kind", "apiVersion")}
    reads: list[Callable[[Any], Any]] = [
        lambda pods: document_of(pods),
        lambda pods: [(item, item.group_version_kind(), document_of(item)) for item in pods.extract_items()],
        lambda pods: [document_of(item) for item in pods.items],
        lambda pods: (pods, pods.get_continue(), pods.get_resource_version(), pods.group_version_kind()),
        lambda pods: pods.deep_copy().to_dict(),
        lambda pods: meta.len_list(pods),
        lambda pods: serializer.encode(pods),
    ]

    def result(read: Callable[[Any], Any]) -> str:
        return outcome(lambda: read(listed(POD, nameless, serializer=serializer, **more)))

    with decoding_at_once():
        expected = [result(read) for read in reads]
    assert [result(read) for read in reads] == expected


def test_items_without_a_kind_take_it_from_the_list_of_a_dynamic_client() -> None:
    (obj,) = listed({"metadata": {"name": "a"}}, serializer=DYNAMIC).extract_items()
    assert (is_undecoded(obj), obj.get_kind(), obj.get_api_version()) == (True, "Pod", "v1")
    assert obj.object == {"metadata": {"name": "a"}, "kind": "Pod", "apiVersion": "v1"}


def test_the_items_of_joined_pages_stay_undecoded() -> None:
    def page(_: Any, options: metav1.ListOptions) -> Any:
        last = options.continue_ == "more"
        return listed(POD, metadata={"resourceVersion": "9", "continue": "" if last else "more"})

    joined, paged = pager.new(page).list(context.background(), metav1.ListOptions())
    items = joined.extract_items()

    assert (paged, joined.get_resource_version(), len(items)) == (True, "9", 2)
    assert all(map(is_undecoded, items))
    assert document_of(joined)["items"][1] is document_of(items[1])


# --- The machinery --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [corev1.Pod, Unstructured])
def test_a_cache_with_indexes_and_selectors_does_not_decode(cls) -> None:
    serializer = TYPED if cls is corev1.Pod else DYNAMIC
    indexer = cache.new_indexer(
        cache.meta_namespace_key_func,
        {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func, "app": lambda obj: [obj.get_labels()["app"]]},
    )
    obj, newer = from_list(POD, serializer).freeze(), from_event(POD, serializer).freeze()
    indexer.replace([obj], "9")
    indexer.update(newer)
    found: list[Any] = []
    cache.list_all_by_namespace(indexer, "ns", labels.parse("app in (shop)"), found.append)

    assert [type(each) for each in found] == [cls]
    assert indexer.by_index("app", "shop")[0] is indexer.get_by_key("ns/a")[0] is newer
    assert is_undecoded(newer)
    assert is_undecoded(obj)


@pytest.mark.parametrize("in_order", [True, False], ids=["RealFIFO", "DeltaFIFO"])
@pytest.mark.parametrize("streamed", [True, False], ids=["streaming list", "list"])
def test_an_informer_does_not_decode(in_order: bool, streamed: bool) -> None:
    names = ["a", "b", "c"]
    end = pod("", "7") | {"metadata": {"resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"}}}
    changed = [("MODIFIED", "a", "8"), ("MODIFIED", "b", "9"), ("DELETED", "c", "10")]
    changes = [event_line("BOOKMARK", end), *(event_line(kind, pod(name, version)) for kind, name, version in changed)]
    initial = [event_line("ADDED", pod(name, "1")) for name in names]

    def answer(call: Call) -> Reply:
        if call.verb == "list":
            return document(200, pod_list("7", *names))
        lines = [*initial, *changes] if "sendInitialEvents" in call.query else changes
        return Reply(pieces=[*((0.0, line) for line in lines), SILENCE])

    seen: list[tuple[str, bool]] = []
    with (
        set_feature_during_test(features.IN_ORDER_INFORMERS, in_order),
        set_feature_during_test(features.WATCH_LIST_CLIENT, streamed),
        synctest.bubble() as bubble,
    ):
        informer = pod_informer(VirtualServer(bubble, answer))
        informer.add_indexers({cache.NAMESPACE_INDEX: cache.meta_namespace_index_func})
        informer.add_event_handler(
            cache.ResourceEventHandlerFuncs(
                add_func=lambda obj: seen.append(("add", is_undecoded(obj))),
                update_func=lambda old, new: seen.append(("update", is_undecoded(new))),
                delete_func=lambda obj: seen.append(("delete", is_undecoded(obj))),
            )
        )
        stop = threading.Event()
        thread = threading.Thread(target=informer.run, args=(stop,), name="informer")
        thread.start()
        bubble.sleep(1.0)
        stop.set()
        thread.join()
        stored = informer.get_store().list()

    assert [obj.object_key() for obj in stored] == ["a", "b"]
    assert all(map(is_undecoded, stored))
    # The first object of a stream is decoded at once, since its kind is not known yet.
    adds, updates, deletes = [("add", True)] * 2, [("update", True)] * 2, [("delete", True)]
    assert sorted(seen) == sorted([("add", not streamed), *adds, *updates, *deletes])
