"""Templates for jsonpath that are drawn at random, and kubectl's answers to them.

    PYTHONPATH=.:test/support .venv-test/bin/python test/support/kubectljsonpath.py

records test/golden/jsonpath/kubectl.jsonl.gz anew, with the kubectl of `MINOR`.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clientgo.util import jsonpath

# Older ones write null as <nil>.
MINOR = 33

DOCUMENT: dict[str, Any] = {
    "apiVersion": "example.io/v1",
    "kind": "Example",
    "metadata": {
        "name": "tést",
        "labels": {"app.kubernetes.io/name": "web", "tier": "<front>&", "zz": "1"},
        "annotations": {"a-b": "dash", "a b": "blank", "1": "digit"},
    },
    "parts": [
        {"name": "one", "n": 1, "ready": True, "tags": ["a", "b", "c"], "kind": "x"},
        {"name": "two", "n": -2, "ready": False, "tags": [], "spec": {"n": 7, "name": "inner"}},
        {"name": "three", "n": 3, "tags": ["c"], "kind": "x", "none": None},
        {"name": 'fo"ur', "n": 4, "ready": True, "tags": ["d", "e"], "spec": {"list": [{"n": 5}, {"n": 6}]}},
    ],
    "numbers": [0, 1, -1, 10, 7, 7],
    "floats": [1.0, 2.5, -0.25, 1e21, 1e-7, 123456789.125, 1e6],
    "mixed": [1, "one", None, True, 1.5, ["x"], {"k": "v"}],
    "texts": ["b", "a", "(x)", "", "é", "a.b", "<&>"],
    "nested": {"a": {"b": {"c": [[1, 2], [3, [4]]]}}},
    "empty": {},
    "nothing": None,
    "text": "héllo",
    "yes": True,
    "size": 12,
    "ratio": 0.5,
}

_NAMES = ("parts", "name", "n", "ready", "tags", "spec", "kind", "metadata", "labels", "numbers", "floats", "mixed")
_NAMES += ("texts", "nested", "a", "b", "c", "list", "empty", "nothing", "none", "text", "yes", "size", "ratio")
_NAMES += ("missing", r"app\.kubernetes\.io/name", "a-b", "tier", "annotations", "1", "é")
_LISTS = ("parts", "numbers", "floats", "mixed", "texts", "nested.a.b.c", "missing", "nothing", "parts[*].tags")
_VALUES = ("1", "3", "-2", "1.5", "true", "false", '"one"', "'c'", '"(x)"', r'"fo\"ur"', "@.n", "2", "0", "7", ".5")
_VALUES += ('"a.b"', "'é'", '""', "one", "@", "$.n", "+1", "1e3", '"a"', "0.5")
_OPERATORS = ("==", "==", "==", "!=", "<", ">", "<=", ">=", "=", "<>", "!")
_SPOILERS = ("{", "}", "[", "]", "(", ")", "'", '"', "\\", "..", ".", "*", "@", "$", " ", ",", ":", "-", "?", "\n", "é")
_QUOTED = (r'"\n"', r'"\t"', "', '", '"é"', r'"\u00e9"', r"'\x41'", r"'\101'", "'{'", '"}"', r"'it\'s'", r'"\""')
_QUOTED += (r'"\q"', '"\'"', "'\"'")
_ODD = ("{end}", "{range}", "{1}", "{1.50}", "{true}", "{-0}", "{}", "{$}", "{@}", "{ }", "{foo}")
_LEFTS = ("@", "@.n", "@.name", "@.ready", "@.kind", "@.spec.n", "@.missing", "@..n", "@.tags[0]", "1")


class _Drawing:
    """A template in the making."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def template(self) -> str:
        rng = self._rng
        text = "".join(self._part(0) for _ in range(rng.randint(1, 3)))
        if rng.random() < 0.12:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(_SPOILERS) + text[at + rng.randint(0, 2) :]
        return text or "a"  # kubectl refuses an empty template before it parses it.

    def _part(self, depth: int) -> str:
        rng = self._rng
        chance = rng.random()
        if chance < 0.15:
            return rng.choice(("", "a", " ", ", ", "é\n", "]"))
        if chance < 0.25:
            return f"{{{rng.choice(_QUOTED)}}}"
        if chance < 0.5 and depth < 3:
            inside = "".join(self._part(depth + 1) for _ in range(rng.randint(0, 3)))
            end = "{end}" if rng.random() < 0.95 else ""
            return f"{{range {self._path()}}}{inside}{end}"
        if chance < 0.53:
            return rng.choice(_ODD)
        return f"{{{self._path()}}}"

    def _path(self) -> str:
        rng = self._rng
        start = rng.choice(("", "", "$", "@"))
        first = f".{rng.choice(_LISTS)}" if rng.random() < 0.5 else self._step()
        return start + first + "".join(self._step() for _ in range(rng.randint(0, 3)))

    def _step(self) -> str:
        rng = self._rng
        chance = rng.random()
        if chance < 0.4:
            return f".{rng.choice(_NAMES)}"
        if chance < 0.5:
            return f"['{rng.choice(_NAMES)}']"
        if chance < 0.6:
            return "[*]"
        if chance < 0.63:
            return ".*"
        if chance < 0.7:
            return f"..{rng.choice(_NAMES)}"
        if chance < 0.82:
            return f"[{self._slice()}]"
        if chance < 0.87:
            return f"[{', '.join(self._choice() for _ in range(rng.randint(2, 3)))}]"
        return f"[?({self._filter()})]"

    def _choice(self) -> str:
        return self._slice() if self._rng.random() < 0.4 else f"'{self._rng.choice(_NAMES)}'"

    def _slice(self) -> str:
        rng = self._rng

        def number() -> str:
            return str(rng.choice((0, 1, 2, 3, -1, -2, -5, 6, 9))) if rng.random() < 0.7 else ""

        return ":".join(number() for _ in range(rng.choice((1, 1, 2, 2, 3))))

    def _filter(self) -> str:
        rng = self._rng
        left = rng.choice(_LEFTS)
        if rng.random() < 0.2:
            return left
        blank = rng.choice(("", " "))
        return f"{left}{blank}{rng.choice(_OPERATORS)}{blank}{rng.choice(_VALUES)}"


