"""The rules of English that a program can check, for docstrings, comments and documents.

1. A function's summary begins with an imperative verb. A class's summary is a noun phrase. `See X.` alone names another
   docstring that applies, `Deprecated: ...` the replacement, and `Go: X.` the Go function of a private function.
2. A sentence names its actor and has none of the phrases in `_RIDDLES`.
3. A summary begins neither with a question word nor with a reference to another text, such as `As` or `The same`.

A test function's docstring may be any statement, since the function's name is the rule that it protects.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

_ACTORS = re.compile(r"\b([Nn]obody|[Ss]omebody|[Aa]nybody|[Ww]hoever|whom|[Nn]o one)\b")
_RIDDLES = re.compile(
    r"\b(be it|but for|save that|the one (that|which|of)|of which|is told|are told|goes on having|stands? in .+ from)\b"
)
_SUSPECT_COMMENT = re.compile(rf"#.*(?:{_ACTORS.pattern}|{_RIDDLES.pattern})", re.I)
_QUESTIONS = re.compile(
    r"(what|who|whom|whose|how|whether|that|which|why|where|when|whatever|whichever|whoever)\b(?!.*\?$)", re.I
)
_REFERENCE = re.compile(r"(As|The same|Like that|The one|Those|Of (it|them|all))\b")
# Words that begin a noun phrase or a statement, and are never imperative verbs.
_NO_VERBS = re.compile(
    r"(a|an|the|all|another|any|both|each|either|every|everything|few|fewer|less|least|many|more|most|much|neither|no"
    r"|none|nothing|one|other|several|some|something|such|these|this|those|two|three|its|itself|he|it|they|their|theirs"
    r"|we|us|you|your|same|after|again|also|and|at|before|beside|between|but|by|during|else|exactly|for|from|if|in"
    r"|inside|instead|like|meanwhile|never|not|of|off|on|once|only|or|over|since|so|then|there|to|true|false|unless"
    r"|until|up|under|usually|while|with|within|without|absent|around|common|data|done|enough|head|kept|kind|out|path"
    r"|rare|regular|resident|semantic|server-side|short|simple|ten|unhealthy|virtual)\b",
    re.I,
)
# STYLE.md replaces these verbs by the field's terms.
_OTHER_TERMS = re.compile(r"(Tell|Say|Hear)\b")
_LABELS = ("Go:", "See ", "Deprecated:")
_ENDS_LIKE_NO_VERB = re.compile(r"\w*([^s]s|(?<!e)ed|ing)$")
_VERBS = frozenset({"Embed", "Shed", "Bring", "Ping", "String"})  # They only end like other forms.
_THIRD_PERSON = re.compile(r"\w+s (a|an|the|one|all|its|each|every|to|what|how|whether)\b")
# A class's summary that is a sentence ("The user deletes the object"), or that names methods ("create, delete: ...").
_SENTENCE = re.compile(r"(The|A|An) \w+ (?!(as|is|has|was|this|its)\b)\w+s (the|all|its|another)\b")
_METHODS = re.compile(r"[a-z_]+(, [a-z_]+)*:")


def problems(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and problem of each docstring and comment in a module that breaks a rule. O(size)."""
    for line, text, owner in _docstrings(ast.parse(source)):
        problem = _summary_problem(_summary(text), owner) or _problem_anywhere(text)
        if problem:
            yield line, problem
    if _SUSPECT_COMMENT.search(source):  # Few files have one, and tokenizing a file takes longer than all else.
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT and (problem := _problem_anywhere(token.string)):
                yield token.start[0], problem


def problems_in_document(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and problem of each line in a Markdown document that breaks rule 2, and of headings rule 3."""
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            in_code = not in_code
        if in_code or line.startswith("    "):
            continue
        prose = re.sub(r"`[^`]*`", "", line)
        heading = re.match(r"#+ (.*)", prose)
        problem = _question_or_reference(heading[1]) if heading and not prose.endswith("?") else None
        if problem := problem or _problem_anywhere(prose):
            yield number, problem


def _docstrings(node: ast.AST) -> Iterator[tuple[int, str, ast.AST | None]]:
    """Yield line, text and owner of the strings among the statements below; a field's string has no owner.

    `ast.walk` would visit every expression too.
    """
    for index, statement in enumerate(getattr(node, "body", ())):
        if isinstance(statement, ast.Expr):
            if isinstance(text := getattr(statement.value, "value", None), str):
                is_own = index == 0 and isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
                yield statement.lineno, text.strip(), node if is_own else None
        else:
            yield from _docstrings(statement)
    for below in ("orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, below, ()):
            yield from _docstrings(statement)


def _summary(text: str) -> str:
    """Return the first sentence, or the part of it before a colon."""
    return re.split(r"(?<=[.:])\s", " ".join(text.split()), maxsplit=1)[0]


def _summary_problem(summary: str, owner: ast.AST | None) -> str | None:
    """Return the rule that a summary breaks, or None."""
    if problem := _question_or_reference(summary):
        return problem
    name = getattr(owner, "name", "_")
    if summary.startswith("Go:") and not name.startswith(("_", "test_")):
        return f"a public summary only names a Go identifier: {summary}"
    if isinstance(owner, ast.ClassDef):
        is_statement = any(pattern.match(summary) for pattern in (_THIRD_PERSON, _SENTENCE, _METHODS))
        return f"a class's summary is no noun phrase: {summary}" if is_statement else None
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) or owner.name.startswith("test_"):
        return None
    if any("property" in ast.unparse(decorator) for decorator in owner.decorator_list):
        return None
    if _OTHER_TERMS.match(summary):
        return f"a summary's verb is none of the field's terms (report, notify, log, record, send): {summary}"
    return None if _is_imperative(summary) else f"a function's summary begins with no imperative verb: {summary}"


def _is_imperative(summary: str) -> bool:
    """Report whether a summary's first word can be an imperative verb."""
    if summary.startswith(_LABELS):
        return True
    word = re.match(r"[A-Z][a-z]+(-[a-z]+)?\b", summary)
    if word is None or _NO_VERBS.match(summary):
        return False
    return word[0] in _VERBS or not _ENDS_LIKE_NO_VERB.match(word[0])


def _question_or_reference(summary: str) -> str | None:
    """Return the problem of a summary that begins with a question word or a reference to another text."""
    if _QUESTIONS.match(summary):
        return f"a summary begins with a question word: {summary}"
    return f"a summary begins with a reference to another text: {summary}" if _REFERENCE.match(summary) else None


def _problem_anywhere(text: str) -> str | None:
    """Return the first phrase without an actor, or the first riddle, outside of code in backquotes."""
    text = re.sub(r"`[^`]*`", "", text)
    for rule, pattern in ("a sentence does not name its actor", _ACTORS), ("a sentence is a riddle", _RIDDLES):
        if found := pattern.search(text):
            return f"{rule}: {found[0]}"
    return None
