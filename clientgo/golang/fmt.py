"""Go's text formatting, for programs ported from Go that use `klog.infof` and `eventf`.

Replaces Go's fmt package. It supports Go's verbs with flags, widths, `*` and `[n]`, and Python's %r, %i and %a. As in
Go, a format that does not match its arguments never raises, and the result describes the mismatch, so that reporting an
error cannot fail.

Differences from Go: a format without arguments is not changed except for %%, since in Python it is often an f-string.
Objects are formatted with `str`, and with `repr` for %+v and %#v. %s accepts numbers too. A byte that is not valid
UTF-8 is kept, as in Go (see `clientgo.golang.utf8`); `printf` and `println` print U+FFFD for it.
"""

from __future__ import annotations

import enum
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Final

from clientgo.golang import utf8
from clientgo.golang.callers import error_text
from clientgo.golang.strconv import quote

__all__ = ["errorf", "go_value", "printf", "println", "sprint", "sprintf"]

_VERB: Final = re.compile(
    r"%(?P<flags>[#+\- 0]*)(?:\[(?P<at_width>\d{1,6})\](?=\*))?(?P<width>\*|\d+)?"
    r"(?:\.(?:\[(?P<at_precision>\d{1,6})\](?=\*))?(?P<precision>\*|\d*))?(?:\[(?P<at>\d{1,6})\])?(?P<verb>.)?",
    re.DOTALL,
)
# Go's own limit: a larger width is invalid.
_MAX_WIDTH: Final = 1_000_000
_MAX_NESTING: Final = 50


def sprintf(format: str, *args: Any) -> str:
    """Format the arguments. Never raises. Go: fmt.Sprintf. O(len(format) + the arguments' texts).

    >>> sprintf("scaled %q from %d to %v (%5.1f%%)", "web", 1, 3, 200)
    'scaled "web" from 1 to 3 (200.0%)'
    >>> sprintf("%-6s|%6s|%06.2f|%x|%X|%+d|%t", "ab", "cd", 3.14159, "hi", 255, 7, True)
    'ab    |    cd|003.14|6869|FF|+7|true'
    >>> sprintf("%d %s", "three"), sprintf("done", 1), sprintf("%[2]v %[1]v", "a", "b")
    ('%!d(string=three) %!s(MISSING)', 'done%!(EXTRA int=1)', 'b a')
    """
    if not isinstance(format, str):
        format = go_value(format)
    if not args:
        return format.replace("%%", "%")
    filler = _Filler(args)
    return _VERB.sub(filler.fill, format) + filler.extra()


def sprint(args: Iterable[Any]) -> str:
    """Concatenate the values, with a space between two values that are not texts. Never raises. Go: fmt.Sprint.

    >>> sprint(("Error syncing pod ", "a/b", 1, 2))
    'Error syncing pod a/b1 2'
    """
    parts: list[str] = []
    before_is_text = True
    for arg in args:
        is_text = isinstance(arg, str)
        if parts and not before_is_text and not is_text:
            parts.append(" ")
        parts.append(go_value(arg))
        before_is_text = is_text
    return "".join(parts)


def errorf(format: str, *args: Any) -> RuntimeError:
    """Return an error with the formatted text; an exception among the arguments becomes its cause. Go: fmt.Errorf.

    >>> errorf("error syncing '%s': %w", "default/a", ValueError("no such pod"))
    RuntimeError("error syncing 'default/a': no such pod")
    """
    err = RuntimeError(sprintf(format, *args))
    err.__cause__ = next((arg for arg in args if isinstance(arg, BaseException)), None)
    return err


def printf(format: str, *args: Any) -> None:
    """Write the formatted arguments to standard output. Go: fmt.Printf."""
    sys.stdout.write(utf8.to_valid(sprintf(format, *args)))


def println(*args: Any) -> None:
    """Write the arguments, separated by spaces, and a newline to standard output. Go: fmt.Println."""
    sys.stdout.write(utf8.to_valid(" ".join(map(go_value, args))) + "\n")


