"""Label selectors: what is read, what is refused, what matches."""

from __future__ import annotations

import pytest

from clientgo.apimachinery import labels
from clientgo.apimachinery.labels import Token
from clientgo.apimachinery.selection import Operator

IDENTIFIER, COMMA = Token.IDENTIFIER, Token.COMMA
OPEN, CLOSED, END = Token.OPEN_PAR, Token.CLOSED_PAR, Token.END_OF_STRING


@pytest.mark.parametrize("text", ["x=a,y=b,z=c", "", "x!=a,y=b", "x=", "x= ", "x=,z= ", "!x", "x>1", "x>1,z<5"])
def test_a_selector_is_written_as_it_was_read_without_blanks(text: str) -> None:
    """Go: TestSelectorParse."""
    assert str(labels.parse(text)) == text.replace(" ", "")


@pytest.mark.parametrize("text", ["x=a||y=b", "x==a==b", "!x=a", "x<a", "x>1.5"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    """Go: TestSelectorParse."""
    with pytest.raises(ValueError):
        labels.parse(text)


def test_the_order_of_the_terms_does_not_matter() -> None:
    """Go: TestDeterministicParse."""
    assert str(labels.parse("x=a,a=x")) == str(labels.parse("a=x,x=a")) == "a=x,x=a"


@pytest.mark.parametrize(
    ("selector", "ls", "matches"),
    [
        ("", {"x": "y"}, True), ("x=y,z=w", {"x": "y", "z": "w"}, True), ("x!=y,z!=w", {"x": "z", "z": "a"}, True),
        ("notin=in", {"notin": "in"}, True), ("x", {"x": "z"}, True), ("!x", {"y": "z"}, True),
        ("x>1", {"x": "2"}, True), ("x<1", {"x": "0"}, True), ("x!=y", {}, True), ("x notin (y)", {}, True),
        ("x=z", {}, False), ("x=y", {"x": "z"}, False), ("x=y,z=w", {"x": "w", "z": "w"}, False),
        ("x!=y,z!=w", {"x": "z", "z": "w"}, False), ("x", {"y": "z"}, False), ("!x", {"x": "z"}, False),
        ("x>1", {"x": "0"}, False), ("x>1", {"x": "1"}, False), ("x<1", {"x": "1"}, False), ("x<1", {"x": "2"}, False),
        ("x>1", {}, False), ("x<1", {"x": "v0"}, False), ("x in ()", {"x": "y"}, False), ("x in (,y)", {"x": ""}, True),
        ("x in (y)", {}, False), ("x notin ()", {"x": ""}, False),
    ],
)  # fmt: skip
def test_every_term_must_match(selector: str, ls: dict[str, str], matches: bool) -> None:
    """Go: TestSelectorMatches, TestRequirementSelectorMatching."""
    assert labels.parse(selector).matches(labels.Set(ls)) is matches


def test_everything_nothing_and_no_labels() -> None:
    """Go: TestEverything, TestNilMapIsValid, TestSetIsEmpty, TestMatchesNothing."""
    for everything in (
        labels.everything(),
        labels.selector_from_set(None),
        labels.Set().as_selector(),
        labels.new_selector(),
    ):
        assert everything.empty() and everything.matches({"x": "y"}) and not labels.matches_nothing(everything)
    assert labels.matches_nothing(labels.nothing()) and not labels.nothing().matches({})
    assert not labels.matches_nothing(labels.parse("!x,x"))


@pytest.mark.parametrize("wanted", [{}, {"foo": "bar"}, {"baz": "blah"}, {"foo": "bar", "baz": "blah"}])
def test_a_set_selects_what_has_all_of_it(wanted: dict[str, str]) -> None:
    """Go: TestSetMatches, TestSetSelectorString."""
    ls = {"foo": "bar", "baz": "blah"}
    for selector in (labels.selector_from_set(wanted), labels.ValidatedSetSelector(wanted)):
        assert selector.matches(ls)
        assert str(selector) == ",".join(f"{key}={wanted[key]}" for key in sorted(wanted))
    assert not labels.selector_from_set({**ls, "more": "x"}).matches(ls)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("", END), (",", COMMA), ("notin", Token.NOT_IN), ("in", Token.IN), ("=", Token.EQUALS),
        ("==", Token.DOUBLE_EQUALS), (">", Token.GREATER_THAN), ("<", Token.LESS_THAN),
        ("!", Token.DOES_NOT_EXIST), ("!=", Token.NOT_EQUALS), ("(", OPEN), (")", CLOSED),
        ("~", IDENTIFIER), ("||", IDENTIFIER),
    ],
)  # fmt: skip
def test_the_longest_token_is_read(text: str, token: Token) -> None:
    """Go: TestLexer."""
    assert labels.Lexer(text).lex() == (token, text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("key in ( a, b )", [IDENTIFIER, Token.IN, OPEN, IDENTIFIER, COMMA, IDENTIFIER, CLOSED]),
        ("!key", [Token.DOES_NOT_EXIST, IDENTIFIER]),
        ("x in (),y", [IDENTIFIER, Token.IN, OPEN, CLOSED, COMMA, IDENTIFIER]),
        ("== != = notin", [Token.DOUBLE_EQUALS, Token.NOT_EQUALS, Token.EQUALS, Token.NOT_IN]),
        ("key>2", [IDENTIFIER, Token.GREATER_THAN, IDENTIFIER]),
    ],
)
def test_blanks_separate_tokens_and_are_none(text: str, tokens: list[Token]) -> None:
    """Go: TestLexerSequence, TestParserLookahead."""
    lexer = labels.Lexer(text)
    assert [token for token, _ in iter(lexer.lex, (END, ""))] == tokens


