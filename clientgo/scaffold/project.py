"""The PROJECT file: what a project has, with kubebuilder's fields. Each command reads it, and writes it last."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import yaml

from clientgo.apimachinery.runtime import JSONObject
from clientgo.codegen import commented, naming
from clientgo.scaffold import names
from clientgo.scaffold.names import Refused

FILE = "PROJECT"
LAYOUT = "python.clientgo/v1"
VERSION = "3"

_NEW = """\
# What `python -m clientgo.scaffold` has made here. Its commands read it and keep it.
domain: ""
"""
# Larger than any project needs, and small enough to be read whatever is in it.
_LARGEST = 1 << 20
_DEEPEST = 50
_BEGINS = (
    *(yaml.BlockMappingStartToken, yaml.BlockSequenceStartToken),
    *(yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken),
)
_ENDS = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


@dataclass(frozen=True)
class Webhooks:
    """The webhooks of a kind in one version."""

    defaulting: bool = False
    validation: bool = False
    conversion: bool = False
    spoke: tuple[str, ...] = ()

    def document(self) -> JSONObject:
        document = {"conversion": self.conversion, "defaulting": self.defaulting, "spoke": list(self.spoke)}
        document |= {"validation": self.validation}
        return {**{key: value for key, value in document.items() if value}, "webhookVersion": "v1"}


@dataclass(frozen=True)
class Resource:
    """One kind in one version, and the parts of the project for it."""

    group: str
    version: str
    kind: str
    domain: str
    plural: str
    # Where its class is imported from.
    path: str
    namespaced: bool = True
    # Whether the type is the project's own; if not, it is one of Kubernetes.
    api: bool = False
    controller: bool = False
    webhooks: Webhooks = field(default_factory=Webhooks)

    @property
    def gvk(self) -> tuple[str, str, str]:
        return self.group, self.version, self.kind

    @property
    def qualified_group(self) -> str:
        """The group as the API has it: shop.example.com."""
        return ".".join(part for part in (self.group, self.domain) if part)

    @property
    def package(self) -> str:
        """The folder of its group: shop."""
        return names.group_package(self.group)

    def __str__(self) -> str:
        return f"{self.qualified_group}/{self.version}, Kind={self.kind}"

    def document(self) -> JSONObject:
        document: JSONObject = {}
        if self.api:
            document["api"] = {"crdVersion": "v1", "namespaced": self.namespaced}
        document["controller"] = self.controller
        if not self.api:
            document["core"] = True
        document |= {"domain": self.domain, "group": self.group, "kind": self.kind, "path": self.path}
        if self.plural != naming.plural(self.kind):
            document["plural"] = self.plural
        document["version"] = self.version
        if self.webhooks != Webhooks():
            document["webhooks"] = self.webhooks.document()
        return {key: value for key, value in document.items() if value not in ("", False)}

    @classmethod
    def from_document(cls, document: JSONObject) -> Self:
        kind = names.kind(_text(document, "kind"))
        api, webhooks = _object(document, "api"), _object(document, "webhooks")
        own_domain = _text(document, "domain", "")
        return cls(
            group=names.group(_text(document, "group")),
            version=names.version(_text(document, "version")),
            kind=kind,
            domain=names.domain(own_domain) if own_domain else "",
            plural=names.plural(_text(document, "plural", naming.plural(kind))),
            path=names.path(_text(document, "path")),
            namespaced=_boolean(api, "namespaced"),
            api="api" in document,
            controller=_boolean(document, "controller"),
            webhooks=Webhooks(
                defaulting=_boolean(webhooks, "defaulting"),
                validation=_boolean(webhooks, "validation"),
                conversion=_boolean(webhooks, "conversion"),
                spoke=tuple(names.version(each) for each in _texts(webhooks, "spoke")),
            ),
        )


@dataclass(frozen=True)
class Project:
    """The contents of a PROJECT file."""

    domain: str
    name: str
    repo: str
    resources: tuple[Resource, ...] = ()
    # The file as it was read. Unknown fields and comments are kept.
    text: str = _NEW

    @property
    def package(self) -> str:
        """The project's Python package."""
        return names.package(self.repo)

    @property
    def namespace(self) -> str:
        """Return the namespace in which the project runs in a cluster."""
        return f"{self.name}-system"

    def find(self, group: str, version: str, kind: str) -> Resource | None:
        """Return the project's entry for this kind and version, or None."""
        return next((each for each in self.resources if each.gvk == (group, version, kind)), None)

    def versions_of(self, group: str, kind: str) -> list[Resource]:
        """Return the project's entries for this kind in all versions."""
        return [each for each in self.resources if (each.group, each.kind) == (group, kind)]

    def with_resource(self, resource: Resource) -> Project:
        """Return the project with this resource added. It replaces an existing one with the same kind and version."""
        others = [each if each.gvk != resource.gvk else resource for each in self.resources]
        if self.find(*resource.gvk) is None:
            others.append(resource)
        return replace(self, resources=tuple(others))

    def to_yaml(self) -> str:
        """Return the text of the PROJECT file."""
        document: JSONObject = yaml.safe_load(self.text) or {}
        document |= {"domain": self.domain, "layout": [LAYOUT], "projectName": self.name, "repo": self.repo}
        kept = {_identity(each): each for each in document.pop("resources", ())}
        document.pop("version", None)
        resources = [{**kept.get(_identity(new), {}), **new} for new in map(Resource.document, self.resources)]
        if resources:
            document["resources"] = resources
        # A text, as kubebuilder writes it: a number would be another type for who reads it.
        document["version"] = VERSION
        return commented.dump(document, self.text)

    @classmethod
    def load(cls, root: Path) -> Self:
        """Read the project in a folder. Raises Refused when there is none, or when another tool created it."""
        path = root / FILE
        try:
            text = _read(path)
            document = yaml.safe_load(text)
            if not isinstance(document, dict):
                raise Refused("expected fields")
            if _text(document, "version") != VERSION or LAYOUT not in _texts(document, "layout"):
                raise Refused(f"expected version {VERSION!r} and the layout {LAYOUT}")
            resources = document.get("resources", [])
            if not isinstance(resources, list) or not all(isinstance(each, dict) for each in resources):
                raise Refused("resources: expected a list of objects")
            return cls(
                domain=names.domain(_text(document, "domain")),
                name=names.project(_text(document, "projectName")),
                repo=names.repo(_text(document, "repo")),
                resources=tuple(Resource.from_document(each) for each in resources),
                text=text,
            )
        except FileNotFoundError:
            raise Refused(f"there is no {FILE} file in {root}: this is no project yet, begin with `init`") from None
        except (Refused, yaml.YAMLError, UnicodeError, RecursionError) as err:
            raise Refused(f"{path}: {err}") from err


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise Refused(f"it is larger than {_LARGEST} bytes")
    depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        depth += isinstance(token, _BEGINS) - isinstance(token, _ENDS)
        if isinstance(token, yaml.AliasToken):  # They make a small file a huge document.
            raise Refused("it has aliases")
        if depth > _DEEPEST:
            raise Refused("it is nested too deeply")
    return text.replace("\r\n", "\n")


def _identity(document: JSONObject) -> tuple[Any, ...]:
    return document.get("group"), document.get("version"), document.get("kind")


def _text(document: JSONObject, name: str, default: str | None = None) -> str:
    value = document.get(name, default)
    if not isinstance(value, str):
        raise Refused(f"{name}: expected a text, found {value!r}")
    return value


def _texts(document: JSONObject, name: str) -> list[str]:
    value = document.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name}: expected a list of texts, found {value!r}")
    return value


def _boolean(document: JSONObject, name: str) -> bool:
    value = document.get(name, False)
    if not isinstance(value, bool):
        raise Refused(f"{name}: expected true or false, found {value!r}")
    return value


def _object(document: JSONObject, name: str) -> JSONObject:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise Refused(f"{name}: expected an object, found {value!r}")
    return value
