"""The server as a whole: start and stop, kubeconfig, TLS, requests that are wrong, concurrent writers, persistence."""

from __future__ import annotations

import base64
import errno
import itertools
import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import requests
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from clientgo.testing.apiserver import Environment, Server, User, read_manifests, read_token_file, write_kubeconfig
from clientgo.testing.apiserver.wire.jsonio import ParseError

ROOT = Path(__file__).resolve().parents[4]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
# The fixture of conftest.py.
Send: TypeAlias = Callable[[Environment, bytes], bytes]
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Foo", "plural": "foos"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


class Api:
    """A session of an administrator."""

    def __init__(self, env: Environment) -> None:
        self.url = env.url
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {env.token}"

    def __call__(self, method: str, path: str, body: Any = None, **options: Any) -> requests.Response:
        return self.session.request(method, self.url + path, json=body, timeout=PATIENCE, **options)

    def close(self) -> None:
        self.session.close()


@pytest.fixture(scope="module")
def env() -> Any:
    with Environment(crds=[CRD]) as environment:
        yield environment


@pytest.fixture
def api(env: Environment) -> Any:
    client = Api(env)
    yield client
    client.close()


def test_starts_and_stops_again_and_again() -> None:
    for _ in range(3):
        with Environment() as environment:
            assert requests.get(environment.url + "/healthz", timeout=PATIENCE).text == "ok"
        with pytest.raises(requests.ConnectionError):
            requests.get(environment.url + "/healthz", timeout=PATIENCE)


def test_stop_does_not_wait_for_idle_connections_and_watches() -> None:
    environment = Environment()
    environment.start()
    idle = socket.create_connection(("127.0.0.1", int(environment.url.rpartition(":")[2])))
    headers = {"Authorization": f"Bearer {environment.token}"}
    watch = requests.get(
        environment.url + CONFIG_MAPS, params={"watch": "1"}, headers=headers, stream=True, timeout=PATIENCE
    )
    environment.stop()
    assert idle.recv(1) == b""
    idle.close()
    watch.close()


def test_crds_of_the_environment_are_served_at_once(api: Api) -> None:
    assert api("GET", "/apis/example.com/v1/foos").json()["kind"] == "FooList"


def test_a_crd_is_served_when_its_create_request_is_answered(api: Api) -> None:
    crd = json.loads(json.dumps(CRD).replace("foos", "bars").replace("Foo", "Bar"))
    assert api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).status_code == 201
    assert api("GET", "/apis/example.com/v1/bars").status_code == 200
    api("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bars.example.com")


def test_the_kubeconfig_is_private_and_speaks_https(env: Environment) -> None:
    path = Path(env.kubeconfig)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    cluster = yaml.safe_load(path.read_text())["clusters"][0]["cluster"]
    assert cluster["server"].startswith("https://127.0.0.1:")


def test_the_certificate_passes_strict_verification(env: Environment) -> None:
    context = ssl.create_default_context(cadata=env.server.ca_certificate)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    address = ("127.0.0.1", int(env.url.rpartition(":")[2]))
    with socket.create_connection(address) as raw, context.wrap_socket(raw, server_hostname="localhost") as sock:
        sock.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert sock.recv(12) == b"HTTP/1.1 200"


