"""What a program or server costs before its first request: CPU time of a fresh process, and the modules it has loaded.

Run it as `python test/bench/start/bench_start.py [turns]`. Each row is a process of its own, a turn runs each once, and
the least of all turns is printed: what else the machine does only adds to it.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAMS = {
    "Python alone": "",
    "http.client, json, ssl": "import http.client, json, ssl",
    "a typed informer": """
from clientgo import informers, kubernetes, rest
clientset = kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1"))
informers.new_shared_informer_factory(clientset, 30.0).core().v1().pods().informer()
""",
    "a dynamic informer": """
from clientgo import dynamic, rest
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer
client = dynamic.new_for_config(rest.Config(host="http://127.0.0.1:1"))
factory = dynamicinformer.new_dynamic_shared_informer_factory(client, 30.0)
factory.for_resource(GroupVersionResource("", "v1", "pods")).informer()
""",
    "an embedded server": """
from clientgo.testing.apiserver import Server
Server(listen=False).start()
""",
    "controller-runtime": "from clientgo import controller_runtime as ctrl; ctrl.new_manager",
}
FIGURES = "\nimport sys, time; print(time.process_time(), len(sys.modules))"


def measure(program: str) -> tuple[float, int]:
    """Seconds of CPU, and modules."""
    done = subprocess.run([sys.executable, "-c", program + FIGURES], capture_output=True, text=True, check=True)
    seconds, modules = done.stdout.split()
    return float(seconds), int(modules)


def main() -> None:
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    results = [{name: measure(program) for name, program in PROGRAMS.items()} for _ in range(turns)]
    print(f"{'CPU seconds':>36} modules")
    for name in PROGRAMS:
        seconds, modules = min(result[name] for result in results)
        print(f"{name:<24} {seconds:11.3f} {modules:7}")


if __name__ == "__main__":
    main()
