"""Keeps the values of Secrets out of recordings, pages and terminals.

An object counts as a Secret when the resource that it came from is named `secrets`, whatever group that is in and
whatever kind the object claims to be. The resource is known from the path of the reflector's requests and from the
informer's description. Without either the object's class and its claimed kind decide, and of metadata without a known
resource the annotations are hidden.

Of a Secret only `apiVersion`, `kind`, `type`, `immutable` and the identifying part of its metadata remain. Each other
value is replaced by a mark, a keyed digest: equal values have equal marks, and the key is never written. Secrets inside
other objects (a List, a Table, a template, a manifest in a string) are found by their claimed kind, and metadata inside
other objects loses its annotations as well. Values of Secrets that were seen are taken out of the texts of all other
objects, of errors and of messages, as Python, JSON, XML or a URL have them. Tokens, passwords, private keys and the
headers that carry them are taken out of errors and messages.

Values are found in every letter case, and in base64 and percent encoding up to three times over. The user and the
password of a URL in an error or a message are always taken out. Of an object with long texts the rest is hidden.

Not covered: values of Secrets that come later or that the program does not watch; values shorter than four characters,
which are ordinary words and numbers elsewhere; values in other encodings (base32, gzip), reversed, encrypted or cut
into parts, whose number has no end; custom resources that hold secrets under other kinds, Secrets in strings of objects
that are encoded (base64, gzip); values in numbers and in the names of objects. Use the recorder's `redact` for these.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from html import unescape
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Object
from clientgo.golang import callers
from clientgo.tools import cache
from clientgo.tour.seam import Probe
from clientgo.tour.secretvalues import HIDDEN, Payloads, SecretValues

__all__ = ["Secrecy", "item_text", "resource_is_secret"]

callers.mark_inserted()

Json = dict[str, Any]

_PATH = re.compile(r"(?i)/(?:api/[^/]+|apis/[^/]+/[^/]+)/(?:watch/)?(?:namespaces/[^/]+/)?secrets(?:[/?]|$)")
_DESCRIPTION = re.compile(r"(?i)Resource=secrets\b|(?:^|[\s.,=*/])Secret(?:,|$)")
# Key and value have spaces and quotes between them, escaped or not, and YAML's tags, anchors, block marks, comments.
_MANIFEST = re.compile(
    r"""(?i)\bkind[\\"']{0,20}+\s{0,20}+(?:\+?:{1,3}|=>?)"""
    r"""(?>[\s\\"'`{(]|(?<=\\)[nrt]|[&!]\S{0,80}+|[>|][-+\d]{0,2}+|#[^\n]{0,200}+\n){0,200}+"""
    r"""Secret(?:s|List)?\b"""
    r"|(?:&(?:\w{1,20}\.)?|\b(?:core)?v1\.)Secret(?:List)?\{"
    # A YAML anchor, whose alias may be the kind.
    r"|(?<![^\s:,\[{])&\w{1,60}+\s{1,20}+[\"'\\]{0,3}Secret(?:List)?\b"
)
# Escaped letters, and the end of a line within a quoted text of YAML.
_ESCAPED = re.compile(r"\\(?:u00|x)([2-7][0-9a-fA-F])|\\\r?\n[ \t]*+")
# A JWT is looked for once in each run of letters, and only in one that dots follow: a text of "eyJ-" would otherwise be
# read to its end from each of them.
_TOKEN = re.compile(
    r"(?i)\b(bearer|basic|negotiate)(?:\s|%20|\\[nrt]|[\\\"'=:])++[\w.~+/=-]{8,}"
    r"|(?<![\w-])(?=[\w-]++\.[\w-]++\.)(?P<before>[\w-]*?)\beyJ[\w-]+\.[\w-]+\.[\w-]*"
    r"|(?P<header>(?:authorization|cookie|x-auth-token|x-api-key)[\\\"']{0,20}+\s{0,5}+[:=]\s{0,5}+[\[\\\"']{0,20}+)"
    r"[^\s\"'\\][^\r\n\"'\\]*+"
    r"|(?P<field>(?:token|password|passwd|pwd|passphrase|client[-_]?secret|secret[-_]access[-_]key|api[-_]?key|signature)"
    r"[\\\"']{0,20}+\s{0,5}+[:=]\s{0,5}+[\\\"']{0,20}+)(?:(?<=\")[^\"\\\r\n]++|(?<=')[^'\\\r\n]++"
    r"|(?<==)[^\s\"'\\&,;)}\]]++|[^\s\"'\\&,;)}\]]{6,}+)"
    r"|(?P<flag>--[\w-]{0,30}(?:token|password)\s{1,5}+)[^\s-]\S*+"
    r"|-----BEGIN [\w ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [\w ]{0,30}PRIVATE KEY-----|\Z)"
    r"|\b(?:k8s-aws-v1\.|sha256~|ya29\.)[\w.-]{8,}+"
)
# Of a URL all before the last @ of its authority; if that has none, all from a name and a colon to the last @, since a
# password may have a slash. Without a scheme a name and a password, as in a data source name. That is no image's tag,
# which stands before a digest.
_USERINFO = re.compile(
    r"(?i)(?:(?<=://)|(?<=%3A%2F%2F)|(?<=:\\/\\/))"
    r"(?:[^/?#\s\"'\\]{1,999}(?=@|%40)|(?!\[)[^/?#\s@:]{0,99}+:(?!\d+(?:[/?#\s]|\Z))(?:\S{1,999}|[^\r\n\"']{1,300})(?=@))"
    r"|(?<![\w.%+:-])(?!mailto:)[\w.%+-]{1,99}+:[^\s/@\"'\\]{1,300}+(?=@(?!sha\d+:)[\w\[(])"
)
# Runs of letters that may be base64 or have percent signs, once or several times over.
_ENCODED = re.compile(r"(?:[\w+/-]|%[0-9a-fA-F]{2}){8,}+={0,2}+", re.ASCII)
_NO_BASE64 = re.compile(r"[^\w+/-]++", re.ASCII)
_LEVELS = 3
# Letters of such runs that are decoded, of one text. Decoding more would take seconds, so the others are hidden.
_MOST_ENCODED = 50_000
# The ends of lines of base64, as programs wrap it.
_WRAPPED = re.compile(r"(?<=[\w+/]{40})\r?\n[ \t]*+(?=[\w+/=])", re.ASCII)
# Bytes as programs print them: 6162, 61:62, 61 62, \\x61\\x62, [97, 98] and [97 98].
_BYTES = re.compile(
    r"(?:0x)?(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){4,}+(?![0-9a-fA-F])"
    r"|(?<![\w\\])[0-9a-fA-F]{2}(?:[: -][0-9a-fA-F]{2}(?!\w)){3,}+"
    r"|(?:\\{1,4}x[0-9a-fA-F]{2}){4,}+|(?P<decimal>\[\d{1,3}(?:,?\s?\d{1,3}\b){3,}+\])"
)
_DECIMALS = re.compile(r"\d+")
# Backslashes are looked at from the first of a run alone, which would otherwise be read to its end from each of them.
_NO_HEX = re.compile(r"0x|(?<!\\)\\++x|[: -]")

