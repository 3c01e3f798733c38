"""Conformance checks: Watches."""

import time

from checks.framework import PARTIAL, TABLE, A, P, check, cm, pod
from checks.lists import compact


@check("watch.framing")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, resourceVersion=t.rv(p), timeoutSeconds=20) as w:
        t.eq(w.code, 200, "status")
        t.eq(
            (w.headers.get("Content-Type"), w.headers.get("Transfer-Encoding")),
            ("application/json", "chunked"),
            "headers",
        )
        o = t.make(p, cm("x"))
        e = w.next()
        t.eq((e["type"], sorted(e)), ("ADDED", ["object", "type"]), "event")
        t.eq(e["object"], o, "object with kind and apiVersion, equal to the create answer")
        t.ok(
            w.raw[0][1].startswith(b'{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1"'),
            "raw line",
            w.raw[0][1][:90].decode(),
        )


@check("watch.add_modify_delete")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, resourceVersion=t.rv(p), timeoutSeconds=20) as w:
        t.make(p, cm("x"))
        u = t.code(t.api.patch(p + "/x", {"data": {"k": "2"}}), 200).json
        t.code(t.api.delete(p + "/x"), 200)
        ev = [w.next() for _ in range(3)]
        t.eq([e["type"] for e in ev], ["ADDED", "MODIFIED", "DELETED"], "types")
        t.eq(ev[1]["object"], u, "MODIFIED object")
        t.ok(
            int(ev[2]["object"]["metadata"]["resourceVersion"]) > int(u["metadata"]["resourceVersion"]),
            "DELETED resourceVersion is the deletion's",
            ev[2]["object"]["metadata"]["resourceVersion"],
            "> " + u["metadata"]["resourceVersion"],
        )
        t.eq(ev[2]["object"]["data"], {"k": "2"}, "DELETED carries the last state")


@check("watch.noop_update_sends_nothing")
def _(t):
    p = P(t.ns, "configmaps")
    o = t.make(p, cm("x"))
    with t.api.watch(p, resourceVersion=o["metadata"]["resourceVersion"], timeoutSeconds=20) as w:
        t.code(t.api.put(p + "/x", o), 200)
        w.quiet(0.7)


@check("watch.from_resource_version_replays")
def _(t):
    p = P(t.ns, "configmaps")
    o = t.cms(3)
    t.code(t.api.patch(p + "/c0", {"data": {"k": "2"}}), 200)
    with t.api.watch(p, resourceVersion=o[0]["metadata"]["resourceVersion"], timeoutSeconds=20) as w:
        ev = [w.next() for _ in range(3)]
        t.eq(
            [(e["type"], e["object"]["metadata"]["name"]) for e in ev],
            [("ADDED", "c1"), ("ADDED", "c2"), ("MODIFIED", "c0")],
            "events strictly after the given version",
        )


@check("watch.rv_0_synthetic_added")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(2)
    t.code(t.api.patch(p + "/c0", {"data": {"k": "2"}}), 200)
    t.eventually(
        lambda: [i["data"]["k"] for i in t.api.get(p, resourceVersion="0").json["items"]] == ["2", "v"],
        "cache caught up",
    )
    with t.api.watch(p, resourceVersion="0", timeoutSeconds=20) as w:
        ev = [w.next() for _ in range(2)]
        t.eq(
            [(e["type"], e["object"]["metadata"]["name"], e["object"]["data"]["k"]) for e in ev],
            [("ADDED", "c0", "2"), ("ADDED", "c1", "v")],
            "current state as ADDED",
        )
        t.make(p, cm("z"))
        t.eq(w.next()["object"]["metadata"]["name"], "z", "then live events")


@check("watch.rv_unset_synthetic_added")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(2)
    with t.api.watch(p, timeoutSeconds=20) as w:
        t.eq([w.next()["type"] for _ in range(2)], ["ADDED", "ADDED"], "current state as ADDED")


@check("watch.name_field_selector")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, resourceVersion=t.rv(p), fieldSelector="metadata.name=b", timeoutSeconds=20) as w:
        t.make(p, cm("a"))
        t.make(p, cm("b"))
        t.eq(w.next()["object"]["metadata"]["name"], "b")


@check("watch.selector_transitions")
def _(t):
    p = P(t.ns, "configmaps")
    t.make(p, cm("x", labels={"on": "no"}))
    with t.api.watch(p, resourceVersion=t.rv(p), labelSelector="on=yes", timeoutSeconds=20) as w:
        t.code(t.api.patch(p + "/x", {"metadata": {"labels": {"on": "yes"}}}), 200)
        t.code(t.api.patch(p + "/x", {"data": {"k": "2"}}), 200)
        u = t.code(t.api.patch(p + "/x", {"metadata": {"labels": {"on": "no"}}, "data": {"k": "3"}}), 200).json
        t.code(t.api.patch(p + "/x", {"data": {"k": "4"}}), 200)
        t.code(t.api.delete(p + "/x"), 200)
        ev = [w.next() for _ in range(3)]
        t.eq([e["type"] for e in ev], ["ADDED", "MODIFIED", "DELETED"], "entering, staying, leaving")
        d = ev[2]["object"]
        t.eq(
            (d["metadata"]["labels"], d["data"]["k"], d["metadata"]["resourceVersion"]),
            ({"on": "yes"}, "2", u["metadata"]["resourceVersion"]),
            "DELETED carries the last matching state with the resourceVersion of the change",
        )
        w.quiet(0.5)


