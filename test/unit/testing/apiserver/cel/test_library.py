"""The edges of CEL's functions: limits of arguments, conversions, and the errors of values of unknown types.

`dyn(...)` hides a type from the checker, so that the function itself has to refuse the value.
"""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.cel.checker import Environment
from clientgo.testing.apiserver.cel.common.values import EvalError, TypeValue
from clientgo.testing.apiserver.cel.library import (
    formats,
    lists,
    net,
    operators,
    optionals,
    quantities,
    standard,
    strings,
)
from clientgo.testing.apiserver.cel.library.declare import Function
from clientgo.testing.apiserver.cel.program import Program
from clientgo.testing.apiserver.cel.source import CompileError

ENVIRONMENT = Environment({})


def evaluated(source: str) -> Any:
    """Return the value, or the text of the error."""
    result = Program(source, ENVIRONMENT).evaluate({})
    return result.value if result.error is None else str(result.error)


TRUE = r"""
'tacocat'.indexOf('') == 0 && 'tacocat'.indexOf('', 3) == 3 && 'tacocat'.lastIndexOf('') == 7
'tacocat'.lastIndexOf('', 2) == 2 && 'tacocat'.lastIndexOf('a', 4) == 1 && 'tacocat'.lastIndexOf('at', 5) == 5
'tacocat'.lastIndexOf('at', 4) == -1 && 'tacocat'.indexOf('a', 0) == 1 && 'tacocat'.lastIndexOf('t', 0) == 0
'abc'.charAt(0) == 'a' && 'abc'.charAt(2) == 'c' && 'abc'.charAt(3) == ''
'a,b,c'.split(',', 0) == [] && 'a,b,c'.split(',', 1) == ['a,b,c'] && 'a,b,c'.split(',', -1) == ['a', 'b', 'c']
'abc'.split('', 2) == ['a', 'bc'] && 'abc'.split('', 3) == ['a', 'b', 'c'] && 'abc'.split('', 1) == ['abc']
'abc'.substring(3) == '' && 'abc'.substring(0, 3) == 'abc' && 'abc'.substring(1, 1) == ''
'AZaz[@'.lowerAscii() == 'azaz[@' && 'AZaz`{'.upperAscii() == 'AZAZ`{'
'ababab'.replace('ab', 'c', 0) == 'ababab' && 'ababab'.replace('ab', 'c', -1) == 'ccc'
'ab'.replace('', '-') == '-a-b-'
'%s %s'.format([dyn(type(1)), b'ab']) == 'int ab' && '%d'.format([3.0]) == '3' && '%d'.format([2u]) == '2'
'%f %.0f %.3e'.format([dyn(1), 1.6, 1200.0]) == '1.000000 2 1.200e+03'
'%b %b %o %x %X %x %X'.format([dyn(5), true, 8, 255, 255, 'hi', b'\xca']) == '101 1 10 ff FF 6869 CA'
'%s %s'.format([dyn(duration('1s')), timestamp('2001-02-03T04:05:06Z')]) == '1s 2001-02-03T04:05:06Z'
strings.quote('a"b\\c\n') == '"a\\"b\\\\c\\n"'
int(duration('1s')) == 1000000000 && int(1u) == 1 && int('-5') == -5 && int(-2.9) == -2
uint(5) == 5u && uint(2.9) == 2u && uint('7') == 7u && uint(3u) == 3u && uint(0) == 0u
double(3) == 3.0 && double('1e3') == 1000.0 && double('-.5') == -0.5 && double(2u) == 2.0
double('NaN') != double('NaN')
bool('false') == false && bool('F') == false && bool('1') && bool('t') && bool(true) && !bool('0') && !bool(false)
bytes(b'a') == b'a' && string(cidr('10.0.0.0/8')) == '10.0.0.0/8' && string(b'a') == 'a'
string(double('Infinity')) == '+Inf' || string(double('Inf')) == '+Inf'
timestamp(timestamp('2001-02-03T04:05:06Z')) == timestamp('2001-02-03T04:05:06Z')
duration(duration('1s')) == duration('1s')
duration('1.234567s').getMilliseconds() == 1234 && duration('-1.5s').getMilliseconds() == -1500
duration('90m').getMinutes() == 90 && duration('90m').getSeconds() == 5400 && duration('90m').getHours() == 1
timestamp('2001-12-31T23:59:58.25Z').getDayOfYear() == 364 && timestamp('2001-01-01T00:00:00Z').getDayOfYear() == 0
timestamp('2001-12-31T23:59:58Z').getMonth() == 11 && timestamp('2001-12-31T23:59:58Z').getDayOfMonth() == 30
timestamp('2001-12-31T23:59:58Z').getDate() == 31 && timestamp('2001-12-31T23:59:58Z').getSeconds() == 58
timestamp('2001-12-31T23:30:00Z').getMinutes('-05:45') == 45 && timestamp('2001-12-31T23:30:00Z').getDate('+00:30') == 1
timestamp('2001-12-31T23:30:00Z').getHours('Asia/Tokyo') == 8 && timestamp('2001-12-31T23:30:00Z').getHours('') == 23
2.5 - 1.0 == 1.5 && duration('3s') - duration('1s') == duration('2s')
timestamp('2001-01-01T00:00:02Z') - duration('1s') == timestamp('2001-01-01T00:00:01Z')
timestamp('2001-01-01T00:00:02Z') - timestamp('2001-01-01T00:00:00Z') == duration('2s')
1.0 / 0.0 > 1e300 && -1.0 / 0.0 < -1e300 && 1.0 / -0.0 < -1e300 && 0.0 / 0.0 != 0.0 / 0.0
2.5 * 2.0 == 5.0 && 2u * 3u == 6u && 7u / 2u == 3u && 7u % 2u == 1u && 7 % -3 == 1 && 7 / -2 == -3
[1, 2, 3].slice(1, 3) == [2, 3] && [1, 2].slice(0, 0) == [] && [1].slice(1, 1) == [] && [1, 2].slice(0, 2) == [1, 2]
[dyn(1), [2]].flatten() == [1, 2] && [dyn(1), [dyn(2), [3]]].flatten() == [dyn(1), 2, [3]]
[dyn(1), [2]].flatten(0).size() == 2 && [dyn(1), [dyn(2), [3]]].flatten(2) == [1, 2, 3]
[1, 2].last().value() == 2 && ![].last().hasValue() && ![].first().hasValue() && [7].first().value() == 7
[1, 1].isSorted() && [].isSorted() && [1].isSorted() && ![2, 1, 3].isSorted() && ![1, 3, 2].isSorted()
[].sum() == 0 && [5].min() == 5 && [5].max() == 5 && [1, 2, 3].indexOf(3) == 2 && [1, 2, 1, 3].lastIndexOf(1) == 2
lists.range(0) == [] && lists.range(3) == [0, 1, 2] && [1, 2, 2, 1].distinct() == [1, 2]
sets.contains([1], []) && !sets.contains([], [1]) && sets.equivalent([], []) && !sets.equivalent([1], [1, 2])
sets.intersects([1, 2], [2, 3]) && !sets.intersects([], [1]) && !sets.equivalent([1, 2], [1])
!ip('255.255.255.255').isGlobalUnicast() && ip('10.0.0.1').isGlobalUnicast() && !ip('224.0.0.1').isGlobalUnicast()
ip('224.0.0.251').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()
!ip('8.8.8.8').isLinkLocalMulticast()
ip('ff02::1').isLinkLocalMulticast() && !ip('ff05::1').isLinkLocalMulticast() && !ip('fe80::1').isLinkLocalMulticast()
ip('169.254.1.1').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && !ip('8.8.8.8').isLinkLocalUnicast()
ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified() && !ip('::1').isUnspecified()
!ip('127.0.0.1').isUnspecified()
ip('::1').family() == 6 && ip('127.0.0.1').isLoopback() && !ip('128.0.0.1').isLoopback()
!isCIDR('x/8') && !isCIDR('1.2.3.4/-1') && isCIDR('1.2.3.4/32') && !isCIDR('1.2.3.4/032') && !isCIDR('::/129')
!isURL('') && !isURL('https://a/%zz') && !isURL('https://a/\n') && isURL('https://a/%20') && !isURL('http://[::1')
url('https://a/b%20c').getEscapedPath() == '/b%20c' && url('https://a/b c').getEscapedPath() == '/b%20c'
url('https://a/b;c=d').getEscapedPath() == '/b;c=d' && url('https://a').getEscapedPath() == ''
url('https://a:80/x').getHost() == 'a:80' && url('https://a:80/x').getPort() == '80'
url('https://a/x').getPort() == ''
format.date().validate('x').value() == ['invalid date'] && !format.date().validate('2021-01-02').hasValue()
format.date().validate('2021-13-02').hasValue() && format.date().validate('2021-1-2').hasValue()
format.datetime().validate('x').value() == ['invalid datetime']
!format.datetime().validate('2021-01-01T00:00:00Z').hasValue()
format.byte().validate('**').value() == ['invalid base64'] && !format.byte().validate('aGk=').hasValue()
!format.uri().validate('http://example.com').hasValue() && format.uri().validate('nope').hasValue()
format.dns1123Label().validate('-a').hasValue() && !format.dns1123Subdomain().validate('a.b').hasValue()
format.dns1035Label().validate('1a').hasValue() && !format.dns1035Label().validate('a1').hasValue()
format.qualifiedName().validate('a b').hasValue() && !format.qualifiedName().validate('a.b/c').hasValue()
format.labelValue().validate('-').hasValue() && !format.labelValue().validate('').hasValue()
optional.of({'a': 1}).a.value() == 1 && !optional.of({'a': 1}).?b.hasValue() && optional.of({'a': 1}).?a.value() == 1
optional.of([5])[0].value() == 5 && !optional.of([5])[?1].hasValue() && !optional.none()[?0].hasValue()
!optional.ofNonZeroValue(0).hasValue() && optional.ofNonZeroValue(1).value() == 1
!optional.ofNonZeroValue('').hasValue()
!optional.ofNonZeroValue([]).hasValue() && !optional.ofNonZeroValue({}).hasValue()
optional.ofNonZeroValue('a').hasValue()
!optional.ofNonZeroValue(null).hasValue() && !optional.ofNonZeroValue(false).hasValue()
optional.ofNonZeroValue([0]).hasValue()
optional.unwrap([optional.of(1), optional.none(), optional.of(2)]) == [1, 2] && [optional.none()].unwrapOpt() == []
optional.of(1) == optional.of(1) && optional.of(1) != optional.of(2) && optional.none() == optional.none()
optional.of(1) != optional.none() && optional.none() != optional.of(1)
optional.none().or(optional.of(1)).value() == 1 && optional.of(2).or(optional.of(1)).value() == 2
has(optional.of({'a': 1}).a) && !has(optional.of({'a': 1}).b) && !has(optional.none().a)
.type(1) == int && {'a': 1,}.size() == 1 && [1, 2,].size() == 2 && {}.size() == 0 && 18446744073709551615u > 1u
1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 10 - 2 - 3 == 5 && 2 * 3 % 4 == 2 && -2 * -2 == 4 && - - 2 == 2 && !!true
false || true && true && !(false && true || false) && (true ? false : true) == false && (false ? 1 : 2) == 2
0x10u == 16u && -0x10 == -16 && 1e2 == 100.0 && .5 == 0.5 && -1.5e-1 == -0.15
size('a\tb') == 3 && '\x41\101\u0041\U00000041' == 'AAAA' && size(b'\x00\377') == 2 && '\`\?\'\"' == '`?\'"'
[[1, 2], [3]].map(x, x.map(y, y * 2)) == [[2, 4], [6]] && [1, 2, 3].existsOne(i, v, v > 2)
{'b': 1, 'a': 2}.exists(k, v, v == 2 && k == 'a') && !{'b': 1}.all(k, v, v == 2) && ![1, 1].existsOne(i, v, v == 1)
""".strip().splitlines()


