"""The line that created an ordinary object on which a thread blocks, found in the program's source."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from clientgo.testing.synctest import foreign

HEAD = "import threading\nfrom threading import Lock, RLock\n"


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Any]:
    """Return a function that imports a module from its source."""
    names: list[str] = []

    def from_source(source: str) -> ModuleType:
        name = f"places_of_locks_{len(names)}"
        path = tmp_path / f"{name}.py"
        path.write_text(HEAD + source)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        names.append(name)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield from_source
    for name in names:
        del sys.modules[name]


def looked_up(module: ModuleType) -> foreign.Foreign | None:
    """Run the module's `blocks` and return what its frame acquires."""
    found: list[foreign.Foreign | None] = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and arg.__name__ == "acquire" and not found:
            found.append(foreign.blocks_on(frame))

    sys.setprofile(profile)
    try:
        module.blocks()
    finally:
        sys.setprofile(None)
    assert found, "the module acquires no lock"
    return found[0]


def place(found: foreign.Foreign | None) -> str:
    assert found is not None and found.made_at is not None
    return f"{found.made_at.source} in {found.made_at.function}"


IN_AN_OBJECT = {
    "an attribute": """
class Queue:
    def __init__(self):
        self.other = RLock()
        self.lock = Lock()  # here
        self.another = RLock()
""",
    "with an annotation": """
class Queue:
    def __init__(self):
        self.lock: object = Lock()  # here
""",
    "the first of two targets": """
class Queue:
    def __init__(self):
        self.lock = self.changed = Lock()  # here
""",
    "the last of two targets": """
class Queue:
    def __init__(self):
        self.changed = self.lock = Lock()  # here
""",
    "a local name is another one": """
class Queue:
    def __init__(self):
        self.lock = Lock()  # here
        lock = RLock()
""",
    "an attribute that no call makes": """
class Queue:
    def __init__(self):
        self.lock = Lock()  # here
        self.lock = self.lock
""",
    "a class with a longer name": """
class Queue:
    def __init__(self):
        self.lock = Lock()  # here

class QueueOfNumbers:
    def __init__(self):
        self.lock = RLock()
""",
    "in another method": """
class Queue:
    def __init__(self):
        self.make()

    def make(self):
        self.lock = Lock()  # here
""",
    "in the base class": """
class Base:
    def __init__(self):
        self.lock = Lock()  # here

class Queue(Base):
    def put(self):
        self.item = Lock()
""",
    "in a slot": """
class Queue:
    __slots__ = ("lock",)

    def __init__(self):
        self.lock = Lock()  # here
""",
}


@pytest.mark.parametrize("source", IN_AN_OBJECT.values(), ids=IN_AN_OBJECT)
def test_the_assignment_of_an_attribute_is_found_in_its_class(source: str, load: Any) -> None:
    source += "\nqueue = Queue()\ndef blocks():\n    queue.lock.acquire()\n"

    found = looked_up(load(source))

    assert place(found).startswith(next(line.strip() for line in source.splitlines() if "# here" in line))
    assert found is not None and found.write == "threading.Lock()"


IN_A_SCOPE = {
    "of the module": """
lock = Lock()  # here
def blocks():
    lock.acquire()
""",
    "of the function": """
def blocks():
    lock = Lock()  # here
    lock.acquire()
""",
    "of the function, not of the module": """
lock = RLock()
def blocks():
    lock = Lock()  # here
    lock.acquire()
lock = RLock()
""",
    "of the function, not of one that follows": """
def blocks():
    lock = Lock()  # here
    lock.acquire()
def other():
    lock = Lock()
""",
    "of the function around it": """
def outer():
    lock = Lock()  # here
    def inner():
        lock.acquire()
    return inner
def other():
    lock = Lock()
blocks = outer()
""",
    "of the module, not of another function": """
lock = Lock()  # here
def blocks():
    lock.acquire()
def other():
    lock = Lock()
""",
    "of the function, not of one whose name it begins with": """
def blocks():
    lock = Lock()  # here
    lock.acquire()
def block():
    lock = Lock()
""",
    "of the function around it, not of the module": """
def outer():
    lock = Lock()  # here
    def inner():
        lock.acquire()
    return inner
lock = Lock()
blocks = outer()
""",
    "of the function, not of the one around it": """
def outer():
    def inner():
        lock = Lock()  # here
        lock.acquire()
    lock = Lock()
    return inner
blocks = outer()
""",
    "an attribute of the same name is another one": """
class Holder: pass
lock = Lock()  # here
holder = Holder()
holder.lock = RLock()
def blocks():
    lock.acquire()
""",
}


@pytest.mark.parametrize("source", IN_A_SCOPE.values(), ids=IN_A_SCOPE)
def test_the_assignment_of_a_name_is_found_in_the_nearest_scope(source: str, load: Any) -> None:
    found = looked_up(load(source))

    assert "# here" in place(found)


def test_an_object_that_no_assignment_makes_has_no_place(load: Any) -> None:
    found = looked_up(load("locks = [Lock()]\ndef blocks():\n    for lock in locks:\n        lock.acquire()\n"))

    assert found is not None and found.made_at is None
    assert "made at" not in str(found)


def test_the_place_names_the_scope_of_the_assignment(load: Any) -> None:
    of_a_module = looked_up(load("lock = Lock()\ndef blocks():\n    lock.acquire()\n"))
    of_a_function = looked_up(load("def blocks():\n    lock = Lock()\n    lock.acquire()\n"))

    assert place(of_a_module).endswith(" in <module>")
    assert place(of_a_function).endswith(" in blocks")
