"""Objects that stay in their protobuf message: only speed and memory differ from decoded ones."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import protobuf_engines
import protobuf_pods
import pytest
from decoding import is_undecoded
from hammering import FREE_THREADED
from protobuf_pods import MESSAGE, META, SERIALIZER, frame

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.runtime import ReadOnlyError
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import upb
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes
from clientgo.kubernetes.scheme import CODECS
from clientgo.testing.apiserver.kinds.protobuf import watch_event
from clientgo.tools import cache
from clientgo.tools.cache import mutation_detector

engine = protobuf_engines.fixture()

POD = {
    "metadata": {
        "name": "a",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"app": "shop", "long": "l" * 200},
        "finalizers": ["f", "g"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
    },
    "spec": {"nodeName": "n", "volumes": [{"name": "v", "configMap": {"name": "c"}}],
             "containers": [{"name": "c", "image": "i:1", "ports": [{"containerPort": 80}]}, {"name": "d"}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}  # fmt: skip
LIST = protobuf.message_of(corev1.PodList)
assert MESSAGE is not None and LIST is not None
DATA = protobuf.encode_message(MESSAGE, POD)
METADATA = put_bytes(b"\n", protobuf.encode_message(META, POD["metadata"]))


def from_body(data: bytes = DATA) -> Any:
    return SERIALIZER.decode(protobuf.wrap(data, "v1", "Pod"), None, corev1.Pod)[0]


def from_event(data: bytes = DATA) -> Any:
    return protobuf_pods.from_event(data)


def listed(*items: bytes) -> Any:
    parts = [put_bytes(b"\n", put_bytes(b"\x12", b"9")), *(put_bytes(b"\x12", item) for item in items)]
    return SERIALIZER.decode(protobuf.wrap(b"".join(parts), "v1", "PodList"), None, corev1.PodList)[0]


def from_list(data: bytes = DATA) -> Any:
    return listed(data).extract_items()[0]


@pytest.fixture(params=[from_body, from_event, from_list], ids=["body", "event", "list"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    found: Callable[..., Any] = request.param
    return found


def decoded(data: bytes = DATA) -> Any:
    return corev1.Pod.from_dict(protobuf.decode_message(MESSAGE, data))


def test_reading_keeps_no_document(make: Callable[..., Any]) -> None:
    pod = make().freeze()
    assert (pod.object_key(), pod.metadata.labels["app"], pod.name) == ("ns/a", "shop", "a")
    assert [container.image for container in pod.spec.containers] == ["i:1", ""]
    assert (pod.status.phase, pod.status.conditions[0].type, pod.spec.volumes[0].config_map.name) == (
        "Running",
        "Ready",
        "c",
    )
    assert (pod.to_dict(), pod == decoded(), repr(pod)) == (decoded().to_dict(), True, repr(decoded()))
    assert pickle.loads(pickle.dumps(pod.deep_copy())) == pod
    assert is_undecoded(pod)


def test_a_copy_shares_the_bytes_and_a_write_turns_it_alone_into_a_document(make: Callable[..., Any]) -> None:
    large = make(DATA + put_bytes(b"\xaa\xf1\x0e", b"x" * 1_000_000)).freeze()  # a field that is unknown
    tracemalloc.start()
    try:
        shared = large.deep_copy()
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert is_undecoded(shared)

    pod = make().freeze()
    copied = pod.deep_copy()
    early, labels, container = copied.status, copied.metadata.labels, copied.spec.containers[1]
    assert is_undecoded(copied)
    container.image = "i:2"
    copied.status.phase = "Failed"
    copied.metadata.labels["app"] = "other"
    assert not is_undecoded(copied)
    assert (early.phase, labels["app"], container.image) == ("Failed", "other", "i:2")
    assert copied.to_dict()["spec"]["containers"][1]["image"] == "i:2"
    assert is_undecoded(pod) and pod == decoded() and pod != copied


@pytest.mark.parametrize(
    "write",
    [
        lambda pod: setattr(pod.spec, "node_name", "m"),
        lambda pod: pod.spec.containers.append(corev1.Container(name="x")),
        lambda pod: pod.metadata.labels.update(a="b"),
        lambda pod: pod.spec.containers[0].ports[0].__setattr__("container_port", 81),
        lambda pod: pod.set_name("b"),
    ],
)
def test_what_is_cached_refuses_writes(make: Callable[..., Any], write: Callable[[Any], Any]) -> None:
    pod = make().freeze()
    with pytest.raises(ReadOnlyError, match="ns/a"):
        write(pod)
    assert pod == decoded()
    free = pod.deep_copy()
    other = decoded()
    write(free)
    write(other)
    assert free.to_dict() == other.to_dict()


def test_the_mutation_detector_compares_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation_detector, "mutation_detection_enabled", True)
    pod = from_event()
    detector: Any = mutation_detector.new_cache_mutation_detector("pods")
    detector.add_object(pod)
    detector.compare_objects()
    assert is_undecoded(pod)
    pod.spec.node_name = "m"
    with pytest.raises(RuntimeError, match="modified"):
        detector.compare_objects()


def test_a_list_is_cut_and_not_decoded() -> None:
    pods = listed(DATA, DATA)
    items = meta.extract_list(pods)
    assert (pods.get_resource_version(), len(items), all(map(is_undecoded, items))) == ("9", 2, True)
    assert pods.to_dict()["items"][1] == decoded().to_dict()


def test_a_cached_object_takes_little_more_than_its_bytes() -> None:
    named = protobuf.encode_message(MESSAGE, {**POD, "metadata": {**POD["metadata"], "name": "pod-0000",
                                                                        "resourceVersion": "123456"}})  # fmt: skip
    frames = [frame(named.replace(b"pod-0000", b"pod-%04d" % number)) for number in range(1000)]
    from_event()
    # More than once, since tables of the interpreter that others fill too may grow meanwhile.
    taken, where = min(bytes_taken(frames) for _ in range(3))
    # 289 on CPython 3.11; without a GIL objects have longer heads.
    assert taken / 1000 < len(named) + (380 if FREE_THREADED else 296), where


def bytes_taken(frames: list[bytes]) -> tuple[int, list[str]]:
    """Return the memory of the objects of these events in a store, and the lines that allocated most of it."""
    indexer = cache.new_indexer(cache.deletion_handling_meta_namespace_key_func,
                                {cache.NAMESPACE_INDEX: cache.meta_namespace_index_func})  # fmt: skip
    tracemalloc.start()
    try:
        for each in frames:
            indexer.add(SERIALIZER.decode_event(each)[1].freeze())
        taken = tracemalloc.get_traced_memory()[0]
        lines = tracemalloc.take_snapshot().statistics("lineno")[:20]
    finally:
        tracemalloc.stop()
    assert (len(indexer.list_keys()), indexer.list()[0].status.phase) == (1000, "Running")
    return taken, [str(line) for line in lines]


@pytest.mark.parametrize("strips", [True, False])
def test_an_object_says_of_its_kind_what_its_decoder_leaves(strips: bool) -> None:
    info = CODECS.serializer_info("application/vnd.kubernetes.protobuf")
    assert info is not None
    serializer = SERIALIZER if strips else info.serializer
    body = protobuf.wrap(DATA, "v1", "Pod")
    found = [serializer.decode(body, None, corev1.Pod)[0], *(serializer.decode_event(frame(DATA))[1] for _ in range(2))]
    for pod in found:
        assert pod.api_version_and_kind() == (("", "") if strips else ("v1", "Pod"))
        assert (pod.api_version, pod.kind) == pod.api_version_and_kind()
        assert [pod.to_dict().get(key) for key in ("apiVersion", "kind")] == ([None] * 2 if strips else ["v1", "Pod"])


def test_what_one_object_says_of_its_kind_is_no_business_of_others(make: Callable[..., Any]) -> None:
    pod, other = make(), make()
    pod.set_group_version_kind(GroupVersionKind("shop", "v2", "Crate"))
    copied = pod.deep_copy()
    pod.set_group_version_kind(GroupVersionKind("", "v1", "Pod"))
    assert is_undecoded(pod) and is_undecoded(copied) and pod != copied and pod != other
    types = [each.api_version_and_kind() for each in (pod, copied, other)]
    assert types == [("v1", "Pod"), ("shop/v2", "Crate"), ("", "")]
    pod.set_group_version_kind(GroupVersionKind("", "", ""))
    assert pod == other and pod.to_dict() == other.to_dict()


# --- Messages that no server writes


def status(*parts: bytes) -> bytes:
    return b"".join((DATA, *(put_bytes(b"\x1a", part) for part in parts)))


@pytest.mark.parametrize("frozen", [True, False])
def test_the_last_of_two_values_counts_and_messages_are_merged(make: Callable[..., Any], frozen: bool) -> None:
    """Go's generated code merges a second message into the first."""
    phase, reason = put_bytes(b"\n", b"Failed"), put_bytes(b'"', b"late")
    pod = make(status(phase + phase[:2] + b"Halted", reason))
    if frozen:
        pod.freeze()
    assert (pod.status.phase, pod.status.reason, len(pod.status.conditions)) == ("Halted", "late", 1)
    assert pod == decoded(status(phase + phase[:2] + b"Halted", reason))
    assert is_undecoded(pod) or not frozen


