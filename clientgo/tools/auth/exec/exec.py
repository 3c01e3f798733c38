"""The input of an exec plugin, which clients give it in the environment. Mirrors tools/auth/exec/exec.go."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any

from clientgo.apimachinery.util.yaml import YAMLSyntaxError, unmarshal
from clientgo.pkg.apis.clientauthentication import (
    GROUP_NAME,
    VERSIONS,
    Cluster,
    ExecCredential,
    ExecCredentialSpec,
)
from clientgo.rest.config import Config
from clientgo.rest.exec import exec_cluster_to_config

__all__ = ["load_exec_credential", "load_exec_credential_from_env"]

_EXEC_INFO_ENV = "KUBERNETES_EXEC_INFO"
_KIND = "ExecCredential"


def load_exec_credential_from_env() -> tuple[ExecCredential, Config]:
    """Load the value of KUBERNETES_EXEC_INFO like `load_exec_credential`. Raises ValueError if it is empty.

    Go: exec.LoadExecCredentialFromEnv.
    """
    env = os.environ.get(_EXEC_INFO_ENV, "")
    if not env:
        raise ValueError("KUBERNETES_EXEC_INFO env var is unset or empty")
    return load_exec_credential(os.fsencode(env))


def load_exec_credential(data: bytes) -> tuple[ExecCredential, Config]:
    """Return the ExecCredential of any version in `data`, and a config for its cluster without credentials.

    Raises ValueError for other data, and for an ExecCredential without a cluster: a kubeconfig must set
    provideClusterInfo for it. Go: exec.LoadExecCredential.
    """
    try:
        document = unmarshal(data)
    except YAMLSyntaxError as err:
        raise ValueError(f"decode: {err}") from None
    if not isinstance(document, dict):
        raise ValueError("decode: couldn't get version/kind; json parse error: not a JSON object")
    version, kind = document.get("apiVersion", ""), document.get("kind", "")
    group = version.rpartition("/")[0] if isinstance(version, str) else ""
    if kind != _KIND or group != GROUP_NAME:
        found = f"{kind}.{group}" if group else kind
        raise ValueError(f"invalid group/kind: wanted {_KIND}.{GROUP_NAME}, got {found}")
    if version not in VERSIONS:
        raise ValueError(f'decode: no kind "{kind}" is registered for version "{version}"')
    spec = document.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    if not isinstance(spec.get("cluster"), dict):
        raise ValueError("ExecCredential does not contain cluster information")
    cluster = _cluster(spec["cluster"])
    credential = ExecCredential(spec=ExecCredentialSpec(cluster=cluster, interactive=spec.get("interactive") is True))
    try:
        return credential, exec_cluster_to_config(cluster)
    except ValueError as err:
        raise ValueError(f"cannot create rest.Config: {err}") from None


def _cluster(found: dict[str, Any]) -> Cluster:
    """Return the cluster of a document. Raises ValueError for a field of another type."""

    def text(name: str) -> str:
        value = found.get(name)
        if not isinstance(value, str | None):
            raise ValueError(f"decode: spec.cluster.{name} is no string")
        return value or ""

    def flag(name: str) -> bool:
        value = found.get(name)
        if not isinstance(value, bool | None):
            raise ValueError(f"decode: spec.cluster.{name} is no bool")
        return bool(value)

    try:
        authority = base64.b64decode(text("certificate-authority-data"), validate=True)
    except binascii.Error as err:
        raise ValueError(f"decode: spec.cluster.certificate-authority-data: {err}") from None
    return Cluster(
        server=text("server"),
        tls_server_name=text("tls-server-name"),
        insecure_skip_tls_verify=flag("insecure-skip-tls-verify"),
        certificate_authority_data=authority,
        proxy_url=text("proxy-url"),
        disable_compression=flag("disable-compression"),
        config=found.get("config"),
    )
