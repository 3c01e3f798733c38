"""Custom resources for a test's control plane. Mirrors pkg/envtest/crd.go.

Definitions come from files and folders, in YAML or JSON, or from objects. Installing an existing definition replaces
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clientgo import dynamic, rest
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.documents import json_document_of
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource
from clientgo.apimachinery.util import wait, yaml
from clientgo.context import background
from clientgo.controller_runtime.webhook.conversion import is_convertible
from clientgo.discovery import new_discovery_client_for_config
from clientgo.kubernetes import scheme as kubescheme

if TYPE_CHECKING:
    from clientgo.controller_runtime.envtest.webhook import WebhookInstallOptions

__all__ = [
    "CRDInstallOptions",
    "create_crds",
    "install_crds",
    "read_crd_files",
    "uninstall_crds",
    "wait_for_crds",
]

CRD = apiextensionsv1.CustomResourceDefinition
CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
SUFFIXES = (".yaml", ".yml", ".json")
_MAX_TIME = 10.0
_POLL_INTERVAL = 0.1


@dataclass(kw_only=True)
class CRDInstallOptions:
    """The definitions to install, and the options of their installation. Go: envtest.CRDInstallOptions."""

    scheme: Scheme | None = None
    """The scheme that shows which kinds convert by a webhook; None selects the built-in kinds."""
    paths: Sequence[str | Path] = ()
    """Files, and folders of files."""
    crds: list[apiextensionsv1.CustomResourceDefinition] = field(default_factory=list)
    """Definitions. `install_crds` adds those of the files and the server's results."""
    error_if_path_missing: bool = False
    """Raise FileNotFoundError for a missing path."""
    max_time: float = _MAX_TIME
    """Seconds until the server must serve the new resources."""
    poll_interval: float = _POLL_INTERVAL
    """Seconds between two polls."""
    clean_up_after_use: bool = False
    """Delete the definitions, and thereby all their objects, when the environment stops. For clusters that outlive the
    test.
    """
    webhook_options: WebhookInstallOptions | None = None
    """The address of the conversion webhooks."""


def install_crds(
    config: rest.Config, options: CRDInstallOptions
) -> list[apiextensionsv1.CustomResourceDefinition]:
    """Install the definitions and wait until the server serves their resources. Blocks. Go: InstallCRDs.

    Raises FileNotFoundError, ValueError for an invalid file, StatusError, TimeoutError.
    """
    read_crd_files(options)
    _modify_conversion_webhooks(options)
    create_crds(config, options.crds)
    wait_for_crds(config, options.crds, options)
    return options.crds


def read_crd_files(options: CRDInstallOptions) -> None:
    """Read the files into `options.crds`. The later of two definitions with the same name wins. Go: ReadCRDFiles."""
    found = {crd.get_name(): crd for crd in options.crds}
    for document in read_documents(options.paths, options.error_if_path_missing):
        if document.get("kind") == "CustomResourceDefinition":
            crd = CRD.from_dict(document)
            found[crd.get_name()] = crd
    options.crds = list(found.values())


def read_documents(paths: Iterable[str | Path], error_if_missing: bool) -> Iterable[dict[str, Any]]:
    """Yield the objects in files and folders, sorted by file name in each folder. Raises FileNotFoundError, ValueError.
    """
    for path in map(Path, paths):
        if not path.exists():
            if error_if_missing:
                raise FileNotFoundError(f"stat {path}: no such file or directory")
            continue
        files = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES) if path.is_dir() else [path]
        for file in files:
            yield from _documents(file)


def _documents(file: Path) -> Iterable[dict[str, Any]]:
    # Three dashes end a document, as in kubectl.
    for text in f"\n{file.read_text(encoding='utf-8')}".split("\n---"):
        try:
            document = yaml.unmarshal(text.partition("\n")[2])
        except ValueError as err:
            raise ValueError(f"{file}: {err}") from err
        if isinstance(document, dict):
            yield document


