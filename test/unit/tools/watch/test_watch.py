"""Watches that survive interruptions, watches made of informers, and waiting for what a watch shows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch as apiwatch
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.apimachinery.util import wait
from clientgo.apimachinery.watch import Event, EventType
from clientgo.features import WATCH_LIST_CLIENT
from clientgo.features.testing import set_feature_during_test
from clientgo.golang.channel import Channel
from clientgo.testing import synctest
from clientgo.tools import watch
from clientgo.tools.watch.informerwatcher import _EventProcessor
from clientgo.tools.watch.retrywatcher import _new_retry_watcher

CTX = context.background()
SECRETS = GroupResource("", "secrets")


def secret(name: str, version: int | str = "1", value: str = "") -> corev1.Secret:
    made = corev1.Secret(metadata=metav1.ObjectMeta(name=name, namespace="ns", resource_version=str(version)))
    if value:
        made.string_data["v"] = value
    return made


def added(version: int) -> Event:
    return Event(EventType.ADDED, secret(f"s{version}", version))


def failed(err: errors.StatusError) -> Event:
    return Event(EventType.ERROR, err.status())


Answer = Any  # a list of events (then the watch closes), an exception, or None


class Watches:
    """A watcher whose calls get the given answers in turn. After the last one a watch stays open without events."""

    def __init__(self, *answers: Answer) -> None:
        self.answers: Iterator[Answer] = iter(answers)
        self.versions: list[str] = []

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        assert options.allow_watch_bookmarks
        self.versions.append(options.resource_version)
        answer = next(self.answers, "open")
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return None
        fake = apiwatch.FakeWatcher(channel_size=100)
        if answer != "open":
            for event in answer:
                fake.action(event.type, event.object)
            fake.stop()
        return fake


def received(watches: Any, initial: str = "1", delay: float = 0.1) -> tuple[list[Event], bool]:
    """Return the events of a retry watcher until it is idle, and whether it ended by itself."""
    with synctest.bubble() as b:
        watcher = _new_retry_watcher(CTX, initial, watches, delay)
        events: list[Event] = []
        reader = threading.Thread(target=lambda: events.extend(watcher.result_chan()), name="reader")
        reader.start()
        b.sleep(10.0)
        ended = watcher.done().is_set()
        watcher.stop()
        reader.join()
        assert watcher.done().is_set()
        return events, ended


def versions(events: list[Event]) -> list[str]:
    return [event.object.get_resource_version() for event in events]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(RuntimeError("test error"), id="recovers if watchClient returns error"),
        pytest.param(None, id="recovers if watchClient returns nil watcher"),
        pytest.param([failed(errors.new_timeout_error("timeout", 0))], id="recovers from timeout error"),
        pytest.param([failed(errors.new_internal_error(RuntimeError("")))], id="recovers from internal server error"),
        pytest.param([Event(EventType.ERROR, metav1.Status(code=42))], id="recovers from unexpected error code"),
        pytest.param([Event(EventType.ERROR, corev1.Pod())], id="recovers from unexpected error type"),
        pytest.param(EOFError("EOF"), id="eof"),
        pytest.param(ConnectionResetError("reset"), id="connection reset"),
        pytest.param(TimeoutError("timed out"), id="timed out"),
    ],
)
def test_retry_watcher_recovers(answer):
    """Go: TestRetryWatcher.

    Go: TestRetryWatcher/recovers if watchClient returns error
    Go: TestRetryWatcher/recovers if watchClient returns nil watcher
    Go: TestRetryWatcher/recovers from timeout error
    Go: TestRetryWatcher/recovers from internal server error
    Go: TestRetryWatcher/recovers from unexpected error code
    Go: TestRetryWatcher/recovers from unexpected error type
    """
    watches = Watches(answer, [added(2)])
    events, ended = received(watches)
    assert versions(events) == ["2"]
    assert not ended
    assert watches.versions == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param([failed(errors.new_gone("gone"))], 410, id="fails on Gone (RV too old error)"),
        pytest.param(errors.new_forbidden(SECRETS, "", RuntimeError("no")), 403, id="fails on Forbidden"),
        pytest.param(errors.new_unauthorized("no"), 401, id="fails on Unauthorized"),
        pytest.param([Event("WHAT", secret("a"))], 500, id="unknown event type"),
        pytest.param([Event(EventType.ADDED, "no object")], 500, id="no resource version to get"),
        pytest.param([Event(EventType.ADDED, secret("a", ""))], 500, id="empty resource version"),
    ],
)
def test_retry_watcher_gives_up(answer, code):
    """Go: TestRetryWatcher/fails on Gone (RV too old error).

    Go: TestRetryWatcher/fails on Forbidden
    Go: TestRetryWatcher/fails on Unauthorized
    """
    watches = Watches(answer, [added(2)])
    events, ended = received(watches)
    assert ended
    assert [(event.type, event.object.code) for event in events] == [(EventType.ERROR, code)]
    assert len(watches.versions) == 1


class Server:
    """A server with these events; each watch shows at most `per_watch` of those above its version, then closes."""

    def __init__(self, all_versions: list[int], per_watch: int, floor: Callable[[str], int] = int) -> None:
        self.all_versions = all_versions
        self.per_watch = per_watch
        self.floor = floor
        self.watches = 0

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
        self.watches += 1
        start = self.floor(options.resource_version)
        shown = [version for version in self.all_versions if version > start][: self.per_watch]
        return Watches([added(version) for version in shown]).watch_with_context(ctx, options)


@pytest.mark.parametrize(
    ("initial", "all_versions", "per_watch", "expected"),
    [
        pytest.param("1", [2, 3], 10, ["2", "3"], id="works with empty initialRV"),
        pytest.param(
            "5", [4, 5, 6, 7], 10, ["6", "7"],
            id="works with initialRV set, skipping the preceding items but reading those directly following",
        ),
        pytest.param(
            "5", [4, 5], 10, [], id="works with initialRV set, skipping the preceding items with none following"
        ),
        pytest.param("1", [2], 1, ["2"], id="survives 1 closed watch and reads 1 item"),
        pytest.param("1", [2, 3], 1, ["2", "3"], id="survives 2 closed watches and reads 2 items"),
        pytest.param(
            "5", [6, 8], 1, ["6", "8"], id="survives 2 closed watches and reads 2 items for nonconsecutive RVs"
        ),
        pytest.param(
            "1", [6, 8], 1, ["6", "8"],
            id="survives 2 closed watches and reads 2 items for nonconsecutive RVs starting at much lower RV",
        ),
        pytest.param(
            "1", [5, 6, 7, 11], 1, ["5", "6", "7", "11"],
            id="survives 4 closed watches and reads 4 items for nonconsecutive, spread RVs",
        ),
        pytest.param(
            "6", [1, 5, 6, 7, 11], 1, ["7", "11"],
            id="survives 4 closed watches and reads 4 items for nonconsecutive, spread RVs and skips those with lower "
            "or equal RV",
        ),
        pytest.param(
            "1", [1, 2, 2, 3, 4, 5, 5], 2, ["2", "2", "3", "4", "5", "5"],
            id="survives 2 closed watches and reads 2+2+1 items skipping those with equal RV",
        ),
    ],
)  # fmt: skip
def test_retry_watcher_goes_on_where_it_was(initial, all_versions, per_watch, expected):
    """Go: TestRetryWatcher.

    Go: TestRetryWatcher/works with empty initialRV
    Go: TestRetryWatcher/works with initialRV set, skipping the preceding items but reading those directly following
    Go: TestRetryWatcher/works with initialRV set, skipping the preceding items with none following
    Go: TestRetryWatcher/survives 1 closed watch and reads 1 item
    Go: TestRetryWatcher/survives 2 closed watches and reads 2 items
    Go: TestRetryWatcher/survives 2 closed watches and reads 2 items for nonconsecutive RVs
    Go: TestRetryWatcher/survives 2 closed watches and reads 2 items for nonconsecutive RVs starting at much lower RV
    Go: TestRetryWatcher/survives 4 closed watches and reads 4 items for nonconsecutive, spread RVs
    Go: TestRetryWatcher/survives 4 closed watches and reads 4 items for nonconsecutive, spread RVs and skips those \
