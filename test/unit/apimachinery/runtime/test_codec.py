"""Codecs, version choosers, undecoded objects, converters and the registry of equivalent resources."""

from __future__ import annotations

import base64
import json
import pickle

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.documents import writable_document_of
from clientgo.apimachinery.runtime.schema import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    GroupVersions,
)
from clientgo.apimachinery.util.errors import AggregateError
from clientgo.kubernetes.scheme import CODECS, SCHEME

SERIALIZER = CODECS.supported_media_types()[0].serializer
POD = GroupVersionKind("", "v1", "Pod")


def pod(name: str = "web") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name))


def encoded(name: str = "web") -> bytes:
    return runtime.encode(SERIALIZER, pod(name))


def test_stray_bytes_become_replacement_characters_as_in_go():
    data = encoded("we?").replace(b"?", b"\xff")
    decoded, _ = SERIALIZER.decode(data)
    assert decoded.get_name() == "we\ufffd"


# --- codec ---


def test_encode_and_decode_are_inverse() -> None:
    assert isinstance(runtime.decode(SERIALIZER, encoded()), corev1.Pod)
    assert json.loads(runtime.encode_or_die(SERIALIZER, pod()))["kind"] == "Pod"


def test_decode_into_fills_an_object_of_the_kind_only() -> None:
    target = corev1.Pod()
    runtime.decode_into(SERIALIZER, encoded("a"), target)
    assert target.metadata.name == "a"
    with pytest.raises(ValueError, match="unable to decode .*Pod.* into Node"):
        runtime.decode_into(SERIALIZER, encoded(), corev1.Node())


def test_a_codec_writes_with_one_and_reads_with_the_other() -> None:
    codec = runtime.new_codec(SERIALIZER, runtime.WithoutVersionDecoder(SERIALIZER))
    decoded = runtime.decode(codec, runtime.encode(codec, pod()))
    assert decoded.kind == ""
    assert codec.identifier() == SERIALIZER.identifier()


def test_noop_halves_refuse() -> None:
    reader, writer = runtime.NoopEncoder(SERIALIZER), runtime.NoopDecoder(SERIALIZER)
    assert runtime.decode(reader, encoded()) == runtime.decode(SERIALIZER, encoded())
    assert writer.encode(pod()) == encoded()
    assert reader.identifier() == "noop"
    with pytest.raises(TypeError, match="encoding is not allowed for this codec: JSONSerializer"):
        reader.encode(pod())
    with pytest.raises(TypeError, match="decoding is not allowed for this codec: JSONSerializer"):
        writer.decode(encoded())


def test_base64_serializer() -> None:
    serializer = runtime.new_base64_serializer(SERIALIZER, SERIALIZER)
    data = serializer.encode(pod("a"))
    assert base64.b64decode(data) == encoded("a")
    assert serializer.decode(data)[0].to_dict()["metadata"] == {"name": "a"}
    assert json.loads(serializer.identifier()) == {"name": "base64", "encoder": SERIALIZER.identifier()}
    with pytest.raises(ValueError):
        serializer.decode(b"no base64!")


def test_use_or_create_object() -> None:
    given = pod()
    assert runtime.use_or_create_object(SCHEME, SCHEME, POD, given) is given
    assert isinstance(runtime.use_or_create_object(SCHEME, SCHEME, POD, corev1.Node()), corev1.Pod)
    assert isinstance(runtime.use_or_create_object(SCHEME, SCHEME, POD, None), corev1.Pod)


def test_serializer_info_for_media_type_falls_back_on_the_nameless_one() -> None:
    infos = CODECS.supported_media_types()
    assert runtime.serializer_info_for_media_type(infos, "application/json") == (infos[0], True)
    assert runtime.serializer_info_for_media_type(infos, "application/xml") == (None, False)
    nameless = runtime.SerializerInfo(media_type="", serializer=SERIALIZER)
    assert runtime.serializer_info_for_media_type([*infos, nameless], "application/xml") == (nameless, True)


# --- group versioners ---

NEW, OLD = GroupVersion("new", "v1"), GroupVersion("old", "v1")
OLD_A = OLD.with_kind("A")


