"""Operators with one known class of bug each, and their corrected versions, as machines. PAIRS has all of them."""

from __future__ import annotations

import threading
from typing import Any

from widgetoperator import MAPS, WIDGETS, Json, Operator, Widgets, owns

from clientgo.apimachinery.api import errors
from clientgo.apimachinery.util import runtime as utilruntime
from clientgo.testing import controllertest as ct

FINALIZER = "example.com/data"


class Broken(Widgets):
    """The base of the machines with a bug."""


# ---- writes that are repeated, lost or half done


class GeneratesNames(Operator):
    """An operator that creates a child with a generated name when its cache, which may be late, shows none."""

    def sync_child(self, obj: Json) -> None:
        if not self.cached_children(obj):
            child = self.new_child(obj)
            del child["metadata"]["name"]
            child["metadata"]["generateName"] = f"{obj['metadata']['name']}-"
            child["data"] = {}
            self.create(MAPS, child)


class CreatesTwice(Broken):
    operator = GeneratesNames


class AssumesBothExist(Operator):
    """An operator that creates two children in two requests, and looks only for the first."""

    def sync_child(self, obj: Json) -> None:
        if self.cached(self.maps, f"{obj['metadata']['name']}-data") is None:
            for suffix in ("data", "more"):
                child = self.new_child(obj, suffix)
                child["data"] = {}
                self.create(MAPS, child)


class LooksForBoth(Operator):
    def sync_child(self, obj: Json) -> None:
        for suffix in ("data", "more"):
            if self.cached(self.maps, f"{obj['metadata']['name']}-{suffix}") is None:
                child = self.new_child(obj, suffix)
                child["data"] = {}
                self.create(MAPS, child)


class HalfDone(Broken):
    operator = AssumesBothExist


class HalfDoneFixed(Widgets):
    operator = LooksForBoth


class Finalizes(Operator):
    """An operator that deletes the child itself, which has no owner reference, before it releases the widget."""

    def sync(self, name: str) -> None:
        obj = self.cached(self.widgets, name)
        if obj is None:
            return
        finalizers = obj["metadata"].get("finalizers", [])
        if "deletionTimestamp" in obj["metadata"]:
            if FINALIZER in finalizers:
                self.clean_up(obj)
        elif FINALIZER not in finalizers:
            self.set_finalizers(obj, [*finalizers, FINALIZER])
        else:
            self.sync_child(obj)
            self.sync_status(obj)

    def sync_child(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        wanted = self.new_child(obj)
        if child is None:
            self.check_current(obj["metadata"]["name"], obj["metadata"]["uid"])
            self.create(MAPS, wanted)
        elif child["data"] != wanted["data"]:
            self.update(MAPS, {**child, "data": wanted["data"]})

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        child = super().new_child(obj, suffix)
        del child["metadata"]["ownerReferences"]
        child["data"]["widget"] = obj["metadata"]["name"]
        return child

    def child_changed(self, obj: Any) -> None:
        self.queue.add(obj.get_name().removesuffix("-data"))

    def clean_up(self, obj: Json) -> None:
        self.delete(MAPS, f"{obj['metadata']['name']}-data")
        self.release(obj)

    def release(self, obj: Json) -> None:
        self.set_finalizers(obj, [each for each in obj["metadata"]["finalizers"] if each != FINALIZER])

    def set_finalizers(self, obj: Json, names: list[str]) -> None:
        self.update(WIDGETS, {**obj, "metadata": {**obj["metadata"], "finalizers": names}})


class FinalizesOnce(Finalizes):
    """An operator that takes a missing child for a finished clean-up, and then does not release the widget."""

    def clean_up(self, obj: Json) -> None:
        if self.cached(self.maps, f"{obj['metadata']['name']}-data") is not None:
            self.delete(MAPS, f"{obj['metadata']['name']}-data")
            self.release(obj)


class KeepsFinalizer(Broken):
    operator = FinalizesOnce


class KeepsFinalizerFixed(Widgets):
    operator = Finalizes


class DropsErrors(Operator):
    """An operator that logs an error and forgets the key."""

    resync = 0.0  # A resync corrects the result.

    def failed(self, name: str, err: Exception) -> None:
        utilruntime.handle_error(err)
        self.queue.forget(name)


class SwallowsErrors(Broken):
    operator = DropsErrors


class DropsConflicts(Operator):
    """An operator that takes a conflict for the success of another writer."""

    resync = 0.0  # A resync corrects the result.

    def failed(self, name: str, err: Exception) -> None:
        if not errors.is_conflict(err):
            super().failed(name, err)


class IgnoresConflicts(Broken):
    operator = DropsConflicts


class RetriesAtOnce(Operator):
    """An operator that retries without a delay."""

    def failed(self, name: str, err: Exception) -> None:
        utilruntime.handle_error(err)
        self.queue.add(name)


OTHER_MAP: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a-data", "namespace": "default"},
    "data": {"by": "another owner"},
}