def draw_template(rng: random.Random) -> str:
    """Draw a template; most can be parsed and find something in `DOCUMENT`."""
    return _Drawing(rng).template()


def answer(template: str, document: Any, as_json: bool = False, allow_missing_keys: bool = True) -> dict[str, str]:
    """Return the output or the error of clientgo."""
    path = jsonpath.new("out").allow_missing_keys(allow_missing_keys)
    path.enable_json_output(as_json)
    out = io.StringIO()
    try:
        path.parse(template)
        path.execute(out, document)
    except ValueError as err:
        return {"error": str(err)}
    return {"output": out.getvalue()}


def has_order(template: str) -> bool:
    """Report whether the answer depends on the order of the fields, which Go's maps do not have."""

    def reverse(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(value)}
        return [reverse(item) for item in value] if isinstance(value, list) else value

    return answer(template, DOCUMENT) != answer(template, reverse(DOCUMENT))


class Kubectl:
    """A kubectl that evaluates templates for `DOCUMENT`."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._file = folder / "document.json"
        self._file.write_text(json.dumps(DOCUMENT))

    def answer(self, template: str, as_json: bool = False, allow_missing_keys: bool = True) -> dict[str, str]:
        """Return the output or the error of kubectl."""
        output = f"jsonpath{'-as-json' if as_json else ''}={template}"
        allow = f"--allow-missing-template-keys={str(allow_missing_keys).lower()}"
        command = [self._binary, "label", "--local", "--overwrite", "-f", str(self._file), "zz=1", "-o", output, allow]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
        if done.returncode == 0:
            return {"output": done.stdout}
        for pattern in (
            r"error: error executing jsonpath .*?: Error executing template: (.*?)\. Printing more information",
            rf"error: error parsing jsonpath {re.escape(template)}, (.*)\n\Z",
            r"panic: (.*?)\n",
        ):
            found = re.match(pattern, done.stderr, re.DOTALL)
            if found:
                return {"error": found[1]}
        raise AssertionError(f"unexpected answer to {template!r}: {done.stderr}")


_WRITTEN = (
    "plain text without an action",
    '{range .parts[*]}{.name}{"\\t"}{.n}{"\\n"}{end}',
    "{.parts[?(@.ready==true)].name}",
    "{.parts[*]['name','n']}",
    "{..n}",
    "{.metadata.labels.app\\.kubernetes\\.io/name}",
    "{.metadata.annotations['a b']}",
    "{.parts[-1:].name} {.parts[0].name} {.parts[:2].name} {.parts[::2].name}",
    "{.text.*}",
    "{.parts[?(@.tags[5])].name}",
    "{.parts[?(@.spec)].spec}",
    "{range .parts[*]}{range .tags[*]}{@}-{end};{end}",
    "{range .missing[*]}{.x}{range .y[*]}{.z}{end}{end}after",
    "{.floats}{.floats[*]}",
    "{.parts[?(@.n > 1)].n}{.parts[?(@.n>=1)].n}{.parts[?(@.n<1)].n}{.parts[?(@.n != 1)].n}",
    '{.texts[?(@=="(x)")]}',
    "{.mixed[*]}",
    "{range .mixed[*]}{@};{end}",
    "{.parts[0:2:0]}",
    "{.parts[3:1]}",
    "{.kind}",
    "{.missing}",
    "before{.missing}after",
    "{.parts[4].name}",
    "{.parts[?(@.name=~'o')]}",
)


def _record(kubectl: Kubectl, count: int, seed: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(seed)
    drawn = dict.fromkeys(_WRITTEN)
    while len(drawn) < count:
        template = draw_template(rng)
        if not has_order(template):
            drawn[template] = None
    for number, template in enumerate(drawn):
        as_json, allow = (number % 6 == 5, number % 5 != 4) if number >= len(_WRITTEN) else (False, True)
        case: dict[str, Any] = {"name": f"{number:03d} {template}", "template": template}
        case |= {"as_json": as_json, "allow_missing_keys": allow}
        yield {**case, **kubectl.answer(template, as_json, allow), "document": DOCUMENT}


def main() -> None:
    """Record the golden file."""
    from processes import ROOT, kubectl_binary

    with tempfile.TemporaryDirectory() as folder:
        recorded = [json.dumps(case) for case in _record(Kubectl(kubectl_binary(MINOR), Path(folder)), 700, seed=33)]
    target = ROOT / "test" / "golden" / "jsonpath" / "kubectl.jsonl.gz"
    target.write_bytes(gzip.compress(("\n".join(recorded) + "\n").encode(), 9, mtime=0))
    sys.stdout.write(f"{len(recorded)} cases in {target}\n")


if __name__ == "__main__":
    main()
