"""Pages for readers without the repository, and messages that name only files that such readers have."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
plain_links = importlib.import_module("hack.plain_links")
# The scaffold writes a file of this name into the user's project.
_OF_A_PROJECT = ("scaffolds.py", "test/e2e/conftest.py")
_GENERATED = {"api", "apiextensions", "applyconfigurations", "informers", "kubernetes", "listers"}

def plain(text: str, page: str = "docs/page.md") -> str:
    return str(plain_links.plain(text, page, lambda path: None))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the store](../tools/store.py#L3).", "See the store (`tools/store.py`)."),
        ("[store.py](../tools/store.py) and [`a.md`](a.md)", "`tools/store.py` and `docs/a.md`"),
        ("![A loop](../loop.svg)\n", "*Picture: A loop.*\n"),
        ("[above](#title), [Go](https://go.dev), [mail](mailto:a@b)",) * 2,
        ("```python\nx[0](1)\n```\n",) * 2,
    ],
)
def test_a_link_to_a_file_becomes_its_text_and_its_path(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_page_of_the_wheel_keeps_links_to_files_of_the_wheel() -> None:
    page = plain_links.wheel_page("clientgo/tools/sharding/README.md")

    assert "[clientgo/README](../../README.md)" not in page
    assert "](../../programs/sample-controller/shards.py)" in page
    assert "](__init__.py)" in page


def test_a_page_of_the_programs_links_the_library_one_folder_up() -> None:
    text = plain_links.wheel_page("cmd/README.md")

    assert "](../../cmd" not in text
    assert "](guestbook-operator/config/rbac/role.yaml)" in text
    assert "](../scaffold/README.md)" in text


def strings(path: Path) -> Iterator[str]:
    """Return the strings of a module that a user may see: all but the docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _has_doc(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def _has_doc(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(node.body) and isinstance(node.body[0], ast.Expr)


def test_no_message_of_the_library_names_a_file_that_only_a_clone_has() -> None:
    package = ROOT / "clientgo"
    written = (file for file in package.rglob("*.py") if file.relative_to(package).parts[0] not in _GENERATED)
    files = [*written, *(package / "tour/page").glob("*")]
    named = []
    for file in files:
        texts = strings(file) if file.suffix == ".py" else [file.read_text(encoding="utf-8")]
        for text in texts:
            for path in re.findall(r"(?<![\w/.-])(?:cmd|hack|test)/[\w/.-]*\w", text):
                if (ROOT / path).exists() and (file.name, path) != _OF_A_PROJECT:
                    named.append((file.relative_to(ROOT).as_posix(), path))
    assert len(files) > 500
    assert named == []
