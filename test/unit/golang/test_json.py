"""The texts of Go's errors for malformed JSON."""

from __future__ import annotations

import json

import pytest

from clientgo.golang.json import syntax_error

WHOLE = '{"a": [true, null, -1.5e+3, "x\\u00e9\\n"], "b": {"c": false}}'


# What Go 1.26 reports for a cut behind each of these texts; it reads a space at the end. Elsewhere the input ends.
CUTS = {
    "t": "in literal true (expecting 'r')",
    "tr": "in literal true (expecting 'u')",
    "tru": "in literal true (expecting 'e')",
    "n": "in literal null (expecting 'u')",
    "nu": "in literal null (expecting 'l')",
    "nul": "in literal null (expecting 'l')",
    "f": "in literal false (expecting 'a')",
    "fa": "in literal false (expecting 'l')",
    "fal": "in literal false (expecting 's')",
    "fals": "in literal false (expecting 'e')",
    "-": "in numeric literal",
    "1.": "after decimal point in numeric literal",
    "e": "in exponent of numeric literal",
    "e+": "in exponent of numeric literal",
    "\\": "in string escape code",
    "\\u": "in \\u hexadecimal character escape",
    "\\u0": "in \\u hexadecimal character escape",
    "\\u00": "in \\u hexadecimal character escape",
    "\\u00e": "in \\u hexadecimal character escape",
}


def cut_error(text: str) -> str:
    """Return the error of a document that is cut off behind the text."""
    ends = [end for end in CUTS if text.endswith(end)]
    # The last letter of a whole literal or escape begins nothing.
    if text.endswith(("true", "false", "\\n")) or not ends:
        return "unexpected end of JSON input"
    return f"invalid character ' ' {CUTS[max(ends, key=len)]}"


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_a_document_that_is_cut_off_reports_the_end_or_the_token_that_it_cuts(length: int) -> None:
    """Go: scanner.eof."""
    with pytest.raises(json.JSONDecodeError) as found:
        json.loads(WHOLE[:length])
    assert syntax_error(found.value) == cut_error(WHOLE[:length])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a":1}}', "invalid character '}' after top-level value"),
        ('{"a":1} trailing', "invalid character 't' after top-level value"),
        ('{} n', "invalid character 'n' after top-level value"),
        ('[1 true]', "invalid character 't' after array element"),
        ('{"a" false}', "invalid character 'f' after object key"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[x]", "invalid character 'x' looking for beginning of value"),
        ("[trux]", "invalid character 'x' in literal true (expecting 'e')"),
        ("[nil]", "invalid character 'i' in literal null (expecting 'u')"),
        ("[fals]", "invalid character ']' in literal false (expecting 'e')"),
        ('["\\u12x4"]', "invalid character 'x' in \\u hexadecimal character escape"),
    ],
)
def test_a_malformed_document_is_reported_in_go_s_words(text: str, error: str) -> None:
    """Go: encoding/json, scanner.go."""
    with pytest.raises(json.JSONDecodeError) as found:
        json.loads(text)
    assert syntax_error(found.value) == error


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a\n":1}', r"invalid character '\n' in string literal"),
        ('["\t\\', r"invalid character '\t' in string literal"),
        ('{"\\x":1}', "invalid character 'x' in string escape code"),
        ('{"\\ud8\u00e9"}', r"invalid character 'Ã' in \u hexadecimal character escape"),
        ("-[1]", "invalid character '[' in numeric literal"),
        ("[1,-]", "invalid character ']' in numeric literal"),
        ("[1.x]", "invalid character 'x' after decimal point in numeric literal"),
        ('{"a":1e}', "invalid character '}' in exponent of numeric literal"),
        ("[-01]", "invalid character '1' after array element"),
        ("00", "invalid character '0' after top-level value"),
        ("[}", "invalid character '}' looking for beginning of value"),
        ("{]", "invalid character ']' looking for beginning of object key string"),
        ('{"a":1]', "invalid character ']' after object key:value pair"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ("[1}", "invalid character '}' after array element"),
        ("nul\u00e9", "invalid character 'Ã' in literal null (expecting 'l')"),
        ("-", "invalid character ' ' in numeric literal"),
        ('"\\u12', "invalid character ' ' in \\u hexadecimal character escape"),
        ("[1e+", "invalid character ' ' in exponent of numeric literal"),
        ('["a ', "unexpected end of JSON input"),
    ],
)
def test_errors_of_syntax_are_those_of_the_states_of_go(text: str, error: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert syntax_error(caught.value) == error
