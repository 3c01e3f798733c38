"""Validation of object metadata and of the built-in kinds, as far as controllers and people meet it.

The texts are those of apimachinery's and Kubernetes' validation packages. A kind without rules here is accepted when
it decodes.
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
