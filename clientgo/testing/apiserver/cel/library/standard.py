"""Conversions, sizes, predicates of strings, and parts of times. Mirrors cel-go's common/stdlib/standard.go."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from zoneinfo import ZoneInfo

from clientgo.golang import utf8
from clientgo.golang.duration import parse_nanoseconds
from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    INT,
    IP,
    LIST_A,
    MAP_AB,
    STRING,
    TIMESTAMP,
    UINT,
    A,
    Type,
    type_of,
)
from clientgo.testing.apiserver.cel.common.values import (
    NANOS,
    Cidr,
    Duration,
    EvalError,
    ObjectValue,
    Timestamp,
    TypeValue,
    Uint,
    duration,
    timestamp,
    type_name,
)
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload
from clientgo.testing.apiserver.cel.library.operators import number

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DOUBLE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+|[Ii]nf|NaN)")
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")
_LONGEST_NUMBER = 40


# ---- conversions


def _int(value: Any) -> int:
    match value:
        case bool():
            raise no_overload("int", value)
        case int():
            return number(int(value), int)
        case float():
            if not -(2.0**63) < value < 2.0**63:
                raise EvalError("integer overflow")
            return int(value)
        case str():
            return number(_digits(value, "int"), int)
        case Timestamp():
            return value.nanos // NANOS
        case Duration():
            return value.nanos
    raise no_overload("int", value)


def _uint(value: Any) -> Uint:
    match value:
        case bool():
            raise no_overload("uint", value)
        case int():
            return Uint(number(int(value), Uint))
        case float():
            if not 0 <= value < 2.0**64:
                raise EvalError("unsigned integer overflow")
            return Uint(value)
        case str():
            return Uint(number(_digits(value, "uint"), Uint))
    raise no_overload("uint", value)


def _digits(text: str, kind: str) -> int:
    # int() takes underscores, blanks and other scripts' digits as well, and refuses very long texts.
    if len(text) > _LONGEST_NUMBER or not re.fullmatch(r"[+-]?[0-9]+", text):
        function = "ParseUint" if kind == "uint" else "ParseInt"
        raise EvalError(f'strconv.{function}: parsing "{text}": invalid syntax')
    return int(text)


def _double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise no_overload("double", value)
    if isinstance(value, str) and not _DOUBLE.fullmatch(value):
        raise EvalError(f'strconv.ParseFloat: parsing "{value}": invalid syntax')
    return float(value)


def string(value: Any) -> str:
    """Return string(value). Raises EvalError."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float():
            return _shortest(value) if math.isfinite(value) else _infinite(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise EvalError("invalid UTF-8 in bytes, cannot convert to string") from None
        case Cidr():
            return f"{value.address}/{value.prefix}"
        case int() | Timestamp() | Duration() | IPv4Address() | IPv6Address():
            return str(value)
    raise no_overload("string", value)


def _shortest(value: float) -> str:
    """Format a number with the fewest digits that identify it, as Go's %g: with an exponent below -4 and from 6 on."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    size = len(digits) + exponent - 1
    if value and (size < -4 or size >= 6):
        tail = "".join(map(str, digits[1:]))
        return f"{'-' * sign}{digits[0]}{'.' if tail else ''}{tail}e{size:+03d}"
    return f"{Decimal(repr(value)).normalize():f}"


def _infinite(value: float) -> str:
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return utf8.encode(value)
    if isinstance(value, bytes):
        return value
    raise no_overload("bytes", value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise EvalError(f'strconv.ParseBool: parsing "{value}": invalid syntax')
    raise no_overload("bool", value)


def to_timestamp(value: Any) -> Timestamp:
    """Return timestamp(value). Raises EvalError."""
    if isinstance(value, Timestamp):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return timestamp(int(value) * NANOS)
    if not isinstance(value, str):
        raise no_overload("timestamp", value)
    found = _TIME.fullmatch(value)
    if found is None:
        raise EvalError(f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"')
    *fields, fraction, zone = found.groups()
    try:
        moment = datetime(*map(int, fields)) - _offset("+00:00" if zone in "Zz" else zone)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        raise EvalError(f'parsing time "{value}": out of range') from None
    whole = moment - _EPOCH
    nanos = (whole.days * 86400 + whole.seconds) * NANOS + int((fraction or "").ljust(9, "0"))
    return timestamp(nanos)


def _offset(text: str) -> timedelta:
    found = _OFFSET.fullmatch(text)
    if found is None or int(found[2]) > 23 or int(found[3]) > 59:
        raise ValueError(text)
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return -offset if found[1] == "-" else offset


def to_duration(value: Any) -> Duration:
    """Return duration(value). Raises EvalError."""
    if isinstance(value, Duration):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return duration(int(value))
    if not isinstance(value, str):
        raise no_overload("duration", value)
    try:
        return duration(parse_nanoseconds(value))
    except ValueError as err:
        raise EvalError(str(err)) from None


def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict) and not isinstance(value, ObjectValue):
        return len(value)
    raise no_overload("size", value)


# ---- strings


def _predicate(name: str, test: Callable[[str, str], bool]) -> Function:
    def body(text: Any, part: Any) -> bool:
        if not (isinstance(text, str) and isinstance(part, str)):
            raise no_overload(name, text, part)
        return test(text, part)

    return Function(name, body).method(STRING, STRING, to=BOOL)


# ---- times


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    """Return a time zone by its name or its offset, such as "+02:00"; "" is UTC.

    Raises EvalError if the zone is unknown.
    """
    try:
        return timezone(_offset(name)) if ":" in name else ZoneInfo(name or "UTC")
    except (ValueError, OSError, KeyError):
        raise EvalError(f"unknown time zone {name}") from None


def _moment(value: Timestamp, zone: str) -> datetime:
    try:
        return value.moment.astimezone(_zone(zone))
    except OverflowError:
        raise EvalError("timestamp overflow") from None


def _part(name: str, of_time: Callable[[datetime], int], of_duration: int = 0) -> Function:
    """Return a function that reads one part of a timestamp.

    With `of_duration`, the function also accepts a duration and returns the number of whole units in it; `of_duration`
    is the unit's length in nanoseconds.
    """

    def body(value: Any, zone: Any = "UTC") -> int:
        must((Timestamp, Duration), name, value)
        if isinstance(value, Timestamp):
            must(str, name, zone)
            return of_time(_moment(value, zone))
        if not of_duration:
            raise no_overload(name, value)
        whole: int = abs(value.nanos) // of_duration
        return whole if value.nanos >= 0 else -whole

    function = Function(name, body).method(TIMESTAMP, to=INT).method(TIMESTAMP, STRING, to=INT)
    return function.method(DURATION, to=INT) if of_duration else function


def _milliseconds(value: Any, zone: Any = "UTC") -> int:
    """Return the milliseconds within a timestamp's second, or all milliseconds of a duration."""
    must((Timestamp, Duration), "getMilliseconds", value)
    if isinstance(value, Duration):
        whole = int(abs(value.nanos) // 1_000_000)
        return whole if value.nanos >= 0 else -whole
    must(str, "getMilliseconds", zone)
    _zone(zone)  # raises for an unknown one, though all have the same milliseconds
    return int(value.nanos % NANOS // 1_000_000)


def _conversion(name: str, body: Callable[[Any], Any], to: Type, *kinds: Type) -> Function:
    function = Function(name, body)
    for kind in kinds:
        function.call(kind, to=to)
    return function


_SIZED = Function("size", _size)
for _kind in (STRING, BYTES, LIST_A, MAP_AB):
    _SIZED.call(_kind, to=INT).method(_kind, to=INT)

FUNCTIONS = [
    _conversion("int", _int, INT, INT, UINT, DOUBLE, STRING, TIMESTAMP, DURATION),
    _conversion("uint", _uint, UINT, UINT, INT, DOUBLE, STRING),
    _conversion("double", _double, DOUBLE, DOUBLE, INT, UINT, STRING),
    _conversion("string", string, STRING, STRING, BOOL, INT, UINT, DOUBLE, BYTES, TIMESTAMP, DURATION, IP, CIDR),
    _conversion("bytes", _bytes, BYTES, BYTES, STRING),
    _conversion("bool", _bool, BOOL, BOOL, STRING),
    _conversion("timestamp", to_timestamp, TIMESTAMP, TIMESTAMP, STRING, INT),
    _conversion("duration", to_duration, DURATION, DURATION, STRING, INT),
    Function("type", _type).call(A, to=type_of(A)),
    _SIZED,
    _predicate("contains", lambda text, part: part in text),
    _predicate("startsWith", str.startswith),
    _predicate("endsWith", str.endswith),
    _part("getFullYear", lambda time: time.year),
    _part("getMonth", lambda time: time.month - 1),
    _part("getDayOfYear", lambda time: time.timetuple().tm_yday - 1),
    _part("getDayOfMonth", lambda time: time.day - 1),
    _part("getDate", lambda time: time.day),
    _part("getDayOfWeek", lambda time: time.isoweekday() % 7),
    _part("getHours", lambda time: time.hour, 3600 * NANOS),
    _part("getMinutes", lambda time: time.minute, 60 * NANOS),
    _part("getSeconds", lambda time: time.second, NANOS),
    Function("getMilliseconds", _milliseconds)
    .method(TIMESTAMP, to=INT)
    .method(TIMESTAMP, STRING, to=INT)
    .method(DURATION, to=INT),
]
