"""Checks of names: Kubernetes names that become names of Python modules and of files.

Every name of a command line and of a PROJECT file is checked here, so no path leads out of the project.
"""

from __future__ import annotations

import builtins
import importlib.util
import json
import keyword
import re
import sys
from pathlib import Path

from clientgo.apimachinery.util import yaml
from clientgo.apimachinery.util.validation import is_dns1035_label, is_dns1123_subdomain
from clientgo.codegen import naming
from clientgo.codegen.clients import RESERVED_KINDS

_VERSION = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]*")
_REPO = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")
# A label has 63 bytes, and the names that begin with the project's are longer than it.
_LONGEST_PROJECT = 40
# Folders of a project beside its package.
_FOLDERS = ("build", "config", "dist", "hack", "test", "wheels")
# Names that the templates use beside those of a kind.
_TAKEN = {"AVAILABLE", "CTX", "Callable", "Context", "Hub", "KEY", "MutableSequence", "Scheme"}
_TAKEN_VARIABLES = {
    *("admission", "back", "before", "builder", "client", "cluster", "context", "ctrl", "ctx", "err", "errors"),
    *("eventually", "fake", "hub", "interceptor", "key", "main", "meta", "metav1", "mgr", "new", "old", "pytest"),
    *("reconciler", "request", "scheme", "self", "validator", "version"),
    *dir(builtins),
}


class Refused(Exception):
    """The command cannot be carried out and has changed nothing. The message is for the user."""


def _checked(subject: str, value: str, problems: list[str]) -> str:
    """Return a valid name. Raises Refused for problems, and for a name that is no text in YAML, such as no."""
    if not problems and not yaml.is_plain(value):
        read_as = json.dumps(yaml.unmarshal(value))
        problems = [f"YAML reads it as {read_as} wherever it has no quotes"]
    if problems:
        raise Refused(f"{subject} {value!r}: {'; '.join(problems)}")
    return value


def domain(value: str) -> str:
    """Return a valid domain such as example.com. Raises Refused."""
    return _checked("the domain", value, is_dns1123_subdomain(value))


def project(value: str) -> str:
    """Return a valid project name, the prefix of its namespace, services and roles. Raises Refused."""
    too_long = [f"must be no more than {_LONGEST_PROJECT} bytes"] if len(value) > _LONGEST_PROJECT else []
    return _checked("the project name", value, is_dns1035_label(value) + too_long)


def repo(value: str) -> str:
    """Return a valid package (shop_operator) or repository (github.com/acme/shop-operator). Raises Refused."""
    if not _REPO.fullmatch(value):
        raise Refused(f"the repo {value!r}: expected a Python package, or the path of a repository")
    package(value)
    return value


def package(value: str) -> str:
    """Return the Python package of a repo: its last part, with underscores. Raises Refused if Python cannot import it.
    """
    name = value.rpartition("/")[2].replace("-", "_").replace(".", "_")
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise Refused(f"the repo {value!r}: {name!r} is no name of a Python package")
    if name.startswith("__"):
        raise Refused(f"the repo {value!r}: names such as {name!r} are Python's own")
    if name in sys.stdlib_module_names or name == "clientgo":
        raise Refused(f"the repo {value!r}: there is a module {name!r} that it would hide")
    if name in _FOLDERS:
        raise Refused(f"the repo {value!r}: {name!r} is another folder of the project")
    return name


def is_installed(name: str) -> bool:
    """Report whether a module of this name can be imported from outside the current folder."""
    everywhere = list(sys.path)
    try:
        sys.path[:] = [entry for entry in everywhere if Path(entry).absolute() != Path.cwd()]
        return name in sys.modules or importlib.util.find_spec(name) is not None
    finally:
        sys.path[:] = everywhere


def group(value: str) -> str:
    """Return a valid API group without its domain, such as shop. Raises Refused."""
    _checked("the group", value, is_dns1123_subdomain(value))
    folder = group_package(value)
    if not folder.isidentifier():
        raise Refused(f"the group {value!r}: {folder!r} is no name of a Python package")
    if keyword.iskeyword(folder):
        raise Refused(f"the group {value!r}: {folder!r} is a word of Python's, no name of a package")
    return value


def group_package(value: str) -> str:
    """Return the package of a group, which like Go's has neither dots nor dashes."""
    return value.replace(".", "").replace("-", "")


def version(value: str) -> str:
    """Return a valid version such as v1 or v1alpha1. Raises Refused."""
    if not _VERSION.fullmatch(value):
        raise Refused(f"the version {value!r}: expected v1, v1beta1, v2alpha1 or the like")
    return value


def kind(value: str) -> str:
    """Return a valid kind such as Order. Raises Refused."""
    if not value[:1].isupper():
        raise Refused(f"the kind {value!r}: must start with an uppercase character")
    if not _KIND.fullmatch(value):
        raise Refused(f"the kind {value!r}: expected letters and digits")
    _checked("the kind", value, is_dns1035_label(value.lower()))
    if keyword.iskeyword(value):
        raise Refused(f"the kind {value!r}: it is a word of Python's, no name of a class")
    if value == "List":
        raise Refused("the kind 'List': Kubernetes has it, for lists of anything")
    if value in RESERVED_KINDS:
        raise Refused(f"the kind {value!r}: Kubernetes has it in every group, for the options of requests")
    if value in _TAKEN:
        raise Refused(f"the kind {value!r}: the project's files have a class of that name")
    return value


def plural(value: str) -> str:
    """Return a valid plural, the resource's name in paths, such as orders. Raises Refused."""
    return _checked("the plural", value, is_dns1035_label(value))


def path(value: str) -> str:
    """Return a valid module such as shop_operator.api.shop.v1. Raises Refused."""
    if not all(part.isidentifier() for part in value.split(".")):
        raise Refused(f"the path {value!r}: expected the name of a Python module")
    return value


def variable(kind: str) -> str:
    """Return a name for a variable that holds an object of the kind."""
    name = naming.snake(kind)
    return f"{name}_" if name in _TAKEN_VARIABLES else name
