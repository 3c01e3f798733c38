"""Conformance checks: Create, read, update and delete."""

import base64
import re

from checks.framework import A, P, check, cm, deployment, event, pod


@check("crud.metadata_assigned")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    m = o["metadata"]
    t.ok(
        re.match(r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", m["uid"]),
        "uid",
        m["uid"],
        "uuid4",
    )
    t.ok(
        re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", m["creationTimestamp"]),
        "creationTimestamp",
        m["creationTimestamp"],
    )
    t.ok(re.match(r"^[1-9]\d*$", m["resourceVersion"]), "resourceVersion", m["resourceVersion"], "decimal string")
    t.eq(m["namespace"], t.ns, "namespace")
    t.ok("generation" not in m, "generation of a ConfigMap", m.get("generation", ""), "absent")
    t.ok("selfLink" not in m, "selfLink", m.get("selfLink", ""), "absent")


@check("crud.client_uid_and_timestamps_overwritten")
def _(t):
    b = cm(
        "x",
        uid="abc",
        creationTimestamp="2001-01-01T00:00:00Z",
        generation=9,
        deletionTimestamp="2001-01-01T00:00:00Z",
        deletionGracePeriodSeconds=3,
    )
    m = t.make(P(t.ns, "configmaps"), b)["metadata"]
    t.ok(m["uid"] != "abc", "uid", m["uid"], "a new one")
    t.ok(not m["creationTimestamp"].startswith("2001"), "creationTimestamp", m["creationTimestamp"], "now")
    t.ok("deletionTimestamp" not in m and "deletionGracePeriodSeconds" not in m, "metadata", m)
    b = deployment("d", generation=9)
    t.eq(t.make(A("apps", "v1", t.ns, "deployments"), b)["metadata"]["generation"], 1, "generation of a Deployment")


@check("crud.create_with_resource_version_refused")
def _(t):
    r = t.api.post(P(t.ns, "configmaps"), cm("x", resourceVersion="5"))
    t.status(r, 500, None, "resourceVersion should not be set on objects to be created", "absent")


@check("crud.generate_name")
def _(t):
    b = cm("x", generateName="pre-")
    del b["metadata"]["name"]
    a = t.make(P(t.ns, "configmaps"), b)["metadata"]
    c = t.make(P(t.ns, "configmaps"), b)["metadata"]
    t.ok(re.match(r"^pre-[bcdfghjklmnpqrstvwxz2456789]{5}$", a["name"]), "name", a["name"], "pre- and five letters")
    t.eq(a["generateName"], "pre-", "generateName kept")
    t.ok(a["name"] != c["name"], "two names", a["name"])


@check("crud.get_update_delete_configmap")
def _(t):
    p = P(t.ns, "configmaps", "x")
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    t.eq(t.code(t.api.get(p), 200).json, o, "GET equals the create answer")
    o["data"]["k"] = "w"
    u = t.code(t.api.put(p, o), 200).json
    t.ok(int(u["metadata"]["resourceVersion"]) > int(o["metadata"]["resourceVersion"]), "resourceVersion grows")
    t.eq(u["metadata"]["uid"], o["metadata"]["uid"], "uid kept")
    d = t.code(t.api.delete(p), 200).json
    t.eq(
        d,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {"name": "x", "kind": "configmaps", "uid": o["metadata"]["uid"]},
        },
        "delete answer",
    )
    t.code(t.api.get(p), 404)


@check("crud.delete_details_group")
def _(t):
    o = t.make(
        A("coordination.k8s.io", "v1", t.ns, "leases"),
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"}, "spec": {}},
    )
    d = t.code(t.api.delete(A("coordination.k8s.io", "v1", t.ns, "leases", "x")), 200).json
    t.eq(
        d["details"],
        {"name": "x", "group": "coordination.k8s.io", "kind": "leases", "uid": o["metadata"]["uid"]},
        "details",
    )


@check("crud.noop_update_keeps_resource_version")
def _(t):
    p = P(t.ns, "configmaps", "x")
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    u = t.code(t.api.put(p, o), 200).json
    t.eq(u["metadata"]["resourceVersion"], o["metadata"]["resourceVersion"], "resourceVersion after an unchanged PUT")
    u = t.code(t.api.patch(p, {"data": {"k": "v"}}), 200).json
    t.eq(u["metadata"]["resourceVersion"], o["metadata"]["resourceVersion"], "resourceVersion after an unchanged PATCH")


@check("crud.put_creates_for_leases_and_events_only")
def _(t):
    t.code(t.api.put(P(t.ns, "configmaps", "x"), cm("x")), 404, "PUT of a missing ConfigMap")
    b = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "x"},
        "spec": {"holderIdentity": "me"},
    }
    t.code(t.api.put(A("coordination.k8s.io", "v1", t.ns, "leases", "x"), b), 201, "PUT of a missing Lease creates it")
    e = event("e", t.ns, {"kind": "Pod", "namespace": t.ns, "name": "p"})
    t.code(t.api.put(P(t.ns, "events", "e"), e), 201, "PUT of a missing Event creates it")


