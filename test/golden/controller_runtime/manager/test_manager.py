"""A manager starts and stops what it runs in Go's order, to the millisecond of virtual time."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ctrlgolden import MS, rest_mapper
from goldenfile import cases
from patience import PATIENCE

from clientgo import context, logr, rest
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.controller_runtime import healthz, manager, metrics, reconcile, source
from clientgo.controller_runtime.certwatcher import metrics as certwatcher
from clientgo.controller_runtime.controller import Options as ControllerOptions
from clientgo.controller_runtime.controller import new_unmanaged, priorityqueue
from clientgo.controller_runtime.metrics.server import Options as MetricsOptions
from clientgo.controller_runtime.webhook.admission import metrics as admission
from clientgo.controller_runtime.webhook.conversion import metrics as conversion
from clientgo.controller_runtime.webhook.internal.metrics import instrumented_hook
from clientgo.golang.http import Header
from clientgo.golang.http.server import Request, ResponseWriter
from clientgo.testing import synctest
from clientgo.tools.leaderelection import resourcelock


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble(start=0.0) as b:
        yield b


class Events:
    def __init__(self, bubble: synctest.Bubble) -> None:
        self.bubble = bubble
        self.events: list[dict[str, Any]] = []
        self.logged: list[dict[str, Any]] = []

    def now_ms(self) -> int:
        return round(self.bubble.elapsed / MS)

    def note(self, name: str, event: str) -> None:
        self.events.append({"at_ms": self.now_ms(), "event": event, "name": name})

    def take(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        events, self.events = self.events, []
        logged, self.logged = self.logged, []
        return sorted(events, key=lambda e: (e["at_ms"], e["name"], e["event"])), logged


class ErrorLog(logr.LogSink):
    """Handler that records logged errors."""

    def __init__(self, events: Events) -> None:
        self.events = events

    def init(self, info: logr.RuntimeInfo) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return False

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        pass

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        self.events.logged.append({"error": str(err), "message": msg})

    def with_values(self, /, **pairs: object) -> logr.LogSink:
        return self

    def with_name(self, name: str) -> logr.LogSink:
        return self


class Scripted:
    """A runnable that does as told."""

    def __init__(self, events: Events, args: dict[str, Any]) -> None:
        self.events = events
        self.args = args
        self.name = args["name"]

    def note(self, event: str) -> None:
        self.events.note(self.name, event)

    def start(self, ctx: context.Context) -> None:
        self.note("start")
        for limit, event in (("error_after_ms", "fail"), ("end_after_ms", "end")):
            if limit in self.args and context.sleep(ctx, self.args[limit] * MS):
                self.note(event)
                if event == "fail":
                    raise RuntimeError(f"{self.name} failed")
                return
        ctx.done().wait()
        self.note("stopping")
        self.sleep("stop_ms")
        self.note("stopped")
        error = self.args.get("stop_error")
        if error == "context":
            err = ctx.err()
            assert err is not None
            raise err
        if error:
            raise RuntimeError(error)

    def sleep(self, name: str) -> None:
        if self.args.get(name):
            self.events.bubble.sleep(self.args[name] * MS)


class NoLeaderElection(Scripted):
    def need_leader_election(self) -> bool:
        return False


class LeaderElection(Scripted):
    def need_leader_election(self) -> bool:
        return True


class Warmup(LeaderElection):
    def warmup(self, ctx: context.Context) -> None:
        self.note("warmup")
        if not context.sleep(ctx, self.args.get("warmup_ms", 0) * MS):
            self.note("warmup cancelled")
            return
        self.note("warmed up")
        if self.args.get("warmup_error"):
            raise RuntimeError(self.args["warmup_error"])


class WarmupNoLeaderElection(Warmup):
    def need_leader_election(self) -> bool:
        return False


class Webhook(NoLeaderElection):
    def register(self, path: str, hook: Any) -> None:
        raise NotImplementedError

    def started_checker(self) -> Any:
        raise NotImplementedError


class Cache(Scripted):
    def get_cache(self) -> Any:
        return self

    def wait_for_cache_sync(self, ctx: context.Context) -> bool:
        sync_ms = self.args.get("sync_ms", 0)
        if sync_ms and not context.sleep(ctx, sync_ms * MS):
            return False
        self.note("synced")
        return True


KINDS: dict[str, type[Scripted]] = {
    "no_leader_election": NoLeaderElection,
    "leader_election": LeaderElection,
    "warmup": Warmup,
    "warmup_no_leader_election": WarmupNoLeaderElection,
    "webhook": Webhook,
    "cache": Cache,
}


def runnable(events: Events, args: dict[str, Any]) -> Any:
    return Scripted(events, args).start if args["kind"] == "function" else KINDS[args["kind"]](events, args)


class Lock:
    """A lock in memory."""

    def __init__(self, events: Events, kind: str) -> None:
        self.events = events
        self.record: resourcelock.LeaderElectionRecord | None = None
        self.is_others = kind == "held_by_other"
        self.broken = False

    def get(self, ctx: context.Context) -> tuple[resourcelock.LeaderElectionRecord, bytes]:
        if self.is_others:
            # Renewed all the time.
            now = datetime.fromtimestamp(0, UTC) + timedelta(seconds=self.events.now_ms() * MS)
            self.record = resourcelock.LeaderElectionRecord(
                holder_identity="other", lease_duration_seconds=15, acquire_time=now, renew_time=now
            )
        if self.record is None:
            raise errors.new_not_found(GroupResource("", "lock"), "lock")
        return self.record, self.record.to_json()

    def create(self, ctx: context.Context, ler: resourcelock.LeaderElectionRecord) -> None:
        self.events.note("lock", "create")
        self.record = replace(ler)

    def update(self, ctx: context.Context, ler: resourcelock.LeaderElectionRecord) -> None:
        if self.broken:
            self.events.note("lock", "update failed")
            raise RuntimeError("the lock is broken")
        self.events.note("lock", "update" if ler.holder_identity else "release")
        self.record = replace(ler)

    def record_event(self, s: str) -> None:
        pass

    def identity(self) -> str:
        return "me"

    def describe(self) -> str:
        return "lock"


def new_manager(config: dict[str, Any], cache: Any, lock: Any = None, logger: Any = None) -> manager.Manager:
    election = config.get("leader_election") or {}
    grace = config.get("graceful_shutdown_timeout_ms")

    def seconds(name: str) -> float | None:
        return election[name] * MS if name in election else None

    return manager.new(
        rest.Config(host="http://127.0.0.1:1"),
        manager.Options(
            new_cache=lambda config, options: cache,
            mapper_provider=lambda config, client: rest_mapper(),
            metrics=MetricsOptions(bind_address="0"),
            graceful_shutdown_timeout=None if grace is None else grace * MS,
            logger=logger,
            leader_election=bool(election),
            leader_election_resource_lock_interface=lock,
            leader_election_release_on_cancel=election.get("release_on_cancel", False),
            lease_duration=seconds("lease_duration_ms"),
            renew_deadline=seconds("renew_deadline_ms"),
            retry_period=seconds("retry_period_ms"),
            health_probe_bind_address=config.get("health_probe_bind_address", ""),
            readiness_endpoint_name=config.get("readiness_endpoint_name", ""),
            liveness_endpoint_name=config.get("liveness_endpoint_name", ""),
        ),
    )


class Started:
    """A manager in a thread of its own."""

    def __init__(self, bubble: synctest.Bubble | None, mgr: manager.Manager) -> None:
        self.bubble = bubble
        self.mgr = mgr
        self.ctx, self.cancel = context.with_cancel(context.background())
        self.returned: dict[str, Any] | None = None
        self.thread = threading.Thread(target=self._run, name="manager")

    def _run(self) -> None:
        error = None
        try:
            self.mgr.start(self.ctx)
        except Exception as err:
            error = str(err)
        self.returned = {"at_ms": 0 if self.bubble is None else round(self.bubble.elapsed / MS), "error": error}

    def end(self) -> None:
        self.cancel()
        if self.thread.ident is not None:
            self.thread.join()


def error_of(call: Any) -> str | None:
    try:
        call()
    except Exception as err:
        return str(err)
    return None


@pytest.mark.parametrize("case", cases("controller_runtime/manager/runnables.jsonl"))
def test_runnables(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """Start and stop order, adding at any time, grace periods, lost elections, warm-ups.

    Go: manager: runnables
    Go: manager: runnableGroup
    Go: manager: manger.Manager > Add
    Go: manager: TestWarmupFunctionIsExecutedWhenWarmupGroupIsStarted
    Go: manager: manger.Manager > Start > should
    """
    config = case["config"]
    events = Events(bubble)
    cluster_cache = Cache(events, config["cluster_cache"])
    lock = Lock(events, config["leader_election"]["lock"]) if config["leader_election"] else None
    mgr = new_manager(config, cluster_cache, lock, logr.new(ErrorLog(events)))
    started = Started(bubble, mgr)
    try:
        for step in case["steps"]:
            got = take(step, bubble, mgr, started, events, lock)
            bubble.wait()
            noted, logged = events.take()
            got |= {
                "elected": mgr.elected().is_set(),
                "events": noted,
                "logged_errors": logged,
                "now_ms": events.now_ms(),
                "start_returned": started.returned,
            }
            expect = step["expect"]
            expect["events"] = sorted(expect["events"], key=lambda e: (e["at_ms"], e["name"], e["event"]))
            assert got == expect, (step, got, mgr)
    finally:
        started.end()
        bubble.sleep(200.0)  # what did not end within the grace period


def take(
    step: dict[str, Any], bubble: synctest.Bubble, mgr: Any, started: Started, events: Events, lock: Lock | None
) -> dict[str, Any]:
    args = step["args"]
    match step["op"]:
        case "add":
            return {"error": error_of(lambda: mgr.add(runnable(events, args)))}
        case "add_after_stop":
            after = {"name": "late", "kind": "no_leader_election"} | args
            return {"error": error_of(lambda: mgr.add(runnable(events, after)))}
        case "add_healthz_check":
            return {"error": error_of(lambda: mgr.add_healthz_check("late", healthz.ping))}
        case "start":
            started.thread.start()
        case "start_again":
            return {"error": error_of(lambda: mgr.start(started.ctx))}
        case "advance":
            bubble.sleep(args["by_ms"] * MS)
        case "cancel":
            started.cancel()
        case "break_lock":
            assert lock is not None
            lock.broken = True
        case op:
            raise AssertionError(op)
    return {}


def fail_with(text: str | None) -> Any:
    def check(req: Request) -> None:
        if text is not None:
            raise RuntimeError(text)

    return check


@pytest.mark.parametrize("case", cases("controller_runtime/manager/healthz.jsonl"))
def test_healthz(case: dict[str, Any]) -> None:
    """With checks that pass and that fail, excluded ones and unknown ones.

    Go: healthz: Healthz Handler
    """
    handler = healthz.Handler({name: fail_with(text) for name, text in case["config"]["checks"].items()})
    for step in case["steps"]:
        args, expect = step["args"], step["expect"]
        resp = ResponseWriter()
        handler.serve_http(resp, Request(args["method"], f"{args['path']}?{args['query']}", Header()))
        headers = dict(resp.header())
        # The server says so by itself where the handler does not.
        headers.setdefault("Content-Type", "text/plain; charset=utf-8")
        got = {"body": resp.body.decode(), "code": resp.status, "headers": headers}
        assert got == expect, step


@pytest.mark.parametrize("case", cases("controller_runtime/manager/probe_endpoints.jsonl"))
def test_probe_endpoints(case: dict[str, Any]) -> None:
    """Over HTTP, with checks of both kinds and other names for the endpoints.

    Go: manager: manger.Manager > should start serving health probes
    """
    config = case["config"]
    mgr = new_manager(config | {"health_probe_bind_address": "127.0.0.1:0"}, StillCache())
    for name, text in config["healthz_checks"].items():
        mgr.add_healthz_check(name, fail_with(text))
    for name, text in config["readyz_checks"].items():
        mgr.add_readyz_check(name, fail_with(text))
    host, port = mgr._parts.health_probe_listener.getsockname()  # type: ignore[attr-defined]
    started = Started(None, mgr)
    started.thread.start()
    try:
        for step in case["steps"]:
            assert get(f"http://{host}:{port}{step['args']['path']}") == step["expect"], step
    finally:
        started.end()
    assert started.returned == {"at_ms": 0, "error": None}


class StillCache:
    """A cache in which nothing happens."""

    def start(self, ctx: context.Context) -> None:
        ctx.done().wait()

    def wait_for_cache_sync(self, ctx: context.Context) -> bool:
        return True


def get(url: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return {"body": answer.read().decode(), "code": answer.status}
    except urllib.error.HTTPError as err:
        with err:
            return {"body": err.read().decode(), "code": err.code}


@pytest.mark.parametrize("case", cases("controller_runtime/manager/metric_families.jsonl"))
def test_metric_families(case: dict[str, Any]) -> None:
    ctx, cancel = context.with_cancel(context.background())
    ctrl = new_unmanaged("families", ControllerOptions(reconciler=lambda ctx, request: cancel()))
    ctrl.watch(source.Func(lambda ctx, queue: queue.add(reconcile.Request("ns", "a"))))
    ctrl.start(ctx)
    queue = priorityqueue.new("families")
    queue.add("item")
    queue.shut_down()
    instrumented_hook("/hook", lambda resp, req: None)
    assert certwatcher.READ_CERTIFICATE_TOTAL and admission.WEBHOOK_PANICS and conversion.WEBHOOK_PANICS
    families = {}
    for family in metrics.REGISTRY.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        families[name] = family
    for step in case["steps"]:
        family, expect = families[step["args"]["name"]], step["expect"]
        samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
        labels = sorted({label for sample in samples for label in sample.labels} - {"le"})
        got = {"help": family.documentation, "type": family.type, "labels": labels}
        if "buckets" in expect:
            buckets = sorted({float(sample.labels["le"]) for sample in samples if "le" in sample.labels})
            got["buckets"] = buckets[:-1]
        assert got == expect, step
