"""The client, the helpers and the list of checks that all conformance checks use."""

import contextlib
import datetime
import json
import queue
import random
import re
import threading
import time

import requests
import urllib3

urllib3.disable_warnings()

JSONPATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
AGG = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

CHECKS = []


class Fail(Exception):
    pass


class Skip(Exception):
    pass


def check(name, optional=False):
    def deco(fn):
        CHECKS.append((name, fn, optional))
        return fn

    return deco


class Resp:
    def __init__(self, r):
        self.code = r.status_code
        self.headers = r.headers
        self.text = r.text
        self.ctype = r.headers.get("Content-Type", "")

    @property
    def json(self):
        try:
            return json.loads(self.text)
        except ValueError:
            raise Fail(f"body is not JSON: got {self.text[:200]!r}, want a JSON document") from None


class Watch:
    """A streaming watch; a reader thread splits the body into lines."""

    def __init__(self, api, path, headers=None, token=None, **params):
        params.setdefault("watch", "1")
        self.q = queue.Queue()
        self.t0 = time.time()
        self.raw = []
        self.resp = api.session(token).get(
            api.server + path, params=params, stream=True, headers=headers or {}, verify=api.verify, timeout=(10, 90)
        )
        self.code = self.resp.status_code
        self.headers = self.resp.headers
        self.text = None
        if self.code != 200:
            self.text = self.resp.text
            self.q.put(None)
            return
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        buf = b""
        try:
            for chunk in self.resp.iter_content(chunk_size=None):
                buf += chunk
                while b"\n" in buf:
                    line, buf = buf.split(b"\n", 1)
                    self.raw.append((time.time() - self.t0, line))
                    if line.strip():
                        self.q.put(json.loads(line))
        except Exception:
            pass
        self.q.put(None)

    def next(self, timeout=300):
        """Return the next event. Raises Fail if none arrives in time or the stream has ended."""
        try:
            ev = self.q.get(timeout=timeout)
        except queue.Empty:
            raise Fail(f"watch event: got none within {timeout}s, want one") from None
        if ev is None:
            raise Fail("watch event: got end of stream, want an event")
        return ev

    def quiet(self, seconds):
        """Assert that nothing arrives for some time."""
        try:
            ev = self.q.get(timeout=seconds)
        except queue.Empty:
            return
        raise Fail(f"watch silence: got {brief(ev)}, want no event")

    def rest(self, timeout=300):
        """Return all events until the server closes the stream."""
        out, end = [], time.time() + timeout
        while True:
            try:
                ev = self.q.get(timeout=max(0.05, end - time.time()))
            except queue.Empty:
                raise Fail(f"watch end: got an open stream after {timeout}s, want it closed") from None
            if ev is None:
                return out
            out.append(ev)

    def close(self):
        with contextlib.suppress(Exception):
            self.resp.close()

    def __enter__(self):
        return self

    def __exit__(self, *a):
        # closing a response a thread is reading can block: shut the socket down first
        try:
            import socket

            conn = self.resp.raw._connection or self.resp.raw.connection
            conn.sock.shutdown(socket.SHUT_RDWR)
        except Exception:
            pass
        self.close()


def brief(x, n=300):
    s = x if isinstance(x, str) else json.dumps(x, sort_keys=True, default=str)
    return s if len(s) <= n else s[:n] + "..."


class Api:
    def __init__(self, server, token=None, insecure=False):
        self.server = server.rstrip("/")
        self.token = token
        self.verify = not insecure
        self.local = threading.local()

    def session(self, token=None):
        s = requests.Session()
        s.trust_env = False
        tok = self.token if token is None else token
        if tok:
            s.headers["Authorization"] = "Bearer " + tok
        s.headers["User-Agent"] = "conformance/1.0"
        s.headers["Accept"] = "application/json"
        return s

    def req(self, method, path, body=None, ct="application/json", headers=None, token=None, timeout=300, **params):
        h = dict(headers or {})
        data = None
        if body is not None:
            data = body if isinstance(body, (str, bytes)) else json.dumps(body)
            if isinstance(data, str):
                data = data.encode()
            h["Content-Type"] = ct
        if token is None:
            s = getattr(self.local, "s", None)
            if s is None:
                s = self.local.s = self.session()
        else:
            s = self.session(token)
        return Resp(
            s.request(
                method, self.server + path, data=data, headers=h, params=params, verify=self.verify, timeout=timeout
            )
        )

    def get(self, path, **kw):
        return self.req("GET", path, **kw)

    def post(self, path, body, **kw):
        return self.req("POST", path, body, **kw)

    def put(self, path, body, **kw):
        return self.req("PUT", path, body, **kw)

    def patch(self, path, body, ct=MERGE, **kw):
        return self.req("PATCH", path, body, ct=ct, **kw)

    def delete(self, path, body=None, **kw):
        return self.req("DELETE", path, body, **kw)

    def watch(self, path, **kw):
        return Watch(self, path, **kw)


