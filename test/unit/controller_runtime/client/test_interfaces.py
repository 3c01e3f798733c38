"""Names of objects, and errors that are not worth an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors as apierrors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupResource
from clientgo.controller_runtime import client

PODS = GroupResource("", "pods")
NOT_FOUND = apierrors.new_not_found(PODS, "p")
ALREADY_EXISTS = apierrors.new_already_exists(PODS, "p")


@pytest.mark.parametrize(
    ("ignore", "ignored", "other"),
    [
        (client.ignore_not_found, NOT_FOUND, ALREADY_EXISTS),
        (client.ignore_already_exists, ALREADY_EXISTS, NOT_FOUND),
    ],
)
def test_only_the_error_that_was_expected_is_ignored(
    ignore: Callable[[Exception | None], None], ignored: Exception, other: Exception
) -> None:
    """
    Go: client: IgnoreNotFound
    Go: client: IgnoreAlreadyExists
    """
    ignore(ignored)
    ignore(None)
    for err in (other, OSError("no network")):
        with pytest.raises(type(err)) as caught:
            ignore(err)
        assert caught.value is err


def test_the_key_of_an_object_is_its_namespace_and_name() -> None:
    pod = corev1.Pod(metadata=metav1.ObjectMeta(namespace="ns", name="p"))
    assert client.object_key_from_object(pod) == client.ObjectKey(namespace="ns", name="p")
    assert str(client.object_key_from_object(pod)) == "ns/p"
