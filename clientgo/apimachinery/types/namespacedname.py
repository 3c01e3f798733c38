"""A namespace and a name as one value, usable as a dict key or a work queue item.

Mirrors k8s.io/apimachinery/pkg/types/namespacedname.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SEPARATOR: Final = "/"
"""The separator of namespace and name. Go: types.Separator."""


@dataclass(frozen=True, slots=True)
class NamespacedName:
    """A namespace and a name.

    Go: types.NamespacedName. Unlike cache.ObjectName, str() keeps the slash of an empty namespace.

    >>> str(NamespacedName("", "node-1"))
    '/node-1'
    """

    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}{SEPARATOR}{self.name}"

    def marshal_log(self) -> dict[str, str]:
        """Return the fields for a structured log, without the namespace if it is empty.

        Go: NamespacedName.MarshalLog.
        """
        fields = {"name": self.name}
        if self.namespace:
            fields["namespace"] = self.namespace
        return fields
