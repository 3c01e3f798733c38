"""The embedded API server gives, byte for byte, the answers that a real one was recorded to give.

Only what differs from run to run is masked: uids, resource versions, times, continue tokens.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from patience import PATIENCE

from clientgo.apiextensions import v1 as apiextensionsv1
from clientgo.apimachinery.runtime import Scheme
from clientgo.apimachinery.runtime.serializer import JSONSerializer
from clientgo.apimachinery.runtime.serializer.protobuf import ProtobufSerializer
from clientgo.kubernetes import scheme as clientgoscheme
from clientgo.testing.apiserver import Server, User, admin_user
from clientgo.utils.clock import REAL_CLOCK
from clientgo.utils.clock.testing import FakeClock

FOLDER = Path(__file__).parent / "transcripts"
JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
SCHEME = Scheme("all that has messages")
clientgoscheme.add_to_scheme(SCHEME)
apiextensionsv1.add_to_scheme(SCHEME)
DECODER = ProtobufSerializer(SCHEME, JSONSerializer(SCHEME))
NAMESPACE = "/api/v1/namespaces/demo"
TOKENS = {"<admin>": "admin-token", "<bob>": "bob-token", "<invalid>": "nobody"}
# In an order in which each finds the state it was recorded in.
EXCHANGES = """
    discovery_apps_v1 discovery_api_v1_aggregated get_pod list_pods partial_object_metadata_list
    error_400_json error_400_strict error_401 error_403_anonymous error_403_bob error_404_namespace error_404_object
    error_404_plain error_404_resource error_405 error_406 error_409_exists error_415 error_422_list_options
    error_422_name error_504_rv_too_large list_empty list_missing_namespace
    patch_strategic scale_get
    patch_apply_create patch_apply_conflict patch_apply_force patch_json patch_merge delete_configmap dry_run_create
    event_create event_events_k8s_io
    crd_create crd_established cr_create error_422_cr cr_status_patch cr_list table_widgets delete_pod
""".split()  # noqa: SIM905
MASKS = (
    (r'"uid":"[0-9a-f-]{36}"', '"uid":"UID"'),
    (r'"resourceVersion":"\d+"', '"resourceVersion":"VERSION"'),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
    (r'"manager":"(conformance|recorder)"', '"manager":"MANAGER"'),
    (r"current: \d+", "current: VERSION"),
    (r'"continue":"[^"]+"', '"continue":"TOKEN"'),
    # A cell of a table; on a busy machine an object is older than it was when this was recorded.
    (r'"\d+s"', '"AGE"'),
)
COMPARED_HEADERS = ("Content-Type", "Cache-Control", "Warning", "Retry-After", "X-Content-Type-Options", "Vary")


def masked(text: str) -> str:
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    tokens = {"admin-token": admin_user(), "bob-token": User("bob", "", ("system:authenticated",))}
    with Server(tokens=tokens) as running:
        # What was recorded happened within a second, by which managed fields are sorted.
        running.times.clock = FakeClock(REAL_CLOCK.now())
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> None:
    """Create the objects that existed when the exchanges were recorded."""
    headers = {"Authorization": "Bearer admin-token", "User-Agent": "conformance/1"}

    def post(path: str, body: dict[str, Any]) -> None:
        requests.post(server.url + path, json=body, headers=headers, timeout=PATIENCE).raise_for_status()

    post("/api/v1/namespaces", {"metadata": {"name": "demo"}})
    for i in range(3):
        container = {"name": "main", "image": "example.com/app:1"}
        metadata = {"name": f"pod-{i}", "labels": {"app": "demo", "n": str(i)}}
        post(f"{NAMESPACE}/pods", {"metadata": metadata, "spec": {"containers": [container]}})
    merge = {**headers, "Content-Type": "application/merge-patch+json"}
    status = json.dumps({"status": {"phase": "Running"}})
    requests.patch(f"{server.url}{NAMESPACE}/pods/pod-1/status", data=status, headers=merge, timeout=PATIENCE)
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    post("/apis/apps/v1/namespaces/demo/deployments", {"metadata": {"name": "web"}, "spec": spec})
    for i in range(2):
        post(f"{NAMESPACE}/configmaps", {"metadata": {"name": f"cm-{i}"}, "data": {"k": "v"}})


@pytest.mark.usefixtures("state")
def test_answers_are_those_of_the_real_server(server: Server) -> None:
    different = []
    for name in EXCHANGES:
        with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as file:
            exchange = json.load(file)["exchanges"][0]
        headers = dict(exchange["request_headers"])
        for placeholder, token in TOKENS.items():
            headers = {key: value.replace(placeholder, token) for key, value in headers.items()}
        body = exchange["request_body"]
        response = requests.request(
            exchange["method"],
            server.url + exchange["path"],
            data=body if body is None or isinstance(body, str) else json.dumps(body),
            headers={**headers, "User-Agent": "recorder/1"},
            timeout=PATIENCE,
        )
        got = {key: response.headers[key] for key in COMPARED_HEADERS if key in response.headers}
        want = {key: value for key, value in exchange["response_headers"].items() if key in COMPARED_HEADERS}
        if (response.status_code, got) != (exchange["status"], want):
            different.append((name, response.status_code, got, want))
        recorded = exchange.get("raw_response") or exchange.get("response_text") or ""
        if masked(response.text).rstrip() != masked(recorded).rstrip():
            different.append((name, masked(response.text), masked(recorded)))
    assert different == []


@pytest.mark.usefixtures("state")
def test_protobuf_answers_equal_the_json_ones(server: Server) -> None:
    different, spoken = [], set()
    for name in EXCHANGES:
        if name == "error_504_rv_too_large":  # a Status as the others, that is waited for
            continue
        with gzip.open(FOLDER / f"{name}.json.gz", "rt", encoding="utf-8") as file:
            exchange = json.load(file)["exchanges"][0]
        if exchange["method"] != "GET" or "as=" in exchange["request_headers"].get("Accept", ""):
            continue
        token = TOKENS.get(exchange["request_headers"].get("Authorization", "").removeprefix("Bearer "), "")
        in_json, answer = (asked(server, exchange["path"], token, accept) for accept in (JSON, f"{PROTOBUF},{JSON}"))
        if answer.headers["Content-Type"] == PROTOBUF:
            spoken.add(name)
        if (answer.status_code, body_of(answer)) != (in_json.status_code, body_of(in_json)):
            different.append((name, body_of(answer), body_of(in_json)))
    assert different == []
    assert spoken >= {"get_pod", "list_pods", "list_empty", "scale_get", "error_404_object", "error_403_bob"}


def asked(server: Server, path: str, token: str, accept: str) -> requests.Response:
    headers = {"Accept": accept, "User-Agent": "recorder/1"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return requests.get(server.url + path, headers=headers, timeout=PATIENCE)


def body_of(answer: requests.Response) -> Any:
    """Return the object of a response, or its text."""
    media_type = answer.headers["Content-Type"]
    if media_type == PROTOBUF:
        return DECODER.decode(answer.content)[0].to_dict()
    return answer.json() if media_type == JSON else answer.text
