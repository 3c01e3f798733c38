"""POST pods/NAME/eviction: a delete that respects disruption budgets. Mirrors the registry of pods/eviction.

A disruption controller writes the budgets' status (the workload simulator has one); an eviction only reduces the
allowed disruptions. Without such a controller a pod under a budget is never evicted, as in a cluster.
"""

from __future__ import annotations

from typing import Any

from clientgo.testing.apiserver.kinds import validation
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.deleting import Deleter
from clientgo.testing.apiserver.verbs.options import DeleteOptions, WriteOptions
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, copy, go_text

_BUDGETS = "policy/poddisruptionbudgets"
_VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget."
_DONE: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_TARGET: Json = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


def evict(writer: Writer, deleter: Deleter, call: Call) -> http.Response:
    """Answer one eviction. Raises ApiError: 429 when the budget does not allow it, 404 without a pod."""
    doc = decoding.decode_posted("policy/v1", "Eviction", call)
    asked = WriteOptions(call.request, "CreateOptions")
    doc = writer.webhooks.mutate(call, {**doc, "kind": "Eviction", "apiVersion": "policy/v1"}, None, asked)
    name = doc["metadata"].get("name", "")
    if name and name != call.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    options = DeleteOptions(_delete_options(call, doc))
    current = writer.current(call)
    # Policies and webhooks deny or admit the eviction; the delete is a part of it.
    writer.webhooks.validate(call, doc, None, asked)
    if not _is_free(current.obj):
        _take_from_budget(writer, call, current.obj, options.dry_run)
    if not options.dry_run:
        _mark_as_target(writer, call)
    writer.retry(call, _deletion(deleter, call, options))
    return render(_DONE, call.form, 201)


def _delete_options(call: Call, doc: Json) -> Json:
    """Return the eviction's options, which take dryRun from the request. Go: propagateDryRun."""
    given: Json = doc.get("deleteOptions") or {}
    of_request = call.request.params.get("dryRun") or []
    of_eviction = given.get("dryRun") or []
    if of_request and of_eviction and of_request != of_eviction:
        shown = f"{go_text(of_request)} and {go_text(of_eviction)}"
        raise errors.internal_text(f"Non-matching dry-run options in request and content: {shown}")
    return {**given, "dryRun": of_eviction or of_request}


def _is_free(pod: Json) -> bool:
    """Report whether the eviction ignores budgets: the pod has ended, is ending, or never started."""
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


def _deletion(deleter: Deleter, call: Call, options: DeleteOptions) -> Any:
    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise call.not_found()
        return deleter.delete_object(call, current, options)

    return attempt


# ---- budgets


def _budgets_of(writer: Writer, namespace: str, pod: Json) -> list[Stored]:
    labels = pod["metadata"].get("labels") or {}
    found = []
    for stored in writer.store.list(_BUDGETS, f"{namespace}/")[1]:
        selector = (stored.obj.get("spec") or {}).get("selector")
        if selector is not None and validation.selector_matches(selector, labels):
            found.append(stored)
    return found


def _take_from_budget(writer: Writer, call: Call, pod: Json, dry_run: bool) -> None:
    budgets = _budgets_of(writer, call.namespace, pod)
    if not budgets:
        return
    if len(budgets) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise errors.internal_text(text)
    resource = writer.registry.find("policy", "v1", "poddisruptionbudgets")
    assert resource is not None
    budget_call = Call(call.request, resource, call.namespace, budgets[0].name, "status", call.form)
    options = WriteOptions(call.request, "CreateOptions")

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None or _needs_none(current.obj, pod):
            return budgets[0], False
        _check(current.obj)
        if dry_run:
            return current, False
        status = _taken(current.obj, call.name, writer.times.now_text())
        base = current.obj["metadata"].get("managedFields")
        obj = {**copy(current.obj), "status": status}
        return writer.finish_update(budget_call, obj, current.obj, current, options, base), False

    writer.retry(budget_call, attempt)


def _needs_none(budget: Json, pod: Json) -> bool:
    """Report whether the eviction of a pod that is not ready leaves the budget unchanged."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _check(budget: Json) -> None:
    """Raise ApiError 429 with the budget's reason if the budget allows no eviction."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _too_many(f"The disruption budget {name} is still being processed by the server.")
    if status.get("disruptionsAllowed", 0) <= 0:
        desired, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _too_many(f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")


def _too_many(why: str) -> ApiError:
    causes = [{"reason": "DisruptionBudget", "message": why}]
    return ApiError(429, "TooManyRequests", _VIOLATED, {"causes": causes})


def _taken(budget: Json, pod: str, now: str) -> Json:
    """Return the status of a budget after one granted eviction."""
    status = budget.get("status") or {}
    allowed = status["disruptionsAllowed"] - 1
    condition = disruption_condition(status, allowed, budget["metadata"].get("generation", 0), now)
    disrupted = {**(status.get("disruptedPods") or {}), pod: now}
    return {**status, "disruptionsAllowed": allowed, "disruptedPods": disrupted, "conditions": [condition]}


def disruption_condition(status: Json, allowed: int, generation: int, now: str) -> Json:
    """Return the only condition of a budget whose status was `status`."""
    value, reason = ("True", "SufficientPods") if allowed > 0 else ("False", "InsufficientPods")
    known: Json = next((c for c in status.get("conditions") or () if c.get("type") == "DisruptionAllowed"), {})
    since = known["lastTransitionTime"] if known.get("status") == value else now
    return {
        "type": "DisruptionAllowed",
        "status": value,
        "observedGeneration": generation,
        "lastTransitionTime": since,
        "reason": reason,
        "message": "",
    }


def _mark_as_target(writer: Writer, call: Call) -> None:
    """Record the reason of the eviction in the pod's status."""
    status_call = Call(call.request, call.resource, call.namespace, call.name, "status", call.form)
    # In Kubernetes too, this part of the eviction does not pass admission.
    status_call.admitted = True
    options = WriteOptions(call.request, "CreateOptions")

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise call.not_found()
        obj = copy(current.obj)
        status = obj.setdefault("status", {})
        others = [c for c in status.get("conditions") or () if c.get("type") != _TARGET["type"]]
        condition = {**_TARGET, "lastProbeTime": None, "lastTransitionTime": writer.times.now_text()}
        status["conditions"] = [*others, condition]
        base = current.obj["metadata"].get("managedFields")
        return writer.finish_update(status_call, obj, current.obj, current, options, base), False

    writer.retry(status_call, attempt)
