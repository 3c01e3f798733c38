"""A YAML parser that returns JSON values, by Go's rules and with limits.

Mirrors apimachinery/pkg/util/yaml/decoder.go, which builds on sigs.k8s.io/yaml and go.yaml.in/yaml/v2: the first
document is used, keys become texts, times stay texts, a later key overrides an earlier one, and `<<` merges at its
position.

Difference: Go allows 10,000 levels; here the limits are arguments, since code that processes a value may recurse. Error
texts are libyaml's, from which Go's library is translated; a PyYAML without libyaml has its own texts.

The decoder consumes the parser's events one by one without recursion, so that neither libyaml's composer nor Python's
stack depends on a document's depth. It expands an alias by replaying the events of its anchor, so that all limits apply
to the expanded document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import yaml

from clientgo.apimachinery.util.yaml.resolve import resolve

__all__ = ["DEFAULT_LIMITS", "Limits", "YAMLSyntaxError", "unmarshal"]

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# libyaml compares each directive with all earlier ones, in quadratic time, and documents need only a few.
_MAX_TAG_DIRECTIVES: Final = 100

# The tokens that start a value.
_VALUES: Final = (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent)

# The maximum depth of libyaml since PyYAML 6.0.4, and its message for a deeper document.
_MAX_DEPTH_OF_LIBYAML: Final = 1000
_TOO_DEEP_FOR_LIBYAML: Final = "exceeded maximum nesting depth"

# libyaml checks every open list and map for each token. This number of checks takes about a second.
_MAX_LOOKS: Final = 100_000_000


class Limits(NamedTuple):
    """Limits of a document; exceeding one raises YAMLSyntaxError."""

    size: int = 16 * 1024 * 1024
    """The maximum size of the text in bytes."""
    depth: int = 200
    """The maximum nesting of lists and maps. Go's limit is 10,000; libyaml's is 1,000 since PyYAML 6.0.4.

    Documents with many values at a great depth are rejected below that limit.
    """
    values: int = 1_000_000
    """The maximum number of lists, maps, keys and scalars after the expansion of aliases. A million take a second or
    two.
    """


DEFAULT_LIMITS: Final = Limits()


class YAMLSyntaxError(ValueError):
    """Raised for a text that is not YAML, has no JSON equivalent, or exceeds a limit. Go: yaml.YAMLSyntaxError.

    `redacted` is the message without any text of the document, for files with secrets.
    """

    def __init__(self, problem: str, *, document_words: str = "", after: str = "") -> None:
        super().__init__(f"{problem}{document_words}{after}")
        self.redacted = f"{problem}{'...' if document_words else ''}{after}"


def unmarshal(data: bytes | str, limits: Limits = DEFAULT_LIMITS, duplicates: list[str] | None = None) -> Any:
    """Return the JSON value of the first document of a YAML or JSON text; None for an empty one. Go: yaml.Unmarshal.

    If `duplicates` is a list, the messages of Go's UnmarshalStrict for duplicate keys are appended to it.

    Raises YAMLSyntaxError, never RecursionError. O(n) in the text's size, times the depth for a deep one.

    >>> unmarshal("a: [1, 0x10, yes, 2001-01-01]")
    {'a': [1, 16, True, '2001-01-01']}
    >>> unmarshal("a: *b")
    Traceback (most recent call last):
    clientgo.apimachinery.util.yaml.decoder.YAMLSyntaxError: yaml: unknown anchor 'b' referenced
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > limits.size:
        raise YAMLSyntaxError(f"yaml: document is larger than {limits.size} bytes")
    if raw.count(b"%TAG") > _MAX_TAG_DIRECTIVES and raw.count(b"\n%TAG") > _MAX_TAG_DIRECTIVES:
        raise YAMLSyntaxError(f"yaml: document has more than {_MAX_TAG_DIRECTIVES} %TAG directives")
    try:
        return _Builder(limits, duplicates).build(yaml.parse(raw, Loader=_Loader))
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        problem = _problem(err, limits.depth)
    # Raised outside of the except clause: the parser's error may contain parts of the text and would become the
    # context.
    raise YAMLSyntaxError(problem)


def _problem(err: Exception, max_depth: int) -> str:
    """Return a message with the problem and its line, as Go's library counts lines: without one for the first line."""
    problem_mark, context_mark = getattr(err, "problem_mark", None), getattr(err, "context_mark", None)
    line = 0
    if problem_mark is not None and problem_mark.line:
        # The scanner counts lines from zero; the parser's position is after the line with the problem.
        line = problem_mark.line + isinstance(err, yaml.scanner.ScannerError)
    elif context_mark is not None:
        line = context_mark.line
    text = getattr(err, "problem", None) or getattr(err, "reason", None) or "unknown problem parsing YAML content"
    if text == _TOO_DEEP_FOR_LIBYAML:
        text = f"exceeded max depth of {min(max_depth, _MAX_DEPTH_OF_LIBYAML)}"
    return f"yaml: line {line}: {text}" if line else f"yaml: {text}"


