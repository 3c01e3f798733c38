"""Names whose module is imported when they are first used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from libraryimports import modules

import clientgo
from clientgo.lazy_loader import attach


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a package of two modules that record their imports."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text(
        "from clientgo.lazy_loader import attach\n"
        "IMPORTED = []\n"
        "__getattr__, __dir__ = attach(__name__, {'orders': ['Order', 'new_order'], 'bills': ['Bill']})\n"
    )
    (tmp_path / "shop" / "orders.py").write_text("import shop\nshop.IMPORTED.append('orders')\nOrder = new_order = 1\n")
    (tmp_path / "shop" / "bills.py").write_text("import shop\nshop.IMPORTED.append('bills')\nBill = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "shop"
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


def test_a_module_is_imported_when_one_of_its_names_is_asked_for(package: str) -> None:
    import shop

    assert shop.IMPORTED == []
    assert shop.Order == 1
    assert shop.IMPORTED == ["orders"]
    assert vars(shop)["Order"] == 1, "it is asked for once"

    from shop import Bill

    assert Bill == 2
    assert shop.IMPORTED == ["orders", "bills"]


def test_a_package_lists_what_it_has_not_imported_yet(package: str) -> None:
    import shop

    assert {"Bill", "IMPORTED", "Order", "new_order"} <= set(dir(shop))
    assert shop.IMPORTED == []


def test_a_wrong_name_is_said_as_of_any_module(package: str) -> None:
    import shop

    with pytest.raises(AttributeError, match="^module 'shop' has no attribute 'Ordr'$"):
        shop.Ordr  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Ordr' from 'shop'"):
        from shop import Ordr  # noqa: F401


def test_whatever_a_package_says_it_has_can_be_had() -> None:
    get, _ = attach("clientgo", {"context": ["Context"]})
    assert get("Context") is clientgo.context.Context

    asked = 0
    for name, path in modules().items():
        if path.name == "__init__.py" and "attach(" in path.read_text():
            package = __import__(name, fromlist=["*"])
            missing = [each for each in package.__all__ if not hasattr(package, each)]
            assert missing == [], name
            asked += 1
    assert asked >= 4
