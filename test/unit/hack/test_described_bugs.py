"""hack/described_bugs.py: descriptions find their place, also after renames and a reformat, and refuse to guess."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import described_bugs  # noqa: E402
import mutant_list  # noqa: E402
from described_bugs import BrokenDescriptionError, Description  # noqa: E402

SOURCE = '''\
LIMIT = 3


class Queue:
    size = 0

    def get(self, key):
        """Return the item of a key, or None."""
        if not self._closed and key < LIMIT:
            self._cond.wait(1.0, name="get")
            return self._take(key)
        log("gone", key)
        self._count += 1
        return None

    def _take(self, key):
        item = self._items.pop(key)
        self._cond.notify()
        self._cond.notify_all()
        if item:
            return item
        raise ValueError("no such item in the queue")
'''


def bug(function: str, edit: str, source: str = SOURCE) -> tuple[str, str]:
    """Return the only line that the bug changes, before and after."""
    after = Description(function, edit).put_in(source)
    pairs = zip(source.splitlines(), after.splitlines(), strict=True)
    ((old, new),) = [pair for pair in pairs if pair[0] != pair[1]]
    return old.strip(), new.strip()


@pytest.mark.parametrize(
    ("function", "edit", "line"),
    [
        ("Queue._take", "drop self._cond.notify_all()", "pass"),
        ("Queue._take", "drop raise ValueError(...)", "pass"),
        ("Queue._take", "drop item = ...", "pass"),
        ("Queue._take", "negate item", "if (not item):"),
        ("Queue._take", "never item", "if False:"),
        ("Queue._take", "always item", "if True:"),
        ("Queue._take", "return item -> return None", "return None"),
        ("Queue.get", "negate not self._closed", "if self._closed and key < LIMIT:"),
        ("Queue.get", "negate key < LIMIT", "if not self._closed and (key >= LIMIT):"),
        ("Queue.get", "key < LIMIT -> key <= LIMIT", "if not self._closed and (key <= LIMIT):"),
        ("Queue.get", "drop self._count += 1", "pass"),
        ("Queue.get", 'log("gone", key) -> log("key", key)', "log('key', key)"),
        ("Queue.get", "wait(..., name='get') -> wait(..., name='x')", None),
        (
            "Queue.get",
            "self._cond.wait(..., name='get') -> self._cond.wait(..., name='x')",
            "self._cond.wait(1.0, name='x')",
        ),
        ("Queue", "size = 0 -> size = 1", "size = 1"),
        ("(module)", "LIMIT = 3 -> LIMIT = 4", "LIMIT = 4"),
    ],
)
def test_an_edit_changes_its_line_and_no_other(function: str, edit: str, line: str | None) -> None:
    if line is None:
        with pytest.raises(BrokenDescriptionError, match="no places for"):
            bug(function, edit)
    else:
        assert bug(function, edit)[1] == line


def test_an_edit_of_several_lines_keeps_the_numbers_of_the_lines_below() -> None:
    source = "def f(a):\n    g(\n        a,\n        1,\n    )\n    return (a and\n            b)\n"

    assert Description("f", "drop g(...)").put_in(source).splitlines()[5] == "    return (a and"
    assert Description("f", "a and b -> a or b").put_in(source).splitlines()[-1].strip() == "))"
    assert ast.unparse(ast.parse(Description("f", "a and b -> a or b").put_in(source))).endswith("return a or b")


RENAMED = '''\
def log(text): "now here"


LIMIT = 3


class Queue:
    """A queue."""
    size = 0

    def get(
        self, wanted
    ):  # formatted otherwise
        """Return the item."""
        if (
            not self._over
            and wanted < LIMIT
        ): return self._pop(wanted)
        log('gone', wanted)
        self._done += 1

    def _pop(self, wanted):
        found = self._all.pop(wanted)
        self._condition.notify()
        self._condition.notify_all()
        if found:
            return found
        raise ValueError("the queue has no such item")
'''


@pytest.mark.parametrize(
    ("function", "edit", "program"),
    [
        ("Queue._take", "drop self._cond.notify_all()", "drop self._condition.notify_all()"),
        ("Queue._take", "negate item", "negate found"),
        ("Queue._take", "return item -> return -item", "return found -> return -found"),
        (
            "Queue._take",
            'ValueError("no such item in the queue") -> KeyError("no such item in the queue")',
            'ValueError("the queue has no such item") -> KeyError("the queue has no such item")',
        ),
        ("Queue.get", "negate not self._closed", "negate not self._over"),
        ("Queue.get", "drop self._count += 1", "drop self._done += 1"),
        ("Queue.get", "self._take(key) -> self._take(-key)", "self._pop(wanted) -> self._pop(-wanted)"),
        ("Queue.get", "drop log(...)", "drop log('gone', wanted)"),
    ],
)
def test_a_description_outlives_renames_a_reformat_and_new_texts(function: str, edit: str, program: str) -> None:
    together = (edit, "item = self._items.pop(key) -> item = 1") if function == "Queue._take" else (edit,)
    here = function.replace("_take", "_pop")

    description = Description(function, edit, together)
    after = description.put_in(RENAMED)

    assert description.present(RENAMED) == Description(here, edit)
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(Description(here, program).put_in(RENAMED)))


@pytest.mark.parametrize(
    ("function", "edit", "why"),
    [
        ("Queue._take", "drop self._cond.notify_one()", "has no places for"),
        ("Queue._take", "negate item == 1", "no places"),
        ("Queue.get", "drop self._cond.notify_all()", "has no places"),
        ("Queue.get", "drop cond.wait(...)", "has no places"),
        ("Queue.put", "drop raise KeyError(...)", "there is no Queue.put, and none has places"),
        ("Queue.get", "drop", "cannot read"),
        ("Queue.get", "key < LIMIT", "cannot read"),
        ("Queue.get", "if key: pass -> pass", "cannot read"),
        ("Queue.get", "key < LIMIT -> key  < LIMIT", "nothing changes"),
    ],
)
def test_what_has_no_single_place_is_an_error(function: str, edit: str, why: str) -> None:
    with pytest.raises(BrokenDescriptionError, match=why):
        Description(function, edit).put_in(SOURCE)


TWICE = """\
def f(a):
    if a:
        return g(a)
    return h(a)


