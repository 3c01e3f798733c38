"""The first requests of a process, in two threads at once: each imports what the other imports, and none fails."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE

# A process that has only imported the server. The hook stops a request amid its imports until another request is as far
# as it can get: at the package that both import, or at the lock of lazy_loader.importer.
PROGRAM = '''
import sys
import threading

from clientgo.testing.apiserver import Server
from clientgo.testing.apiserver.wire.http import Request

EVENTS = "/api/v1/namespaces/default/events"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
answers = {}
server = Server(listen=False)
server.start()


def get(accept):
    headers = {"authorization": f"Bearer {server.token}", "accept": accept}
    answers[accept] = server.handle(Request("GET", EVENTS, headers), False).status


second = threading.Thread(target=get, args=("application/vnd.kubernetes.protobuf",))
is_there = threading.Event()


def imported(event, args):
    if event != "import":
        return
    if args[0] == "clientgo.apimachinery.runtime.documents" and second.ident is None:
        second.start()
        while not is_there.is_set() and not waits_in("import_all"):
            second.join(0.005)
    elif args[0] == "clientgo.apimachinery.runtime.field_types" and threading.current_thread() is second:
        is_there.set()


def waits_in(function):
    frame = sys._current_frames().get(second.ident)
    while frame is not None and frame.f_code.co_name != function:
        frame = frame.f_back
    return frame is not None


sys.addaudithook(imported)
get(TABLE)
second.join()
server.stop()
print(*sorted(answers.values()))
'''


def test_two_first_requests_import_the_same_package_at_the_same_time() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PATIENCE)

    assert done.stdout.split() == ["200", "200"], done.stderr
