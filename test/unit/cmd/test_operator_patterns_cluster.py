"""The operator-patterns as a whole, with its manager, against the embedded API server in virtual time.

It is killed between any two of its writes and reads from late caches, and the Sites always get what they ask for; what
it has no success with it tries again later and later, and nothing else makes it try.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from processes import ROOT
from programs import ImportedProgram
from virtualcluster import CTX, Life, Program, VirtualCluster, every, never, up_to

from clientgo import controller_runtime as ctrl
from clientgo.api.apps import v1 as appsv1
from clientgo.api.coordination import v1 as coordinationv1
from clientgo.api.core import v1 as corev1
from clientgo.api.events import v1 as eventsv1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.controller_runtime import client
from clientgo.golang import http
from clientgo.testing.apiserver import read_manifests

pytestmark = pytest.mark.takes_turns(2)

PROGRAM = ImportedProgram("operator-patterns")
with PROGRAM:
    v1alpha1 = PROGRAM.module("api.v1alpha1")
    controller = PROGRAM.module("controller")
    main = PROGRAM.module("main")
    watches = PROGRAM.module("watches")
    zone = PROGRAM.module("zone")

CONFIG = ROOT / "cmd/operator-patterns/config"
CRDS = list(read_manifests([CONFIG / "crd"]))

# Group, resource and verb.
Right = tuple[str, str, str]


@pytest.fixture(autouse=True)
def imported() -> Iterator[None]:
    with PROGRAM:
        yield


class MortalZone(zone.Zone):  # type: ignore[misc,name-defined]
    """A zone whose changes count as writes of the program."""

    def __init__(self, folder: Path, life: Life) -> None:
        super().__init__(folder)
        self.life = life

    def publish(self, host: str, record: Any) -> bool:
        self.life.check()
        done = super().publish(host, record)
        if done:
            self.life.wrote(f"publish {host}")
        return done

    def withdraw(self, owner: str, but: str = "") -> list[str]:
        self.life.check()
        hosts = super().withdraw(owner, but)
        if hosts:
            self.life.wrote(f"withdraw {hosts}")
        return hosts


class RecordingTransport:
    """A round tripper that notes which rights the requests need."""

    def __init__(self, transport: Any, used: set[Right]) -> None:
        self._transport = transport
        self._used = used

    def round_trip(self, request: http.Request) -> http.Response:
        url = urlsplit(request.url)
        _, api, *parts = url.path.split("/")
        group, rest = (parts[:1], parts[2:]) if api == "apis" else ([""], parts[1:])
        if rest:
            self._note(group[0], rest, request.method, "watch" in parse_qs(url.query))
        return self._transport.round_trip(request)

    def _note(self, group: str, parts: list[str], method: str, watches: bool) -> None:
        parts = parts[2:] if parts[0] == "namespaces" else parts
        resource = "/".join([parts[0], *parts[2:]])
        reading = "watch" if watches else "get" if len(parts) > 1 else "list"
        verbs = {"GET": reading, "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
        self._used.add((group, resource, verbs[method]))


class Operators:
    """A cluster, a DNS zone, and operators that can be killed in several ways."""

    def __init__(self, cluster: VirtualCluster, folder: Path) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self._folder = folder
        # When which Site was reconciled.
        self.reconciled: list[tuple[float, str]] = []
        self.used: set[Right] = set()
        # How many there were at the beginning of each life.
        self.threads: list[int] = []
        # Guards _at_work: which lives work for a Site.
        self._lock = threading.Lock()
        self._at_work: dict[str, list[Life]] = {}
        # The Sites for which several were at work at once, and all that ever worked.
        self.collisions: list[str] = []
        self.workers: set[Life] = set()

    def program(
        self,
        *flags: str,
        dies_after: Callable[[int], bool] = never,
        delay: Callable[[], float] = lambda: 0.0,
    ) -> Program:
        arguments = [f"-zone={self._folder}", *flags]
        parsed = main.parse_flags(main.zap.Options(), arguments)

        def run(life: Life) -> None:
            self.threads.append(threading.active_count())
            life.config.transport = RecordingTransport(life.config.transport, self.used)
            mgr = main.new_manager(life.config, MortalZone(self._folder, life), parsed)
            mgr.start(life.ctx)

        return Program(self.cluster, run, dies_after=dies_after, delay=delay)

    @contextlib.contextmanager
    def at_work(self, name: str, life: Life) -> Iterator[None]:
        """Surround a reconcile."""
        self.reconciled.append((self.cluster.bubble.elapsed, name))
        with self._lock:
            others = self._at_work.setdefault(name, [])
            self.collisions += [name for other in others if not other.is_dead]
            others.append(life)
            self.workers.add(life)
        try:
            yield
        finally:
            with self._lock:
                others.remove(life)

    def alarms(self) -> list[str]:
        """Return the notes of all warnings about Sites."""
        found = self.client.list(CTX, eventsv1.EventList, client.InNamespace("default")).items
        return [each.note for each in found if (each.type, each.regarding.kind) == ("Warning", "Site")]

    def zone(self) -> dict[str, str]:
        return {host: record.owner for host, record in zone.Zone(self._folder).records().items()}

    def create(self, name: str, **spec: Any) -> None:
        metadata = metav1.ObjectMeta(name=name, namespace="default")
        self.client.create(CTX, v1alpha1.Site(metadata=metadata, spec=v1alpha1.SiteSpec(**{"page": "1", **spec})))

    def change(self, name: str, **spec: Any) -> None:
        """Change the spec, and retry after a conflict."""
        while True:
            site = self.site(name)
            for field, value in spec.items():
                setattr(site.spec, field, value)
            try:
                return self.client.update(CTX, site)
            except errors.StatusError as err:
                if not errors.is_conflict(err):
                    raise

    def site(self, name: str) -> Any:
        return self.client.get(CTX, ctrl.Request("default", name), v1alpha1.Site)

    def is_ready(self, name: str) -> bool:
        site = self.site(name)
        return (site.status.status, site.status.observed_generation) == ("Success", site.get_generation())

    def names(self, kind: Any) -> set[str]:
        return {each.get_name() for each in self.client.list(CTX, kind, client.InNamespace("default")).items}

    def check(self, name: str, page: str) -> None:
        """Check that everything is in the state that the Site specifies."""
        key = ctrl.Request("default", name)
        site = self.site(name)
        config_map = self.client.get(CTX, key, corev1.ConfigMap)
        deployment = self.client.get(CTX, key, appsv1.Deployment)
        assert config_map.data == {"index.html": page}
        assert deployment.spec.template.spec.containers[0].image == "nginx:1.27"
        for owned in (config_map, deployment):
            assert metav1.is_controlled_by(owned, site)
        assert [host for host, owner in self.zone().items() if owner == str(key)] == [site.spec.host]


@pytest.fixture
def operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operators]:
    usual = main.manager_options

    def several_in_one_process(*arguments: Any) -> ctrl.Options:
        options = usual(*arguments)
        options.controller.skip_name_validation = True
        return options

    class Watched(controller.SiteReconciler):  # type: ignore[misc,name-defined]
        def reconcile(self, ctx: Any, request: ctrl.Request) -> Any:
            with made.at_work(request.name, self.zone.life):
                return super().reconcile(ctx, request)

    # By their names replicas share the work, and so these decide who writes how much.
    chance = random.Random(1)
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4))
    monkeypatch.setattr(main, "manager_options", several_in_one_process)
    monkeypatch.setattr(main, "SiteReconciler", Watched)
    with VirtualCluster(crds=CRDS, scheme=main.new_scheme()) as cluster:
        made = Operators(cluster, tmp_path)
        yield made


def live(operators: Operators, program: Program) -> None:
    """Create, change and delete Sites, and move one to another host."""
    cluster, names = operators.cluster, ("a", "b")
    with program:
        for name in names:
            operators.create(name)
        cluster.until(lambda: all(operators.is_ready(name) for name in names))
        for name in names:
            operators.check(name, "1")
        operators.change("a", page="2")
        operators.change("b", host="www.example.com")
        cluster.until(lambda: all(operators.is_ready(name) for name in names))
        operators.check("a", "2")
        operators.check("b", "1")
        for name in names:
            operators.client.delete(CTX, operators.site(name))
        cluster.until(lambda: operators.names(v1alpha1.SiteList) == set())
        assert operators.zone() == {}
        cluster.until(lambda: operators.names(appsv1.DeploymentList) == set())


# An apply is a request each time, also when it changes nothing: an operator that dies at every request gets nowhere.
@pytest.mark.parametrize("offset", range(4))
def test_killed_after_any_write_the_next_one_goes_on(operators: Operators, offset: int) -> None:
    program = operators.program(dies_after=every(4, offset))
    live(operators, program)
    assert len(program.deaths) > 3
    # A manager that has ended leaves none.
    assert max(operators.threads) <= operators.threads[0]


def test_late_caches_cost_time_and_no_false_alarm(operators: Operators) -> None:
    live(operators, operators.program(delay=up_to(3.0, seed=5)))
    assert operators.alarms() == []


def test_what_it_owns_comes_back(operators: Operators) -> None:
    cluster, key = operators.cluster, ctrl.Request("default", "site")
    operators.create("site")
    with operators.program():
        cluster.until(lambda: operators.is_ready("site"))
        for kind, kinds in ((corev1.ConfigMap, corev1.ConfigMapList), (appsv1.Deployment, appsv1.DeploymentList)):
            cluster.bubble.sleep(60.0)
            operators.client.delete(CTX, operators.client.get(CTX, key, kind))
            assert operators.names(kinds) == set()
            cluster.until(lambda kinds=kinds: operators.names(kinds) == {"site"}, seconds=60.0)


def test_it_tries_again_later_and_later_and_for_no_other_reason(operators: Operators) -> None:
    cluster = operators.cluster
    operators.create("site", host="www.example.com")
    with operators.program():
        cluster.until(lambda: operators.is_ready("site"))
        began = cluster.bubble.elapsed
        operators.create("late", host="www.example.com")
        cluster.bubble.sleep(3600.0)
        # Each failure is written to the status, and none of these writes is a reason to try.
        times = [at for at, name in operators.reconciled if name == "late" and at >= began]
        waits = [round(after - before) for before, after in itertools.pairwise(times)]
        assert waits[-8:] == [8, 16, 32, 64, 128, 256, 512, 1024]
        assert set(operators.alarms()) == {"the host www.example.com is taken by the Site default/site"}
        assert [name for at, name in operators.reconciled if name == "site" and at > began + 10] == []

        # A change is tried at once, and what comes after it has the pauses of a first failure.
        operators.change("late", page="2")
        changed = cluster.bubble.elapsed
        cluster.bubble.sleep(20.0)
        tries = [round(at - changed) for at, name in operators.reconciled if name == "late" and at >= changed]
        assert tries == [0, 1, 3, 7, 15]
        operators.client.delete(CTX, operators.site("site"))
        cluster.until(lambda: operators.is_ready("late"))
        operators.check("late", "2")


def test_a_secret_concerns_the_sites_that_name_it_and_no_others(operators: Operators) -> None:
    cluster, fingerprint = operators.cluster, controller.FINGERPRINT_ANNOTATION

    def served(name: str) -> str:
        deployment = operators.client.get(CTX, ctrl.Request("default", name), appsv1.Deployment)
        return deployment.spec.template.metadata.annotations.get(fingerprint, "")

    annotations = {watches.CERTIFICATE_ANNOTATION: "true"}
    secret = corev1.Secret(
        metadata=metav1.ObjectMeta(name="tls", namespace="default", annotations=annotations),
        type="kubernetes.io/tls",
        data={"tls.crt": b"first", "tls.key": b"key"},
    )
    operators.client.create(CTX, secret)
    for name, spec in {"a": {"tls_secret_name": "tls"}, "b": {"tls_secret_name": "tls"}, "c": {}}.items():
        operators.create(name, **spec)
    with operators.program():
        cluster.until(lambda: all(operators.is_ready(name) for name in "abc"))
        assert (bool(served("a")), served("c")) == (True, "")
        first = served("a")
        cluster.bubble.sleep(60.0)

        operators.reconciled.clear()
        secret.set_labels({"seen": "yes"})
        operators.client.update(CTX, secret)
        cluster.bubble.sleep(60.0)
        assert operators.reconciled == []
        secret.data["tls.crt"] = b"second"
        operators.client.update(CTX, secret)
        cluster.until(lambda: first not in (served("a"), served("b")))
        assert {name for _, name in operators.reconciled} == {"a", "b"}

        operators.client.delete(CTX, secret)
        cluster.until(lambda: operators.alarms() == ["there is no TLS Secret tls"] * 2)
        assert [operators.is_ready(name) for name in "abc"] == [False, False, True]


def test_operators_that_share_the_work_never_meet_and_leave_nothing(operators: Operators) -> None:
    cluster, names = operators.cluster, [f"site-{number}" for number in range(8)]
    flags = ("-shards=4", "-leader-elect-namespace=default")
    # One of the two dies twice, and comes back under another name.
    mortal = operators.program(*flags, dies_after=lambda number: number in (8, 30), delay=up_to(1.0, seed=2))
    with mortal, operators.program(*flags, delay=up_to(1.0, seed=3)):
        for name in names:
            operators.create(name)
        cluster.until(lambda: all(operators.is_ready(name) for name in names))
        for name in names:
            operators.check(name, "1")
            operators.change(name, page="2")
        cluster.until(lambda: all(operators.is_ready(name) for name in names))
        for name in names:
            operators.check(name, "2")
            operators.client.delete(CTX, operators.site(name))
        cluster.until(lambda: operators.names(v1alpha1.SiteList) == set())
        # What a dead one had goes to the living when its lease has ended.
        cluster.bubble.sleep(60.0)
    assert operators.zone() == {}
    assert len(mortal.deaths) == 2
    assert len(operators.workers) > 3
    assert operators.collisions == []
    # The living have given back what they had.
    leases = operators.client.list(CTX, coordinationv1.LeaseList, client.InNamespace("default")).items
    assert {lease.spec.holder_identity for lease in leases if "-shard-" in lease.get_name()} == {""}


def test_operators_that_cache_their_namespaces_only_share_the_work(operators: Operators) -> None:
    cluster, client_ = operators.cluster, operators.client
    namespaces = ("alpha", "beta", "blue", "green", "mail", "search")
    flags = ("-shards=4", "-shard-by=namespace", "-leader-elect-namespace=default")
    for namespace in namespaces:
        client_.create(CTX, corev1.Namespace(metadata=metav1.ObjectMeta(name=namespace)))

    def site(namespace: str) -> Any:
        return client_.get(CTX, ctrl.Request(namespace, f"site-{namespace}"), v1alpha1.Site)

    def are_ready() -> bool:
        sites = [site(namespace) for namespace in namespaces]
        return all(
            (each.status.status, each.status.observed_generation) == ("Success", each.get_generation())
            for each in sites
        )

    with operators.program(*flags), operators.program(*flags):
        cluster.bubble.sleep(60.0)  # until each has two of the shards
        for namespace in namespaces:
            metadata = metav1.ObjectMeta(name=f"site-{namespace}", namespace=namespace)
            client_.create(CTX, v1alpha1.Site(metadata=metadata, spec=v1alpha1.SiteSpec(page="1")))
        cluster.until(are_ready)
        for namespace in namespaces:
            changed = site(namespace)
            changed.spec.page = "2"
            client_.update(CTX, changed)
        cluster.until(are_ready)
        for namespace in namespaces:
            config_map = client_.get(CTX, ctrl.Request(namespace, f"site-{namespace}"), corev1.ConfigMap)
            assert config_map.data == {"index.html": "2"}
            client_.delete(CTX, site(namespace))
        cluster.until(lambda: client_.list(CTX, v1alpha1.SiteList).items == [])
    assert operators.zone() == {}
    assert len(operators.workers) == 2
    assert operators.collisions == []


def allowed(file: str) -> set[Right]:
    """Return the permissions of the roles in a file of config/rbac."""
    return {
        (group, resource, verb)
        for role in read_manifests([CONFIG / "rbac" / file])
        for rule in role.get("rules", ())
        for group, resource, verb in itertools.product(rule["apiGroups"], rule["resources"], rule["verbs"])
    }


def test_the_roles_allow_what_it_does_and_nothing_else(operators: Operators) -> None:
    elect = ("-leader-elect", "-leader-elect-namespace=default")
    live(operators, operators.program(*elect))
    operators.create("site", host="www.example.com")
    operators.create("late", host="www.example.com")
    with operators.program("-shards=2", "-leader-elect-namespace=default"):
        operators.cluster.until(operators.alarms)

    # Lists come as watches, where the server can do that; an apply may create; and one is for an admission plugin.
    not_seen = {(group, resource, "list") for group, resource, verb in operators.used if verb == "watch"}
    not_seen |= {("apps", "deployments", "create"), ("patterns.example.com", "sites/finalizers", "update")}
    # Events that happen again are patched.
    not_seen |= {("events.k8s.io", "events", "patch"), ("", "events", "patch")}
    assert operators.used | not_seen == allowed("role.yaml") | allowed("leader_election_role.yaml")
    assert {resource for _, resource, _ in allowed("leader_election_role.yaml")} == {"leases", "events"}
