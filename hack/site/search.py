"""The words of the site's search: English ones, and each two neighbouring characters of Chinese.

Chinese has no spaces between words, and Sphinx would take each run of characters for one word, so that a search for a
word of two characters found nothing. Pairs need no dictionary, and a query of several pairs must match all of them.
"""

from __future__ import annotations

import re

__all__ = ["FROM_FILES", "SPLIT_QUERY", "words"]

_CHINESE = r"\u4e00-\u9fff"
_RUNS = re.compile(rf"[{_CHINESE}]+|[^\W{_CHINESE}]+")

SPLIT_QUERY = """
var splitQuery = (query) =>
  (query.match(/[\\u4e00-\\u9fff]+|(?:(?![\\u4e00-\\u9fff])[\\p{Letter}\\p{Number}_\\p{Emoji_Presentation}])+/gu) || [])
    .flatMap((run) =>
      /[\\u4e00-\\u9fff]{2}/.test(run)
        ? Array.from({ length: run.length - 1 }, (_, start) => run.slice(start, start + 2))
        : [run]
    );
"""
"""The function of the same name in JavaScript, for what a reader types."""

FROM_FILES = """
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
"""
"""Leaves out the summaries of results if the site is opened without a server: browsers refuse to fetch other files."""


def words(text: str) -> list[str]:
    """Return the words of a text."""
    found: list[str] = []
    for run in _RUNS.findall(text):
        is_long = len(run) > 1 and re.match(rf"[{_CHINESE}]", run)
        found += [run[start : start + 2] for start in range(len(run) - 1)] if is_long else [run]
    return found
