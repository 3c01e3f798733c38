"""The list pager asks for the pages Go's asks for, and makes of them what Go's makes."""

from __future__ import annotations

from typing import Any

import pytest
from goldenfile import cases
from goldenobjects import to_shorthand
from scriptedwatch import Script, ScriptedListerWatcher

from clientgo import context
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import synctest
from clientgo.tools.pager import ListPager

OPTIONS = ("label_selector", "limit", "resource_version", "resource_version_match")


def run(lister: ScriptedListerWatcher, config: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    pager = ListPager(
        page_fn=lister.list_with_context,
        page_size=config["page_size"],
        full_list_if_expired=config["full_list_if_expired"],
        page_buffer_size=1,
    )
    golden_options = step["args"]["options"]
    assert set(golden_options) <= set(OPTIONS)
    options = metav1.ListOptions(**golden_options)
    objects: list[Any] | None = []
    result: dict[str, Any] = {"error": None}
    try:
        if step["op"] == "list":
            objects = None
            listed, paginated = pager.list(context.background(), options)
            result["paginated"] = paginated
            result["continue"] = listed.get_continue()
            result["resource_version"] = listed.get_resource_version()
            objects = [to_shorthand(item) for item in meta.extract_list(listed)]
        else:
            each: list[Any] = []
            objects = each
            pager.each_list_item(context.background(), options, lambda item: each.append(to_shorthand(item)))
    except Exception as err:
        result["error"] = str(err)
    calls = [call["options"] for call in lister.calls]
    assert options == metav1.ListOptions(**golden_options), "the caller's options were changed"
    return {**result, "objects": objects, "calls": calls}


@pytest.mark.parametrize("case", cases("pager/list_pager.jsonl"))
def test_list_pager(case):
    """Go: TestListPager_List; Go: TestListPager_EachListItem."""
    for number, step in enumerate(case["steps"]):
        with synctest.bubble() as b:
            lister = ScriptedListerWatcher(b, Script.from_config(case["config"]["script"]))
            got = run(lister, case["config"], step)
        expect = step["expect"]
        if expect["error"] is not None:
            expect = {key: value for key, value in expect.items() if key != "paginated"}  # lost with the error here
        assert got == expect, f"step {number}: {step['op']}"
