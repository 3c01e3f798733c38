"""Describe bugs of one line by what they change in a function, so that the description outlives renames and reformats.

A description is the name of a function and an edit of its syntax tree:

    Heap.close
        drop self._cond.notify_all()        the statement becomes `pass`
        negate not self._closed             a condition becomes its opposite
        never self._closed                  a condition becomes False; with `always`, True
        n < 3 -> n <= 3                     an expression, or a statement, becomes another one
        f(..., n=1) -> f(..., n=2)          an argument of a call becomes another one
        drop return [2 of 3]                the second of the three places of that shape

The function is the outermost one, `Class.method` for a method. The name of a class stands for its own statements,
`(module)` for those of the module. `...` matches any value, `f(...)` a call with any arguments.

Comments, layout, quotes and docstrings are no part of an edit. An edit keeps the names that the source had when the
edit was written. A place with these names is taken if the function has exactly one. Otherwise the names of locals, each
name that begins with `_` and strings with a space match any others of their sort (each of them one other, throughout
the edit); the place must then be unique, or `[2 of 3]` selects it. A function that no longer exists under its name is
the only one of the module that has places for all of its edits.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

MODULE = "(module)"

_COMPLEMENTS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
}
_COMPLEMENTS |= {new: old for old, new in _COMPLEMENTS.items()}

_SIMPLE_STATEMENTS = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Delete, ast.Assert),
    *(ast.Continue, ast.Break, ast.Pass, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IGNORED_FIELDS = frozenset(["ctx", "kind", "type_comment"])
# Replacements of these need no parentheses.
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)

_COUNTED = re.compile(r"(.*) \[(\d+) of (\d+)\]")


class BrokenDescriptionError(Exception):
    """The description cannot be read, or does not match one place of the source."""


@dataclass(frozen=True)
class Description:
    """A bug of one line: a function and an edit of it."""

    function: str
    edit: str
    together: tuple[str, ...] = field(default=(), compare=False)
    """All edits that the list has under the same function, by which the function is found after a rename."""

    def __str__(self) -> str:
        return f"{self.function}: {self.edit}"

    def put_in(self, source: str) -> str:
        """Return the source with the bug, with as many lines. Raises BrokenDescriptionError without one such place."""
        return _spliced(source, *self._find(source))

    def line(self, source: str) -> int:
        """Return the number of the line with the bug, from 1. Raises BrokenDescriptionError as `put_in`."""
        return self._find(source)[0].lineno

    def present(self, source: str) -> Description:
        """Return the description with the function's present name. Raises BrokenDescriptionError as `put_in`."""
        return replace(self, function=self._scope(source).name)

    def _find(self, source: str) -> tuple[_Place, _Place]:
        """Return the node that changes and the new one."""
        return self._scope(source).find(_read_edit(self.edit))

    def _scope(self, source: str) -> _Scope:
        module = _module(source)
        return module.scopes.get(self.function) or module.renamed(self.function, self.together or (self.edit,))


_Place = ast.expr | ast.stmt


# ---- reading an edit


@dataclass(frozen=True)
class _Edit:
    text: str
    old: _Place
    new: _Place
    is_condition: bool = False
    which: int = 0
    of: int = 0


@functools.cache
def _read_edit(text: str) -> _Edit:
    body, which, of = text, 0, 0
    if counted := _COUNTED.fullmatch(text):
        body, which, of = counted[1], int(counted[2]), int(counted[3])
    verb, _, rest = body.partition(" ")
    if verb == "drop":
        pair: tuple[_Place, _Place] | None = _read(rest, rest, "exec")
        pair = pair and (pair[0], ast.Pass())
    elif verb in _CONDITIONS:
        pair = _read(rest, rest, "eval")
        pair = pair and (pair[0], _CONDITIONS[verb](pair[1]))
    else:
        parts = body.split(" -> ")
        sides = [(" -> ".join(parts[:n]), " -> ".join(parts[n:])) for n in range(1, len(parts))]
        pairs = (_read(old, new, mode) for mode in ("eval", "exec") for old, new in sides)
        pair = next(filter(None, pairs), None)
    if pair is None:
        raise BrokenDescriptionError(f"cannot read the edit {text!r}")
    old, new = pair
    if _same(old, new, None):
        raise BrokenDescriptionError(f"nothing changes: {text}")
    return _Edit(text, old, new, verb in _CONDITIONS, which, of)


def _read(old: str, new: str, mode: str) -> tuple[_Place, _Place] | None:
    """Return both sides as expressions ("eval") or as simple statements ("exec"), or None."""
    try:
        if mode == "eval":
            return ast.parse(old, mode="eval").body, ast.parse(new, mode="eval").body
        olds, news = ast.parse(old).body, ast.parse(new).body
    except SyntaxError:
        return None
    if len(olds) == len(news) == 1 and isinstance(olds[0], _SIMPLE_STATEMENTS):
        return olds[0], news[0]
    return None


