"""The reconcile loop does what Go's does, to the millisecond of virtual time: calls, queue, metrics and log."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlgolden import MS, show, show_opts
from goldenfile import cases

from clientgo import context, logr
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.controller_runtime import metrics, reconcile
from clientgo.controller_runtime.controller import priorityqueue
from clientgo.controller_runtime.internal import controller
from clientgo.controller_runtime.internal.controller import metrics as counted
from clientgo.testing import synctest
from clientgo.util import workqueue


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble(start=0.0) as b:
        yield b


class Log:
    """Notes lines as the cases write them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def take(self) -> list[dict[str, Any]]:
        """Return the lines since the last call, sorted by request, and in their order within one request."""
        lines, self.lines = self.lines, []
        return sorted(lines, key=lambda line: str(line.get("values", {}).get("request", "")))


class Sink:
    def __init__(self, log: Log, values: dict[str, object] | None = None) -> None:
        self.log = log
        self.values = values or {}

    def init(self, info: logr.RuntimeInfo) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return True

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        self.write({"level": f"info{level}", "message": msg}, pairs)

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        self.write({"error": str(err), "level": "error", "message": msg}, pairs)

    def write(self, line: dict[str, Any], pairs: dict[str, object]) -> None:
        values = {key: text(key, value) for key, value in (self.values | pairs).items()}
        self.log.lines.append(line | ({"values": values} if values else {}))

    def with_values(self, /, **pairs: object) -> Sink:
        return Sink(self.log, self.values | pairs)

    def with_name(self, name: str) -> Sink:
        return self


def text(key: str, value: object) -> str:
    if key == "reconcileID":
        uuid.UUID(str(value))
        return "<uuid>"
    return str(value)


class Recording:
    """A queue that records the controller's calls."""

    def __init__(self, bubble: synctest.Bubble, queue: Any) -> None:
        self.bubble = bubble
        self.queue = queue
        self.calls: list[dict[str, Any]] = []

    def note(self, call: str, item: Any, **args: Any) -> None:
        self.calls.append({"at_ms": round(self.bubble.elapsed / MS), "call": call, "item": show(item), **args})

    def take(self) -> list[dict[str, Any]]:
        calls, self.calls = self.calls, []
        return sorted(calls, key=lambda call: str(call["item"]))

    def add(self, item: Any) -> None:
        self.note("add", item)
        self.queue.add(item)

    def add_after(self, item: Any, duration: float) -> None:
        self.note("add_after", item, after_ms=round(duration / MS))
        self.queue.add_after(item, duration)

    def add_rate_limited(self, item: Any) -> None:
        self.note("add_rate_limited", item)
        self.queue.add_rate_limited(item)

    def forget(self, item: Any) -> None:
        self.note("forget", item)
        self.queue.forget(item)

    def done(self, item: Any) -> None:
        self.note("done", item)
        self.queue.done(item)

    def shut_down(self) -> None:
        self.note("shut_down", "")
        self.queue.shut_down()

    def get(self) -> Any:
        return self.queue.get()

    def num_requeues(self, item: Any) -> int:
        return int(self.queue.num_requeues(item))

    def len(self) -> int:
        return int(self.queue.len())

    def shut_down_with_drain(self) -> None:
        self.queue.shut_down_with_drain()

    def shutting_down(self) -> bool:
        return bool(self.queue.shutting_down())


class PriorityRecording(Recording):
    def add_with_opts(self, o: Any, /, *items: Any) -> None:
        for item in items:
            self.note("add_with_opts", item, opts=show_opts(o))
        self.queue.add_with_opts(o, *items)

    def get_with_priority(self) -> Any:
        return self.queue.get_with_priority()


def new_queue(bubble: synctest.Bubble, kind: str, limiter: Any) -> Any:
    if kind == "priority":
        opts = priorityqueue.new("", lambda o: setattr(o, "rate_limiter", limiter))
        return PriorityRecording(bubble, opts)
    return Recording(bubble, workqueue.new_typed_rate_limiting_queue(limiter))


@pytest.fixture(autouse=True)
def _series_end_with_their_test() -> Iterator[None]:
    """Remove the test's metrics, so that later tests do not compare them."""
    yield
    for vec in counted.__all__:
        getattr(counted, vec).reset()


def series(name: str) -> dict[str, float]:
    """Return the controller's series that are not 0."""
    found: dict[str, float] = {}
    for family in metrics.REGISTRY.collect():
        for sample in family.samples:
            if sample.labels.get("controller") != name or "le" in sample.labels or not sample.value:
                continue
            if not sample.name.startswith("controller_runtime_") or sample.name.endswith("_created"):
                continue
            short = sample.name.removeprefix("controller_runtime_")
            if "result" in sample.labels:
                short += f"{{{sample.labels['result']}}}"
            found[short] = round(sample.value, 6)
    return found