def g(b):
    x = b
    x = b
    _p(x)
    _q(x)
"""


def test_places_that_look_the_same_are_counted_and_a_change_of_their_number_is_an_error() -> None:
    with pytest.raises(BrokenDescriptionError, match="2 places"):
        Description("g", "drop x = b").put_in(TWICE)
    with pytest.raises(BrokenDescriptionError, match="2 places"):
        Description("g", "drop x = b [3 of 3]").put_in(TWICE)
    assert Description("g", "drop x = b [2 of 2]").line(TWICE) == 9


def test_a_number_distinguishes_renamed_places_only_if_necessary() -> None:
    assert Description("g", "drop _q(...)").line(TWICE) == 11
    assert Description("g", "drop _q(...) [2 of 2]").line(TWICE.replace("_q", "_r").replace("_p", "_s")) == 11
    with pytest.raises(BrokenDescriptionError, match="2 places"):
        Description("g", "drop _q(...)").line(TWICE.replace("_q", "_r").replace("_p", "_s"))


def test_a_public_name_of_the_module_is_never_taken_for_another() -> None:
    source = textwrap.dedent("""\
        def f(a):
            start(a)
            return a
    """)

    with pytest.raises(BrokenDescriptionError, match="no places"):
        Description("f", "drop stop(...)").put_in(source)


@pytest.mark.parametrize("number", [9, 10, 11, 12, 13, 17, 18, 19, 21, 22])
def test_a_change_is_described_so_that_the_description_makes_it(number: int) -> None:
    lines = SOURCE.splitlines()
    line = lines[number - 1].strip()
    new = line.replace(":", " and 7:") if line.startswith("if ") else "pass"
    after = "\n".join([*lines[: number - 1], lines[number - 1].replace(line, new), *lines[number:]])

    found = described_bugs.describe(SOURCE, after)

    assert found is not None
    assert ast.dump(ast.parse(found.put_in(SOURCE))) == ast.dump(ast.parse(after))


def test_several_changes_have_no_description() -> None:
    assert described_bugs.describe(SOURCE, SOURCE.replace("3", "4").replace("1", "2")) is None


# ---- the list


class _RenameAll(ast.NodeTransformer):
    """Transformer that renames the locals of every function and all private names, except functions."""

    def __init__(self, tree: ast.Module) -> None:
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        self._kept = {node.name for node in ast.walk(tree) if isinstance(node, defined)}
        self._local: list[frozenset[str]] = []

    def _new(self, name: str) -> str:
        is_local = any(name in names for names in self._local)
        private = name.startswith("_") and not name.startswith("__")
        return f"{name}_renamed" if (is_local or private) and name not in self._kept and name != "_" else name

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not self._local:  # that of the outermost function has the names of the nested ones
            self._local.append(described_bugs.names_bound_in(node))
            self.generic_visit(node)
            self._local.pop()
        else:
            self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._new(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        self.generic_visit(node)
        node.arg = self._new(node.arg)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        node.name = node.name and self._new(node.name)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        private = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in self._kept
        node.attr = f"{node.attr}_renamed" if private else node.attr
        return node


def renamed(source: str) -> str:
    """Return the source without comments, in another layout, with other names of locals and private attributes."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is None:
            node.body.insert(0, ast.Expr(ast.Constant("Do something else.")))
    return ast.unparse(ast.fix_missing_locations(_RenameAll(tree).visit(tree)))


