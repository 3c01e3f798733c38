"""The syntax tree of an expression, with macros expanded. Mirrors cel-go's common/ast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Levels of a tree. Functions visit it recursively, with two Python frames a level. cel-go allows 250.
MAX_DEPTH = 150
# The variable for a comprehension's accumulated value. Identifiers in expressions cannot have this name.
ACCUMULATOR = "@result"


@dataclass(slots=True, eq=False, kw_only=True)
class Expr:
    """A node. `pos` is the offset in the source to which errors refer."""

    pos: int
    depth: int = 1


@dataclass(slots=True, eq=False)
class Literal(Expr):
    value: Any


@dataclass(slots=True, eq=False)
class Ident(Expr):
    name: str


@dataclass(slots=True, eq=False)
class Select(Expr):
    operand: Expr
    field: str
    # has(operand.field): only asked whether it is there.
    test_only: bool = False


@dataclass(slots=True, eq=False)
class Call(Expr):
    function: str
    target: Expr | None
    args: list[Expr]


@dataclass(slots=True, eq=False)
class ListExpr(Expr):
    items: list[Expr]
    # Indices of `[?x]`.
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class MapExpr(Expr):
    # Key, value, and whether it is `{?key: value}`.
    entries: list[tuple[Expr, Expr, bool]]


@dataclass(slots=True, eq=False)
class Struct(Expr):
    """`Name{field: value}`. Only MutatingAdmissionPolicies have types that expressions can create."""

    name: str
    fields: list[tuple[str, Expr, bool, int]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """The expansion of every comprehension macro: a loop over `range` that steps from `init` to `result`."""

    range: Expr
    variable: str
    # The second variable of all(k, v, ...), "" without.
    variable2: str
    accumulator: str
    init: Expr
    condition: Expr
    step: Expr
    result: Expr

    @property
    def is_bind(self) -> bool:
        """Report whether this only binds a name to a value, as the expansion of optMap does, and does not loop."""
        return self.accumulator != ACCUMULATOR
