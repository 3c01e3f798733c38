"""The problems of strict field validation, in the order that sigs.k8s.io/json reports for the same texts."""

from __future__ import annotations

import json

import pytest

from clientgo.testing.apiserver.kinds import schema
from clientgo.testing.apiserver.kinds.strict_fields import strict_problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ('{"metadata":{"name":"p"},"spec":{"containers":[]}}', []),
        (
            '{"spec":{"x":1,"hostPID":true,"hostPID":true,"a":1,"x":2}}',
            ['unknown field "spec.x"', 'duplicate field "spec.hostPID"', 'unknown field "spec.a"'],
        ),
        (
            '{"metadata":{"labels":{"a":"1","a":"2","a":"3"},"Name":"p"},"spec":{"nodeSelector":{"b":"","b":""}}}',
            [
                'duplicate field "metadata.labels.a"',
                'unknown field "metadata.Name"',
                'duplicate field "spec.nodeSelector.b"',
            ],
        ),
        (
            '{"spec":{"containers":[{"name":"c"},{"image":"i","y":{"z":1,"z":1},"name":"d","name":"e"}]}}',
            ['unknown field "spec.containers[1].y"', 'duplicate field "spec.containers[1].name"'],
        ),
        # What a repeated field loses is checked, too.
        ('{"spec":{"old":1},"spec":{"new":1}}', [f'{kind} field "spec{name}"' for kind, name in (
            ("unknown", ".old"), ("duplicate", ""), ("unknown", ".new"))]),
        # These types decode their own JSON.
        ('{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]}}', []),
    ],
)  # fmt: skip
def test_problems_of_a_pod(text: str, problems: list[str]) -> None:
    assert strict_problems(text.encode(), schema.kind_struct("v1", "Pod")) == problems


def test_without_a_struct_only_repeated_fields_are_problems() -> None:
    text = b'{"a":{"b":1,"b":2},"c":[{"d":1,"d":1}],"a":{}}'
    repeated = ["a.b", "c[0].d", "a"]
    assert strict_problems(text, None) == [f'duplicate field "{path}"' for path in repeated]
    assert strict_problems(b"{", None) == []


def test_a_problem_is_reported_once() -> None:
    ports = ",".join('{"containerPort":1,"containerPort":1}' for _ in range(2))
    text = f'{{"spec":{{"containers":[{{"ports":[{ports}]}}],"containers":[{{"ports":[{ports}]}}]}}}}'
    found = strict_problems(text.encode(), schema.kind_struct("v1", "Pod"))
    places = [f"spec.containers[0].ports[{index}].containerPort" for index in range(2)]
    assert found == [f"duplicate field {json.dumps(path)}" for path in [*places, "spec.containers"]]
