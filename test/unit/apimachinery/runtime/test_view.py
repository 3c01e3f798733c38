"""The object model: typed views over JSON documents."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableSequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

import pytest
from fieldnames import field_names

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.view import copy_json


def deployment() -> appsv1.Deployment:
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name="web", namespace="default", labels={"app": "web"}),
        spec=appsv1.DeploymentSpec(
            replicas=2,
            template=corev1.PodTemplateSpec(
                spec=corev1.PodSpec(containers=[corev1.Container(name="nginx", image="nginx:1.27")])
            ),
        ),
    )


def test_an_object_is_built_as_a_go_literal_and_read_by_attributes() -> None:
    web = deployment()

    assert web.metadata.name == "web"
    assert web.spec.replicas == 2
    assert web.spec.template.spec.containers[0].image == "nginx:1.27"
    assert web.to_dict() == {
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "nginx", "image": "nginx:1.27"}]}}},
    }


def test_absent_values_read_as_zero_and_absent_pointers_as_none() -> None:
    empty = appsv1.Deployment()

    assert empty.metadata.name == ""
    assert empty.status.available_replicas == 0
    assert empty.spec.paused is False
    assert empty.spec.replicas is None
    assert empty.spec.selector is None
    assert empty.metadata.labels == {}
    assert empty.spec.template.spec.containers == []
    assert empty.metadata.creation_timestamp is None


def test_null_reads_as_absent() -> None:
    pod = corev1.Pod.from_dict({"metadata": None, "spec": {"containers": None, "nodeName": None}})

    assert (pod.metadata.name, pod.spec.node_name, list(pod.spec.containers)) == ("", "", [])


def test_reading_never_changes_the_document() -> None:
    document: dict[str, object] = {}
    pod = corev1.Pod.from_dict(document)

    _ = (pod.metadata.labels, pod.spec.containers, pod.spec.security_context, pod.status.conditions, repr(pod))

    assert document == {}


def test_writing_through_an_empty_view_attaches_it() -> None:
    pod = corev1.Pod()

    pod.metadata.labels["app"] = "web"
    pod.spec.containers.append(corev1.Container(name="a"))
    pod.spec.containers[0].image = "nginx"

    assert pod.to_dict() == {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "a", "image": "nginx"}]},
    }


def test_two_empty_views_of_one_field_write_into_the_same_place() -> None:
    pod = corev1.Pod()
    first, second = pod.metadata, pod.metadata

    first.name = "a"
    second.namespace = "b"

    assert pod.to_dict() == {"metadata": {"name": "a", "namespace": "b"}}
    assert first.namespace == second.namespace == "b"


def test_fields_the_class_does_not_know_are_kept() -> None:
    document = {"metadata": {"name": "a", "fromTheFuture": 1}, "alsoNew": {"x": [1]}}
    pod = corev1.Pod.from_dict(document)

    pod.metadata.name = "b"

    assert pod.to_dict() == {"metadata": {"name": "b", "fromTheFuture": 1}, "alsoNew": {"x": [1]}}
    assert pod.deep_copy().to_dict() == pod.to_dict()


def test_zero_is_left_out_where_go_leaves_it_out() -> None:
    status = appsv1.DeploymentStatus(replicas=3)
    container = corev1.Container(name="a")

    status.replicas = 0  # omitempty
    container.name = ""  # no omitempty
    spec = appsv1.DeploymentSpec(replicas=0)  # a pointer to zero is a value

    assert status.to_dict() == {}
    assert container.to_dict() == {"name": ""}
    assert spec.to_dict() == {"replicas": 0}


def test_none_removes_a_field() -> None:
    spec = appsv1.DeploymentSpec(replicas=1)

    spec.replicas = None

    assert spec.to_dict() == {}


def test_assignment_copies() -> None:
    container = corev1.Container(name="a")
    pod = corev1.Pod(spec=corev1.PodSpec(containers=[container]))

    container.name = "changed"
    other = corev1.Pod(spec=pod.spec)
    other.spec.containers[0].name = "other"

    assert [pod.spec.containers[0].name, other.spec.containers[0].name] == ["a", "other"]


def test_a_part_of_an_object_is_not_frozen_by_itself() -> None:
    pods = corev1.PodList(items=[corev1.Pod(metadata=metav1.ObjectMeta(name="a"))])
    part = pods.items[0].freeze()
    part.metadata.name = "b"
    assert (part.frozen, pods.frozen, pods.to_dict()["items"]) == (False, False, [{"metadata": {"name": "b"}}])


def test_a_frozen_object_refuses_every_write_and_its_copy_takes_them() -> None:
    web = deployment()
    early = web.spec.template.spec.containers
    web.freeze()

    for write in (
        lambda: setattr(web, "kind", "X"),
        lambda: setattr(web.metadata, "name", "x"),
        lambda: web.metadata.labels.update(a="b"),
        lambda: web.metadata.labels.pop("app"),
        lambda: web.metadata.annotations.setdefault("a", "b"),
        lambda: web.metadata.owner_references.append(metav1.OwnerReference(name="x")),
        lambda: early.clear(),
        lambda: setattr(early[0], "image", "x"),
        lambda: web.set_name("x"),
        lambda: web.set_labels({}),
        lambda: web.spec.template.spec.containers.__delitem__(0),
    ):
        with pytest.raises(runtime.ReadOnlyError, match="deep_copy"):
            write()

    copied = web.deep_copy()
    copied.metadata.labels["app"] = "other"
    assert (web.metadata.labels["app"], copied.metadata.labels["app"]) == ("web", "other")
    assert web == deployment()


def revision(data: object) -> appsv1.ControllerRevision:
    """Return an object with a field that accepts any JSON."""
    return appsv1.ControllerRevision(metadata=metav1.ObjectMeta(name="a"), data=data)


@pytest.mark.parametrize(
    "nested", [{"list": [1]}, OrderedDict(list=[1]), MappingProxyType({"list": [1]})], ids=["dict", "ordered", "proxy"]
)
def test_fields_of_any_json_are_copied_when_written_and_when_read(nested: Mapping[str, list[int]]) -> None:
    """Go's runtime.RawExtension holds bytes, so that a change of a copy does not affect it either."""
    written = {"nested": nested, "tuple": ([1],)}
    obj = revision(written).freeze()
    before = {"nested": {"list": [1]}, "tuple": [[1]]}

    written["nested"]["list"].append(2)
    written["tuple"][0].append(2)
    assert obj.data == before
    obj.data["nested"]["list"].append(2)
    obj.data["tuple"][0].append(2)
    obj.data["new"] = 1
    assert obj.data == before

    copied = obj.deep_copy()
    copied.data = {**copied.data, "nested": {}}
    assert obj.data == before == revision(obj.data).data


