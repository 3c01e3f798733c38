"""Semantic validation and defaults, beyond the schema.

Both functions are outside of the webhooks, because the controller also calls them: the webhooks may be absent or
unreachable, and a stored object can no longer be rejected.
"""

from __future__ import annotations

from api.v1alpha1 import Site
from clientgo.apimachinery.util.validation import field


def validate(site: Site, domain: str) -> field.ErrorList:
    """Return all errors in the spec. A schema cannot check the domain, which is a setting of the operator."""
    found = field.ErrorList()
    host = site.spec.host
    if host and not host.endswith(f".{domain}"):
        found.append(field.invalid(field.new_path("spec", "host"), host, f"must be in the domain {domain}"))
    return found


def set_defaults(site: Site, domain: str) -> bool:
    """Set the defaults of empty fields, and report whether a field was empty."""
    # A generated name does not exist yet when webhooks are called. The controller sets the default later.
    if site.spec.host or not site.get_name():
        return False
    site.spec.host = f"{site.get_name()}.{site.get_namespace()}.{domain}"
    return True
