"""Run `clientgo demo`: a Foo and its controller on the embedded API server, with a check of each step.

The API server and the sample-controller are the processes that a user would start. This program plays the user with
kubectl, waits for the controller's reaction, and counts the successful steps.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import yaml

from clientgo import context, dynamic, kubernetes, rest
from clientgo.api.apps import v1 as appsv1
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import wait
from clientgo.context import Context
from clientgo.tools import clientcmd

PROGRAMS = Path(__file__).resolve().parents[1]
SAMPLE = PROGRAMS / "sample-controller"
EXAMPLES = SAMPLE / "artifacts" / "examples"
FOOS = GroupVersionResource("samplecontroller.k8s.io", "v1alpha1", "foos")
CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
NAMESPACE = "default"
PATIENCE = 15.0  # seconds for one step; it takes milliseconds


class StepFailed(Exception):
    """A step did not come true in time."""


@dataclass
class Style:
    """Colours on a terminal, plain text in a pipe."""

    on: bool

    def __call__(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.on else text

    def bold(self, text: str) -> str:
        return self("1", text)

    def dim(self, text: str) -> str:
        return self("2", text)

    def green(self, text: str) -> str:
        return self("32", text)

    def red(self, text: str) -> str:
        return self("31", text)


@dataclass
class Story:
    """Printer of the steps, with the controller's log lines between them, and of each step's result."""

    style: Style
    quiet: bool = False
    results: list[tuple[str, float, str]] = field(default_factory=list)
    # Lines come from the threads that read the processes' output.
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)

    def log_of(self, who: str) -> Callable[[str], None]:
        """Return a function that prints a program's log lines between the steps."""

        def print_line(line: str) -> None:
            if not self.quiet:
                self.say(self.style.dim(f"    {who}  {line}"))

        return print_line

    @contextmanager
    def step(self, title: str, check: str) -> Iterator[None]:
        """Run one step: print its title and its check, run the body, and print the result."""
        self.say("\n" + self.style.bold(f"{len(self.results) + 1}. {title}"))
        started = time.monotonic()
        try:
            yield
        except Exception as err:
            self.results.append((check, time.monotonic() - started, f"FAILED: {err}"))
            self.say(self.style.red(f"   ✗ {check}: {err}"))
            raise StepFailed(check) from err
        self.results.append((check, time.monotonic() - started, "ok"))
        self.say(self.style.green(f"   ✓ {check}"))

    def summary(self) -> str:
        width = max((len(check) for check, _, _ in self.results), default=0)
        rows = [f"  {check:<{width}}  {seconds:6.2f} s  {result}" for check, seconds, result in self.results]
        failed = sum(result != "ok" for _, _, result in self.results)
        rows.append(f"  {len(self.results) - failed} of {len(self.results)} checks hold")
        return "\n".join(["", self.style.bold("What was checked"), *rows])


