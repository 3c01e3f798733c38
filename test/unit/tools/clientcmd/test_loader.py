"""Finding, merging, migrating and writing kubeconfig files."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api
from clientgo.tools.clientcmd.loader import WarningHandler, _deduplicate, locked_files

ALFA = api.Config(
    auth_infos={"red-user": api.AuthInfo(token="red-token")},
    clusters={"cow-cluster": api.Cluster(server="http://cow.org:8080")},
    contexts={"federal-context": api.Context(auth_info="red-user", cluster="cow-cluster", namespace="hammer-ns")},
)
BRAVO = api.Config(
    auth_infos={"black-user": api.AuthInfo(token="black-token")},
    clusters={"pig-cluster": api.Cluster(server="http://pig.org:8080")},
    contexts={"queen-anne-context": api.Context(auth_info="black-user", cluster="pig-cluster", namespace="saw-ns")},
    current_context="queen-anne-context",
)
CONFLICTING = api.Config(
    auth_infos={"red-user": api.AuthInfo(token="a-different-red-token"), "yellow-user": api.AuthInfo(token="yellow")},
    clusters={"cow-cluster": api.Cluster(server="http://a-different-cow.org:8080", insecure_skip_tls_verify=True)},
    current_context="federal-context",
)


def written(tmp_path, *configs: api.Config) -> list[str]:
    names = []
    for number, config in enumerate(configs):
        names.append(str(tmp_path / f"config-{number}"))
        clientcmd.write_to_file(config, names[-1])
    return names


def without_origin(config: api.Config) -> api.Config:
    config = config.deep_copy()
    for entries in (config.clusters, config.auth_infos, config.contexts):
        for entry in entries.values():
            entry.location_of_origin = ""
    return config


def test_missing_files(tmp_path, monkeypatch):
    """Go: TestNonExistentCommandLineFile
    Go: TestToleratingMissingFiles
    Go: TestWarningMissingFiles
    Go: TestNoWarningMissingFiles
    Go: TestNilOutMap
    Go: TestLoadingEmptyMaps"""
    errors_: list[Exception] = []
    names = [str(tmp_path / "a"), "", str(tmp_path / "b")]
    rules = clientcmd.ClientConfigLoadingRules(precedence=names, warner=WarningHandler(errors_.append))
    loaded = rules.load()
    assert loaded == api.Config()
    assert (loaded.clusters, loaded.auth_infos, loaded.contexts) == ({}, {}, {})
    assert errors_ == []
    rules.warn_if_all_missing = True
    rules.load()
    assert str(errors_[0]) == f"Config not found: {names[0]}, {names[2]}"
    (tmp_path / "a").write_text("clusters: []\nusers: null\n")
    errors_.clear()
    assert rules.load() == api.Config()
    assert errors_ == []
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        clientcmd.ClientConfigLoadingRules(explicit_path=str(tmp_path / "none")).load()


def test_an_explicit_file_that_cannot_be_looked_up_is_reported_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for path, reason in (("file/config", "not a directory"), ("circle", "too many levels of symbolic links")):
        full = str(tmp_path / path)
        with pytest.raises(clientcmd.ConfigLoadError) as caught:
            clientcmd.ClientConfigLoadingRules(explicit_path=full).load()
        assert str(caught.value) == f'error loading config file "{full}": open {full}: {reason}'



def test_kubeconfig_that_names_only_missing_files_is_logged_once_with_the_files_and_the_remedy(
    tmp_path, monkeypatch, caplog
):
    missing = [str(tmp_path / "a"), str(tmp_path / "b")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(missing))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    rules = clientcmd.new_default_client_config_loading_rules()
    for _ in range(3):
        config = clientcmd.new_non_interactive_deferred_loading_client_config(rules, clientcmd.ConfigOverrides())
        with pytest.raises(Exception, match="no configuration has been provided"):
            config.client_config()
    [line] = [record.getMessage() for record in caplog.records]
    assert line == (
        f"Config not found: {missing[0]}, {missing[1]}; set KUBECONFIG to an existing file, "
        f"or unset it to use {clientcmd.RECOMMENDED_HOME_FILE}"
    )
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "c"))
    clientcmd.new_default_client_config_loading_rules().load()
    assert f"Config not found: {tmp_path / 'c'}" in caplog.records[-1].getMessage()


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n\n  ",
        "# only\n# comments\n",
        "---\n",
        "---\n---\n",
        "null\n",
        "~",
        "{}",
        "\ufeff",
        "kind: Config\napiVersion: v1\n",
    ],
)
@pytest.mark.parametrize("named_by", ["variable", "flag"])
def test_a_file_without_a_configuration_is_named_once_with_the_solution(
    content: str, named_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "config"
    path.write_text(content)
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "missing"), str(path)]))

    for _ in range(2):
        with pytest.raises(Exception) as caught:
            if named_by == "flag":
                clientcmd.build_config_from_flags("", str(path))
            else:
                rules = clientcmd.new_default_client_config_loading_rules()
                clientcmd.new_non_interactive_deferred_loading_client_config(rules, None).client_config()
        # The error itself stays as it is in Go.
        assert str(caught.value) == f"invalid configuration: {clientcmd.ErrEmptyConfig()}"

    (line,) = [each.getMessage() for each in caplog.records if "empty" in each.getMessage()]
    assert line == (
        f"Config is empty: {path}; add a cluster and a context, for example with kubectl config set-cluster and "
        "set-context, or name another file with KUBECONFIG or the program's flag"
    )


def test_an_empty_file_to_change_and_one_next_to_a_configuration_are_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    empty, other = tmp_path / "empty", tmp_path / "other"
    empty.touch()
    monkeypatch.setenv("KUBECONFIG", str(empty))
    assert clientcmd.new_default_client_config_loading_rules().get_starting_config() == clientcmd.api.new_config()
    assert clientcmd.build_config_from_flags("https://a", str(empty)).host == "https://a"
    other.write_text(
        "clusters: [{name: c, cluster: {server: 'https://b'}}]\n"
        "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n"
    )
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(empty), str(other)]))
    rules = clientcmd.new_default_client_config_loading_rules()
    assert clientcmd.new_non_interactive_deferred_loading_client_config(rules, None).client_config().host == "https://b"

    assert "empty" not in caplog.text


def test_a_kubeconfig_to_be_written_first_is_not_reported_missing(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "new"))
    rules = clientcmd.new_default_client_config_loading_rules()
    clientcmd.modify_config(rules, BRAVO, True)
    assert without_origin(clientcmd.load_from_file(str(tmp_path / "new"))) == BRAVO
    assert caplog.records == []


def test_unreadable_files(tmp_path):
    """Go: TestErrorReadingFile
    Go: TestErrorReadingNonFile"""
    (tmp_path / "bad").write_text("bogus value")
    for name in ("bad", "."):
        path = str(tmp_path / name)
        with pytest.raises(clientcmd.ConfigLoadError, match=f'error loading config file "{path}"'):
            clientcmd.ClientConfigLoadingRules(precedence=[path]).load()


def test_merging(tmp_path):
    """Go: Example_mergingEverythingNoConflicts
    Go: Example_mergingSomeWithConflict
    Go: Example_noMergingOnExplicitPaths
    Go: TestConflictingCurrentContext"""
    names = written(tmp_path, ALFA, BRAVO, CONFLICTING)
    merged = clientcmd.ClientConfigLoadingRules(precedence=names[:2]).load()
    assert set(merged.clusters) == {"cow-cluster", "pig-cluster"}
    assert merged.current_context == "queen-anne-context"
    merged = clientcmd.ClientConfigLoadingRules(precedence=[names[0], names[2]]).load()
    assert merged.auth_infos["red-user"].token == "red-token"
    assert merged.clusters["cow-cluster"].server == "http://cow.org:8080"
    assert not merged.clusters["cow-cluster"].insecure_skip_tls_verify
    assert merged.auth_infos["yellow-user"].location_of_origin == names[2]
    assert merged.current_context == "federal-context"
    merged = clientcmd.ClientConfigLoadingRules(precedence=[names[1], names[2]]).load()
    assert merged.current_context == "queen-anne-context"
    explicit = clientcmd.ClientConfigLoadingRules(explicit_path=names[0], precedence=names).load()
    assert without_origin(explicit) == ALFA


def test_what_is_written_reads_back_the_same_and_is_private(tmp_path):
    """Go: TestEncodeYAML"""
    config = api.Config(
        preferences=api.Preferences(colors=True, extensions={"e": {"a": 1}}),
        clusters={"c": api.Cluster(server="h", certificate_authority_data=b"ca", extensions={"x": {"kind": "K"}})},
        auth_infos={
            "u": api.AuthInfo(
                exec=api.ExecConfig(
                    command="x", args=["1"], env=[api.ExecEnvVar(name="n", value="v")], api_version="v"
                ),
                impersonate="me",
                impersonate_user_extra={"k": ["v"]},
                auth_provider=api.AuthProviderConfig(name="p", config={"a": "b"}),
            )
        },
        contexts={"x": api.Context(cluster="c", auth_info="u")},
        current_context="x",
        extensions={"top": [1, 2]},
    )
    [name] = written(tmp_path / "new" / "folder", config)
    assert without_origin(clientcmd.load_from_file(name)) == config
    assert stat.S_IMODE(os.stat(name).st_mode) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "clusters: [{name: a, cluster: {}}, {name: a, cluster: {}}]",
        "contexts: [{name: a, context: {}}, {name: a, context: {}}]",
        "users: [{name: a, user: {}}, {name: a, user: {}}]",
        "extensions: [{name: a, extension: {}}, {name: a, extension: {}}]",
    ],
)
def test_duplicate_names(text):
    """Go: TestDuplicateClusterName
    Go: TestDuplicateContextName
    Go: TestDuplicateUserName
    Go: TestDuplicateExtensionName"""
    with pytest.raises(ValueError, match='error converting .* duplicate name "a" in list'):
        clientcmd.load(f"apiVersion: v1\nkind: Config\n{text}\n".encode())


def test_relative_paths_belong_to_the_folder_of_their_file(tmp_path):
    """Go: TestResolveRelativePaths"""
    config = api.Config(
        clusters={"r": api.Cluster(certificate_authority="../ca"), "a": api.Cluster(certificate_authority="/abs/ca")},
        auth_infos={
            "r": api.AuthInfo(
                client_certificate="c/cert", client_key="key", token_file="t", exec=api.ExecConfig(command="./x")
            ),
            "p": api.AuthInfo(exec=api.ExecConfig(command="on-path")),
        },
    )
    [name] = written(tmp_path / "kube", config)
    loaded = clientcmd.ClientConfigLoadingRules(explicit_path=name).load()
    assert loaded.clusters["r"].certificate_authority == str(tmp_path / "ca")
    assert loaded.clusters["a"].certificate_authority == "/abs/ca"
    user = loaded.auth_infos["r"]
    assert user.client_certificate == str(tmp_path / "kube" / "c" / "cert")
    assert (user.client_key, user.token_file) == (str(tmp_path / "kube" / "key"), str(tmp_path / "kube" / "t"))
    assert user.exec is not None
    assert user.exec.command == str(tmp_path / "kube" / "x")
    assert loaded.auth_infos["p"].exec.command == "on-path"
    as_they_are = clientcmd.ClientConfigLoadingRules(explicit_path=name, do_not_resolve_paths=True).load()
    assert as_they_are.auth_infos["r"].client_key == "key"
    base = str(tmp_path / "kube")
    clientcmd.relativize_config_paths(loaded, base)
    assert loaded.auth_infos["r"].client_certificate == "c/cert"
    assert loaded.clusters["r"].certificate_authority == str(tmp_path / "ca"), "it would need .."


def test_migration(tmp_path):
    """Go: TestMigratingFile
    Go: TestMigratingFileLeaveExistingFileAlone
    Go: TestMigratingFileSourceMissingSkip"""
    [source] = written(tmp_path, ALFA)
    target, existing = tmp_path / "target", tmp_path / "existing"
    existing.write_text("")
    rules = clientcmd.ClientConfigLoadingRules(
        migration_rules={str(target): source, str(existing): source, str(tmp_path / "x"): str(tmp_path / "none")}
    )
    rules.load()
    assert clientcmd.load(target.read_bytes()) == ALFA
    assert existing.read_text() == ""
    assert not (tmp_path / "x").exists()


def test_a_held_lock_file_makes_a_second_lock_fail(tmp_path):
    """Go: TestFileLocking"""
    name = str(tmp_path / "new" / "config")
    with locked_files([name]), pytest.raises(FileExistsError), locked_files([name]):
        pass
    with locked_files([name]):
        pass


@pytest.mark.parametrize(("names", "expected"), [("abcdef", "abcdef"), ("abcbef", "abcef"), ("aabbcb", "abc")])
def test_deduplicate(names, expected):
    """Go: TestDeduplicate/#0-#2"""
    assert _deduplicate(names) == list(expected)