with lower or equal RV
    Go: TestRetryWatcher/survives 2 closed watches and reads 2+2+1 items skipping those with equal RV
    """
    server = Server(all_versions, per_watch)
    events, ended = received(server, initial)
    assert versions(events) == expected
    assert not ended
    assert server.watches > 1


def test_bookmarks_move_the_version_and_are_not_delivered():
    watches = Watches([added(2), Event(EventType.BOOKMARK, secret("", 9))])
    events, _ = received(watches)
    assert versions(events) == ["2"]
    assert watches.versions == ["1", "9"]


def test_a_status_may_ask_for_a_delay():
    with synctest.bubble() as b:
        watches = Watches([failed(errors.new_too_many_requests("slow down", 3))])
        watcher = _new_retry_watcher(CTX, "1", watches, 0.01)
        b.sleep(2.9)
        assert len(watches.versions) == 1
        b.sleep(0.2)
        assert len(watches.versions) == 2
        watcher.stop()
        watcher.done().wait()


def test_watches_that_end_at_once_restart_once_a_second():
    with synctest.bubble() as b:
        watches = Watches(*[[] for _ in range(100)])

        class Client:
            def watch(self, options: metav1.ListOptions) -> Any:
                return watches.watch_with_context(CTX, options)

        watcher = watch.new_retry_watcher("1", Client())
        b.sleep(5.5)
        assert len(watches.versions) == 6
        watcher.stop()
        watcher.done().wait()


@pytest.mark.parametrize("initial", ["", "0"])
def test_retry_watcher_needs_a_version(initial):
    """Go: TestNewRetryWatcher/empty RV should fail, Go: TestNewRetryWatcher/RV "0" should fail."""
    with pytest.raises(ValueError, match=f'initial RV "{initial}" is not supported due to issues with underlying'):
        watch.new_retry_watcher(initial, Watches())


def test_retry_watcher_ends_with_unread_events():
    """Go: TestRetryWatcherToFinishWithUnreadEvents."""
    with synctest.bubble() as b:
        watcher = _new_retry_watcher(CTX, "1", Watches([added(2), added(3)]), 0.01)
        b.wait()
        assert not watcher.done().is_set()
        watcher.stop()
        watcher.stop()
        watcher.done().wait()
        assert watcher.result_chan().receive() == (None, False)


def test_retry_watcher_ends_with_its_context():
    with synctest.bubble():
        ctx, cancel = context.with_cancel(CTX)
        watcher = watch.new_retry_watcher_with_context(ctx, "1", Watches())
        cancel()
        watcher.done().wait()


# --- until ----------------------------------------------------------------------------------------------------------


def fake_with(*events: Event) -> apiwatch.FakeWatcher:
    fake = apiwatch.FakeWatcher(channel_size=10)
    for event in events:
        fake.action(event.type, event.object)
    return fake


def is_type(kind: str) -> Callable[[Event], bool]:
    return lambda event: event.type == kind


def test_until():
    """Go: TestUntil."""
    fake = fake_with(added(1), Event(EventType.MODIFIED, secret("a", 2)))
    event = watch.until_without_retry(CTX, fake, is_type("ADDED"), is_type("MODIFIED"))
    assert event is not None
    assert event.type == EventType.MODIFIED
    assert fake.is_stopped()


def test_until_asks_each_condition_about_the_event_before():
    """Go: TestUntilMultipleConditions."""
    event = watch.until_without_retry(CTX, fake_with(added(1)), is_type("ADDED"), is_type("ADDED"))
    assert event == added(1)
    assert watch.until_without_retry(CTX, fake_with()) is None


def test_until_with_a_condition_unmet():
    """Go: TestUntilMultipleConditionsFail."""
    with synctest.bubble():
        ctx, cancel = context.with_timeout(CTX, 5.0)
        with pytest.raises(Exception, match="timed out waiting for the condition") as caught:
            watch.until_without_retry(ctx, fake_with(added(1)), is_type("ADDED"), is_type("DELETED"))
        cancel()
    assert wait.interrupted(caught.value)
    assert caught.value.last_event == added(1)


def test_until_without_a_deadline():
    """Go: TestUntilTimeout."""
    fake = fake_with(added(1), Event(EventType.MODIFIED, secret("a", 2)))
    ctx, cancel = watch.context_with_optional_timeout(CTX, 0)
    event = watch.until_without_retry(ctx, fake, is_type("ADDED"), is_type("MODIFIED"))
    cancel()
    assert event is not None
    assert event.object.get_resource_version() == "2"


def test_until_raises_the_conditions_error():
    """Go: TestUntilErrorCondition."""

    def bad(event: Event) -> bool:
        raise ValueError("something bad")

    fake = fake_with(added(1))
    with pytest.raises(ValueError, match="something bad"):
        watch.until_without_retry(CTX, fake, is_type("ADDED"), bad)
    assert fake.is_stopped()


def test_until_on_a_watch_that_ends():
    fake = fake_with(added(1))
    fake.stop()
    with pytest.raises(watch.ErrWatchClosed, match="watch closed before UntilWithoutRetry timeout") as caught:
        watch.until_without_retry(CTX, fake, is_type("DELETED"))
    assert caught.value.last_event == added(1)


def test_until_goes_on_over_watches_that_end():
    with synctest.bubble():
        event = watch.until(CTX, "1", Watches([added(2)], [added(3)]), lambda event: versions([event]) == ["3"])
        assert event == added(3)


def test_context_with_optional_timeout(caplog):
    ctx, cancel = watch.context_with_optional_timeout(CTX, -1)
    assert ctx.deadline() is None
    assert "Timeout for context shall not be negative" in caplog.text
    cancel()
    ctx, cancel = watch.context_with_optional_timeout(CTX, 100)
    assert ctx.deadline() is not None
    cancel()


# --- informers as watches -------------------------------------------------------------------------------------------


class Cluster:
    """Secrets for lists, watches and watch-lists. `change` sends an event to each open watch."""

    def __init__(self, *secrets: corev1.Secret) -> None:
        self.secrets = {item.get_name(): item for item in secrets}
        self.open: list[apiwatch.FakeWatcher] = []
        self.streams = self.lists = 0

    def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> corev1.SecretList:
        self.lists += 1
        metadata = metav1.ListMeta(resource_version="10")
        return corev1.SecretList(metadata=metadata, items=[item.deep_copy() for item in self.secrets.values()])

    def watch_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> apiwatch.FakeWatcher:
        fake = apiwatch.FakeWatcher(channel_size=100)
        if options.send_initial_events:
            self.streams += 1
            for item in self.secrets.values():
                fake.add(item.deep_copy())
            bookmark = secret("", 10)
            bookmark.set_annotations({metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"})
            fake.action(EventType.BOOKMARK, bookmark)
        self.open.append(fake)
        return fake

    def change(self, kind: str, item: corev1.Secret) -> None:
        for fake in self.open:
            fake.action(kind, item.deep_copy())


@pytest.mark.parametrize(
    "watch_list",
    [
        pytest.param(False, id="WatchListClient feature disabled"),
        pytest.param(True, id="WatchListClient feature enabled"),
    ],
)
def test_informer_watcher(watch_list):
    """Go: TestNewInformerWatcher.

    Go: TestNewInformerWatcher/WatchListClient feature disabled
    Go: TestNewInformerWatcher/WatchListClient feature enabled
    """
    with set_feature_during_test(WATCH_LIST_CLIENT, watch_list), synctest.bubble() as b:
        cluster = Cluster(secret("a", 1), secret("b", 2))
        indexer, informer, watcher, done = watch.new_indexer_informer_watcher(cluster, corev1.Secret())
        events: list[Event] = []
        reading, stop = context.with_cancel(CTX)

        def read() -> None:
            with pytest.raises(Exception, match="timed out"):
                watch.until_without_retry(reading, watcher, lambda event: bool(events.append(event)))

        reader = threading.Thread(target=read, name="reader")
        reader.start()
        b.sleep(1.0)
        assert informer.has_synced()
        cluster.change(EventType.ADDED, secret("c", 11))
        cluster.change(EventType.MODIFIED, secret("a", 12))
        cluster.change(EventType.DELETED, secret("b", 13))
        b.wait()
        stop()
        reader.join()
        done.wait()
        initial = sorted((str(event.type), event.object.get_name()) for event in events[:2])
        assert initial == [("ADDED", "a"), ("ADDED", "b")]
        later = [(str(event.type), event.object.get_name(), versions([event])[0]) for event in events[2:]]
        assert later == [("ADDED", "c", "11"), ("MODIFIED", "a", "12"), ("DELETED", "b", "13")]
        assert sorted(indexer.list_keys()) == ["ns/a", "ns/c"]
        assert (cluster.streams, cluster.lists) == ((1, 0) if watch_list else (0, 1))


def test_informer_watcher_delivers_a_missed_delete():
    """Go: TestInformerWatcherDeletedFinalStateUnknown."""
    with set_feature_during_test(WATCH_LIST_CLIENT, False), synctest.bubble() as b:
        cluster = Cluster(secret("a", 123))
        _, _, watcher, done = watch.new_indexer_informer_watcher(cluster, corev1.Secret())
        assert watcher.result_chan().receive()[0] == Event(EventType.ADDED, secret("a", 123))
        b.wait()
        cluster.secrets.clear()
        cluster.open[0].error(errors.new_gone("gone").status())
        cluster.open[0].stop()
        event, ok = watcher.result_chan().receive()
        assert ok
        assert (event.type, versions([event])) == (EventType.DELETED, ["123"])
        watcher.stop()
        done.wait()
        assert cluster.lists == 2


def test_until_with_sync_without_precondition_does_not_wait_for_the_store():
    """Go: TestUntilWithSync/doesn't wait for sync with no precondition."""
    with synctest.bubble():
        ctx, cancel = context.with_timeout(CTX, 0.5)
        with pytest.raises(Exception, match="timed out") as caught:
            watch.until_with_sync(ctx, hanging(ctx), corev1.Secret(), None, lambda event: True)
        cancel()
    assert wait.interrupted(caught.value)


