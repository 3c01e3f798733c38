#!/usr/bin/env python3
"""Serve one list of Pods and replay one watch, as fast as the client can read.

    python test/bench/wire/replay_server.py --pods 10000 --events 50000

Every byte is made before the first connection is accepted, so that the client is what is measured. The first line on
stdout is {"port": ...}. What it knows of the Kubernetes API is what an informer asks for:

* a list of all Pods, in one answer;
* a watch from the list's version, which stays silent until a client gets /go, then sends the events and stays open;
  one client after the other may do so;
* a streaming list (sendInitialEvents) is refused with 422, as by a server without the feature, or with --stream-lists
  answered with the Pods and a bookmark in front of the events.

With --protobuf everything is in protobuf. With --variety SEED no two Pods have the same lengths (varied.py); without,
all Pods have. The last event is about a Pod named `last`.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from varied import varied

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.serializer import protobuf
from clientgo.apimachinery.runtime.serializer.protobuf.wire import put_bytes

LAST = "last"
# Of as many digits as VERSION has letters, with all versions before and behind it.
LIST_VERSION = 2_000_000
# How much goes to the socket at once.
BLOCK = 64 * 1024


def compact(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def pod(number: int, name: str, version: str, revision: str) -> dict[str, Any]:
    """Return a Pod of a Deployment with one container, with all fields that the server and the kubelet set."""
    app = f"shop-{number % 400:03d}"
    uid = f"9f3c{number:08x}-11ee-4c5d-8a7b-{number:012x}"
    when = "2026-03-01T08:15:00Z"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{app}-7c9f", "uid": uid}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "generateName": f"{app}-7c9f-",
            "namespace": f"team-{number % 40:02d}",
            "uid": uid,
            "resourceVersion": version,
            "creationTimestamp": when,
            "labels": {"app": app, "tier": "web", "pod-template-hash": "7c9f", "revision": revision},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "team": "checkout"},
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            "managedFields": [_managed_fields("kube-controller-manager", when)],
        },
        "spec": _spec(app, number),
        "status": _status(app, number, when),
    }


def _managed_fields(manager: str, when: str) -> dict[str, Any]:
    names = (
        "image",
        "imagePullPolicy",
        "name",
        "ports",
        "resources",
        "terminationMessagePath",
        "env",
        "readinessProbe",
    )
    containers = {'k:{"name":"web"}': {".": {}, **{f"f:{name}": {} for name in names}}}
    spec = {"f:containers": containers, "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}}
    fields = {"f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:tier": {}}}, "f:spec": spec}
    entry = {"manager": manager, "operation": "Update", "apiVersion": "v1", "time": when}
    return {**entry, "fieldsType": "FieldsV1", "fieldsV1": fields}


def _spec(app: str, number: int) -> dict[str, Any]:
    get = {"path": "/healthz", "port": "http", "scheme": "HTTP"}
    pace = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    root = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    taint = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    return {
        "volumes": [
            {"name": "config", "configMap": {"name": app, "defaultMode": 420}},
            {"name": "kube-api-access", "projected": {"sources": [token, root], "defaultMode": 420}},
        ],
        "containers": [
            {
                "name": "web",
                "image": f"registry.example.com/shop/{app}:1.12.4",
                "args": ["--listen=:8080", "--metrics=:9090"],
                "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
                "env": [
                    {"name": "REGION", "value": "eu-central-1"},
                    {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
                ],
                "resources": {
                    "limits": {"cpu": "500m", "memory": "256Mi"},
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                },
                "volumeMounts": [{"name": "config", "readOnly": True, "mountPath": "/etc/shop"}],
                "readinessProbe": {"httpGet": get, **pace},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
            }
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "nodeName": f"node-{number % 150:03d}",
        "schedulerName": "default-scheduler",
        "tolerations": [{"key": "node.kubernetes.io/not-ready", **taint}],
        "priority": 0,
        "enableServiceLinks": True,
    }


def _status(app: str, number: int, when: str) -> dict[str, Any]:
    address = f"10.{number % 200}.{number // 200 % 250}.9"
    types = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {
        "phase": "Running",
        "conditions": [
            {"type": type, "status": "True", "lastProbeTime": None, "lastTransitionTime": when} for type in types
        ],
        "hostIP": f"192.168.{number % 150}.4",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": when,
        "containerStatuses": [
            {
                "name": "web",
                "state": {"running": {"startedAt": when}},
                "lastState": {},
                "ready": True,
                "restartCount": 0,
                "image": f"registry.example.com/shop/{app}:1.12.4",
                "imageID": "registry.example.com/shop/web@sha256:" + "3f" * 32,
                "containerID": "containerd://" + "a1" * 32,
                "started": True,
            }
        ],
        "qosClass": "Burstable",
    }


class Recording:
    """The server's responses, encoded as JSON."""

    content_type = "application/json"

    def __init__(self, pods: int, events: int, stream_lists: bool, seed: str = "") -> None:
        """Make the responses. `seed` varies the Pods. With "" all Pods have the same lengths."""
        self.stream_lists = stream_lists
        # Set when the events may go.
        self.go = threading.Event()
        encoded, _event = self.encoded, self.event
        if seed:
            self.items = [self._varied(i, LIST_VERSION - pods + i, 0, seed) for i in range(pods)]
            changes = (self._varied(i * 7919 % pods, LIST_VERSION + i, i, seed) for i in range(1, events))
        else:
            template = [encoded(pod(i, f"pod-{i:05d}", "VERSION", "REVISION")) for i in range(pods)]
            self.items = [filled(text, LIST_VERSION - pods + i, 0) for i, text in enumerate(template)]
            changes = (filled(template[i * 7919 % pods], LIST_VERSION + i, i) for i in range(1, events))
        self.events = [chunk(_event(b"MODIFIED", change)) for change in changes]
        last = encoded(pod(pods, LAST, str(LIST_VERSION + events), "0"))
        self.events.append(chunk(_event(b"ADDED", last)))

    def _varied(self, number: int, version: int, revision: int, seed: str) -> bytes:
        document = pod(number, f"pod-{number:05d}", str(version), str(revision))
        return self.encoded(varied(document, random.Random(f"{seed} {version}")))

    @staticmethod
    def encoded(document: dict[str, Any]) -> bytes:
        """Return a Pod."""
        return compact(document)

    @staticmethod
    def bookmark(api_version: str, kind: str) -> bytes:
        """Return the object at the end of a streaming list, which has only metadata."""
        metadata = {"resourceVersion": str(LIST_VERSION), "annotations": {"k8s.io/initial-events-end": "true"}}
        return compact({"kind": kind, "apiVersion": api_version, "metadata": metadata})

    @staticmethod
    def event(type: bytes, obj: bytes, api_version: str = "v1", kind: str = "Pod") -> bytes:
        """Return a watch event for an object that `encoded` made."""
        return b'{"type":"%s","object":%s}\n' % (type, obj)

    def list(self) -> bytes:
        """Return the answer to a list."""
        metadata = compact({"resourceVersion": str(LIST_VERSION)})
        items = b",".join(self.items)
        return b'{"kind":"PodList","apiVersion":"v1","metadata":%s,"items":[%s]}' % (metadata, items)

    def streamed_list(self) -> Iterator[bytes]:
        """Yield the answer to a streaming list, chunk by chunk."""
        for item in self.items:
            yield chunk(self.event(b"ADDED", item))
        yield chunk(self.event(b"BOOKMARK", self.bookmark("v1", "Pod")))


