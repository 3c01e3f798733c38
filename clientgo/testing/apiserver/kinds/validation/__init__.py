"""Validation of object metadata and of the built-in kinds, for the errors that controllers and users encounter.

The texts are those of apimachinery's and Kubernetes' validation packages. An object of a kind without rules here is
valid if it decodes.
"""

from clientgo.testing.apiserver.kinds.validation.fields import selector_matches
from clientgo.testing.apiserver.kinds.validation.kinds import create, update
from clientgo.testing.apiserver.kinds.validation.metadata import (
    finalizer_warnings,
    metadata,
    metadata_update,
    path_segment,
)

__all__ = [
    "create",
    "finalizer_warnings",
    "metadata",
    "metadata_update",
    "path_segment",
    "selector_matches",
    "update",
]
