"""Conformance checks: Lists: versions, limits and continue tokens."""

import base64
import json
import subprocess
import time

from checks.framework import Fail, P, Skip, check, cm, rnd


@check("list.metadata_and_items")
def _(t):
    t.cms(2)
    b = t.code(t.api.get(P(t.ns, "configmaps")), 200).json
    t.eq((b["kind"], b["apiVersion"], sorted(b["metadata"])), ("ConfigMapList", "v1", ["resourceVersion"]), "list head")
    t.eq([i["metadata"]["name"] for i in b["items"]], ["c0", "c1"], "sorted by key")
    t.ok(
        "kind" not in b["items"][0] and "apiVersion" not in b["items"][0],
        "kind inside built-in lists",
        b["items"][0],
        "absent",
    )


@check("list.empty_items_is_array")
def _(t):
    r = t.code(t.api.get(P(t.ns, "configmaps")), 200)
    t.eq(r.json["items"], [], "items")


@check("list.all_namespaces_order")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("zz", labels={"run": t.ns}))
    other = t.make_ns("conf-0" + rnd())
    t.make(P(other, "configmaps"), cm("aa", labels={"run": t.ns}))
    b = t.api.get("/api/v1/configmaps", labelSelector="run=" + t.ns).json
    t.eq([i["metadata"]["namespace"] for i in b["items"]], sorted([other, t.ns]), "ordered by namespace then name")


@check("list.paging")
def _(t):
    t.cms(5)
    p = P(t.ns, "configmaps")
    a = t.code(t.api.get(p, limit=2), 200).json
    t.eq(
        ([i["metadata"]["name"] for i in a["items"]], a["metadata"]["remainingItemCount"]), (["c0", "c1"], 3), "page 1"
    )
    b = t.code(t.api.get(p, limit=2, **{"continue": a["metadata"]["continue"]}), 200).json
    t.eq(
        ([i["metadata"]["name"] for i in b["items"]], b["metadata"]["remainingItemCount"]), (["c2", "c3"], 1), "page 2"
    )
    t.eq(b["metadata"]["resourceVersion"], a["metadata"]["resourceVersion"], "resourceVersion of page 2")
    c = t.code(t.api.get(p, limit=2, **{"continue": b["metadata"]["continue"]}), 200).json
    t.eq([i["metadata"]["name"] for i in c["items"]], ["c4"], "page 3")
    t.ok("continue" not in c["metadata"] and "remainingItemCount" not in c["metadata"], "last page", c["metadata"])


@check("list.paging_stable_snapshot")
def _(t):
    t.cms(4)
    p = P(t.ns, "configmaps")
    a = t.code(t.api.get(p, limit=2), 200).json
    t.make(p, cm("c2a"))
    t.code(t.api.delete(p + "/c3"), 200)
    t.code(t.api.patch(p + "/c2", {"data": {"k": "new"}}), 200)
    b = t.code(t.api.get(p, **{"continue": a["metadata"]["continue"], "limit": 10}), 200).json
    t.eq(
        [(i["metadata"]["name"], i["data"]["k"]) for i in b["items"]],
        [("c2", "v"), ("c3", "v")],
        "rest of the snapshot",
    )


@check("list.paging_exact_fit")
def _(t):
    t.cms(2)
    a = t.code(t.api.get(P(t.ns, "configmaps"), limit=2), 200).json
    t.ok("continue" not in a["metadata"], "continue when the page holds everything", a["metadata"], "absent")


@check("list.paging_with_selector_has_no_count")
def _(t):
    t.cms(3, labels={"a": "b"})
    a = t.code(t.api.get(P(t.ns, "configmaps"), limit=1, labelSelector="a=b"), 200).json
    t.ok(a["metadata"].get("continue"), "continue")
    t.ok("remainingItemCount" not in a["metadata"], "remainingItemCount with a selector", a["metadata"], "absent")


@check("list.continue_token_format")
def _(t):
    t.cms(2)
    a = t.code(t.api.get(P(t.ns, "configmaps"), limit=1), 200).json
    tok = a["metadata"]["continue"]
    d = json.loads(base64.urlsafe_b64decode(tok + "=" * (-len(tok) % 4)))
    t.eq(d, {"v": "meta.k8s.io/v1", "rv": int(a["metadata"]["resourceVersion"]), "start": d["start"]}, "token")
    t.ok(d["start"].endswith("c0\x00"), "start", d["start"], "...c0 and a zero byte")


@check("list.continue_errors")
def _(t):
    t.cms(2)
    p = P(t.ns, "configmaps")
    t.status(
        t.api.get(p, **{"continue": "abc"}),
        400,
        "BadRequest",
        match="^invalid continue token: continue key is not valid: ",
    )
    tok = t.api.get(p, limit=1).json["metadata"]["continue"]
    t.status(
        t.api.get(p, resourceVersion="5", **{"continue": tok}),
        400,
        "BadRequest",
        "specifying resource version is not allowed when using continue",
        "absent",
    )