@pytest.mark.parametrize(
    ("versioner", "kinds", "chosen"),
    [
        (runtime.new_multi_group_versioner(NEW), [OLD_A], None),
        (runtime.new_multi_group_versioner(NEW, GroupKind("new", "")), [NEW.with_kind("A")], NEW.with_kind("A")),
        (runtime.new_multi_group_versioner(NEW, GroupKind("old", ""), GroupKind("x", "")), [OLD_A], NEW.with_kind("A")),
        (runtime.new_multi_group_versioner(NEW, GroupKind("old", "A")), [OLD_A], NEW.with_kind("A")),
        (runtime.new_multi_group_versioner(NEW, GroupKind("old", "B")), [OLD_A], None),
        (runtime.new_coercing_multi_group_versioner(NEW, GroupKind("x", "")), [OLD_A], NEW.with_kind("A")),
        (runtime.new_coercing_multi_group_versioner(NEW, GroupKind("x", "")), [], None),
        (runtime.INTERNAL_GROUP_VERSIONER, [OLD_A], GroupVersionKind("old", "__internal", "A")),
        (
            runtime.INTERNAL_GROUP_VERSIONER,
            [OLD_A, GroupVersionKind("new", "__internal", "B")],
            GroupVersionKind("new", "__internal", "B"),
        ),
        (NEW, [OLD_A, NEW.with_kind("A")], NEW.with_kind("A")),
        (NEW, [OLD_A], None),
        (GroupVersion("old", "v2"), [OLD_A], GroupVersionKind("old", "v2", "A")),
        (GroupVersions([GroupVersion("old", "v2"), OLD]), [OLD_A], OLD_A),
        (GroupVersions([GroupVersion("old", "v2"), NEW]), [OLD_A], GroupVersionKind("old", "v2", "A")),
        (GroupVersions([NEW]), [OLD_A], None),
        (runtime.INTERNAL_GROUP_VERSIONER, [], None),
        (runtime.DISABLED_GROUP_VERSIONER, [OLD_A], None),
    ],
)
def test_group_versioners(
    versioner: runtime.GroupVersioner, kinds: list[GroupVersionKind], chosen: GroupVersionKind | None
) -> None:
    """Go: TestCoercingMultiGroupVersioner."""
    found = versioner.kind_for_group_version_kinds(kinds)
    assert found == ((chosen, True) if chosen is not None else (GroupVersionKind(), False))


def test_identifiers_say_what_a_versioner_does() -> None:
    versioner = runtime.new_coercing_multi_group_versioner(NEW, GroupKind("g", "K"), GroupKind("h", ""))
    assert versioner.identifier() == (
        f'{{"accepted":"{GroupKind("g", "K")},{GroupKind("h", "")}","coerce":"true","name":"multi","target":"new/v1"}}'
    )
    assert runtime.INTERNAL_GROUP_VERSIONER.identifier() == "internal"
    assert runtime.DISABLED_GROUP_VERSIONER.identifier() == "disabled"


def test_conversion_goes_where_the_versioner_says() -> None:
    """Go: TestCoercingMultiGroupVersioner."""

    class Old(runtime.Object):
        GROUP_VERSION_KIND = OLD.with_kind("Old")

    class New(runtime.Object):
        GROUP_VERSION_KIND = NEW.with_kind("Old")

    scheme = runtime.new_scheme()
    scheme.add_known_type_with_name(OLD.with_kind("Old"), Old)
    scheme.add_known_type_with_name(NEW.with_kind("Old"), New)
    scheme.add_conversion_func(Old, New, lambda source, target: writable_document_of(target).update(was=source.kind))
    to_new = runtime.new_multi_group_versioner(NEW, GroupKind("old", ""))

    old = Old(kind="Old")
    assert scheme.convert_to_version(old, to_new) == New.from_dict(
        {"was": "Old", "apiVersion": "new/v1", "kind": "Old"}
    )
    assert old == Old(kind="Old")
    unsafe = runtime.unsafe_object_convertor(scheme)
    assert unsafe.convert_to_version(old, OLD) is old
    assert old.api_version == "old/v1"
    with pytest.raises(runtime.NotRegisteredError):
        unsafe.convert_to_version(old, runtime.DISABLED_GROUP_VERSIONER)


# --- lists of undecoded objects ---


