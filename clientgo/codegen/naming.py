"""Go names to Python names, by the rules the whole port follows: one place for every generator."""

from __future__ import annotations

import keyword
import re

_PLURAL_INITIALISM = re.compile(r"(?<![A-Z])([A-Z]{2,})s(?=[A-Z]|$)")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OPENAPI = re.compile("OpenAPI")


def snake(name: str) -> str:
    """Return a Go name in snake case: `ClusterIPs` -> cluster_ips, `HostIPC` -> host_ipc.

    A version such as `V1beta1` is one word. A keyword gets a `_` at its end.
    """
    text = _OPENAPI.sub("Openapi", name)
    text = _PLURAL_INITIALISM.sub(lambda match: match[1][0] + match[1][1:].lower() + "s", text)
    text = re.sub(r"(?<=[a-zA-Z0-9])V(\d+(?:[Aa]lpha\d+|[Bb]eta\d+)?)", lambda match: "_v" + match[1].lower(), text)
    text = "_".join(part for part in _WORD.split(text) if part).lower()
    text = text.replace("__", "_")
    return f"{text}_" if keyword.iskeyword(text) else text


def constant(name: str, type_name: str = "") -> str:
    """Return a name in upper snake case, without the type's name at its beginning or end."""
    if type_name and name != type_name:
        if name.startswith(type_name):
            name = name[len(type_name) :]
        elif name.endswith(type_name):
            name = name[: -len(type_name)]
    return snake(name).rstrip("_").upper()


def plural(kind: str) -> str:
    """Return the resource name of a kind by Kubernetes' rule: lower case, English plural."""
    lower = kind.lower()
    if lower == "endpoints":
        return lower
    if lower.endswith(("s", "x", "ch", "sh")):
        return lower + "es"
    if lower.endswith("y") and lower[-2] not in "aeiou":
        return lower[:-1] + "ies"
    return lower + "s"


def sort_exports(names: set[str]) -> list[str]:
    """Return the names in the order of an `__all__`: constants, classes, functions."""

    def rank(name: str) -> tuple[int, str]:
        if name.isupper():
            return 0, name
        return (1 if name[0].isupper() else 2), name

    return sorted(names, key=rank)


def public_names(text: str) -> set[str]:
    """Return the classes and constants that the text of a generated module defines."""
    constants = re.findall(r"^([A-Z]\w*) = ", text, flags=re.MULTILINE)
    classes = re.findall(r"^class ([A-Z]\w*)\(", text, flags=re.MULTILINE)
    return {*constants, *classes}


def wrap_imports(text: str, width: int = 120) -> str:
    """Break import lines that are too long, one name a line, as isort does."""

    def wrap(match: re.Match[str]) -> str:
        if len(match[0]) <= width:
            return match[0]
        indent, module, names = match.groups()
        listed = "".join(f"{indent}    {name},\n" for name in names.split(", "))
        return f"{indent}from {module} import (\n{listed}{indent})"

    return re.sub(r"^( *)from (\S+) import ([^(\n]+)$", wrap, text, flags=re.MULTILINE)
