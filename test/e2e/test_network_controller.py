"""The CRD walkthrough's Network controller: real processes and kubectl, and a Neutron to look into.

Its programs have the rights of rbac/ and no others.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import ROOT, Program, as_service_account, children, eventually, kubectl, python, start_apiserver

pytestmark = [pytest.mark.kubectl, pytest.mark.takes_turns(2)]
PROGRAM = ROOT / "cmd/network-controller"
CRD = str(PROGRAM / "crd/network.yaml")
EXAMPLE = str(PROGRAM / "example/example-network.yaml")
WIDE = {"cidr": "192.168.0.0/16", "gateway": "192.168.0.1"}
OTHER = {"cidr": "192.168.1.0/16", "gateway": "192.168.1.1"}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "kubeconfig"
    with start_apiserver(path) as server:
        kubectl(path, "apply", "-f", str(PROGRAM / "rbac"))
        yield path
        assert server.stop() == 0, server.output
    assert children() == []


@pytest.fixture
def neutron(tmp_path: Path) -> Path:
    return tmp_path / "neutron.json"


def start_controller(kubeconfig: Path, neutron: Path | None = None) -> Program:
    own = as_service_account(kubeconfig, "network-controller")
    state = [f"-neutron-state={neutron}"] if neutron else []
    return python("cmd/network-controller", f"-kubeconfig={own}", "-logtostderr=true", *state)


def networks(neutron: Path) -> dict[str, dict[str, str]]:
    return json.loads(neutron.read_text())


def install_crd(kubeconfig: Path) -> None:
    kubectl(kubeconfig, "apply", "-f", CRD)
    kubectl(kubeconfig, "wait", "--for=condition=Established", "crd/networks.samplecrd.k8s.io", "--timeout=240s")


def apply(kubeconfig: Path, folder: Path, name: str, spec: dict[str, str]) -> str:
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps({"apiVersion": "samplecrd.k8s.io/v1", "kind": "Network", "metadata": {"name": name}, "spec": spec})
    )
    return kubectl(kubeconfig, "apply", "-f", str(path))


def test_the_session_of_the_walkthrough(kubeconfig: Path, neutron: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        return kubectl(kubeconfig, *arguments)

    with start_controller(kubeconfig, neutron) as controller:
        controller.wait_for(r"^I.* controller.py:\d+\] Setting up event handlers")
        controller.wait_for("Starting Network control loop")
        controller.wait_for("Waiting for informer caches to sync")
        # There is no such resource yet: the informer says so, and recovers by itself.
        controller.wait_for(
            r"Network: .*the server could not find the requested resource \(get networks\.samplecrd\.k8s\.io\)"
        )
        created = "customresourcedefinition.apiextensions.k8s.io/networks.samplecrd.k8s.io created"
        assert created in run("apply", "-f", CRD)
        controller.wait_for("Starting workers")
        seen = controller.wait_for("Started workers")

        assert "network.samplecrd.k8s.io/example-network created" in run("apply", "-f", EXAMPLE)
        controller.wait_for(
            r'\[Neutron\] Try to process network: &v1\.Network\{.*Name:"example-network".*'
            r'Spec:v1\.NetworkSpec\{Cidr:"192\.168\.0\.0/16", Gateway:"192\.168\.0\.1"\}\} \.\.\.',
            after=seen,
        )
        seen = controller.wait_for("Successfully synced 'default/example-network'", after=seen)
        controller.wait_for("Event.*type: 'Normal' reason: 'Synced' Network synced successfully")
        assert networks(neutron) == {"default/example-network": WIDE}

        listed = run("get", "nw")
        assert listed.split()[:2] == ["NAME", "AGE"]
        assert "example-network" in listed
        assert run("get", "network").split()[:2] == ["NAME", "AGE"]
        described = run("describe", "nw", "example-network")
        assert "Cidr:     192.168.0.0/16\n  Gateway:  192.168.0.1" in described
        eventually("the event", lambda: "Network synced successfully" in run("describe", "nw", "example-network"))

        assert "network.samplecrd.k8s.io/example-network configured" in apply(
            kubeconfig, tmp_path, "example-network", OTHER
        )
        controller.wait_for(r'Cidr:"192\.168\.1\.0/16"', after=seen)
        seen = controller.wait_for("Successfully synced 'default/example-network'", after=seen)
        assert networks(neutron) == {"default/example-network": OTHER}

        run("delete", "-f", EXAMPLE)
        controller.wait_for(
            r"^W.*Network: default/example-network does not exist in local cache, will delete it from Neutron \.\.\.",
            after=seen,
        )
        controller.wait_for(r"\[Neutron\] Deleting network: default/example-network \.\.\.", after=seen)
        controller.wait_for("Successfully synced 'default/example-network'", after=seen)
        assert networks(neutron) == {}
        assert controller.stop() == 0, controller.output
    assert "Shutting down workers" in controller.output
    assert "orbidden" not in controller.output
    assert "Traceback" not in controller.output


def test_what_happened_while_no_controller_ran_is_made_good(kubeconfig: Path, neutron: Path, tmp_path: Path) -> None:
    install_crd(kubeconfig)
    for name in ("kept", "changed", "deleted"):
        apply(kubeconfig, tmp_path, name, WIDE)
    with start_controller(kubeconfig, neutron) as controller:
        eventually("three networks", lambda: neutron.exists() and len(networks(neutron)) == 3)
        controller.send(signal.SIGKILL)
        controller.wait()

    apply(kubeconfig, tmp_path, "changed", OTHER)
    apply(kubeconfig, tmp_path, "new", WIDE)
    kubectl(kubeconfig, "delete", "nw", "deleted")
    expected = {"default/kept": WIDE, "default/changed": OTHER, "default/new": WIDE}
    with start_controller(kubeconfig, neutron) as controller:
        # A controller gets no event of a deletion before its start, and finds the orphan itself.
        controller.wait_for(r"\[Neutron\] Deleting network: default/deleted \.\.\.")
        eventually("the networks that are asked for", lambda: networks(neutron) == expected)
        assert controller.stop() == 0, controller.output


def test_a_neutron_that_fails_is_tried_again(kubeconfig: Path, neutron: Path, tmp_path: Path) -> None:
    install_crd(kubeconfig)
    with start_controller(kubeconfig, neutron) as controller:
        controller.wait_for("Started workers")
        neutron.write_text("this is no state")
        apply(kubeconfig, tmp_path, "patient", WIDE)
        controller.wait_for(f"error syncing 'default/patient': {neutron} does not hold Neutron's state")
        assert neutron.read_text() == "this is no state"  # not overwritten: a person can look at it
        neutron.write_text("{}")
        eventually("the network", lambda: networks(neutron) == {"default/patient": WIDE})
        assert controller.stop() == 0, controller.output


def test_a_state_file_that_cannot_be_is_named_at_the_start(kubeconfig: Path, tmp_path: Path) -> None:
    with start_controller(kubeconfig, tmp_path / "no-such-folder" / "state.json") as controller:
        assert controller.wait() == 1
    assert "no-such-folder/state.json" in controller.output
    assert "Traceback" not in controller.output
