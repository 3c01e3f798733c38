"""The query parameters and bodies that steer a request: list, create, update, patch and delete options."""

from __future__ import annotations

import base64
import json
import re

from clientgo.golang import utf8
from clientgo.golang.strconv import parse_int, quote
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.errors import FieldError, field_forbidden, field_not_supported, field_required
from clientgo.testing.apiserver.wire.http import Request
from clientgo.testing.apiserver.wire.jsonio import Json, loads

_META_GROUP = "meta.k8s.io"
_DIGITS_OF_UINT64 = 20
_VALIDATION = ("Ignore", "Warn", "Strict")


def _number(request: Request, name: str) -> int | None:
    if name not in request.params:
        return None
    try:
        return parse_int(request.param(name))
    except ValueError as err:
        raise errors.bad_request(str(err)) from None


class ListOptions:
    """Of lists, watches and deletes of collections. Raises ApiError for combinations that make no sense."""

    def __init__(self, request: Request, *, watch: bool, watch_list: bool = True) -> None:
        """Parse the options of a list or watch. `watch_list` is the state of the feature gate WatchList."""
        self.label_selector = request.param("labelSelector")
        self.field_selector = request.param("fieldSelector")
        self.shard_selector = request.param("shardSelector")
        self.resource_version = request.param("resourceVersion")
        self.match = request.param("resourceVersionMatch")
        self.limit = max(_number(request, "limit") or 0, 0)
        self.token = request.param("continue")
        self.timeout = _number(request, "timeoutSeconds")
        self.bookmarks = request.flag("allowWatchBookmarks")
        has_initial_events = "sendInitialEvents" in request.params
        self.send_initial: bool | None = request.flag("sendInitialEvents") if has_initial_events else None
        found = self._check(watch, watch_list)
        if found:
            raise errors.invalid(_META_GROUP, "ListOptions", "", found)

    def _check(self, watch: bool, watch_list: bool) -> list[FieldError]:
        out: list[FieldError] = []
        match = self.match
        if watch and self.send_initial is not None:
            if match != "NotOlderThan":
                text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
                out.append(field_forbidden("resourceVersionMatch", text))
            if not watch_list:
                text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
                out.append(field_forbidden("sendInitialEvents", text))
            if match not in ("", "NotOlderThan"):
                out.append(field_not_supported("resourceVersionMatch", match, ["NotOlderThan"]))
            if match and self.token:
                text = "resourceVersionMatch is forbidden when continue is provided"
                out.append(field_forbidden("resourceVersionMatch", text))
            return out
        if match and watch:
            text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            return [field_forbidden("resourceVersionMatch", text)]
        if match and not self.resource_version:
            text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            out.append(field_forbidden("resourceVersionMatch", text))
        if match and self.token:
            text = "resourceVersionMatch is forbidden when continue is provided"
            out.append(field_forbidden("resourceVersionMatch", text))
        if match not in ("", "Exact", "NotOlderThan"):
            out.append(field_not_supported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]))
        if match == "Exact" and self.resource_version == "0":
            text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            out.append(field_forbidden("resourceVersionMatch", text))
        if self.send_initial is not None:
            out.append(field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
        return out


def version_number(text: str) -> int:
    """Return the number in a text. Raises ValueError with the texts of strconv and field validation."""
    digits = text.isascii() and text.isdigit()
    if digits and len(text.lstrip("0")) <= _DIGITS_OF_UINT64 and (version := int(text.lstrip("0") or "0")) < 2**64:
        return version
    why = "value out of range" if digits else "invalid syntax"
    shown = quote(text)
    raise ValueError(f"resourceVersion: Invalid value: {shown}: strconv.ParseUint: parsing {shown}: {why}")


def stored_version(metadata: Json) -> int:
    """Return the resourceVersion in an object's metadata as a number, or 0 if there is none.

    Raises ApiError 500 if it is no number, as kube-apiserver does.
    """
    text = metadata.get("resourceVersion") or "0"
    try:
        return version_number(text)
    except ValueError as err:
        raise errors.internal_text(str(err)[str(err).index("strconv.") :]) from None


def encode_token(version: int, start: str) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


_NOT_BASE64 = re.compile(r"[^-_A-Za-z0-9]")


def _unbase64(text: str) -> bytes:
    """Return the decoded text. Raises ValueError with the text of encoding/base64."""
    wrong = _NOT_BASE64.search(text)
    if wrong is not None or len(text) % 4 == 1:
        # A last character alone is no byte, nor is one that is none.
        raise ValueError(f"illegal base64 data at input byte {wrong.start() if wrong else len(text) - 1}")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def decode_token(token: str) -> tuple[int, str]:
    """Return the version and the start key in a token. Raises ApiError 400."""
    try:
        doc = loads(_unbase64(token.rstrip("=")))
    except ValueError as err:
        raise errors.bad_request(f"invalid continue token: continue key is not valid: {err}") from None
    if not isinstance(doc, dict) or doc.get("v") != "meta.k8s.io/v1":
        raise errors.bad_request(
            "invalid continue token: continue key is not valid: server does not recognize this encoded version "
            f"{doc.get('v', '') if isinstance(doc, dict) else ''}"
        )
    version, start = doc.get("rv"), doc.get("start")
    if type(version) is not int or version == 0 or not isinstance(start, str) or not start:
        raise errors.bad_request(
            "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion"
        )
    key = start.removeprefix("/")
    if key and not {"", ".", ".."}.isdisjoint(key.split("/")):
        raise errors.bad_request(f"invalid continue token: continue key is not valid: {start}")
    return version, key.removesuffix("\x00")


class WriteOptions:
    """dryRun, fieldManager, fieldValidation, force, by the kind of options the verb has."""

    def __init__(self, request: Request, kind: str) -> None:
        found: list[FieldError] = []
        dry = list(request.params.get("dryRun", ()))
        found += _dry_run(dry)
        self.dry_run = bool(dry)
        sent = request.param("fieldManager")
        # Bytes that are not valid UTF-8 count as sent, and are stored as JSON writes them.
        given = utf8.to_valid(sent)
        self.force = request.flag("force")
        self.validation = request.param("fieldValidation") or "Warn"
        self.validation_given = bool(request.param("fieldValidation"))
        if self.validation not in _VALIDATION:
            found.append(field_not_supported("fieldValidation", self.validation, ["", *sorted(_VALIDATION)]))
        if len(utf8.encode(sent)) > 128:
            found.append(FieldError("FieldValueTooLong", "fieldManager", "Too long: may not be more than 128 bytes"))
        found += _unprintable(given)
        if kind == "ApplyOptions":
            kind = "PatchOptions"
            if not given:
                found.append(field_required("fieldManager", "is required for apply patch"))
        elif kind == "PatchOptions" and request.params.get("force"):
            found.append(field_forbidden("force", "may not be specified for non-apply patch"))
        if found:
            raise errors.invalid(_META_GROUP, kind, "", found)
        self.manager = given or default_manager(request)


def _unprintable(manager: str) -> list[FieldError]:
    """Return an error for the first unprintable character in a manager's name, if there is one."""
    bad = next((i for i, char in enumerate(manager) if not char.isprintable()), None)
    if bad is None:
        return []
    at = len(manager[:bad].encode())
    text = f"invalid character U+{ord(manager[bad]):04X} (at position {at})"
    return [FieldError("FieldValueInvalid", "fieldManager", f"Invalid value: {quote(manager)}: {text}")]


def default_manager(request: Request) -> str:
    """Return the manager of a request that names none: the User-Agent up to the slash, or "unknown".

    The result has at most 128 characters.
    """
    return request.header("user-agent").partition("/")[0][:128] or "unknown"


def _dry_run(values: list[str]) -> list[FieldError]:
    """Validate dryRun, which may repeat the one value. Go: ValidateDryRun."""
    if not set(values) - {"All"}:
        return []
    shown = json.dumps(values, separators=(",", ":"))
    return [FieldError("FieldValueNotSupported", "dryRun", f'Unsupported value: {shown}: supported values: "All"')]


def query_of_deletion(request: Request) -> Json:
    """Return the DeleteOptions in a query. Go: Convert_url_Values_To_v1_DeleteOptions."""
    preconditions = {name: value for name in ("uid", "resourceVersion") if (value := request.param(name))}
    given: Json = {
        "gracePeriodSeconds": _number(request, "gracePeriodSeconds"),
        "preconditions": preconditions,
        "dryRun": request.params.get("dryRun"),
    }
    if "orphanDependents" in request.params:
        given["orphanDependents"] = request.flag("orphanDependents")
    if "propagationPolicy" in request.params:
        given["propagationPolicy"] = request.param("propagationPolicy")
    return given


class DeleteOptions:
    """The options of a deletion, from a body in normal form or from a query, never from both."""

    def __init__(self, given: Json) -> None:
        """Validate the options. Raises ApiError 422."""
        found: list[FieldError] = []
        policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
        if orphan is not None and policy is not None:
            text = "orphanDependents and deletionPropagation cannot be both set"
            found.append(errors.field_invalid("propagationPolicy", policy, text))
        if policy not in (None, "Foreground", "Background", "Orphan"):
            found.append(
                field_not_supported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"])
            )
        if orphan is not None and policy is None:
            policy = "Orphan" if orphan else "Background"
        self.policy: str = policy or ""
        grace = given.get("gracePeriodSeconds")
        # A negative value means as soon as possible.
        self.grace: int | None = 1 if grace is not None and grace < 0 else grace
        preconditions = given.get("preconditions") or {}
        # An empty text is a precondition too, which no object meets.
        self.uid: str | None = preconditions.get("uid")
        self.version: str | None = preconditions.get("resourceVersion")
        dry = given.get("dryRun") or []
        found += _dry_run(dry)
        self.dry_run = bool(dry)
        if found:
            raise errors.invalid(_META_GROUP, "DeleteOptions", "", found)
