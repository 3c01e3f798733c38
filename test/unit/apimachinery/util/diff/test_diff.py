"""Differences are unified diffs of indented JSON."""

from __future__ import annotations

import cProfile
import json

from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.diff import diff
from clientgo.apimachinery.util.diff.lines import unified


def config_map(**data: str) -> v1.ConfigMap:
    return v1.ConfigMap(metadata=metav1.ObjectMeta(name="x"), data=data)


def test_objects_differ_in_lines_of_their_json() -> None:
    found = diff(config_map(a="1", b="2"), config_map(a="1", b="3"))

    assert '-  "b": "2"\n+  "b": "3"\n' in found
    assert found.startswith("@@ -")
    assert '   "a": "1",\n' in found


def test_equal_objects_have_no_difference() -> None:
    assert diff(config_map(a="1"), config_map(a="1")) == ""


def test_the_order_of_fields_is_no_difference() -> None:
    assert diff({"a": 1, "b": [1.5, None]}, {"b": [1.5, None], "a": 1}) == ""


def test_what_json_cannot_have_is_compared_as_text() -> None:
    assert "-{'a': {1}}" in diff({"a": {1}}, {"a": {2}})


def test_lines_end_at_line_feeds_alone() -> None:
    assert diff({"a": "x\u2028<"}, {"a": "y"}) == '@@ -1,3 +1,3 @@\n {\n- "a": "x\\u2028\\u003c"\n+ "a": "y"\n }\n'


def test_long_texts_are_compared_from_the_first_change_on() -> None:
    before = [f"line {at}" for at in range(5000)]
    after = [line + "!" * (at >= 1500) for at, line in enumerate(before)]

    found = diff(before, after)

    assert found.startswith('@@ -1,1000 +1,1000 @@\n  "line 1497",\n  "line 1498",\n  "line 1499",\n- "line 1500",\n')
    assert found.endswith('+ "line 2496!",\n... (2504 more lines are not compared)\n')
    end = diff(before, [*before, "more"])
    assert end.endswith('  "line 4998",\n- "line 4999"\n+ "line 4999",\n+ "more"\n ]\n')


def test_a_difference_everywhere_takes_no_longer_for_a_larger_object() -> None:
    def calls(size: int) -> int:
        before, after = ([{"name": f"E{at}", "value": value} for at in range(size)] for value in "xy")
        profile = cProfile.Profile(builtins=True)
        profile.runcall(unified, _lines(before), _lines(after))
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(8000) < 1.1 * calls(2000)


def _lines(value: object) -> list[str]:
    return json.dumps(value, indent=1).splitlines()