def _negated(test: _Place) -> ast.expr:
    assert isinstance(test, ast.expr)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_COMPLEMENTS[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


# What becomes of a condition, by verb.
_CONDITIONS: dict[str, Callable[[_Place], _Place]] = {
    "negate": _negated,
    "never": lambda _: ast.Constant(False),
    "always": lambda _: ast.Constant(True),
}


# ---- comparing


class _Names:
    """Names of the source that stand for names of an edit, one to one."""

    def __init__(self, local: frozenset[str]) -> None:
        self._local = local
        self._new: dict[object, object] = {}
        self._old: dict[object, object] = {}

    def bind(self, sort: str, old: str, new: str) -> bool:
        """Let `new` stand for `old` and report whether it may."""
        if old != new and not self._may_differ(sort, old, new):
            return False
        return self._new.setdefault((sort, old), new) == new and self._old.setdefault((sort, new), old) == old

    def _may_differ(self, sort: str, old: str, new: str) -> bool:
        """Report whether these are private names or texts, or `new` is local; `old` may have been local as well."""
        if sort == "text":
            return " " in old and " " in new
        return (_is_private(old) and _is_private(new)) or (sort == "name" and new in self._local)

    def get(self, sort: str, old: str) -> str:
        new = self._new.get((sort, old), old)
        assert isinstance(new, str)
        return new


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _same(old: object, new: object, names: _Names | None) -> bool:
    """Report whether a node matches that of an edit, with the same names (None) or with others of the same sort."""
    if isinstance(old, ast.Constant) and old.value is ... and isinstance(new, ast.expr):
        return True
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(_same, old, new, [names] * len(old)))
    if not isinstance(old, ast.AST):
        return type(old) is type(new) and old == new
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.Call) and isinstance(new, ast.Call) and _is_any_call(old):
        values = {keyword.arg: keyword.value for keyword in new.keywords}
        return _same(old.func, new.func, names) and all(
            keyword.arg in values and _same(keyword.value, values[keyword.arg], names) for keyword in old.keywords
        )
    named = _NAMED.get(type(old))
    if named and names:
        sort, attribute = named
        before, after = getattr(old, attribute), getattr(new, attribute)
        if isinstance(before, str) and isinstance(after, str):
            if not names.bind(sort, before, after):
                return False
            ignored = _IGNORED_FIELDS | {attribute}
            return all(_same(getattr(old, f), getattr(new, f), names) for f in old._fields if f not in ignored)
    return all(_same(getattr(old, f), getattr(new, f), names) for f in old._fields if f not in _IGNORED_FIELDS)


# Which sort of name a node has, and in which field.
_NAMED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Name: ("name", "id"),
    ast.arg: ("name", "arg"),
    ast.Attribute: ("attribute", "attr"),
    ast.keyword: ("attribute", "arg"),
    ast.Constant: ("text", "value"),
}


def _is_any_call(call: ast.Call) -> bool:
    """Report whether it is `f(...)` or `f(..., name=value)`."""
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value is ...


def _with_arguments(call: ast.Call, changed: ast.Call) -> ast.Call:
    """Return the call with the named arguments of `f(..., name=value)`."""
    values = {keyword.arg: keyword.value for keyword in changed.keywords}
    keywords = [ast.keyword(keyword.arg, values.get(keyword.arg, keyword.value)) for keyword in call.keywords]
    return ast.Call(call.func, call.args, keywords)


class _Renamer(ast.NodeTransformer):
    """Transformer that gives the new node of an edit the names that the source has now."""

    def __init__(self, names: _Names) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        named = _NAMED.get(type(node))
        if named and isinstance(old := getattr(node, named[1]), str):
            setattr(node, named[1], self._names.get(named[0], old))
        self.generic_visit(node)
        return node


# ---- the places of a module


