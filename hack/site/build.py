"""hack/docs: build the documentation site, and check it.

    hack/docs                        everything, to dist/docs; takes minutes
    hack/docs --reference cache      only these packages of the reference, by a part of their names; may be repeated
    hack/docs --no-tour              without the tour's static edition, which takes a minute

Then open dist/docs/index.html: the site needs no server and loads nothing from other hosts.
"""

from __future__ import annotations

import argparse
import posixpath
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

HACK = Path(__file__).resolve().parent.parent
ROOT = HACK.parent
sys.path[:0] = [str(HACK), str(HACK / "site")]

import check  # noqa: E402
import public_api  # noqa: E402
import reference  # noqa: E402
from plain_links import plain  # noqa: E402

# Pages that live beside the code, and their place in the site.
ELSEWHERE = {
    "clientgo/README.md": "more/library",
    "clientgo/testing/README.md": "more/pytest-plugin",
    "clientgo/testing/controllertest/README.md": "more/controllertest",
    "clientgo/scaffold/README.md": "more/scaffold",
    "clientgo/tools/sharding/README.md": "more/sharding",
    "clientgo/tour/README.md": "more/tour",
    "test/property/README.md": "more/property-tests",
    "cmd/README.md": "more/programs",
    "ARCHITECTURE.md": "more/architecture",
    "CONTRIBUTING.md": "more/contributing",
    "CHANGELOG.md": "more/changelog",
}
PAGES = HACK / "site" / "pages"
TOUR = "tour"
INDEX = "reference/index"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check the site; the result is the exit code."""
    parser = argparse.ArgumentParser(
        "hack/docs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", default=str(ROOT / "dist" / "docs"), metavar="DIR", help="default: dist/docs")
    parser.add_argument("--reference", action="append", metavar="PART", help="only modules with this in their names")
    parser.add_argument("--no-tour", action="store_true", help="leave out the tour's static edition")
    flags = parser.parse_args(arguments)
    output = Path(flags.output)
    modules = chosen_modules(flags.reference)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        _say(f"pages, and the reference of {len(modules)} modules")
        stage(source, modules)
        status = sphinx(source, output)
    if status:
        return status
    if not flags.no_tour:
        _say("the tour's static edition")
        write_tour(output / TOUR)
    problems = check_site(output, modules, has_tour=not flags.no_tour)
    if problems:
        print("\n".join(problems), file=sys.stderr)
    _say(f"{len(problems)} problems; open {output / 'index.html'}")
    return 1 if problems else 0


def chosen_modules(parts: Sequence[str] | None) -> list[str]:
    """Return the public modules whose dotted names contain one of the parts; None selects all."""
    every = reference.public_modules(ROOT)
    return every if parts is None else [path for path in every if any(part in path.replace("/", ".") for part in parts)]


def stage(folder: Path, modules: Iterable[str]) -> None:
    """Write the site's pages: those of hack/site/pages, those beside the code, and the reference. Links follow them."""
    modules = list(modules)
    place = {path.relative_to(ROOT).as_posix(): _place(path) for path in PAGES.rglob("*.md")}
    place |= ELSEWHERE
    described = {path: reference.page_of(path) for path in modules}
    targets = place | described | {posixpath.dirname(p): page for p, page in described.items() if "__init__" in p}
    targets[f"{PAGES.relative_to(ROOT).as_posix()}/{INDEX}.md"] = INDEX
    for page, own in place.items():
        text = ROOT.joinpath(page).read_text(encoding="utf-8")
        if page in ELSEWHERE:
            text = f"---\norphan: true\n---\n\n{text}"
        _write(folder, own, relinked(text, page, own, targets))
    for picture in PAGES.rglob("*.svg"):
        copy = folder / picture.relative_to(PAGES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, copy)
    for own, text in reference.pages(ROOT, modules):
        _write(folder, own, relinked(text, own + ".md", own, targets))
    _write(folder, INDEX, reference.index(modules))


def _place(path: Path) -> str:
    return path.relative_to(PAGES).with_suffix("").as_posix()


def relinked(text: str, page: str, own: str, targets: dict[str, str]) -> str:
    """Return a page whose links to files of the repository lead to pages of the site, or are plain text."""

    def link(path: str) -> str | None:
        found = targets.get(path)
        return posixpath.relpath(found, posixpath.dirname(own)) + ".md" if found else None

    return plain(text, page, link)


def _write(folder: Path, page: str, text: str) -> None:
    path = folder / f"{page}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sphinx(source: Path, output: Path) -> int:
    """Run Sphinx, which shows its progress on a terminal, and return its exit code. A warning is a failure."""
    shutil.rmtree(output, ignore_errors=True)
    quiet = [] if sys.stderr.isatty() else ["-q"]
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-c", str(HACK / "site"), "-W", "--keep-going"]
    command += ["-j", "auto", *quiet]
    with tempfile.TemporaryDirectory() as doctrees:
        return subprocess.run([*command, "-d", doctrees, str(source), str(output)], check=False).returncode


def write_tour(folder: Path) -> None:
    """Write the tour's static edition, without the runs that break."""
    program = [sys.executable, str(ROOT / "cmd" / "informer-tour"), "--export", str(folder), "--no-breaks"]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)


def check_site(folder: Path, modules: Iterable[str], *, has_tour: bool) -> list[str]:
    """Return what is wrong with a built site, a line each."""
    site = check.Site(folder)
    wanted = set().union(*(public_api.api_of(path, ROOT.joinpath(path).read_text()) for path in modules))
    dead = [line for line in site.dead_links() if has_tour or not line.partition("#")[0].endswith(f"{TOUR}/index.html")]
    return [
        *(f"no entry in the reference: {name}" for name in check.missing_names(site, wanted)),
        *(f"dead link: {line}" for line in dead),
        *(f"loads from another host: {line}" for line in site.requests_to_other_hosts()),
    ]


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"== {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
