"""The largest object that the store takes. Plays the part of etcd's --max-request-bytes and of its client's limit.

Objects are measured as the real server stores them: built-in kinds as protobuf, custom resources as JSON.
"""

from __future__ import annotations

from typing import Final

from clientgo.testing.apiserver import kinds
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, dumps

MAX_REQUEST_BYTES: Final = 1536 * 1024
_MAX_SENT_BYTES: Final = 2 * 1024 * 1024


def fitting(resource: Resource, obj: Json) -> Json:
    """Return the object if it fits, otherwise a view without managedFields. Raises ApiError 500 if neither fits."""
    if _problem(resource, obj) is None:
        return obj
    bare = {**obj, "metadata": {name: part for name, part in obj["metadata"].items() if name != "managedFields"}}
    problem = _problem(resource, bare)
    if problem is not None:
        raise problem
    return bare


def _problem(resource: Resource, obj: Json) -> ApiError | None:
    size = len(dumps(obj))
    if size > MAX_REQUEST_BYTES and kinds.protobuf.supports(resource):
        # JSON says the same in more bytes, so the shorter form is measured only for the few that are close.
        size = len(kinds.protobuf.encode_message(resource.group_version, resource.kind, obj))
    if size > _MAX_SENT_BYTES:
        status = "rpc error: code = ResourceExhausted desc = "
        return errors.internal_text(f"{status}trying to send message larger than max ({size} vs. {_MAX_SENT_BYTES})")
    return errors.internal_text("etcdserver: request is too large") if size > MAX_REQUEST_BYTES else None
