"""The cache against a server: typed, unstructured and metadata-only objects, read-only and without copies."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ctrlcluster import CTX, FORMS, Cluster, in_form, kind_in_form, new_cluster, node, pod
from patience import PATIENCE

from clientgo import context, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import fields, labels
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import ReadOnlyError, text_source
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.runtime.schema import GroupVersionKind
from clientgo.controller_runtime import cache, client
from clientgo.controller_runtime.cache.informer_cache import index_by_field
from clientgo.golang.http import Client, Request, Response, RoundTripper
from clientgo.testing import synctest
from clientgo.tools import cache as toolscache

pytestmark = pytest.mark.shared_server

POD = GroupVersionKind("", "v1", "Pod")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with new_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def three(cluster: Cluster) -> list[str]:
    """Create three namespaces with the six pods of Go's tests."""
    names = [cluster.new_namespace() for _ in range(3)]
    one, two, three = names
    for made in (
        pod(one, "pod-1", "n1", of=one, **{"test-label": "pod-1"}),
        pod(two, "pod-2", "n2", of=one, **{"test-label": "pod-2"}),
        pod(two, "pod-3", "n1", of=one, **{"test-label": "pod-3", "common": "yes"}),
        pod(three, "pod-4", "n2", of=one, **{"test-label": "pod-4", "common": "yes"}),
        pod(one, "pod-5", "n1", of=one, **{"test-label": "pod-5"}),
        pod(two, "pod-6", "n2", of=one, **{"test-label": "pod-6"}),
    ):
        cluster.client.create(CTX, made)
    return names


@contextmanager
def started(cluster: Cluster, **options: Any) -> Iterator[cache.Cache]:
    """Yield a running cache."""
    made = new_cache(cluster, **options)
    with running(made):
        assert made.wait_for_cache_sync(CTX)
        yield made


def new_cache(cluster: Cluster, **options: Any) -> cache.Cache:
    mapper = cluster.client.rest_mapper()
    return cache.new(cluster.config, cache.Options(http_client=cluster.http_client, mapper=mapper, **options))


@contextmanager
def running(made: cache.Cache) -> Iterator[None]:
    ctx, cancel = context.with_cancel(CTX)
    thread = threading.Thread(target=made.start, args=(ctx,), name="cache")
    thread.start()
    try:
        yield
    finally:
        cancel()
        thread.join()


@pytest.fixture
def c(cluster: Cluster) -> Iterator[cache.Cache]:
    with started(cluster) as made:
        yield made


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def silent(cluster: Cluster) -> Iterator[cache.Cache]:
    """Yield a running cache of a server that never responds."""
    mapper = cluster.client.rest_mapper()
    config = cluster.environment.config
    with silent_server() as host:
        config.host = host
        http_client = rest.http_client_for(config)
        made = cache.new(config, cache.Options(http_client=http_client, mapper=mapper))
        with running(made):
            yield made
        http_client.close_idle_connections()


def names(found: Any) -> list[str]:
    return sorted(each.get_name() for each in meta.extract_list(found))


_DEADLINES: list[context.CancelFunc] = []


def deadline() -> context.Context:
    """Return a context with a short timeout."""
    ctx, cancel = context.with_timeout(CTX, PATIENCE)
    _DEADLINES.append(cancel)
    return ctx


@pytest.fixture(autouse=True)
def _no_deadline_outlives_its_test() -> Iterator[None]:
    yield
    while _DEADLINES:
        _DEADLINES.pop()()


def until(condition: Callable[[], bool]) -> bool:
    """Report whether the condition becomes true before a timeout."""
    never = threading.Event()
    return any(condition() or never.wait(0.01) for _ in range(int(PATIENCE / 0.01)))


