"""The manifests in artifacts/deploy: kubectl applies them, and what they allow is enough and not too much."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import ROOT, kubectl, python

from clientgo import context, kubernetes
from clientgo.api.authentication import v1 as authenticationv1
from clientgo.testing.apiserver import Environment, kubeconfig_text, read_manifests, write_kubeconfig

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(2)]
SAMPLE = ROOT / "cmd/sample-controller/artifacts"
ACCOUNT = "system:serviceaccount:sample-controller:sample-controller"
RBAC = list(read_manifests([SAMPLE / "deploy/rbac.yaml"]))
MANIFESTS = [SAMPLE / "deploy" / file for file in ("0-namespace.yaml", "rbac.yaml", "deployment.yaml")]
# Only a cluster with the admission plugin OwnerReferencesPermissionEnforcement asks for this one.
NOT_ASKED_FOR_HERE = ("foos/finalizers", "update")


def rights() -> list[Any]:
    """Return (kind of role, rule, verb) for each permission of the roles."""
    roles = [document for document in RBAC if document["kind"] in ("ClusterRole", "Role")]
    return [
        pytest.param(role["kind"], number, verb, id=f"{verb} {rule['resources'][0]}")
        for role in roles
        for number, rule in enumerate(role["rules"])
        for verb in rule["verbs"]
        if (rule["resources"][0], verb) != NOT_ASKED_FOR_HERE
    ]


def service_account(env: Environment, folder: Path, token: str) -> Path:
    """Return a kubeconfig of the controller's service account."""
    path = folder / "service-account"
    write_kubeconfig(path, kubeconfig_text(env.server.tls_url, token, env.server.ca_certificate))
    return path