@pytest.mark.parametrize("source", TRUE)
def test_it_holds(source: str) -> None:
    assert evaluated(source) is True


OVERLOAD = "no such overload"
DURING = "error during formatting: "
ERRORS = [
    ("'abc'.charAt(4) == ''", "index out of range: 4"),
    ("'abc'.charAt(-1) == ''", "index out of range: -1"),
    ("'abc'.indexOf('a', -1) == 0", "index out of range: -1"),
    ("'abc'.lastIndexOf('a', -1) == 0", "index out of range: -1"),
    ("'abc'.substring(4) == ''", "index out of range: 4"),
    ("'abc'.substring(-1) == ''", "index out of range: -1"),
    ("'abc'.substring(0, 4) == ''", "index out of range: 4"),
    ("'%d %d'.format([1]) == ''", "index 1 out of range"),
    ("'%q'.format([1]) == ''", 'could not parse formatting clause: unrecognized formatting clause "q"'),
    ("'%'.format([1]) == ''", "could not parse formatting clause: unexpected end of string"),
    ("'%.1001f'.format([1.0]) == ''", "precision 1001 exceeds limit of 1000"),
    (
        "'%d'.format(['a']) == ''",
        DURING + "decimal clause can only be used on integers, was given string",
    ),
    (
        "'%d'.format([1.5]) == ''",
        DURING + "decimal clause can only be used on integers, was given double",
    ),
    (
        "'%f'.format(['a']) == ''",
        DURING + "fixed-point clause can only be used on doubles, was given string",
    ),
    (
        "'%e'.format(['a']) == ''",
        DURING + "scientific clause can only be used on doubles, was given string",
    ),
    (
        "'%b'.format(['a']) == ''",
        DURING + "only integers and bools can be formatted as binary, was given string",
    ),
    ("'%o'.format([true]) == ''", DURING + "octal clause can only be used on integers, was given bool"),
    (
        "'%x'.format([1.5]) == ''",
        DURING + "only integers, byte buffers, and strings can be formatted as hex, was given double",
    ),
    ("uint(-1) == 0u", "unsigned integer overflow"),
    ("uint(-0.5) == 0u", "unsigned integer overflow"),
    ("uint(18446744073709551616.0) == 0u", "unsigned integer overflow"),
    ("int(9223372036854775808.0) == 0", "integer overflow"),
    ("int(-9223372036854775808.0) == 0", "integer overflow"),
    ("int(9223372036854775808u) == 0", "integer overflow"),
    ("uint('x') == 0u", 'strconv.ParseUint: parsing "x": invalid syntax'),
    ("double('x') == 0.0", 'strconv.ParseFloat: parsing "x": invalid syntax'),
    ("bool('x')", 'strconv.ParseBool: parsing "x": invalid syntax'),
    ("bool(dyn(1))", OVERLOAD),
    ("double(dyn(true)) == 1.0", OVERLOAD),
    ("uint(dyn(true)) == 1u", OVERLOAD),
    ("uint(dyn(null)) == 1u", OVERLOAD),
    ("int(dyn(true)) == 1", OVERLOAD),
    ("bytes(dyn(1)) == b''", OVERLOAD),
    ("string(b'\\xff') == ''", "invalid UTF-8 in bytes, cannot convert to string"),
    ("timestamp('2001-01-01T00:00:00Z').getHours('Nowhere/Land') == 0", "unknown time zone Nowhere/Land"),
    ("timestamp('2001-01-01T00:00:00Z').getMilliseconds('Nowhere/Land') == 0", "unknown time zone Nowhere/Land"),
    ("[1].slice(-1, 1) == []", "cannot slice(-1, 1), negative indexes not supported"),
    ("[1].slice(1, 0) == []", "cannot slice(1, 0), start index must be less than or equal to end index"),
    ("[1].slice(0, 2) == []", "cannot slice(0, 2), list is length 1"),
    ("[[1]].flatten(-1) == []", "level must be non-negative"),
    ("dyn('a') - dyn('b') == dyn(1)", OVERLOAD),
    ("dyn('a') / dyn(1) == dyn(1)", OVERLOAD),
    ("dyn(1.5) % dyn(1.0) == dyn(1)", OVERLOAD),
    ("dyn(1) in dyn(1)", OVERLOAD),
    ("-9223372036854775808 - 1 == 0", "integer overflow"),
    ("-(-9223372036854775808) == 0", "integer overflow"),
    ("9223372036854775807 * 2 == 0", "integer overflow"),
    ("-9223372036854775808 / -1 == 0", "integer overflow"),
    ("18446744073709551615u + 1u == 0u", "unsigned integer overflow"),
    ("url('') == url('https://a')", 'URL parse error during conversion from string: parse "": empty url'),
]


