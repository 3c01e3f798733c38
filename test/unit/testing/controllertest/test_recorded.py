"""A script with `record` leaves a recording that the informer tour replays, and the search stays without the tour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import brokenoperators as broken
import pytest
from patience import PATIENCE
from processes import environment
from widgetoperator import widget

from clientgo import tour
from clientgo.testing import controllertest as ct

SCRIPT: list[ct.Step] = [widget("a", 1), ct.Sleep(1.0), ct.Kill(0), widget("a", 2)]


def test_the_tour_replays_what_the_controller_received(tmp_path: Path) -> None:
    with pytest.raises(ct.ControllerFailure) as failure:
        ct.replay(broken.OnlyEdges, SCRIPT, record=tmp_path / "run.jsonl")
    assert failure.value.check == "status_follows_spec"

    with tour.Recording(tmp_path / "run.jsonl") as recording:
        # The killed controller and the next one have reflectors of their own, in the order of virtual time.
        widgets = [source for source in recording.sources.values() if source.type.endswith("=widgets")]
        assert len(widgets) == 2
        assert recording.damaged == 0
        assert [(source.times[0], source.times[-1]) for source in widgets] == [(0.0, 2.0), (3.0, 67.0)]
        trace = tour.replay(recording, widgets[0])
    hops = [(point.hop.station, point.hop.kind, point.hop.key) for point in trace.points]
    assert ("reflector", "line", "default/a") in hops
    assert ("indexer", "replaced", "default/a") in hops


def test_the_recording_does_not_change_the_run_and_replaces_no_file(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"

    def table(record: Path | None) -> str:
        with pytest.raises(ct.ControllerFailure) as failure:
            ct.replay(broken.OnlyEdges, SCRIPT, record=record)
        return failure.value.history.table()

    assert table(file) == table(None)
    before = file.read_bytes()
    with pytest.raises(FileExistsError, match="run.jsonl"):
        ct.replay(broken.OnlyEdges, SCRIPT, record=file)
    assert file.read_bytes() == before


def test_a_search_does_not_load_the_tour() -> None:
    code = "import sys; from clientgo.testing import controllertest; assert 'clientgo.tour' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], env=environment(), timeout=PATIENCE, check=True)
