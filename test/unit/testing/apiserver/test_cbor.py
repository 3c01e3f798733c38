"""The embedded API server in CBOR: the same objects, lists, events and errors as in JSON, if its gate is enabled."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from patience import PATIENCE

pytest.importorskip("cbor2")

from clientgo import context, dynamic, features
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.runtime.serializer import cbor
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.dynamic import dynamicinformer
from clientgo.features.testing import set_feature_during_test
from clientgo.golang import http
from clientgo.testing.apiserver import Environment, Server
from clientgo.testing.apiserver.local import LocalTransport
from clientgo.tools import cache

CTX = context.background()
JSON, CBOR, SEQUENCE = "application/json", "application/cbor", "application/cbor-seq"
MAPS = "/api/v1/namespaces/default/configmaps"
GATE = {"CBORServingAndStorage": True}
BUILT_IN = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "orders.shop.example.com"},
    "spec": {
        "group": "shop.example.com",
        "names": {"plural": "orders", "kind": "Order"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}
ORDERS = "/apis/shop.example.com/v1/namespaces/default/orders"


class Client:
    """Sends requests to a server in the same process."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._transport = LocalTransport(server)

    def send(self, method: str, path: str, accept: str, body: Any = None, content_type: str = CBOR) -> http.Response:
        headers = http.Header(
            {"Accept": accept, "Content-Type": content_type, "Authorization": f"Bearer {self.server.token}"}
        )
        data = body
        if not isinstance(body, bytes | None):
            data = direct.marshal(body) if content_type.endswith("cbor") else json.dumps(body).encode()
        request = http.Request(
            method=method, url=self.server.url + path, headers=headers, body=data, ctx=context.background()
        )
        return self._transport.round_trip(request)

    def document(self, method: str, path: str, accept: str, body: Any = None, content_type: str = CBOR) -> Any:
        """Return the response's code, Content-Type and document."""
        answer = self.send(method, path, accept, body, content_type)
        media = answer.headers.get("Content-Type")
        data = answer.body.read()
        if media == CBOR:
            assert data.startswith(cbor.SELF_DESCRIBED)
        return answer.status_code, media, direct.unmarshal(data) if media == CBOR else json.loads(data)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Server(listen=False, feature_gates=GATE) as server:
        made = Client(server)
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert made.document("POST", path, JSON, CRD, JSON)[0] == 201
        yield made


@pytest.fixture(scope="module")
def without_gate() -> Iterator[Client]:
    with Server(listen=False) as server:
        yield Client(server)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def order(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "shop.example.com/v1",
        "kind": "Order",
        "metadata": {"name": name},
        "spec": {"n": 1.5, "whole": 3, "list": [None, True, "é"]},
    }


@pytest.mark.parametrize(("path", "make"), [(MAPS, config_map), (ORDERS, order)])
def test_objects_and_lists_are_the_same_in_both_forms(client: Client, path: str, make: Any) -> None:
    code, media, made = client.document("POST", path, CBOR, make("same"))
    assert (code, media) == (201, CBOR)
    assert made["metadata"]["name"] == "same"
    for each in (f"{path}/same", path, f"{path}?limit=1"):
        code, media, found = client.document("GET", each, f"{JSON};q=0.9,{CBOR};q=1")
        assert (code, media) == (200, CBOR)
        wanted = client.document("GET", each, JSON)[2]
        if "items" in wanted:
            # The version of the whole store, to which the server writes other objects meanwhile.
            assert int(found["metadata"].pop("resourceVersion")) <= int(wanted["metadata"].pop("resourceVersion"))
        assert found == wanted, each
    code, media, updated = client.document("PUT", f"{path}/same", CBOR, {**made, "extra": {"k": "v"}})
    assert (code, media) == (200, CBOR)
    assert updated["metadata"]["uid"] == made["metadata"]["uid"]
    code, media, patched = client.document(
        "PATCH", f"{path}/same", CBOR, {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json"
    )
    assert (code, media, patched["metadata"]["labels"]) == (200, CBOR, {"a": "b"})
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    assert client.document("DELETE", f"{path}/same", CBOR, options)[0] == 409
    code, media, status = client.document("DELETE", f"{path}/same", CBOR, {**options, "preconditions": {}})
    assert (code, media, status["status"]) == (200, CBOR, "Success")


@pytest.mark.parametrize(("path", "make"), [(MAPS, config_map), (ORDERS, order)])
def test_apply_patches_are_accepted(client: Client, path: str, make: Any) -> None:
    where = f"{path}/applied?fieldManager=m"
    code, _, made = client.document("PATCH", where, CBOR, make("applied"), "application/apply-patch+cbor")
    assert code == 201
    assert made["metadata"]["managedFields"][0]["manager"] == "m"
    assert client.document("PATCH", where, CBOR, make("applied"), "application/apply-patch+cbor")[0] == 200
    for body, message in (
        (b"\xa1", "error decoding patch: unexpected EOF"),
        (b"\xa2\x41k\x00\x41k\x00", 'error decoding patch: cbor: found duplicate map key "k" at map element index 1'),
        (b"\xf9\x7e\x00", "error decoding patch: cbor: data item of cbor type primitives is not accepted by protocol: "
         "floating-point NaN"),
    ):  # fmt: skip
        code, _, status = client.document("PATCH", where, CBOR, body, "application/apply-patch+cbor")
        assert (code, status["message"]) == (400, message)
    assert client.document("PATCH", where, CBOR, [], "application/apply-patch+cbor")[0] == 400


DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def applied_scale(replicas: Any) -> dict[str, Any]:
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas}}


