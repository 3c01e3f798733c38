"""hack/demo, run as a person would: it tells its story, checks it, and leaves nothing behind."""

from __future__ import annotations

import signal
from pathlib import Path

from processes import ROOT, children, kubectl, python

STORY = ROOT / "cmd" / "demo"


def test_the_demo_holds_every_check_and_leaves_no_process() -> None:
    with python(STORY) as demo:
        code = demo.wait()

    assert code == 0, demo.output
    assert "12 of 12 checks hold" in demo.output
    assert "Successfully synced" in demo.output  # the controller's own log lines are part of the story
    assert children() == []


def test_the_demo_that_stays_is_there_for_kubectl_until_ctrl_c() -> None:
    with python(STORY, "--stay", "--quiet") as demo:
        demo.wait_for("Ctrl-C stops everything")
        (line,) = [line for line in demo.output.splitlines() if "export KUBECONFIG=" in line]
        kubeconfig = Path(line.partition("=")[2])

        listed = kubectl(kubeconfig, "get", "foos,deployments,events")
        demo.send(signal.SIGINT)
        code = demo.wait()

    assert "foo.samplecontroller.k8s.io/clashing-foo" in listed
    assert "ErrResourceExists" in listed
    assert code == 130, demo.output
    assert not kubeconfig.exists()
    assert children() == []
