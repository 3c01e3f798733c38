"""Minifying, flattening and redacting a config. Go: helpers_test.go."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from clientgo.tools.clientcmd import api

# In base64, as it stands in a file.
OMITTED = base64.b64decode("DATA+OMITTED")


def config() -> api.Config:
    """Return a config with two clusters, users and contexts. The context `a` has the cluster and the user `a`."""
    names = ("a", "b")
    return api.Config(
        clusters={name: api.Cluster(server=f"https://{name}") for name in names},
        auth_infos={name: api.AuthInfo(token=f"token of {name}") for name in names},
        contexts={name: api.Context(cluster=name, auth_info=name) for name in names},
        current_context="a",
    )


@pytest.mark.parametrize(
    "filled",
    [
        {"auth_infos": {"a": api.AuthInfo()}},
        {"clusters": {"a": api.Cluster()}},
        {"contexts": {"a": api.Context()}},
        {"current_context": "a"},
        {"preferences": api.Preferences(colors=True)},
        {"preferences": api.Preferences(extensions={"a": {}})},
        {"extensions": {"a": {}}},
    ],
)
def test_a_config_is_empty_when_nothing_is_set(filled: dict[str, object]) -> None:
    """Go: IsConfigEmpty."""
    assert api.is_config_empty(api.Config())
    assert not api.is_config_empty(api.Config(**filled))  # type: ignore[arg-type]


def test_a_minified_config_has_what_the_current_context_needs() -> None:
    """Go: TestMinifySuccess."""
    found = config()
    api.minify_config(found)
    assert [list(each) for each in (found.contexts, found.clusters, found.auth_infos)] == [["a"]] * 3
    lean = api.Config(contexts={"a": api.Context()}, current_context="a", clusters={"b": api.Cluster()})
    api.minify_config(lean)
    assert (list(lean.contexts), lean.clusters) == (["a"], {})


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("current_context", "current-context must exist in order to minify"),
        ("contexts", "cannot locate context a"),
        ("clusters", "cannot locate cluster a"),
        ("auth_infos", "cannot locate user a"),
    ],
)
def test_a_config_that_lacks_what_it_needs_is_not_minified(missing: str, message: str) -> None:
    """Go: TestMinifyMissingContext, TestMinifyMissingCluster, TestMinifyMissingAuthInfo."""
    found = config()
    setattr(found, missing, "" if missing == "current_context" else {})
    with pytest.raises(ValueError, match=f"^{message}$"):
        api.minify_config(found)


def test_a_shortened_config_shows_that_there_are_secrets_but_not_which() -> None:
    """Go: TestShortenSuccess."""
    found = config()
    found.auth_infos["a"] = api.AuthInfo(client_key_data=b"key", client_certificate_data=b"cert", username="u")
    found.clusters["a"].certificate_authority_data = b"ca"
    api.shorten_config(found)
    info = found.auth_infos["a"]
    assert (info.client_key_data, info.client_certificate_data) == (OMITTED, OMITTED)
    assert (info.token, info.username, found.auth_infos["b"].token) == ("", "u", "REDACTED")
    assert [cluster.certificate_authority_data for cluster in found.clusters.values()] == [OMITTED, b""]


def test_a_flattened_config_has_the_contents_of_the_files_beside_it(tmp_path: Path) -> None:
    """Go: TestFlattenSuccess."""
    (tmp_path / "key").write_bytes(b"the key")
    (tmp_path / "ca").write_bytes(b"the ca")
    found = config()
    found.auth_infos["a"] = api.AuthInfo(location_of_origin=str(tmp_path / "config"), client_key="key")
    found.auth_infos["b"] = api.AuthInfo(client_certificate_data=b"inline")
    found.clusters["a"] = api.Cluster(certificate_authority=str(tmp_path / "ca"))
    api.flatten_config(found)
    info, cluster = found.auth_infos["a"], found.clusters["a"]
    assert (info.client_key, info.client_key_data) == ("", b"the key")
    assert (cluster.certificate_authority, cluster.certificate_authority_data) == ("", b"the ca")
    assert found.auth_infos["b"].client_certificate_data == b"inline"
    with pytest.raises(ValueError, match="cannot have values for both path and contents"):
        api.flatten_content("key", b"inline", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        api.flatten_content("missing", b"", str(tmp_path))


def test_paths_are_taken_from_where_they_stand() -> None:
    """Go: ResolvePath, MakeAbs."""
    assert [api.resolve_path(path, "/base") for path in ("", "a/../b", "/c")] == ["", "/base/b", "/c"]
    assert [api.make_abs(path, "/base") for path in ("a/../b", "/c")] == ["/base/b", "/c"]


def test_secrets_are_redacted_wherever_they_stand_and_nothing_else() -> None:
    """Go: TestRedactSecrets."""
    found = config()
    variable = api.ExecEnvVar(name="N", value="V")
    found.auth_infos["a"] = api.AuthInfo(
        token="t", password="p", username="u", client_key_data=b"k", exec=api.ExecConfig(command="c", env=[variable])
    )
    api.redact_secrets(found)
    info = found.auth_infos["a"]
    assert (info.token, info.password, info.client_key_data) == ("REDACTED", "REDACTED", b"REDACTED")
    assert info.exec is not None and (info.username, info.exec.command) == ("u", "c")
    assert found.auth_infos["b"] == api.AuthInfo(token="REDACTED"), "what is not set stays so"
    assert found.clusters["a"].server == "https://a"
