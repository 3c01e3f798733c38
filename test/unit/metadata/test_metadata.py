"""The metadata client against a server: everything of an object but what it is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ctrlcluster import CTX, WIDGETS, Cluster, deployment, new_cluster
from decoding import is_undecoded, protobuf_is_the_default

from clientgo import metadata, rest
from clientgo.apimachinery import labels
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.watch import EventType
from clientgo.golang import http
from clientgo.metadata import metadatainformer

pytestmark = pytest.mark.shared_server

DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")
WIDGET_RESOURCE = GroupVersionResource("example.com", "v1", "widgets")
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
NODES = GroupVersionResource("", "v1", "nodes")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster(crds=[WIDGETS]) as cluster:
        yield cluster


@pytest.fixture
def ns(cluster: Cluster) -> str:
    namespace = cluster.new_namespace()
    for name, tier in (("a", "front"), ("b", "back")):
        cluster.client.create(CTX, deployment(namespace, name, tier=tier))
    return namespace


@pytest.fixture
def client(cluster: Cluster) -> metadata.Interface:
    return metadata.new_for_config_and_client(cluster.config, cluster.http_client)


def test_objects_are_read_without_what_they_are_about(client: metadata.Interface, ns: str) -> None:
    deployments = client.resource(DEPLOYMENTS).namespace(ns)
    found = deployments.get(CTX, "a")
    assert isinstance(found, metav1.PartialObjectMetadata)
    assert (found.get_name(), found.get_labels()) == ("a", {"tier": "front"})
    assert set(found.to_dict()) <= {"apiVersion", "kind", "metadata"}
    listed = deployments.list(CTX, metav1.ListOptions(label_selector="tier=back"))
    assert [item.get_name() for item in listed.items] == ["b"]
    assert listed.get_resource_version() != ""
    everywhere = client.resource(DEPLOYMENTS).list(CTX, metav1.ListOptions(field_selector=f"metadata.namespace={ns}"))
    assert len(everywhere.items) == 2


@pytest.mark.parametrize("given", ["mine/1", ""])
def test_requests_name_the_program(given: str) -> None:
    config = metadata.config_for(rest.Config(user_agent=given))
    assert config.user_agent == (given or rest.default_kubernetes_user_agent())


def test_objects_are_patched_and_deleted(client: metadata.Interface, ns: str) -> None:
    deployments = client.resource(DEPLOYMENTS).namespace(ns)
    patch = b'{"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 4}}'
    patched = deployments.patch(CTX, "a", PatchType.MERGE, patch)
    assert patched.get_annotations() == {"a": "b"}
    deployments.delete(CTX, "a")
    with pytest.raises(apierrors.StatusError, match='deployments.apps "a" not found'):
        deployments.get(CTX, "a")
    deployments.delete_collection(CTX, None, metav1.ListOptions(label_selector="tier=back"))
    assert deployments.list(CTX).items == []


class Recorder:
    """Passes requests on, and remembers how answers came."""

    def __init__(self, inner: http.Client) -> None:
        self._inner = inner
        self.got: list[str] = []

    def round_trip(self, request: http.Request) -> http.Response:
        response = self._inner.do(request)
        self.got.append((response.headers.get("Content-Type") or "").partition(";")[0])
        return response


@protobuf_is_the_default
@pytest.mark.parametrize("content_type", ["", JSON])
def test_metadata_come_in_protobuf_and_what_a_delete_says_in_json(
    cluster: Cluster, ns: str, content_type: str
) -> None:
    recorder = Recorder(cluster.http_client)
    config = rest.copy_config(cluster.config)
    config.content_type = content_type
    made = metadata.new_for_config_and_client(config, http.Client(recorder))
    deployments = made.resource(DEPLOYMENTS).namespace(ns)
    found = deployments.get(CTX, "a")
    assert is_undecoded(found)
    assert found.get_creation_timestamp() is not None
    assert [item.get_name() for item in deployments.list(CTX).items] == ["a", "b"]
    deployments.patch(CTX, "a", PatchType.MERGE, b"{}")
    deployments.watch(CTX).stop()
    widgets = made.resource(WIDGET_RESOURCE).namespace(ns)
    assert widgets.list(CTX).items == []
    deployments.delete(CTX, "a")
    assert set(recorder.got) == {PROTOBUF}


@protobuf_is_the_default
def test_metadata_are_the_same_in_both_encodings(
    monkeypatch: pytest.MonkeyPatch, client: metadata.Interface, ns: str
) -> None:
    deployments = client.resource(DEPLOYMENTS).namespace(ns)
    found, listed = deployments.get(CTX, "a"), deployments.list(CTX)
    monkeypatch.setattr("clientgo.metadata.metadata._MEDIA_TYPES", (JSON,))
    assert not deployments.get(CTX, "b").to_dict().keys() - {"metadata"}
    assert deployments.get(CTX, "a") == found
    assert [item.metadata for item in deployments.list(CTX).items] == [item.metadata for item in listed.items]


POD = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"1"},"spec":{"nodeName":"n"}}'


class OldServer:
    """A server from before there were such answers: it gives this one each time."""

    def __init__(self, answer: str) -> None:
        self._answer = answer.encode()

    def round_trip(self, request: http.Request) -> http.Response:
        assert (request.headers.get("Accept") or "").endswith(f",{JSON}")
        headers = http.Header({"Content-Type": JSON})
        return http.Response(status_code=200, headers=headers, body=http.BytesBody(self._answer))


def pods_of(answer: str) -> metadata.ResourceInterface:
    made = metadata.new_for_config_and_client(rest.Config(host="http://old"), http.Client(OldServer(answer)))
    return made.resource(GroupVersionResource("", "v1", "pods")).namespace("ns")


def test_of_a_whole_object_the_metadata_are_kept() -> None:
    assert pods_of(POD).get(CTX, "p").to_dict() == {"metadata": {"name": "p", "uid": "1"}}


def test_of_whole_objects_in_a_list_the_metadata_are_kept() -> None:
    listed = pods_of(f'{{"apiVersion":"v1","kind":"PodList","metadata":{{}},"items":[{POD},{POD}]}}').list(CTX)
    for item in listed.items:
        assert isinstance(item, metav1.PartialObjectMetadata)
        assert (item.get_name(), item.to_dict().keys() <= {"apiVersion", "kind", "metadata"}) == ("p", True)
    assert len(listed.items) == 2


def test_an_answer_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object does not appear to match the ObjectMeta schema"):
        pods_of('{"apiVersion":"v1","kind":"Pod","spec":{}}').get(CTX, "p")


def test_a_watch_gives_metadata(client: metadata.Interface, ns: str) -> None:
    deployments = client.resource(DEPLOYMENTS).namespace(ns)
    options = metav1.ListOptions(resource_version=deployments.list(CTX).get_resource_version())
    before = options.deep_copy()
    watcher = deployments.watch(CTX, options)
    try:
        assert options == before, "the caller's options are not written to"
        deployments.delete(CTX, "b")
        event = next(iter(watcher.result_chan()))
        assert event.type == EventType.DELETED
        assert isinstance(event.object, metav1.PartialObjectMetadata)
        assert event.object.get_name() == "b"
    finally:
        watcher.stop()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%b"])
def test_a_name_that_is_no_path_segment_is_refused_before_anything_is_sent(
    client: metadata.Interface, name: str
) -> None:
    for call in (
        lambda: client.resource(NODES).get(CTX, name),
        lambda: client.resource(NODES).delete(CTX, name),
        lambda: client.resource(NODES).patch(CTX, name, PatchType.MERGE, b"{}"),
    ):
        with pytest.raises(ValueError, match="name"):
            call()


def test_informers_keep_metadata(cluster: Cluster, client: metadata.Interface, ns: str) -> None:
    from clientgo import context

    ctx, cancel = context.with_cancel(CTX)
    factory = metadatainformer.new_filtered_shared_informer_factory(client, 0.0, ns, None)
    informer = factory.for_resource(DEPLOYMENTS)
    assert factory.for_resource(DEPLOYMENTS) is informer
    factory.start(ctx.done())
    try:
        assert factory.wait_for_cache_sync(ctx.done()) == {DEPLOYMENTS: True}
        lister = informer.lister()
        assert sorted(each.get_name() for each in lister.list(labels.everything())) == ["a", "b"]
        found = lister.by_namespace(ns).get("a")
        assert isinstance(found, metav1.PartialObjectMetadata)
        assert found.frozen
        with pytest.raises(apierrors.StatusError, match='deployments.apps "c" not found'):
            lister.by_namespace(ns).get("c")
    finally:
        cancel()
        factory.shutdown()


def test_a_client_is_made_from_a_config(cluster: Cluster, ns: str) -> None:
    for make in (metadata.new_for_config, metadata.new_for_config_or_die):
        client = make(cluster.config)
        assert client.resource(DEPLOYMENTS).namespace(ns).get(CTX, "a").get_name() == "a"
        client.close()
        assert client.resource(DEPLOYMENTS).namespace(ns).get(CTX, "b").get_name() == "b", "it can be used again"
        client.close()


def test_closing_a_client_closes_its_idle_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[http.Client] = []
    monkeypatch.setattr(http.Client, "close_idle_connections", lambda client: closed.append(client))
    client = metadata.new_for_config(rest.Config(host="http://h"))
    client.close()
    assert len(closed) == 1
    assert repr(client).startswith("<metadata client over ")
    pods = client.resource(GroupVersionResource("", "v1", "pods")).namespace("ns")
    assert repr(pods) == "<metadata client of /v1, Resource=pods, namespace 'ns'>"
