"""Validation of the kinds that create pods: Deployments, StatefulSets, Jobs, CronJobs and others.

Mirrors pkg/apis/apps and pkg/apis/batch.
"""

from __future__ import annotations

from collections.abc import Callable

from clientgo.apimachinery.util.validation import is_dns1123_label
from clientgo.testing.apiserver.kinds.object_meta import check_labels
from clientgo.testing.apiserver.kinds.validation import cron, internal_types, pods
from clientgo.testing.apiserver.kinds.validation.fields import (
    IMMUTABLE,
    at_most_all,
    choice,
    immutable,
    is_empty_selector,
    is_none,
    label_selector,
    named,
    not_negative,
    positive_int_or_percent,
    selector_matches,
)
from clientgo.testing.apiserver.wire.errors import (
    FieldError,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.wire.jsonio import Json

# The name of a CronJob's Job is eleven characters longer, and a label has at most 63.
_CRON_JOB_NAME = 52
_GENERATED_LABELS = {"batch.kubernetes.io/controller-uid", "controller-uid"}
_UNMATCHED = "`selector` does not match template `labels`"
_STATEFUL_SET_FIELDS = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _template_labels(template: Json) -> Json:
    labels: Json = (template.get("metadata") or {}).get("labels") or {}
    return labels


def _matching(selector: Json | None, template: Json, field: str) -> list[FieldError]:
    """Validate that the selector selects the template's labels.

    None selects nothing, and an empty selector everything.
    """
    labels = _template_labels(template)
    if selector is not None and (is_empty_selector(selector) or selector_matches(selector, labels)):
        return []
    return [field_invalid(f"{field}.metadata.labels", labels or None, _UNMATCHED)]


def _runs_for_ever(template: Json, field: str, kind: str) -> list[FieldError]:
    spec = template.get("spec") or {}
    errors = []
    if spec.get("restartPolicy", "Always") != "Always":
        errors.append(field_not_supported(f"{field}.spec.restartPolicy", spec["restartPolicy"], ["Always"]))
    if spec.get("activeDeadlineSeconds") is not None:
        text = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(field_forbidden(f"{field}.spec.activeDeadlineSeconds", text))
    return errors


def _selected_template(
    spec: Json, kind: str, name: str, detail: str, template: Callable[[], list[FieldError]]
) -> list[FieldError]:
    """Validate a required selector, and the template that it selects.

    An invalid selector leaves the template unchecked.
    """
    selector = spec.get("selector")
    errors = []
    if selector is None:
        errors.append(field_required("spec.selector"))
    else:
        wrong = label_selector(selector, "spec.selector")
        errors += wrong
        if is_empty_selector(selector):
            errors.append(field_invalid("spec.selector", selector, f"empty selector is invalid for {name}"))
        if wrong:
            return [*errors, field_invalid("spec.selector", selector, detail)]
    return (
        errors
        + _matching(selector, spec.get("template") or {}, "spec.template")
        + template()
        + _runs_for_ever(spec.get("template") or {}, "spec.template", kind)
    )


def deployment(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = not_negative(spec, "spec", "replicas") + _replicated(spec)
    errors += _deployment_strategy(spec.get("strategy") or {}, "spec.strategy")
    errors += not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        text = "must be greater than minReadySeconds"
        errors.append(field_invalid("spec.progressDeadlineSeconds", deadline, text))
    return errors


def _replicated(spec: Json) -> list[FieldError]:
    return _selected_template(
        spec,
        "ReplicaSet",
        "deployment",
        "invalid label selector",
        lambda: pods.template(spec.get("template") or {}, "spec.template"),
    )


def _deployment_strategy(strategy: Json, field: str) -> list[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        text = "may not be specified when strategy `type` is 'Recreate'"
        return [field_forbidden(f"{field}.rollingUpdate", text)] if rolling is not None else []
    if kind != "RollingUpdate":
        shown = {"Type": kind, "RollingUpdate": rolling}
        return [field_not_supported(field, shown, ["Recreate", "RollingUpdate"])]
    where, unavailable, surge = f"{field}.rollingUpdate", *_rolling(rolling or {})
    errors = positive_int_or_percent(unavailable, f"{where}.maxUnavailable")
    errors += positive_int_or_percent(surge, f"{where}.maxSurge")
    if is_none(unavailable) and is_none(surge):
        text = "may not be 0 when `maxSurge` is 0"
        errors.append(field_invalid(f"{where}.maxUnavailable", unavailable, text))
    return errors + at_most_all(unavailable, f"{where}.maxUnavailable")


def _rolling(rolling: Json) -> tuple[int | str, int | str]:
    return rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)


def replica_set(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    return not_negative(spec, "spec", "replicas", "minReadySeconds") + _replicated(spec)


def replication_controller(obj: Json) -> list[FieldError]:
    """Validate a ReplicationController, whose selector is a map of labels."""
    spec = obj.get("spec") or {}
    errors = not_negative(spec, "spec", "minReadySeconds")
    selector, template = spec.get("selector") or {}, spec.get("template")
    errors += check_labels(selector, "spec.selector")
    if not selector:
        errors.append(field_required("spec.selector"))
    errors += not_negative(spec, "spec", "replicas")
    if template is None:
        return [*errors, field_required("spec.template")]
    labels = _template_labels(template)
    if selector and not selector.items() <= labels.items():
        errors.append(field_invalid("spec.template.metadata.labels", labels or None, _UNMATCHED))
    errors += pods.template(template, "spec.template")
    return errors + _runs_for_ever(template, "spec.template", "ReplicationController")


def stateful_set(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "OrderedReady", "Parallel"):
        errors.append(field_invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"))
    errors += _stateful_set_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for name in ("whenDeleted", "whenScaled"):
        errors += choice(retention, "spec.persistentVolumeClaimRetentionPolicy", name, ["Delete", "Retain"])
    errors += not_negative(spec, "spec", "replicas", "minReadySeconds")
    errors += not_negative(spec.get("ordinals") or {}, "spec.ordinals", "start")
    errors += not_negative(spec, "spec", "revisionHistoryLimit")
    if spec.get("serviceName"):
        errors += named(spec["serviceName"], "spec.serviceName", is_dns1123_label)
    errors += _selected_template(spec, "StatefulSet", "statefulset", "", lambda: _stateful_template(spec))
    name = obj["metadata"].get("name", "")
    if len(name) > 63:
        errors.insert(0, field_invalid("metadata.name", name, "must be no more than 63 characters"))
    return errors


def _stateful_template(spec: Json) -> list[FieldError]:
    """Validate a StatefulSet's template. Its pods also have a volume for each claim template, of the same name."""
    claims = [(claim.get("metadata") or {}).get("name", "") for claim in spec.get("volumeClaimTemplates") or ()]
    template = spec.get("template") or {}
    pod = template.get("spec") or {}
    own = [volume for volume in pod.get("volumes") or () if volume.get("name") not in claims]
    given = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    # Go looks at the labels twice.
    labels = check_labels((template.get("metadata") or {}).get("labels"), "spec.template.labels")
    return labels + pods.template({**template, "spec": {**pod, "volumes": [*own, *given]}}, "spec.template")


def _stateful_set_strategy(strategy: Json, field: str) -> list[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        if rolling is None:
            return []
        shown = {"Partition": rolling.get("partition", 0), "MaxUnavailable": rolling.get("maxUnavailable")}
        return [field_invalid(f"{field}.rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")]
    if kind == "RollingUpdate":
        return not_negative(rolling or {}, f"{field}.rollingUpdate", "partition")
    shown = {"Type": kind, "RollingUpdate": rolling}
    return [field_invalid(field, shown, "must be 'RollingUpdate' or 'OnDelete'")]


def daemon_set(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template") or {}
    errors = wrong = label_selector(selector, "spec.selector")
    if not wrong:
        errors = errors + _matching(selector, template, "spec.template")
    if selector is not None and is_empty_selector(selector):
        errors.append(field_invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
    errors += pods.template(template, "spec.template") + _runs_for_ever(template, "spec.template", "DaemonSet")
    errors += _daemon_set_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    return errors + not_negative(spec, "spec", "minReadySeconds", "revisionHistoryLimit")


def _daemon_set_strategy(strategy: Json, field: str) -> list[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [field_not_supported(field, {"Type": kind, "RollingUpdate": rolling}, ["RollingUpdate", "OnDelete"])]
    where, unavailable, surge = f"{field}.rollingUpdate", *_rolling(rolling or {})
    errors = positive_int_or_percent(unavailable, f"{where}.maxUnavailable")
    errors += at_most_all(unavailable, f"{where}.maxUnavailable")
    errors += positive_int_or_percent(surge, f"{where}.maxSurge") + at_most_all(surge, f"{where}.maxSurge")
    if not is_none(unavailable) and not is_none(surge):
        text = "may not be set when maxUnavailable is non-zero"
        errors.append(field_invalid(f"{where}.maxSurge", surge, text))
    elif is_none(unavailable) and is_none(surge):
        errors.append(field_invalid(f"{where}.maxUnavailable", unavailable, "cannot be 0 when maxSurge is 0"))
    return errors


# ---- updates


def selector_update(obj: Json, old: Json) -> list[FieldError]:
    return _immutable(obj, old, "selector")


def _immutable(obj: Json, old: Json, *names: str) -> list[FieldError]:
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    return [e for name in names for e in immutable(new_spec.get(name), old_spec.get(name), f"spec.{name}")]


def stateful_set_update(obj: Json, old: Json) -> list[FieldError]:
    def fixed(doc: Json) -> Json:
        return {name: value for name, value in (doc.get("spec") or {}).items() if name not in _STATEFUL_SET_FIELDS}

    if fixed(obj) == fixed(old):
        return []
    quoted = [f"'{name}'" for name in _STATEFUL_SET_FIELDS]
    names = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return [field_forbidden("spec", f"updates to statefulset spec for fields other than {names} are forbidden")]


# ---- status


def deployment_status(obj: Json, old: Json) -> list[FieldError]:
    """Validate a Deployment's status: the updated, ready and available replicas are each at most `replicas`."""
    return _replica_status(obj, old, ["updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"])


def replica_set_status(obj: Json, old: Json) -> list[FieldError]:
    return _replica_status(obj, old, ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"])


def _replica_status(obj: Json, old: Json, names: list[str]) -> list[FieldError]:
    status = obj.get("status") or {}
    errors = not_negative(status, "status", "observedGeneration", "replicas", *names, "collisionCount")
    total = status.get("replicas", 0)
    for name in names:
        if name != "unavailableReplicas" and status.get(name, 0) > total:
            errors.append(
                field_invalid(f"status.{name}", status.get(name, 0), "cannot be greater than status.replicas")
            )
    if status.get("readyReplicas", 0) < status.get("availableReplicas", 0):
        text = "cannot be greater than readyReplicas"
        errors.append(field_invalid("status.availableReplicas", status["availableReplicas"], text))
    return errors


# ---- jobs


def job(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    return _job_spec(spec, "spec") + _generated_selector(obj)


def _generated_selector(obj: Json) -> list[FieldError]:
    """Validate a Job's selector. Without manualSelector it may have only the labels that the server generates."""
    spec = obj.get("spec") or {}
    selector = spec.get("selector")
    errors = []
    if selector is None:
        errors.append(field_required("spec.selector"))
    elif not spec.get("manualSelector") and (selector.get("matchLabels") or {}).keys() - _GENERATED_LABELS:
        errors.append(field_invalid("spec.selector", selector, "`selector` not auto-generated"))
    return errors + _selected_by(selector, spec.get("template") or {})


def _selected_by(selector: Json | None, template: Json) -> list[FieldError]:
    labels = _template_labels(template)
    if selector is not None and (is_empty_selector(selector) or selector_matches(selector, labels)):
        return []
    return [field_invalid("spec.template.metadata.labels", labels or None, _UNMATCHED)]


def _job_spec(spec: Json, field: str) -> list[FieldError]:
    numbers = (
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "maxFailedIndexes",
    )  # fmt: skip
    errors = not_negative(spec, field, *numbers)
    errors += choice(spec, field, "completionMode", ["NonIndexed", "Indexed"])
    errors += _indexed(spec, field)
    errors += _failure_policy(spec, field)
    errors += choice(spec, field, "podReplacementPolicy", ["Failed", "TerminatingOrFailed"])
    template = spec.get("template") or {}
    errors += label_selector(spec.get("selector"), f"{field}.selector")
    errors += pods.template(template, f"{field}.template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    # Always is the default, so it may be set or not.
    if policy in (None, "", "Always"):
        errors.append(field_required(f"{field}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        where = f"{field}.template.spec.restartPolicy"
        errors.append(field_not_supported(where, policy, ["OnFailure", "Never"]))
    return errors


def _indexed(spec: Json, field: str) -> list[FieldError]:
    """Validate the fields that require an Indexed Job."""
    errors = []
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(field_required(f"{field}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if spec.get("completionMode") == "Indexed":
        if spec.get("completions") is None:
            errors.append(field_required(f"{field}.completions", "when completion mode is Indexed"))
    elif spec.get("completionMode") in (None, "NonIndexed"):
        text = "requires indexed completion mode"
        errors += [
            field_invalid(f"{field}.{name}", spec[name], text)
            for name in ("backoffLimitPerIndex", "maxFailedIndexes")
            if spec.get(name) is not None
        ]
        if spec.get("successPolicy") is not None:
            shown = {"Rules": spec["successPolicy"].get("rules") or []}
            errors.append(field_invalid(f"{field}.successPolicy", shown, text))
    return errors


def _failure_policy(spec: Json, field: str) -> list[FieldError]:
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or []
    errors = []
    for i, rule in enumerate(rules):
        errors += _failure_rule(rule, f"{field}.podFailurePolicy.rules[{i}]")
    return errors


def _failure_rule(rule: Json, field: str) -> list[FieldError]:
    errors = choice(rule, field, "action", ["Count", "FailIndex", "FailJob", "Ignore"])
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None:
        errors += _exit_codes(codes, f"{field}.onExitCodes")
    if codes is not None and conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(FieldError("FieldValueInvalid", field, f"Invalid value: {text}"))
    elif codes is None and not conditions:
        text = "specifying one of OnExitCodes and OnPodConditions is required"
        errors.append(FieldError("FieldValueInvalid", field, f"Invalid value: {text}"))
    return errors


def _exit_codes(codes: Json, field: str) -> list[FieldError]:
    errors = choice(codes, field, "operator", ["In", "NotIn"])
    values = codes.get("values") or []
    if not values:
        errors.append(FieldError("FieldValueInvalid", f"{field}.values", "Invalid value: must have at least one value"))
    for i, value in enumerate(values):
        where = f"{field}.values[{i}]"
        if codes.get("operator") == "In" and value == 0:
            errors.append(field_invalid(where, 0, "must not be 0 for the In operator"))
        if value in values[:i]:
            errors.append(field_duplicate(where, value))
    return errors


def job_update(obj: Json, old: Json) -> list[FieldError]:
    """Validate the immutable fields of a Job. An Indexed Job may change completions together with parallelism."""
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    errors = []
    if new_spec.get("completions") != old_spec.get("completions") and not _scales_elastically(new_spec, old_spec):
        errors.append(field_invalid("spec.completions", new_spec.get("completions"), IMMUTABLE))
    errors += _immutable(obj, old, "selector")
    template = new_spec.get("template")
    if template != old_spec.get("template"):
        errors.append(field_invalid("spec.template", internal_types.pod_template(template or {}), IMMUTABLE))
    errors += _immutable(obj, old, "completionMode", "podFailurePolicy")
    return errors + _immutable(obj, old, "backoffLimitPerIndex", "managedBy", "successPolicy")


def _scales_elastically(new: Json, old: Json) -> bool:
    if old.get("completionMode") != "Indexed":
        return False
    return new.get("completions") == new.get("parallelism") and old.get("completions") == old.get("parallelism")


def cron_job(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    name = obj["metadata"].get("name", "")
    errors += _schedule(spec.get("schedule", ""))
    errors += _time_zone(spec.get("timeZone"))
    errors += not_negative(spec, "spec", "startingDeadlineSeconds")
    errors += choice(spec, "spec", "concurrencyPolicy", ["Allow", "Forbid", "Replace"])
    inner = (spec.get("jobTemplate") or {}).get("spec") or {}
    field = "spec.jobTemplate.spec"
    errors += _job_spec(inner, field)
    if inner.get("selector") is not None:
        text = "`selector` will be auto-generated"
        errors.append(field_invalid(f"{field}.selector", inner["selector"], text))
    if inner.get("manualSelector"):
        errors.append(field_not_supported(f"{field}.manualSelector", True, ["nil", "false"]))
    errors += not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    if len(name) > _CRON_JOB_NAME:
        errors.append(field_invalid("metadata.name", name, f"must be no more than {_CRON_JOB_NAME} characters"))
    return errors


def _schedule(text: str) -> list[FieldError]:
    if not text:
        return [field_required("spec.schedule")]
    if "TZ" in text:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        return [field_invalid("spec.schedule", text, why)]
    try:
        cron.check(text)
    except ValueError as err:
        return [field_invalid("spec.schedule", text, str(err))]
    return []


def _time_zone(name: str | None) -> list[FieldError]:
    if name is None:
        return []
    if not name:
        return [field_invalid("spec.timeZone", name, "timeZone must be nil or non-empty string")]
    errors = []
    if name.lower() == "local":
        text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(field_invalid("spec.timeZone", name, text))
    if name == "Local":
        # Go knows it as the zone of the machine.
        return errors
    import zoneinfo  # Here, not above: for CronJobs with a zone alone.

    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        errors.append(field_invalid("spec.timeZone", name, f"unknown time zone {name}"))
    return errors
