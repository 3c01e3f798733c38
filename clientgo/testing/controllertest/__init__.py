"""Property tests for a whole controller: random user actions and faults, in virtual time.

Has no Go file. The embedded API server, the controller's informers, queue and workers, and the user run in one bubble
of `synctest`. A run takes milliseconds, and is the same each time.

    from clientgo.testing import controllertest as ct

    class World(ct.ControllerMachine):
        crds = ["crd.yaml"]

        def start(self, config, ctx):               # as in main(); returns when `ctx` is done and all threads ended
            run_controller(config, ctx)

        def desired(self):                          # user actions
            return ct.objects("example.com/v1", "Foo", spec=st.fixed_dictionaries({"size": st.integers(0, 3)}))

        @ct.eventually()
        def each_foo_has_a_deployment(self, cluster):
            for foo in cluster.list("Foo"):
                assert cluster.owned_by(foo, "Deployment")

    TestWorld = World.TestCase

A failure prints the shortest script that Hypothesis found, as a program, and the history of its run. See README.md for
the faults, the checks, and a first test step by step. Needs Hypothesis, which the extra `test` brings.
"""

from clientgo.testing.synctest.schedule import need_hypothesis

need_hypothesis(__name__)

from clientgo.testing.controllertest.cluster import Cluster
from clientgo.testing.controllertest.history import History, Row
from clientgo.testing.controllertest.machine import ControllerMachine, eventually, invariant, replay
from clientgo.testing.controllertest.reconciler import explore_reconciler
from clientgo.testing.controllertest.runner import ControllerFailure, Result
from clientgo.testing.controllertest.soak import Resources, Soak, soak
from clientgo.testing.controllertest.steps import (
    Before,
    ChangeLeader,
    Clock,
    Delete,
    DeleteNamespace,
    Drop,
    Fail,
    Kill,
    Lag,
    Linger,
    Lose,
    Pause,
    Reject,
    Remove,
    Rewind,
    Set,
    Sleep,
    Step,
    Touch,
)
from clientgo.testing.controllertest.strategies import FAULTS, objects

__all__ = [
    "FAULTS",
    "Before",
    "ChangeLeader",
    "Clock",
    "Cluster",
    "ControllerFailure",
    "ControllerMachine",
    "Delete",
    "DeleteNamespace",
    "Drop",
    "Fail",
    "History",
    "Kill",
    "Lag",
    "Linger",
    "Lose",
    "Pause",
    "Reject",
    "Remove",
    "Resources",
    "Result",
    "Rewind",
    "Row",
    "Set",
    "Sleep",
    "Soak",
    "Step",
    "Touch",
    "eventually",
    "explore_reconciler",
    "invariant",
    "objects",
    "replay",
    "soak",
]
