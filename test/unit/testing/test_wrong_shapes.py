"""Both fakes decode what is written into its type, as Go does, and so refuse JSON of a wrong shape."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clientgo import context
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime import Object
from clientgo.apimachinery.runtime.converter import check_fields
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util.mergepatch import MergePatchError
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake as ctrlfake
from clientgo.dynamic import fake as dynamicfake
from clientgo.golang.rfc3339 import RFC3339, RFC3339_MICRO
from clientgo.kubernetes import fake as clientsetfake
from clientgo.kubernetes.scheme import SCHEME

CTX = context.background()
Json = dict[str, Any]
Write = Callable[[PatchType, bytes], Any]

POD: Json = {
    "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}, "finalizers": ["f"]},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "ports": [{"containerPort": 80}],
                "env": [{"name": "E", "value": "v"}],
                "resources": {"limits": {"cpu": "1"}},
            }
        ],
        "priority": 1,
        "hostNetwork": True,
    },
}


def of_clientset(obj: Object) -> Write:
    pods = clientsetfake.new_clientset(obj).core_v1().pods("ns")
    return lambda kind, patch: pods.patch(CTX, "p", kind, patch)


def of_simple_clientset(obj: Object) -> Write:
    pods = clientsetfake.new_simple_clientset(obj).core_v1().pods("ns")
    return lambda kind, patch: pods.patch(CTX, "p", kind, patch)


def of_controller_runtime(obj: Object) -> Write:
    c = ctrlfake.new_client_builder().with_objects(obj).build()

    def write(kind: PatchType, patch: bytes) -> Any:
        target = corev1.Pod.from_dict({"metadata": {"name": "p", "namespace": "ns"}})
        owner = [client.FieldOwner("me")] if kind == PatchType.APPLY else []
        c.patch(CTX, target, client.raw_patch(kind, patch), *owner)
        return target

    return write


FAKES = [of_clientset, of_simple_clientset, of_controller_runtime]
KINDS = [PatchType.MERGE, PatchType.STRATEGIC_MERGE, PatchType.JSON]


def pod() -> corev1.Pod:
    return corev1.Pod.from_dict(copy.deepcopy(POD))


def nested(path: str, value: Any) -> Any:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


@pytest.mark.parametrize("make", FAKES)
@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.JSON])
@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("spec.containers", {}, "object into Go struct field PodSpec.spec.containers of type []v1.Container"),
        ("metadata.labels", [1], "array into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
        ("spec.priority", "1", "string into Go struct field PodSpec.spec.priority of type int32"),
        ("spec.priority", 2**31, "number 2147483648 into Go struct field PodSpec.spec.priority of type int32"),
        ("spec.hostNetwork", 1, "number into Go struct field PodSpec.spec.hostNetwork of type bool"),
        ("spec", [], "array into Go struct field Pod.spec of type v1.PodSpec"),
        ("kind", 1, "number into Go struct field Pod.kind of type string"),
    ],
)
def test_a_patch_to_another_type_is_refused_in_gos_words(
    make: Callable[[Object], Write], kind: PatchType, path: str, value: Any, text: str
) -> None:
    patch: Any = nested(path, value)
    if kind == PatchType.JSON:
        patch = [{"op": "add", "path": "/" + path.replace(".", "/"), "value": value}]
    with pytest.raises(ValueError) as raised:
        make(pod())(kind, json.dumps(patch).encode())
    assert str(raised.value) == f"json: cannot unmarshal {text}"


FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
LEASE = coordinationv1.Lease.from_dict({"metadata": {"name": "l", "namespace": "ns"}})
SECRET = corev1.Secret.from_dict({"metadata": {"name": "l", "namespace": "ns"}})


@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.JSON])
@pytest.mark.parametrize(
    ("obj", "path", "value", "text"),
    [
        (LEASE, "metadata/creationTimestamp", "x", f'parsing time "x" as "{RFC3339}": cannot parse "x" as "2006"'),
        (LEASE, "metadata/creationTimestamp", "2026-02-30T00:00:00Z", "day out of range"),
        (LEASE, "metadata/creationTimestamp", "2026-02-03T00:00:00Zx", ': extra text: "x"'),
        (LEASE, "spec/renewTime", "", f'parsing time "" as "{RFC3339_MICRO}": cannot parse "" as "2006"'),
        (LEASE, "spec/renewTime", "2026-02-03T00:00:00Z", 'cannot parse "Z" as ".000000"'),
        (SECRET, "data/k", "MQ=", "illegal base64 data at input byte 3"),
        (SECRET, "data/k", "x", "illegal base64 data at input byte 0"),
        (SECRET, "data/k", 5, "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"),
    ],
)
def test_an_unreadable_text_is_refused_in_gos_words(
    kind: PatchType, obj: Object, path: str, value: Any, text: str
) -> None:
    patch: Any = nested(path.replace("/", "."), value)
    if kind == PatchType.JSON:
        top, _, field = path.partition("/")
        patch = [{"op": "add", "path": f"/{top}", "value": {**obj.to_dict().get(top, {}), field: value}}]
    fakes = clientsetfake.new_clientset(obj.deep_copy())
    typed: Any = fakes.core_v1().secrets("ns") if obj is SECRET else fakes.coordination_v1().leases("ns")
    with pytest.raises(ValueError) as of_clientset:
        typed.patch(CTX, "l", kind, json.dumps(patch).encode())
    c = ctrlfake.new_client_builder().with_objects(obj.deep_copy()).build()
    with pytest.raises(ValueError) as of_runtime:
        c.patch(CTX, obj.deep_copy(), client.raw_patch(kind, json.dumps(patch).encode()))
    assert str(of_clientset.value) == str(of_runtime.value)
    assert str(of_runtime.value).endswith(text)
    assert str(of_runtime.value).startswith(("parsing time", "illegal base64", "json: cannot unmarshal"))


@pytest.mark.parametrize("make", FAKES)
@pytest.mark.parametrize("value", ["1x", "", True, {}, []])
def test_a_value_that_is_no_quantity_is_refused_in_gos_words(make: Callable[[Object], Write], value: Any) -> None:
    limits = {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": value}}}]}
    with pytest.raises(ValueError) as raised:
        make(pod())(PatchType.MERGE, json.dumps({"spec": limits}).encode())
    assert str(raised.value) == FORMAT


@pytest.mark.parametrize("make", FAKES)
@pytest.mark.parametrize(
    ("kind", "patch", "text"),
    [
        (PatchType.MERGE, b"{", "Invalid JSON Patch"),
        (PatchType.MERGE, b"null", "Invalid JSON Patch"),
        (PatchType.MERGE, b"1", "Invalid JSON Patch"),
        (PatchType.MERGE, b"[]", "json: cannot unmarshal array into Go value of type v1.Pod"),
        (PatchType.STRATEGIC_MERGE, b"{", "invalid JSON document"),
        (PatchType.STRATEGIC_MERGE, b"[]", "invalid JSON document"),
        (PatchType.STRATEGIC_MERGE, b"", "invalid JSON document"),
        (PatchType.STRATEGIC_MERGE, b" ", "invalid JSON document"),
        (PatchType.MERGE, b"", "Invalid JSON Patch"),
        (PatchType.MERGE, b'{"spec": NaN}', "Invalid JSON Patch"),
        (PatchType.STRATEGIC_MERGE, b'{"spec": NaN}', "invalid JSON document"),
        (PatchType.JSON, b"nope", "invalid character 'o' in literal null (expecting 'u')"),
        (PatchType.JSON, b"", "unexpected end of JSON input"),
        (PatchType.JSON, b'[{"op":', "unexpected end of JSON input"),
        (PatchType.JSON, b"[] x", "invalid character 'x' after top-level value"),
        (PatchType.JSON, b"{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        (PatchType.JSON, b"[1]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ],
)
def test_a_malformed_patch_is_refused_in_gos_words(
    make: Callable[[Object], Write], kind: PatchType, patch: bytes, text: str
) -> None:
    with pytest.raises((ValueError, MergePatchError)) as raised:
        make(pod())(kind, patch)
    assert str(raised.value) == text


def test_fields_that_the_type_lacks_are_lost_in_a_patch() -> None:
    patched = of_clientset(pod())(PatchType.MERGE, b'{"spec": {"unknown": 1, "nodeName": "n"}}')
    assert (patched.to_dict()["spec"].get("unknown"), patched.spec.node_name) == (None, "n")


@pytest.mark.parametrize("fake", ["clientset", "controller-runtime"])
def test_a_create_of_another_type_is_refused(fake: str) -> None:
    wrong = corev1.Pod.from_dict({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": {}}})
    with pytest.raises(ValueError, match=r"cannot unmarshal object into Go struct field PodSpec\.spec\.containers"):
        if fake == "clientset":
            clientsetfake.new_clientset().core_v1().pods("ns").create(CTX, wrong)
        else:
            ctrlfake.new_client_builder().build().create(CTX, wrong)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copied = copy.copy(document)
    copied[path[0]] = changed(document[path[0]], path[1:], value)
    return copied


VALUES: list[Any] = [
    None,
    0,
    1.5,
    True,
    "x",
    "",
    [],
    {},
    [1],
    [None],
    [[]],
    [{}],
    {"a": 1},
    {"a": None},
    {"": {}},
    2**70,
]


def body(kind: PatchType, seed: random.Random) -> bytes:
    """Return a patch with a value of a random shape at a random place, sometimes cut."""
    apply = kind == PatchType.APPLY
    document = {"apiVersion": "v1", "kind": "Pod", **POD} if apply else copy.deepcopy(POD)
    path = seed.choice(list(paths(document)))
    value = seed.choice(VALUES)
    if kind != PatchType.JSON:
        patch: Any = changed(document, path, value)
    else:
        step = {"op": seed.choice(["add", "replace", "test", "remove", "copy", "move"]), "value": value}
        step |= {
            "path": "/" + "/".join(map(str, path)),
            "from": "/" + "/".join(map(str, seed.choice(list(paths(POD))))),
        }
        patch = [step]
        if seed.random() < 0.2:
            patch = changed(patch, seed.choice(list(paths(patch))), seed.choice(VALUES))
    data = json.dumps(patch).encode()
    return data[: seed.randrange(len(data) + 1)] if seed.random() < 0.05 else data


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("make", FAKES)
@pytest.mark.parametrize("kind", [*KINDS, PatchType.APPLY])
def test_json_of_any_shape_is_taken_or_refused_with_a_documented_error(
    make: Callable[[Object], Write], kind: PatchType
) -> None:
    seed = random.Random(27)
    refused = 0
    for _ in range(150):
        data = body(kind, seed)
        write = make(pod())
        try:
            patched = write(kind, data)
        except (ValueError, MergePatchError, apierrors.StatusError):
            refused += 1
        except Exception as err:
            pytest.fail(f"{kind} {data!r}: {err!r}")
        else:
            check_fields(patched)
    assert 0 < refused < 150


@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.JSON, PatchType.APPLY])
def test_unstructured_objects_of_any_shape_are_taken_or_refused_too(kind: PatchType) -> None:
    seed = random.Random(28)
    document = {"apiVersion": "v1", "kind": "Pod", **POD}
    for _ in range(150):
        data = body(kind, seed)
        c = dynamicfake.new_simple_dynamic_client(SCHEME, Unstructured.from_dict(copy.deepcopy(document)))
        pods = c.resource(corev1.SCHEME_GROUP_VERSION.with_resource("pods")).namespace("ns")
        try:
            pods.patch(CTX, "p", kind, data)
        except (ValueError, MergePatchError, apierrors.StatusError):
            continue
        except Exception as err:
            pytest.fail(f"{kind} {data!r}: {err!r}")


def test_created_objects_of_any_shape_are_taken_or_refused_too() -> None:
    seed = random.Random(29)
    for _ in range(150):
        wrong = changed(POD, seed.choice(list(paths(POD))[1:]), seed.choice(VALUES))
        for create in (
            lambda obj: clientsetfake.new_clientset().core_v1().pods("ns").create(CTX, obj),
            lambda obj: ctrlfake.new_client_builder().build().create(CTX, obj),
            lambda obj: ctrlfake.new_client_builder().with_objects(obj).build(),
        ):
            try:
                create(corev1.Pod.from_dict(copy.deepcopy(wrong)))
            except (ValueError, MergePatchError, apierrors.StatusError):
                continue
            except Exception as err:
                pytest.fail(f"{wrong!r}: {err!r}")


WIDGET: Json = {
    "apiVersion": "w.io/v1",
    "kind": "Widget",
    "metadata": {"name": "a", "namespace": "d"},
    "spec": {"n": 1},
}


@pytest.mark.parametrize("kind", [PatchType.MERGE, PatchType.JSON])
@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"kind": "Gadget"}, 'w.io/v1, Kind=Gadget) to proper version (w.io/v1): no kind "Gadget" is registered'),
        ({"apiVersion": "w.io/v2"}, 'w.io/v2, Kind=Widget) to proper version (w.io/v1): no kind "Widget" is'),
        ({"apiVersion": "v1", "kind": "Pod"}, "/v1, Kind=Pod) to proper version (w.io/v1): clientgo.api.core.v1"),
    ],
)
def test_a_patch_cannot_give_an_object_without_a_class_another_kind(
    kind: PatchType, changes: Json, cause: str
) -> None:
    """Go: structuredMergeManager.Update."""
    patch: Any = changes
    if kind == PatchType.JSON:
        patch = [{"op": "replace", "path": f"/{name}", "value": value} for name, value in changes.items()]
    c = ctrlfake.new_client_builder().with_objects(Unstructured.from_dict(copy.deepcopy(WIDGET))).build()
    target = Unstructured.from_dict({**WIDGET, "spec": {}})
    with pytest.raises(ValueError) as raised:
        c.patch(CTX, target, client.raw_patch(kind, json.dumps(patch).encode()))
    assert str(raised.value).startswith(f"failed to convert new object (d/a; {cause}")
    stored = c.get(CTX, client.ObjectKey(name="a", namespace="d"), target)
    assert (stored.get_resource_version(), stored.object["spec"]) == ("999", {"n": 1})


def test_an_object_without_a_class_has_no_kind_if_its_version_cannot_be_parsed() -> None:
    """Go: UnstructuredJSONScheme.Decode."""
    fake = dynamicfake.new_simple_dynamic_client(SCHEME, Unstructured.from_dict(copy.deepcopy(WIDGET)))
    widgets = fake.resource(GroupVersionResource("w.io", "v1", "widgets")).namespace("d")
    with pytest.raises(ValueError, match=r"""^Object 'Kind' is missing in '\{"apiVersion":"a/b/c","kind":"Widget","""):
        widgets.patch(CTX, "a", PatchType.MERGE, b'{"apiVersion":"a/b/c"}')
    assert widgets.get(CTX, "a").object == WIDGET