_TEXTS = ("apiVersion", "kind", "type")
_METADATA_TEXTS = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
)
# The fields of an ObjectReference and of the other references to a Secret.
_REFERENCE_FIELDS = {
    *("apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "fieldPath", "controller"),
    *("blockOwnerDeletion", "apiGroup", "group", "version", "key", "optional", "resource", "scope", "sectionName"),
}
_METADATA_NUMBERS = ("generation", "deletionGracePeriodSeconds")
_STATUS_FIELDS = ("status", "reason", "code", "details", "message")
_SECRET_KINDS = ("secret", "secrets")
# Shorter values would take ordinary words and numbers out of error texts.
_SHORTEST = 4
# Scrubbed texts that are remembered, and the length of the longest.
_MOST_TEXTS = 1000
_LONGEST_KNOWN = 2000
_DEPTH = 100


def resource_is_secret(path: str) -> bool:
    """Report whether a request's path names the resource `secrets` of any group."""
    segments = unquote(urlsplit(path).path).split("/")
    return _PATH.search("/" + "/".join(segment for segment in segments if segment)) is not None


class Secrecy:
    """The sources of Secrets, and the hiding of their values. Thread-safe.

    A source is a hashable value of the caller's choice for one reflector.
    """

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._at = threading.local()
        # Guards the next two.
        self._lock = threading.Lock()
        self._sources: set[Hashable] = set()
        # Results of `scrubbed` for the values of now: the same messages come with each change of an object.
        self._texts: dict[str, str] = {}
        self._values = SecretValues()
        self._payloads = Payloads(lambda text: _without_values(text, self._values))

    # ---- which objects are Secrets

    def probes(self) -> tuple[Probe, ...]:
        """Return the probe that learns the resources of sources from their requests."""
        return (Probe.at("reflector.request", self._around_request),)

    def _around_request(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def _new_http_request(request: Any, *args: Any) -> Any:
            made = function(request, *args)
            source = getattr(self._at, "source", None)
            if source is not None and resource_is_secret(request.url()):
                self.mark_source(source)
            return made

        return _new_http_request

    @contextmanager
    def asking_for(self, source: Hashable) -> Iterator[None]:
        """Attribute the requests that this thread makes meanwhile to the source."""
        before, self._at.source = getattr(self._at, "source", None), source
        try:
            yield
        finally:
            self._at.source = before

    def mark_source(self, source: Hashable) -> None:
        """Treat everything from this source as a Secret."""
        with self._lock:
            self._sources.add(source)

    def mark_description(self, source: Hashable, description: str) -> None:
        """Mark the source if the description of its reflector names Secrets."""
        if _DESCRIPTION.search(description):
            self.mark_source(source)

    def is_secret_source(self, source: Hashable) -> bool:
        """Report whether the source is known to deliver Secrets."""
        return source in self._sources

    # ---- hiding

    def shown(self, obj: Any, *, is_secret: bool = False) -> Json:
        """Return an object as JSON without the values of Secrets; {} if it is no object.

        is_secret: the object's source delivers Secrets.
        """
        document: Json = obj.to_dict() if isinstance(obj, Object) else {}
        gvk = getattr(obj, "GROUP_VERSION_KIND", None)
        if "kind" not in document and gvk is not None:  # programs make objects without a kind, and fakes send them
            api_version, kind = gvk.to_api_version_and_kind()
            document = {"apiVersion": api_version, "kind": kind, **document}
        if isinstance(obj, metav1.Status):
            return self._status(document)
        kind = _lower_kind(document)
        if is_secret and isinstance(document.get("items"), list):
            return self._list(document)
        if is_secret or (gvk is not None and gvk.kind == "Secret") or kind in _SECRET_KINDS:
            return self._secret(document)
        if isinstance(obj, metav1.PartialObjectMetadata):
            document = self._without_annotations(document)
        if _may_hide(document):
            hidden = self._nested(document, _DEPTH)
            document = hidden if isinstance(hidden, dict) else {}
        document = self._with_scrubbed_messages(document, kind)
        return self._payloads.without_values(document) if self._values else document

    def _with_scrubbed_messages(self, document: Json, kind: str) -> Json:
        """Return an object with the messages that programs wrote scrubbed: of Events, and in the status of others."""
        if kind == "event":
            return self.scrubbed_fields(document)
        if isinstance(status := document.get("status"), dict):
            return {**document, "status": self._scrubbed_messages(status, _DEPTH)}
        return document

    def _scrubbed_messages(self, value: Any, depth: int) -> Any:
        if depth == 0:
            return self.mark(value)
        if isinstance(value, list):
            return [self._scrubbed_messages(each, depth - 1) for each in value]
        if isinstance(value, dict):
            return self.scrubbed_fields(
                {name: self._scrubbed_messages(each, depth - 1) for name, each in value.items()}
            )
        return value

    def scrubbed(self, text: str) -> str:
        """Return the text without credentials and without values of Secrets that were seen."""
        with self._lock:
            known = self._texts
            if (scrubbed := known.get(text)) is not None:
                return scrubbed
        scrubbed = _scrubbed(text, self._values)
        if len(text) <= _LONGEST_KNOWN:
            with self._lock:
                if len(known) >= _MOST_TEXTS:
                    known.clear()
                known[text] = scrubbed
        return scrubbed

    def scrubbed_fields(self, fields: Mapping[str, Any]) -> Json:
        """Return the fields with what users and servers wrote scrubbed."""
        shown = dict(fields)
        for name in ("error", "message", "note"):
            text = shown.get(name)
            if text and isinstance(text, str):  # most messages of a status are empty
                shown[name] = self.scrubbed(text)
        return shown

    def mark(self, value: Any) -> str:
        """Return the mark of a value. It is base64, so that a Secret with marks can be decoded."""
        try:
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=repr)
        except RecursionError:
            text = "too deep"
        digest = hmac.new(self._salt, text.encode(errors="replace"), hashlib.sha256).hexdigest()[:12]
        return base64.b64encode(f"hidden {digest}".encode()).decode()

    def learn(self, objects: Iterable[Any]) -> None:
        """Remember the values of these Secrets, to take them out of texts."""
        for obj in objects:
            if isinstance(obj, Object):
                self._learn(obj.to_dict())

    def _learn(self, document: Json) -> None:
        if self._values.add(_values_in(document)):
            with self._lock:
                self._texts = {}
            self._payloads.forget()

    def _secret(self, document: Json) -> Json:
        self._learn(document)
        shown: Json = {}
        for name, value in document.items():
            if name == "metadata" and isinstance(value, dict):
                shown[name] = self._metadata(value)
            elif name in ("data", "stringData") and isinstance(value, dict):
                shown[name] = {key: self.mark(each) for key, each in value.items()}
            elif (name in _TEXTS and isinstance(value, str)) or (name == "immutable" and isinstance(value, bool)):
                shown[name] = value
            else:
                shown[name] = self.mark(value)
        return shown

    def _metadata(self, metadata: Json) -> Json:
        texts = {name: value for name in _METADATA_TEXTS if isinstance(value := metadata.get(name), str)}
        shown: Json = dict(texts)
        shown |= {name: value for name in _METADATA_NUMBERS if type(value := metadata.get(name)) is int}
        if _is_text_map(labels := metadata.get("labels")):
            shown["labels"] = labels
        if isinstance(finalizers := metadata.get("finalizers"), list):
            shown["finalizers"] = [each for each in finalizers if isinstance(each, str)]
        if isinstance(owners := metadata.get("ownerReferences"), list):
            shown["ownerReferences"] = [dict(each) for each in owners if isinstance(each, dict) and _is_flat(each)]
        if isinstance(annotations := metadata.get("annotations"), dict):
            shown["annotations"] = self._annotations(annotations)
        return shown

    def _annotations(self, annotations: Json) -> Json:
        """Return them with marks for values: last-applied-configuration, and others too, may hold those of a Secret."""
        ends = metav1.INITIAL_EVENTS_ANNOTATION_KEY
        return {
            name: value if name == ends and value == "true" else self.mark(value) for name, value in annotations.items()
        }

    def _without_annotations(self, document: Json) -> Json:
        metadata = document.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("annotations"), dict):
            return document
        return {**document, "metadata": {**metadata, "annotations": self._annotations(metadata["annotations"])}}

    def _status(self, document: Json) -> Json:
        shown = {name: value for name, value in document.items() if name in (*_TEXTS, "metadata", *_STATUS_FIELDS)}
        if isinstance(shown.get("message"), str):
            shown["message"] = self.scrubbed(shown["message"])
        details = shown.get("details")
        if isinstance(details, dict) and isinstance(details.get("causes"), list):
            causes = [self.scrubbed_fields(each) for each in details["causes"] if isinstance(each, dict)]
            shown["details"] = {**details, "causes": causes}
        return shown

    def _nested(self, value: Any, depth: int) -> Any:
        """Return a value of JSON with the Secrets in it hidden."""
        if depth == 0:
            return self.mark(value)
        if isinstance(value, str):
            return self.mark(value) if _is_manifest(value) else value
        if isinstance(value, list):
            return [self._nested(each, depth - 1) for each in value]
        if not isinstance(value, dict):
            return value
        kind = _lower_kind(value)
        if kind in _SECRET_KINDS and not _is_reference(value):
            return self._secret(value)
        if kind == "secretlist":
            return self._list(value)
        if kind == "partialobjectmetadata":
            value = self._without_annotations(value)
        elif kind == "partialobjectmetadatalist" and isinstance(items := value.get("items"), list):
            value = {**value, "items": [self._metadata_only(each) for each in items]}
        elif kind == "table" and isinstance(rows := value.get("rows"), list):
            value = {**value, "rows": [self._row(each) for each in rows]}
        return {name: self._nested(each, depth - 1) for name, each in value.items()}

    def _list(self, document: Json) -> Json:
        """Return a list of Secrets, whose items need no kind of their own."""
        shown: Json = {}
        for name, value in document.items():
            if name == "items" and isinstance(value, list):
                shown[name] = [self._secret(each) if isinstance(each, dict) else self.mark(each) for each in value]
            elif (name in _TEXTS and isinstance(value, str)) or (name == "metadata" and _is_metadata_of_list(value)):
                shown[name] = value
            else:
                shown[name] = self.mark(value)
        return shown

    def _metadata_only(self, value: Any) -> Any:
        """Return an object of a list of metadata, which needs no kind of its own, without annotations."""
        return self._without_annotations(value) if isinstance(value, dict) else value

    def _row(self, row: Any) -> Any:
        """Return a row of a Table, whose object is metadata unless it states another kind."""
        found = row.get("object") if isinstance(row, dict) else None
        if not isinstance(found, dict) or _lower_kind(found) not in ("", "partialobjectmetadata"):
            return row
        return {**row, "object": self._without_annotations(found)}