def test_until_with_sync_waits_for_the_store():
    """Go: TestUntilWithSync/waits indefinitely with precondition if it can't sync."""
    with synctest.bubble():
        ctx, cancel = context.with_timeout(CTX, 0.5)
        expected = "UntilWithSync: unable to sync caches: context deadline exceeded"
        with pytest.raises(RuntimeError, match=expected) as caught:
            watch.until_with_sync(ctx, hanging(ctx), corev1.Secret(), lambda store: True, lambda event: True)
        cancel()
    assert isinstance(caught.value.__cause__, context.DeadlineExceeded)


def hanging(until: context.Context) -> Any:
    class Hanging(Cluster):
        def list_with_context(self, ctx: context.Context, options: metav1.ListOptions) -> Any:
            until.done().wait()
            raise RuntimeError("let go")

        watch_with_context = list_with_context

        def is_watch_list_semantics_un_supported(self) -> bool:
            return True

    return Hanging()


def test_until_with_sync_may_be_over_with_the_precondition():
    """Go: TestUntilWithSync/precondition can stop the loop."""
    with synctest.bubble():
        event = watch.until_with_sync(
            CTX,
            Cluster(secret("first")),
            corev1.Secret(),
            lambda store: store.get_by_key("ns/first")[1],
            lambda event: pytest.fail("asked"),
        )
        assert event is None


