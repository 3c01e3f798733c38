"""Ages are printed as Go prints them (golden/apimachinery/duration.jsonl, made by go/options/main.go).

The file omits durations that a float of seconds does not distinguish.
"""

from __future__ import annotations

from goldenfile import read

from clientgo.apimachinery.util import duration


def test_durations_have_the_texts_of_go() -> None:
    """Go: TestHumanDuration, TestHumanDurationBoundaries, TestShortHumanDurationBoundaries"""
    cases = read("apimachinery/duration.jsonl")
    ours = [
        (duration.human_duration(each["ns"] / 1e9), duration.short_human_duration(each["ns"] / 1e9)) for each in cases
    ]
    wrong = [
        (case["name"], found)
        for case, found in zip(cases, ours, strict=True)
        if found != (case["human"], case["short"])
    ]
    assert len(cases) > 500
    assert not wrong
