"""Objects nested up to Go's limit of 10,000 levels: clients and informers read, compare, copy, patch and write them."""

from __future__ import annotations

import json
import random
import re
import sys
import threading
from datetime import UTC, datetime
from typing import Any

import pytest
from httpscript import Answer, Received, ScriptedServer
from patience import PATIENCE

from clientgo import context, dynamic, kubernetes, rest
from clientgo.api.apps.v1 import ControllerRevision
from clientgo.apiextensions.v1 import JSONSchemaProps
from clientgo.apimachinery.api import equality
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.util import diff, jsonmergepatch, jsonpatch, strategicpatch
from clientgo.apimachinery.util import json as utiljson
from clientgo.apimachinery.util.json import TooDeepError
from clientgo.apimachinery.util.json import deep as deepjson
from clientgo.dynamic import dynamicinformer
from clientgo.kubernetes.scheme import CODECS
from clientgo.tools import cache

CTX = context.background()
REVISIONS = GroupVersionResource("apps", "v1", "controllerrevisions")
LEVELS = [500, 990, 2000, 9990]
PATH = "/apis/apps/v1/namespaces/n/controllerrevisions"


def text_of(levels: int, leaf: int = 1, kind: str = '{"a":', name: str = "deep") -> str:
    """Return the JSON of a ControllerRevision with `levels` levels of nesting."""
    end = "]" if kind == "[" else "}"
    return (
        f'{{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{{"name":"{name}","namespace":"n",'
        f'"resourceVersion":"5"}},"revision":1,"data":{kind * (levels - 1)}{leaf}{end * (levels - 1)}}}'
    )


def revision(levels: int, leaf: int = 1) -> ControllerRevision:
    return ControllerRevision.from_dict(utiljson.unmarshal(text_of(levels, leaf)))


def serve(levels: int) -> Any:
    def answer(request: Received) -> Answer:
        if "watch=" in request.target:
            events = [f'{{"type":"ADDED","object":{text_of(n, name=f"w{n}")}}}\n' for n in (levels, 3)]
            return Answer(chunks=[event.encode() for event in events])
        if request.method == "GET" and request.target.startswith(f"{PATH}/"):
            return Answer(body=text_of(levels).encode())
        if request.method == "GET":
            head = '{"apiVersion":"apps/v1","kind":"ControllerRevisionList","metadata":{"resourceVersion":"5"}'
            return Answer(body=f'{head},"items":[{text_of(levels)}]}}'.encode())
        return Answer(body=request.body)

    return answer


def config(server: ScriptedServer) -> rest.Config:
    return rest.Config(host=server.url, qps=-1)


@pytest.mark.parametrize("levels", LEVELS)
def test_clients_read_and_write_a_deep_object(levels: int) -> None:
    with ScriptedServer(serve(levels)) as server:
        typed = kubernetes.new_for_config(config(server)).apps_v1().controller_revisions("n")
        untyped = dynamic.new_for_config(config(server)).resource(REVISIONS).namespace("n")
        for client in (typed, untyped):
            got = client.get(CTX, "deep", metav1.GetOptions())
            item = client.list(CTX, metav1.ListOptions()).items[0]
            events = [*client.watch(CTX, metav1.ListOptions()).result_chan()]
            updated = client.update(CTX, item, metav1.UpdateOptions())
            # The typed clients omit apiVersion and kind.
            assert [utiljson.encode(obj.to_dict())[-levels:] for obj in (got, item, updated)] == ["}" * levels] * 3
            assert got.deep_copy() == got == updated
            assert equality.SEMANTIC.deep_equal(got, updated)
            assert [event.type for event in events] == ["ADDED", "ADDED"], "the event after the deep one arrives too"


def test_an_informer_keeps_a_deep_object() -> None:
    with ScriptedServer(serve(9990)) as server:
        factory = dynamicinformer.new_dynamic_shared_informer_factory(dynamic.new_for_config(config(server)), 0)
        informer = factory.for_resource(REVISIONS).informer()
        last = threading.Event()

        def add(obj: Any) -> None:
            if obj.get_name() == "w3":
                last.set()

        informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=add))
        ctx, cancel = context.with_cancel(CTX)
        factory.start(ctx.done())
        assert last.wait(PATIENCE)
        assert {"n/deep", "n/w9990", "n/w3"} <= {*informer.get_store().list_keys()}
        cancel()
        factory.shutdown()


@pytest.mark.parametrize("levels", [10001, 100_000])
def test_more_than_the_limit_is_an_error_that_names_it(levels: int) -> None:
    with ScriptedServer(serve(levels)) as server:
        revisions = kubernetes.new_for_config(config(server)).apps_v1().controller_revisions("n")
        with pytest.raises(ValueError, match="exceeded max depth of 10000"):
            revisions.get(CTX, "a", metav1.GetOptions())
        with pytest.raises(ValueError, match="exceeded max depth of 10000"):
            revisions.list(CTX, metav1.ListOptions())
        events = [*revisions.watch(CTX, metav1.ListOptions()).result_chan()]
        assert [event.type for event in events] == ["ERROR"]
        assert "exceeded max depth of 10000" in events[0].object.message


