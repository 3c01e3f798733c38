"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import clientgo


def modules_with_examples() -> Iterator[str]:
    """Yield the modules with examples, by their files, since importing a thousand modules takes seconds in each worker.
    """
    top = Path(clientgo.__file__).parent
    for file in sorted(top.rglob("*.py")):
        if b">>> " in file.read_bytes():
            yield ".".join(file.relative_to(top.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples_hold(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert outcome.failed == 0
