"""Wrong values of the user that once failed later, in another place, or not at all: the error names value and place."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import NotRegisteredError
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import cache as crcache
from clientgo.controller_runtime import controller, handler, manager, predicate
from clientgo.controller_runtime.builder import controller_managed_by
from clientgo.controller_runtime.controller.priorityqueue import new as new_priority_queue
from clientgo.controller_runtime.event import CreateEvent
from clientgo.controller_runtime.internal.source.event_handler import require_methods
from clientgo.controller_runtime.metrics import server as metricsserver
from clientgo.controller_runtime.reconcile import Request
from clientgo.controller_runtime.webhook import admission
from clientgo.dynamic import fake as dynamic_fake
from clientgo.dynamic.dynamicinformer import new_filtered_dynamic_informer
from clientgo.informers.internalinterfaces import InformerOptions
from clientgo.klog.answers import is_true
from clientgo.kubernetes import fake
from clientgo.kubernetes.scheme import SCHEME
from clientgo.kubernetes.typed.core.v1 import EventSinkImpl
from clientgo.listers.core import v1 as corelisters
from clientgo.rest.plugin import get_auth_provider, register_auth_provider_plugin
from clientgo.tools import cache, events, leaderelection, record
from clientgo.tools.cache.fifo_metrics import new_fifo_metrics, new_handler_metrics, new_store_metrics
from clientgo.tools.cache.listwatch import list_from, to_lister_watcher_with_context, watch_from
from clientgo.tools.clientcmd.api import AuthProviderConfig
from clientgo.tools.leaderelection import resourcelock
from clientgo.tools.leaderelection.metrics import _LeaderMetricsFactory
from clientgo.tools.metrics import metrics
from clientgo.util import workqueue


class Gauge:
    """A metric, given as a class in place of an object."""

    def set(self, value: float) -> None: ...

    def observe(self, value: float) -> None: ...


class Provider:
    """A factory of metrics, of plugins and of clients whose functions lack their return, or return a class."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def __getattr__(self, name: str) -> Callable[..., object]:
        def creates(*args: object) -> object:
            return self._answer

        return creates


def queue_with(provider: Any) -> None:
    config = workqueue.TypedRateLimitingQueueConfig[str](name="foos", metrics_provider=provider)
    limiter = workqueue.default_typed_controller_rate_limiter()
    workqueue.new_typed_rate_limiting_queue_with_config(limiter, config)


def elector_with(provider: Any) -> None:
    factory = _LeaderMetricsFactory()
    factory.set_provider(provider)
    factory.new_leader_metrics()


PODS = corev1.SCHEME_GROUP_VERSION.with_resource("pods")
CTX = context.background()


def informer_with(create: Callable[..., object], *args: Any) -> Callable[[Any], None]:
    def use(provider: Any) -> None:
        name = cache.new_informer_name("wrong-arguments")
        try:
            create(name.with_resource(PODS), *args, provider)
        finally:
            name.release()

    return use


@pytest.mark.parametrize("answer", [None, Gauge, object()])
@pytest.mark.parametrize(
    "use",
    [
        queue_with,
        elector_with,
        informer_with(new_fifo_metrics),
        informer_with(new_store_metrics),
        informer_with(new_handler_metrics, "handler"),
    ],
)
def test_a_provider_of_metrics_that_returns_none_or_a_class_is_named(use: Any, answer: object) -> None:
    with pytest.raises(TypeError, match=r"creates at test_wrong_arguments.py:\d+ returned .*(methods|not the class)"):
        use(Provider(answer))


def test_a_hook_of_the_rest_client_without_its_method_is_named() -> None:
    gauge: Any = Gauge()
    with pytest.raises(TypeError, match="RegisterOpts.request_result is .*: an object with the methods increment"):
        metrics.register(metrics.RegisterOpts(request_result=gauge))


def test_an_authentication_provider_that_returns_none_is_named() -> None:
    plugin: Any = Provider(None).plugin
    register_auth_provider_plugin("without-return", plugin)
    with pytest.raises(TypeError, match=r"creates at test_wrong_arguments.py:\d+ returned None: .* wrap_transport"):
        get_auth_provider("", AuthProviderConfig(name="without-return"), None)


def lock() -> resourcelock.LeaseLock:
    client = fake.new_simple_clientset().coordination_v1()
    meta = metav1.ObjectMeta(namespace="default", name="lock")
    return resourcelock.LeaseLock(meta, client, resourcelock.ResourceLockConfig(identity="me"))


