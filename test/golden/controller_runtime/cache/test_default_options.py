"""The options of a cache after defaulting (golden controller_runtime/cache/default_options.jsonl)."""

from __future__ import annotations

from typing import Any

import pytest
from cacheoptions import KINDS, config_of, options_of
from goldenfile import cases

from clientgo import rest
from clientgo.api.core import v1 as corev1
from clientgo.controller_runtime.cache.cache import ByObject, Config, default_opts


def shown(config: Config | ByObject) -> dict[str, Any]:
    """Return the fields of a config that are set, as a case writes them."""
    given = vars(config)
    names = {"label": "label_selector", "field": "field_selector", "sync_period": "sync_period_seconds"}
    out: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        name = names.get(name, name)
        if name == "namespaces":
            value = {namespace: shown(each) for namespace, each in value.items()}
        elif name.endswith("_selector"):
            value = str(value)
        elif name == "transform":
            value = value(corev1.ConfigMap()).metadata.annotations["transformed-by"]
        out[name] = value
    return out


@pytest.mark.parametrize("case", cases("controller_runtime/cache/default_options.jsonl"))
def test_defaulting_is_that_of_go(case: dict[str, Any]) -> None:
    """
    Go: cache: TestDefaultOpts
    Go: cache: TestDefaultConfigConsidersAllFields
    """
    for step in case["steps"]:
        options = options_of(step["args"])
        before = {name: repr(value) for name, value in vars(options).items()}
        error = None
        try:
            done = default_opts(rest.Config(host="http://none"), options)
        except ValueError as err:
            error = str(err)
        assert {name: repr(value) for name, value in vars(options).items()} == before, "the caller's were changed"
        expect = step["expect"]
        if expect["error"] is not None:
            text = expect["error"] if isinstance(expect["error"], str) else expect["error"]["message"]
            # Go's name of the type and of the field.
            assert error == text.replace("*v1.", "").replace("Namespaces", "namespaces"), step
            continue
        assert error is None, step
        by_object = {name: shown(done.by_object[kind]) for name, kind in KINDS.items() if kind in done.by_object}
        assert by_object == expect["by_object"], step
        namespaces = {ns: shown(each) for ns, each in (done.default_namespaces or {}).items()}
        assert namespaces == expect["default_namespaces"], step


def test_config_of_reads_what_a_case_says() -> None:
    assert shown(config_of({"label_selector": "app=a", "sync_period_seconds": 3})) == {
        "label_selector": "app=a",
        "sync_period_seconds": 3,
    }
