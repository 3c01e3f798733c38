"""The page's modules as one classic script, for the static edition: a browser loads no modules from `file:`.

Each module becomes a function's body. Its imports become destructured constants, its exports the function's result.
That holds for what the page uses: named imports of its own modules at `/page/`, and named exports of constants,
functions and classes. `bundle` raises ValueError for anything else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

__all__ = ["bundle"]

_IMPORT = re.compile(r'^import \{([^}]*)\} from "/page/([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|function|async function|class) ([\w$]+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(folder: Path, entry: str) -> str:
    """Return a script that runs the module `entry` of a folder and all that it imports.

    Raises ValueError for modules that import each other in a circle, and for unknown forms of import and export.
    """
    done: dict[str, str] = {}
    _add(folder, entry, done, [])
    parts = ['"use strict";', "(() => {", "const modules = {};", *done.values(), "})();", ""]
    return "\n".join(parts)


def _add(folder: Path, name: str, done: dict[str, str], above: list[str]) -> None:
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join([*above, name])}")
    if name in done:
        return
    text = (folder / name).read_text(encoding="utf-8")
    for found in _IMPORT.finditer(text):
        _add(folder, found[2], done, [*above, name])
    exports = [found[2] for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(_constants, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{name}: a bundle cannot have: {left[0]}")
    done[name] = f"modules[{json.dumps(name)}] = (() => {{\n{body}\nreturn {{ {', '.join(exports)} }};\n}})();"


def _constants(found: re.Match[str]) -> str:
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", found[1])
    return f"const {{{names}}} = modules[{json.dumps(found[2])}];"
