#!/usr/bin/env python3
"""Reading varied objects of several kinds from their messages: CPU time for each, without a network or threads.

    python test/bench/runtime/bench_reading.py [--seed 1] [--objects 2000] [--repeat 5]

For each kind, microseconds of CPU, medians: until a watch event is an object that knows its key and version; until a
handler has read all fields of its metadata and the first fields of each section, by a walk in plain Python and with the
`protobuf` package (extra `fast`); to decode the whole message; and `json.loads` of the same object, the floor. Pods
are those of the wire's benchmark (../wire/varied.py), other kinds are drawn at random from all fields that they have.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.runtime.serializer import JSONSerializer, protobuf
from clientgo.apimachinery.runtime.serializer.protobuf import Message, ProtobufSerializer, upb
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.kubernetes.scheme import SCHEME
from clientgo.testing.apiserver.kinds.protobuf import watch_event

KINDS: tuple[Any, ...] = (corev1.Pod, corev1.Node, corev1.Service, corev1.ConfigMap, corev1.Event, appsv1.Deployment)
SERIALIZER = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME)).stripping()


def documents(cls: Any, message: Message, count: int, seed: str) -> list[dict[str, Any]]:
    import protobuf_documents
    import replay_server
    from varied import varied

    found = []
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        if cls is corev1.Pod:
            found.append(varied(replay_server.pod(number, f"pod-{number}", str(number), str(number)), chance))
        else:
            found.append(protobuf_documents.document(message, chance))
    return found


def read(obj: Any) -> None:
    """Read as a handler does: of each section a few fields, of each list the first element."""
    for attr in ("name", "namespace", "uid", "labels", "annotations"):
        getattr(obj.metadata, attr)
    for attr in ("spec", "status", "data", "reason"):
        section = getattr(obj, attr, None)
        if isinstance(section, Struct):
            for inner in [*section._fields][:4]:
                getattr(section, inner)


def microseconds(function: Callable[[], Any], objects: int, repeat: int) -> float:
    times = []
    for _ in range(repeat):
        started = process_time()
        function()
        times.append(process_time() - started)
    return statistics.median(times) / objects * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    sys.path[:0] = [str(Path(__file__).parents[1] / "wire"), str(Path(__file__).parents[2] / "support")]
    columns = ("bytes", "arrive", "read, walk", "read, upb", "decode", "json.loads")
    print(f"{'':12}" + "".join(f"{column:>12}" for column in columns))
    for cls in KINDS:
        print(f"{cls.__name__:12}" + "".join(f"{figure:12,.1f}" for figure in figures_of(cls, options)))


def figures_of(cls: Any, options: argparse.Namespace) -> list[float]:
    message = protobuf.message_of(cls)
    assert message is not None
    bodies = [
        protobuf.encode_message(message, {**document, "kind": None, "apiVersion": None})
        for document in documents(cls, message, options.objects, options.seed)
    ]
    texts = [json.dumps(protobuf.decode_message(message, body)) for body in bodies]
    gvk = cls.GROUP_VERSION_KIND.to_api_version_and_kind()
    events = [watch_event("MODIFIED", protobuf.wrap(body, *gvk))[4:] for body in bodies]

    def timed(function: Callable[[], Any]) -> float:
        return microseconds(function, len(bodies), options.repeat)

    def arrive() -> None:
        for event in events:
            SERIALIZER.decode_event(event)[1].freeze()

    def arrive_and_read() -> None:
        for event in events:
            read(SERIALIZER.decode_event(event)[1].freeze())

    with mock.patch.object(upb, "LOOKUP", upb.Lookup(is_wanted=False)):
        arriving, walking = timed(arrive), timed(arrive_and_read)
    parsing = timed(arrive_and_read) if upb.LOOKUP.engine() is not None else float("nan")
    decoding = timed(lambda: [protobuf.decode_message(message, body) for body in bodies])
    loading = timed(lambda: [json.loads(text) for text in texts])
    return [sum(map(len, bodies)) / len(bodies), arriving, walking - arriving, parsing - arriving, decoding, loading]


if __name__ == "__main__":
    main()