class Process:
    """A program of this project, running."""

    def __init__(self, name: str, command: list[str], on_line: Callable[[str], None]) -> None:
        """Start `command`; `on_line` gets its output, line by line, in a thread of its own."""
        self.name = name
        self._on_line = on_line
        # A session of its own: Ctrl-C reaches this program alone, which then stops the others in order.
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), name=f"{name}-output")
        self._reader.start()

    def _read(self, output: TextIO) -> None:
        with output:
            for line in output:
                self._on_line(line.rstrip("\n"))

    def alive(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> int:
        """Ask it to end, insist after ten seconds, and return its exit code."""
        if self.alive():
            self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join()
        return code


@contextmanager
def interrupt_after() -> Iterator[None]:
    """Defer Ctrl-C until the block has ended. Use it in the main thread."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupts:
        raise KeyboardInterrupt


def start(stack: ExitStack, name: str, command: list[str], on_line: Callable[[str], None]) -> Process:
    """Return a process that ends with `stack`, also if Ctrl-C comes while it starts."""
    with interrupt_after():
        process = Process(name, command, on_line)
        stack.callback(process.stop)
    return process


class Cluster:
    """The user's view of the cluster, through this library's own clients."""

    def __init__(self, kubeconfig: str, ctx: Context) -> None:
        self.ctx = ctx
        config = clientcmd.build_config_from_flags("", kubeconfig)
        config.qps = -1.0
        http = rest.http_client_for(config)
        self.kube = kubernetes.new_for_config_and_client(config, http)
        self.dynamic = dynamic.new_for_config_and_client(config, http)
        self.foos = self.dynamic.resource(FOOS).namespace(NAMESPACE)
        self.deployments = self.kube.apps_v1().deployments(NAMESPACE)
        self.events = self.kube.core_v1().events(NAMESPACE)

    def close(self) -> None:
        self.kube.close()

    def create_foo(self, name: str, deployment: str, replicas: int) -> None:
        document = yaml.safe_load((EXAMPLES / "example-foo.yaml").read_text())
        document["metadata"]["name"] = name
        document["spec"] = {"deploymentName": deployment, "replicas": replicas}
        self.foos.create(self.ctx, Unstructured(document), metav1.CreateOptions())

    def patch_foo(self, name: str, patch: str) -> None:
        self.foos.patch(self.ctx, name, PatchType.MERGE, patch.encode(), metav1.PatchOptions())

    def deployment(self, name: str) -> appsv1.Deployment | None:
        try:
            return self.deployments.get(self.ctx, name)
        except errors.StatusError as err:
            if errors.is_not_found(err):
                return None
            raise

    def event(self, foo: str, reason: str) -> corev1.Event | None:
        selector = f"involvedObject.name={foo},reason={reason}"
        found = self.events.list(self.ctx, metav1.ListOptions(field_selector=selector)).items
        return found[0] if found else None

    def until(self, what: str, condition: Callable[[], Any]) -> Any:
        """Return the condition's value as soon as it is true. Raises StepFailed with `what` after a timeout."""
        value: Any = None

        def check(_: Context) -> bool:
            nonlocal value
            value = condition()
            return bool(value)

        try:
            wait.poll_until_context_timeout(self.ctx, 0.05, PATIENCE, True, check)
        except Exception as err:
            if self.ctx.err() is not None:
                raise KeyboardInterrupt from None
            raise StepFailed(f"{what} did not happen within {PATIENCE:g} s") from err
        return value


def tell(story: Story, cluster: Cluster) -> None:
    """Run the steps against the running server and controller."""
    until = cluster.until

    def replicas_are(wanted: int) -> Callable[[], bool]:
        def check() -> bool:
            deployment = cluster.deployment("example-foo")
            return deployment is not None and deployment.spec.replicas == wanted

        return check

    with story.step("A Foo is created: example-foo, 1 replica", "the Foo's Deployment exists and is owned by it"):
        cluster.create_foo("example-foo", "example-foo", 1)
        deployment = until("the Deployment", lambda: cluster.deployment("example-foo"))
        owner = metav1.get_controller_of(deployment)
        assert owner is not None and (owner.kind, owner.name) == ("Foo", "example-foo"), owner

    with story.step("The controller tells what it did", "a Synced event is recorded"):
        event = until("the Synced event", lambda: cluster.event("example-foo", "Synced"))
        assert event.message == "Foo synced successfully", event.message

    with story.step("It writes down what it saw", ".status.availableReplicas is written"):

        def status() -> Any:
            foo = cluster.foos.get(cluster.ctx, "example-foo", metav1.GetOptions())
            return "availableReplicas" in foo.object.get("status", {})

        until("the status", status)

    with story.step("The Foo is changed to 3 replicas", "the Deployment follows the Foo"):
        cluster.patch_foo("example-foo", '{"spec":{"replicas":3}}')
        until("the Deployment with 3 replicas", replicas_are(3))

    with story.step("Somebody changes the Deployment by hand to 5 replicas", "the Deployment is put back"):
        generation = cluster.deployments.get(cluster.ctx, "example-foo").metadata.generation
        cluster.deployments.patch(
            cluster.ctx, "example-foo", PatchType.MERGE, b'{"spec":{"replicas":5}}', metav1.PatchOptions()
        )

        def put_back() -> bool:
            deployment = cluster.deployments.get(cluster.ctx, "example-foo")
            return deployment.spec.replicas == 3 and deployment.metadata.generation >= generation + 2

        until("the Deployment back at 3 replicas", put_back)

    with story.step("Somebody deletes the Deployment", "the Deployment comes back"):
        uid = cluster.deployments.get(cluster.ctx, "example-foo").metadata.uid
        cluster.deployments.delete(cluster.ctx, "example-foo", metav1.DeleteOptions())

        def anew() -> bool:
            deployment = cluster.deployment("example-foo")
            return deployment is not None and deployment.metadata.uid != uid

        until("a new Deployment", anew)

    with story.step(
        "A Foo names a Deployment that is somebody else's", "a warning event says ErrResourceExists, nothing is touched"
    ):
        cluster.deployments.create(cluster.ctx, unrelated_deployment("taken"), metav1.CreateOptions())
        cluster.create_foo("clashing-foo", "taken", 2)
        event = until("the warning event", lambda: cluster.event("clashing-foo", "ErrResourceExists"))
        assert event.type == "Warning", event.type
        assert event.message == 'Resource "taken" already exists and is not managed by Foo', event.message
        taken = cluster.deployments.get(cluster.ctx, "taken")
        assert taken.spec.replicas == 1 and not taken.metadata.owner_references, taken

    with story.step("The Foo is deleted", "its Deployment is garbage-collected"):
        cluster.foos.delete(cluster.ctx, "example-foo", metav1.DeleteOptions())
        until("the end of the Deployment", lambda: cluster.deployment("example-foo") is None)


def unrelated_deployment(name: str) -> appsv1.Deployment:
    """Return a Deployment no Foo owns."""
    labels = {"app": name}
    return appsv1.Deployment(
        metadata=metav1.ObjectMeta(name=name),
        spec=appsv1.DeploymentSpec(
            replicas=1,
            selector=metav1.LabelSelector(match_labels=labels),
            template=corev1.PodTemplateSpec(
                metadata=metav1.ObjectMeta(labels=labels),
                spec=corev1.PodSpec(containers=[corev1.Container(name="nginx", image="nginx:latest")]),
            ),
        ),
    )


def apply_crd(cluster: Cluster) -> None:
    """Apply the CRD on the server, like `kubectl apply --server-side -f crd.yaml`."""
    document = yaml.safe_load((EXAMPLES / "crd.yaml").read_text())
    crds = cluster.dynamic.resource(CRDS)
    name = document["metadata"]["name"]
    crds.apply(cluster.ctx, name, Unstructured(document), metav1.ApplyOptions(field_manager="demo"))

    def established() -> bool:
        conditions = crds.get(cluster.ctx, name, metav1.GetOptions()).object.get("status", {}).get("conditions", [])
        return any(item["type"] == "Established" and item["status"] == "True" for item in conditions)

    cluster.until("the Foo kind", established)


# The command in the help; `clientgo demo` sets another one.
PROG = "demo"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=PROG, description=__doc__, allow_abbrev=False)
    parser.add_argument("--stay", action="store_true", help="leave the server and the controller running for kubectl")
    parser.add_argument("--quiet", action="store_true", help="without the controller's log lines")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    story = Story(Style(sys.stdout.isatty() and "NO_COLOR" not in os.environ), quiet=options.quiet)
    started = time.monotonic()
    try:
        with ExitStack() as stack:
            failed = run(story, stack, options)
            story.say(story.summary())
            story.say(f"  {time.monotonic() - started:.1f} s in all")
            if options.stay and not failed:
                stay(story)
    except KeyboardInterrupt:
        story.say("\nStopped.")
        return 130
    return 1 if failed else 0


