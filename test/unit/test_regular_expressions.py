"""Every regular expression of the library and the programs: where its text comes from, and its worst case.

Python's `re` backtracks: some patterns take quadratic or exponential time, hold all threads meanwhile, and cannot be
stopped. An expression that reads untrusted text is listed with the text that it takes longest for, and is run on 100 KB
of it and of many others. A linear one takes milliseconds of CPU for that; a quadratic one takes minutes.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")
# Where a call has its flags, if not by name.
FLAGS_AT = {"compile": 1, "sub": 4, "split": 3}
SIZE = 100_000
# Seconds of this thread's CPU for 100 KB: ten times what the slowest needs, a hundredth of what a quadratic one does.
BOUND = 1.0


class Use(NamedTuple):
    """One expression as the code has it."""

    pattern: re.Pattern[Any] | None
    """None where the pattern is computed."""
    functions: frozenset[str]
    """The functions of `re` it is used with, as far as its module shows them."""


class Attack(NamedTuple):
    """A text that an expression takes long for: `prefix`, as often `pump` as there is room for, `suffix`."""

    pump: str
    suffix: str = "\0"
    prefix: str = ""
    functions: tuple[str, ...] = ()
    """The functions it is used with where its module does not show them."""

    def text(self, size: int) -> str:
        return self.prefix + self.pump * (size // len(self.pump)) + self.suffix


OWN_SOURCE = "reads source code or templates that the user or this project wrote"
OWN_FILES = "reads files of this project"
M = ("match",)
F = ("fullmatch",)

REGISTRY: dict[str, str | Attack] = {
    "clientgo/api/facts.py:_qualified": OWN_SOURCE,
    "clientgo/apimachinery/api/resource/quantity.py:_QUANTITY": Attack("0"),
    "clientgo/apimachinery/api/validate/content/decimal_int.py:_CANONICAL": Attack("1"),
    "clientgo/apimachinery/api/validate/content/dns.py:_LABEL": Attack("a-"),
    "clientgo/apimachinery/api/validate/content/dns.py:_SUBDOMAIN": Attack("a."),
    "clientgo/apimachinery/api/validate/content/dns.py:_SUBDOMAIN_CASELESS": Attack("A.", functions=F),
    "clientgo/apimachinery/api/validate/content/identifier.py:_C_IDENTIFIER": Attack("a"),
    "clientgo/apimachinery/api/validate/content/kube.py:_LABEL_KEY": Attack("a."),
    "clientgo/apimachinery/api/validate/content/kube.py:_LABEL_VALUE": Attack("a."),
    "clientgo/apimachinery/labels/selector.py:_BLANKS": Attack(" ", functions=M),
    "clientgo/apimachinery/labels/selector.py:_SYMBOL": Attack("=", functions=M),
    "clientgo/apimachinery/labels/selector.py:_WORD": Attack("a", functions=M),
    "clientgo/apimachinery/runtime/promoted.py:_snake_case": OWN_SOURCE,
    "clientgo/apimachinery/runtime/text_source.py:_TEN_DIGITS": Attack("0", functions=("search",)),
    "clientgo/apimachinery/runtime/timestamps.py:_is_offset": Attack("0", prefix="+"),
    "clientgo/apimachinery/runtime/timestamps.py:_is_usual": Attack("0"),
    "clientgo/apimachinery/util/json/deep.py:_skip_blanks": Attack(" "),
    "clientgo/apimachinery/util/json/json.py:_blanks": Attack(" "),
    "clientgo/apimachinery/util/json/json.py:_ESCAPE": Attack("\\ud800", functions=("sub",)),
    "clientgo/apimachinery/util/json/json.py:_SMALL": Attack("e-0"),
    "clientgo/apimachinery/util/json/json.py:_WHOLE": Attack(".0"),
    "clientgo/apimachinery/util/managedfields/fieldpath.py:_UNUSUAL": Attack("e"),
    "clientgo/apimachinery/util/resourceversion/resourceversion.py:_WELL_FORMED": Attack("1"),
    "clientgo/apimachinery/util/validation/validation.py:_CONFIG_MAP_KEY": Attack("a"),
    "clientgo/apimachinery/util/validation/validation.py:_DNS1035_LABEL": Attack("a-"),
    "clientgo/apimachinery/util/validation/validation.py:_DNS1123_LABEL": Attack("a-"),
    "clientgo/apimachinery/util/validation/validation.py:_DNS1123_SUBDOMAIN": Attack("a."),
    "clientgo/apimachinery/util/validation/validation.py:_DNS1123_SUBDOMAIN_WITH_UNDERSCORE": Attack("_a."),
    "clientgo/apimachinery/util/validation/validation.py:_ENV_VAR_NAME": Attack("a."),
    "clientgo/apimachinery/util/validation/validation.py:_HTTP_HEADER_NAME": Attack("a"),
    "clientgo/apimachinery/util/validation/validation.py:_HTTP_PATH": Attack("%2"),
    "clientgo/apimachinery/util/validation/validation.py:_PERCENT": Attack("0"),
    "clientgo/apimachinery/util/validation/validation.py:_PORT_NAME_CHARSET": Attack("a-"),
    "clientgo/apimachinery/util/validation/validation.py:_PORT_NAME_ONE_LETTER": Attack("-"),
    "clientgo/apimachinery/util/validation/validation.py:_RELAXED_ENV_VAR_NAME": Attack("a"),
    "clientgo/apimachinery/util/validation/validation.py:_WILDCARD_DNS1123_SUBDOMAIN": Attack("a.", prefix="*."),
    "clientgo/apimachinery/util/yaml/resolve.py:_BASE_60": Attack(":0", prefix="1"),
    "clientgo/apimachinery/util/yaml/resolve.py:_FLOAT": Attack("0"),
    "clientgo/apimachinery/util/yaml/resolve.py:_INTEGER": Attack("0"),
    "clientgo/apimachinery/util/yaml/resolve.py:_TIMESTAMP": Attack("0", prefix="2001-01-01T00:00:00."),
    "clientgo/cli/completion.py:_options": OWN_SOURCE,
    "clientgo/cli/completion.py:_options#2": OWN_SOURCE,
    "clientgo/cli/typed.py:_opening": Attack("\""),
    "clientgo/dynamic/manifests.py:_LINE": Attack("line 1"),
    "clientgo/apimachinery/util/yaml/documents.py:_END": Attack(" ", prefix="..."),
    "clientgo/apimachinery/util/yaml/documents.py:_SEPARATOR": Attack(" ", prefix="---"),
    "clientgo/golang/json.py:_plain": Attack("a", functions=("match",)),
    "clientgo/golang/rfc3339.py:_FRACTION": Attack("0", prefix=".", functions=M),
    "clientgo/golang/rfc3339.py:_SIX_DIGITS": Attack("0", prefix=".", functions=M),
    "clientgo/golang/rfc3339.py:_ZONE": Attack("0", prefix="+"),
    **{
        f"clientgo/golang/rfc3339.py:_ELEMENTS{number}": Attack("0", functions=M)
        for number in ("", *(f"#{i}" for i in range(2, 12)))
    },
    "clientgo/testing/controllertest/outcome.py:_TIME": Attack("0", prefix="2026-01-02T03:04:05."),
    "clientgo/tour/bundle.py:_EXPORT": OWN_SOURCE,
    "clientgo/tour/bundle.py:_IMPORT": OWN_SOURCE,
    "clientgo/tour/bundle.py:_LEFT": OWN_SOURCE,
    "clientgo/tour/bundle.py:_constants": OWN_SOURCE,
    "clientgo/tour/words.py:_ERROR": OWN_FILES,
    "clientgo/tour/words.py:_PAIR": OWN_SOURCE,
    "cmd/informer-tour/claims.py:_CLAIM": OWN_SOURCE,
    "cmd/informer-tour/lessons.py:_ANSWER": OWN_SOURCE,
    "cmd/informer-tour/lessons.py:_COMMENT": OWN_SOURCE,
    "cmd/informer-tour/lessons.py:_FIELD": OWN_SOURCE,
    "clientgo/codegen/commented.py:_ESCAPED": OWN_SOURCE,
    "clientgo/codegen/commented.py:_LINE_END": OWN_SOURCE,
    "clientgo/codegen/markers.py:_ARGUMENT": OWN_SOURCE,
    "clientgo/codegen/markers.py:_VALUE": OWN_SOURCE,
    "clientgo/codegen/markers.py:_text": OWN_SOURCE,
    "clientgo/codegen/markers.py:read": OWN_SOURCE,
    "clientgo/codegen/naming.py:_OPENAPI": OWN_SOURCE,
    "clientgo/codegen/naming.py:_PLURAL_INITIALISM": OWN_SOURCE,
    "clientgo/codegen/naming.py:_WORD": OWN_SOURCE,
    "clientgo/codegen/naming.py:public_names": OWN_SOURCE,
    "clientgo/codegen/naming.py:public_names#2": OWN_SOURCE,
    "clientgo/codegen/naming.py:snake": OWN_SOURCE,
    "clientgo/codegen/naming.py:wrap_imports": OWN_SOURCE,
    "clientgo/codegen/rbac.py:_VERSION": OWN_SOURCE,
    "clientgo/controller_runtime/builder/webhook.py:_PATH": Attack("/a"),
    "clientgo/golang/base64.py:_WELL_FORMED": Attack("AAAA"),
    "clientgo/golang/duration.py:_PART": Attack("0", suffix=""),
    "clientgo/golang/fmt.py:_VERB": Attack("%"),
    "clientgo/golang/http/head.py:_CONTROL": Attack("a", suffix=""),
    "clientgo/golang/http/head.py:_NAME": Attack("a"),
    "clientgo/golang/http/head.py:_STATUS_CODE": Attack("0"),
    "clientgo/golang/http/head.py:_VERSION": Attack("1", prefix="HTTP/"),
    "clientgo/golang/http/header.py:_ILLEGAL_IN_VALUE": Attack("a", suffix=""),
    "clientgo/golang/http/header.py:_NAME": Attack("a"),
    "clientgo/golang/http/message.py:_PASSWORD": Attack("a", prefix="a://"),
    "clientgo/golang/mime.py:_ESCAPE": Attack("\\", suffix=""),
    "clientgo/golang/mime.py:_NAME": Attack(" ", prefix=";"),
    "clientgo/golang/mime.py:_PLAIN": Attack("a", prefix="a/"),
    "clientgo/golang/mime.py:_QUOTED": Attack("\\", prefix='"'),
    "clientgo/golang/mime.py:_TYPE": Attack("a"),
    "clientgo/golang/mime.py:_VALUE": Attack("a"),
    "clientgo/golang/pem.py:_BOUNDARY": Attack("-----  ", prefix="-----BEGIN ", functions=("finditer",)),
    "clientgo/golang/strconv.py:_INTEGER": Attack("0"),
    "clientgo/golang/strconv.py:_PLAIN": Attack("a"),
    "clientgo/golang/strconv.py:_UNPRINTABLE": Attack("\x01"),
    "clientgo/golang/utf8.py:_NOT_A_BYTE": Attack("\ud800", functions=("search", "sub")),
    "clientgo/golang/utf8.py:_SURROGATE": Attack("\udc80", functions=("search", "sub")),
    "clientgo/klog/json_lines.py:_UNPRINTABLE": Attack("\x9b"),
    "clientgo/rest/request.py:_CONTROL_CHARACTER": Attack("a", suffix=""),
    "clientgo/rest/url_utils.py:BAD_ESCAPE": Attack("%2", functions=("search",)),
    "clientgo/rest/url_utils.py:_BAD_IN_HOST": Attack("%2", functions=("search",)),
    "clientgo/rest/url_utils.py:_CONTROL": Attack("a", functions=("search",)),
    "clientgo/rest/url_utils.py:_PORT": Attack("0", prefix=":"),
    "clientgo/rest/url_utils.py:_SCHEME": Attack("a", functions=("match",)),
    "clientgo/rest/url_utils.py:_USER": Attack("a"),
    "clientgo/rest/url_utils.py:join_below": Attack("/"),
    "clientgo/rest/url_utils.py:join_path": Attack("/", prefix="a"),
    "clientgo/rest/warnings.py:_is_clean": Attack("a", suffix=""),
    "clientgo/rest/warnings.py:parse_warning_headers": Attack("\\", prefix='299 - "'),
    "clientgo/rest/warnings.py:parse_warning_headers#2": Attack("\\"),
    "clientgo/scaffold/marks.py:_FROM": OWN_SOURCE,
    "clientgo/scaffold/marks.py:import_order": OWN_SOURCE,
    "clientgo/scaffold/names.py:_KIND": OWN_SOURCE,
    "clientgo/scaffold/names.py:_REPO": OWN_SOURCE,
    "clientgo/scaffold/names.py:_VERSION": OWN_SOURCE,
    "clientgo/scaffold/scaffolds.py:_HARMLESS": OWN_SOURCE,
    "clientgo/scaffold/templates.py:_IMPORTS": OWN_SOURCE,
    "clientgo/scaffold/templates.py:_PLACE": OWN_SOURCE,
    "clientgo/scaffold/templates.py:_TEST_CLASS": OWN_SOURCE,
    "clientgo/scaffold/templates.py:_arranged": OWN_SOURCE,
    "clientgo/testing/apiserver/admission/pod_security.py:_VERSION": Attack("0", prefix="v1.1"),
    "clientgo/testing/apiserver/cel/declarations.py:_NAME": Attack("a."),
    "clientgo/testing/apiserver/cel/declarations.py:escape": Attack("_"),
    "clientgo/testing/apiserver/cel/lexer.py:_ONE_ESCAPE": Attack("\\a"),
    "clientgo/testing/apiserver/cel/lexer.py:_TOKEN": Attack("\\a", prefix='"""'),
    "clientgo/testing/apiserver/cel/library/formats.py:_DATE": Attack("0"),
    "clientgo/testing/apiserver/cel/library/formats.py:_UUID": Attack("0"),
    "clientgo/testing/apiserver/cel/library/net.py:_escaped_path": Attack("%20"),
    "clientgo/testing/apiserver/cel/library/net.py:_parse_cidr": Attack("1"),
    "clientgo/testing/apiserver/cel/library/net.py:_parse_url": Attack("a"),
    "clientgo/testing/apiserver/cel/library/net.py:_parse_url#2": Attack("%20", suffix=""),
    "clientgo/testing/apiserver/cel/library/net.py:_parse_url#3": Attack("@", prefix="//"),
    "clientgo/testing/apiserver/cel/library/net.py:_parse_url#4": Attack("a", suffix=""),
    "clientgo/testing/apiserver/cel/library/quantities.py:_NUMERIC": Attack("1"),
    "clientgo/testing/apiserver/cel/library/quantities.py:_SEMVER": Attack("a.", prefix="1.2.3-"),
    "clientgo/testing/apiserver/cel/library/quantities.py:_normalized": Attack("1"),
    "clientgo/testing/apiserver/cel/library/regex_size.py:_COUNTED": Attack("0", prefix="{"),
    "clientgo/testing/apiserver/cel/library/standard.py:_DOUBLE": Attack("0"),
    "clientgo/testing/apiserver/cel/library/standard.py:_OFFSET": Attack("0"),
    "clientgo/testing/apiserver/cel/library/standard.py:_TIME": Attack("0", prefix="2001-01-01T00:00:00."),
    "clientgo/testing/apiserver/cel/library/standard.py:_digits": Attack("0"),
    "clientgo/testing/apiserver/cel/library/strings.py:_CLAUSE": Attack("%.1"),
    "clientgo/testing/apiserver/kinds/crd.py:_VERSION": Attack("1", prefix="v"),
    "clientgo/testing/apiserver/kinds/defaults.py:_IMAGE": Attack("a/"),
    "clientgo/testing/apiserver/kinds/policy_checks.py:_IDENTIFIER": Attack("a"),
    "clientgo/testing/apiserver/kinds/rule_paths.py:_ESCAPE": Attack("\\"),
    "clientgo/testing/apiserver/kinds/schema.py:_INDEX": Attack("[0"),
    "clientgo/testing/apiserver/kinds/schema.py:_PLAIN_QUANTITY": Attack("1"),
    "clientgo/testing/apiserver/kinds/schema.py:_PLAIN_MICRO_TIME": Attack(
        "0", prefix="2001-01-01T00:00:00.", functions=F
    ),
    "clientgo/testing/apiserver/kinds/schema.py:_PLAIN_TIME": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_CARD": Attack("4"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_DATE": Attack("0"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_DATE_TIME": Attack("0", prefix="2001-01-01T00:00:00."),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_DURATION": Attack("0"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_GO_DURATION": Attack("1m"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_HEX_COLOR": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_HOSTNAME": "reads at most 255 characters",
    "clientgo/testing/apiserver/kinds/schema_formats.py:_MAC": Attack("a:", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_OBJECT_ID": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_RGB_COLOR": Attack(" ", prefix="rgb(1", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_SSN": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_UUID": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_UUID3": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_UUID4": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_UUID5": Attack("0", functions=F),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_credit_card": Attack("a0"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_digits": Attack(" 0"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_isbn10": Attack("0"),
    "clientgo/testing/apiserver/kinds/schema_formats.py:_isbn13": Attack("0"),
    "clientgo/testing/apiserver/kinds/structural_schema.py:_NOT_OF_STRUCTURE": Attack("x-kubernetes-list"),
    "clientgo/testing/apiserver/simulator/statefulsets.py:_ORDINAL": Attack("-1"),
    "clientgo/testing/apiserver/verbs/options.py:_NOT_BASE64": Attack("a", suffix=""),
    "clientgo/testing/apiserver/views/table.py:_FILTER": Attack("a", prefix="@."),
    "clientgo/testing/apiserver/views/table.py:_STEP": Attack(")", prefix="[?("),
    "clientgo/testing/apiserver/wire/jsonio.py:_HALF": Attack("\\u"),
    "clientgo/golang/http/server_request.py:_BAD_ESCAPE": Attack("%20", suffix=""),
    "clientgo/golang/http/server_request.py:_CHUNK_SIZE": Attack("0"),
    "clientgo/golang/http/server_request.py:_CONTROL": Attack("a", suffix=""),
    "clientgo/golang/http/server_request.py:_END_OF_HEAD": Attack("\n\r"),
    "clientgo/golang/http/server_request.py:_HOST": Attack("a"),
    "clientgo/golang/http/server_request.py:_TOKEN": Attack("a"),
    "clientgo/golang/http/server_request.py:_VERSION": Attack("1", prefix="HTTP/"),
    "clientgo/testing/apiserver/wire/warnings.py:_CONTROL": Attack("a", suffix=""),
    "clientgo/tools/clientcmd/api/latest/latest.py:<module>": "has patterns of PyYAML's kind, for scalars it writes",
    "clientgo/testing/workqueue_machine/session.py:blocked_threads": "reads the text of a DeadlockError of synctest",
    "clientgo/testing/workqueue_machine/session.py:blocked_threads#2": "reads the text of a DeadlockError of synctest",
    "clientgo/tour/liveterminal.py:_take": "reads the output of the tour's own programs, line by line",
    "clientgo/tour/recorded.py:_CONTROL": Attack("a", functions=("search",)),
    "clientgo/tour/recorded.py:_SURROGATE": Attack("a", functions=("search",)),
    "clientgo/tour/recording.py:_BEGINNING": Attack("0", prefix='{"what":"a","t":'),
    "clientgo/tour/recording.py:_SOURCE": Attack('"source":1'),
    "clientgo/tour/secrecy.py:_BYTES": Attack("61 "),
    "clientgo/tour/secrecy.py:_DECIMALS": Attack("1"),
    "clientgo/tour/secrecy.py:_DESCRIPTION": Attack("Secret"),
    "clientgo/tour/secrecy.py:_ENCODED": Attack("aaaaaaa=%4"),
    "clientgo/tour/secrecy.py:_ESCAPED": Attack("\\u002"),
    "clientgo/tour/secrecy.py:_MANIFEST": Attack("kind:!a"),
    "clientgo/tour/secrecy.py:_NO_BASE64": Attack("="),
    "clientgo/tour/secrecy.py:_NO_HEX": Attack("\\"),
    "clientgo/tour/secrecy.py:_PATH": Attack("/apis/a"),
    "clientgo/tour/secrecy.py:_TOKEN": Attack("--a-"),
    "clientgo/tour/secrecy.py:_USERINFO": Attack("://a:b "),
    "clientgo/tour/secrecy.py:_WRAPPED": Attack(f"{40 * 'a'}\n\t"),
    "clientgo/tour/seam.py:_compiled": OWN_SOURCE,
    "clientgo/tour/words.py:_errors": OWN_FILES,
    "clientgo/tour/words.py:_errors#2": OWN_FILES,
    "clientgo/transport/round_trippers.py:_ILLEGAL_IN_HEADER_KEY": Attack("/"),
    "clientgo/transport/tls.py:_PEM_CERTIFICATE": Attack("-----BEGIN CERTIFICATE-----"),
    "clientgo/apimachinery/util/framer/framer.py:_END_OF_SCALAR": "finds one character of a class",
    "clientgo/apimachinery/util/framer/framer.py:_END_OF_STRING": "finds one character of a class",
    "clientgo/apimachinery/util/framer/framer.py:_STRUCTURE": "finds one character of a class",
    "clientgo/apimachinery/util/version/version.py:_EXTRA": Attack("a."),
    "clientgo/apimachinery/util/version/version.py:_VERSION": Attack("1."),
    "clientgo/testing/apiserver/simulator/shell.py:_NAME": Attack("a", prefix="${"),
    "clientgo/testing/apiserver/simulator/shell.py:_QUOTED": Attack("'a", functions=("split",)),
    "clientgo/tools/portforward/ports.py:_DIGITS": Attack("0"),
    "clientgo/tools/portforward/ports.py:_ZEROS": Attack("0"),
    "clientgo/tools/remotecommand/v4.py:_EXIT_CODE": Attack("0"),
    "clientgo/util/jsonpath/parser.py:_COMPARISON": Attack("=", prefix="a", suffix="\n"),
    "clientgo/util/jsonpath/parser.py:_DICT_KEY": Attack("a", prefix="'"),
    "clientgo/util/jsonpath/parser.py:_FLOAT": Attack("1"),
    "clientgo/util/jsonpath/parser.py:_HEX": "reads at most eight characters",
    "clientgo/util/jsonpath/parser.py:_OCTAL": "reads three characters",
    "clientgo/util/jsonpath/parser.py:_SLICE": Attack("1"),
    "cmd/cockroach-operator/actor/partitioned_update.py:_VERSION": Attack("1", prefix="v"),
    "cmd/cockroach-operator/resources/pods.py:_ORDINAL": Attack("-1"),
    "cmd/informer-tour/chinese.py:_paragraphs": OWN_FILES,
    "cmd/informer-tour/chinese.py:read": OWN_FILES,
    "cmd/informer-tour/lessons.py:_paragraphs": OWN_FILES,
    "cmd/informer-tour/lessons.py:read": OWN_FILES,
}


def _is_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in ("compile", "subn", *FUNCTIONS)
    )


def _uses_in(path: Path) -> Iterator[tuple[str, Use]]:
    """Yield the regular expressions of a file, each with the name of its constant or function."""
    tree = ast.parse(path.read_text())
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    met: dict[str, int] = {}
    for node in sorted((n for n in ast.walk(tree) if _is_re(n)), key=lambda n: (n.lineno, n.col_offset)):
        assert isinstance(node, ast.Call)
        name = _owner(node, parents)
        met[name] = met.get(name, 0) + 1
        key = f"{path.relative_to(ROOT)}:{name}{f'#{met[name]}' if met[name] > 1 else ''}"
        yield key, Use(_pattern(node, path), _functions(node, parents, name, tree))


def _owner(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.FunctionDef):
            return node.name
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and isinstance(parents.get(node), ast.Module):
            return target.id
    return "<module>"


def _functions(node: ast.Call, parents: dict[ast.AST, ast.AST], name: str, tree: ast.Module) -> frozenset[str]:
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr != "compile":
        return frozenset((node.func.attr,))
    parent = parents[node]
    if isinstance(parent, ast.Attribute):
        return frozenset((parent.attr,))
    return frozenset(
        use.attr
        for use in ast.walk(tree)
        if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id == name
        if use.attr in FUNCTIONS
    )


def _pattern(node: ast.Call, path: Path) -> re.Pattern[Any] | None:
    """Return the compiled pattern, or None if it depends on a function's variables."""
    assert isinstance(node.func, ast.Attribute)
    at = FLAGS_AT.get(node.func.attr, 2)
    flags = [keyword.value for keyword in node.keywords if keyword.arg == "flags"] or node.args[at : at + 1]
    names: dict[str, Any] = {"re": re}
    if path.is_relative_to(ROOT / "clientgo"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names = vars(importlib.import_module(".".join(parts).removesuffix(".__init__")))
    code = [compile(ast.Expression(part), str(path), "eval") for part in [node.args[0], *flags]]
    try:
        return re.compile(*(eval(part, dict(names)) for part in code))
    except NameError:
        return None


def _files() -> list[Path]:
    return sorted(path for top in ("clientgo", "cmd") for path in (ROOT / top).rglob("*.py"))


@pytest.fixture(scope="module")
def uses() -> dict[str, Use]:
    found: dict[str, Use] = {}
    for path in _files():
        if "import re\n" in path.read_text():
            found |= _uses_in(path)
    return found


def test_each_expression_is_listed_with_where_its_text_comes_from(uses: dict[str, Use]) -> None:
    new, gone = sorted(uses.keys() - REGISTRY.keys()), sorted(REGISTRY.keys() - uses.keys())
    assert not new, "add to REGISTRY, with why its text is trusted or an Attack:\n" + "\n".join(new)
    assert not gone, "remove from REGISTRY:\n" + "\n".join(gone)


def test_re_is_used_by_its_name_alone() -> None:
    """So that the list is complete: no `from re import`, no other name, no other backtracking engine."""
    other = re.compile(r"^\s*(from (re|regex)\b|import (re as|regex)\b)", re.MULTILINE)
    assert [path for path in _files() if other.search(path.read_text())] == []


UNTRUSTED = {key: attack for key, attack in REGISTRY.items() if isinstance(attack, Attack)}


def _seconds(pattern: re.Pattern[Any], function: str, text: str) -> float:
    given: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    started = time.thread_time()
    if function == "sub":
        pattern.sub(given[:0], given)
    elif function == "finditer":
        for _ in pattern.finditer(given):
            pass
    else:
        getattr(pattern, function)(given)
    return time.thread_time() - started


def _functions_of(key: str, use: Use) -> frozenset[str]:
    return use.functions | frozenset(UNTRUSTED[key].functions)


@pytest.mark.parametrize("key", UNTRUSTED)
def test_the_worst_text_takes_linear_time(uses: dict[str, Use], key: str) -> None:
    use, attack = uses[key], UNTRUSTED[key]
    assert use.pattern is not None, "computed from variables: say in the list why its text is harmless"
    functions = _functions_of(key, use)
    assert functions, "name the functions in the list"
    for function in functions:
        # A tenth first: what is not linear fails here, before it takes hours.
        assert _seconds(use.pattern, function, attack.text(SIZE // 10)) < BOUND / 4
        assert _seconds(use.pattern, function, attack.text(SIZE)) < BOUND


def _pumps(pattern: str) -> list[str]:
    """Return short texts to repeat: usual characters, the pattern's signs, and pairs of them."""
    signs = [char for char in dict.fromkeys(pattern) if not char.isalnum()]
    single = list(dict.fromkeys(["a", "A", "0", ".", "-", " ", "\n", '"', "\\", *signs]))
    return single + ["".join(pair) for pair in itertools.product(single[:8] + signs[:4], repeat=2)]


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("key", UNTRUSTED)
def test_no_repeated_text_takes_longer(uses: dict[str, Use], key: str) -> None:
    """A search by machine for texts that the list does not have; 10 KB are enough to see quadratic time."""
    use, attack = uses[key], UNTRUSTED[key]
    assert use.pattern is not None
    source = use.pattern.pattern
    for pump in _pumps(source.decode("latin-1") if isinstance(source, bytes) else source):
        for prefix, suffix, function in itertools.product({"", attack.prefix}, ("", "\0"), _functions_of(key, use)):
            text = Attack(pump, suffix, prefix).text(SIZE // 10)
            taken = min(_seconds(use.pattern, function, text) for _ in range(2))
            assert taken < BOUND / 20, (function, prefix, pump, suffix)


@pytest.mark.parametrize("source", [r"(\d+|a+)x", r"\s*<!--"])
def test_the_search_finds_a_quadratic_expression(source: str) -> None:
    pattern = re.compile(source)
    texts = (Attack(pump).text(SIZE // 10) for pump in _pumps(source))
    assert any(_seconds(pattern, "search", text) > BOUND / 20 for text in texts)


def test_computed_patterns_are_trusted(uses: dict[str, Use]) -> None:
    assert [key for key, use in uses.items() if use.pattern is None and isinstance(REGISTRY.get(key), Attack)] == []
