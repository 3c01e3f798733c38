"""The source of a deferred config's answers: the kubeconfig or the pod that the program runs in."""

from __future__ import annotations

from typing import Any

import pytest

from clientgo import rest
from clientgo.tools import clientcmd
from clientgo.tools.clientcmd import api

LOADED, DEFAULT = rest.Config(host="loaded"), rest.Config(host="default")
UNIQUE = OSError("unique error")
EMPTY = clientcmd.ErrEmptyConfig()


class FakeConfig:
    """A client config with given answers; also the config of a pod, which counts who asks for it."""

    def __init__(
        self,
        config: rest.Config | None = None,
        failure: Exception | None = None,
        namespace: tuple[str, bool] = ("", False),
        possible: bool = False,
        raw: api.Config | None = None,
    ) -> None:
        self.config = config
        self.failure = failure
        self.named = namespace
        self.is_possible = possible
        self.raw = raw or api.Config()
        self.asked = 0

    def possible(self) -> bool:
        self.asked += 1
        return self.is_possible

    def client_config(self) -> Any:
        return self._unless_failure(self.config)

    def namespace(self) -> Any:
        return self._unless_failure(self.named)

    def _unless_failure(self, answer: Any) -> Any:
        if self.failure is not None:
            raise self.failure
        return answer

    def raw_config(self) -> api.Config:
        return self.raw

    def config_access(self) -> Any:
        raise AssertionError


def deferred(
    loaded: FakeConfig, pod: FakeConfig, default: FakeConfig | None = None, context: str = ""
) -> clientcmd.DeferredLoadingClientConfig:
    loader = clientcmd.ClientConfigLoadingRules()
    loader.default_client_config = default
    overrides = clientcmd.ConfigOverrides(current_context=context)
    config = clientcmd.DeferredLoadingClientConfig(loader, overrides, None, pod)
    config._client_config = loaded
    return config


@pytest.mark.parametrize(
    ("loaded", "pod", "default", "asked", "result"),
    [
        pytest.param(FakeConfig(LOADED), FakeConfig(), FakeConfig(failure=UNIQUE), 0, LOADED, id="invalid default"),
        pytest.param(FakeConfig(LOADED), FakeConfig(), FakeConfig(DEFAULT), 0, LOADED, id="not the default"),
        pytest.param(FakeConfig(DEFAULT), FakeConfig(), FakeConfig(DEFAULT), 1, DEFAULT, id="the default, but no pod"),
        pytest.param(FakeConfig(failure=EMPTY), FakeConfig(LOADED, possible=True), None, 1, LOADED, id="empty, a pod"),
        pytest.param(FakeConfig(LOADED, EMPTY), FakeConfig(), None, 1, EMPTY, id="empty, no pod"),
        pytest.param(
            FakeConfig(failure=EMPTY), FakeConfig(failure=UNIQUE, possible=True), None, 1, UNIQUE, id="bad pod"
        ),
    ],
)
def test_config(loaded: FakeConfig, pod: FakeConfig, default: FakeConfig | None, asked: int, result: Any) -> None:
    """Go: TestInClusterConfig/in-cluster not checked when default config is invalid
    Go: TestInClusterConfig/in-cluster not checked when config is not equal to default
    Go: TestInClusterConfig/in-cluster checked when config is default
    Go: TestInClusterConfig/in-cluster config returned when config is empty
    Go: TestInClusterConfig/in-cluster checked when config is not equal to default and error is empty
    Go: TestInClusterConfig/in-cluster error returned when config is empty"""
    config = deferred(loaded, pod, default)
    if isinstance(result, Exception):
        with pytest.raises(type(result)) as raised:
            config.client_config()
        assert raised.value is result
    else:
        assert config.client_config() is result
    assert pod.asked == asked


def test_the_pod_is_not_asked_when_the_standard_default_is_invalid() -> None:
    """Go: TestInClusterConfig/in-cluster not checked when standard default is invalid"""
    pod = FakeConfig()
    config = deferred(FakeConfig(LOADED), pod)
    config._loader.default_client_config = clientcmd.DEFAULT_CLIENT_CONFIG  # type: ignore[attr-defined]
    assert config.client_config() is LOADED
    assert pod.asked == 0


@pytest.mark.parametrize(
    ("loaded", "pod", "asked", "result"),
    [
        pytest.param(FakeConfig(), FakeConfig(), 1, ("", False), id="default, no pod"),
        pytest.param(FakeConfig(namespace=("test", True)), FakeConfig(), 0, ("test", True), id="specified"),
        pytest.param(FakeConfig(namespace=("test", False)), FakeConfig(), 1, ("test", False), id="defaulted"),
        pytest.param(
            FakeConfig(failure=EMPTY), FakeConfig(namespace=("test", True), possible=True), 1, ("test", True), id="pod"
        ),
        pytest.param(
            FakeConfig(failure=EMPTY),
            FakeConfig(namespace=("test", False), possible=True),
            1,
            ("test", False),
            id="pod's default",
        ),
    ],
)
def test_namespace(loaded: FakeConfig, pod: FakeConfig, asked: int, result: tuple[str, bool]) -> None:
    """Go: TestInClusterConfigNamespace/in-cluster checked when config is default
    Go: TestInClusterConfigNamespace/in-cluster not checked when config is not equal to default
    Go: TestInClusterConfigNamespace/in-cluster checked when namespace is not specified, but is defaulted
    Go: TestInClusterConfigNamespace/in-cluster config returned when config is empty
    Go: TestInClusterConfigNamespace/in-cluster config returned when config is empty and namespace is defaulted but not explicitly set
    """  # noqa: E501  # names of tests
    assert deferred(loaded, pod).namespace() == result
    assert pod.asked == asked


def test_a_default_namespace_that_the_chosen_context_names_is_no_default() -> None:
    """Go: TestInClusterConfigNamespace/overridden context used to verify explicit namespace in config"""
    raw = api.Config(contexts={"overridden-context": api.Context(namespace="default")})
    loaded = FakeConfig(namespace=("default", False), raw=raw)
    pod = FakeConfig(namespace=("icc", False), possible=True)
    assert deferred(loaded, pod, context="overridden-context").namespace() == ("default", False)
    assert deferred(loaded, pod).namespace() == ("icc", False)
