"""Text that is not valid UTF-8: its bytes survive, and what is shown of it is what Go shows."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.runtime.serializer.json import parse_json
from clientgo.apimachinery.util.json import encode, marshal
from clientgo.controller_runtime.log import zap
from clientgo.golang import utf8
from clientgo.golang.strconv import quote
from clientgo.klog import serialize


@given(st.binary())
def test_encoding_is_the_inverse_of_decoding(data: bytes) -> None:
    assert utf8.encode(utf8.decode(data)) == data


@given(st.binary())
def test_valid_text_has_one_replacement_character_for_each_invalid_byte(data: bytes) -> None:
    text = utf8.decode_valid(data)
    assert text == utf8.to_valid(utf8.decode(data))
    kept = data.decode("utf-8", "ignore")
    assert len(text.encode()) == len(kept.encode()) + 3 * (len(data) - len(kept.encode()))


@given(st.text(st.characters()))
def test_text_of_any_surrogates_can_be_encoded(text: str) -> None:
    utf8.encode(text)
    utf8.to_valid(text).encode()
    assert utf8.has_escaped_bytes({"k": [text]}) == utf8.has_escaped_bytes({text: None}) == any(
        0xD800 <= ord(char) < 0xE000 for char in text
    )


# By the text in the JSON document, the text that Go's json.Unmarshal gives.
TEXTS = [
    (b"a\xe2\x82", "a\ufffd\ufffd"),
    (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    (b"\\udc80", "\ufffd"),
    (b"\\uDC80\\uD83D\\uDE00\\ud83d", "\ufffd😀\ufffd"),
    (b"\\ud83d\\ud83d\\ude00", "\ufffd😀"),
    (b"\\\\udc80", "\\udc80"),
    (b"\\\\\\udc80", "\\\ufffd"),
    ("é".encode(), "é"),
]


@pytest.mark.parametrize(("raw", "text"), TEXTS)
def test_json_is_read_as_go_reads_it(raw: bytes, text: str) -> None:
    assert parse_json(b'{"%s":["%s"]}' % (raw, raw)) == {text: [text]}


def test_half_an_escape_is_no_json() -> None:
    for raw in (b'"\\udc8"', b'"\\udc8g"', b'"\\ud'):
        with pytest.raises(ValueError, match=r"[Ee]scape"):
            parse_json(raw)


@pytest.mark.parametrize("value", [{"\udcc3": ["a\udcc3", 1]}, {"\udcc3": ["a\udcc3", 1.0]}, ["\udcc3", 1e-7]])
def test_json_can_always_be_sent(value: object) -> None:
    for text in (encode(value), encode(value, sort_keys=True), marshal(value)):
        assert "\ufffd" in text.encode().decode()


def test_text_in_quotes_shows_bytes_as_go_does() -> None:
    assert quote('caf\udcc3 "é"') == '"caf\\xc3 \\"é\\""'


def test_every_log_line_can_be_written() -> None:
    values = {"text": "caf\udcc3", "object": {"k": ["caf\udcc3"]}}
    assert serialize.format_message("m", values) == '"m" text="caf\\xc3" object={"k":["caf�"]}'
    stream = io.StringIO()
    for made in (zap.new(zap.write_to(stream)), zap.new(zap.write_to(stream), zap.use_dev_mode(True))):
        made.info("caf\udcc3", **values)
    lines = stream.getvalue().encode().decode().splitlines()
    assert json.loads(lines[0])["text"] == "caf\ufffd"
    assert "caf\ufffd" in lines[1]