def test_encode_list_and_decode_list() -> None:
    """Go: TestDecodeList, TestArrayOfRuntimeObject."""
    objects: list[runtime.Object] = [pod("a"), pod("b")]
    runtime.encode_list(SERIALIZER, objects)
    assert objects == [runtime.Unknown(encoded("a")), runtime.Unknown(encoded("b"))]

    foreign, broken = runtime.Unknown(b'{"apiVersion":"x/v1","kind":"Y"}'), runtime.Unknown(b"[")
    objects += [foreign, broken, pod("c")]
    (error,) = runtime.decode_list(objects, SERIALIZER)
    assert "json parse error" in str(error)
    assert [type(obj) for obj in objects] == [corev1.Pod, corev1.Pod, runtime.Unknown, runtime.Unknown, corev1.Pod]
    assert objects[2:4] == [foreign, broken]


def test_encode_list_goes_on_after_an_error() -> None:
    objects: list[runtime.Object] = [corev1.Pod.from_dict({"metadata": {"name": {1, 2}}}), pod("b")]
    with pytest.raises(AggregateError):
        runtime.encode_list(SERIALIZER, objects)
    assert isinstance(objects[0], corev1.Pod)
    assert isinstance(objects[1], runtime.Unknown)


def test_an_unknown_keeps_its_bytes() -> None:
    unknown = runtime.Unknown(b'{"a": 1}', kind="K", content_encoding="gzip")
    copy = unknown.deep_copy()
    assert copy == unknown == pickle.loads(pickle.dumps(unknown))
    copy.raw = b"{}"
    assert copy != unknown
    assert unknown.marshal_json() == b'{"a": 1}'
    assert unknown.to_dict() == {"a": 1}
    assert repr(unknown) == "Unknown(8 bytes)"

    unknown.unmarshal_json(b"[]")
    assert (unknown.raw, unknown.kind, unknown.content_encoding) == (b"[]", "", "")
    assert unknown.content_type == runtime.CONTENT_TYPE_JSON
    with pytest.raises(ValueError, match="not a JSON object"):
        unknown.to_dict()

    assert runtime.Unknown().marshal_json() == b"null"
    with pytest.raises(ValueError, match="MarshalJSON on non-json data"):
        runtime.Unknown(b"x", content_type=runtime.CONTENT_TYPE_PROTOBUF).marshal_json()
    assert runtime.Unknown.from_dict({"kind": "K"}).raw == b'{"kind":"K"}'


# --- apiVersion and kind added and taken away ---


def test_with_version_encoder_writes_the_kind_the_object_lacks() -> None:
    encoder = runtime.WithVersionEncoder(None, SERIALIZER, SCHEME)
    given = pod("a").freeze()
    assert json.loads(encoder.encode(given)) == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert given.kind == ""

    to_apps = runtime.new_coercing_multi_group_versioner(GroupVersion("apps", "v1"))
    options = runtime.WithVersionEncoder(to_apps, SERIALIZER, SCHEME).encode(metav1.ListOptions())
    assert json.loads(options) == {"apiVersion": "apps/v1", "kind": "ListOptions"}


def test_with_version_encoder_leaves_what_the_typer_does_not_know() -> None:
    encoder = runtime.WithVersionEncoder(None, SERIALIZER, runtime.new_scheme())
    assert encoder.encode(pod("a")) == encoded("a")
    assert encoder.identifier() == SERIALIZER.identifier()


def test_without_version_decoder() -> None:
    decoder = runtime.WithoutVersionDecoder(SERIALIZER)
    obj, gvk = decoder.decode(encoded())
    assert (obj, gvk) == (pod(), POD)
    assert decoder.decode_document(json.loads(encoded())) == pod()
    assert decoder.expecting(corev1.Pod).decode(encoded())[0] == pod()


def test_multi_object_typer_asks_in_order() -> None:
    typer = runtime.MultiObjectTyper([runtime.new_scheme(), SCHEME])
    assert typer.object_kinds(pod()) == ([POD], False)
    assert typer.recognizes(POD)
    assert not typer.recognizes(GroupVersionKind("", "v1", "Pot"))
    with pytest.raises(runtime.NotRegisteredError):
        runtime.MultiObjectTyper([runtime.new_scheme()]).object_kinds(pod())
    assert runtime.MultiObjectTyper().object_kinds(pod()) == ([], False)