@pytest.mark.parametrize("levels", [100, *LEVELS])
def test_protobuf_with_deep_raw_json(levels: int) -> None:
    info = CODECS.serializer_info("application/vnd.kubernetes.protobuf")
    assert info is not None
    obj = revision(levels)
    data = info.serializer.encode(obj)
    decoded, _ = info.serializer.decode(data, None, ControllerRevision)
    assert decoded == obj
    assert info.serializer.encode(decoded.deep_copy()) == data


@pytest.mark.parametrize("levels", LEVELS)
def test_a_merge_patch_between_deep_objects(levels: int) -> None:
    before, after = revision(levels).to_dict(), revision(levels, 2).to_dict()
    patch = jsonmergepatch.create_merge_patch(before, {**after, "revision": 2})
    wanted = {"data": after["data"], "revision": 2}
    assert utiljson.marshal(patch) == utiljson.marshal(wanted)
    assert jsonmergepatch.create_merge_patch(before, revision(levels).to_dict()) == {}


DEEP = text_of(5000)
OTHER = text_of(5000, 2)


def schema(title: str) -> str:
    """Return a schema in 5,000 others: a strategic merge patch needs the type of each level."""
    return '{"not":' * 5000 + json.dumps({"title": title}) + "}" * 5000


RECURSIVE = {
    "merge": lambda: jsonmergepatch.merge_patch(utiljson.unmarshal(DEEP), utiljson.unmarshal(OTHER)),
    "merge of three": lambda: jsonmergepatch.create_three_way_json_merge_patch(DEEP, OTHER, DEEP),
    "strategic": lambda: strategicpatch.create_two_way_merge_patch(schema("a"), schema("b"), JSONSchemaProps),
    "JSON": lambda: jsonpatch.create_patch(DEEP, OTHER),
}


@pytest.mark.parametrize("call", RECURSIVE.values(), ids=RECURSIVE.keys())
def test_a_recursive_function_names_its_limit(call: Any) -> None:
    with pytest.raises(TooDeepError, match=r"exceeded max depth of a few hundred \(Python's stack has \d+ frames\)"):
        call()


def test_a_diff_of_deep_objects_names_its_limit_or_is_complete() -> None:
    """The json module of Python 3.13 indents such objects; the older ones raise RecursionError."""
    before, after = {"a": utiljson.unmarshal(DEEP)}, {"a": utiljson.unmarshal(OTHER)}
    try:
        found = diff.diff(before, after)
    except TooDeepError as err:
        assert re.search(r"exceeded max depth of a few hundred \(Python's stack has \d+ frames\)", str(err))
        assert sys.version_info < (3, 13)
    else:
        changed = [line for line in found.splitlines() if line[0] in "-+"]
        assert [line[0] + line[1:].strip() for line in changed] == ['-"a": 1', '+"a": 2']


def test_a_value_that_contains_itself_is_an_error() -> None:
    outer: list[Any] = []
    inner = outer
    for _ in range(3000):
        inner.append([])
        inner = inner[0]
    inner.append(outer)
    with pytest.raises(ValueError, match=r"exceeded max depth of 10000|Circular"):
        utiljson.encode(outer)


def value(draw: random.Random, levels: int) -> Any:
    if levels and draw.random() < 0.6:
        values = [value(draw, levels - 1) for _ in range(draw.randrange(4))]
        return values if draw.random() < 0.5 else {draw.choice("abc\n\u00e9"): inner for inner in values}
    return draw.choice([None, True, False, 1, -7, 1.5, 2.0, 1e-7, 1e22, "", 'x"\\\u2028', "\U0001f600"])


def test_the_functions_without_recursion_agree_with_json() -> None:
    seed = int(datetime.now(UTC).strftime("%Y%m%d"))
    draw = random.Random(seed)
    for _ in range(2000):
        wanted = value(draw, 5)
        text = json.dumps(wanted, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1]))
        if draw.random() < 0.5:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice([*'{}[],:"x0 ', ""]) + text[at + draw.randrange(2) :]
        start = len(text) - len(text.lstrip(" \n"))
        try:
            expected: Any = utiljson.scan(text, start)
        except (ValueError, StopIteration) as err:
            with pytest.raises((ValueError, StopIteration)) as caught:
                deepjson.scan(text, start, utiljson.scan)
            # Python 3.13 has its own error for a comma before the end; the older ones miss a value there.
            if "trailing comma" not in str(err):
                assert (type(caught.value), caught.value.args) == (type(err), err.args), f"seed {seed}"
            continue
        assert deepjson.scan(text, start, utiljson.scan) == expected, f"seed {seed}"
        assert deepjson.encode(expected[0], json.dumps, sort_keys=True) == json.dumps(
            expected[0], sort_keys=True, separators=(",", ":")
        )