def flags_in(deployed: Iterable[dict[str, Any]], kubeconfig: Path) -> list[str]:
    """Return the controller's flags from the Deployment, with a kubeconfig."""
    (deployment,) = (document for document in deployed if document["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return [f"-kubeconfig={kubeconfig}", "-v=4", *container["args"]]


class Cluster:
    """A server with the manifests applied by kubectl, and a kubeconfig of the controller's service account."""

    def __init__(self, env: Environment, folder: Path) -> None:
        self._admin = Path(env.kubeconfig)
        self.deploy("deploy")
        token = self.kubectl("create", "token", "sample-controller", "-n", "sample-controller").strip()
        self.kubeconfig = service_account(env, folder, token)

    def deploy(self, folder: str) -> None:
        self._applied = json.loads(self.kubectl("apply", "-f", str(SAMPLE / folder), "-o", "json"))["items"]

    def kubectl(self, *arguments: str) -> str:
        return kubectl(self._admin, *arguments)

    def flags(self) -> list[str]:
        return flags_in(self._applied, self.kubeconfig)

    def may(self, *question: str) -> bool:
        return kubectl(self._admin, "auth", "can-i", *question, f"--as={ACCOUNT}", check=False).startswith("yes")


def token_of_the_account(env: Environment) -> str:
    client = kubernetes.new_for_config(env.config)
    try:
        request = authenticationv1.TokenRequest(spec=authenticationv1.TokenRequestSpec())
        accounts = client.core_v1().service_accounts("sample-controller")
        return accounts.create_token(context.background(), "sample-controller", request).status.token
    finally:
        client.close()


@pytest.fixture
def env() -> Iterator[Environment]:
    with Environment(crd_paths=[SAMPLE / "examples/crd.yaml"]) as environment:
        yield environment


@pytest.fixture
def cluster(env: Environment, tmp_path: Path) -> Cluster:
    return Cluster(env, tmp_path)


def test_the_walkthrough_runs_with_the_rights_of_the_service_account(cluster: Cluster) -> None:
    with python("cmd/sample-controller", *cluster.flags()) as controller:
        controller.wait_for("Started workers")
        cluster.kubectl("apply", "-f", str(SAMPLE / "examples/example-foo.yaml"))
        seen = controller.wait_for("Successfully synced.*default/example-foo")
        cluster.kubectl("patch", "foo", "example-foo", "--type=merge", "-p", '{"spec":{"replicas":2}}')
        seen = controller.wait_for("Update deployment resource.*desiredReplicas=2", after=seen)
        seen = controller.wait_for("Successfully synced.*default/example-foo", after=seen)
        cluster.kubectl("delete", "deployment", "example-foo")
        seen = controller.wait_for("Successfully synced.*default/example-foo", after=seen)
        assert "Synced" in cluster.kubectl("get", "events")
        cluster.kubectl("delete", "foo", "example-foo")
        assert controller.stop() == 0, controller.output
    assert "forbidden" not in controller.output
    # Released, so that the next holder need not wait.
    lease = cluster.kubectl("get", "lease", "sample-controller", "-n", "sample-controller", "-o", "json")
    assert not json.loads(lease)["spec"].get("holderIdentity")


def test_replicas_that_share_the_work_have_the_rights_for_it(cluster: Cluster) -> None:
    cluster.deploy("deploy-shards")
    flags = cluster.flags()
    assert any(flag.startswith("-shards=") for flag in flags)
    with python("cmd/sample-controller", *flags) as controller:
        controller.wait_for("Acquired shard")
        cluster.kubectl("apply", "-f", str(SAMPLE / "examples/example-foo.yaml"))
        controller.wait_for("Successfully synced.*default/example-foo")
        assert controller.stop() == 0, controller.output
    assert "forbidden" not in controller.output
    leases = json.loads(cluster.kubectl("get", "leases", "-n", "sample-controller", "-o", "json"))["items"]
    assert [lease["metadata"]["name"] for lease in leases if "-member-" in lease["metadata"]["name"]] == []
    assert {lease["spec"].get("holderIdentity", "") for lease in leases} == {""}


@pytest.mark.parametrize(("kind", "rule", "verb"), rights())
def test_without_any_one_right_the_controller_fails(
    env: Environment, tmp_path: Path, kind: str, rule: int, verb: str
) -> None:
    (role,) = [copy.deepcopy(document) for document in RBAC if document["kind"] == kind]
    resource = role["rules"][rule]["resources"][0]
    role["rules"][rule]["verbs"].remove(verb)
    if not role["rules"][rule]["verbs"]:
        del role["rules"][rule]  # a rule without a verb is refused
    # What kubectl does with these, the tests above show; here it would start five times for each right.
    deployed = [role if document["kind"] == kind else document for document in read_manifests(MANIFESTS)]
    for document in deployed:
        env.create(document)
    flags = flags_in(deployed, service_account(env, tmp_path, token_of_the_account(env)))
    # Informers stream their initial lists; only where the server cannot, they list.
    streams = "false" if verb == "list" else "true"

    (foo,) = read_manifests([SAMPLE / "examples/example-foo.yaml"])
    with python("cmd/sample-controller", *flags, KUBE_FEATURE_WatchListClient=streams) as controller:
        env.create(foo)
        controller.wait_for("Successfully synced|cannot ")
        patch = ("patch", "foo", "example-foo", "--type=merge", "-p", '{"spec":{"replicas":2}}')
        kubectl(Path(env.kubeconfig), *patch)
        controller.wait_for(f'"?{ACCOUNT}"? cannot {verb} resource "?{resource}"?'.replace('"', r'\\?"'))


@pytest.mark.parametrize(
    "question",
    [
        ("create", "foos"),
        ("update", "foos"),
        ("delete", "deployments"),
        ("get", "secrets"),
        ("list", "pods"),
        ("get", "leases.coordination.k8s.io", "-n", "default"),
        ("update", "leases.coordination.k8s.io/another", "-n", "sample-controller"),
        ("create", "leases.coordination.k8s.io", "-n", "default"),
    ],
)
def test_nothing_else_is_allowed(question: tuple[str, ...], denied: Cluster) -> None:
    assert not denied.may(*question)


@pytest.fixture(scope="module")
def denied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Environment(crd_paths=[SAMPLE / "examples/crd.yaml"]) as env:
        yield Cluster(env, tmp_path_factory.mktemp("denied"))