def test_an_empty_value_replaces_an_earlier_one() -> None:
    name = put_bytes(b"\n", put_bytes(b"\n", b"a") + b"\n\0")
    assert decoded(name).to_dict()["metadata"] == {}
    assert (from_body(name).name, from_body(name).object_key()) == ("", "")


def test_of_two_names_the_last_counts(make: Callable[..., Any]) -> None:
    pod = make(put_bytes(b"\n", b"".join(put_bytes(b"\n", name) + put_bytes(b"2", name) for name in (b"a", b"b"))))
    assert (pod.get_name(), pod.name, pod.object_key(), pod.get_resource_version()) == ("b", "b", "b", "b")


@pytest.mark.parametrize("frozen", [True, False])
def test_a_status_that_is_not_there_is_empty_and_may_be_written_to(frozen: bool) -> None:
    pod = from_event(METADATA)
    if not frozen:
        status = pod.status
        status.phase = "Running"
        assert (status.phase, pod.status.phase, pod.to_dict()["status"]) == ("Running", "Running", {"phase": "Running"})
    else:
        assert (pod.freeze().status.phase, pod.to_dict()["status"], is_undecoded(pod)) == ("", {}, True)


def test_numbers_in_one_piece_are_a_list() -> None:
    groups = put_bytes(b"\x22", b"\x05\x07\xac\x02")  # supplementalGroups
    pod = from_event(METADATA + put_bytes(b"\x12", put_bytes(b"r", b"\x10\x01" + groups))).freeze()
    context = pod.spec.security_context
    assert ([*context.supplemental_groups], context.run_as_user) == ([5, 7, 300], 1)
    assert is_undecoded(pod)


