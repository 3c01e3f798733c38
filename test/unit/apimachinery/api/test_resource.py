"""Quantities: what they read, how they are written, how they compare and add (Go's quantity_test.go tables)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import resource
from clientgo.apimachinery.api.resource import Format, Quantity, parse_quantity
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.kubernetes.scheme import SCHEME

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
    """Go: TestQuantityParse, TestQuantityParseNonNumericPanic."""
    with pytest.raises((resource.ErrFormatWrong, resource.ErrSuffix)):
        parse_quantity(text)
    with pytest.raises(ValueError, match="cannot parse"):
        resource.must_parse(text)


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [("1", 1, 1000), ("1001m", 2, 1001), ("-1001m", -2, -1001), ("1n", 1, 1), ("2Ki", 2048, 2048000), ("0", 0, 0)],
)
def test_values_round_away_from_zero(text: str, value: int, milli: int) -> None:
    """Go: TestQuantityValueSet, TestScaledValue."""
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


# What Go reads each text as: unscaled, scale, format.
READ = {
    "0Ki": (0, 0, "BinarySI"), "0u": (0, 0, "DecimalSI"), "8Ki": (8 << 10, 0, "BinarySI"),
    "7Mi": (7 << 20, 0, "BinarySI"),
    "6Gi": (6 << 30, 0, "BinarySI"), "5Ti": (5 << 40, 0, "BinarySI"), "4Pi": (4 << 50, 0, "BinarySI"),
    "3Ei": (3 << 60, 0, "BinarySI"), "5n": (5, -9, "DecimalSI"), "4u": (4, -6, "DecimalSI"), "3m": (3, -3, "DecimalSI"),
    "8k": (8, 3, "DecimalSI"), "7M": (7, 6, "DecimalSI"), "6G": (6, 9, "DecimalSI"), "40T": (4, 13, "DecimalSI"),
    "2P": (2, 15, "DecimalSI"), "12E": (12, 18, "DecimalSI"), "1E-3": (1, -3, "DecimalExponent"),
    "1e14": (1, 14, "DecimalExponent"), "1.3E+6": (13, 5, "DecimalExponent"), "0.5e-1": (5, -2, "DecimalExponent"),
    "100.035k": (100035, 0, "DecimalSI"), "0.00050k": (5, -1, "DecimalSI"), "1.01E": (101, 16, "DecimalSI"),
    "3.001n": (4, -9, "DecimalSI"), "1.1E-9": (2, -9, "DecimalExponent"), "0.00000012345": (124, -9, "DecimalSI"),
    "9223372036854775807Ki": (2**63 - 1, 0, "BinarySI"), "100.035Ki": (10243584, -2, "BinarySI"),
    "0.025Ti": (274877906944, -1, "BinarySI"), "0.000000000001Ki": (2, -9, "DecimalSI"), ".0001k": (1, -1, "DecimalSI"),
    "1.G": (1, 9, "DecimalSI"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "read"), READ.items())
def test_a_text_is_read_with_its_number_and_format(text: str, read: tuple[int, int, str]) -> None:
    """Go: TestQuantityParse, TestParseQuantityString, TestDec, TestBigDec."""
    digits, scale, format = read
    for sign, factor in (("", 1), ("+", 1), ("-", -1)):
        quantity = parse_quantity(sign + text)
        assert quantity == Quantity(factor * digits, scale) and str(quantity.format) == format
        assert quantity.sign() == (factor if digits else 0)


def test_zero_is_written_without_a_suffix_and_without_a_sign() -> None:
    """Go: TestQuantityParseZero, TestQuantityCanocicalizeZero, TestQuantityNeg."""
    assert str(parse_quantity("0")) == str(parse_quantity("1000m") - parse_quantity("1")) == "0"
    assert str(-parse_quantity("0Ki")) == "0"
    minus = -parse_quantity("9.01")
    assert str(minus) == "-9010m" and -minus == parse_quantity("9.01")


@pytest.mark.parametrize("text", ["100m", "1Gi"])
def test_zero_has_no_format_of_its_own(text: str) -> None:
    """Go: TestQuantityAddZeroPreservesSuffix, TestQuantitySubZeroPreservesSuffix."""
    zero, value = parse_quantity("0"), parse_quantity(text)
    assert str(value + zero) == str(zero + value) == str(value - zero) == text
    assert str(zero - value) == f"-{text}"


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [("0", "0", 0), ("100m", "50m", 1), ("50m", "100m", -1), ("10000T", "100Gi", 1), ("-10", "0", -1), ("10", "0", 1)],
)
def test_cmp(x: str, y: str, result: int) -> None:
    """Go: TestQuantityCmp."""
    assert parse_quantity(x).cmp(parse_quantity(y)) == result == -parse_quantity(y).cmp(parse_quantity(x))


MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [
        ((901, -2), (901, -2), 0),
        ((90, -1), (901, -2), -1),
        ((0, 1), (0, -1), 0),
        ((800, -3), (79, -2), 1),
        ((MOST, 1), (1, 1), 1),
        ((MOST, -16), (1, 3), -1),
        ((-MOST, -18), (-1, 0), -1),
        ((-MOST, -19), (-1, 0), 1),
        ((10**18, -17), (1, 1), 0),
        ((10**18 + 1, -17), (1, 1), 1),
        ((10**18 - 1, -17), (1, 1), -1),
        ((-(10**18), -17), (-10, 0), 0),
    ],
)
def test_cmp_across_scales(x: tuple[int, int], y: tuple[int, int], result: int) -> None:
    """Go: TestQuantityCmpInt64AndDec."""
    assert Quantity(*x).cmp(Quantity(*y)) == result == -Quantity(*y).cmp(Quantity(*x))


@pytest.mark.parametrize(
    ("scale", "expected"), [(-3, "9010m"), (-2, "9010m"), (-1, "9100m"), (0, "10"), (1, "10"), (2, "100")]
)
def test_rounding_goes_away_from_zero(scale: int, expected: str) -> None:
    """Go: TestQuantityRoundUp."""
    assert str(parse_quantity("9.01").round_up(scale)) == expected
    assert str(parse_quantity("-9.01").round_up(scale)) == f"-{expected}"


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        ((300 << 20, 0, "BinarySI"), "300Mi"),
        ((1001 << 30, 0, "BinarySI"), "1001Gi"),
        ((5, 0, "BinarySI"), "5"),
        ((500, -3, "BinarySI"), "500m"),
        ((1234567, -3, "BinarySI"), "1234567m"),
        ((1025, 0, "BinarySI"), "1025"),
        ((1000000, 3, "DecimalSI"), "1G"),
        ((10800, -4, "DecimalSI"), "1080m"),
        ((108, -8, "DecimalSI"), "1080n"),
        ((1234567, 6, "DecimalSI"), "1234567M"),
        ((1, 9, "DecimalExponent"), "1e9"),
        ((80, -3, "DecimalExponent"), "80e-3"),
        ((1024, -3, "BinarySI"), "1024m"),
    ],
)
def test_the_text_has_the_largest_suffix_that_leaves_no_fraction(quantity: tuple[int, int, str], text: str) -> None:
    """Go: TestQuantityString, TestMilliNewSet, TestNewSet."""
    number, scale, format = quantity
    assert str(Quantity(number, scale, Format(format))) == text
    assert str(Quantity(-number, scale, Format(format))) == f"-{text}"


@pytest.mark.parametrize(
    ("text", "written"),
    [("1024Mi", "1Gi"), ("1000M", "1G"), (".001Ki", "1024m"), (".000000001Ki", "1024n"), (".000000000001Ki", "2n")],
)
def test_what_is_read_is_written_in_canonical_form(text: str, written: str) -> None:
    """Go: TestQuantityParseEmit."""
    assert str(parse_quantity(text)) == written and str(parse_quantity(f"-{text}")) == f"-{written}"


@pytest.mark.parametrize(
    ("scale", "asked", "value"),
    [
        (-9, -9, 1),
        (-9, 0, 1),
        (-6, -9, 1000),
        (-3, -9, 10**6),
        (-3, 0, 1),
        (0, -6, 10**6),
        (2, -2, 10**4),
        (-3, -6, 1000),
    ],
)
def test_a_value_in_other_units_is_rounded_up(scale: int, asked: int, value: int) -> None:
    """Go: TestScaledValue, TestNewScaledSet, TestScaledValueInternal."""
    assert resource.new_scaled_quantity(1, scale).scaled_value(asked) == value
    assert resource.new_scaled_quantity(-1, scale).scaled_value(asked) == -value


@pytest.mark.parametrize(
    ("x", "y", "total", "difference"),
    [
        ("0", "0", "0", "0"),
        ("-10", "0", "-10", "-10"),
        ("0.1", "0.2", "300m", "-100m"),
        ("10", "1n", "10000000001n", "9999999999n"),
        ("9223372036854775807", "1", "9223372036854775808", "9223372036854775806"),
        ("1E", "1n", "1000000000000000000000000001n", "999999999999999999999999999n"),
    ],
)
def test_sums_and_differences_are_exact(x: str, y: str, total: str, difference: str) -> None:
    """Go: TestAdd, TestSub, TestNeg, TestInt64AmountAdd, TestDetectOverflowAdd."""
    a, b = parse_quantity(x), parse_quantity(y)
    assert (str(a + b), str(a - b)) == (total, difference)
    assert (a + b - b, a - b + b, a.neg().neg()) == (a, a, a)
    assert (str(a), str(b)) == (str(parse_quantity(x)), str(parse_quantity(y)))


@pytest.mark.parametrize(
    ("x", "y", "product"),
    [
        ("0", 5, "0"),
        ("100m", -10, "-1"),
        ("9E", 10, "90E"),
        ("1Gi", 2, "2Gi"),
        ("9223372036854775807", 2, "18446744073709551614"),
    ],
)
def test_products_are_exact(x: str, y: int, product: str) -> None:
    """Go: TestMul, TestInt64AmountMul, TestDetectOverflowMultiply."""
    assert str(parse_quantity(x).mul(y)) == product


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9))
def test_what_is_added_can_be_taken_away_at_any_scale(a: int, a_scale: int, b: int, b_scale: int) -> None:
    """Go: TestAddSubRoundTrip, TestAddSubRoundTripAcrossScales, TestNegateRoundTrip."""
    x, y = Quantity(a, a_scale), Quantity(b, b_scale)
    assert x + y - y == x and x - y + y == x and x.neg().neg() == x


@pytest.mark.parametrize(
    ("quantity", "number"),
    [
        (Quantity(1024, 0, Format.BINARY_SI), 1024.0),
        (Quantity(8, -3), 0.008),
        (Quantity(12, 18), 12e18),
        (Quantity(-65, -9), -65e-9),
        (Quantity(2**63 - 1, 0), float(2**63 - 1)),
        (Quantity(1, 400), float("inf")),
        (Quantity(-1, 400), float("-inf")),
        (Quantity(0, 400), 0.0),
    ],
)
def test_the_nearest_float(quantity: Quantity, number: float) -> None:
    """Go: TestQuantityAsApproximateFloat64, TestQuantityAsFloat64Slow, TestStringQuantityAsApproximateFloat64,
    TestStringQuantityAsFloat64Slow.
    """
    assert quantity.as_approximate_float64() == number


def test_the_zero_value_is_a_quantity() -> None:
    """Go: TestUninitializedNoCrash, TestAmountSign."""
    zero = Quantity()
    assert (zero.value(), zero.milli_value(), str(zero), zero.sign(), zero.is_zero()) == (0, 0, "0", 0, True)
    assert zero == parse_quantity("0") and zero.deep_copy() == zero and not -zero


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        (Quantity(1, 18), (10**18, True)),
        (Quantity(1, 19), (0, False)),
        (Quantity(100, -5), (0, False)),
        (Quantity(100, -2), (0, False)),  # an integer, but Go does not divide to find out
        (Quantity(1, -1), (0, False)),
        (Quantity(100, 1), (1000, True)),
        (Quantity(100, 100), (0, False)),
        (Quantity(2**63 - 1), (2**63 - 1, True)),
        (Quantity(2**63), (0, False)),
        (Quantity(-(2**63)), (-(2**63), True)),
    ],
)
def test_a_64_bit_integer_is_recognised(quantity: Quantity, value: tuple[int, bool]) -> None:
    """Go: TestInt64AmountAsInt64, TestInt64AmountAsScaledInt64, TestDetectOverflowScale."""
    assert quantity.as_int64() == value


@pytest.mark.parametrize(("read", "text"), [(" 1", "1"), ("1 ", "1"), (1, "1"), (10, "10"), (-1, "-1"), ("1000m", "1")])
def test_a_field_takes_numbers_and_blanks_around_the_text(read: object, text: str) -> None:
    """Go: TestJSONWhitespace, TestJSON."""
    requirements = corev1.ResourceRequirements.from_dict({"limits": {"cpu": read}})
    assert str(requirements.limits["cpu"]) == text


@pytest.mark.parametrize("text", ["0", "100m", "50m", "5M", "1.5Gi", "12e6", "100Ei"])
def test_a_quantity_comes_back_from_protobuf(text: str) -> None:
    """Go: TestQuantityProtoMarshal, TestQuantityProtoUnmarshal."""
    codec = protobuf.ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
    quota = corev1.ResourceQuota.from_dict({"spec": {"hard": {"cpu": text}}})
    found, _ = codec.decode(codec.encode(quota))
    assert isinstance(found, corev1.ResourceQuota)
    assert str(found.spec.hard["cpu"]) == str(parse_quantity(text))
    assert found.spec.hard["cpu"] == parse_quantity(text)


def test_a_copy_of_a_quantity_is_another_one() -> None:
    """Go: TestQuantityDeepCopy, TestDeepCopy."""
    source = parse_quantity("5M")
    copy = source.deep_copy()
    assert (copy, copy.format) == (source, source.format)
    copy.add(parse_quantity("1"))
    assert str(source) == "5M"


@pytest.mark.parametrize(
    ("text", "value", "milli", "written"),
    [
        # In Go's int64: away from zero.
        ("-0.5", -1, -500, "-500m"),
        ("-9.01", -10, -9010, "-9010m"),
        ("-1.5", -2, -1500, "-1500m"),
        ("-1500m", -2, -1500, "-1500m"),
        ("-999u", -1, -1, "-999u"),
        ("-1n", -1, -1, "-1n"),
        ("-12345678901234567.8", -12345678901234568, -12345678901234567800, "-12345678901234567800m"),
        # In Go's decimal: fractions of binary numbers, below one nano, more than 18 digits.
        ("-1.0001Ki", -1023, -1024101, "-1024102400u"),
        ("-1.1Ki", -1125, -1126400, "-1126400m"),
        ("-0.5Ki", -512, -512000, "-512"),
        ("-1.5Gi", -1610612736, -1610612736000, "-1536Mi"),
        ("-0.0000000001", 1, 1, "-1n"),
        ("-1.0000000001", 0, -999, "-1000000001n"),
        ("-0.0005Ki", 1, -512, "-512m"),
        ("-123456789012345678.5", -123456789012345677, -(2**63), "-123456789012345678500m"),
        # Positive ones are rounded up, however Go holds them.
        ("1.0001Ki", 1025, 1024103, "1024102400u"),
        ("0.0000000001", 1, 1, "1n"),
    ],
)
def test_negative_fractions_are_rounded_and_written_as_go_does(text: str, value: int, milli: int, written: str) -> None:
    """Go: Quantity.ScaledValue, scaledValue, negativeScaleInt64; a number that does not fit stays within 64 bits."""
    quantity = parse_quantity(text)
    assert quantity.value() == value
    assert quantity.milli_value() == max(-(2**63), milli)
    assert str(quantity) == written


def test_a_decimal_divided_by_many_places_is_rounded_up() -> None:
    """Go's scaledValue divides more than 18 places, or what is not below 2**63, as a big integer, rounded down."""
    decimal = Quantity(-15, -20, is_decimal=True)
    assert (decimal.value(), decimal.scaled_value(-1), decimal.scaled_value(-19)) == (0, 0, 0)
    assert Quantity(-(10**20) - 1, -20, is_decimal=True).value() == -1
    assert Quantity(-15, -1, is_decimal=True).value() == 0
    assert Quantity(-15, -1).value() == -2


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        (parse_quantity("-1.5") + parse_quantity("-1"), -3),
        (parse_quantity("-1.5") + parse_quantity("-1.5Ki"), -1536),
        (parse_quantity("-1.0001Ki") - parse_quantity("1"), -1024),
        (-parse_quantity("1.0001Ki"), -1023),
        (-parse_quantity("1.5"), -2),
        (parse_quantity("1.0001Ki").mul(-1), -1023),
        (parse_quantity("1.5").mul(-1), -2),
        (resource.new_quantity(2**63 - 1) + resource.new_quantity(1), 2**63 - 1),
        (resource.new_scaled_quantity(-(2**63) + 5, -1) + resource.new_scaled_quantity(-8, -1), -922337203685477580),
        (parse_quantity("-9.01").round_up(-1), -10),
        (parse_quantity("-1.0001Ki").round_up(-1), -1023),
    ],
)
def test_arithmetic_keeps_how_go_holds_the_number(quantity: Quantity, value: int) -> None:
    """Go: Quantity.Add, Sub, Mul, Neg, RoundUp: a decimal stays one, and what does not fit 64 bits becomes one."""
    assert quantity.value() == value


