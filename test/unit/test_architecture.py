"""ARCHITECTURE.md tells the truth: its links lead somewhere, and an event takes the way it says."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from decoding import protobuf_is_the_default
from eventwalk import follow_an_event
from libraryimports import imports_of

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
sys.path.insert(0, str(ROOT / "hack"))

from documents import go_names, walk  # noqa: E402


@protobuf_is_the_default
def test_an_event_takes_the_way_the_text_says() -> None:
    """Three events at most: on a busy machine one may find a thread that is still on its way to where it waits."""
    listed = walk.read(TEXT)
    for _ in range(3):
        went = follow_an_event(tuple(walk.asides(TEXT)))
        if walk.read(walk.render(went)) == listed:
            return
    raise AssertionError("ARCHITECTURE.md is stale: run hack/update-docs\n" + walk.render(went))


def test_the_words_beside_a_function_are_those_of_its_docstring() -> None:
    assert walk.replaced(TEXT, walk.render(walk.read(TEXT))) == TEXT, "run hack/update-docs"


def test_a_function_that_is_gone_makes_the_document_stale() -> None:
    with pytest.raises(walk.StaleError, match=r"tools/cache/store.py has no function nope"):
        walk.render({"handler x": [walk.Step("tools/cache/store.py", "nope")]})


def test_an_event_passes_fifty_functions_at_most() -> None:
    found = re.search(r"^These are (\d+) functions\.$", TEXT, re.MULTILINE)

    assert found and int(found[1]) <= 50


def test_the_list_of_go_names_is_current() -> None:
    assert (ROOT / "GO.md").read_text(encoding="utf-8") == go_names.render(), "run hack/update-docs"


def test_the_list_of_go_names_is_not_written_without_an_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    parity = go_names._parity()
    monkeypatch.setattr(parity, "resolve", lambda path: (None, None, "ModuleNotFoundError: CBOR needs cbor2"))
    monkeypatch.setattr(parity.Excuses, "reason", lambda *given: "")
    monkeypatch.setattr(go_names, "_parity", lambda: parity)

    with pytest.raises(LookupError, match="ModuleNotFoundError: CBOR needs cbor2"):
        go_names.render()


DOCUMENTS = ["ARCHITECTURE.md", "GO.md", "CONTRIBUTING.md", "CHANGELOG.md", "test/README.md", "hack/README.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_a_document_links_is_there(document: str) -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", (ROOT / document).read_text())
    folder = (ROOT / document).parent

    assert linked
    assert [name for name in linked if not (folder / name).exists()] == []


LAYERS = TEXT[TEXT.index("## Packages") : TEXT.index("## One event's way")]


def layer_of_each_package() -> dict[str, int]:
    rows = [line.split("|")[2] for line in LAYERS.splitlines() if line.startswith("| ")][1:]
    return {name: number for number, row in enumerate(rows) for name in re.findall(r"`([\w.]+)`", row)}


def exceptions() -> set[tuple[str, str]]:
    found = set()
    for line in LAYERS.splitlines():
        if line.startswith("* ") and " import " in line:
            importers, imported = line.split(" import ")
            found |= set(itertools.product(re.findall(r"`(\w+)`", importers), re.findall(r"`(\w+)`", imported)))
    return found


def top_level_imports(path: Path) -> Iterator[str]:
    """Yield the names that importing a module imports from clientgo, such as `golang.http.Server`."""
    for node in [found.node for found in imports_of(path) if found.outermost]:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "clientgo":
            module = (node.module or "").partition(".")[2]
            names = sorted({alias.name for alias in node.names} - {"__version__"})
            yield from (f"{module}.{name}" if module else name for name in names)
        elif isinstance(node, ast.Import):
            names = {alias.name for alias in node.names if alias.name.startswith("clientgo.")}
            yield from sorted(name.partition(".")[2] for name in names)


def package_of(module: str, layers: Collection[str]) -> str:
    """Return the package of the table, the one with the longest name, that contains a module."""
    found = [each for each in layers if f"{module}.".startswith(f"{each}.")]
    assert found, f"{module} has no line in the table of ARCHITECTURE.md"
    return max(found, key=len)


def test_every_package_imports_only_its_own_layer_and_those_above() -> None:
    layers, library = layer_of_each_package(), ROOT / "clientgo"
    against = set()
    for path in library.rglob("*.py"):
        module = ".".join(path.relative_to(library).with_suffix("").parts).removesuffix(".__init__")
        if module in ("__init__", "__main__", "utils"):  # `utils` itself is empty
            continue
        package = package_of(module, layers)
        for imported in (package_of(each, layers) for each in top_level_imports(path)):
            if layers[imported] > layers[package]:
                against.add((package, imported))

    assert against == exceptions()


# The limit for a module's length.
MOST_LINES = 600
# But these, whose Go file, named beside, is longer than that as well: a reader has both open.
LONG_IN_GO_TOO = {
    "apimachinery/labels/selector.py": "k8s.io/apimachinery/pkg/labels/selector.go",
    "apimachinery/util/strategicpatch/patch.py": "k8s.io/apimachinery/pkg/util/strategicpatch/patch.go",
    "controller_runtime/client/fake/client.py": "pkg/client/fake/client.go",
    "controller_runtime/client/options.py": "pkg/client/options.go",
    "rest/request.py": "rest/request.go",
    "testing/actions.py": "testing/actions.go",
    "testing/fixture.py": "testing/fixture.go",
    "tools/cache/controller.py": "tools/cache/controller.go",
    "tools/cache/reflector.py": "tools/cache/reflector.go",
    "tools/cache/shared_informer.py": "tools/cache/shared_informer.go",
}


def test_a_module_is_long_only_where_its_go_file_is_too() -> None:
    library = ROOT / "clientgo"
    sources = {path.relative_to(library).as_posix(): path.read_text() for path in library.rglob("*.py")}
    long = {name for name, source in sources.items() if source.count("\n") > MOST_LINES and not is_generated(source)}

    assert long == LONG_IN_GO_TOO.keys()
    for name, go_file in LONG_IN_GO_TOO.items():
        assert f"Mirrors {go_file}." in docstring(sources[name])


def is_generated(source: str) -> bool:
    return docstring(source).endswith("; do not edit.")


def docstring(source: str) -> str:
    return source[: source.find('"""', 3)]
