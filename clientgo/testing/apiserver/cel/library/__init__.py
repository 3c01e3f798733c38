"""The functions of expressions in Kubernetes 1.36. Mirrors apiserver's pkg/cel/environment/base.go.

declare     declarations of functions
operators   + - * / % < == in [] ...
standard    conversions, sizes, predicates of strings, parts of times
strings     split, join, replace, format ...
lists       Kubernetes' sum, min, isSorted ...; slice, sort, distinct ...; sets
optionals   optional.of, value, orValue ...
regex       matches, find, findAll
net         ip, cidr, url
quantities  quantity, semver
formats     format.named, format.dns1123Label ...
authz       authorizer.group("").resource("pods").check("get").allowed()
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clientgo.testing.apiserver.cel.common.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    LIST_DYN,
    NULL,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    map_of,
    optional_of,
)
from clientgo.testing.apiserver.cel.library import (
    authz,
    formats,
    lists,
    net,
    operators,
    optionals,
    quantities,
    regex,
    standard,
    strings,
)
from clientgo.testing.apiserver.cel.library.declare import Function

__all__ = ["TYPE_NAMES", "functions"]

# Names that stand for types, as in `type(x) == int`.
TYPE_NAMES: Mapping[str, Type] = {
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
    "list": LIST_DYN,
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "type": Type("type"),
    "optional_type": optional_of(DYN),
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
    "net.IP": IP,
    "net.CIDR": CIDR,
    "kubernetes.URL": URL,
    "kubernetes.Quantity": QUANTITY,
    "kubernetes.Semver": SEMVER,
}


@cache
def functions() -> Mapping[str, Function]:
    """Return all functions of the library by name."""
    parts = (operators, standard, strings, lists, optionals, regex, net, quantities, formats, authz)
    return {function.name: function for part in parts for function in part.FUNCTIONS}