def test_twenty_writers_with_retry_lose_no_increment(env: Environment) -> None:
    setup = Api(env)
    setup("POST", CONFIG_MAPS, {"metadata": {"name": "counter"}, "data": {"n": "0"}})

    def write() -> None:
        client = Api(env)
        for _ in range(5):
            while True:
                obj = client("GET", f"{CONFIG_MAPS}/counter").json()
                obj["data"]["n"] = str(int(obj["data"]["n"]) + 1)
                if client("PUT", f"{CONFIG_MAPS}/counter", obj).status_code == 200:
                    break
        client.close()

    threads = [threading.Thread(target=write) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert setup("GET", f"{CONFIG_MAPS}/counter").json()["data"]["n"] == "100"
    setup("DELETE", f"{CONFIG_MAPS}/counter")
    setup.close()
    env.server.store.check()


def test_owned_objects_follow_their_owner(env: Environment, api: Api) -> None:
    owner = api("POST", CONFIG_MAPS, {"metadata": {"name": "owner"}}).json()
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    api("POST", CONFIG_MAPS, {"metadata": {"name": "child", "ownerReferences": [reference]}})
    grandchild = {**reference, "name": "child", "uid": api("GET", f"{CONFIG_MAPS}/child").json()["metadata"]["uid"]}
    api("POST", CONFIG_MAPS, {"metadata": {"name": "grandchild", "ownerReferences": [grandchild]}})
    api("DELETE", f"{CONFIG_MAPS}/owner")
    assert env.wait_idle()
    assert api("GET", f"{CONFIG_MAPS}/child").status_code == 404
    assert api("GET", f"{CONFIG_MAPS}/grandchild").status_code == 404


def test_an_object_with_one_owner_left_only_loses_the_reference(env: Environment, api: Api) -> None:
    uids = [api("POST", CONFIG_MAPS, {"metadata": {"name": f"o{i}"}}).json()["metadata"]["uid"] for i in range(2)]
    references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": f"o{i}", "uid": uids[i]} for i in range(2)]
    api("POST", CONFIG_MAPS, {"metadata": {"name": "shared", "ownerReferences": references}})
    api("DELETE", f"{CONFIG_MAPS}/o0")
    assert env.wait_idle()
    left = api("GET", f"{CONFIG_MAPS}/shared").json()["metadata"]["ownerReferences"]
    assert [reference["uid"] for reference in left] == uids[1:]
    api("DELETE", f"{CONFIG_MAPS}/o1")
    assert env.wait_idle()
    assert api("GET", f"{CONFIG_MAPS}/shared").status_code == 404


def test_deleting_a_namespace_empties_and_removes_it(env: Environment, api: Api) -> None:
    api("POST", "/api/v1/namespaces", {"metadata": {"name": "short"}})
    api("POST", "/api/v1/namespaces/short/configmaps", {"metadata": {"name": "x"}})
    assert api("DELETE", "/api/v1/namespaces/short").json()["status"]["phase"] == "Terminating"
    assert env.wait_idle()
    assert api("GET", "/api/v1/namespaces/short").status_code == 404
    assert api("GET", "/api/v1/namespaces/short/configmaps").json()["items"] == []


def test_the_default_service_account_exists_in_every_namespace(env: Environment, api: Api) -> None:
    api("POST", "/api/v1/namespaces", {"metadata": {"name": "fresh"}})
    assert env.wait_idle()
    assert api("GET", "/api/v1/namespaces/fresh/serviceaccounts/default").status_code == 200
    api("DELETE", "/api/v1/namespaces/fresh")


def test_a_service_account_token_has_the_rights_of_its_role(env: Environment, api: Api) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    assert env.wait_idle()
    token = api(
        "POST",
        "/api/v1/namespaces/default/serviceaccounts/default/token",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
    ).json()["status"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert requests.get(env.url + CONFIG_MAPS, headers=headers, timeout=PATIENCE).status_code == 403
    api("POST", f"{rbac}/roles", {
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}],
    })  # fmt: skip
    api("POST", f"{rbac}/rolebindings", {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
    })  # fmt: skip
    assert requests.get(env.url + CONFIG_MAPS, headers=headers, timeout=PATIENCE).status_code == 200
    assert requests.post(env.url + CONFIG_MAPS, json={}, headers=headers, timeout=PATIENCE).status_code == 403


# ---- wrong requests


def test_a_body_over_three_mebibytes_is_refused(env: Environment, api: Api) -> None:
    body = {"metadata": {"name": "big"}, "data": {"k": "x" * (3 * 1024 * 1024)}}
    response = api("POST", CONFIG_MAPS, body)
    assert response.status_code == 413
    assert response.json()["reason"] == "RequestEntityTooLarge"