@pytest.mark.parametrize(
    "groups",
    [
        b"\x20\x05",
        b"\x20\x05\x20\x07\x20\xac\x02",
        b"\x20\x05\x22\x03\x07\xac\x02",
        b"\x22\x01\x05\x20\x07\x22\x02\xac\x02",
    ],
)
def test_numbers_one_by_one_are_a_list_also_with_some_in_one_piece(groups: bytes) -> None:
    data = METADATA + put_bytes(b"\x12", put_bytes(b"r", b"\x10\x01" + groups))
    for pod in (from_event(data), from_event(data).freeze(), decoded(data)):
        assert [*pod.spec.security_context.supplemental_groups] == [5, 7, 300][: 1 if len(groups) == 2 else 3]


def test_metadata_in_two_parts_is_merged(make: Callable[..., Any]) -> None:
    data = DATA + put_bytes(b"\n", put_bytes(b"\n", b"b"))
    for pod in (make(data), make(data).freeze(), decoded(data)):
        assert (pod.object_key(), pod.name, pod.namespace, pod.metadata.uid) == ("ns/b", "b", "ns", "u")
        assert pod.to_dict() == decoded(data).to_dict()


@pytest.mark.parametrize(
    "broken",
    [
        DATA[:-1],  # ends too soon
        DATA + b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # claims to go on for ever
        DATA + b"\xff" * 11,  # a number without end
        DATA + b"\x0b",  # a group, which has no length
        put_bytes(b"\n", b"\n\x05ab"),  # metadata that ends too soon
    ],
)
def test_what_is_malformed_at_the_top_is_refused_where_it_arrives(make: Callable[..., Any], broken: bytes) -> None:
    with pytest.raises(protobuf.WireError):
        make(broken)


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (DATA[:-1], 'Pod "ns/a": unexpected EOF'),
        (METADATA + b"\x08\x01", 'Pod "ns/a": proto: wrong wireType = 0 for field metadata'),
        (put_bytes(b"\n", put_bytes(b"\n", b"a") + b"\x1a\x05ab"), 'Pod "a": unexpected EOF'),
        (put_bytes(b"\n", put_bytes(b"\n", b"\xff") + b"\x1a\x05ab"), 'Pod "\\xff": unexpected EOF'),
        (put_bytes(b"\x1a", b"") + METADATA + b"\x12", 'Pod "ns/a": unexpected EOF'),
        (b"\x12", 'Pod "": unexpected EOF'),
        (put_bytes(b"\n", put_bytes(b"\n", b"a") + b"\x58\x01"), 'Pod "a": proto: wrong wireType = 0 for field labels'),
    ],
)
def test_what_is_refused_where_it_arrives_is_named_as_far_as_it_can_be_read(
    make: Callable[..., Any], broken: bytes, named: str
) -> None:
    from_event()  # An event of a kind that did not come before is decoded when it arrives.
    with pytest.raises(protobuf.WireError) as caught:
        make(broken)
    assert str(caught.value).startswith(named)


