"""The pytest plugin in other projects: its fixtures, a cluster in place of the server, checks for leaks, no costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from processes import ROOT, start_apiserver

pytestmark = pytest.mark.takes_turns(2)

SAMPLE = ROOT / "cmd/sample-controller/artifacts/examples"

USER = """
import pytest
import yaml
from clientgo import context, dynamic
from clientgo.api.core import v1
from clientgo.apimachinery.runtime import schema

CTX = context.background()


def test_a_client_works_in_its_namespace(kube_client, namespace):
    maps = kube_client.core_v1().config_maps(namespace)
    maps.create(CTX, v1.ConfigMap.from_dict({"metadata": {"name": "a"}, "data": {"n": "1"}}))
    assert maps.get(CTX, "a").data["n"] == "1"
    kube_client.core_v1().service_accounts(namespace).get(CTX, "default")


def test_the_next_test_has_another_namespace(kube_client, namespace):
    names = [each.get_name() for each in kube_client.core_v1().config_maps(namespace).list(CTX).items]
    assert "a" not in names


def test_the_kubeconfig_is_of_the_server(kubeconfig, api_server):
    with open(kubeconfig) as file:
        (cluster,) = yaml.safe_load(file)["clusters"]
    assert cluster["cluster"]["server"].startswith(("http://127.0.0.1:", "https://127.0.0.1:"))
    assert repr(api_server).startswith("<SERVER http")


def test_definitions_are_installed(crds, api_server, namespace):
    assert crds == ["foos.samplecontroller.k8s.io"]
    client = dynamic.new_for_config(api_server.config)
    foos = client.resource(schema.GroupVersionResource("samplecontroller.k8s.io", "v1alpha1", "foos"))
    assert foos.namespace(namespace).list(CTX).items == []
    client.close()
"""

LEAKY = """
import socket
import threading
import pytest

kept = []


def leak():
    thread = threading.Thread(target=threading.Event().wait, name="forgotten", daemon=True)
    thread.start()
    kept.append(socket.socket())


@pytest.mark.leaks
def test_marked():
    leak()


def test_not_marked():
    leak()


@pytest.mark.leaks
def test_marked_with_the_shared_server(kube_client, namespace):
    from clientgo import context
    kube_client.core_v1().config_maps(namespace).watch(context.background()).stop()
"""

UNRELATED = """
import sys


def test_unrelated(request):
    assert request.fixturenames == ["request"]
    imported = [name for name in sys.modules if name.startswith("clientgo.")]
    assert imported == ["clientgo.testing", "clientgo.testing.plugin"]
    assert not request.config.pluginmanager.has_plugin("clientgo-leaks")
    assert not request.config.pluginmanager.has_plugin("clientgo.testing.thorough")
"""


def run(folder: Path, test: str, *arguments: str, ini: str = "", code: int = 0) -> str:
    """Run a project's test with the plugin and no other; return the output."""
    (folder / "test_user.py").write_text(test)
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    plugins = ["-p", "no:cacheprovider", "-p", "clientgo.testing.plugin"]
    command = [sys.executable, "-m", "pytest", "-v", *plugins, *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "CI")}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_the_fixtures_are_an_embedded_server(tmp_path: Path) -> None:
    printed = run(tmp_path, USER.replace("SERVER", "Environment"), ini=f"clientgo_crds = {SAMPLE / 'crd.yaml'}\n")
    assert "4 passed" in printed


