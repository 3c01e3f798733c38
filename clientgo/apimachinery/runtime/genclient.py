"""The description of a type's client: the `+genclient` comment tags of Go's API types, as a value of the class.

The code generators (`clientgo.codegen`) read it, and so does all code that needs the resource name of a kind.
"""

from __future__ import annotations

from typing import NamedTuple

ALL_VERBS = ("create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply")


class ClientMethod(NamedTuple):
    """An extra client method on a subresource: `+genclient:method=GetScale,verb=get,subresource=scale,result=...`.

    `input` and `result` are "package.Type" as in Go, "" for the resource's own type.
    """

    name: str
    verb: str
    subresource: str
    input: str = ""
    result: str = ""


class Genclient(NamedTuple):
    """The options of a kind's generated clients. `resource` is the plural used in paths."""

    resource: str
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    methods: tuple[ClientMethod, ...] = ()
