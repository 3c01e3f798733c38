"""The API server of bench_shards.py: an embedded one, with ConfigMaps that are in its store before it serves.

The first line on stdout is {"url": ..., "token": ...}. It answers each line on stdin, and ends at the end of stdin:
`usage` with its CPU time and memory, `change COUNT` with the label `revision` of so many changed objects.
"""

from __future__ import annotations

import gc
import json
import sys
import uuid
from time import process_time
from typing import Any

from bench_scale import memory

from clientgo.testing.apiserver import Server

BUCKET = "/configmaps"
NAMESPACES = 500


def key_of(number: int) -> str:
    return f"team-{number % NAMESPACES:03d}/object-{number:07d}"


def config_map(number: int) -> dict[str, Any]:
    namespace, _, name = key_of(number).partition("/")
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": str(uuid.uuid5(uuid.NAMESPACE_OID, name)),
        "creationTimestamp": "2026-03-01T08:15:00Z",
        "labels": {"app": f"shop-{number % 400:03d}", "revision": "0"},
    }
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"text": name * 28}}


def change(server: Server, count: int, revision: int) -> None:
    """Write the label of the first objects anew."""
    for number in range(count):
        stored = server.store.get(BUCKET, key_of(number))
        assert stored is not None
        metadata = stored.obj["metadata"]
        changed = {**metadata, "labels": {**metadata["labels"], "revision": str(revision)}}
        server.store.update(BUCKET, stored.key, {**stored.obj, "metadata": changed}, stored.rv)


def main() -> None:
    server = Server(feature_gates={"ShardedListAndWatch": True})
    for number in range(int(sys.argv[1])):
        server.store.create(BUCKET, key_of(number), config_map(number))
    gc.collect()
    gc.freeze()
    revision = 0
    with server:
        print(json.dumps({"url": server.url, "token": server.token}), flush=True)
        for line in sys.stdin:
            if line.startswith("change "):
                revision += 1
                change(server, int(line.split()[1]), revision)
                print(json.dumps({"revision": revision}), flush=True)
            else:
                print(json.dumps({"CPU s": process_time(), "MB": memory()}), flush=True)


if __name__ == "__main__":
    main()
