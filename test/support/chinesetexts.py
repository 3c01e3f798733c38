"""Rules for the tour's Chinese texts, and all texts that a page shows."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["HAN", "SHOWN", "english", "problems", "shown"]

HAN = r"\u4e00-\u9fff"

# Four words in a row, the last of them in lower case, are a sentence's; three may be a term, as "list and watch".
_ENGLISH = re.compile(r"\b[A-Za-z][A-Za-z'’-]*(?: [A-Za-z'’-]+){2,} [a-z'’-]+\b")
_HALF_WIDTH = re.compile(
    rf"[{HAN}）”][,;:!?(]|[,;:!?)][{HAN}（“]|[{HAN}）”]\.(?![\w*])|[{HAN}] [{HAN}]|[，。；：？！、] |[，。、；：]{{2}}"
)

# All that is read, spoken, or shown on hovering; not the source, the log and what programs write in it.
SHOWN = """
    const programs = ".code, .go, .log, code, [data-station=workers] .soft, noscript, script, style";
    const spoken = ["title", "aria-label", "aria-valuetext"], texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      if (!walker.currentNode.parentElement.closest(programs)) texts.push(walker.currentNode.data);
    for (const node of document.querySelectorAll("[title], [aria-label], [aria-valuetext]"))
      if (!node.closest(programs)) texts.push(...spoken.map((name) => node.getAttribute(name) ?? ""));
    return texts.map((text) => text.trim()).filter(Boolean);
"""


def english(text: str) -> list[str]:
    """Return the English sentences outside of backquotes, which hold identifiers and what programs write."""
    # What client-go's correlator puts into messages of Events is the same in every language.
    text = text.replace("(combined from similar events)", "")
    return [found[0] for found in _ENGLISH.finditer(re.sub(r"`[^`]*`", "x", text))]


def problems(text: str) -> list[str]:
    """Return the English sentences and the half-width punctuation of a Chinese text."""
    return [*english(text), *(found[0] for found in _HALF_WIDTH.finditer(re.sub(r"`[^`]*`", "x", text)))]


def shown(driver: Any) -> list[str]:
    """Return every text of the page that `driver` is at."""
    return [str(text) for text in driver.execute_script(SHOWN)]