def test_lists_of_any_json_give_copies_of_their_elements() -> None:
    cells = {"rows": [{"cells": [{"a": [1]}]}]}
    table = metav1.Table.from_dict(cells).freeze()
    for (cell,) in (table.rows[0].cells, table.rows[0].cells[:], [*table.rows[0].cells], table.rows[0].cells.copy()):
        cell["a"].append(2)
    assert table.rows[0].cells[0] == {"a": [1]}


def test_a_struct_inside_any_json_becomes_its_document() -> None:
    container = corev1.Container(name="a")
    pod_spec = corev1.PodSpec(containers=[container], node_selector={"a": "b"})
    obj = revision({"spec": pod_spec, "containers": pod_spec.containers, "selector": pod_spec.node_selector})
    pod_spec.containers[0].name = "changed"
    containers = [{"name": "a"}]
    selector = {"a": "b"}
    assert obj.data == {
        "spec": {"containers": containers, "nodeSelector": selector},
        "containers": containers,
        "selector": selector,
    }
    assert type(obj.data["containers"]) is list and type(obj.data["selector"]) is dict


def test_every_way_of_copying_gives_a_writable_object() -> None:
    web = deployment().freeze()

    for copied in (copy.copy(web), copy.deepcopy(web), pickle.loads(pickle.dumps(web)), web.deep_copy_object()):
        assert copied == web
        copied.metadata.name = "x"
    assert web.metadata.name == "web"


def test_equality_is_equality_of_documents() -> None:
    assert deployment() == deployment()
    assert corev1.Pod() != appsv1.Deployment()
    assert deployment().spec.template.spec.containers == [corev1.Container(name="nginx", image="nginx:1.27")]
    changed = deployment()
    changed.spec.replicas = 3
    assert changed != deployment()
    with pytest.raises(TypeError):
        hash(deployment())