class RecordingHandler:
    """An event handler that a test can wait for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._seen: list[tuple[str, str, str]] = []

    def _note(self, method: str, obj: Any) -> None:
        with self._changed:
            self._seen.append((method, obj.get_namespace(), obj.get_name()))
            self._changed.notify_all()

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._note("add", obj)

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        self._note("update", new_obj)

    def on_delete(self, obj: Any) -> None:
        self._note("delete", obj)

    def wait_for(self, method: str, obj: client.Object) -> None:
        event = (method, obj.get_namespace(), obj.get_name())
        with self._changed:
            assert self._changed.wait_for(lambda: event in self._seen, PATIENCE), (event, self._seen)


# --- Reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_first_read_starts_the_watch(cluster: Cluster, c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should be able to list objects that
    ... haven't been watched previously
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should be able to get objects that
    ... haven't been watched previously
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should be able to list objects that
    ... haven't been watched previously
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should be able to get objects that
    ... haven't been watched previously
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should be able to list objects that
    ... haven't been watched previously
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should be able to get objects that
    ... haven't been watched previously
    Go: cache: TestReaderWaitsForCacheSync
    """
    key = client.ObjectKey(namespace="", name="kube-system")
    found = c.get(deadline(), key, kind_in_form(corev1.Namespace, form))
    assert found.get_name() == "kube-system"
    assert found.get_uid() == cluster.client.get(CTX, key, corev1.Namespace).get_uid()
    assert {"default", "kube-system"} <= set(names(c.list(deadline(), kind_in_form(corev1.NamespaceList, form))))


