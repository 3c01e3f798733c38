"""mypy and pyright accept users' code against the installed wheel, where no checkout is on the path."""

from __future__ import annotations

import json
import re
import shutil
import sys
import venv
from pathlib import Path

import pytest
from processes import ROOT
from wheel import build_wheel, run

pytestmark = pytest.mark.takes_turns(8)


def test_type_checkers_accept_programs_and_a_scaffolded_project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wheel = build_wheel(tmp_path_factory)
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", f"{wheel}[certificates]", cwd=tmp_path)
    work = tmp_path / "work"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "cmd", work / "cmd", ignore=ignored)
    shutil.copytree(ROOT / "test" / "typing", work / "typing", ignore=ignored)
    project = work / "shop-operator"
    project.mkdir()
    command = tmp_path / "venv" / "bin" / "clientgo"
    of_kind = ["--group", "shop", "--version", "v1", "--kind", "Order"]
    run(command, "scaffold", "init", "--domain", "example.com", "--repo", "shop_operator", cwd=project)
    run(command, "scaffold", "create", "api", *of_kind, cwd=project)
    run(command, "scaffold", "create", "webhook", *of_kind, "--defaulting", cwd=project)
    programs = sorted(path for path in (work / "cmd").iterdir() if path.is_dir())
    # The tour shows the sample-controller, whose folder it adds to the path.
    sample = str(work / "cmd" / "sample-controller")
    roots = [{"root": str(path), "extraPaths": [sample] if path.name == "informer-tour" else []} for path in programs]
    settings = {
        "pythonVersion": "3.11",
        # The project's tests need pytest, which this environment does not have.
        "include": ["cmd", "typing", "shop-operator/shop_operator"],
        "executionEnvironments": [*roots, {"root": str(project)}, {"root": str(work / "typing")}],
    }
    (work / "pyrightconfig.json").write_text(json.dumps(settings))

    wrong = work / "typing" / "wrong.py"
    wrong.write_text("from clientgo import rest\n\nrest.Config(host=7)\n")
    pyright = Path(sys.executable).with_name("pyright")
    options = ("--strict", "--explicit-package-bases", "--python-executable", python, "--cache-dir", tmp_path / "cache")
    mypy = (sys.executable, "-m", "mypy", *options)

    # The checkers find the library in the wheel, with its types. Otherwise they would accept the wrong file too.
    # One run checks that file and all others, since each run reads the library again.
    with pytest.raises(AssertionError) as by_pyright:
        run(pyright, "--project", "pyrightconfig.json", "--pythonpath", python, cwd=work)
    with pytest.raises(AssertionError) as by_mypy:
        run(*mypy, "typing", cwd=work)

    found = str(by_pyright.value)
    assert re.findall(r"^ *(\S+):\d+:\d+ - error: ", found, re.M) == [str(wrong)], found
    assert "reportArgumentType" in found and "\n1 error, " in found
    found = str(by_mypy.value)
    assert re.findall(r"^(\S+):\d+: error: .*(\[.*\])$", found, re.M) == [("typing/wrong.py", "[arg-type]")], found
    assert "Found 1 error in 1 file (checked 4 source files)" in found
    assert "Success: no issues found" in run(*mypy, "shop_operator", cwd=project)
