"""Follows one event of a real watch through the functions it passes, thread by thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

from patience import PATIENCE

import clientgo
from clientgo import context, informers, kubernetes
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing.apiserver import Environment
from clientgo.tools import cache

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "hack"))

from documents.walk import Step

LIBRARY = Path(clientgo.__file__).parent

# (file below clientgo/, qualified name of the function)
Function = tuple[str, str]


class Walk:
    """The functions of the library that each thread enters meanwhile, each once, in the order of their first call.

    A thread's walk begins with the functions it waits in, from the thread's own down to where it is woken.
    """

    def __init__(self, is_aside: Callable[[Function], bool]) -> None:
        self._is_aside = is_aside
        self._open = False
        self.functions: dict[str, list[Function]] = {}
        # The function in which each thread waits.
        self.waits: dict[str, Function] = {}

    @contextmanager
    def in_new_threads(self) -> Iterator[None]:
        """Follow the threads that start within the block, too."""
        threading.setprofile(self._profile)
        try:
            yield
        finally:
            threading.setprofile(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            waits_in = []
            current: FrameType | None = frame
            while current is not None:
                waits_in.append(current.f_code)
                current = current.f_back
            for code in reversed(waits_in):
                self._note(names.get(ident, ""), code)
            if functions := self.functions.get(names.get(ident, "")):
                self.waits[names.get(ident, "")] = functions[-1]
        self._open = True
        try:
            yield
        finally:
            self._open = False

    @staticmethod
    def where_threads_stand(but: int) -> dict[int, tuple[int, int]]:
        """Return the current instruction of each thread of the process except one."""
        return {ident: (id(frame), frame.f_lasti) for ident, frame in sys._current_frames().items() if ident != but}

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if self._open and event == "call":
            self._note(threading.current_thread().name, frame.f_code)

    def _note(self, thread: str, code: CodeType) -> None:
        path = Path(code.co_filename)
        if LIBRARY not in path.parents or "<" in code.co_qualname:
            return
        function = (path.relative_to(LIBRARY).as_posix(), code.co_qualname)
        functions = self.functions.setdefault(thread, [])
        if function not in functions and not self._is_aside(function):
            functions.append(function)


def follow_an_event(asides: Sequence[str]) -> dict[str, list[Step]]:
    """Create an object that a running informer watches; return what each thread did, without the files of `asides`."""
    walk = Walk(lambda function: function[0].startswith(tuple(asides)))
    handled: list[corev1.ConfigMap] = []
    changed = threading.Condition()

    def on_add(config_map: corev1.ConfigMap) -> None:
        """Read no field: reading decodes, and the handler's thread shall do what it always does."""
        with changed:
            handled.append(config_map)
            changed.notify_all()

    def wait_for(name: str) -> None:
        with changed:
            assert changed.wait_for(lambda: any(each.name == name for each in handled), PATIENCE)

    ctx, cancel = context.with_cancel(context.background())
    with Environment() as env, walk.in_new_threads():
        client = kubernetes.new_for_config(env.config)
        config_maps = client.core_v1().config_maps("default")

        def create(name: str) -> None:
            new = corev1.ConfigMap(metadata=metav1.ObjectMeta(name=name))
            config_maps.create(ctx, new, metav1.CreateOptions())

        factory = informers.new_shared_informer_factory(client, 0.0)
        informer = factory.core().v1().config_maps().informer()
        informer.add_event_handler(cache.ResourceEventHandlerFuncs(add_func=on_add))
        factory.start_with_context(ctx)
        factory.wait_for_cache_sync_with_context(ctx)
        create("later")  # when this one is handled, the watch is open
        wait_for("later")
        settle(walk)
        with walk.recording():
            create("walk")
            wait_for("walk")
            settle(walk)
        cancel()
        factory.shutdown()
        client.close()
    return {
        thread: [Step(path, name, walk.waits.get(thread) == (path, name)) for path, name in functions]
        for thread, functions in walk.functions.items()
    }


def settle(walk: Walk) -> None:
    """Wait until no thread moves for a second."""
    quiet = threading.Event()
    here = threading.get_ident()
    for _ in range(100):
        stood = [walk.where_threads_stand(here)]
        for _ in range(4):
            quiet.wait(0.25)
            stood.append(walk.where_threads_stand(here))
        if all(positions == stood[0] for positions in stood):
            return
    raise AssertionError("the threads do not come to rest")
