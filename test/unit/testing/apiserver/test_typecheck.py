"""Server-side apply refuses what does not fit the type, in the words of structured-merge-diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
APPLY = "application/apply-patch+yaml"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def deployment(container: Json, **spec: Any) -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i", **container}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
def test_the_answer_is_the_untyped_error_of_the_real_server(api: Api, validation: str) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    query = f"?fieldManager=m&fieldValidation={validation}"
    status = api("PATCH", path + query, deployment({}, replics=2), media=APPLY, want=500)
    target = "default/web; apps/v1, Kind=Deployment"
    assert (
        status["message"]
        == f"failed to create typed patch object ({target}): .spec.replics: field not declared in schema"
    )
    assert "reason" not in status


def test_several_problems_are_listed(api: Api) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": 1, "b": True}}
    status = api("PATCH", "/api/v1/namespaces/default/configmaps/c?fieldManager=m", obj, media=APPLY, want=500)
    assert status["message"] == (
        "failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:\n"
        "  .data.a: expected string, got &value.valueUnstructured{Value:1}\n"
        "  .data.b: expected string, got &value.valueUnstructured{Value:true}"
    )
