"""The results of expressions, and the errors of invalid ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clientgo.testing.apiserver.cel.admission import environment
from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.types import DYN
from clientgo.testing.apiserver.cel.common.values import EvalError
from clientgo.testing.apiserver.cel.estimate import estimate
from clientgo.testing.apiserver.cel.interpreter import Lazy
from clientgo.testing.apiserver.cel.library import regex
from clientgo.testing.apiserver.cel.library.authz import Check, Decision
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError

OBJECT = {"a": 1, "__namespace__": "n", "list": [1, 2, 3], "text": "max"}
ENVIRONMENT = Environment({"o": DYN})
START = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def evaluated(source: str) -> Any:
    """Return the value, or the text of the error."""
    result = Program(source, ENVIRONMENT).evaluate({"o": OBJECT})
    return result.value if result.error is None else str(result.error)


def refused(source: str) -> str:
    with pytest.raises(CompileError) as raised:
        Program(source, ENVIRONMENT)
    return str(raised.value)


TRUE = r"""
[1, 2, 3].isSorted() && !['b', 'a'].isSorted()
[1, 2, 3].sum() == 6 && [1.5, 2.0].sum() == 3.5 && [duration('1m'), duration('1s')].sum() == duration('61s')
[3, 1, 2].min() == 1 && ['b', 'c'].max() == 'c'
[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(5) == -1
'tacocat'.indexOf('ac') == 1 && 'tacocat'.lastIndexOf('at') == 5 && 'tacocat'.indexOf('a', 3) == 5
url('https://me@a.example:80/b%20c?d=e&d=f').getHost() == 'a.example:80'
url('https://[::1]:80/path').getHostname() == '::1' && url('https://[::1]:80/path').getPort() == '80'
url('https://a/b?c=d&c=e').getQuery() == {'c': ['d', 'e']} && url('/only/path').getScheme() == ''
isURL('https://x') && isURL('/x') && !isURL('x') && !isURL('../x') && !isURL('https://a:b') && !isURL('mailto:a')
ip('1.2.3.4').family() == 4 && ip('::1').isLoopback() && string(ip('::FFFF')) == '::ffff'
isIP('::1') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0') && !isIP('1.2.3') && !isIP('01.2.3.4')
ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::1') && ip('8.8.8.8').isGlobalUnicast()
cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('::1'))
cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))
cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.1.2.3/8').ip() == ip('10.1.2.3')
isCIDR('::/0') && !isCIDR('1.2.3.4') && !isCIDR('1.2.3.4/33') && cidr('::/7').prefixLength() == 7
quantity('1Gi').isGreaterThan(quantity('1Mi')) && quantity('1000m') == quantity('1') && !isQuantity('1Q')
quantity('50k').add(20).compareTo(quantity('50020')) == 0 && quantity('1.5').isInteger() == false
quantity('5').asInteger() == 5 && quantity('-1').sign() == -1 && quantity('100m').asApproximateFloat() == 0.1
semver('1.2.3').major() == 1 && semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && !isSemver('v1.0')
semver('v1.0', true) == semver('1.0.0') && semver('1.0.0-2').compareTo(semver('1.0.0-11')) == -1
format.named('dns1123Label').value().validate('A_').hasValue() && !format.named('nope').hasValue()
!format.dns1123Label().validate('a-b').hasValue() && format.uuid().validate('x').value().size() == 1
'ABc'.lowerAscii() == 'abc' && 'aé'.upperAscii() == 'Aé' && ' x\t'.trim() == 'x'
'a,b,c'.split(',') == ['a', 'b', 'c'] && 'abc'.split('') == ['a', 'b', 'c'] && 'a,b,c'.split(',', 2) == ['a', 'b,c']
['a', 'b'].join('-') == 'a-b' && ['a', 'b'].join() == 'ab'
'hello'.substring(1, 3) == 'el' && 'hello'.charAt(5) == '' && 'aXaX'.replace('X', 'Y', 1) == 'aYaX'
'%s-%d %% %.2f %x %b'.format([dyn('a'), 1, 2.5, 255, 5]) == 'a-1 % 2.50 ff 101'
'%s'.format([[dyn(1), 'b', null, {'k': true}]]) == '[1, b, null, {k: true}]'
sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])
optional.of(1).orValue(2) == 1 && optional.none().orValue(2) == 2 && o.?a.orValue(3) == 1 && o.?zz.orValue(3) == 3
!o[?'zz'].hasValue() && [1, 2][?5].or(optional.of(7)).value() == 7 && o.?a.optMap(x, x + 1).value() == 2
[?o.?a, ?o.?zz] == [1] && {?'a': o.?a, ?'b': o.?zz} == {'a': 1} && o.?zz.?deeper.orValue('d') == 'd'
[5, 6].all(i, v, v > i) && [5, 6].exists(i, v, i == 1) && {'a': 1}.existsOne(k, v, k == 'a')
{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [1, 2].transformList(i, v, v * i) == [0, 2]
{'a': 'b'}.transformMapEntry(k, v, {v: k}) == {'b': 'a'} && [1, 2, 3].transformList(i, v, v > 1, v) == [2, 3]
[1, 2].map(x, x * 2) == [2, 4]
1 < 1.5 && 2u > 1 && 1.5 <= 2u && 2 >= 1u && 1.5 > 1 && 2u < 2.5 && !(2 < 1u) && !(1.5 < 1u)
!isSemver('abc', true) && isSemver('v1.2', true) && semver('01.2', true) == semver('1.2.0')
[1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [1, 2, 3].filter(x, x > 1) == [2, 3] && [1, 2].exists_one(x, x > 1)
[1, 2, 3].slice(0, 2) == [1, 2] && [3, 1].sort() == [1, 3] && [1, 1].distinct() == [1] && lists.range(2) == [0, 1]
[[1], [2, 3]].flatten() == [1, 2, 3] && [1, 2].reverse() == [2, 1] && [1].first().value() == 1
o.__namespace__ == 'n' && has(o.a) && !has(o.zz) && 'a' in o && 2 in o.list && !(9 in o.list)
type(1) == int && type(o.text) == string && type(null) == null_type && type(type(1)) == type
o.a == 1.0 && dyn(1u) == 1 && 1 < 2.5 && 2u > 1 && {'a': 1} == dyn({'a': 1.0}) && dyn(true) != dyn(1)
9223372036854775807 > 0 && 18446744073709551615u > 0u && 0xFFu == 255u && '\U0010FFFF'.size() == 1
-7 % 3 == -1 && -7 / 2 == -3 && 0x1F == 31 && -9223372036854775808 < 0 && 5u - 2u == 3u
duration('1h30m').getHours() == 1 && duration('1h') > duration('1m') && string(duration('90s')) == '90s'
timestamp('2001-02-03T04:05:06.5Z').getFullYear() == 2001
timestamp('2001-02-03T04:05:06.5Z').getMilliseconds() == 500
timestamp('2001-02-03T23:00:00Z').getHours('+02:00') == 1 && timestamp('2001-01-07T00:00:00Z').getDayOfWeek() == 0
timestamp('2001-01-01T00:00:00Z') + duration('1ns') > timestamp('2001-01-01T00:00:00Z')
string(timestamp('2001-01-01T01:00:00+01:00')) == '2001-01-01T00:00:00Z'
int(timestamp('1970-01-01T00:00:02Z')) == 2
string(1.0) == '1' && string(1e6) == '1e+06' && string(-0.25) == '-0.25' && string(100000.0) == '100000'
double('1.5') == 1.5 && int('12') == 12
bool('true') && int(2.9) == 2
b'abc'.size() == 3 && b'\xff' == b'\377' && string(b'\303\251') == 'é' && 'é'.size() == 1 && bytes('é').size() == 2
r'\d' == '\\d' && '\u00e9' == "é" && '''a'b''' == "a'b"
(true || 1 / 0 > 0) && (1 / 0 > 0 || true) && !(false && 1 / 0 > 0) && !(1 / 0 > 0 && false)
[0, 1].exists(x, 1 / x == 1) && ![0, 1].all(x, 1 / x == 7)
true ? 1 == 1 : 1 / 0 == 1 // a comment
""".strip().splitlines()
REGEX = r"""
'foobar'.matches('^foo') && !'foobar'.matches('^bar') && matches('a', '[a-z]')
'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]') == '' && '1 2 3'.findAll('[0-9]', 2) == ['1', '2']
'é1'.find('[0-9]') == '1' && 'x'.matches('\\pL') && !('a' + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!').matches('(a+)+$')
""".strip().splitlines()


@pytest.mark.parametrize("source", TRUE)
def test_it_holds(source: str) -> None:
    assert evaluated(source) is True


@pytest.mark.skipif(not regex.AVAILABLE, reason="needs the extra `cel`")
@pytest.mark.parametrize("source", REGEX)
def test_patterns_are_those_of_re2(source: str) -> None:
    assert evaluated(source) is True


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("1u - 2u == 0u", "unsigned integer overflow"),
        ("10 / 0 > 0", "division by zero"),
        ("10 % 0 > 0", "modulus by zero"),
        ("o.zz", "no such key: zz"),
        ("o.list[3]", "index out of bounds: 3"),
        ("o.text < 5", "no such overload"),
        ("o.a.b", "no such overload"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("{'a': 1, 'a': 2}.size() == 2", "Failed with repeated key a"),
        ("'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1"),
        ("[].min() == 1", "min called on empty list"),
        ("int(o.text) == 1", 'strconv.ParseInt: parsing "max": invalid syntax'),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s') > timestamp(0)", "timestamp overflow"),
        ("size(o.a) == 1", "no such overload: size(int)"),
        ("o.a && true", "no such overload"),
        ("o.list.all(x, x / 0 > 0)", "division by zero"),
        ("semver(o.text).major() == 1", "No Major.Minor.Patch elements found"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error_in_gos_words(source: str, text: str) -> None:
    assert evaluated(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("nope(", "1:6: Syntax error: mismatched input '<EOF>' expecting " + START.replace("'('", "'(', ')'")),
        ("a b", "1:3: Syntax error: extraneous input 'b' expecting <EOF>"),
        ("o.b c.d", "1:5: Syntax error: mismatched input 'c' expecting <EOF>"),
        ("nope(o.b c.d)", "1:10: Syntax error: mismatched input 'c' expecting ')'"),
        ("(o", "1:3: Syntax error: missing ')' at '<EOF>'"),
        ("[1", "1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}"),
        ("1 + + 2", f"1:5: Syntax error: extraneous input '+' expecting {START}"),
        ("o == ", f"1:6: Syntax error: mismatched input '<EOF>' expecting {START}"),
        ("o.", "1:3: Syntax error: no viable alternative at input '.'"),
        ("o # 1", "1:3: Syntax error: token recognition error at: '#'"),
        ("while", "1:1: reserved identifier: while"),
        ("99999999999999999999 > 1", "1:1: invalid int literal"),
        ("9223372036854775808 > 1", "1:1: invalid int literal"),
        ("-9223372036854775809 < 1", "1:1: invalid int literal"),
        ("0x8000000000000000 > 1", "1:1: invalid int literal"),
        ("18446744073709551616u > 1u", "1:1: invalid uint literal"),
        (r"'\uD800' == ''", "1:1: invalid unicode code point"),
        (r"'\U00110000' == ''", "1:1: invalid unicode code point"),
        (r"b'\u00e9' == b''", "1:1: unable to unescape string"),
        ("has(o)", "1:5: invalid argument to has() macro"),
        ("o.all(1, true)", "1:7: argument must be a simple name"),
        ("x == 1", "1:1: undeclared reference to 'x' (in container '')"),
        ("nope(1)", "1:5: undeclared reference to 'nope' (in container '')"),
        ("'a' == 1", "1:5: found no matching overload for '_==_' applied to '(string, int)'"),
        ("'a'.lowerAscii(1)", "1:15: found no matching overload for 'lowerAscii' applied to 'string.(int)'"),
        ("[1, 'a'] == []", "1:5: expected type 'int' but found 'string'"),
        ("1.a", "1:2: type 'int' does not support field selection"),
        ("'a'.b == 1", "1:4: type 'string' does not support field selection"),
        ("1 in 1", "1:3: found no matching overload for '@in' applied to '(int, int)'"),
        (
            "'a'.all(x, true)",
            "1:1: expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("true ? 1 : 'a'", "1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("duration('x') > duration('1s')", "1:10: invalid duration argument"),
        ("timestamp('x') > timestamp(0)", "1:11: invalid timestamp argument"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(source: str, text: str) -> None:
    assert refused(source).startswith(f"ERROR: <input>:{text}\n | ")


def test_the_place_of_an_error_is_shown_below_its_line() -> None:
    assert refused("o.a == 1 &&\n  'é' == y") == (
        "ERROR: <input>:2:10: undeclared reference to 'y' (in container '')\n |   'é' == y\n | ...．.....^"
    )


def test_what_stands_behind_an_unreadable_character_is_read_too() -> None:
    messages = [line.partition("Syntax error: ")[2] for line in refused("$ o ) $").splitlines() if "ERROR" in line]
    assert messages == [
        "token recognition error at: '$'",
        "extraneous input ')' expecting <EOF>",
        "token recognition error at: '$'",
    ]


def test_all_errors_of_types_are_told_in_their_order() -> None:
    assert [line.partition(": ")[2] for line in refused("x + 'a' == 1 && y").splitlines() if "ERROR" in line] == [
        "<input>:1:1: undeclared reference to 'x' (in container '')",
        "<input>:1:9: found no matching overload for '_==_' applied to '(string, int)'",
        "<input>:1:17: undeclared reference to 'y' (in container '')",
    ]


@pytest.mark.parametrize(
    ("source", "most", "spent"),
    [
        ("'abc 123 def 123'.replace('123', '456')", 3, 3),
        ("'abc 123 def 123'.split(' ', 1)", 3, 3),
        ("quantity('2M') == quantity('0.002G') && quantity('2000k') == quantity('2M')", 6, 6),
        ("quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() > 0", 7, 7),
        ("semver('1234.56789012345.67890123456789')", 4, 4),
        ("sets.contains([1, 2, 3, 4], [2, 3])", 29, 29),
        ("sets.equivalent([1, 1], [1])", 25, 25),
        ("strings.quote('ABCDEFGHIJ abcdefghij')", 3, 3),
        ("format.named('dns1123Label').value().validate('my-name')", 34, 10),
        ("authorizer.group('').resource('pods').check('get').allowed()", 350004, 350004),
    ],
)
def test_costs_are_those_of_kubernetes(source: str, most: int, spent: int) -> None:
    program = Program(source, environment())
    names = {"authorizer": Check(lambda check, verb: Decision(True))}
    assert (estimate(program.checked, {}), program.evaluate(names).cost) == (most, spent)


def test_a_variable_is_evaluated_once_and_in_its_own_scope_also_when_it_fails() -> None:
    run: Any = SimpleNamespace(names={"of": "the reader"})
    for error in (None, EvalError("no such key: a")):
        asked: list[Any] = []

        def step(run: Any, error: EvalError | None = error, asked: list[Any] = asked) -> int:
            asked.append(run.names)
            if error is not None:
                raise error
            return 7

        lazy = Lazy(step, {"of": "its own"})
        for _ in range(2):
            if error is None:
                assert lazy.value(run) == 7
            else:
                with pytest.raises(EvalError, match="no such key: a"):
                    lazy.value(run)
            assert run.names == {"of": "the reader"}
        assert asked == [{"of": "its own"}]


@pytest.mark.parametrize(
    "source",
    [
        "(['a'] + ['bb']).all(x, x.startsWith('a'))",
        "(['a', 'b'] + ['c']).exists(x, x.contains('b'))",
        "(true ? ['a'] : ['bbb']).all(x, x.startsWith('a'))",
        "(true ? {'a': 'x'} : {'b': 'y'}).all(k, k.startsWith('a'))",
    ],
)
def test_the_estimate_knows_the_sizes_of_the_items_of_combined_literals(source: str) -> None:
    """Otherwise an item counts as the longest text there may be."""
    program = Program(source, environment())

    assert program.evaluate({}).cost <= estimate(program.checked, {}) < 100
