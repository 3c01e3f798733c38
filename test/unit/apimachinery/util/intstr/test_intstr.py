"""Values that are a number or a text."""

from __future__ import annotations

import pytest

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import intstr
from clientgo.apimachinery.util.yaml import unmarshal


def test_a_number_stays_a_number_and_a_text_a_text() -> None:
    """Go: TestFromInt, TestFromInt32, TestFromString, TestIntOrStringUnmarshalJSON, TestIntOrStringMarshalJSON,
    TestIntOrStringMarshalJSONUnmarshalYAML.
    """
    assert (intstr.from_int32(93), intstr.from_string("76")) == (93, "76")
    for text, value in (('{"port":123}', 123), ('{"port":"123"}', "123")):
        document = unmarshal(text)
        port = corev1.ServicePort.from_dict({"targetPort": document["port"]})
        assert port.target_port == value and type(port.target_port) is type(value)
        assert port.to_dict() == {"targetPort": value}


@pytest.mark.parametrize("value", ["200", "30%0", "%", "a%", "a", "40#", "40%%", "#%", None])
def test_what_is_neither_a_number_nor_a_percentage_is_refused(value: str | None) -> None:
    """Go: TestGetIntFromIntOrString, TestGetIntFromIntOrPercent, TestGetValueFromIntOrPercentNil."""
    with pytest.raises(ValueError):
        intstr.get_scaled_value_from_int_or_percent(value, 100, True)


@pytest.mark.parametrize(
    ("value", "total", "round_up", "scaled"),
    [
        (123, 0, False, 123),
        ("90%", 100, True, 90),
        ("90%", 95, True, 86),
        ("90%", 95, False, 85),
        ("40%", 100, False, 40),
    ],
)
def test_a_percentage_is_rounded_as_asked(value: int | str, total: int, round_up: bool, scaled: int) -> None:
    """Go: TestGetIntFromIntOrString, TestGetIntFromIntOrPercent."""
    assert intstr.get_scaled_value_from_int_or_percent(value, total, round_up) == scaled


@pytest.mark.parametrize("number", [0, 2**31 - 1, -(2**31), 2**31, -(2**31) - 1, 2**63, -(2**63)])
def test_only_what_fits_into_32_bits_is_read_as_a_number(number: int) -> None:
    """Go: TestParse."""
    fits = -(2**31) <= number < 2**31
    assert intstr.parse(str(number)) == (number if fits else str(number))
