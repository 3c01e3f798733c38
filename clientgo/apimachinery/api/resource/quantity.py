"""Amounts of resources: `100m` CPU, `1.5Gi` memory, `12e6` of anything.

Mirrors k8s.io/apimachinery/pkg/api/resource/quantity.go (with amount.go, math.go and scale_int.go, which only work
around the size of Go's integers). A Quantity is immutable here: methods such as `add` return a new one, and `+`, `-`,
`<` work. Python's integers do not overflow, so arithmetic is always exact; `value` and similar methods return at most
64 bits.

Go holds a number in 64 bits where it fits, otherwise in an arbitrary-precision decimal, and two of its methods differ
between the two. `as_int64` returns False for a decimal. `value` and similar methods round 64-bit numbers away from
zero, but round a negative decimal the other way: `value` of -1023.5 is -1024, and of the decimal -1.0001Ki, -1024.1024,
it is -1023. A Quantity records which of the two Go would use, and returns Go's results. Only numbers that exceed
64 bits in the unit asked for, or in billionths as a negative decimal, differ: Go's results overflow and mean nothing.
"""

from __future__ import annotations

import math
import re
from functools import total_ordering
from typing import Final

from clientgo.apimachinery.api.resource.suffix import Format, construct, interpret


class ErrFormatWrong(ValueError):
    """Raised for a text that is not a quantity. Go: resource.ErrFormatWrong."""

    def __init__(self) -> None:
        super().__init__("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")


class ErrNumeric(ValueError):
    """Raised for an invalid number in a quantity. Go: resource.ErrNumeric."""

    def __init__(self) -> None:
        super().__init__("unable to parse numeric part of quantity")


class ErrSuffix(ValueError):
    """Raised for an unknown suffix. Go: resource.ErrSuffix."""

    def __init__(self) -> None:
        super().__init__("unable to parse quantity's suffix")