def test_a_list_names_the_item_that_is_malformed() -> None:
    with pytest.raises(protobuf.WireError, match='^Pod "b": unexpected EOF'):
        listed(DATA, put_bytes(b"\n", put_bytes(b"\n", b"b")) + b"\x12", DATA)


def test_an_event_that_is_cut_or_has_more_than_its_object_is_none() -> None:
    from_event()
    complete = frame(DATA)
    for size in range(len(complete)):
        with pytest.raises(protobuf.WireError):
            SERIALIZER.decode_event(complete[:size])
    for more in (b"\0", b"\x1a", b"\x1a\0\x22\0\0"):
        with pytest.raises(protobuf.WireError):
            SERIALIZER.decode_event(complete + more)
    assert is_undecoded(SERIALIZER.decode_event(complete)[1])


def test_an_event_that_is_cut_between_two_fields_of_its_object_is_none() -> None:
    """One whose object is all that it ends with, and which begins as one that came before."""
    wrapped = protobuf.wrap(DATA + put_bytes(b"\x1a", b""), "v1", "Pod").removesuffix(b"\x1a\0\x22\0")
    complete = watch_event("ADDED", wrapped)[4:]
    for _ in range(3):
        assert SERIALIZER.decode_event(complete)[1].name == "a"
    with pytest.raises(protobuf.WireError, match="unexpected EOF"):
        SERIALIZER.decode_event(complete[:-2])


def test_a_message_that_claims_to_be_longer_than_its_event_is_refused() -> None:
    from_event()
    wrapped = protobuf.wrap(DATA, "v1", "Pod").removesuffix(b"\x1a\0\x22\0")
    at = wrapped.index(DATA) - 2  # its length, of two bytes
    longer = wrapped[:at] + bytes((wrapped[at] + 1, wrapped[at + 1])) + wrapped[at + 2 :]
    with pytest.raises(protobuf.WireError, match="unexpected EOF"):
        SERIALIZER.decode_event(watch_event("ADDED", longer)[4:])


