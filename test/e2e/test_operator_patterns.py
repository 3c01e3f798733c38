"""The operator-patterns as processes, kubectl as its user: the operator guides from the first apply to the last delete.

Its programs have the rights of config/rbac and no others.
"""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import Program, children, eventually, kubectl, post_mortem, python

from clientgo.controller_runtime.envtest import WebhookInstallOptions
from clientgo.testing.apiserver import Environment, kubeconfig_text, write_kubeconfig
from clientgo.tools.sharding import shard_of

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(6)]
CONFIG = "cmd/operator-patterns/config"
SHARDS = 4
ELECTION = ("-leader-elect-namespace=operator-patterns", "-leader-elect-retry-period=300ms")
LEADER_ELECT = ("-leader-elect", *ELECTION)

# It comes to this function, and goes no further.
HANGING = """
import sys, threading
sys.path.insert(0, "cmd/operator-patterns")
import controller

def hang(*_):
    print("hanging", flush=True)
    threading.Event().wait()

controller.controllerutil.remove_finalizer = hang
from main import main
main({flags!r})
"""


class Cluster:
    """An API server with the definition of Sites, the operator's account, and a zone outside of it."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._zone = folder / "zone"
        env = stack.enter_context(Environment())
        self._admin = Path(env.kubeconfig)
        self.programs: list[Program] = []
        self.run("apply", "-f", f"{CONFIG}/crd")
        self.run("apply", "-f", f"{CONFIG}/rbac")
        token = self.run("create", "token", "operator-patterns", "-n", "operator-patterns").strip()
        self.kubeconfig = folder / "service-account"
        write_kubeconfig(self.kubeconfig, kubeconfig_text(env.server.tls_url, token, env.server.ca_certificate))

    def run(self, *arguments: str, check: bool = True) -> str:
        return kubectl(self._admin, *arguments, check=check)

    def apply(self, *documents: dict[str, Any], check: bool = True) -> str:
        file = self._folder / "objects.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
        return self.run("apply", "-f", str(file), check=check)

    def install_webhooks(self) -> list[str]:
        """Apply their configurations; the flags with which a program serves them."""
        certificates = self._folder / "certificates"
        installed = WebhookInstallOptions(paths=[f"{CONFIG}/webhook"], local_serving_cert_dir=str(certificates))
        installed.prep_without_installing()
        configurations = (*installed.mutating_webhooks, *installed.validating_webhooks)
        self.apply(*(configuration.to_dict() for configuration in configurations))
        return [f"-webhook-cert-path={certificates}", f"-webhook-port={installed.local_serving_port}"]

    def flags(self, *more: str) -> list[str]:
        return [f"-kubeconfig={self.kubeconfig}", f"-zone={self._zone}", *more]

    def operator(self, *more: str) -> Program:
        return self._add(python("cmd/operator-patterns", *self.flags(*more)))

    def hanging_operator(self, *more: str) -> Program:
        """Return a client that hangs between the clean-up and the end of a Site."""
        return self._add(python("-c", HANGING.format(flags=self.flags(*more))))

    def _add(self, program: Program) -> Program:
        self.programs.append(self._stack.enter_context(program))
        return program

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return json.loads(self.run("get", kind, name, "-o", "json"))

    def status(self, name: str) -> dict[str, Any]:
        return self.get("site", name).get("status", {})

    def zone(self) -> dict[str, str]:
        """Return the owner of each host."""
        files = (path for path in self._zone.iterdir() if not path.name.startswith("."))
        return {path.name: json.loads(path.read_text())["owner"] for path in files}

    def eventually(self, description: str, condition: Callable[[], object]) -> None:
        """Wait for it; if it does not come, tell all about the programs."""
        with post_mortem(self.programs, lambda: self.run("get", "sites,deployments,configmaps,leases", "-A")):
            eventually(description, condition)

    def wait_until_ready(self, *names: str) -> None:
        def ready() -> bool:
            sites = json.loads(self.run("get", "sites", "-o", "json"))["items"]
            done = {
                site["metadata"]["name"]
                for site in sites
                if site.get("status", {}).get("observedGeneration") == site["metadata"]["generation"]
                and site["status"]["status"] == "Success"
            }
            return done >= set(names)

        self.eventually(f"{names} to be reconciled", ready)

    def fingerprints(self, *names: str) -> set[str]:
        """Return the fingerprints of the certificates in the Deployments of these Sites."""
        templates = (self.get("deployment", name)["spec"]["template"] for name in names)
        annotations = (template["metadata"].get("annotations", {}) for template in templates)
        return {each.get("patterns.example.com/certificate-sha256") for each in annotations}

    def lease_holders(self) -> list[str]:
        leases = json.loads(self.run("get", "leases", "-n", "operator-patterns", "-o", "json"))["items"]
        of_shards = (lease for lease in leases if "-shard-" in lease["metadata"]["name"])
        return [holder for lease in of_shards if (holder := lease["spec"].get("holderIdentity"))]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        yield Cluster(tmp_path, stack)
    assert children() == []


def site(name: str, **spec: Any) -> dict[str, Any]:
    spec = {"page": "Hello", **spec}
    return {
        "apiVersion": "patterns.example.com/v1alpha1",
        "kind": "Site",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def secret(certificate: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": "tls",
            "namespace": "default",
            "annotations": {"patterns.example.com/certificate": "true"},
        },
        "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": certificate, "tls.key": "SECRET-KEY"},
    }


def test_the_guides_from_apply_to_delete(cluster: Cluster) -> None:
    first = cluster.operator(*LEADER_ELECT, *cluster.install_webhooks())
    first.wait_for("Serving webhook server")
    first.wait_for("Starting workers")
    second = cluster.hanging_operator(*LEADER_ELECT)
    validation_and_initialisation(cluster)
    ownership_and_status(cluster)
    errors_and_secrets(cluster)
    leader_change_and_validation_in_the_controller(cluster, first, second)
    death_between_clean_up_and_end(cluster, second)
    replicas_that_share_the_work(cluster)
    for program in cluster.programs:
        assert "orbidden" not in program.output
        assert "SECRET-KEY" not in program.output
        assert "panic" not in program.output


def validation_and_initialisation(cluster: Cluster) -> None:
    # Syntactic validation is the schema's; all that is wrong is said at once.
    refused = cluster.apply(site("bad", host="Not a host", page=""), check=False)
    assert 'The Site "bad" is invalid' in refused
    assert "spec.host: Invalid value" in refused
    assert "spec.page: Invalid value" in refused
    # Semantic validation is the webhook's.
    refused = cluster.apply(site("bad", host="www.elsewhere.org"), check=False)
    assert 'The Site "bad" is invalid: spec.host: Invalid value: "www.elsewhere.org"' in refused
    assert "must be in the domain example.com" in refused
    assert "No resources found" in cluster.run("get", "sites")

    # Initialisation is there before the first reconcile.
    output = cluster.run("apply", "-f", f"{CONFIG}/samples")
    assert "Warning: without spec.tlsSecretName the Site is served unencrypted" in output
    assert cluster.get("site", "example-site")["spec"]["host"] == "example-site.default.example.com"


def ownership_and_status(cluster: Cluster) -> None:
    cluster.run("wait", "--for=condition=Ready", "site/example-site", "--timeout=240s")
    found = cluster.get("site", "example-site")
    assert found["metadata"]["finalizers"] == ["patterns.example.com/zone"]
    (condition,) = found["status"]["conditions"]
    assert condition["observedGeneration"] == found["status"]["observedGeneration"] == found["metadata"]["generation"]
    assert cluster.zone() == {"example-site.default.example.com": "default/example-site"}
    columns = cluster.run("get", "sites", "--no-headers").split()
    assert columns[:3] == ["example-site", "example-site.default.example.com", "Success"]
    for kind in ("configmap", "deployment"):
        (owner,) = cluster.get(kind, "example-site")["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Site", "example-site", True)

    # What it owns by update comes back whole; of what it applies, its own fields.
    uid = cluster.get("configmap", "example-site")["metadata"]["uid"]
    cluster.run("delete", "configmap", "example-site")
    uids = "jsonpath={.items[?(@.metadata.name=='example-site')].metadata.uid}"
    cluster.eventually(
        "the ConfigMap to come back", lambda: cluster.run("get", "configmaps", "-o", uids) not in ("", uid)
    )
    cluster.run("scale", "deployment", "example-site", "--replicas=3")
    cluster.run("set", "image", "deployment/example-site", "web=evil:1")

    def image() -> str:
        return cluster.get("deployment", "example-site")["spec"]["template"]["spec"]["containers"][0]["image"]

    cluster.eventually("the image to be put back", lambda: image() == "nginx:1.27")
    assert cluster.get("deployment", "example-site")["spec"]["replicas"] == 3

    # All that happened since has written nothing to the Site.
    assert cluster.get("site", "example-site")["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


def errors_and_secrets(cluster: Cluster) -> None:
    names = ("one", "two")
    cluster.apply(*(site(name, tlsSecretName="tls") for name in names))
    for name in names:
        cluster.eventually("the failure", lambda name=name: cluster.status(name).get("status") == "Failure")
        assert cluster.status(name)["reason"] == "there is no TLS Secret tls"
    cluster.eventually("the event", lambda: "ProcessingError" in cluster.run("describe", "site", "one"))

    # One Secret, two Sites: both are reconciled now, not when they would be tried again.
    cluster.apply(secret("first"))
    cluster.wait_until_ready(*names)
    (before,) = cluster.fingerprints(*names)
    cluster.apply(secret("second"))
    cluster.eventually("the new certificate", lambda: before not in cluster.fingerprints(*names))
    (after,) = cluster.fingerprints(*names)
    assert after


def leader_change_and_validation_in_the_controller(cluster: Cluster, first: Program, second: Program) -> None:
    second.wait_for("[Aa]ttempting to acquire leader lease")
    assert "Starting workers" not in second.output
    assert first.stop() == 0, first.output
    second.wait_for("Starting workers")

    # The webhooks ended with the replica that served them.
    assert "failed calling webhook" in cluster.apply(site("late"), check=False)
    cluster.run("delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "--all")
    cluster.apply(site("late", host="www.elsewhere.org"))
    cluster.eventually("the controller to find out", lambda: cluster.status("late").get("status") == "Failure")
    assert "must be in the domain example.com" in cluster.status("late")["reason"]
    cluster.run("patch", "site", "late", "--type=json", "-p", '[{"op":"remove","path":"/spec/host"}]')
    cluster.wait_until_ready("late")
    assert cluster.zone()["late.default.example.com"] == "default/late"


def death_between_clean_up_and_end(cluster: Cluster, second: Program) -> None:
    cluster.run("delete", "site", "example-site", "--wait=false")
    second.wait_for("Removed from the zone")
    second.wait_for("hanging")
    second.send(signal.SIGKILL)
    assert second.wait() == -signal.SIGKILL
    assert "example-site.default.example.com" not in cluster.zone()
    assert cluster.get("site", "example-site")["metadata"]["finalizers"] == ["patterns.example.com/zone"]


def replicas_that_share_the_work(cluster: Cluster) -> None:
    replicas = [cluster.operator(f"-shards={SHARDS}", *ELECTION) for _ in range(2)]

    def shared() -> bool:
        holders = cluster.lease_holders()
        return sorted(holders.count(holder) for holder in set(holders)) == [SHARDS // 2] * 2

    cluster.eventually("the shards to be shared", shared)
    # What the killed one has left is done.
    cluster.run("wait", "--for=delete", "site/example-site", "--timeout=240s")
    gone = "deployment.apps/example-site"
    cluster.eventually("what it owned to be collected", lambda: gone not in cluster.run("get", "deploy", "-o", "name"))

    names = [f"shared-{number}" for number in range(8)]
    assert {shard_of("default", name, SHARDS) for name in names} == set(range(SHARDS))
    cluster.apply(*(site(name) for name in names))
    cluster.wait_until_ready(*names)
    done = [[name for name in names if f'"host": "{name}.default.' in replica.output] for replica in replicas]
    assert sorted([*done[0], *done[1]]) == sorted(names)  # each by one of them
    assert all(done)

    cluster.run("delete", "sites", "--all", "--timeout=240s")
    assert cluster.zone() == {}
    first, second = replicas
    assert first.stop() == 0, first.output
    cluster.eventually("the other to take its shards", lambda: len(cluster.lease_holders()) == SHARDS)
    assert second.stop() == 0, second.output
    assert cluster.lease_holders() == []
