"""The words of the terminal in English and Chinese."""

from __future__ import annotations

from clientgo.tour.words import Words

EN, ZH = Words("en"), Words("zh")


def test_words_fall_back_to_english_and_to_the_name() -> None:
    assert Words().language == Words("fr").language == "en" and ZH.language == "zh"
    assert ZH("colon") == "：" and EN("colon") == ": " and ZH("no such word") == EN("no such word") == "no such word"
    assert EN.label("objects") == "objects" and EN.label("a", "b") == "b" and ZH.label("objects", "b") == "对象"


def test_an_error_is_translated_where_a_pattern_knows_it() -> None:
    text = "dial tcp: connection refused"
    assert EN.error(text) == text and "连接被拒绝" in ZH.error(text)
    assert ZH.error("quite unknown") == "quite unknown"


def test_kinds_faults_and_facts_have_words_in_both_languages() -> None:
    for words, ascii_only in ((EN, True), (ZH, False)):
        for text in (words.kind("queue", "added"), words.fault("cut"), words.about("error")):
            assert text and text.isascii() is ascii_only
    assert EN.fault("cut") == "cut the connection" and EN.about("other") == ZH.about("other") == "other"