def test_three_mebibytes_are_the_limit(env: Environment, send: Send) -> None:
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {env.token}\r\nConnection: close\r\n"
    limit = 3 * 1024 * 1024
    for size, code in ((limit, b"422"), (limit + 1, b"413")):
        start, end = b'{"metadata":{"name":"big"},"data":{"k":"', b'"}}'
        body = start + b"x" * (size - len(start) - len(end)) + end
        assert len(body) == size
        assert send(env, f"{head}Content-Length: {size}\r\n\r\n".encode() + body).split()[1] == code
        # A chunked body has no size in its header.
        framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:limit], body[limit:]) if part)
        assert (
            send(env, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + framed + b"0\r\n\r\n").split()[1] == code
        )


@pytest.mark.parametrize(("kind", "field"), [("configmaps", "[]"), ("secrets", "data")])
def test_data_of_more_than_a_mebibyte_is_invalid(api: Api, kind: str, field: str) -> None:
    def code_and_message(size: int) -> tuple[int, str]:
        values = {"a": b"x" * 1000, "b": b"x" * (size - 1000)}
        data = {
            key: base64.b64encode(value).decode() if kind == "secrets" else value.decode()
            for key, value in values.items()
        }
        answer = api(
            "POST", f"/api/v1/namespaces/default/{kind}?dryRun=All", {"metadata": {"name": "big"}, "data": data}
        )
        return answer.status_code, answer.json().get("message", "")

    assert code_and_message(1024 * 1024) == (201, "")
    code, message = code_and_message(1024 * 1024 + 1)
    assert code == 422
    assert message.endswith(f'"big" is invalid: {field}: Too long: may not be more than 1048576 bytes')


def test_only_administrators_compact(env: Environment, api: Api) -> None:
    path = "/debug/compact?resourceVersion=1"
    headers = {"Impersonate-User": "bob"}
    assert api("POST", path, headers=headers).status_code == 403
    assert api("POST", path).status_code == 200
    assert api("GET", path).status_code == 405
    assert api("POST", "/debug/compact?resourceVersion=x").status_code == 400


def test_a_watch_from_before_a_compaction_is_expired(env: Environment, api: Api) -> None:
    maps = "/api/v1/namespaces/default/configmaps"
    created = [api("POST", maps, {"metadata": {"name": f"compacted-{number}"}}).json() for number in range(2)]
    first, last = (each["metadata"]["resourceVersion"] for each in created)
    watch = f"{maps}?watch=true&timeoutSeconds=1&resourceVersion="

    before = api("GET", watch + first).text
    assert api("POST", f"/debug/compact?resourceVersion={last}").status_code == 200

    assert "compacted-1" in before
    assert '"reason":"Expired"' in api("GET", watch + first).text


def test_deep_nesting_is_refused(env: Environment) -> None:
    session = requests.Session()
    session.headers.update({"Authorization": f"Bearer {env.token}", "Content-Type": "application/json"})
    for body in ("[" * 100_000, '{"a":' * 100_000, '{"metadata":{"annotations":' + '{"a":' * 5000):
        assert session.post(env.url + CONFIG_MAPS, data=body, timeout=PATIENCE).status_code == 400
    session.headers["Content-Type"] = "application/yaml"
    bomb = "a: &a [x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )
    assert session.post(env.url + CONFIG_MAPS, data=bomb, timeout=PATIENCE).status_code == 400
    session.close()


