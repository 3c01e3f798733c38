"""ExecCredential and its parts. Mirrors pkg/apis/clientauthentication/types.go, and its versions v1 and v1beta1.

Difference: both versions have the same JSON, so one set of classes writes both.
"""

from __future__ import annotations

import base64
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from clientgo.apimachinery.runtime import timestamps
from clientgo.golang import utf8

GROUP_NAME = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP_NAME}/v1", f"{GROUP_NAME}/v1beta1")
KIND = "ExecCredential"


@dataclass(kw_only=True)
class Cluster:
    """The description of the cluster that a plugin receives if its configuration requests it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    # The extension "client.authentication.k8s.io/exec" of the cluster in the kubeconfig: any JSON value.
    config: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; omits unset fields."""
        document = {
            "server": self.server,
            "tls-server-name": self.tls_server_name,
            "insecure-skip-tls-verify": self.insecure_skip_tls_verify,
            "certificate-authority-data": base64.b64encode(self.certificate_authority_data).decode("ascii"),
            "proxy-url": self.proxy_url,
            "disable-compression": self.disable_compression,
            "config": self.config,
        }
        return {key: value for key, value in document.items() if value or key == "server"}


@dataclass(kw_only=True)
class ExecCredentialSpec:
    """The client's input to the plugin."""

    cluster: Cluster | None = None
    # True if the plugin may prompt the user on its standard input.
    interactive: bool = False


@dataclass(kw_only=True)
class ExecCredentialStatus:
    """The plugin's credentials: a token, a certificate with its key, or both."""

    # The expiry in seconds since 1970; None means until the server rejects the credentials.
    expiration_timestamp: float | None = None
    token: str = field(default="", repr=False)
    client_certificate_data: str = field(default="", repr=False)
    client_key_data: str = field(default="", repr=False)


@dataclass(kw_only=True)
class ExecCredential:
    """The document in both directions: `spec` to the plugin, `status` back."""

    spec: ExecCredentialSpec = field(default_factory=ExecCredentialSpec)
    status: ExecCredentialStatus | None = None

    def encode(self, api_version: str) -> bytes:
        """Return the JSON for a plugin with this `api_version`. Raises ValueError for another group or version."""
        if api_version not in VERSIONS:
            raise ValueError(f'no kind "{KIND}" is registered for version "{api_version}"')
        spec: dict[str, Any] = {"interactive": self.spec.interactive}
        if self.spec.cluster is not None:
            spec = {"cluster": self.spec.cluster.to_dict(), **spec}
        document = {"kind": KIND, "apiVersion": api_version, "spec": spec}
        return json.dumps(document, separators=(",", ":")).encode()


def decode(data: bytes, api_version: str) -> ExecCredential:
    """Parse a plugin's output, JSON or YAML of `api_version`. Raises ValueError without the output's text."""
    document = _parse(data)
    if not isinstance(document, dict):
        # Raised outside of the except clause: the parsers' errors contain the text and would become the context.
        raise ValueError("couldn't get version/kind; json parse error: not a JSON object")
    found, kind = document.get("apiVersion"), document.get("kind")
    if kind != KIND or not isinstance(found, str) or not found.startswith(f"{GROUP_NAME}/"):
        raise ValueError(f'no kind "{kind}" is registered for version "{found}"')
    if found != api_version:
        raise ValueError(f"exec plugin is configured to use API version {api_version}, plugin returned version {found}")
    status = document.get("status")
    return ExecCredential(status=_decode_status(status) if isinstance(status, dict) else None)


def _parse(data: bytes) -> Any:
    """Parse JSON or YAML. Returns None for any other text."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(data)
    # Imported here: plugins use JSON, and a program without YAML starts faster.
    import yaml

    from clientgo.apimachinery.util.yaml import Limits, unmarshal

    with contextlib.suppress(ValueError, yaml.YAMLError):
        # Used only for its limits, far above a token and a certificate. All values are texts, also those that YAML
        # would parse as numbers.
        unmarshal(data, Limits(size=4 * 1024 * 1024, depth=50, values=10_000))
        return yaml.load(data, Loader=yaml.BaseLoader)
    return None


def _decode_status(status: dict[str, Any]) -> ExecCredentialStatus:
    expiry = status.get("expirationTimestamp")
    try:
        expires = timestamps.parse_time(expiry) if expiry else None
    except (TypeError, ValueError):
        raise ValueError("expirationTimestamp is not a time") from None
    return ExecCredentialStatus(
        expiration_timestamp=expires.timestamp() if expires is not None else None,
        token=_text(status, "token"),
        client_certificate_data=_text(status, "clientCertificateData"),
        client_key_data=_text(status, "clientKeyData"),
    )


def _text(status: dict[str, Any], key: str) -> str:
    value = status.get(key) or ""
    if not isinstance(value, str):
        raise ValueError(f"{key} is not a string")
    return utf8.to_valid(value)
