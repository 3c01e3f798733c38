"""The user of a token, and the requested form of a response. No server runs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from clientgo.testing.apiserver.access.auth import Authenticator, read_token_file
from clientgo.testing.apiserver.access.tokens import API_AUDIENCES, BOUND_KINDS, ServiceAccountTokens
from clientgo.testing.apiserver.access.users import ANONYMOUS, AUTHENTICATED, User
from clientgo.testing.apiserver.wire import negotiation
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request
from clientgo.testing.apiserver.wire.jsonio import Json
from clientgo.testing.apiserver.wire.times import Times
from clientgo.utils.clock import testing as clocktesting

BOB = User("bob", "1", (AUTHENTICATED,))
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def request(target: str = "/", minor: int = 1, **headers: str) -> Request:
    return Request("GET", target, {name.replace("_", "-"): value for name, value in headers.items()}, minor=minor)


class Cluster:
    """Objects by storage and key, and an authenticator that knows bob by the token "secret"."""

    def __init__(self) -> None:
        self.clock = clocktesting.new_fake_clock(1000.0)
        self.objects: dict[tuple[str, str], Json] = {}
        self.account = self.add("/serviceaccounts", "robot", "u")
        uids = (f"id-{number}" for number in itertools.count(1))
        tokens = ServiceAccountTokens(b"key", Times(self.clock), self.lookup, lambda: next(uids))
        self.authenticator = Authenticator({"secret": BOB}, tokens)

    def add(self, storage: str, name: str, uid: str, **spec: Any) -> Json:
        namespace = "" if storage == "/nodes" else "team"
        obj = {"metadata": {"namespace": namespace, "name": name, "uid": uid}, "spec": spec}
        self.objects[storage, f"{namespace}/{name}".lstrip("/")] = obj
        return obj

    def lookup(self, storage: str, key: str) -> Json | None:
        return self.objects.get((storage, key))

    def issue(self, seconds: int = 600, audiences: tuple[str, ...] = API_AUDIENCES, bound: Any = None) -> str:
        return self.authenticator.accounts.issue(self.account, seconds, audiences, bound)[0]

    def user_of(self, token: str) -> User | None:
        return self.authenticator.user_of(token)

    def why_not(self, token: str, *audiences: str) -> str:
        return self.authenticator.review(token, audiences or API_AUDIENCES)[2]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.mark.parametrize(
    ("header", "user"),
    [
        ("", ANONYMOUS),
        ("Bearer secret", BOB),
        ("  bEARER secret ", BOB),
        ("Bearer secret and more", BOB),
        ("bearer  secret ", ANONYMOUS),
        ("Bearer\tsecret", ANONYMOUS),
        ("Bearer", ANONYMOUS),
        ("Bearer  ", ANONYMOUS),
        ("Basic secret", ANONYMOUS),
    ],
)
def test_a_token_names_a_user_and_what_is_no_token_nobody(cluster: Cluster, header: str, user: User) -> None:
    req = request(authorization=header)
    assert cluster.authenticator.authenticate(req) is user
    assert len(req.warnings) == (header == "bearer  secret ")


def test_a_second_space_before_the_token_causes_a_warning(cluster: Cluster) -> None:
    ignored = request(authorization="Bearer  secret")
    assert cluster.authenticator.authenticate(ignored) is ANONYMOUS
    (text,) = ignored.warnings
    assert text == "the provided Authorization header contains extra space before the bearer token, and is ignored"


@pytest.mark.parametrize(("token", "user"), [("secret", BOB), ("secret x", BOB), (" secret", None), ("secret\n", BOB)])
def test_a_reviewed_token_ends_at_a_space_as_in_a_header(cluster: Cluster, token: str, user: User | None) -> None:
    assert cluster.authenticator.review(token, API_AUDIENCES)[::2] == (user, "")


@pytest.mark.parametrize("token", ["other", "a.b.c", "..", "a..b"])
def test_an_unknown_token_is_refused(cluster: Cluster, token: str) -> None:
    with pytest.raises(ApiError) as raised:
        cluster.authenticator.authenticate(request(authorization=f"Bearer {token}"))
    assert (raised.value.code, raised.value.reason) == (401, "Unauthorized")
    assert cluster.why_not(token) == "invalid bearer token"


def test_the_token_of_a_service_account_names_it_and_its_credential(cluster: Cluster) -> None:
    user = cluster.user_of(cluster.issue())
    assert user is not None and (user.name, user.uid) == ("system:serviceaccount:team:robot", "u")
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:team", AUTHENTICATED)
    assert user.extra == {"authentication.kubernetes.io/credential-id": ["JTI=id-1"]}


def test_a_token_is_valid_until_a_minute_after_its_end(cluster: Cluster) -> None:
    token = cluster.issue(seconds=600)
    cluster.clock.step(660.0)
    assert cluster.user_of(token) is not None
    cluster.clock.step(1.0)
    assert cluster.user_of(token) is None
    assert cluster.why_not(token) == "[invalid bearer token, service account token has expired]"


def test_a_token_of_the_future_is_refused(cluster: Cluster) -> None:
    cluster.clock.step(61.0)
    token = cluster.issue()
    cluster.clock.set_time(1000.0)
    assert cluster.why_not(token) == "[invalid bearer token, service account token is not valid yet]"


def test_a_token_ends_with_its_service_account(cluster: Cluster) -> None:
    token = cluster.issue()
    assert cluster.user_of(token) is not None
    cluster.add("/serviceaccounts", "robot", "another")
    assert "service account UID (another) does not match claim (u)" in cluster.why_not(token)
    cluster.objects.clear()
    assert 'serviceaccounts "robot" not found' in cluster.why_not(token)


def test_only_the_server_makes_tokens(cluster: Cluster) -> None:
    token, other = cluster.issue(), cluster.issue(seconds=6000)
    head, body, signature = token.split(".")
    forged = other.split(".")[1]
    for wrong in (f"{head}.{forged}.{signature}", f"{head}.{body}.{signature[:-2]}", f"{head}.{body}."):
        assert cluster.user_of(wrong) is None
        assert cluster.why_not(wrong) == "invalid bearer token"


@pytest.mark.parametrize(
    ("token_for", "asked", "valid_for"),
    [
        (["vault"], API_AUDIENCES, []),
        (["vault"], ["vault"], ["vault"]),
        (["vault", "s3"], ["s3", "other", "vault"], ["vault", "s3"]),
        (API_AUDIENCES, ["vault"], []),
        ([*API_AUDIENCES, "vault"], API_AUDIENCES, [*API_AUDIENCES]),
        ([], API_AUDIENCES, []),
    ],
)
def test_a_token_is_for_its_audiences_only(
    cluster: Cluster, token_for: Any, asked: Any, valid_for: list[str]
) -> None:
    user, audiences, why = cluster.authenticator.review(cluster.issue(audiences=token_for), asked)
    assert (user is not None, audiences) == (bool(valid_for), valid_for)
    assert ("is invalid for the target audiences" in why) is not bool(valid_for)


def test_a_static_token_is_for_the_api_server(cluster: Cluster) -> None:
    assert cluster.authenticator.review("secret", API_AUDIENCES) == (BOB, [*API_AUDIENCES], "")
    assert cluster.authenticator.review("secret", ["vault"]) == (None, [], "invalid bearer token")


@pytest.mark.parametrize("kind", ["Pod", "Secret", "Node"])
def test_a_token_ends_with_the_object_that_it_is_bound_to(cluster: Cluster, kind: str) -> None:
    storage = BOUND_KINDS[kind][0]
    token = cluster.issue(bound=(kind, cluster.add(storage, "it", "1")))
    user = cluster.user_of(token)
    assert user is not None
    assert user.extra.get(f"authentication.kubernetes.io/{kind.lower()}-uid", ["1"]) == ["1"]
    cluster.add(storage, "it", "2")
    assert f"{kind.lower()} UID (2) does not match" in cluster.why_not(token)
    cluster.add(storage, "it", "1")["metadata"]["deletionTimestamp"] = "1970-01-01T00:16:40Z"
    assert cluster.user_of(token) is not None, "for a minute more, while it ends"
    cluster.clock.step(61.0)
    assert "service account token has been invalidated" in cluster.why_not(token)
    del cluster.objects[storage, "it" if kind == "Node" else "team/it"]
    assert "service account token has been invalidated" in cluster.why_not(token)


def test_the_token_of_a_pod_names_its_node_which_does_not_bind_it(cluster: Cluster) -> None:
    cluster.add("/nodes", "n", "node-uid")
    token = cluster.issue(bound=("Pod", cluster.add("/pods", "web", "1", nodeName="n")))
    del cluster.objects["/nodes", "n"]
    user = cluster.user_of(token)
    assert user is not None
    assert {name.rpartition("/")[2]: value for name, value in user.extra.items()} == {
        "credential-id": ["JTI=id-1"],
        "node-name": ["n"],
        "node-uid": ["node-uid"],
        "pod-name": ["web"],
        "pod-uid": ["1"],
    }


def test_a_file_of_tokens(tmp_path: Path) -> None:
    file = tmp_path / "tokens.csv"
    file.write_text('# who,is,who\nt1,alice,1,"devs, ops"\n\nt2,bob,2\n')
    users = read_token_file(str(file))
    assert {token: (user.name, user.uid, user.groups) for token, user in users.items()} == {
        "t1": ("alice", "1", ("devs", "ops", AUTHENTICATED)),
        "t2": ("bob", "2", (AUTHENTICATED,)),
    }
    for text, message in (("t1,alice\n", ":1: token file must have at least 3"), (",alice,1\n", ":1: empty token")):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"^{file}{message}"):
            read_token_file(str(file))


# ---- the form of an answer


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", ("application/json", "")),
        ("*/*", ("application/json", "")),
        (f"{PROTOBUF},application/json", (PROTOBUF, "")),
        (f"{PROTOBUF};q=0.5,application/json;q=0.9", ("application/json", "")),
        (f"{TABLE},application/json", ("application/json", "Table")),
        (f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1,{TABLE}", ("application/json", "Table")),
        ("application/json;as=Table;g=other.io;v=v1,application/yaml", ("application/yaml", "")),
        ("application/json;as=Table;g=meta.k8s.io;v=v9,text/yaml", ("application/yaml", "")),
        ("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ("application/json", "PartialObjectMetadata")),
        (f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,*/*", (PROTOBUF, "PartialObjectMetadata")),
        (f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1,*/*", ("application/json", "")),
        (f"{PROTOBUF};as=PartialObjectMetadata;g=other.io;v=v1,*/*", ("application/json", "")),
    ],
)
def test_the_first_form_that_there_is_is_chosen(accept: str, form: tuple[str, str]) -> None:
    found = negotiation.choose(request(accept=accept), supports_protobuf=lambda: True)
    assert (found.media, found.kind) == form


def test_a_form_that_there_is_not_is_refused() -> None:
    for accept, objects in (("text/html", True), (PROTOBUF, True), (TABLE, False)):
        with pytest.raises(ApiError, match="only the following media types are accepted: application/json, "):
            negotiation.choose(request(accept=accept), objects=objects, supports_protobuf=lambda: False)
    with pytest.raises(ApiError, match="accepted: application/json;stream=watch, "):
        negotiation.choose(request(accept="application/yaml"), stream=True)


def test_what_no_route_produces_is_refused_whatever_its_parameters() -> None:
    for accept in ("", "*/*", "text/html,application/json;as=Bogus", f"{PROTOBUF};as=Table"):
        negotiation.check_route(request(accept=accept), negotiation.OBJECTS)
    for accept in ("text/html", "application/*", "application/json-seq"):
        with pytest.raises(ApiError, match="406: Not Acceptable\\n\\nAvailable representations: application/json, "):
            negotiation.check_route(request(accept=accept), negotiation.OBJECTS)


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", "application/json"),
        (PROTOBUF, PROTOBUF),
        (f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1,application/json", "application/json"),
        (f"text/html,{PROTOBUF}", PROTOBUF),
        (f"*/*,{PROTOBUF}", "application/json"),
        (f"application/yaml,{PROTOBUF}", "application/yaml"),
    ],
)
def test_errors_go_out_in_the_first_form_that_a_status_has(accept: str, media: str) -> None:
    assert negotiation.of_errors(request(accept=accept)) == media


@pytest.mark.parametrize(
    ("target", "agent", "neat"),
    [
        ("/", "curl/8", True),
        ("/", "kubectl/v1", False),
        ("/?pretty=true", "", True),
        ("/?pretty=false", "curl/8", False),
        ("/?pretty=0", "curl/8", False),
        ("/?pretty", "", False),  # Go: isPrettyPrint; an empty value leaves it to the agent
        ("/?pretty", "curl/8", True),
        ("/?pretty=yes", "curl/8", False),
    ],
)
def test_people_get_lines_and_programs_do_not(target: str, agent: str, neat: bool) -> None:
    assert negotiation.pretty(request(target, user_agent=agent)) is neat


@pytest.mark.parametrize(
    ("minor", "connection", "kept"),
    [(1, "", True), (1, "close", False), (1, "x, Close", False), (0, "", False), (0, "Keep-Alive", True)],
)
def test_a_connection_is_kept_as_its_version_and_its_client_say(minor: int, connection: str, kept: bool) -> None:
    assert request(minor=minor, connection=connection).keep_alive is kept
