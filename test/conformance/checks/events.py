"""Conformance checks: The two kinds of events."""

from checks.framework import A, P, check, event


def EVENTS1(ns, name=None):
    return A("events.k8s.io", "v1", ns, "events", name)


@check("events.core_seen_through_events_k8s_io")
def _(t):
    e = event("e", t.ns, {"kind": "Pod", "namespace": t.ns, "name": "p", "apiVersion": "v1"})
    o = t.make(P(t.ns, "events"), e)
    v = t.code(t.api.get(EVENTS1(t.ns, "e")), 200).json
    t.eq(
        (v["apiVersion"], v["kind"], v["metadata"]["uid"]),
        ("events.k8s.io/v1", "Event", o["metadata"]["uid"]),
        "same object",
    )
    t.eq(
        (v["note"], v["regarding"]["name"], v["deprecatedCount"], v["deprecatedSource"], v["reason"]),
        ("a message", "p", 1, {"component": "conformance"}, "Tested"),
        "renamed fields",
    )
    t.eq(
        (v["deprecatedFirstTimestamp"], v["deprecatedLastTimestamp"], v["eventTime"]),
        (e["firstTimestamp"], e["lastTimestamp"], None),
        "times",
    )
    t.ok("message" not in v and "involvedObject" not in v, "core names", sorted(v), "absent")


@check("events.events_k8s_io_seen_through_core")
def _(t):
    e = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": t.ns},
        "eventTime": "2024-01-02T03:04:05.000006Z",
        "reportingController": "example.com/c",
        "reportingInstance": "c-0",
        "action": "Testing",
        "reason": "Tested",
        "regarding": {"kind": "Pod", "namespace": t.ns, "name": "p"},
        "note": "hi",
        "type": "Normal",
    }
    t.make(EVENTS1(t.ns), e)
    v = t.code(t.api.get(P(t.ns, "events", "e")), 200).json
    t.eq(
        (
            v["message"],
            v["involvedObject"]["name"],
            v["reportingComponent"],
            v["reportingInstance"],
            v["eventTime"],
            v["action"],
        ),
        ("hi", "p", "example.com/c", "c-0", "2024-01-02T03:04:05.000006Z", "Testing"),
        "core view",
    )
    t.eq((v["source"], v["firstTimestamp"], v["lastTimestamp"]), ({}, None, None), "zero values shown")


@check("events.events_k8s_io_validation")
def _(t):
    e = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": t.ns},
        "type": "Normal",
        "eventTime": "2024-01-02T03:04:05.000006Z",
        "regarding": {"kind": "Pod", "namespace": t.ns, "name": "p"},
    }
    st = t.status(t.api.post(EVENTS1(t.ns), e), 422, "Invalid")
    f = [c["field"] for c in st["details"]["causes"]]
    for want in ("reportingController", "reportingInstance", "action", "reason"):
        t.ok(want in f, "causes", f, want)


@check("events.namespace_must_match_involved_object")
def _(t):
    st = t.status(
        t.api.post(P(t.ns, "events"), event("e", t.ns, {"kind": "Pod", "namespace": "other", "name": "p"})),
        422,
        "Invalid",
    )
    t.eq(st["details"]["causes"][0]["field"], "involvedObject.namespace", "field")


@check("events.core_fields_kept")
def _(t):
    o = t.make(P(t.ns, "events"), event("e", t.ns, {"kind": "Pod", "namespace": t.ns, "name": "p"}))
    t.eq((o["eventTime"], o["reportingComponent"], o["reportingInstance"]), (None, "", ""), "always present fields")
    t.ok("series" not in o, "series", o.get("series"), "absent")
