"""Values that the fakes store after a patch: as Go writes them after it decoded the patched document.

Each answer was compared with that of client-go v0.36.0 and of controller-runtime v0.24.1.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery import runtime
from clientgo.apimachinery.api import resource
from clientgo.apimachinery.runtime import Object, timestamps
from clientgo.apimachinery.runtime.converter import decode_as_go
from clientgo.apimachinery.runtime.schema import from_api_version_and_kind
from clientgo.apimachinery.runtime.view import View
from clientgo.apimachinery.types import PatchType
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake as ctrlfake
from clientgo.kubernetes import fake as clientsetfake
from clientgo.kubernetes.scheme import SCHEME

CTX = context.background()
Json = dict[str, Any]
POD = {"metadata": {"name": "x", "namespace": "ns"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
KINDS: dict[str, tuple[str, Json]] = {
    "Pod": ("v1", POD),
    "Lease": ("coordination.k8s.io/v1", {"metadata": {"name": "x", "namespace": "ns"}}),
    "ResourceQuota": ("v1", {"metadata": {"name": "x", "namespace": "ns"}, "spec": {"hard": {"cpu": "1"}}}),
    "ConfigMap": ("v1", {"metadata": {"name": "x", "namespace": "ns"}}),
}


def object_of(kind: str) -> Any:
    version, document = KINDS[kind]
    return SCHEME.class_for(from_api_version_and_kind(version, kind)).from_dict(json.loads(json.dumps(document)))


def patched(kind: str, patch_type: PatchType, patch: str) -> Json:
    """Return the object that both fakes make of a patch."""
    target = object_of(kind)
    c = ctrlfake.new_client_builder().with_objects(object_of(kind)).build()
    c.patch(CTX, target, client.raw_patch(patch_type, patch.encode()))
    fake: Any = clientsetfake.new_clientset(object_of(kind))
    resources = {
        "Pod": lambda: fake.core_v1().pods("ns"),
        "Lease": lambda: fake.coordination_v1().leases("ns"),
        "ResourceQuota": lambda: fake.core_v1().resource_quotas("ns"),
        "ConfigMap": lambda: fake.core_v1().config_maps("ns"),
    }[kind]()
    answer = resources.patch(CTX, "x", patch_type, patch.encode())
    found: list[Json] = [answer.to_dict(), target.to_dict()]
    for document in found:
        document["metadata"].pop("resourceVersion", None)
        document["metadata"].pop("managedFields", None)
        document.pop("kind", None)
        document.pop("apiVersion", None)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("kind", "patch", "path", "want"),
    [
        ("Pod", '{"metadata":{"creationTimestamp":"2020-01-01T00:00:00.7+02:00"}}', "metadata creationTimestamp",
         "2019-12-31T22:00:00Z"),
        ("Lease", '{"spec":{"renewTime":"0001-01-01T00:00:00.000000Z"}}', "spec renewTime", None),
        ("Pod", '{"metadata":{"creationTimestamp":"2020-01-01T0:00:00Z"}}', "metadata creationTimestamp",
         "2020-01-01T00:00:00Z"),
        ("Lease", '{"spec":{"renewTime":"2020-01-01T00:00:00,123456+01:00"}}', "spec renewTime",
         "2019-12-31T23:00:00.123456Z"),
        ("ResourceQuota", '{"spec":{"hard":{"cpu":0.5}}}', "spec hard cpu", "500m"),
        ("ResourceQuota", '{"spec":{"hard":{"cpu":2}}}', "spec hard cpu", "2"),
        ("ResourceQuota", '{"spec":{"hard":{"cpu":" 1024Ki "}}}', "spec hard cpu", "1Mi"),
        ("ConfigMap", '{"binaryData":{"a":"Y\\nQ=="}}', "binaryData a", "YQ=="),
    ],
)  # fmt: skip
@pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC_MERGE])
def test_a_patched_value_has_the_form_that_go_writes(
    kind: str, patch: str, path: str, want: str | None, patch_type: PatchType
) -> None:
    found: Any = patched(kind, patch_type, patch)
    for name in path.split():
        found = found.get(name) or {}
    assert found == (want or {})


@pytest.mark.parametrize(
    ("patch_type", "patch", "want"),
    [
        (PatchType.MERGE, '{"spec":{"hard":{"cpu":1e3}}}', "1e3"),
        (PatchType.STRATEGIC_MERGE, '{"spec":{"hard":{"cpu":1e3}}}', "1k"),
        (PatchType.JSON, '[{"op":"add","path":"/spec/hard/cpu","value":1e3}]', "1e3"),
        (PatchType.JSON, '[{"op":"add","path":"/spec/hard/cpu","value":null}]', "0"),
    ],
)
def test_a_quantity_is_read_from_the_text_of_a_number(patch_type: PatchType, patch: str, want: str) -> None:
    assert patched("ResourceQuota", patch_type, patch)["spec"]["hard"] == {"cpu": want}


def test_a_null_quantity_of_a_map_reads_as_zero() -> None:
    """Go's zero value is a quantity, not nil."""
    status = corev1.NodeStatus.from_dict({"capacity": {"cpu": None}})
    assert status.capacity["cpu"].cmp(resource.parse_quantity("0")) == 0


