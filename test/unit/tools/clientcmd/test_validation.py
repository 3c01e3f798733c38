"""Checking kubeconfigs."""

from __future__ import annotations

import pytest

from clientgo.apimachinery.util.errors import AggregateError, is_error
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api
from clientgo.tools.clientcmd.validation import (
    _ConfigurationInvalidError,
    _ContextNotFoundError,
    validate_auth_info,
    validate_cluster_info,
)

EXEC = {"command": "/bin/example", "api_version": "client.authentication.k8s.io/v1", "interactive_mode": "Never"}


def failure(fn, *args) -> Exception | None:
    try:
        fn(*args)
    except Exception as err:
        return err
    return None


def config(**parts) -> api.Config:
    return api.Config(
        clusters={"anything": api.Cluster(server="example.com")},
        auth_infos={"clean": api.AuthInfo(token="t")},
        contexts={"ctx": api.Context(cluster="anything", auth_info="clean")},
        **parts,
    )


def test_only_the_chosen_context_must_be_usable():
    """Go: TestConfirmUsableBadInfoButOkConfig
    Go: TestConfirmUsableMissingObjects
    Go: TestConfirmUsableBadInfoConfig"""
    cfg = config()
    cfg.clusters["missing ca"] = api.Cluster(server="h", certificate_authority="missing")
    cfg.auth_infos["error"] = api.AuthInfo(username="anything", token="here")
    cfg.contexts["badcluster"] = api.Context(cluster="missing ca", auth_info="clean")
    cfg.contexts["baduser"] = api.Context(cluster="anything", auth_info="error")
    cfg.contexts["dangling"] = api.Context(cluster="no", auth_info="no")
    clientcmd.confirm_usable(cfg, "ctx")
    assert "unable to read certificate-authority" in str(failure(clientcmd.confirm_usable, cfg, "badcluster"))
    assert "more than one authentication method" in str(failure(clientcmd.confirm_usable, cfg, "baduser"))
    dangling = str(failure(clientcmd.confirm_usable, cfg, "dangling"))
    assert 'user "no" was not found' in dangling
    assert 'cluster "no" was not found' in dangling


def test_empty_and_missing():
    """Go: TestConfirmUsableEmptyConfig
    Go: TestConfirmUsableMissingConfig
    Go: TestValidateEmptyConfig
    Go: TestIsEmptyConfig
    Go: TestValidateMissingCurrentContextConfig
    Go: TestIsContextNotFound
    Go: TestIsConfigurationInvalid"""
    empty = api.Config()
    for err in (failure(clientcmd.confirm_usable, empty, ""), failure(clientcmd.validate, empty)):
        assert clientcmd.is_empty_config(err)
        assert clientcmd.is_configuration_invalid(err)
    missing = failure(clientcmd.confirm_usable, config(), "nope")
    assert clientcmd.is_context_not_found(missing)
    assert clientcmd.is_configuration_invalid(missing)
    assert not clientcmd.is_empty_config(missing)
    assert isinstance(failure(clientcmd.confirm_usable, config(), ""), clientcmd.ErrNoContext)
    current = failure(clientcmd.validate, config(current_context="nope"))
    assert clientcmd.is_context_not_found(current)
    assert not clientcmd.is_context_not_found(None)
    assert not clientcmd.is_context_not_found(ValueError("x"))
    assert clientcmd.is_empty_config(clientcmd.new_empty_config_error("anything"))
    assert not clientcmd.is_empty_config(ValueError("x"))
    assert clientcmd.is_configuration_invalid(clientcmd.ErrNoContext())
    assert not clientcmd.is_configuration_invalid(ValueError("x"))


@pytest.mark.parametrize(
    ("context", "name", "messages"),
    [
        (api.Context(cluster="missing", auth_info="missing"), "x", ["was not found for context"] * 2),
        (api.Context(), "x", ["user was not specified for context", "cluster was not specified for context"]),
        (api.Context(cluster="anything", auth_info="clean"), "", ["empty context name for"]),
        (api.Context(cluster="anything", auth_info="clean", namespace="A_b"), "x", ["DNS_LABEL"]),
    ],
)
def test_contexts(context, name, messages):
    """Go: TestValidateMissingReferencesConfig
    Go: TestValidateEmptyContext
    Go: TestValidateEmptyContextName"""
    cfg = config()
    cfg.contexts = {name: context}
    err = failure(clientcmd.validate, cfg)
    assert isinstance(err, _ConfigurationInvalidError)
    assert len(err.errors()) == len(messages)
    assert all(message in str(err) for message in messages)


def test_clusters(tmp_path):
    """Go: TestValidateEmptyClusterInfo
    Go: TestValidateClusterInfoErrEmptyCluster
    Go: TestValidateMissingCAFileClusterInfo
    Go: TestValidateCleanClusterInfo
    Go: TestValidateCleanWithCAClusterInfo"""
    ca = tmp_path / "ca"
    ca.write_text("x")
    assert [type(err) for err in validate_cluster_info("", api.Cluster())] == [clientcmd.ErrEmptyCluster]
    [err] = validate_cluster_info("c", api.Cluster(tls_server_name="x"))
    assert str(err) == 'no server found for cluster "c"'
    [err] = validate_cluster_info("c", api.Cluster(server="h", certificate_authority="missing"))
    assert (
        str(err) == "unable to read certificate-authority missing for c due to open missing: no such file or directory"
    )
    assert isinstance(err.__cause__, FileNotFoundError)
    assert not validate_cluster_info("c", api.Cluster(server="h"))
    assert not validate_cluster_info("c", api.Cluster(server="h", certificate_authority=str(ca)))