_names = Counter[str]()


def fresh_name() -> str:
    """Return a new name, since metrics stay with a name for the life of the process."""
    _names["controller"] += 1
    return f"golden-{_names['controller']}"


class Scripted:
    """A reconciler that follows the case's script."""

    def __init__(self, bubble: synctest.Bubble, script: dict[str, list[dict[str, Any]]]) -> None:
        self.bubble = bubble
        self.script = script
        self.calls = Counter[str]()
        self.finished: list[dict[str, Any]] = []

    def now_ms(self) -> int:
        return round(self.bubble.elapsed / MS)

    def take(self) -> list[dict[str, Any]]:
        finished, self.finished = self.finished, []
        return finished

    def reconcile(self, ctx: context.Context, item: str) -> reconcile.Result | None:
        call = self.calls[item]
        self.calls[item] += 1
        record = {
            "item": item,
            "call": call,
            "at_ms": self.now_ms(),
            "has_reconcile_id": controller.reconcile_id_from_context(ctx) != "",
            "has_deadline": ctx.deadline() is not None,
        }
        outcomes = self.script.get(item, [])
        outcome = outcomes[call] if call < len(outcomes) else {"kind": "ok"}
        if outcome.get("takes_ms"):
            self.bubble.sleep(outcome["takes_ms"] * MS)
        try:
            return self.act(ctx, outcome)
        finally:
            record["end_ms"] = self.now_ms()
            if ctx.err() is not None:
                record["context_error"] = str(ctx.err())
            self.finished.append(record)

    def act(self, ctx: context.Context, outcome: dict[str, Any]) -> reconcile.Result:
        result = reconcile.Result(
            requeue=outcome.get("requeue", False),
            requeue_after=outcome.get("requeue_after_ms", 0) * MS,
            priority=outcome.get("priority"),
        )
        if outcome["kind"] == "panic":
            raise AssertionError(outcome["error"])
        err = self.error(ctx, outcome)
        if err is not None:
            raise reconcile.with_result(err, result)
        return result

    def error(self, ctx: context.Context, outcome: dict[str, Any]) -> Exception | None:
        error = outcome.get("error", "")
        match outcome["kind"]:
            case "ok":
                return None
            case "error":
                return RuntimeError(error)
            case "terminal_error":
                return reconcile.terminal_error(RuntimeError(error) if error else None)
            case "wrapped_terminal_error":
                inner = reconcile.terminal_error(RuntimeError(error) if error else None)
                outer = RuntimeError(f"while reconciling: {inner}")
                outer.__cause__ = inner
                return outer
            case "wait_for_context":
                ctx.done().wait()
                return ctx.err()
            case "wait_for_context_swallow":
                ctx.done().wait()
                return None
            case "own_deadline":
                return context.DeadlineExceeded()
            case kind:
                raise AssertionError(kind)


class Background:
    """Calls in threads, and what became of them. At the end their context is cancelled."""

    def __init__(self, bubble: synctest.Bubble) -> None:
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.bubble = bubble
        self.returned: dict[str, Any] = {}
        self.threads: list[threading.Thread] = []

    def start(self, name: str, call: Any) -> None:
        def run() -> None:
            try:
                call()
                error = None
            except Exception as err:
                error = str(err)
            self.returned[name] = {"at_ms": round(self.bubble.elapsed / MS), "error": error}

        self.threads.append(threading.Thread(target=run, name=name))
        self.threads[-1].start()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        for thread in self.threads:
            thread.join()


