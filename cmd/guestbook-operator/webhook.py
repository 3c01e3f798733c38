"""The webhooks of Guestbooks: the defaults and the checks that a schema cannot express."""

from __future__ import annotations

from api.v1 import GROUP_VERSION, Guestbook
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util.validation import field
from clientgo.context import Context
from clientgo.controller_runtime.webhook import admission

MAX_SIZE = 10
# An annotation: "true" protects a Guestbook from deletion.
PROTECTED = "webapp.example.com/protected"


def setup_webhook_with_manager(mgr: ctrl.Manager) -> None:
    """Serve both webhooks with the manager's webhook server."""
    builder = ctrl.new_webhook_managed_by(mgr, Guestbook)
    builder.with_defaulter(GuestbookDefaulter()).with_validator(GuestbookValidator()).complete()


class GuestbookDefaulter:
    """A webhook that sets the defaults of a new Guestbook."""

    def default(self, ctx: Context, guestbook: Guestbook) -> None:
        """Set the title to the Guestbook's name, unless the user has set one."""
        if not guestbook.spec.title:
            guestbook.spec.title = f"Guestbook {guestbook.get_name()}"


class GuestbookValidator:
    """A webhook that rejects invalid Guestbooks with an error that names all invalid fields."""

    def validate_create(self, ctx: Context, guestbook: Guestbook) -> admission.Warnings | None:
        """Reject a size that is too large, and an image whose content may change."""
        return _check(guestbook, _spec_errors(guestbook))

    def validate_update(self, ctx: Context, old: Guestbook, new: Guestbook) -> admission.Warnings | None:
        """Validate a changed spec. The port is immutable, because visitors know it.

        With an unchanged spec every update is valid. So an object that was stored without this webhook can still be
        labelled, and its finalizer can be removed.
        """
        if new.spec == old.spec:
            return None
        found = _spec_errors(new)
        if new.spec.port != old.spec.port:
            found.append(field.forbidden(field.new_path("spec", "port"), "may not change"))
        return _check(new, found)

    def validate_delete(self, ctx: Context, guestbook: Guestbook) -> admission.Warnings | None:
        """Reject the deletion of a protected Guestbook."""
        if guestbook.get_annotations().get(PROTECTED) == "true":
            raise ValueError(f"the Guestbook is protected; remove the annotation {PROTECTED} first")
        return None


def _spec_errors(guestbook: Guestbook) -> field.ErrorList:
    spec, path = guestbook.spec, field.new_path("spec")
    found = field.ErrorList()
    if (spec.size or 0) > MAX_SIZE:
        found.append(field.invalid(path.child("size"), spec.size, f"must be at most {MAX_SIZE}"))
    if spec.image.rpartition(":")[2] == "latest":
        found.append(field.invalid(path.child("image"), spec.image, "must have a tag that stays the same"))
    return found


def _check(guestbook: Guestbook, found: field.ErrorList) -> admission.Warnings | None:
    if found:
        raise errors.new_invalid(GROUP_VERSION.with_kind("Guestbook").group_kind(), guestbook.get_name(), found)
    return ["nobody can sign a guestbook of size 0"] if guestbook.spec.size == 0 else None
