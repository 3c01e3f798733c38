"""Checks of a built site: every name of the API, every link inside it, and no request to another host."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

__all__ = ["Site", "foreign_hosts", "missing_names"]

# The attributes by which a browser loads something without a click.
_LOADS = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("object", "data"),
    ("embed", "src"),
    ("form", "action"),
    ("use", "href"),
    ("image", "href"),
}
_RELATIONS = {"stylesheet", "icon", "shortcut icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
_IN_CSS = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""")
_IN_JS = re.compile(
    r"""(?:fetch|importScripts|import|open|WebSocket|EventSource|Worker|Request|sendBeacon)\(\s*["'`]((?:https?:|wss?:)?//[^"'`]+)"""
    r"""|\b(?:src|href)\s*=\s*["'`]((?:https?:)?//[^"'`]+)"""
    r"""|\bfrom\s+["']((?:https?:)?//[^"']+)"""
)


class Site:
    """The files of a built site."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[Path, _Page]:
        return {path: _Page.of(path) for path in sorted(self.folder.rglob("*.html"))}

    def dead_links(self) -> list[str]:
        """Return the links of pages to files and anchors that do not exist, as "page: link"."""
        return [f"{self._name(path)}: {link}" for path, page in self.pages.items() for link in self._dead(path, page)]

    def _dead(self, path: Path, page: _Page) -> Iterator[str]:
        for link in page.links:
            target, anchor = urldefrag(link)
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            file = (path.parent / unquote(urlsplit(target).path)).resolve() if target else path.resolve()
            if file.is_dir():
                file /= "index.html"
            found = self._by_file.get(file)
            # An anchor with a question mark is an address that the page's script reads.
            is_anchor = anchor and "?" not in anchor
            if not file.exists() or (is_anchor and found and unquote(anchor) not in found.anchors):
                yield link

    @cached_property
    def _by_file(self) -> dict[Path, _Page]:
        return {path.resolve(): page for path, page in self.pages.items()}

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def requests_to_other_hosts(self) -> list[str]:
        """Return what a browser would load from elsewhere while it shows the site, as "file: address"."""
        found = [f"{self._name(path)}: {each}" for path, page in self.pages.items() for each in page.foreign]
        for path in sorted(self.folder.rglob("*")):
            if path.suffix in {".css", ".js", ".svg"}:
                text = path.read_text(encoding="utf-8", errors="replace")
                found += [f"{self._name(path)}: {each}" for each in foreign_hosts(path.suffix, text)]
        return found

    def names(self) -> set[str]:
        """Return the names of Python that the site has an anchor for, from Sphinx's inventory."""
        raw = self.folder.joinpath("objects.inv").read_bytes()
        lines = zlib.decompress(raw.split(b"\n", 4)[4]).decode().splitlines()
        return {line.split(" ", 1)[0] for line in lines if line.split(" ", 2)[1].startswith("py:")}


class _Page(HTMLParser):
    """The links, anchors and loaded addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.foreign: list[str] = []
        self._is_in_style = False

    @classmethod
    def of(cls, path: Path) -> _Page:
        page = cls()
        page.feed(path.read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        loads = [value for name, value in values.items() if (tag, name.removeprefix("xlink:")) in _LOADS]
        if tag == "link" and _RELATIONS & set(values.get("rel", "").lower().split()):
            loads.append(values.get("href", ""))
        self.foreign += [each for each in loads if re.match(r"\s*([a-z]+:)?//", each)]
        self.links += [each for each in loads if tag != "form" and each and not each.startswith("data:")]
        self.foreign += foreign_hosts(".css", values.get("style", ""))
        self._is_in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self._is_in_style:
            self.foreign += foreign_hosts(".css", data)

    def handle_endtag(self, tag: str) -> None:
        self._is_in_style = False


def foreign_hosts(suffix: str, text: str) -> list[str]:
    """Return the addresses of other hosts that a style sheet or a script loads."""
    pattern = _IN_JS if suffix == ".js" else _IN_CSS
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def missing_names(site: Site, wanted: Iterable[str]) -> list[str]:
    """Return the names that the site's reference does not have."""
    return sorted(set(wanted) - site.names())