def rnd(n=6):
    return "".join(random.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(n))


CORE_KINDS = {
    "pods": "Pod",
    "configmaps": "ConfigMap",
    "secrets": "Secret",
    "services": "Service",
    "events": "Event",
    "serviceaccounts": "ServiceAccount",
}


def P(ns, plural, name=None, sub=None):
    """Return the path of a namespaced core object or collection."""
    p = f"/api/v1/namespaces/{ns}/{plural}"
    return p + ("/" + name if name else "") + ("/" + sub if sub else "")


def A(group, version, ns, plural, name=None, sub=None):
    p = f"/apis/{group}/{version}"
    if ns:
        p += "/namespaces/" + ns
    p += "/" + plural
    return p + ("/" + name if name else "") + ("/" + sub if sub else "")


def cm(name, data=None, labels=None, **meta):
    m = {"name": name}
    if labels:
        m["labels"] = labels
    m.update(meta)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": m, "data": data or {"k": "v"}}


def pod(name, labels=None, **spec):
    m = {"name": name}
    if labels:
        m["labels"] = labels
    sp = {"containers": [{"name": "main", "image": "example.com/app:1"}]}
    sp.update(spec)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": m, "spec": sp}


def deployment(name, replicas=1, **meta):
    lab = {"app": name}
    m = {"name": name}
    m.update(meta)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": m,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": lab},
            "template": {
                "metadata": {"labels": lab},
                "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}]},
            },
        },
    }


def event(name, ns, involved, reason="Tested", message="a message", type_="Normal"):
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": ns},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "type": type_,
        "source": {"component": "conformance"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }


class T:
    """The client, a private namespace and the assertions of one check."""

    shared_crd = None

    def __init__(self, api, args):
        self.api, self.args = api, args
        self._ns = None
        self.cleanups = []

    # ---- fixtures
    @property
    def ns(self):
        if not self._ns:
            self._ns = self.make_ns()
        return self._ns

    def make_ns(self, name=None):
        name = name or "conf-" + rnd(8)
        r = self.api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        if r.code != 201:
            raise Fail(f"namespace create: got {r.code} {brief(r.text)}, want 201")
        self.cleanups.append(lambda: drop_ns(self.api, name))
        return name

    def make(self, path, body, **kw):
        r = self.api.post(path, body, **kw)
        if r.code != 201:
            raise Fail(f"create at {path}: got {r.code} {brief(r.text)}, want 201")
        return r.json

    def cms(self, n, prefix="c", labels=None):
        return [self.make(P(self.ns, "configmaps"), cm(f"{prefix}{i}", labels=labels)) for i in range(n)]

    def crd(self, **kw):
        """Create a CRD for this check alone and return (group, plural)."""
        body = crd_body("g" + rnd(6) + ".conformance.example.com", **kw)
        return install_crd(self, body, self.cleanups)

    def widgets(self):
        """Return (group, plural) of the CRD that most checks share, which the first of them creates."""
        if T.shared_crd is None:
            body = crd_body("w" + rnd(6) + ".conformance.example.com", **WIDGET)
            T.shared_cleanups = []
            T.shared_crd = install_crd(self, body, T.shared_cleanups)
        return T.shared_crd

    def W(self, name=None, sub=None, ns=None):
        g, plural = self.widgets()
        return A(g, "v1", ns or self.ns, plural, name, sub)

    def widget(self, name, spec=None, **meta):
        g, _ = self.widgets()
        m = {"name": name}
        m.update(meta)
        return {"apiVersion": g + "/v1", "kind": "Widget", "metadata": m, "spec": spec or {"size": 3}}

    # ---- assertions
    def eq(self, got, want, what="value"):
        if got != want:
            raise Fail(f"{what}: got {brief(got)}, want {brief(want)}")

    def ok(self, cond, what, got=None, want="true"):
        if not cond:
            raise Fail(f"{what}: got {brief(got if got is not None else cond)}, want {want}")

    def code(self, r, want, what="status"):
        if r.code != want:
            raise Fail(f"{what}: got {r.code} {brief(r.text)}, want {want}")
        return r

    def status(self, r, code, reason, message=None, details=None, match=None):
        """Compare a Failure Status body exactly."""
        self.code(r, code)
        self.ok(r.ctype.startswith("application/json"), "content type", r.ctype, "application/json")
        return self.status_obj(r.json, code, reason, message, details, match)

    def status_obj(self, b, code, reason, message=None, details=None, match=None):
        self.eq([b.get("kind"), b.get("apiVersion"), b.get("status")], ["Status", "v1", "Failure"], "Status head")
        self.eq(b.get("code"), code, "Status code")
        self.eq(b.get("reason"), reason, "Status reason")
        if message is not None:
            self.eq(b.get("message"), message, "Status message")
        if match is not None:
            self.ok(
                re.search(match, b.get("message", ""), re.S), "Status message", b.get("message"), "match of " + match
            )
        if details is not None:
            self.eq(b.get("details"), None if details == "absent" else details, "Status details")
        return b

    def eventually(self, fn, what, timeout=300, every=0.1):
        end, last = time.time() + timeout, None
        while time.time() < end:
            last = fn()
            if last:
                return last
            time.sleep(every)
        raise Fail(f"{what}: got {brief(last)} after {timeout}s, want true")

    def rv(self, path):
        return self.code(self.api.get(path, limit=1), 200).json["metadata"]["resourceVersion"]


