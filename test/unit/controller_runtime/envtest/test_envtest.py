"""The control plane of a test: custom resources from files and objects, users, webhooks, and its end."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from threadtools import eventually

from clientgo import context, dynamic, kubernetes, rest
from clientgo.api.admissionregistration import v1 as admissionregistrationv1
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import wait
from clientgo.controller_runtime import envtest, webhook

CTX = context.background()


def definition(plural: str = "pages", served: bool = True) -> dict[str, Any]:
    kind = plural[:-1].title()
    version = {
        "name": "v1",
        "served": served,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.books.example.com"},
        "spec": {
            "group": "books.example.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [version],
        },
    }


def write(path: Path, *documents: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n---\n".join(json.dumps(document) for document in documents))
    return path


@pytest.fixture
def env() -> Iterator[envtest.Environment]:
    made = envtest.Environment()
    yield made
    made.stop()


def served(config: rest.Config, plural: str) -> bool:
    client = dynamic.new_for_config(config)
    try:
        client.resource(GroupVersionResource("books.example.com", "v1", plural)).list(CTX, metav1.ListOptions())
    except errors.StatusError as err:
        if errors.is_not_found(err):
            return False
        raise
    finally:
        client.close()
    return True


def test_definitions_come_from_folders_files_and_objects(env: envtest.Environment, tmp_path: Path) -> None:
    """Go: envtest: Test > InstallCRDs > should install the CRDs into the cluster using directory
    Go: envtest: Test > InstallCRDs > should install the CRDs into the cluster using file
    Go: envtest: Test > InstallCRDs > should be able to install CRDs using multiple files
    Go: envtest: Test > InstallCRDs > should install the unserved CRDs into the cluster
    """
    write(tmp_path / "crds/a.yaml", definition("pages"), {"kind": "Other"})
    write(tmp_path / "crds/b.json", definition("words"))
    write(tmp_path / "crds/README.md", definition("notes"))
    one = write(tmp_path / "one.yml", definition("ideas"))
    env.crd_directory_paths = [tmp_path / "crds", one]
    env.crds = [apiextensionsv1.CustomResourceDefinition.from_dict(definition("drafts", served=False))]
    config = env.start()
    assert all(served(config, plural) for plural in ("pages", "words", "ideas"))
    assert not any(served(config, plural) for plural in ("notes", "drafts"))
    assert sorted(crd.spec.names.plural for crd in env.crds) == ["drafts", "ideas", "pages", "words"]


def test_of_two_definitions_with_one_name_there_is_one(tmp_path: Path) -> None:
    """Go: envtest: Test > InstallCRDs > should filter out already existent CRD
    Go: envtest: Test > readCRDFiles > should not mix up files from different directories
    """
    options = envtest.CRDInstallOptions(
        paths=[write(tmp_path / "x/a.yaml", definition("pages")), write(tmp_path / "y/a.yaml", definition("words"))],
        crds=[apiextensionsv1.CustomResourceDefinition.from_dict(definition("pages"))],
    )
    envtest.read_crd_files(options)
    assert sorted(crd.spec.names.plural for crd in options.crds) == ["pages", "words"]


def test_installing_again_replaces(env: envtest.Environment) -> None:
    """Go: envtest: Test > should update CRDs if already present in the cluster
    Go: envtest: Test > UninstallCRDs > should uninstall the CRDs from the cluster
    Go: envtest: Test > InstallCRDs > should reinstall the CRDs if already present in the cluster
    """
    config = env.start()
    document = definition("pages")
    envtest.install_crds(config, options := _options(document))
    document["spec"]["names"]["shortNames"] = ["pg"]
    envtest.install_crds(config, _options(document))
    client = dynamic.new_for_config(config)
    resource = client.resource(GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"))
    found = resource.get(CTX, "pages.books.example.com", metav1.GetOptions()).to_dict()
    client.close()
    assert found["spec"]["names"]["shortNames"] == ["pg"]
    envtest.uninstall_crds(config, options)
    eventually(lambda: not served(config, "pages"), "the definition to be gone")  # its objects are cleaned up first
    envtest.uninstall_crds(config, options)  # what is not there is no error


def _options(document: dict[str, Any]) -> envtest.CRDInstallOptions:
    return envtest.CRDInstallOptions(crds=[apiextensionsv1.CustomResourceDefinition.from_dict(document)])


@pytest.mark.parametrize("strict", [True, False])
def test_a_path_that_is_not_there_is_an_error_if_asked_for(
    env: envtest.Environment, strict: bool, tmp_path: Path
) -> None:
    """Go: envtest: Test > Start > should raise an error on invalid dir when flag is enabled
    Go: envtest: Test > Start > should not raise an error on invalid dir when flag is disabled
    """
    env.crd_directory_paths = [tmp_path / "nowhere"]
    env.error_if_crd_path_missing = strict
    if strict:
        with pytest.raises(FileNotFoundError, match="nowhere"):
            env.start()
    else:
        env.start()


def test_paths_that_are_not_there_are_passed_over_unless_asked_for(tmp_path: Path) -> None:
    """Go: envtest: Test > InstallCRDs > should not return an not error if the directory doesn't exist
    Go: envtest: Test > InstallCRDs > should return an error if the directory doesn't exist
    Go: envtest: Test > InstallCRDs > should return an error if the file doesn't exist
    """
    unreachable = rest.Config(host="http://127.0.0.1:1")  # nothing is asked of it
    for missing in (tmp_path / "nowhere", tmp_path / "nowhere.yaml"):
        assert envtest.install_crds(unreachable, envtest.CRDInstallOptions(paths=[missing])) == []
        with pytest.raises(FileNotFoundError, match="nowhere"):
            envtest.install_crds(
                unreachable, envtest.CRDInstallOptions(paths=[missing], error_if_path_missing=True)
            )


def test_a_file_that_is_none_is_named(env: envtest.Environment, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("a: [")
    env.crd_directory_paths = [bad]
    with pytest.raises(ValueError, match=r"bad\.yaml"):
        env.start()


def test_a_resource_that_is_never_served_is_named(env: envtest.Environment) -> None:
    """Go: envtest: Test > InstallCRDs > should return an error if the resource group version isn't found
    Go: envtest: Test > InstallCRDs > should return an error if the resource isn't found in the group version
    """
    config = env.start()
    crd = apiextensionsv1.CustomResourceDefinition.from_dict(definition("ghosts"))
    options = envtest.CRDInstallOptions(max_time=0.3, poll_interval=0.05)
    with pytest.raises(TimeoutError, match=r"ghosts in books\.example\.com/v1"):
        envtest.wait_for_crds(config, [crd], options)


def test_another_user_has_other_rights(env: envtest.Environment) -> None:
    env.start()
    config = env.add_user(envtest.User("ada", ("readers",))).config()
    clients = kubernetes.new_for_config(config)
    with pytest.raises(errors.StatusError, match='User "ada" cannot list resource "secrets"'):
        clients.core_v1().secrets("default").list(CTX, metav1.ListOptions())
    clients.close()


def test_the_kubeconfig_works(env: envtest.Environment, tmp_path: Path) -> None:
    """Go: envtest: Test > should set a working KubeConfig"""
    from clientgo.tools import clientcmd

    env.start()
    config = clientcmd.rest_config_from_kube_config(env.kube_config)
    clients = kubernetes.new_for_config(config)
    assert clients.core_v1().namespaces().get(CTX, "default", metav1.GetOptions()).get_name() == "default"
    clients.close()


def test_an_existing_cluster_is_used_and_left_running(
    env: envtest.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go: envtest: Test > Stop > should cleanup webhook /tmp folder with no error when using existing cluster"""
    config = env.start()
    monkeypatch.setenv("USE_EXISTING_CLUSTER", "true")
    other = envtest.Environment(config=config)
    other.crds = [apiextensionsv1.CustomResourceDefinition.from_dict(definition("pages"))]
    other.crd_install_options.clean_up_after_use = True
    assert other.start() is config
    folder = Path(other.webhook_install_options.local_serving_cert_dir)
    assert served(config, "pages")
    other.stop()
    assert not folder.exists()
    eventually(lambda: not served(config, "pages"), "the definition to be gone")
    clients = kubernetes.new_for_config(config)
    assert clients.core_v1().namespaces().get(CTX, "default", metav1.GetOptions()).get_name() == "default"
    clients.close()


