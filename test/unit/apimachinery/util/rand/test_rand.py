"""Random suffixes of names."""

from __future__ import annotations

from clientgo.apimachinery.util import rand


def test_a_text_is_as_long_as_asked_for_and_can_be_part_of_a_name() -> None:
    """Go: TestString."""
    assert rand.string(0) == ""
    seen = set()
    for _ in range(200):
        text = rand.string(5)
        assert len(text) == 5
        assert set(text) <= set("bcdfghjklmnpqrstvwxz2456789")
        seen.add(text)
    assert len(seen) > 150
