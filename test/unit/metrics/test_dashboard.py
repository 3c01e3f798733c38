"""The Grafana dashboard shows metrics and labels that are served."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import metered
import pytest
from patience import PATIENCE
from processes import environment
from prometheus_client.parser import text_string_to_metric_families

from clientgo.cli import command
from clientgo.metrics import dashboard

# What support/metered.py does not have: a request that was delayed, and the controllers of a manager.
OTHERS = """
from prometheus_client import generate_latest
from clientgo import context
from clientgo.controller_runtime import metrics as manager
from clientgo.controller_runtime.internal.controller import metrics as controllers
from clientgo.metrics import legacyregistry, prometheus
from clientgo.tools import metrics

prometheus.register()
metrics.RATE_LIMITER_LATENCY.observe(context.background(), "GET", "https://host", 2.0)
controllers.RECONCILE_TOTAL.labels("shop", "success").inc()
controllers.RECONCILE_TIME.labels("shop").observe(1)
print((generate_latest(legacyregistry.REGISTRY) + generate_latest(manager.REGISTRY)).decode())
"""


@pytest.fixture(scope="module")
def served() -> dict[str, tuple[str, set[str]]]:
    """Return the kind and the labels of each series that has a sample."""
    found: dict[str, tuple[str, set[str]]] = {}
    for program in ([metered.__file__], ["-c", OTHERS]):
        run = subprocess.run(
            [sys.executable, *program], capture_output=True, text=True, timeout=PATIENCE, env=environment()
        )
        assert run.returncode == 0, run.stderr
        text = run.stdout[run.stdout.index("# HELP") :]
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found[sample.name] = (family.type, set(sample.labels))
    return found


PANELS = [panel for row in dashboard.ROWS for panel in row.panels]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_each_panel_asks_for_a_series_that_is_served_with_its_labels(
    panel: dashboard.Panel, served: dict[str, tuple[str, set[str]]]
) -> None:
    (name,) = re.findall(r"\b([a-z][a-z_]+)\{", panel.expression)
    kind, labels = served[name]
    assert ("histogram_quantile" in panel.expression) == (kind == "histogram")
    assert ("rate(" in panel.expression) == (kind != "gauge")
    groups = ", ".join(re.findall(r"by \(([^)]*)\)", panel.expression))
    asked = set(groups.split(", ")) | set(re.findall(r"\{\{(\w+)\}\}", panel.legend)) - {""}
    assert asked - {""} <= labels | {"job", "instance"}


def test_the_panels_have_places_of_their_own_within_the_page() -> None:
    places = [panel["gridPos"] for panel in dashboard.dashboard()["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    numbers = [panel["id"] for panel in dashboard.dashboard()["panels"]]
    assert len(numbers) == len(set(numbers))


def test_the_command_prints_json_for_the_import(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["dashboard", "--title", "shop"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["title"] == "shop"
    assert printed == dashboard.dashboard("shop")
    assert [variable["name"] for variable in printed["templating"]["list"]] == ["source", "job", "instance"]
