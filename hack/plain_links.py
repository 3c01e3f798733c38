"""Pages for readers without the repository: the long description of the package, and the pages in the wheel.

The project has no public address, so links to its files would be dead outside of a clone. In the long description each
such link becomes its text and the file's path. In a page of the wheel a link to a file of the wheel stays a link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# [text](target), with an exclamation mark in front of a picture. Code in a fence is taken first, so that it is skipped.
_FENCE_OR_LINK = re.compile(r"(?ms)^```.*?^```$|(!?)\[((?:[^\[\]]|`[^`]*`)+)\]\(([^)\s]+)\)")

_NOTE = (
    "*Paths in this text are those of the source distribution. An installed wheel contains `clientgo`; "
    "`clientgo programs cmd` copies the programs to the folder `cmd`.*"
)


def long_description() -> str:
    """Return README.md with paths in place of links, and a note about them below the first paragraph."""
    text = plain(ROOT.joinpath("README.md").read_text(encoding="utf-8"), "README.md", lambda path: None)
    title, first, rest = text.split("\n\n", 2)
    return f"{title}\n\n{first}\n\n{_NOTE}\n\n{rest}"


def wheel_page(page: str) -> str:
    """Return the text of a page for the wheel, where `cmd` is `clientgo/programs`. `page` is its path in a clone."""
    own = in_wheel(page) or page

    def link(path: str) -> str | None:
        target = in_wheel(path)
        return posixpath.relpath(target, posixpath.dirname(own)) if target else None

    return plain(ROOT.joinpath(page).read_text(encoding="utf-8"), page, link)


def in_wheel(path: str) -> str | None:
    """Return the path in the wheel of a clone's file or folder, or None if the wheel does not contain it."""
    if path == "clientgo" or path.startswith("clientgo/"):
        return path
    return f"clientgo/programs{path.removeprefix('cmd')}" if path == "cmd" or path.startswith("cmd/") else None


def plain(text: str, page: str, link: Callable[[str], str | None]) -> str:
    """Replace the links to files in a page of the repository.

    link: returns the new target for a file's path from the root, or None to write the text and the path.
    """

    def replace(match: re.Match[str]) -> str:
        whole, picture, words, target = match[0], match[1], match[2], match[3]
        if target is None or target.startswith("#") or re.match(r"[a-z][a-z0-9+.-]*:", target):
            return whole
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
        if new := link(path):
            return f"{picture}[{words}]({new}{'#' + anchor if anchor else ''})"
        if picture:
            return f"*Picture: {words}.*"
        return f"`{path}`" if path.endswith(words.strip("`")) else f"{words} (`{path}`)"

    return _FENCE_OR_LINK.sub(replace, text)