def run(story: Story, stack: ExitStack, options: argparse.Namespace) -> bool:
    """Start the processes, run the steps and stop the processes. Reports whether a step failed."""
    ctx, cancel = context.with_cancel(context.background())
    stack.callback(cancel)
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clientgo-demo-")))
    kubeconfig = directory / "kubeconfig"
    python = sys.executable
    try:
        with story.step("The embedded API server starts", "the API server answers"):
            command = [python, str(PROGRAMS / "apiserver"), "--kubeconfig-out", str(kubeconfig)]
            server = start(stack, "apiserver", command, story.log_of("apiserver"))
            wait_for_file(kubeconfig, server)
            cluster = Cluster(str(kubeconfig), ctx)
            stack.callback(cluster.close)
            cluster.until("the default namespace", lambda: cluster.kube.core_v1().namespaces().get(ctx, "default"))
            mode = kubeconfig.stat().st_mode & 0o777
            assert mode == 0o600, f"kubeconfig has mode {mode:o}"
        with story.step("The kind Foo is defined (artifacts/examples/crd.yaml)", "the kind Foo is served"):
            apply_crd(cluster)
        with story.step("The sample-controller starts", "the controller's caches are synced"):
            synced = threading.Event()
            print_line = story.log_of("sample-controller")

            def on_line(line: str) -> None:
                print_line(line)
                if "Started workers" in line:
                    synced.set()

            command = [python, str(SAMPLE), f"-kubeconfig={kubeconfig}", "-v=4"]
            controller = start(stack, "sample-controller", command, on_line)
            if not synced.wait(PATIENCE):
                raise StepFailed("the controller did not start its workers")
        tell(story, cluster)
        if not options.stay:
            with story.step("The controller gets SIGTERM", "the controller ends with exit code 0"):
                code = controller.stop()
                assert code == 0, f"exit code {code}"
    except StepFailed:
        return True
    if options.stay:
        story.say(story.style.bold(f"\nexport KUBECONFIG={kubeconfig}"))
    return False


def wait_for_file(path: Path, process: Process) -> None:
    """Wait until the server has written its kubeconfig, which it does when it is ready."""
    deadline = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not path.exists() or not path.read_text():
        if not process.alive():
            raise StepFailed(f"{process.name} ended")
        if time.monotonic() > deadline:
            raise StepFailed(f"{process.name} did not become ready")
        pause.wait(0.02)


def stay(story: Story) -> None:
    """Wait for Ctrl-C."""
    story.say("The server and the controller go on; try: kubectl get foos,deployments,events")
    story.say("Ctrl-C stops everything.")
    threading.Event().wait()

