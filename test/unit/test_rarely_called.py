"""More functions of client-go and apimachinery that nothing in the library calls: programs ported from Go do."""

from __future__ import annotations

import functools
import logging
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from clientgo import context, discovery, gentype, klog, rest, testing
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import labels, runtime, types, watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.util import errors as utilerrors
from clientgo.apimachinery.util.net import ErrUnexpectedEOF
from clientgo.dynamic.scheme import BasicNegotiatedSerializer
from clientgo.golang import fmt
from clientgo.golang.http import Request
from clientgo.tools import record
from clientgo.tools.cache import reflector_metrics
from clientgo.tools.remotecommand import StreamOptions
from clientgo.tools.remotecommand import spdy as spdy_executor
from clientgo.utils.clock.testing import FakePassiveClock

CONFIG = rest.Config(host="http://127.0.0.1:1")


def event(reason: str = "Killing", message: str = "it was fun") -> corev1.Event:
    involved = corev1.ObjectReference(kind="Pod", namespace="ns", name="web")
    metadata = metav1.ObjectMeta(name="web.1", namespace="ns")
    return corev1.Event(metadata=metadata, involved_object=involved, reason=reason, message=message, type="Normal")


def test_the_error_of_a_precondition_has_gos_text() -> None:
    assert str(utilerrors.ErrPreconditionViolated()) == "precondition is violated"


def test_a_parameter_codec_needs_no_scheme() -> None:
    codec = runtime.new_parameter_codec(runtime.new_scheme())
    options = metav1.ListOptions(limit=5, label_selector="a=b")
    parameters = codec.encode_parameters(options, GroupVersion("", "v1"))
    assert parameters == {"limit": ["5"], "labelSelector": ["a=b"]}
    into = metav1.ListOptions()
    codec.decode_parameters(parameters, GroupVersion("", "v1"), into)
    assert (into.limit, into.label_selector) == (5, "a=b")


def test_a_simple_negotiated_serializer_has_one_media_type_and_converts_nothing() -> None:
    info, *_ = BasicNegotiatedSerializer().supported_media_types()
    serializer = runtime.new_simple_negotiated_serializer(info)
    assert serializer.supported_media_types() == [info]
    assert serializer.encoder_for_version(info.serializer, GroupVersion("apps", "v1")) is info.serializer
    assert serializer.decoder_to_version(info.serializer, GroupVersion("apps", "v1")) is info.serializer