def test_the_scale_of_an_object_can_be_applied(client: Client) -> None:
    apply_cbor = "application/apply-patch+cbor"
    assert client.document("POST", DEPLOYMENTS, JSON, deployment("scaled"), JSON)[0] == 201
    where = f"{DEPLOYMENTS}/scaled/scale?fieldManager=scaler"
    code, _, status = client.document("PATCH", where, CBOR, applied_scale(3), apply_cbor)
    assert (code, status["details"]["causes"][0]["field"]) == (409, ".spec.replicas")
    code, media, scale = client.document("PATCH", f"{where}&force=true", CBOR, applied_scale(3), apply_cbor)
    assert (code, media, scale["kind"], scale["spec"]) == (200, CBOR, "Scale", {"replicas": 3})
    made = client.document("GET", f"{DEPLOYMENTS}/scaled", JSON)[2]
    assert made["spec"]["replicas"] == 3
    entry = next(each for each in made["metadata"]["managedFields"] if each["manager"] == "scaler")
    assert (entry["operation"], entry["subresource"]) == ("Apply", "scale")
    assert entry["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    code, _, status = client.document("PATCH", f"{where}&force=true", CBOR, b"\xa1", apply_cbor)
    assert (code, status["message"]) == (400, "error decoding patch: unexpected EOF")


def test_errors_are_statuses_in_cbor(client: Client) -> None:
    code, media, status = client.document("GET", f"{MAPS}/missing", CBOR)
    assert (code, media) == (404, CBOR)
    assert status == client.document("GET", f"{MAPS}/missing", JSON)[2]


HEAD = "the object provided is unrecognized (must be of type ConfigMap): "
UNDETERMINED = f"{HEAD}unable to determine group/version/kind: "


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\xa1", f"{UNDETERMINED}unexpected EOF (a1)"),
        (b"", f"{UNDETERMINED}EOF (<empty>)"),
        (b"\xa0\xa0", f"{UNDETERMINED}cbor: 1 bytes of extraneous data starting at index 1 (a0a0)"),
        (
            b"\xa2\x44kind\x00\x44kind\x00",
            f"{UNDETERMINED}cbor: found duplicate map key \"kind\" at map element index 1 (a2446b696e6400446b696e6400)",
        ),
        (
            b"\x80",
            f"{UNDETERMINED}cbor: cannot unmarshal array into Go value of type v1.TypeMeta (cannot decode CBOR array "
            "to struct without toarray option) (80)",
        ),
        (b"\x9b" + b"\x7f" * 8, f"{UNDETERMINED}cbor: exceeded max number of elements 2147483647 for CBOR array "
         "(9b7f7f7f7f7f7f7f7f)"),
        (b"\x81" * 5000 + b"\x80", f"{UNDETERMINED}cbor: cannot unmarshal array into Go value of type v1.TypeMeta "
         f"(cannot decode CBOR array to struct without toarray option) ({'81' * 30} ...)"),
    ],
)  # fmt: skip
def test_malformed_bodies_are_errors_in_gos_words(client: Client, body: bytes, message: str) -> None:
    code, _, status = client.document("POST", MAPS, CBOR, body)
    assert (code, status["message"]) == (400, message)