def drop_ns(api, name):
    for path in (
        f"/api/v1/namespaces/{name}/",
        f"/apis/apps/v1/namespaces/{name}/",
        f"/apis/coordination.k8s.io/v1/namespaces/{name}/",
    ):
        for plural in {"api": ("pods", "configmaps", "secrets", "events"), "apis": ()}.get(path.split("/")[1]) or (
            ("deployments", "replicasets") if "apps" in path else ("leases",)
        ):
            api.delete(path + plural, gracePeriodSeconds=0)
    r = api.delete("/api/v1/namespaces/" + name)
    r = api.get("/api/v1/namespaces/" + name)
    if r.code == 200:
        b = r.json
        if (b.get("spec") or {}).get("finalizers"):
            b["spec"] = {"finalizers": []}
            api.put(f"/api/v1/namespaces/{name}/finalize", b)


WIDGET = {
    "scale": True,
    "status": True,
    "shortNames": ["wdg"],
    "categories": ["all"],
    "columns": [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
        {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1, "description": "its colour"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ],
}


def crd_body(
    group,
    kind="Widget",
    plural="widgets",
    scope="Namespaced",
    versions=None,
    status=True,
    scale=False,
    shortNames=None,
    categories=None,
    columns=None,
    schema=None,
    selectable=None,
):
    sch = schema or {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 10},
                    "colour": {"type": "string", "default": "red", "enum": ["red", "green", "blue"]},
                    "replicas": {"type": "integer"},
                    "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "ports": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["port"],
                        "items": {
                            "type": "object",
                            "required": ["port"],
                            "properties": {"port": {"type": "integer"}, "name": {"type": "string"}},
                        },
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "either": {"x-kubernetes-int-or-string": True},
                    "nest": {"type": "object", "properties": {"level": {"type": "integer", "default": 7}}},
                },
            },
            "status": {
                "type": "object",
                "properties": {
                    "replicas": {"type": "integer"},
                    "phase": {"type": "string"},
                    "selector": {"type": "string"},
                },
            },
        },
    }
    vs = []
    for v in versions or [{"name": "v1", "served": True, "storage": True}]:
        d = dict(v)
        d.setdefault("schema", {"openAPIV3Schema": sch})
        sub = {}
        if status:
            sub["status"] = {}
        if scale:
            sub["scale"] = {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            }
        if sub:
            d["subresources"] = sub
        if columns:
            d["additionalPrinterColumns"] = columns
        if selectable:
            d["selectableFields"] = selectable
        vs.append(d)
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"}
    if shortNames:
        names["shortNames"] = shortNames
    if categories:
        names["categories"] = categories
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": plural + "." + group},
        "spec": {"group": group, "scope": scope, "names": names, "versions": vs},
    }


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def install_crd(t, body, cleanups):
    name = body["metadata"]["name"]
    r = t.api.post(CRDS, body)
    if r.code != 201:
        raise Fail(f"CRD create: got {r.code} {brief(r.text)}, want 201")
    cleanups.append(lambda: t.api.delete(CRDS + "/" + name))

    def up():
        conds = (t.api.get(CRDS + "/" + name).json.get("status") or {}).get("conditions") or []
        return any(c["type"] == "Established" and c["status"] == "True" for c in conds)

    t.eventually(up, "CRD Established")
    g, v = body["spec"]["group"], body["spec"]["versions"][0]["name"]
    t.eventually(
        lambda: t.api.get(A(g, v, None, body["spec"]["names"]["plural"])).code == 200, "custom resource served"
    )
    return g, body["spec"]["names"]["plural"]