def test_the_same_tests_run_against_a_cluster_and_leave_nothing_in_it(tmp_path: Path) -> None:
    from clientgo import context, dynamic, kubernetes
    from clientgo.apimachinery.apis.meta import v1 as metav1
    from clientgo.apimachinery.runtime import schema
    from clientgo.testing.cluster import Cluster

    kubeconfig = tmp_path / "kubeconfig"
    definitions = schema.GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    with start_apiserver(kubeconfig) as server:
        options = ["--clientgo-kubeconfig", str(kubeconfig), "--clientgo-context", "clientgo"]
        printed = run(
            tmp_path, USER.replace("SERVER", "Cluster"), *options, ini=f"clientgo_crds = {SAMPLE / 'crd.yaml'}\n"
        )
        assert "4 passed" in printed
        assert "warning" not in printed

        with Cluster(str(kubeconfig)) as cluster:
            client, objects = kubernetes.new_for_config(cluster.config), dynamic.new_for_config(cluster.config)
            names = [each.get_name() for each in client.core_v1().namespaces().list(context.background()).items]
            left = objects.resource(definitions).list(context.background(), metav1.ListOptions()).items
            client.close()
            objects.close()
        assert [name for name in names if name.startswith("test-")] == []
        assert "default" in names
        assert left == []
        server.stop()


def test_a_wrong_context_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("apiVersion: v1\nkind: Config\n")
    options = ["--clientgo-kubeconfig", str(tmp_path / "kubeconfig"), "--clientgo-context", "prod"]
    printed = run(tmp_path, "def test_it(kube_client): pass", *options, code=1)
    assert re.search(r'context "?prod"? does not exist', printed)


def test_each_test_can_have_its_own_server(tmp_path: Path) -> None:
    tests = """
urls = set()
def test_one(api_server):
    urls.add(api_server.url)
def test_other(api_server, kube_client, namespace, kubeconfig, crds):
    assert api_server.url not in urls
"""
    assert "2 passed" in run(tmp_path, tests, ini="clientgo_server_scope = function\n")


def test_a_marked_test_fails_if_it_leaves_something_behind(tmp_path: Path) -> None:
    printed = run(tmp_path, LEAKY, code=1)
    assert "3 passed, 1 error" in printed
    assert "ERROR test_user.py::test_marked - " in printed
    assert re.search(r"^left behind: thread forgotten, socket:\[\d+\]$", printed, re.M)


def test_with_the_option_every_test_is_checked(tmp_path: Path) -> None:
    printed = run(tmp_path, LEAKY, "--clientgo-leaks", code=1)
    assert "3 passed, 2 errors" in printed
    assert "ERROR test_user.py::test_not_marked" in printed


def test_a_test_that_uses_none_of_it_is_run_as_without_the_plugin(tmp_path: Path) -> None:
    assert "1 passed" in run(tmp_path, UNRELATED)


def test_a_fixture_of_the_project_takes_precedence(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import pytest\n\n@pytest.fixture\ndef namespace():\n    return 'mine'\n")
    assert "1 passed" in run(tmp_path, "def test_it(namespace):\n    assert namespace == 'mine'\n")


def test_the_thorough_profile_is_there_if_it_is_chosen(tmp_path: Path) -> None:
    test = """
from hypothesis import settings
def test_it(request):
    assert settings().max_examples == 20_000
    assert request.config.pluginmanager.has_plugin("clientgo.testing.thorough")
"""
    hypothesis = ["-p", "_hypothesis_pytestplugin"]
    assert "1 passed" in run(tmp_path, test, *hypothesis, "--hypothesis-profile", "thorough")
    assert "1 failed" in run(tmp_path, test, *hypothesis, code=1)


@pytest.mark.skipif(sys.platform != "linux", reason="sockets are found on Linux")
def test_a_fixture_that_tests_share_may_keep_threads_and_sockets(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import pytest, socket, threading\n"
        "@pytest.fixture(scope='session')\n"
        "def shared():\n"
        "    stop = threading.Event()\n"
        "    thread = threading.Thread(target=stop.wait, name='shared')\n"
        "    thread.start()\n"
        "    with socket.socket():\n"
        "        yield\n"
        "    stop.set()\n"
        "    thread.join()\n"
    )
    assert "1 passed" in run(tmp_path, "def test_it(shared): pass", "--clientgo-leaks")
