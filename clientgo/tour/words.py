"""The page's words in English and Chinese, for the terminal: page/words.js is the one table of both.

There is no Go counterpart.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from clientgo.tour.hop import KINDS
from clientgo.tour.script import FAULTS

__all__ = ["LANGUAGES", "Words"]

LANGUAGES = ("en", "zh")

_FILE = Path(__file__).resolve().parent / "page" / "words.js"
_ERRORS = _FILE.with_name("errors.js")
_ERROR = re.compile(r'^  \[/(.*)/, ("(?:[^"\\]|\\.)*")\],$', re.MULTILINE)
_PAIR = re.compile(r'(?:"([\w.-]+)"|(\b\w+)): ("(?:[^"\\]|\\.)*")')


@functools.cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    """Return the tables by name: en, zh, and CHINESE for hops, faults and facts."""
    text = _FILE.read_text(encoding="utf-8")
    starts = {"en": "\n  en: {", "zh": "\n  zh: {", "CHINESE": "export const CHINESE = {"}
    ends = {"en": "\n  },", "zh": "\n  },", "CHINESE": "\n};"}
    tables = {}
    for name, start in starts.items():
        part = text[text.index(start) + len(start) :]
        pairs = _PAIR.findall(part[: part.index(ends[name])])
        tables[name] = {quoted or plain: str(json.loads(value)) for quoted, plain, value in pairs}
    return tables


@functools.cache
def _errors() -> Sequence[tuple[re.Pattern[str], str]]:
    """Return patterns of errors with their Chinese templates, as page/errors.js has them."""
    found = _ERROR.findall(_ERRORS.read_text(encoding="utf-8"))
    return [(re.compile(pattern), re.sub(r"\$(\d)", r"\\\1", json.loads(text))) for pattern, text in found]


class Words:
    """The words of one language. Immutable."""

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in LANGUAGES else "en"

    def __call__(self, name: str) -> str:
        """Return a word; in English if the language lacks it, and its name if English does too."""
        tables = _tables()
        return tables[self.language].get(name) or tables["en"].get(name, name)

    def label(self, name: str, english: str = "") -> str:
        """Return a short word of the terminal's boxes: `english` or the name itself in English, else the word."""
        return self(name) if self.language != "en" else english or name

    def error(self, text: str) -> str:
        """Return an error in the language. Unknown errors stay as the program writes them."""
        for pattern, template in _errors() if self.language == "zh" else ():
            if (found := pattern.search(text)) is not None:
                return found.expand(template)
        return text

    def kind(self, station: str, kind: str) -> str:
        """Return the description of a kind of hop."""
        return self._chinese(f"{station}.{kind}") or KINDS[station][kind]

    def fault(self, name: str) -> str:
        """Return the description of a fault."""
        return self._chinese(name) or FAULTS[name].title

    def about(self, name: str) -> str:
        """Return the name of one field of a hop."""
        return self._chinese(f"more.{name}") or name

    def _chinese(self, name: str) -> str:
        return _tables()["CHINESE"].get(name, "") if self.language == "zh" else ""
