"""No published example swallows an exception of the user's code: it logs the type and place, or raises it again.

An example is a block of Python in a page of the repository, or a program of cmd/. A handler of all exceptions must
raise, or pass the exception to a function whose output has its type, place and traceback.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "clientgo/**/*.md", "cmd/**/*.md", "hack/**/*.md", "test/**/*.md")
    for path in ROOT.glob(pattern)
)
PROGRAMS = sorted((ROOT / "cmd").rglob("*.py")) + sorted((ROOT / "clientgo" / "scaffold").rglob("*.py"))

# Functions of the library that raise it again, or whose output has type, place and traceback of a bug.
LOGGERS = {"ignore_not_found", "error", "error_s", "errorf", "exception", "handle_error", "handle_error_with_context"}
# Functions of the programs that end in one of these.
OF_PROGRAMS = {
    "cmd/elasticsearch-operator/elasticsearch/controller.py": "raise",
    "cmd/cockroach-operator/controller.py": "_failed",
    "cmd/pod-controller/main.py": "error = err",  # which handle_err gets after the handler
}
_BLOCK = re.compile(r"^([ ]*)```python\n(.*?)^[ ]*```", re.DOTALL | re.MULTILINE)


def blocks(text: str) -> Iterator[str]:
    """Yield the blocks of Python of a page."""
    for found in _BLOCK.finditer(text):
        yield textwrap.dedent(found[2])


def swallowing(source: str) -> Iterator[str]:
    """Yield the handlers of all exceptions that neither raise nor log with type and place."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            if re.fullmatch(r"|(.*\b)?(Base)?Exception\b.*", caught) and not _shows(node):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            yield from (ast.unparse(node) for each in node.args if ast.unparse(each).endswith("Exception"))


def _shows(handler: ast.ExceptHandler) -> bool:
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            is_plain = ast.unparse(node.func).startswith("logging.") and function != "exception"
            if function in LOGGERS and not is_plain:
                return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_example_of_a_page_swallows_an_exception(page: Path) -> None:
    found: list[str] = []
    for block in blocks(page.read_text(encoding="utf-8")):
        try:
            found += swallowing(block)
        except SyntaxError:  # a fragment of a function, such as the replacement of some lines
            found += swallowing(f"def fragment():\n{textwrap.indent(textwrap.dedent(block), '    ')}")
    assert not found


def test_pages_with_examples_are_found() -> None:
    count = sum(len(list(blocks(page.read_text(encoding="utf-8")))) for page in PAGES)
    assert count > 60
    assert {ROOT / "README.md", ROOT / "hack/site/pages/start.md"} <= set(PAGES)


def test_no_program_swallows_an_exception() -> None:
    left = {}
    for program in PROGRAMS:
        name = str(program.relative_to(ROOT))
        found = list(swallowing(program.read_text(encoding="utf-8")))
        if found and not (name in OF_PROGRAMS and all(OF_PROGRAMS[name] in each for each in found)):
            left[name] = found
    assert not left


@pytest.mark.parametrize(
    ("handler", "is_found"),
    [
        ('except Exception as err:\n    print("retrying", err)', True),
        ('except Exception as err:\n    logging.error("no %s", err)', True),
        ("except:\n    pass", True),
        ("except (ValueError, Exception):\n    continue", True),
        ("except Exception:\n    logging.exception('no')", False),
        ("except Exception as err:\n    klog.error_s(err, 'no')", False),
        ("except Exception:\n    undo()\n    raise", False),
        ("except ValueError:\n    pass", False),
    ],
)
def test_a_handler_that_swallows_is_found(handler: str, is_found: bool) -> None:
    source = f"for each in range(3):\n    try:\n        work()\n{textwrap.indent(handler, '    ')}"
    assert bool(list(swallowing(source))) is is_found
