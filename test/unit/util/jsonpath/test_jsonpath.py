"""Templates find values in documents and print them."""

from __future__ import annotations

import io
from typing import Any

import pytest

from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.util import jsonpath

PODS = {
    "kind": "List",
    "items": [
        {"name": "a", "phase": "Running", "color": "blue", "ports": [{"n": 1}, {"n": 2}]},
        {"name": "b", "phase": "Pending", "ports": []},
        {"name": "c", "phase": "Running", "color": "red", "ports": [{"n": 3}], "x": None},
    ],
}


def run(template: str, data: Any, allow_missing_keys: bool = False, as_json: bool = False) -> str:
    path = jsonpath.new("test").allow_missing_keys(allow_missing_keys)
    path.enable_json_output(as_json)
    path.parse(template)
    out = io.StringIO()
    path.execute(out, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("{.bools}", "[true,false,true]"),
        ("{.bools[0]} {.bools[-1]}", "true true"),
        ("{.ints[:2]} {.ints[1::2]}", "1 2 2 4"),
        ("{.floats}", "[1,2.5,1e+21]"),
        ("{.floats[*]}", "1 2.5 1e+21"),
        ("{.texts}", '["a\\u003cb","é"]'),
        ("{.texts[*]}", "a<b é"),
        ("{.maps[-1]}", '{"n":2,"v":null}'),
        ("{.mixed[*]}", '1 a null true {"k":[]}'),
    ],
)
def test_lists_are_printed_as_json_and_their_items_as_text(template: str, printed: str) -> None:
    """Go: TestTypesInput."""
    data = {
        "bools": [True, False, True],
        "ints": [1, 2, 3, 4],
        "floats": [1.0, 2.5, 1e21],
        "texts": ["a<b", "é"],
        "maps": [{"n": 1}, {"v": None, "n": 2}],
        "mixed": [1, "a", None, True, {"k": []}],
    }

    assert run(template, data) == printed


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("kind: {.kind}", "kind: List"),
        ("{.items[*].name}", "a b c"),
        ("{..n}", "1 2 3"),
        ('{.items[?(@.phase=="Running")].name}', "a c"),
        ("{.items[*]['name', 'phase']}", "a b c Running Pending Running"),
        ("{.items[0].*}", 'a Running blue [{"n":1},{"n":2}]'),
        ("{range .items[*]}{.name}={.ports[*].n};{end}.", "a=1 2;b=;c=3;."),
    ],
)
def test_fields_filters_wildcards_unions_and_recursion_find_values(template: str, printed: str) -> None:
    """Go: TestStructInput, TestKubernetes."""
    assert run(template, PODS, allow_missing_keys=True) == printed


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{.nope}", "nope is not found"),
        ("{nope}", "unrecognized identifier nope"),
        ("{.kind[0]}", "string is not array or slice"),
        ("{[0]}", "map[string]interface {} is not array or slice"),
        ("{.kind[?(@.a)]}", "List is not array or slice and cannot be filtered"),
        ("{.items[?(@.name<>1)]}", "unrecognized filter operator <>"),
        ("{.items[?(@.name==1)]}", "incompatible types for comparison"),
        ("{.items[?(@.ports==1)]}", "invalid type for comparison"),
        ("{.items[?(@.ports[*].n==1)]}", "can only compare one element at a time"),
        ("{range .items[*]}{end}{end}", "not in range, nothing to end"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error_with_gos_text(template: str, error: str) -> None:
    with pytest.raises(jsonpath.JSONPathError) as caught:
        run(template, PODS)

    assert str(caught.value) == error


def test_a_missing_field_is_nothing_where_that_is_allowed() -> None:
    assert run("a{.nope}b{.items[*].x.y}c", PODS, allow_missing_keys=True) == "abc"


@pytest.mark.parametrize(
    ("template", "printed"),
    [("{[?(@.z)].id}", "j"), ("{[0]['id']}", "i"), ("{[0].x}", "null"), ("{[?(@.x>3)].id}", "j")],
)
def test_decoded_json_is_searched(template: str, printed: str) -> None:
    """Go: TestJSONInput."""
    data = [{"id": "i", "x": None}, {"id": "j", "z": 1, "x": 4}]
    if ">" in template:
        data = data[1:]

    assert run(template, data) == printed


def test_a_range_over_nothing_prints_nothing() -> None:
    """Go: TestEmptyRange."""
    data: dict[str, Any] = {"items": []}

    assert run("{range .items[*]}{.name}{end}", data, allow_missing_keys=True) == ""
    assert run("{range .items[*]}{.a}{range .b[*]}{.c},{end}+{end}!", data, allow_missing_keys=True) == "!"


def test_a_range_in_a_range_runs_for_each_value_of_the_outer_one() -> None:
    """Go: TestNestedRanges."""
    template = "{range .items[*]}{.name}:{range .ports[*]}{.n},{end}+{end}{.kind}{range .items[*]}{.name}{end}"

    assert run(template, PODS, allow_missing_keys=True) == "a:1,2,+b:+c:3,+Listabc"


def test_a_filter_skips_items_without_the_field() -> None:
    """Go: TestFilterPartialMatchesSometimesMissingAnnotations."""
    template = '{.items[?(@.color=="blue")].name}'

    assert run(template, PODS, allow_missing_keys=True) == "a"
    with pytest.raises(jsonpath.JSONPathError, match="color is not found"):
        run(template, PODS)


def test_a_range_over_a_filter_skips_what_the_filter_skips() -> None:
    """Go: TestRunningPodsJSONPathOutput."""
    template = '{range .items[?(.phase=="Running")]}{.name}{" runs\\n"}{end}'

    assert run(template, PODS, allow_missing_keys=True) == "a runs\nc runs\n"


@pytest.mark.parametrize(
    ("index", "found"),
    [("0", "a"), ("-1", "d"), ("-4", "a"), ("0:0", ""), ("0:-1", "a b c"), ("-2:", "c d"), ("5:5", ""), ("-5:-5", "")],
)
def test_negative_indexes_count_from_the_end(index: str, found: str) -> None:
    """Go: TestNegativeIndex."""
    assert run(f"{{[{index}]}}", ["a", "b", "c", "d"]) == found


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ("4", "array index out of bounds: index 4, length 4"),
        ("-5", "array index out of bounds: index -1, length 4"),
        ("0:5", "array index out of bounds: index 4, length 4"),
        ("3:1", "starting index 3 is greater than ending index 1"),
        ("-1:0", "starting index 3 is greater than ending index 0"),
        ("::0", "step must be > 0"),
        ("::-1", "step must be > 0"),
    ],
)
def test_an_index_out_of_bounds_is_an_error(index: str, error: str) -> None:
    with pytest.raises(jsonpath.JSONPathError) as caught:
        run(f"{{[{index}]}}", ["a", "b", "c", "d"])

    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("index", "found"), [("0:", "a b c d e"), ("::2", "a c e"), ("1:4:2", "b d"), ("0:5:5", "a"), ("3::9", "d")]
)
def test_a_step_takes_each_nth_item(index: str, found: str) -> None:
    """Go: TestStep."""
    assert run(f"{{[{index}]}}", ["a", "b", "c", "d", "e"]) == found


