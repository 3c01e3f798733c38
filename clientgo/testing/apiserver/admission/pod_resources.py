"""Requests and limits of a whole pod. Mirrors component-helpers' resource package."""

from __future__ import annotations

from collections.abc import Iterable

from clientgo.apimachinery.api.resource import Quantity, parse_quantity
from clientgo.testing.apiserver.wire.jsonio import Json

Amounts = dict[str, Quantity]


def amounts(values: Json | None) -> Amounts:
    """Return a table of resource quantities as numbers."""
    return {name: parse_quantity(str(value)) for name, value in (values or {}).items()}


def added(*tables: Amounts) -> Amounts:
    out: Amounts = {}
    for table in tables:
        for name, amount in table.items():
            out[name] = out[name] + amount if name in out else amount
    return out


def of_pod(spec: Json, kind: str) -> Amounts:
    """Return the `requests` or `limits` of a pod, including its overhead.

    This is the sum over its containers, or the highest demand of an init container if that is greater. A sidecar, which
    is an init container with restartPolicy Always, counts together with all containers that start after it.
    """
    total = added(*(_of(container, kind) for container in spec.get("containers") or ()))
    beside: Amounts = {}
    highest: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _of(container, kind)
        if container.get("restartPolicy") == "Always":
            beside = added(beside, own)
            own = beside
        else:
            own = added(beside, own)
        highest = _most((highest, own))
    total = _most((added(total, beside), highest))
    overhead = amounts(spec.get("overhead"))
    if kind == "requests":
        return added(total, overhead)
    return {name: value + overhead[name] if name in overhead else value for name, value in total.items()}


def _of(container: Json, kind: str) -> Amounts:
    return amounts((container.get("resources") or {}).get(kind))


def _most(tables: Iterable[Amounts]) -> Amounts:
    out: Amounts = {}
    for table in tables:
        for name, amount in table.items():
            out[name] = max(out.get(name, amount), amount)
    return out
