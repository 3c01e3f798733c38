"""The house's own style: what is checked is found, and mended by rule."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hack"))

import style  # noqa: E402

UNTIDY = '''
class Store(Protocol):
    def add(self, obj: object) -> None:
        """Put it in (Go: Store.Add). Never blocks."""

    def get(self) -> object: ...
'''
TIDY = '''
class Store(Protocol):
    def add(self, obj: object) -> None:
        """Put it in. Go: Store.Add. Never blocks."""
        ...

    def get(self) -> object: ...
'''


def test_what_is_untidy_is_found_and_mended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(style, "ROOT", tmp_path)
    module = tmp_path / "store.py"
    module.write_text(UNTIDY)

    found = list(style.problems(module))
    module.write_text(style.fixed(UNTIDY))

    assert [problem.split(": ", 1)[0] for problem in found] == ["store.py:4", "store.py:3"]
    assert module.read_text() == TIDY
    assert list(style.problems(module)) == []


COMMENTED = """
@dataclass
class QueueConfig:
    name: str = ""
    # Seconds between two looks,
    # none when 0.
    period: float = 0.0
    # What is documented below may have a reason above.
    clock: Clock | None = None
    \"\"\"The real one when None.\"\"\"


@dataclass
class _OwnConfig:
    # Nobody else reads this.
    period: float = 0.0
"""
DOCUMENTED = COMMENTED.replace(
    """    # Seconds between two looks,
    # none when 0.
    period: float = 0.0
""",
    """    period: float = 0.0
    \"\"\"Seconds between two looks,
    none when 0.\"\"\"
""",
)


def test_what_an_option_is_for_stands_below_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(style, "ROOT", tmp_path)
    module = tmp_path / "queue.py"
    module.write_text(COMMENTED)

    assert [problem.split(": ", 1)[0] for problem in style.problems(module)] == ["queue.py:7"]

    module.write_text(style.fixed(COMMENTED))
    assert module.read_text() == DOCUMENTED
    assert list(style.problems(module)) == []


def test_a_docstring_of_an_option_is_no_longer_than_a_line_may_be() -> None:
    for length in range(100, 120):
        comment = "# " + "x" * (length - 6)
        mended = style.fixed(f"@dataclass\nclass QueueConfig:\n    {comment}\n    name: str\n")
        assert max(map(len, mended.splitlines())) <= 120


def test_a_package_that_gives_names_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(style, "ROOT", tmp_path)
    package = tmp_path / "__init__.py"

    package.write_text("from clientgo.tools.cache.store import Store\n")
    assert len(list(style.problems(package))) == 1
    package.write_text('from clientgo.tools.cache.store import Store\n\n__all__ = ["Store"]\n')
    assert list(style.problems(package)) == []


def test_all_modules_are_in_style() -> None:
    assert [problem for path in style.files() for problem in style.problems(path)] == []
