"""A command is done in full or not at all, whatever fails and whenever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clientgo.scaffold import workspace
from clientgo.scaffold.names import Refused


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): "/" if path.is_dir() else path.read_text() for path in root.rglob("*")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a project."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "main.py").write_text("# +kubebuilder:scaffold:builder\n")
    (tmp_path / "pkg" / "mine.py").write_text("mine")
    (tmp_path / "PROJECT").write_text("old")
    return tmp_path


def change(work: workspace.Workspace) -> None:
    work.create("pkg/api/v1/types.py", "new")
    work.insert("pkg/main.py", "builder", ["added()"])
    work.create("hack/ci", "run", executable=True)
    work.write("PROJECT", "new")


def test_all_is_moved_and_the_project_file_last(root: Path) -> None:
    (root / "pkg/main.py").chmod(0o750)
    with workspace.opened(root, "PROJECT", "pkg") as work:
        change(work)
        work.check()
        assert (root / "PROJECT").read_text() == "old"
        assert work.commit() == ["hack/ci", "pkg/api/v1/types.py", "pkg/main.py", "PROJECT"]

    assert tree(root) == {
        "PROJECT": "new",
        "hack": "/",
        "hack/ci": "run",
        "pkg": "/",
        "pkg/api": "/",
        "pkg/api/v1": "/",
        "pkg/api/v1/types.py": "new",
        "pkg/main.py": "added()\n# +kubebuilder:scaffold:builder\n",
        "pkg/mine.py": "mine",
    }
    assert os.access(root / "hack/ci", os.X_OK)
    assert (root / "pkg/main.py").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_a_move_that_fails_leaves_the_project_as_it_was(
    root: Path, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, moved, replace = tree(root), 0, os.replace

    def fail(source: Path, target: Path) -> None:
        nonlocal moved
        moved += 1
        if moved == failing:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"), workspace.opened(root, "PROJECT", "pkg") as work:
        change(work)
        work.commit()

    assert tree(root) == before


def test_what_fails_before_the_move_touches_nothing(root: Path) -> None:
    before = tree(root)
    with pytest.raises(KeyboardInterrupt), workspace.opened(root, "PROJECT", "pkg") as work:
        change(work)
        raise KeyboardInterrupt

    assert tree(root) == before


def test_all_obstacles_are_reported_together(root: Path) -> None:
    with workspace.opened(root, "PROJECT", "pkg") as work:
        work.create("pkg/mine.py", "theirs")
        work.create("pkg", "a file")
        work.insert("pkg/mine.py", "builder", ["added()"])
        work.insert("pkg/missing.py", "builder", ["added()"])
        work.create("pkg/new.py", "new")
        with pytest.raises(Refused) as caught:
            work.check()

    for complaint in ("pkg/mine.py is there already", "pkg is there already", "no line", "no file pkg/missing.py"):
        assert complaint in str(caught.value)


def test_with_force_files_are_replaced_and_folders_are_not(root: Path) -> None:
    with workspace.opened(root, "PROJECT", "pkg") as work:
        work.overwrite()
        work.create("pkg/mine.py", "theirs")
        work.check()
        work.create("pkg", "a file")
        with pytest.raises(Refused, match="pkg is a folder"):
            work.check()
        work.commit()

    assert (root / "pkg/mine.py").read_text() == "theirs"


def test_the_same_file_stands_not_in_the_way(root: Path) -> None:
    """A command that was killed is run once more."""
    with workspace.opened(root, "PROJECT", "pkg") as work:
        work.create("pkg/mine.py", "mine")
        work.check()
        assert work.commit() == []


def test_what_was_left_by_a_killed_command_is_cleared_away(root: Path) -> None:
    (root / ".scaffold-abc" / "pkg").mkdir(parents=True)

    with workspace.opened(root, "PROJECT"):
        assert not (root / ".scaffold-abc").exists()


def test_one_command_at_a_time(root: Path) -> None:
    with (
        workspace.opened(root, "PROJECT"),
        pytest.raises(Refused, match="another command is at work"),
        workspace.opened(root, "PROJECT"),
    ):
        pytest.fail("both")


def test_links_lead_where_they_led_and_nothing_is_written_through_them(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "lib.py").write_text("lib")
    (root / "pkg" / "linked").symlink_to(elsewhere)
    (root / "pkg" / "lib.py").symlink_to(elsewhere / "lib.py")
    os.mkfifo(root / "pkg" / "pipe")

    with workspace.opened(root, "PROJECT", "pkg") as work:
        assert (work.copy / "pkg/linked/lib.py").read_text() == "lib"
        with pytest.raises(Refused, match="pkg/linked/x: a symbolic link leads out of the project"):
            work.write("pkg/linked/x", "x")
        work.write("pkg/lib.py", "mine")
        work.commit()

    assert (elsewhere / "lib.py").read_text() == "lib"
    assert (root / "pkg/lib.py").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_an_error_of_the_system() -> None:
    # Not by its mode, which does not keep root out.
    with pytest.raises(OSError, match="/proc"), workspace.opened(Path("/proc"), "PROJECT"):
        pytest.fail("opened")
