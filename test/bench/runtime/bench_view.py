"""Measure typed views: creating one, reading fields, computing a key, and copying. Run it directly or with hack/bench.

Each result is a ratio to plain dicts in the same run. No time limit can fail.
"""

from __future__ import annotations

import copy
import json
import timeit
from collections.abc import Callable

from clientgo.api.core import v1 as corev1

REPEAT, NUMBER = 5, 50_000


def pod_document() -> dict[str, object]:
    """Return a Pod of about 3.4 KB as JSON, as a server sends it."""
    container = {
        "name": "app",
        "image": "registry.example/app:1.2.3",
        "env": [{"name": f"VARIABLE_{i}", "value": f"value-{i}"} for i in range(20)],
        "resources": {"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}},
        "volumeMounts": [{"name": f"volume-{i}", "mountPath": f"/mnt/{i}", "readOnly": True} for i in range(8)],
    }
    return {
        "metadata": {
            "name": "app-7d9c5b8f6d-x2x4z",
            "namespace": "default",
            "uid": "0b7d0a3e-8c44-4f3e-9b6a-0e7f5b0d8a11",
            "resourceVersion": "123456",
            "creationTimestamp": "2026-11-21T03:00:47Z",
            "labels": {f"label-{i}": f"value-{i}" for i in range(8)},
            "annotations": {f"example.com/annotation-{i}": "x" * 40 for i in range(8)},
        },
        "spec": {
            "nodeName": "node-1",
            "containers": [container],
            "volumes": [{"name": f"volume-{i}"} for i in range(8)],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-11-21T03:00:49Z"}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
        },
    }


def microseconds(function: Callable[[], object], number: int = NUMBER) -> float:
    """Return the best of several runs, which is the least disturbed one."""
    return min(timeit.repeat(function, number=number, repeat=REPEAT)) / number * 1e6


def main() -> None:
    document = pod_document()
    pod = corev1.Pod.from_dict(document)
    print(f"a Pod of {len(json.dumps(document))} bytes; microseconds each, best of {REPEAT}\n")
    rows = [
        ("view of the object", lambda: corev1.Pod.from_dict(document), lambda: dict.get(document, "metadata")),
        ("pod.metadata", lambda: pod.metadata, lambda: document["metadata"]),
        ("pod.metadata.name", lambda: pod.metadata.name, lambda: document["metadata"]["name"]),  # type: ignore[index]
        (
            "pod.spec.containers[0].image",
            lambda: pod.spec.containers[0].image,
            lambda: document["spec"]["containers"][0]["image"],  # type: ignore[index]
        ),
        (
            "the key",
            pod.object_key,
            lambda: f"{document['metadata']['namespace']}/{document['metadata']['name']}",  # type: ignore[index]
        ),
        ("the resource version", pod.get_resource_version, lambda: document["metadata"]["resourceVersion"]),  # type: ignore[index]
    ]
    for name, view, plain in rows:
        ours, theirs = microseconds(view), microseconds(plain)
        print(f"{name:32} {ours:8.3f}   plain dict {theirs:8.3f}   ratio {ours / theirs:6.1f}")
    ours, theirs = microseconds(pod.deep_copy, 1000), microseconds(lambda: copy.deepcopy(document), 1000)
    print(f"{'deep_copy':32} {ours:8.3f}   copy.deepcopy {theirs:5.1f}   ratio {ours / theirs:6.2f}")


if __name__ == "__main__":
    main()
