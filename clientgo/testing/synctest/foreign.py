"""Ordinary objects of `threading` that a bubble does not control, found when a thread blocks on them.

No Go file: Go's runtime itself knows the bubble of a channel.
"""

from __future__ import annotations

import _thread
import ast
import inspect
import linecache
import queue
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, MemberDescriptorType

from clientgo.testing.synctest.frames import Place

# The originals that a bubble replaces, and the replacements to recommend.
_ORDINARY: tuple[tuple[type, str], ...] = (
    (_thread.LockType, "threading.Lock()"),
    (type(threading.RLock()), "threading.RLock()"),
    (threading.Condition, "threading.Condition()"),
    (threading.Event, "threading.Event()"),
    (threading.Semaphore, "threading.Semaphore()"),
    (threading.Barrier, "threading.Barrier(...)"),
    (queue.SimpleQueue, "queue.SimpleQueue()"),
)
_ORDINARY_CONDITION = threading.Condition
_ordinary_sleep = time.sleep


@dataclass(frozen=True)
class Foreign:
    """An object that the bubble does not control, and the operation of a thread on it."""

    write: str
    made_at: Place | None
    blocks_at: Place | None

    def __str__(self) -> str:
        places = ("made", self.made_at), ("blocks", self.blocks_at)
        lines = [f"  {event} at {place}" for event, place in places if place]
        return "\n".join([*lines, self._advice()])

    def _advice(self) -> str:
        module, _, name = self.write.partition(".")
        name = name.partition("(")[0]
        if name == "sleep":
            return f"Write `{self.write}`: the name of `from time import sleep` stays the ordinary one."
        if self.made_at is not None and f"{module}.{name}" in self.made_at.source:
            return "Make it inside the bubble: in the test's body, or in the function that makes the queue."
        return (
            f"Write `{self.write}` and make it inside the bubble: "
            f"the name of `from {module} import {name}` stays the ordinary one."
        )


def ordinary_condition(frame: FrameType | None, made_at: Place | None) -> Foreign:
    """Return a description of the ordinary Condition (or its Event, Semaphore or Barrier) that `frame` waits for."""
    found = _find(frame, made_at) if frame is not None else None
    return found or Foreign("threading.Condition()", made_at, frame and Place.of(frame))


def blocks_on(frame: FrameType) -> Foreign | None:
    """Return the ordinary object that `frame`, which has not advanced for long, is blocked on, or None if it is
    unknown.
    """
    return _find(frame, None)


def _find(frame: FrameType, made_at: Place | None) -> Foreign | None:
    for node in _nodes_at(frame):
        found = _value(node, frame)
        if found is None:
            continue
        owner, value = found
        if _ORDINARY_CONDITION in type(value).__mro__[1:]:  # the bubble's own, on a lock that may be an ordinary one
            value = vars(value)["_lock"]
            node = next((ast.Attribute(node, name) for name, held in _attributes(owner) if held is value), node)
        write = _source_of(value)
        if write:
            return Foreign(write, made_at or _made_at(node, owner, frame), Place.of(frame))
    return None


def _attributes(owner: object) -> Iterator[tuple[str, object]]:
    yield from getattr(owner, "__dict__", {}).items()


def _source_of(value: object) -> str:
    if value is _ordinary_sleep:
        return "time.sleep(...)"
    # Exactly this class: a bubble makes subclasses of Condition, and an Event belongs to the bubble if its parts do.
    for kind, text in _ORDINARY:
        if type(value) is kind and _is_ordinary(value):
            return text
    return ""


def _is_ordinary(value: object) -> bool:
    inner = vars(value).get("_cond") if hasattr(value, "__dict__") else None
    return inner is None or type(inner) is _ORDINARY_CONDITION


# ---- from a frame to the expressions of its current instruction


def _nodes_at(frame: FrameType) -> Iterator[ast.expr]:
    """Yield the names and attributes in the current expression, outermost first."""
    statement = _statement_at(frame)
    if statement is None:
        return
    roots: list[ast.AST] = [statement]
    if isinstance(statement, ast.With):
        roots = [item.context_expr for item in statement.items]
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Name | ast.Attribute):
                yield node


def _statement_at(frame: FrameType) -> ast.AST | None:
    positions = list(frame.f_code.co_positions())
    line, end_line, column, end_column = positions[frame.f_lasti // 2]
    for node in ast.walk(_parse(frame.f_code.co_filename)):
        if getattr(node, "lineno", None) == line and (
            (node.end_lineno, node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]
            == (end_line, column, end_column)
        ):
            return node
    return None


def _parse(filename: str) -> ast.AST:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


def _value(node: ast.expr, frame: FrameType) -> tuple[object, object] | None:
    """Return the owner and the value of a name or a chain of attributes. Runs no code of the program."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if node.id in names:
                return None, names[node.id]
        return None
    if not isinstance(node, ast.Attribute):
        return None
    found = _value(node.value, frame)
    if found is None:
        return None
    owner = found[1]
    try:
        value = inspect.getattr_static(owner, node.attr)
    except AttributeError:
        return None
    if isinstance(value, MemberDescriptorType):  # a slot
        value = getattr(owner, node.attr, None)
    return owner, value


# ---- the line that created an object, from the program's source


def _made_at(node: ast.expr, owner: object, frame: FrameType) -> Place | None:
    if isinstance(node, ast.Name):
        return _assignment(frame.f_code.co_filename, node.id, near=frame.f_code)
    name = node.attr if isinstance(node, ast.Attribute) else ""
    for cls in type(owner).__mro__:
        module = sys.modules.get(cls.__module__)
        filename = getattr(module, "__file__", None) or ""
        place = _assignment(filename, name, inside=cls.__qualname__.replace(".<locals>", ""))
        if place is not None:
            return place
    return None


def _assignment(filename: str, name: str, *, inside: str = "", near: CodeType | None = None) -> Place | None:
    """Return the line of `filename` that assigns a call's result to `name` (an attribute if `inside` names a class)."""
    found = []
    for node, scope in _scoped(_parse(filename), ""):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
            continue
        if inside and not f"{scope}.".startswith(f"{inside}."):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(name == (getattr(t, "attr", None) if inside else getattr(t, "id", None)) for t in targets):
            found.append(Place(filename, node.lineno, scope or "<module>"))
    if near is not None:
        # The nearest scope around the function that uses the name.
        user = near.co_qualname.replace(".<locals>", "")
        found.sort(key=lambda place: _depth_around(user, place.function))
    return found[-1] if found else None


def _depth_around(user: str, scope: str) -> int:
    """Return how deep a scope around the function `user` is nested, or -1 for a scope that is not around it."""
    if scope == "<module>":
        return 0
    return len(scope) if f"{user}.".startswith(f"{scope}.") else -1


def _scoped(tree: ast.AST, scope: str) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.iter_child_nodes(tree):
        yield node, scope
        inner = scope
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inner = f"{scope}.{node.name}".lstrip(".")
        yield from _scoped(node, inner)


class _Handshake(threading.Condition):
    """A condition that stays ordinary while a bubble is open, since it overrides `wait`."""

    wait = threading.Condition.wait


def handshake() -> threading.Event:
    """Return an ordinary Event, for the handshake between a thread and its starter."""
    event = threading.Event.__new__(threading.Event)
    event._cond = _Handshake(_thread.allocate_lock())  # type: ignore[attr-defined]
    event._flag = False  # type: ignore[attr-defined]
    return event