@pytest.mark.parametrize("operator", ["!", "exists", "("])
def test_an_operator_stands_between_two_operands(operator: str) -> None:
    """Go: TestParseOperator."""
    with pytest.raises(ValueError, match=r"expected: .*in.*notin|expected: '!=', '=='|found"):
        labels.parse(f"x {operator} y")


LONG = "a" * 254


@pytest.mark.parametrize(
    ("key", "operator", "values", "field"),
    [
        ("x1", Operator.IN, None, "values"), ("x2", Operator.NOT_IN, [], "values"), ("x3", Operator.IN, ["foo"], ""),
        ("x4", Operator.NOT_IN, ["foo"], ""), ("x5", Operator.EQUALS, ["foo", "bar"], "values"),
        ("x6", Operator.EXISTS, None, ""), ("x7", Operator.DOES_NOT_EXIST, None, ""),
        ("x8", Operator.EXISTS, ["foo"], "values"), ("x11", Operator.GREATER_THAN, ["1"], ""),
        ("x13", Operator.GREATER_THAN, None, "values"), ("x14", Operator.GREATER_THAN, ["bar"], "values[0]"),
        ("x15", Operator.LESS_THAN, ["bar"], "values[0]"), (LONG, Operator.EXISTS, None, "key"),
        ("x16", Operator.EQUALS, [LONG], "values[0][x16]"), ("x17", Operator.EQUALS, ["a b"], "values[0][x17]"),
        ("x18", "unsupported", None, "operator"),
    ],
)  # fmt: skip
def test_a_requirement_is_checked_and_says_which_field_is_wrong(
    key: str, operator: Operator | str, values: list[str] | None, field: str
) -> None:
    """Go: TestRequirementConstructor."""
    if not field:
        assert labels.new_requirement(key, operator, values).key() == key
        return
    with pytest.raises(Exception) as raised:
        labels.new_requirement(key, operator, values)
    assert str(raised.value).startswith(f"{field}: ")