def test_times_are_aware_and_in_utc() -> None:
    meta = metav1.ObjectMeta.from_dict({"creationTimestamp": "2026-11-21T04:00:00+01:00"})
    assert meta.creation_timestamp == datetime(2026, 11, 21, 3, tzinfo=UTC)

    meta.creation_timestamp = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    event = corev1.Event(event_time=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC))

    assert meta.to_dict() == {"creationTimestamp": "2026-01-02T03:04:05Z"}
    assert event.to_dict() == {"eventTime": "2026-01-02T03:04:05.000678Z"}


def test_bytes_are_base64_in_the_document() -> None:
    secret = corev1.Secret(data={"password": b"hunter2"})

    assert secret.to_dict() == {"data": {"password": "aHVudGVyMg=="}}
    assert secret.data["password"] == b"hunter2"


def test_quantities_read_and_write() -> None:
    container = corev1.Container(name="a", resources=corev1.ResourceRequirements(requests={"cpu": "250m"}))

    assert container.resources.requests["cpu"].milli_value() == 250
    assert container.to_dict() == {"name": "a", "resources": {"requests": {"cpu": "250m"}}}


def test_inlined_structs_give_their_fields_to_the_class_that_inlines_them() -> None:
    volume = corev1.Volume(name="tmp", empty_dir=corev1.EmptyDirVolumeSource(medium="Memory"))

    assert volume.to_dict() == {"name": "tmp", "emptyDir": {"medium": "Memory"}}
    assert isinstance(volume, corev1.VolumeSource)


def test_wrong_values_are_refused_with_the_name_of_the_field() -> None:
    with pytest.raises(TypeError, match=r"DeploymentSpec\.replicas: expected int, got str"):
        appsv1.DeploymentSpec(replicas="2")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Deployment\.spec: expected DeploymentSpec, got PodSpec"):
        appsv1.Deployment(spec=corev1.PodSpec())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Deployment has no field 'replicas'"):
        appsv1.Deployment(replicas=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Deployment has no field 'apiVersion'; did you mean 'api_version'"):
        appsv1.Deployment(apiVersion="apps/v1")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="DeploymentSpec has no field 'replica'; did you mean 'replicas'"):
        appsv1.DeploymentSpec(replica=2)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        appsv1.DeploymentSpec().replica = 2  # type: ignore[attr-defined]
    spec = appsv1.DeploymentSpec(replicas=1)
    with pytest.raises(TypeError):
        spec.replicas = True
    assert spec.replicas == 1


class Order(runtime.Struct):
    """A struct that a user declares for a Go type."""

    due: datetime | None = runtime.field("due", "metav1.Time", default=None)
    lead: float | None = runtime.field("lead", "*metav1.Duration", default=None)
    weight: Quantity = runtime.field("weight", "resource.Quantity", default=runtime.EMPTY)
    seal: bytes = runtime.field("seal", "[]byte", default=b"")
    seals: MutableSequence[bytes] = runtime.field("seals", "[][]byte", default=runtime.EMPTY)
    count: int = runtime.field("count", "uint32", default=0)
    port: int | str | None = runtime.field("port", "*intstr.IntOrString", default=None)
    extra: object = runtime.field("extra", "runtime.RawExtension", default=None)
    lost: object = runtime.field("lost", "*Misspelt", default=None)


def test_fields_are_declared_by_the_types_go_programs_name() -> None:
    order = Order(
        due=datetime(2027, 1, 1, tzinfo=UTC),
        lead=90.0,
        weight=parse_quantity("1.5"),
        seal=b"a",
        seals=[b"a"],
        count=3,
        port="http",
        extra={"any": ["thing"]},
    )

    assert order.to_dict() == {
        "due": "2027-01-01T00:00:00Z",
        "lead": "1m30s",
        "weight": "1500m",
        "seal": "YQ==",
        "seals": ["YQ=="],
        "count": 3,
        "port": "http",
        "extra": {"any": ["thing"]},
    }
    assert Order.from_dict(order.to_dict()) == order
    assert Order().weight.is_zero()


def test_a_declaration_that_means_nothing_is_an_error_in_words() -> None:
    with pytest.raises(TypeError, match="is of type 'Misspelt', and there is no such type"):
        Order(lost={})
    with pytest.raises(TypeError, match=r"Bad\.due: a metav1\.Time is never EMPTY"):

        class Bad(runtime.Struct):
            due: datetime | None = runtime.field("due", "metav1.Time", default=runtime.EMPTY)


