"""Validation of an object before it is stored: a table finds the rules of its kind.

The rules are in `kinds.validation` and around it. Custom resources, definitions and policies need CEL and OpenAPI
schemas, which take as long to import as half a server, so the first object of such a kind imports their modules.
The first event imports its rules too, because a server starts without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from clientgo.testing.apiserver.kinds import crd, validation
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import FieldError
from clientgo.testing.apiserver.wire.jsonio import Json

_EVENTS: Final = "/events"
_POLICIES: Final = "admissionregistration.k8s.io"


class Candidate(NamedTuple):
    """An object to validate."""

    call: Call
    obj: Json
    # The object in the version that is stored.
    stored_form: Json
    # The stored object in the request's version; None for a new object.
    old: Json | None

    @property
    def resource(self) -> Resource:
        return self.call.resource

    @property
    def subresource(self) -> str:
        return self.call.subresource

    def old_stored_form(self) -> Json | None:
        """Return the old object in the version that is stored."""
        return None if self.old is None else self.resource.to_storage(self.old)


def validate(call: Call, obj: Json, stored_form: Json, old: Json | None) -> None:
    """Raise ApiError 422 with all errors of an object. Adds warnings to the call."""
    candidate = Candidate(call, obj, stored_form, old)
    if call.resource.custom:
        # The alternatives of a schema make errors that nothing reports.
        found = _metadata(candidate) + _rules(call.resource)(candidate)
    else:
        found = errors.few_field_errors(lambda: _metadata(candidate) + _rules(call.resource)(candidate))
    if found:
        resource = call.resource
        # Events have two groups, and the error names neither.
        group = "" if resource.storage == _EVENTS else resource.group
        raise errors.invalid(group, resource.kind, obj["metadata"].get("name", ""), found)


Rules = Callable[[Candidate], list[FieldError]]


def _rules(resource: Resource) -> Rules:
    if resource.custom:
        return _custom_resource
    return _BY_STORAGE.get(resource.storage) or _BY_GROUP.get(resource.group) or _built_in


def _metadata(candidate: Candidate) -> list[FieldError]:
    resource, metadata = candidate.resource, candidate.obj["metadata"]
    if candidate.old is None:
        return validation.metadata(resource, metadata)
    return validation.metadata_update(resource, candidate.old["metadata"], metadata, candidate.subresource)


def _built_in(candidate: Candidate) -> list[FieldError]:
    resource, old = candidate.resource, candidate.old
    # An older version is validated in its stored form.
    checked = candidate.stored_form if resource.converted else candidate.obj
    if old is None:
        return validation.create(resource, checked)
    before = resource.to_storage(old) if resource.converted else old
    return validation.update(resource, checked, before, candidate.subresource)


def _event(candidate: Candidate) -> list[FieldError]:
    from clientgo.testing.apiserver.kinds.validation import events  # Here: see the docstring of the module.

    group, before = candidate.resource.group, candidate.old_stored_form()
    if before is None:
        return events.event(candidate.stored_form, group)
    return events.event_update(candidate.stored_form, before, group)


def _custom_resource(candidate: Candidate) -> list[FieldError]:
    from clientgo.testing.apiserver.kinds.validation import custom_resources  # Here: see the docstring of the module.

    found, warnings = custom_resources.validate_all(
        candidate.obj, candidate.old, candidate.resource.structural, status=candidate.subresource == "status"
    )
    candidate.call.warnings += warnings
    return found


def _definition(candidate: Candidate) -> list[FieldError]:
    from clientgo.testing.apiserver.kinds.validation import definitions  # Here: see the docstring of the module.

    if candidate.subresource:
        return definitions.validate_status(candidate.obj)
    return definitions.validate(candidate.obj, candidate.old)


def _policy(candidate: Candidate) -> list[FieldError]:
    from clientgo.testing.apiserver.kinds import policy_checks  # Here: see the docstring of the module.

    resource, obj = candidate.resource, candidate.obj
    found = [] if candidate.subresource else validation.create(resource, obj)
    return found + policy_checks.check(resource.kind, obj)


_BY_STORAGE: Final[Mapping[str, Rules]] = {_EVENTS: _event, crd.STORAGE: _definition}
_BY_GROUP: Final[Mapping[str, Rules]] = {_POLICIES: _policy}