class ProtobufRecording(Recording):
    """The server's responses, encoded as protobuf."""

    content_type = "application/vnd.kubernetes.protobuf"

    @staticmethod
    def encoded(document: dict[str, Any]) -> bytes:
        return _message(corev1.Pod, document)

    @staticmethod
    def bookmark(api_version: str, kind: str) -> bytes:
        return _message(metav1.PartialObjectMetadata, json.loads(Recording.bookmark(api_version, kind)))

    @staticmethod
    def event(type: bytes, obj: bytes, api_version: str = "v1", kind: str = "Pod") -> bytes:
        wrapped = put_bytes(b"\n", protobuf.wrap(obj, api_version, kind))
        frame = put_bytes(b"\n", type) + put_bytes(b"\x12", wrapped)
        return len(frame).to_bytes(4, "big") + frame

    def list(self) -> bytes:
        metadata = put_bytes(b"\n", put_bytes(b"\x12", b"%d" % LIST_VERSION))
        items = [put_bytes(b"\x12", item) for item in self.items]
        return protobuf.wrap(b"".join((metadata, *items)), "v1", "PodList")


def _message(cls: type[Object], document: dict[str, Any]) -> bytes:
    message = protobuf.message_of(cls)
    assert message is not None
    return protobuf.encode_message(message, {**document, "kind": None, "apiVersion": None})


def filled(template: bytes, version: int, revision: int) -> bytes:
    """Return a Pod whose version and label `revision` are to be put in: as long as what they replace, so all lengths
    stay.
    """
    return template.replace(b"VERSION", b"%07d" % version).replace(b"REVISION", b"%08d" % revision)


def chunk(data: bytes) -> bytes:
    """Return a piece of a body that is chunked."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in chunks that are large enough for a system call."""
    held: list[bytes] = []
    size = 0
    for each in chunks:
        held.append(each)
        size += len(each)
        if size >= BLOCK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


class Handler(BaseHTTPRequestHandler):
    """Answers from the server's recording."""

    protocol_version = "HTTP/1.1"
    recording: Recording

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/go":
            self.recording.go.set()
            self._answer(200, b"{}")
        elif url.path != "/api/v1/pods":
            self._answer(404, b"{}")
        elif query.get("watch") not in ("1", "true"):
            self._answer(200, self.recording.list(), self.recording.content_type)
        elif query.get("sendInitialEvents") == "true" and not self.recording.stream_lists:
            failure = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}
            self._answer(422, compact({**failure, "message": "sendInitialEvents is forbidden for watch"}))
        else:
            self._watch(query)

    def _watch(self, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.recording.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            if query.get("sendInitialEvents") == "true":
                self._send(self.recording.streamed_list())
            self.recording.go.wait()
            self.recording.go.clear()  # for the next client
            self._send(self.recording.events)
            self.rfile.read(1)  # until the client has had enough
        except OSError:
            pass
        self.close_connection = True

    def _send(self, chunks: Iterable[bytes]) -> None:
        for block in blocks(chunks):
            self.wfile.write(block)

    def _answer(self, code: int, body: bytes, content_type: str = "application/json") -> None:
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Drop the message: the figures are the only output."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--stream-lists", action="store_true")
    parser.add_argument("--protobuf", action="store_true")
    parser.add_argument("--variety", metavar="SEED", default="")
    options = parser.parse_args()
    recording = ProtobufRecording if options.protobuf else Recording
    Handler.recording = recording(options.pods, options.events, options.stream_lists, options.variety)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    size = sum(map(len, Handler.recording.items)) // options.pods
    print(json.dumps({"port": server.server_port, "bytes per pod": size}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
