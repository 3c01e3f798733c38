"""The fields that a manager owns, from documents and typed objects. Go: util/managedfields/extract_test.go."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.api.apps import v1 as appsv1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.documents import document_of
from clientgo.apimachinery.util.managedfields import extract_into

REPLICAS = {"f:spec": {"f:replicas": {}}}
PAUSED = {"f:spec": {"f:paused": {}}}
STATUS = {"f:status": {"f:replicas": {}}}


def entry(manager: str, fields: dict[str, Any], subresource: str = "") -> dict[str, Any]:
    of_subresource = {"subresource": subresource} if subresource else {}
    return {"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields, **of_subresource}


@pytest.mark.parametrize(
    ("document", "entries", "manager", "subresource", "expected"),
    [
        pytest.param(
            {"spec": {"replicas": 1}}, [entry("mgr999", REPLICAS)], "mgr1", "", None, id="no matching manager"
        ),
        pytest.param(
            {"spec": {"replicas": 1}},
            [entry("mgr1", REPLICAS)],
            "mgr1",
            "",
            {"spec": {"replicas": 1}},
            id="one manager",
        ),
        pytest.param(
            {"spec": {"replicas": 1, "paused": True}},
            [entry("mgr1", REPLICAS), entry("mgr2", PAUSED)],
            "mgr2",
            "",
            {"spec": {"paused": True}},
            id="multiple manager",
        ),
        pytest.param(
            {"status": {"replicas": 1}},
            [entry("mgr1", STATUS, "status")],
            "mgr1",
            "status",
            {"status": {"replicas": 1}},
            id="subresource",
        ),
        pytest.param(
            {"status": {"replicas": 1}}, [entry("mgr1", STATUS, "status")], "mgr1", "", None, id="another subresource"
        ),
    ],
)
@pytest.mark.parametrize("cls", [Unstructured, appsv1.Deployment])
def test_the_fields_of_a_manager(
    cls: Any, document: dict[str, Any], entries: Any, manager: str, subresource: str, expected: Any
) -> None:
    """
    Go: TestExtractInto/unstructured, no matching manager
    Go: TestExtractInto/unstructured, one manager
    Go: TestExtractInto/unstructured, multiple manager
    Go: TestExtractInto/structured, no matching manager
    Go: TestExtractInto/structured, one manager
    Go: TestExtractInto/structured, multiple manager
    Go: TestExtractInto/subresource
    """
    obj = cls.from_dict({**document, "metadata": {"managedFields": entries}})
    assert extract_into(document_of(obj), manager, subresource) == expected
