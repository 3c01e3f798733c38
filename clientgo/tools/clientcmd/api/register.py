"""The group version of kubeconfigs in memory. Mirrors tools/clientcmd/api/register.go.

Difference: kubeconfigs are not API objects here, so adding them to a scheme does nothing.
"""

from __future__ import annotations

from clientgo.apimachinery.runtime import Scheme, new_scheme_builder
from clientgo.apimachinery.runtime.schema import GroupVersion

SCHEME_GROUP_VERSION = GroupVersion("", "__internal")


def _add_known_types(scheme: Scheme) -> None:
    """Do nothing: tools.clientcmd.api.latest reads and writes kubeconfigs."""


SCHEME_BUILDER = new_scheme_builder(_add_known_types)


def add_to_scheme(scheme: Scheme) -> None:
    """Add the kinds of a kubeconfig to a scheme. Go: AddToScheme."""
    SCHEME_BUILDER.add_to_scheme(scheme)
