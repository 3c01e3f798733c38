"""Clients that add an owner, or how unknown fields are treated, to every write; a call's own option comes later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from clientgo import context
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import client
from clientgo.controller_runtime.client import fake, interceptor

CTX = context.background()


def writes(c: client.Client, *opts: Any) -> list[Callable[[], None]]:
    obj = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="p"))
    patch = client.raw_patch("application/merge-patch+json", b"{}")
    return [
        lambda: c.create(CTX, obj, *opts),
        lambda: c.update(CTX, obj, *opts),
        lambda: c.patch(CTX, obj, patch, *opts),
        lambda: c.status().create(CTX, obj, obj, *opts),
        lambda: c.status().update(CTX, obj, *opts),
        lambda: c.status().patch(CTX, obj, patch, *opts),
    ]


def applies(c: client.Client, *opts: Any) -> list[Callable[[], None]]:
    obj = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="p"))
    return [lambda: c.apply(CTX, obj, *opts), lambda: c.status().apply(CTX, obj, *opts)]


def recording(seen: list[Any]) -> client.Client:
    """Return a client that records the options of each write and sends no request."""

    def note(options: Callable[[], Any], start: int, method: str = "apply_options") -> Callable[..., None]:
        def call(*args: Any) -> None:
            seen.append(getattr(options(), method)(args[start:]))

        return call

    funcs = interceptor.Funcs(
        create=note(client.CreateOptions, 3),
        update=note(client.UpdateOptions, 3),
        patch=note(client.PatchOptions, 4),
        apply=note(client.ApplyOptions, 3),
        sub_resource_create=note(client.SubResourceCreateOptions, 5),
        sub_resource_update=note(client.SubResourceUpdateOptions, 4),
        sub_resource_patch=note(client.SubResourcePatchOptions, 5),
        sub_resource_apply=note(client.SubResourceApplyOptions, 4, "apply_opts"),
    )
    return interceptor.new_client(fake.new_client_builder().build(), funcs)


@pytest.mark.parametrize("number", range(8))
def test_every_write_has_the_owner_of_the_client_unless_it_says_another(number: int) -> None:
    """
    Go: client: TestWithFieldOwner
    Go: client: TestWithFieldOwnerOverridden
    """
    seen: list[Any] = []
    c = client.with_field_owner(recording(seen), "mine")
    [*writes(c), *applies(c)][number]()
    assert [options.field_manager for options in seen] == ["mine"]
    other = client.FieldOwner("other")
    [*writes(c, other), *applies(c, other)][number]()
    assert [options.field_manager for options in seen] == ["mine", "other"]


@pytest.mark.parametrize("number", range(6))
def test_every_write_is_validated_as_the_client_says_unless_it_says_otherwise(number: int) -> None:
    """
    Go: client: TestWithStrictFieldValidation
    Go: client: TestWithStrictFieldValidationOverridden
    """
    seen: list[Any] = []
    c = client.with_field_validation(recording(seen), client.FieldValidation(metav1.FIELD_VALIDATION_STRICT))
    writes(c)[number]()
    assert [options.field_validation for options in seen] == ["Strict"]
    writes(c, client.FieldValidation(metav1.FIELD_VALIDATION_WARN))[number]()
    assert [options.field_validation for options in seen] == ["Strict", "Warn"]


@pytest.mark.parametrize("validation", ["Strict", None, client.FieldOwner("Strict")])
def test_a_wrapper_refuses_what_is_no_field_validation_where_it_is_made(validation: Any) -> None:
    with pytest.raises(TypeError, match="expected a client.FieldValidation"):
        client.with_field_validation(recording([]), validation)
