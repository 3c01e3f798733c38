"""The pytest fixtures, imported as in a user's project."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from patience import PATIENCE
from processes import environment

CONFTEST = """
from clientgo.testing.apiserver.fixtures import apiserver, apiserver_config  # noqa: F401
"""
TESTS = """
import pytest
import requests

from clientgo import kubernetes
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.context import background


def test_a_client_of_the_config(apiserver_config):
    client = kubernetes.new_for_config(apiserver_config)
    names = [ns.metadata.name for ns in client.core_v1().namespaces().list(background(), metav1.ListOptions()).items]
    assert "default" in names


@pytest.mark.parametrize("apiserver", [["crds"]], indirect=True)
def test_crds_of_a_folder(apiserver):
    headers = {"Authorization": f"Bearer {apiserver.token}"}
    answer = requests.get(f"{apiserver.url}/apis/example.com/v1/foos", headers=headers, timeout=20)
    assert answer.json()["kind"] == "FooList"


def test_each_test_has_a_server_of_its_own(apiserver):
    headers = {"Authorization": f"Bearer {apiserver.token}"}
    assert requests.get(f"{apiserver.url}/apis/example.com/v1/foos", headers=headers, timeout=20).status_code == 404
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


def test_the_fixtures_in_a_project_of_their_user(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(textwrap.dedent(CONFTEST))
    (tmp_path / "test_mine.py").write_text(textwrap.dedent(TESTS))
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "foo.yaml").write_text(CRD)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
