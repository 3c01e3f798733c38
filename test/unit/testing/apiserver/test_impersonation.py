"""Impersonation: each part of the other identity needs a permission. Also tokens of deleted accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import urllib3
from patience import PATIENCE

from clientgo.golang.http.server_request import parse_head
from clientgo.testing.apiserver import Environment, User, admin_user
from clientgo.testing.apiserver.access.impersonation import impersonated
from clientgo.testing.apiserver.access.rbac import Authorizer
from clientgo.testing.apiserver.wire.http import Request

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
ACCOUNTS = ["system:serviceaccounts"]
ME = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    users = {f"token-of-{name}": User(name, "", ("system:authenticated",)) for name in ("carl", "gina", "nobody")}
    with Environment(tokens=users) as made:
        may(made, "carl", [{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}])
        may(
            made,
            "gina",
            [
                {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["bob"]},
                {"apiGroups": [""], "resources": ["groups"], "verbs": ["impersonate"], "resourceNames": ["dev"]},
                {
                    "apiGroups": ["authentication.k8s.io"],
                    "resources": ["userextras/scopes", "uids"],
                    "verbs": ["impersonate"],
                },
            ],
        )
        accounts = {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}
        may(made, "gina", [accounts], namespace="default")
        yield made


def may(env: Environment, user: str, rules: list[Json], namespace: str = "") -> None:
    kind = "Role" if namespace else "ClusterRole"
    metadata = {"name": f"as-{user}", **({"namespace": namespace} if namespace else {})}
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": user}]
    reference = {"apiGroup": RBAC, "kind": kind, "name": f"as-{user}"}
    head = {"apiVersion": f"{RBAC}/v1", "metadata": metadata}
    env.create({**head, "kind": kind, "rules": rules})
    env.create({**head, "kind": f"{kind}Binding", "subjects": subjects, "roleRef": reference})


def ask(env: Environment, token: str, *headers: tuple[str, str]) -> tuple[int, Json]:
    """Return the user that the server sees. `headers` are pairs, since a name may occur twice."""
    fields = urllib3.HTTPHeaderDict([("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")])
    for name, value in headers:
        fields.add(name, value)
    body = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    with urllib3.PoolManager() as pool:
        answer = pool.request("POST", env.url + ME, body=body, headers=fields, timeout=PATIENCE)
        return answer.status, answer.json()


def identity(env: Environment, *headers: tuple[str, str]) -> Json:
    code, answer = ask(env, env.token, *headers)
    assert code == 201, answer
    info: Json = answer["status"]["userInfo"]
    return info


def test_the_first_of_two_headers_counts(env: Environment) -> None:
    # As in Go, whose Header.Get returns the first value. An invented user "x, y" would have no rights.
    assert identity(env, ("Impersonate-User", "x"), ("Impersonate-User", "y"))["username"] == "x"
    twice = identity(env, ("Impersonate-User", "x"), ("Impersonate-Uid", "1"), ("Impersonate-Uid", "2"))
    assert twice["uid"] == "1"
    code, answer = ask(env, "unknown", ("Authorization", f"Bearer {env.token}"))
    assert (code, answer["reason"]) == (401, "Unauthorized")
    code, answer = ask(env, env.token, ("Authorization", "Bearer unknown"))
    assert (code, answer["status"]["userInfo"]["username"]) == (201, "kubernetes-admin"), answer


def test_an_identity_has_all_its_parts(env: Environment) -> None:
    assert identity(env, ("Impersonate-User", "x")) == {"username": "x", "groups": ["system:authenticated"]}
    assert identity(
        env,
        ("Impersonate-User", "x"),
        ("Impersonate-Uid", "u1"),
        ("Impersonate-Group", "g1,system:masters"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-Scopes", "a"),
        ("Impersonate-Extra-Scopes", "b"),
        ("Impersonate-Extra-Acme.com%2fproject", "p"),
    ) == {
        "username": "x",
        "uid": "u1",
        "groups": ["g1,system:masters", "g2", "system:authenticated"],
        "extra": {"scopes": ["a", "b"], "acme.com/project": ["p"]},
    }


@pytest.mark.parametrize(
    ("name", "groups", "wanted"),
    [
        ("x", ["system:unauthenticated"], ["system:unauthenticated"]),
        ("x", ["system:authenticated"], ["system:authenticated"]),
        ("system:anonymous", [], ["system:unauthenticated"]),
        ("system:serviceaccount:a:b", [], [*ACCOUNTS, "system:serviceaccounts:a", "system:authenticated"]),
        ("system:serviceaccount:a:b", ["g"], ["g", "system:authenticated"]),
        ("system:serviceaccount:A:b", [], ["system:authenticated"]),
        ("system:serviceaccount:a", [], ["system:authenticated"]),
    ],
)
def test_the_groups_of_everybody_are_added(env: Environment, name: str, groups: list[str], wanted: list[str]) -> None:
    head = "".join(f"\r\nImpersonate-Group: {group}" for group in groups)
    request = parse_head(f"GET / HTTP/1.1\r\nHost: x\r\nImpersonate-User: {name}{head}".encode(), make=Request)
    assert list(impersonated(Authorizer(env.server.store), request, admin_user()).groups) == wanted


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        (("Impersonate-Uid", "u1"), 'UID:"u1", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        (("Impersonate-Group", "g"), 'UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)'),
        (("Impersonate-Extra-A", "b"), 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}}'),
    ],
)
def test_parts_of_an_identity_need_a_name(env: Environment, header: tuple[str, str], shown: str) -> None:
    code, answer = ask(env, env.token, header)
    assert (code, answer["reason"]) == (400, "BadRequest")
    assert answer["message"] == f'requested &user.DefaultInfo{{Name:"", {shown}}} without impersonating a user name'


def test_rights_on_users_do_not_reach_service_accounts(env: Environment) -> None:
    assert ask(env, "token-of-carl", ("Impersonate-User", "anybody"))[0] == 201
    code, answer = ask(env, "token-of-carl", ("Impersonate-User", "system:serviceaccount:kube-system:default"))
    assert code == 403
    assert answer["message"] == (
        'serviceaccounts "default" is forbidden: User "carl" cannot impersonate resource "serviceaccounts" in '
        'API group "" in the namespace "kube-system"'
    )
    # What is no name of an account is a user like any other.
    assert ask(env, "token-of-carl", ("Impersonate-User", "system:serviceaccount:x"))[0] == 201


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([("Impersonate-User", "bob")], 201),
        ([("Impersonate-User", "eve")], 403),
        ([("Impersonate-User", "bob"), ("Impersonate-Group", "dev")], 201),
        ([("Impersonate-User", "bob"), ("Impersonate-Group", "dev"), ("Impersonate-Group", "system:masters")], 403),
        ([("Impersonate-User", "bob"), ("Impersonate-Group", "dev,system:masters")], 403),
        ([("Impersonate-User", "bob"), ("Impersonate-Extra-Scopes", "any")], 201),
        ([("Impersonate-User", "bob"), ("Impersonate-Extra-Other", "any")], 403),
        ([("Impersonate-User", "bob"), ("Impersonate-Uid", "1")], 201),
        ([("Impersonate-User", "system:serviceaccount:default:x")], 201),
        ([("Impersonate-User", "system:serviceaccount:kube-system:x")], 403),
    ],
)
def test_each_part_is_asked_for(env: Environment, headers: list[tuple[str, str]], code: int) -> None:
    assert ask(env, "token-of-gina", *headers)[0] == code
    assert ask(env, "token-of-nobody", *headers)[0] == 403


def test_a_token_dies_with_its_account(env: Environment) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts"
    headers = {"Authorization": f"Bearer {env.token}"}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "short"}}
    with requests.Session() as admin:
        admin.headers.update(headers)
        admin.post(env.url + path, json=account, timeout=PATIENCE).raise_for_status()
        made = admin.post(f"{env.url}{path}/short/token", json={"spec": {}}, timeout=PATIENCE).json()
        token = made["status"]["token"]
        code, answer = ask(env, token)
        assert (code, answer["status"]["userInfo"]["groups"]) == (
            201,
            ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        )
        admin.delete(f"{env.url}{path}/short", timeout=PATIENCE).raise_for_status()
        assert ask(env, token)[0] == 401
        admin.post(env.url + path, json=account, timeout=PATIENCE).raise_for_status()
        assert ask(env, token)[0] == 401
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        answer = admin.post(
            f"{env.url}/apis/authentication.k8s.io/v1/tokenreviews", json=review, timeout=PATIENCE
        ).json()
        assert "authenticated" not in answer["status"]
