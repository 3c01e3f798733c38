"""samplecrd.k8s.io/v1."""

from pkg.apis.samplecrd import GROUP_NAME
from pkg.apis.samplecrd.v1.register import SCHEME_GROUP_VERSION, add_to_scheme, kind, resource
from pkg.apis.samplecrd.v1.types import Network, NetworkList, NetworkSpec

__all__ = [
    "GROUP_NAME",
    "SCHEME_GROUP_VERSION",
    "Network",
    "NetworkList",
    "NetworkSpec",
    "add_to_scheme",
    "kind",
    "resource",
]
