"""The operator of every tutorial as a process, kubectl as its user: its whole life, and the deaths of its program.

Its programs have the rights of config/rbac and no others.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from processes import Program, as_service_account, children, eventually, kubectl, post_mortem, python, start_apiserver

from clientgo.controller_runtime.envtest import WebhookInstallOptions

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(6)]
CONFIG = "cmd/guestbook-operator/config"
SAMPLE = f"{CONFIG}/samples"
NAME = "guestbook-sample"
ADDRESS = {f"default/{NAME}": f"http://{NAME}.default:80"}
LEASE = (
    "-leader-elect",
    "-leader-elect-namespace=guestbook-operator",
    "-leader-elect-lease-duration=4s",
    "-leader-elect-renew-deadline=3s",
    "-leader-elect-retry-period=1s",
)

# Errors that may be in the log. The first two: a cache is behind, what then fails is tried again. The last: a manager
# says so, in Go too, of the lease that it gives up at its end.
EXCUSES = ("already exists", "the object has been modified", "leader election lost")


class Cluster:
    """An API server where Deployments live, with the definition of Guestbooks; and the directory outside of it."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.kubeconfig = folder / "kubeconfig"
        self._file = folder / "object.json"
        self._directory = folder / "directory.json"
        self._stack = stack
        self._server = stack.enter_context(
            start_apiserver(self.kubeconfig, "--simulate-workloads", "--simulate-delay=0.1")
        )
        self.programs = [self._server]
        self.run("apply", "-f", f"{CONFIG}/crd", "-f", f"{CONFIG}/rbac")
        self.run("wait", "--for=condition=Established", "crd/guestbooks.webapp.example.com", "--timeout=240s")
        self._own = as_service_account(self.kubeconfig, "guestbook-operator", "guestbook-operator")

    def run(self, *arguments: str, check: bool = True) -> str:
        return kubectl(self.kubeconfig, *arguments, check=check)

    def apply(self, document: dict[str, Any], check: bool = True) -> str:
        self._file.write_text(json.dumps(document))
        return self.run("apply", "-f", str(self._file), check=check)

    def flags(self, *more: str) -> list[str]:
        return [f"-kubeconfig={self._own}", f"-directory={self._directory}", *more]

    def operator(self, *more: str) -> Program:
        return self._add(python("cmd/guestbook-operator", *self.flags(*more)))

    def kill_at(self, step: str) -> None:
        """Run the operator until it comes to this function, and kill it there."""
        program = self._add(python("-c", HANGING.format(step=step, flags=self.flags())))
        program.wait_for("hanging")
        program.send(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL

    def _add(self, program: Program) -> Program:
        self.programs.append(self._stack.enter_context(program))
        return program

    def get(self, kind: str, name: str = NAME) -> dict[str, Any]:
        return json.loads(self.run("get", kind, name, "-o", "json"))

    def names(self, kinds: str) -> set[str]:
        return set(self.run("get", kinds, "-o", "name").split()) - {"service/kubernetes", "No", "resources", "found"}

    def directory(self) -> dict[str, str]:
        return json.loads(self._directory.read_text()) if self._directory.exists() else {}

    def eventually(self, description: str, condition: Callable[[], object]) -> None:
        """Wait for it; if it does not come, tell all about the programs."""
        with post_mortem(self.programs):
            eventually(description, condition)

    def condition(self, name: str = NAME) -> dict[str, Any]:
        return available(self.get("guestbook", name))

    def wait_until_available(self, replicas: int, name: str = NAME) -> None:
        def there() -> bool:
            found = self.get("guestbook", name)
            condition = available(found)
            return (condition.get("message"), condition.get("observedGeneration")) == (
                f"{replicas} of {replicas} replicas are ready",
                found["metadata"]["generation"],
            )

        self.eventually(f"{replicas} replicas", there)
        assert self.condition(name)["status"] == "True"

    def delete_guestbook(self) -> None:
        self.run("delete", "guestbook", NAME, "--timeout=240s")
        assert self.directory() == {}
        self.eventually("what it owned to be collected", lambda: self.names("deployments,services") == set())

    def end(self) -> None:
        assert self._server.stop() == 0, self._server.output
        for program in self.programs:
            assert program.process.poll() is not None, "left running by a test that has failed"
            assert "is forbidden: User" not in program.output
            errors = [line for line in program.output.splitlines() if "\tERROR\t" in line]
            assert [line for line in errors if not any(excuse in line for excuse in EXCUSES)] == []


def available(guestbook: dict[str, Any]) -> dict[str, Any]:
    """Return the condition of that name, or None."""
    conditions = guestbook.get("status", {}).get("conditions", [])
    return next((each for each in conditions if each["type"] == "Available"), {})


HANGING = """
import sys, threading
sys.path.insert(0, "cmd/guestbook-operator")
import controller, directory

def hang(*_):
    print("hanging", flush=True)
    threading.Event().wait()

{step} = hang
from main import main
main({flags!r})
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        made = Cluster(tmp_path, stack)
        yield made
        made.end()
    assert children() == []


def guestbook(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "webapp.example.com/v1", "kind": "Guestbook", "metadata": {"name": name}, "spec": spec}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_the_life_of_a_guestbook(cluster: Cluster) -> None:
    probes = f"127.0.0.1:{free_port()}"
    operator = cluster.operator(f"-health-probe-bind-address={probes}")
    operator.wait_for("Starting workers")
    with urllib.request.urlopen(f"http://{probes}/readyz", timeout=PATIENCE) as ready:
        assert ready.read() == b"ok"

    # What it asks for is made, belongs to it, and is seen.
    assert f"guestbook.webapp.example.com/{NAME} created" in cluster.run("apply", "-f", SAMPLE)
    cluster.wait_until_available(2)
    deployment, service = cluster.get("deployment"), cluster.get("service")
    for owned in (deployment, service):
        (owner,) = owned["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Guestbook", NAME, True)
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert cluster.directory() == ADDRESS
    assert cluster.run("get", "gb", "--no-headers").split() == [NAME, "2", "2", "True"]
    message = f"Deployment {NAME} created"
    cluster.eventually("the event", lambda: message in cluster.run("describe", "guestbook", NAME))

    # It follows its user, and undoes what others do to what it owns.
    cluster.run("patch", "guestbook", NAME, "--type=merge", "-p", '{"spec":{"size":3,"image":"guestbook:2.0"}}')
    cluster.wait_until_available(3)
    (container,) = cluster.get("deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "guestbook:2.0"
    cluster.run("scale", "deployment", NAME, "--replicas=5")
    cluster.eventually("the size to be put back", lambda: cluster.get("deployment")["spec"]["replicas"] == 3)
    uid = cluster.get("deployment")["metadata"]["uid"]
    cluster.run("delete", "deployment", NAME)
    uids = "jsonpath={.items[*].metadata.uid}"
    cluster.eventually(
        "the Deployment to come back",
        lambda: cluster.run("get", "deployments", "-o", uids) not in ("", uid),
    )
    cluster.wait_until_available(3)

    # At rest it writes nothing.
    version = cluster.get("guestbook")["metadata"]["resourceVersion"]
    cluster.run("annotate", "deployment", NAME, "seen=yes")
    cluster.apply(guestbook("other"))
    # Its Deployment was heard of after the annotation, and there is one worker.
    cluster.wait_until_available(1, "other")
    assert cluster.get("guestbook")["metadata"]["resourceVersion"] == version
    cluster.run("delete", "guestbook", "other", "--timeout=240s")
    assert cluster.directory() == ADDRESS

    cluster.delete_guestbook()
    assert operator.stop() == 0, operator.output


def test_a_guestbook_that_is_deleted_while_no_operator_runs_waits_for_one(cluster: Cluster) -> None:
    cluster.run("apply", "-f", SAMPLE)
    first = cluster.operator()
    cluster.wait_until_available(2)
    assert first.stop() == 0, first.output

    cluster.run("delete", "guestbook", NAME, "--wait=false")
    assert cluster.get("guestbook")["metadata"]["deletionTimestamp"]
    assert cluster.directory() == ADDRESS

    second = cluster.operator()
    cluster.delete_guestbook()
    assert second.stop() == 0, second.output


def test_killed_between_any_two_steps_the_next_one_goes_on(cluster: Cluster) -> None:
    deployment, service = f"deployment.apps/{NAME}", f"service/{NAME}"
    cluster.run("apply", "-f", SAMPLE)
    for step, left in (
        ("controller.GuestbookReconciler._apply_deployment", set()),
        ("controller.GuestbookReconciler._apply_service", {deployment}),
        ("directory.Directory.register", {deployment, service}),
        ("controller.GuestbookReconciler._update_status", {deployment, service}),
    ):
        cluster.kill_at(step)
        assert cluster.names("deployments,services") == left
    assert cluster.directory() == ADDRESS
    assert cluster.condition() == {}

    again = cluster.operator()
    cluster.wait_until_available(2)
    assert cluster.names("deployments,services") == {deployment, service}
    assert cluster.directory() == ADDRESS
    assert again.stop() == 0, again.output

    # Now between the clean-up and the end of the Guestbook.
    cluster.run("delete", "guestbook", NAME, "--wait=false")
    cluster.kill_at("controller.controllerutil.remove_finalizer")
    assert cluster.directory() == {}
    assert cluster.get("guestbook")["metadata"]["finalizers"]

    again = cluster.operator()
    cluster.delete_guestbook()
    assert again.stop() == 0, again.output


def test_the_webhooks_fill_in_and_refuse(cluster: Cluster, tmp_path: Path) -> None:
    certificates = tmp_path / "certificates"
    installed = WebhookInstallOptions(paths=[f"{CONFIG}/webhook"], local_serving_cert_dir=str(certificates))
    installed.prep_without_installing()
    for configuration in (*installed.mutating_webhooks, *installed.validating_webhooks):
        cluster.apply(configuration.to_dict())
    flags = (f"-webhook-cert-path={certificates}", f"-webhook-port={installed.local_serving_port}")
    operator = cluster.operator(*flags)
    operator.wait_for("Serving webhook server")
    operator.wait_for("Starting workers")

    def apply(**spec: Any) -> str:
        return cluster.apply(guestbook(NAME, **spec), check=False)

    # What the validator raises is an API error, so kubectl shows it as the server's own.
    refused = apply(size=11, image="guestbook:latest")
    assert f'The Guestbook "{NAME}" is invalid' in refused
    assert "* spec.size: Invalid value: 11: must be at most 10" in refused
    assert '* spec.image: Invalid value: "guestbook:latest": must have a tag that stays the same' in refused
    assert cluster.names("guestbooks") == set()

    assert "created" in apply(size=1)
    assert cluster.get("guestbook")["spec"]["title"] == f"Guestbook {NAME}"
    cluster.wait_until_available(1)
    (container,) = cluster.get("deployment")["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "GUESTBOOK_TITLE", "value": f"Guestbook {NAME}"}]
    assert "spec.port: Forbidden: may not change" in apply(size=1, port=81)
    assert "Warning: nobody can sign a guestbook of size 0" in apply(size=0)

    cluster.run("annotate", "guestbook", NAME, "webapp.example.com/protected=true")
    denied = 'admission webhook "vguestbook.webapp.example.com" denied the request: the Guestbook is protected'
    assert denied in cluster.run("delete", "guestbook", NAME, check=False)
    cluster.run("annotate", "guestbook", NAME, "webapp.example.com/protected-")
    cluster.delete_guestbook()
    assert operator.stop() == 0, operator.output

    # The webhook's server is gone, and the failure policy is Fail.
    assert "failed calling webhook" in apply(size=1)


def test_of_three_replicas_one_works_and_the_next_takes_over(cluster: Cluster) -> None:
    replicas = [cluster.operator(*LEASE) for _ in range(3)]

    def leader() -> Program:
        def working() -> list[Program]:
            return [each for each in replicas if each.process.poll() is None and "Starting workers" in each.output]

        cluster.eventually("a leader", working)
        (found,) = working()
        return found

    first = leader()
    cluster.run("apply", "-f", SAMPLE)
    cluster.wait_until_available(2)
    assert all("Deployment created" not in each.output for each in replicas if each is not first)

    # Killed: the others wait for its lease to end.
    first.send(signal.SIGKILL)
    first.wait()
    second = leader()
    cluster.run("patch", "guestbook", NAME, "--type=merge", "-p", '{"spec":{"size":3}}')
    cluster.wait_until_available(3)

    # Stopped: it hands over.
    assert second.stop() == 0, second.output
    third = leader()
    cluster.delete_guestbook()
    assert third.stop() == 0, third.output
    assert len({id(each) for each in (first, second, third)}) == 3
