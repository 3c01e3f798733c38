"""The API between a client and an exec credential plugin. Mirrors k8s.io/client-go/pkg/apis/clientauthentication."""

from clientgo.pkg.apis.clientauthentication.types import (
    GROUP_NAME,
    VERSIONS,
    Cluster,
    ExecCredential,
    ExecCredentialSpec,
    ExecCredentialStatus,
    decode,
)

__all__ = [
    "GROUP_NAME",
    "VERSIONS",
    "Cluster",
    "ExecCredential",
    "ExecCredentialSpec",
    "ExecCredentialStatus",
    "decode",
]
