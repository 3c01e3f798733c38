"""Listing in pages: the requests Go's pager made, and what it returned."""

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
from clientgo.tools import pager


@pytest.mark.parametrize("case", cases("pager/list_pager.jsonl"))
def test_list_pager(case: dict[str, Any]) -> None:
    for step in case["steps"]:
        with synctest.bubble() as bubble:
            server = ScriptedListerWatcher(bubble, Script.from_config(case["config"]["script"]))
            outcome = {"list": run_list, "each_list_item": run_each}[step["op"]](make_pager(case, server), step)
            calls = [call["options"] for call in server.calls]
        # With an error Go also returns what it has by then; here it is raised.
        expected = {key: value for key, value in step["expect"].items() if key in outcome or key == "calls"}
        assert outcome | {"calls": calls} == expected


def make_pager(case: dict[str, Any], server: ScriptedListerWatcher) -> pager.ListPager:
    made = pager.new(server.list_with_context)
    made.page_size = case["config"]["page_size"]
    made.full_list_if_expired = case["config"]["full_list_if_expired"]
    made.page_buffer_size = 1
    return made


def options(step: dict[str, Any]) -> metav1.ListOptions:
    given = dict(step["args"]["options"])
    if "continue" in given:
        given["continue_"] = given.pop("continue")
    return metav1.ListOptions(**given)


def run_list(list_pager: pager.ListPager, step: dict[str, Any]) -> dict[str, Any]:
    try:
        listed, paginated = list_pager.list(context.background(), options(step))
    except Exception as err:
        return {"error": str(err)}
    accessor = meta.list_accessor(listed)
    return {
        "continue": accessor.get_continue(),
        "error": None,
        "objects": [to_shorthand(item) for item in meta.extract_list(listed)],
        "paginated": paginated,
        "resource_version": accessor.get_resource_version(),
    }


def run_each(list_pager: pager.ListPager, step: dict[str, Any]) -> dict[str, Any]:
    objects: list[Any] = []
    error = None
    try:
        list_pager.each_list_item(context.background(), options(step), lambda obj: objects.append(to_shorthand(obj)))
    except Exception as err:
        error = str(err)
    return {"error": error, "objects": objects}
