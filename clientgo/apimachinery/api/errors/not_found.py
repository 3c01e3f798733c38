"""None in place of a NotFound error, for objects that may be absent.

    pod = errors.get_or_none(client.core_v1().pods("default"), ctx, "web")
    pod = errors.none_if_not_found(pod_lister.pods("default").get, "web")
    errors.none_if_not_found(client.core_v1().pods("default").delete, ctx, "web")

No Go file: controller-runtime has client.IgnoreNotFound, which filters a returned error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from clientgo.apimachinery.api.errors.errors import StatusError, is_not_found, is_unexpected_server_error
from clientgo.apimachinery.util.errors.chain import as_type
from clientgo.context import Context

__all__ = ["Getter", "get_or_none", "none_if_not_found"]

P = ParamSpec("P")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class Getter(Protocol[T_co]):
    """A client with `get`: typed, dynamic or for metadata."""

    def get(self, ctx: Context, name: str, /) -> T_co:
        """Return the named object. Raises StatusError (NotFound) if it does not exist."""
        ...


def get_or_none(client: Getter[R], ctx: Context, name: str) -> R | None:
    """Return the named object, or None if it does not exist. Blocks for one request.

    A kind that the server does not serve is an error: its CRD is missing, or the server's version is another one.
    Raises the client's other errors too.
    """
    return none_if_not_found(client.get, ctx, name)


def none_if_not_found(call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R | None:
    """Return the result of `call(*args, **kwargs)`, or None if it raises NotFound for an object.

    Blocks like `call`. Raises all other errors of the call, including NotFound for an unknown URL, which means that the
    server does not serve the resource.
    """
    try:
        return call(*args, **kwargs)
    except Exception as err:
        if is_not_found(err) and _names_an_object(err):
            return None
        raise


def _names_an_object(err: Exception) -> bool:
    """Report whether the error is about an object; a server's answer for an unknown URL has no name."""
    found = as_type(err, StatusError)
    if found is None or is_unexpected_server_error(err):
        return False
    details = found.status().details
    return details is not None and details.name != ""
