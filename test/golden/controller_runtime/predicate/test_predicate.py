"""Predicates say what Go's say, alone and combined."""

from __future__ import annotations

from typing import Any

import pytest
from ctrlgolden import panics, to_object
from goldenfile import cases

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import event, predicate


def build(config: dict[str, Any]) -> Any:
    match config["kind"]:
        case "generation":
            return predicate.GenerationChangedPredicate()
        case "resource_version":
            return predicate.ResourceVersionChangedPredicate()
        case "label":
            return predicate.LabelChangedPredicate()
        case "annotation":
            return predicate.AnnotationChangedPredicate()
        case "funcs":
            return predicate.Funcs(
                create_func=always(config.get("create")),
                update_func=always(config.get("update")),
                delete_func=always(config.get("delete")),
                generic_func=always(config.get("generic")),
            )
        case "new_predicate_funcs":
            return predicate.new_predicate_funcs(lambda obj: obj is not None and obj.get_name() == config["name_is"])
        case "label_selector":
            return label_selector(config)
        case "and":
            return predicate.and_(*map(build, config["of"]))
        case "or":
            return predicate.or_(*map(build, config["of"]))
        case "not":
            return predicate.not_(build(config["of"]))
        case kind:
            raise AssertionError(kind)


def always(result: bool | None) -> Any:
    return None if result is None else lambda _: result


def label_selector(config: dict[str, Any]) -> Any:
    try:
        built = predicate.label_selector_predicate(metav1.LabelSelector.from_dict(config["selector"]))
    except predicate.InvalidSelectorError as err:
        assert str(err) == config["error"]
        return err.predicate
    assert config["error"] is None
    return built


@pytest.mark.parametrize("case", cases("controller_runtime/predicate/predicates.jsonl"))
def test_predicates(case: dict[str, Any]) -> None:
    """Every predicate, alone and inside others.

    Go: predicate: Predicate
    """
    built = build(case["config"]["predicate"])
    for step in case["steps"]:
        args, op = step["args"], step["op"]
        if op == "update":
            evt: Any = event.UpdateEvent(to_object(args["old"]), to_object(args["new"]))
        elif op == "create":
            evt = event.CreateEvent(to_object(args["object"]), args.get("is_in_initial_list", False))
        else:
            evt = (event.DeleteEvent if op == "delete" else event.GenericEvent)(to_object(args["object"]))
        result, raised = panics(lambda op=op, evt=evt: getattr(built, op)(evt))
        assert raised == step["expect"]["panic"], step
        if not raised:
            assert result == step["expect"]["result"], step