class _Scope:
    """The nodes of a function, or of a class or module without its functions, in their order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._roots: list[ast.AST] = []

    def add(self, roots: Iterable[ast.AST]) -> None:
        self._roots += roots

    @functools.cached_property
    def _nodes(self) -> dict[type[_Place], list[_Place]]:
        nodes: dict[type[_Place], list[_Place]] = defaultdict(list)
        for root in self._roots:
            for node in _walk(root):
                nodes[type(node)].append(node)
        return nodes

    @functools.cached_property
    def _conditions(self) -> set[ast.AST]:
        found: set[ast.AST] = set()
        for root in self._roots:
            for node in ast.walk(root):
                if isinstance(node, ast.If | ast.While | ast.IfExp):
                    found.add(node.test)
                elif isinstance(node, ast.comprehension):
                    found.update(node.ifs)
                elif isinstance(node, ast.BoolOp):
                    found.update(node.values)
                elif (
                    isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Name | ast.Constant)
                ):
                    found.add(node.value)
                elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                    found.add(node.operand)
        return found

    @functools.cached_property
    def local(self) -> frozenset[str]:
        return frozenset().union(*map(names_bound_in, self._roots))

    def has_one_at(self, places: set[tuple[int, int, type[ast.expr] | type[ast.stmt]]]) -> bool:
        """Report whether one of the nodes begins at one of these lines and columns."""
        return any((node.lineno, node.col_offset, kind) in places for kind in self._nodes for node in self._nodes[kind])

    def exact(self, edit: _Edit) -> list[_Place]:
        """Return the places that have the names of the edit."""
        return [node for node in self._candidates(edit) if _same(edit.old, node, None)]

    def shaped(self, edit: _Edit) -> list[_Place]:
        """Return the places that have names of the same sort."""
        return [node for node in self._candidates(edit) if _same(edit.old, node, _Names(self.local))]

    def _candidates(self, edit: _Edit) -> list[_Place]:
        nodes = self._nodes[type(edit.old)]
        return [node for node in nodes if node in self._conditions] if edit.is_condition else nodes

    def find(self, edit: _Edit) -> tuple[_Place, _Place]:
        """Return the node of the edit and its replacement."""
        exact = self.exact(edit)
        if len(exact) != 1:
            shaped = self.shaped(edit)
            if edit.of and len(shaped) == edit.of:
                exact = [shaped[edit.which - 1]]
            elif len(shaped) == 1 and not edit.of:
                exact = shaped
            else:
                raise BrokenDescriptionError(f"{self.name} has {len(shaped) or 'no'} places for: {edit.text}")
        names = _Names(self.local)
        _same(edit.old, exact[0], names)
        new = _Renamer(names).visit(copy.deepcopy(edit.new))
        if isinstance(exact[0], ast.Call) and isinstance(new, ast.Call) and _is_any_call(new):
            new = _with_arguments(exact[0], new)
        assert isinstance(new, ast.expr | ast.stmt)
        return exact[0], new


def names_bound_in(root: ast.AST) -> frozenset[str]:
    """Return the names that a node and those inside it bind: arguments, variables, errors and nested functions."""
    names = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.ExceptHandler, *_FUNCTIONS)) and node.name:
            names.add(node.name)
    return frozenset(names)


class _Module:
    """The scopes of a module, by name."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        self.scopes: dict[str, _Scope] = {}
        self._enter(self.tree.body, "")

    def _enter(self, body: list[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, _FUNCTIONS):
                self._scope(owner + node.name).add([node])
            elif isinstance(node, ast.ClassDef):
                own: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
                self._scope(owner + node.name).add(own)
                self._enter(node.body, f"{owner}{node.name}.")
            elif isinstance(node, _SIMPLE_STATEMENTS):
                self._scope(owner.removesuffix(".") or MODULE).add([node])
            else:
                inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
                outer = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr | ast.withitem)]
                self._scope(owner.removesuffix(".") or MODULE).add(outer)
                self._enter(inner, owner)
                for handler in getattr(node, "handlers", ()):
                    self._enter(handler.body, owner)

    def _scope(self, name: str) -> _Scope:
        return self.scopes.setdefault(name, _Scope(name))

    def renamed(self, function: str, edits: tuple[str, ...]) -> _Scope:
        """Return the only scope with places for all edits. Raises BrokenDescriptionError if there is no such one."""
        read = [_read_edit(edit) for edit in edits]
        for has_place in (_Scope.exact, _Scope.shaped):
            found = [
                scope for scope in self.scopes.values() if all(len(has_place(scope, e)) in (1, e.of or 1) for e in read)
            ]
            if len(found) == 1:
                return found[0]
        where = f"{len(found)} functions have" if found else "none has"
        raise BrokenDescriptionError(f"there is no {function}, and {where} places for: {'; '.join(edits)}")


@functools.lru_cache(maxsize=16)
def _module(source: str) -> _Module:
    return _Module(source)


def _walk(node: ast.AST) -> Iterator[_Place]:
    """Yield expressions and simple statements in their order, without docstrings and the parts of f-strings."""
    is_target = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
    if isinstance(node, (ast.expr, *_SIMPLE_STATEMENTS)) and not is_target:
        yield node
    # Python 3.11 does not know the positions in an f-string.
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                yield from _walk(child)


def _spliced(source: str, old: _Place, new: _Place) -> str:
    """Return the source with a node replaced; it has as many lines as before."""
    lines = source.encode().splitlines(keepends=True)
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before, after = lines[first][: old.col_offset], lines[last][old.end_col_offset :]
    text, more = ast.unparse(new), "\n" * (last - first)
    if isinstance(new, ast.stmt):
        text += more
    elif more or not isinstance(new, _ATOMS):
        text = f"({text}{more})"
    changed = [*lines[:first], before + text.encode() + after, *lines[last + 1 :]]
    return b"".join(changed).decode()


