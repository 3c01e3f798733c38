"""Definitions from types: what each field becomes, that a server takes them, and what it then refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shop_types
import yaml
from apiclient import Api
from patience import PATIENCE
from shop_types import OldOrder, Order

from clientgo.api.core import v1 as corev1  # noqa: F401 (named in the types of fields)
from clientgo.apimachinery import runtime
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import schema
from clientgo.codegen import crds
from clientgo.testing.apiserver import Environment

ORDERS = "/apis/shop.example.com/v1/namespaces/default/orders"


def spec_of(cls: type[runtime.ResourceObject]) -> dict[str, Any]:
    (version,) = crds.crd_for(cls).to_dict()["spec"]["versions"]
    spec: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment(crds=[crds.crd_for(Order, OldOrder).to_dict()]) as started:
        yield started


@pytest.fixture
def api(env: Environment) -> Iterator[Api]:
    client = Api(env)
    yield client
    client.session.close()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("size", {"type": "string", "enum": ["S", "L"]}),
        (
            "count",
            {
                "description": "How many, of the same kind.",
                "type": "integer",
                "format": "int32",
                "default": 1,
                "minimum": 1,
                "maximum": 10,
            },
        ),
        (
            "code",
            {"description": "The name in the kitchen.", "type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        ),
        (
            "tags",
            {
                "type": "array",
                "maxItems": 2,
                "x-kubernetes-list-type": "set",
                "items": {"type": "string", "minLength": 2},
            },
        ),
        (
            "toppings",
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "description": "An ingredient on top.",
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "grams": {"type": "integer", "format": "int64"}},
                },
            },
        ),
        ("port", {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}),
        ("due", {"type": "string", "format": "date-time", "nullable": True}),
        ("weight", {"type": "number", "format": "double"}),
        ("seal", {"type": "string", "format": "byte"}),
        ("wait", {"type": "string"}),
        ("paid", {"type": "boolean"}),
        ("table", {"type": "integer", "format": "int32", "minimum": 0}),
        ("extra", {"x-kubernetes-preserve-unknown-fields": True}),
        ("pod", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_a_field_has_the_schema_of_its_type_and_its_markers(field: str, expected: dict[str, Any]) -> None:
    assert spec_of(Order)["properties"][field] == expected


def test_structs_maps_and_metadata_are_followed() -> None:
    properties = spec_of(Order)["properties"]

    template = properties["template"]
    assert template["description"] == "The dish of an order.\n\nA second paragraph, over two lines."
    assert template["maxProperties"] == 5
    metadata = template["properties"]["metadata"]["properties"]
    assert set(metadata) == {"name", "namespace", "labels", "annotations", "finalizers"}
    assert properties["prices"]["additionalProperties"]["x-kubernetes-int-or-string"] is True
    assert properties["resources"]["properties"]["claims"]["items"]["properties"]["name"] == {"type": "string"}
    assert spec_of(Order)["required"] == ["size"]
    rule = {"rule": "self.count < 5 || self.size == 'L'", "message": "too many"}
    assert spec_of(Order)["x-kubernetes-validations"] == [rule]


def test_rules_are_written_as_they_are_declared() -> None:
    rules = ["self > 1", runtime.ValidationRule("self < oldSelf", "", "'was ' + oldSelf", "Invalid", ".a", True)]
    thing = of_field("int32", 0, runtime.Schema(cel=rules))
    (version,) = crds.crd_for(thing).to_dict()["spec"]["versions"]

    assert version["schema"]["openAPIV3Schema"]["properties"]["spec"]["x-kubernetes-validations"] == [
        {"rule": "self > 1"},
        {
            "rule": "self < oldSelf",
            "messageExpression": "'was ' + oldSelf",
            "reason": "Invalid",
            "fieldPath": ".a",
            "optionalOldSelf": True,
        },
    ]


def test_the_definition_says_what_the_class_says() -> None:
    crd = crds.crd_for(Order, OldOrder).to_dict()

    assert crd["metadata"] == {"name": "orders.shop.example.com"}
    names = {"kind": "Order", "plural": "orders", "shortNames": ["ord"], "categories": ["all"]}
    assert (crd["spec"]["group"], crd["spec"]["scope"]) == ("shop.example.com", "Namespaced")
    assert crd["spec"]["names"] == names
    new, old = crd["spec"]["versions"]
    assert (new["name"], new["served"], new["storage"]) == ("v1", True, True)
    scale = {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"}
    assert new["subresources"] == {"status": {}, "scale": scale}
    assert new["additionalPrinterColumns"] == [
        {"name": "Size", "type": "string", "jsonPath": ".spec.size"},
        {"name": "Due", "type": "date", "jsonPath": ".spec.due", "priority": 1},
    ]
    assert new["selectableFields"] == [{"jsonPath": ".spec.size"}]
    assert (old["name"], old["storage"], old["deprecationWarning"]) == ("v1beta1", False, "take v1")
    assert "subresources" not in old, "it has no status"


def order(name: str, **spec: Any) -> dict[str, Any]:
    document = {"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": name}}
    return {**document, "spec": {"size": "S", **spec}}


def test_a_server_takes_the_definition_and_objects_of_the_class(api: Api) -> None:
    made = Order(metadata=metav1.ObjectMeta(name="good"))
    made.spec.size = "L"
    made.spec.tags = ["ab", "cd"]
    made.spec.prices = {"EUR": "1500m"}
    made.spec.toppings = [shop_types.Topping(name="cheese", grams=3)]
    made.spec.port = "http"
    made.spec.weight = 0.5
    made.spec.seal = b"wax"
    made.spec.wait = 1.5
    made.spec.extra = {"any": [1, {"thing": None}]}
    made.spec.template.metadata.labels["app"] = "x"
    made.spec.pod.host_network = True
    sent = made.to_dict()["spec"]

    stored = api("POST", ORDERS, {**made.to_dict(), "apiVersion": "shop.example.com/v1", "kind": "Order"}, want=201)

    assert stored["spec"] == {**sent, "count": 1}, "nothing pruned, and the default there"
    assert Order.from_dict(stored).spec.template.metadata.labels == {"app": "x"}
    old = api("GET", ORDERS.replace("v1/", "v1beta1/") + "/good", want=200)
    assert old["apiVersion"] == "shop.example.com/v1beta1"


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"size": "M"}, "spec.size"),
        ({"count": 11}, "spec.count"),
        ({"count": "1"}, "spec.count"),
        ({"code": "ABC"}, "spec.code"),
        ({"code": "abcdef"}, "spec.code"),
        ({"tags": ["aa", "bb", "cc"]}, "spec.tags"),
        ({"tags": ["a"]}, "spec.tags[0]"),
        ({"tags": ["aa", "aa"]}, "spec.tags[1]"),
        ({"toppings": [{"name": "a"}, {"name": "a"}]}, "spec.toppings[1]"),
        ({"toppings": [{"grams": 1}]}, "spec.toppings[0].name"),
        ({"prices": {"EUR": "much"}}, "spec.prices.EUR"),
        ({"port": 1.5}, "spec.port"),
        ({"due": "tomorrow"}, "spec.due"),
        ({"table": -1}, "spec.table"),
        ({"paid": "yes"}, "spec.paid"),
    ],
)
def test_a_server_refuses_what_the_markers_exclude(api: Api, spec: dict[str, Any], where: str) -> None:
    refused = api("POST", ORDERS, order("bad", **spec), want=422)

    assert where in refused["message"]


def of_field(notation: str, default: Any, marker: runtime.Schema) -> type[runtime.ResourceObject]:
    """Return a kind with a field of that type and with that marker."""

    class Thing(runtime.ResourceObject):
        GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Thing")
        GENCLIENT = runtime.Genclient("things")

        spec: Any = runtime.field("spec", notation, default=default, schema=marker)

    return Thing


CONDITIONS = runtime.Schema(list_type="map", list_map_keys=["type"])


class Endless(runtime.Struct):
    inner: Any = runtime.field("inner", "*Endless", default=None)


class Named(runtime.Struct):
    name: str = runtime.field("name", "string", default="")


@pytest.mark.parametrize(
    ("notation", "marker", "complaint"),
    [
        ("string", runtime.Schema(minimum=1), "minimum says nothing of a string"),
        ("int32", runtime.Schema(pattern="a"), "pattern says nothing of an integer"),
        ("string", runtime.Schema(max_items=1), "max_items says nothing of a string"),
        ("string", runtime.Schema(items=runtime.Schema()), "items says nothing of a string"),
        ("[]string", runtime.Schema(items=runtime.Schema(minimum=0)), "minimum says nothing of a string"),
        ("[]Named", runtime.Schema(list_type="map"), "go together"),
        ("[]Named", runtime.Schema(list_map_keys=["name"]), "go together"),
        ("[]Named", runtime.Schema(list_type="map", list_map_keys=["id"]), "names 'id', which the elements do not"),
        ("[]Named", runtime.Schema(list_type="map", list_map_keys=["name"]), "must be required, or have a default"),
        ("Nobody", runtime.Schema(), 'declared as "Nobody", and there is no such type'),
        ("Endless", runtime.Schema(), "Endless contains itself"),
    ],
)
def test_a_marker_that_cannot_hold_is_an_error_that_names_the_line(
    notation: str, marker: runtime.Schema, complaint: str
) -> None:
    default = runtime.EMPTY if notation[0] in "[EN" else ("" if notation == "string" else 0)
    with pytest.raises(ValueError, match=r"test_crds\.py:\d+: ") as raised:
        crds.crd_for(of_field(notation, default, marker))

    assert complaint in str(raised.value)


def test_a_marker_of_zero_is_one() -> None:
    thing = of_field("int32", 0, runtime.Schema(minimum=0, default=0, format=""))
    (version,) = crds.crd_for(thing).to_dict()["spec"]["versions"]

    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert spec == {"type": "integer", "default": 0, "minimum": 0}


def test_a_class_without_a_client_has_the_plural_of_its_kind_and_what_it_says() -> None:
    class Policy(runtime.ResourceObject):
        GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Policy")

    class Staff(Policy):
        GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Staff")
        CRD = runtime.CustomResource(resource="staff", namespaced=False)

    policies, staff = crds.crd_for(Policy).spec, crds.crd_for(Staff).spec

    assert (policies.names.plural, policies.scope) == ("policies", "Namespaced")
    assert (staff.names.plural, staff.scope) == ("staff", "Cluster")


@pytest.mark.parametrize(("verbs", "has_path"), [(("get", "update", "updateStatus"), True), (("get", "update"), False)])
def test_a_status_has_a_path_of_its_own_where_clients_can_update_it(verbs: tuple[str, ...], has_path: bool) -> None:
    class Thing(runtime.ResourceObject):
        GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Thing")
        GENCLIENT = runtime.Genclient("things", verbs=verbs)

        status: Any = runtime.field("status", "string", default="")

    (version,) = crds.crd_for(Thing).to_dict()["spec"]["versions"]
    assert version.get("subresources") == ({"status": {}} if has_path else None)


def test_all_that_a_class_can_say_of_its_definition_is_in_it() -> None:
    conversion = {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}
    column = runtime.PrinterColumn("Age", ".a", "date", description="how old", format="date-time", priority=1)

    class Thing(runtime.ResourceObject):
        GROUP_VERSION_KIND = schema.GroupVersionKind("shop.example.com", "v1", "Thing")
        CRD = runtime.CustomResource(
            singular="one",
            list_kind="Things",
            deprecated=True,
            served=False,
            scale=runtime.ScaleSubresource(".spec.n", ".status.n", ".status.selector"),
            printer_columns=[column],
            conversion=conversion,
            annotations={"a": "1"},
            labels={"b": "2"},
        )

    crd = crds.crd_for(Thing).to_dict()

    assert crd["metadata"] == {"name": "things.shop.example.com", "annotations": {"a": "1"}, "labels": {"b": "2"}}
    assert crd["spec"]["names"] == {"kind": "Thing", "plural": "things", "singular": "one", "listKind": "Things"}
    assert crd["spec"]["conversion"] == conversion
    (version,) = crd["spec"]["versions"]
    assert (version["served"], version["deprecated"]) == (False, True)
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.n",
        "statusReplicasPath": ".status.n",
        "labelSelectorPath": ".status.selector",
    }
    assert version["additionalPrinterColumns"] == [
        {
            "name": "Age",
            "type": "date",
            "description": "how old",
            "format": "date-time",
            "priority": 1,
            "jsonPath": ".a",
        }
    ]


def test_a_whole_pod_template_is_taken_by_a_server() -> None:
    thing = crds.crd_for(of_field("corev1.PodTemplateSpec", runtime.EMPTY, runtime.Schema())).to_dict()
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "1", "memory": 5}}, "ports": []}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    with Environment(crds=[thing]) as environment:
        client = Api(environment)
        path = "/apis/shop.example.com/v1/namespaces/default/things"
        document = {"apiVersion": "shop.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}

        assert client("POST", path, {**document, "spec": template}, want=201)["spec"] == template
        container["ports"] = [{"containerPort": "eighty"}]
        assert "containerPort" in client("POST", path, {**document, "spec": template}, want=422)["message"]
        client.session.close()


def test_conditions_are_as_go_declares_them() -> None:
    (version,) = crds.crd_for(of_field("[]metav1.Condition", runtime.EMPTY, CONDITIONS)).to_dict()["spec"]["versions"]
    condition = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["items"]

    assert condition["required"] == ["lastTransitionTime", "message", "reason", "status", "type"]
    assert condition["properties"]["status"]["enum"] == ["True", "False", "Unknown"]
    assert condition["properties"]["reason"]["minLength"] == 1


def test_versions_must_fit_together() -> None:
    with pytest.raises(ValueError, match="2 of them are stored, and exactly one must be"):
        crds.crd_for(Order, Order)
    with pytest.raises(ValueError, match="0 of them are stored"):
        crds.crd_for(OldOrder)
    with pytest.raises(ValueError, match="a version is there twice"):
        crds.crd_for(Order, OldOrder, OldOrder)
    with pytest.raises(ValueError, match="they differ in group, kind, resource or scope"):
        crds.crd_for(of_field("int32", 0, runtime.Schema()), OldOrder)


def test_a_file_is_the_same_bytes_each_time_and_keeps_comments() -> None:
    crd = crds.crd_for(Order, OldOrder)
    text = crds.to_yaml(crd)
    commented = text.replace("  scope:", "  # Mine.\n  scope:")

    assert yaml.safe_load(text) == crd.to_dict()
    assert crds.to_yaml(crds.crd_for(Order, OldOrder)) == text
    assert crds.to_yaml(crd, commented) == commented


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a user's project with one version of one kind and its list."""
    package = tmp_path / "shop" / "v1"
    package.mkdir(parents=True)
    (package / "types.py").write_text(Path(shop_types.__file__).read_text())
    (package / "__init__.py").write_text(
        "from clientgo.apimachinery.runtime import ListObject\n"
        "from clientgo.apimachinery.runtime.schema import GroupVersion\n"
        "from shop.v1.types import Order\n"
        "class OrderList(ListObject):\n    ITEM = Order\n"
        "GROUP_NAME = 'shop.example.com'\nSCHEME_GROUP_VERSION = GroupVersion(GROUP_NAME, 'v1')\n"
        "def resource(name): ...\ndef add_to_scheme(scheme): ...\n"
        "__all__ = ['Order', 'OrderList']\n"
    )
    return tmp_path


