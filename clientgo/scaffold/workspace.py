"""All or nothing: a command works on a copy of the project, and moves the changed files at the end.

What goes wrong before that has touched nothing. What goes wrong while files are moved is undone. A command that is
killed in between leaves files that are as they should be, and the PROJECT file, which comes last, as it was: the same
command, once more, finds them and goes on.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clientgo.scaffold import marks
from clientgo.scaffold.names import Refused
from clientgo.scaffold.project import FILE

_PREFIX = ".scaffold-"


class Workspace:
    """A copy of the project's files, in which a command creates and changes some. Not thread-safe."""

    def __init__(self, root: Path, copy: Path) -> None:
        # The project, and the copy.
        self.root = root
        self.copy = copy
        self._force = False
        # Conflicts with existing files. All are reported together.
        self._problems: list[str] = []
        self._kept: list[str] = []

    def overwrite(self) -> None:
        """Let later calls of `create` replace existing files. Called for --force."""
        self._force = True

    def create(self, name: str, text: str, *, executable: bool = False, keep: bool = False) -> None:
        """Create a file that the user will own. If it exists, raise Refused, or leave it unchanged when `keep` is set.
        """
        path = self._path(name)
        # Not all of the project is in the copy.
        for there in (path, self.root / name):
            if not (there.is_symlink() or there.exists()):
                continue
            if keep:
                self._kept.append(name)
                return
            if not self._force and not (there.is_file() and _text_of(there, name) == text):
                self._problems.append(f"{name} is there already, and is another one")
                return
            if there.is_dir():
                self._problems.append(f"{name} is a folder")
                return
        self._put(path, text)
        if executable:
            path.chmod(path.stat().st_mode | 0o111)

    def insert(self, name: str, mark: str, lines: Sequence[str], unless: str = "") -> None:
        """Insert lines at a mark of a file, unless the file contains them or the text `unless`."""

        def edit(text: str) -> str:
            return text if unless and unless in text else marks.insert(text, mark, lines, name)

        self._edit(name, lines, edit)

    def add_import(self, name: str, line: str, package: str) -> None:
        """Add an import at the mark of a file, in its sorted place. `package` is the project's own package."""
        self._edit(name, [line], lambda text: marks.add_import(text, line, package, name))

    def export(self, name: str, exported: Sequence[str]) -> None:
        """Add names to the `__all__` of a module, at its mark."""
        self._edit(name, exported, lambda text: marks.export(text, exported, name))

    def _edit(self, name: str, lines: Sequence[str], edit: Callable[[str], str]) -> None:
        path = self._path(name)
        try:
            if not path.is_file():
                raise Refused(f"there is no file {name}, where this belongs:\n" + "\n".join(lines))
            self._put(path, edit(_text_of(path, name)))
        except Refused as err:
            self._problems.append(str(err))

    def write(self, name: str, text: str) -> None:
        """Write a generated file, replacing any existing one."""
        self._put(self._path(name), text)

    def check(self) -> None:
        """Raise Refused with all conflicts, if there are any."""
        if self._problems:
            raise Refused("\n".join(dict.fromkeys(self._problems)))

    @property
    def kept(self) -> list[str]:
        """The files that were to be created, and that the user has."""
        return self._kept

    def changes(self) -> list[str]:
        """Return the files that differ from the project's, with the PROJECT file last."""
        found = []
        for folder, _, files in os.walk(self.copy):
            for each in files:
                path = Path(folder, each)
                name = path.relative_to(self.copy).as_posix()
                if not path.is_symlink() and not _same(path, self.root / name):
                    found.append(name)
        return sorted(found, key=lambda name: (name == FILE, name))

    def commit(self) -> list[str]:
        """Move the changed files into the project and return their names. After an OSError the project is unchanged."""
        names = self.changes()
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=self.root) as saved:
            move = Move(self.root, Path(saved))
            try:
                for name in names:
                    move.place(self.copy / name, name)
            except BaseException:
                move.undo()
                raise
        return names

    def _path(self, name: str) -> Path:
        """Return the path of a file in the copy. Raises Refused when a symbolic link leads out of the project."""
        if not (self.root / name).parent.resolve().is_relative_to(self.root.resolve()):
            raise Refused(f"{name}: a symbolic link leads out of the project")
        return self.copy / name

    @staticmethod
    def _put(path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as err:
            raise Refused(f"{path.parent.name} is there, and is no folder") from err
        mode = path.stat().st_mode if path.exists() else None
        path.unlink(missing_ok=True)  # Never through a link.
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        if mode is not None:
            path.chmod(mode)


class Move:
    """Files on their way into the project."""

    def __init__(self, root: Path, saved: Path) -> None:
        self._root = root
        self._saved = saved
        # What there is to undo: files that were there, files that were not, folders that were not.
        self._replaced: list[str] = []
        self._created: list[str] = []
        self._folders: list[Path] = []

    def place(self, source: Path, name: str) -> None:
        target = self._root / name
        for folder in reversed(target.relative_to(self._root).parents[:-1]):
            if not (self._root / folder).is_dir():
                (self._root / folder).mkdir()
                self._folders.append(self._root / folder)
        if target.exists():
            self._save(target, name)
            # Recorded first: restoring an unchanged file does no harm.
            self._replaced.append(name)
        else:
            self._created.append(name)
        os.replace(source, target)

    def _save(self, target: Path, name: str) -> None:
        saved = self._saved / name
        saved.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target, saved)

    def undo(self) -> None:
        for name in self._replaced:
            os.replace(self._saved / name, self._root / name)
        for name in self._created:
            (self._root / name).unlink(missing_ok=True)
        for folder in reversed(self._folders):
            folder.rmdir()


@contextmanager
def opened(root: Path, *parts: str) -> Iterator[Workspace]:
    """Open a workspace with copies of these files and folders of the project, and remove it afterwards.

    Raises Refused while another command is at work in the project, and OSError when the folder is not writable.
    """
    with _locked(root):
        for left in root.glob(f"{_PREFIX}*"):  # By a command that was killed.
            shutil.rmtree(left, ignore_errors=True)
        with _temporary(root) as copy:
            for part in parts:
                _copy(root / part, Path(copy, part))
            yield Workspace(root, Path(copy))


def _temporary(root: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder in the project. An OSError names the project, not the new folder, which the user never saw.
    """
    try:
        return tempfile.TemporaryDirectory(prefix=_PREFIX, dir=root)
    except OSError as err:
        raise OSError(err.errno, err.strerror, str(root)) from err


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Refused(f"another command is at work in {root}") from None
    else:
        yield
    finally:
        os.close(descriptor)


def _copy(source: Path, target: Path) -> None:
    """Copy files and folders; links keep their targets. Skips everything else."""
    if source.is_symlink():
        target.symlink_to(source.resolve())
    elif source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for each in source.iterdir():
            if each.name != "__pycache__":
                _copy(each, target / each.name)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _same(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()


def _text_of(path: Path, name: str) -> str:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeError as err:
        raise Refused(f"{name}: {err}") from err
