"""Sentences of the lessons that were wrong once, in both languages, next to what makes them true."""

from __future__ import annotations

import os
import re
from typing import Any

import samplecontroller  # noqa: F401  # makes the sample-controller's packages importable
from programs import ImportedProgram

from clientgo import features, tour
from clientgo.tour.settings import Settings

PROGRAM = ImportedProgram("informer-tour")
with PROGRAM:
    chinese: Any = PROGRAM.module("chinese")
    lessons: Any = PROGRAM.module("lessons")
LESSONS = {lesson.scenario: lesson for lesson in lessons.all_()}


def paragraphs(scenario: str) -> list[tuple[str, str, frozenset[str]]]:
    """Return each paragraph of a lesson in English and Chinese, with the Go functions that it links to."""
    lesson = LESSONS[scenario]
    words = chinese.words_of(lesson)
    english = [*lesson.intro, *(each for step in lesson.steps for each in step.paragraphs)]
    others = [*words["intro"], *(text for step in words["steps"] for text in step["text"])]
    assert len(english) == len(others)
    return [
        (each.text, other, frozenset(claim.go_function for claim in each.sources))
        for each, other in zip(english, others, strict=True)
    ]


def the_one(scenario: str, english: str, translated: str, link: str) -> None:
    """Assert that one paragraph says this in English and in Chinese, and links to that function."""
    found = [each for each in paragraphs(scenario) if re.search(english, each[0])]
    assert len(found) == 1, english
    assert re.search(translated, found[0][1]), found[0][1]
    assert link in found[0][2]


def test_the_card_of_a_listener_is_labelled_as_ours():
    """Go's nextCh has no buffer: a card with several taken notifications shows a state that Go cannot be in."""
    takes_all = [
        point.hop.more["notifications"]
        for point in tour.execute(tour.SCENARIOS["handlers"], limit=tour.MAX_HOPS).points
        if (point.hop.station, point.hop.kind) == ("handlers", "taken")
    ]
    assert max(map(len, takes_all)) > 1
    the_one(
        "handlers",
        r"shows a state of this project, not of Go.*In Go, `nextCh` is unbuffered, and `pop` hands over one",
        r"本项目的状态，与 Go 不同.*`nextCh` 没有缓冲，`pop` 每次只交出一个通知",
        "(*processorListener).pop",
    )


def test_the_options_that_only_this_project_has_are_named_as_such():
    translated = "max_pending.*Go 没有这个选项"
    the_one("handlers", r"`HandlerOptions\(max_pending=.*Go has no such option", translated, "HandlerOptions")
    translated = "`ageing`（Go 的 controller-runtime 没有）"
    the_one("priority", "`ageing` in this project.*Go has no such option", translated, "lessReady")


def test_both_ways_of_the_first_objects_are_taught_in_the_order_of_their_introduction_with_todays_default():
    if "KUBE_FEATURE_WatchListClient" not in os.environ:
        assert features.feature_gates().enabled(features.WATCH_LIST_CLIENT)
    the_one(
        "list-and-watch",
        r"older one is a list request; this lesson begins with it. The newer one is a \*\*streaming list\*\*.*"
        r"has used it by default since v0\.35",
        r"较早的方式是发一个 List 请求，本课从它开始。"
        r"较新的方式是 \*\*流式 List\*\*.*从 v0\.35 起，client-go 默认使用流式 List",
        "WatchListClient",
    )
    lesson = LESSONS["list-and-watch"]
    assert Settings().watch_list is False
    streams = [bool(step.machine.get("watch_list")) for step in lesson.steps]
    assert streams == sorted(streams) and streams.count(True) >= 3 and streams.count(False) >= 3
    assert lesson.steps[streams.index(True)].title == "Today: the streaming list"


def test_two_versions_of_a_resource_can_be_compared():
    from clientgo.apimachinery.util.resourceversion import compare_resource_version

    assert compare_resource_version("9", "10") < 0
    the_one(
        "versions",
        r"For a long time clients could only test two versions for equality\. "
        r"Today they may compare two versions of the same resource",
        r"以前客户端只能判断两个版本是否相等，如今同一种资源的两个版本也可以比较先后",
        "CompareResourceVersion",
    )
