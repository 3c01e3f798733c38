"""Quantities: what they read, how they are written, how they compare and add (Go's quantity_test.go tables)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.apimachinery.api import resource
from clientgo.apimachinery.api.resource import Format, Quantity, parse_quantity

CANONICAL = {
    "0": "0", "0n": "0", "0Ki": "0", "000": "0", "0.00": "0", "-0": "0",
    "1": "1", "10k": "10k", "1000": "1k", "1000k": "1M", "1024": "1024", "1e3": "1e3", "1E3": "1E3", "1000e0": "1e3",
    "0.5": "500m", ".5": "500m", "5.": "5.", "100m": "100m", "1000m": "1", "0.001": "1m", "1n": "1n", "0.1n": "1n",
    "1.5Gi": "1536Mi", "1Ki": "1Ki", "8Ki": "8Ki", "1024Ki": "1Mi", "2048Ki": "2Mi", "0.5Ki": "512", "0.5Mi": "512Ki",
    "100Ei": "9223372036854775807", "9Ei": "9223372036854775807", "1Ei": "1Ei", "-9.01Ei": "-9223372036854775807",
    "9223372036854775808": "9223372036854775808", "1E": "1E", "12345678901234567890123": "12345678901234567890123",
    "-1": "-1", "+1": "+1", "-1.5": "-1500m", "1e-9": "1e-9", "1e-10": "1e-9", "1.1E9": "1100e6", "0.1Mi": "104857600m",
    "1e999999999": "1e999999999",
}  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), CANONICAL.items())
def test_a_quantity_is_written_in_canonical_form(text: str, canonical: str) -> None:
    assert str(parse_quantity(text)) == canonical
    assert parse_quantity(canonical) == parse_quantity(text) or text == "1e999999999"


@pytest.mark.parametrize(
    "text", ["", "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i", "-3.01i", "1K", "1 Ki", "1\n"]
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises((resource.ErrFormatWrong, resource.ErrSuffix)):
        parse_quantity(text)
    with pytest.raises(ValueError, match="cannot parse"):
        resource.must_parse(text)


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [("1", 1, 1000), ("1001m", 2, 1001), ("-1001m", -2, -1001), ("1n", 1, 1), ("2Ki", 2048, 2048000), ("0", 0, 0)],
)
def test_values_round_away_from_zero(text: str, value: int, milli: int) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == (value, milli)


def test_values_stay_within_64_bits() -> None:
    assert parse_quantity("1e999999999").value() == 2**63 - 1
    assert parse_quantity("-1e99").milli_value() == -(2**63)


def test_quantities_compare_by_number_not_by_text() -> None:
    assert parse_quantity("1") == parse_quantity("1000m") and hash(parse_quantity("1")) == hash(parse_quantity("1000m"))
    assert parse_quantity("1Ki") > parse_quantity("1k") > parse_quantity("-5")
    assert parse_quantity("1e999999999") > parse_quantity("9E")
    assert not parse_quantity("0") and parse_quantity("1n")


def test_sums_keep_the_format_of_the_first_unless_it_is_zero() -> None:
    assert str(parse_quantity("1Gi") + parse_quantity("1k")) == "1073742824"
    assert str(parse_quantity("1Gi") + parse_quantity("1Gi")) == "2Gi"
    assert str(parse_quantity("0") + parse_quantity("1Gi")) == "1Gi"
    assert str(parse_quantity("1") - parse_quantity("100m")) == "900m"
    assert str(-parse_quantity("1Mi")) == "-1Mi"
    assert str(parse_quantity("100m").mul(10)) == "1"


def test_quantities_made_of_numbers() -> None:
    assert str(resource.new_quantity(2048, Format.BINARY_SI)) == "2Ki"
    assert str(resource.new_milli_quantity(1500)) == "1500m"
    assert str(resource.new_scaled_quantity(5, 6)) == "5M"
    assert resource.new_quantity(5).as_int64() == (5, True)
    assert parse_quantity("1500m").as_int64() == (0, False)
    assert parse_quantity("1500m").as_approximate_float64() == 1.5


@given(st.integers(-(10**25), 10**25), st.integers(-9, 12), st.sampled_from(Format))
def test_the_text_of_a_quantity_reads_back_as_the_same_number(digits: int, scale: int, format: Format) -> None:
    quantity = Quantity(digits, scale, format)
    if format is Format.BINARY_SI and abs(digits) * 10.0**scale >= 2**63:
        return  # Such a text is capped when it is read.
    if abs(digits) * 10.0**scale >= 1e20 and format is Format.DECIMAL_SI:
        return  # Beyond the largest suffix Go writes no suffix at all.
    assert parse_quantity(str(quantity)) == quantity