@check("crud.put_without_resource_version")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    t.code(t.api.put(P(t.ns, "configmaps", "x"), cm("x", {"k": "new"})), 200, "unconditional PUT of a ConfigMap")
    t.make(t.W(), t.widget("x"))
    g, _p = t.widgets()
    t.status(
        t.api.put(t.W("x"), t.widget("x")),
        422,
        "Invalid",
        f'widgets.{g} "x" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
        {
            "name": "x",
            "group": g,
            "kind": "widgets",
            "causes": [
                {
                    "reason": "FieldValueInvalid",
                    "message": "Invalid value: 0: must be specified for an update",
                    "field": "metadata.resourceVersion",
                }
            ],
        },
    )


@check("crud.optimistic_lock_conflict")
def _(t):
    p = P(t.ns, "configmaps", "x")
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    t.code(t.api.patch(p, {"data": {"k": "2"}}), 200)
    o["data"]["k"] = "3"
    t.status(
        t.api.put(p, o),
        409,
        "Conflict",
        'Operation cannot be fulfilled on configmaps "x": the object has been modified; '
        "please apply your changes to the latest version and try again",
        {"name": "x", "kind": "configmaps"},
    )


@check("crud.conflict_group_text")
def _(t):
    g, _p = t.widgets()
    o = t.make(t.W(), t.widget("x"))
    t.code(t.api.patch(t.W("x"), {"spec": {"size": 5}}), 200)
    t.status(
        t.api.put(t.W("x"), o),
        409,
        "Conflict",
        f'Operation cannot be fulfilled on widgets.{g} "x": the object has been modified; '
        "please apply your changes to the latest version and try again",
        {"name": "x", "group": g, "kind": "widgets"},
    )


@check("crud.conflict_wrong_uid")
def _(t):
    o = t.make(P(t.ns, "configmaps"), cm("x"))
    b = cm("x", uid="11111111-1111-4111-8111-111111111111")
    t.status(
        t.api.put(P(t.ns, "configmaps", "x"), b),
        409,
        "Conflict",
        'Operation cannot be fulfilled on configmaps "x": StorageError: invalid object, Code: '
        "4, Key: /registry/configmaps/{}/x, "
        "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: "
        "11111111-1111-4111-8111-111111111111, UID in object meta: {}".format(t.ns, o["metadata"]["uid"]),
        {"name": "x", "kind": "configmaps"},
    )


@check("crud.resource_version_is_global_and_monotonic")
def _(t):
    seen = []
    for i in range(4):
        seen.append(int(t.make(P(t.ns, "configmaps"), cm(f"c{i}"))["metadata"]["resourceVersion"]))
        seen.append(
            int(
                t.make(P(t.ns, "secrets"), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"s{i}"}})[
                    "metadata"
                ]["resourceVersion"]
            )
        )
    t.eq(seen, sorted(set(seen)), "resourceVersions over two resources")
    t.ok(
        int(t.rv(P(t.ns, "pods"))) >= seen[-1],
        "list resourceVersion of a third resource",
        t.rv(P(t.ns, "pods")),
        f">= {seen[-1]}",
    )


@check("crud.secret_string_data")
def _(t):
    o = t.make(
        P(t.ns, "secrets"),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "hello"}},
    )
    t.eq((o["data"], o["type"], "stringData" in o), ({"a": base64.b64encode(b"hello").decode()}, "Opaque", False))


@check("crud.secret_bad_base64")
def _(t):
    r = t.api.post(
        P(t.ns, "secrets"), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "!!"}}
    )
    t.status(r, 400, "BadRequest", match="illegal base64 data at input byte 0")


@check("crud.service_defaults")
def _(t):
    o = t.make(
        P(t.ns, "services"),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
        },
    )
    s = o["spec"]
    t.ok(re.match(r"^\d+\.\d+\.\d+\.\d+$", s["clusterIP"]), "clusterIP", s["clusterIP"], "an address")
    t.eq(
        (s["type"], s["sessionAffinity"], s["ports"], s["clusterIPs"]),
        ("ClusterIP", "None", [{"protocol": "TCP", "port": 80, "targetPort": 80}], [s["clusterIP"]]),
        "defaults",
    )
    t.eq(o["status"], {"loadBalancer": {}}, "status")
    d = t.code(t.api.delete(P(t.ns, "services", "s")), 200).json
    t.eq((d["kind"], d["metadata"]["name"]), ("Service", "s"), "deleting a Service answers with the object")


@check("crud.namespace_defaults")
def _(t):
    b = t.code(t.api.get("/api/v1/namespaces/" + t.ns), 200).json
    t.eq(
        (b["spec"], b["status"], b["metadata"]["labels"]),
        ({"finalizers": ["kubernetes"]}, {"phase": "Active"}, {"kubernetes.io/metadata.name": t.ns}),
        "namespace",
    )
    t.ok(
        "default" in [i["metadata"]["name"] for i in t.api.get("/api/v1/namespaces").json["items"]], "default namespace"
    )