@check("list.continue_expired_410")
def _(t):
    t.cms(3)
    p = P(t.ns, "configmaps")
    compact(t, p)
    a = t.api.get(p, limit=1).json
    tok = json.dumps(
        {
            "v": "meta.k8s.io/v1",
            "rv": 1,
            "start": json.loads(base64.urlsafe_b64decode(a["metadata"]["continue"] + "==="))["start"],
        },
        separators=(",", ":"),
    )
    r = t.api.get(p, limit=1, **{"continue": base64.urlsafe_b64encode(tok.encode()).decode().rstrip("=")})
    st = t.status(r, 410, "Expired", EXPIRED_CONTINUE, "absent")
    new = st["metadata"].get("continue")
    t.ok(new, "metadata.continue of the 410 body", st["metadata"], "a fresh inconsistent token")
    b = t.code(t.api.get(p, **{"continue": new}), 200, "list with the inconsistent token").json
    t.eq([i["metadata"]["name"] for i in b["items"]], ["c1", "c2"], "items from the inconsistent token")


EXPIRED_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You "
    "can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of "
    "the results. Continuing with the provided "
    "token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was "
    "returned and now may show up in the list."
)


def compact(t, path):
    """Make old resourceVersions unavailable, with the operator's command when one is given."""
    if t.args.compact_cmd:
        rv = t.rv(path)
        p = subprocess.run(
            t.args.compact_cmd.replace("{rv}", rv), shell=True, capture_output=True, text=True, timeout=300
        )
        if p.returncode:
            raise Fail("compact command: got %s, want exit 0" % (p.stdout + p.stderr))
        time.sleep(0.2)
    elif not t.args.assume_compacted:
        raise Skip("needs --compact-cmd, or --assume-compacted when resourceVersion 1 is gone already")


@check("list.exact_expired_410")
def _(t):
    p = P(t.ns, "configmaps")
    t.cms(1)
    compact(t, p)
    r = t.api.get(p, resourceVersion="1", resourceVersionMatch="Exact")
    t.status(r, 410, "Expired", "The resourceVersion for the provided list is too old.", "absent")


@check("list.resource_version_0")
def _(t):
    t.cms(2)
    t.eventually(
        lambda: len(t.code(t.api.get(P(t.ns, "configmaps"), resourceVersion="0"), 200).json["items"]) == 2,
        "items from the cache",
    )


@check("list.resource_version_0_ignores_limit")
def _(t):
    t.cms(3)
    t.eventually(
        lambda: len(t.api.get(P(t.ns, "configmaps"), resourceVersion="0").json["items"]) == 3, "cache caught up"
    )
    b = t.code(t.api.get(P(t.ns, "configmaps"), resourceVersion="0", limit=1), 200).json
    t.eq((len(b["items"]), "continue" in b["metadata"]), (3, False), "items, continue")


@check("list.resource_version_exact")
def _(t):
    c = t.cms(3)
    rv = c[1]["metadata"]["resourceVersion"]
    b = t.code(t.api.get(P(t.ns, "configmaps"), resourceVersion=rv, resourceVersionMatch="Exact"), 200).json
    t.eq(
        ([i["metadata"]["name"] for i in b["items"]], b["metadata"]["resourceVersion"]),
        (["c0", "c1"], rv),
        "state at that version",
    )


@check("list.resource_version_not_older_than")
def _(t):
    c = t.cms(3)
    rv = c[2]["metadata"]["resourceVersion"]
    for kw in ({"resourceVersionMatch": "NotOlderThan"}, {}):
        b = t.code(t.api.get(P(t.ns, "configmaps"), resourceVersion=rv, **kw), 200).json
        t.eq(len(b["items"]), 3, "items")
        t.ok(int(b["metadata"]["resourceVersion"]) >= int(rv), "list resourceVersion", b["metadata"], ">= " + rv)


@check("list.resource_version_too_large")
def _(t):
    r = t.api.get(P(t.ns, "configmaps"), resourceVersion="999999999")
    st = t.status(r, 504, "Timeout", match=r"^Timeout: Too large resource version: 999999999, current: \d+$")
    t.eq(
        st["details"],
        {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
        "details",
    )
    t.eq(r.headers.get("Retry-After"), "1", "Retry-After")


@check("list.resource_version_invalid")
def _(t):
    t.status(
        t.api.get(P(t.ns, "configmaps"), resourceVersion="abc"),
        400,
        "BadRequest",
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: '
        'parsing "abc": invalid syntax',
        "absent",
    )


@check("list.resource_version_match_errors")
def _(t):
    p = P(t.ns, "configmaps")
    for kw, reason, msg in (
        (
            {"resourceVersionMatch": "Exact"},
            "FieldValueForbidden",
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Foo", "resourceVersion": "1"},
            "FieldValueNotSupported",
            'Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            "FieldValueForbidden",
            'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
    ):
        t.status(
            t.api.get(p, **kw),
            422,
            "Invalid",
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: ' + msg,
            {
                "group": "meta.k8s.io",
                "kind": "ListOptions",
                "causes": [{"reason": reason, "message": msg, "field": "resourceVersionMatch"}],
            },
        )


@check("list.get_with_resource_version")
def _(t):
    o = t.cms(1)[0]
    p = P(t.ns, "configmaps", "c0")
    t.eventually(lambda: t.api.get(p, resourceVersion="0").code == 200, "GET at resourceVersion 0")
    t.code(t.api.get(p, resourceVersion=o["metadata"]["resourceVersion"]), 200)
