"""Shard selectors: hash, parser, matching, storage predicate, options and list metadata (golden/sharding)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from goldenfile import cases

from clientgo.apimachinery import sharding
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.conversion import queryparams
from clientgo.apimachinery.runtime import schema
from clientgo.apimachinery.sharding import ShardRangeRequirement
from clientgo.kubernetes.scheme import SCHEME
from clientgo.testing.apiserver.kinds import selectors, shard_selector, shards
from clientgo.testing.apiserver.kinds.registry import Registry
from clientgo.testing.apiserver.verbs import options as listoptions
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.http import Request

Json = dict[str, Any]

# ANTLR's list of expected tokens belongs to the generated grammar of cel-go.
_GRAMMAR = re.compile(r"^(CEL parse error: ).*", re.DOTALL)


@pytest.mark.parametrize("case", cases("sharding/hash.jsonl"))
def test_hashes_are_gos(case: Json) -> None:
    for step in case["steps"]:
        args = step["args"]
        if step["op"] == "hash_field":
            assert sharding.hash_field(args["value"]) == step["expect"]["hash"]
        else:
            assert sharding.hex_less(args["a"], args["b"]) is step["expect"]["less"]


@pytest.mark.parametrize("case", cases("sharding/parse.jsonl"))
def test_the_parser_accepts_and_rejects_what_gos_does(case: Json) -> None:
    for step in case["steps"]:
        want = step["expect"]
        selector, error = attempt(shard_selector.parse, step["args"]["selector"])
        if error is not None or want["error"] is not None:
            assert shortened(error) == shortened(want["error"]), step["args"]
            continue
        assert described(selector) == {key: want[key] for key in ("string", "empty", "requirements")}
        assert str(shard_selector.parse(str(selector))) == want["string_again"]


@pytest.mark.parametrize("case", cases("sharding/selector.jsonl"))
def test_selectors_made_without_the_parser(case: Json) -> None:
    for step in case["steps"]:
        want = step["expect"]
        if step["op"] == "everything":
            everything = sharding.everything()
            assert (str(everything), everything.empty()) == (want["string"], want["empty"])
            assert everything.requirements() == (want["requirements"] or [])
            continue
        selector = sharding.new_selector(*requirements(step["args"]))
        _, error = attempt(shard_selector.parse, str(selector))
        assert described(selector) == {key: want[key] for key in ("string", "empty", "requirements")}
        assert str(selector.deep_copy_selector()) == want["copy_string"]
        assert shortened(error) == shortened(want["parse_error"])


@pytest.mark.parametrize("case", cases("sharding/matches.jsonl"))
def test_objects_match_as_in_go(case: Json) -> None:
    for step in case["steps"]:
        args, want = step["args"], step["expect"]
        obj = decoded(args)
        if step["op"] == "matches":
            matches, error = attempt(selector_of(args).matches, obj)
            assert (bool(matches), error) == (want["matches"], want["error"]), args
        else:
            value, error = attempt(sharding.resolve_field_value, obj, args["field_path"])
            assert (value or "", error) == (want["value"], want["error"]), args


@pytest.mark.parametrize("case", cases("sharding/predicate.jsonl"))
def test_the_servers_selection_is_gos_predicate(case: Json) -> None:
    for step in case["steps"]:
        args, want = step["args"], step["expect"]
        if want["error"] is not None:
            # The embedded server makes selections of texts alone, and its parser rejects this one.
            with pytest.raises(ApiError):
                shards.parse_shard(str(selector_of(args)))
            continue
        shard = str(selector_of(args)) if args["gate"] else ""
        resource = resource_of(args["object"])
        made = selectors.Selection(resource, args["label_selector"], args["field_selector"], shard)
        only_shard = selectors.Selection(resource, "", "", shard)
        assert made.matches(args["object"]) is want["matches"], args
        assert only_shard.matches(args["object"]) is want["matches_sharding"], args
        assert made.empty is want["empty"], args
        assert made.shard_info == want["shard_info"], args


@pytest.mark.parametrize("case", cases("sharding/list_options.jsonl"))
def test_list_options_in_queries(case: Json) -> None:
    for step in case["steps"]:
        args, want = step["args"], step["expect"]
        if step["op"] == "validate_list_options":
            assert validation_errors(args) == [error["message"] for error in want["errors"]], args
        elif step["op"] == "list_options_from_query":
            request = Request("GET", f"/?{args['query']}", {})
            found = listoptions.ListOptions(request, watch=False)
            assert found.shard_selector == want["options"].get("shardSelector", ""), args
        else:
            values = queryparams.convert(metav1.ListOptions.from_dict(args["options"]))
            assert values == want["values"], args
            assert urlencode(sorted(values.items()), doseq=True) == want["encoded"], args


@pytest.mark.parametrize("case", cases("sharding/list_meta.jsonl"))
def test_lists_keep_their_shard_info(case: Json) -> None:
    for step in case["steps"]:
        args, want = step["args"], step["expect"]
        found = decoded(args)
        is_unstructured = args.get("as") == "unstructured"
        document = found.unstructured_content() if is_unstructured else found.to_dict()
        assert without_empty(document.get("metadata") or {}) == without_empty(want["metadata"]), args
        assert found.get_resource_version() == want["resource_version"]
        assert found.get_continue() == want["continue"]
        assert want["has_accessor"] is not is_unstructured
        if not is_unstructured:
            info = found.get_shard_info()
            assert (info and {"selector": info.selector}) == want["shard_info"], args


def attempt(call: Callable[..., Any], *args: Any) -> tuple[Any, str | None]:
    """Return the result and no error, or no result and the text of the error."""
    try:
        return call(*args), None
    except ValueError as err:
        return None, str(err)


def shortened(error: str | None) -> str | None:
    """Return an error without what cel-go's grammar says in it."""
    return error and _GRAMMAR.sub(r"\1", error)