def elected(**durations: Any) -> None:
    callbacks = leaderelection.LeaderCallbacks(on_started_leading=lambda ctx: None, on_stopped_leading=lambda: None)
    settings: dict[str, Any] = {"lease_duration": 15, "renew_deadline": 10, "retry_period": 2, **durations}
    leaderelection.new_leader_elector(leaderelection.LeaderElectionConfig(lock=lock(), callbacks=callbacks, **settings))


def resynced(period: Any) -> None:
    cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), period, {})


def handled(period: Any) -> None:
    informer = cache.new_shared_index_informer(cache.ListWatch(), corev1.Pod(), 0.0, {})
    informer.add_event_handler_with_resync_period(cache.ResourceEventHandlerFuncs(), period)


def delayed(duration: Any) -> None:
    queue = workqueue.new_typed_delaying_queue()
    try:
        queue.add_after("a", duration)
    finally:
        queue.shut_down()


def prioritized(duration: Any) -> None:
    queue = new_priority_queue("a")
    try:
        queue.add_after("a", duration)
    finally:
        queue.shut_down()


def managed(timeout: Any) -> None:
    timeout = "" if timeout is None else timeout  # None selects the default
    config = rest.Config(host="localhost")
    manager.new(config, manager.Options(graceful_shutdown_timeout=timeout))


def cached(period: Any) -> None:
    period = "" if period is None else period
    options = {"http_client": object(), "scheme": SCHEME, "mapper": object(), "sync_period": period}
    crcache.new(rest.Config(host="localhost"), crcache.Options(**options))


def controlled(timeout: Any) -> None:
    options = controller.Options(reconciler=lambda ctx, request: None, reconciliation_timeout=timeout)
    controller.new_unmanaged("controlled", options)


def reflected(period: Any) -> None:
    cache.new_reflector(cache.ListWatch(), corev1.Pod(), cache.new_store(cache.meta_namespace_key_func), period)


@pytest.mark.parametrize("duration", ["15s", datetime.timedelta(seconds=15), None])
@pytest.mark.parametrize(
    "use",
    [
        lambda duration: elected(lease_duration=duration),
        lambda duration: elected(retry_period=duration),
        lambda duration: handled(duration) if duration is not None else resynced(duration),
        resynced,
        reflected,
        delayed,
        prioritized,
        managed,
        cached,
        controlled,
        lambda duration: context.with_timeout(context.background(), duration),
        lambda duration: context.with_deadline(context.background(), duration),
        lambda duration: wait.Backoff(duration=duration),
        lambda duration: workqueue.new_typed_item_exponential_failure_rate_limiter(duration, 1.0),
        lambda duration: workqueue.new_typed_item_exponential_failure_rate_limiter(1.0, duration),
        lambda duration: workqueue.new_typed_item_fast_slow_rate_limiter(duration, 1.0, 3),
        lambda duration: wait.poll_until_context_timeout(context.background(), duration, 1.0, True, lambda _: True),
    ],
)
def test_a_duration_is_a_number_of_seconds(use: Any, duration: object) -> None:
    with pytest.raises(TypeError, match=r"is a number of seconds; got"):
        use(duration)


@pytest.mark.parametrize("parent", [None, 5, object()])
def test_a_context_has_a_context_as_its_parent(parent: Any) -> None:
    for derive in (
        context.with_cancel,
        context.without_cancel,
        lambda ctx: context.with_timeout(ctx, 1.0),
        lambda ctx: context.with_value(ctx, object(), 1),
    ):
        with pytest.raises(TypeError, match=r"the first argument is a context, such as context.background\(\)"):
            derive(parent)


def test_a_value_of_a_context_needs_a_key() -> None:
    with pytest.raises(ValueError, match="nil key"):
        context.with_value(context.background(), None, 1)


@pytest.mark.parametrize("limiter", [None, workqueue.default_typed_controller_rate_limiter])
def test_a_rate_limiter_is_an_object_with_its_methods(limiter: Any) -> None:
    with pytest.raises(TypeError, match="rate_limiter is .*: an object with the methods when, forget, num_requeues"):
        workqueue.new_typed_rate_limiting_queue(limiter)


def test_a_lock_takes_the_client_of_coordination_and_not_the_clientset() -> None:
    clientset: Any = fake.new_simple_clientset()
    with pytest.raises(TypeError, match="client is .*: an object with the methods leases is required"):
        resourcelock.LeaseLock(metav1.ObjectMeta(), clientset, resourcelock.ResourceLockConfig(identity="me"))