def test_an_event_whose_object_is_said_to_be_something_else_is_refused() -> None:
    from_event()
    wrapped = protobuf.wrap(DATA, "v1", "Pod").removesuffix(b"\x22\0") + put_bytes(b"\x22", b"application/json")
    for _ in range(2):
        with pytest.raises(protobuf.WireError, match="content type b'application/json' is not supported"):
            SERIALIZER.decode_event(watch_event("ADDED", wrapped)[4:])


def test_an_event_of_the_same_size_whose_object_is_said_to_be_packed_is_refused() -> None:
    from_event()
    wrapped = protobuf.wrap(DATA, "v1", "Pod").removesuffix(b"\x1a\0\x22\0") + put_bytes(b"\x1a", b"br")
    assert len(wrapped) == len(protobuf.wrap(DATA, "v1", "Pod"))
    with pytest.raises(protobuf.WireError, match="content encoding b'br' is not supported"):
        SERIALIZER.decode_event(watch_event("ADDED", wrapped)[4:])


def test_events_of_equal_size_differ_by_their_beginning() -> None:
    from_event()
    pairs = [(SERIALIZER.decode_event(watch_event(event_type, protobuf.wrap(DATA, "v1", "Pod"))[4:]), event_type)
             for event_type in ("ADDED", "MODIFIED", "DELETED", "ADDED") * 2]  # fmt: skip
    assert [found[0] for found, _ in pairs] == [event_type for _, event_type in pairs]
    with pytest.raises(Exception, match="Nod"):  # an unknown kind
        SERIALIZER.decode_event(watch_event("ADDED", protobuf.wrap(DATA, "v1", "Nod"))[4:])


@pytest.mark.parametrize("broken", [b"\n\x05ab", b"\n\xff", b"\n"])
def test_what_is_malformed_below_is_refused_when_it_is_read(make: Callable[..., Any], broken: bytes) -> None:
    pod = make(b"".join((put_bytes(b"\n", b""), put_bytes(b"\x1a", broken)))) if make is not from_event else None
    if pod is None:
        from_event()
        pod = SERIALIZER.decode_event(frame(put_bytes(b"\n", b"") + put_bytes(b"\x1a", broken)))[1]
    with pytest.raises(protobuf.WireError):
        assert pod.status.phase
    with pytest.raises(protobuf.WireError):
        pod.to_dict()
    assert pod.get_name() == ""


READY = put_bytes(b"\x12", put_bytes(b"\n", b"Ready") + put_bytes(b"\x12", b"True"))


def with_status(status: bytes) -> Any:
    """Return a cached Pod that has only this status."""
    return from_event(METADATA + put_bytes(b"\x1a", status)).freeze()


@pytest.mark.parametrize(
    ("status", "read", "reason"),
    [
        (b"\n\x05ab", lambda pod: pod.status.phase, "PodStatus.phase: unexpected EOF"),
        (READY[:-1], lambda pod: pod.status.conditions, "PodStatus.conditions: unexpected EOF"),
        (b"\n\xff", lambda pod: pod.status.phase, "PodStatus.phase: unexpected EOF"),
        (b"\x08\x01", lambda pod: pod.status.phase, "PodStatus.phase: proto: wrong wireType = 0 for field phase"),
        (b"\x0b", lambda pod: pod.status.reason, "PodStatus.reason: proto: illegal wireType 3"),
        (b"\x02\x01a", lambda pod: pod.status.phase, "PodStatus.phase: proto: illegal tag 0"),
        (b"\x80" * 10 + b"\x01", lambda pod: pod.status.phase, "PodStatus.phase: proto: integer overflow"),
        (b"\n\x05ab", lambda pod: pod.to_dict(), "status.phase: unexpected EOF"),
        (
            put_bytes(b"\x12", b"\n\x05ab"),
            lambda pod: pod.status.conditions[0].status,
            "PodCondition.status: unexpected EOF",
        ),
        (put_bytes(b"\x12", b"\n\x05ab"), lambda pod: pod.to_dict(), "status.conditions.type: unexpected EOF"),
        (b"\n\x05ab", lambda pod: pod.status.to_dict(), "PodStatus.phase: unexpected EOF"),
        (
            put_bytes(b"\x12", b"\n\x05ab"),
            lambda pod: pod.status.conditions[0].to_dict(),
            "PodCondition.type: unexpected EOF",
        ),
    ],
)
def test_what_is_malformed_names_object_and_field(status: bytes, read: Callable[[Any], Any], reason: str) -> None:
    pod = with_status(status)
    with pytest.raises(protobuf.WireError) as caught:
        read(pod)
    assert str(caught.value).startswith(f'Pod "ns/a": {reason}')


