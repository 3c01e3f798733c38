"""Pods as a real cluster has them: no two with the same lengths, few with the same fields. For the replay server.

A Pod of the replay server is the seed of each: labels, annotations, managers of fields, containers with their
environment, volumes and conditions are added, and fields that servers may omit are dropped. `varied` depends on the
document and on the state of `chance` alone.
"""

from __future__ import annotations

import copy
import random
from typing import Any

_WORDS = ("shop", "cart", "pay", "search", "images", "auth", "mail", "batch", "edge", "cache", "ledger", "stock")


def varied(pod: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return a Pod made of `pod`: about twice its size."""
    made = copy.deepcopy(pod)
    metadata, spec, status = made["metadata"], made["spec"], made["status"]
    metadata["labels"] |= {f"{_word(chance)}.example.com/{_name(chance)}": _name(chance) for _ in _times(chance, 0, 7)}
    metadata["annotations"] |= {
        f"{_word(chance)}.example.com/{_name(chance)}": _text(chance, 8, 250) for _ in _times(chance, 0, 6)
    }
    for _ in _times(chance, 0, 3):
        entry = copy.deepcopy(metadata["managedFields"][0])
        entry["manager"] = _name(chance)
        entry["fieldsV1"]["f:status"] = {f"f:{_name(chance)}": {} for _ in _times(chance, 1, 12)}
        metadata["managedFields"].append(entry)
    [container], [reported] = spec["containers"], status["containerStatuses"]
    spec["containers"], status["containerStatuses"] = [], []
    for name in ("web", "proxy", "agent")[: chance.choice((1, 1, 2, 3))]:
        spec["containers"].append(_container(container, name, chance))
        status["containerStatuses"].append({**reported, "name": name, "restartCount": chance.randrange(400)})
    spec["volumes"] += [{"name": _name(chance), "emptyDir": {}} for _ in _times(chance, 0, 4)]
    spec["nodeName"] = f"{_name(chance)}.{_word(chance)}.internal"
    for condition in status["conditions"]:
        if chance.random() < 0.3:
            condition |= {"status": "False", "reason": _name(chance), "message": _text(chance, 10, 160)}
    for part, keys in ((metadata, ("generateName",)), (spec, ("priority", "tolerations")), (status, ("startTime",))):
        for key in keys:
            if chance.random() < 0.3:
                del part[key]
    return made


def _container(container: dict[str, Any], name: str, chance: random.Random) -> dict[str, Any]:
    made = copy.deepcopy(container)
    made["name"] = name
    made["image"] = f"registry.{_word(chance)}.example.com/{_name(chance)}:1.{chance.randrange(900)}"
    made["args"] += [f"--{_name(chance)}={_text(chance, 1, 30)}" for _ in _times(chance, 0, 5)]
    made["env"] += [{"name": _name(chance).upper(), "value": _text(chance, 1, 60)} for _ in _times(chance, 0, 14)]
    made["volumeMounts"] += [{"name": _name(chance), "mountPath": f"/{_name(chance)}"} for _ in _times(chance, 0, 4)]
    if chance.random() < 0.4:
        del made["readinessProbe"]
    return made


def _times(chance: random.Random, least: int, most: int) -> range:
    return range(chance.randint(least, most))


def _word(chance: random.Random) -> str:
    return chance.choice(_WORDS)


def _name(chance: random.Random) -> str:
    return f"{_word(chance)}-{chance.randrange(1 << chance.choice((4, 12, 24, 40))):x}"


def _text(chance: random.Random, least: int, most: int) -> str:
    words: list[str] = []
    size = chance.randint(least, most)
    while sum(map(len, words)) < size:
        words.append(_name(chance))
    return " ".join(words)[:size]
