"""Lengths of time in Go's text form."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.golang.duration import format_duration, format_nanoseconds, parse_duration


@given(st.floats(-1e9, 1e9))
def test_seconds_are_written_to_the_nearest_nanosecond(seconds: float) -> None:
    assert format_duration(seconds) == format_nanoseconds(round(Fraction(seconds) * 1_000_000_000))


def test_of_two_nanoseconds_that_are_equally_near_the_even_one_is_written() -> None:
    # 2**-10 seconds are 976562.5 nanoseconds.
    assert format_duration(2**-10) == "976.562µs"
    assert format_duration(3 * 2**-10) == "2.929688ms"
    assert format_duration(-(2**-10)) == "-976.562µs"


def test_what_is_no_number_has_no_text() -> None:
    with pytest.raises(ValueError, match="NaN"):
        format_duration(float("nan"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("\u00e9", r'time: invalid duration "\xc3\xa9"'),
        ("\n'\x7f", 'time: invalid duration "\\x0a\'\x7f"'),
        ("1\u2028", r'time: unknown unit "\xe2\x80\xa8" in duration "1\xe2\x80\xa8"'),
        ("18446744073709551616", 'time: invalid duration "18446744073709551616"'),
        ("9223372036854775808", 'time: missing unit in duration "9223372036854775808"'),
    ],
)
def test_errors_show_a_text_by_its_bytes(text: str, error: str) -> None:
    """Go: time.quote, which differs from strconv.Quote."""
    with pytest.raises(ValueError) as caught:
        parse_duration(text)
    assert str(caught.value) == error


def test_leading_zeros_are_no_large_number() -> None:
    assert parse_duration("0" * 30 + "1s") == 1
