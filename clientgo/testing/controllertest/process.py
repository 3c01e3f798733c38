"""The processes of the controller under test. Each restarts after it was killed, as a kubelet restarts a container."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from clientgo import context, rest
from clientgo.testing.controllertest.errors import described
from clientgo.testing.controllertest.wire import Wire

if TYPE_CHECKING:
    from clientgo.testing.controllertest.world import World

RESTART_PAUSE = 1.0  # virtual seconds
STOPS_WITHIN = 60.0  # virtual seconds


class Life:
    """One life of a process: from its start until it is killed or stopped."""

    def __init__(self, world: World, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.is_stopped = False
        self.paused_until = 0.0
        self.ctx, self._cancel = context.with_cancel(context.background())
        self.wire = Wire(world, self)
        server = world.server
        self.config = rest.Config(
            host=server.url, bearer_token=server.token, qps=-1, transport=self.wire, user_agent=name
        )

    def kill(self) -> None:
        """End the process like SIGKILL: it makes no further request, and its memory is lost."""
        self.is_dead = True
        self._cancel()
        self.wire.break_watches()

    def stop(self) -> None:
        """End the process like SIGTERM."""
        self.is_stopped = True
        self._cancel()

    def __repr__(self) -> str:
        return f"<Life of {self.name}{' (killed)' if self.is_dead else ''}>"


class Process:
    """A thread that runs the controller, and runs it again after it was killed."""

    def __init__(self, world: World, name: str) -> None:
        self.name = name
        self._world = world
        self._stopping = threading.Event()
        self.life = Life(world, name)

    def __repr__(self) -> str:
        return f"<Process {self.name}>"

    def start(self) -> None:
        """Start the controller. Returns immediately."""
        self._stopping.clear()
        self.life = Life(self._world, self.name)
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def kill(self) -> None:
        """Kill the process. It starts again after RESTART_PAUSE seconds."""
        if not self.life.is_dead:
            self._world.note(self.name, "", "killed")
            self.life.kill()

    def stop(self) -> None:
        """Ask the process to stop. Returns immediately."""
        self._stopping.set()
        self.life.stop()

    def join(self) -> None:
        """Wait until the process has ended. Reports a process that does not end and watches that it leaves open."""
        self._thread.join(STOPS_WITHIN)
        if self._thread.is_alive():
            self._world.report("stop", f"start() has not returned {STOPS_WITHIN:g} s after its context was done")
        elif watches := self.life.wire.open_watches:
            self._world.report("stop", f"start() has returned and left watches open: {', '.join(watches)}")

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._run_once(self.life)
            if not self.life.is_dead and self._world.machine.replicas == 1:
                return
            self._stopping.wait(RESTART_PAUSE)
            if not self._stopping.is_set():
                self._world.note(self.name, "", "restarted")
                self.life = Life(self._world, self.name)

    def _run_once(self, life: Life) -> None:
        world = self._world
        try:
            machine = world.new_machine()
            machine.outside = world.machine.outside
            machine.start(life.config, life.ctx)
        except Exception as err:
            if not life.is_dead and not world.is_expected(err):
                world.report("crash", f"start() raised {described(err)}")
            return
        if not (life.is_dead or life.is_stopped) and world.machine.replicas > 1:
            world.note(life.name, "", "start() has returned")
        elif not (life.is_dead or life.is_stopped):
            world.report("crash", "start() returned before its context was done")
