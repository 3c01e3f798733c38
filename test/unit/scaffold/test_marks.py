"""Lines inserted at the marks of a user's file: in their place, once, and with all else as it was."""

from __future__ import annotations

import pytest

from clientgo.scaffold import marks
from clientgo.scaffold.names import Refused

MAIN = """\
from collections.abc import Sequence

from clientgo import context
from clientgo.tools import cache

from shop import flags
from shop.zoo import (
    lion,
)

# +kubebuilder:scaffold:imports


def main() -> None:
    first()
    # mine

    # +kubebuilder:scaffold:builder
"""


def test_lines_go_above_the_mark_as_far_in_as_it_is() -> None:
    done = marks.insert(MAIN, "builder", ["second(", "    here", ")"], "main.py")

    assert done == MAIN.replace("    # +k", "    second(\n        here\n    )\n    # +k")


def test_what_is_there_is_not_inserted_again_wherever_the_user_moved_it() -> None:
    moved = MAIN.replace("first()", "if True:\n        second(\n            here\n        )")

    assert marks.insert(moved, "builder", ["second(", "    here", ")"], "main.py") == moved


def test_an_import_goes_to_its_place_in_its_section() -> None:
    for line, before in (
        ("from shop.api.shop import v1 as shopv1", "from shop.zoo"),
        ("from shop.zoo.sub import x", "\n# +k"),
        ("from clientgo.api.apps import v1", "from clientgo.tools"),
        ("from zlib import crc32", "\nfrom clientgo import"),
    ):
        assert marks.add_import(MAIN, line, "shop", "main.py") == MAIN.replace(before, f"{line}\n{before}", 1)


def test_v2_comes_before_v10() -> None:
    text = "from shop import v2\nfrom shop import v10\n# +kubebuilder:scaffold:imports\n"

    assert marks.add_import(text, "from shop import v9", "shop", "f").splitlines()[1] == "from shop import v9"


def test_an_import_that_is_too_long_for_a_line_is_wrapped_and_known_again() -> None:
    line = f"from shop.{'x' * 60} import {'a' * 30}, {'b' * 30}"

    done = marks.add_import(MAIN, line, "shop", "main.py")

    assert f"import (\n    {'a' * 30},\n    {'b' * 30},\n)\n" in done
    assert marks.add_import(done, line, "shop", "main.py") == done


def test_exports_stay_sorted() -> None:
    text = '__all__ = [\n    "B_NAME",\n    "Order",\n    "add",\n    # +kubebuilder:scaffold:exports\n]\n'

    done = marks.export(text, ["Cart", "Zoo", "Order"], "f")

    assert [line.strip(' ",') for line in done.splitlines()[1:-2]] == ["B_NAME", "Cart", "Order", "Zoo", "add"]


def test_the_ends_of_lines_stay_those_of_windows() -> None:
    done = marks.insert(MAIN.replace("\n", "\r\n"), "builder", ["second()"], "main.py")

    assert done.count("\n") == done.count("\r\n") == MAIN.count("\n") + 1


@pytest.mark.parametrize("count", [0, 2])
def test_a_missing_or_repeated_mark_is_reported_with_its_lines(count: int) -> None:
    text = MAIN.replace("    # +kubebuilder:scaffold:builder\n", "    # +kubebuilder:scaffold:builder\n" * count)

    with pytest.raises(Refused, match=r"main\.py has .*# \+kubebuilder:scaffold:builder.*(?s:.*)\n    second\(\)"):
        marks.insert(text, "builder", ["second()"], "main.py")
