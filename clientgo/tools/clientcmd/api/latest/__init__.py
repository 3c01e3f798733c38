"""The current form of kubeconfig files. Mirrors k8s.io/client-go/tools/clientcmd/api/latest."""

from clientgo.tools.clientcmd.api.latest.latest import (
    CODEC,
    EXTERNAL_VERSION,
    LIMITS,
    OLDEST_VERSION,
    VERSION,
    VERSIONS,
)

__all__ = ["CODEC", "EXTERNAL_VERSION", "LIMITS", "OLDEST_VERSION", "VERSION", "VERSIONS"]