@pytest.mark.parametrize("form", FORMS)
def test_objects_say_their_kind(three: list[str], c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should be able to list objects with GVK
    ... populated
    Go: cache/internal: gvkFixupWatcher > behaves like watch.FakeWatcher
    """
    found = c.get(deadline(), client.ObjectKey(namespace=three[0], name="pod-1"), kind_in_form(corev1.Pod, form))
    assert found.group_version_kind() == POD
    listed = c.list(deadline(), kind_in_form(corev1.PodList, form), client.MatchingLabels(of=three[0]))
    assert [item.group_version_kind() for item in meta.extract_list(listed)] == [POD] * 6


@pytest.mark.parametrize("form", FORMS)
def test_a_list_has_what_the_options_choose(three: list[str], c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should support filtering by labels
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should be able to list objects by
    ... namespace
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should set the Limit option and limit
    ... number of objects to Limit when List is called
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return a limited result set
    ... matching the correct label
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should support filtering by labels
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should be able to list objects by
    ... namespace
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should support filtering by labels
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should be able to list objects by
    ... namespace
    """
    kind = kind_in_form(corev1.PodList, form)

    def listed(*opts: client.ListOption) -> list[str]:
        return names(c.list(deadline(), kind, *opts))

    two = client.InNamespace(three[1])
    assert listed(client.MatchingLabels(of=three[0])) == [f"pod-{number}" for number in range(1, 7)]
    assert listed(two) == ["pod-2", "pod-3", "pod-6"]
    assert listed(two, client.MatchingLabels({"test-label": "pod-2"})) == ["pod-2"]
    assert listed(client.MatchingLabels(of=three[0], common="yes")) == ["pod-3", "pod-4"]
    assert listed(client.InNamespace("nowhere")) == []
    assert len(listed(two, client.Limit(2))) == 2
    assert listed(two, client.Limit(1), client.MatchingLabels(common="yes")) == ["pod-3"]


@pytest.mark.parametrize("form", FORMS)
def test_a_cache_cannot_go_on_with_a_list(three: list[str], c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return an error if pagination is
    ... used
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return an error if the continue
    ... list options is set
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should return an error if pagination
    ... is used
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should return an error if the continue
    ... list options is set
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should return an error if pagination
    ... is used
    """
    kind = kind_in_form(corev1.PodList, form)
    part = c.list(deadline(), kind, client.Limit(1))
    token = meta.list_accessor(part).get_continue()
    assert token == "continue-not-supported"
    with pytest.raises(ValueError, match="continue list option is not supported by the cache"):
        c.list(deadline(), kind, client.Limit(1), client.Continue(token))


@pytest.mark.parametrize("form", FORMS)
def test_what_a_cache_gives_out_is_shared_and_read_only(three: list[str], c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should deep copy the object unless told
    ... otherwise
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should not deep copy the object if
    ... UnsafeDisableDeepCopy is enabled
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should deep copy the object unless
    ... told otherwise
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should not deep copy the object if
    ... UnsafeDisableDeepCopy is enabled
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should deep copy the object unless
    ... told otherwise
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should not deep copy the object if
    ... UnsafeDisableDeepCopy is enabled
    Go: cache: CacheTest > Cache test > using UnsafeDisableDeepCopy

    In Go a copy keeps the cache whole, unless the user promises not to write; here a write is an error, so there is
    neither a copy nor a promise.
    """
    key = client.ObjectKey(namespace=three[0], name="pod-1")
    kind = kind_in_form(corev1.Pod, form)
    for opts in ([], [client.UNSAFE_DISABLE_DEEP_COPY], [client.UnsafeDisableDeepCopyOption(False)]):
        found = c.get(deadline(), key, kind, *opts)
        assert found is c.get(deadline(), key, kind)
        with pytest.raises(ReadOnlyError):
            found.set_labels({"changed": "yes"})
        listed = c.list(
            deadline(), kind_in_form(corev1.PodList, form), client.MatchingLabels({"test-label": "pod-1"}), *opts
        )
        if text_source.AVAILABLE:
            assert any(item is found for item in meta.extract_list(listed))
        # What is decoded at once is another view of the same document.
        assert any(document_of(item) is document_of(found) for item in meta.extract_list(listed))
        for item in listed.items:
            with pytest.raises(ReadOnlyError):
                item.set_labels({"changed": "yes"})
    copied = found.deep_copy()
    copied.set_labels({"changed": "yes"})
    assert c.get(deadline(), key, kind).get_labels()["test-label"] == "pod-1"


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_there_is_not_found(three: list[str], c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return an error if the object is
    ... not found
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should return an error if the object
    ... is not found
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should return an error if the object
    ... is not found
    """
    with pytest.raises(apierrors.StatusError) as caught:
        c.get(deadline(), client.ObjectKey(namespace=three[0], name="nobody"), kind_in_form(corev1.Pod, form))
    assert apierrors.is_not_found(caught.value)


def test_writes_go_to_the_server_and_come_back_through_the_watch(cluster: Cluster, c: cache.Cache) -> None:
    both = cluster.new_client(cache=client.CacheOptions(reader=c))
    namespace = cluster.new_namespace()
    notified = RecordingHandler()
    c.get_informer(deadline(), corev1.Pod).add_event_handler(notified)
    made = pod(namespace, "p")
    both.create(CTX, made)
    notified.wait_for("add", made)
    cached = both.get(deadline(), client.object_key_from_object(made), corev1.Pod)
    assert cached.get_resource_version() == made.get_resource_version()
    with pytest.raises(ReadOnlyError, match=r"call deep_copy\(\)"):
        both.update(CTX, cached)
    mine = cached.deep_copy()
    mine.metadata.labels = {"a": "b"}
    both.patch(CTX, mine, client.merge_from(cached))
    notified.wait_for("update", made)
    assert both.get(deadline(), client.object_key_from_object(made), corev1.Pod).get_labels() == {"a": "b"}
    both.delete(CTX, cached)
    notified.wait_for("delete", made)
    assert names(both.list(deadline(), corev1.PodList, client.InNamespace(namespace))) == []


# --- Before it runs, and for too long --------------------------------------------------------------------------------


def test_a_cache_that_is_not_started_reads_nothing(cluster: Cluster) -> None:
    made = new_cache(cluster)
    with pytest.raises(cache.ErrCacheNotStarted, match="the cache is not started, can not read objects"):
        made.get(CTX, client.ObjectKey(namespace="default", name="p"), corev1.Pod)
    with pytest.raises(cache.ErrCacheNotStarted):
        made.list(CTX, corev1.PodList)


@pytest.mark.parametrize("form", FORMS)
def test_a_context_that_has_ended_ends_the_wait_for_an_informer(cluster: Cluster, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return an error when context is
    ... cancelled
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should allow for get informer to be
    ... cancelled
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should allow getting an informer by
    ... group/version/kind to be cancelled
    Go: cache: CacheTest > Cache test > as an Informer > with unstructured objects > should allow for get informer to be
    ... cancelled
    Go: cache: CacheTest > Cache test > as an Informer > with metadata-only objects > should allow for get informer to
    ... be cancelled
    """
    ended, cancel = context.with_cancel(CTX)
    cancel()
    with silent(cluster) as c:  # an informer that has synced needs no wait
        assert c.wait_for_cache_sync(CTX)
        with pytest.raises(Exception, match="(cancel|Timeout)"):
            c.get_informer(ended, kind_in_form(corev1.Pod, form))
        with pytest.raises(Exception, match="(cancel|Timeout)"):
            c.get_informer_for_kind(ended, GroupVersionKind("", "v1", "Secret"))
        with pytest.raises(Exception, match="(cancel|Timeout)"):
            c.list(ended, kind_in_form(corev1.ServiceList, form))


def test_an_informer_can_be_had_without_waiting_for_it(cluster: Cluster) -> None:
    """
    Go: cache: NonBlockingGetTest
    Go: cache: TestIndexFieldDoesNotBlock
    """
    with silent(cluster) as made:
        informer = made.get_informer(deadline(), corev1.Pod, cache.block_until_synced(False))
        assert not informer.has_synced()
        made.index_field(deadline(), corev1.Pod, "spec.nodeName", lambda p: [p.spec.node_name])
        ended, cancel = context.with_timeout(CTX, 0.05)
        with pytest.raises(Exception, match="(deadline|Timeout|timed out)"):
            made.get(ended, client.ObjectKey(namespace="a", name="b"), corev1.Pod)
        assert not made.wait_for_cache_sync(ended)
        cancel()


@pytest.mark.parametrize("namespaces", [(), ("a", "b")])
def test_a_wait_for_a_cache_that_is_not_started_is_reported_once(
    cluster: Cluster, namespaces: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with synctest.bubble() as bubble:
        made = new_cache(cluster, default_namespaces={name: cache.Config() for name in namespaces})
        ctx, cancel = context.with_timeout(CTX, 60.0)
        wait = threading.Thread(target=made.wait_for_cache_sync, args=(ctx,))
        wait.start()
        bubble.sleep(9.0)
        assert "Warning" not in caplog.text
        wait.join()
        cancel()
    (line,) = [each.getMessage() for each in caplog.records if "Warning" in each.getMessage()]
    assert "cannot end before the cache is started: start the manager" in line


@pytest.mark.parametrize("form", FORMS)
def test_with_only_known_kinds_readers_make_no_informers(cluster: Cluster, three: list[str], form: str) -> None:
    """
    Go: cache: CacheTestReaderFailOnMissingInformer
    """
    key = client.ObjectKey(namespace=three[0], name="pod-1")
    with started(cluster, reader_fail_on_missing_informer=True) as c:
        for read in (
            lambda: c.get(deadline(), key, kind_in_form(corev1.Pod, form)),
            lambda: c.list(deadline(), kind_in_form(corev1.PodList, form)),
        ):
            with pytest.raises(cache.ErrResourceNotCached, match="/v1, Kind=Pod is not cached"):
                read()
        c.get_informer(deadline(), kind_in_form(corev1.Pod, form))
        assert c.get(deadline(), key, kind_in_form(corev1.Pod, form)).get_name() == "pod-1"
        assert names(c.list(deadline(), kind_in_form(corev1.PodList, form), client.InNamespace(three[0])))


def test_a_cache_is_started_once(cluster: Cluster) -> None:
    """
    Go: cache: CacheTest > Cache test > as an Informer > should error when starting the cache a second time
    Go: cache: informerCache > should not require LeaderElection
    """
    with started(cluster) as c:
        assert not c.need_leader_election()  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError, match="already started"):
            c.start(CTX)


# --- Informers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_kind_has_one_informer_for_each_form(cluster: Cluster, c: cache.Cache, form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able to get informer for
    ... the object
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able to get an informer by
    ... group/version/kind
    Go: cache: CacheTest > Cache test > as an Informer > with unstructured objects > should be able to get informer for
    ... the object
    Go: cache: CacheTest > Cache test > as an Informer > with metadata-only objects > should be able to get informer for
    ... the object
    """
    kind = kind_in_form(corev1.Pod, form)
    informer = c.get_informer(deadline(), kind)
    assert informer.has_synced()
    assert c.get_informer(deadline(), kind) is informer
    assert c.get_informer(deadline(), in_form(pod("ns", "whatever"), form)) is informer
    assert (c.get_informer_for_kind(deadline(), POD) is informer) is (form == "typed")
    notified = RecordingHandler()
    informer.add_event_handler(notified)
    made = pod(cluster.new_namespace(), "p")
    cluster.client.create(CTX, made)
    notified.wait_for("add", made)


@pytest.mark.parametrize("form", FORMS)
def test_an_informer_that_was_removed_stops_and_another_takes_its_place(
    cluster: Cluster, c: cache.Cache, form: str
) -> None:
    """
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able to stop and restart
    ... informers
    Go: cache: CacheTest > Cache test > as an Informer > with unstructured objects > should be able to stop and restart
    ... informers
    """
    kind = kind_in_form(corev1.Pod, form)
    first = c.get_informer(deadline(), kind)
    c.remove_informer(CTX, kind)
    c.remove_informer(CTX, kind)
    assert until(first.is_stopped)
    second = c.get_informer(deadline(), kind)
    assert second is not first
    assert second.has_synced()


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_found_by_a_field_that_is_indexed(cluster: Cluster, three: list[str], form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able to index an object
    ... field then retrieve objects by that field
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able to matching fields
    ... with multiple indexes
    Go: cache: CacheTest > Cache test > as an Informer > with unstructured objects > should be able to index an object
    ... field then retrieve objects by that field
    Go: cache: CacheTest > Cache test > as an Informer > with metadata-only objects > should be able to index an object
    ... field then retrieve objects by that field
    Go: client: ExampleFieldIndexer_secretNameNode
    """
    made = new_cache(cluster)
    kind = kind_in_form(corev1.Pod, form)
    made.index_field(CTX, kind, "label", lambda obj: [obj.get_labels().get("common", "")])
    made.index_field(CTX, kind, "metadata.name", lambda obj: [obj.get_name()])
    with running(made):
        assert made.wait_for_cache_sync(CTX)

        def listed(selector: str, *opts: client.ListOption) -> list[str]:
            chosen = client.MatchingFieldsSelector(fields.parse_selector(selector))
            of = client.MatchingLabels(of=three[0])
            return names(made.list(deadline(), kind_in_form(corev1.PodList, form), chosen, of, *opts))

        assert listed("label=yes") == ["pod-3", "pod-4"]
        assert listed("label=yes", client.InNamespace(three[2])) == ["pod-4"]
        assert listed("label=yes,metadata.name=pod-3") == ["pod-3"]
        assert listed("label=yes,metadata.name=pod-1") == []
        with pytest.raises(ValueError, match="non-exact field matches are not supported by the cache"):
            listed("label!=yes")
        with pytest.raises(Exception, match="Index with name field:spec.other does not exist"):
            listed("spec.other=1")


def test_values_of_an_index_are_used_as_they_are(cluster: Cluster) -> None:
    """
    Go: cache: CacheTest > Cache test > as an Informer > with structured objects > should be able not to change indexer
    ... values after indexing cluster-scope objects
    """
    values = ["a", "b"]
    made = new_cache(cluster)
    made.index_field(CTX, corev1.Namespace, "any", lambda obj: values)
    with running(made):
        assert made.wait_for_cache_sync(CTX)
        chosen = client.MatchingFields({"any": "a"})
        assert "default" in names(made.list(deadline(), corev1.NamespaceList, chosen))
    assert values == ["a", "b"]


def test_an_index_can_be_added_while_the_informer_runs(three: list[str], c: cache.Cache) -> None:
    c.get_informer(deadline(), corev1.Pod)
    c.index_field(CTX, corev1.Pod, "spec.nodeName", lambda obj: [obj.spec.node_name])
    chosen = client.MatchingFields({"spec.nodeName": "n1"})
    assert names(c.list(deadline(), corev1.PodList, chosen, client.MatchingLabels(of=three[0]))) == [
        "pod-1",
        "pod-3",
        "pod-5",
    ]


# --- What is cached --------------------------------------------------------------------------------------------------


ALL = [f"pod-{number}" for number in range(1, 7)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", ["kind", "default"])
@pytest.mark.parametrize(
    ("label", "field", "expected"),
    [
        ("", "", ALL),
        ("", "metadata.name=pod-2", ["pod-2"]),
        ("", "spec.nodeName=n2", ["pod-2", "pod-4", "pod-6"]),
        ("", "metadata.name=nobody", []),
        ("", "metadata.namespace=TWO", ["pod-2", "pod-3", "pod-6"]),
        ("", "metadata.namespace=nowhere", []),
        ("test-label=pod-4", "", ["pod-4"]),
        ("common=yes", "", ["pod-3", "pod-4"]),
        ("test-label in (pod-1, pod-6)", "", ["pod-1", "pod-6"]),
        ("test-label=nobody", "", []),
        ("common=yes", "spec.nodeName=n1", ["pod-3"]),
    ],
)
def test_selectors_say_what_is_cached(
    cluster: Cluster, three: list[str], form: str, level: str, label: str, field: str, expected: list[str]
) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > when selectors are empty it has to
    ... inform about all the pods
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > type-level
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > global
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should be able to restrict cache to a
    ... namespace for namespaced object and to given selectors for non namespaced object
    Go: cache: Cache with selectors
    """
    of = f"of={three[0]}"
    by_label = labels.parse(f"{of},{label}" if label else of)
    by_field = fields.parse_selector(field.replace("TWO", three[1])) if field else None
    options: dict[str, Any] = (
        {"by_object": {corev1.Pod: cache.ByObject(label=by_label, field=by_field)}}
        if level == "kind"
        else {"default_label_selector": by_label, "default_field_selector": by_field}
    )
    with started(cluster, **options) as c:
        assert names(c.list(deadline(), kind_in_form(corev1.PodList, form))) == expected


@pytest.mark.parametrize("form", FORMS)
def test_only_the_namespaces_that_are_named_are_cached(cluster: Cluster, three: list[str], form: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should be able to restrict cache to a
    ... namespace
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should be able to restrict cache to a
    ... namespace
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > test multinamespaced cache for cluster
    ... scoped resources
    Go: cache: CacheTest > Cache test > as a Reader > with structured objects > should return an error if getting object
    ... in unwatched namespace
    Go: cache: CacheTest > Cache test > as a Reader > with unstructured objects > should return an error if getting
    ... object in unwatched namespace
    Go: cache: CacheTest > Cache test > as a Reader > with metadata-only objects > should return an error if getting
    ... object in unwatched namespace
    """
    one, two, other = three
    kind, kinds = kind_in_form(corev1.Pod, form), kind_in_form(corev1.PodList, form)
    for options in (
        {"default_namespaces": {one: cache.Config(), two: cache.Config()}},
        {"by_object": {corev1.Pod: cache.ByObject(namespaces={one: cache.Config(), two: cache.Config()})}},
    ):
        with started(cluster, **options) as c:
            assert names(c.list(deadline(), kinds)) == ["pod-1", "pod-2", "pod-3", "pod-5", "pod-6"]
            assert names(c.list(deadline(), kinds, client.InNamespace(one))) == ["pod-1", "pod-5"]
            assert c.get(deadline(), client.ObjectKey(namespace=two, name="pod-2"), kind).get_name() == "pod-2"
            with pytest.raises(Exception, match="unknown namespace for the cache"):
                c.get(deadline(), client.ObjectKey(namespace=other, name="pod-4"), kind)
            with pytest.raises(Exception, match="unknown namespace for the cache"):
                c.list(deadline(), kinds, client.InNamespace(other))
            # Objects without a namespace are all there.
            assert "default" in names(c.list(deadline(), kind_in_form(corev1.NamespaceList, form)))
            key = client.ObjectKey(namespace="", name="default")
            assert c.get(deadline(), key, kind_in_form(corev1.Namespace, form)).get_name() == "default"


@pytest.mark.parametrize("level", ["kind", "default"])
def test_all_other_namespaces_can_be_cached_in_another_way(cluster: Cluster, three: list[str], level: str) -> None:
    """
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > namespaces configured, type-level label
    ... selector matches everything, overrides global selector
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > namespaces configured, global selector
    ... is used
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > Only NamespaceAll in DefaultNamespaces
    ... returns all pods
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > Only NamespaceAll in
    ... ByObject.Namespaces returns all pods
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > NamespaceAll in DefaultNamespaces
    ... creates a cache for all Namespaces that are not in DefaultNamespaces
    Go: cache: CacheTest > Cache test > as a Reader > and cache with selectors > NamespaceAll in ByObject.Namespaces
    ... creates a cache for all Namespaces that are not in ByObject.Namespaces
    """
    one, two, _ = three
    of = labels.parse(f"of={one}")

    def options(namespaces: dict[str, cache.Config], **more: Any) -> dict[str, Any]:
        if level == "kind":
            return {"by_object": {corev1.Pod: cache.ByObject(namespaces=namespaces)}, **more}
        return {"default_namespaces": namespaces, **more}

    everything = {cache.ALL_NAMESPACES: cache.Config(label_selector=of)}
    with started(cluster, **options(everything)) as c:
        assert names(c.list(deadline(), corev1.PodList)) == ALL
    two_otherwise = {**everything, two: cache.Config(label_selector=labels.parse("common=yes"))}
    with started(cluster, **options(two_otherwise)) as c:
        assert names(c.list(deadline(), corev1.PodList)) == ["pod-1", "pod-3", "pod-4", "pod-5"]
        assert names(c.list(deadline(), corev1.PodList, client.InNamespace(two))) == ["pod-3"]
    # A default selector holds where a namespace has none of its own.
    with started(cluster, **options({two: cache.Config()}, default_label_selector=labels.parse("common=yes"))) as c:
        assert names(c.list(deadline(), corev1.PodList)) == ["pod-3"]
    own = {two: cache.Config(label_selector=labels.everything())}
    with started(cluster, **options(own, default_label_selector=labels.parse("common=yes"))) as c:
        assert names(c.list(deadline(), corev1.PodList)) == ["pod-2", "pod-3", "pod-6"]


def annotate(value: str) -> toolscache.TransformFunc:
    def transform(obj: Any) -> Any:
        obj.set_annotations({"transformed": value})
        return obj

    return transform


@pytest.mark.parametrize("form", FORMS)
def test_objects_are_transformed_on_their_way_in(cluster: Cluster, three: list[str], form: str) -> None:
    """
    Go: cache: Cache with transformers
    """
    with started(
        cluster,
        default_transform=annotate("default"),
        by_object={corev1.Pod: cache.ByObject(transform=annotate("pod"))},
    ) as c:
        found = c.get(deadline(), client.ObjectKey(namespace=three[0], name="pod-1"), kind_in_form(corev1.Pod, form))
        assert found.get_annotations() == {"transformed": "pod"}
        key = client.ObjectKey(namespace="", name="default")
        found = c.get(deadline(), key, kind_in_form(corev1.Namespace, form))
        assert found.get_annotations() == {"transformed": "default"}
    assert cluster.client.get(CTX, key, corev1.Namespace).get_annotations() == {}


@pytest.mark.parametrize("form", FORMS)
def test_managed_fields_can_be_left_out(cluster: Cluster, form: str) -> None:
    """
    Go: cache: TransformStripManagedFields
    """
    made = node(cluster.new_name(), a="b")
    cluster.client.create(CTX, made, client.FieldOwner("me"))
    assert made.metadata.managed_fields
    with started(cluster, default_transform=cache.transform_strip_managed_fields()) as c:
        found = c.get(deadline(), client.object_key_from_object(made), kind_in_form(corev1.Node, form))
        assert not found.get_managed_fields()
    strip = cache.transform_strip_managed_fields()
    tombstone = toolscache.DeletedFinalStateUnknown("ns/p", None)
    assert strip(tombstone) is tombstone


class Urls:
    """A round tripper that notes where requests go."""

    def __init__(self, below: RoundTripper) -> None:
        self._below = below
        self.seen: list[str] = []

    def round_trip(self, request: Request) -> Response:
        self.seen.append(request.url)
        return self._below.round_trip(request)


@pytest.mark.parametrize(("wanted", "expected"), [(None, True), (True, True), (False, False)])
def test_watches_ask_for_bookmarks_by_default(cluster: Cluster, wanted: bool | None, expected: bool) -> None:
    urls = Urls(cluster.http_client.transport)
    options = cache.Options(http_client=Client(urls), mapper=cluster.client.rest_mapper())
    options.default_enable_watch_bookmarks = wanted
    made = cache.new(cluster.config, options)
    with running(made):
        assert made.wait_for_cache_sync(CTX)
        made.get_informer(deadline(), corev1.Pod)
        assert until(lambda: any("watch=true" in url for url in urls.seen))
    watches = [url for url in urls.seen if "watch=true" in url]
    assert all(("allowWatchBookmarks=true" in url) is expected for url in watches), watches


def test_selectors_by_namespace_make_no_sense_for_kinds_without_one(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match=r"type Node is not namespaced, but its ByObject.namespaces setting"):
        new_cache(cluster, by_object={corev1.Node: cache.ByObject(namespaces={"ns": cache.Config()})})


def test_a_kind_that_the_server_does_not_have_is_an_error_that_names_it() -> None:
    unknown = meta.new_default_rest_mapper([])
    options = cache.Options(mapper=unknown, by_object={corev1.Pod: cache.ByObject()})
    with pytest.raises(RuntimeError, match="failed to determine if Pod is namespaced: .*no matches for") as caught:
        cache.new(rest.Config(host="http://none"), options)
    assert meta.is_no_match_error(caught.value.__cause__)


@pytest.mark.parametrize("form", ["unstructured", "metadata"])
def test_lists_are_of_the_objects_of_their_form(c: cache.Cache, three: list[str], form: str) -> None:
    """
    Go: cache: ip.objectTypeForListObject
    """
    listed = c.list(deadline(), kind_in_form(corev1.PodList, form), client.InNamespace(three[0]))
    assert {type(item) for item in meta.extract_list(listed)} == {type(kind_in_form(corev1.Pod, form))}
    listed = c.list(deadline(), corev1.PodList, client.InNamespace(three[0]))
    assert {type(item) for item in listed.items} == {corev1.Pod}
    assert type(c.list(deadline(), appsv1.DeploymentList)) is appsv1.DeploymentList


def test_a_class_without_a_resource_raises_for_the_caller(cluster: Cluster, c: cache.Cache) -> None:
    unknown = in_form(pod("ns", "p"), "unstructured")
    unknown.set_kind("Unheard")
    with pytest.raises(meta.NoKindMatchError):
        c.get_informer(deadline(), unknown)
    with pytest.raises(Exception, match="no kind"):
        c.get(deadline(), client.ObjectKey(namespace="a", name="b"), metav1.PartialObjectMetadata)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("n1", "the index function returns a string, not a list of strings"),
        ([1], "the index function returns 1 among the values, which is not a string"),
    ],
)
def test_a_field_index_rejects_what_is_no_list_of_strings(returned: Any, text: str) -> None:
    """Each letter of a string would be a value, so that a list by field finds nothing."""
    added: dict[str, Any] = {}

    class Informer:
        def add_indexers(self, indexers: Any) -> None:
            added.update(indexers)

    informer: Any = Informer()
    index_by_field(informer, "spec.nodeName", lambda obj: returned)
    index_by_field(informer, "none", lambda obj: None)  # type: ignore[arg-type,return-value]
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="b"))
    with pytest.raises(TypeError, match=text):
        added["field:spec.nodeName"](pod)
    assert added["field:none"](pod) == [], "as in Go, no list is an empty one"
