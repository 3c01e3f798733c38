"""The files to publish: the wheel, its metadata and its pages, the source distribution, the bill of materials."""

from __future__ import annotations

import email.parser
import hashlib
import json
import os
import posixpath
import re
import subprocess
import sys
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from processes import ROOT
from wheel import build_tools, build_wheel, run, unpack_sdist

import clientgo

# In the source distribution: a unit test, recorded answers of Go, and tests that read the repository's own files.
SUBSET = [
    "test/unit/tools/cache/test_store.py",
    "test/golden/test_all_files_are_read.py",
    "test/unit/hack/test_plain_links.py",
]


@pytest.fixture
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory)


@pytest.fixture
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.parser.BytesParser().parsebytes(archive.read(name))


def test_the_metadata_says_what_the_package_is_and_names_no_address(metadata: Message) -> None:
    assert metadata["Name"] == "clientgo"
    assert metadata["Version"] == clientgo.__version__
    assert metadata["Author"] == "The clientgo authors"
    assert "client-go" in metadata["Keywords"].split(",")
    assert metadata["License"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"Framework :: Pytest", "Typing :: Typed"} <= set(metadata.get_all("Classifier", []))
    # The project has no public address, and an invented one would be worse than none.
    assert [metadata[field] for field in ("Home-page", "Project-URL", "Download-URL")] == [None, None, None]


def test_the_extras_are_named_after_what_they_provide(metadata: Message) -> None:
    required: dict[str, set[str]] = {}
    for line in metadata.get_all("Requires-Dist", []):
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra == ["'](\w+)""", line)
        assert name
        required.setdefault(extra[1] if extra else "", set()).add(name[0])

    assert required[""] == {"urllib3", "PyYAML"}
    assert required["fast"] == {"msgspec", "protobuf"}
    assert required["metrics"] == {"prometheus-client"}
    assert required["cel"] == {"google-re2"}
    assert required["stream"] == {"websockets"}
    assert required["certificates"] == {"cryptography"}
    assert required["cbor"] == {"cbor2"}
    assert required["tracing"] == {"opentelemetry-api"}
    assert required["testing"] == {"hypothesis", "pytest"}
    (everything,) = (line for line in metadata.get_all("Requires-Dist", []) if line.startswith("clientgo["))
    wanted = {"clientgo", "fast", "metrics", "cel", "stream", "certificates", "cbor", "tracing", "testing"}
    assert set(re.findall(r"\w+", everything.split(";")[0])) == wanted


def test_the_long_description_has_no_link_to_a_file(metadata: Message) -> None:
    text = str(metadata.get_payload())

    assert metadata["Description-Content-Type"] == "text/markdown"
    assert text.startswith("# clientgo\n")
    assert "`clientgo programs cmd` copies the programs" in text
    assert "`ARCHITECTURE.md`" in text
    assert "](" not in re.sub(r"(?ms)^```.*?^```", "", text)


def test_every_link_of_a_page_in_the_wheel_leads_to_a_file_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        pages = {name: archive.read(name).decode() for name in names if name.endswith(".md")}
    names |= {posixpath.dirname(name) for name in names} | {"clientgo/programs/apiserver"}
    links = [
        (page, posixpath.normpath(posixpath.join(posixpath.dirname(page), target)))
        for page, text in pages.items()
        for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"(?ms)^```.*?^```", "", text))
        if not re.match(r"[a-z]+:", target)
    ]

    assert {"clientgo/README.md", "clientgo/programs/README.md", "clientgo/tour/README.md"} <= set(pages)
    assert {"clientgo/scaffold/README.md", "clientgo/tools/sharding/README.md"} <= set(pages)
    assert len(links) > 50
    assert [link for link in links if link[1] not in names] == []


@pytest.mark.takes_turns(8)
def test_two_builds_of_equal_sources_give_identical_bytes(
    wheel: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The second wheel comes from the source distribution, in another folder, with another umask and other times."""
    source = unpack_sdist(tmp_path_factory)
    tools = build_tools(tmp_path_factory)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    run("bash", "-c", 'umask 077 && exec "$@"', "bash", *command, cwd=tmp_path, **tools)

    (second,) = tmp_path.glob("*.whl")
    assert second.name == wheel.name
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(second) as other:
        assert one.namelist() == other.namelist()
        assert [name for name in one.namelist() if one.read(name) != other.read(name)] == []
    assert hashlib.sha256(second.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


@pytest.mark.takes_turns(8)
def test_the_source_distribution_tests_itself(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    source = unpack_sdist(tmp_path_factory)
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    needed = ["urllib3", "PyYAML", "pytest", "hypothesis"]
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *needed, cwd=tmp_path)

    printed = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUBSET, cwd=source)

    assert re.search(r"^\d{2,} passed", printed, re.M), printed
    tracked = set(run("git", "ls-files", cwd=ROOT).split())
    inside = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert sorted(tracked - inside - {".ci/run", ".dockerignore", ".gitignore"}) == []


def test_the_bill_of_materials_lists_every_requirement_once(wheel: Path, metadata: Message) -> None:
    document = json.loads(run(sys.executable, ROOT / "hack" / "sbom", wheel, cwd=ROOT))
    own = document["metadata"]["component"]
    components = {each["name"]: each for each in document["components"]}

    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert own["purl"] == f"pkg:pypi/clientgo@{clientgo.__version__}"
    assert own["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    lines = [line for line in metadata.get_all("Requires-Dist", []) if not line.startswith("clientgo[")]
    assert len(document["components"]) == len(components) == len({re.split(r"[^\w.-]", line)[0] for line in lines})
    assert {name for name, each in components.items() if each["scope"] == "required"} == {"urllib3", "PyYAML"}
    assert {"name": "python:extra", "value": "fast"} in components["msgspec"]["properties"]
    assert document["dependencies"][0] == {"ref": own["purl"], "dependsOn": ["pkg:pypi/pyyaml", "pkg:pypi/urllib3"]}
    references = [each["bom-ref"] for each in [own, *own["components"], *document["components"]]]
    assert len(references) == len(set(references))
    assert {each["ref"] for each in document["dependencies"]} <= set(references)


def test_the_bill_of_a_file_that_is_no_wheel_is_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.whl"
    broken.write_text("no zip")
    done = subprocess.run(
        [sys.executable, ROOT / "hack" / "sbom", broken], capture_output=True, text=True, env=dict(os.environ)
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert str(broken) in done.stderr and "Traceback" not in done.stderr