@check("crud.namespace_delete_terminating")
def _(t):
    t.make(P(t.ns, "configmaps"), cm("x"))
    r = t.code(t.api.delete("/api/v1/namespaces/" + t.ns), 200)
    t.eq((r.json["kind"], r.json["status"]["phase"]), ("Namespace", "Terminating"), "delete answers with the namespace")
    t.ok(r.json["metadata"].get("deletionTimestamp"), "deletionTimestamp")


@check("crud.pod_defaults")
def _(t):
    o = t.make(P(t.ns, "pods"), pod("p"))
    s, c = o["spec"], o["spec"]["containers"][0]
    t.eq(
        (
            s["restartPolicy"],
            s["dnsPolicy"],
            s["terminationGracePeriodSeconds"],
            s["schedulerName"],
            s["securityContext"],
        ),
        ("Always", "ClusterFirst", 30, "default-scheduler", {}),
        "spec defaults",
    )
    t.eq(
        (c["imagePullPolicy"], c["terminationMessagePath"], c["terminationMessagePolicy"], c["resources"]),
        ("IfNotPresent", "/dev/termination-log", "File", {}),
        "container defaults",
    )
    t.eq(o["status"], {"phase": "Pending", "qosClass": "BestEffort"}, "status")
    t.eq(o["metadata"].get("generation"), 1, "pod generation")


@check("crud.pod_immutable_fields")
def _(t):
    o = t.make(P(t.ns, "pods"), pod("p"))
    o["spec"]["restartPolicy"] = "Never"
    b = t.status(t.api.put(P(t.ns, "pods", "p"), o), 422, "Invalid")
    t.eq(
        (b["details"]["causes"][0]["reason"], b["details"]["causes"][0]["field"]),
        ("FieldValueForbidden", "spec"),
        "cause",
    )


@check("crud.deployment_defaults")
def _(t):
    b = deployment("d")
    del b["spec"]["replicas"]
    o = t.make(A("apps", "v1", t.ns, "deployments"), b)
    s = o["spec"]
    t.eq(
        (s["replicas"], s["revisionHistoryLimit"], s["progressDeadlineSeconds"], s["strategy"]),
        (1, 10, 600, {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
        "defaults",
    )
    t.eq((o["metadata"]["generation"], o["status"]), (1, {}), "generation, status")
    t.ok(
        "creationTimestamp" not in s["template"]["metadata"],
        "template creationTimestamp",
        s["template"]["metadata"],
        "absent",
    )


@check("crud.deployment_validation")
def _(t):
    b = deployment("d")
    b["spec"]["selector"] = {"matchLabels": {"other": "x"}}
    st = t.status(t.api.post(A("apps", "v1", t.ns, "deployments"), b), 422, "Invalid")
    t.eq(
        st["details"]["causes"],
        [
            {
                "reason": "FieldValueInvalid",
                "field": "spec.template.metadata.labels",
                "message": 'Invalid value: {"app":"d"}: `selector` does not match template `labels`',
            }
        ],
        "causes",
    )


@check("crud.deployment_selector_immutable")
def _(t):
    o = t.make(A("apps", "v1", t.ns, "deployments"), deployment("d"))
    for m in (o["spec"]["selector"]["matchLabels"], o["spec"]["template"]["metadata"]["labels"]):
        m["app"] = "other"
    st = t.status(t.api.put(A("apps", "v1", t.ns, "deployments", "d"), o), 422, "Invalid")
    c = st["details"]["causes"][0]
    t.eq(c["field"], "spec.selector", "field")
    t.ok(c["message"].endswith("field is immutable"), "message", c["message"])


@check("crud.replicaset")
def _(t):
    b = deployment("r")
    b["kind"] = "ReplicaSet"
    o = t.make(A("apps", "v1", t.ns, "replicasets"), b)
    t.eq((o["metadata"]["generation"], o["status"]["replicas"]), (1, 0), "generation, status.replicas")


@check("crud.lease_microtime")
def _(t):
    b = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "x"},
        "spec": {
            "holderIdentity": "me",
            "leaseDurationSeconds": 15,
            "leaseTransitions": 0,
            "acquireTime": "2024-01-02T03:04:05.123456Z",
            "renewTime": "2024-01-02T03:04:05.000000Z",
        },
    }
    s = t.make(A("coordination.k8s.io", "v1", t.ns, "leases"), b)["spec"]
    t.eq(
        (s["acquireTime"], s["renewTime"]),
        ("2024-01-02T03:04:05.123456Z", "2024-01-02T03:04:05.000000Z"),
        "MicroTime format",
    )
    b["metadata"]["name"] = "y"
    b["spec"]["renewTime"] = "2024-01-02T03:04:05Z"
    t.status(
        t.api.post(A("coordination.k8s.io", "v1", t.ns, "leases"), b),
        400,
        "BadRequest",
        match='cannot be handled as a Lease: parsing time "2024-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00"',
    )
    del b["spec"]["renewTime"]
    b["spec"]["leaseDurationSeconds"] = 0
    st = t.status(t.api.post(A("coordination.k8s.io", "v1", t.ns, "leases"), b), 422, "Invalid")
    t.eq(st["details"]["causes"][0]["field"], "spec.leaseDurationSeconds", "field")