def create_crds(config: rest.Config, crds: Iterable[apiextensionsv1.CustomResourceDefinition]) -> None:
    """Create or replace the definitions. Blocks. Raises StatusError. Go: CreateCRDs."""
    ctx = background()
    with dynamic_client(config) as clients:
        client = clients.resource(CRDS)
        for crd in crds:
            wanted = unstructured.Unstructured.from_dict(_document(crd))
            try:
                client.create(ctx, wanted, metav1.CreateOptions())
            except errors.StatusError as err:
                if not errors.is_already_exists(err):
                    raise
                there = client.get(ctx, crd.get_name(), metav1.GetOptions())
                wanted.set_resource_version(there.get_resource_version())
                client.update(ctx, wanted, metav1.UpdateOptions())


def _document(crd: apiextensionsv1.CustomResourceDefinition) -> dict[str, Any]:
    return {**json_document_of(crd), "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}


@contextlib.contextmanager
def dynamic_client(config: rest.Config) -> Iterator[dynamic.Interface]:
    """Yield a client and close it afterwards."""
    client = dynamic.new_for_config(config)
    try:
        yield client
    finally:
        client.close()


def wait_for_crds(
    config: rest.Config, crds: Iterable[apiextensionsv1.CustomResourceDefinition], options: CRDInstallOptions
) -> None:
    """Wait until discovery returns all resources of all served versions. Raises TimeoutError. Go: WaitForCRDs."""
    missing: dict[GroupVersion, set[str]] = {}
    for crd in crds:
        for version in crd.spec.versions:
            if version.served:
                missing.setdefault(GroupVersion(crd.spec.group, version.name), set()).add(crd.spec.names.plural)
    with contextlib.closing(new_discovery_client_for_config(config)) as discovery:

        def served(ctx: object) -> bool:
            for group_version in list(missing):
                try:
                    resources = discovery.server_resources_for_group_version(group_version.identifier()).api_resources
                except errors.StatusError as err:
                    if errors.is_not_found(err):
                        return False
                    raise
                missing[group_version] -= {resource.name for resource in resources}
                if missing[group_version]:
                    return False
                del missing[group_version]
            return True

        try:
            wait.poll_until_context_timeout(background(), options.poll_interval, options.max_time, True, served)
        except Exception as err:
            if not missing or not wait.interrupted(err):
                raise
            names = ", ".join(f"{name} in {gv}" for gv, plurals in missing.items() for name in sorted(plurals))
            raise TimeoutError(f"waited {options.max_time:g} s for custom resources to be served: {names}") from err


def uninstall_crds(config: rest.Config, options: CRDInstallOptions) -> None:
    """Delete the definitions, and thereby all their objects. Blocks. Raises StatusError. Go: UninstallCRDs."""
    read_crd_files(options)
    with dynamic_client(config) as clients:
        client = clients.resource(CRDS)
        for crd in options.crds:
            try:
                client.delete(background(), crd.get_name(), metav1.DeleteOptions())
            except errors.StatusError as err:
                if not errors.is_not_found(err):
                    raise


def _modify_conversion_webhooks(options: CRDInstallOptions) -> None:
    """Set the test's server as the conversion webhook of kinds that convert by methods.

    Go: modifyConversionWebhooks.
    """
    webhook_options = options.webhook_options
    if webhook_options is None or not webhook_options.local_serving_ca_data:
        return
    scheme = options.scheme or kubescheme.SCHEME
    convertible = {
        gvk.group_kind()
        for gvk, cls in scheme.all_known_types().items()
        if not webhook_options.ignore_scheme_convertible and is_convertible(scheme, cls())
    }
    for crd in options.crds:
        kind = (crd.spec.group, crd.spec.names.kind)
        if kind not in {(one.group, one.kind) for one in convertible} and not webhook_options.ignore_scheme_convertible:
            continue
        conversion = crd.spec.conversion
        if webhook_options.ignore_scheme_convertible and (conversion is None or conversion.strategy != "Webhook"):
            continue
        crd.spec.conversion = apiextensionsv1.CustomResourceConversion.from_dict(
            {
                "strategy": "Webhook",
                "webhook": {
                    "conversionReviewVersions": ["v1", "v1beta1"],
                    "clientConfig": webhook_options.client_config("/convert"),
                },
            }
        )