@pytest.mark.parametrize("source", [None, object(), cache.ListWatch])
def test_an_informer_takes_a_source_of_lists_and_watches(source: Any) -> None:
    with pytest.raises(TypeError, match="the source of an informer or a reflector is .* is required"):
        cache.new_shared_informer(source, corev1.Pod(), 0.0)


class Old:
    """A source without contexts."""

    def __init__(self, source: cache.ListWatch) -> None:
        self.list = source.list
        self.watch = source.watch


async def asleep(*args: object) -> None:
    raise AssertionError("never runs")


def lazy(*args: object) -> Any:
    yield args


@pytest.mark.parametrize(
    "function", [lambda o: None, lambda o: {"items": []}, lambda o: [], lambda o: (corev1.PodList(), None)]
)
def test_a_list_function_that_returns_no_list_is_named(function: Any) -> None:
    options = metav1.ListOptions()
    message = r"returned object must be a list: .* at test_wrong_arguments.py:\d+ returned"
    with_context = cache.ListWatch(list_with_context_func=lambda ctx, opts: function(opts))
    for source in (cache.ListWatch(list_func=function), with_context):
        for wrapped in (source, Old(source)):
            with pytest.raises(TypeError, match=message):
                list_from(to_lister_watcher_with_context(wrapped), context.background(), options)


def test_errors_and_coroutines_of_list_and_watch_functions_are_raised() -> None:
    options, returned = metav1.ListOptions(), cache.ListWatch(list_func=lambda o: LookupError("a"))  # type: ignore
    with pytest.raises(LookupError):
        list_from(returned, context.background(), options)
    source: Any = Old(returned)
    source.list = source.watch = asleep
    for use in (list_from, watch_from):
        with pytest.raises(TypeError, match="asleep is an async function: define it with def"):
            use(to_lister_watcher_with_context(source), context.background(), options)


@pytest.mark.parametrize("function", [lambda o: None, lambda o: corev1.PodList(), lambda o: (None, None)])
def test_a_watch_function_that_returns_no_watch_is_named(function: Any) -> None:
    source = cache.ListWatch(watch_func=function)
    for wrapped in (source, Old(source)):
        with pytest.raises(TypeError, match=r"at test_wrong_arguments.py:\d+ returned .*methods result_chan, stop"):
            watch_from(to_lister_watcher_with_context(wrapped), context.background(), metav1.ListOptions())


@pytest.mark.parametrize("namespace", [None, 5, corev1.Namespace()])
def test_a_namespace_is_a_text(namespace: Any) -> None:
    for use in (
        fake.new_simple_clientset().core_v1().pods,
        kubernetes.new_for_config(rest.Config(host="localhost")).core_v1().pods,
    ):
        with pytest.raises(TypeError, match='a namespace is a str, or "" for all namespaces; got'):
            use(namespace)


@pytest.mark.parametrize("data", ["{}", {"metadata": {}}, None])
def test_the_data_of_a_patch_are_bytes_and_not_the_name_of_a_file(data: Any) -> None:
    pods = kubernetes.new_for_config(rest.Config(host="localhost")).core_v1().pods("default")
    with pytest.raises(TypeError, match=r"the data of a patch are bytes, such as json.dumps\(...\).encode\(\); got"):
        pods.patch(context.background(), "a", "application/merge-patch+json", data)


@pytest.mark.parametrize("config", [None, "/tmp/kubeconfig", {}, rest.Config])
def test_a_clientset_takes_a_config_and_not_the_path_of_one(config: Any) -> None:
    with pytest.raises(TypeError, match="a rest.Config is required, as from clientcmd.build_config_from_flags"):
        kubernetes.new_for_config(config)


def selects(options: metav1.ListOptions) -> Any:
    return metav1.ListOptions(label_selector="a=b")


def test_a_function_that_returns_new_list_options_is_named() -> None:
    # given
    tweak = InformerOptions(tweak_list_options=selects).tweak_list_options
    assert tweak is not None
    client = dynamic_fake.new_simple_dynamic_client(SCHEME)
    dynamic = new_filtered_dynamic_informer(client, PODS, "", 0.0, {}, selects).informer()
    # when, then
    for call in (tweak, dynamic._lister_watcher.list):  # type: ignore[attr-defined]
        with pytest.raises(TypeError, match=r"selects at test_wrong_arguments.py:\d+ returned new options: change"):
            call(metav1.ListOptions())


