"""Credentials in a JSON file. Go: tools/auth/clientauth_test.go."""

from __future__ import annotations

from pathlib import Path

import pytest

from clientgo.rest import Config
from clientgo.tools import auth


def test_a_file_has_the_credentials(tmp_path: Path) -> None:
    """Go: TestLoadFromFile."""
    path = tmp_path / "auth"
    path.write_text('{"user": "user", "password": "pass"}')
    info = auth.load_from_file(str(path))
    assert info == auth.Info(user="user", password="pass")
    assert info.complete()
    merged = info.merge_with_config(Config(host="https://h", bearer_token="old"))
    assert (merged.host, merged.username, merged.password, merged.bearer_token) == ("https://h", "user", "pass", "")

    path.write_bytes(auth.Info(bearer_token="t", insecure=True).to_json())
    assert auth.load_from_file(str(path)) == auth.Info(bearer_token="t", insecure=True)


@pytest.mark.parametrize("text", ["", "[]", "{", "secret", "[" * 20_000])
def test_another_content_is_an_error_without_it(text: str, tmp_path: Path) -> None:
    """Go: TestLoadFromFile."""
    path = tmp_path / "auth"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not") as caught:
        auth.load_from_file(str(path))
    assert "secret" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        auth.load_from_file(str(tmp_path / "missing"))
