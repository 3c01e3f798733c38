"""Markers in comments, and the roles and webhook configurations that are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clientgo.codegen import markers, rbac, webhooks

RULES = """
# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
class A:
    # +kubebuilder:rbac:groups=apps,resources=deployments,verbs=watch;get
    text = "# +kubebuilder:rbac:groups=apps,resources=secrets,verbs=get"
    x = 1  # +kubebuilder:rbac:groups=core,resources=pods,verbs=*;get
# +kubebuilder:rbac:groups="",resources={pods/log,pods/exec},verbs=*
# +kubebuilder:rbac:urls=/metrics,verbs=get
# +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=mine,verbs=update,namespace=here
# +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch
# +kubebuilder:rbac:groups=extensions,resources=deployments;statefulsets,verbs=list;get;watch
# A comment about +kubebuilder:rbac:groups=apps,resources=secrets,verbs=get
"""
WEBHOOK = (
    "# +kubebuilder:webhook:path=/mutate-a,mutating=true,failurePolicy=fail,sideEffects=None,groups=g.io,resources=as,"
    "verbs=create;update,versions=v1,name=ma.g.io,admissionReviewVersions=v1"
)
SERVICE = {"name": "webhooks", "namespace": "ns"}


def read(folder: Path, text: str, name: str) -> list[markers.Marker]:
    (folder / "program.py").write_text(text)
    return markers.read_all(folder, folder, name)


def roles(folder: Path, text: str) -> list[Any]:
    return rbac.roles(read(folder, text, rbac.MARKER), "manager")


def configurations(folder: Path, text: str) -> list[Any]:
    return webhooks.configurations(read(folder, text, webhooks.MARKER), "shop-", SERVICE, {})


def test_rules_that_differ_in_one_respect_become_one(tmp_path: Path) -> None:
    cluster, here = roles(tmp_path, RULES)

    assert cluster["kind"] == "ClusterRole"
    assert cluster["metadata"] == {"name": "manager"}
    assert cluster["rules"] == [
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods", "pods/exec", "pods/log"], "verbs": ["*"]},
        {
            "apiGroups": ["apps", "extensions"],
            "resources": ["deployments", "statefulsets"],
            "verbs": ["get", "list", "watch"],
        },
    ]
    assert (here["kind"], here["metadata"]) == ("Role", {"name": "manager", "namespace": "here"})
    assert here["rules"] == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["mine"], "verbs": ["update"]}
    ]


def test_a_rule_may_belong_to_a_role_of_another_name(tmp_path: Path) -> None:
    rule = "# +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get"
    found = roles(tmp_path, f"{rule}\n{rule},roleName=other\n{rule},roleName=other,namespace=here\n")
    assert [(role["kind"], role["metadata"]["name"]) for role in found] == [
        ("ClusterRole", "manager"),
        ("ClusterRole", "other"),
        ("Role", "other"),
    ]


def test_a_program_without_markers_has_no_role(tmp_path: Path) -> None:
    assert roles(tmp_path, "print()") == []
    assert rbac.empty("manager")["rules"] == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("groups=apps,resources=deployments", "missing argument 'verbs'"),
        ("groups=apps,verbs=get", "groups and resources are needed, or urls"),
        ("urls=/a,groups=apps,verbs=get", "urls are of no group"),
        ("groups=apps,resources=a,verbs=get,color=red", "unknown argument 'color'"),
        ("groups=apps,groups=core,resources=a,verbs=get", "groups is there twice"),
        ("groups=apps,resources=a;,verbs=get", "a resource or verb is empty"),
        ("groups=apps,resources=a,verbs=get;", "a resource or verb is empty"),
        ("groups={apps,resources=a", "expected } at"),
        ("groups=apps resources", "missing argument 'verbs'"),
        ("groups=\"a\"b", "expected a comma at 'b'"),
        ("groups", "expected name=value at 'groups'"),
        ("groups=apps,resources=a,verbs=get,namespace=a;b", "one namespace is needed, there are 2"),
    ],
)
def test_a_bad_marker_is_reported_with_its_place(tmp_path: Path, arguments: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^program\.py:2: ") as caught:
        roles(tmp_path, f"\n# +kubebuilder:rbac:{arguments}\n")

    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "warning"),
    [
        ("groups=apps,resources=deployments,verbs=get;read", "the verb 'read' grants nothing: no request has it"),
        ("groups=apps,resources=deployments,verbs=Get", "the verb 'Get' grants nothing"),
        ("groups=apps,resources=deployments,verbs=post", "the verb 'post' grants nothing"),
        ("groups=apps,resources=deployments,verbs={get,lsit}", "the verb 'lsit' grants nothing"),
        ('groups=apps,resources=deployments,verbs="get list"', "the verb 'get list' grants nothing"),
        ("urls=/metrics,verbs=list", "the verb 'list' grants nothing: no request has it; use get, post,"),
        ("urls=metrics,verbs=get", "the URL 'metrics' grants nothing: a request's path begins with a slash"),
        ("groups=apps,resources=Deployments,verbs=get", "'Deployments' in resources grants nothing"),
        ("groups=Apps,resources=deployments,verbs=get", "'Apps' in groups grants nothing"),
        ("groups=v1,resources=pods,verbs=get", "'v1' in groups grants nothing: a group has no version; use 'core'"),
        ("groups=apps/v1,resources=a,verbs=get", "'apps/v1' in groups grants nothing: a group has no version; use"),
        ("groups=b.io/v2alpha1,resources=a,verbs=get", "'b.io/v2alpha1' in groups grants nothing"),
        ("groups=core,resources=pod,verbs=get", "'pod' in resources grants nothing: resources are plural; use 'pods'"),
        ("groups=apps,resources=deploy;daemonsets,verbs=get", "'deploy' in resources grants nothing: resources are"),
        ("groups=core,resources=podz;secrets,verbs=get", "'podz' in resources grants nothing: use 'pods'"),
        ("groups=batch,resources=cronjob/status,verbs=get", "'cronjob/status' in resources grants nothing: resources"),
        ("groups=core,resources=deployments,verbs=get", "'deployments' in resources grants nothing: it is a resource of"
         " 'apps'; use groups=apps"),
        ("groups=apps;batch,resources=wombats,verbs=get", "'wombats' in resources grants nothing: 'apps' and 'batch'"),
        ("groups=core,resources=pods/logs,verbs=get", "'pods/logs' in resources grants nothing: use 'pods/log'"),
        ("groups=apps,resources=deployments/finalizer,verbs=update", "'deployments/finalizer' in resources grants"),
        ("groups=core,resources=pods/*,verbs=get", "'pods/*' in resources grants nothing: name each subresource"),
    ],
)
def test_a_value_that_grants_nothing_is_logged_with_its_place_and_the_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, arguments: str, warning: str
) -> None:
    roles(tmp_path, f"\n# +kubebuilder:rbac:{arguments}\n")

    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"program.py:2: {warning}")
    assert caplog.records[0].levelname == "WARNING"


@pytest.mark.parametrize(
    "comment",
    [
        "# +kubebuilder:rbac groups=apps,resources=deployments,verbs=get",
        "# +kubebuilder:RBAC:groups=apps,resources=deployments,verbs=get",
        "# + kubebuilder:rbac:groups=apps,resources=deployments,verbs=get",
        "# kubebuilder:rbac:groups=apps,resources=deployments,verbs=get",
        "#kubebuilder:rbac: groups = apps, resources=deployments, verbs=get",
        "# +kubebuilder: rbac:verbs=get,groups=apps,resources=deployments",
    ],
)
def test_a_comment_that_looks_like_a_marker_is_logged_with_the_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, comment: str
) -> None:
    assert roles(tmp_path, f"\n{comment}\n") == []
    (line,) = caplog.messages
    assert line == "program.py:2: the comment has no effect: a marker begins with '# +kubebuilder:rbac:'"


@pytest.mark.parametrize(
    "source",
    [
        "# The markers of kubebuilder:rbac are comments.",
        "# See +kubebuilder:rbac:groups=apps in the guide.",
        "# kubebuilder:rbac grants the rights",
        "x = '+kubebuilder:RBAC:verbs=get'",
        "# +kubebuilder:rbacs:verbs=get",
        "kubebuilder = (",
    ],
)
def test_other_comments_about_markers_are_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, source: str
) -> None:
    assert roles(tmp_path, f"{source}\n") == []
    assert caplog.messages == []


@pytest.mark.parametrize(
    "arguments",
    [
        "groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete;deletecollection;*",
        "groups=certificates.k8s.io,resources=signers,verbs=approve;sign;attest",
        "groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind;escalate",
        "groups=authentication.k8s.io,resources=users,verbs=impersonate;impersonate:user-info;use",
        "groups=shop.example.com,resources=orders,verbs=shop.example.com/refund",
        "urls=/metrics;/healthz/*,verbs=get;post;put;patch;delete;head;options;*",
        "urls=*,verbs=*",
        "groups=shop.example.com,resources=pod;podz;order/logs,verbs=get",
        "groups=core;shop.example.com,resources=pods;orders,verbs=get",
        "groups=core,resources=pods/log;nodes/metrics;nodes/stats;namespaces/finalize;endpoints/restricted,verbs=get",
        "groups=apps;batch,resources=deployments;jobs;*/scale;deployments/finalizers,verbs=get",
        "groups=core;apps;policy,resources=*,verbs=*",
        "groups=*,resources=podz,verbs=get",
        "groups=core,resources=users;groups;serviceaccounts;serviceaccounts/token;bindings,verbs=impersonate;create",
        "groups=resource.k8s.io,resources=resourceclaims/driver;resourceclaims/binding;devicetaintrules,verbs=get",
        "groups=core;events.k8s.io,resources=events,verbs=create;patch",
        "groups=extensions,resources=ingresses;deployments,verbs=get",
        "groups=policy,resources=podsecuritypolicies,verbs=use",
    ],
)
def test_values_that_api_servers_check_are_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, arguments: str
) -> None:
    assert roles(tmp_path, f"# +kubebuilder:rbac:{arguments}\n") != []
    assert caplog.records == []


def test_a_file_that_is_not_python_is_reported_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^program\.py: "):
        roles(tmp_path, "# +kubebuilder:rbac:verbs=get\nx = '''")
    (tmp_path / "program.py").write_bytes(b"# +kubebuilder:rbac:\xff")
    with pytest.raises(ValueError, match=r"^program\.py: "):
        markers.read_all(tmp_path, tmp_path, rbac.MARKER)


def test_a_webhook_is_configured_as_its_marker_says(tmp_path: Path) -> None:
    validating = WEBHOOK.replace("mutating=true", "mutating=false").replace("fail,", "Ignore,") + ",timeoutSeconds=5"

    mutating, validate = configurations(tmp_path, f"{WEBHOOK}\n{validating}\n")

    assert mutating["metadata"] == {"name": "shop-mutating-webhook-configuration"}
    assert mutating["webhooks"] == [
        {
            "name": "ma.g.io",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {**SERVICE, "path": "/mutate-a"}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "rules": [
                {"apiGroups": ["g.io"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["as"]}
            ],
        }
    ]
    assert validate["kind"] == "ValidatingWebhookConfiguration"
    assert (validate["webhooks"][0]["failurePolicy"], validate["webhooks"][0]["timeoutSeconds"]) == ("Ignore", 5)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("mutating=true", "mutating=perhaps", "mutating is true or false, not 'perhaps'"),
        ("failurePolicy=fail", "failurePolicy=retry", "failurePolicy is one of Fail, Ignore, not 'retry'"),
        ("verbs=create", "verbs=get", "verbs is one of CREATE, UPDATE, DELETE, CONNECT, *, not 'get'"),
        ("path=/mutate-a", "url=https://a,path=/b", "a path is needed, or a url, and not both"),
        ("path=/mutate-a,", "", "a path is needed, or a url, and not both"),
        ("name=ma.g.io,", "", "missing argument 'name'"),
        ("versions=v1,", "versions=v1,timeoutSeconds=31,", "timeoutSeconds is a number from 1 to 30, not '31'"),
        ("versions=v1,", "versions=v1,timeoutSeconds=" + "1" * 9999 + ",", "timeoutSeconds is a number from 1 to 30"),
        ("mutating=true", "mutating=false,reinvocationPolicy=Never", "reinvocationPolicy is for webhooks that mutate"),
    ],
)
def test_an_invalid_webhook_is_reported_with_its_place(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in WEBHOOK
    with pytest.raises(ValueError, match=r"^program\.py:1: ") as caught:
        configurations(tmp_path, WEBHOOK.replace(old, new))

    assert complaint in str(caught.value)


def test_webhooks_come_by_name_and_only_the_configurations_there_is_something_for(tmp_path: Path) -> None:
    second = WEBHOOK.replace("name=ma", "name=la").replace("versions=v1,", "versions=v1,timeoutSeconds=30,")
    (found,) = configurations(tmp_path, f"{WEBHOOK}\n{second}\n")
    assert found["kind"] == "MutatingWebhookConfiguration"
    assert [(each["name"], each.get("timeoutSeconds")) for each in found["webhooks"]] == [
        ("la.g.io", 30),
        ("ma.g.io", None),
    ]
    assert configurations(tmp_path, "print()") == []


def test_two_webhooks_of_one_name_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"program\.py:2: there is a webhook ma\.g\.io already"):
        configurations(tmp_path, f"{WEBHOOK}\n{WEBHOOK}\n")
