"""Warnings about lists of pods and pod templates in which a merge key appears twice.

Such a list is valid, but `kubectl apply` and strategic merge patches may drop one of both entries. Mirrors that part of
pkg/api/pod/warnings.go. Its warnings about deprecated fields, labels and annotations are not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clientgo.testing.apiserver.wire.jsonio import Json

__all__ = ["of_pod"]

_GROUPS = ("initContainers", "containers", "ephemeralContainers")


def of_pod(spec: Json, field: str) -> Iterator[str]:
    """Yield the warnings about the spec at `field` of a pod or of a template."""
    yield from _repeated(spec, field, "hostAliases", "ip")
    yield from _repeated(spec, field, "imagePullSecrets", "name")
    for i, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{field}.imagePullSecrets[{i}].name: invalid empty name ""'
    containers = [
        (f"{field}.{group}[{i}]", container) for group in _GROUPS for i, container in enumerate(spec.get(group) or ())
    ]
    for path, container in containers:
        yield from _of_variables(container.get("env") or (), path)
    yield from _of_ports(
        (f"{path}.ports[{i}]", p) for path, c in containers for i, p in enumerate(c.get("ports") or ())
    )


def _repeated(spec: Json, field: str, name: str, key: str) -> Iterator[str]:
    seen: set[str] = set()
    for i, item in enumerate(spec.get(name) or ()):
        value = item.get(key, "")
        if value in seen:
            yield f'{field}.{name}[{i}].{key}: duplicate {key} "{value}"'
        seen.add(value)


def _of_variables(variables: Iterable[Json], container: str) -> Iterator[str]:
    """Yield a warning for each variable that replaces an earlier one of its name without using its value."""
    seen: set[str] = set()
    for i, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        earlier = f"$({name})"
        extends = "valueFrom" not in variable and value != earlier and earlier in value
        if name in seen and not extends:
            yield f'{container}.env[{i}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)


def _of_ports(ports: Iterator[tuple[str, Json]]) -> Iterator[str]:
    """Yield a warning for each pair of ports of one number and protocol, of any containers."""
    seen: dict[tuple[int, str], list[tuple[str, Json]]] = {}
    for path, port in ports:
        others = seen.setdefault((port.get("containerPort", 0), port.get("protocol", "TCP")), [])
        for other_path, other in others:
            defect = _defect_of_pair(port, other)
            if defect:
                yield f"{path}: {defect} port definition with {other_path}"
        others.append((path, port))


def _defect_of_pair(one: Json, other: Json) -> str:
    """Return the adjective for two definitions of one container port, or "" if both have a place of their own."""
    numbers = (one.get("hostPort", 0), other.get("hostPort", 0))
    addresses = (one.get("hostIP", ""), other.get("hostIP", ""))
    is_same_number = numbers[0] == numbers[1]
    if is_same_number and addresses[0] == addresses[1]:
        return "duplicate"
    if 0 in numbers:
        return "overlapping"
    return "dangerously ambiguous" if is_same_number and "" in addresses else ""