def test_bodies_that_are_too_deep_are_errors(client: Client) -> None:
    deep: Any = {}
    for _ in range(3000):
        deep = {"d": deep}
    code, _, status = client.document("POST", ORDERS, CBOR, {**order("deep"), "spec": deep})
    assert code == 400
    assert "exceeded max" in status["message"]


CONTAINER = {"name": "c", "image": "i"}


@pytest.mark.parametrize(
    ("changes", "index"),
    [
        # The encoder sorts keys by their length: kind, spec, other, metadata, apiVersion.
        ({"other": 1}, 2),
        ({"metadata": {"name": "strict", "other": 1}}, 1),
        # An object's own unknown field comes before those of its fields.
        ({"metadata": {"other": 1, "name": "strict"}, "additional": 2}, 3),
        ({"other": 1, "additional": 2}, 2),
        ({"spec": {"template": {"spec": {"containers": [CONTAINER, {**CONTAINER, "unknown": 1, "further": 2}]}}}}, 2),
    ],
)
def test_strict_validation_names_the_position_of_an_unknown_field(
    client: Client, changes: dict[str, Any], index: int
) -> None:
    """Go's decoder reports only the first one, for example: golden/apimachinery/cbor_decode.jsonl, "strict"."""
    body = {**deployment("strict"), **changes}
    found = f"cbor: found unknown field at map element index {index}"
    code, _, status = client.document("POST", f"{DEPLOYMENTS}?fieldValidation=Strict", CBOR, body)
    assert (code, status["message"]) == (
        400,
        f'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: {found}',
    )
    answer = client.send("POST", f"{DEPLOYMENTS}?fieldValidation=Warn&dryRun=All", CBOR, body)
    assert [value for value in answer.headers.getlist("Warning") if "unknown" in value] == [f'299 - "{found}"']
    answer = client.send("POST", f"{DEPLOYMENTS}?fieldValidation=Ignore&dryRun=All", CBOR, body)
    assert "Warning" not in answer.headers


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spec": {"replicas": 1.5}}, "primitives into Go struct field v1.Deployment.spec of type int32"),
        ({"spec": {"replicas": 2.0}}, "primitives into Go struct field v1.Deployment.spec of type int32"),
        (
            {"spec": {"replicas": 3000000000}},
            "positive integer into Go struct field v1.Deployment.spec of type int32 (3000000000 overflows int32)",
        ),
        (
            {"spec": {"replicas": -3000000000}},
            "negative integer into Go struct field v1.Deployment.spec of type int32 (-3000000000 overflows int32)",
        ),
        ({"spec": {"replicas": True}}, "primitives into Go struct field v1.Deployment.spec of type int32"),
        ({"spec": {"replicas": []}}, "array into Go struct field v1.Deployment.spec of type int32"),
        ({"spec": {"replicas": "x"}}, "byte string into Go struct field v1.Deployment.spec of type int32"),
        ({"spec": {"paused": "x"}}, "byte string into Go struct field v1.Deployment.spec of type bool"),
        ({"spec": {"paused": 1}}, "positive integer into Go struct field v1.Deployment.spec of type bool"),
        ({"spec": {"paused": -1}}, "negative integer into Go struct field v1.Deployment.spec of type bool"),
        ({"spec": {"paused": 1.5}}, "primitives into Go struct field v1.Deployment.spec of type bool"),
        (
            {"spec": {"template": {"spec": {"containers": {}}}}},
            "map into Go struct field v1.Deployment.spec of type []v1.Container",
        ),
        (
            {"spec": {"template": {"spec": {"containers": [1]}}}},
            "positive integer into Go struct field v1.Deployment.spec of type v1.Container",
        ),
        (
            {"spec": {"template": {"spec": "x"}}},
            "byte string into Go struct field v1.Deployment.spec of type v1.PodSpec",
        ),
        ({"spec": 3}, "positive integer into Go struct field v1.Deployment.spec of type v1.DeploymentSpec"),
        ({"metadata": "x"}, "byte string into Go struct field v1.Deployment.metadata of type v1.ObjectMeta"),
        (
            {"metadata": {"labels": []}},
            "array into Go struct field v1.Deployment.metadata of type map[string]string",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "positive integer into Go struct field v1.Deployment.metadata of type string",
        ),
        ({"metadata": {"name": 1}}, "positive integer into Go struct field v1.Deployment.metadata of type string"),
        # An unknown field is not reported beside it.
        ({"spec": {"paused": 1}, "other": 1}, "positive integer into Go struct field v1.Deployment.spec of type bool"),
    ],
)
def test_wrong_types_are_errors_in_the_words_of_gos_library(
    client: Client, changes: dict[str, Any], message: str
) -> None:
    """The texts are those of apimachinery's serializer for these documents, with fxamacker/cbor."""
    code, _, status = client.document("POST", f"{DEPLOYMENTS}?fieldValidation=Strict", CBOR, CHANGED | changes)
    head = 'Deployment in version "v1" cannot be handled as a Deployment: cbor: cannot unmarshal '
    assert (code, status["message"]) == (400, head + message)