def listed() -> Iterator[tuple[str, list[mutant_list.Mutant]]]:
    files: dict[str, list[mutant_list.Mutant]] = {}
    for mutant in mutant_list.read_list():
        files.setdefault(mutant.file, []).append(mutant)
    yield from files.items()


@pytest.mark.takes_turns(4)
def test_no_bug_of_the_list_is_put_elsewhere_after_the_rename_of_a_private_function() -> None:
    """A function that has no single candidate is an error; its heading in the list is the one place to change."""
    lost, found = set(), set()
    for file, group in listed():
        source = (ROOT / file).read_text(encoding="utf-8")
        for mutant in group:
            assert isinstance(mutant.bug, Description)
            name = mutant.bug.function.rpartition(".")[2]
            if name.startswith("_") and not name.startswith("__"):
                after = re.sub(rf"\b{name}\b", f"{name}_renamed", source)
                try:
                    assert mutant.bug.line(after) == mutant.bug.line(source), str(mutant)
                    found.add((file, mutant.bug.function))
                except BrokenDescriptionError:
                    lost.add((file, mutant.bug.function))
    assert len(found) > 2 * len(lost), f"{len(lost)} functions are lost, {len(found)} found"


@pytest.mark.takes_turns(4)
def test_every_bug_of_the_list_outlives_the_rename_of_all_locals_and_private_attributes() -> None:
    """Checks each at the same place of the syntax tree, counted in nodes."""
    lost = []
    for file, group in listed():
        before = (ROOT / file).read_text(encoding="utf-8")
        after = renamed(before)
        old, new = (_statements(text) for text in (before, after))
        for mutant in group:
            assert isinstance(mutant.bug, Description)
            try:
                line = mutant.bug.present(before).line(after)
            except BrokenDescriptionError as err:
                lost.append(f"{mutant}: {err}")
                continue
            if _index(old, mutant.bug.line(before)) != _index(new, line):
                lost.append(f"{mutant}: found elsewhere")
    assert not lost, "\n".join(lost)


def _statements(source: str) -> list[int]:
    """Return the first lines of the statements, without docstrings."""
    tree = ast.parse(source)
    texts = (ast.Expr,)
    return sorted(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and not (isinstance(node, texts) and isinstance(node.value, ast.Constant))
    )


def _index(starts: list[int], line: int) -> int:
    return sum(start <= line for start in starts)