@pytest.mark.parametrize("patch_type", [PatchType.MERGE, PatchType.STRATEGIC_MERGE])
def test_a_fake_decodes_a_failing_document_once(patch_type: PatchType, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = []
    original = View._mistyped

    def mistyped(self: View, *args: Any) -> Any:
        failures.append(args)
        return original(self, *args)

    monkeypatch.setattr(View, "_mistyped", mistyped)
    fake: Any = clientsetfake.new_clientset(object_of("Pod"))
    with pytest.raises(ValueError, match="of type int32"):
        fake.core_v1().pods("ns").patch(CTX, "x", patch_type, b'{"spec":{"priority":0.5}}')
    assert len(failures) == 1


# --- times ---


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("2020-W01-1T00:00:00Z", 'cannot parse "W01-1T00:00:00Z" as "01"'),
        ("2020-01-01T000000.0Z", 'cannot parse "0000.0Z" as ":"'),
        ("2020-01-01T00+01:00Z", 'cannot parse "+01:00Z" as ":"'),
        ("2020-01-01T00:00:00+ 1:00", 'cannot parse "+ 1:00" as "Z07:00"'),
        ("2020-01-01T00:00:00+\u0661\u0661:00", 'cannot parse "+\\xd9\\xa1\\xd9\\xa1:00" as "Z07:00"'),
        ("2020-01-501T00:00:00Z", 'cannot parse "1T00:00:00Z" as "T"'),
        ("0001-01-0000:00:00Z", 'cannot parse "00:00:00Z" as "T"'),
    ],
)
def test_a_text_that_only_python_reads_as_a_time_is_refused(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="parsing time") as caught:
        timestamps.parse_time(text)
    assert str(caught.value).endswith(error)


def test_an_hour_may_have_one_digit() -> None:
    assert timestamps.parse_time("2020-01-01T7:00:00Z") == timestamps.parse_time("2020-01-01T07:00:00Z")


# --- the names of types ---


def error_of(cls: type[Object], document: Json | list[Any]) -> str:
    with pytest.raises(ValueError) as caught:
        decode_as_go(cls, document)
    return str(caught.value)


