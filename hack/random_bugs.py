"""Draw bugs of one line at random from Python source: an operator changed, a constant off by one, a statement dropped.

`hack/mutants --random` runs the tests against them. A draw takes lines at random, then one of the bugs of each line, so
that a line with many operators is not drawn more often. Every bug compiles and changes the module's syntax tree.
"""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", (">=", "<=")),
    ast.LtE: ("<=", (">", "<")),
    ast.Gt: (">", ("<=", ">=")),
    ast.GtE: (">=", ("<", ">")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_DROPPED = (ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Delete, ast.AugAssign)


@dataclass(frozen=True, order=True)
class Bug:
    """A line, counted from 1, before and after; both without indentation."""

    number: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.number}: {self.old}  ->  {self.new}"

    def put_in(self, source: str) -> str:
        """Return the source with the bug."""
        lines = source.splitlines(keepends=True)
        line = lines[self.number - 1]
        lines[self.number - 1] = f"{line[: len(line) - len(line.lstrip())]}{self.new}\n"
        return "".join(lines)


def draw(sources: dict[str, str], seed: int, count: int) -> list[tuple[str, Bug]]:
    """Return at most `count` bugs as (file, bug), each in another line; the same ones for the same seed and sources."""
    lines = [(file, bugs) for file in sorted(sources) for bugs in _by_line(candidates(sources[file]))]
    rng = random.Random(seed)
    rng.shuffle(lines)
    chosen = ((file, rng.choice(bugs)) for file, bugs in lines)
    return list(itertools.islice((each for each in chosen if changes(sources[each[0]], each[1])), count))


def _by_line(bugs: list[Bug]) -> list[list[Bug]]:
    lines: dict[int, list[Bug]] = {}
    for bug in bugs:
        lines.setdefault(bug.number, []).append(bug)
    return list(lines.values())


def changes(source: str, bug: Bug) -> bool:
    """Report whether the source with the bug compiles to another program."""
    try:
        return ast.dump(ast.parse(bug.put_in(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def candidates(source: str) -> list[Bug]:
    """Return every bug of the source, sorted, among them some for which `changes` is False."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.bugs)


def _ends_without_value(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """Yield the returns of None after which a function would end anyway, so that dropping one is no bug."""
    last = body[-1]
    if isinstance(last, ast.Return) and (last.value is None or ast.unparse(last.value) == "None"):
        yield last
    bodies = [last.body] if isinstance(last, ast.If | ast.With) else []
    if isinstance(last, ast.If) and last.orelse:
        bodies.append(last.orelse)
    elif isinstance(last, ast.Try):
        bodies = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
    elif isinstance(last, ast.Match):
        bodies = [case.body for case in last.cases]
    for each in bodies:
        yield from _ends_without_value(each)


class _Finder(ast.NodeVisitor):
    """Visitor that collects the bugs of a module. It skips annotations, assertions, decorators and f-strings."""

    def __init__(self, source: str) -> None:
        # Positions in the tree count bytes.
        self._lines = [line.encode() for line in source.splitlines()]
        self._returns_bool = [False]
        self._ends: set[ast.Return] = set()
        self.bugs: set[Bug] = set()

    # ---- which nodes are looked at

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._returns_bool.append(isinstance(node.returns, ast.Name) and node.returns.id == "bool")
        self._ends.update(_ends_without_value(node.body))
        for each in [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]:
            self.visit(each)
        self._returns_bool.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._drop(node, node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Skip assertions: a user does not see a dropped or inverted assertion."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Skip f-strings: Python 3.11 does not know the positions in them."""

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    # ---- the bugs

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            if type(op) in _COMPARISONS:
                old, news = _COMPARISONS[type(op)]
                for new in news:
                    self._between(left, right, old, new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _ARITHMETIC:
            self._between(node.left, node.right, *_ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            text = self._text(node)
            self._replace(node, text.removeprefix("not").lstrip() if text else "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace(node, repr(node.value + 1))
            if node.value > 0:
                self._replace(node, repr(node.value - 1))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        body, test, orelse = self._text(node.body), self._text(node.test), self._text(node.orelse)
        if body and test and orelse:
            self._replace(node, f"({orelse}) if {test} else ({body})")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _CALLS:
            self._replace(node.func, _CALLS[node.func.id])
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._drop(node, node.targets[0])
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if self._returns_bool[-1] and node.value is not None:
            self._negate(node.value)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _DROPPED) and node not in self._ends:
            self._replace(node, "pass")
        super().generic_visit(node)

    def _drop(self, node: ast.Assign | ast.AnnAssign, target: ast.expr) -> None:
        """Drop an assignment that another function can see. A missing local name would just raise NameError."""
        if node.value is not None and isinstance(target, ast.Attribute | ast.Subscript):
            self._replace(node, "pass")

    def _negate(self, test: ast.expr) -> None:
        """Negate a condition, unless changing its operator already negates it."""
        inverted = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not inverted and not isinstance(test, ast.Constant | ast.UnaryOp):
            text = self._text(test)
            if not text:
                return
            plain = isinstance(test, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
            self._replace(test, f"not {text}" if plain else f"not ({text})")

    # ---- changing a line

    def _text(self, node: ast.stmt | ast.expr) -> str:
        """Return the source of a node within one line; "" when it takes several."""
        if node.lineno != node.end_lineno:
            return ""
        return self._lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def _replace(self, node: ast.AST, new: str) -> None:
        assert isinstance(node, ast.stmt | ast.expr)
        if new and node.lineno == node.end_lineno:
            self._add(node.lineno, node.col_offset, node.end_col_offset or 0, new)

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace the operator between two operands in the same line; there may be parentheses around it."""
        if left.end_lineno != right.lineno:
            return
        begin, end = left.end_col_offset or 0, right.col_offset
        text = self._lines[right.lineno - 1][begin:end].decode()
        self._add(right.lineno, begin, end, text.replace(old, new, 1))

    def _add(self, number: int, begin: int, end: int, new: str) -> None:
        line = self._lines[number - 1]
        changed = (line[:begin] + new.encode() + line[end:]).decode()
        self.bugs.add(Bug(number, line.decode().strip(), changed.strip()))
