"""Webhooks are registered at paths made from group, version and kind, and nothing is registered twice."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from clientgo import context, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.context import Context
from clientgo.controller_runtime import manager
from clientgo.controller_runtime.alias import new_webhook_managed_by
from clientgo.controller_runtime.metrics.server import server as metricsserver
from clientgo.controller_runtime.webhook import admission
from clientgo.golang.http.server import Request, ResponseWriter


class Defaults:
    def default(self, ctx: Context, obj: appsv1.Deployment) -> None:
        if obj.metadata.name == "boom":
            raise AssertionError("a bug")
        obj.metadata.labels["defaulted"] = "yes"


class Rules:
    def validate_create(self, ctx: Context, obj: appsv1.Deployment) -> list[str]:
        if obj.metadata.name == "boom":
            raise AssertionError("a bug")
        if not obj.spec.replicas:
            raise ValueError("replicas must be set")
        return ["so few"] if obj.spec.replicas == 1 else []

    def validate_update(self, ctx: Context, old_obj: appsv1.Deployment, new_obj: appsv1.Deployment) -> None:
        if (new_obj.spec.replicas or 0) < (old_obj.spec.replicas or 0):
            raise ValueError(f"{ctx.value('who')} may not scale down")

    def validate_delete(self, ctx: Context, obj: appsv1.Deployment) -> None:
        raise ValueError("it stays")


@pytest.fixture
def mgr() -> manager.Manager:
    options = manager.Options(metrics=metricsserver.Options(bind_address="0"))
    return manager.new(rest.Config(host="http://127.0.0.1:1"), options)


def ask(mgr: manager.Manager, path: str, operation: str, **objects: Any) -> dict[str, Any]:
    def deployment(replicas: int, name: str = "web") -> dict[str, Any]:
        metadata, spec = {"name": name}, {"replicas": replicas}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}

    request = {
        key: deployment(*value) if isinstance(value, tuple) else deployment(value) for key, value in objects.items()
    }
    body = json.dumps({"request": {"uid": "u", "operation": operation, **request}}).encode()
    http = Request("POST", path, read=lambda count: body[:count])
    http.headers["Content-Type"] = "application/json"
    http.headers["Content-Length"] = str(len(body))
    response = ResponseWriter()
    mgr.get_webhook_server().webhook_mux().serve_http(response, http)
    if response.status == 404:
        return {}
    answer: dict[str, Any] = json.loads(response.body)["response"]
    return answer


# Today's name of each method and the one it had before.
DEFAULTER = pytest.mark.parametrize("with_defaulter", ["with_defaulter", "with_custom_defaulter"])
VALIDATOR = pytest.mark.parametrize("with_validator", ["with_validator", "with_custom_validator"])
MUTATE, VALIDATE = "/mutate-apps-v1-deployment", "/validate-apps-v1-deployment"


@DEFAULTER
@VALIDATOR
def test_defaulter_and_validator_are_served_at_their_paths(
    mgr: manager.Manager, with_defaulter: str, with_validator: str
) -> None:
    """Go: builder: runTests > should scaffold a custom defaulting and validating webhook >
    Go: builder: ExampleWebhookBuilder
    """
    builder = new_webhook_managed_by(mgr, appsv1.Deployment)
    getattr(builder, with_defaulter)(Defaults())
    getattr(builder, with_validator)(Rules())
    builder.complete()
    assert ask(mgr, MUTATE, "CREATE", object=2)["patchType"] == "JSONPatch"
    assert ask(mgr, VALIDATE, "CREATE", object=1)["warnings"] == ["so few"]
    denied = ask(mgr, VALIDATE, "CREATE", object=0)
    assert (denied["status"]["code"], denied["status"]["message"]) == (403, "replicas must be set")


@VALIDATOR
def test_a_validator_is_asked_about_deletions(mgr: manager.Manager, with_validator: str) -> None:
    """Go: builder: runTests > should scaffold a custom validating webhook >
    Go: builder: runTests > should scaffold a custom validating webhook to validate deletes >
    """
    getattr(new_webhook_managed_by(mgr, appsv1.Deployment), with_validator)(Rules()).complete()
    assert ask(mgr, VALIDATE, "CREATE", object=2)["allowed"]
    denied = ask(mgr, VALIDATE, "DELETE", oldObject=1)
    assert (denied["allowed"], denied["status"]["message"]) == (False, "it stays")
    assert ask(mgr, MUTATE, "CREATE", object=2) == {}


@DEFAULTER
def test_a_defaulter_alone_is_served_alone(mgr: manager.Manager, with_defaulter: str) -> None:
    """Go: builder: runTests > scaffold a defaulting webhook >"""
    getattr(new_webhook_managed_by(mgr, appsv1.Deployment), with_defaulter)(Defaults()).complete()
    answer = ask(mgr, MUTATE, "CREATE", object=2)
    (step,) = json.loads(base64.b64decode(answer["patch"]))
    assert step == {"op": "add", "path": "/metadata/labels", "value": {"defaulted": "yes"}}
    assert ask(mgr, VALIDATE, "CREATE", object=2) == {}


@pytest.mark.parametrize("other", [True, False])
def test_what_is_not_given_is_not_served(mgr: manager.Manager, other: bool) -> None:
    builder = new_webhook_managed_by(mgr, appsv1.Deployment)
    (builder.with_validator(Rules()) if other else builder.with_defaulter(Defaults())).complete()
    assert bool(ask(mgr, MUTATE, "CREATE", object=2)) is not other
    assert bool(ask(mgr, VALIDATE, "CREATE", object=2)) is other
    assert ask(mgr, "/convert", "CREATE", object=2) == {}


@DEFAULTER
@VALIDATOR
def test_paths_of_ones_own(mgr: manager.Manager, with_defaulter: str, with_validator: str) -> None:
    """Go: builder: runTests > should scaffold a custom defaulting and validating webhook with a custom path
    Go: builder: runTests > should scaffold a custom defaulting webhook with a custom path
    Go: builder: runTests > should scaffold a custom validating webhook with a custom path
    """
    builder = new_webhook_managed_by(mgr, appsv1.Deployment)
    getattr(builder, with_defaulter)(Defaults()).with_defaulter_custom_path("/own/defaults")
    getattr(builder, with_validator)(Rules()).with_validator_custom_path("/own/rules").complete()
    assert ask(mgr, "/own/defaults", "CREATE", object=2)["allowed"]
    assert ask(mgr, "/own/rules", "CREATE", object=2)["allowed"]
    assert ask(mgr, MUTATE, "CREATE", object=2) == {}
    assert ask(mgr, VALIDATE, "CREATE", object=2) == {}


@pytest.mark.parametrize("path", ["own", "/own//", "/own?x=1", "/ö", "/own/"])
def test_a_bad_path_is_refused(mgr: manager.Manager, path: str) -> None:
    builder = new_webhook_managed_by(mgr, appsv1.Deployment).with_validator(Rules())
    with pytest.raises(ValueError, match="does not match this regex"):
        builder.with_validator_custom_path(path).complete()


def test_a_second_one_is_refused(mgr: manager.Manager) -> None:
    """Go: builder: runTests > should error if both a defaulter and a custom defaulter are set
    Go: builder: runTests > should error if both a validator and a custom validator are set
    """
    builder = new_webhook_managed_by(mgr, appsv1.Deployment).with_defaulter(Defaults()).with_validator(Rules())
    with pytest.raises(ValueError, match="only one of"):
        builder.with_custom_defaulter(Defaults())
    with pytest.raises(ValueError, match="only one of"):
        builder.with_custom_validator(Rules())


def test_building_twice_registers_once(mgr: manager.Manager) -> None:
    for _ in range(2):
        new_webhook_managed_by(mgr, appsv1.Deployment).with_validator(Rules()).complete()
    assert ask(mgr, VALIDATE, "CREATE", object=2)["allowed"]


@DEFAULTER
@VALIDATOR
def test_bugs_are_answers_unless_asked_otherwise(
    mgr: manager.Manager, with_defaulter: str, with_validator: str
) -> None:
    """Go: builder: runTests > should scaffold a custom defaulting webhook which recovers from panics
    Go: builder: runTests > should scaffold a custom validating webhook which recovers from panics
    """
    builder = new_webhook_managed_by(mgr, appsv1.Deployment)
    getattr(builder, with_defaulter)(Defaults())
    getattr(builder, with_validator)(Rules()).complete()
    for path in (MUTATE, VALIDATE):
        assert ask(mgr, path, "CREATE", object=(1, "boom"))["status"]["code"] == 500
    builder = new_webhook_managed_by(mgr, appsv1.Deployment).with_defaulter(Defaults()).recover_panic(False)
    builder.with_defaulter_custom_path("/raw").complete()
    with pytest.raises(AssertionError, match="a bug"):
        ask(mgr, "/raw", "CREATE", object=(1, "boom"))


def test_the_context_of_requests_is_the_programs(mgr: manager.Manager) -> None:
    builder = new_webhook_managed_by(mgr, appsv1.Deployment).with_validator(Rules())
    builder.with_context_func(lambda ctx, req: context.with_value(ctx, "who", "ada")).complete()
    denied = ask(mgr, VALIDATE, "UPDATE", oldObject=3, object=1)
    assert denied["status"]["message"] == "ada may not scale down"


def test_an_example_of_the_raw_handler(mgr: manager.Manager) -> None:
    mgr.get_webhook_server().register("/raw", admission.Webhook(handler=lambda ctx, req: admission.denied("never")))
    assert ask(mgr, "/raw", "CREATE", object=1)["status"]["message"] == "never"
