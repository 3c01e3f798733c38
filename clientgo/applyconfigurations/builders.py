"""The parts of apply configurations that a typed object lacks. Replaces the 1,000 generated files of
k8s.io/client-go/applyconfigurations.

In Go, a struct always has all fields, so an apply needs second types with pointers. Here an object contains only the
fields that were set, and `apply` adds apiVersion and kind. Therefore API types are apply configurations themselves;
type checkers know their fields, also those of a user's own types. Two things remain: zero values, and the fields that a
field manager already owns. The modules of the group versions have `extract` under the name of each kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from clientgo.apimachinery.runtime.documents import document_of, keep_zero_values
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.util.managedfields import extract_into

__all__ = ["explicit", "extract"]

P = ParamSpec("P")
S = TypeVar("S", bound=Struct)
T = TypeVar("T", bound=Object)


def explicit(cls: Callable[P, S]) -> Callable[P, S]:
    """Return a constructor of an API type that keeps the empty and zero values of its arguments. Go: the With methods.

        explicit(corev1.PodSpec)(host_network=False)    # sends "hostNetwork": false and owns it
        corev1.PodSpec(host_network=False)              # sends nothing

    A typed object omits such a value if the JSON of its field is optional, as in Go. None leaves a field absent. An
    assignment of a zero value to the object later removes the field again.
    """

    @functools.wraps(cls)
    def construct(*args: P.args, **kwargs: P.kwargs) -> S:
        obj = cls(*args, **kwargs)
        keep_zero_values(obj, [attr for attr, value in kwargs.items() if value is not None])
        return obj

    return construct


def extract(obj: T, field_manager: str, subresource: str = "") -> T:
    """Return a new object with the fields that the manager owns by Apply. Go: ExtractDeployment and its siblings.

    `obj` comes from the server, a cache included; it may be of any kind, also Unstructured, and is not changed. The
    result has apiVersion, kind, name and namespace too, so that the caller can change fields and apply it again:

        mine = extract(deployment, "my-controller")
        mine.spec.replicas = 5
        client.apply(ctx, mine, metav1.ApplyOptions(field_manager="my-controller"))

    With `subresource` "status", it returns the fields of the manager's last apply_status. If the manager owns nothing,
    the result has no other fields. Raises ValueError for unreadable managed fields.
    """
    document = document_of(obj)
    owned = extract_into(document, field_manager, subresource) or {}
    own = type(obj).GROUP_VERSION_KIND
    api_version, kind = document.get("apiVersion"), document.get("kind")
    if not (api_version and kind) and own is not None:
        api_version, kind = own.to_api_version_and_kind()
    metadata = document.get("metadata") or {}
    identity = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
    result = {
        **({"apiVersion": api_version} if api_version else {}),
        **({"kind": kind} if kind else {}),
        "metadata": {**identity, **(owned.pop("metadata", None) or {})},
        **owned,
    }
    return type(obj).from_dict(result)
