"""CBOR as Go's serializer reads and writes it (golden/apimachinery/cbor_decode.jsonl and cbor_encode.jsonl).

go/cbor/main.go makes the files. The inputs are items of all types, documents of objects and lists, nested items, and
1,500 random changes of these. The texts of errors are Go's, except for wrong types of a typed object's fields, which
are found later here.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from goldenfile import read

pytest.importorskip("cbor2")

from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured, UnstructuredList
from clientgo.apimachinery.runtime.error import NotRegisteredError
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionKind
from clientgo.apimachinery.runtime.scheme import Scheme
from clientgo.apimachinery.runtime.serializer import JSONSerializer, cbor, parse_json
from clientgo.apimachinery.runtime.serializer.cbor import direct
from clientgo.golang import utf8

SCHEME = Scheme("golden")
metav1.add_to_group_version(SCHEME, GroupVersion("", "v1"))
SERIALIZER = cbor.new_serializer(JSONSerializer(SCHEME))
STRICT = cbor.new_serializer(JSONSerializer(SCHEME), cbor.strict(True))
# Errors that do not depend on the types of a typed object's fields.
OF_ALL_KINDS = ("error: unable to determine group/version/kind: ", "error: Object '")


def rendered(value: Any) -> str:
    """Return a value so that no type and no byte is lost. main.go has the same function."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"f{struct.pack('>d', value).hex()}"
    if isinstance(value, str):
        return f"s{utf8.encode(value).hex()}"
    if isinstance(value, list):
        return f"[{','.join(map(rendered, value))}]"
    assert isinstance(value, dict)
    return f"{{{','.join(sorted(f'{utf8.encode(key).hex()}:{rendered(each)}' for key, each in value.items()))}}}"


def outcome(act: Callable[[], str]) -> str:
    try:
        return act()
    except NotRegisteredError:
        return "error: not registered"
    except (ValueError, EOFError) as err:
        return f"error: {err}"


def shown(gvk: GroupVersionKind) -> str:
    # The file is JSON, in which bytes that are not UTF-8 are U+FFFD.
    return utf8.to_valid(f"{gvk.group}/{gvk.version}, Kind={gvk.kind}")


def decoded_object(data: bytes) -> str:
    obj, gvk = SERIALIZER.decode(data, None, Unstructured)
    return f"{shown(gvk)} {rendered(obj.to_dict())}"


def decoded_list(data: bytes) -> str:
    obj, gvk = SERIALIZER.decode(data, None, UnstructuredList)
    document = obj.to_dict()
    items = document.pop("items")
    return f"{shown(gvk)} {rendered(document)} {rendered(items)}"


def typed(data: bytes, serializer: cbor.Serializer) -> str:
    obj, gvk = serializer.decode(data)
    return f"{shown(gvk)} {json.dumps(obj.to_dict())}"


def decoded(case: dict[str, str]) -> dict[str, str]:
    """Return our answers to a case."""
    data = bytes.fromhex(case["in"])
    answers: dict[str, Callable[[], str]] = {
        "any": lambda: rendered(direct.unmarshal(data)),
        "diag": lambda: direct.diagnose(data),
        "object": lambda: decoded_object(data),
        "list": lambda: decoded_list(data),
    }
    if "long" in case.values():
        # Of deep items the file has only the errors.
        assert (outcome(lambda: str(direct.unmarshal(data) is None))[:7] == "error: ") == (case["any"] != "long")
        answers = {"diag": answers["diag"]} if case["diag"] != "long" else {}
    return {name: outcome(answer) for name, answer in answers.items()}


# Cases of a test: pytest takes longer for a test than the codec for a case.
CHUNK = 100


def chunks(name: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    return [name[at : at + CHUNK] for at in range(0, len(name), CHUNK)]


DECODE = read("apimachinery/cbor_decode.jsonl")
ENCODE = read("apimachinery/cbor_encode.jsonl")


def test_the_files_have_many_cases_of_all_outcomes() -> None:
    assert len(DECODE) > 1900 and len(ENCODE) > 300
    failed = [case["any"].startswith("error: ") for case in DECODE]
    assert 300 < sum(failed) < len(failed) - 300
    assert sum(case["strict"].startswith("error: strict") for case in DECODE) > 10


@pytest.mark.parametrize("part", range(len(chunks(DECODE))))
def test_bytes_decode_as_in_go(part: int) -> None:
    """Values, errors, diagnostic notation, objects and lists are the same.

    Go: TestAppendixA
    """
    for case in chunks(DECODE)[part]:
        got = decoded(case)
        assert got == {name: case[name] for name in got}, case["name"]


@pytest.mark.parametrize("part", range(len(chunks(DECODE))))
def test_typed_objects_decode_as_in_go(part: int) -> None:
    """An object of the scheme has the same kind; unknown fields and malformed bytes are the same errors."""
    for case in chunks(DECODE)[part]:
        data = bytes.fromhex(case["in"])
        if "Kind=WatchEvent" in case["typed"]:
            continue  # Here it is no kind of a scheme.
        for field, serializer in (("typed", SERIALIZER), ("strict", STRICT)):
            expected, of_fields = case[field], case["any"].startswith("error: ")
            got = outcome(lambda: typed(data, serializer))  # noqa: B023
            if expected.startswith(OF_ALL_KINDS) or (expected.startswith("error: strict") and not of_fields):
                assert got == expected, (case["name"], field)
            elif not expected.startswith("error: ") and expected != "long" and not of_fields:
                # Go does not look into unknown fields.
                assert got.partition(" {")[0] == expected.partition(" {")[0], (case["name"], field)


@pytest.mark.parametrize("part", range(len(chunks(ENCODE))))
def test_documents_encode_as_in_go(part: int) -> None:
    """The bytes are the same, and they decode to the same value.

    Go: TestRoundtripTextEncoding
    """
    for case in chunks(ENCODE)[part]:
        out = outcome(lambda: direct.marshal(parse_json(case["document"])).hex())  # noqa: B023
        assert out == case["out"], case["name"]
        assert rendered(direct.unmarshal(bytes.fromhex(out))) == case["back"], case["name"]