def _may_hide(document: Json) -> bool:
    """Report whether an object may contain a Secret, or metadata of one."""
    try:
        text = json.dumps(document, ensure_ascii=True)
    except RecursionError:
        return True
    text = text.lower()
    return any(word in text for word in ("ecret", "u00", r"\\x", r"\\\n", r"\\\r", "partialobjectmetadata", '"table"'))


def _lower_kind(document: Json) -> str:
    """Return the kind in lower case, as servers of other makers and templates may spell it; "" without one."""
    kind = document.get("kind")
    if kind is None:
        kind = next((value for name, value in document.items() if name.lower() == "kind"), None)
    return kind.lower() if isinstance(kind, str) else ""


def _is_manifest(text: str) -> bool:
    """Report whether a text states the kind Secret, in YAML, JSON or the notation of a language."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text)
    return _MANIFEST.search(text) is not None


def _is_reference(value: Json) -> bool:
    """Report whether an object of the kind Secret only names one."""
    return value.keys() <= _REFERENCE_FIELDS and _is_flat(value)


def _is_metadata_of_list(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() <= {"resourceVersion", "continue", "remainingItemCount", "selfLink"}


def _scrubbed(text: str, values: SecretValues) -> str:
    text = _TOKEN.sub(_without_token, _USERINFO.sub(HIDDEN, text))
    return _without_values(text, values) if values else text


def _without_values(text: str, values: SecretValues) -> str:
    """Return the text without the values, in whatever way it has them. Linear in the text's length."""
    text = _BYTES.sub(lambda found: _without_bytes(found, values), text)
    text = values.hidden_in(_without_encoded(text, values))
    for other in _unescaped(text):
        if values.hidden_in(_without_encoded(other, values)) != other:
            return HIDDEN
    return text


