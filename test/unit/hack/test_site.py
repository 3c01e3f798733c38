"""hack/docs: the site of the documentation has every page and name, no dead link, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib
import json
import posixpath
import re
import shutil
import subprocess
import sys
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "hack"), str(ROOT / "hack" / "site")]
build = importlib.import_module("build")
check = importlib.import_module("check")
reference = importlib.import_module("reference")
search = importlib.import_module("search")
public_api = importlib.import_module("public_api")

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|`[^`]*`)+\]\(([^)\s]+)\)")
PAGES = sorted([*build.PAGES.rglob("*.md"), *(ROOT / page for page in build.ELSEWHERE)])
# Entries of the site that no file of the repository is.
FOLDER = build.PAGES.relative_to(ROOT).as_posix()
MADE = {f"{FOLDER}/reference/index.md"}
MADE |= {f"{FOLDER}/{page}.md" for page in build.ELSEWHERE.values()}


def anchors(text: str) -> set[str]:
    titles = re.findall(r"(?m)^#+ (.*)", re.sub(r"(?ms)^```.*?^```$", "", text))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_to_a_file_and_a_title(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    dead = []
    for link in LINK.findall(re.sub(r"(?ms)^```.*?^```$", "", text)):
        file, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = page.parent / file if file else page
        path = posixpath.normpath(target.relative_to(ROOT).as_posix()) if target.is_relative_to(ROOT) else ""
        if path in MADE:
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target.read_text())):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_row_of_a_table_has_as_many_cells_as_the_others(page: Path) -> None:
    """A bar in code ends a cell too, unless a backslash precedes it."""
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"))
    cells, broken = 0, []
    for line in text.splitlines():
        bars = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and bars not in (0, cells):
            broken.append(line)
        cells = bars and (cells or bars)
    assert broken == []


def test_the_search_splits_chinese_into_pairs_and_leaves_other_words_whole() -> None:
    assert search.words("工作队列的键 work_queue, v1 é") == [
        "工作", "作队", "队列", "列的", "的键", "work_queue", "v1", "é",
    ]  # fmt: skip
    assert search.words("键: 中 pod控制器s") == ["键", "中", "pod", "控制", "制器", "s"]


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
@pytest.mark.parametrize("text", ["工作队列的键 work_queue, v1 é", "键: 中 pod控制器s", "", "-"])
def test_a_query_is_split_as_the_pages_are(text: str) -> None:
    program = f"{search.SPLIT_QUERY}\nconsole.log(JSON.stringify(splitQuery({json.dumps(text)})))"
    printed = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert json.loads(printed) == search.words(text)


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
@pytest.mark.parametrize(("protocol", "has_summaries"), [("file:", False), ("https:", True)])
def test_results_have_summaries_unless_the_site_is_opened_from_files(protocol: str, has_summaries: bool) -> None:
    options = f"var location = {{protocol: '{protocol}'}}, DOCUMENTATION_OPTIONS = {{SHOW_SEARCH_SUMMARY: true}};"
    program = f"{options}{search.FROM_FILES}\nconsole.log(DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY)"
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60)

    assert json.loads(done.stdout) is has_summaries


def test_every_page_is_in_a_table_of_contents() -> None:
    listed = {"index"}
    for page in build.PAGES.rglob("*.md"):
        folder = page.parent.relative_to(build.PAGES).as_posix()
        for block in re.findall(r"(?ms)^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8")):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {posixpath.normpath(posixpath.join(folder, name)) for name in names}
    pages = {page.relative_to(build.PAGES).with_suffix("").as_posix() for page in build.PAGES.rglob("*.md")}

    assert pages - listed == set()


def test_the_reference_has_every_public_name_of_a_module() -> None:
    paths = [
        "clientgo/tools/cache/__init__.py",
        "clientgo/tools/cache/shared_informer.py",
        "clientgo/util/workqueue/queue.py",
        "clientgo/api/batch/v1/types.py",
        "clientgo/golang/stop.py",
    ]
    [*pages] = reference.pages(ROOT, paths)
    text = "\n".join(page for _, page in pages)
    entries = re.findall(r"(?m)^:{3,4}\{py:\w+\} ([\w.]+).*\n:module: ([\w.]+)$", text)
    wanted = set().union(*(public_api.api_of(path, ROOT.joinpath(path).read_text()) for path in paths))

    assert {f"{module}.{name}" for name, module in entries} == wanted
    assert len(wanted) > 300


def test_the_reference_covers_every_public_module() -> None:
    tracked = subprocess.run(["git", "ls-files", "clientgo"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:  # The source distribution is no repository.
        tracked_paths = [path.relative_to(ROOT).as_posix() for path in ROOT.joinpath("clientgo").rglob("*.py")]
    else:
        tracked_paths = tracked.stdout.splitlines()
    public = {path for path in tracked_paths if public_api.is_public(path)}

    assert len(public) > 1500
    assert public <= set(reference.public_modules(ROOT))


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Return it.\n\n>>> f()\n1\n\nMore.", "Return it.\n\n\n```pycon\n>>> f()\n1\n```\n\nMore."),
        ("# no title\n---\n:::x", "\\# no title\n\\---\n\\:::x"),
        ("```python\n# kept\n```", "```python\n# kept\n```"),
    ],
)
def test_a_docstring_is_markdown_without_titles_and_directives(docstring: str, expected: str) -> None:
    assert reference.markdown(docstring).replace("\n\n\n", "\n\n") == expected.replace("\n\n\n", "\n\n")


def test_the_checks_of_a_site_find_each_kind_of_problem(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<script src="https://cdn.example.com/a.js"></script><link rel="stylesheet" href="//fonts.example.com/x">'
        '<a href="https://example.com">fine</a><a href="gone.html">x</a><a href="#nowhere">y</a><p id="here"></p>'
        '<a href="#here">z</a><a href="#?lang=zh">z</a><a href="gone.html#?x">z</a><div style="background: url(https://img.example.com/a.png)"></div>'
    )
    (tmp_path / "a.css").write_text("@import 'https://css.example.com/a.css'; a { background: url(data:x) }")
    (tmp_path / "a.js").write_text('const help = "https://fine.example.com"; fetch("https://api.example.com/x");')
    entries = zlib.compress(b"clientgo.a py:function 1 a.html#$ -\nclientgo b std:doc 1 a.html# -\n")
    (tmp_path / "objects.inv").write_bytes(b"# 1\n# 2\n# 3\n# 4\n" + entries)
    site = check.Site(tmp_path)

    dead = [line.removeprefix("index.html: ") for line in site.dead_links()]
    assert dead == ["gone.html", "#nowhere", "gone.html#?x"]
    hosts = {re.sub(r".*//([\w.]+).*", r"\1", each) for each in site.requests_to_other_hosts()}
    assert hosts == {"cdn.example.com", "fonts.example.com", "img.example.com", "css.example.com", "api.example.com"}
    assert check.missing_names(site, ["clientgo.a", "clientgo.b"]) == ["clientgo.b"]


def test_the_pages_are_staged_with_their_pictures_and_their_links_to_the_reference(tmp_path: Path) -> None:
    build.stage(tmp_path, [])

    assert "[API reference](reference/index.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")
    pictures = re.findall(r":file: (\S+)", (tmp_path / "report.md").read_text(encoding="utf-8"))
    assert len(pictures) >= 3
    assert [name for name in pictures if not (tmp_path / name).exists()] == []


@pytest.mark.takes_turns(4)
@pytest.mark.skipif(find_spec("sphinx") is None or find_spec("furo") is None, reason="the extra `site` is missing")
def test_the_site_builds_and_holds(tmp_path: Path) -> None:
    output = tmp_path / "site"
    flags = ["--no-tour", "--output", str(output), "--reference", "clientgo.util.workqueue.queue"]
    command = [sys.executable, str(ROOT / "hack/site/build.py"), *flags]
    built = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (built.returncode, built.stderr) == (0, "")
    assert "Typed" in (output / "reference/clientgo.util.workqueue.queue.html").read_text()
    assert '<iframe src="tour/index.html"' in (output / "pipeline.html").read_text()
    assert (output / "searchindex.js").stat().st_size > 10_000
    index = (output / "searchindex.js").read_text(encoding="utf-8")
    assert '"队列"' in index or '"\\u961f\\u5217"' in index
    assert "flatMap" in (output / "_static/language_data.js").read_text(encoding="utf-8")
    assert 'icon" href="../_static/favicon.svg"' in (output / "zh/start.html").read_text(encoding="utf-8")
