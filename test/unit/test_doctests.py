"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import clientgo


def modules_with_examples() -> Iterator[str]:
    for module in pkgutil.walk_packages(clientgo.__path__, "clientgo."):
        spec = module.module_finder.find_spec(module.name, None)  # type: ignore[call-arg]
        source = spec.loader.get_source(module.name) if spec and spec.loader else None  # type: ignore[attr-defined]
        if source and ">>> " in source:
            yield module.name


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert outcome.failed == 0