@pytest.mark.parametrize(("source", "text"), ERRORS)
def test_a_value_out_of_range_or_of_another_type_is_an_error(source: str, text: str) -> None:
    found = evaluated(source)
    assert isinstance(found, str)
    assert found == text or (text == OVERLOAD and found.startswith(f"{OVERLOAD}: "))


REFUSED = [
    ("{1: 2 3}", "1:7: Syntax error: extraneous input '3' expecting {'}', ','}"),
    ("[1][]", "1:5: Syntax error: mismatched input ']' expecting "),
    ("18446744073709551616u > 1u", "1:1: invalid uint literal"),
    ("[1][?0] + 1 == 2", "1:9: found no matching overload for '_+_' applied to '(optional_type(int), int)'"),
    ("[1.a]", "1:3: type 'int' does not support field selection"),
    ("[?1] == [1]", "1:3: expected type 'optional_type(dyn)' but found 'int'"),
    ("9223372036854775808 > 1", "1:1: invalid int literal"),
    ("No{a: 1} == 1", "1:3: undeclared reference to 'No' (in container '')"),
]


@pytest.mark.parametrize(("source", "text"), REFUSED)
def test_what_is_no_expression_is_refused_with_its_place(source: str, text: str) -> None:
    with pytest.raises(CompileError) as raised:
        Program(source, ENVIRONMENT)
    assert str(raised.value).startswith(f"ERROR: <input>:{text}")


