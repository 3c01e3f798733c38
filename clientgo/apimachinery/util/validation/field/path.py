"""The path of a value in a document, printed as `spec.containers[0].name`.

Mirrors k8s.io/apimachinery/pkg/util/validation/field/path.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias


class _PathOptions:
    __slots__ = ("path",)

    def __init__(self) -> None:
        self.path: Path | None = None


PathOption: TypeAlias = Callable[[_PathOptions], None]
"""Go: field.PathOption."""


def with_path(p: Path | None) -> PathOption:
    """Return an option that reports errors below `p`. Go: field.WithPath."""

    def option(options: _PathOptions) -> None:
        options.path = p

    return option


def to_path(*opts: PathOption) -> Path | None:
    """Return the path of the options, or None. Go: field.ToPath."""
    options = _PathOptions()
    for opt in opts:
        opt(options)
    return options.path


class Path:
    """A path of field names and subscripts. Immutable. Go: field.Path.

    Go calls methods on a nil path; here functions such as `child` and `text` accept a path or None.

    >>> str(new_path("spec", "containers").index(0).child("name"))
    'spec.containers[0].name'
    """

    __slots__ = ("_index", "_name", "_parent")

    def __init__(self, name: str = "", *, index: str = "", parent: Path | None = None) -> None:
        self._name = name
        self._index = index
        self._parent = parent

    def root(self) -> Path:
        """Return the first element. Go: Path.Root."""
        path = self
        while path._parent is not None:
            path = path._parent
        return path

    def child(self, name: str, *more_names: str) -> Path:
        """Return the path of a field below this one. Go: Path.Child."""
        return child(self, name, *more_names)

    def index(self, index: int) -> Path:
        """Return the path of an element of this list. Go: Path.Index."""
        return Path(index=str(index), parent=self)

    def key(self, key: str) -> Path:
        """Return the path of a value of this map. Go: Path.Key."""
        return Path(index=key, parent=self)

    def __str__(self) -> str:
        parts: list[str] = []
        path: Path | None = self
        while path is not None:
            parts.append(path._own_text())
            path = path._parent
        return "".join(reversed(parts))

    def _own_text(self) -> str:
        if not self._name:
            return f"[{self._index}]"
        return self._name if self._parent is None else f".{self._name}"

    def __repr__(self) -> str:
        return f"<Path {self}>"


def new_path(name: str, *more_names: str) -> Path:
    """Return a path of one or more names. Go: field.NewPath."""
    return child(None, name, *more_names)


def child(parent: Path | None, name: str, *more_names: str) -> Path:
    """Return the path of a field below `parent`, which may be None as Go's receiver may be nil."""
    path = Path(name, parent=parent)
    for more in more_names:
        path = Path(more, parent=path)
    return path


def text(path: Path | None) -> str:
    """Return the path's text; "<nil>" for None, as Go prints it."""
    return "<nil>" if path is None else str(path)
