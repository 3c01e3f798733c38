"""Named formats. Mirrors Kubernetes' pkg/cel/library/format.go."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from clientgo.apimachinery.api.validate import content
from clientgo.apimachinery.util import validation
from clientgo.testing.apiserver.cel.common.types import FORMAT, LIST_STRING, STRING, optional_of
from clientgo.testing.apiserver.cel.common.values import NONE, EvalError, Format, Optional
from clientgo.testing.apiserver.cel.library.declare import Function, must, no_overload
from clientgo.testing.apiserver.cel.library.net import FUNCTIONS as NET
from clientgo.testing.apiserver.cel.library.standard import to_timestamp

# Lengths of Kubernetes' regular expressions for the formats. The cost of a validation depends on them.
_SIZES = {
    **dict.fromkeys(("dns1123Label", "dns1035Label", "dns1123LabelPrefix", "dns1035LabelPrefix"), 30),
    **dict.fromkeys(("dns1123Subdomain", "dns1123SubdomainPrefix", "qualifiedName"), 60),
    "labelValue": 40,
    "uri": 1103,
    "byte": 84,
}
_OTHER_SIZE = 72
_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_url = next(function.body for function in NET if function.name == "url")


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return a check for prefixes of generated names. It accepts a final dash, since generated characters follow."""
    return lambda text: check(f"{text[:-1]}a" if text.endswith("-") and len(text) > 1 else text)


def _uri(text: str) -> list[str]:
    try:
        _url(text)
    except EvalError as err:
        return [str(err).removeprefix("URL parse error during conversion from string: ")]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    try:
        if _DATE.fullmatch(text):
            datetime.fromisoformat(text)
            return []
    except ValueError:
        pass
    return ["invalid date"]


def _datetime(text: str) -> list[str]:
    try:
        to_timestamp(text)
    except EvalError:
        return ["invalid datetime"]
    return []


_CHECKS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": validation.is_dns1123_label,
    "dns1123Subdomain": validation.is_dns1123_subdomain,
    "dns1035Label": validation.is_dns1035_label,
    "qualifiedName": content.is_label_key,
    "dns1123LabelPrefix": _prefix(validation.is_dns1123_label),
    "dns1123SubdomainPrefix": _prefix(validation.is_dns1123_subdomain),
    "dns1035LabelPrefix": _prefix(validation.is_dns1035_label),
    "labelValue": content.is_label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _byte,
    "date": _date,
    "datetime": _datetime,
}
_FORMATS = {name: Format(name, check, _SIZES.get(name, _OTHER_SIZE)) for name, check in _CHECKS.items()}


def _named(name: Any) -> Optional:
    must(str, "format.named", name)
    return Optional(True, _FORMATS[name]) if name in _FORMATS else NONE


def _validate(form: Any, text: Any) -> Optional:
    if not (isinstance(form, Format) and isinstance(text, str)):
        raise no_overload("validate", form, text)
    wrong = form.validate(text)
    return Optional(True, list(wrong)) if wrong else NONE


def _constant(form: Format) -> Callable[[], Format]:
    return lambda: form


FUNCTIONS = [
    Function("format.named", _named).call(STRING, to=optional_of(FORMAT)),
    Function("validate", _validate).method(FORMAT, STRING, to=optional_of(LIST_STRING)),
    *(Function(f"format.{name}", _constant(form)).call(to=FORMAT) for name, form in _FORMATS.items()),
]
