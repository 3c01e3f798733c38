"""A patch that a client creates of two Services leads the server to what it leads to in the client."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from apiclient import Api

from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.util import strategicpatch
from clientgo.testing.apiserver import Environment

pytestmark = pytest.mark.shared_server
Json = dict[str, Any]
SERVICES = "/api/v1/namespaces/default/services"
STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with Environment() as env:
        client = Api(env)
        yield client
        client.close()


def service(name: str, ports: list[Json]) -> Json:
    return {"metadata": {"name": name}, "spec": {"clusterIP": "None", "ports": ports}}


def drawn(draw: random.Random, most: int) -> list[Json]:
    """Return valid ports with few numbers, so that several share their merge key."""
    pairs = [(port, protocol) for port in range(53, 60) for protocol in ("TCP", "UDP", "SCTP")]
    chosen = draw.sample(pairs[: 2 * most], draw.randint(1, most))
    return [
        {"name": f"{protocol.lower()}-{port}", "port": port, "protocol": protocol, "targetPort": draw.randint(1, 3)}
        for port, protocol in chosen
    ]


def is_valid(ports: list[Json]) -> bool:
    """Report whether a Service may have these ports."""
    pairs = [(port["port"], port.get("protocol", "TCP")) for port in ports]
    names = [port.get("name", "") for port in ports]
    distinct = len(set(pairs)) == len(pairs) and len(set(names)) == len(names)
    return distinct and (len(ports) == 1 or all(names))


@pytest.mark.parametrize(("seed", "most"), [*((seed, 4) for seed in range(20)), *((seed, 10) for seed in range(5))])
def test_a_created_patch_has_the_same_result_in_the_server_and_in_the_client(api: Api, seed: int, most: int) -> None:
    draw = random.Random(f"{seed} {most}")
    name = f"s-{most}-{seed}"
    before, after = service(name, drawn(draw, most)), service(name, drawn(draw, most))
    patch = strategicpatch.create_two_way_merge_map_patch(before, after, corev1.Service)
    api("POST", SERVICES, before, want=201)
    try:
        expected = strategicpatch.strategic_merge_map_patch(before, patch, corev1.Service)["spec"]["ports"]
    except ValueError as err:
        refused = api("PATCH", f"{SERVICES}/{name}", patch, media=STRATEGIC)
        assert refused["kind"] == "Status" and str(err).split(":")[0] in refused["message"]
        return
    answer = api("PATCH", f"{SERVICES}/{name}", patch, media=STRATEGIC)
    if is_valid(expected):
        # A change that finds no element left to change becomes one; the server fills in what it lacks.
        assert answer["spec"].get("ports", []) == [
            {"protocol": "TCP", "targetPort": port["port"], **port} for port in expected
        ]
    else:
        assert (answer["kind"], answer["reason"]) == ("Status", "Invalid")
