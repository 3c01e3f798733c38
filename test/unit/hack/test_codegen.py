"""The committed files equal the generators' output."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from clientgo.codegen.writer import Output

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

from codegen import built_in  # noqa: E402


def update_codegen(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "hack" / "update-codegen", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def test_generated_code_is_current() -> None:
    done = update_codegen("--verify")

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_of_ones_own_is_generated_as_by_the_library(tmp_path: Path) -> None:
    types = ROOT / "cmd" / "network-controller" / "pkg" / "apis"
    shutil.copytree(types, tmp_path / "pkg" / "apis", ignore=shutil.ignore_patterns("__pycache__"))
    arguments = ("--root", tmp_path, "--output", "pkg.client", "pkg.apis.samplecrd.v1")

    assert "27 generated files, 27 changed" in update_codegen(*arguments).stdout

    library = [sys.executable, "-m", "clientgo.codegen", *arguments, "--verify"]
    assert subprocess.run(library, capture_output=True, timeout=PATIENCE).returncode == 0


@pytest.mark.parametrize(
    ("program", "file", "old", "new"),
    [
        ("sample-controller", "artifacts/examples/crd.yaml", "maximum: 10", "maximum: 11"),
        ("network-controller", "crd/network.yaml", "- nw", "- net"),
        ("guestbook-operator", "config/crd/guestbooks.yaml", "default: 80", "default: 81"),
        ("cockroach-operator", "config/crd/crdbclusters.yaml", "minimum: 3", "minimum: 1"),
        ("operator-patterns", "config/crd/sites.yaml", "maxLength: 253", "maxLength: 63"),
        ("elasticsearch-operator", "config/crd/elasticsearches.yaml", "- es", "- els"),
    ],
)
def test_a_stale_definition_of_a_program_is_found(
    program: str, file: str, old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "cmd" / program, tmp_path / "cmd" / program)
    path = tmp_path / "cmd" / program / file
    text = path.read_text()
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    monkeypatch.setattr(built_in, "ROOT", tmp_path)
    output = Output(tmp_path, verify=True)

    built_in.generate_program(output, program)

    assert output.stale == [f"cmd/{program}/{file}"]