def test_until_with_sync_goes_on_to_the_conditions():
    """Go: TestUntilWithSync/precondition lets it proceed to regular condition."""
    with synctest.bubble():
        event = watch.until_with_sync(
            CTX, Cluster(secret("first")), corev1.Secret(), lambda store: False, is_type("ADDED")
        )
        assert event == Event(EventType.ADDED, secret("first"))


@pytest.mark.parametrize("block", ["read", "write"])
def test_event_processor_ends(block):
    """Go: TestEventProcessorExit.

    Go: TestEventProcessorExit/exit on blocked read
    Go: TestEventProcessorExit/exit on blocked write
    """
    with synctest.bubble() as b:
        processor = _EventProcessor(Channel())
        if block == "write":
            processor.push(added(1))
        thread = threading.Thread(target=processor.run, name="processor")
        thread.start()
        b.wait()
        assert thread.is_alive()
        processor.stop()
        thread.join()


def test_event_processor_keeps_the_order():
    """Go: TestEventProcessorOrdersEvents."""
    with synctest.bubble():
        out: Channel[Event] = Channel()
        processor = _EventProcessor(out)
        thread = threading.Thread(target=processor.run, name="processor")
        thread.start()

        def push() -> None:
            for version in range(100):
                processor.push(added(version))

        pusher = threading.Thread(target=push, name="pusher")
        pusher.start()
        assert [out.receive()[0] for _ in range(100)] == [added(version) for version in range(100)]
        pusher.join()
        processor.stop()
        thread.join()