@check("watch.field_selector_transitions")
def _(t):
    p = P(t.ns, "pods")
    t.make(p, pod("x"))
    with t.api.watch(p, resourceVersion=t.rv(p), fieldSelector="status.phase=Running", timeoutSeconds=20) as w:
        t.code(t.api.patch(p + "/x/status", {"status": {"phase": "Running"}}), 200)
        t.code(t.api.patch(p + "/x/status", {"status": {"phase": "Succeeded"}}), 200)
        t.eq([w.next()["type"] for _ in range(2)], ["ADDED", "DELETED"])


@check("watch.other_namespace_not_seen")
def _(t):
    p = P(t.ns, "configmaps")
    other = t.make_ns()
    with t.api.watch(p, resourceVersion=t.rv(p), timeoutSeconds=20) as w:
        t.make(P(other, "configmaps"), cm("x"))
        t.make(p, cm("y"))
        t.eq(w.next()["object"]["metadata"]["name"], "y")


@check("watch.cluster_wide")
def _(t):
    with t.api.watch(
        "/api/v1/configmaps",
        resourceVersion=t.rv(P(t.ns, "configmaps")),
        labelSelector="run=" + t.ns,
        timeoutSeconds=20,
    ) as w:
        t.make(P(t.ns, "configmaps"), cm("x", labels={"run": t.ns}))
        t.eq(w.next()["object"]["metadata"]["namespace"], t.ns)


@check("watch.custom_resource")
def _(t):
    g, _p = t.widgets()
    with t.api.watch(t.W(), resourceVersion=t.rv(t.W()), timeoutSeconds=20) as w:
        t.make(t.W(), t.widget("x"))
        t.code(t.api.patch(t.W("x", "status"), {"status": {"phase": "A"}}), 200)
        ev = [w.next() for _ in range(2)]
        t.eq(
            [(e["type"], e["object"]["kind"], e["object"]["apiVersion"]) for e in ev],
            [("ADDED", "Widget", g + "/v1"), ("MODIFIED", "Widget", g + "/v1")],
        )


@check("watch.deprecated_watch_path")
def _(t):
    t.cms(1)
    with t.api.watch(f"/api/v1/watch/namespaces/{t.ns}/configmaps", resourceVersion="0", timeoutSeconds=20) as w:
        t.eq(w.next()["type"], "ADDED")


@check("watch.timeout_seconds_closes")
def _(t):
    p = P(t.ns, "configmaps")
    t0 = time.time()
    with t.api.watch(p, resourceVersion=t.rv(p), timeoutSeconds=1) as w:
        t.eq(w.rest(), [], "events")
    t.ok(0.8 <= time.time() - t0 <= 5, "seconds until close", time.time() - t0, "about 1")


@check("watch.bookmark")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(1)
    with t.api.watch(p, resourceVersion=t.rv(p), allowWatchBookmarks="true", timeoutSeconds=5) as w:
        o = t.make(p, cm("later"))
        ev = w.rest()
    t.eq([e["type"] for e in ev][:2], ["ADDED", "BOOKMARK"], "types (a bookmark comes ~2 s before the deadline)")
    t.eq({e["type"] for e in ev[1:]}, {"BOOKMARK"}, "types after the first (sometimes there are two bookmarks)")
    b = ev[-1]["object"]
    t.eq(
        (b["kind"], b["apiVersion"], sorted(b["metadata"])), ("ConfigMap", "v1", ["resourceVersion"]), "bookmark object"
    )
    t.ok(
        int(b["metadata"]["resourceVersion"]) >= int(o["metadata"]["resourceVersion"]),
        "bookmark version",
        b["metadata"],
    )


@check("watch.no_bookmark_unless_asked")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, resourceVersion=t.rv(p), timeoutSeconds=4) as w:
        t.eq(w.rest(), [], "events")


@check("watch.watchlist_stream")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(2)
    with t.api.watch(
        p, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true", timeoutSeconds=20
    ) as w:
        ev = [w.next() for _ in range(3)]
        t.eq(
            [(e["type"], e["object"]["metadata"].get("name")) for e in ev],
            [("ADDED", "c0"), ("ADDED", "c1"), ("BOOKMARK", None)],
        )
        m = ev[2]["object"]["metadata"]
        t.eq(m["annotations"], {"k8s.io/initial-events-end": "true"}, "annotations of the bookmark")
        t.ok(int(m["resourceVersion"]) >= int(ev[1]["object"]["metadata"]["resourceVersion"]), "bookmark version", m)
        t.make(p, cm("z"))
        e = w.next()
        t.eq((e["type"], e["object"]["metadata"]["name"]), ("ADDED", "z"), "live event after the bookmark")