# Possessive, so that the suffix cannot take digits back: backtracking would be quadratic in a long number.
_QUANTITY: Final = re.compile(r"([+-]?)([0-9]*+)(?:\.([0-9]*+))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_NANO: Final = -9
_MAX_INT64: Final = (1 << 63) - 1
_MIN_INT64: Final = -(1 << 63)
_MAX_INT64_DIGITS: Final = 18
# The exponents of math.Pow10 with a result that is neither 0 nor infinite.
_MIN_POWER: Final = -323
_MAX_POWER: Final = 308
# Up to this number of places Go divides a decimal's digits as a 64-bit integer.
_FAST_PLACES: Final = 19


@total_ordering
class Quantity:
    """A number and the format it is written in: value = unscaled × 10^scale. Immutable. Go: resource.Quantity.

    Two quantities are equal if their numbers are. str() returns the canonical text, or the parsed text where Go keeps
    it. The zero value is Quantity().
    """

    __slots__ = ("_format", "_is_decimal", "_scale", "_text", "_unscaled")

    def __init__(
        self,
        unscaled: int = 0,
        scale: int = 0,
        format: Format = Format.DECIMAL_SI,
        text: str | None = None,
        *,
        is_decimal: bool = False,
    ) -> None:
        """Initialize a quantity. `text` is the result of str(), computed if None.

        `is_decimal` states that Go does not hold the number in 64 bits.
        """
        self._unscaled = unscaled
        self._scale = scale
        self._format = format
        self._text = text
        self._is_decimal = is_decimal or not _fits(unscaled)

    @property
    def format(self) -> Format:
        """The quantity's notation. Go: Quantity.Format."""
        return self._format

    def is_zero(self) -> bool:
        """Report whether the amount is 0. Go: Quantity.IsZero."""
        return self._unscaled == 0

    def sign(self) -> int:
        """Return -1, 0 or 1 for a negative number, zero or a positive number. Go: Quantity.Sign."""
        return (self._unscaled > 0) - (self._unscaled < 0)

    def value(self) -> int:
        """Return the number rounded away from zero to a 64-bit integer. The module's docstring explains negative
        decimals.

        Go: Quantity.Value.

        >>> parse_quantity("1500m").value()
        2
        """
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """Return the number in thousandths, rounded as by `value`. Go: Quantity.MilliValue."""
        return self.scaled_value(-3)

    def scaled_value(self, scale: int) -> int:
        """Return the number in units of 10^scale, rounded as by `value`. Go: Quantity.ScaledValue."""
        shift = self._scale - scale
        if shift < 0 and self._is_decimal and self._unscaled < 0:
            return max(_MIN_INT64, _scaled_down(self._unscaled, -shift))
        if shift > _MAX_INT64_DIGITS:
            return 0 if self._unscaled == 0 else _MAX_INT64 if self._unscaled > 0 else _MIN_INT64
        return max(_MIN_INT64, min(_MAX_INT64, _rescale(self._unscaled, shift)))

    def as_int64(self) -> tuple[int, bool]:
        """Return the number, and True if Go holds it as an integer in 64 bits.

        "1000m" is an integer, but Go does not hold it as one. Go: Quantity.AsInt64.
        """
        if self._is_decimal or self._scale < 0 or (self._unscaled and self._scale > _MAX_INT64_DIGITS):
            return 0, False
        value = _rescale(self._unscaled, self._scale) if self._unscaled else 0
        return (value, True) if _fits(value) else (0, False)

    def as_approximate_float64(self) -> float:
        """Return the number as a float, infinite if it is too large. Go: Quantity.AsApproximateFloat64."""
        if self._unscaled == 0:
            return 0.0
        try:
            base = float(self._unscaled)
        except OverflowError:
            return math.inf * self.sign()
        return base if self._scale == 0 else base * _pow10(self._scale)

    def add(self, y: Quantity) -> Quantity:
        """Return the sum in this quantity's format, or in the other's if this is zero. Go: Quantity.Add."""
        format = y._format if self.is_zero() else self._format
        scale = min(self._scale, y._scale)
        mine, theirs = _rescale(self._unscaled, self._scale - scale), _rescale(y._unscaled, y._scale - scale)
        is_decimal = self._is_decimal or y._is_decimal
        if self._unscaled and y._unscaled:
            is_decimal = is_decimal or not (_fits(mine) and _fits(theirs))
        return Quantity(mine + theirs, scale, format, is_decimal=is_decimal)

    def sub(self, y: Quantity) -> Quantity:
        """Return the difference in this quantity's format, or in the other's if this is zero. Go: Quantity.Sub."""
        return self.add(y.neg())

    def mul(self, y: int) -> Quantity:
        """Return the product. Go: Quantity.Mul."""
        product = self._unscaled * y
        overflows = self._scale > 0 and product != 0 and not _fits(_rescale(product, self._scale))
        return Quantity(product, self._scale, self._format, is_decimal=self._is_decimal or overflows)

    def neg(self) -> Quantity:
        """Return the negated number. Go: Quantity.Neg."""
        return Quantity(-self._unscaled, self._scale, self._format, is_decimal=self._is_decimal)

    def round_up(self, scale: int) -> Quantity:
        """Return the number rounded away from zero to a multiple of 10^scale. Go: Quantity.RoundUp."""
        if self._scale >= scale:
            return self
        rounded = _rescale(self._unscaled, self._scale - scale)
        return Quantity(rounded, scale, self._format, is_decimal=self._is_decimal)

    def cmp(self, y: Quantity) -> int:
        """Return -1, 0 or 1 if this quantity is less than, equal to or greater than `y`. Go: Quantity.Cmp."""
        if self.sign() != y.sign():
            return -1 if self.sign() < y.sign() else 1
        # Compare magnitudes first: aligning 1e999999999 with 1 would exhaust the memory.
        mine, theirs = self._magnitude(), y._magnitude()
        if mine != theirs:
            return self.sign() if mine > theirs else -self.sign()
        scale = min(self._scale, y._scale)
        left, right = _rescale(self._unscaled, self._scale - scale), _rescale(y._unscaled, y._scale - scale)
        return (left > right) - (left < right)

    def cmp_int64(self, y: int) -> int:
        """Compare with an integer, as `cmp` does. Go: Quantity.CmpInt64."""
        return self.cmp(Quantity(y))

    def equal(self, v: Quantity) -> bool:
        """Report whether the numbers are equal. Go: Quantity.Equal."""
        return self.cmp(v) == 0

    def deep_copy(self) -> Quantity:
        """Return this quantity, which is immutable. Go: Quantity.DeepCopy."""
        return self

    def __add__(self, y: Quantity) -> Quantity:
        return self.add(y)

    def __sub__(self, y: Quantity) -> Quantity:
        return self.sub(y)

    def __neg__(self) -> Quantity:
        return self.neg()

    def __eq__(self, other: object) -> bool:
        return self.equal(other) if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.cmp(other) < 0

    def __bool__(self) -> bool:
        return self._unscaled != 0

    def __hash__(self) -> int:
        digits, exponent = _without_factors(self._unscaled, 10)
        return hash((digits, self._scale + exponent if digits else 0))

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._canonical()
        return self._text

    def __repr__(self) -> str:
        return f"<Quantity {self}>"

    def _magnitude(self) -> int:
        """Return the power of ten just above the number. Comparable only between numbers of the same sign."""
        return len(str(abs(self._unscaled))) + self._scale if self._unscaled else 0

    def _canonical(self) -> str:
        """Return the exact text without a fraction and with the largest possible suffix.

        Go: Quantity.CanonicalizeBytes.
        """
        if self.is_zero():
            return "0"
        format = self._format
        if format is Format.BINARY_SI:
            small = self.cmp_int64(-1024) > 0 and self.cmp_int64(1024) < 0
            whole = self.round_up(0)
            if not small and whole == self:
                number, times = _without_factors(_rescale(whole._unscaled, whole._scale), 1024)
                return f"{number}{construct(times * 10, format)}"
            format = Format.DECIMAL_SI
        number, times = _without_factors(self._unscaled, 10)
        exponent = self._scale + times
        spare = exponent % 3
        return f"{number * 10**spare}{construct(exponent - spare, format)}"


def _rescale(unscaled: int, shift: int) -> int:
    """Return unscaled × 10^shift, rounded away from zero."""
    if shift >= 0:
        return int(unscaled * 10**shift)
    digits = abs(unscaled)
    # All digits are dropped, so less than one remains.
    rounded = (digits > 0) if -shift > len(str(digits)) else -(-digits // 10**-shift)
    return int(rounded) if unscaled >= 0 else -int(rounded)


def _pow10(exponent: int) -> float:
    """Return 10^exponent, which is not always the nearest float. Go: math.Pow10."""
    # Go multiplies or divides two entries of tables.
    if 0 <= exponent <= _MAX_POWER:
        return float(f"1e{exponent // 32 * 32}") * float(f"1e{exponent % 32}")
    if _MIN_POWER <= exponent < 0:
        return float(f"1e-{-exponent // 32 * 32}") / float(f"1e{-exponent % 32}")
    return math.inf if exponent > 0 else 0.0


def _fits(number: int) -> bool:
    """Report whether Go's int64 can hold the number."""
    return _MIN_INT64 <= number <= _MAX_INT64


def _scaled_down(unscaled: int, places: int) -> int:
    """Divide a negative number by 10^places as Go divides decimals. Go: scaledValue.

    Go adds one to an inexact quotient, as if the number were positive. Before that, it rounds the quotient toward zero
    for few places and down for many.
    """
    if places >= _FAST_PLACES and places > len(str(-unscaled)):
        return 0  # Rounded down to -1, then one is added.
    quotient, left = divmod(-unscaled, 10**places)
    return int(-quotient + (left != 0 and places < _FAST_PLACES))


def _without_factors(number: int, base: int) -> tuple[int, int]:
    """Return the number without its factors `base`, and the count of these factors."""
    times = 0
    while number and number % base == 0:
        number //= base
        times += 1
    return number, times


def must_parse(str: str) -> Quantity:
    """Parse a constant. Raises ValueError that contains the text (Go panics). Go: resource.MustParse."""
    try:
        return parse_quantity(str)
    except ValueError as err:
        raise ValueError(f"cannot parse '{str}': {err}") from err


def parse_quantity(str: str) -> Quantity:
    """Parse a quantity. Raises ErrFormatWrong, ErrNumeric or ErrSuffix, all ValueErrors. Go: resource.ParseQuantity.

    >>> [f"{parse_quantity(text)}" for text in ("0.5", "1.5Gi", "1000k", "12e6", "2048Ki")]
    ['500m', '1536Mi', '1M', '12e6', '2Mi']
    """
    match = _QUANTITY.fullmatch(str)
    if not str or match is None:
        raise ErrFormatWrong
    sign, whole, fraction, suffix = match.groups(default="")
    has_digits = bool(whole or fraction)
    whole = whole.lstrip("0") or "0"
    try:
        exponent, format = interpret(suffix)
    except ValueError:
        raise ErrSuffix from None
    try:
        digits = int(whole + fraction)
    except ValueError:  # Python refuses to parse thousands of digits.
        raise ErrNumeric from None
    if sign == "-":
        digits = -digits
    if not has_digits and not _is_fast(format, whole, fraction, exponent):
        # Go's fast path takes no digits for zero, its decimals reject them.
        raise ErrNumeric
    if format is Format.BINARY_SI:
        return _binary(str, digits, whole, fraction, exponent)
    return _decimal(str, digits, whole + fraction, exponent - len(fraction), format)


def _is_fast(format: Format, whole: str, fraction: str, exponent: int) -> bool:
    """Report whether Go parses such a short number as an integer, and not as a decimal."""
    if format is Format.BINARY_SI:
        return len(whole) + exponent * 3 // 10 <= 14 and not fraction
    return exponent - len(fraction) >= _NANO


def _decimal(text: str, digits: int, shown: str, scale: int, format: Format) -> Quantity:
    if scale < _NANO:
        return Quantity(_rescale(digits, scale - _NANO), _NANO, format, is_decimal=True)
    # Go keeps a text that looks canonical and is short enough for its integers.
    canonical = scale % 3 == 0 and not shown.endswith("000") and shown[0] != "0"
    keep = text == "0" or (canonical and len(shown) <= _MAX_INT64_DIGITS)
    if len(shown) > _MAX_INT64_DIGITS:
        return Quantity(*_in_nanos(digits, scale), format, is_decimal=True)
    return Quantity(digits, scale, format, text if keep else None)


def _in_nanos(digits: int, scale: int) -> tuple[int, int]:
    """Return the digits and the scale of a parsed decimal, which Go keeps in units of 10^-9.

    A number with an immense exponent keeps its own scale: its digits would exhaust the memory.
    """
    if scale > _MAX_POWER:
        return digits, scale
    return digits * 10 ** (scale - _NANO), _NANO


def _binary(text: str, digits: int, whole: str, fraction: str, exponent: int) -> Quantity:
    number = digits << exponent
    if _is_fast(Format.BINARY_SI, whole, fraction, exponent):
        return Quantity(number, 0, Format.BINARY_SI, text if digits & 0x07 else None)
    quantity = Quantity(number, -len(fraction), Format.BINARY_SI, is_decimal=True).round_up(_NANO)
    quantity = Quantity(*_in_nanos(quantity._unscaled, quantity._scale), Format.BINARY_SI, is_decimal=True)
    if quantity.cmp_int64(_MAX_INT64) > 0:
        quantity = Quantity(_MAX_INT64, 0, Format.BINARY_SI, is_decimal=True)
    elif quantity.cmp_int64(-_MAX_INT64) < 0:
        quantity = Quantity(-_MAX_INT64, 0, Format.BINARY_SI, is_decimal=True)
    if quantity and -1 < quantity.as_approximate_float64() < 1:
        # Binary suffixes cannot represent a fraction of one.
        quantity = Quantity(quantity._unscaled, quantity._scale, Format.DECIMAL_SI, is_decimal=True)
    return quantity


def new_quantity(value: int, format: Format = Format.DECIMAL_SI) -> Quantity:
    """Return a quantity of a whole number. Go: resource.NewQuantity."""
    return Quantity(value, 0, format)


def new_milli_quantity(value: int, format: Format = Format.DECIMAL_SI) -> Quantity:
    """Return a quantity of thousandths. Go: resource.NewMilliQuantity."""
    return Quantity(value, -3, format)


def new_scaled_quantity(value: int, scale: int) -> Quantity:
    """Return a quantity in units of 10^scale. Go: resource.NewScaledQuantity."""
    return Quantity(value, scale, Format.DECIMAL_SI)