class _Span(NamedTuple):
    """The events of an anchor's value, as a range of the log."""

    start: int
    end: int


class _OpenAnchor(NamedTuple):
    name: str
    start: int
    depth: int


class _Mapping:
    """A map under construction: its items, and the key that waits for a value, as text and in its original type."""

    __slots__ = ("awaits_key", "items", "key", "merges", "raw_key")

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self.awaits_key = True
        self.key = ""
        self.raw_key: Any = None
        self.merges = False

    def add(self, value: Any, is_merge: bool) -> None:
        """Add a key or a value, whichever is next."""
        if self.awaits_key:
            self.merges = is_merge
            self.key, self.raw_key = "" if is_merge else _key(value), value
            self.awaits_key = False
            return
        self.awaits_key = True
        if self.merges:
            _merge(self.items, value)
        else:
            self.items[self.key] = value


class _Builder:
    """A builder of one document's value from the parser's events.

    Invariants: `_open` holds the unfinished lists and maps, outermost first; `_log` holds the events since an anchor
    was first open, with aliases as spans of the log; `_from_aliases` <= `_decoded`.
    """

    def __init__(self, limits: Limits, duplicates: list[str] | None) -> None:
        self._limits = limits
        self._duplicates = duplicates
        self._open: list[list[Any] | _Mapping] = []
        self._root: Any = None
        self._decoded = 0
        self._from_aliases = 0
        self._looks = 0
        self._log: list[yaml.Event | _Span] = []
        self._open_anchors: list[_OpenAnchor] = []
        # None while the anchor's own value is being read.
        self._anchors: dict[str, _Span | None] = {}

    def build(self, events: Iterable[yaml.Event]) -> Any:
        sources: list[Iterator[yaml.Event | _Span]] = [iter(events)]
        while sources:
            for event in sources[-1]:
                if type(event) is yaml.DocumentEndEvent:
                    return self._root
                direct = len(sources) == 1
                if direct:
                    self._looks += len(self._open)
                    event = self._log_event(event)
                if isinstance(event, _Span):
                    self._count(not direct, event)
                    sources.append(iter(self._log[event.start : event.end]))
                    break
                self._take(event, from_alias=not direct)
                if direct and self._open_anchors:
                    self._close_anchors()
            else:
                sources.pop()
        return self._root

    # --- anchors and aliases ---

    def _log_event(self, event: yaml.Event | _Span) -> yaml.Event | _Span:
        """Log an event while an anchor is open, and resolve an alias."""
        anchor: Any = getattr(event, "anchor", None)
        if type(event) is yaml.AliasEvent:
            event = self._span(anchor)
        elif anchor is not None:
            self._open_anchors.append(_OpenAnchor(anchor, len(self._log), len(self._open)))
            self._anchors[anchor] = None
        if self._open_anchors:
            self._log.append(event)
        return event

    def _span(self, name: str) -> _Span:
        if name not in self._anchors:
            raise YAMLSyntaxError("yaml: unknown anchor '", document_words=name, after="' referenced")
        span = self._anchors[name]
        if span is None:
            raise YAMLSyntaxError("yaml: anchor '", document_words=name, after="' value contains itself")
        return span

    def _close_anchors(self) -> None:
        while self._open_anchors and self._open_anchors[-1].depth == len(self._open):
            name, start, _ = self._open_anchors.pop()
            self._anchors[name] = _Span(start, len(self._log))

    # --- values ---

    def _take(self, event: yaml.Event | _Span, from_alias: bool) -> None:
        kind = type(event)
        if self._duplicates is not None and kind in _VALUES:
            self._report_duplicate(event, self._duplicates)
        if kind is yaml.ScalarEvent:
            self._count(from_alias, event)
            self._add(_scalar(event), _is_merge(event))
        elif kind is yaml.MappingStartEvent:
            self._push(_Mapping(), from_alias, event)
        elif kind is yaml.SequenceStartEvent:
            self._push([], from_alias, event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            done = self._open.pop()
            self._add(done.items if isinstance(done, _Mapping) else done)

    def _push(self, collection: list[Any] | _Mapping, from_alias: bool, event: Any) -> None:
        self._count(from_alias, event)
        self._open.append(collection)
        if len(self._open) > self._limits.depth:
            raise YAMLSyntaxError(f"yaml: {_line(event)}exceeded max depth of {self._limits.depth}")

    def _report_duplicate(self, event: Any, duplicates: list[str]) -> None:
        """Report a value whose key already exists in its map."""
        parent = self._open[-1] if self._open else None
        if isinstance(parent, _Mapping) and not parent.awaits_key and not parent.merges and parent.key in parent.items:
            duplicates.append(f"line {event.start_mark.line + 1}: key {_go_syntax(parent.raw_key)} already set in map")

    def _add(self, value: Any, is_merge: bool = False) -> None:
        if type(value) is float and not self._awaits_key():
            value = _without_fraction(value)
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        if isinstance(parent, _Mapping):
            parent.add(value, is_merge)
        else:
            parent.append(value)

    def _awaits_key(self) -> bool:
        parent = self._open[-1] if self._open else None
        return isinstance(parent, _Mapping) and parent.awaits_key

    def _count(self, from_alias: bool, event: Any) -> None:
        self._decoded += 1
        if self._looks > _MAX_LOOKS:
            raise YAMLSyntaxError(f"yaml: {_line(event)}document has too many values at too great a depth")
        if from_alias:
            self._from_aliases += 1
            few = self._from_aliases <= 100 or self._decoded <= 1000
            if not few and self._from_aliases / self._decoded > _allowed_alias_ratio(self._decoded):
                raise YAMLSyntaxError("yaml: document contains excessive aliasing")
        if self._decoded > self._limits.values:
            raise YAMLSyntaxError(f"yaml: {_line(event)}document has more than {self._limits.values} values")


def _allowed_alias_ratio(decoded: int) -> float:
    """Return the allowed share of values from aliases: 99 % of a small document, 10 % of a very large one."""
    low, high = 400_000, 4_000_000
    return 0.99 - 0.89 * min(max(decoded - low, 0) / (high - low), 1.0)


def _line(event: Any) -> str:
    line = 0 if isinstance(event, _Span) else event.start_mark.line
    return f"line {line + 1}: " if line else ""


def _is_merge(event: Any) -> bool:
    return bool(event.value == "<<" and (event.implicit[0] or event.tag == "tag:yaml.org,2002:merge"))


def _scalar(event: Any) -> Any:
    tag, value = event.tag, event.value
    if tag is None and not event.implicit[0]:
        return value  # in quotes
    try:
        resolved = resolve("" if tag is None or tag == "!" else tag, value)
    except ValueError as err:
        raise YAMLSyntaxError("yaml: ", document_words=str(err)) from None
    if isinstance(resolved, float) and not math.isfinite(resolved):
        name = "NaN" if math.isnan(resolved) else f"{'+' if resolved > 0 else '-'}Inf"
        raise YAMLSyntaxError(f"json: unsupported value: {name}")
    return resolved


def _without_fraction(number: float) -> int | float:
    """Return a whole number as an int, since Go reads YAML by way of JSON, where 2.0 and 1e5 are 2 and 100000."""
    return int(number) if number.is_integer() and -(2**63) <= number < 2**63 else number


def _key(key: Any) -> str:
    """Return the text of a key. Raises YAMLSyntaxError for keys without a JSON equivalent: null, lists and maps."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int) and key < 2**63:
        return str(key)
    if isinstance(key, float):
        return f"{key:g}"
    if isinstance(key, dict | list):
        raise YAMLSyntaxError("yaml: invalid map key: ", document_words=_go_syntax(key))
    kind, shown = ("%!s(<nil>)", "<nil>") if key is None else ("uint64", hex(key))
    raise YAMLSyntaxError(f"unsupported map key of type: {kind}, key: ", document_words=shown)


def _go_syntax(key: Any) -> str:
    """Return a value as Go's %#v formats it, for example of an unrendered `{{ .Values.name }}` of a template."""
    if isinstance(key, dict):
        pairs = ", ".join(f"{_go_syntax(name)}:{_go_syntax(value)}" for name, value in key.items())
        return f"map[interface {{}}]interface {{}}{{{pairs}}}"
    if isinstance(key, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, key))}}}"
    if key is None:
        return "interface {}(nil)"
    return str(key).lower() if isinstance(key, bool) else repr(key) if not isinstance(key, str) else f'"{key}"'


def _merge(items: dict[str, Any], value: Any) -> None:
    """Merge the maps of a merge key at its position; in a list of maps, the first takes precedence."""
    maps = value if isinstance(value, list) else [value]
    for merged in reversed(maps):
        if not isinstance(merged, dict):
            raise YAMLSyntaxError("yaml: map merge requires map or sequence of maps as the value")
        items.update(merged)
