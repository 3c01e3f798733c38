"""Errors of a kubeconfig have Go's texts, at any place in it, and finding them is cheap."""

from __future__ import annotations

import time
import traceback

import pytest
import yaml as pyyaml

from clientgo.golang import base64
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd.api import ExecConfig, ExecInteractiveMode, latest
from clientgo.tools.clientcmd.api.v1 import set_defaults_exec_config


def problem(text: str | bytes) -> str:
    with pytest.raises(ValueError) as caught:
        clientcmd.load(text.encode() if isinstance(text, str) else text)
    return str(caught.value)


# The struct and the path of Go's decoder, which reads a document with its keys in order.
WRONG_TYPES = [
    ("users: [{name: u, user: {token: 5}}]", "number into Go struct field AuthInfo.users.user.token of type string"),
    ("users: [{name: u, user: {token: true}}]", "bool into Go struct field AuthInfo.users.user.token of type string"),
    ("users: [{name: u, user: {token: [a]}}]", "array into Go struct field AuthInfo.users.user.token of type string"),
    ("users: [{name: u, user: {token: {}}}]", "object into Go struct field AuthInfo.users.user.token of type string"),
    ("users: [{name: 5}]", "number into Go struct field NamedAuthInfo.users.name of type string"),
    ("users: [{user: x}]", "string into Go struct field NamedAuthInfo.users.user of type v1.AuthInfo"),
    ("users: [x]", "string into Go struct field Config.users of type v1.NamedAuthInfo"),
    ("users: {}", "object into Go struct field Config.users of type []v1.NamedAuthInfo"),
    ("clusters: x", "string into Go struct field Config.clusters of type []v1.NamedCluster"),
    (
        "clusters: [{cluster: {insecure-skip-tls-verify: 'true'}}]",
        "string into Go struct field Cluster.clusters.cluster.insecure-skip-tls-verify of type bool",
    ),
    (
        "clusters: [{cluster: {certificate-authority-data: 5}}]",
        "number into Go struct field Cluster.clusters.cluster.certificate-authority-data of type []uint8",
    ),
    ("contexts: [{context: {user: 1}}]", "number into Go struct field Context.contexts.context.user of type string"),
    ("current-context: 1", "number into Go struct field Config.current-context of type string"),
    ("preferences: []", "array into Go struct field Config.preferences of type v1.Preferences"),
    ("preferences: {colors: 1}", "number into Go struct field Preferences.preferences.colors of type bool"),
    ("extensions: [{name: {}}]", "object into Go struct field NamedExtension.extensions.name of type string"),
    (
        "users: [{user: {as-groups: x}}]",
        "string into Go struct field AuthInfo.users.user.as-groups of type []string",
    ),
    (
        "users: [{user: {as-groups: [1]}}]",
        "number into Go struct field AuthInfo.users.user.as-groups of type string",
    ),
    (
        "users: [{user: {as-user-extra: {a: b}}}]",
        "string into Go struct field AuthInfo.users.user.as-user-extra of type []string",
    ),
    (
        "users: [{user: {as-user-extra: []}}]",
        "array into Go struct field AuthInfo.users.user.as-user-extra of type map[string][]string",
    ),
    (
        "users: [{user: {auth-provider: {config: {a: 1}}}}]",
        "number into Go struct field AuthProviderConfig.users.user.auth-provider.config of type string",
    ),
    (
        "users: [{user: {exec: {env: [{name: 1}]}}}]",
        "number into Go struct field ExecEnvVar.users.user.exec.env.name of type string",
    ),
    (
        "users: [{user: {exec: {interactiveMode: 1}}}]",
        "number into Go struct field ExecConfig.users.user.exec.interactiveMode of type v1.ExecInteractiveMode",
    ),
    ("users: [{user: {exec: x}}]", "string into Go struct field AuthInfo.users.user.exec of type v1.ExecConfig"),
    # The first in the order of the sorted document.
    ("users: x\nclusters: x", "string into Go struct field Config.clusters of type []v1.NamedCluster"),
    (
        "users: [{user: {username: 1, token: 1, exec: 1}}]",
        "number into Go struct field AuthInfo.users.user.exec of type v1.ExecConfig",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG_TYPES)
def test_a_wrongly_typed_field_is_named_with_its_struct_and_path(text, message):
    assert problem(text) == f"json: cannot unmarshal {message}"


HEADER = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
SCHEME = 'in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", f"couldn't get version/kind; json parse error: json: cannot unmarshal number into Go value of type {HEADER}"),  # noqa: E501
        ("x", f"couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type {HEADER}"),  # noqa: E501
        ("kind: 1", "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"),  # noqa: E501
        ("kind: Pod", f'no kind "Pod" is registered for version "v1" {SCHEME}'),
        ("Kind: Pod", f'no kind "Pod" is registered for version "v1" {SCHEME}'),
        ("apiVersion: v2", f'no kind "Config" is registered for version "v2" {SCHEME}'),
        ("apiVersion: apps/v1", f'no kind "Config" is registered for version "apps/v1" {SCHEME}'),
        ("apiVersion: a/b/c", "unexpected GroupVersion string: a/b/c"),
    ],
)  # fmt: skip
def test_another_kind_or_version_is_named(text, message):
    assert problem(text) == message


