"""ExecCredential and what it holds. Mirrors pkg/apis/clientauthentication/types.go, and v1 and v1beta1 of it.

Differs: the two versions have the same JSON, so there is one set of classes that knows how to write either.
"""

from __future__ import annotations

import base64
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from clientgo.apimachinery.runtime import timestamps

GROUP_NAME = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP_NAME}/v1", f"{GROUP_NAME}/v1beta1")
KIND = "ExecCredential"


@dataclass(kw_only=True)
class Cluster:
    """What a plugin may know about the cluster, if its configuration asks for it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    # The extension "client.authentication.k8s.io/exec" of the cluster in the kubeconfig: any JSON value.
    config: Any = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; unset fields are left out."""
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
    """What the client tells the plugin."""

    cluster: Cluster | None = None
    # Whether the plugin may talk to a person through its standard input.
    interactive: bool = False


@dataclass(kw_only=True)
class ExecCredentialStatus:
    """The credentials the plugin gives: a token, or a certificate with its key, or both."""

    # Seconds since the epoch at which to ask again; None for when the server refuses the credentials.
    expiration_timestamp: float | None = None
    token: str = field(default="", repr=False)
    client_certificate_data: str = field(default="", repr=False)
    client_key_data: str = field(default="", repr=False)


@dataclass(kw_only=True)
class ExecCredential:
    """The document that goes both ways: `spec` to the plugin, `status` back."""

    spec: ExecCredentialSpec = field(default_factory=ExecCredentialSpec)
    status: ExecCredentialStatus | None = None

    def encode(self, api_version: str) -> bytes:
        """The JSON for a plugin that speaks `api_version`. Raises ValueError for another group or version."""
        if api_version not in VERSIONS:
            raise ValueError(f'no kind "{KIND}" is registered for version "{api_version}"')
        spec: dict[str, Any] = {"interactive": self.spec.interactive}
        if self.spec.cluster is not None:
            spec = {"cluster": self.spec.cluster.to_dict(), **spec}
        document = {"kind": KIND, "apiVersion": api_version, "spec": spec}
        return json.dumps(document, separators=(",", ":")).encode()


def decode(data: bytes, api_version: str) -> ExecCredential:
    """Read what a plugin printed, JSON or YAML of `api_version`. Raises ValueError; never with the text in it."""
    document = _parse(data)
    if not isinstance(document, dict):
        # Raised out here: the parsers' own errors hold the text, and would be this one's context.
        raise ValueError("couldn't get version/kind; json parse error: not a JSON object")
    found, kind = document.get("apiVersion"), document.get("kind")
    if kind != KIND or not isinstance(found, str) or not found.startswith(f"{GROUP_NAME}/"):
        raise ValueError(f'no kind "{kind}" is registered for version "{found}"')
    if found != api_version:
        raise ValueError(f"exec plugin is configured to use API version {api_version}, plugin returned version {found}")
    status = document.get("status")
    return ExecCredential(status=_decode_status(status) if isinstance(status, dict) else None)


def _parse(data: bytes) -> Any:
    """The document, None for what is neither JSON nor YAML."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(data)
    # Only here: plugins speak JSON, and a program that needs no YAML starts sooner without it.
    import yaml

    from clientgo.apimachinery.util.yaml import Limits, unmarshal

    with contextlib.suppress(ValueError, yaml.YAMLError):
        # For the bounds only (a token and a certificate are far below): every value that is asked for is a text, also
        # one that YAML takes for a number.
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
    return value
