"""Tests of the README and of the library's page: a test runs each of their commands, and their programs run here."""

from __future__ import annotations

import importlib
import re
import signal
from pathlib import Path

import pytest
from page_commands import RUN_BY
from processes import ROOT, kubectl, python, start_apiserver

README = (ROOT / "README.md").read_text()
PROGRAMS = (ROOT / "cmd/README.md").read_text()
LIBRARY = (ROOT / "clientgo/README.md").read_text()
# The pages that the README links; test_scaffold.py follows the scaffold's.
LINKED = ["clientgo/scaffold/README.md", "clientgo/testing/README.md"]
PAGES = ["README.md", "cmd/README.md", "clientgo/README.md", *LINKED]



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
