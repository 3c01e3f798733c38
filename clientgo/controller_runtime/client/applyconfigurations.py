"""Apply configurations made from documents. Mirrors pkg/client/applyconfigurations.go."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.controller_runtime.client.interfaces import ApplyConfiguration


def apply_configuration_from_unstructured(u: Unstructured) -> ApplyConfiguration:
    """Return `u`, since a document contains only the fields that were set.

    Do not pass an object that was read from a server: the apply would take ownership of all its fields.
    Go: client.ApplyConfigurationFromUnstructured.
    """
    return u