def _unescaped(text: str) -> Iterator[str]:
    """Yield the texts that a text has in the notation of XML, of a language's strings, and in lines of base64."""
    if "&" in text and (plain := unescape(text)) != text:
        yield plain
    if "\\" in text and (plain := _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text)) != text:
        yield plain
    if "\n" in text and (joined := _WRAPPED.sub("", text)) != text:
        yield joined


def _without_bytes(found: re.Match[str], values: SecretValues) -> str:
    """Return the match unless it is a value as hexadecimal or decimal bytes."""
    numbers = _DECIMALS.findall(found[0]) if found["decimal"] else ()
    try:
        raw = bytes(map(int, numbers)) if numbers else bytes.fromhex(_NO_HEX.sub("", found[0]))
    except ValueError:
        return found[0]
    # As the values that were learned have it: the text, or the bytes as Python shows them.
    shown = (raw.decode(errors="replace").casefold(), repr(raw)[2:-1].casefold())
    return HIDDEN if any(map(values.found_in, shown)) else found[0]


def _without_encoded(text: str, values: SecretValues) -> str:
    """Return the text without runs of letters that contain a value when they are decoded."""
    runs: dict[str, str] = {}
    size = 0
    for run in dict.fromkeys(_ENCODED.findall(text)):
        size += len(run)
        if size > _MOST_ENCODED:
            break
        parts = [part for part in run.split("/") if len(part) >= 8] if "/" in run else ()
        runs[run] = "\n".join(found for each in (run, *parts) for found in _decoded(each)).casefold()
    # Few runs contain a value: one search in all runs finds the values that are there.
    is_there = values.found_in("\n".join(runs.values()))
    if not is_there and size <= _MOST_ENCODED:
        return text

    def shown(found: re.Match[str]) -> str:
        decoded = runs.get(found[0])
        return HIDDEN if decoded is None or (is_there and values.found_in(decoded)) else found[0]

    return _ENCODED.sub(shown, text)


