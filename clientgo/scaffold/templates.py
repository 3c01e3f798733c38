"""The texts that projects begin with: files with `{{name}}` where a value goes, part of the package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources

from clientgo.codegen import naming
from clientgo.scaffold.marks import import_order

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TEST_CLASS = re.compile(r'^class Test\w*(?:\(.*\))?:\n    """.*"""\n', re.MULTILINE)
_IMPORTS = re.compile(r"(?:^from \S+ import [^(\n]+\n)+", re.MULTILINE)


def render(name: str, values: Mapping[str, str]) -> str:
    """Return the template with the values filled in. Raises KeyError for a missing value.

    The imports are sorted again, since their order depends on the names. Classes of a kind such as Test are marked for
    pytest, which otherwise warns wherever a test imports them.
    """
    template = resources.files(__package__).joinpath("templates", f"{name}.tmpl").read_text(encoding="utf-8")
    text = _PLACE.sub(lambda match: values[match[1]], template)
    if not name.endswith(".py"):
        return text
    text = _TEST_CLASS.sub(lambda match: f"{match[0]}\n    __test__ = False  # It is no class of tests.\n", text)
    return naming.wrap_imports(_IMPORTS.sub(lambda match: _arranged(match[0], values["package"]), text))


def _arranged(imports: str, package: str) -> str:
    """Return the imports sorted, in two sections: the project's own come last."""
    lines = sorted(imports.splitlines(keepends=True), key=import_order)
    own = [line for line in lines if re.match(rf"from {package}[. ]", line)]
    others = [line for line in lines if line not in own]
    return "".join([*others, *(["\n"] if own and others else []), *own])