@check("watch.watchlist_empty_collection")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(
        p, sendInitialEvents="true", resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true", timeoutSeconds=20
    ) as w:
        e = w.next()
        t.eq((e["type"], e["object"]["metadata"]["annotations"]), ("BOOKMARK", {"k8s.io/initial-events-end": "true"}))


@check("watch.watchlist_custom_resource")
def _(t):
    t.make(t.W(), t.widget("x"))
    with t.api.watch(
        t.W(),
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
        timeoutSeconds=20,
    ) as w:
        ev = [w.next() for _ in range(2)]
        t.eq([e["type"] for e in ev], ["ADDED", "BOOKMARK"])
        t.eq(
            (ev[1]["object"]["kind"], ev[1]["object"]["metadata"]["annotations"]),
            ("Widget", {"k8s.io/initial-events-end": "true"}),
        )


@check("watch.watchlist_selector")
def _(t):
    p = P(t.ns, "configmaps")
    t.make(p, cm("a", labels={"x": "1"}))
    t.make(p, cm("b"))
    with t.api.watch(
        p,
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
        labelSelector="x=1",
        timeoutSeconds=20,
    ) as w:
        t.eq(
            [(e["type"], e["object"]["metadata"].get("name")) for e in (w.next(), w.next())],
            [("ADDED", "a"), ("BOOKMARK", None)],
        )


@check("watch.watchlist_option_errors")
def _(t):
    p = P(t.ns, "configmaps")
    for kw, field, msg in (
        (
            {"watch": "1", "sendInitialEvents": "true"},
            "resourceVersionMatch",
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"},
            "sendInitialEvents",
            "Forbidden: sendInitialEvents is forbidden for list",
        ),
        (
            {"watch": "1", "resourceVersionMatch": "NotOlderThan"},
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
    ):
        st = t.status(t.api.get(p, **kw), 422, "Invalid")
        c = [x for x in st["details"]["causes"] if x["field"] == field]
        t.eq([x["message"] for x in c], [msg], f"causes for {kw}")


@check("watch.invalid_resource_version")
def _(t):
    r = t.api.get(P(t.ns, "configmaps"), watch="1", resourceVersion="abc")
    t.status(
        r,
        500,
        None,
        'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
        "absent",
    )


@check("watch.future_resource_version_waits")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, resourceVersion="999999999", timeoutSeconds=2) as w:
        t.eq(w.code, 200, "status")
        t.make(p, cm("x"))
        t.eq(w.rest(), [], "events older than the requested version")


@check("watch.expired_410_in_stream")
def _(t):
    g, plural = t.crd()
    p = A(g, "v1", t.ns, plural)
    compact(t, p)
    with t.api.watch(p, resourceVersion="1", timeoutSeconds=10) as w:
        t.eq(w.code, 200, "HTTP status of the watch (the error is an event)")
        e = w.next()
        t.eq(e["type"], "ERROR", "type")
        st = t.status_obj(e["object"], 410, "Expired", match=r"^too old resource version: 1 \(\d+\)$")
        t.eq(st["metadata"], {}, "metadata")
        t.eq(w.rest(), [], "the stream ends after the ERROR")


@check("watch.two_watchers_same_order")
def _(t):
    p = P(t.ns, "configmaps")
    rv = t.rv(p)
    with (
        t.api.watch(p, resourceVersion=rv, timeoutSeconds=20) as a,
        t.api.watch(p, resourceVersion=rv, timeoutSeconds=20) as b,
    ):
        for i in range(10):
            t.make(p, cm(f"c{i}"))
        ea, eb = [a.next() for _ in range(10)], [b.next() for _ in range(10)]
        t.eq(ea, eb, "event sequences")
        rvs = [int(e["object"]["metadata"]["resourceVersion"]) for e in ea]
        t.eq(rvs, sorted(rvs), "resourceVersions")


@check("watch.single_object_path_with_field_selector_missing_object")
def _(t):
    p = P(t.ns, "configmaps")
    with t.api.watch(p, fieldSelector="metadata.name=absent", resourceVersion="0", timeoutSeconds=2) as w:
        t.eq(w.rest(), [], "events")


@check("watch.table_form")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(2)
    with t.api.watch(p, headers={"Accept": TABLE}, resourceVersion="0", timeoutSeconds=20) as w:
        a, b = w.next(), w.next()
        t.eq((a["object"]["kind"], len(a["object"]["rows"])), ("Table", 1), "first event")
        t.ok(
            a["object"]["columnDefinitions"], "columns in the first event", a["object"].get("columnDefinitions"), "set"
        )
        t.ok(
            not b["object"].get("columnDefinitions"),
            "columns in later events",
            b["object"].get("columnDefinitions"),
            "empty",
        )


@check("watch.partial_object_metadata")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(1)
    with t.api.watch(p, headers={"Accept": PARTIAL}, resourceVersion="0", timeoutSeconds=20) as w:
        o = w.next()["object"]
        t.eq((o["kind"], o["apiVersion"], "data" in o), ("PartialObjectMetadata", "meta.k8s.io/v1", False))
