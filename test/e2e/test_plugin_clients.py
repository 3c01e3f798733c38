"""The pytest plugin for users of other clients: only the wheel, their client and the fixtures."""

from __future__ import annotations

import re
import sys
import venv
from pathlib import Path

import pytest
from processes import ROOT
from wheel import build_wheel, made_once, run

pytestmark = pytest.mark.takes_turns(8, together=True)

CLIENTS = ["kubernetes", "lightkube", "kr8s", "kubernetes_asyncio", "kopf"]

OFFICIAL = """
from kubernetes import client, config, watch


def test_the_official_client(kubeconfig, namespace):
    with config.new_client_from_config(config_file=kubeconfig) as api_client:
        api = client.CoreV1Api(api_client)
        api.create_namespaced_config_map(namespace, {"metadata": {"name": "settings"}, "data": {"n": "1"}})
        api.patch_namespaced_config_map("settings", namespace, {"data": {"n": "2"}})
        (event,) = watch.Watch().stream(api.list_namespaced_config_map, namespace, timeout_seconds=1)
        assert (event["type"], event["object"].data) == ("ADDED", {"n": "2"})
"""

LIGHTKUBE = """
import lightkube
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap


def test_lightkube(kubeconfig, namespace):
    client = lightkube.Client(config=lightkube.KubeConfig.from_file(kubeconfig), namespace=namespace)
    client.create(ConfigMap(metadata=ObjectMeta(name="settings", namespace=namespace), data={"n": "1"}))
    client.patch(ConfigMap, "settings", {"data": {"n": "2"}})
    assert [each.data for each in client.list(ConfigMap) if each.metadata.name == "settings"] == [{"n": "2"}]
    assert list(client.list(Deployment)) == []
"""

KR8S = """
import kr8s
from kr8s.objects import ConfigMap


def test_kr8s(kubeconfig, namespace):
    api = kr8s.api(kubeconfig=kubeconfig)
    document = {"metadata": {"name": "settings", "namespace": namespace}, "data": {"n": "1"}}
    made = ConfigMap(document, api=api)
    made.create()
    made.patch({"data": {"n": "2"}})
    assert ConfigMap.get("settings", namespace=namespace, api=api).data.to_dict() == {"n": "2"}
    made.delete()
    assert [each.name for each in api.get("configmaps", namespace=namespace) if each.name == "settings"] == []
"""

KUBERNETES_ASYNCIO = """
import asyncio
from kubernetes_asyncio import client, config, watch


def test_kubernetes_asyncio(kubeconfig, namespace):
    async def main():
        async with await config.new_client_from_config(config_file=kubeconfig) as api_client:
            api = client.CoreV1Api(api_client)
            await api.create_namespaced_config_map(namespace, {"metadata": {"name": "settings"}, "data": {"n": "1"}})
            async with watch.Watch() as watcher:
                stream = watcher.stream(api.list_namespaced_config_map, namespace, timeout_seconds=1)
                return [event["object"].data async for event in stream]

    assert {"n": "1"} in [data for data in asyncio.run(main())]
"""

KOPF = """
import threading

from kopf.testing import KopfRunner
from kubernetes import client, config

HANDLERS = '''
import kopf

# The official client reads KUBECONFIG when it is imported, which may be before the fixture.
@kopf.on.login()
def login(**kwargs):
    return kopf.login_with_kubeconfig(**kwargs)

@kopf.on.create("configmaps", labels={"watched": "yes"})
def created(body, patch, **_):
    patch.metadata.labels["seen"] = body["data"]["n"]
'''


def test_kopf(kubeconfig, namespace, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    handlers = tmp_path / "handlers.py"
    handlers.write_text(HANDLERS)
    with config.new_client_from_config(config_file=kubeconfig) as api_client:
        api = client.CoreV1Api(api_client)
        with KopfRunner(["run", "--standalone", "-n", namespace, str(handlers)], timeout=60) as runner:
            document = {"metadata": {"name": "settings", "labels": {"watched": "yes"}}, "data": {"n": "7"}}
            api.create_namespaced_config_map(namespace, document)
            pause = threading.Event()
            for _ in range(300):
                if "seen" in api.read_namespaced_config_map("settings", namespace).metadata.labels:
                    break
                pause.wait(0.1)
        assert runner.exit_code == 0, runner.output
        assert runner.exception is None
        labels = api.read_namespaced_config_map("settings", namespace).metadata.labels
        assert labels["seen"] == "7", runner.output
"""

