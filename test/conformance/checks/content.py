"""Conformance checks: Content types."""

import yaml

from checks.framework import P, check, cm


@check("content.json_default_compact")
def _(t):
    r = t.code(t.api.get(P(t.ns, "configmaps")), 200)
    t.eq(r.ctype, "application/json", "content type")
    t.ok(
        r.text.startswith('{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"')
        and r.text.endswith("}\n"),
        "compact JSON ending in a newline, kind first",
        r.text,
    )
    t.eq(r.headers.get("Cache-Control"), "no-cache, private", "Cache-Control")


@check("content.pretty")
def _(t):
    r = t.code(t.api.get(P(t.ns, "configmaps"), pretty="true"), 200)
    t.ok(r.text.startswith('{\n  "kind": "ConfigMapList",\n'), "pretty JSON", r.text)
    r = t.code(t.api.get(P(t.ns, "configmaps"), headers={"User-Agent": "curl/8"}), 200)
    t.ok(r.text.startswith('{\n  "kind"'), "curl gets pretty JSON unasked", r.text)
    r = t.code(t.api.get(P(t.ns, "configmaps"), pretty="false", headers={"User-Agent": "curl/8"}), 200)
    t.ok(r.text.startswith('{"kind"'), "pretty=false", r.text)


@check("content.yaml_out")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.code(t.api.get(P(t.ns, "configmaps", "x"), headers={"Accept": "application/yaml"}), 200)
    t.eq(r.ctype, "application/yaml", "content type")
    t.eq(yaml.safe_load(r.text)["metadata"]["name"], "x")


@check("content.yaml_in")
def _(t):
    r = t.api.post(P(t.ns, "configmaps"), yaml.safe_dump(cm("x")), ct="application/yaml")
    t.code(r, 201)
    t.eq(r.json["data"], {"k": "v"}, "data")
    r = t.api.post(t.W(), yaml.safe_dump(t.widget("x")), ct="application/yaml")
    t.code(r, 201)


@check("content.gzip_large")
def _(t):
    for i in range(2):
        t.make(P(t.ns, "configmaps"), cm(f"big{i}", {"k": "x" * 100000}))
    r = t.code(t.api.get(P(t.ns, "configmaps"), headers={"Accept-Encoding": "gzip"}), 200)
    t.eq((r.headers.get("Content-Encoding"), r.headers.get("Vary")), ("gzip", "Accept-Encoding"), "large body")
    r = t.code(t.api.get(P(t.ns, "configmaps"), headers={"Accept-Encoding": "identity"}), 200)
    t.eq(r.headers.get("Content-Encoding"), None, "without Accept-Encoding")


@check("content.gzip_small_not_compressed")
def _(t):
    r = t.code(t.api.get(P(t.ns, "configmaps"), headers={"Accept-Encoding": "gzip"}), 200)
    t.eq(r.headers.get("Content-Encoding"), None, "small body")


@check("content.protobuf_refused_for_custom_resources")
def _(t):
    r = t.api.get(t.W(), headers={"Accept": "application/vnd.kubernetes.protobuf"})
    t.code(r, 406)
    r = t.api.get(t.W(), headers={"Accept": "application/vnd.kubernetes.protobuf,application/json"})
    t.code(r, 200)
    t.eq(r.ctype, "application/json", "fallback")


@check("content.request_without_kind")
def _(t):
    r = t.code(t.api.post(P(t.ns, "configmaps"), {"metadata": {"name": "x"}, "data": {"a": "b"}}), 201)
    t.eq(
        (r.json["kind"], r.json["apiVersion"], r.json["data"]),
        ("ConfigMap", "v1", {"a": "b"}),
        "kind filled in from the URL",
    )