def no_return(obj: Any) -> Any:
    cache.meta_namespace_key_func(obj)


NO_KEY = r"no_return at test_wrong_arguments.py:\d+ returned None: a key function returns the object's key"


def test_a_key_function_without_a_return_is_named() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(name="a", namespace="b"))
    store, fifo, expiring = cache.new_store(no_return), cache.new_fifo(no_return), cache.new_ttl_store(no_return, 1.0)
    for call in (store.add, store.update, store.delete, store.get, fifo.add, expiring.add):
        with pytest.raises(Exception, match=NO_KEY):
            call(pod)
    with pytest.raises(Exception, match=NO_KEY):
        store.replace([pod], "1")
    assert store.list() == []
    delta_fifo = cache.new_delta_fifo_with_options(cache.DeltaFIFOOptions(key_function=no_return))
    real_fifo = cache.new_real_fifo_with_options(cache.RealFIFOOptions(key_function=no_return, known_objects=store))
    for add in (cache.new_heap(no_return, lambda a, b: False).add, delta_fifo.add, real_fifo.add):
        with pytest.raises(Exception, match=NO_KEY):
            add(pod)


@pytest.mark.parametrize("functions", [{"add_func": 5}, {"update_func": "changed"}, {"delete_func": []}])
def test_the_functions_of_an_event_handler_are_functions(functions: Any) -> None:
    direct = cache.ResourceEventHandlerFuncs(**functions)
    informer = cache.new_shared_informer(cache.ListWatch(), corev1.Pod(), 0.0)
    filtered: Any = cache.FilteringResourceEventHandler(None, cache.ResourceEventHandlerFuncs())  # type: ignore
    for each in (direct, filtered):
        with pytest.raises(TypeError, match=r"the \w+_func of an event handler is a function; got"):
            informer.add_event_handler(each)


@pytest.mark.parametrize("selector", [None, {"app": "web"}, "app=web"])
def test_a_lister_names_the_function_that_makes_a_selector(selector: Any) -> None:
    lister = corelisters.new_pod_lister(cache.new_indexer(cache.meta_namespace_key_func, {}))
    for each in (lister, lister.pods("default")):
        with pytest.raises(TypeError, match=r"expected a selector, got .*; labels\.\w+"):
            each.list(selector)


def test_the_sink_and_the_handler_of_a_broadcaster_are_checked_at_its_start() -> None:
    broadcaster, client = record.new_broadcaster(), fake.new_simple_clientset()
    try:
        for sink in (None, client, client.core_v1()):
            with pytest.raises(TypeError, match="the sink of events is .*: an object with the methods create, update"):
                broadcaster.start_recording_to_sink(sink)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="the handler of events is a function; got None"):
            broadcaster.start_event_watcher(None)  # type: ignore[arg-type]
    finally:
        broadcaster.shutdown()
    for impl in (EventSinkImpl, events.EventSinkImpl):
        with pytest.raises(TypeError, match="the client of events is .* is required"):
            impl(client)  # type: ignore[arg-type]


class Recorded:
    """A queue that takes everything."""

    def add(self, item: object) -> None: ...


@pytest.mark.parametrize(
    "function",
    [lambda ctx, obj: None, lambda ctx, obj: Request("b", "a"), lambda ctx, obj: "b/a", lambda obj: [], asleep],
)
def test_a_map_function_that_returns_no_list_is_named(function: Any) -> None:
    event: Any = CreateEvent(object=corev1.Pod())
    queue: Any = Recorded()
    with pytest.raises(TypeError, match=r"(test_wrong_arguments.py:\d+|asleep is an async function)"):
        handler.enqueue_requests_from_map_func(function).create(context.background(), event, queue)


def test_the_functions_of_handlers_predicates_and_checks_are_functions() -> None:
    wrong: Any = 5
    events = ("create", "update", "delete", "generic")
    predicates = [predicate.Funcs(update_func=wrong)]
    for part, others in ((handler.Funcs(create_func=wrong), []), (handler.Funcs(), predicates)):
        with pytest.raises(TypeError, match=r"the \w+_func of a handler or predicate is a function; got 5"):
            require_methods(part, others, events)
    mgr = manager.new(rest.Config(host="localhost"), manager.Options(metrics=metricsserver.Options(bind_address="0")))
    for add in (mgr.add_healthz_check, mgr.add_readyz_check):
        with pytest.raises(TypeError, match="the check 'ping' is a function; got 5"):
            add("ping", wrong)