@pytest.mark.parametrize(
    "text",
    ["x in (abc,def),y notin (jkl),z", "x notin (abc,def),y!=jkl,!z", "x=abc,y==jkl,z!=a,z", "x>2,y<8,z", "z notin ()"],
)
def test_requirements_are_written_in_the_grammar_they_are_read_in(text: str) -> None:
    """Go: TestToString."""
    assert str(labels.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\rx", "x"), ("this-is-a-dns.domain.com/key-with-dash", "this-is-a-dns.domain.com/key-with-dash"),
        ("0.1.2.domain/99 notin (10.10.100.1, tick.tack)", "0.1.2.domain/99 notin (10.10.100.1,tick.tack)"),
        ("foo  in\t (abc)", "foo in (abc)"), ("x notin\n (abc)", "x notin (abc)"), ("x in (abc,)", "x in (,abc)"),
        ("x in (abc,abc)", "x in (abc)"), ("x in (a,,,,)", "x in (,a)"), ("x in (a,,a,,a,,)", "x in (,a)"),
        ("x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"), ("x notin ( )", "x notin ()"),
        ("x notin (, a)", "x notin (,a)"), ("a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"), ("a ", "a"),
    ],
)  # fmt: skip
def test_sets_of_values_are_read(text: str, read: str) -> None:
    """Go: TestSetSelectorParser."""
    assert str(labels.parse(text)) == read


@pytest.mark.parametrize(
    "text",
    ["x,,y", ",x,y", "x nott in (y)", "a in (xyz),", "a in (xyz)b notin ()", "a in (xyz abc)", "a notin(", "a (", "("],
)
def test_broken_sets_are_refused(text: str) -> None:
    """Go: TestSetSelectorParser."""
    with pytest.raises(ValueError):
        labels.parse(text)


def test_added_requirements_come_behind() -> None:
    """Go: TestAdd, TestSafeSort."""
    values = ["z", "a"]
    both = labels.new_selector().add(
        labels.new_requirement("key", Operator.IN, values), labels.new_requirement("key2", Operator.EQUALS, ["v"])
    )
    assert str(both) == "key in (a,z),key2=v" and values == ["z", "a"]


@pytest.mark.parametrize(
    ("text", "label", "found"),
    [
        ("key in (value)", "key", ("value", True)), ("key in (value,value2)", "key", ("", False)),
        ("key in (a,b),key2 in (value2)", "key2", ("value2", True)), ("key=value", "key", ("value", True)),
        ("key==value", "key", ("value", True)), ("key!=value", "key", ("", False)), ("key", "key", ("", False)),
        ("key=value", "other", ("", False)),
    ],
)  # fmt: skip
def test_one_value_alone_is_an_exact_match(text: str, label: str, found: tuple[str, bool]) -> None:
    """Go: TestRequiresExactMatch."""
    assert labels.parse(text).requires_exact_match(label) == found


def test_labels_that_are_none_are_refused_where_that_is_asked_for() -> None:
    """Go: TestValidatedSelectorFromSet."""
    assert str(labels.validated_selector_from_set({"key": "val"})) == "key=val"
    with pytest.raises(Exception, match=r"^values\[0\]\[Key\]: Invalid value"):
        labels.validated_selector_from_set({"Key": "a" * 64})


def test_requirements_are_equal_by_key_operator_and_values_in_order() -> None:
    """Go: TestRequirementEqual."""
    one = labels.new_requirement("key", Operator.EQUALS, ["foo"])
    assert one.equal(labels.new_requirement("key", Operator.EQUALS, ["foo"]))
    for other in (
        ("other", Operator.EQUALS, ["foo"]),
        ("key", Operator.IN, ["foo"]),
        ("key", Operator.EQUALS, ["bar"]),
    ):
        assert not one.equal(labels.new_requirement(*other))
    several = labels.new_requirement("key", Operator.IN, ["foo", "bar"])
    assert several.equal(several) and not several.equal(labels.new_requirement("key", Operator.IN, ["bar", "foo"]))
