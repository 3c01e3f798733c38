"""A server of OpenAPI documents from files, read by the discovery client's OpenAPI client."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from clientgo import rest
from clientgo.discovery import new_discovery_client_for_config
from clientgo.golang.http import Request
from clientgo.util.testing import close_and_remove, mk_tmpdir, mk_tmpdir_or_die, new_fake_openapi_v3_server

APPS = {"openapi": "3.0.0", "info": {"title": "apps", "version": "v1"}}
CORE = {"openapi": "3.0.0", "info": {"title": "core", "version": "v1"}}


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    (tmp_path / "apis" / "apps").mkdir(parents=True)
    (tmp_path / "apis" / "apps" / "v1.json").write_text(json.dumps(APPS))
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "v1.json").write_text(json.dumps(CORE))
    (tmp_path / "README.md").write_text("not a document")
    return tmp_path


def test_the_documents_are_served_by_group_version(specs: Path) -> None:
    with new_fake_openapi_v3_server(str(specs)) as server:
        client = new_discovery_client_for_config(rest.Config(host=server.url, qps=-1))
        paths = client.openapi_v3().paths()
        assert sorted(paths) == ["api/v1", "apis/apps/v1"]
        assert json.loads(paths["apis/apps/v1"].schema("application/json")) == APPS
        assert json.loads(paths["api/v1"].schema("application/json")) == CORE
        client.openapi_v3().paths()
        client.rest_client().close()
    assert server.served_documents == {"apis/apps/v1": APPS, "api/v1": CORE}
    assert server.request_counters == {"/openapi/v3": 2, "/openapi/v3/apis/apps/v1": 1, "/openapi/v3/api/v1": 1}
    server.close()
    assert not [each.name for each in threading.enumerate() if each.name.startswith("fake-openapi")]


def test_an_old_hash_is_redirected_and_an_unknown_document_is_not_found(specs: Path) -> None:
    with new_fake_openapi_v3_server(str(specs)) as server:
        round_tripper = rest.transport_for(rest.Config())
        old = round_tripper.round_trip(Request(method="GET", url=f"{server.url}/openapi/v3/api/v1?hash=OLD"))
        assert json.loads(old.body.read()) == CORE
        unknown = round_tripper.round_trip(Request(method="GET", url=f"{server.url}/openapi/v3/api/v2"))
        elsewhere = round_tripper.round_trip(Request(method="GET", url=f"{server.url}/api/v1"))
        assert (unknown.status_code, elsewhere.status_code) == (404, 404)
        for response in (old, unknown, elsewhere):
            response.close()
    assert server.request_counters["/openapi/v3/api/v1"] == 2, "the first request was redirected"


def test_a_file_that_is_not_json_is_an_error_and_starts_nothing(specs: Path) -> None:
    (specs / "api" / "v2.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting property name"):
        new_fake_openapi_v3_server(str(specs))
    assert not [each.name for each in threading.enumerate() if each.name.startswith("fake-openapi")]


def test_folders_and_files_of_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = [Path(mk_tmpdir("prefix-")), Path(mk_tmpdir_or_die("prefix-"))]
    assert len(set(folders)) == 2
    assert all(folder.is_dir() and folder.name.startswith("prefix-") for folder in folders)
    with open(folders[0] / "file", "w") as file:
        close_and_remove(None, file)
        assert file.closed
    assert list(folders[0].iterdir()) == []
    with open(folders[0] / "gone", "w") as file:
        (folders[0] / "gone").unlink()
        with pytest.raises(FileNotFoundError):
            close_and_remove(file)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        mk_tmpdir_or_die("prefix-")
