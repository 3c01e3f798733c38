"""A log line for credentials that a server rejects because of a clock. No Go file.

A 401 has the text "Unauthorized" if the bearer token has expired, and also if a clock is wrong. This line names the
difference of the clocks, from the response's Date header, and the token's times if it is a JWT. It appears once for
each transport. A separate module, which is loaded with the first 401.
"""

from __future__ import annotations

import base64
import datetime
import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Final

from clientgo import klog
from clientgo.golang.duration import format_duration
from clientgo.golang.http import Header, Request, Response

__all__ = ["report_clock_skew"]

# API servers accept tokens whose times differ by a minute. The Date header and the transfer are precise to seconds.
_LEEWAY: Final = 60.0

# The last second of the year 9999, which is the last that can be formatted.
_MAX_SECONDS: Final = 253402300799


def report_clock_skew(request: Request, response: Response, now: float) -> bool:
    """Log a line if a clock explains the 401, and report whether it did. `now` is in seconds since 1970."""
    found = _explanation(request.headers.get("Authorization", ""), response.headers, now)
    if found is None:
        return False
    message, fields = found
    klog.from_context(request.ctx).info(message, **fields)
    return True


def _explanation(authorization: str, headers: Header, now: float) -> tuple[str, dict[str, str]] | None:
    """Return the message and its fields, or None if no clock explains the rejection."""
    server_now = _parse_date(headers.get("Date", ""))
    not_before, expiry = _token_times(authorization)
    fields = {"clock": _rfc3339(now)}
    if server_now is not None:
        fields["serverClock"] = _rfc3339(server_now)
    if not_before is not None:
        fields["tokenNotBefore"] = _rfc3339(not_before)
    if expiry is not None:
        fields["tokenExpiry"] = _rfc3339(expiry)
    if server_now is not None and abs(server_now - now) >= _LEEWAY:
        direction = "ahead of" if now > server_now else "behind"
        skew = f"{format_duration(float(round(abs(server_now - now))))} {direction} the server's clock"
        message = (
            "Warning: the server rejected the credentials (401), and this machine's clock differs from the server's: "
            "set the clock that is wrong, for example by NTP"
        )
        return message, {"skew": f"this machine's clock is {skew}", **fields}
    reference = now if server_now is None else server_now
    if expiry is not None and expiry <= reference:
        message = "Warning: the server rejected the bearer token (401), which has expired: renew it"
        return message, {"expiredSince": format_duration(float(round(reference - expiry))), **fields}
    if not_before is not None and not_before > reference:
        message = (
            "Warning: the server rejected the bearer token (401), which is not yet valid: the clock of the token's "
            "issuer is ahead, set the clock that is wrong, for example by NTP"
        )
        return message, {"skew": format_duration(float(round(not_before - reference))), **fields}
    return None


def _parse_date(text: str) -> float | None:
    """Return the seconds since 1970 of a Date header, or None if it is missing or invalid."""
    if not text:
        return None
    try:
        parsed = parsedate_to_datetime(text)
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=datetime.UTC)
        return _representable(parsed.timestamp())
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _token_times(authorization: str) -> tuple[float | None, float | None]:
    """Return the start and end of the token's validity, each None if the credentials are no JWT with that claim."""
    scheme, _, token = authorization.partition(" ")
    parts = token.strip().split(".")
    if scheme.lower() != "bearer" or len(parts) != 3:
        return None, None
    try:
        claims: Any = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(claims, dict):
        return None, None
    return _representable(claims.get("nbf")), _representable(claims.get("exp"))


def _representable(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= _MAX_SECONDS else None


def _rfc3339(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
