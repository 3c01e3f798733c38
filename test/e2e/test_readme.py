"""Tests of the README and of the library's page: a test runs each of their commands, and their programs run here."""

from __future__ import annotations

import importlib
import re
import signal
from pathlib import Path

import pytest
from processes import ROOT, kubectl, python, start_apiserver

README = (ROOT / "README.md").read_text()
PROGRAMS = (ROOT / "cmd/README.md").read_text()
LIBRARY = (ROOT / "clientgo/README.md").read_text()
# The pages that the README links; test_scaffold.py follows the scaffold's.
LINKED = ["clientgo/scaffold/README.md", "clientgo/testing/README.md"]
PAGES = ["README.md", "cmd/README.md", "clientgo/README.md", *LINKED]

CODEGEN = "python -m clientgo.codegen --root ~/shop --output shop.generated --crds ~/shop/crds shop.apis.shop.v1"
QUICK_STARTS = "test_quick_starts.py"
NETWORK = "test_network_controller.py"
GUESTBOOK = "test_guestbook_operator.py"
PATTERNS = "test_operator_patterns.py"
COCKROACH = "test_cockroach_operator.py"
NEWER = '{"spec":{"image":{"name":"cockroachdb/cockroach:v22.2.0"}}}'
SCAFFOLD = "test_scaffold.py"
ELASTIC = "test_elasticsearch_operator.py"
ELASTIC_OPERATOR = (
    "python cmd/elasticsearch-operator -kubeconfig=$KUBECONFIG -elasticsearch-state=/tmp/es.json "
    "-simulated-indices=logs=3:1 &"
)
ELASTIC_UPGRADE = """kubectl patch es quickstart --type=merge -p '{"spec":{"version":"8.12.0"}}'"""
# The test of each command in the pages' shell blocks.
RUN_BY = {
    "python3 -m venv .venv && . .venv/bin/activate": QUICK_STARTS,
    "pip install ./clientgo-*.whl": QUICK_STARTS,
    "clientgo demo": QUICK_STARTS,
    "clientgo tour": QUICK_STARTS,
    "clientgo programs cmd": QUICK_STARTS,
    "clientgo apiserver --kubeconfig-out /tmp/kc &": QUICK_STARTS,
    "clientgo apiserver --kubeconfig-out /tmp/kc --simulate-workloads &": GUESTBOOK,
    "hack/test": "this test run",
    "hack/test test/property/workqueue": "this test run",
    "HYPOTHESIS_PROFILE=thorough hack/test test/property/workqueue": "a person; test_thorough.py, shorter",
    "export KUBECONFIG=/tmp/kc": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/crd.yaml": "test_manual_session.py",
    "python cmd/sample-controller -kubeconfig=$KUBECONFIG -v=4 &": "test_manual_session.py",
    "kubectl apply -f cmd/sample-controller/artifacts/examples/example-foo.yaml": "test_manual_session.py",
    "kubectl get foos,deployments,events": "test_manual_session.py",
    "kubectl delete foo example-foo": "test_manual_session.py",
    "python cmd/network-controller -kubeconfig=$KUBECONFIG -neutron-state=/tmp/neutron.json &": NETWORK,
    "kubectl apply -f cmd/network-controller/crd/network.yaml": NETWORK,
    "kubectl apply -f cmd/network-controller/example/example-network.yaml": NETWORK,
    "kubectl describe nw example-network": NETWORK,
    "kubectl delete -f cmd/network-controller/example/example-network.yaml": NETWORK,
    "kubectl apply -f cmd/guestbook-operator/config/crd": GUESTBOOK,
    "python cmd/guestbook-operator -kubeconfig=$KUBECONFIG -directory=/tmp/guestbooks.json &": GUESTBOOK,
    "kubectl apply -f cmd/guestbook-operator/config/samples": GUESTBOOK,
    "kubectl describe guestbook guestbook-sample": GUESTBOOK,
    "kubectl delete guestbook guestbook-sample": GUESTBOOK,
    "kubectl apply -f cmd/operator-patterns/config/crd": PATTERNS,
    "python cmd/operator-patterns -kubeconfig=$KUBECONFIG -zone=/tmp/zone &": PATTERNS,
    "kubectl apply -f cmd/operator-patterns/config/samples": PATTERNS,
    "kubectl describe site example-site": PATTERNS,
    "kubectl delete site example-site": PATTERNS,
    "kubectl apply -f cmd/cockroach-operator/config/crd": COCKROACH,
    "python cmd/cockroach-operator -kubeconfig=$KUBECONFIG -simulate-database=/tmp/cockroach.json &": COCKROACH,
    "kubectl apply -f cmd/cockroach-operator/config/samples": COCKROACH,
    "kubectl describe crdb cockroachdb": COCKROACH,
    f"kubectl patch crdb cockroachdb --type=merge -p '{NEWER}'": COCKROACH,
    "kubectl delete crdb cockroachdb": COCKROACH,
    "kubectl apply -f cmd/elasticsearch-operator/config/crd": ELASTIC,
    ELASTIC_OPERATOR: ELASTIC,
    "kubectl apply -f cmd/elasticsearch-operator/config/samples": ELASTIC,
    "kubectl get es,statefulsets,pods": ELASTIC,
    ELASTIC_UPGRADE: ELASTIC,
    "kubectl describe es quickstart": ELASTIC,
    CODEGEN: "test_command.py",
    "python cmd/pod-controller -kubeconfig=$KUBECONFIG &": "test_pod_controller.py",
    "kubectl run mypod --image=nginx": "test_pod_controller.py",
    "kubectl delete pod mypod": "test_pod_controller.py",
    "pip install ~/clientgo": SCAFFOLD,
    "python -m clientgo.scaffold init --domain example.com": SCAFFOLD,
    "python -m clientgo.scaffold create api --group shop --version v1 --kind Order": SCAFFOLD,
    "pip install --editable '.[test]'": SCAFFOLD,
    "hack/ci": SCAFFOLD,
    "kubectl apply -f cmd/sample-controller/artifacts/deploy/namespace.yaml": "test_sample_controller_deploy.py",
    "kubectl apply -f cmd/sample-controller/artifacts/deploy": "test_sample_controller_deploy.py",
    "kubectl apply -f cmd/sample-controller/artifacts/deploy-shards": "test_sample_controller_deploy.py",
}


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_every_command_of_the_pages_is_run_by_a_test() -> None:
    shown = [*blocks("sh"), *blocks("sh", PROGRAMS), *blocks("sh", LIBRARY)]
    commands = [line.strip() for block in shown for line in block.splitlines() if line.strip()]

    assert set(commands) == set(RUN_BY)


