"""The pytest plugin: an API server, namespaces and clients as fixtures, real clusters by an option, checks for leaks.

No Go file. pytest loads it wherever clientgo is installed; README.md in this folder describes it for users. It changes
nothing for tests that use none of its fixtures, markers and options, and imports nothing but pytest until then.

Fixtures: `api_server`, `kubeconfig`, `kube_client`, `namespace`, `crds`, `crd_paths`.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from clientgo import kubernetes
    from clientgo.testing.apiserver import Environment
    from clientgo.testing.cluster import Cluster, Namespaces
    from clientgo.testing.leaks import Snapshot

# Seconds that a thread or socket has to end; the traceback of a failed test may hold them for good.
_GRACE = 5.0
_GRACE_OF_FAILED = 0.5
# Seconds until the namespaces of a run must be gone from a cluster.
_DELETION = 120.0
# The threads of a server that several tests share.
_SERVER_THREADS = ("apiserver-", "simulator-")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("clientgo", "an API server for tests")
    group.addoption(
        "--clientgo-kubeconfig",
        metavar="FILE",
        default="",
        help="run the tests against the cluster of this kubeconfig instead of an embedded API server",
    )
    group.addoption(
        "--clientgo-context",
        metavar="NAME",
        default="",
        help="run the tests against this context of the kubeconfig (default file: as kubectl)",
    )
    group.addoption(
        "--clientgo-leaks", action="store_true", help="fail every test that leaves a thread or a socket behind"
    )
    parser.addini("clientgo_crds", "files and folders of definitions for the fixture `crds`", type="paths")
    parser.addini("clientgo_server_scope", "the scope of the fixture `api_server`", default="session")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Register the profile `thorough` of Hypothesis if the command line selects it."""
    if getattr(early_config.known_args_namespace, "hypothesis_profile", None) == "thorough":
        early_config.pluginmanager.import_plugin("clientgo.testing.thorough")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "leaks: fail the test if it leaves a thread or a socket behind (clientgo)")
    if config.getoption("clientgo_leaks"):
        config.pluginmanager.register(_LeakChecks(all_tests=True), "clientgo-leaks")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.pluginmanager.has_plugin("clientgo-leaks"):
        return
    if any(item.get_closest_marker("leaks") for item in items):
        config.pluginmanager.register(_LeakChecks(all_tests=False), "clientgo-leaks")


def _server_scope(fixture_name: str, config: pytest.Config) -> Any:
    return config.getini("clientgo_server_scope")


@pytest.fixture(scope=_server_scope)
def api_server(pytestconfig: pytest.Config) -> Iterator[Environment | Cluster]:
    """Provide an API server: an embedded one, or the cluster that the command line names.

    Has `config` (a rest.Config of an administrator), `kubeconfig` and `url`. Tests share it; the setting
    `clientgo_server_scope = function` gives each test its own.
    """
    from clientgo.testing.apiserver import Environment
    from clientgo.testing.cluster import Cluster

    file, name = pytestconfig.getoption("clientgo_kubeconfig"), pytestconfig.getoption("clientgo_context")
    with Cluster(file, name) if file or name else Environment() as server:
        yield server


@pytest.fixture(scope=_server_scope)
def kubeconfig(api_server: Environment | Cluster) -> str:
    """Return the path of a kubeconfig for the API server, for programs and other clients."""
    return api_server.kubeconfig


@pytest.fixture
def kube_client(api_server: Environment | Cluster) -> Iterator[kubernetes.Clientset]:
    """Provide a typed client for the built-in kinds, which is closed after the test."""
    from clientgo import kubernetes

    client = kubernetes.new_for_config(api_server.config)
    yield client
    client.close()


@pytest.fixture(scope=_server_scope)
def _namespaces(api_server: Environment | Cluster, pytestconfig: pytest.Config) -> Iterator[Namespaces]:
    from clientgo.testing.cluster import Cluster, Namespaces

    namespaces = Namespaces(api_server.config)
    yield namespaces
    # An embedded server ends with everything in it.
    if isinstance(api_server, Cluster) and (left := namespaces.wait_deleted(_DELETION)):
        warnings.warn(f"the cluster still has these namespaces: {', '.join(left)}", stacklevel=1)


@pytest.fixture
def namespace(_namespaces: Namespaces) -> Iterator[str]:
    """Provide the name of a new namespace, which is deleted with everything in it after the test."""
    name = _namespaces.create()
    yield name
    _namespaces.delete(name)


@pytest.fixture(scope=_server_scope)
def crd_paths(pytestconfig: pytest.Config) -> list[Any]:
    """Return the files and folders that `crds` installs: the setting `clientgo_crds`. Override it for others."""
    return list(pytestconfig.getini("clientgo_crds"))


@pytest.fixture(scope=_server_scope)
def crds(api_server: Environment | Cluster, crd_paths: list[Any]) -> Iterator[list[str]]:
    """Install the CustomResourceDefinitions of `crd_paths`, wait until they are served, and return their names.

    Those that the cluster had before stay in it; the others are deleted at the end.
    """
    from clientgo.controller_runtime import envtest

    options = envtest.CRDInstallOptions(paths=crd_paths, error_if_path_missing=True, max_time=60.0)
    envtest.read_crd_files(options)
    before = _served_definitions(api_server)
    installed = envtest.install_crds(api_server.config, options)
    yield [crd.get_name() for crd in installed]
    added = [crd for crd in installed if crd.get_name() not in before]
    envtest.uninstall_crds(api_server.config, envtest.CRDInstallOptions(crds=added))


def _served_definitions(api_server: Environment | Cluster) -> set[str]:
    from clientgo import context, dynamic
    from clientgo.apimachinery.apis.meta import v1 as metav1
    from clientgo.apimachinery.runtime.schema import GroupVersionResource

    client = dynamic.new_for_config(api_server.config)
    try:
        resource = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
        listed = client.resource(resource).list(context.background(), metav1.ListOptions())
        return {item.get_name() for item in listed.items}
    finally:
        client.close()


class _LeakChecks:
    """The checks of threads and sockets, which are registered only if a test or the command line asks for them."""

    def __init__(self, *, all_tests: bool) -> None:
        self._all_tests = all_tests
        self._before: Snapshot | None = None
        self._failures = 0
        self._shares_server = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        from clientgo.testing.leaks import Snapshot

        checked = self._all_tests or item.get_closest_marker("leaks") is not None
        self._before = Snapshot(self._belongs_to_shared_server) if checked else None
        self._failures = item.session.testsfailed
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
        """Allow the threads and sockets of a fixture that several tests share."""
        from clientgo.testing.leaks import Snapshot

        if self._before is None or request.scope == "function":
            return (yield)
        before = Snapshot()
        try:
            return (yield)
        finally:
            self._before.allow(before)
            self._shares_server |= fixturedef.argname == "api_server"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        outcome = yield
        if self._before is not None:
            before, self._before = self._before, None
            grace = _GRACE if item.session.testsfailed == self._failures else _GRACE_OF_FAILED
            if left := before.leaked(grace):
                pytest.fail(f"left behind: {', '.join(left)}", pytrace=False)
        return outcome

    def _belongs_to_shared_server(self, name: str) -> bool:
        return self._shares_server and name.startswith(_SERVER_THREADS)