WORDS = [
    *("metadata", "name", "spec", "data", "kind", "apiVersion", "labels", "op", "path", "value", "$patch"),
    *("containers", "finalizers", "managedFields", "ownerReferences", "template", "status"),
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
PATHS = [
    CONFIG_MAPS,
    f"{CONFIG_MAPS}/fuzz",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments/fuzz",
    "/apis/apps/v1/namespaces/default/deployments/fuzz/scale",
    "/apis/apps/v1/namespaces/default/deployments/fuzz/status",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/fuzz/binding",
    "/api/v1/namespaces/default/pods/fuzz/eviction",
    "/api/v1/namespaces/default/services/fuzz",
    "/api/v1/namespaces/default/serviceaccounts/default/token",
    "/api/v1/namespaces/default/events",
    "/apis/events.k8s.io/v1/namespaces/default/events",
    "/apis/example.com/v1/namespaces/default/foos",
    "/apis/example.com/v1/namespaces/default/foos/fuzz",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authentication.k8s.io/v1/tokenreviews",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    "/apis/batch/v1/namespaces/default/jobs",
    "/apis/batch/v1/namespaces/default/cronjobs/fuzz",
]
MEDIA = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
]


def assert_answered(env: Environment, response: requests.Response) -> None:
    assert response.status_code < 500 or response.json().get("reason") != "InternalError", response.text


@settings(max_examples=80)
@given(
    method=st.sampled_from(["POST", "PUT", "PATCH", "DELETE"]),
    path=st.sampled_from(PATHS),
    media=st.sampled_from(MEDIA),
    body=json_values,
)
def test_no_body_makes_the_server_fail(env: Environment, method: str, path: str, media: str, body: Any) -> None:
    headers = {"Authorization": f"Bearer {env.token}", "Content-Type": media}
    params = {"fieldManager": "fuzz", "force": "true"} if "apply" in media else {}
    data = json.dumps(body).encode()
    response = requests.request(method, env.url + path, data=data, headers=headers, params=params, timeout=PATIENCE)
    assert_answered(env, response)


@settings(max_examples=40)
@given(
    path=st.text(max_size=40) | st.sampled_from(PATHS),
    key=st.sampled_from(
        ["labelSelector", "fieldSelector", "resourceVersion", "continue", "limit", "resourceVersionMatch"]
    ),
    value=st.text(max_size=20),
)
def test_no_path_or_selector_makes_the_server_fail(env: Environment, path: str, key: str, value: str) -> None:
    headers = {"Authorization": f"Bearer {env.token}"}
    if not path.startswith("/"):
        path = "/" + requests.utils.quote(path, safe="/")
    response = requests.get(env.url + path, params={key: value}, headers=headers, timeout=PATIENCE)
    assert response.status_code != 500 or response.json().get("reason") != "InternalError", response.text