EXAMPLES = {
    "bool": "true",
    "bytes": "b'a'",
    "double": "1.5",
    "google.protobuf.Duration": "duration('1s')",
    "google.protobuf.Timestamp": "timestamp('2001-01-01T00:00:00Z')",
    "int": "1",
    "kubernetes.NamedFormat": "format.date()",
    "kubernetes.Quantity": "quantity('1')",
    "kubernetes.Semver": "semver('1.2.3')",
    "kubernetes.URL": "url('https://a')",
    "list": "[1]",
    "map": "{'a': 1}",
    "net.CIDR": "cidr('1.2.3.4/8')",
    "net.IP": "ip('1.2.3.4')",
    "optional_type": "optional.of(1)",
    "string": "'1.2.3'",
    "uint": "1u",
}
ANY = ("A", "B", "dyn")
# The interpreter evaluates these itself, or a macro has seen to their arguments.
BUILT_IN = ("_&&_", "_||_", "_?_:_", "@not_strictly_false", "@sortByAssociatedKeys")
MODULES = (formats, lists, net, operators, optionals, quantities, standard, strings)


@pytest.mark.parametrize("function", [one for module in MODULES for one in module.FUNCTIONS], ids=lambda one: one.name)
def test_a_function_refuses_each_argument_of_another_type(function: Function) -> None:
    """With `dyn`, a value of any type gets there. A type is what no function takes."""
    if function.name in BUILT_IN:
        return
    for overload in function.overloads:
        for place, kind in enumerate(overload.args):
            if kind.name in ANY:
                continue
            args = [evaluated(EXAMPLES.get(each.name, "1")) for each in overload.args]
            args[place] = TypeValue("type")
            try:
                result = function.body(*args)
            except EvalError as err:
                result = err
            assert isinstance(result, EvalError), f"argument {place} of {[each.name for each in overload.args]}"
            assert str(result).startswith((OVERLOAD, "invalid index"))


@pytest.mark.parametrize(
    ("getter", "shown"),
    [("getFullYear", 2001), ("getMonth", 1), ("getDayOfYear", 33), ("getDayOfMonth", 2), ("getDate", 3),
     ("getDayOfWeek", 6), ("getHours", 4), ("getMinutes", 5), ("getSeconds", 6), ("getMilliseconds", 789)],
)  # fmt: skip
def test_each_part_of_a_time(getter: str, shown: int) -> None:
    assert evaluated(f"timestamp('2001-02-03T04:05:06.789Z').{getter}()") == shown
    assert evaluated(f"timestamp('2001-02-03T04:05:06.789Z').{getter}('UTC')") == shown


@pytest.mark.parametrize(
    "getter", ["getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"]
)
def test_a_duration_has_no_date(getter: str) -> None:
    assert str(evaluated(f"dyn(duration('1s')).{getter}() == 1")).startswith(f"{OVERLOAD}: {getter}(")
