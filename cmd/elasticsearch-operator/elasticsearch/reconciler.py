"""Create or update one object that a cluster owns, as the cache shows it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from api.v1 import Elasticsearch
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime import client
from clientgo.controller_runtime.controller import controllerutil
from elasticsearch import names

T = TypeVar("T", bound=client.Object)


def hash_of(value: Any) -> str:
    """Return a hash that is equal for equal values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def reconcile_resource(
    ctx: Context, c: client.Client, es: Elasticsearch, expected: T, update: Callable[[T, T], None]
) -> T:
    """Create the object, or update it: `update(expected, actual)` changes the existing one.

    Writes nothing if the hash of the expected object is unchanged and the existing object has all of its fields. Raises
    StatusError (Conflict, AlreadyExists) if the cache is behind.
    """
    controllerutil.set_controller_reference(es, expected, c.scheme())
    expected.set_labels({**expected.get_labels(), names.TEMPLATE_HASH: _template_hash(expected.to_dict())})
    document = expected.to_dict()
    actual = get(ctx, c, expected)
    kind = c.group_version_kind_for(expected).kind
    if actual is None:
        c.create(ctx, expected)
        ctrl.logger_from(ctx).info("Created resource successfully", kind=kind, name=expected.get_name())
        return expected
    if covers(actual.to_dict(), document):
        return actual
    changed = actual.deep_copy()
    changed.set_labels({**changed.get_labels(), **expected.get_labels()})
    changed.set_annotations({**changed.get_annotations(), **expected.get_annotations()})
    changed.set_owner_references(expected.get_owner_references())
    update(expected, changed)
    ctrl.logger_from(ctx).info("Updating resource", kind=kind, name=expected.get_name())
    c.update(ctx, changed)
    return changed


def _template_hash(document: dict[str, Any]) -> str:
    """Return the hash without the size, which changes as nodes are removed, and without the immutable claims."""
    unsteady = ("replicas", "volumeClaimTemplates")
    spec = {key: value for key, value in (document.get("spec") or {}).items() if key not in unsteady}
    return hash_of({**document, "spec": spec})


def get(ctx: Context, reader: client.Reader, obj: T) -> T | None:
    """Return the current object with the name and class of `obj`, or None when it does not exist."""
    try:
        return reader.get(ctx, client.object_key_from_object(obj), type(obj))
    except errors.StatusError as err:
        client.ignore_not_found(err)
        return None


def covers(actual: Any, expected: Any) -> bool:
    """Report whether `actual` has all of `expected`. Additions of the server and of others are ignored.

    >>> covers({"replicas": 2, "paused": False}, {"replicas": 2})
    True
    """
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return not expected and actual is None
        return all(covers(actual.get(key), value) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return not expected and actual is None
        return len(actual) == len(expected) and all(map(covers, actual, expected))
    return bool(actual == expected)