class BesideAnother(Widgets):
    """A cluster in which another owner has an object of the name of a child."""

    setup = (OTHER_MAP,)

    @ct.eventually()
    def status_follows_spec(self, cluster: ct.Cluster) -> None:
        found = cluster.get("ConfigMap", "a-data")
        assert found is not None
        assert found["data"] == {"by": "another owner"}, "the object of another owner was changed"


class NoBackoff(BesideAnother, Broken):
    operator = RetriesAtOnce


class AdoptsAnything(Operator):
    """An operator that updates a child without a look at its owner."""

    def sync_child(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        if child is not None and not owns(obj, child):
            child = {**child, "metadata": {**child["metadata"], "ownerReferences": []}}
            self.update(MAPS, {**child, "data": self.new_child(obj)["data"]})
        else:
            super().sync_child(obj)


class Adopts(BesideAnother, Broken):
    operator = AdoptsAnything


# ---- caches that are late


class CollectsItself(Operator):
    """An operator that deletes a child whose owner its cache does not show."""

    def child_changed(self, obj: Any) -> None:
        super().child_changed(obj)
        self.queue.add(f"{obj.get_name()}/")

    def sync(self, name: str) -> None:
        if not name.endswith("/"):
            super().sync(name)
            return
        child = self.cached(self.maps, name.removesuffix("/"))
        if child is not None and child["metadata"].get("ownerReferences"):
            owner = child["metadata"]["ownerReferences"][0]
            if self.is_gone(owner["name"], owner["uid"]):
                self.delete(MAPS, child["metadata"]["name"], child["metadata"]["uid"])

    def is_gone(self, name: str, uid: str) -> bool:
        return self.cached(self.widgets, name) is None


class CollectsWhatIsGone(CollectsItself):
    def is_gone(self, name: str, uid: str) -> bool:
        found = self.live(WIDGETS, name)
        return found is None or found["metadata"]["uid"] != uid


class ChildrenStay(Widgets):
    """A rule for any moment: only an administrator deletes the child of a living widget."""

    faults = tuple(each for each in ct.FAULTS if each not in ("Remove", "Linger"))

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    @ct.invariant()
    def children_of_living_widgets_stay(self, cluster: ct.Cluster) -> None:
        uids = {each["metadata"]["uid"] for each in cluster.list("ConfigMap")}
        alive = {each["metadata"]["uid"] for each in cluster.list("Widget")}
        for uid, owner in self._seen.items():
            assert uid in uids or owner not in alive, "the child of a living widget was deleted"
        for each in cluster.list("ConfigMap"):
            for reference in each["metadata"].get("ownerReferences", ()):
                self._seen[each["metadata"]["uid"]] = reference["uid"]


class DeletesOnStaleRead(ChildrenStay, Broken):
    operator = CollectsItself


class DeletesOnStaleReadFixed(ChildrenStay):
    operator = CollectsWhatIsGone


class ScalesByCache(Operator):
    """An operator that has as many children as its size, and deletes one if its cache shows too many."""

    deleted = 0

    def sync_child(self, obj: Json) -> None:
        children, size = self.children(obj), obj["spec"]["size"]
        names = {each["metadata"]["name"] for each in children}
        if len(children) > size:
            self.deleted += 1
            self.delete(MAPS, children[self.deleted % len(children)]["metadata"]["name"])
            self.queue.add_after(obj["metadata"]["name"], 0.1)
        for number in range(3):
            child = self.new_child(obj, str(number))
            child["data"] = {}
            if len(names) < size and child["metadata"]["name"] not in names:
                self.create(MAPS, child)
                names.add(child["metadata"]["name"])

    def children(self, obj: Json) -> list[Json]:
        return self.cached_children(obj)


class ScalesByServer(ScalesByCache):
    def sync_child(self, obj: Json) -> None:
        found = self.live(WIDGETS, obj["metadata"]["name"])
        if found is not None and owns(found, self.new_child(obj)):
            super().sync_child(found)

    def children(self, obj: Json) -> list[Json]:
        maps = [each.object for each in self.at(MAPS).list(self.ctx).items]
        return [each for each in maps if owns(obj, each)]


class NeverTooFew(Widgets):
    """A rule for any moment: a deletion leaves as many children as the widget's size, now or before."""

    faults = tuple(each for each in ct.FAULTS if each not in ("Remove", "Linger"))

    def __init__(self) -> None:
        self._before: dict[str, int] = {}
        self._least: dict[str, int] = {}

    def normalize(self, obj: Json) -> Json:
        if obj["kind"] == "ConfigMap":
            obj["metadata"]["name"] = "any"
        return obj

    @ct.invariant()
    def no_deletion_leaves_too_few(self, cluster: ct.Cluster) -> None:
        for each in cluster.list("Widget"):
            uid, size = each["metadata"]["uid"], each["spec"]["size"]
            count = len(cluster.owned_by(each, "ConfigMap"))
            self._least[uid] = min(size, self._least.get(uid, size))
            assert count >= self._before.get(uid, 0) or count >= self._least[uid], f"{count} children, not {size}"
            self._before[uid] = count


class ScalesDownTooFar(NeverTooFew, Broken):
    operator = ScalesByCache


class ScalesDownTooFarFixed(NeverTooFew):
    operator = ScalesByServer


class ReadsChildFromCache(Operator):
    """An operator that copies the uid of a new child from the cache into the status; a miss is not retried."""

    resync = 0.0  # A resync corrects the result.

    def sync_status(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        if child is not None:
            self.write_status(obj, child)

    def write_status(self, obj: Json, child: Json) -> None:
        status = {"size": obj["spec"]["size"], "child": child["metadata"]["uid"]}
        if obj.get("status") != status:
            self.update(WIDGETS, {**obj, "status": status}, "status")

    def child_changed(self, obj: Any) -> None:
        """Do nothing: the operator expects no change from other clients."""

    def child_deleted(self, obj: Any) -> None:
        """Do nothing: the operator expects no change from other clients."""


class ReadsChildOnceMore(ReadsChildFromCache):
    resync = Operator.resync

    def sync_status(self, obj: Json) -> None:
        name = f"{obj['metadata']['name']}-data"
        child = self.live(MAPS, name)
        if child is None:
            raise RuntimeError(f"{name} is gone")
        self.write_status(obj, child)


class NoInterference(Widgets):
    """A cluster without other writers of children."""

    faults = tuple(each for each in ct.FAULTS if each not in ("Remove", "Linger", "Touch"))

    def normalize(self, obj: Json) -> Json:
        obj.get("status", {}).pop("child", None)
        return obj


class ReadsOwnWriteTooEarly(NoInterference, Broken):
    operator = ReadsChildFromCache


class ReadsOwnWriteTooEarlyFixed(NoInterference):
    operator = ReadsChildOnceMore


class CopiesSpec(Operator):
    """An operator that writes a label with the whole cached object, and overwrites a newer spec."""

    def sync_status(self, obj: Json) -> None:
        labels = {"size": str(obj["spec"]["size"])}
        if obj["metadata"].get("labels") != labels:
            metadata = {**obj["metadata"], "labels": labels}
            if not self.sends_version():
                del metadata["resourceVersion"]
            self.update(WIDGETS, {**obj, "metadata": metadata})
        super().sync_status(obj)

    def sends_version(self) -> bool:
        return False


class CopiesSpecWithVersion(CopiesSpec):
    def sends_version(self) -> bool:
        return True


class RevertsSpec(Broken):
    operator = CopiesSpec


class RevertsSpecFixed(Widgets):
    operator = CopiesSpecWithVersion


class ReplacesChild(Operator):
    """An operator that updates the child with a new object, without the fields of others."""

    def sync_child(self, obj: Json) -> None:
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        if child is not None and owns(obj, child) and child["data"] != self.new_child(obj)["data"]:
            self.update(MAPS, self.new_child(obj))
        else:
            super().sync_child(obj)


class LosesFields(Broken):
    operator = ReplacesChild


# ---- events


class ExpectsObjects(Operator):
    """An operator that expects the deleted object in `on_delete`, where a tombstone may come."""

    def child_deleted(self, obj: Any) -> None:
        self.child_changed(obj)
        assert obj.get_name()


class IgnoresTombstones(Broken):
    operator = ExpectsObjects


class CleansUpInHandler(Operator):
    """An operator that deletes the child when it sees the deletion of the widget, instead of an owner reference."""

    def new_child(self, obj: Json, suffix: str = "data") -> Json:
        child = super().new_child(obj, suffix)
        del child["metadata"]["ownerReferences"]
        return child

    def sync_child(self, obj: Json) -> None:
        child, wanted = self.cached(self.maps, f"{obj['metadata']['name']}-data"), self.new_child(obj)
        if child is None:
            self.create(MAPS, wanted)
        elif child["data"] != wanted["data"]:
            self.update(MAPS, {**child, "data": wanted["data"]})

    def child_changed(self, obj: Any) -> None:
        self.queue.add(obj.get_name().removesuffix("-data"))

    def sync(self, name: str) -> None:
        if self.cached(self.widgets, name) is None:
            if self.deleted.pop(name, False):
                self.delete(MAPS, f"{name}-data")
        else:
            super().sync(name)

    def widget_deleted(self, obj: Any) -> None:
        super().widget_deleted(obj)
        self.deleted[(getattr(obj, "obj", None) or obj).get_name()] = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.deleted: dict[str, bool] = {}


class LeaksOnDelete(Broken):
    operator = CleansUpInHandler


class SkipsKnown(Operator):
    """An operator that skips widgets that have a status when it sees them for the first time."""

    resync = 0.0  # A resync corrects the result.

    def widget_added(self, obj: Any) -> None:
        if not obj.object.get("status"):
            super().widget_added(obj)

    def child_changed(self, obj: Any) -> None:
        """Do nothing: only changes of widgets lead to work."""


class OnlyEdges(Broken):
    operator = SkipsKnown


class ExpectsOrder(Operator):
    """An operator that expects the event of a widget before those of its children."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.known: dict[str, str] = {}

    def widget_added(self, obj: Any) -> None:
        self.known[obj.get_uid()] = obj.get_name()
        super().widget_added(obj)

    def child_changed(self, obj: Any) -> None:
        for each in obj.object["metadata"].get("ownerReferences", ()):
            self.queue.add(self.known[each["uid"]])


class TrustsOrder(Broken):
    operator = ExpectsOrder


class RemembersNames(Operator):
    """An operator that remembers handled generations by name, so that a new object of the name looks handled."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.handled: dict[str, tuple[str, int]] = {}

    def sync(self, name: str) -> None:
        obj = self.cached(self.widgets, name)
        if obj is None:
            self.handled.pop(name, None)
            return
        state = (self.identity(obj), obj["metadata"]["generation"])
        if self.handled.get(name) != state:
            super().sync(name)
            self.handled[name] = state

    def identity(self, obj: Json) -> str:
        return str(obj["metadata"]["name"])


class RemembersUids(RemembersNames):
    """An operator that remembers the widget by uid, and which version of the child it compared with."""

    def identity(self, obj: Json) -> str:
        """Return another identity for another child, which an earlier sync may have written from an old widget."""
        child = self.cached(self.maps, f"{obj['metadata']['name']}-data")
        return f"{obj['metadata']['uid']} {child['metadata']['resourceVersion'] if child else ''}"


class TrustsNames(NoInterference, Broken):
    operator = RemembersNames


class TrustsNamesFixed(NoInterference):
    operator = RemembersUids


class RemembersChildren(Operator):
    """An operator that creates each child once in a process, also if an administrator deletes it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.created: set[str] = set()

    def sync_child(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if uid not in self.created or self.cached(self.maps, f"{obj['metadata']['name']}-data") is not None:
            super().sync_child(obj)
        self.created.add(uid)


class TrustsMemory(Broken):
    operator = RemembersChildren


class IgnoresChildren(Operator):
    """An operator that does not watch the children: a deleted one comes back only with a change of the widget."""

    resync = 0.0  # A resync corrects the result.

    def child_changed(self, obj: Any) -> None:
        """Do nothing: only changes of widgets lead to work."""


class WatchesOnlyOwners(Broken):
    operator = IgnoresChildren


# ---- endless work, and an end that leaves something behind


class CountsSyncs(Operator):
    """An operator that writes a counter into the status, and each write causes the next one."""

    def sync_status(self, obj: Json) -> None:
        status = {"size": obj["spec"]["size"], "syncs": obj.get("status", {}).get("syncs", 0) + 1}
        self.update(WIDGETS, {**obj, "status": status}, "status")


class StatusLoop(Broken):
    operator = CountsSyncs


class PollsItself(Operator):
    """An operator that queues a widget again after each sync, with a read of its child."""

    def sync_status(self, obj: Json) -> None:
        super().sync_status(obj)
        self.live(MAPS, f"{obj['metadata']['name']}-data")
        self.queue.add_after(obj["metadata"]["name"], 0.5)


class RequeuesForever(Broken):
    operator = PollsItself


class WritesAlways(Operator):
    """An operator that writes the status without a comparison."""

    def sync_status(self, obj: Json) -> None:
        self.update(WIDGETS, {**obj, "status": {"size": obj["spec"]["size"]}}, "status")


class WritesUnchangedStatus(Broken):
    operator = WritesAlways


class LeavesTicker(Operator):
    """An operator that starts a thread that does not end with the context."""

    def run(self) -> None:
        self.stopped = threading.Event()
        threading.Thread(target=self.stopped.wait, args=(3600.0,), name="ticker", daemon=True).start()
        super().run()


class LeavesThread(Broken):
    operator = LeavesTicker


class LabelsCache(Operator):
    """An operator that changes the object in the cache instead of a copy."""

    def sync_child(self, obj: Json) -> None:
        super().sync_child(obj)
        found = self.widgets.informer().get_indexer().get_by_key(f"default/{obj['metadata']['name']}")[0]
        if found is not None:
            found.set_labels({"seen": "yes"})


class ChangesCache(Broken):
    operator = LabelsCache


PAIRS: list[tuple[type[ct.ControllerMachine], type[ct.ControllerMachine]]] = [
    (CreatesTwice, Widgets),
    (HalfDone, HalfDoneFixed),
    (KeepsFinalizer, KeepsFinalizerFixed),
    (SwallowsErrors, Widgets),
    (IgnoresConflicts, Widgets),
    (NoBackoff, BesideAnother),
    (Adopts, BesideAnother),
    (DeletesOnStaleRead, DeletesOnStaleReadFixed),
    (ScalesDownTooFar, ScalesDownTooFarFixed),
    (ReadsOwnWriteTooEarly, ReadsOwnWriteTooEarlyFixed),
    (RevertsSpec, RevertsSpecFixed),
    (LosesFields, Widgets),
    (IgnoresTombstones, Widgets),
    (LeaksOnDelete, Widgets),
    (OnlyEdges, Widgets),
    (TrustsOrder, Widgets),
    (TrustsNames, TrustsNamesFixed),
    (TrustsMemory, Widgets),
    (WatchesOnlyOwners, Widgets),
    (StatusLoop, Widgets),
    (RequeuesForever, Widgets),
    (WritesUnchangedStatus, Widgets),
    (LeavesThread, Widgets),
    (ChangesCache, Widgets),
]
"""Each class of bug with its corrected version."""
