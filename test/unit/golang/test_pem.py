"""Blocks of PEM, with what stands around them."""

from __future__ import annotations

import pytest

from clientgo.golang import pem

ONE = b"-----BEGIN ONE-----\nMTIz\n-----END ONE-----\n"
TWO = b"-----BEGIN TWO-----\nNDU2\n-----END TWO-----\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"text\n" + ONE + b"text\n\n" + TWO, [("ONE", b"123"), ("TWO", b"456")], id="text around"),
        pytest.param(ONE.replace(b"\n", b"\r\n"), [("ONE", b"123")], id="lines of Windows"),
        pytest.param(ONE.rstrip(), [("ONE", b"123")], id="no last line end"),
        pytest.param(ONE.replace(b"MTIz", b" MT\n\tIz "), [("ONE", b"123")], id="other lengths of lines"),
        pytest.param(b"x" + ONE, [], id="not at the start of a line"),
        pytest.param(ONE.replace(b"MTIz", b"MT!z") + TWO, [("TWO", b"456")], id="no base64"),
        pytest.param(ONE.replace(b"END ONE", b"END TWO") + TWO, [("TWO", b"456")], id="another end"),
        pytest.param(ONE[:24] + b"\n" + TWO, [("TWO", b"456")], id="no end"),
        pytest.param(ONE[:24], [], id="cut"),
        pytest.param(ONE.replace(b"MTIz\n", b""), [("ONE", b"")], id="empty"),
    ],
)
def test_blocks_are_found(data: bytes, expected: list[tuple[str, bytes]]) -> None:
    assert [(block.type, block.bytes) for block in pem.blocks(data)] == expected


def test_a_block_has_headers() -> None:
    (block,) = pem.blocks(ONE.replace(b"MTIz", b"Proc-Type: 4,ENCRYPTED\nOther : value\n\nMTIz"))
    assert block == pem.Block("ONE", b"123", {"Proc-Type": "4,ENCRYPTED", "Other": "value"})


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(ONE[:20] * 200_000 + TWO, id="begins"),
        pytest.param(b"-----END ONE-----\n" * 200_000 + TWO, id="ends"),
        pytest.param(b"-----BEGIN ONE-----\n" + b"a: b\n" * 200_000 + b"-----END ONE-----\n" + TWO, id="headers"),
        pytest.param(b"-----BEGIN " + b"-----  " * 200_000 + b"x\n" + TWO, id="a long line"),
    ],
)
def test_large_malformed_data_is_read_at_once(data: bytes) -> None:
    """In quadratic time each of these would take minutes."""
    assert [block.bytes for block in pem.blocks(data)][-1] == b"456"


@pytest.mark.parametrize("size", [0, 1, 47, 48, 49, 1000])
def test_an_encoded_block_is_read_again(size: int) -> None:
    content = bytes(at % 256 for at in range(size))
    text = pem.encode("SOME", content)
    assert max(len(line) for line in text.splitlines()) <= 64
    assert [*pem.blocks(text)] == [pem.Block("SOME", content)]