@pytest.mark.parametrize(
    ("version", "kind", "document", "error"),
    [
        ("batch/v1beta1", "CronJob", {"spec": {"concurrencyPolicy": 3}},
         "number into Go struct field CronJobSpec.spec.concurrencyPolicy of type v1beta1.ConcurrencyPolicy"),
        ("storage.k8s.io/v1beta1", "StorageClass", {"reclaimPolicy": []},
         "array into Go struct field StorageClass.reclaimPolicy of type v1.PersistentVolumeReclaimPolicy"),
        ("extensions/v1beta1", "NetworkPolicy", {"spec": {"policyTypes": True}},
         "bool into Go struct field NetworkPolicySpec.spec.policyTypes of type []v1beta1.PolicyType"),
        ("admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration", {"webhooks": [{"rules": {}}]},
         "object into Go struct field MutatingWebhook.webhooks.rules of type []v1.RuleWithOperations"),
        ("admissionregistration.k8s.io/v1alpha1", "ValidatingAdmissionPolicyBinding",
         {"spec": {"matchResources": {"resourceRules": [{"scope": 1}]}}},
         "number into Go struct field NamedRuleWithOperations.spec.matchResources.resourceRules.scope of type "
         "v1.ScopeType"),
        ("admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", {"spec": {"matchConditions": "x"}},
         "string into Go struct field MutatingAdmissionPolicySpec.spec.matchConditions of type "
         "[]v1alpha1.MatchCondition"),
        ("resource.k8s.io/v1beta1", "ResourceSlice", {"spec": {"devices": [{"basic": {"attributes": []}}]}},
         "array into Go struct field BasicDevice.spec.devices.basic.attributes of type "
         "map[v1beta1.QualifiedName]v1beta1.DeviceAttribute"),
    ],
)  # fmt: skip
def test_errors_of_old_versions_name_their_types(version: str, kind: str, document: Json, error: str) -> None:
    cls = SCHEME.class_for(from_api_version_and_kind(version, kind))
    assert error_of(cls, document) == f"json: cannot unmarshal {error}"


class WidgetSpec(runtime.Struct):
    limits = runtime.field("limits", "map[string]resource.Quantity", default=runtime.EMPTY)
    times = runtime.field("times", "[]metav1.Time", default=runtime.EMPTY)
    micros = runtime.field("micros", "map[string]metav1.MicroTime", default=runtime.EMPTY)
    ports = runtime.field("ports", "[][]intstr.IntOrString", default=runtime.EMPTY)
    raws = runtime.field("raws", "[]runtime.RawExtension", default=runtime.EMPTY)
    timeouts = runtime.field("timeouts", "map[string]metav1.Duration", default=runtime.EMPTY)


class Widget(runtime.ResourceObject):
    spec = runtime.field("spec", "WidgetSpec", default=runtime.EMPTY)


@pytest.fixture
def widget(monkeypatch: pytest.MonkeyPatch) -> type[Widget]:
    """Return the class as if it were in a package v1alpha1."""
    module = ModuleType("example.v1alpha1.types")
    module.WidgetSpec = WidgetSpec  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(WidgetSpec, "__module__", module.__name__)
    monkeypatch.setattr(Widget, "__module__", module.__name__)
    return Widget


@pytest.mark.parametrize(
    ("field", "go_type"),
    [
        ("limits", "map[string]resource.Quantity"),
        ("times", "[]v1.Time"),
        ("micros", "map[string]v1.MicroTime"),
        ("ports", "[][]intstr.IntOrString"),
        ("raws", "[]runtime.RawExtension"),
        ("timeouts", "map[string]v1.Duration"),
    ],
)
def test_errors_of_users_types_name_go_types(widget: type[Widget], field: str, go_type: str) -> None:
    assert error_of(widget, {"spec": {field: "x"}}) == (
        f"json: cannot unmarshal string into Go struct field WidgetSpec.spec.{field} of type {go_type}"
    )
    assert error_of(widget, []) == "json: cannot unmarshal array into Go value of type v1alpha1.Widget"


def test_a_micro_time_in_a_map_needs_microseconds(widget: type[Widget]) -> None:
    assert error_of(widget, {"spec": {"micros": {"a": "2020-01-01T00:00:00Z"}}}).endswith(
        'cannot parse "Z" as ".000000"'
    )
