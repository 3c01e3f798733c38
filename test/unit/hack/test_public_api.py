"""hack/api-changes: which changes of a signature break a caller, and what a repository of two commits reports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "hack"))

import public_api

ROOT = Path(__file__).resolve().parents[3]


def api(source: str, path: str = "clientgo/tools/shop.py") -> dict[str, public_api.Name]:
    return public_api.api_of(path, source)


@pytest.mark.parametrize(
    ("old", "new", "breaking"),
    [
        ("a, b", "a, b, c=None", False),
        ("a, b", "a, b, *, c=None", False),
        ("a, b", "a, b, *c, **d", False),
        ("a, b", "a, b=1", False),
        ("a: int", "a: str", False),
        ("*, a, b", "*, b, a", False),
        ("*, a", "a", False),
        ("*, a=1", "*, a=2", False),
        ("a, b", "a, b, c", True),
        ("a, b", "a", True),
        ("a, b", "b, a", True),
        ("a, b", "a, c", True),
        ("a, b=1", "a, b", True),
        ("a, b", "a, *, b", True),
        ("a, b", "a, b, /", True),
        ("a, b", "a, b, *, c", True),
        ("*, a=1", "*, a", True),
        ("*, a", "", True),
        ("*a", "", True),
        ("**a", "", True),
    ],
)
def test_a_signature_breaks_if_a_call_that_worked_may_fail(old: str, new: str, breaking: bool) -> None:
    [change] = public_api.changes(api(f"def f({old}): ..."), api(f"def f({new}): ..."))
    assert change.breaking is breaking
    assert change.name == "clientgo.tools.shop.f"


def test_bodies_docstrings_and_defaults_of_constants_are_no_api() -> None:
    assert public_api.changes(api('def f(a):\n "x"\nN = 1'), api('def f(a):\n "y"\n return 2\nN = 2')) == []


def test_names_are_public_by_all_or_without_an_underscore() -> None:
    source = "import sys\nfrom x import y\n_a = 1\nb = 2\ndef _c(): ...\nif sys:\n    d: int\nelse:\n    e = 1"
    assert set(api(source)) == {f"clientgo.tools.shop.{name}" for name in "bde"}
    assert set(api(source + "\n__all__ = ['y', '_a']")) == {"clientgo.tools.shop.y", "clientgo.tools.shop._a"}
    assert "clientgo.tools.y" in api(source, "clientgo/tools/__init__.py")


def test_members_of_a_class_are_compared() -> None:
    old = api("class A(B):\n def f(self): ...\n @property\n def g(self): ...\n h: int\n def _i(self): ...")
    new = api("class A(C):\n def g(self): ...\n h: str")
    assert [str(change).split() for change in public_api.changes(old, new)] == [
        ["BREAKING", "clientgo.tools.shop.A.f:", "removed"],
        ["BREAKING", "clientgo.tools.shop.A.g:", "was", "a", "property,", "is", "a", "function"],
        ["ok", "clientgo.tools.shop.A:", "(B)", "became", "(C)"],
        ["ok", "clientgo.tools.shop.A.h:", "int", "became", "str"],
    ]


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("clientgo/tools/cache/store.py", True),
        ("clientgo/tools/__init__.py", True),
        ("clientgo/controller_runtime/internal/log.py", False),
        ("clientgo/tools/_cache.py", False),
        ("clientgo/tour/page/tour.js", False),
        ("test/unit/test_dir.py", False),
    ],
)
def test_private_and_internal_modules_are_not_public(path: str, public: bool) -> None:
    assert public_api.is_public(path) is public


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "clientgo").mkdir()
    (tmp_path / "clientgo/__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "clientgo/shop.py").write_text("def buy(cake): ...\ndef sell(cake): ...\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, timeout=PATIENCE)


def api_changes(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "hack/api-changes"), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def test_the_working_tree_is_compared_with_its_commit_before_the_first_release(repository: Path) -> None:
    (repository / "clientgo/shop.py").write_text("def buy(cake, price): ...\n")
    (repository / "clientgo/bank.py").write_text("def pay(): ...\n")

    done = api_changes(repository, "--release")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "BREAKING  clientgo.shop.buy: (cake) became (cake, price)",
        "BREAKING  clientgo.shop.sell: removed",
        "ok        clientgo.bank.pay: added",
        "HEAD to the working tree: 3 changes, 2 of them breaking",
    ]


def test_a_break_of_a_release_fails_until_the_next_minor_version(repository: Path) -> None:
    git(repository, "tag", "v1.2.3")
    (repository / "clientgo/shop.py").unlink()
    git(repository, "commit", "-q", "-a", "-m", "second")

    broken = api_changes(repository, "--release")
    assert broken.returncode == 1
    assert "v1.2.3 to the working tree: 2 changes, 2 of them breaking" in broken.stdout
    assert broken.stderr == "hack/api-changes: v1.2.3 promised these names until the next minor version\n"
    assert api_changes(repository).returncode == 0

    (repository / "clientgo/__init__.py").write_text('__version__ = "1.3.0"\n')
    assert api_changes(repository, "--release").returncode == 0
    assert "HEAD to HEAD: 0 changes" in api_changes(repository, "HEAD", "HEAD").stdout
