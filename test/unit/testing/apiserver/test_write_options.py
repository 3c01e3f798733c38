"""The options of writes and deletions: their errors, and the form in which webhooks see them. No server runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.testing.apiserver.access.users import User
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.webhooks import attributes
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request

Json = dict[str, Any]
REGISTRY = Registry()
META = "meta.k8s.io/v1"
OBJECT: Json = {"metadata": {"name": "x"}}


def call(storage: str = "/configmaps", *, name: str = "", method: str = "POST", user: Any = None, **more: Any) -> Any:
    request = SimpleNamespace(method=method, user=user)
    resource = REGISTRY.by_storage(storage)
    subresource = more.get("subresource", "")
    return SimpleNamespace(request=request, resource=resource, namespace="ns", name=name, subresource=subresource)


def written(**more: Any) -> Any:
    given = {"dry_run": False, "force": False, "manager": "m", "validation": "Warn", "validation_given": False}
    return SimpleNamespace(**{**given, **more})


@pytest.mark.parametrize(
    ("operation", "method", "given", "wanted"),
    [
        ("CREATE", "POST", {}, {"kind": "CreateOptions"}),
        ("UPDATE", "PUT", {}, {"kind": "UpdateOptions"}),
        ("UPDATE", "PATCH", {}, {"kind": "PatchOptions"}),
        # An apply that creates.
        ("CREATE", "PATCH", {"force": True}, {"kind": "CreateOptions"}),
        ("UPDATE", "PATCH", {"force": True}, {"kind": "PatchOptions", "force": True}),
        ("UPDATE", "PUT", {"force": True}, {"kind": "UpdateOptions"}),
        ("CREATE", "POST", {"dry_run": True}, {"kind": "CreateOptions", "dryRun": ["All"]}),
        ("CREATE", "POST", {"validation": "Strict", "validation_given": True},
         {"kind": "CreateOptions", "fieldValidation": "Strict"}),
    ],
)  # fmt: skip
def test_a_webhook_sees_the_options_of_a_write(operation: str, method: str, given: Json, wanted: Json) -> None:
    found = attributes.of_write(operation, call(method=method), OBJECT, None, written(**given))
    assert found.options == {"apiVersion": META, "fieldManager": "m", **wanted}
    assert (found.operation, found.name, found.dry_run) == (operation, "x", given.get("dry_run", False))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {}),
        ({"gracePeriodSeconds": 0}, {"gracePeriodSeconds": 0}),
        ({"gracePeriodSeconds": -5}, {"gracePeriodSeconds": 1}),
        ({"propagationPolicy": "Foreground"}, {"propagationPolicy": "Foreground"}),
        ({"orphanDependents": True}, {"propagationPolicy": "Orphan"}),
        ({"orphanDependents": False}, {"propagationPolicy": "Background"}),
        ({"preconditions": {"uid": "u"}}, {"preconditions": {"uid": "u"}}),
        ({"preconditions": {"uid": "", "resourceVersion": "7"}},
         {"preconditions": {"uid": "", "resourceVersion": "7"}}),
        ({"preconditions": {}}, {}),
        ({"dryRun": ["All"]}, {"dryRun": ["All"]}),
    ],
)  # fmt: skip
def test_a_webhook_sees_the_options_of_a_deletion(given: Json, wanted: Json) -> None:
    found = attributes.of_delete(call(method="DELETE"), OBJECT, DeleteOptions(given))
    assert found.options == {"kind": "DeleteOptions", "apiVersion": META, **wanted}
    assert (found.operation, found.name, found.obj, found.old) == ("DELETE", "x", None, OBJECT)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"propagationPolicy": "Later"},
         'propagationPolicy: Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", '
         '"nil"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True},
         'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set'),
        ({"dryRun": ["Some"]}, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'),
    ],
)  # fmt: skip
def test_invalid_options_of_a_deletion_are_an_error(given: Json, text: str) -> None:
    with pytest.raises(ApiError) as raised:
        DeleteOptions(given)
    status = raised.value.status()
    assert (status["code"], status["message"]) == (422, f'DeleteOptions.meta.k8s.io "" is invalid: {text}')


@pytest.mark.parametrize("policy", ["Foreground", "Background", "Orphan", None])
def test_the_known_policies_are_valid(policy: str | None) -> None:
    assert DeleteOptions({"propagationPolicy": policy}).policy == (policy or "")


def test_the_namespace_of_a_namespace_is_itself() -> None:
    assert attributes.of_write("CREATE", call("/namespaces"), OBJECT, None, written()).namespace == "x"
    assert attributes.of_write("CREATE", call(), OBJECT, None, written()).namespace == "ns"


def test_the_server_writes_as_itself_without_a_user() -> None:
    alice = User("alice", "1", ("devs",))
    assert attributes.of_write("CREATE", call(user=alice), OBJECT, None, written()).user is alice
    itself = attributes.of_write("CREATE", call(), OBJECT, None, written()).user
    assert (itself.name, itself.groups) == ("system:apiserver", ("system:masters",))


@pytest.mark.parametrize(
    ("storage", "subresource", "wanted"),
    [
        ("/pods", "", {"group": "", "version": "v1", "kind": "Pod"}),
        ("/pods", "eviction", {"group": "policy", "version": "v1", "kind": "Eviction"}),
        ("/pods", "binding", {"group": "", "version": "v1", "kind": "Binding"}),
        ("apps/deployments", "scale", {"group": "autoscaling", "version": "v1", "kind": "Scale"}),
        ("apps/deployments", "status", {"group": "apps", "version": "v1", "kind": "Deployment"}),
    ],
)
def test_a_webhook_sees_the_kind_of_the_body(storage: str, subresource: str, wanted: Json) -> None:
    found = attributes.of_write("CREATE", call(storage, subresource=subresource), OBJECT, None, written())
    assert found.group_version_kind == wanted


@pytest.mark.parametrize(
    ("sent", "manager"),
    [("%ff", "\ufffd"), ("a%ed%a0%80b", "a\ufffd\ufffd\ufffdb"), ("%ff" * 128, "\ufffd" * 128), ("%c3%a9", "\xe9")],
)
def test_a_manager_may_have_bytes_that_are_not_utf_8(sent: str, manager: str) -> None:
    assert WriteOptions(Request("POST", f"/?fieldManager={sent}", {}), "CreateOptions").manager == manager


def test_a_manager_has_at_most_128_bytes_as_sent() -> None:
    with pytest.raises(ApiError, match="fieldManager: Too long: may not be more than 128 bytes"):
        WriteOptions(Request("POST", f"/?fieldManager={'%ff' * 129}", {}), "CreateOptions")