class _Filler:
    """The arguments of one format, and the position of the next one."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self._args = args
        self._next = 0
        self._reordered = False
        self._is_index_bad = False  # of the current verb

    def fill(self, match: re.Match[str]) -> str:
        verb = match["verb"]
        if verb is None:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        flags = set(match["flags"])
        self._is_index_bad = False
        width = self._number(match["at_width"], match["width"])
        precision = self._number(match["at_precision"], match["precision"])
        if width is not None and width < 0:
            width = -width
            flags.add("-")
        prefix = "".join(
            f"%!(BAD{name})"
            for name, number in (("WIDTH", width), ("PREC", precision))
            if number is not None and not 0 <= number <= _MAX_WIDTH
        )
        if prefix:
            width = precision = None
        self._jump(match["at"])
        if self._is_index_bad:
            return f"{prefix}%!{verb}(BADINDEX)"
        if self._next >= len(self._args):
            return f"{prefix}%!{verb}(MISSING)"
        value = self._args[self._next]
        self._next += 1
        return prefix + _Verb(verb, flags, width, precision).show(value)

    def extra(self) -> str:
        """Return the text to append for arguments without a verb."""
        if self._reordered or self._next >= len(self._args):
            return ""
        shown = ", ".join(
            "<nil>" if value is None else f"{_go_type(value)}={go_value(value)}" for value in self._args[self._next :]
        )
        return f"%!(EXTRA {shown})"

    def _jump(self, index: str | None) -> None:
        """Go to the argument with a number, if one is given. A bad number does not affect the verbs after it."""
        if index is None:
            return
        self._reordered = True
        if 0 < int(index) <= len(self._args):
            self._next = int(index) - 1
        else:
            self._is_index_bad = True

    def _number(self, index: str | None, text: str | None) -> int | None:
        """Return a width or precision: None, a number, or the argument for `*`. An invalid one is larger than
        _MAX_WIDTH.
        """
        if text is None:
            return None
        if text != "*":
            return int(text[:8] or "0")
        self._jump(index)
        value = self._args[self._next] if self._next < len(self._args) else None
        self._next += 1
        return value if type(value) is int else _MAX_WIDTH + 1


class _Verb:
    """A verb with its flags."""

    def __init__(self, verb: str, flags: set[str], width: int | None, precision: int | None) -> None:
        self._verb = verb
        self._flags = flags
        self._width = width or 0
        self._precision = precision

    def show(self, value: Any) -> str:
        """Format the value with this verb. Never raises."""
        try:
            return self._show(value, 0)
        except Exception as err:
            return f"%!{self._verb}(PANIC=String method: {error_text(err)})"

    def _show(self, value: Any, nesting: int) -> str:
        verb = self._verb
        if verb == "T":
            return self._pad(_go_type(value))
        if verb in "ra":
            return self._pad(repr(value) if verb == "r" else ascii(value))
        if verb == "p":
            return self._pad(f"0x{id(value):x}")
        if verb in "vw":
            return self._pad(self._default(value))
        if verb == "s" and isinstance(value, bool | int | float):
            return self._pad(go_value(value))  # Go's vet rejects it; in Python it is common
        if _is_collection(value) and nesting < _MAX_NESTING and not (verb in "sqxX" and isinstance(value, bytes)):
            return self._collection(value, nesting)
        shown = self._scalar(value)
        return self._bad(value) if shown is None else shown

    def _default(self, value: Any) -> str:
        if "#" in self._flags:
            return _go_syntax(value)
        if "+" in self._flags and isinstance(value, int | float) and not isinstance(value, bool):
            return f"+{go_value(value)}" if value >= 0 else go_value(value)
        if "+" in self._flags and not isinstance(value, str) and _has_only_repr(value):
            return repr(value)
        return go_value(value)

    def _collection(self, value: Any, nesting: int) -> str:
        """Format a list or a map, with this verb for each item."""

        def show(item: Any) -> str:
            return self._show(item, nesting + 1)

        return _shown_map(value, show) if isinstance(value, Mapping) else f"[{' '.join(map(show, _items(value)))}]"

    def _scalar(self, value: Any) -> str | None:
        """Format a scalar. Returns None if the verb does not apply to the value."""
        verb = self._verb
        if isinstance(value, bool):
            return self._pad(go_value(value)) if verb == "t" else None
        if isinstance(value, int) and verb in "diboOxXcqU":
            return self._integer(value)
        # In Python an int may be a float, and a float of seconds may be Go's integer Duration.
        if isinstance(value, int | float) and verb in "eEfFgG":
            return self._float(float(value))
        if isinstance(value, float) and verb == "d" and value.is_integer():
            return self._integer(int(value))
        if verb in "sqxX" and (isinstance(value, str | bytes) or not isinstance(value, int | float | None)):
            return self._text(value)
        return None

    def _text(self, value: Any) -> str:
        raw = value if isinstance(value, bytes) else utf8.encode(go_value(value))
        text = utf8.decode(raw)
        if self._precision is not None and self._verb in "sq":
            text = text[: self._precision]
        if self._verb == "q":
            text = f"`{text}`" if "#" in self._flags and "`" not in text and text.isprintable() else quote(text)
        elif self._verb in "xX":
            raw = raw[: self._precision]
            text = raw.hex(" ") if " " in self._flags else raw.hex()
            text = text.upper() if self._verb == "X" else text
        return self._pad(text)

    def _integer(self, value: int) -> str:
        verb = self._verb
        if verb in "cqU":
            rune = chr(value) if 0 <= value < 0x110000 and not 0xD800 <= value < 0xE000 else "\ufffd"
            shown = {"c": rune, "q": "'\\''" if rune == "'" else f"'{quote(rune)[1:-1]}'", "U": f"U+{value:04X}"}
            return self._pad(shown[verb])
        digits = format(abs(value), {"d": "d", "i": "d", "b": "b", "o": "o", "O": "o"}.get(verb, verb))
        if self._precision is not None:
            digits = digits.zfill(self._precision)
        if "#" in self._flags or verb == "O":
            digits = {"b": "0b", "o": "0", "O": "0o", "x": "0x", "X": "0X"}.get(verb, "") + digits
        return self._signed(value < 0, digits, zeros=self._precision is None)

    def _float(self, value: float) -> str:
        if not math.isfinite(value):
            return self._signed(value < 0, "NaN" if math.isnan(value) else "Inf", zeros=False, plus=not value < 0)
        verb = self._verb
        if verb in "gG" and self._precision is None:
            shown = _shortest(abs(value))
        else:
            precision = 6 if self._precision is None else self._precision
            shown = format(abs(value), f".{precision}{verb}")
        return self._signed(math.copysign(1, value) < 0, shown.upper() if verb in "EG" else shown)

    def _signed(self, negative: bool, digits: str, zeros: bool = True, plus: bool = False) -> str:
        sign = "-" if negative else "+" if plus or "+" in self._flags else " " if " " in self._flags else ""
        if zeros and "0" in self._flags and "-" not in self._flags:
            digits = digits.zfill(self._width - len(sign))
        return self._pad(sign + digits)

    def _pad(self, text: str) -> str:
        return text.ljust(self._width) if "-" in self._flags else text.rjust(self._width)

    def _bad(self, value: Any) -> str:
        return f"%!{self._verb}({'<nil>' if value is None else f'{_go_type(value)}={go_value(value)}'})"


def go_value(value: Any) -> str:
    """Format a value as Go's %v does. Never raises.

    >>> go_value(None), go_value([True, "a", 1e21]), go_value({"b": 1, "a": [None]}), go_value(b"hi")
    ('<nil>', '[true a 1e+21]', 'map[a:[<nil>] b:1]', '[104 105]')
    """
    try:
        return _plain(value, 0)
    except Exception as err:
        return f"%!v(PANIC=String method: {error_text(err)})"


def _plain(value: Any, nesting: int) -> str:
    if isinstance(value, str):
        return str(value.value) if isinstance(value, enum.Enum) else str.__str__(value)
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _shortest(value)
    if isinstance(value, BaseException):
        # An exception without arguments has no text, so use its type.
        return str(value) or type(value).__name__
    if _is_collection(value):
        if nesting >= _MAX_NESTING:
            return "..."

        def show(item: Any) -> str:
            return _plain(item, nesting + 1)

        return _shown_map(value, show) if isinstance(value, Mapping) else f"[{' '.join(map(show, _items(value)))}]"
    return str(value)


def _shown_map(value: Mapping[Any, Any], show: Callable[[Any], str]) -> str:
    return f"map[{' '.join(f'{show(key)}:{show(value[key])}' for key in _in_order(value))}]"


def _go_syntax(value: Any) -> str:
    """Format a value as Go's %#v if both languages have the same syntax, otherwise as Python does."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return go_value(value)
    return quote(go_value(value)) if isinstance(value, str) else repr(value)