@settings(max_examples=40)
@given(body=st.binary(max_size=60))
def test_no_protobuf_makes_the_server_fail(env: Environment, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {env.token}", "Content-Type": "application/vnd.kubernetes.protobuf"}
    for prefix in (b"", b"k8s\x00", b"k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12" + bytes((len(body),))):
        response = requests.post(env.url + CONFIG_MAPS, data=prefix + body, headers=headers, timeout=PATIENCE)
        assert response.status_code in (201, 400, 409, 422, 500), response.text
        assert_answered(env, response)


@settings(max_examples=60)
@given(
    parts=st.lists(
        st.binary(max_size=12)
        | st.sampled_from(
            [b"GET ", b"POST ", b"/api ", b"HTTP/1.1", b"\r\n", b"\r\n\r\n", b"Host: x", b": ", b"0", b"%zz"]
        )
        | st.sampled_from(
            [b"Transfer-Encoding: chunked", b"Content-Length: 5", b"Content-Length: ", b"Expect: 100-continue"]
        )
    )
)
@example(parts=[b"\x16\x00\x00\x00\x00\xec"])
def test_no_bytes_make_the_server_fail_or_hang(env: Environment, parts: list[bytes], send: Send) -> None:
    data = b"".join(parts)
    try:
        answer = send(env, data)
    except OSError as err:
        # A first byte of 22 begins TLS: what is no handshake is refused with an alert (21), the rest is not read.
        assert err.errno in (errno.ECONNRESET, errno.ENOTCONN, errno.EPIPE) and data.startswith(b"\x16")
        return
    assert not answer or answer.startswith(
        (b"\x15\x03", b"HTTP/1.1 4", b"HTTP/1.1 200", b"HTTP/1.1 100", b"HTTP/1.1 501")
    )
    assert b"Traceback" not in answer


# ---- the program


def run_server(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Start the program and return it with the URL that it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "cmd/apiserver"), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    return process, process.stdout.readline().removeprefix("Listening on ").strip()


def session_of(kubeconfig: Path) -> tuple[requests.Session, str]:
    config = yaml.safe_load(kubeconfig.read_text())
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {config['users'][0]['user']['token']}"
    # The same port speaks plain http, which saves this test a CA file.
    return session, config["clusters"][0]["cluster"]["server"].replace("https://", "http://")


def end(process: subprocess.Popen[str], number: int) -> int:
    process.send_signal(number)
    code = process.wait(timeout=PATIENCE)
    assert process.stdout is not None
    process.stdout.close()
    return code


def test_state_and_versions_survive_a_kill(tmp_path: Path) -> None:
    arguments = ("-data-dir", str(tmp_path / "data"), f"--kubeconfig-out={tmp_path / 'kc'}")
    process, _ = run_server(*arguments)
    session, url = session_of(tmp_path / "kc")
    assert session.post(f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=CRD, timeout=PATIENCE).ok
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": {"n": 1}}
    before = session.post(f"{url}/apis/example.com/v1/namespaces/default/foos", json=foo, timeout=PATIENCE).json()
    end(process, signal.SIGKILL)
    session.close()

    process, _ = run_server(*arguments)
    session, url = session_of(tmp_path / "kc")
    after = session.get(f"{url}/apis/example.com/v1/namespaces/default/foos/a", timeout=PATIENCE).json()
    assert after == before
    made = session.post(f"{url}{CONFIG_MAPS}", json={"metadata": {"name": "later"}}, timeout=PATIENCE).json()
    assert int(made["metadata"]["resourceVersion"]) > int(before["metadata"]["resourceVersion"])
    stream = session.get(
        f"{url}{CONFIG_MAPS}", params={"watch": "1", "resourceVersion": "1"}, stream=True, timeout=PATIENCE
    )
    event = json.loads(next(stream.iter_lines(chunk_size=1)))
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    stream.close()
    session.close()
    assert end(process, signal.SIGTERM) == 0


def test_no_acknowledged_write_is_lost_by_a_kill(tmp_path: Path) -> None:
    arguments = ("--data-dir", str(tmp_path / "data"), f"--kubeconfig-out={tmp_path / 'kc'}")
    versions = [0]
    for round_number in range(2):
        process, _ = run_server(*arguments)
        session, url = session_of(tmp_path / "kc")
        killer = threading.Timer(0.02, process.kill)
        with pytest.raises(requests.RequestException) as killed:
            for number in itertools.count():
                body = {"metadata": {"name": f"c-{round_number}-{number}"}}
                made = session.post(url + CONFIG_MAPS, json=body, timeout=PATIENCE).json()
                versions.append(int(made["metadata"]["resourceVersion"]))
                if number == 20:
                    killer.start()
        assert not isinstance(killed.value, requests.Timeout)
        killer.join()
        end(process, signal.SIGKILL)
        session.close()
    process, _ = run_server(*arguments)
    session, url = session_of(tmp_path / "kc")
    listed = session.get(url + CONFIG_MAPS, timeout=PATIENCE).json()
    kept = {int(item["metadata"]["resourceVersion"]) for item in listed["items"]}
    assert versions == sorted(set(versions))
    assert set(versions[1:]) <= kept
    # Each kill may have come between a commit and its answer.
    assert len(kept) <= len(versions[1:]) + 2
    assert int(listed["metadata"]["resourceVersion"]) >= max(kept)
    session.close()
    assert end(process, signal.SIGTERM) == 0


def test_the_database_is_for_one_server_and_one_user(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    with Environment(data_dir=str(folder)) as environment:
        environment.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
        with pytest.raises(OSError, match="database is locked"):
            Server(data_dir=str(folder))
    with Environment(data_dir=str(folder)) as environment:
        assert environment.server.store.get("/configmaps", "default/a") is not None


def test_a_folder_that_holds_something_else_is_a_clear_failure(tmp_path: Path) -> None:
    (tmp_path / "apiserver.db").write_text("no database at all, but some text that is long enough to be read" * 99)
    with pytest.raises(OSError, match="not a database"):
        Server(data_dir=str(tmp_path))
    with pytest.raises(OSError):
        Server(data_dir=str(tmp_path / "apiserver.db"))


def test_a_taken_port_is_a_clear_failure(env: Environment) -> None:
    with pytest.raises(OSError):
        Server(port=int(env.url.rpartition(":")[2]))


def test_token_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('# comment\ntok1,bob,1\ntok2, alice, 2, "dev, ops"\n')
    users = read_token_file(str(file))
    assert (users["tok1"].name, users["tok2"].groups) == ("bob", ("dev", "ops", "system:authenticated"))
    file.write_text("tok1,bob\n")
    with pytest.raises(ValueError, match=r"tokens.csv:1: .*at least 3 columns"):
        read_token_file(str(file))


def test_manifests_of_files_folders_and_lists(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("kind: B\n---\nkind: C\n")
    (tmp_path / "a.json").write_text('{"kind": "List", "items": [{"kind": "A"}]}')
    assert [doc["kind"] for doc in read_manifests([tmp_path])] == ["A", "B", "C"]
    with pytest.raises(FileNotFoundError):
        list(read_manifests([tmp_path / "missing"]))
    for path in (tmp_path, str(tmp_path)):
        with pytest.raises(TypeError, match="expected a list of paths, got "):
            Environment(crd_paths=path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("1:30", "1:30"),
        ("=", "="),
        ("!!set {a}", {"a": None}),
        ("!!python/object/apply:os.getcwd []", []),
        ("{1: a, yes: b}", {"1": "a", "true": "b"}),
        ("1e2", 100),
    ],
)
def test_a_manifest_is_read_as_go_reads_it(tmp_path: Path, text: str, value: Any) -> None:
    """A date became a Python object, which the server could not store."""
    (tmp_path / "a.yaml").write_text(f"%YAML 1.1\n---\nv: {text}\n...\n---\nv: 1\n--- {{v: 2}}\n")
    assert list(read_manifests([tmp_path])) == [{"v": value}, {"v": 1}, {"v": 2}]


@pytest.mark.parametrize(
    "text",
    [
        "v: " + "[" * 3000,
        "a: &a [*a]",
        "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"k{i}: &b [*a,*a]\n" for i in range(9)) + "v: *c",
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(8)),
        "a: [",
        "a: \0",
    ],
)
def test_a_text_that_is_no_manifest_is_a_parse_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ParseError, match=r"a\.yaml: yaml: "):
        list(read_manifests([tmp_path]))


def test_users_of_the_caller(tmp_path: Path) -> None:
    with Environment(tokens={"t": User("carol", "", ("system:authenticated",))}) as environment:
        answer = requests.get(
            environment.url + CONFIG_MAPS, headers={"Authorization": "Bearer t"}, timeout=PATIENCE
        ).json()
        assert answer["message"].startswith('configmaps is forbidden: User "carol" cannot list')


def test_a_kubeconfig_is_written_through_a_link_and_into_a_pipe(tmp_path: Path) -> None:
    # A rename would replace the link, and /dev/null for a server that runs as root.
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    write_kubeconfig(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600

    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), name="reader")
    reader.start()
    write_kubeconfig(pipe, "new")
    reader.join()
    assert (received, pipe.is_fifo()) == (["new"], True)

    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        write_kubeconfig(tmp_path, "new")