# ---- describing a change


def describe(before: str, after: str) -> Description | None:
    """Return the description of the difference between two sources, or None if no single edit makes it."""
    wanted = ast.parse(after)
    pairs = list(_differences(ast.parse(before), wanted))
    options = [text for old, new in reversed(pairs) for text in _edits(before, after, old, new)]
    at = {(node.lineno, node.col_offset, type(node)) for node, _ in pairs if isinstance(node, ast.expr | ast.stmt)}
    scopes = [scope for scope in _module(before).scopes.values() if scope.has_one_at(at)]
    for scope in scopes:
        readable = [edit for edit in map(_read_or_none, options) if edit]
        readable.sort(key=lambda edit: len(scope.exact(edit)) != 1)
        for edit in readable:
            exact, shaped = scope.exact(edit), scope.shaped(edit)
            for place in exact:
                counted = f" [{shaped.index(place) + 1} of {len(shaped)}]" * (len(shaped) > 1)
                found = Description(scope.name, edit.text + counted)
                if ast.dump(ast.parse(found.put_in(before))) == ast.dump(wanted):
                    return found
    return None


def _read_or_none(text: str) -> _Edit | None:
    try:
        return _read_edit(text)
    except BrokenDescriptionError:
        return None


def _differences(old: ast.AST, new: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the nodes that contain the whole difference of two trees, the outermost ones first."""
    yield old, new
    if type(old) is not type(new) or isinstance(old, ast.JoinedStr):
        return
    differing: list[tuple[ast.AST, ast.AST]] = []
    for name in old._fields:
        before, after = getattr(old, name), getattr(new, name)
        befores, afters = [each if isinstance(each, list) else [each] for each in (before, after)]
        if len(befores) != len(afters):
            return
        for one, other in zip(befores, afters, strict=True):
            if isinstance(one, ast.AST) and isinstance(other, ast.AST):
                if ast.dump(one) != ast.dump(other):
                    differing.append((one, other))
            elif one != other:
                return
    if len(differing) == 1:
        yield from _differences(*differing[0])


def _edits(before: str, after: str, old: ast.AST, new: ast.AST) -> Iterator[str]:
    """Yield edits that turn a node into another one, the shortest ones first."""
    if isinstance(old, _SIMPLE_STATEMENTS) and isinstance(new, _SIMPLE_STATEMENTS):
        if isinstance(new, ast.Pass):
            short = _shortened(old)
            yield from [f"drop {ast.unparse(short)}"] if short else []
            yield f"drop {_text(before, old)}"
        else:
            yield f"{_text(before, old)} -> {_text(after, new)}"
    elif isinstance(old, ast.expr) and isinstance(new, ast.expr):
        for verb, change in _CONDITIONS.items():
            if _same(change(old), new, None):
                yield f"{verb} {_text(before, old)}"
        if isinstance(old, ast.Call) and isinstance(new, ast.Call):
            yield from _changed_argument(old, new)
        # A name or a constant says too little without what is around it.
        if not isinstance(old, ast.Name | ast.Constant):
            yield f"{_text(before, old)} -> {_text(after, new)}"


def _changed_argument(old: ast.Call, new: ast.Call) -> Iterator[str]:
    """Yield `f(..., name=1) -> f(..., name=2)` if a named argument is the only difference."""
    pairs = list(zip(old.keywords, new.keywords, strict=False))
    changed = [(one, other) for one, other in pairs if not _same(one, other, None)]
    if len(changed) == 1 and len(old.keywords) == len(new.keywords) and _same(old.args, new.args, None):
        function = ast.unparse(old.func)
        yield " -> ".join(f"{function}(..., {ast.unparse(keyword)})" for keyword in changed[0])


def _text(source: str, node: _Place) -> str:
    text = ast.get_source_segment(source, node) or ""
    return ast.unparse(node) if "\n" in text or not text else text


def _shortened(statement: ast.stmt) -> ast.stmt | None:
    """Return the statement with `...` for its value or its arguments, or None if it has none."""
    short, any_value = copy.deepcopy(statement), ast.Constant(...)
    if isinstance(short, ast.Assign | ast.AugAssign) and not isinstance(short.value, ast.Constant | ast.Name):
        short.value = any_value
        return short
    call = short.value if isinstance(short, ast.Expr) else short.exc if isinstance(short, ast.Raise) else None
    if isinstance(call, ast.Call) and (call.args or call.keywords):
        call.args, call.keywords = [any_value], []
        return short
    return None
