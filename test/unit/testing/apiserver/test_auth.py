"""Whose a token is, and what form of answer a request asks for; no server runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clientgo.testing.apiserver.access.auth import ANONYMOUS, AUTHENTICATED, Authenticator, User, read_token_file
from clientgo.testing.apiserver.wire import negotiation
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.messages import Request
from clientgo.utils.clock import testing as clocktesting

BOB = User("bob", "1", (AUTHENTICATED,))
PROTOBUF = "application/vnd.kubernetes.protobuf"
TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def request(target: str = "/", minor: int = 1, **headers: str) -> Request:
    return Request("GET", target, {name.replace("_", "-"): value for name, value in headers.items()}, minor=minor)


def authenticator(accounts: dict[str, str], clock: clocktesting.FakeClock | None = None) -> Authenticator:
    """Knows bob by the token "secret", and the service accounts of namespace `team` by name and uid."""
    now = (clock or clocktesting.new_fake_clock(1000.0)).now
    return Authenticator({"secret": BOB}, now, b"key", lambda namespace, name: accounts.get(name, ""))


@pytest.mark.parametrize(
    ("header", "user"),
    [
        ("", ANONYMOUS),
        ("Bearer secret", BOB),
        ("bearer  secret ", BOB),
        ("Bearer", ANONYMOUS),
        ("Bearer  ", ANONYMOUS),
        ("Basic secret", ANONYMOUS),
    ],
)
def test_a_token_names_a_user_and_what_is_no_token_nobody(header: str, user: User) -> None:
    assert authenticator({}).authenticate(request(authorization=header)) is user


@pytest.mark.parametrize("token", ["other", "a.b.c", "..", "a..b"])
def test_a_token_nobody_knows_is_refused(token: str) -> None:
    with pytest.raises(ApiError) as raised:
        authenticator({}).authenticate(request(authorization=f"Bearer {token}"))
    assert (raised.value.code, raised.value.reason) == (401, "Unauthorized")


def test_the_token_of_a_service_account_holds_until_its_time_is_over() -> None:
    clock = clocktesting.new_fake_clock(1000.0)
    known = authenticator({"robot": "u"}, clock)
    token, ends = known.issue("team", "robot", "u", 600, [])
    user = known.user_of(token)
    assert user is not None and (user.name, user.uid, ends) == ("system:serviceaccount:team:robot", "u", 1600.0)
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:team", AUTHENTICATED)
    clock.step(600.0)
    assert known.user_of(token) is not None
    clock.step(1.0)
    assert known.user_of(token) is None


def test_the_token_of_a_service_account_dies_with_it_and_cannot_be_made_by_others() -> None:
    token, _ = authenticator({}).issue("team", "robot", "u", 600, [])
    for accounts, holds in (({"robot": "u"}, True), ({"robot": "another"}, False), ({}, False)):
        assert (authenticator(accounts).user_of(token) is not None) is holds
    head, body, signature = token.split(".")
    forged = authenticator({}).issue("team", "robot", "v", 600, [])[0].split(".")[1]
    for wrong in (f"{head}.{forged}.{signature}", f"{head}.{body}.{signature[:-2]}", f"{head}.{body}."):
        assert authenticator({"robot": "u"}).user_of(wrong) is None


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
    found = negotiation.choose(request(accept=accept), speaks_protobuf=lambda: True)
    assert (found.media, found.kind) == form


def test_a_form_that_there_is_not_is_refused() -> None:
    for accept, objects in (("text/html", True), (PROTOBUF, True), (TABLE, False)):
        with pytest.raises(ApiError, match="only the following media types are accepted: application/json, "):
            negotiation.choose(request(accept=accept), objects=objects, speaks_protobuf=lambda: False)
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