def test_a_decimal_is_no_integer_at_hand() -> None:
    """Go: Quantity.AsInt64."""
    assert parse_quantity("1.5Gi").as_int64() == (0, False)
    assert parse_quantity("1Gi").as_int64() == (2**30, True)
    assert parse_quantity("1000m").as_int64() == (0, False)
    assert parse_quantity("5k").as_int64() == (5000, True)


@pytest.mark.parametrize("text", ["Pi", "Ei", "-Pi", "e-10", ".e-12", "+e-10"])
def test_a_decimal_without_digits_is_refused(text: str) -> None:
    with pytest.raises(resource.ErrNumeric):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["m", "+", ".", "-k", "Ti", "e-9"])
def test_an_integer_without_digits_is_zero(text: str) -> None:
    """Go takes its fast path for these."""
    assert parse_quantity(text).is_zero()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("222648330618353873m", 222648330618353.9),
        ("0.0000000001Ki", 1.0300000000000001e-07),
        ("-9223372036854775808e3", -9.223372036854777e21),
        ("7526600960649845801.3614422", 7.526600960649847e18),
        ("36.4Pi", 4.098275660907152e16),
        ("1e-9", 1e-9),
        ("0", 0.0),
        ("0e400", 0.0),
        ("-1e400", float("-inf")),
    ],
)
def test_an_approximate_float_is_rounded_twice(text: str, number: float) -> None:
    """Results of Go, which multiplies the digits, as a float, by a power of ten."""
    assert parse_quantity(text).as_approximate_float64() == number


@pytest.mark.parametrize(
    ("text", "scale", "value"), [("-0.50Ki", 9, 1), ("-1234567890123456789.5", 18, -1), ("-1.0001Ki", 0, -1023)]
)
def test_a_negative_decimal_is_scaled_from_billionths(text: str, scale: int, value: int) -> None:
    assert parse_quantity(text).scaled_value(scale) == value
