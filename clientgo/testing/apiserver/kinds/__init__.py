"""Kinds: types, defaults, validation, merging, CRDs, and the registry of the served resources.

Pure functions of objects and types; no package below needs a request.

**To serve another release of Kubernetes**, replace the data first and then adapt the code that is not data.

1. Extract the type facts (one JSON file per Go API package, and discovery.json) of the release. Check out client-go,
   k8s.io/api, apimachinery and apiextensions-apiserver at its tag, and run `hack/make-apiserver-data` with these paths
   and the release. It writes the types, fields, list types and field numbers, the served groups, resources,
   subresources and verbs, and the release that /version and /openapi report. Decoding, protobuf, discovery, OpenAPI,
   merging and managed fields follow from these files.
2. Run `hack/update-codegen`, which generates the typed objects and clients from the same facts.
3. Update `views/data/columns.json.gz`, the types and descriptions of the printer columns, if these changed. Its
   cells are code: views/printers*.py.
4. Read the release's diff of the packages below, and change the tables in the files named. Each maps a kind or a
   storage ("group/plural") to a function, so a new kind is a new row, and a kind without a row has no such rule.

   ============================================= =====================================================
   Kubernetes                                    here
   ============================================= =====================================================
   pkg/apis/*/v1/defaults.go                     defaults.py: `_DEFAULTS`
   pkg/apis/*/validation                         validation/kinds.py: `_CREATE`, `_AGAIN`, `_UPDATE`, `_SUBRESOURCES`
   pkg/registry/*/*/strategy.go                  strategy.py
   pkg/apis/*/v*/conversion.go                   conversion.py, and `_share` in registry.py
   pkg/features/kube_features.go                 gates.py: `KNOWN`
   k8s.io/apiserver/pkg/cel/environment/base.go  ../cel/library
   ============================================= =====================================================

5. Record the answers of a real server of the release, and run test/conformance and test/golden against them.

The first access imports `kinds.protobuf`. Its codec is that of the clients; together with their object model it takes
a sixth of a server's start.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clientgo.testing.apiserver.kinds import protobuf

__all__ = ["protobuf"]


def __getattr__(name: str) -> ModuleType:
    if name == "protobuf":
        return import_module(f"{__name__}.protobuf")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