def codegen(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clientgo.codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def test_the_command_writes_definitions_and_verifies_them(project: Path) -> None:
    arguments = ("--root", project, "--crds", project / "crds", "shop.v1")
    file = project / "crds" / "shop.example.com_orders.yaml"

    assert "1 generated files, 1 changed" in codegen(*arguments).stdout
    assert file.read_text() == crds.to_yaml(crds.crd_for(Order))
    assert codegen(*arguments, "--verify").returncode == 0

    file.write_text(file.read_text().replace("maximum: 10", "maximum: 11"))
    stale = codegen(*arguments, "--verify")
    assert stale.returncode == 1
    assert "crds/shop.example.com_orders.yaml" in stale.stdout
    file.write_text("a: [")
    assert "shop.example.com_orders.yaml: comments in it cannot be kept" in codegen(*arguments).stderr
    assert file.read_text() == "a: [", "what cannot be read is not written over"


def test_the_command_says_what_a_package_lacks(project: Path) -> None:
    package = project / "shop" / "v1" / "__init__.py"
    text = package.read_text()
    for all_of_it in ("", "__all__ = ['OrderList']\n"):
        package.write_text(text[: text.index("__all__")] + all_of_it)

        done = codegen("--root", project, "--crds", project / "crds", "shop.v1")

        assert done.returncode == 2
        assert "shop.v1 exports no class with a CRD or a GENCLIENT in its __all__" in done.stderr
        assert not (project / "crds").exists()


def test_the_command_names_the_line_of_a_wrong_marker(project: Path) -> None:
    types = project / "shop" / "v1" / "types.py"
    types.write_text(types.read_text().replace('pattern="^[a-z]+$"', "minimum=1"))
    line = 1 + next(n for n, text in enumerate(types.read_text().splitlines()) if "minimum=1, max_length" in text)

    done = codegen("--root", project, "--output", "shop.client", "--crds", project / "crds", "shop.v1")

    assert done.returncode == 2
    assert f"{types}:{line}: OrderSpec.code: minimum says nothing of a string" in done.stderr
    assert not (project / "crds").exists()
    assert not (project / "shop" / "client").exists()
