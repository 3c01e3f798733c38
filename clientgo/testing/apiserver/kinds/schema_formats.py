"""The named formats of strings in structural schemas. Mirrors kube-openapi's pkg/validation/strfmt."""

from __future__ import annotations

import base64
import binascii
import email.utils
import ipaddress
import re
import urllib.parse
from collections.abc import Callable
from datetime import datetime

from clientgo.apimachinery.util.validation import is_dns1123_label, is_dns1123_subdomain

_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# Only from the first digit of a number: where that does not fit, the others do not either.
_DURATION = re.compile(r"(?<!\d)\d+\s*([A-Za-zµ]+)", re.ASCII)
_UNITS = frozenset(
    word
    for words in (
        "ns nano nanos nanosec nanosecs nanosecond nanoseconds",
        "us µs micro micros microsec microsecs microsecond microseconds",
        "ms milli millis millisec millisecs millisecond milliseconds",
        "s sec secs second seconds",
        "m min mins minute minutes",
        "h hr hrs hour hours",
        "d day days",
        "w wk wks week weeks",
    )
    for word in words.split()
)
_GO_DURATION = re.compile(r"[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+", re.ASCII)
_UUID = re.compile(r"(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")
_UUID3 = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_UUID4 = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
_UUID5 = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")
_MAC = re.compile(r"(?i)([0-9a-f]{2}(?P<sep>[:-])([0-9a-f]{2}(?P=sep)){4}[0-9a-f]{2}((?P=sep)[0-9a-f]{2}){0,2})"
                  r"|[0-9a-f]{4}(\.[0-9a-f]{4}){2,3}")  # fmt: skip
_OBJECT_ID = re.compile(r"(?i)[0-9a-f]{24}")
_SSN = re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}", re.ASCII)
_HEX_COLOR = re.compile(r"(?i)#?([0-9a-f]{3}|[0-9a-f]{6})")
_CHANNEL = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_PERCENT = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])%\s*"
_RGB_COLOR = re.compile(rf"rgb\(({_CHANNEL},{_CHANNEL},{_CHANNEL}|{_PERCENT},{_PERCENT},{_PERCENT})\)")
_CARD = re.compile(r"4\d{12}(\d{3})?|5[1-5]\d{14}|(222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"
                   r"|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11}"
                   r"|6[27]\d{14}", re.ASCII)  # fmt: skip
_HOSTNAME = re.compile(
    r"([a-zA-Z0-9¡-￿]((-?[a-zA-Z0-9¡-￿]{0,62})?)[a-zA-Z0-9¡-￿](\.)){1,}([a-zA-Z¡-￿]){2,63}"
    r"|[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]?"
)


def passes(form: str, value: str) -> bool:
    """Report whether a string has the format. Every string has an unknown format."""
    check = _CHECKS.get(normal(form))
    if check is None:
        return True
    try:
        return check(value)
    except (ValueError, RecursionError):
        # The standard library reads the comments of an address recursively.
        return False


def normal(form: str) -> str:
    """Return a format's name without dashes, as the table of checks spells it: `date-time` is `datetime`."""
    return form.replace("-", "")


def is_known(form: str) -> bool:
    return normal(form) in _CHECKS


def _matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda value: pattern.fullmatch(value) is not None


def _without_error(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        parse(value)
        return True

    return check


def _date_time(value: str) -> bool:
    datetime.fromisoformat(value.upper())
    return _DATE_TIME.fullmatch(value) is not None


def _date(value: str) -> bool:
    datetime.fromisoformat(value)
    return _DATE.fullmatch(value) is not None


def _duration(value: str) -> bool:
    """Report whether a text is a duration as Go writes it, or in words: `3 days`."""
    if _GO_DURATION.fullmatch(value) or value == "0":
        return True
    found = _DURATION.findall(value)
    return bool(found) and all(unit.lower() in _UNITS for unit in found)


def _ipv4(value: str) -> bool:
    """Report whether a text is an IPv4 address. Leading zeros are accepted, as by Kubernetes' own parser."""
    parts = value.split(".")
    return len(parts) == 4 and all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts)


def _ipv6(value: str) -> bool:
    return ":" in value and ipaddress.IPv6Address(value) is not None


def _cidr(value: str) -> bool:
    """Report whether a text is a network as Go's net.ParseCIDR reads it: an address, a slash and the number of bits."""
    address, slash, bits = value.partition("/")
    if not (slash and bits.isascii() and bits.isdigit()):
        return False
    return int(bits) <= 32 if _ipv4(address) else _ipv6(address) and int(bits) <= 128


def _uri(value: str) -> bool:
    """Report whether a text is an absolute URI or an absolute path, as Go's url.ParseRequestURI accepts."""
    if not value or any(ord(sign) <= 0x20 or ord(sign) == 0x7F for sign in value):
        return False
    if value.startswith("/"):
        return True
    parts = urllib.parse.urlsplit(value)
    return bool(parts.scheme) and (parts.port is None or parts.port >= 0)


def _email(value: str) -> bool:
    local, at, host = email.utils.parseaddr(value)[1].rpartition("@")
    return bool(at and local and host) and " " not in local


def _hostname(value: str) -> bool:
    return len(value) <= 255 and _HOSTNAME.fullmatch(value) is not None


def _byte(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


def _digits(value: str) -> str:
    return re.sub(r"[\s-]+", "", value)


def _isbn10(value: str) -> bool:
    digits = _digits(value)
    if not re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        return False
    return sum((10 - i) * (10 if digit == "X" else int(digit)) for i, digit in enumerate(digits)) % 11 == 0


def _isbn13(value: str) -> bool:
    digits = _digits(value)
    if not re.fullmatch(r"\d{13}", digits, re.ASCII):
        return False
    return sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits)) % 10 == 0


def _credit_card(value: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", value)
    if not _CARD.fullmatch(digits):
        return False
    doubled = [int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(digits))]
    return sum(number // 10 + number % 10 for number in doubled) % 10 == 0


def _any(value: str) -> bool:
    return True


_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matching(_OBJECT_ID),
    "uri": _uri,
    "email": _email,
    "hostname": _hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "cidr": _cidr,
    "mac": _matching(_MAC),
    "uuid": _matching(_UUID),
    "uuid3": _matching(_UUID3),
    "uuid4": _matching(_UUID4),
    "uuid5": _matching(_UUID5),
    "isbn": lambda value: _isbn10(value) or _isbn13(value),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _credit_card,
    "ssn": _matching(_SSN),
    "hexcolor": _matching(_HEX_COLOR),
    "rgbcolor": _matching(_RGB_COLOR),
    "byte": _byte,
    "password": _any,
    "date": _date,
    "duration": _duration,
    "datetime": _date_time,
    "k8sshortname": lambda value: not is_dns1123_label(value),
    "k8slongname": lambda value: not is_dns1123_subdomain(value),
}
