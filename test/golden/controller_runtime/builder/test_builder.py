"""The sources, predicates, loggers and reconcilers of a builder's controller, compared with Go's."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from ctrlgolden import TYPED, FakeCache, rest_mapper, show, to_object
from goldenfile import cases

from clientgo import context, logr
from clientgo.controller_runtime import builder, config, controller, handler, predicate
from clientgo.controller_runtime.reconcile import Request
from clientgo.kubernetes.scheme import SCHEME
from clientgo.testing import synctest


@pytest.fixture
def bubble() -> Iterator[synctest.Bubble]:
    with synctest.bubble(start=0.0) as b:
        yield b


class Sink:
    """Notes lines with their values."""

    def __init__(self, lines: list[tuple[str, dict[str, Any]]], values: dict[str, Any] | None = None) -> None:
        self.lines = lines
        self.values = values or {}

    def init(self, info: logr.RuntimeInfo) -> None:
        pass

    def enabled(self, level: int) -> bool:
        return True

    def info(self, level: int, msg: str, /, **pairs: object) -> None:
        self.lines.append((msg, self.values | pairs))

    def error(self, err: BaseException | None, msg: str, /, **pairs: object) -> None:
        self.lines.append((msg, self.values | pairs | {"error": err}))

    def with_values(self, /, **pairs: object) -> Sink:
        return Sink(self.lines, self.values | pairs)

    def with_name(self, name: str) -> Sink:
        return self


class FakeManager:
    """The part of a manager that a builder needs."""

    def __init__(self, defaults: config.Controller) -> None:
        self.cache = FakeCache()
        self.added: list[Any] = []
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.logger = logr.new(Sink(self.lines))
        self.defaults = defaults
        self.defaults.logger = self.logger
        self.mapper = rest_mapper()

    def get_cache(self) -> Any:
        return self.cache

    def get_scheme(self) -> Any:
        return SCHEME

    def get_rest_mapper(self) -> Any:
        return self.mapper

    def get_logger(self) -> Any:
        return self.logger

    def get_controller_options(self) -> config.Controller:
        return self.defaults

    def add(self, r: Any, /) -> None:
        self.added.append(r)


PREDICATES: dict[str, Any] = {
    "generation_changed": predicate.GenerationChangedPredicate(),
    "resource_version_changed": predicate.ResourceVersionChangedPredicate(),
    "label app=a": predicate.new_predicate_funcs(lambda obj: obj.get_labels().get("app") == "a"),
    "no deletes": predicate.Funcs(delete_func=lambda e: False),
}


def options_of(call: dict[str, Any]) -> list[Any]:
    options: list[Any] = []
    if call.get("predicates"):
        options.append(builder.with_predicates(*(PREDICATES[name] for name in call["predicates"])))
    if call.get("match_every_owner"):
        options.append(builder.MATCH_EVERY_OWNER)
    return options


def apply(blder: Any, call: dict[str, Any]) -> Any:
    match call["call"]:
        case "for":
            return blder.for_(TYPED[call["kind"]], *options_of(call))
        case "owns":
            return blder.owns(TYPED[call["kind"]], *options_of(call))
        case "watches":
            assert call["handler"] == "map func to <kind>-of/<name>"
            prefix = f"{call['kind'].lower()}-of"
            mapped = handler.enqueue_requests_from_map_func(lambda ctx, obj: [Request(prefix, obj.get_name())])
            return blder.watches(TYPED[call["kind"]], mapped, *options_of(call))
        case "named":
            return blder.named(call["name"])
        case "with_event_filter":
            return blder.with_event_filter(PREDICATES[call["predicate"]])
        case "with_options":
            options = controller.Options(max_concurrent_reconciles=call["max_concurrent_reconciles"])
            return blder.with_options(options)
        case name:
            raise AssertionError(name)


@pytest.mark.parametrize("case", cases("controller_runtime/builder/builder.jsonl"))
def test_builder(bubble: synctest.Bubble, case: dict[str, Any]) -> None:
    """The sources, the predicates, the number of workers and the logger of the controller equal Go's.

    Go: builder: application > New
    Go: builder: application > Start with ControllerManagedBy
    Go: builder: application > Set custom predicates
    """
    defaults = config.Controller(
        skip_name_validation=True, group_kind_concurrency=case["config"].get("group_kind_concurrency", {})
    )
    mgr = FakeManager(defaults)
    blder: Any = builder.controller_managed_by(mgr)  # type: ignore[arg-type]
    for call in case["config"]["calls"]:
        blder = apply(blder, call)
    reconciled: list[str] = []
    ctx, cancel = context.with_cancel(context.background())
    threads: list[threading.Thread] = []
    ctrl: Any = None
    try:
        for step in case["steps"]:
            args, got = step["args"], {}
            match step["op"]:
                case "build":
                    reconciler = None if "reconciler" in args else lambda ctx, request: reconciled.append(show(request))
                    try:
                        ctrl = blder.build(reconciler)
                        got["error"] = None
                    except Exception as err:
                        got["error"] = str(err)
                case "logger":
                    ctrl.get_logger().info("values")
                    got["values"] = mgr.lines.pop()[1]
                case "start":
                    threads.append(threading.Thread(target=ctrl.start, args=(ctx,), name="controller"))
                    threads[-1].start()
                    bubble.wait()
                    started = dict(mgr.lines)
                    sources = [values["source"] for msg, values in mgr.lines if msg == "Starting EventSource"]
                    got["sources_sorted"] = sorted(sources)
                    got["worker_count"] = str(started["Starting workers"]["worker count"])
                    names = [name.replace("*v1.", "") for name in step["expect"]["sources_sorted"]]
                    step["expect"]["sources_sorted"] = sorted(names)
                case _:
                    deliver(mgr.cache, step["op"], args)
                    bubble.wait()
                    got["reconciled_sorted_unique"] = sorted(set(reconciled))
                    reconciled.clear()
            assert got == step["expect"], (step, got)
    finally:
        cancel()
        for thread in threads:
            thread.join()


def deliver(cache: FakeCache, op: str, args: dict[str, Any]) -> None:
    objects = [to_object(args[name]) for name in ("old", "new", "object") if name in args]
    informer = cache.informers.get(objects[0].kind)
    if informer is not None:
        getattr(informer, op.removeprefix("informer_"))(*objects)


_cases = Counter[str]()


@pytest.mark.parametrize("case", cases("controller_runtime/builder/controller_new.jsonl"))
def test_controller_new(case: dict[str, Any]) -> None:
    """Names, reconcilers and defaults from the manager.

    Go: controller: controller.Controller > New
    """
    given = case["config"]
    defaults = config.Controller(
        skip_name_validation=given.get("manager_skip_name_validation"),
        max_concurrent_reconciles=given.get("manager_max_concurrent_reconciles", 0),
        need_leader_election=given.get("manager_need_leader_election"),
    )
    assert {key.removeprefix("manager_") for key in given} <= vars(defaults).keys()
    mgr: Any = FakeManager(defaults)
    # Names are unique in a case; of the process they stay taken.
    _cases["controller_new"] += 1
    suffix = f"-{_cases['controller_new']}"
    for step in case["steps"]:
        args = step["args"]
        options = controller.Options(
            reconciler=None if "reconciler" in args else lambda ctx, request: None,
            skip_name_validation=args.get("skip_name_validation"),
            need_leader_election=args.get("need_leader_election"),
            max_concurrent_reconciles=args.get("max_concurrent_reconciles", 0),
        )
        name = args["name"] and args["name"] + suffix
        got: dict[str, Any] = {"error": None}
        try:
            made: Any = controller.new(name, mgr, options)
            got |= {
                "need_leader_election": made.need_leader_election(),
                "max_concurrent_reconciles": made.max_concurrent_reconciles,
            }
            assert mgr.added[-1] is made
        except ValueError as err:
            got["error"] = str(err).replace(suffix, "")
        assert {key: got[key] for key in step["expect"]} == step["expect"], (step, got)
