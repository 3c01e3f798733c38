"""Webhook configurations from the markers of a program, which are next to the handlers.

    # +kubebuilder:webhook:path=/mutate-shop-example-com-v1-order,mutating=true,failurePolicy=fail,sideEffects=None,\
groups=shop.example.com,resources=orders,verbs=create;update,versions=v1,name=morder-v1.kb.io,\
admissionReviewVersions=v1

(in one line). Stands for controller-gen's webhook.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clientgo.apimachinery.runtime import JSONObject
from clientgo.codegen.markers import Marker

MARKER = "kubebuilder:webhook"

_API_VERSION = "admissionregistration.k8s.io/v1"
_REQUIRED = ("mutating", "failurePolicy", "groups", "resources", "verbs", "versions", "name", "admissionReviewVersions")
_OPTIONAL = ("path", "url", "sideEffects", "matchPolicy", "timeoutSeconds", "reinvocationPolicy")
# How the markers write them, and how the API does.
_VERBS = {"create": "CREATE", "update": "UPDATE", "delete": "DELETE", "connect": "CONNECT", "*": "*"}
_POLICIES = {"fail": "Fail", "ignore": "Ignore"}
_SIDE_EFFECTS = {each.lower(): each for each in ("None", "NoneOnDryRun", "Some", "Unknown")}
_MATCH_POLICIES = {"exact": "Exact", "equivalent": "Equivalent"}
_REINVOCATION_POLICIES = {"never": "Never", "ifneeded": "IfNeeded"}


def configurations(
    markers: Iterable[Marker], prefix: str, service: Mapping[str, str], annotations: Mapping[str, str]
) -> list[JSONObject]:
    """Return the webhook configurations, or none without markers: first mutating, then validating, sorted by name.

    `prefix` begins the documents' names. `service` has the name and namespace of the webhooks' Service. Raises
    ValueError with the file and line of a wrong marker.
    """
    found: dict[bool, dict[str, JSONObject]] = {True: {}, False: {}}
    for marker in markers:
        marker.check((*_REQUIRED, *_OPTIONAL), _REQUIRED)
        mutating, name = marker.boolean("mutating"), marker.text("name")
        if name in found[mutating]:
            raise ValueError(f"{marker.place}: there is a webhook {name} already")
        found[mutating][name] = _webhook(marker, name, mutating, service)
    return [
        _document("Mutating" if mutating else "Validating", prefix, annotations, webhooks)
        for mutating, webhooks in found.items()
        if webhooks
    ]


def _document(
    phase: str, prefix: str, annotations: Mapping[str, str], webhooks: Mapping[str, JSONObject]
) -> JSONObject:
    metadata: JSONObject = {"name": f"{prefix}{phase.lower()}-webhook-configuration"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {
        "apiVersion": _API_VERSION,
        "kind": f"{phase}WebhookConfiguration",
        "metadata": metadata,
        "webhooks": [webhooks[name] for name in sorted(webhooks)],
    }


def _webhook(marker: Marker, name: str, mutating: bool, service: Mapping[str, str]) -> JSONObject:
    webhook: JSONObject = {
        "name": name,
        "admissionReviewVersions": marker.list("admissionReviewVersions"),
        "clientConfig": _client_config(marker, service),
        "failurePolicy": _word(marker, "failurePolicy", _POLICIES),
        "sideEffects": _word(marker, "sideEffects", _SIDE_EFFECTS, "None"),
        "rules": [_rule(marker)],
    }
    if marker.list("matchPolicy"):
        webhook["matchPolicy"] = _word(marker, "matchPolicy", _MATCH_POLICIES)
    if marker.list("timeoutSeconds"):
        seconds = marker.text("timeoutSeconds")
        if not seconds.isdecimal() or not 1 <= int(seconds[:4]) <= 30:
            raise ValueError(f"{marker.place}: timeoutSeconds is a number from 1 to 30, not {seconds!r}")
        webhook["timeoutSeconds"] = int(seconds)
    if marker.list("reinvocationPolicy"):
        if not mutating:
            raise ValueError(f"{marker.place}: reinvocationPolicy is for webhooks that mutate")
        webhook["reinvocationPolicy"] = _word(marker, "reinvocationPolicy", _REINVOCATION_POLICIES)
    return webhook


def _client_config(marker: Marker, service: Mapping[str, str]) -> JSONObject:
    path, url = marker.text("path"), marker.text("url")
    if bool(path) == bool(url):
        raise ValueError(f"{marker.place}: a path is needed, or a url, and not both")
    return {"url": url} if url else {"service": {**service, "path": path}}


def _rule(marker: Marker) -> JSONObject:
    return {
        "apiGroups": ["" if group == "core" else group for group in marker.list("groups")],
        "apiVersions": marker.list("versions"),
        "operations": [_one_of(marker, "verbs", verb, _VERBS) for verb in marker.list("verbs")],
        "resources": marker.list("resources"),
    }


def _word(marker: Marker, name: str, words: Mapping[str, str], default: str = "") -> str:
    return _one_of(marker, name, marker.text(name, default), words)


def _one_of(marker: Marker, name: str, word: str, words: Mapping[str, str]) -> str:
    if word.lower() not in words:
        raise ValueError(f"{marker.place}: {name} is one of {', '.join(words.values())}, not {word!r}")
    return words[word.lower()]