def _decoded(run: str) -> Iterator[str]:
    """Yield the texts that a run of letters may encode, without the run itself."""
    plain = [_from_base64(run), unquote(run)]
    # The first letters may belong to the text before the value, such as the n of an escaped line break.
    plain += [each for skipped in (1, 2, 3) if (each := _from_base64(run[skipped:])).isprintable()]
    for _ in range(_LEVELS):
        yield from plain
        inner = [each for text in plain for each in _ENCODED.findall(text)]
        plain = [decoded for each in inner for decoded in (_from_base64(each), unquote(each)) if decoded != each]


def _from_base64(run: str) -> str:
    letters = _NO_BASE64.sub("", run).replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return base64.b64decode(letters + "=" * (-len(letters) % 4)).decode(errors="replace")


def _without_token(found: re.Match[str]) -> str:
    return "".join(found[name] or "" for name in ("before", "header", "field", "flag")) + HIDDEN


def _values_in(document: Json) -> list[str]:
    """Return the values of a Secret: its data, and its annotations, which may repeat them."""
    found: list[str] = []
    for field in ("data", "stringData"):
        values = document.get(field)
        for value in values.values() if isinstance(values, dict) else ():
            found += _forms(value, is_base64=field == "data")
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    for value in annotations.values() if isinstance(annotations, dict) else ():
        # Short ones are words such as "true".
        found += [form for form in _forms(value, is_base64=False) if len(form) >= 2 * _SHORTEST]
        try:
            applied = json.loads(value)
        except (TypeError, ValueError, RecursionError):
            continue
        if isinstance(applied, dict):
            found += _values_in({name: applied.get(name) for name in ("data", "stringData")})
    return found