@pytest.mark.parametrize("case", cases("controller_runtime/controller/reconcile.jsonl"))
def test_reconcile(bubble: synctest.Bubble, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The effects of each outcome on the queue, the metrics and the log equal Go's.

    Go: internal/controller: controller > Processing queue items from a Controller
    Go: internal/controller: controller > Reconciler > prometheus metric reconcile_timeouts
    """
    config = case["config"]
    log, crashes = Log(), []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: crashes.append(err)])
    limiter = workqueue.new_typed_item_exponential_failure_rate_limiter(
        config["rate_limiter"]["base_ms"] * MS, config["rate_limiter"]["max_ms"] * MS
    )
    queue = new_queue(bubble, config["queue"], limiter)
    scripted = Scripted(bubble, config["script"])
    logger = logr.new(Sink(log))
    name = fresh_name()
    ctrl: controller.Controller[str] = controller.new(
        controller.Options(
            do=scripted,
            rate_limiter=limiter,
            new_queue=lambda name, limiter: queue,
            max_concurrent_reconciles=config["max_concurrent_reconciles"],
            name=name,
            log_constructor=lambda request: logger if request is None else logger.with_values(request=request),
            recover_panic=config["recover_panic"],
            reconciliation_timeout=config["reconciliation_timeout_ms"] * MS,
        )
    )
    with Background(bubble) as background:
        for step in case["steps"]:
            args = step["args"]
            match step["op"]:
                case "start":
                    background.start("start", lambda: ctrl.start(background.ctx))
                case "add":
                    if "priority" in args:
                        queue.queue.add_with_opts(priorityqueue.AddOpts(priority=args["priority"]), args["item"])
                    else:
                        queue.queue.add(args["item"])
                case "advance":
                    bubble.sleep(args["by_ms"] * MS)
                case "cancel":
                    background.cancel()
                case op:
                    raise AssertionError(op)
            bubble.wait()
            returned = background.returned.get("start")
            got = {
                "log": log.take(),
                "metrics": series(name),
                "now_ms": scripted.now_ms(),
                "panic_handler_calls": len(crashes),
                "queue_calls": queue.take(),
                "reconciles": scripted.take(),
                "start_returned": "running" if returned is None else {"error": returned["error"]},
            }
            for each in (got, step["expect"]):
                each["queue_calls"] = sorted(each["queue_calls"], key=lambda call: str(call["item"]))
                each["reconciles"] = sorted(each["reconciles"], key=lambda call: (str(call["item"]), call["call"]))
            step["expect"]["metrics"] = {key: round(value, 6) for key, value in step["expect"]["metrics"].items()}
            assert got == step["expect"], (step, got)
            if "max_concurrent_reconciles" not in got["metrics"]:
                raise AssertionError("the metrics are not read")


@pytest.mark.parametrize("case", cases("controller_runtime/controller/reconcile_call.jsonl"))
def test_reconcile_call(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Called directly: panics with and without recovery.

    Go: internal/controller: controller > Reconciler
    """
    config = case["config"]
    log, crashes = Log(), []
    monkeypatch.setattr(utilruntime.runtime, "PANIC_HANDLERS", [lambda ctx, err: crashes.append(str(err))])
    result = reconcile.Result(requeue_after=config["requeue_after_ms"] * MS)

    def do(ctx: context.Context, request: str) -> reconcile.Result:
        match config["outcome"]:
            case "ok":
                return result
            case "error":
                raise reconcile.with_result(RuntimeError(config["text"]), result)
            case "terminal_error":
                raise reconcile.with_result(reconcile.terminal_error(RuntimeError(config["text"])), result)
            case "panic":
                raise AssertionError(config["text"])
            case "panic_error":
                raise AssertionError(RuntimeError(config["text"]))
            case outcome:
                raise AssertionError(outcome)

    name = fresh_name()
    logger = logr.new(Sink(log))
    limiter: Any = workqueue.default_typed_controller_rate_limiter()
    ctrl: controller.Controller[str] = controller.new(
        controller.Options(
            do=do,
            rate_limiter=limiter,
            new_queue=lambda name, limiter: workqueue.new_typed_rate_limiting_queue(limiter),
            name=name,
            log_constructor=lambda request: logger,
            recover_panic=config["recover_panic"],
        )
    )
    for step in case["steps"]:
        ctx = context.with_value(context.background(), _klog_key(), logger)
        got: dict[str, Any] = {"error": None, "is_terminal": False, "panic": None}
        answer = reconcile.Result()
        try:
            answer = ctrl.reconcile(ctx, step["args"]["request"])
        except AssertionError as err:
            got["panic"] = str(err)
        except Exception as err:
            got |= {"error": str(err), "is_terminal": reconcile.is_terminal_error(err)}
            answer = reconcile.result_of(err)
        got |= {
            "is_zero": answer.is_zero(),
            "log": log.take(),
            "metrics": series(name),
            "panic_handlers_got": list(crashes),
            "requeue_after_ms": round(answer.requeue_after / MS),
        }
        assert got == step["expect"], (step, got)


def _klog_key() -> object:
    from clientgo import klog

    return klog.LOGGER_KEY


class ScriptedSource:
    """A source that does as told."""

    def __init__(self, events: list[dict[str, Any]], bubble: synctest.Bubble, args: dict[str, Any]) -> None:
        self.events = events
        self.bubble = bubble
        self.args = args

    def note(self, event: str) -> None:
        at_ms = round(self.bubble.elapsed / MS)
        self.events.append({"at_ms": at_ms, "event": event, "source": self.args["name"]})

    def start(self, ctx: context.Context, queue: Any, /) -> None:
        name = self.args["name"]
        self.note("start")
        if self.args["start_ms"]:
            self.bubble.sleep(self.args["start_ms"] * MS)
        match self.args["start"]:
            case "ok":
                queue.add(f"from-{name}")
            case "error":
                raise RuntimeError(f"cannot start {name}")
            case "block":
                ctx.done().wait()
                err = ctx.err()
                assert err is not None
                raise err

    def __str__(self) -> str:
        return str(self.args["name"])


class ScriptedSyncingSource(ScriptedSource):
    def wait_for_sync(self, ctx: context.Context, /) -> None:
        name = self.args["name"]
        self.note("wait_for_sync")
        if self.args["sync"] == "block":
            ctx.done().wait()
            raise TimeoutError(f"timed out waiting for cache to be synced for {name}")
        if not context.sleep(ctx, self.args["sync_ms"] * MS):
            err = ctx.err()
            assert err is not None
            raise err
        if self.args["sync"] == "error":
            raise RuntimeError(f"sync failed of {name}")


@pytest.mark.parametrize("case", cases("controller_runtime/controller/start.jsonl"))
def test_start(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """Sources that block, fail or sync late; the warm-up; a second start.

    Go: internal/controller: controller > Start
    Go: internal/controller: controller > startEventSourcesAndQueueLocked
    Go: internal/controller: controller > Warmup
    """
    config = case["config"]
    log = Log()
    logger = logr.new(Sink(log))
    events: list[dict[str, Any]] = []
    queues: list[Any] = []

    def make_queue(name: str, limiter: Any) -> Any:
        queues.append(new_queue(bubble, config["queue"], limiter).queue)
        return queues[-1]

    def do(ctx: context.Context, request: str) -> None:
        at_ms = round(bubble.elapsed / MS)
        events.append({"at_ms": at_ms, "event": "reconcile", "source": request})

    limiter: Any = workqueue.default_typed_controller_rate_limiter()
    ctrl: controller.Controller[str] = controller.new(
        controller.Options(
            do=do,
            rate_limiter=limiter,
            new_queue=make_queue,
            max_concurrent_reconciles=config["max_concurrent_reconciles"],
            cache_sync_timeout=config["cache_sync_timeout_ms"] * MS,
            name="n",
            log_constructor=lambda request: logger,
            leader_elected=config["leader_elected"],
            enable_warmup=config["enable_warmup"],
        )
    )
    with Background(bubble) as background:
        for number, step in enumerate(case["steps"]):
            args, expect = step["args"], step["expect"]
            got: dict[str, Any] = {}
            match step["op"]:
                case "watch":
                    cls = ScriptedSource if args["sync"] == "none" else ScriptedSyncingSource
                    try:
                        ctrl.watch(cls(events, bubble, args))
                        got["error"] = None
                    except Exception as err:
                        got["error"] = str(err)
                case "need_leader_election":
                    got["value"] = ctrl.need_leader_election()
                case "start" | "start_again":
                    background.start(step["op"], lambda: ctrl.start(background.ctx))
                case "warmup":
                    background.start("warmup", lambda: ctrl.warmup(background.ctx))
                case "advance":
                    if number == len(case["steps"]) - 1:
                        background.cancel()  # the last step of a case ends what still runs
                    bubble.sleep(args["by_ms"] * MS)
                case "cancel":
                    background.cancel()
                case op:
                    raise AssertionError(op)
            bubble.wait()
            got |= {
                "events": sorted(events, key=sort_key),
                "log": sorted((short(line) for line in log.take()), key=log_key),
                "now_ms": round(bubble.elapsed / MS),
                "queues_made": len(queues),
                "returned": dict(background.returned),
            }
            events.clear()
            got = {key: value for key, value in got.items() if key in expect}
            expect = expect | {key: sorted(expect[key], key=log_key) for key in ("log",) if key in expect}
            expect |= {key: sorted(expect[key], key=sort_key) for key in ("events",) if key in expect}
            assert got == expect, (step, got)


def sort_key(event: dict[str, Any]) -> Any:
    return event["at_ms"], event["source"], event["event"]


def log_key(line: dict[str, Any]) -> Any:
    """Return the sort key of a line, since sources of one instant have no order."""
    return line["message"], line.get("source", "")


def short(line: dict[str, Any]) -> dict[str, Any]:
    source = line.get("values", {}).get("source")
    kept = {key: line[key] for key in ("error", "message") if key in line}
    return kept | ({"source": source} if source else {})
