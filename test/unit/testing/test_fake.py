"""Actions and the fake client that records and answers them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clientgo import context, testing
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import watch
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionKind, GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.kubernetes import fake
from clientgo.kubernetes.clientset import Clientset

PODS = GroupVersionResource("", "v1", "pods")
POD = GroupVersionKind("", "v1", "Pod")


def pod(name: str = "a") -> corev1.Pod:
    return corev1.Pod(metadata=metav1.ObjectMeta(name=name, namespace="ns"))


def test_recorded_action_is_not_altered_by_reactors() -> None:
    """Go: TestOriginalObjectCaptured"""
    fake = testing.Fake()

    def label(action: Any) -> tuple[bool, Any]:
        action.object.metadata.labels["changed"] = "yes"
        return True, action.object

    fake.add_reactor("create", "pods", label)
    original = pod()
    result: Any = fake.invokes(testing.new_create_action(PODS, "ns", original), None)

    assert result.metadata.labels == {"changed": "yes"}
    (recorded,) = fake.actions()
    assert isinstance(recorded, testing.CreateActionImpl)
    assert recorded.object.metadata.labels == {}
    assert original.metadata.labels == {}


def test_later_reactors_see_what_earlier_ones_changed() -> None:
    """Go: TestReactorChangesPersisted"""
    fake = testing.Fake()
    tracker = testing.new_object_tracker(scheme(), decoder())

    def label(action: Any) -> tuple[bool, Any]:
        action.object.metadata.labels["changed"] = "yes"
        return False, None

    fake.add_reactor("*", "*", label)
    fake.add_reactor("*", "*", testing.object_reaction(tracker))
    fake.invokes(testing.new_create_action(PODS, "ns", pod()), None)

    stored: Any = tracker.get(PODS, "ns", "a")
    assert stored.metadata.labels == {"changed": "yes"}
    (recorded,) = fake.actions()
    assert isinstance(recorded, testing.CreateActionImpl)
    assert recorded.object.metadata.labels == {}


def scheme() -> Any:
    from clientgo.kubernetes.scheme import SCHEME

    return SCHEME


def decoder() -> Any:
    from clientgo.kubernetes.scheme import CODECS

    return CODECS.universal_deserializer()


def test_first_reactor_that_handles_answers() -> None:
    fake = testing.Fake()
    asked: list[str] = []

    def reaction(name: str, handled: bool) -> testing.ReactionFunc:
        def react(action: testing.Action) -> tuple[bool, Any]:
            asked.append(name)
            return handled, pod(name)

        return react

    fake.add_reactor("get", "pods", reaction("declines", False))
    fake.add_reactor("get", "pods", reaction("answers", True))
    fake.add_reactor("get", "pods", reaction("never", True))
    fake.prepend_reactor("list", "pods", reaction("other verb", True))
    fake.prepend_reactor("*", "pods", reaction("first", False))

    result = fake.invokes(testing.new_get_action(PODS, "ns", "a"), None)

    assert isinstance(result, corev1.Pod)
    assert result.metadata.name == "answers"
    assert asked == ["first", "declines", "answers"]


def test_unhandled_action_returns_the_default() -> None:
    default = pod("default")
    assert testing.Fake().invokes(testing.new_get_action(PODS, "ns", "a"), default) is default


def test_error_of_a_reactor_is_raised() -> None:
    fake = testing.Fake()

    def fail(action: testing.Action) -> tuple[bool, Any]:
        raise ValueError("no pods today")

    fake.add_reactor("*", "*", fail)
    with pytest.raises(ValueError, match="no pods today"):
        fake.invokes(testing.new_get_action(PODS, "ns", "a"), None)
    assert len(fake.actions()) == 1
    fake.clear_actions()
    assert fake.actions() == []


@pytest.mark.parametrize("answer", [None, True, (True, None, ValueError("as in Go"))])
def test_an_answer_of_the_wrong_shape_says_what_a_reaction_returns(answer: Any) -> None:
    fake = testing.Fake()
    fake.add_reactor("get", "pods", lambda action: answer)
    fake.add_watch_reactor("pods", lambda action: answer)
    fake.add_proxy_reactor("pods", lambda action: answer)
    complaint = r"SimpleR.* returned .*; a reaction returns \(handled, result\) and raises its error"

    with pytest.raises(TypeError, match=complaint):
        fake.invokes(testing.new_get_action(PODS, "ns", "a"), None)
    with pytest.raises(TypeError, match=complaint.replace("SimpleR", "SimpleWatchR")):
        fake.invokes_watch(testing.new_watch_action(PODS, "ns", metav1.ListOptions()))
    with pytest.raises(TypeError, match=complaint.replace("SimpleR", "SimpleProxyR")):
        fake.invokes_proxy(testing.new_proxy_get_action(PODS, "ns", "http", "a", "80", "/", {}))


def test_watch_reactors() -> None:
    fake = testing.Fake()
    first, second = watch.new_race_free_fake(), watch.new_race_free_fake()
    action = testing.new_watch_action(PODS, "ns", metav1.ListOptions())
    with pytest.raises(RuntimeError, match="unhandled watch"):
        fake.invokes_watch(action)

    fake.add_watch_reactor("pods", testing.default_watch_reactor(first))
    assert fake.invokes_watch(action) is first
    fake.prepend_watch_reactor("*", testing.default_watch_reactor(second))
    assert fake.invokes_watch(action) is second
    fake.prepend_watch_reactor("pods", testing.default_watch_reactor(None, ValueError("no watches")))
    with pytest.raises(ValueError, match="no watches"):
        fake.invokes_watch(action)


def test_proxy_reactors() -> None:
    fake = testing.Fake()
    action = testing.new_proxy_get_action(PODS, "ns", "http", "a", "80", "/", {"q": "1"})
    assert fake.invokes_proxy(action) is None

    response: Any = object()
    fake.add_proxy_reactor("pods", lambda action: (True, response))

    def fail(action: testing.Action) -> tuple[bool, Any]:
        raise ValueError

    fake.prepend_proxy_reactor("*", fail)
    assert fake.invokes_proxy(action) is response


@pytest.mark.parametrize(
    ("verb", "resource", "expected"),
    [
        ("get", "pods", True),
        ("GET", "Pods", True),
        ("list", "pods", False),
        ("get", "nodes", False),
        ("get", "pods/status", True),
        ("get", "pods/log", False),
        ("get", "nodes/status", False),
    ],
)
def test_matches(verb: str, resource: str, expected: bool) -> None:
    action = testing.new_get_subresource_action(PODS, "ns", "status", "a")
    assert action.matches(verb, resource) == expected


def test_constructors_fill_every_field() -> None:
    get = testing.new_get_action(PODS, "ns", "a")
    assert (get.get_verb(), get.get_resource(), get.get_namespace(), get.get_name()) == ("get", PODS, "ns", "a")
    assert testing.new_root_get_action(PODS, "a") == testing.new_get_action(PODS, "", "a")

    patch = testing.new_patch_subresource_action(PODS, "ns", "a", PatchType.MERGE, b"{}", "status", "deep")
    assert (patch.subresource, patch.patch_type, patch.patch) == ("status/deep", PatchType.MERGE, b"{}")
    assert testing.new_root_patch_action(PODS, "a", PatchType.MERGE, b"{}").subresource == ""

    options = metav1.ListOptions(label_selector="a=b", field_selector="x=y", resource_version="5")
    listed = testing.new_list_action_with_options(PODS, POD, "ns", options)
    assert (str(listed.list_restrictions.labels), str(listed.list_restrictions.fields)) == ("a=b", "x=y")
    assert listed.list_options.resource_version == "5"
    assert testing.new_list_action(PODS, POD, "ns", options).list_options.resource_version == ""

    watched = testing.new_root_watch_action(PODS, options)
    assert (watched.verb, watched.watch_restrictions.resource_version) == ("watch", "5")

    deleted = testing.new_delete_collection_action(PODS, "ns", options)
    assert (deleted.verb, str(deleted.list_restrictions.labels)) == ("delete-collection", "a=b")

    created = testing.new_create_subresource_action(PODS, "a", "eviction", "ns", pod())
    assert (created.name, created.subresource, created.namespace) == ("a", "eviction", "ns")
    updated = testing.new_update_subresource_action(PODS, "status", "ns", pod())
    assert (updated.subresource, updated.namespace, updated.get_object()) == ("status", "ns", pod())


def test_invalid_selectors_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid selector"):
        testing.new_watch_action(PODS, "ns", metav1.ListOptions(label_selector="a in b"))
    with pytest.raises(TypeError, match="expect a ListOptions str"):
        testing.new_root_list_action(PODS, POD, "a=b")


def test_deep_copy_shares_no_object() -> None:
    action = testing.new_update_action(PODS, "ns", pod())
    copy = action.deep_copy()
    assert copy == action
    copy.object.metadata.labels["a"] = "b"
    copy.update_options.field_manager = "me"
    assert copy != action
    assert action.object.metadata.labels == {}
    assert action.update_options.field_manager == ""


def test_every_public_name_loads() -> None:
    for name in testing.__all__:
        assert getattr(testing, name) is not None
    assert set(testing.__all__) <= set(dir(testing))
    with pytest.raises(AttributeError):
        _ = testing.no_such_name  # type: ignore[attr-defined]


CTX = context.background()
_POD: dict[str, Any] = {"metadata": {"name": "web", "namespace": "default"}}


def patched(clientset: Clientset, patch_type: PatchType, patch: Any) -> corev1.Pod:
    pods = clientset.core_v1().pods("default")
    return pods.patch(CTX, "web", patch_type, json.dumps(patch).encode(), metav1.PatchOptions())


@pytest.mark.parametrize(
    ("spec", "patch"),
    [
        ({}, {"spec": {"$patch": "unknown"}}),
        ({}, {"metadata": {"$patch": "merge"}}),
        ({}, {"status": {"$patch": None}}),
        (
            {"containers": [{"name": "a"}]},
            {"spec": {"containers": [{"name": "a", "resources": {"$patch": "unknown"}}]}},
        ),
    ],
)
def test_an_unknown_directive_for_a_struct_that_the_object_lacks_is_refused(spec: Any, patch: Any) -> None:
    """Go's encoder writes such a struct as {}, and the patch meets it there."""
    clientset = fake.new_clientset(corev1.Pod.from_dict({**_POD, **({"spec": spec} if spec else {})}))
    with pytest.raises(ValueError, match="unknown patch type: "):
        patched(clientset, PatchType.STRATEGIC_MERGE, patch)


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ([{"op": "add", "path": "/status/phase", "value": "Running"}], {"status": {"phase": "Running"}}),
        ([{"op": "test", "path": "/status", "value": {}}], {}),
        ([{"op": "test", "path": "/spec/containers", "value": None}], {}),
        (
            [{"op": "replace", "path": "/spec/containers", "value": [{"name": "a"}]}],
            {"spec": {"containers": [{"name": "a"}]}},
        ),
    ],
)
def test_a_json_patch_finds_the_zero_values_that_go_writes(patch: Any, changed: dict[str, Any]) -> None:
    """The patched object has no zero values that neither the object nor the patch has."""
    clientset = fake.new_clientset(corev1.Pod.from_dict(_POD))
    assert patched(clientset, PatchType.JSON, patch).to_dict() == {**_POD, **changed}


def test_a_null_element_becomes_the_zero_value_of_its_type() -> None:
    clientset = fake.new_clientset(corev1.Pod.from_dict(_POD))
    change = {"metadata": {"finalizers": [None]}, "spec": {"containers": [None]}}
    pod = patched(clientset, PatchType.MERGE, change)
    assert pod.spec.containers[0].name == "" and list(pod.metadata.finalizers) == [""]
