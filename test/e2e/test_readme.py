"""The README tells the truth: each of its commands is run by a test, and its controller runs here."""

from __future__ import annotations

import importlib
import re
import signal
from pathlib import Path

import pytest
from processes import ROOT, kubectl, python, start_apiserver

README = (ROOT / "README.md").read_text()

# Where each command of the README's shell blocks is run.
RUN_BY = {
    "hack/demo": "test_package.py, from a clone",
    "hack/test": "this test run",
    "hack/test test/property/workqueue": "this test run",
    "HYPOTHESIS_PROFILE=thorough hack/test test/property/workqueue": "a person with hours; conftest.py has the profile",
    "python3 -m venv .venv && .venv/bin/pip install -e . && . .venv/bin/activate": "hack/lib.sh, for hack/demo",
    "python cmd/apiserver --kubeconfig-out /tmp/kc &": "test_manual_session.py",
    "export KUBECONFIG=/tmp/kc": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/crd.yaml": "test_manual_session.py",
    "python cmd/sample-controller -kubeconfig=$KUBECONFIG -v=4 &": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/example-foo.yaml": "test_manual_session.py",
    "kubectl get foos,deployments,events": "test_manual_session.py",
    "kubectl delete foo example-foo": "test_manual_session.py",
    "hack/update-codegen --root ~/shop --output shop.generated shop.apis.shop.v1": "test_codegen.py, for such a one",
    "kubectl apply -f cmd/sample-controller/artifacts/deploy/namespace.yaml": "test_sample_controller_deploy.py",
    "kubectl apply -f cmd/sample-controller/artifacts/deploy": "test_sample_controller_deploy.py",
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def test_every_command_of_the_readme_is_run_by_a_test() -> None:
    commands = [line.strip() for block in blocks("sh") for line in block.splitlines() if line.strip()]

    assert set(commands) == set(RUN_BY)


def test_every_file_the_readme_names_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", README)

    assert linked
    assert [name for name in linked if not (ROOT / name).exists()] == []


def test_the_controller_of_the_readme_runs(tmp_path: Path) -> None:
    program, _ = blocks("python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 32
    kubeconfig = tmp_path / "kubeconfig"
    script = tmp_path / "controller.py"
    script.write_text(f"KUBECONFIG = {str(kubeconfig)!r}\n" + program)

    with start_apiserver(kubeconfig) as server, python("-u", script) as controller:
        kubectl(kubeconfig, "run", "web", "--image=nginx")
        seen = controller.wait_for("default/web Pending")
        kubectl(kubeconfig, "delete", "pod", "web", "--force", "--grace-period=0")
        controller.wait_for("default/web is gone", after=seen)

        controller.send(signal.SIGINT)
        controller.wait()
        assert server.stop() == 0


def test_the_resource_of_the_readme_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, types = blocks("python")
    (tmp_path / "readme_types.py").write_text(types)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("readme_types")

    order = module.Order.from_dict({"metadata": {"name": "a"}, "spec": {"due": "2027-01-01T00:00:00Z"}, "more": 1})
    order.spec.items.append("tea")

    assert order.spec.due.year == 2027
    assert order.to_dict()["spec"]["items"] == ["tea"]
    assert order.to_dict()["more"] == 1