@pytest.mark.parametrize(("namespace", "name", "called"), [("ns", "a", "ns/a"), ("", "a", "a"), ("ns", "", "ns")])
def test_what_is_unreadable_is_named_as_if_it_were_decoded(namespace: str, name: str, called: str) -> None:
    limits = put_bytes(b"\n", put_bytes(b"\n", b"cpu") + put_bytes(b"\x12", put_bytes(b"\n", b"much")))
    spec = put_bytes(b"\x12", put_bytes(b"\x12", put_bytes(b"\n", b"c") + put_bytes(b"B", limits)))
    data = put_bytes(b"\n", put_bytes(b"\n", name.encode()) + put_bytes(b"\x1a", namespace.encode())) + spec
    for pod in (from_body(data), from_body(data).freeze(), decoded(data)):
        with pytest.raises(ValueError, match=f'^Pod "{called}": .*quantities must match'):
            dict(pod.spec.containers[0].resources.limits)


def test_a_write_to_what_is_malformed_is_refused_with_the_name_of_the_object() -> None:
    pod = with_status(b"\n\x05ab").deep_copy()
    with pytest.raises(protobuf.WireError, match='Pod "ns/a": status.phase: unexpected EOF'):
        pod.spec.node_name = "n"


def test_unknown_fields_are_skipped_and_survive_a_write() -> None:
    later = put_bytes(b"\xaa\xf1\x0e", b"later")  # number 30,005
    pod = from_body(DATA + later + put_bytes(b"\x1a", later))
    assert pod.status.phase == "Running"
    pod.status.phase = "Failed"
    assert protobuf.encode_message(MESSAGE, document_of(pod)).count(later) == 2


MANAGED = {**POD, "metadata": {**POD["metadata"], "managedFields": [{"manager": "m" * 300}, {"manager": "n"}]}}


def test_an_object_without_its_managed_fields_is_still_its_message(make: Callable[..., Any]) -> None:
    pod = make(protobuf.encode_message(MESSAGE, MANAGED))
    metadata = pod.metadata
    less = pod.without_managed_fields()
    assert is_undecoded(less) and is_undecoded(pod)
    assert len(less._source.data) < len(pod._source.data) - 300
    assert less.get_managed_fields() == []
    assert less.object_key() == "ns/a" and less.get_labels() == pod.get_labels() and less.status.phase == "Running"
    assert less.to_dict() == decoded().to_dict()
    # What had been read is of the object that was given up.
    assert [entry.manager for entry in metadata.managed_fields] == ["m" * 300, "n"]
    assert less.without_managed_fields() is less


def versioned(version: bytes, *, first: bytes = b"") -> bytes:
    """Return the message of a Pod of that version, with `first` before its metadata."""
    names = put_bytes(b"\n", b"a") + put_bytes(b"\x1a", b"ns") + put_bytes(b"2", version)
    managed = put_bytes(b"\x8a\1", put_bytes(b"\n", b"m"))
    return first + put_bytes(b"\n", names + managed)


def test_the_version_is_read_where_it_stands(make: Callable[..., Any]) -> None:
    """Pods of one layout share where it is, while their messages may begin with something else."""
    phase = put_bytes(b"\x1a", put_bytes(b"\n", b"Running"))
    for _ in range(2):
        for version, first in ((b"12", b""), (b"13", phase), (b"14", phase + phase), (b"", b""), ("é".encode(), b"")):
            pod = make(versioned(version, first=first))
            less = pod.deep_copy().without_managed_fields()
            for each in (pod, pod.deep_copy(), less, less.deep_copy(), pod.freeze()):
                assert (each.get_resource_version(), each.object_key()) == (version.decode(), "ns/a")


