"""The files of a simulated container, in memory."""

from __future__ import annotations

import posixpath
import threading

__all__ = ["MAX_BYTES", "Files"]

MAX_BYTES = 64 << 20


class Files:
    """A tree of files, at most 64 MiB. Thread-safe. Raises OSError with the texts of a shell."""

    def __init__(self, hostname: str) -> None:
        # Guards the other attributes.
        self._lock = threading.Lock()
        self._files: dict[str, bytes] = {"/etc/hostname": f"{hostname}\n".encode()}
        self._folders = {"/", "/etc", "/tmp"}
        self._size = 0

    @staticmethod
    def path(folder: str, name: str) -> str:
        """Return the absolute path of a name as seen from a folder."""
        return posixpath.normpath(posixpath.join("/", folder, name)).replace("//", "/")

    def is_file(self, path: str) -> bool:
        return path in self._files

    def is_folder(self, path: str) -> bool:
        return path in self._folders

    def read(self, path: str) -> bytes:
        with self._lock:
            if path in self._folders:
                raise IsADirectoryError(f"{path}: Is a directory")
            if path not in self._files:
                raise FileNotFoundError(f"{path}: No such file or directory")
            return self._files[path]

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        with self._lock:
            if path in self._folders:
                raise IsADirectoryError(f"{path}: Is a directory")
            if posixpath.dirname(path) not in self._folders:
                raise FileNotFoundError(f"{path}: No such file or directory")
            before = self._files.get(path, b"")
            size = self._size + len(data) - (0 if append else len(before))
            if size > MAX_BYTES:
                raise OSError(f"{path}: No space left on device")
            self._size = size
            self._files[path] = before + data if append else data

    def make_folder(self, path: str) -> None:
        """Create a folder, and those above it."""
        with self._lock:
            while path not in self._folders:
                if path in self._files:
                    raise FileExistsError(f"{path}: Not a directory")
                self._folders.add(path)
                path = posixpath.dirname(path)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        with self._lock:
            if path == "/" or (path not in self._files and path not in self._folders):
                raise FileNotFoundError(f"{path}: No such file or directory")
            for name in [name for name in self._files if name == path or name.startswith(path + "/")]:
                self._size -= len(self._files.pop(name))
            self._folders = {name for name in self._folders if name != path and not name.startswith(path + "/")}

    def below(self, path: str) -> list[str]:
        """Return the paths of the files and folders below a folder, sorted."""
        prefix = path.rstrip("/") + "/"
        with self._lock:
            return sorted(name for name in (*self._files, *self._folders) if name.startswith(prefix) and name != prefix)

    def __repr__(self) -> str:
        return f"<Files {len(self._files)} files, {self._size} bytes>"
