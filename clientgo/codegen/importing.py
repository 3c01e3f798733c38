"""A folder's own modules imported beside those of others that have the same names. Has no Go file.

Every program has a `main`, every project an `api`: modules with these names leave sys.modules meanwhile.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["ImportedFolder"]


class ImportedFolder:
    """The modules of `folder`, which are in sys.modules and first on sys.path only inside `with`.

    Entered again, it has the modules of the last time; another one for the same folder imports them anew. May be nested
    in one for another folder. For one thread: sys.modules is the whole process's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        names = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
        self._own = names - {"clientgo"}
        self._modules: dict[str, ModuleType] = {}
        self._aside: dict[str, ModuleType] = {}

    def module(self, name: str) -> Any:
        """Import and return a module of the folder. Call it only inside the `with` block."""
        return importlib.import_module(name)

    def __enter__(self) -> ImportedFolder:
        self._aside = self._take()
        sys.modules.update(self._modules)
        sys.path.insert(0, str(self._folder))
        if not self._modules:
            importlib.invalidate_caches()  # its files may be new
        return self

    def __exit__(self, *_: object) -> None:
        sys.path.remove(str(self._folder))
        self._modules = self._take()
        sys.modules.update(self._aside)

    def _take(self) -> dict[str, ModuleType]:
        """Remove this folder's modules from sys.modules, and return them."""
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in self._own}