def test_loading_precedence(monkeypatch):
    """Go: TestLoadingGetLoadingPrecedence/default
    Go: TestLoadingGetLoadingPrecedence/explicit
    Go: TestLoadingGetLoadingPrecedence/envvar-single
    Go: TestLoadingGetLoadingPrecedence/envvar-multiple"""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    rules = clientcmd.new_default_client_config_loading_rules()
    assert rules.get_loading_precedence() == [clientcmd.RECOMMENDED_HOME_FILE]
    monkeypatch.setenv("KUBECONFIG", "/env/file")
    rules = clientcmd.new_default_client_config_loading_rules()
    assert rules.get_loading_precedence() == ["/env/file"]
    monkeypatch.setenv("KUBECONFIG", "/a:/b:/a")
    rules = clientcmd.new_default_client_config_loading_rules()
    assert rules.get_loading_precedence() == ["/a", "/b"]
    rules.explicit_path = "/explicit"
    assert rules.get_loading_precedence() == ["/explicit"]


def test_changes_go_into_the_file_an_entry_came_from(tmp_path, monkeypatch):
    """Go: TestModifyConfigWritesToFirstKubeconfigFile"""
    names = written(tmp_path, ALFA, BRAVO)
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(names))
    options = clientcmd.new_default_path_options()
    config = options.get_starting_config().deep_copy()
    config.current_context = "federal-context"
    config.auth_infos["black-user"].token = "new-token"
    config.contexts["fresh"] = api.Context(cluster="pig-cluster")
    del config.clusters["cow-cluster"]
    clientcmd.modify_config(options, config, False)
    first, second = (clientcmd.load_from_file(name) for name in names)
    assert first.current_context == "federal-context"
    assert second.current_context == "queen-anne-context"
    assert second.auth_infos["black-user"].token == "new-token"
    assert "fresh" in first.contexts
    assert first.clusters == {}
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize(
    ("precedence", "existing", "expected"),
    [("ab", "", "a"), ("ab", "b", "b"), ("ab", "ab", "a"), ("b", "", "b"), ("", "", "")],
)
def test_new_entries_go_into_the_first_file_there_is_or_the_first_of_all(tmp_path, precedence, existing, expected):
    """Go: GetDefaultFilename."""
    for name in existing:
        (tmp_path / name).touch()
    rules = clientcmd.ClientConfigLoadingRules(precedence=[str(tmp_path / name) for name in precedence])
    assert rules.get_default_filename() == (str(tmp_path / expected) if expected else "")
    rules.explicit_path = "/explicit"
    assert rules.get_default_filename() == "/explicit"
