"""The informer tour: every step of the machinery as a stream of hops, from outside.

`Seam` watches the machinery while it is attached, and tells a listener of each `Hop` (hop.py documents the stream, so
that other tools can be built on it):

    with tour.Seam(tour.TAPS, print):
        informer.run_with_context(ctx)

`execute` runs a scenario in virtual time, always the same way, and gives its `Trace`: each hop with a picture of all
stations after it. To go backwards is to look at an earlier point; to branch, or to break something, is to execute the
scenario again with a decision at a point, up to which everything is as before.

`serve` shows a program that really runs on the tour's page, with what it holds, how fast, and for how long.

`record` keeps what came to a program's reflectors, and every hop, in a file. `play` makes of it a ListerWatcher and
`fixture` a pytest fixture: what happened in production is a test case. `replay` is a run as those of `execute`, fed
from a recording.

There is no Go counterpart. `clientgo tour` shows it all as a page.
"""

from clientgo.tour.hop import KINDS, STATIONS, Code, Hop
from clientgo.tour.live import Live
from clientgo.tour.liveview import LiveView
from clientgo.tour.machine import Machine
from clientgo.tour.picture import Painter, Scene
from clientgo.tour.playback import Playback, RecordedError, fixture, play
from clientgo.tour.recorder import Recorder, record
from clientgo.tour.recording import Known, Recording, RecordingError, Source
from clientgo.tour.replay import replay
from clientgo.tour.replaypage import ReplayPage
from clientgo.tour.scenario import SCENARIOS, Scenario
from clientgo.tour.script import FAULTS, Fault, Step
from clientgo.tour.seam import Call, Meter, Probe, Seam, Tap
from clientgo.tour.serving import LivePage, serve
from clientgo.tour.settings import Settings
from clientgo.tour.stepping import MAX_HOPS, Decision, Point, Session, Trace, execute
from clientgo.tour.taps import TAPS, worker_tap

__all__ = [
    "FAULTS",
    "KINDS",
    "MAX_HOPS",
    "SCENARIOS",
    "STATIONS",
    "TAPS",
    "Call",
    "Code",
    "Decision",
    "Fault",
    "Hop",
    "Known",
    "Live",
    "LivePage",
    "LiveView",
    "Machine",
    "Meter",
    "Painter",
    "Playback",
    "Point",
    "Probe",
    "RecordedError",
    "Recorder",
    "Recording",
    "RecordingError",
    "ReplayPage",
    "Scenario",
    "Scene",
    "Seam",
    "Session",
    "Settings",
    "Source",
    "Step",
    "Tap",
    "Trace",
    "execute",
    "fixture",
    "play",
    "record",
    "replay",
    "serve",
    "worker_tap",
]
