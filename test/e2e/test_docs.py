"""The pages of the documentation: every block of code runs, and the output below a block is what the block prints.

A page's Python blocks are one module, in their order. Its `test_*` functions run after that, with the fixtures of the
pytest plugin. A `text` block directly below a Python block is the block's output. Chinese pages have the code of their
English pages.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import itertools
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from page_commands import RUN_BY
from processes import ROOT

pytestmark = pytest.mark.shared_server
DOCS = ROOT / "hack" / "site" / "pages"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
ENGLISH = [page for page in PAGES if not page.startswith("zh/")]
# The test of each command that only these pages have.
MADE_DATA = "API_SCHEMA_DIR CLIENT_GO_DIR API_DIR APIMACHINERY_DIR APIEXTENSIONS_DIR RELEASE"
RUN_BY_OTHERS = {
    "hack/follow-version compare ~/client-go v0.37.0": "test_other_version.py, with a small repository",
    "hack/follow-version rehearse ~/client-go v0.35.0 v0.36.0": "a person with a clone; test_other_version.py: parts",
    f"hack/make-apiserver-data {MADE_DATA}": "a person with clones of Kubernetes",
    "hack/update-codegen": "test_codegen.py",
    "hack/update-docs": "test_architecture.py",
    "hack/verify-parity": "test_verify_parity.py",
    "hack/api-changes --release": "test_public_api.py",
    "hack/report": "test_report.py",
    "kubectl apply -f labeller.yaml": "test_first_steps.py",
    "kubectl create token labeller": "test_first_steps.py",
}
# Blocks that a browser, Prometheus or Go would run; nothing here can.
SHOWN_ONLY = {"go", "promql", "diff"}
# Code for clients that the environment of the tests lacks: test_plugin_clients.py runs it.
OTHER_CLIENTS = {"python kopf", "python kr8s", "python lightkube"}


class Block(NamedTuple):
    language: str
    line: int
    text: str


def blocks(page: str) -> list[Block]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return [
        Block(match[1], text.count("\n", 0, match.start()) + 2, match[2])
        for match in re.finditer(r"(?ms)^```([^\n]*)\n(.*?)^```$", text)
        if not match[1].startswith("{")
    ]


def with_code(pages: list[str]) -> list[str]:
    return [page for page in pages if any(block.language == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", with_code(ENGLISH))
def test_the_code_of_a_page_runs(
    page: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.py"
    found = blocks(page)
    code = [block for block in found if block.language == "python"]
    file.write_text("\n".join(block.text for block in code), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"docs_{page.replace('/', '_').removesuffix('.md')}", file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # A block may import what the page saved as a file before.
    for name in re.findall(r"`(\w+)\.py`", (DOCS / page).read_text(encoding="utf-8")):
        monkeypatch.setitem(sys.modules, name, module)
    outputs = {block: after for block, after in itertools.pairwise(found) if after.language == "text"}
    monkeypatch.setenv("KUBECONFIG", request.getfixturevalue("kubeconfig"))

    for block in code:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (block.line - 1) + block.text, str(DOCS / page), "exec"), module.__dict__)
        if block in outputs:
            assert printed.getvalue() == outputs[block].text
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    for function in tests:
        function(**{name: request.getfixturevalue(name) for name in inspect.signature(function).parameters})

    assert tests or outputs


@pytest.mark.parametrize("page", PAGES)
def test_every_other_block_of_a_page_is_valid(page: str) -> None:
    for block in blocks(page):
        if block.language == "sh":
            commands = [line.strip() for line in block.text.splitlines() if line.strip()]
            assert set(commands) <= RUN_BY.keys() | RUN_BY_OTHERS.keys()
        elif block.language == "yaml":
            assert all(yaml.safe_load_all(block.text))
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        else:
            assert block.language in SHOWN_ONLY | OTHER_CLIENTS | {"python", "text"}, block.line


def test_a_chinese_page_has_the_code_of_its_english_page() -> None:
    chinese = {page.removeprefix("zh/"): blocks(page) for page in PAGES if page.startswith("zh/")}

    other = [page for page, found in chinese.items() if [b.text for b in found] != [b.text for b in blocks(page)]]
    assert other == []


def test_a_chinese_page_has_the_parts_of_its_english_page() -> None:
    """Titles, tables, lists and paragraphs have the same order, and links lead to the same pages."""
    pages = [page.removeprefix("zh/") for page in PAGES if page.startswith("zh/")]
    required = {"start.md", "pipeline.md", *(page for page in ENGLISH if page.startswith("cookbook/"))}

    assert required - set(pages) == set()
    assert [page for page in pages if shape(page) != shape(f"zh/{page}")] == []
    assert [page for page in pages if links(page) != links(f"zh/{page}")] == []


def test_the_parts_of_a_page_differ_if_a_part_is_missing() -> None:
    whole = parts("# A\n\ntext\nmore\n\n| a |\n|---|\n| b |\n\n* one\n* two\n\n```sh\nx\n```\n")

    assert whole == ["#", "text", "|", "|", "|", "*", "*", "```"]


def shape(page: str) -> list[str]:
    return parts((DOCS / page).read_text(encoding="utf-8"))


def parts(text: str) -> list[str]:
    """Return a mark for each title, table row, list item, paragraph and block of a page."""
    found: list[str] = []
    for chunk in re.split(r"(?ms)^(```.*?^```)$", text):
        if chunk.startswith("```"):
            found.append("```")
            continue
        for paragraph in re.split(r"\n\s*\n", chunk.strip("\n")):
            marks = re.findall(r"(?m)^(#+|\||\*|\d+\.) ?", paragraph)
            found += marks or (["text"] if paragraph.strip() else [])
    return found


def links(page: str) -> list[str]:
    """Return the pages and files that a page links, without anchors, by their paths in the repository."""
    path = DOCS / page
    targets = re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8"))
    found = [target if ":" in target else os.path.normpath(path.parent / target) for target in targets]
    return sorted({target.replace(f"{DOCS}/zh/", f"{DOCS}/") for target in found})


def test_every_recipe_has_a_test_and_a_row_in_the_cookbook() -> None:
    recipes = [page for page in ENGLISH if page.startswith("cookbook/") and page != "cookbook/index.md"]
    index = (DOCS / "cookbook/index.md").read_text(encoding="utf-8")

    assert len(recipes) >= 11
    assert [page for page in recipes if not any("def test_" in block.text for block in blocks(page))] == []
    assert [page for page in recipes if f"({page.removeprefix('cookbook/')})" not in index] == []


def sources() -> str:
    """Return the hand-written code of the library, with the strings of neighbouring lines joined."""
    generated = {"api", "apiextensions", "applyconfigurations", "informers", "kubernetes", "listers"}
    files = [path for path in (ROOT / "clientgo").rglob("*.py") if path.relative_to(ROOT).parts[1] not in generated]
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(path.read_text(encoding="utf-8") for path in files))


def first_cells(page: str) -> list[str]:
    """Return the texts in backticks in the first cells of a page's tables."""
    cells = re.findall(r"(?m)^\| (.*?) \|", (DOCS / page).read_text(encoding="utf-8"))
    return [text for cell in cells for text in re.findall(r"`([^`]+)`", cell)]


def test_every_log_line_error_and_metric_of_the_pages_is_in_the_code() -> None:
    code = sources()
    texts = first_cells("operations.md") + first_cells("errors.md")
    words = [part.strip(" :") for text in texts for part in re.split(r"\.\.\.|\"[^\"]*\"|\(\)|: ", text)]
    operations = (DOCS / "operations.md").read_text(encoding="utf-8")
    metrics = re.findall(r"(?:workqueue|informer|rest_client|leader_election)_\w+", operations)
    names = [metric.removesuffix("_bucket") for metric in metrics]

    assert len(words) > 40
    assert [word for word in [*words, *names] if word and word not in code] == []
