"""CRDs on a running server: versions and their conversion, names that collide, changes, teardown, selectable fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api, eventually

from clientgo.testing.apiserver import Environment
from clientgo.testing.apiserver.kinds import crd as kinds
from clientgo.testing.apiserver.kinds.validation import definitions

Json = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.session.close()


def version(name: str, properties: Json, *, storage: bool = False, **more: Any) -> Json:
    spec = {"type": "object", "properties": properties}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {"name": name, "served": True, "storage": storage, "schema": schema, **more}


def crd(*versions: Json, kind: str = "Foo", plural: str = "foos", **names: Any) -> Json:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, **names},
            "versions": list(versions),
        },
    }


A = {"a": {"type": "string"}}
AB = {"a": {"type": "string"}, "b": {"type": "string", "default": "later"}}


def foo(api_version: str, name: str, **spec: Any) -> Json:
    return {"apiVersion": f"example.com/{api_version}", "kind": "Foo", "metadata": {"name": name}, "spec": spec}


def path(api_version: str, name: str = "") -> str:
    return f"/apis/example.com/{api_version}/namespaces/default/foos" + (f"/{name}" if name else "")


def test_versions_show_the_same_object(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1alpha1", A), version("v1", AB, storage=True)), want=201)
    group = api("GET", "/apis/example.com", want=200)
    assert [entry["version"] for entry in group["versions"]] == ["v1", "v1alpha1"]
    old = api("POST", path("v1alpha1"), foo("v1alpha1", "x", a="1"), want=201)
    assert (old["apiVersion"], old["spec"]) == ("example.com/v1alpha1", {"a": "1"})
    new = api("GET", path("v1", "x"), want=200)
    assert (new["apiVersion"], new["metadata"]["uid"]) == ("example.com/v1", old["metadata"]["uid"])
    new["spec"] = {"a": "2", "b": "3"}
    api("PUT", path("v1", "x"), new, want=200)
    assert api("GET", path("v1alpha1", "x"), want=200)["spec"] == {"a": "2"}
    items = api("GET", path("v1alpha1"), want=200)["items"]
    assert [item["apiVersion"] for item in items] == ["example.com/v1alpha1"]


def test_names_that_are_taken_are_not_accepted(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), shortNames=["f"]), want=201)
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), kind="Bar", plural="bars", shortNames=["f"]), want=201)
    conditions = api("GET", f"{DEFINITIONS}/bars.example.com", want=200)["status"]["conditions"]
    by_type = {condition["type"]: condition for condition in conditions}
    assert (by_type["NamesAccepted"]["status"], by_type["NamesAccepted"]["reason"]) == ("False", "ShortNamesConflict")
    assert by_type["NamesAccepted"]["message"] == '"f" is already in use'
    assert by_type["Established"]["status"] == "False"
    resources = {entry["name"] for entry in api("GET", "/apis/example.com/v1", want=200)["resources"]}
    assert resources == {"foos"}


def test_names_are_accepted_once_another_definition_releases_them(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), shortNames=["f"]), want=201)
    bars = crd(version("v1", A, storage=True), kind="Bar", plural="bars", shortNames=["f", "b"])
    assert api("POST", DEFINITIONS, bars, want=201)
    names = api("GET", f"{DEFINITIONS}/bars.example.com", want=200)["status"]["acceptedNames"]
    assert names == {"plural": "bars", "singular": "bar", "kind": "Bar", "listKind": "BarList"}, "the free ones"

    api("DELETE", f"{DEFINITIONS}/foos.example.com", want=200)

    eventually(lambda: "bars" in {r["name"] for r in api("GET", "/apis/example.com/v1").get("resources", ())})
    status = api("GET", f"{DEFINITIONS}/bars.example.com", want=200)["status"]
    assert status["acceptedNames"]["shortNames"] == ["f", "b"]
    assert {c["type"]: c["status"] for c in status["conditions"]} == {"NamesAccepted": "True", "Established": "True"}


def test_a_definition_that_is_being_deleted_takes_no_released_names(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), shortNames=["f"]), want=201)
    held = crd(version("v1", A, storage=True), kind="Apple", plural="apples", shortNames=["f"])
    held["metadata"]["finalizers"] = ["example.com/held"]
    api("POST", DEFINITIONS, held, want=201)
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), kind="Bar", plural="bars", shortNames=["f"]), want=201)
    api("DELETE", f"{DEFINITIONS}/apples.example.com", want=200)

    api("DELETE", f"{DEFINITIONS}/foos.example.com", want=200)

    eventually(lambda: "bars" in {r["name"] for r in api("GET", "/apis/example.com/v1").get("resources", ())})
    accepted = {
        name: api("GET", f"{DEFINITIONS}/{name}.example.com", want=200)["status"]["acceptedNames"].get("shortNames")
        for name in ("apples", "bars")
    }
    assert accepted == {"apples": None, "bars": ["f"]}


def test_a_writer_of_the_status_cannot_take_names(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), shortNames=["f"]), want=201)
    bars = f"{DEFINITIONS}/bars.example.com"
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True), kind="Bar", plural="bars"), want=201)
    for names in ({"plural": "zips", "kind": "Zip"}, {"kind": "Foo"}, {}, {"plural": "foos", "kind": "Foo"}):
        definition = api("GET", bars, want=200)
        definition["status"]["acceptedNames"] = {"plural": "", "kind": "", **names}
        api("PUT", f"{bars}/status", definition, want=200)
        status = api("GET", bars, want=200)["status"]
        assert status["acceptedNames"]["plural"] == "bars" and status["acceptedNames"]["kind"] == "Bar", names
        resources = api("GET", "/apis/example.com/v1", want=200)["resources"]
        assert [(entry["name"], entry["kind"]) for entry in resources] == [("bars", "Bar"), ("foos", "Foo")]
    definition["status"]["acceptedNames"] = {"plural": "Bad_Name", "kind": "K", "listKind": "K", "shortNames": ["a b"]}
    definition["metadata"].pop("resourceVersion")
    patch = {"status": {"acceptedNames": definition["status"]["acceptedNames"]}}
    answer = api("PATCH", f"{bars}/status", patch, want=422, media="application/merge-patch+json")
    fields = [cause["field"] for cause in answer["details"]["causes"]]
    assert fields == [f"status.acceptedNames.{name}" for name in ("plural", "shortNames[0]", "listKind")]


def test_an_emptied_list_of_stored_versions_is_filled_by_the_next_update(api: Api) -> None:
    # A real server accepts it too: a migration of the storage may remove all but the current version.
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    where = f"{DEFINITIONS}/foos.example.com"
    merge = "application/merge-patch+json"
    api("PATCH", f"{where}/status", {"status": {"storedVersions": []}}, want=200, media=merge)
    assert api("GET", where, want=200)["status"]["storedVersions"] == []
    api("POST", path("v1"), foo("v1", "x", a="1"), want=201)
    updated = api("PATCH", where, {"metadata": {"labels": {"a": "b"}}}, want=200, media=merge)
    assert updated["status"]["storedVersions"] == ["v1"]


def test_a_changed_schema_holds_from_the_next_request(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    api("POST", path("v1"), foo("v1", "x", a="1", b="2"), want=201)
    definition = api("GET", f"{DEFINITIONS}/foos.example.com", want=200)
    definition["spec"]["versions"] = crd(version("v1", AB, storage=True))["spec"]["versions"]
    updated = api("PUT", f"{DEFINITIONS}/foos.example.com", definition, want=200)
    assert updated["metadata"]["generation"] == 2
    assert api("POST", path("v1"), foo("v1", "y", a="1"), want=201)["spec"] == {"a": "1", "b": "later"}


def test_a_version_that_stores_objects_cannot_be_removed(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    definition = api("GET", f"{DEFINITIONS}/foos.example.com", want=200)
    definition["spec"]["versions"] = [version("v2", A, storage=True)]
    answer = api("PUT", f"{DEFINITIONS}/foos.example.com", definition, want=422)
    assert answer["details"]["causes"][0]["field"] == "status.storedVersions[0]"


def test_a_crd_waits_for_the_finalizers_of_its_objects(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    held = foo("v1", "x")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    api("POST", path("v1"), held, want=201)
    api("DELETE", f"{DEFINITIONS}/foos.example.com", want=200)
    assert api.env.wait_idle()
    assert api("GET", path("v1", "x"), want=200)["metadata"]["deletionTimestamp"]
    merge = "application/merge-patch+json"
    api("PATCH", path("v1", "x"), {"metadata": {"finalizers": None}}, want=200, media=merge)
    assert api.env.wait_idle()
    api("GET", f"{DEFINITIONS}/foos.example.com", want=404)


def test_horizontal_pod_autoscalers_in_both_versions(api: Api) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {
        "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 60},
    }
    base = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    api("POST", base.format("v1"), body, want=201)
    seen = api("GET", base.format("v2") + "/h", want=200)
    assert seen["spec"]["metrics"][0]["resource"] == {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 60},
    }
    merge = "application/merge-patch+json"
    patched = api("PATCH", base.format("v1") + "/h", {"spec": {"maxReplicas": 5}}, want=200, media=merge)
    assert (patched["apiVersion"], patched["spec"]["maxReplicas"]) == ("autoscaling/v1", 5)
    assert patched["spec"]["targetCPUUtilizationPercentage"] == 60


def conditions(obj: Json) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in obj["status"]["conditions"]}


def test_a_crd_says_that_it_goes_and_takes_nothing_new(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    held = foo("v1", "held", a="x")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    foos = "/apis/example.com/v1/namespaces/default/foos"
    api("POST", foos, held, want=201)
    marked = api("DELETE", f"{DEFINITIONS}/foos.example.com", want=200)
    assert conditions(marked)["Terminating"] == ("True", "InstanceDeletionPending")
    assert "deletionGracePeriodSeconds" not in marked["metadata"]
    assert api.env.server.controllers.wait_idle()
    now = api("GET", f"{DEFINITIONS}/foos.example.com")
    assert conditions(now)["Terminating"] == ("True", "InstanceDeletionInProgress")
    refused = api("POST", foos, foo("v1", "late", a="x"), want=405)
    assert refused["message"] == "create not allowed while custom resource definition is terminating"
    free = [{"op": "remove", "path": "/metadata/finalizers"}]
    api("PATCH", f"{foos}/held", free, media="application/json-patch+json", want=200)
    eventually(lambda: api.request("GET", f"{DEFINITIONS}/foos.example.com").status_code == 404)


def test_a_crd_without_instances_is_held_by_none_but_others() -> None:
    """Go: the CRDFinalizer says so and takes its own finalizer away."""
    before = {"metadata": {"name": "foos", "finalizers": [kinds.CLEANUP_FINALIZER, "example.com/mine"]}}
    done = kinds.terminated(kinds.terminating(before, "2020-01-01T00:00:00Z"), "2021-01-01T00:00:00Z")
    assert done["metadata"]["finalizers"] == ["example.com/mine"]
    assert conditions(done) == {"Terminating": ("False", "InstanceDeletionCompleted")}
    assert done["status"]["conditions"][0]["lastTransitionTime"] == "2021-01-01T00:00:00Z"
    assert not kinds.is_terminating(done)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (
            {"preserveUnknownFields": True},
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
            "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ),
        (
            {"scale": {"specReplicasPath": ".x.replicas", "statusReplicasPath": ".status.replicas"}},
            'spec.subresources.scale.specReplicasPath: Invalid value: ".x.replicas": '
            "should be a json path under .spec",
        ),
        (
            {"scale": {"specReplicasPath": ".spec.replicas"}},
            "spec.subresources.scale.statusReplicasPath: Required value",
        ),
    ],
)
def test_definitions_that_are_refused(api: Api, change: Json, wanted: str) -> None:
    scale = change.pop("scale", None)
    more = {} if scale is None else {"subresources": {"scale": scale}}
    body = crd(version("v1", A, storage=True, **more))
    body["spec"].update(change)
    (cause,) = api("POST", DEFINITIONS, body, want=422)["details"]["causes"]
    assert f"{cause['field']}: {cause['message']}" == wanted


def test_two_versions_of_one_name_are_refused(api: Api) -> None:
    body = crd(version("v1", A, storage=True), version("v1", A))
    causes = api("POST", DEFINITIONS, body, want=422)["details"]["causes"]
    assert [each["field"] for each in causes] == ["spec.versions"]
    assert causes[0]["message"].endswith(": must contain unique version names")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"conversion": {"strategy": "Webhook"}},
         ["spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
          "spec.conversion.conversionReviewVersions: Required value"]),
        ({"conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}},
         ["spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to "
          "Webhook"]),
        ({"names": {"plural": "foos", "kind": "lower!"}},
         ["spec.names.singular", "spec.names.kind", "spec.names.listKind"]),
        ({"version": {"selectableFields": [{"jsonPath": ".spec"}]}},
         ['spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or '
          "integer. Enum string fields and strings with formats are allowed."]),
        ({"version": {"selectableFields": [{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.a"}]}},
         ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"']),
        ({"version": {"deprecationWarning": "x"}},
         ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions']),
        ({"version": {"additionalPrinterColumns": [{"name": "n", "type": "string", "jsonPath": "spec"}]}},
         ['spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting '
          "with ."]),
    ],
)  # fmt: skip
def test_definitions_are_looked_at_in_every_part(change: Json, wanted: list[str]) -> None:
    body = crd(version("v1", A, storage=True, **change.pop("version", {})))
    body["spec"].setdefault("names", {}).update({"singular": "foo", "listKind": "FooList"})
    if "names" in change:
        kind = change["names"]["kind"]
        change["names"].update(singular=kind.lower(), listKind=f"{kind}List")
    body["spec"].update(change)
    body["status"] = {"storedVersions": ["v1"]}
    found = [str(error) for error in definitions.validate(body, None)]
    assert len(found) == len(wanted)
    assert all(text.startswith(head) for text, head in zip(found, wanted)), found


def test_objects_are_read_by_the_schema_of_now(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", AB, storage=True)), want=201)
    api("POST", path("v1"), foo("v1", "x", a="1", b="2"), want=201)
    definition = api("GET", f"{DEFINITIONS}/foos.example.com", want=200)
    definition["spec"]["versions"] = crd(version("v1", A, storage=True))["spec"]["versions"]
    api("PUT", f"{DEFINITIONS}/foos.example.com", definition, want=200)
    seen = api("GET", path("v1", "x"), want=200)
    assert seen["spec"] == {"a": "1"}
    assert "f:b" in seen["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert api.warnings("PUT", path("v1", "x"), seen) == []


def test_an_old_value_may_stay_when_the_schema_is_narrowed(api: Api) -> None:
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True)), want=201)
    api("POST", path("v1"), foo("v1", "x", a="long"), want=201)
    definition = api("GET", f"{DEFINITIONS}/foos.example.com", want=200)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["a"]["maxLength"] = 2
    api("PUT", f"{DEFINITIONS}/foos.example.com", definition, want=200)
    seen = api("GET", path("v1", "x"), want=200)
    seen["metadata"]["labels"] = {"new": "label"}
    seen = api("PUT", path("v1", "x"), seen, want=200)
    seen["spec"]["a"] = "other"
    api("PUT", path("v1", "x"), seen, want=422)


def test_the_scale_subresource_owns_the_replicas(api: Api) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    shape = {"replicas": {"type": "integer"}}
    api("POST", DEFINITIONS, crd(version("v1", shape, storage=True, subresources={"scale": paths})), want=201)
    api("POST", path("v1"), foo("v1", "none"), want=201)
    status = api("GET", path("v1", "none") + "/scale", want=500)
    assert status["message"] == 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'
    api("POST", path("v1"), foo("v1", "x", replicas=1), want=201)
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"}, "spec": {"replicas": 3}}
    api("PUT", path("v1", "x") + "/scale", scale, want=200)
    entries = api("GET", path("v1", "x"), want=200)["metadata"]["managedFields"]
    owners = {entry.get("subresource", ""): entry["fieldsV1"] for entry in entries}
    assert owners == {"": {"f:spec": {}}, "scale": {"f:spec": {"f:replicas": {}}}}
    scale["spec"] = {"replicas": -1}
    (cause,) = api("PUT", path("v1", "x") + "/scale", scale, want=422)["details"]["causes"]
    assert (cause["field"], cause["message"]) == (
        ".spec.replicas", "Invalid value: -1: should be a non-negative integer",
    )  # fmt: skip


def test_an_invalid_path_ends_the_columns_of_a_table(api: Api) -> None:
    paths = [".spec.a", ".spec.a[", ".spec.a"]
    columns = [{"name": f"C{i}", "type": "string", "jsonPath": each} for i, each in enumerate(paths)]
    api("POST", DEFINITIONS, crd(version("v1", A, storage=True, additionalPrinterColumns=columns)), want=201)
    api("POST", path("v1"), foo("v1", "x", a="b"), want=201)

    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    shown = api.session.get(api.env.url + path("v1"), headers=accept).json()
    assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "C0"]
    assert [row["cells"] for row in shown["rows"]] == [["x", "b"]]


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        ({"to": {"n": "x"}}, 500, ".spec.to.n accessor error: x is of the type string, expected int64"),
        ({"to": {"n": 1.5}}, 500, ".spec.to.n accessor error: 1.5 is of the type float64, expected int64"),
        ({"to": {"n": None}}, 500, ".spec.to.n accessor error: <nil> is of the type <nil>, expected int64"),
        ({"to": 7}, 500, ".spec.to.n accessor error: 7 is of the type int64, expected map[string]interface{}"),
        ({"to": {"n": 1}, "by": 5}, 500, ".spec.by accessor error: 5 is of the type int64, expected string"),
        ({"to": {"n": 2**32 + 3}}, 200, 3),
        ({}, 500, 'Internal error occurred: the spec replicas field ".spec.to.n" does not exist'),
    ],
)
def test_the_scale_of_values_that_are_no_replicas(api: Api, spec: Json, status: int, message: Any) -> None:
    paths = {"specReplicasPath": ".spec.to.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".spec.by"}
    shape = {"to": {"x-kubernetes-preserve-unknown-fields": True}, "by": {"x-kubernetes-preserve-unknown-fields": True}}
    api("POST", DEFINITIONS, crd(version("v1", shape, storage=True, subresources={"scale": paths})), want=201)
    free = foo("v1", "x", **spec)
    api("POST", path("v1"), free, want=201)

    answer = api("GET", path("v1", "x") + "/scale", want=status)
    assert message in (answer.get("message"), answer.get("spec", {}).get("replicas"))
    if spec and status == 500:
        scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"}, "spec": {"replicas": 3}}
        assert api("PUT", path("v1", "x") + "/scale", scale, want=500)["message"] == message
    elif not spec:
        empty = api("PATCH", path("v1", "x") + "/scale", {"metadata": {}}, media="application/merge-patch+json")
        assert (empty["code"], empty["message"]) == (400, 'the spec replicas field ".spec.to.n" cannot be empty')
        one = {"spec": {"replicas": 1}}
        api("PATCH", path("v1", "x") + "/scale", one, media="application/merge-patch+json", want=200)
        assert api("GET", path("v1", "x"), want=200)["spec"] == {"to": {"n": 1}}


def test_the_scale_subresource_takes_the_replicas_from_the_owner_in_another_version(api: Api) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    shape, scaled = {"replicas": {"type": "integer"}, "a": {"type": "string"}}, {"subresources": {"scale": paths}}
    api(
        "POST",
        DEFINITIONS,
        crd(version("v1alpha1", shape, **scaled), version("v1", shape, storage=True, **scaled)),
        want=201,
    )
    applied = foo("v1alpha1", "x", replicas=1, a="b")
    url = path("v1alpha1", "x") + "?fieldManager=owner"
    api("PATCH", url, applied, want=201, media="application/apply-patch+yaml")
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"}, "spec": {"replicas": 3}}
    api("PUT", path("v1", "x") + "/scale", scale, want=200)
    entries = api("GET", path("v1", "x"), want=200)["metadata"]["managedFields"]
    owners = {entry.get("subresource", ""): entry["fieldsV1"] for entry in entries}
    assert owners == {"": {"f:spec": {"f:a": {}}}, "scale": {"f:spec": {"f:replicas": {}}}}


def test_appliers_own_single_items_of_a_custom_resources_list_of_type_map(api: Api) -> None:
    item = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    listed = {"list": {"type": "array", "items": item, **keys}}
    api("POST", DEFINITIONS, crd(version("v1", listed, storage=True)), want=201)

    applied = {}
    for manager, key in (("first", "a"), ("second", "b")):
        where, body = f"{path('v1', 'x')}?fieldManager={manager}", foo("v1", "x", list=[{"k": key, "v": manager}])
        applied = api("PATCH", where, body, media="application/apply-patch+yaml")

    assert applied["spec"]["list"] == [{"k": "a", "v": "first"}, {"k": "b", "v": "second"}]