CHANGED = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "strict"}, "spec": {"replicas": 1}}


def test_strict_validation_names_the_unknown_fields_of_a_custom_object(client: Client) -> None:
    """The schema finds them, in Go too, so their paths are known."""
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    spec = {
        **CRD["spec"],  # type: ignore[dict-item]
        "names": {"plural": "parcels", "kind": "Parcel"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
    }
    crd = {**CRD, "metadata": {"name": "parcels.shop.example.com"}, "spec": spec}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert client.document("POST", path, JSON, crd, JSON)[0] == 201
    body = {"apiVersion": "shop.example.com/v1", "kind": "Parcel", "metadata": {"name": "strict"}}
    body |= {"spec": {"a": 1}, "other": 1}
    where = f"{ORDERS.replace('orders', 'parcels')}?fieldValidation=Strict"
    code, _, status = client.document("POST", where, CBOR, body)
    assert (code, "unknown field" in status["message"]) == (400, True)
    for name in ("spec.a", "other"):
        assert f'unknown field "{name}"' in status["message"]


def test_tables_and_metadata_have_a_form_in_cbor(client: Client) -> None:
    client.document("POST", MAPS, CBOR, config_map("table"))
    for kind in ("Table", "PartialObjectMetadata"):
        accept = f"{CBOR};as={kind};g=meta.k8s.io;v=v1"
        code, media, found = client.document("GET", f"{MAPS}/table", accept)
        assert (code, media, found["kind"]) == (200, CBOR, kind)
        assert found == client.document("GET", f"{MAPS}/table", accept.replace(CBOR, JSON))[2]


@pytest.mark.parametrize("form", ["", ";as=Table;g=meta.k8s.io;v=v1", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"])
def test_watches_are_sequences_of_the_same_events(client: Client, form: str) -> None:
    client.document("POST", MAPS, CBOR, config_map("watched"))
    path = f"{MAPS}?watch=1&timeoutSeconds=-1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    path += "&allowWatchBookmarks=true&fieldSelector=metadata.name=watched"
    answer = client.send("GET", path, f"{CBOR}{form}")
    assert answer.headers.get("Content-Type") == SEQUENCE
    reader = cbor.FrameReader(answer.body)
    frames: list[bytes] = []
    with pytest.raises(EOFError):
        while True:
            frames += reader.read_frames()
    events = [direct.unmarshal(frame) for frame in frames]
    assert all(frame.startswith(cbor.SELF_DESCRIBED) for frame in frames)
    lines = client.send("GET", path, f"{JSON}{form}").body.read().splitlines()
    assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
    assert events[0] == json.loads(lines[0])
    assert events[1]["object"]["kind"] == json.loads(lines[1])["object"]["kind"]


def test_a_watch_that_is_too_old_is_an_event_in_cbor() -> None:
    with Server(listen=False, feature_gates=GATE, history=2) as server:
        client = Client(server)
        for n in range(9):
            client.document("POST", MAPS, CBOR, config_map(f"old{n}"))
        answer = client.send("GET", f"{MAPS}?watch=1&timeoutSeconds=-1&resourceVersion=1", CBOR)
        assert answer.headers.get("Content-Type") == SEQUENCE
        event = direct.unmarshal(answer.body.read())
    assert (event["type"], event["object"]["reason"], event["object"]["code"]) == ("ERROR", "Expired", 410)


def test_a_server_without_the_gate_rejects_cbor(without_gate: Client) -> None:
    for method, path in (("POST", MAPS), ("PUT", f"{MAPS}/x"), ("DELETE", f"{MAPS}/x")):
        code, media, status = without_gate.document(method, path, f"{JSON};q=0.9,{CBOR};q=1", config_map("x"))
        assert (code, media, status["reason"]) == (415, JSON, "UnsupportedMediaType")
        assert status["message"] == (
            f"the body of the request was in an unknown format - accepted media types include: {BUILT_IN}"
        )
    code, _, status = without_gate.document(
        "PATCH", f"{MAPS}/x?fieldManager=m", JSON, config_map("x"), "application/apply-patch+cbor"
    )
    assert (code, status["message"]) == (415, "415: Unsupported Media Type")
    assert without_gate.document("POST", DEPLOYMENTS, JSON, deployment("scaled"), JSON)[0] == 201
    code, _, status = without_gate.document(
        "PATCH", f"{DEPLOYMENTS}/scaled/scale?fieldManager=m", JSON, applied_scale(3), "application/apply-patch+cbor"
    )
    assert (code, status["message"]) == (415, "415: Unsupported Media Type")
    for query in ("", "?watch=1"):
        code, media, status = without_gate.document("GET", f"{MAPS}{query}", CBOR)
        assert (code, media, status["reason"]) == (406, JSON, "NotAcceptable")
        assert status["message"] == (
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch"
        )
    assert without_gate.document("GET", MAPS, f"{CBOR},{JSON};q=0.1")[:2] == (200, JSON)


def test_a_server_with_the_gate_names_cbor(client: Client) -> None:
    for path, accepted in ((MAPS, f"{BUILT_IN}, {CBOR}"), (ORDERS, f"{JSON}, application/yaml, {CBOR}")):
        code, _, status = client.document("POST", path, JSON, {}, "text/plain")
        assert (code, status["message"].partition("include: ")[2]) == (415, accepted)
    code, _, status = client.document("GET", f"{MAPS}?watch=1", "text/plain")
    assert code == 406
    assert status["message"].endswith(f"application/vnd.kubernetes.protobuf;stream=watch, {SEQUENCE}")
    code, _, status = client.document("GET", f"{MAPS}?watch=1", SEQUENCE)
    assert (code, status["message"]) == (
        406,
        "only the following media types are accepted: application/json;stream=watch, "
        f"application/vnd.kubernetes.protobuf;stream=watch, {SEQUENCE}",
    )
    code, _, status = client.document("PATCH", f"{ORDERS}/x", JSON, {}, "application/strategic-merge-patch+json")
    assert code == 415
    assert status["message"].endswith("application/apply-patch+yaml, application/apply-patch+cbor")


@pytest.mark.parametrize("server_gate", [True, False])
def test_an_informer_works_with_both_kinds_of_servers(server_gate: bool) -> None:
    with (
        Environment(feature_gates={"CBORServingAndStorage": server_gate}) as env,
        set_feature_during_test(features.CLIENTS_ALLOW_CBOR, True),
        set_feature_during_test(features.CLIENTS_PREFER_CBOR, True),
    ):
        client = dynamic.new_for_config(env.config)
        resource = GroupVersionResource("", "v1", "configmaps")
        maps = client.resource(resource).namespace("default")
        if not server_gate:
            with pytest.raises(errors.StatusError) as caught:
                maps.create(CTX, Unstructured.from_dict(config_map("a")), metav1.CreateOptions())
            assert errors.is_unsupported_media_type(caught.value)
        maps.create(CTX, Unstructured.from_dict(config_map("a", k="é")), metav1.CreateOptions())
        factory = dynamicinformer.new_filtered_dynamic_shared_informer_factory(client, 0, "default", None)
        informer = factory.for_resource(resource)
        seen: dict[str, Any] = {}
        changed = threading.Condition()

        def note(obj: Any) -> None:
            with changed:
                seen[obj.get_name()] = obj.to_dict().get("data")
                changed.notify_all()

        informer.informer().add_event_handler(
            cache.ResourceEventHandlerFuncs(add_func=note, update_func=lambda old, new: note(new))
        )
        ctx, cancel = context.with_cancel(CTX)
        factory.start(ctx.done())
        try:
            assert all(factory.wait_for_cache_sync(ctx.done()).values())
            maps.create(CTX, Unstructured.from_dict(config_map("b", n="1")), metav1.CreateOptions())
            with changed:
                assert changed.wait_for(lambda: "b" in seen, PATIENCE)
            assert seen["a"] == {"k": "é"} and seen["b"] == {"n": "1"}
        finally:
            cancel()
            factory.shutdown()
            client.close()
