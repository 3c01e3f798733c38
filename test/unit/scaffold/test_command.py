"""`python -m clientgo.scaffold`: what each command adds, what it refuses, and that a refusal changes nothing.

That the projects run is in test/e2e/test_scaffold.py.
"""

from __future__ import annotations

import ast
import errno
import importlib.metadata
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pytest
import yaml

from clientgo.apimachinery.util import yaml as apiyaml
from clientgo.scaffold import command, workspace
from clientgo.scaffold.project import Project

ORDER = ("--group", "shop", "--version", "v1", "--kind", "Order")
CREATE = ("create", "api", *ORDER)
WEBHOOK = ("create", "webhook", *ORDER)

Run = Callable[..., str]


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command, checks its exit code and returns its output."""

    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        try:
            ended = command.main(arguments)
        except SystemExit as end:
            ended = end.code  # type: ignore[assignment]
        printed = "".join(capsys.readouterr())
        assert ended == code, printed
        assert "Traceback" not in printed
        return printed

    return run


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a new project and a project with an Order. Tests must not change them."""
    patch = pytest.MonkeyPatch()
    new, ordered = tmp_path_factory.mktemp("new") / "shop-operator", tmp_path_factory.mktemp("api") / "shop-operator"
    new.mkdir()
    patch.chdir(new)
    assert command.main(["init", "--domain", "example.com"]) == 0
    shutil.copytree(new, ordered)
    patch.chdir(ordered)
    assert command.main(list(CREATE)) == 0
    patch.undo()
    return {"new": new, "ordered": ordered}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project, which is up to date."""
    empty = tmp_path / "shop-operator"
    empty.mkdir()
    monkeypatch.chdir(empty)
    return empty


@pytest.fixture
def new(folder: Path, projects: dict[str, Path]) -> Path:
    """Return a project without an API."""
    return shutil.copytree(projects["new"], folder, dirs_exist_ok=True)


@pytest.fixture
def project(folder: Path, projects: dict[str, Path]) -> Path:
    """Return a project with an Order."""
    return shutil.copytree(projects["ordered"], folder, dirs_exist_ok=True)


def test_the_project_file_has_kubebuilders_fields(project: Path) -> None:
    assert yaml.safe_load((project / "PROJECT").read_text()) == {
        "domain": "example.com",
        "layout": ["python.clientgo/v1"],
        "projectName": "shop-operator",
        "repo": "shop-operator",
        "resources": [
            {
                "api": {"crdVersion": "v1", "namespaced": True},
                "controller": True,
                "domain": "example.com",
                "group": "shop",
                "kind": "Order",
                "path": "shop_operator.api.shop.v1",
                "version": "v1",
            }
        ],
        "version": "3",
    }


def test_all_that_kubectl_reads_is_yaml_and_all_modules_are_python(project: Path, run: Run) -> None:
    run(*WEBHOOK, "--defaulting", "--programmatic-validation")

    kinds = set()
    for path in (project / "config").rglob("*.yaml"):
        for text in path.read_text().split("\n---\n"):
            kinds.add(apiyaml.unmarshal(text)["kind"])
    assert kinds >= {"Deployment", "ClusterRole", "CustomResourceDefinition", "Order", "Service", "Issuer"}
    for path in project.rglob("*.py"):
        ast.parse(path.read_text())
    assert "{{" not in "".join(path.read_text() for path in project.rglob("*") if path.is_file())


def test_the_role_says_what_the_markers_say(project: Path, run: Run) -> None:
    controller = project / "shop_operator/controller/shop/order_controller.py"
    marker = "# +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get;create\n"
    controller.write_text(controller.read_text() + marker)
    assert "config/rbac/role.yaml" in run("generate", "--verify", code=1)
    assert "1 generated files changed" in run("generate")

    rules = yaml.safe_load((project / "config/rbac/role.yaml").read_text())["rules"]

    assert {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get"]} in rules
    assert {rule["resources"][0] for rule in rules} == {"configmaps", "orders", "orders/status", "orders/finalizers"}
    assert "0 generated" in run("generate", "--verify")


def test_the_commands_of_an_older_text_do_what_it_says(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "dozer-operator")
    project = folder / "dozer-operator"
    monkeypatch.chdir(project)
    timer = ("--api-version=timers.estimer.com/v1alpha1", "--kind=Timer")

    run("add", "api", *timer)
    assert not (project / "dozer_operator/controller").exists()
    run("add", "controller", *timer)
    assert "0 generated files changed" in run("generate", "k8s")

    (crd,) = (project / "config/crd").iterdir()
    assert crd.name == "timers.estimer.com_timers.yaml"
    assert (project / "dozer_operator/controller/timers/timer_controller.py").exists()
    assert "expected group and version" in run("add", "api", "--api-version=v1", "--kind=Timer", code=1)

    monkeypatch.chdir(folder)
    before = tree(folder)
    assert "is a project already" in run("new", "dozer-operator", code=1)
    assert "the project name '../x'" in run("new", "../x", code=1)
    assert "the domain '..'" in run("new", "other", "--domain=..", code=1)
    assert "which it would hide" in run("new", "json", "--repo=yaml", code=1)
    assert tree(folder) == before
    assert not (folder / "json").exists()


def test_a_group_with_a_dash_and_a_kind_named_as_a_word_of_pythons_get_clients(project: Path, run: Run) -> None:
    run("create", "api", "--group", "fleet-ops", "--version", "v1", "--kind", "Class")

    generated = project / "shop_operator/generated"
    for path in generated.rglob("*.py"):
        ast.parse(path.read_text())
    clientset = (generated / "clientset/versioned/clientset.py").read_text()
    assert "def fleetops_v1(self)" in clientset
    assert (generated / "clientset/versioned/typed/fleetops/v1/class_.py").exists()


def test_pytest_takes_nothing_of_the_package_for_a_test(project: Path, run: Run) -> None:
    for group, kind in (("shop", "Test"), ("test", "Conftest"), ("shop", "TestingOrder")):
        run("create", "api", "--group", group, "--version", "v1", "--kind", kind)
        run("create", "webhook", "--group", group, "--version", "v1", "--kind", kind, "--defaulting")

    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider", "-W", "error", "."]
    ended = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=100)

    assert ended.returncode == 0, ended.stdout
    assert {line.partition("/")[0] for line in ended.stdout.splitlines() if line} == {"test"}


def test_exports_of_many_kinds_are_sorted_as_ruff_sorts_them(project: Path, run: Run) -> None:
    for kind in ("Order10", "Order2", "X", "AB"):
        run("create", "api", "--group", "shop", "--version", "v1", "--kind", kind, "--controller=false")

    package = (project / "shop_operator/api/shop/v1/__init__.py").read_text()
    (names,) = re.findall(r"__all__ = \[(.*?)\]", package, re.DOTALL)
    kinds = [name for name in re.findall(r'"(\w+)"', names) if re.fullmatch(r"AB|X|Order\d*", name)]
    assert kinds == ["AB", "Order", "Order2", "Order10", "X"]


def test_a_second_api_leaves_what_the_user_wrote(project: Path, run: Run) -> None:
    main, types = project / "shop_operator/main.py", project / "shop_operator/api/shop/v1/order_types.py"
    main.write_text(main.read_text().replace("    scheme = Scheme()\n", "    scheme = Scheme()  # mine\n"))
    types.write_text(types.read_text().replace('"foo", "string"', '"size", "string"'))
    (project / "PROJECT").write_text("# mine\n" + (project / "PROJECT").read_text() + "plugins:\n  theirs: {a: 1}\n")
    crd = project / "config/crd/shop.example.com_orders.yaml"
    crd.write_text("# mine\n" + crd.read_text())
    before = tree(project)

    run("create", "api", "--group", "shop", "--version", "v1", "--kind", "Cart")
    run("create", "api", "--group=fleet", "--version=v2", "--kind=Ship", "--namespaced=false", "--plural", "shipz")

    after = tree(project)
    assert set(before) <= set(after)
    changed = {name for name in before if before[name] != after[name] and "/generated/" not in name}
    assert changed == {
        *("PROJECT", "config/rbac/role.yaml", "shop_operator/main.py", "shop_operator/api/shop/v1/__init__.py"),
        "config/crd/shop.example.com_orders.yaml",  # generated: it has the user's field, and the user's comment
    }
    lines = before["shop_operator/main.py"].splitlines()
    assert [line for line in after["shop_operator/main.py"].splitlines() if line in lines] == lines
    definition = crd.read_text()
    assert "# mine" in definition
    assert "size:" in definition
    project_file = (project / "PROJECT").read_text()
    assert project_file.startswith("# mine\n")
    assert yaml.safe_load(project_file)["plugins"] == {"theirs": {"a": 1}}
    ships = yaml.safe_load((project / "config/crd/fleet.example.com_shipz.yaml").read_text())
    assert ships["spec"]["scope"] == "Cluster"
    assert len(Project.load(project).resources) == 3


def test_another_version_of_a_kind_is_not_stored_and_has_no_controller_of_its_own(project: Path, run: Run) -> None:
    run("create", "api", "--group", "shop", "--version", "v1beta1", "--kind", "Order")

    (crd,) = (project / "config/crd").iterdir()
    versions = yaml.safe_load(crd.read_text())["spec"]["versions"]
    assert [(each["name"], each["storage"]) for each in versions] == [("v1", True), ("v1beta1", False)]
    assert len(list((project / "shop_operator/controller/shop").glob("*_controller.py"))) == 1

    run(*WEBHOOK, "--conversion", "--spoke", "v1beta1")

    definition = yaml.safe_load(crd.read_text())
    assert definition["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["path"] == "/convert"
    assert definition["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
    assert "no other version" in run(*WEBHOOK, "--conversion", "--spoke", "v3", code=1)


def test_a_webhook_is_added_to_the_one_that_is_there(project: Path, run: Run) -> None:
    run(*WEBHOOK, "--defaulting")
    file = project / "shop_operator/webhook/shop/v1/order_webhook.py"
    file.write_text(file.read_text().replace("# TODO(user): set the defaults.", 'order.spec.foo = "mine"'))
    assert "these webhooks already" in run(*WEBHOOK, "--defaulting", code=1)

    run(*WEBHOOK, "--programmatic-validation")

    text = file.read_text()
    assert 'order.spec.foo = "mine"' in text
    assert text.count("builder.with_defaulter(") == text.count("builder.with_validator(") == 1
    manager = yaml.safe_load((project / "config/manager/manager.yaml").read_text())
    (container,) = manager["spec"]["template"]["spec"]["containers"]
    assert len([flag for flag in container["args"] if "webhook-cert-path" in flag]) == 1

    run(*WEBHOOK, "--programmatic-validation", "--force")
    assert 'order.spec.foo = "mine"' not in file.read_text()


def test_a_controller_for_a_kind_of_kubernetes_needs_no_type(project: Path, run: Run) -> None:
    run("create", "api", "--group=networking", "--version=v1", "--kind=Ingress", "--resource=false")

    assert not (project / "shop_operator/api/networking").exists()
    resource = yaml.safe_load((project / "PROJECT").read_text())["resources"][-1]
    assert (resource["controller"], resource["core"], "api" in resource) == (True, True, False)
    assert (resource["group"], resource["domain"]) == ("networking", "k8s.io")
    assert resource["path"] == "clientgo.api.networking.v1"
    assert "networking.k8s.io" in (project / "config/rbac/role.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--group", "../../etc", "--version", "v1", "--kind", "Order"), "the group '../../etc'"),
        (("--group", "shop/x", "--version", "v1", "--kind", "Order"), "the group 'shop/x'"),
        (("--group", "Shop", "--version", "v1", "--kind", "Order"), "lower case"),
        (("--group", "", "--version", "v1", "--kind", "Order"), "the group ''"),
        (("--group", "class", "--version", "v1", "--kind", "Order"), "a word of Python's"),
        (("--group", "3d", "--version", "v1", "--kind", "Order"), "'3d' is no name of a Python package"),
        (("--group", "s" * 300, "--version", "v1", "--kind", "Order"), "must be no more than 253"),
        (("--group", "shop\n", "--version", "v1", "--kind", "Order"), "the group 'shop\\n'"),
        (("--group", "shop", "--version", "1", "--kind", "Order"), "the version '1'"),
        (("--group", "shop", "--version", "v1/..", "--kind", "Order"), "the version 'v1/..'"),
        (("--group", "shop", "--version", "v1\n", "--kind", "Order"), "the version"),
        (("--group", "shop", "--version", "v1", "--kind", "order"), "must start with an uppercase character"),
        (("--group", "shop", "--version", "v1", "--kind", "Or-der"), "expected letters and digits"),
        (("--group", "shop", "--version", "v1", "--kind", "../Order"), "must start with an uppercase character"),
        (("--group", "shop", "--version", "v1", "--kind", "Ördner"), "expected letters and digits"),
        (("--group", "shop", "--version", "v1", "--kind", "None"), "a word of Python's"),
        (("--group", "shop", "--version", "v1", "--kind", "List"), "Kubernetes has it"),
        (("--group", "shop", "--version", "v1", "--kind", "No"), "YAML reads it as false"),
        (("--group", "shop", "--version", "v1", "--kind", "Y"), "YAML reads it as true"),
        (("--group", "shop", "--version", "v1", "--kind", "Null"), "YAML reads it as null"),
        (("--group", "shop", "--version", "v1", "--kind", "NO"), "YAML reads it as false"),
        (("--group", "shop", "--version", "v1", "--kind", "Cart", "--plural", "n"), "YAML reads it as false"),
        (("--group", "on", "--version", "v1", "--kind", "Cart"), "YAML reads it as true"),
        (("--group", "shop", "--version", "v1", "--kind", "Context"), "have a class of that name"),
        (("--group", "shop", "--version", "v1", "--kind", "ListOptions"), "Kubernetes has it in every group"),
        (("--group", "shop", "--version", "v1", "--kind", "GetOptions"), "Kubernetes has it in every group"),
        (("--group", "start", "--version", "v1", "--kind", "Cart"), "has a 'start' of its own"),
        (("--group", "meta", "--version", "v1", "--kind", "Cart"), "imports another package as metav1"),
        (("--group", "shop", "--version", "v1", "--kind", "K" * 64), "must be no more than 63"),
        (("--group", "shop", "--version", "v1", "--kind", "Cart", "--plural", "../x"), "the plural '../x'"),
        (("--group", "shop", "--version", "v1", "--kind", "Cart", "--plural", "orders"), "is that of shop.example.com"),
        (("--group", "shop", "--version", "v1", "--kind", "OrderList"), "its classes are named as those of"),
        (("--group", "shop", "--version", "v1", "--kind", "ORDER", "--plural", "x"), "its files are named as those of"),
        (("--group", "sh-op", "--version", "v1", "--kind", "Cart"), "its package 'shop' is that of"),
        (("--group", "shop.eu", "--version", "v1", "--kind", "Cart"), "in the clients it is named as"),
        (("--group", "shop", "--version", "v2", "--kind", "Order", "--namespaced=false"), "plural or scope"),
        (("--group", "shop", "--version", "v2", "--kind", "Order", "--controller"), "serves all versions"),
        (("--group", "shop", "--version", "v1", "--kind", "Order"), "in the project already"),
        (("--group", "shop", "--version", "v1", "--kind", "Car", "--resource=false"), "a controller needs a type"),
        (("--group", "meta", "--version", "v1", "--kind", "Status", "--resource=false"), "a controller needs a type"),
        (
            ("--group", "shop", "--version", "v1", "--kind", "Car", "--resource=false", "--controller=false"),
            "neither a resource nor a controller",
        ),
    ],
)
def test_an_api_that_cannot_be_is_refused(
    project: Path, run: Run, arguments: tuple[str, ...], complaint: str
) -> None:
    before = tree(project)

    assert complaint in run("create", "api", *arguments, code=1)
    assert tree(project) == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "say at least one of --defaulting"),
        (("--conversion",), "--conversion needs --spoke"),
        (("--conversion", "--spoke", "v1"), "no other version of that name"),
        (("--conversion", "--spoke", "../v1"), "the version '../v1'"),
        (("--defaulting", "--spoke", "v2"), "--spoke goes with --conversion"),
        (("--defaulting", "--kind", "Cart"), "the project has no shop/v1, Kind=Cart: begin with `create api`"),
    ],
)
def test_a_webhook_that_cannot_be_is_refused(
    project: Path, run: Run, arguments: tuple[str, ...], complaint: str
) -> None:
    before = tree(project)

    assert complaint in run(*WEBHOOK, *arguments, code=1)
    assert tree(project) == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--domain", "Example.com"), "the domain 'Example.com'"),
        (("--domain", "../x"), "the domain '../x'"),
        (("--repo", "../../x"), "expected a Python package, or the path of a repository"),
        (("--repo", "/etc/x"), "expected a Python package, or the path of a repository"),
        (("--repo", "json"), "there is a module 'json' that it would hide"),
        (("--repo", "yaml"), "there is a module 'yaml' already"),
        (("--repo", "clientgo"), "there is a module 'clientgo' that it would hide"),
        (("--repo", "github.com/acme/lambda"), "'lambda' is no name of a Python package"),
        (("--repo", "__init__"), "are Python's own"),
        (("--repo", "github.com/acme/__main__"), "are Python's own"),
        (("--repo", "config"), "is another folder of the project"),
        (("--project-name", "Shop"), "the project name 'Shop'"),
        (("--project-name", "x" * 41), "must be no more than 40 bytes"),
        (("--project-name", "y"), "YAML reads it as true"),
        (("--project-name", "null"), "YAML reads it as null"),
        (("--domain", "off"), "YAML reads it as false"),
    ],
)
def test_a_project_that_cannot_be_is_refused(
    folder: Path, run: Run, arguments: tuple[str, ...], complaint: str
) -> None:
    assert complaint in run("init", *arguments, code=1)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("group", ["core", "apps", "rest", "scheme", "fake", "generated", "client"])
def test_a_group_may_have_a_name_that_the_library_has_too(project: Path, run: Run, group: str) -> None:
    run("create", "api", "--group", group, "--version", "v1", "--kind", "Zebra")
    factory = project / "shop_operator/generated/informers/externalversions/factory.py"
    assert f"def {group}(self)" in factory.read_text()


def test_clientgo_comes_from_the_wheels_of_the_project_alone(folder: Path, run: Run) -> None:
    """A package index has no clientgo of ours: whatever has that name there must not get into the image."""
    run("init", "--repo", "shop_operator")

    installs = [
        shlex.split(line.removeprefix("RUN "))[1:]
        for line in (folder / "Dockerfile").read_text().splitlines()
        if "pip install" in line
    ]
    assert [words[words.index("--no-cache-dir") + 1 :] for words in installs] == [
        ["--no-index", "--no-deps", "wheels/clientgo-*.whl"],
        ["--requirement", "requirements.txt"],
        ["--no-deps", "."],
    ]
    assert "pip check" in (folder / "Dockerfile").read_text()
    needed = re.findall(r"^\w+", (folder / "requirements.txt").read_text(), re.MULTILINE)
    assert sorted(map(str.lower, needed)) == ["pyyaml", "urllib3"]
    described = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert described["dependencies"] == [f"clientgo == {importlib.metadata.version('clientgo')}"]


def test_a_repository_gives_the_package_its_name(folder: Path, run: Run) -> None:
    run("init", "--repo", "github.com/acme/Web-shop.operator")

    assert (folder / "Web_shop_operator" / "main.py").exists()


def test_a_project_begins_in_a_folder_of_its_own(folder: Path, run: Run) -> None:
    (folder / "setup.py").write_text("theirs")

    assert "is not empty, it has setup.py" in run("init", code=1)
    assert tree(folder) == {"setup.py": b"theirs"}


def test_what_a_new_repository_has_stays(folder: Path, run: Run) -> None:
    (folder / ".git").mkdir()
    for name in ("README.md", "LICENSE", ".gitignore"):
        (folder / name).write_text("theirs")

    assert "shop-operator/README.md: yours, kept" in run("init")

    assert {(folder / name).read_text() for name in ("README.md", "LICENSE", ".gitignore")} == {"theirs"}
    assert "is a project already" in run("init", code=1)


def test_a_command_that_was_killed_while_it_moved_files_goes_on_when_run_again(
    projects: dict[str, Path], folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, moved = workspace.Move.place, 0

    def killed(self: workspace.Move, source: Path, name: str) -> None:
        nonlocal moved
        moved += 1
        if moved == 9:
            raise KeyboardInterrupt
        place(self, source, name)

    for arguments, expected in ((("init", "--domain", "example.com"), "new"), (CREATE, "ordered")):
        moved = 0
        with monkeypatch.context() as patch:
            patch.setattr(workspace.Move, "place", killed)
            patch.setattr(workspace.Move, "undo", lambda self: None)
            with pytest.raises(KeyboardInterrupt):
                command.main(arguments)
        assert tree(folder) != tree(projects[expected])

        run(*arguments)

        assert tree(folder) == tree(projects[expected])


def test_without_a_project_commands_say_where_to_begin(folder: Path, run: Run) -> None:
    for arguments in (CREATE, (*WEBHOOK, "--defaulting"), ("generate",)):
        assert "begin with `init`" in run(*arguments, code=1)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("version: '3'", "version: 3", "version: expected a text, found 3"),
        ("python.clientgo/v1", "go.kubebuilder.io/v4", "expected version '3' and the layout python.clientgo/v1"),
        ("domain: example.com", "domain: ../x", "the domain '../x'"),
        ("group: shop", "group: ../../etc", "the group '../../etc'"),
        ("path: shop_operator.api.shop.v1", "path: ../../etc", "the path '../../etc'"),
        ("resources:", "resources: 5\nothers:", "resources: expected a list of objects"),
        ("controller: true", "controller: maybe", "controller: expected true or false, found 'maybe'"),
        ("domain: example.com", "domain: &a b\nx: *a", "it has aliases"),
        ("domain: example.com", "domain: [", "PROJECT: while parsing"),
        ("domain: example.com", "x: " + "[" * 100_000, "it is nested too deeply"),
        ("domain: example.com", "x: " + "y" * (1 << 20), "larger than"),
        ("domain: example.com", "x: \x00", "PROJECT: "),
    ],
)
def test_a_damaged_project_file_is_reported(
    project: Path, run: Run, old: str, new: str, complaint: str
) -> None:
    file = project / "PROJECT"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    before = tree(project)

    assert complaint in run("create", "api", "--group", "shop", "--version", "v1", "--kind", "Cart", code=1)
    assert tree(project) == before


@pytest.mark.parametrize(
    ("version", "file", "old", "new", "complaint"),
    [
        ("v2", "main.py", "    # +kubebuilder:scaffold:scheme\n", "", "main.py has no line `# +kubebuilder:scaffold:"),
        ("v1", "api/shop/v1/__init__.py", "    # +kubebuilder:scaffold:exports\n", "", "__init__.py has no line `# +k"),
        ("v2", "api/shop/v1/order_types.py", '"string"', '"strong"', ":21: OrderSpec.foo is declared as "),
        ("v2", "api/shop/v1/order_types.py", "import runtime", "import (", "order_types.py:11: "),
        ("v2", "controller/shop/order_controller.py", "verbs=update\n", "werbs=a\n", "order_controller.py:20: unknown"),
    ],
)
def test_an_error_in_the_users_files_is_located_and_nothing_is_added(
    project: Path, run: Run, version: str, file: str, old: str, new: str, complaint: str
) -> None:
    path = project / "shop_operator" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    before = tree(project)

    # In a version with a kind already, or in one without.
    output = run("create", "api", "--group", "shop", "--version", version, "--kind", "Cart", code=1)

    assert complaint in output
    assert ".scaffold-" not in output
    assert tree(project) == before


def test_a_file_that_is_there_is_not_overwritten(project: Path, run: Run) -> None:
    mine = project / "shop_operator/controller/shop/cart_controller.py"
    mine.write_text("mine")
    before = tree(project)
    cart = ("create", "api", "--group", "shop", "--version", "v1", "--kind", "Cart")

    assert "cart_controller.py is there already, and is another one" in run(*cart, code=1)
    assert tree(project) == before

    run(*cart, "--force")
    assert "CartReconciler" in mine.read_text()


@pytest.mark.parametrize("arguments", [(), ("create",), ("create", "api"), ("edit",), (*CREATE, "--force=perhaps")])
def test_bad_usage_is_reported(folder: Path, run: Run, arguments: tuple[str, ...]) -> None:
    assert "usage: python -m clientgo.scaffold" in run(*arguments, code=2)


def test_the_current_folder_may_be_gone(folder: Path, run: Run) -> None:
    folder.rmdir()

    assert run("init", code=1) == "error: the current folder cannot be found: No such file or directory\n"


def test_a_folder_without_a_usable_name_asks_for_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert run("init", code=1) == "error: / has no name for the project; name the project with --project-name\n"
    assert run("init", "--project-name", "shop", code=1).startswith("error: / is not empty, it has ")

    folder = tmp_path / "My Shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run("init", code=1).endswith("; name the project with --project-name\n")
    assert "--project-name" not in run("init", "--project-name", "My Shop", code=1)
    run("init", "--project-name", "shop")


def test_a_folder_that_is_not_writable_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(prefix: str, dir: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{dir}/{prefix}x")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workspace.tempfile, "TemporaryDirectory", refuse)

    assert run("init", "--project-name", "shop", code=1) == (
        f"error: Permission denied: {tmp_path}, nothing was changed\n"
    )
    assert tree(tmp_path) == {}


def test_a_full_disk_is_an_error_with_the_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(path: Path, mode: str = "r", **options: Any) -> TextIO:
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return open(path, mode, **options)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "open", is_full)

    assert run("init", "--project-name", "shop", code=1) == (
        f"error: No space left on device: {tmp_path}, nothing was changed\n"
    )
    assert tree(tmp_path) == {}