@pytest.mark.parametrize(
    ("base", "attr"),
    [
        (runtime.Struct, "self"),
        (runtime.Struct, "deep_copy"),
        (runtime.Struct, "from_dict"),
        (runtime.Struct, "_source"),
        (runtime.Struct, "__class__"),
        (runtime.Struct, "__len__"),
        (runtime.ResourceObject, "freeze"),
        (runtime.ResourceObject, "get_name"),
    ],
)
def test_a_field_that_would_replace_an_attribute_of_every_object_is_an_error(base: type[Any], attr: str) -> None:
    declared = runtime.field("x", "string", default="")

    with pytest.raises(TypeError, match=f"Bad.{attr}: every struct has .* call it .*_, and keep the JSON name 'x'"):
        type(base)("Bad", (base,), {attr: declared})


@pytest.mark.parametrize("attr", ["cls", "match", "type", "kind", "items", "fields", "None_", "get", "größe", "_own"])
def test_other_names_of_fields_are_read_written_and_copied(attr: str) -> None:
    declared = runtime.field("x", "string", default="")
    made = type(runtime.Struct)("Made", (runtime.Struct,), {attr: declared})

    value = made(**{attr: "a"})
    setattr(value, attr, "b")

    assert getattr(value.deep_copy(), attr) == "b"
    assert value.to_dict() == {"x": "b"}
    assert repr(value) == f"Made({attr}='b')"


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: metav1.ObjectMeta(deletion_timestamp="2024-01-02"), TypeError, "expected datetime, got str"),
        (lambda: corev1.Secret(data={"password": "hunter2"}), TypeError, "expected bytes, got str"),
        (lambda: corev1.ResourceRequirements(limits={"cpu": None}), TypeError, "expected Quantity, got NoneType"),
        (lambda: corev1.ResourceRequirements(limits={"cpu": "a lot"}), ValueError, "must match the regular expression"),
        (lambda: corev1.Pod(spec={"containers": []}), TypeError, "got dict; PodSpec.from_dict makes one of it"),
    ],
)
def test_what_a_field_cannot_be_made_of_is_refused_in_words(
    build: Callable[[], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text) as raised:
        build()

    assert type(raised.value) is error
    assert "." in str(raised.value).split(":")[0]  # the class and the field


def test_the_signature_of_a_class_has_its_fields() -> None:
    """help(), notebooks and interactive shells show this signature."""
    assert list(inspect.signature(metav1.OwnerReference).parameters) == [
        *("api_version", "kind", "name", "uid", "controller", "block_owner_deletion")
    ]
    assert inspect.signature(appsv1.Deployment).parameters["spec"].annotation == "DeploymentSpec"
    assert "object" in inspect.signature(Unstructured).parameters


def test_a_fields_type_is_known_without_reading_it() -> None:
    """Notebooks complete names by these types."""

    def hint_of(cls: type, attr: str) -> object:
        return get_type_hints(vars(cls)[attr].fget)["return"]

    assert hint_of(corev1.Pod, "spec") is corev1.PodSpec
    assert get_args(hint_of(corev1.PodSpec, "containers")) == (corev1.Container,)
    assert get_args(hint_of(corev1.ResourceRequirements, "limits")) == (str, Quantity)
    assert hint_of(Order, "due") is datetime


def test_a_field_is_made_when_it_is_first_read_or_written() -> None:
    class Line(runtime.Struct):
        product: str = runtime.field("product", "string", default="")
        count: int = runtime.field("count", "int64", default=0)
        note: str = runtime.field("note", "string", default="")

    assert all(isinstance(vars(Line)[attr], property) for attr in ("product", "count", "note"))
    line = Line(count=2)
    assert line.product == ""

    assert type(vars(Line)["product"]) is type(vars(Line)["count"]) is property, "of which the interpreter makes most"
    assert type(vars(Line)["note"]) is not property
    assert inspect.getdoc(Line.note) == "note: string, required."
    assert type(vars(Line)["note"]) is property


def test_an_objects_repr_shows_its_identity_but_not_its_content() -> None:
    secret = corev1.Secret(metadata=metav1.ObjectMeta(name="s", namespace="ns"), data={"p": b"hunter2"})

    assert repr(secret) == "Secret('ns/s')"
    assert repr(deployment().spec.template.spec.containers[0]) == "Container(name='nginx', image='nginx:1.27')"


def test_lists_and_maps_behave_like_lists_and_dicts() -> None:
    pod = corev1.Pod(spec=corev1.PodSpec(containers=[corev1.Container(name=name) for name in "abc"]))
    containers = pod.spec.containers

    containers.insert(1, corev1.Container(name="x"))
    del containers[0]
    containers[1:2] = [corev1.Container(name="y"), corev1.Container(name="z")]

    assert [container.name for container in containers] == ["x", "y", "z", "c"]
    assert [container.name for container in containers[1:3]] == ["y", "z"]
    assert corev1.Container(name="x") in containers
    assert len(containers) == 4

    labels = corev1.Pod(metadata=metav1.ObjectMeta(labels={"a": "1"})).metadata.labels
    assert (dict(labels), labels.get("b"), "a" in labels, list(labels)) == ({"a": "1"}, None, True, ["a"])
    with pytest.raises(KeyError):
        labels["b"]


def test_a_copy_of_a_list_or_a_map_is_a_plain_one_of_its_own() -> None:
    web = deployment().freeze()

    for copied in (
        copy.copy(web.metadata.labels),
        copy.deepcopy(web.metadata.labels),
        web.metadata.labels | {},
        {} | web.metadata.labels,  # type: ignore[operator]
        pickle.loads(pickle.dumps(web.metadata.labels)),
    ):
        assert type(copied) is dict
        assert copied == {"app": "web"}
        copied["app"] = "db"
    containers = web.spec.template.spec.containers
    for copied in (
        copy.copy(containers),
        copy.deepcopy(containers),
        pickle.loads(pickle.dumps(containers)),
    ):
        assert type(copied) is list
        copied[0].image = "httpd"
    assert web == deployment()


def test_lists_sort_and_maps_merge_in_place() -> None:
    pod = corev1.Pod(spec=corev1.PodSpec(containers=[corev1.Container(name=name) for name in "bca"]))

    pod.spec.containers.sort(key=lambda container: container.name)
    pod.metadata.labels |= {"a": "1"}
    pod.metadata.labels |= {"b": "2"}

    assert [container.name for container in pod.spec.containers] == ["a", "b", "c"]
    assert pod.metadata.labels == {"a": "1", "b": "2"}
    sidecars = [corev1.Container(name="0")]
    assert [container.name for container in sidecars + pod.spec.containers] == ["0", "a", "b", "c"]
    with pytest.raises(runtime.ReadOnlyError):
        pod.deep_copy().freeze().spec.containers.sort(key=lambda container: container.name)


def test_a_struct_is_copied_with_changes_as_dataclasses_are() -> None:
    """copy.replace of Python 3.13."""
    web = deployment().freeze()

    renamed = web.__replace__(metadata=metav1.ObjectMeta(name="other"), spec=None)

    assert renamed.to_dict() == {"metadata": {"name": "other"}}
    assert web == deployment()
    with pytest.raises(TypeError, match="Deployment has no field 'metdata'; did you mean 'metadata'"):
        web.__replace__(metdata=None)


def test_every_generated_class_can_be_made_and_read() -> None:
    """The declarations resolve: no field names a type that is not there."""
    from clientgo.kubernetes.scheme import SCHEME

    def read(struct: runtime.Struct, depth: int) -> None:
        for attr in field_names(type(struct)):
            assert get_type_hints(getattr(type(struct), attr).fget)
            value = getattr(struct, attr)
            if isinstance(value, runtime.Struct) and depth:
                read(value, depth - 1)

    # Programs add their types to the same scheme, as in Go, and a test that ran one before has put it away again.
    ours = [cls for cls in SCHEME.all_known_types().values() if cls.__module__.startswith("clientgo.")]
    assert len(ours) > 500
    for cls in ours:
        read(cls(), depth=4)


@pytest.mark.parametrize("wrap", [lambda inner: {"a": inner, "b": [1]}, lambda inner: [inner, {"x": {}}]])
def test_a_value_of_any_depth_is_copied(wrap: Callable[[Any], Any]) -> None:
    value: Any = {"end": [1, 2]}
    for _ in range(20_000):
        value = wrap(value)

    copied = copy_json(value)

    key = "a" if isinstance(value, dict) else 0
    levels = 0
    while not (isinstance(value, dict) and "end" in value):
        assert copied is not value and type(copied) is type(value)
        assert copied[key] is not value[key]
        others, theirs = (list(each.values()) if isinstance(each, dict) else list(each) for each in (value, copied))
        assert others[1:] == theirs[1:] and others[1] is not theirs[1]
        value, copied, levels = value[key], copied[key], levels + 1
    assert copied == {"end": [1, 2]} and copied["end"] is not value["end"]
    assert levels == 20_000
