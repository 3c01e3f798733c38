"""More operators with a known class of bug each: several leaders, and namespaces in deletion. PAIRS has all of them."""

from __future__ import annotations

from typing import Any

from brokenoperators import Broken, Finalizes
from hypothesis import strategies as st
from widgetoperator import MAPS, Json, Operator, Widgets

from clientgo import context, kubernetes, rest
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.api import errors
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.testing import controllertest as ct
from clientgo.tools import leaderelection
from clientgo.tools.leaderelection import resourcelock as rl

# ---- several leaders


class Leads(Operator):
    """An operator that works while it holds a lease, and then ends."""

    def __init__(self, config: rest.Config, ctx: context.Context) -> None:
        super().__init__(config, ctx)
        self.identity = config.user_agent
        self.kube = kubernetes.new_for_config(config)
        self.process = ctx
        self.term, self.end_term = context.with_cancel(ctx)

    def run(self) -> None:
        lock = rl.LeaseLock(
            metav1.ObjectMeta(name="operator", namespace="default"),
            self.kube.coordination_v1(),
            rl.ResourceLockConfig(identity=self.identity),
        )
        config = leaderelection.LeaderElectionConfig(
            lock=lock,
            lease_duration=60.0,
            renew_deadline=40.0,
            retry_period=15.0,
            callbacks=leaderelection.LeaderCallbacks(
                on_started_leading=self.lead, on_stopped_leading=lambda: None, on_new_leader=None
            ),
        )
        try:
            leaderelection.new_leader_elector(config).run(self.term)
        finally:
            self.queue.shut_down()  # A process that never led has not used it.
            self.client.close()
            self.kube.close()

    def lead(self, ctx: context.Context) -> None:
        self.ctx = ctx
        super().run()


class KeepsLeading(Leads):
    """An operator that goes on working without the lease."""

    def lead(self, ctx: context.Context) -> None:
        super().lead(self.process)


class Signs(Leads):
    """An operator that signs the child with the name of the leader."""

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        child = super().new_child(obj, suffix)
        child["data"]["leader"] = self.identity
        return child


class SignsAlways(KeepsLeading, Signs):
    pass


class Led(Widgets):
    """Two processes. Which of them leads depends on the course of a run."""

    replicas = 2
    operator = Signs
    skip = ("second run",)
    quiet_for = 30.0

    def normalize(self, obj: Json) -> Json:
        if obj["kind"] == "ConfigMap":
            obj["data"].pop("leader", None)
        return obj


class TwoLeaders(Led, Broken):
    operator = SignsAlways


class Unfenced(Leads):
    """An operator that updates the child without the version that it has read, also after a pause."""

    def sync_child(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        wanted = self.new_child(obj)
        if child is None:
            self.create(MAPS, wanted)
        elif int(child["data"]["generation"]) < int(wanted["data"]["generation"]):
            metadata = dict(child["metadata"])
            if not self.sends_version():
                del metadata["resourceVersion"]
            self.update(MAPS, {**child, "metadata": metadata, "data": wanted["data"]})

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        child = super().new_child(obj, suffix)
        child["data"]["generation"] = str(obj["metadata"]["generation"])
        return child

    def sends_version(self) -> bool:
        return False


class Fenced(Unfenced):
    def sends_version(self) -> bool:
        return True


class NeverBack(Widgets):
    """A rule for any moment: a child never shows an older generation of its widget than before."""

    replicas = 2
    operator = Fenced
    quiet_for = 30.0
    # An update without a version also loses the fields of others. LosesFields shows that bug.
    skip = ("second run", "lost update")
    faults = tuple(each for each in ct.FAULTS if each not in ("Remove", "Linger"))

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}

    def normalize(self, obj: Json) -> Json:
        obj.get("data", {}).pop("generation", None)
        return obj

    @ct.invariant()
    def no_child_goes_back(self, cluster: ct.Cluster) -> None:
        for each in cluster.list("ConfigMap"):
            if "generation" in (each.get("data") or {}):
                uid, generation = each["metadata"]["uid"], int(each["data"]["generation"])
                assert generation >= self._newest.get(uid, 0), "an old leader overwrites a newer child"
                self._newest[uid] = generation


class PausedLeader(NeverBack, Broken):
    operator = Unfenced


# ---- namespaces in deletion


class KeepsBackup(Finalizes):
    """An operator that saves the data in another object before it releases the widget."""

    namespace = "shop"

    def clean_up(self, obj: Json) -> None:
        self.save(obj)
        super().clean_up(obj)

    def save(self, obj: Json) -> None:
        backup = self.new_child(obj, "backup")
        if self.cached(self.maps, backup["metadata"]["name"]) is None:
            self.create(MAPS, backup)
        # Also one that an earlier attempt left.
        self.delete(MAPS, backup["metadata"]["name"])


class KeepsBackupIfPossible(KeepsBackup):
    def save(self, obj: Json) -> None:
        try:
            super().save(obj)
        except errors.StatusError as err:
            if not errors.has_status_cause(err, corev1.NAMESPACE_TERMINATING_CAUSE):
                raise


class Shop(Widgets):
    namespaces = ("shop",)
    operator = KeepsBackupIfPossible

    def desired(self) -> st.SearchStrategy[ct.Step]:
        spec: Any = st.fixed_dictionaries({"size": st.integers(1, 3)})
        return ct.objects("example.com/v1", "Widget", namespace="shop", spec=spec)


class BlocksNamespace(Shop, Broken):
    operator = KeepsBackup


PAIRS: list[tuple[type[ct.ControllerMachine], type[ct.ControllerMachine]]] = [
    (TwoLeaders, Led),
    (PausedLeader, NeverBack),
    (BlocksNamespace, Shop),
]
"""Each class of bug with its corrected version."""