@pytest.mark.skipif(not pyyaml.__with_libyaml__, reason="the texts are libyaml's")
@pytest.mark.parametrize("char", "%@`")
def test_every_character_that_begins_no_token_is_reported(char):
    assert problem(f"a: {char}x") == "yaml: found character that cannot start any token"
    assert problem(f"b: 1\na: {char}x") == "yaml: line 2: found character that cannot start any token"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "contexts: [{name: a, context: {cluster: c, user: u}}, {name: a}]",
            'error converting *[]NamedContext into *map[string]*api.Context: duplicate name "a" in list: '
            "[{a {c u  []}} {a {   []}}]",
        ),
        (
            "extensions: [{name: a}, {name: a}]",
            'error converting *[]NamedExtension into *map[string]runtime.Object: duplicate name "a" in list: '
            "[{a {...}} {a {...}}]",
        ),
        (
            "users: [{name: a, user: {token: s3cret}}, {name: a}]",
            'error converting *[]NamedAuthInfo into *map[string]*api.AuthInfo: duplicate name "a" in list: '
            "[{a {...}} {a {...}}]",
        ),
    ],
)
def test_a_repeated_name_is_reported_without_credentials(text, message):
    assert problem(text) == message


def test_null_is_what_is_not_set():
    config = clientcmd.load(
        b"clusters: [{name: c, cluster: }, null]\nusers: [{name: u, user: {token: null, as-groups: [null], exec: }}]"
        b"\nextensions:\npreferences: null\nextra: 1"
    )
    assert list(config.clusters) == ["c", ""]
    assert config.auth_infos["u"].impersonate_groups == [""]
    assert config.auth_infos["u"].exec is None
    assert config.extensions == {}


# Go's decoder reads four letters at a time.
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("!", 0),
        ("a", 0),
        ("ab", 0),
        ("abc", 0),
        ("abcd!", 4),
        ("abcde", 4),
        ("abcdefg", 4),
        ("ab!d", 2),
        ("ab=", 3),
        ("ab=c", 2),
        ("abc=d", 4),
        ("ab==d", 4),
        ("a===", 1),
        ("=", 0),
        ("ab\ncd!", 6 - 1),
        ("é", 0),
    ],
)
def test_bad_base64_is_reported_with_gos_position(text, place):
    with pytest.raises(ValueError, match=f"^illegal base64 data at input byte {place}$"):
        base64.decode_string(text)


def test_good_base64():
    assert [base64.decode_string(text) for text in ("", "YQ==", "YWI=", "YW\r\nJj", "YR==")] == [
        b"",
        b"a",
        b"ab",
        b"abc",
        b"a",
    ]


HOSTILE = {
    "lists": b"[" * 100_000,
    "an extension 3,000 deep": b"extensions: [{name: a, extension: " + b"[" * 3_000 + b"]" * 3_000 + b"}]",
    "many values": b"extensions:\n" + b"- {name: a, extension: 1}\n" * 200_000,
    "large": b"a: " + b"x" * 17_000_000,
    "laughs": b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b",".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 12)),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_kubeconfig_is_one_error_that_names_the_file(name, tmp_path):
    path = tmp_path / "config"
    path.write_bytes(HOSTILE[name])
    before = time.process_time()
    with pytest.raises(Exception, match=f'^error loading config file "{path}": yaml: ') as caught:
        clientcmd.ClientConfigLoadingRules(explicit_path=str(path)).load()
    assert time.process_time() - before < 30
    assert len(str(caught.value)) < 300


def test_a_file_without_end_is_read_up_to_the_bound():
    with pytest.raises(ValueError, match=f"larger than {latest.LIMITS.size} bytes"):
        clientcmd.load_from_file("/dev/zero")


@pytest.mark.parametrize(
    "text", ["users: [{user: {token: *s3cret}}]", "token: !!int s3cret", "{{ s3cret }}: 1", "a: s3cret: x"]
)
def test_no_secret_shows_in_an_error_or_in_what_stands_behind_it(text):
    try:
        clientcmd.load(text.encode())
    except ValueError:
        assert "s3cret" not in traceback.format_exc().replace(text, "")
    else:
        pytest.fail("must be refused")


@pytest.mark.parametrize("text", [b"", b"# nothing yet\n", b"null", b"{}"])
def test_a_file_that_says_nothing_is_an_empty_config(text: bytes) -> None:
    """Go: clientcmd.Load."""
    assert clientcmd.load(text).clusters == {}


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1"])
@pytest.mark.parametrize("mode", ["", "Never"])
def test_plugins_of_old_versions_prompt_if_they_can(version: str, mode: str) -> None:
    """Go: TestSetDefaults_Config."""
    config = ExecConfig(
        api_version=f"client.authentication.k8s.io/{version}", interactive_mode=ExecInteractiveMode(mode)
    )
    set_defaults_exec_config(config)
    assert config.interactive_mode == (mode or ("" if version == "v1" else "IfAvailable"))