def test_a_predicate_with_too_few_parameters_is_named_with_its_place() -> None:
    no_parameter: Any = lambda: True  # noqa: E731
    with pytest.raises(TypeError, match=r"takes 0 positional arguments but 1 was given: .* at test_wrong_arguments.py"):
        is_true(no_parameter, object())


@pytest.mark.parametrize("value", [None, "ConfigMap", 5])
def test_a_value_that_is_no_object_has_no_kind(value: Any) -> None:
    with pytest.raises(NotRegisteredError, match="no kind is registered for the type"):
        SCHEME.object_kinds(value)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: managed_by(metrics=None), r"Options.metrics must be an object of .*server.Options; got None"),
        (lambda: managed_by(scheme=[SCHEME]), r"Options.scheme must be an object of .*Scheme; got \["),
        (lambda: managed_by(leader_election="true"), "Options.leader_election must be True or False; got 'true'"),
        (lambda: managed_by(cache=crcache.Options), "Options.cache must be an object of .*; got <class"),
        (lambda: cached_in(["default"]), r"Options.default_namespaces must be a dict; got \['default'\]"),
        (lambda: cached_in("default"), "Options.default_namespaces must be a dict; got 'default'"),
        (lambda: cached_in({"a": None}), "the value of the namespace 'a' must be an object of .*Config; got None"),
        (lambda: new_builder().with_options({}), "with_options must be an object of .*TypedOptions; got {}"),
        (lambda: new_builder().for_("Pod"), "for_: expected an object of a resource, or a class of them, got str"),
        (lambda: new_builder().owns(Gauge), "owns: expected an object of a resource, .* got the class Gauge"),
        (lambda: new_builder().watches(None, Recorded()), "watches: expected an object of a resource, .* got NoneType"),
        (lambda: rest.copy_config(rest.Config(host=b"x")), "Config.host must be a str; got b'x'"),
        (lambda: rest.copy_config(rest.Config(next_protos="h2")), "Config.next_protos must be a list; got 'h2'"),
        (lambda: metricsserver.new_server({}, rest.Config(), object()), "options of a metrics server must be"),
        (lambda: manager.new(manager.Options(), rest.Config()), "options of a manager must be an object of"),
        (lambda: cache.split_meta_namespace_key(None), 'a key is a str, such as "namespace/name"; got None'),
        (lambda: started_logging(None), "the handler of events is a function; got None"),
        (lambda: started_logging(lambda event: None), "the handler of events is called with .*, and accepts"),
        (lambda: admission.with_validator(SCHEME, corev1.Pod, Gauge()), "the validator is .* methods validate_create"),
        (lambda: admission.with_defaulter(SCHEME, corev1.Pod, Defaulter), "the defaulter is .* not the class"),
        (lambda: admission.with_defaulter(SCHEME, corev1.Pod, Defaulter()), "method default of the defaulter is"),
        (lambda: leaderelection.run_while_leading(CTX, lock(), asleep), "the work of a leader is an async"),
        (lambda: InformerOptions(tweak_list_options=lambda: None), "changes list options is called with"),
        (lambda: queue_with(Provider(AsyncGauge())), "method inc of the result of .*creates at .* is an async"),
    ],
)
def test_arguments_of_another_type_are_refused_where_they_are_given(use: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        use()


def test_options_in_usual_types_are_not_refused() -> None:
    config = rest.Config(host="localhost", ca_file=Path("ca.crt"), bearer_token=None, insecure=1)  # type: ignore
    assert rest.copy_config(config) == config
    builder = new_builder()
    builder.with_options(controller.Options(recover_panic=None))
    builder.for_(corev1.Pod()).owns(corev1.Secret)
    builder._waits_for_complete = False


class Defaulter:
    async def default(self, ctx: object, obj: object) -> None: ...


class AsyncGauge:
    async def inc(self) -> None: ...

    async def dec(self) -> None: ...


def managed_by(**options: Any) -> None:
    manager.new(rest.Config(host="localhost"), manager.Options(**options))


def cached_in(namespaces: Any) -> None:
    crcache.new(rest.Config(host="localhost"), crcache.Options(default_namespaces=namespaces))


def new_builder() -> Any:
    builder = controller_managed_by(cast(Any, None))
    builder._waits_for_complete = False
    return builder


def started_logging(function: Any) -> None:
    broadcaster = record.new_broadcaster()
    try:
        broadcaster.start_logging(function)
    finally:
        broadcaster.shutdown()
