"""Read the generators' input: all built-in API types as data, and the Python package of each Go package."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HACK = Path(__file__).resolve().parent.parent
ROOT = HACK.parent
META = "k8s.io/apimachinery/pkg/apis/meta/v1"


@cache
def schema() -> dict[str, Any]:
    """Return `{"packages": {go package: {group, version, types, untyped_constants}}, "discovery": ...}`."""
    with gzip.open(HACK / "data" / "api-schema.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


@cache
def field_defaults() -> dict[str, Any]:
    """Return the values that an API server sets for absent fields: `"k8s.io/api/apps/v1 DeploymentSpec.replicas": 1`."""
    found: dict[str, Any] = json.loads((HACK / "data" / "field-defaults.json").read_text(encoding="utf-8"))
    return found


@cache
def release() -> str:
    """Return the release of Kubernetes that the data describes, such as "1.36.0"."""
    data = ROOT / "clientgo/testing/apiserver/kinds/data/discovery.json.gz"
    with gzip.open(data, "rt", encoding="utf-8") as file:
        return str(json.load(file)["release"])


@dataclass(frozen=True)
class Package:
    """A Go package of API types and its Python package."""

    go: str

    @property
    def facts(self) -> dict[str, Any]:
        return schema()["packages"][self.go]

    @property
    def group(self) -> str:
        return self.facts["group"]

    @property
    def version(self) -> str:
        return self.facts["version"]

    @property
    def parent(self) -> str:
        """The dotted Python package above the version: clientgo.api.apps."""
        if match := re.fullmatch(r"k8s\.io/api/(\w+)/\w+", self.go):
            return f"clientgo.api.{match[1]}"
        if self.go.startswith("k8s.io/apiextensions-apiserver/"):
            return "clientgo.apiextensions"
        if self.go.startswith("k8s.io/apimachinery/pkg/apis/meta/"):
            return "clientgo.apimachinery.apis.meta"
        raise ValueError(f"no place for {self.go}")

    @property
    def module(self) -> str:
        return f"{self.parent}.{self.version}"

    @property
    def directory(self) -> Path:
        return ROOT / self.module.replace(".", "/")

    def reference(self, name: str) -> str:
        """Return the address of a type in the reference of the API; of one that is not stable, in Go's documentation."""
        minor = ".".join(release().split(".")[:2])
        if re.fullmatch(r"v\d+", self.version) and "/admission/" not in self.go and "/imagepolicy/" not in self.go:
            group = "meta" if self.go == META else (self.group or "core").replace(".", "-")
            page = f"https://kubernetes.io/docs/reference/generated/kubernetes-api/v{minor}/"
            return f"{page}#{name.lower()}-{self.version}-{group}"
        module = "/".join(self.go.split("/")[:2])
        return f"https://pkg.go.dev/{module}@v0{release()[1:]}{self.go.removeprefix(module)}#{name}"

    @property
    def alias(self) -> str:
        """The name Go programs import it by: corev1, metav1, ..."""
        return self.parent.rsplit(".", 1)[1] + self.version


def packages() -> list[Package]:
    """Return the packages whose types are generated. The package unstructured is written by hand."""
    return [Package(go) for go in schema()["packages"] if not go.endswith("/unstructured")]


def named(go_type: str, package: str) -> tuple[str, str]:
    """Split a type's name into (Go package, name): "k8s.io/api/core/v1.Pod", "Pod" within `package`, or "v1.X"."""
    if "/" not in go_type:
        if "." not in go_type:
            return package, go_type
        prefix, name = go_type.split(".")
        if prefix == "resource":
            return "k8s.io/apimachinery/pkg/api/resource", name
        # Aliases such as `v1.Rule` in admissionregistration/v1beta1 name a sibling version of the same group.
        return f"{package.rsplit('/', 1)[0]}/{prefix}", name
    owner, name = go_type.rsplit(".", 1)
    return owner, name


def lookup(owner: str, name: str) -> dict[str, Any] | None:
    found = schema()["packages"].get(owner)
    return None if found is None else found["types"].get(name)