@pytest.mark.parametrize(
    ("fields", "messages"),
    [
        ({}, []),
        ({"token": "any"}, []),
        (
            {"client_certificate": "missing", "client_key": "missing"},
            ["unable to read client-cert", "unable to read client-key"],
        ),
        ({"token": "t", "username": "u"}, ["found [token basicAuth], only one is allowed"]),
        ({"impersonate": "user"}, []),
        (
            {
                "impersonate": "u",
                "impersonate_uid": "1",
                "impersonate_groups": ["g"],
                "impersonate_user_extra": {"k": ["v"]},
            },
            [],
        ),
        ({"impersonate_groups": ["g"]}, ["requesting uid, groups or user-extra for x without impersonating a user"]),
        ({"impersonate_user_extra": {"k": ["v"]}}, ["requesting uid, groups or user-extra for x"]),
        ({"impersonate_uid": "1"}, ["requesting uid, groups or user-extra for x"]),
        ({"exec": api.ExecConfig(**EXEC)}, []),
        ({"exec": api.ExecConfig(**{**EXEC, "api_version": ""})}, ["apiVersion must be specified for x"]),
        ({"exec": api.ExecConfig(**{**EXEC, "command": ""})}, ["command must be specified for x"]),
        (
            {"exec": api.ExecConfig(**EXEC), "auth_provider": api.AuthProviderConfig()},
            ["authProvider cannot be provided"],
        ),
        (
            {"exec": api.ExecConfig(**EXEC, env=[api.ExecEnvVar(value="v")])},
            ["env variable name must be specified for x"],
        ),
        ({"exec": api.ExecConfig(**{**EXEC, "interactive_mode": ""})}, ["interactiveMode must be specified for x"]),
        ({"exec": api.ExecConfig(**{**EXEC, "interactive_mode": "Maybe"})}, ['invalid interactiveMode for x: "Maybe"']),
    ],
)
def test_users(fields, messages):
    """Go: TestValidateEmptyAuthInfo
    Go: TestValidateCertFilesNotFoundAuthInfo
    Go: TestValidateCleanTokenAuthInfo
    Go: TestValidateMultipleMethodsAuthInfo
    Go: TestValidateAuthInfoExec
    Go: TestValidateAuthInfoExecNoVersion
    Go: TestValidateAuthInfoExecNoCommand
    Go: TestValidateAuthInfoExecWithAuthProvider
    Go: TestValidateAuthInfoExecNoEnv
    Go: TestValidateAuthInfoExecInteractiveModeMissing
    Go: TestValidateAuthInfoExecInteractiveModeInvalid
    Go: TestValidateAuthInfoImpersonateUser
    Go: TestValidateAuthInfoImpersonateEverything
    Go: TestValidateAuthInfoImpersonateGroupsWithoutUserInvalid
    Go: TestValidateAuthInfoImpersonateExtraWithoutUserInvalid
    Go: TestValidateAuthInfoImpersonateUIDWithoutUserInvalid"""
    errors = validate_auth_info("x", api.AuthInfo(**fields))
    assert len(errors) == len(messages)
    assert all(message in str(err) for message, err in zip(messages, errors))


def test_certificates_of_users(tmp_path):
    """Go: TestValidateCertDataOverridesFiles
    Go: TestValidateCleanCertFilesAuthInfo"""
    file = tmp_path / "pem"
    file.write_text("x")
    paths = {"client_certificate": str(file), "client_key": str(file)}
    assert not validate_auth_info("x", api.AuthInfo(**paths))
    both = validate_auth_info("x", api.AuthInfo(**paths, client_certificate_data=b"c", client_key_data=b"k"))
    assert [str(err).split(" for ")[0] for err in both] == [
        "client-cert-data and client-cert are both specified",
        "client-key-data and client-key are both specified",
    ]


def test_causes_are_found_inside():
    """Go: TestErrConfigurationInvalidWithErrorsIs/no match
    Go: TestErrConfigurationInvalidWithErrorsIs/match via .Is()
    Go: TestErrConfigurationInvalidWithErrorsIs/match via equality
    Go: TestErrConfigurationInvalidWithErrorsIs/match via nested aggregate
    Go: TestErrConfigurationInvalidWithErrorsIs/match via wrapped aggregate
    Go: TestErrConfigurationInvalidWithErrorsIsShortCircuitsOnFirstMatch"""
    target = ValueError("target")

    class Knows(Exception):
        asked = 0

        def is_(self, other: object) -> bool:
            Knows.asked += 1
            return other is target

    wrapped = RuntimeError("outer")
    wrapped.__cause__ = AggregateError([target])
    assert not is_error(_ConfigurationInvalidError([KeyError("a")]), target)
    assert is_error(_ConfigurationInvalidError([KeyError("a"), Knows(), Knows()]), target)
    assert Knows.asked == 1
    assert is_error(_ConfigurationInvalidError([target]), target)
    assert is_error(_ConfigurationInvalidError([_ConfigurationInvalidError([target])]), target)
    assert is_error(_ConfigurationInvalidError([AggregateError([target])]), target)
    assert is_error(_ConfigurationInvalidError([wrapped]), target)
    assert is_error(_ConfigurationInvalidError([_ContextNotFoundError("x")]), _ContextNotFoundError)
