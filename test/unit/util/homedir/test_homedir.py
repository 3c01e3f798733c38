"""The home directory, on Windows too."""

from __future__ import annotations

import sys

import pytest

from clientgo.util.homedir import home_dir


@pytest.fixture
def windows(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("HOME", "HOMEDRIVE", "HOMEPATH", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)

    def make(name: str, *, exists: bool = True, config: bool = False) -> str:
        path = tmp_path / name
        if exists:
            path.mkdir()
        if config:
            (path / ".kube").mkdir()
            (path / ".kube" / "config").touch()
        return str(path)

    return make


def test_home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert home_dir() == "/home/somebody"
    monkeypatch.delenv("HOME")
    assert home_dir() == ""


def test_windows_prefers_a_kubeconfig(windows, monkeypatch):
    monkeypatch.setenv("HOME", windows("home"))
    monkeypatch.setenv("USERPROFILE", windows("profile", config=True))
    assert home_dir().endswith("profile")
    path = windows("drive", config=True)
    monkeypatch.setenv("HOMEDRIVE", path[:3])
    monkeypatch.setenv("HOMEPATH", path[3:])
    assert home_dir().endswith("drive")


def test_windows_without_kubeconfig_takes_the_first_that_exists(windows, monkeypatch):
    monkeypatch.setenv("HOME", windows("home", exists=False))
    path = windows("drive")
    monkeypatch.setenv("HOMEDRIVE", path[:3])
    monkeypatch.setenv("HOMEPATH", path[3:])
    assert home_dir().endswith("drive")
    monkeypatch.setenv("USERPROFILE", windows("profile"))
    assert home_dir().endswith("profile")


def test_windows_with_nothing_there(windows, monkeypatch):
    assert home_dir() == ""
    monkeypatch.setenv("USERPROFILE", windows("profile", exists=False))
    assert home_dir().endswith("profile")