def test_a_version_whose_length_takes_more_bytes_than_it_needs_is_read(make: Callable[..., Any]) -> None:
    pod = make(put_bytes(b"\n", put_bytes(b"\n", b"a") + b"2\x82\x0012"))
    assert [each.get_resource_version() for each in (pod, pod.deep_copy(), pod.freeze())] == ["12"] * 3


def test_a_version_that_is_not_utf8_is_read_behind_one_of_the_same_layout(make: Callable[..., Any]) -> None:
    for version, text in ((b"12", "12"), (b"1\xff", "1\udcff"), (b"12", "12"), (b"\xff2", "\udcff2")):
        assert make(versioned(version)).get_resource_version() == text


def test_managed_fields_are_taken_out_of_what_is_decoded_too() -> None:
    pod = corev1.Pod.from_dict({"metadata": {"name": "a", "managedFields": [{"manager": "m"}]}})
    assert pod.without_managed_fields() is pod
    assert pod.to_dict() == {"metadata": {"name": "a"}}
    empty = corev1.Pod()
    assert empty.without_managed_fields().to_dict() == {}


def test_an_object_without_metadata_has_no_managed_fields(make: Callable[..., Any]) -> None:
    pod = make(b"")
    assert pod.without_managed_fields() is pod


def test_managed_fields_of_what_is_cached_stay(make: Callable[..., Any]) -> None:
    pod = make(protobuf.encode_message(MESSAGE, MANAGED)).freeze()
    with pytest.raises(ReadOnlyError):
        pod.without_managed_fields()
    assert len(pod.get_managed_fields()) == 2


def test_fields_of_a_newer_server_stay_when_managed_fields_go() -> None:
    later = put_bytes(b"\xaa\xf1\x0e", b"later")  # number 30,005
    metadata = protobuf.encode_message(META, MANAGED["metadata"]) + later
    less = from_body(put_bytes(b"\n", metadata) + later).without_managed_fields()
    assert is_undecoded(less) and less.get_managed_fields() == []
    assert protobuf.encode_message(MESSAGE, document_of(less)).count(later) == 2


# --- Maps


def labelled(*labels: tuple[str, str]) -> Any:
    """Return a cached Pod with these labels, which may contain duplicates."""
    return with_entries(*(label(*each) for each in labels))


def label(key: str, *values: str) -> bytes:
    return put_bytes(b"\n", key.encode()) + b"".join(put_bytes(b"\x12", value.encode()) for value in values)


def with_entries(*entries: bytes) -> Any:
    return from_event(entered(*entries)).freeze()


def entered(*entries: bytes) -> bytes:
    """Return the message of a Pod whose labels are these entries."""
    names = put_bytes(b"\n", b"a") + put_bytes(b"\x1a", b"ns") + put_bytes(b"*", b"u")
    return put_bytes(b"\n", names + b"".join(put_bytes(b"Z", entry) for entry in entries))


def test_labels_of_equal_sizes_are_distinguished() -> None:
    many = ({"a": "bcd", "x": "1"}, {"ab": "cd", "x": "1"}, {"abc": "d", "y": "2"}, {"": "abcd", "y": ""})
    bodies = [entered(*(label(*each) for each in labels.items())) for labels in many]
    pods = [from_event(body).freeze() for body in bodies]
    assert len({*map(len, bodies[:3])}) == 1
    for labels, pod in zip(many, pods, strict=True):
        found = pod.metadata.labels
        assert {key: found[key] for key in labels} == labels
        assert (found.get("z"), "z" in found, found.get("z", "none"), len(found)) == (None, False, "none", 2)
        assert dict(found) == labels == found


