"""Templates are parsed into nodes, and malformed ones refused, as in Go."""

from __future__ import annotations

import pytest

from clientgo.util import jsonpath


def texts(node: jsonpath.Node) -> list[str]:
    """Return the texts of a node and of those below it."""
    found = [str(node)]
    below: list[jsonpath.Node] = []
    if isinstance(node, jsonpath.ListNode):
        below = node.nodes
    elif isinstance(node, jsonpath.FilterNode):
        below = [node.left, node.right]
    elif isinstance(node, jsonpath.UnionNode):
        below = [*node.nodes]
    return found + [text for each in below for text in texts(each)]


@pytest.mark.parametrize(
    ("template", "nodes"),
    [
        ("only text", ["NodeText: only text"]),
        ("a{.b}c", ["NodeText: a", "NodeList", "NodeField: b", "NodeText: c"]),
        ("{$.a['b.c']}", ["NodeList", "NodeField: a", "NodeField: b", "NodeField: c"]),
        ("{[2]}", ["NodeList", "NodeArray: [{2 true false} {3 true true} {0 false false}]"]),
        ("{[-2:]}", ["NodeList", "NodeArray: [{-2 true false} {0 false false} {0 false false}]"]),
        ("{[:4:2]}", ["NodeList", "NodeArray: [{0 false false} {4 true false} {2 true false}]"]),
        ("{.a.*}", ["NodeList", "NodeField: a", "NodeWildcard"]),
        ("{..a}", ["NodeList", "NodeRecursive", "NodeField: a"]),
        ("{1}{-1.5}", ["NodeList", "NodeInt: 1", "NodeList", "NodeFloat: -1.500000"]),
        ("{true}", ["NodeList", "NodeBool: true"]),
        ("{range .a}{end}", ["NodeList", "NodeIdentifier: range", "NodeField: a", "NodeList", "NodeIdentifier: end"]),
        (
            "{[?(@.a<3)]}",
            ["NodeList", "NodeFilter: NodeList < NodeList", "NodeList", "NodeField: a", "NodeList", "NodeInt: 3"],
        ),
        (
            "{['a',0]}",
            [
                *("NodeList", "NodeUnion", "NodeList", "NodeField: a", "NodeList"),
                "NodeArray: [{0 true false} {1 true true} {0 false false}]",
            ],
        ),
        (
            '{[?(@.a == "({x})")]}',
            ["NodeList", "NodeFilter: NodeList == NodeList", "NodeList", "NodeField: a", "NodeList", "NodeText: ({x})"],
        ),
    ],
)
def test_a_template_becomes_nodes(template: str, nodes: list[str]) -> None:
    """Go: TestParser."""
    parsed = jsonpath.parse("test", template)

    assert texts(parsed.root)[1:] == nodes


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{.a", "unclosed action"),
        ("{.a\n}", "unclosed action"),
        ("{*}", "unrecognized character in action: U+002A '*'"),
        ("{\x07}", "unrecognized character in action: U+0007"),
        ("{1.2.3}", "cannot parse number 1.2.3"),
        ("{[1}", "unterminated array"),
        ("{[a]}", "invalid array index a"),
        ("{[-]}", "array index - is not a number"),
        ("{[?(.a]}", "unterminated filter"),
        ("{[?(.a)}", "unclosed array expect ]"),
        ("{'a}", "unterminated quoted string"),
        (r"{'\q'}", r"unquote string '\q' error invalid syntax"),
        ("{......}", "invalid multiple recursive descent"),
    ],
)
def test_a_malformed_template_is_an_error_that_names_the_fault(template: str, error: str) -> None:
    """Go: TestFailParser."""
    with pytest.raises(ValueError) as caught:
        jsonpath.parse("test", template)

    assert str(caught.value) == error


def test_a_parser_parses_again() -> None:
    parser = jsonpath.new_parser("test")
    with pytest.raises(ValueError, match="unclosed action"):
        parser.parse("text{.a")

    parser.parse("{.b}")

    assert texts(parser.root)[1:] == ["NodeList", "NodeField: b"]


def test_a_long_template_costs_no_stack() -> None:
    parsed = jsonpath.parse("test", "{.a}" * 5000 + "{" + ".b" * 5000 + "}")

    assert len(parsed.root.nodes) == 5001


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("'a'", "a"),
        ('"it\'s"', "it's"),
        (r'"\t\n\\"', "\t\n\\"),
        (r"'it\'s'", "it's"),
        (r'"\xc3\xa9\303\251\u00e9\U0001f600é"', "ééé😀é"),
    ],
)
def test_a_quoted_text_is_read_as_a_go_literal(literal: str, text: str) -> None:
    assert jsonpath.unquote_extend(literal) == text


@pytest.mark.parametrize(
    "literal", ["", "'", "'a\"", "aa", r'"\'"', r"'\"'", r'"\x4"', r'"\ud800"', r'"\400"', r'"\q"', "'a'b'"]
)
def test_a_malformed_quoted_text_is_an_error(literal: str) -> None:
    with pytest.raises(jsonpath.ErrSyntax, match="invalid syntax"):
        jsonpath.unquote_extend(literal)