def requirements(args: Json) -> list[ShardRangeRequirement]:
    """Return the ranges that a step lists."""
    return [ShardRangeRequirement(each["key"], each["start"], each["end"]) for each in args["requirements"]]


def selector_of(args: Json) -> sharding.Selector:
    """Return the selector of a step: parsed, made of ranges, or that of all objects."""
    if "selector" in args:
        return shard_selector.parse(args["selector"])
    if "requirements" in args:
        return sharding.new_selector(*requirements(args))
    return sharding.everything()


def described(selector: sharding.Selector) -> Json:
    """Return a selector as the golden cases show it."""
    return {
        "string": str(selector),
        "empty": selector.empty(),
        "requirements": [
            {"key": each.key, "start": each.start, "end": each.end} for each in selector.requirements()
        ],
    }


def decoded(args: Json) -> Any:
    """Return the object of a step, typed or unstructured."""
    document = args["object"]
    if args.get("as") == "unstructured":
        return UnstructuredList(document) if "items" in document else Unstructured(document)
    if document["kind"] == "List" and document["apiVersion"] == "v1":
        return metav1.List.from_dict(document)
    kind = schema.from_api_version_and_kind(document["apiVersion"], document["kind"])
    if kind.group == "meta.k8s.io":
        return getattr(metav1, kind.kind).from_dict(document)
    return SCHEME.new(kind).from_dict(document)


def resource_of(document: Json) -> Any:
    """Return the embedded server's resource of an object's kind."""
    found = Registry().by_kind(document["apiVersion"], document["kind"])
    assert found is not None
    return found


def validation_errors(args: Json) -> list[str]:
    """Return the messages of the server's validation of list options."""
    query = urlencode(args["options"])
    watch = args["options"].get("watch") == "true"
    try:
        listoptions.ListOptions(Request("GET", f"/?{query}", {}), watch=watch, watch_list=args["watch_list_enabled"])
    except ApiError as err:
        return [f"{cause['field']}: {cause['message']}" for cause in err.status()["details"]["causes"]]
    return []


def without_empty(metadata: Json) -> Json:
    """Return list metadata without what Go leaves out, or the typed decoder fills in."""
    out = {key: value for key, value in metadata.items() if value not in (None, "")}
    if isinstance(out.get("shardInfo"), dict) and not out["shardInfo"].get("selector"):
        out["shardInfo"] = {}
    return out
