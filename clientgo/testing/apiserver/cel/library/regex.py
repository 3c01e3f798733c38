"""Regular expressions, by RE2 itself. Mirrors Kubernetes' pkg/cel/library/regex.go and cel-go's matches.

The engine is google-re2 of the extra `cel` (`pip install 'clientgo[cel]'`). Without the extra every call that needs a
regular expression is an error, and everything else works. Python's `re` is not used: for some patterns its time grows
with the square of the text or worse, and it holds all threads meanwhile.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from clientgo.testing.apiserver.cel.common.types import BOOL, INT, LIST_STRING, STRING
from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload
from clientgo.testing.apiserver.cel.library.regex_size import is_too_large

AVAILABLE: Final = find_spec("re2") is not None
MISSING: Final = "regular expressions need google-re2, which is not installed: pip install 'clientgo[cel]'"
# Functions that need it.
NAMES: Final = frozenset({"matches", "find", "findAll"})
_GO_WORDS = {
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
# Bytes of a compiled pattern. RE2's default is eight times as much.
_MAX_MEMORY = 1 << 20
# Bytes of a compiled pattern of a schema. Go has no such limit, and few schemas need so much.
_MAX_SCHEMA_MEMORY = 8 << 20
# Groups times instructions of a compiled pattern. A search keeps the bounds of each group for each instruction.
_MAX_BOUNDS = 1 << 20
_re2: Any = importlib.import_module("re2") if AVAILABLE else None


def _compile(pattern: str, memory: int) -> Any:
    if is_too_large(pattern):
        raise EvalError(f"error parsing regexp: expression too large: `{pattern}`")
    options = _re2.Options()
    options.log_errors = False
    options.max_mem = memory
    # Nothing reads a group. With twenty thousand of them one search would take gigabytes.
    options.never_capture = True
    compiled = _re2.compile(pattern, options)
    # Groups with names remain.
    if compiled.groups * compiled.programsize > _MAX_BOUNDS:
        raise EvalError(f"error parsing regexp: expression too large: `{pattern}`")
    return compiled


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    return _compile(pattern, _MAX_MEMORY)


@lru_cache(maxsize=64)
def _compiled_of_schema(pattern: str) -> Any:
    return _compile(pattern, _MAX_SCHEMA_MEMORY)


def compile_pattern(pattern: str) -> Any:
    """Compile a pattern. Raises EvalError for an invalid pattern, and without google-re2."""
    return _checked(pattern, _compiled)


def compile_schema_pattern(pattern: str) -> Any:
    """Compile the `pattern` of a schema, which may be larger than an expression's. Raises EvalError."""
    return _checked(pattern, _compiled_of_schema)


def _checked(pattern: str, compiled: Callable[[str], Any]) -> Any:
    if not AVAILABLE:
        raise EvalError(MISSING)
    try:
        return compiled(pattern)
    except (_re2.error, UnicodeError) as err:
        why = err.args[0] if err.args else err
        text = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        raise EvalError(f"error parsing regexp: {_in_go_words(text, pattern)}") from None


def _in_go_words(text: str, pattern: str) -> str:
    """Translate RE2's message into that of Go's regexp/syntax.

    Go shows all of a pattern whose bracket is not closed.
    """
    problem, _, part = text.partition(": ")
    if problem == "missing )":
        return f"missing closing ): `{pattern}`"
    if problem == "trailing \\":
        return "trailing backslash at end of expression: ``"
    return f"{_GO_WORDS.get(problem, problem)}: `{part}`"


def _texts(name: str, text: Any, pattern: Any) -> Any:
    if not (isinstance(text, str) and isinstance(pattern, str)):
        raise no_overload(name, text, pattern)
    return compile_pattern(pattern)


def _matches(text: Any, pattern: Any) -> bool:
    return _texts("matches", text, pattern).search(text) is not None


def _find(text: Any, pattern: Any) -> str:
    found = _texts("find", text, pattern).search(text)
    return found.group() if found else ""


def _find_all(text: Any, pattern: Any, limit: Any = -1) -> list[str]:
    compiled = _texts("findAll", text, pattern)
    must(int, "findAll", limit)
    found: list[str] = []
    if limit == 0:
        return found
    for match in compiled.finditer(text):
        found.append(match.group())
        if len(found) == limit:
            break
    return found


FUNCTIONS = [
    Function("matches", _matches).method(STRING, STRING, to=BOOL).call(STRING, STRING, to=BOOL),
    Function("find", _find).method(STRING, STRING, to=STRING),
    Function("findAll", _find_all).method(STRING, STRING, to=LIST_STRING).method(STRING, STRING, INT, to=LIST_STRING),
]
