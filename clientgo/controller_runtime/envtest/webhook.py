"""Admission webhooks for a test's control plane. Mirrors pkg/envtest/webhook.go.

Their configurations name a service of the cluster. For a test, this module makes a certificate and points them at a
server of this process: pass `local_serving_host`, `local_serving_port` and `local_serving_cert_dir` to the manager's
webhook server.
"""

from __future__ import annotations

import base64
import shutil
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clientgo import dynamic, rest
from clientgo.api.admissionregistration import v1 as admissionregistrationv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.context import background
from clientgo.controller_runtime.envtest.crd import dynamic_client, read_documents
from clientgo.testing.apiserver.wire.signing import make_certificates
from clientgo.utils.clock import REAL_CLOCK

__all__ = ["WebhookInstallOptions", "wait_for_webhooks"]

Mutating = admissionregistrationv1.MutatingWebhookConfiguration
Validating = admissionregistrationv1.ValidatingWebhookConfiguration

_GROUP = "admissionregistration.k8s.io"
_RESOURCES = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


@dataclass(kw_only=True)
class WebhookInstallOptions:
    """The webhooks to install, and the address that serves them. Go: envtest.WebhookInstallOptions."""

    paths: Sequence[str | Path] = ()
    """Files, and folders of files."""
    mutating_webhooks: list[admissionregistrationv1.MutatingWebhookConfiguration] = field(default_factory=list)
    """Configurations; `install` adds those of the files."""
    validating_webhooks: list[admissionregistrationv1.ValidatingWebhookConfiguration] = field(default_factory=list)
    """Configurations; `install` adds those of the files."""
    ignore_scheme_convertible: bool = False
    """Point every definition with a conversion webhook to the test's server, even if the scheme's types do not convert.
    """
    ignore_error_if_path_missing: bool = False
    """Ignore missing paths."""
    local_serving_host: str = ""
    """The host at which the test serves webhooks; "" selects 127.0.0.1."""
    local_serving_port: int = 0
    """The port at which the test serves webhooks; 0 selects a free one."""
    local_serving_cert_dir: str = ""
    """The folder with tls.crt and tls.key; `install` creates it and `cleanup` deletes it."""
    local_serving_ca_data: bytes = b""
    """The certificate authority in PEM; `install` creates it."""
    local_serving_host_external_name: str = ""
    """The host from the API server's point of view, if it differs."""
    max_time: float = 10.0
    """Seconds until the configurations must be readable."""
    poll_interval: float = 0.1
    """Seconds between two polls."""

    def prep_without_installing(self) -> None:
        """Create the certificate, choose the port, and set both in the configurations. Go: PrepWithoutInstalling.

        Raises FileNotFoundError, ValueError for an invalid file, OSError.
        """
        self._read_files()
        self._set_up_ca()
        if not self.local_serving_port:
            self._choose_port()
        self.modify_webhook_definitions()

    def modify_webhook_definitions(self) -> None:
        """Set the local server's address in the configurations. Go: ModifyWebhookDefinitions."""
        for configuration in self._configurations():
            for webhook in configuration.webhooks:
                service = webhook.client_config.service
                path = service.path if service is not None and service.path else ""
                webhook.client_config = admissionregistrationv1.WebhookClientConfig.from_dict(self.client_config(path))

    def client_config(self, path: str) -> dict[str, Any]:
        """Return the clientConfig for one path of the local server."""
        host = self.local_serving_host_external_name or self.local_serving_host
        url = f"https://{host}:{self.local_serving_port}/{path.lstrip('/')}"
        return {"url": url, "caBundle": base64.b64encode(self.local_serving_ca_data).decode()}

    def install(self, config: rest.Config) -> None:
        """Prepare the configurations if needed, install them, and wait until they are readable. Blocks. Go: Install."""
        if not self.local_serving_ca_data:
            self.prep_without_installing()
        with dynamic_client(config) as client:
            for configuration in self._configurations():
                _put(client, configuration)
        wait_for_webhooks(config, self.mutating_webhooks, self.validating_webhooks, self)

    def cleanup(self) -> None:
        """Delete the certificate and its key. Go: Cleanup."""
        if self.local_serving_cert_dir:
            shutil.rmtree(self.local_serving_cert_dir, ignore_errors=True)
            self.local_serving_cert_dir = ""

    def _configurations(self) -> list[Mutating | Validating]:
        return [*self.mutating_webhooks, *self.validating_webhooks]

    def _read_files(self) -> None:
        for document in read_documents(self.paths, not self.ignore_error_if_path_missing):
            if document.get("kind") == "MutatingWebhookConfiguration":
                self.mutating_webhooks.append(Mutating.from_dict(document))
            elif document.get("kind") == "ValidatingWebhookConfiguration":
                self.validating_webhooks.append(Validating.from_dict(document))

    def _set_up_ca(self) -> None:
        self.local_serving_host = self.local_serving_host or "127.0.0.1"
        hosts = [self.local_serving_host, "localhost", self.local_serving_host_external_name]
        authority, certificate, key = make_certificates([host for host in hosts if host], REAL_CLOCK.now())
        self.local_serving_ca_data = authority.encode()
        self.local_serving_cert_dir = self.local_serving_cert_dir or tempfile.mkdtemp(prefix="envtest-serving-certs-")
        folder = Path(self.local_serving_cert_dir)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "tls.crt").write_text(certificate)
        (folder / "tls.key").touch(mode=0o600)
        (folder / "tls.key").write_text(key)

    def _choose_port(self) -> None:
        # The port is free now and most likely still free when the webhook server listens.
        with socket.create_server((self.local_serving_host, 0)) as listener:
            self.local_serving_port = listener.getsockname()[1]


