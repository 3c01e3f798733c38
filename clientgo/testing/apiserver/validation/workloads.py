"""Validation of what makes pods: Deployments and their kin, Jobs, CronJobs."""

from __future__ import annotations

import zoneinfo
from typing import Any

from clientgo.testing.apiserver.errors import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from clientgo.testing.apiserver.validation import cron
from clientgo.testing.apiserver.validation.fields import (
    check_labels,
    choice,
    label_selector,
    not_negative,
    selector_matches,
)
from clientgo.testing.apiserver.validation.pods import pod_spec

Json = dict[str, Any]

# A Job made by a CronJob has eleven characters more, and 63 are what a label may have.
_CRON_JOB_NAME = 52
_STATEFUL_SET_FIELDS = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def workload(obj: Json) -> list[FieldError]:
    """What Deployments, ReplicaSets, StatefulSets and DaemonSets have in common."""
    spec = obj.get("spec") or {}
    errors = not_negative(spec, "spec", "replicas", "minReadySeconds", "revisionHistoryLimit")
    selector = spec.get("selector")
    wrong = label_selector(selector, "spec.selector")
    errors += wrong
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if selector and not wrong and not selector_matches(selector, labels):
        text = "`selector` does not match template `labels`"
        errors.append(field_invalid("spec.template.metadata.labels", labels, text))
    errors += check_labels(labels, "spec.template.labels")
    errors += pod_spec(template.get("spec") or {}, "spec.template.spec")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy and policy != "Always":
        errors.append(field_not_supported("spec.template.spec.restartPolicy", policy, ["Always"]))
    return errors


def selector_update(obj: Json, old: Json) -> list[FieldError]:
    return _immutable(obj, old, "selector")


def _immutable(obj: Json, old: Json, *names: str) -> list[FieldError]:
    new_spec, old_spec = obj.get("spec") or {}, old.get("spec") or {}
    return [
        field_invalid(f"spec.{name}", new_spec.get(name), "field is immutable")
        for name in names
        if new_spec.get(name) != old_spec.get(name)
    ]


def stateful_set_update(obj: Json, old: Json) -> list[FieldError]:
    def fixed(doc: Json) -> Json:
        return {name: value for name, value in (doc.get("spec") or {}).items() if name not in _STATEFUL_SET_FIELDS}

    if fixed(obj) == fixed(old):
        return []
    quoted = [f"'{name}'" for name in _STATEFUL_SET_FIELDS]
    names = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return [field_forbidden("spec", f"updates to statefulset spec for fields other than {names} are forbidden")]


def job(obj: Json) -> list[FieldError]:
    return _job_spec(obj.get("spec") or {}, "spec")


def _job_spec(spec: Json, field: str) -> list[FieldError]:
    numbers = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    errors = not_negative(spec, field, *numbers)
    template = (spec.get("template") or {}).get("spec") or {}
    errors += pod_spec(template, f"{field}.template.spec")
    if template.get("restartPolicy") not in ("OnFailure", "Never"):
        # Always is the default; so it cannot be told from none.
        errors.append(field_required(f"{field}.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'))
    return errors


def job_update(obj: Json, old: Json) -> list[FieldError]:
    return _immutable(obj, old, "selector", "template", "completionMode")


def cron_job(obj: Json) -> list[FieldError]:
    spec = obj.get("spec") or {}
    errors = []
    name = obj["metadata"].get("name", "")
    if len(name) > _CRON_JOB_NAME:
        errors.append(field_invalid("metadata.name", name, f"must be no more than {_CRON_JOB_NAME} characters"))
    errors += _schedule(spec.get("schedule", ""))
    errors += _time_zone(spec.get("timeZone"))
    errors += not_negative(spec, "spec", "startingDeadlineSeconds")
    errors += choice(spec, "spec", "concurrencyPolicy", ["Allow", "Forbid", "Replace"])
    errors += not_negative(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    return errors + _job_spec((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")


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
    if name.lower() == "local":
        return [field_invalid("spec.timeZone", name, "timeZone must be an explicit time zone as defined in "
                              "https://www.iana.org/time-zones")]  # fmt: skip
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return [field_invalid("spec.timeZone", name, f"unknown time zone {name}")]
    return []
