"""The static edition's files: packed values, bundled modules, the page's references."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo import tour
from clientgo.tour import export
from clientgo.tour.bundle import bundle
from clientgo.tour.export import Pack, write_data, write_page
from clientgo.tour.web import PAGE


def unpacked(entries: list[Any], value: Any) -> Any:
    """Read a packed value, as exported.js does."""
    if not isinstance(value, list):
        return value
    entry = entries[value[0]]
    if isinstance(entry, list):
        return [unpacked(entries, each) for each in entry]
    return {name: unpacked(entries, each) for name, each in entry.items()}


SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)


@given(st.lists(VALUES, max_size=5))
def test_packed_values_are_read_as_they_were(values):
    pack = Pack()
    packed = [pack.add(each) for each in values]
    entries = pack.take()
    assert [unpacked(entries, each) for each in packed] == values
    assert len({json.dumps(each, sort_keys=True) for each in entries}) == len(entries)


def test_an_equal_value_is_stored_once_and_later_entries_continue_the_earlier_ones():
    pack = Pack()
    first = pack.add({"a": [1, {"b": 2}]})
    earlier = pack.take()
    assert pack.add({"a": [1, {"b": 2}]}) == first
    second = pack.add({"a": [1, {"b": 2}], "c": []})
    later = pack.take()
    assert len(later) == 2  # the object and the empty list
    assert unpacked([*earlier, *later], second) == {"a": [1, {"b": 2}], "c": []}


def test_a_run_that_breaks_shares_the_hops_before_with_the_whole_run():
    pack = Pack()
    trace = tour.execute(tour.SCENARIOS["queue"], limit=60)
    pack.add(trace.to_dict())
    before = len(pack.take())
    broken = tour.execute(tour.SCENARIOS["queue"], None, [tour.Decision(50, "fault", "cut")], 60)
    pack.add(broken.to_dict())
    assert broken.points[50] == trace.points[50] and broken.points[-1] != trace.points[-1]
    assert len(pack.take()) < before / 4


def test_a_data_file_is_a_script_that_passes_compressed_json_to_the_page(tmp_path):
    (tmp_path / "data").mkdir()
    size = write_data(tmp_path, "x", {"b": "协调", "a": 1})
    text = (tmp_path / "data" / "x.js").read_text()
    found = re.fullmatch(r'tourExport\("x", "([A-Za-z0-9+/=]+)"\);\n', text)
    assert found is not None and size == len(text)
    assert json.loads(zlib.decompress(base64.b64decode(found[1]))) == {"a": 1, "b": "协调"}


def test_the_page_refers_to_files_that_are_there_and_to_no_server(tmp_path):
    write_page(tmp_path)
    html = (tmp_path / "index.html").read_text()
    references = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert {"app.js", "tour.css", "icon.svg"} <= set(references)
    assert all((tmp_path / name).is_file() for name in references)
    assert 'data-edition="static"' in html and 'type="module"' not in html
    script = (tmp_path / "app.js").read_text()
    assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
    assert script.count("modules[") > 2 * len([*PAGE.glob("*.js")])


@pytest.mark.parametrize("path", sorted(PAGE.glob("*.js")), ids=lambda path: path.name)
def test_a_module_of_the_page_has_one_subject_in_at_most_600_lines_and_uses_its_imports(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// ") and len(text.splitlines()) <= 600
    for names, module in re.findall(r'^import \{([^}]*)\} from "/page/([\w-]+\.js)";$', text, re.MULTILINE):
        exported = set(
            re.findall(r"^export (?:const|(?:async )?function|class) ([\w$]+)", (PAGE / module).read_text(), re.M)
        )
        for name in (each.split(" as ")[-1].strip() for each in names.split(",")):
            assert len(re.findall(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text)) >= 2, f"{name} is not used"
        assert {each.split(" as ")[0].strip() for each in names.split(",")} <= exported, module


def modules(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.js").write_text(text)
    return folder


def test_modules_are_bundled_after_the_modules_that_they_import(tmp_path):
    folder = modules(
        tmp_path,
        main='import { $, f as g } from "/page/util.js";\nimport { C } from "/page/deep.js";\nnew C(g, $);\n',
        util='import { C } from "/page/deep.js";\nexport const $ = 1;\nexport async function f() { return C; }\n',
        deep="export class C {}\n",
    )
    script = bundle(folder, "main.js")
    places = [script.index(f'modules["{name}.js"] = ') for name in ("deep", "util", "main")]
    assert places == sorted(places)
    assert 'const { $, f: g } = modules["util.js"];' in script
    assert "return { $, f };" in script and script.count("class C {}") == 1


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ({"main": 'import all from "/page/x.js";\n'}, "main.js: a bundle cannot have: import all"),
        ({"main": "export default 1;\n"}, "main.js: a bundle cannot have: export default"),
        ({"main": "export let a = 1;\n"}, "cannot have: export let"),
        ({"main": 'import { a } from "/page/b.js";\n', "b": 'import { c } from "/page/main.js";\n'}, "each other"),
    ],
)
def test_what_a_bundle_cannot_have_is_refused(tmp_path, texts, problem):
    with pytest.raises(ValueError, match=problem):
        bundle(modules(tmp_path, **texts), "main.js")


def test_equal_data_has_equal_bytes_in_few_characters(tmp_path):
    (tmp_path / "data").mkdir()
    texts = []
    for value in ({"b": "协调", "a": [1, 2]}, {"a": [1, 2], "b": "协调"}):
        write_data(tmp_path, "x", value)
        texts.append((tmp_path / "data" / "x.js").read_text())
    data = base64.b64decode(texts[0].split('"')[3])
    assert texts[0] == texts[1] and zlib.decompress(data).decode() == '{"a":[1,2],"b":"协调"}'


def test_a_page_without_what_is_replaced_is_an_error(tmp_path, monkeypatch):
    page = tmp_path / "page"
    shutil.copytree(PAGE, page)
    monkeypatch.setattr(export, "PAGE", page)
    write_page(tmp_path / "good")
    write_page(tmp_path / "good")  # into the same folder again
    html = (page / "index.html").read_text()
    script = '<script type="module" src="/page/tour.js">'
    elsewhere = html.replace('"/page/', '"/other/').replace('src="/other/tour.js"', 'src="/page/tour.js"')
    without = {part: html.replace(part, "") for part in (script, "<html ")}
    for part, text in {**without, '"/page/': elsewhere}.items():
        (page / "index.html").write_text(text)
        with pytest.raises(ValueError, match=f"^index.html has no {part}$"):
            write_page(tmp_path / "bad")
