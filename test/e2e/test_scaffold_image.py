"""The image of a scaffolded project takes clientgo from the project's wheels, and from nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from dockerfile import build
from processes import Program
from wheel import build_wheel

pytestmark = pytest.mark.takes_turns(8, together=True)


def scaffold(folder: Path, *arguments: str) -> None:
    with Program(sys.executable, "-m", "clientgo.scaffold", *arguments, cwd=folder) as program:
        assert program.wait() == 0, program.output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project") / "shop-operator"
    folder.mkdir()
    scaffold(folder, "init", "--domain", "example.com", "--repo", "shop_operator")
    wheels = folder / "wheels"
    wheels.mkdir()
    wheel = build_wheel(tmp_path_factory)
    (wheels / wheel.name).write_bytes(wheel.read_bytes())
    return folder


def test_the_image_runs_with_the_wheel_of_the_project(project: Path, tmp_path: Path) -> None:
    *_, image = build(project / "Dockerfile", context=project, folder=tmp_path)
    with image.start("-help") as program:
        assert program.wait() == 0, program.output
    assert "-leader-elect" in program.output


def test_without_the_wheel_nothing_is_taken_from_an_index(project: Path, tmp_path: Path) -> None:
    (wheel,) = (project / "wheels").iterdir()
    hidden = wheel.rename(tmp_path / wheel.name)
    try:
        with pytest.raises(AssertionError, match="wheels/clientgo"):
            build(project / "Dockerfile", context=project, folder=tmp_path)
    finally:
        hidden.rename(wheel)


def test_a_wheel_of_another_version_ends_the_build(project: Path, tmp_path: Path) -> None:
    pyproject = project / "pyproject.toml"
    text = pyproject.read_text()
    pyproject.write_text(text.replace('"clientgo == ', '"clientgo == 9'))
    try:
        with pytest.raises(AssertionError, match="has requirement clientgo==9"):
            build(project / "Dockerfile", context=project, folder=tmp_path)
    finally:
        pyproject.write_text(text)