@pytest.mark.parametrize("page", PAGES)
def test_every_file_the_readme_names_is_there(page: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text())

    assert linked
    assert [name for name in linked if not (ROOT / page).parent.joinpath(name).exists()] == []


def test_every_program_has_its_step() -> None:
    not_controllers = {"apiserver", "demo", "informer-tour"}
    programs = {path.parent.name for path in (ROOT / "cmd").glob("*/__main__.py")} - not_controllers
    steps = "\n".join(re.findall(r"^\|.*", PROGRAMS, re.M))
    titles = re.findall(r"^## (.*)", PROGRAMS, re.M)
    anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}

    assert programs <= set(re.findall(r"\[([\w-]+)\]", steps))
    assert [name for name in programs if f"(cmd/{name}/" not in README] == []
    assert set(re.findall(r"\(#([^)]+)\)", steps)) <= anchors


def test_every_practice_of_the_table_is_where_the_readme_says() -> None:
    rows = [line for line in PROGRAMS.splitlines() if line.startswith("| ") and ": `" in line]
    named = [
        (file, name)
        for row in rows
        for file, names in re.findall(r"\]\(([^)]+)\): ((?:`\w+`(?:, )?)+)", row)
        for name in re.findall(r"`(\w+)`", names)
    ]

    assert len(rows) >= 12
    assert len(named) >= 20
    texts = {file: (ROOT / "cmd" / file).read_text() for file, _ in named}
    assert [(file, name) for file, name in named if not re.search(rf"(def|class) {name}\b", texts[file])] == []


def test_the_controller_of_the_readme_runs(tmp_path: Path) -> None:
    (program,) = blocks("python")
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


def test_the_operator_of_the_library_page_runs(tmp_path: Path) -> None:
    program, *_ = blocks("python", LIBRARY)
    kubeconfig, script = tmp_path / "kubeconfig", tmp_path / "operator.py"
    # Any free port, since others may use 8080.
    free = "from clientgo.controller_runtime.metrics.server import server\n\nserver.DEFAULT_BIND_ADDRESS = ':0'\n"
    script.write_text(f"import os\n\nos.environ['KUBECONFIG'] = {str(kubeconfig)!r}\n{free}{program}")

    with start_apiserver(kubeconfig) as server, python("-u", script) as operator:
        kubectl(kubeconfig, "create", "deployment", "web", "--image=nginx", "--replicas=3")
        seen = operator.wait_for('"created"')
        assert kubectl(kubeconfig, "get", "configmap", "web", "-o", "jsonpath={.data.replicas}") == "3"
        kubectl(kubeconfig, "delete", "configmap", "web")
        operator.wait_for('"created"', after=seen)

        operator.send(signal.SIGTERM)
        assert operator.wait() == 0
        assert server.stop() == 0


def test_the_resource_of_the_library_page_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [types] = [block for block in blocks("python", LIBRARY) if "class Order(" in block]
    (tmp_path / "readme_types.py").write_text(types)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("readme_types")

    order = module.Order.from_dict({"metadata": {"name": "a"}, "spec": {"due": "2027-01-01T00:00:00Z"}, "more": 1})
    order.spec.items.append("tea")

    assert order.spec.due.year == 2027
    assert order.to_dict()["spec"]["items"] == ["tea"]
    assert order.to_dict()["more"] == 1
