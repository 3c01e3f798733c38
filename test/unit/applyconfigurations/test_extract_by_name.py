"""Each kind with stored objects has `extract` under its own name, as in Go's packages of applyconfigurations."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from clientgo import applyconfigurations
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.applyconfigurations.apps import v1 as appsv1apply
from clientgo.applyconfigurations.meta.v1 import new_unstructured_extractor
from clientgo.codegen import naming

OWNED = {"manager": "one", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {"f:mine": {}}}}}
STATUS = {
    "manager": "one",
    "operation": "Apply",
    "subresource": "status",
    "fieldsV1": {"f:metadata": {"f:annotations": {"f:by": {}}}},
}
METADATA = {
    "name": "a",
    "namespace": "ns",
    "labels": {"mine": "x", "other": "y"},
    "annotations": {"by": "one", "to": "two"},
    "managedFields": [OWNED, STATUS],
}


def versions() -> Iterator[tuple[ModuleType, ModuleType]]:
    """Yield the modules of extract functions, each with the package of its kinds."""
    for found in pkgutil.walk_packages(applyconfigurations.__path__, "clientgo.applyconfigurations."):
        group, _, version = found.name.removeprefix("clientgo.applyconfigurations.").partition(".")
        if version.startswith("v") and group != "meta":
            yield importlib.import_module(found.name), importlib.import_module(f"clientgo.api.{group}.{version}")


def kinds() -> Iterator[Any]:
    for module, api in versions():
        for name in module.__all__:
            kind = next(each for each in api.__all__ if f"extract_{naming.snake(each)}" == name)
            yield pytest.param(getattr(module, name), getattr(api, kind), id=f"{api.__name__}.{kind}")


@pytest.mark.parametrize(("extract", "cls"), list(kinds()))
def test_a_kind_has_a_function_for_the_fields_of_a_manager(extract: Any, cls: Any) -> None:
    api_version, kind = cls.GROUP_VERSION_KIND.to_api_version_and_kind()
    obj = cls.from_dict({"metadata": METADATA})
    identity = {"apiVersion": api_version, "kind": kind}

    found = extract(obj, "one")

    assert type(found) is cls
    assert found.to_dict() == {**identity, **cls.from_dict(_metadata(labels={"mine": "x"})).to_dict()}
    of_status = extract(obj, "one", "status")
    assert of_status.to_dict() == {**identity, **cls.from_dict(_metadata(annotations={"by": "one"})).to_dict()}
    assert extract(obj, "two").to_dict() == {**identity, **cls.from_dict(_metadata()).to_dict()}
    assert extract.__annotations__["obj"] == extract.__annotations__["return"]
    assert f"Go: Extract{kind}, Extract{kind}From." in inspect.getdoc(extract)


def _metadata(**fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "ns", **fields}}


def test_exactly_the_kinds_with_clients_that_are_stored_have_one() -> None:
    """Go's generator omits the reviews of authentication and authorization too."""
    expected = set()
    for api in pkgutil.walk_packages(importlib.import_module("clientgo.api").__path__, "clientgo.api."):
        if api.name.count(".") == 3 and api.ispkg:
            module = importlib.import_module(api.name)
            clients = {name: getattr(getattr(module, name), "GENCLIENT", None) for name in module.__all__}
            expected |= {(api.name, f"extract_{naming.snake(name)}") for name, client in clients.items() if client}
    reviews = {pair for pair in expected if pair[1].endswith("_review") and "imagepolicy" not in pair[0]}
    assert len(reviews) == 13
    assert {(api.__name__, name) for module, api in versions() for name in module.__all__} == expected - reviews
    assert len(expected - reviews) == 141


def test_the_functions_are_listed_and_import_no_types() -> None:
    assert {"extract_deployment", "extract_daemon_set"} <= set(dir(appsv1apply))
    program = (
        "import sys; from clientgo.applyconfigurations.apps.v1 import extract_deployment; "
        "print([name for name in sys.modules if name.startswith('clientgo.api.apps')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_an_extractor_of_unstructured_objects_needs_no_schema() -> None:
    obj = Unstructured.from_dict({"apiVersion": "x.io/v1", "kind": "X", "metadata": METADATA})
    extractor = new_unstructured_extractor()
    assert extractor.extract(obj, "one").get_labels() == {"mine": "x"}
    assert extractor.extract(obj, "one").get_annotations() in (None, {})
    assert extractor.extract_status(obj, "one").get_annotations() == {"by": "one"}
    assert isinstance(extractor.extract_status(obj, "two"), Unstructured)
    assert metav1.ObjectMeta.from_dict(extractor.extract(obj, "two").to_dict()["metadata"]).name == "a"