def test_no_controllers_run(env: envtest.Environment) -> None:
    clients = kubernetes.new_for_config(env.start())
    maps = clients.core_v1().config_maps("default")
    owner = metav1.OwnerReference(api_version="v1", kind="ConfigMap", name="gone", uid="no-such-uid")
    metadata = metav1.ObjectMeta(name="orphan", owner_references=[owner])
    maps.create(CTX, corev1.ConfigMap(metadata=metadata), metav1.CreateOptions())
    env.control_plane._environment.wait_idle()
    assert maps.get(CTX, "orphan", metav1.GetOptions()).get_name() == "orphan"
    clients.close()


def test_webhook_configurations_are_pointed_at_the_test(env: envtest.Environment, tmp_path: Path) -> None:
    """Go: envtest: Test > Webhook > should load webhooks from directory
    Go: envtest: Test > Webhook > should load webhooks from files
    """
    service = {"name": "webhook-service", "namespace": "system", "path": "/validate-v1-pod"}
    webhook = {
        "name": "v.example.com",
        "clientConfig": {"service": service},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
    }
    for kind, plural in (("Validating", "v"), ("Mutating", "m")):
        document = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": plural},
            "webhooks": [webhook],
        }
        write(tmp_path / f"hooks/{plural}.yaml", document)
    env.webhook_install_options.paths = [tmp_path / "hooks"]
    clients = kubernetes.new_for_config(env.start())
    options = env.webhook_install_options
    registration = clients.admissionregistration_v1()
    for found in (
        registration.validating_webhook_configurations().get(CTX, "v", metav1.GetOptions()),
        registration.mutating_webhook_configurations().get(CTX, "m", metav1.GetOptions()),
    ):
        (config,) = (one.client_config for one in found.webhooks)
        assert config.url == f"https://127.0.0.1:{options.local_serving_port}/validate-v1-pod"
        assert config.service is None
        assert bytes(config.ca_bundle) == options.local_serving_ca_data
    key = Path(options.local_serving_cert_dir, "tls.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    clients.close()


def test_a_webhook_that_rejects_everything_rejects_a_create(env: envtest.Environment) -> None:
    """Go: Test > Webhook/should reject create request for webhook that rejects all requests"""
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
    webhook_of = {
        "name": "rejecter.example.com",
        "clientConfig": {"service": {"name": "webhook-service", "namespace": "system", "path": "/failing"}},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    document = {"metadata": {"name": "rejecter"}, "webhooks": [webhook_of]}
    options = env.webhook_install_options
    options.validating_webhooks = [admissionregistrationv1.ValidatingWebhookConfiguration.from_dict(document)]
    clients = kubernetes.new_for_config(env.start())
    server = webhook.new_server(
        webhook.Options(
            host=options.local_serving_host,
            port=options.local_serving_port,
            cert_dir=options.local_serving_cert_dir,
        )
    )
    server.register("/failing", webhook.Admission(handler=lambda ctx, req: webhook.denied("I am rejecting")))
    ctx, cancel = context.with_cancel(CTX)
    thread = threading.Thread(target=server.start, args=(ctx,), name="webhook-server", daemon=True)
    thread.start()
    deployments = clients.apps_v1().deployments("default")
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    wanted = appsv1.Deployment.from_dict({"metadata": {"name": "web"}, "spec": spec})
    try:

        def rejected(_: object) -> bool:
            try:
                deployments.create(CTX, wanted, metav1.CreateOptions())
            except errors.StatusError as err:
                # Until the server listens, the webhook cannot be asked, which is another error.
                return str(err) == 'admission webhook "rejecter.example.com" denied the request: I am rejecting'
            return False

        wait.poll_until_context_timeout(CTX, 0.05, 20.0, True, rejected)
        assert deployments.list(CTX, metav1.ListOptions()).items == []
    finally:
        cancel()
        thread.join()
        clients.close()
