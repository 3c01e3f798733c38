"""The walkthrough by hand: real processes, real kubectl, its supported versions in turn."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import THOROUGH, Program, children, eventually, kubectl, kubectl_minors, python, start_apiserver

pytestmark = pytest.mark.kubectl
EXAMPLES = "cmd/sample-controller/artifacts/examples"


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "kubeconfig"
    with start_apiserver(path) as server:
        yield path
        assert server.stop() == 0, server.output
    assert children() == []


def start_controller(kubeconfig: Path) -> Program:
    return python("cmd/sample-controller", f"-kubeconfig={kubeconfig}", "-v=4")


def test_the_kubeconfig_is_for_its_user_alone(kubeconfig: Path) -> None:
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    assert "token:" in kubeconfig.read_text()


# One session in which each command is the next version's; in the thorough profile one for each version.
SESSIONS = [(minor,) for minor in kubectl_minors()] if THOROUGH else [kubectl_minors()]


@pytest.mark.parametrize("minors", SESSIONS, ids=lambda minors: "-".join(map(str, minors)))
def test_the_session_of_the_walkthrough(kubeconfig: Path, minors: tuple[int | None, ...]) -> None:
    turns = itertools.cycle(minors)

    def run(*arguments: str) -> str:
        return kubectl(kubeconfig, *arguments, minor=next(turns))

    def deployment() -> dict:
        return json.loads(run("get", "deployment", "example-foo", "-o", "json"))

    assert "foos.samplecontroller.k8s.io created" in run("apply", "-f", f"{EXAMPLES}/crd.yaml")
    run("wait", "--for=condition=Established", "crd/foos.samplecontroller.k8s.io", "--timeout=240s")
    with start_controller(kubeconfig) as controller:
        controller.wait_for("Started workers")
        assert "foo.samplecontroller.k8s.io/example-foo created" in run("apply", "-f", f"{EXAMPLES}/example-foo.yaml")
        seen = controller.wait_for("Successfully synced.*default/example-foo")

        (owner,) = deployment()["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Foo", "example-foo", True)
        listed = run("get", "foos,deployments,events")
        assert "foo.samplecontroller.k8s.io/example-foo" in listed
        assert "deployment.apps/example-foo" in listed
        eventually("the event", lambda: "Foo synced successfully" in run("describe", "foo", "example-foo"))
        assert run("get", "foo", "example-foo", "-o", "jsonpath={.status.availableReplicas}") == "0"
        assert "foos" in run("api-resources", "--api-group=samplecontroller.k8s.io")

        run("patch", "foo", "example-foo", "--type=merge", "-p", '{"spec":{"replicas":2}}')
        eventually("the Deployment to follow", lambda: deployment()["spec"]["replicas"] == 2)
        run("scale", "deployment", "example-foo", "--replicas=5")
        controller.wait_for("Update deployment resource.*currentReplicas=5 desiredReplicas=2", after=seen)
        eventually("the Deployment to be put back", lambda: deployment()["spec"]["replicas"] == 2)

        uid = deployment()["metadata"]["uid"]
        run("delete", "deployment", "example-foo")
        eventually(
            "the Deployment to come back",
            lambda: run("get", "deployments", "-o", "jsonpath={.items[*].metadata.uid}") not in ("", uid),
        )

        run("delete", "foo", "example-foo")
        eventually("the Deployment to be collected", lambda: "No resources found" in run("get", "deployments"))
        assert controller.stop() == 0, controller.output
    assert "Shutting down workers" in controller.output
    assert "Traceback" not in controller.output


def test_a_watch_shows_what_the_controller_does(kubeconfig: Path) -> None:
    kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/crd.yaml")
    kubectl(kubeconfig, "wait", "--for=condition=Established", "crd/foos.samplecontroller.k8s.io", "--timeout=240s")
    from processes import environment, kubectl_binary

    command = [kubectl_binary(), "--kubeconfig", str(kubeconfig), "get", "deployments", "-w", "-o", "name"]
    with (
        start_controller(kubeconfig) as controller,
        Program(*command, env=environment(HOME=str(kubeconfig.parent))) as watch,
    ):
        controller.wait_for("Started workers")
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/example-foo.yaml")

        watch.wait_for("deployment.apps/example-foo")

        assert controller.stop() == 0


def test_a_controller_started_before_the_crd_recovers_by_itself(kubeconfig: Path) -> None:
    with start_controller(kubeconfig) as controller:
        controller.wait_for(
            r"Failed to watch.*the server could not find the requested resource \(get foos\.samplecontroller\.k8s\.io\)"
        )
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/crd.yaml")
        controller.wait_for("Started workers")
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/example-foo.yaml")
        controller.wait_for("Successfully synced")

        assert controller.stop() == 0, controller.output


def test_the_second_signal_ends_the_controller_at_once_with_code_1(kubeconfig: Path) -> None:
    """A worker that hangs in a request keeps a clean stop waiting; the second signal does not wait."""
    kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/crd.yaml")
    program = (
        "import sys, threading; sys.path.insert(0, 'cmd/sample-controller')\n"
        "from controller import Controller\n"
        "def hang(self, ctx, ref): print('hanging', flush=True); threading.Event().wait()\n"
        "Controller.sync_handler = hang\n"
        "from main import main\n"
        f"sys.exit(main(['-kubeconfig={kubeconfig}']))\n"
    )
    with python("-c", program) as controller:
        controller.wait_for("Started workers")
        kubectl(kubeconfig, "apply", "-f", f"{EXAMPLES}/example-foo.yaml")
        controller.wait_for("hanging")
        controller.send(signal.SIGINT)
        controller.wait_for("Shutting down workers")
        assert controller.process.poll() is None

        controller.send(signal.SIGINT)

        assert controller.wait() == 1, controller.output
