"""What an apply sends, from a document. Mirrors pkg/client/applyconfigurations.go."""

from __future__ import annotations

from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.controller_runtime.client.interfaces import ApplyConfiguration


def apply_configuration_from_unstructured(u: Unstructured) -> ApplyConfiguration:
    """The object itself: documents hold nothing but what was set. Go: client.ApplyConfigurationFromUnstructured.

    Do not give one that was read from a server: the apply would then own all of its fields.
    """
    return u
