"""Tests of hack/english.py: each rule finds the sentences that break it, and no others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "hack"))

import english


def in_function(summary: str, *, decorator: str = "", name: str = "f") -> list[tuple[int, str]]:
    source = f"{decorator}\ndef {name}():\n    \"\"\"{summary}\"\"\"\n"
    return list(english.problems(source))


@pytest.mark.parametrize(
    "summary",
    [
        "Return the object.",
        "Wait until the caches have synced.",
        "Re-list the objects.",
        "Process one item.",
        "Need a lock.",
        "Bring the object up to date.",
        "See Store.",
        "Deprecated: use add.",
    ],
)
def test_an_imperative_verb_begins_a_functions_summary(summary: str) -> None:
    assert in_function(summary) == []


@pytest.mark.parametrize(
    "summary",
    [
        "The object.",
        "A copy of the object.",
        "Returns the object.",
        "Seconds until the retry.",
        "Called by the server.",
        "Listing objects.",
        "`add` with a delay.",
        "(object, whether it exists)",
        "404: not found.",
        "JSON of the object.",
        "Without the lock.",
        "Itself.",
        "False.",
        "Path and query of a target.",
        "Kind to class.",
        "Ten characters.",
        "Kept, since it is slow.",
    ],
)
def test_any_other_beginning_of_a_functions_summary_is_a_problem(summary: str) -> None:
    ((line, problem),) = in_function(summary)

    assert line == 3
    assert problem.startswith("a function's summary begins with no imperative verb")


@pytest.mark.parametrize(
    "summary", ["What it holds.", "Whether it is full.", "How it works.", "As `add`, later.", "The same, later."]
)
def test_a_question_word_or_a_reference_begins_no_summary(summary: str) -> None:
    sources = [f'"""{summary}"""\n', f'class C:\n    """{summary}"""\n', f'x = 1\n"""{summary}"""\n']
    found = [problem for source in sources for _, problem in english.problems(source)]

    assert len(found) == 3
    assert all(problem.startswith("a summary begins with a") for problem in found)
    assert len(in_function(summary)) == 1
    assert len(in_function(summary, name="test_it")) == 1
    assert len(in_function(summary, decorator="@property")) == 1


def test_a_public_summary_describes_more_than_the_go_identifier() -> None:
    ((_, problem),) = in_function("Go: cache.NewStore.")

    assert problem == "a public summary only names a Go identifier: Go:"
    assert len(list(english.problems('class C:\n    """Go: cache.Store."""\n'))) == 1
    assert in_function("Go: cache.newStore.", name="_new_store") == []
    assert in_function("Go: TestNewStore.", name="test_it") == []
    assert in_function("Return a store. Go: cache.NewStore.") == []


def test_a_question_is_no_statement_about_a_question() -> None:
    assert list(english.problems('"""Which comes first?"""\n')) == []


def test_a_property_and_a_test_have_other_summaries_than_functions() -> None:
    assert in_function("The number of items.", decorator="@property") == []
    assert in_function("The store is empty at first.", name="test_it") == []


@pytest.mark.parametrize("summary", ["Tell the user.", "Say what failed.", "Hear of events."])
def test_a_summarys_verb_is_a_term_of_the_field(summary: str) -> None:
    ((_, problem),) = in_function(summary)

    assert problem.startswith("a summary's verb is none of the field's terms")


@pytest.mark.parametrize("summary", ["The user deletes the object.", "A server drops its queue.", "add, get: full."])
def test_a_sentence_or_a_list_of_methods_describes_no_class(summary: str) -> None:
    ((_, problem),) = english.problems(f'class C:\n    """{summary}"""\n')

    assert problem.startswith("a class's summary is no noun phrase")


@pytest.mark.parametrize("summary", ["The kinds that the server has.", "The group as the API has it."])
def test_a_noun_with_a_clause_describes_a_class(summary: str) -> None:
    assert list(english.problems(f'class C:\n    """{summary}"""\n')) == []


def test_a_class_is_described_by_a_noun_phrase() -> None:
    assert list(english.problems('class C:\n    """A store of objects."""\n')) == []
    assert list(english.problems('class C:\n    """Options of a store."""\n')) == []

    ((line, problem),) = english.problems('class C:\n    """Holds the objects."""\n')
    assert line == 2
    assert problem.startswith("a class's summary is no noun phrase")


@pytest.mark.parametrize("words", ["nobody waits", "Whoever waits", "the one that waits", "of which one waits"])
def test_an_actor_is_named_in_docstrings_comments_and_documents(words: str) -> None:
    docstring = f'def f():\n    """Wait.\n\n    Then {words}.\n    """\n'

    assert [line for line, _ in english.problems(docstring)] == [2]
    assert [line for line, _ in english.problems(f"x = 1  # {words}\n")] == [1]
    assert [line for line, _ in english.problems_in_document(f"# Title\n\n* Here {words}.\n")] == [3]
    assert list(english.problems(f'x = "{words}"\n')) == []  # A string is no prose.


def test_strings_in_nested_statements_are_read_too() -> None:
    source = 'if x:\n    pass\nelse:\n    def f():\n        """The object."""\n'

    assert [line for line, _ in english.problems(source)] == [5]


def test_code_in_a_document_is_no_prose() -> None:
    text = "```sh\necho nobody\n```\n\n    nobody\n\n`nobody`\n"

    assert list(english.problems_in_document(text)) == []


def test_a_heading_in_a_document_is_a_noun_phrase_or_a_question() -> None:
    assert list(english.problems_in_document("# Which comes first?\n\n## The order\n")) == []
    assert [line for line, _ in english.problems_in_document("# A\n\n## What comes first\n")] == [3]
