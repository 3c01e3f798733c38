"""The webhooks of Sites: initialization and semantic validation before a Site is stored.

Both use validation.py, like the controller, whose `is_initialized` and `is_valid` repeat the checks.
"""

from __future__ import annotations

import validation
from api.v1alpha1 import GROUP_VERSION, Site
from clientgo import controller_runtime as ctrl
from clientgo.apimachinery.api import errors
from clientgo.context import Context
from clientgo.controller_runtime.webhook import admission


def setup_webhook_with_manager(mgr: ctrl.Manager, domain: str) -> None:
    """Serve both webhooks with the manager's webhook server."""
    builder = ctrl.new_webhook_managed_by(mgr, Site)
    builder.with_defaulter(SiteDefaulter(domain)).with_validator(SiteValidator(domain)).complete()


class SiteDefaulter:
    """A webhook that initializes a new Site, so that its user immediately sees the defaults."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    def default(self, ctx: Context, site: Site) -> None:
        """Fill in what is left open."""
        validation.set_defaults(site, self._domain)


class SiteValidator:
    """A webhook that rejects invalid Sites with an error that names all invalid fields."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    def validate_create(self, ctx: Context, site: Site) -> admission.Warnings | None:
        """Validate the spec."""
        return self._check(site)

    def validate_update(self, ctx: Context, old: Site, new: Site) -> admission.Warnings | None:
        """Validate a changed spec.

        With an unchanged spec every update is valid. So a Site that was stored without this webhook can still be
        labelled, and its finalizers can be removed.
        """
        return self._check(new) if new.spec != old.spec else None

    def validate_delete(self, ctx: Context, site: Site) -> admission.Warnings | None:
        """Allow the deletion of every Site."""
        return None

    def _check(self, site: Site) -> admission.Warnings | None:
        if found := validation.validate(site, self._domain):
            raise errors.new_invalid(GROUP_VERSION.with_kind("Site").group_kind(), site.get_name(), found)
        return None if site.spec.tls_secret_name else ["without spec.tlsSecretName the Site is served unencrypted"]
