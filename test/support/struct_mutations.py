"""Random changes of typed objects, as programs make them. Which, depends only on the fields that their classes have."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from clientgo.apimachinery.runtime import ResourceObject, Struct
from clientgo.apimachinery.runtime.collection_views import ListView, MapView
from clientgo.apimachinery.runtime.fields import FieldInfo

# What says which object it is.
_IDENTITY = ("kind", "api_version", "name", "namespace", "resource_version")


def change(obj: ResourceObject, chance: random.Random) -> None:
    """Change one to three things of it."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        fields = list(_fields(obj))
        at = chance.randrange(len(fields))
        struct, info, value = fields[at]
        if isinstance(value, ListView) and len(value) > 0 and chance.random() < 0.8:
            _change_list(value, chance)
        elif chance.random() < 0.3:
            same = [other for _, _, other in fields[:at] + fields[at + 1 :] if type(other) is type(value)]
            setattr(struct, info.attr, chance.choice(same) if same else None)
        else:
            setattr(struct, info.attr, _changed(value, chance))


def _fields(struct: Struct, depth: int = 0) -> Iterator[tuple[Struct, FieldInfo, Any]]:
    """Yield the fields that are set, with their values."""
    present = struct.to_dict()
    for info in type(struct)._fields.values():
        if present.get(info.json) is None or (depth < 2 and info.attr in _IDENTITY):
            continue
        value = getattr(struct, info.attr)
        # What is unknown in the metadata its object keeps, also when it gets other metadata.
        if info.attr != "metadata":
            yield struct, info, value
        if isinstance(value, Struct):
            yield from _fields(value, depth + 1)
        elif isinstance(value, (ListView, MapView)):
            for item in value.values() if isinstance(value, MapView) else value:
                if isinstance(item, Struct):
                    yield from _fields(item, depth + 2)


def _changed(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.2:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, Struct):
        return type(value)()
    if isinstance(value, MapView):
        return {key: value[key] for key in list(value)[1:]}
    if isinstance(value, ListView):
        return []
    return "changed" if type(value) is str else 7 if type(value) is int else None


def _change_list(items: Any, chance: random.Random) -> None:
    at = chance.randrange(len(items))
    item = items[at]
    action = chance.choice(("remove", "repeat", "reverse", "renew", "first"))
    if action == "remove":
        del items[at]
    elif action == "repeat":
        items.append(item.deep_copy() if isinstance(item, Struct) else item)
    elif action == "reverse":
        items[:] = [each.deep_copy() if isinstance(each, Struct) else each for each in items][::-1]
    elif action == "first":
        items[:] = [each.deep_copy() if isinstance(each, Struct) else each for each in items][:1]
    elif isinstance(item, Struct):
        items[at] = type(item)()