def _is_collection(value: Any) -> bool:
    """Report whether a value is formatted by its items. Returns False if its class defines the text, as a NamedTuple
    with __str__.
    """
    if not isinstance(value, Mapping | list | tuple | Set | bytes | bytearray):
        return False
    text: object = type(value).__str__
    return text in (object.__str__, bytes.__str__, bytearray.__str__)


def _has_only_repr(value: Any) -> bool:
    text: object = type(value).__str__
    return text is object.__str__ and not _is_collection(value)


def _items(value: Any) -> Iterable[Any]:
    return _in_order(value) if isinstance(value, Set) else value


def _in_order(items: Iterable[Any]) -> list[Any]:
    keys = list(items)
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=lambda key: (_go_type(key), go_value(key)))


def _shortest(value: float) -> str:
    """Format a float as Go's %g: with the shortest digits, and as 1e+06 if the exponent is below -4 or above 5."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    # repr returns the shortest digits.
    digits, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = digits.partition(".")
    sign = "-" if math.copysign(1, value) < 0 else ""
    significant = (whole + part).strip("0") or "0"
    # The position of the point after the first digit that is not 0.
    leading = len(whole) - 1 if whole.strip("0") else len(part.lstrip("0")) - len(part) - 1
    size = leading + int(exponent or 0) if value else 0
    if size < -4 or size >= 6:
        tail = significant[1:]
        return f"{sign}{significant[0]}{'.' if tail else ''}{tail}e{size:+03d}"
    if size < 0:
        return f"{sign}0.{'0' * (-size - 1)}{significant}"
    if len(significant) <= size + 1:
        return sign + significant.ljust(size + 1, "0")
    return f"{sign}{significant[: size + 1]}.{significant[size + 1 :]}"


def _go_type(value: Any) -> str:
    names = {bool: "bool", int: "int", float: "float64", str: "string", type(None): "<nil>", bytes: "[]uint8"}
    names |= {list: "[]interface {}", tuple: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), type(value).__name__)
