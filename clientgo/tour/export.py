"""The static edition of the tour: its page and data as files that a browser opens without a server.

A browser refuses modules and requests at `file:` addresses. So the page's modules become one script (see bundle.py),
and each data file is a script that passes one compressed text to the page. The page's exported.js reads them.

    index.html       the page
    app.js           its modules
    tour.css, icon.svg
    data/NAME.js     tourExport("NAME", BASE64): JSON, compressed by zlib

Runs of one lesson have most of their hops, views and objects in common. `Pack` stores each of these once: it numbers
every list and object by its content, and a reference replaces each nested one. Equal input gives equal bytes.
"""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clientgo.tour.bundle import bundle
from clientgo.tour.web import PAGE

__all__ = ["Pack", "write_data", "write_page"]

_ENCODE = json.JSONEncoder(separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode


class Pack:
    """A growing table of values in which equal lists and objects exist once. Not thread-safe.

    An entry is a list or an object. In it, `[number]` stands for the entry of that number; scalars stay as they are.
    """

    def __init__(self) -> None:
        self._entries: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._written = 0

    def add(self, value: Any) -> Any:
        """Return the reference to a list or an object, and add it unless it exists; return scalars unchanged."""
        if isinstance(value, Mapping):
            entry: Any = {name: self.add(each) for name, each in value.items()}
        elif isinstance(value, list | tuple):
            entry = [self.add(each) for each in value]
        else:
            return value
        text = _ENCODE(entry)
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._entries)
            self._entries.append(entry)
        return [number]

    def take(self) -> list[Any]:
        """Return the entries that were added since the last call."""
        entries = self._entries[self._written :]
        self._written = len(self._entries)
        return entries


def write_page(folder: Path) -> None:
    """Write the page's own files. Raises OSError, and ValueError for a page with code that a bundle cannot contain."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "app.js").write_text(bundle(PAGE, "tour.js"), encoding="utf-8")
    for name in ("tour.css", "icon.svg"):
        shutil.copyfile(PAGE / name, folder / name)
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    for before, after in (
        ("<html ", '<html data-edition="static" '),
        ('<script type="module" src="/page/tour.js">', '<script defer src="app.js">'),
        ('"/page/', '"'),
    ):
        if before not in html:
            raise ValueError(f"index.html has no {before}")
        html = html.replace(before, after)
    (folder / "index.html").write_text(html, encoding="utf-8")


def write_data(folder: Path, name: str, value: Any) -> int:
    """Write one data file and return its size in bytes. Raises OSError."""
    data = base64.b64encode(zlib.compress(_ENCODE(value).encode(), 9)).decode()
    text = f'tourExport("{name}", "{data}");\n'
    (folder / "data" / f"{name}.js").write_text(text, encoding="ascii")
    return len(text)
