"""The current format of kubeconfig files. Mirrors k8s.io/client-go/tools/clientcmd/api/latest."""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.tools.clientcmd.api.latest.latest import (
        CODEC,
        EXTERNAL_VERSION,
        LIMITS,
        OLDEST_VERSION,
        VERSION,
        VERSIONS,
    )
else:
    # Imports YAML, which a program in a pod does not need.
    __getattr__, __dir__ = attach(
        __name__, {"latest": ["CODEC", "EXTERNAL_VERSION", "LIMITS", "OLDEST_VERSION", "VERSION", "VERSIONS"]}
    )

__all__ = ["CODEC", "EXTERNAL_VERSION", "LIMITS", "OLDEST_VERSION", "VERSION", "VERSIONS"]
