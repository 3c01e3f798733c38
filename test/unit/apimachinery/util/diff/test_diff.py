"""Differences are unified diffs of indented JSON."""

from __future__ import annotations

from clientgo.api.core import v1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.util.diff import diff


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