(README,) = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / "clientgo/testing/README.md").read_text())
MIGRATING = (ROOT / "hack/site/pages/migrating.md").read_text(encoding="utf-8")
(KOPF_PAGE,) = re.findall(r"(?ms)^```python kopf\n(.*?)^```", MIGRATING)
(KR8S_PAGE,) = re.findall(r"(?ms)^```python kr8s\n(.*?)^```", MIGRATING)
(LIGHTKUBE_PAGE,) = re.findall(r"(?ms)^```python lightkube\n(.*?)^```", MIGRATING)
LIGHTKUBE_TEST = """

def test_the_page_about_migrating(kubeconfig, namespace):
    import lightkube
    from lightkube.models.meta_v1 import ObjectMeta

    client = lightkube.Client(config=lightkube.KubeConfig.from_file(kubeconfig), namespace=namespace)
    client.create(ConfigMap(metadata=ObjectMeta(name="settings", namespace=namespace)))
    label(client, namespace, stop_after="settings")
    assert client.get(ConfigMap, "settings").metadata.labels["seen"] == "yes"
"""
KR8S_TEST = """

def test_the_page_about_migrating(kubeconfig, namespace):
    from kr8s.objects import ConfigMap

    api = kr8s.api(kubeconfig=kubeconfig)
    ConfigMap({"metadata": {"name": "settings", "namespace": namespace}}, api=api).create()
    label(api, namespace, stop_after="settings")
    assert ConfigMap.get("settings", namespace=namespace, api=api).labels["seen"] == "yes"
"""
# The controllers with controller-runtime and with the official client, and the page's tests of both.
MIGRATING_PAGE = "\n".join(re.findall(r"(?ms)^```python\n(.*?)^```", MIGRATING))
# The handlers of the page in place of those above, and an object without a number.
KOPF_HANDLERS = KOPF[KOPF.index("HANDLERS = ") : KOPF.index("def test_kopf")]
KOPF_PAGE_TEST = KOPF.replace(KOPF_HANDLERS, f"HANDLERS = {KOPF_PAGE!r}\n\n\n").replace('== "7"', '== "yes"')
TESTS = {
    "kopf": KOPF,
    "kopf-page": KOPF_PAGE_TEST,
    "kr8s-page": KR8S_PAGE + KR8S_TEST,
    "lightkube-page": LIGHTKUBE_PAGE + LIGHTKUBE_TEST,
    "kr8s": KR8S,
    "kubernetes_asyncio": KUBERNETES_ASYNCIO,
    "lightkube": LIGHTKUBE,
    "migrating-page": MIGRATING_PAGE,
    "official": OFFICIAL,
    "readme": README,
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel, pytest and the clients. A failed installation is an error."""
    wheel = f"{build_wheel(tmp_path_factory)}[testing]"

    def make(folder: Path) -> None:
        venv.create(folder / "venv")
        found = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "pip", "--python", found, "install", "--quiet", wheel, *CLIENTS, cwd=folder)

    return made_once(tmp_path_factory, "clients", make) / "venv" / "bin" / "python"


@pytest.mark.parametrize("name", sorted(TESTS))
def test_a_user_of_another_client_tests_with_the_fixtures(name: str, python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS[name])

    printed = run(python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_it.py", cwd=tmp_path)

    assert f"{TESTS[name].count('def test_')} passed" in printed
    assert "clientgo-" in printed.partition("plugins: ")[2].partition("\n")[0]
