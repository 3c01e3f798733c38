"""Files that are written anew keep what people wrote in them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from clientgo.apimachinery.util import yaml as go_yaml
from clientgo.codegen.commented import dump

DOCUMENT = {
    "a": {"b": 1, "text": "# no comment\nat all\n", "c": "x"},
    "list": [{"name": "one", "v": 1}, {"name": "two", "v": 2}, "plain"],
}

COMMENTED = """\
# At the top,
# over two lines.
a:
  # Of b.
  b: 1
  text: |
    # no comment
    at all
  # Of c.
  c: x
list:
  # Of one.
  - name: one
    v: 1
  - name: two
    # Of two's v.
    v: 2
  # Of the text.
  - plain
# At the end.
"""


def test_comments_stay_where_they_stand() -> None:
    assert dump(DOCUMENT, COMMENTED) == COMMENTED
    assert yaml.safe_load(COMMENTED) == DOCUMENT


def test_a_named_element_keeps_its_comments_when_it_moves() -> None:
    moved = {"list": list(reversed(DOCUMENT["list"]))}

    lines = dump(moved, COMMENTED).splitlines()

    assert lines[lines.index("    # Of two's v.") + 1] == "    v: 2"
    assert lines[lines.index("  # Of one.") + 1] == "  - name: one"


def test_of_elements_of_one_name_the_first_keeps_the_comments() -> None:
    text = "# Of both.\n- name: a\n  # Of the second.\n- name: a\n"
    assert dump([{"name": "a"}, {"name": "a"}], text) == "# Of both.\n# Of the second.\n- name: a\n- name: a\n"


def test_no_comment_is_lost_with_what_it_stood_at() -> None:
    text = dump({"a": {"d": 1}}, COMMENTED)

    comments = [line.strip() for line in COMMENTED.splitlines() if line.strip().startswith("# ")]
    comments.remove("# no comment")
    assert sorted(line.strip() for line in text.splitlines() if "#" in line) == sorted(comments)
    assert yaml.safe_load(text) == {"a": {"d": 1}}
    lines = text.splitlines()
    assert lines.index("# Of b.") < lines.index("a:"), "above what it stood in"


def test_a_comment_behind_a_value_goes_above_it() -> None:
    assert dump({"a": "x#y", "b": 2}, "a: 'x#y'  # why\nb: 2\n") == "# why\na: x#y\nb: 2\n"


@pytest.mark.parametrize("text", ["a: [", "a: 1\n---\nb: 2\n"])
def test_what_is_not_one_document_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not one YAML document"):
        dump({}, text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]  # kept\n",
        "a: &a {b: *a}  # kept\n",
        "a: &a [x,x,x,x,x,x,x,x,x]  # kept\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(20)),
    ],
)
def test_aliases_of_a_text_are_read_once(text: str) -> None:
    """They would make a small file a huge document, or an endless one."""
    assert dump({"a": 1}, text) == "# kept\na: 1\n"


@pytest.mark.parametrize("text", ["a: " + "[" * 3000, "a: " + "[" * 900 + "]" * 900])
def test_a_text_with_many_levels_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="^comments in it cannot be kept, it is nested too deeply$"):
        dump({"a": 1}, text)


@given(text=st.text())
@example(text="a\u2028b")
@example(text="one\u0085two\n")
@example(text="\ufeff")
@example(text="bell\x07, form feed\x0c and \x1c")
@example(text="carriage\rreturn\r\n")
@example(text="trailing \n  \nleading")
@example(text="\U0001f600\ue000")
def test_every_text_comes_back_from_the_file(text: str) -> None:
    document = {"pattern": text, "list": [{"name": text, "v": [text, ""]}], f"x{text}": 1}
    written = dump(document)
    assert yaml.safe_load(written) == document
    assert dump(document, written) == written


# Texts that PyYAML reads as texts, and kubectl as booleans, numbers or None.
READ_OTHERWISE = ["y", "Y", "n", "N", "1e3", "1E5", "1e+3", "0o17", "0O17", "-0b1", "08", "1e-2", "5e1", ".5e1", "-9E9"]


@pytest.mark.parametrize("text", READ_OTHERWISE)
def test_a_text_that_kubectl_would_not_read_as_one_has_quotes(text: str) -> None:
    document = {"enum": [text, "other"], "default": text, text: {"shortNames": [text]}}
    written = dump(document)
    assert go_yaml.unmarshal(written) == document
    assert yaml.safe_load(written) == document


@given(text=st.from_regex(r"[-+]?[0-9._oxbeEyYnN:~]{1,6}", fullmatch=True))
def test_every_short_text_is_the_same_for_kubectl(text: str) -> None:
    assert go_yaml.unmarshal(dump({text: [text]})) == {text: [text]}


def test_comments_stay_where_they_stand_beside_unusual_ends_of_lines() -> None:
    existing = "a: 1\n# Of b,\u2028\n# twice.\nb: 2\n"
    written = dump({"a": 1, "b": 2}, existing)
    assert yaml.safe_load(written) == {"a": 1, "b": 2}
    assert written.splitlines()[-3:] == ["# Of b,", "# twice.", "b: 2"]
