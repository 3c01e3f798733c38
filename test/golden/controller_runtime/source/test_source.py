"""Sources start, sync, deliver and call themselves as Go's do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlgolden import MS, FakeCache, FakeInformer, RecordingQueue, to_object
from goldenfile import cases

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import event, handler, predicate, source
from clientgo.controller_runtime.internal.source.kind import Kind
from clientgo.golang.channel import Channel
from clientgo.testing import synctest


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble(start=0.0) as b:
        yield b


def error_of(call: Any) -> str | None:
    try:
        call()
    except Exception as err:
        return str(err)
    return None


class Sender:
    """Sends in order, from one thread."""

    def __init__(self, channel: Channel[Any]) -> None:
        self.channel = channel
        self.pending: Channel[Any] = Channel(100)
        self.accepted = 0
        self.thread = threading.Thread(target=self._run, name="sender")
        self.thread.start()

    def _run(self) -> None:
        for evt in self.pending:
            self.channel.send(evt)
            self.accepted += 1


def pod(name: str) -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name=name))


@pytest.mark.parametrize(
    "case", [case for case in cases("controller_runtime/source/source.jsonl") if case.id.startswith("channel")]
)
def test_channel(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """Buffers of several sizes, two starts, a handler that hangs.

    Go: source: Source > Channel
    """
    config = case["config"]
    ctx, cancel = context.with_cancel(context.background())
    released = threading.Event()
    if not config["handler_blocks_until_release"]:
        released.set()
    requests = handler.EnqueueRequestForObject()

    def handle(ctx: Any, evt: Any, q: Any) -> None:
        released.wait()
        requests.generic(ctx, evt, q)

    options: list[Any] = [source.with_buffer_size(config["buffer_size"])]
    if config["predicate"]:
        options.append(
            source.with_predicates(predicate.Funcs(generic_func=lambda evt: evt.object.get_name() == "x"))
        )
    events: Channel[Any] = Channel()
    queue: Any = RecordingQueue()
    src = source.channel(events, handler.Funcs(generic_func=handle), *options)
    sender = Sender(events)
    sends = 0
    for step in case["steps"]:
        got: dict[str, Any] = {}
        match step["op"]:
            case "start":
                got["error"] = error_of(lambda: src.start(ctx, queue))
            case "send":
                sends += 1
                sender.pending.send(event.GenericEvent(pod(step["args"]["name"])))
            case "release":
                released.set()
            case op:
                raise AssertionError(op)
        bubble.wait()
        got |= {"queue_calls": queue.take(), "sends": sends, "sends_accepted": sender.accepted}
        expect = step["expect"]
        if config["starts"] > 1 and "queue_calls" in expect:
            # Two threads deliver.
            got["queue_calls"].sort(key=str)
            expect["queue_calls"] = sorted(expect["queue_calls"], key=str)
        assert {key: got[key] for key in expect} == expect, (step, got)
    released.set()
    bubble.wait()
    sender.pending.close()
    sender.thread.join()
    cancel()
    bubble.wait()


def a_kind(obj: Any = corev1.Pod, cache: Any = None, event_handler: Any = None) -> Kind[Any, Any]:
    return Kind(obj, cache, event_handler)


def start_error_case(name: str) -> Any:
    requests, cache = handler.EnqueueRequestForObject(), FakeCache()
    nothing: Any = None
    return {
        "kind without object": a_kind(None, cache, requests),
        "kind without cache": a_kind(corev1.Pod, None, requests),
        "kind without handler": a_kind(corev1.Pod, cache, None),
        "kind": a_kind(corev1.Pod, cache, requests),
        "channel without channel": source.channel(nothing, requests),
        "channel without handler": source.channel(Channel(), nothing),
        "informer without informer": source.Informer(None, requests),
        "informer without handler": source.Informer(FakeInformer(), None),  # type: ignore[arg-type]
        "func that fails": source.Func(fail),
    }[name]


def fail(ctx: Any, queue: Any) -> None:
    raise RuntimeError("no")


def normalized(text: str | None) -> str | None:
    """Return the text without the type prefixes that Go prints."""
    return text and text.replace("*v1.", "").replace("*unstructured.", "")


def example(document: dict[str, Any] | None) -> Any:
    if document is not None and document["kind"] == "Deployment" and "spec" not in document:
        return metav1.PartialObjectMetadata.from_dict(document)
    return to_object(document)


@pytest.mark.parametrize(
    "case", [case for case in cases("controller_runtime/source/source.jsonl") if case.id == "start_errors"]
)
def test_start_errors(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """The error names the missing argument.

    Go: source: Source > Func
    Go: internal/source: Internal > Kind
    """
    ctx, cancel = context.with_cancel(context.background())
    for step in case["steps"]:
        if step["op"] == "start":
            src = start_error_case(step["args"]["source"])
            got: Any = {"error": error_of(lambda src=src: src.start(ctx, RecordingQueue()))}
        else:
            got = {"text": str(a_kind(example(step["args"]["object"])))}
            step["expect"]["text"] = normalized(step["expect"]["text"])
        assert got == step["expect"], step
    bubble.wait()
    cancel()
    bubble.wait()


@pytest.mark.parametrize(
    "case", [case for case in cases("controller_runtime/source/source.jsonl") if case.id.startswith("kind_")]
)
def test_kind(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """A cache that fails, never syncs, or works after a while.

    Go: source: Source > Kind
    """
    mode = case["config"]["mode"]
    ctx, cancel = context.with_cancel(context.background())
    failing = RuntimeError("the cache does not work")
    cache = FakeCache(synced=mode not in ("never_synced", "cancelled"))
    if mode in ("error_then_ok", "error_forever"):
        cache.error = failing
    src = a_kind(corev1.Pod, cache, handler.EnqueueRequestForObject())
    repaired: list[threading.Timer] = []
    for step in case["steps"]:
        args = step["args"]
        match step["op"]:
            case "start":
                got: dict[str, Any] = {"error": error_of(lambda: src.start(ctx, RecordingQueue()))}
            case "cache_works_after":
                repaired.append(threading.Timer(args["ms"] * MS, lambda: setattr(cache, "error", None)))
                repaired[-1].start()
                got = {}
            case "wait_for_sync":
                waiting, stop = (
                    context.with_cancel(context.background())
                    if args.get("cancelled")
                    else context.with_timeout(context.background(), args["timeout_ms"] * MS)
                )
                if args.get("cancelled"):
                    stop()
                got = {"error": error_of(lambda waiting=waiting: src.wait_for_sync(waiting))}
                if "at_ms" in step["expect"]:
                    got["at_ms"] = round(bubble.elapsed / MS)
                stop()
            case op:
                raise AssertionError(op)
        step["expect"] = {key: normalized(v) if isinstance(v, str) else v for key, v in step["expect"].items()}
        assert got == step["expect"], step
    cancel()
    bubble.wait()
    for timer in repaired:
        timer.join()


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit("boom")], ids=lambda error: type(error).__name__)
def test_a_predicate_that_raises_costs_a_channel_one_event(
    bubble: synctest.Bubble, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """Go's program ends there. Here the handlers of other sources continue, and so does this one."""

    def generic(evt: event.GenericEvent) -> bool:
        if evt.object.metadata.name == "bad":
            raise error
        return True

    events: Channel[Any] = Channel(2)
    with_predicate = source.with_predicates(predicate.Funcs(generic_func=generic))
    channel = source.channel(events, handler.EnqueueRequestForObject(), with_predicate)
    queue = RecordingQueue()
    ctx, cancel = context.with_cancel(context.background())
    channel.start(ctx, queue)
    for name in ("bad", "good"):
        events.send(event.GenericEvent(object=pod(name)))
    bubble.wait()
    cancel()
    assert [call["request"] for call in queue.take()] == ["ns/good"]
    assert caplog.text.count('"Observed a panic"') == 1
