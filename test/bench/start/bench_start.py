"""Measure a program or server before its first request: CPU time of a fresh process, and the loaded modules.

Run it as `python test/bench/start/bench_start.py [turns] [--go PATH]`. Each row is a process of its own, a turn runs
each once, and the least of all turns is printed: what else the machine does only adds to it. The bytecode is in a
folder of the benchmark's own, as an installed program has it. The last two rows are wall time against an embedded
server, from the start of the process: a process with one typed informer until it has synced 5,000 ConfigMaps (the aim
is 0.35 s), and the sample-controller until its workers start, caches synced. Go's process, built from go/main.go, takes
turns with the former.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "cmd" / "sample-controller"

PROGRAMS = {
    "Python alone": "",
    "http.client, json, ssl": "import http.client, json, ssl",
    "a typed client": """
from clientgo import kubernetes, rest
kubernetes.new_for_config(rest.Config(host="http://127.0.0.1:1")).core_v1().pods("default")
""",
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
# The server, which says where it is and waits until its stdin ends; and the process that syncs.
CONFIG_MAPS = 5000
CLUSTER = f"""
import sys
from clientgo.testing.apiserver import Server
with Server() as server:
    for number in range({CONFIG_MAPS}):
        metadata = {{"name": f"config-{{number}}", "namespace": f"team-{{number % 50}}", "uid": str(number)}}
        document = {{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {{"text": "x" * 400}}}}
        server.store.create("/configmaps", f"team-{{number % 50}}/config-{{number}}", document)
    print(server.url, server.token, flush=True)
    sys.stdin.read()
"""
SYNC = """
import sys
from clientgo import context, informers, kubernetes, rest
clientset = kubernetes.new_for_config(rest.Config(host=sys.argv[1], bearer_token=sys.argv[2], qps=-1))
factory = informers.new_shared_informer_factory(clientset, 0.0)
informer = factory.core().v1().config_maps().informer()
ctx, cancel = context.with_cancel(context.background())
factory.start_with_context(ctx)
assert all(factory.wait_for_cache_sync(ctx.done()).values())
print(len(informer.get_indexer().list_keys()), flush=True)
cancel()
factory.shutdown()
"""
SYNC_COMMAND = [sys.executable, "-c", SYNC]
FIGURES = "\nimport sys, time; print(time.process_time(), len(sys.modules))"


def measure(program: str) -> tuple[float, int]:
    """Return the seconds of CPU time, and the number of modules."""
    done = subprocess.run([sys.executable, "-c", program + FIGURES], capture_output=True, text=True, check=True)
    seconds, modules = done.stdout.split()
    return float(seconds), int(modules)


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Read what the process says until it says that."""
    output = []
    for line in process.stdout or ():
        output.append(line)
        if text in line:
            return
    raise RuntimeError("".join(output))


def config_maps(turns: int, commands: dict[str, list[str]]) -> dict[str, list[tuple[float, float]]]:
    """Run each command in turns: the seconds from its start until it has synced, and its CPU seconds up to its end."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            arguments = server.stdout.readline().split()
            runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
            # The first turn fills the server's cache of encoded objects.
            for _ in range(turns + 1):
                for name, command in commands.items():
                    runs[name].append(synced_config_maps([*command, *arguments]))
            return {name: figures[1:] for name, figures in runs.items()}
        finally:
            server.communicate()


def synced_config_maps(command: list[str]) -> tuple[float, float]:
    before, used = time.perf_counter(), os.times()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == CONFIG_MAPS
        seconds = time.perf_counter() - before
    after = os.times()
    return seconds, sum(after[2:4]) - sum(used[2:4])  # The CPU time of children that have ended.


def sample_controller(turns: int) -> list[float]:
    """Return the seconds from the start of the process until its workers start."""
    # The definition of its Foo comes from a program that needs no kubectl.
    define = """
import sys, yaml
from clientgo import context, dynamic
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1 import unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.tools import clientcmd
crds = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
client = dynamic.new_for_config(clientcmd.build_config_from_flags("", sys.argv[1])).resource(crds)
crd = unstructured.Unstructured.from_dict(yaml.safe_load(open(sys.argv[2])))
client.create(context.background(), crd, metav1.CreateOptions())
"""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = f"{folder}/kubeconfig"
        server = start("-m", "clientgo.testing.apiserver", "--kubeconfig-out", kubeconfig)
        try:
            wait_for(server, "export KUBECONFIG")
            crd = str(SAMPLE / "artifacts" / "examples" / "crd.yaml")
            subprocess.run([sys.executable, "-c", define, kubeconfig, crd], check=True)
            return [synced(kubeconfig) for _ in range(turns)]
        finally:
            end(server)


def synced(kubeconfig: str) -> float:
    before = time.perf_counter()
    controller = start(str(SAMPLE), f"-kubeconfig={kubeconfig}")
    try:
        wait_for(controller, "Starting workers")
        return time.perf_counter() - before
    finally:
        end(controller)


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int, nargs="?", default=10)
    parser.add_argument("--go", metavar="PATH", help="the program built from go/main.go")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # For the processes started here. Without it each would compile the modules anew in some environments.
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        for program in PROGRAMS.values():
            measure(program)
        report(options.turns, options.go)


def report(turns: int, go: str | None) -> None:
    results = [{name: measure(program) for name, program in PROGRAMS.items()} for _ in range(turns)]
    print(f"{'CPU seconds':>36} modules")
    for name in PROGRAMS:
        seconds, modules = min(result[name] for result in results)
        print(f"{name:<24} {seconds:11.3f} {modules:7}")
    commands = {f"{CONFIG_MAPS:,} ConfigMaps, synced": SYNC_COMMAND} | ({"the same by Go": [go]} if go else {})
    for name, runs in config_maps(turns, commands).items():
        seconds, used = (min(figures) for figures in zip(*runs, strict=True))
        print(f"{name:<24} {seconds:10.3f} of wall time, {used:.3f} of CPU time")
    print(f"{'sample-controller, synced':<24} {min(sample_controller(turns)):10.3f} of wall time")


if __name__ == "__main__":
    main()
