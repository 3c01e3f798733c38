"""The highest costs of rules: they follow from the limits in the schema of the values."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo.testing.apiserver.cel import declarations
from clientgo.testing.apiserver.kinds import rules

Json = dict[str, Any]


def cost(rule: str, schema: Json) -> int:
    declared = declarations.declare(schema)
    assert declared is not None
    (compiled,) = rules.compile_rules({**schema, "x-kubernetes-validations": [{"rule": rule}]}, declared)
    assert not compiled.error, compiled.error
    return compiled.cost


def text(most: int | None = None) -> Json:
    return {"type": "string", **({} if most is None else {"maxLength": most})}


def array(items: Json, most: int | None = None) -> Json:
    return {"type": "array", "items": items, **({} if most is None else {"maxItems": most})}


def table(values: Json, most: int | None = None) -> Json:
    limit = {} if most is None else {"maxProperties": most}
    return {"type": "object", "additionalProperties": values, **limit}


def of(field: Json) -> Json:
    return {"type": "object", "properties": {"a": field}}


FEW, MANY = 10, 1000


@pytest.mark.parametrize(
    ("rule", "small", "large"),
    [
        ("self.contains('x')", text(FEW), text(MANY)),
        ("self.contains('x')", text(MANY), text()),
        ("self.a.contains('x')", of(text(FEW)), of(text(MANY))),
        ("self.all(x, x > 0)", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.all(x, x > 0)", array({"type": "integer"}, MANY), array({"type": "integer"})),
        ("self.all(x, x.contains('y'))", array(text(FEW), FEW), array(text(MANY), FEW)),
        ("self.all(x, x.contains('y'))", array(text(FEW), FEW), array(text(FEW), MANY)),
        # Functions of whole lists count the lengths of the items.
        ("self.join() == ''", array(text(FEW), FEW), array(text(MANY), FEW)),
        ("self.join() == ''", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.join('--') == ''", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.a.join() == ''", of(array(text(FEW), FEW)), of(array(text(MANY), FEW))),
        ("self.isSorted()", array(text(FEW), FEW), array(text(MANY), FEW)),
        ("self.isSorted()", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.sum() > 0", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.indexOf('x') == 0", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.split(',').size() > 0", text(FEW), text(MANY)),
        ("self.split(',').all(x, x == 'a')", text(FEW), text(MANY)),
        ("self.replace('a', 'b') == ''", text(FEW), text(MANY)),
        ("self.replace('a', 'bb').contains('x')", text(FEW), text(MANY)),
        ("self.find('a+') == ''", text(FEW), text(MANY)),
        ("self.matches('a+')", text(FEW), text(MANY)),
        ("(self + 'x').contains('y')", text(FEW), text(MANY)),
        ("self.all(k, k != 'x')", table(text(), FEW), table(text(), MANY)),
        ("self.all(k, self[k].contains('x'))", table(text(FEW), FEW), table(text(MANY), FEW)),
        ("self.map(x, x + x).all(x, x > 0)", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.filter(x, x > 0).all(x, x > 1)", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.all(x, x.all(y, y > 0))", array(array({"type": "integer"}, FEW), FEW),
         array(array({"type": "integer"}, MANY), FEW)),
        ("'x' in self", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self == self", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("sets.contains(self, ['a'])", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("sets.intersects(['a'], self)", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("sets.equivalent(self, ['a'])", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.sort().size() > 0", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.sort().all(x, x > 0)", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.distinct().size() > 0", array({"type": "integer"}, FEW), array({"type": "integer"}, MANY)),
        ("self.reverse().size() > 0", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.reverse().all(x, x == 'a')", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("self.slice(0, 1).all(x, x == 'a')", array(text(FEW), FEW), array(text(FEW), MANY)),
        ("cidr('10.0.0.0/8').containsIP(self)", text(FEW), text(MANY)),
        ("cidr('10.0.0.0/8').containsCIDR(self)", text(FEW), text(MANY)),
        ("self.lowerAscii().contains('y')", text(FEW), text(MANY)),
        ("self.replace('', 'ab').contains('x')", text(FEW), text(MANY)),
        ("strings.quote(self).contains('x')", text(FEW), text(MANY)),
        ("format.dns1123Label().validate(self).hasValue()", text(FEW), text(MANY)),
        ("[self, 'a'].all(x, x.contains('y'))", text(FEW), text(MANY)),
        ("{'k': self}.all(k, {'k': self}[k].contains('y'))", text(FEW), text(MANY)),
        ("dyn(self).contains('y')", text(FEW), text(MANY)),
        ("(self == '' ? self : 'a').contains('y')", text(FEW), text(MANY)),
    ],
)  # fmt: skip
def test_a_rule_costs_more_on_what_may_be_larger(rule: str, small: Json, large: Json) -> None:
    assert 0 < cost(rule, small) < cost(rule, large)


@pytest.mark.parametrize(
    ("rule", "one", "other"),
    [
        ("self > 0", {"type": "integer"}, {"type": "integer", "maximum": 5}),
        ("size(self) > 0", array(text(FEW), FEW), array(text(MANY), MANY)),
        ("self.all(x, x > 0)", array({"type": "integer"}, FEW), {**array({"type": "integer"}, FEW), "minItems": 3}),
        ("has(self.a)", of(text(FEW)), of(text(MANY))),
    ],
)
def test_a_rule_costs_the_same_on_what_it_does_not_read(rule: str, one: Json, other: Json) -> None:
    assert cost(rule, one) == cost(rule, other)