def test_labels_that_may_be_written_to_follow_what_is_written() -> None:
    pod = labelled(("a", "1")).deep_copy()
    labels, same = pod.metadata.labels, pod.metadata.labels
    labels["a"] = "2"
    assert (labels["a"], same["a"], pod.get_labels()) == ("2", "2", {"a": "2"})


def test_of_labels_of_one_key_the_last_counts() -> None:
    for _ in range(2):
        pod = labelled(("a", "1"), ("b", "2"), ("a", "3"))
        assert (pod.metadata.labels["a"], pod.get_labels(), len(pod.labels)) == ("3", {"a": "3", "b": "2"}, 2)


@pytest.mark.parametrize(
    "odd",
    [
        label("a", "1", "2"),
        label("a", "1") + b"\x18\x05",  # a field that is unknown
        put_bytes(b"\x12", b"2") + put_bytes(b"\n", b"a"),
        b"\n\x81\0a\x12\x012",  # a length of two bytes
        label("a" * 150, "1"),
        label("a"),
        label("a") + put_bytes(b"\x1a", b"2"),
        put_bytes(b"\x1a", b"a") + put_bytes(b"\x12", b"2"),
        b"",
    ],
)
def test_an_unusually_encoded_label_reads_as_decoded(odd: bytes) -> None:
    for _ in range(2):
        data = entered(label("b", "1"), odd, label("c", "3"))
        pod, expected = from_event(data).freeze(), decoded(data).get_labels()
        assert dict(pod.metadata.labels) == expected
        assert pod.metadata.labels.get("a") == expected.get("a")


@pytest.mark.parametrize("odd", [b"", label(""), label("a"), put_bytes(b"\x12", b"1")])
def test_an_entry_without_key_or_value_may_be_the_last_of_a_message(odd: bytes) -> None:
    data = put_bytes(b"\n", put_bytes(b"\n", b"a") + put_bytes(b"Z", odd))
    labels = {"a" if b"a" in odd else "": "1" if b"1" in odd else ""}
    pods = decoded(data), from_body(data), from_body(data).freeze()
    assert [dict(pod.metadata.labels) for pod in pods] == [labels] * 3


def test_a_label_that_is_not_utf8_costs_only_itself() -> None:
    for _ in range(2):
        metadata = entered(label("a", "b"), label("c", "d")).replace(b"\x12\x01d", b"\x12\x01\xff")
        labels = from_event(metadata).freeze().metadata.labels
        assert labels["a"] == "b"
        with pytest.raises(KeyError):
            labels["b"]
        assert labels["c"] == "\udcff"
        assert dict(labels) == {"a": "b", "c": "\udcff"}


@pytest.mark.parametrize("data", [METADATA, METADATA + put_bytes(b"\x12", b"") + put_bytes(b"\x1a", b"")])
def test_a_field_that_is_absent_reads_as_in_the_document(make: Callable[..., Any], data: bytes) -> None:
    """Each field of a Pod, of its spec and of its status, on the path to which nothing was sent."""

    def plain(value: Any) -> Any:
        return value.snapshot() if hasattr(value, "snapshot") else value

    document = protobuf.decode_message(MESSAGE, data)
    for name in ("spec", "status"):
        inner = make(data)._source.root().get(name)
        for each in MESSAGE.by_name[name].message.by_name:
            assert plain(inner.get(each)) == document[name].get(each), f"{name}.{each}"
        assert plain(inner) == document[name], name


def test_the_first_object_that_is_read_loads_the_engine(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """The import of a client does not, since it takes 20 ms; without the package each object is walked over."""
    monkeypatch.setattr(upb, "LOOKUP", upb.Lookup(is_wanted=engine == "upb"))
    pod = from_body()
    assert upb.LOOKUP.loaded is None
    assert pod.spec.node_name == "n"
    assert (upb.LOOKUP.loaded is not None) is (engine == "upb")
    # The package refuses such a message as a whole, and the walk names the field.
    with pytest.raises(protobuf.WireError, match=r"PodStatus\.phase: unexpected EOF"):
        assert from_body(METADATA + put_bytes(b"\x1a", b"\n\x05ab")).status.phase
