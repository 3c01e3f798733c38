"""The fields that Go promotes from the metadata to the object, and the hint for names that are none."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime

import pytest
from decoding import DYNAMIC, TYPED, event, is_undecoded, needs_msgspec
from fieldnames import field_names

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured


def pod() -> corev1.Pod:
    return corev1.Pod(
        metadata=metav1.ObjectMeta(
            name="a",
            namespace="ns",
            resource_version="7",
            labels={"app": "shop"},
            deletion_timestamp=datetime(2026, 3, 1, tzinfo=UTC),
            owner_references=[metav1.OwnerReference(name="o")],
        )
    )


def test_the_lines_of_the_texts_run() -> None:
    old, new = pod(), pod()
    new.metadata.resource_version = "8"

    assert old.resource_version != new.resource_version
    assert (old.name, old.namespace, old.labels["app"], old.annotations) == ("a", "ns", "shop", {})
    assert old.owner_references[0].name == "o"
    assert corev1.PodList(metadata=metav1.ListMeta(resource_version="9", continue_="c")).resource_version == "9"


def test_every_field_of_the_metadata_is_promoted() -> None:
    obj, listed = pod(), corev1.PodList(metadata=metav1.ListMeta(continue_="c", remaining_item_count=3))
    for attr in field_names(metav1.ObjectMeta):
        assert getattr(obj, attr) == getattr(obj.metadata, attr)
    for attr in field_names(metav1.ListMeta):
        assert getattr(listed, attr) == getattr(listed.metadata, attr)


def test_a_promoted_field_is_the_field_itself() -> None:
    obj = pod()
    obj.labels["new"] = "x"
    obj.name = "b"
    assert (obj.metadata.labels["new"], obj.metadata.name) == ("x", "b")
    with pytest.raises(runtime.ReadOnlyError):
        obj.freeze().labels["new"] = "y"


def test_the_constructor_does_not_take_them_as_go_literals_do_not() -> None:
    with pytest.raises(TypeError, match="Pod has no field 'name'"):
        corev1.Pod(name="a")  # type: ignore[call-arg]


def test_structs_that_embed_metadata_promote_it_too() -> None:
    template = corev1.PodTemplateSpec(metadata=metav1.ObjectMeta(labels={"app": "shop"}))
    assert (template.labels, template.name) == ({"app": "shop"}, "")
    assert appsv1.Deployment(spec=appsv1.DeploymentSpec(template=template)).spec.template.labels["app"] == "shop"


class Shop(runtime.ResourceObject):
    """A type with fields of its own by those names."""

    metadata: metav1.ObjectMeta = runtime.field("metadata", "metav1.ObjectMeta", default=runtime.EMPTY)
    name: str = runtime.field("name", "string", default="")
    generation: int = runtime.field("generation", "int64", default=0)


def test_a_field_of_the_type_itself_comes_first() -> None:
    shop = Shop(metadata=metav1.ObjectMeta(name="meta", generation=7), name="own")
    assert (shop.name, shop.generation, shop.get_name()) == ("own", 0, "meta")
    shop.name = "new"
    assert shop.to_dict() == {"metadata": {"name": "meta", "generation": 7}, "name": "new"}


def test_unstructured_objects_have_them_too() -> None:
    obj = Unstructured({"metadata": {"name": "a", "labels": {"app": "shop"}}})
    assert (obj.name, obj.labels, obj.resource_version) == ("a", {"app": "shop"}, "")
    bare = Unstructured()
    bare.labels["a"] = "b"
    assert bare.object == {"metadata": {"labels": {"a": "b"}}}


@needs_msgspec
@pytest.mark.parametrize("serializer", [TYPED, DYNAMIC])
def test_they_decode_no_object(serializer: object) -> None:
    text = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"app":"shop"}},"spec":{}}'
    obj = event(f'{{"type":"ADDED","object":{text}}}', serializer).freeze()
    assert (obj.name, obj.labels["app"], obj.annotations) == ("a", "shop", {})
    assert is_undecoded(obj)


@pytest.mark.parametrize(
    ("attr", "hint"),
    [
        ("ResourceVersion", "resource_version"),
        ("resourceVersion", "resource_version"),
        ("Name", "name"),
        ("ObjectMeta", "metadata"),
        ("Spec", "spec"),
        ("GetNamespace", "get_namespace"),
        ("DeepCopy", "deep_copy"),
        ("resource_versoin", "resource_version"),
    ],
)
def test_a_wrong_name_is_an_error_that_says_the_right_one(attr: str, hint: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(pod(), attr)
    assert str(raised.value) == f"'Pod' object has no attribute {attr!r}; did you mean {hint!r}?"
    assert raised.value.name == attr


def test_what_is_like_nothing_gets_no_hint() -> None:
    for attr in ("zzzzz", "_ipython_display_"):
        with pytest.raises(AttributeError, match=f"'Pod' object has no attribute '{attr}'$"):
            getattr(pod(), attr)


def test_asking_whether_there_is_an_attribute_does_not_look_for_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difflib, "get_close_matches", None)
    assert not hasattr(pod(), "nonsense")