def _forms(value: Any, *, is_base64: bool) -> list[str]:
    """Return the texts in which a value may appear."""
    if not isinstance(value, str):
        return []
    # Base64 without its padding, which is then found with it too.
    forms = [value.rstrip("=") if is_base64 else value]
    if is_base64:
        try:
            plain = base64.b64decode(value, validate=True)
            forms.append(repr(plain)[2:-1])
            forms.append(plain.decode())
        except (binascii.Error, ValueError):
            pass
    else:
        forms.append(base64.b64encode(value.encode(errors="replace")).decode().rstrip("="))
    lines = [line.strip() for form in forms for line in form.splitlines()]
    written = [each for form in forms for each in _written(form)]
    return [form for form in dict.fromkeys((*forms, *lines, *written)) if len(form) >= _SHORTEST]


def _written(text: str) -> Iterator[str]:
    """Yield a text as Python, JSON, JSON within JSON, and a URL have it."""
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    for is_ascii in (True, False):
        quoted = json.dumps(text, ensure_ascii=is_ascii)
        yield quoted[1:-1]
        yield json.dumps(quoted, ensure_ascii=is_ascii)[3:-3]
    encoded = text.encode(errors="replace")
    yield repr(encoded)[2:-1]
    yield quote(encoded, safe="/")
    yield quote(encoded, safe="")
    yield quote_plus(encoded)


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _is_flat(value: Json) -> bool:
    return all(isinstance(each, str | bool) for each in value.values())


def item_text(item: Any) -> str:
    """Return a work queue's item as text: an object by its key, never by its fields."""
    if isinstance(item, cache.DeletedFinalStateUnknown):
        return item.key
    if isinstance(item, Object):
        return cache.meta_namespace_key_func(item)
    return str(item) if not _has_object(item, 4) else f"<{type(item).__name__}>"


def _has_object(value: Any, depth: int) -> bool:
    """Report whether a value holds an object, or raw content, somewhere in its fields."""
    if isinstance(value, str | int | float | Enum | type | None) or callable(value):
        return False
    if depth == 0 or isinstance(value, Object | cache.DeletedFinalStateUnknown | bytes | bytearray | dict):
        return True
    if isinstance(value, tuple | list | set | frozenset):
        return any(_has_object(each, depth - 1) for each in value)
    if dataclasses.is_dataclass(value):
        return any(_has_object(getattr(value, each.name, None), depth - 1) for each in dataclasses.fields(value))
    fields = [*getattr(value, "__dict__", {}).values()]
    slots = getattr(type(value), "__slots__", ())
    fields += [getattr(value, name, None) for name in ((slots,) if isinstance(slots, str) else slots)]
    return any(_has_object(each, depth - 1) for each in fields)