def test_set_zero_value() -> None:
    obj = pod()
    runtime.set_zero_value(obj)
    assert obj == corev1.Pod()
    with pytest.raises(runtime.ReadOnlyError):
        runtime.set_zero_value(pod().freeze())


# --- documents ---


def test_converter_copies_both_ways() -> None:
    """Go: TestRoundTrip, TestObjectToUnstructuredConversion, TestUnstructuredToObjectConversion."""
    converter = runtime.DEFAULT_UNSTRUCTURED_CONVERTER
    source = pod("a")
    document = converter.to_unstructured(source)
    document["metadata"]["name"] = "b"
    assert source.metadata.name == "a"

    target = appsv1.Deployment()
    converter.from_unstructured(document, target)
    document["metadata"]["name"] = "c"
    assert target.metadata.name == "b"


def test_converter_names_unknown_fields_after_filling() -> None:
    """Go: TestUnknownFields."""
    document = {"metadata": {"nam": "a"}, "spec": {"containers": [{"name": "c", "imag": "x"}]}, "extra": 1}
    target = corev1.Pod()
    with pytest.raises(runtime.StrictDecodingError) as raised:
        runtime.DEFAULT_UNSTRUCTURED_CONVERTER.from_unstructured_with_validation(document, target, True)
    for path in ("metadata.nam", "spec.containers[0].imag", "extra"):
        assert f'unknown field "{path}"' in str(raised.value)
    assert target.spec.containers[0].name == "c"
    runtime.DEFAULT_UNSTRUCTURED_CONVERTER.from_unstructured_with_validation(document, target, False)


def test_deep_copy_json_shares_nothing_and_takes_only_json() -> None:
    """Go: TestDeepCopyJSON."""
    document = {"a": [{"b": 1}], "c": None, "d": 1.5, "e": True}
    copy = runtime.deep_copy_json(document)
    assert copy == document
    copy["a"][0]["b"] = 2
    assert document["a"] == [{"b": 1}]
    with pytest.raises(TypeError, match="cannot deep copy set"):
        runtime.deep_copy_json({"a": {1}})


def test_unstructured_objects_are_runtime_unstructured() -> None:
    assert isinstance(unstructured.Unstructured(), runtime.Unstructured)
    assert isinstance(unstructured.UnstructuredList(), runtime.Unstructured)
    assert not isinstance(pod(), runtime.Unstructured)


# --- equivalent resources ---

DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")
OLD_DEPLOYMENTS = GroupVersionResource("extensions", "v1beta1", "deployments")


def test_equivalent_resources_are_those_of_one_group_resource() -> None:
    registry = runtime.new_equivalent_resource_registry()
    beta = GroupVersionResource("apps", "v1beta1", "deployments")
    for resource in (DEPLOYMENTS, beta, OLD_DEPLOYMENTS):
        registry.register_kind_for(resource, "", resource.group_version().with_kind("Deployment"))
    registry.register_kind_for(DEPLOYMENTS, "scale", GroupVersionKind("autoscaling", "v1", "Scale"))

    assert registry.equivalent_resources_for(beta, "") == [DEPLOYMENTS, beta]
    assert registry.equivalent_resources_for(OLD_DEPLOYMENTS, "") == [OLD_DEPLOYMENTS]
    assert registry.equivalent_resources_for(beta, "scale") == [DEPLOYMENTS]
    assert registry.equivalent_resources_for(beta, "status") == []
    assert registry.kind_for(DEPLOYMENTS, "scale").kind == "Scale"
    assert registry.kind_for(beta, "scale") == GroupVersionKind()


def test_an_identity_makes_resources_of_several_groups_equivalent() -> None:
    def identity(resource: GroupResource) -> str:
        return "workload" if resource.resource == "deployments" else ""

    registry = runtime.new_equivalent_resource_registry_with_identity(identity)
    pods = GroupVersionResource("", "v1", "pods")
    for resource in (DEPLOYMENTS, OLD_DEPLOYMENTS, pods):
        registry.register_kind_for(resource, "", GroupVersionKind("", "v1", "X"))
    assert registry.equivalent_resources_for(DEPLOYMENTS, "") == [DEPLOYMENTS, OLD_DEPLOYMENTS]
    assert registry.equivalent_resources_for(pods, "") == [pods]