def _resource_of(configuration: Mutating | Validating) -> GroupVersionResource:
    return GroupVersionResource(_GROUP, "v1", _RESOURCES[type(configuration).__name__])


def _put(client: dynamic.Interface, configuration: Mutating | Validating) -> None:
    ctx, resource = background(), client.resource(_resource_of(configuration))
    document = {**json_document_of(configuration), "apiVersion": f"{_GROUP}/v1", "kind": type(configuration).__name__}
    wanted = unstructured.Unstructured.from_dict(document)
    try:
        resource.create(ctx, wanted, metav1.CreateOptions())
    except errors.StatusError as err:
        if not errors.is_already_exists(err):
            raise
        there = resource.get(ctx, wanted.get_name(), metav1.GetOptions())
        wanted.set_resource_version(there.get_resource_version())
        resource.update(ctx, wanted, metav1.UpdateOptions())


def wait_for_webhooks(
    config: rest.Config,
    mutating_webhooks: Sequence[admissionregistrationv1.MutatingWebhookConfiguration],
    validating_webhooks: Sequence[admissionregistrationv1.ValidatingWebhookConfiguration],
    options: WebhookInstallOptions,
) -> None:
    """Wait until the configurations are readable. Raises StatusError, TimeoutError. Go: WaitForWebhooks."""
    missing: list[Mutating | Validating] = [*mutating_webhooks, *validating_webhooks]
    with dynamic_client(config) as client:

        def there(ctx: object) -> bool:
            while missing:
                resource = client.resource(_resource_of(missing[0]))
                try:
                    resource.get(background(), missing[0].get_name(), metav1.GetOptions())
                except errors.StatusError as err:
                    if errors.is_not_found(err):
                        return False
                    raise
                missing.pop(0)
            return True

        try:
            wait.poll_until_context_timeout(background(), options.poll_interval, options.max_time, True, there)
        except Exception as err:
            if not missing or not wait.interrupted(err):
                raise
            names = ", ".join(one.get_name() for one in missing)
            raise TimeoutError(f"waited {options.max_time:g} s for webhook configurations: {names}") from err