def test_json_output_is_an_indented_array_of_each_part() -> None:
    printed = run("{.items[0].ports[*]}{.none}", PODS, allow_missing_keys=True, as_json=True)

    assert printed == '[\n    {\n        "n": 1\n    },\n    {\n        "n": 2\n    }\n]\n[]\n'


def test_a_template_with_ranges_may_be_executed_again() -> None:
    path = jsonpath.new("test")
    path.parse("<{range .items[*]}{.name}{end}>")

    assert path.find_results(PODS) == path.find_results(PODS) == [["<"], ["a"], ["b"], ["c"], [">"]]


def test_the_current_value_in_a_range_over_null_is_no_value() -> None:
    path = jsonpath.new("test")
    path.parse("{range .x}{@}{end}")

    assert path.find_results({"x": None}) == [[jsonpath.NO_VALUE]]
    assert run("{range .x}{@}{end}", {"x": None}) == "<no value>"
    with pytest.raises(jsonpath.JSONPathError, match="zero Value"):
        run("{range .x}{@[0]}{end}", {"x": None})


def test_an_api_object_is_evaluated_as_its_document() -> None:
    pod = v1.Pod(metadata=metav1.ObjectMeta(name="web"), spec=v1.PodSpec(containers=[v1.Container(name="main")]))

    assert run("{.metadata.name}/{.spec.containers[*].name}", pod) == "web/main"
    assert run("{[0].name}", pod.spec.containers) == "main"
    assert run("{[*].metadata.name}", [pod, pod.freeze()]) == "web web"


def test_the_results_are_copies() -> None:
    path = jsonpath.new("test")
    path.parse("{.a}")
    data = {"a": {"b": 1}}

    path.find_results(data)[0][0]["b"] = 2

    assert data == {"a": {"b": 1}}


def test_a_template_without_text_is_an_error() -> None:
    with pytest.raises(jsonpath.JSONPathError, match="^test is an incomplete jsonpath template$"):
        jsonpath.new("test").find_results({})