def test_a_stream_watcher_logs_to_its_logger(
    caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    class Broken:
        def decode(self) -> tuple[watch.EventType, object]:
            raise ErrUnexpectedEOF

        def close(self) -> None: ...

    class Reporter:
        def as_object(self, err: Exception) -> object:
            raise AssertionError("an unexpected EOF is no event")

    request.addfinalizer(functools.partial(klog.set_verbosity, klog.verbosity()))
    klog.set_verbosity(4)
    with caplog.at_level(logging.DEBUG):
        logger = klog.background().with_values("watch", "pods")
        watcher = watch.new_stream_watcher_with_logger(logger, Broken(), Reporter())
        assert list(watcher.result_chan()) == []
    (line,) = [each.getMessage() for each in caplog.records if "Unexpected EOF" in each.getMessage()]
    assert 'watch="pods"' in line


def test_a_creation_timestamp_can_be_set_through_the_object() -> None:
    moment = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
    pod = corev1.Pod()
    pod.set_creation_timestamp(moment)
    assert pod.metadata.creation_timestamp == pod.get_creation_timestamp() == moment
    assert pod.to_dict()["metadata"] == {"creationTimestamp": "2027-01-02T03:04:05Z"}


def test_requirements_are_sorted_by_key() -> None:
    requirements = labels.ByKey([*labels.parse("b=1").requirements()[0], *labels.parse("a=1").requirements()[0]])
    assert (requirements.len(), requirements.less(0, 1), requirements.less(1, 0)) == (2, False, True)
    requirements.swap(0, 1)
    assert [each.key() for each in requirements] == ["a", "b"]
    requirements.swap(0, 1)
    requirements.sort()
    assert [each.key() for each in requirements] == ["a", "b"]


def test_times_and_durations_are_strings_in_openapi() -> None:
    assert (metav1.Time.openapi_schema_type(), metav1.Time.openapi_schema_format()) == (["string"], "date-time")
    assert (metav1.Duration.openapi_schema_type(), metav1.Duration.openapi_schema_format()) == (["string"], "")


def test_println_writes_gos_values_with_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    fmt.println("a", 1, True, None, [1, "b"])
    assert capsys.readouterr().out == "a 1 true <nil> [1 b]\n"


@pytest.mark.parametrize(
    ("call", "code", "line"), [("fatalln('no', 'way', 1)", 255, "no way 1"), ("exitf('no %s', 'way')", 1, "no way")]
)
def test_fatalln_and_exitf_end_the_process(call: str, code: int, line: str) -> None:
    program = f"from clientgo import klog; klog.{call}; print('not reached')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("F") and done.stderr.endswith(f"{line}\n")


def test_discovery_clients_are_made_of_a_config_or_a_rest_client() -> None:
    client = discovery.new_discovery_client_for_config_or_die(CONFIG)
    rest_client = client.rest_client()
    assert discovery.new_discovery_client(rest_client).rest_client() is rest_client
    with pytest.raises(ValueError, match="host must be a URL"):
        discovery.new_discovery_client_for_config_or_die(rest.Config(host="http://:1:2"))


def test_aggregated_discovery_in_v2beta1_is_split_like_v2() -> None:
    resource = {
        "resource": "pods", "responseKind": {"group": "", "version": "v1", "kind": "Pod"}, "scope": "Namespaced",
        "singularResource": "pod", "verbs": ["get"],
    }  # fmt: skip
    stale = {"version": "v2", "freshness": "Stale"}
    document = {"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [resource]}, stale]}]}
    groups, resources, failed = discovery.split_groups_and_resources_v2beta1(document)
    assert [version.version for version in groups.groups[0].versions] == ["v1"]
    assert [each.name for each in resources[GroupVersion("", "v1")].api_resources] == ["pods"]
    assert [str(gv) for gv in failed] == ["v2"]
    assert discovery.split_groups_and_resources(document)[0].to_dict() == groups.to_dict()


@pytest.mark.parametrize(
    ("make", "lists", "applies"),
    [
        (gentype.new_client_with_list, True, False),
        (gentype.new_client_with_apply, False, True),
        (gentype.new_client_with_list_and_apply, True, True),
    ],
)
def test_generic_clients_have_the_methods_of_their_name(make: Any, lists: bool, applies: bool) -> None:
    types_of = (corev1.Pod, corev1.PodList) if lists else (corev1.Pod,)
    client = make("pods", discovery.new_discovery_client_for_config(CONFIG).rest_client(), None, "ns", *types_of)
    assert client.get_namespace() == "ns"
    assert (hasattr(client, "list"), hasattr(client, "delete_collection")) == (lists, lists)
    assert (hasattr(client, "apply"), hasattr(client, "apply_status")) == (applies, applies)


def test_the_first_provider_of_reflector_metrics_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    factory = reflector_metrics._MetricsFactory()
    monkeypatch.setattr(reflector_metrics, "_METRICS_FACTORY", factory)
    default = factory.metrics_provider
    for name in ("lists", "watches", "short_watches"):
        getattr(default, f"new_{name}_metric")("r").inc()
    for name in ("list_duration", "items_in_list", "watch_duration", "items_in_watch"):
        getattr(default, f"new_{name}_metric")("r").observe(1.0)
    default.new_last_resource_version_metric("r").set(1.0)
    first: Any = object()
    reflector_metrics.set_reflector_metrics_provider(first)
    reflector_metrics.set_reflector_metrics_provider(default)
    assert factory.metrics_provider is first


def test_a_spam_filter_lets_a_burst_pass_and_then_its_rate() -> None:
    clock = FakePassiveClock(1_000.0)
    spam = record.new_event_source_object_spam_filter(10, 2, 0.5, clock, lambda each: each.reason)
    assert [spam.filter(event()) for _ in range(3)] == [False, False, True]
    assert not spam.filter(event(reason="Other")), "another key has its own tokens"
    clock.set_time(1_002.0)
    assert [spam.filter(event()) for _ in range(2)] == [False, True]


def test_an_aggregator_combines_the_similar_event_that_reaches_its_limit() -> None:
    aggregator = record.new_event_aggregator(
        10, record.event_aggregator_by_reason_func, record.event_aggregator_by_reason_message_func, 3, 600,
        FakePassiveClock(1_000.0),
    )  # fmt: skip
    messages = [aggregator.event_aggregate(event(message=f"m{number}"))[0].message for number in range(3)]
    assert messages == ["m0", "m1", "(combined from similar events): m2"]


def test_actions_show_what_was_requested() -> None:
    pods = GroupVersionResource("", "v1", "pods")
    patch = testing.new_patch_action(pods, "ns", "web", types.PatchType.MERGE, b"{}")
    assert (patch.get_name(), patch.get_patch_type(), patch.get_patch()) == ("web", types.PatchType.MERGE, b"{}")
    options = metav1.ListOptions(label_selector="a=b")
    listed = testing.new_list_action_with_options(pods, GroupVersionKind("", "v1", "Pod"), "ns", options)
    watched = testing.new_watch_action_with_options(pods, "ns", options)
    deleted = testing.new_delete_collection_action_with_options(pods, "ns", metav1.DeleteOptions(), options)
    assert [each.get_list_options().label_selector for each in (listed, watched, deleted)] == ["a=b"] * 3


def test_an_executor_that_rejects_redirects_uses_the_given_transport() -> None:
    class Transport:
        def round_trip(self, request: Request) -> Any:
            raise ConnectionError(f"{request.method} {request.url}")

    transport: Any = Transport()
    executor = spdy_executor.new_spdy_executor_reject_redirects(transport, transport, "POST", "http://h/exec")
    with pytest.raises(ConnectionError, match=r"^POST http://h/exec$"):
        executor.stream_with_context(context.background(), StreamOptions())
