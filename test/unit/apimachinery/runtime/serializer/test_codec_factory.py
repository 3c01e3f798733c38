"""The codecs of a scheme: which kinds they read and write, under which names."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.serializer import new_codec_factory
from clientgo.kubernetes.scheme import CODECS

V1, V2 = GroupVersion("group", "v1"), GroupVersion("group", "v2")
SERIALIZER = CODECS.supported_media_types()[0].serializer
POD_LINE = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}\n'


class Old(runtime.ResourceObject):
    """A kind of the first version alone."""

    GROUP_VERSION_KIND = V1.with_kind("Old")


class Other(runtime.ResourceObject):
    """A kind of the second version alone."""

    GROUP_VERSION_KIND = V2.with_kind("Other")


def pod() -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name="a"))


def test_an_object_comes_back_and_fills_another_of_its_kind() -> None:
    """Go: TestTypes, TestEncode_Ptr."""
    data = runtime.encode(SERIALIZER, pod())
    into = corev1.Pod()
    runtime.decode_into(SERIALIZER, data, into)
    assert into == runtime.decode(SERIALIZER, data)
    assert into.metadata == pod().metadata


def test_kinds_that_only_one_version_has_are_read_and_written_side_by_side() -> None:
    """Go: TestSparse."""
    scheme = runtime.new_scheme()
    scheme.add_known_types(V1, Old)
    scheme.add_known_types(V2, Other)
    factory = new_codec_factory(scheme)
    codec = factory.encoder_for_version(factory.supported_media_types()[0].serializer, V2)
    for cls in (Old, Other):
        source = cls.from_dict({"metadata": {"name": "foo"}})
        data = codec.encode(source)
        found, gvk = factory.universal_deserializer().decode(data)
        assert (type(found), gvk) == (cls, cls.GROUP_VERSION_KIND)
        assert found.get_name() == "foo"


# Go: TestBadJSONRejection
@pytest.mark.parametrize(
    "text",
    [
        b'{"apiVersion":"v1"}',
        b'{"apiVersion":"v1","kind":"bar"}',
        b'{"apiVersion":"bar","kind":"Pod"}',
        b'{"kind":"Pod"}',
        b'{"kind":"bar"}',
        b"{ }",
        b"",
    ],
)
def test_what_does_not_say_a_known_kind_is_refused(text: bytes) -> None:
    with pytest.raises((ValueError, runtime.MissingKindError, runtime.NotRegisteredError)):
        runtime.decode(SERIALIZER, text)


def test_what_the_text_does_not_say_the_caller_may() -> None:
    """Go: TestBadJSONRejection."""
    found, gvk = SERIALIZER.decode(b'{"apiVersion":"v1"}', GroupVersionKind(kind="Pod"))
    assert (type(found), gvk.kind) == (corev1.Pod, "Pod")
    found, gvk = SERIALIZER.decode(b'{"kind":"Pod"}', GroupVersionKind(version="v1"))
    assert (type(found), gvk.version) == (corev1.Pod, "v1")
    found, gvk = SERIALIZER.decode(b'{"kind":"","apiVersion":null}', GroupVersionKind(version="v1", kind="Pod"))
    assert (type(found), gvk.version) == (corev1.Pod, "v1")
    with pytest.raises(ValueError, match="unable to decode .*Pod.* into Node"):
        runtime.decode_into(SERIALIZER, b'{"apiVersion":"v1","kind":"Pod"}', corev1.Node())


def test_codecs_without_conversion_write_the_kind_and_read_without_it() -> None:
    """The requested version does not matter. Go: TestDirectCodec, TestDirectCodecEncode."""
    direct, ignored = CODECS.without_conversion(), GroupVersion("ignored group", "ignored version")
    assert direct.encoder_for_version(SERIALIZER, ignored).encode(pod()) == POD_LINE
    found, gvk = direct.decoder_to_version(SERIALIZER, ignored).decode(POD_LINE)
    assert found == pod()
    assert (found.kind, gvk) == ("", GroupVersionKind("", "v1", "Pod"))


@pytest.mark.parametrize("version", [GroupVersion("", "v1"), GroupVersion("apps", "v1")])
def test_a_status_is_one_in_every_version(version: GroupVersion) -> None:
    """Go: TestV1EncodeDecodeStatus, TestExperimentalEncodeDecodeStatus."""
    data = CODECS.encoder_for_version(SERIALIZER, version).encode(metav1.Status(message="m"))
    found, gvk = SERIALIZER.decode(data)
    assert isinstance(found, metav1.Status)
    assert (found.message, gvk) == ("m", GroupVersionKind("", "v1", "Status"))
