"""Validation of an applied configuration: unknown fields, wrong scalars, list items without their key.

Mirrors the validation of structured-merge-diff's typed package with its exact texts. It is stricter than decoding:
server-side apply rejects unknown fields regardless of the field validation.
"""

from __future__ import annotations

import json
from typing import Any

from clientgo.apimachinery.util.managedfields.fieldpath import path_text
from clientgo.apimachinery.util.managedfields.schema import DEDUCED, Node
from clientgo.apimachinery.util.managedfields.typed import item_element
from clientgo.golang.fmt import go_value

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def problems(node: Node, value: Any) -> list[str]:
    """Return the errors, each as "path: text"; empty if the value is valid."""
    found: list[str] = []
    _walk(node, value, "", found)
    return found


def _walk(node: Node, value: Any, path: str, found: list[str]) -> None:
    node = node.inside or node
    if value is None or node.kind == "deduced":
        return
    if node.kind in ("struct", "map"):
        _walk_map(node, value, path, found)
    elif node.kind in ("assoc", "set", "list"):
        _walk_list(node, value, path, found)
    else:
        text = _wrong_scalar(node.scalar, value)
        if text:
            found.append(f"{path}: {text}")


def _walk_map(node: Node, value: Any, path: str, found: list[str]) -> None:
    if not isinstance(value, dict):
        found.append(f"{path}: expected map, got &{{{go_value(value)}}}")
        return
    for name, item in value.items():
        child = node.fields.get(name) or node.elem
        if child is None:
            # The real implementation also stops at the first error.
            found.append(f"{path}.{name}: field not declared in schema")
            return
        _walk(child, item, f"{path}.{name}", found)


def _walk_list(node: Node, value: Any, path: str, found: list[str]) -> None:
    if not isinstance(value, list):
        found.append(f"{path}: expected list, got &{{{go_value(value)}}}")
        return
    seen: set[str] = set()
    for i, item in enumerate(value):
        if node.kind == "list":
            element = f"[{i}]"
        else:
            text = _wrong_item(node, item)
            if text:
                found.append(f"{path}: element {i}: {text}")
                return
            element = _element_text(node, item)
            if element in seen:
                found.append(f"{path}: duplicate entries for key {element}")
            seen.add(element)
        _walk(node.elem or DEDUCED, item, path + element, found)


def _wrong_item(node: Node, item: Any) -> str:
    """Return the problem of an item that is not unique in its list, or ""."""
    if node.kind == "set":
        if item is None:
            return "associative list without keys has an element that's an explicit null"
        if isinstance(item, dict):
            return "associative list without keys has an element that's a map type"
        return "not supported: associative list with lists as elements" if isinstance(item, list) else ""
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    return ""


def _element_text(node: Node, item: Any) -> str:
    if node.kind == "set":
        return f"[={_json(item)}]"
    return path_text((item_element(node, item),))


_WANTED = {"string": (str,), "numeric": (int, float), "boolean": (bool,), "untyped": (str, int, float)}


def _wrong_scalar(scalar: str, value: Any) -> str:
    wanted = _WANTED.get(scalar)
    if wanted is None or (isinstance(value, wanted) and not (isinstance(value, bool) and scalar == "numeric")):
        return ""
    if scalar == "string":
        return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
    if scalar == "numeric":
        return f"expected numeric (int or float), got {_go_type(value)}"
    return f"expected {'any scalar' if scalar == 'untyped' else scalar}, got &{{{go_value(value)}}}"


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    names = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}
    return names[type(value)]


def _go_syntax(value: Any) -> str:
    """Return a value as fmt formats it with %#v."""
    if isinstance(value, dict):
        items = (f"{_json(name)}:{_go_syntax(value[name])}" for name in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return _json(value)
