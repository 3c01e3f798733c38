"""The values of Secrets: no recording, page or terminal shows them, whatever brings the Secrets."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from virtualserver import SILENCE, Call, Reply, VirtualServer, document, event, failure

from clientgo import context, dynamic, kubernetes, metadata, tour
from clientgo.api.core import v1 as corev1
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.apis.meta.v1.unstructured import Unstructured
from clientgo.apimachinery.runtime.schema import GroupVersionResource
from clientgo.dynamic import dynamicinformer
from clientgo.golang import callers
from clientgo.informers.core.v1.secret import new_secret_informer
from clientgo.metadata import metadatainformer
from clientgo.rest import Config
from clientgo.testing import synctest
from clientgo.tools import cache
from clientgo.tour import secrecy as secrecy_module
from clientgo.tour.secrecy import Secrecy, item_text, resource_is_secret
from clientgo.util import workqueue

VALUE = "Canary-of-the-coal-mine"
CODED = base64.b64encode(VALUE.encode()).decode()
SECRETS = GroupVersionResource("", "v1", "secrets")
MANIFEST = json.dumps({"kind": "Secret", "data": {"a": CODED}})
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def secret(name: str, version: int, kind: str, *, with_data: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "name": name,
        "namespace": "default",
        "resourceVersion": str(version),
        "uid": f"uid-{name}",
    }
    about["annotations"] = {
        LAST_APPLIED: json.dumps({"data": {"password": CODED}}),
        "example.com/old-password": VALUE,
        "example.com/more": CODED,
    }
    about["managedFields"] = [{"manager": "x", "fieldsV1": {"f:data": {f'v:"{VALUE}"': {}}}}]
    obj: dict[str, Any] = {"apiVersion": "v1" if with_data else "meta.k8s.io/v1", "kind": kind, "metadata": about}
    if with_data:
        obj |= {"data": {"password": CODED}, "stringData": {"plain": VALUE}, "type": "Opaque"}
    return obj


def by_value(obj: Any) -> list[str]:
    """Return a user-defined index."""
    document = obj.to_dict()
    return [*document.get("data", {}).values(), document["metadata"]["annotations"]["example.com/old-password"]]


def typed(config: Config) -> cache.SharedIndexInformer:
    return new_secret_informer(kubernetes.new_for_config(config), "", 0.0, {"value": by_value})


def unstructured(config: Config) -> cache.SharedIndexInformer:
    client = dynamic.new_for_config(config)
    indexers: cache.Indexers = {"value": by_value}
    return dynamicinformer.new_filtered_dynamic_informer(client, SECRETS, "", 0.0, indexers, None).informer()


def only_metadata(config: Config) -> cache.SharedIndexInformer:
    client = metadata.new_for_config(config)
    indexers: cache.Indexers = {"value": by_value}
    return metadatainformer.new_filtered_metadata_informer(client, SECRETS, "", 0.0, indexers, None).informer()


def undescribed(config: Config) -> cache.SharedIndexInformer:
    """Return an informer that learns its resource only from its requests."""
    resource = dynamic.new_for_config(config).resource(SECRETS).namespace("default")
    list_watch = cache.ListWatch(list_with_context_func=resource.list, watch_func_with_context=resource.watch)
    return cache.new_shared_index_informer(list_watch, Unstructured(), 0.0, {"value": by_value})


@dataclass
class Case:
    make: Callable[[Config], cache.SharedIndexInformer]
    kind: str
    with_data: bool = True

    def answer(self, call: Call) -> Reply:
        def one(name: str, version: int) -> dict[str, Any]:
            return secret(name, version, self.kind, with_data=self.with_data)

        if "sendInitialEvents" in call.query:
            return failure(422, "Invalid")
        if call.verb == "list":
            items = [one("a", 1), one("b", 2)]
            about = {"apiVersion": "v1", "kind": f"{self.kind}List", "metadata": {"resourceVersion": "2"}}
            return document(200, {**about, "items": items})
        changes = [("MODIFIED", one("a", 3)), ("DELETED", one("b", 4)), ("ADDED", one("c", 5))]
        return Reply(pieces=[*((1.0, event(kind, obj)) for kind, obj in changes), SILENCE])


CASES = {
    "typed": Case(typed, "Secret"),
    "unstructured": Case(unstructured, "Secret"),
    "unstructured that claims another kind": Case(unstructured, "Harmless"),
    "metadata": Case(only_metadata, "PartialObjectMetadata", with_data=False),
    "undescribed that claims another kind": Case(undescribed, "Harmless"),
}


class Careless:
    """A handler of a program that puts values into its errors, and objects into its queue."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        self._queue.add(Plain(cache.DeletedFinalStateUnknown("default/x", obj)))
        raise ValueError(f"cannot use {obj.to_dict()}")

    def on_update(self, old_obj: Any, new_obj: Any) -> None:
        raise KeyError(new_obj.to_dict()["metadata"]["annotations"]["example.com/more"])

    def on_delete(self, obj: Any) -> None:
        self._queue.add_after(obj.get_name(), 100.0)


def run(case: Case, folder: Path, *, attach_first: bool) -> tuple[str, list[Any]]:
    """Return the content of the case's recording, and everything that the page received."""
    sent: list[Any] = []
    with synctest.bubble() as bubble:
        live = tour.Live()
        view = tour.LiveView(live)
        queue: Any = workqueue.new_typed_rate_limiting_queue(workqueue.default_typed_controller_rate_limiter())
        server = VirtualServer(bubble, case.answer)
        with tour.record(folder / "r"):
            informer = case.make(Config(host="http://virtual", transport=server))
            informer.add_event_handler(Careless(queue))
            ctx, cancel = context.with_cancel(context.background())
            thread = threading.Thread(target=informer.run_with_context, args=(ctx,), name="informer", daemon=True)
            if attach_first:
                live.attach()
            thread.start()
            for number in range(6):
                bubble.sleep(1.0)
                if number == 2 and not attach_first:
                    live.watch(informer, queue)
                    live.attach()
                if number < 2 and not attach_first:
                    continue
                sent += [view.paint(), view.look(0), *(view.object(0, f"default/{name}") for name in "abc")]
            cancel()
            queue.shut_down()
            thread.join()
        live.detach()
    return (folder / "r").read_text(), sent


# Attached late, nothing tells the resource of a request that was made before, if its ListerWatcher has no description.
@pytest.mark.parametrize(
    ("case", "attach_first"),
    [
        pytest.param(case, first, id=f"{name}-{first}")
        for name, case in CASES.items()
        for first in (True, False)
        if first or case.make is not undescribed
    ],
)
def test_no_value_of_a_secret_reaches_a_recording_or_the_page(tmp_path, caplog, case, attach_first):
    recorded, sent = run(case, tmp_path, attach_first=attach_first)
    shown = json.dumps(sent)
    for text in (VALUE, CODED):
        assert text not in recorded
        assert text not in shown
    # The rest is there: what happened to which object, and that something is hidden.
    for key in ("default/a", "default/c"):
        assert key in recorded and key in shown
    assert base64.b64encode(b"hidden ").decode()[:8] in recorded


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "List", "items": [secret("a", 1, "Secret", with_data=True)]},
        {"kind": "SecretList", "items": [secret("a", 1, "", with_data=True)]},
        {"kind": "Table", "rows": [{"cells": ["a"], "object": secret("a", 1, "Secret", with_data=True)}]},
        {"kind": "Application", "spec": {"manifest": json.dumps(secret("a", 1, "Secret", with_data=True))}},
        {"kind": "ConfigMap", "data": {"x.yaml": f"apiVersion: v1\nkind: Secret\nstringData:\n  a: {VALUE}\n"}},
        {"kind": "X", "metadata": {"annotations": {LAST_APPLIED: MANIFEST}}},
        {"kind": "X", "spec": json.loads('{"a":' * 150 + MANIFEST + "}" * 150)},
    ],
    ids=lambda value: value["kind"],
)
def test_a_secret_inside_another_object_is_hidden(value):
    shown = json.dumps(Secrecy().shown(Unstructured({"apiVersion": "v1", **value})))
    assert VALUE not in shown and CODED not in shown


NOTE = {"metadata": {"name": "a", "annotations": {"example.com/note": VALUE}}}
PARTIAL = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", **NOTE}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(PARTIAL, id="metadata without a class"),
        pytest.param({"kind": "PartialObjectMetadataList", "items": [NOTE]}, id="metadata in a list"),
        pytest.param({"kind": "Table", "rows": [{"cells": ["a"], "object": PARTIAL}]}, id="metadata in a table"),
        pytest.param({"kind": "Table", "rows": [{"cells": ["a"], "object": NOTE}]}, id="a table's row without a kind"),
        pytest.param({"kind": "X", "spec": {"kind": "Table", "rows": [{"object": NOTE}]}}, id="a nested table"),
        pytest.param({"kind": "SecretList", "items": None, "more": [{"data": {"a": CODED}}]}, id="a list's field"),
        pytest.param({"kind": "X", "spec": {"kind": "Secret", "value": CODED}}, id="a field of no Secret"),
        pytest.param({"kind": "X", "spec": {"kind": "Secret", "name": {"a": CODED}}}, id="a reference that is none"),
        pytest.param({"kind": "X", "spec": json.loads('{"a":' * 700 + MANIFEST + "}" * 700)}, id="deep"),
    ],
)
def test_metadata_and_secrets_of_other_shapes_are_hidden(value):
    for depth in range(0, 300, 50):  # of the caller's stack
        shown = json.dumps(_called_at(depth, lambda: Secrecy().shown(Unstructured({"apiVersion": "v1", **value}))))
        assert VALUE not in shown and CODED not in shown


def _called_at(depth: int, fn: Callable[[], Any]) -> Any:
    return fn() if depth == 0 else _called_at(depth - 1, fn)


@pytest.mark.parametrize(
    "typed",
    [
        metav1.PartialObjectMetadataList.from_dict({"items": [NOTE]}),
        metav1.Table.from_dict({"rows": [{"cells": ["a"], "object": PARTIAL}]}),
    ],
)
def test_metadata_of_secrets_inside_typed_lists_is_hidden(typed):
    shown = json.dumps(Secrecy().shown(typed))
    assert VALUE not in shown and "annotations" in shown


@pytest.mark.parametrize(
    "form",
    [
        "kind: !!str Secret\ndata: {a: %s}",
        "kind: !<tag:yaml.org,2002:str> Secret\ndata: {a: %s}",
        "kind: &name Secret\ndata: {a: %s}",
        "kind: # of what\n  Secret\ndata: {a: %s}",
        "kind: >-\n  Secret\ndata: {a: %s}",
        "? kind\n: Secret\ndata: {a: %s}",
        'kind: {{ "Secret" }}\ndata: {a: %s}',
        '{"\\u006bind":"\\u0053ecret","data":{"a":"%s"}}',
        '{"kind"=>"Secret","data"=>{"a"=>"%s"}}',
        'kind = "Secret"\ndata = { a = "%s" }',
        "&v1.Secret{Data: map[string]string{a: %s}}",
        "corev1.Secret{StringData: map[string]string{a: %s}}",
        'kind: "S\\x65cret"\ndata: {a: %s}',
        '"k\\x69nd": Secret\ndata: {a: %s}',
        'kind: "Sec\\\n  ret"\ndata: {a: %s}',
        "x: &name Secret\nkind: *name\ndata: {a: %s}",
        "{ kind+:: 'Secret', data: { a: '%s' } }",
        '{\\"kind\\":\\"SecretList\\",\\"items\\":[{\\"data\\":{\\"a\\":\\"%s\\"}}]}',
    ],
)
def test_a_manifest_is_found_in_every_notation(form):
    shown = Secrecy().shown(corev1.ConfigMap(data={"x": form % CODED, "y": "kind: Secretary, kind of Secret"}))
    assert CODED not in json.dumps(shown) and shown["data"]["y"] == "kind: Secretary, kind of Secret"


@pytest.mark.parametrize(
    "written",
    [
        *(json.dumps, ascii, repr, quote, quote_plus, str.encode),
        lambda text: json.dumps(json.dumps(text)),
        lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    ],
)
def test_a_value_is_found_in_a_text_as_python_json_and_urls_write_it(written):
    value = 'päss "w%rd"'
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": value})])
    text = secrecy.scrubbed(f"cannot use {written(value)} here")
    assert "(hidden)" in text and "w%" not in text and "w%25" not in text and "w%rd" not in text
    assert text.startswith("cannot use ") and text.endswith(" here")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Token %s",
        "authorization: [Bearer %s]",
        "{'Authorization': 'Negotiate %s'}",
        '"Cookie": "session=%s"',
        "X-Auth-Token: %s",
        'got header Bearer "%s"',
        "Bearer%%20%s",
        "bearer_token: %s",
        "https://host/api?x=1&token=%s&y=2",
        'access_token="%s"',
        '{\\"id_token\\": \\"%s\\"}',
        "kubectl --token %s get pods",
        "password=%s",
        "client_secret: %s",
        "X-Amz-Signature=%s",
        "-----BEGIN EC PRIVATE KEY-----\n%s\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\n%s",
        "k8s-aws-v1.%s",
        "sha256~%s",
    ],
)
def test_no_credential_stays_in_a_text(text):
    scrubbed = Secrecy().scrubbed(f"before {text % 'Zm9vYmFyYmF6'} ")
    assert "Zm9vYmFyYmF6" not in scrubbed and "(hidden)" in scrubbed and scrubbed.startswith("before ")


@pytest.mark.parametrize(
    "text",
    [
        'secrets "a" not found',
        'failed to get secret: secrets "a" is forbidden: User "b" cannot get resource "secrets"',
        "the server has asked for the client to provide credentials",
        "invalid token: EOF",
        "Get https://127.0.0.1:1/api/v1/pods: dial tcp: connection refused",
        "a Bearer of news, the basic idea",
    ],
)
def test_an_ordinary_error_stays_as_it_is(text):
    assert Secrecy().scrubbed(text) == text


def test_the_values_that_came_last_are_remembered():
    """A program may see more Secrets than the tour can keep."""
    secrecy = Secrecy()
    for number in range(25):
        values = {f"k{each}": f"value-{number:02}-{each:03}" for each in range(1000)}
        secrecy.learn([corev1.Secret(string_data=values)])
    assert "value" not in secrecy.scrubbed("value-24-999 value-24-000 value-20-000")
    assert secrecy.scrubbed("value-00-000") == "value-00-000"


def test_an_object_that_speaks_of_a_secret_is_shown_as_it_is():
    reference = {"apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Secret", "name": "a"}}
    assert Secrecy().shown(Unstructured(dict(reference))) == reference


def test_the_end_of_a_streamed_list_stays_visible():
    about = metav1.ObjectMeta(annotations={metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"}, resource_version="7")
    shown = Secrecy().shown(corev1.Secret(metadata=about), is_secret=True)
    assert shown["metadata"]["annotations"] == {metav1.INITIAL_EVENTS_ANNOTATION_KEY: "true"}
    assert shown["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize(
    ("path", "is_secret"),
    [
        ("http://x/api/v1/secrets", True),
        ("http://x/api/v1/secrets?watch=true", True),
        ("http://x/k8s/clusters/c1/api/v1/namespaces/default/secrets/a", True),
        ("http://x/api/v1/watch/namespaces/default/secrets", True),
        ("http://x/apis/example.com/v1/namespaces/default/secrets", True),
        ("http://x/api/v1/namespaces/secrets", False),
        ("http://x/api/v1/namespaces/secrets/pods", False),
        ("http://x/api/v1/pods?fieldSelector=secrets", False),
        ("http://x/apis/example.com/v1/secretstores", False),
        ("http://x/api/v1/namespaces/default/%73ecrets/a", True),
        ("http://x/api/v1/pods?fieldSelector=/api/v1/secrets", False),
    ],
)
def test_the_resource_of_a_request_says_what_is_secret(path, is_secret):
    assert resource_is_secret(path) is is_secret


class Plain:
    def __init__(self, obj: Any) -> None:
        self.obj = obj

    def __repr__(self) -> str:
        return f"Plain({self.obj!r})"


def test_an_object_in_a_queue_is_shown_by_its_key():
    held = corev1.Secret(metadata=metav1.ObjectMeta(name="a", namespace="default"), data={"a": VALUE.encode()})
    items = [held, cache.DeletedFinalStateUnknown("default/a", held), (1, held), Plain(held), Plain([(held,)])]
    items += [VALUE.encode(), Plain({"a": VALUE})]
    texts = [item_text(item) for item in items]
    assert VALUE not in repr(texts)
    assert texts[:4] == ["default/a", "default/a", "<tuple>", "<Plain>"]
    plain = ["default/a", cache.ObjectName("default", "a"), 7, ("a", 1), Plain("a")]
    assert [item_text(item) for item in plain] == ["default/a", "default/a", "7", "('a', 1)", "Plain('a')"]


# --- other spellings and encodings ---

_VALUE = "hunter2-value"
_DATA = {"p": base64.b64encode(_VALUE.encode()).decode()}
_KINDS = ("secret", "SECRET", "sEcret", "Secrets")


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("key", ["kind", "Kind"])
def test_a_secret_is_known_in_every_letter_case(kind: str, key: str) -> None:
    secret = {key: kind, "data": _DATA, "stringData": {"a": _VALUE}}
    documents = [
        {"kind": kind, "apiVersion": "v1", "data": _DATA},
        {"kind": f"{kind.rstrip('s')}list", "apiVersion": "v1", "items": [{"data": _DATA}]},
        {"kind": "List", "apiVersion": "v1", "items": [secret]},
        {"kind": "Foo", "apiVersion": "x/v1", "spec": {"template": secret}},
        {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": [{"cells": [], "object": secret}]},
        {"kind": "ConfigMap", "apiVersion": "v1", "data": {"m": json.dumps(secret)}},
        {"kind": "ConfigMap", "apiVersion": "v1", "data": {"m": f"{key}: {kind}\nstringData:\n  a: {_VALUE}\n"}},
    ]
    for made in documents:
        shown = json.dumps(Secrecy().shown(Unstructured.from_dict(made)))
        assert _VALUE not in shown and _DATA["p"].rstrip("=") not in shown, made


def test_the_items_of_a_list_from_a_source_of_secrets_need_no_kind() -> None:
    made = {"kind": "List", "apiVersion": "v1", "items": [{"metadata": {"name": "s"}, "data": _DATA}]}
    shown = Secrecy().shown(Unstructured.from_dict(made), is_secret=True)
    assert shown["items"][0]["metadata"] == {"name": "s"}
    assert _DATA["p"] not in json.dumps(shown)


@pytest.mark.parametrize("value", [_VALUE.encode(), b"\x00\x01\xfe\xffbin"])
def test_a_value_is_hidden_where_its_bytes_are_printed(value: bytes) -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret.from_dict({"data": {"p": base64.b64encode(value).decode()}})])
    numbers = list(value)
    texts = [value.hex(), value.hex().upper(), value.hex(":"), value.hex(" "), f"0x{value.hex()}", str(numbers)]
    texts += ["".join(f"\\x{byte:02x}" for byte in value), f"[{' '.join(map(str, numbers))}]"]
    for text in texts:
        assert secrecy.scrubbed(f"failed: {text} end") == "failed: (hidden) end"
        assert "(hidden)" not in Secrecy().scrubbed(f"failed: {text} end")


@pytest.mark.parametrize("text", ["password=ab1", "token=abc", "--token=abc12", "pwd=secret1", "PASSWORD='a b c'"])
def test_a_short_credential_is_hidden(text: str) -> None:
    assert "(hidden)" in Secrecy().scrubbed(f"x {text} y") and text not in Secrecy().scrubbed(f"x {text} y")


@pytest.mark.parametrize("path", ["/api/v1/namespaces/a/SECRETS", "/api/v1/Secrets/x", "/api/v1//secrets"])
def test_a_path_of_secrets_is_known_in_every_spelling(path: str) -> None:
    assert resource_is_secret(path)


def twice(coding: Callable[[bytes], bytes]) -> Callable[[str], str]:
    return lambda text: coding(coding(text.encode())).decode()


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(str.upper, id="upper case"),
        pytest.param(str.lower, id="lower case"),
        pytest.param(str.title, id="title case"),
        pytest.param(twice(base64.b64encode), id="base64 of base64"),
        pytest.param(twice(base64.urlsafe_b64encode), id="URL-safe base64 of base64"),
        pytest.param(lambda text: quote(quote(text, safe=""), safe=""), id="a URL in a URL"),
        pytest.param(lambda text: quote(base64.b64encode(text.encode()), safe=""), id="base64 in a URL"),
        pytest.param(lambda text: base64.b64encode(quote(text, safe="").encode()).decode(), id="a URL in base64"),
        pytest.param(lambda text: base64.b64encode(b"root:" + text.encode()).decode(), id="basic authentication"),
        pytest.param(lambda text: "\\n" + twice(base64.b64encode)(text), id="after an escaped line break"),
        pytest.param(lambda text: f"a/{twice(base64.b64encode)(text)}/keys", id="in a path"),
        pytest.param(lambda text: f"key={twice(base64.b64encode)(text)}", id="in a query"),
    ],
)
@pytest.mark.parametrize("value", ["hunter22", "Canary-of/the+coal?", "Straße nach ÖLBERG", "a\nb\nc d"])
def test_a_value_is_found_in_any_letter_case_and_encoded_twice(value: str, written: Callable[[str], str]) -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(data={"a": value.encode()})])
    scrubbed = secrecy.scrubbed(f"cannot use {written(value)} here")
    assert "(hidden)" in scrubbed and written(value) not in scrubbed
    assert scrubbed.startswith("cannot use ") and scrubbed.endswith(" here")


def test_a_text_that_was_seen_before_its_value_is_scrubbed_then() -> None:
    secrecy = Secrecy()
    assert secrecy.scrubbed(f"cannot use {VALUE}") == f"cannot use {VALUE}"
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    assert secrecy.scrubbed(f"cannot use {VALUE}") == "cannot use (hidden)"


def test_what_is_too_much_to_decode_is_hidden() -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    text = " ".join(f"number-{each}" for each in range(10_000))
    assert secrecy.scrubbed(f"short words stay {text}").startswith("short words stay number-0 number-1 ")
    assert secrecy.scrubbed(f"{text} {twice(base64.b64encode)(VALUE)}").endswith("(hidden) (hidden)")


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_value_at_the_end_of_what_is_decoded_is_found(more: int) -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    written = twice(base64.b64encode)(VALUE)
    text = "x" * (secrecy_module._MOST_ENCODED - len(written) + more)
    assert secrecy.scrubbed(f"{text} {written}") == f"{text} (hidden)"


def test_values_that_overlap_are_hidden_as_a_whole() -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": "PassWord", "b": "password-of-root", "c": "root!"})])
    assert secrecy.scrubbed("a PASSWORD-OF-ROOT b pass-word c Root! d") == "a (hidden) b pass-word c (hidden) d"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("postgres://user:pw@host/db", "postgres://(hidden)@host/db"),
        ("https://token@host/", "https://(hidden)@host/"),
        ("redis://:pw@host:6379/0", "redis://(hidden)@host:6379/0"),
        ("https://user:p@w@host/x", "https://(hidden)@host/x"),
        ("https://user:p/w@host:80/x", "https://(hidden)@host:80/x"),
        ("smtp://a:b@c,http://x@y/z", "smtp://(hidden)@c,http://(hidden)@y/z"),
        ('parse "https://user:p w@host": invalid', 'parse "https://(hidden)@host": invalid'),
        (r"http:\/\/user:pw@host", r"http:\/\/(hidden)@host"),
        ("?next=https%3A%2F%2Fuser%3Apw%40host%2F", "?next=https%3A%2F%2F(hidden)%40host%2F"),
        ("dial user:pw@host:5432: refused", "dial (hidden)@host:5432: refused"),
        ("user:pw@tcp(host:3306)/db", "(hidden)@tcp(host:3306)/db"),
        ("user:pw:more@host", "(hidden)@host"),
    ],
)
def test_the_user_and_the_password_of_a_url_are_hidden(text: str, wanted: str) -> None:
    assert Secrecy().scrubbed(f"cannot reach {text}") == f"cannot reach {wanted}"


@pytest.mark.parametrize(
    "text",
    [
        'image "nginx:1.25@sha256:0123456789abcdef" is not there',
        "registry:5000/nginx@sha256:0123456789abcdef",
        "http://host:80/path?mail=a@b.c",
        "http://[::1]:80/a@b",
        "write to mailto:a@b.c or a@b.c, git@github.com:a/b",
        "at 12:30 @ noon",
    ],
)
def test_a_text_with_an_at_sign_and_no_password_stays_as_it_is(text: str) -> None:
    assert Secrecy().scrubbed(text) == text


def test_a_value_shorter_than_four_characters_stays_in_texts() -> None:
    """It is a limit that the user's page states: such values are words and numbers elsewhere."""
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": "on", "b": "123", "c": "1234"})])
    assert secrecy.scrubbed("on port 123 or 1234") == "on port 123 or (hidden)"


@pytest.mark.parametrize(
    "obj",
    [
        corev1.Event(message=f"cannot use {VALUE.upper()}"),
        Unstructured({"apiVersion": "events.k8s.io/v1", "kind": "Event", "note": f"cannot use {VALUE}"}),
        corev1.Pod(status=corev1.PodStatus(conditions=[corev1.PodCondition(message=f"not {CODED}")])),
        Unstructured({"kind": "X", "status": {"deep": [{"message": f"https://a:{VALUE}@host"}]}}),
    ],
)
def test_messages_in_events_and_in_a_status_are_scrubbed(obj: Any) -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    before = json.dumps(obj.to_dict())
    shown = json.dumps(secrecy.shown(obj))
    assert "(hidden)" in shown and VALUE.lower() not in shown.lower() and CODED not in shown
    assert json.dumps(obj.to_dict()) == before


# ---- values in other objects

PLAIN = "hunter2-S3cr3t!pass"


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


NOTATIONS = {
    "alone": PLAIN,
    "hcl": f'password_x = "{PLAIN}"',
    "xml": f"<p a='b'>{PLAIN}</p>",
    "character references": "".join(f"&#{ord(each)};" for each in PLAIN),
    "hexadecimal references": "".join(f"&#x{ord(each):x};" for each in PLAIN),
    "helm": f"global:\n  key: {PLAIN}\nother: 1",
    "base64": coded(PLAIN),
    "base64 twice": coded(coded(PLAIN)),
    "within base64": f"Basic_{coded('user:' + PLAIN)}",
    "lines of base64": re.sub("(.{64})", r"\1\n", coded("x" * 40 + PLAIN + "y" * 40)),
    "url": f"https://h/?p={quote(PLAIN, safe='')}",
    "percent": "".join(f"%{ord(each):02x}" for each in PLAIN),
    "escapes": "".join(f"\\u{ord(each):04x}" for each in PLAIN),
    "hexadecimal": PLAIN.encode().hex(),
    "upper case": PLAIN.upper(),
    "json in json": json.dumps(json.dumps({"a": PLAIN})),
}
PLACES: dict[str, Callable[[str], Any]] = {
    "data": lambda text: corev1.ConfigMap(data={"a": text}),
    "key": lambda text: Unstructured({"kind": "X", "spec": {"a": {text: 1}}}),
    "annotation": lambda text: corev1.Pod(metadata=metav1.ObjectMeta(name="p", annotations={"a": text})),
    "label": lambda text: corev1.Pod(metadata=metav1.ObjectMeta(name="p", labels={"a": text})),
    "variable": lambda text: Unstructured({"kind": "Pod", "spec": {"containers": [{"env": [{"value": text}]}]}}),
    "reason": lambda text: corev1.Event(reason=text),
    "message": lambda text: corev1.Event(message=text),
    "condition": lambda text: corev1.Pod(status=corev1.PodStatus(conditions=[corev1.PodCondition(reason=text)])),
    "list": lambda text: Unstructured({"kind": "List", "items": [{"kind": "X", "spec": [[text]]}]}),
    "manager": lambda text: Unstructured({"kind": "X", "metadata": {"managedFields": [{"manager": text}]}}),
}


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("place", PLACES)
def test_a_value_is_hidden_in_every_object_however_it_is_written(place: str, notation: str) -> None:
    secrecy, text = Secrecy(), NOTATIONS[notation]
    obj = PLACES[place](text)
    before = json.dumps(obj.to_dict())
    assert json.dumps(text) in json.dumps(secrecy.shown(obj))
    secrecy.learn([corev1.Secret(data={"a": PLAIN.encode()})])  # a text that was seen before is hidden too
    shown = json.dumps(secrecy.shown(obj))
    assert "(hidden)" in shown and json.dumps(text) not in shown
    assert PLAIN.lower() not in shown.lower() and coded(PLAIN)[:12] not in shown
    assert json.dumps(obj.to_dict()) == before


def test_an_object_keeps_its_names_and_its_type() -> None:
    """The tour finds and plays objects by them, and values are often words such as postgres."""
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": "postgres", "b": "metadata", "c": "v1/x", "d": "12345"})])
    names = dict.fromkeys(("name", "namespace", "uid", "generateName", "resourceVersion"), "postgres")
    made = {"apiVersion": "v1/x", "kind": "postgres", "metadata": {**names, "labels": {"app": "postgres"}}}
    item = {"metadata": {"name": "postgres", "annotations": {"a": "my postgres"}}, "port": 12345}
    shown = secrecy.shown(Unstructured({**made, "items": [item]}))
    assert shown["metadata"] == {**names, "labels": {"app": "(hidden)"}} and shown["kind"] == "postgres"
    assert shown["apiVersion"] == "v1/x"
    (nested,) = shown["items"]
    assert nested == {"metadata": {"name": "postgres", "annotations": {"a": "my (hidden)"}}, "port": 12345}


def test_without_values_an_object_is_shown_at_any_length() -> None:
    long = {"a": "word " * 100_000}
    secrecy = Secrecy()
    assert secrecy.shown(corev1.ConfigMap(data=long))["data"] == long
    secrecy.learn([corev1.Secret(string_data={"a": PLAIN})])
    data = secrecy.shown(corev1.ConfigMap(data={**long, "b": "short"}))["data"]
    assert data["a"] == "(hidden)"
    texts = {f"k{each}": f"text {each} {'x' * 990}" for each in range(300)}
    shown = list(secrecy.shown(corev1.ConfigMap(data=texts))["data"].values())
    assert shown[:190] == list(texts.values())[:190] and shown[-1] == "(hidden)" and len(shown) < 210


@pytest.mark.parametrize("text", ["a" * 200_000, "aaaa-" * 40_000, "%61" * 60_000, "&#97;" * 40_000, "\\" * 200_000])
def test_values_are_taken_out_of_a_long_text_in_linear_time(text: str) -> None:
    secrecy = Secrecy()
    values = {f"k{each}": "a" * (4 + each) for each in range(300)}
    secrecy.learn([corev1.Secret(string_data={**values, **{f"v{each}": f"value-{each:06}" for each in range(5000)}})])
    started = time.thread_time()
    assert len(secrecy.scrubbed(text)) <= len(text)
    assert time.thread_time() - started < 3


def test_a_value_in_another_encoding_stays() -> None:
    """It is a limit that the user's page states: the number of encodings has no end."""
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": PLAIN})])
    for text in (base64.b32encode(PLAIN.encode()).decode(), PLAIN[::-1], f"{PLAIN[:9]} {PLAIN[9:]}"):
        assert secrecy.shown(corev1.ConfigMap(data={"a": text}))["data"] == {"a": text}


# ---- each part of what is shown


def hidden(shown: Any) -> bool:
    return isinstance(shown, str) and base64.b64decode(shown).startswith(b"hidden ")


SHORT = {"name": "a", "generateName": "a-", "namespace": "b", "uid": "c", "resourceVersion": "7"}
TIMES = {"creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z"}


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("labels", {"app": "x"}, {"app": "x"}),
        ("labels", {"app": 7}, None),
        ("labels", [], None),
        ("finalizers", ["x/y", 7, {"a": VALUE}], ["x/y"]),
        ("finalizers", "x/y", None),
        (
            "ownerReferences",
            [{"name": "a", "controller": True}, 7, {"name": {"a": VALUE}}],
            [{"name": "a", "controller": True}],
        ),
        ("ownerReferences", {}, None),
        ("generation", 3, 3),
        ("generation", True, None),
        ("generation", "3", None),
        ("deletionGracePeriodSeconds", 30, 30),
        ("managedFields", [], None),
        ("selfLink", "/x", None),
        ("annotations", [VALUE], None),
        ("name", 7, None),
    ],
)
def test_only_the_identifying_metadata_of_a_secret_stays(field: str, value: Any, wanted: Any) -> None:
    about = {**SHORT, **TIMES, field: value}
    shown = Secrecy().shown(Unstructured({"apiVersion": "v1", "kind": "Secret", "metadata": about}))["metadata"]
    rest = {name: each for name, each in {**SHORT, **TIMES}.items() if name != field}
    assert shown == (rest if wanted is None else {**rest, field: wanted})


def test_only_a_streams_end_is_an_annotation_that_stays() -> None:
    ends = metav1.INITIAL_EVENTS_ANNOTATION_KEY
    about = {"annotations": {ends: "false", "other": "true"}}
    shown = Secrecy().shown(Unstructured({"apiVersion": "v1", "kind": "Secret", "metadata": about}))
    assert all(map(hidden, shown["metadata"]["annotations"].values()))


def test_the_fields_of_a_secret_that_are_no_data_are_marks_unless_they_are_plain() -> None:
    made = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": True, "data": {"a": CODED, "b": None}}
    shown = Secrecy().shown(Unstructured({**made, "stringData": [VALUE], "more": {"a": VALUE}}))
    assert (shown["type"], shown["immutable"], shown["data"].keys()) == ("Opaque", True, {"a", "b"})
    assert hidden(shown["stringData"]) and hidden(shown["more"]) and all(map(hidden, shown["data"].values()))
    odd = Secrecy().shown(Unstructured({"apiVersion": "v1", "kind": "Secret", "type": [VALUE], "immutable": VALUE}))
    assert hidden(odd["type"]) and hidden(odd["immutable"])


def test_a_list_of_secrets_keeps_its_kind_and_its_version() -> None:
    about = {"resourceVersion": "7", "continue": "x", "remainingItemCount": 2, "selfLink": "/y"}
    made = {"apiVersion": "v1", "kind": "SecretList", "items": [{"data": {"a": CODED}}, CODED], "more": VALUE}
    shown = Secrecy().shown(Unstructured({**made, "metadata": about}))
    assert (shown["apiVersion"], shown["kind"], shown["metadata"]) == ("v1", "SecretList", about)
    assert hidden(shown["items"][0]["data"]["a"]) and hidden(shown["items"][1]) and hidden(shown["more"])
    for other in ({**about, "annotations": {}}, [VALUE]):
        assert hidden(Secrecy().shown(Unstructured({**made, "metadata": other}))["metadata"])
    assert hidden(Secrecy().shown(Unstructured({**made, "items": VALUE}))["items"])


def test_a_status_keeps_its_fields_and_its_texts_are_scrubbed() -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    causes = [{"field": "data.a", "message": f"bad {VALUE}"}, {"reason": "X"}]
    details = {"name": "s", "kind": "secrets", "causes": causes}
    made = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "reason": "Invalid"}
    shown = secrecy.shown(
        metav1.Status.from_dict({**made, "code": 422, "message": f"no {VALUE}", "details": details, "more": VALUE})
    )
    assert "more" not in shown and (shown["kind"], shown["code"], shown["reason"]) == ("Status", 422, "Invalid")
    assert shown["message"] == "no (hidden)" and shown["details"]["name"] == "s"
    assert shown["details"]["causes"] == [{"field": "data.a", "message": "bad (hidden)"}, {"reason": "X"}]
    for plain in ({}, {"details": {"name": "s"}}):
        bare = metav1.Status.from_dict({**made, **plain})
        assert secrecy.shown(bare) == bare.to_dict()


def test_metadata_without_annotations_is_shown_as_it_is() -> None:
    made = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a"}}
    assert Secrecy().shown(metav1.PartialObjectMetadata.from_dict(made)) == made
    rows = [{"cells": ["a"]}, 7, {"object": {"kind": "Pod", "metadata": {"annotations": {"a": "b"}}}}]
    table = {"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": rows}
    assert Secrecy().shown(Unstructured(table)) == table
    items = {"apiVersion": "v1", "kind": "PartialObjectMetadataList", "items": [7, {"metadata": {"name": "a"}}]}
    assert Secrecy().shown(Unstructured(items)) == items


def test_an_object_without_a_kind_gets_the_one_of_its_class() -> None:
    for made, wanted in (
        (corev1.ConfigMap.from_dict({"data": {"a": "b"}}), ("v1", "ConfigMap")),
        (corev1.ConfigMap.from_dict({"apiVersion": "x/v1", "kind": "X", "data": {}}), ("x/v1", "X")),
    ):
        shown = Secrecy().shown(made)
        assert (shown["apiVersion"], shown["kind"]) == wanted
    assert Secrecy().shown(7) == {} == Secrecy().shown({"kind": "Secret", "data": {"a": CODED}})


def test_what_is_too_deep_in_a_status_is_a_mark() -> None:
    deep: Any = VALUE
    for _ in range(120):
        deep = [deep]
    shown: Any = Secrecy().shown(Unstructured({"kind": "X", "status": {"a": deep}}))["status"]["a"]
    levels = 1
    while isinstance(shown, list):
        (shown,), levels = shown, levels + 1
    assert hidden(shown) and levels == 100


@pytest.mark.parametrize(
    ("name", "is_scrubbed"),
    [("error", True), ("message", True), ("note", True), ("reason", False), ("Message", False)],
)
def test_only_the_fields_that_programs_write_are_scrubbed(name: str, is_scrubbed: bool) -> None:
    secrecy = Secrecy()
    text = "https://a:b@host"
    shown = secrecy.scrubbed_fields({name: text, "other": 7})
    assert shown == {name: "https://(hidden)@host" if is_scrubbed else text, "other": 7}
    for plain in ({"error": "", "message": None, "note": 7}, {}):
        assert secrecy.scrubbed_fields(plain) == plain


def test_scrubbed_texts_are_remembered_up_to_a_number_and_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    real = secrecy_module._scrubbed

    def scrubbed(text: str, values: list[str]) -> str:
        computed.append(text)
        return real(text, values)

    monkeypatch.setattr(secrecy_module, "_scrubbed", scrubbed)
    secrecy = Secrecy()

    def times(text: str) -> int:
        computed.clear()
        for _ in range(2):
            assert secrecy.scrubbed(text) == text
        return len(computed)

    assert (times("x" * 2000), times("x" * 2001)) == (1, 2)
    for number in range(999):
        secrecy.scrubbed(f"text {number}")
    assert times("x" * 2000) == 0  # a thousand texts are there
    secrecy.scrubbed("one more")
    assert times("x" * 2000) == 1


@dataclass
class Held:
    a: Any
    b: Any = None


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a

    def __repr__(self) -> str:
        return "Slotted()"


class OneSlot:
    __slots__ = "a"

    def __init__(self, a: Any) -> None:
        self.a = a

    def __repr__(self) -> str:
        return "OneSlot()"


@pytest.mark.parametrize("make", [Held, Slotted, OneSlot, Plain, lambda a: [a], lambda a: {1, a}, lambda a: (1, a)])
def test_an_item_shows_its_fields_unless_one_holds_an_object(make: Callable[[Any], Any]) -> None:
    plain = make("a")
    assert item_text(plain) == str(plain)
    if not isinstance(plain, set):
        held = make(corev1.Secret(data={"a": VALUE.encode()}))
        assert item_text(held) == f"<{type(held).__name__}>"
        assert item_text(make({"a": VALUE})) == f"<{type(held).__name__}>"
        assert item_text(make([b"x"])) == f"<{type(held).__name__}>"


def test_an_item_is_looked_through_four_values_deep() -> None:
    assert item_text((((("a",),),),)) == "(((('a',),),),)"
    assert item_text(((((("a",),),),),)) == "<tuple>"


def test_a_tombstone_is_shown_by_its_key_and_an_object_by_its_namespace_and_name() -> None:
    assert item_text(cache.DeletedFinalStateUnknown("a/b", None)) == "a/b"
    assert item_text(corev1.Pod(metadata=metav1.ObjectMeta(name="p", namespace="n"))) == "n/p"


def test_a_short_value_is_found_in_base64_too() -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": "abcd"})])
    assert secrecy.scrubbed("a YWJjZA== b YWJjZA c") == "a (hidden)== b (hidden) c"
    shown = secrecy.shown(Unstructured({"apiVersion": "v1", "kind": "Secret", "more": True}))
    assert hidden(shown["more"])


def test_numbers_that_are_no_bytes_stay_in_a_text() -> None:
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={"a": VALUE})])
    for text in ("codes [300, 301, 302, 303] end", "codes [1, 2, 3, 256] end"):
        assert secrecy.scrubbed(text) == text


def test_its_frames_are_no_part_of_the_programs_output() -> None:
    assert callers.is_inserted(secrecy_module.__file__)


def test_an_object_deeper_than_python_can_follow_is_a_mark_from_a_depth_on() -> None:
    value: Any = {"kind": "Secret", "data": {"a": CODED}}
    for _ in range(5000):
        value = [value]
    shown: Any = Secrecy().shown(Unstructured({"apiVersion": "v1", "kind": "X", "spec": {"a": value}}))["spec"]["a"]
    levels = 0
    while isinstance(shown, list):
        (shown,), levels = shown, levels + 1
    assert hidden(shown) and levels == 98
    assert hidden(Secrecy().mark(value))


def test_equal_values_have_equal_marks_whatever_the_order_of_their_fields() -> None:
    secrecy = Secrecy()
    assert secrecy.mark({"a": 1, "b": [2]}) == secrecy.mark({"b": [2], "a": 1}) != secrecy.mark({"a": 1, "b": [3]})
    assert secrecy.mark("1") == secrecy.mark(1) != Secrecy().mark(1) and hidden(secrecy.mark({1, 2}))


def test_a_mark_has_twelve_digits() -> None:
    assert re.fullmatch(rb"hidden [0-9a-f]{12}", base64.b64decode(Secrecy().mark("a")))


def test_requests_are_attributed_to_the_innermost_source_of_their_thread() -> None:
    secrecy = Secrecy()
    (probe,) = secrecy.probes()

    class Request:
        def url(self) -> str:
            return "http://x/api/v1/secrets"

    send = probe.around(lambda request: "sent")
    with secrecy.asking_for("outer"):
        with secrecy.asking_for("inner"):
            pass
        assert send(Request()) == "sent"
        assert secrecy.is_secret_source("outer") and not secrecy.is_secret_source("inner")
        thread = threading.Thread(target=send, args=(Request(),), daemon=True)
        thread.start()
        thread.join()
    assert send(Request()) == "sent" and not secrecy.is_secret_source(None)


def test_twenty_thousand_texts_of_values_are_remembered() -> None:
    """Each of these values has two: itself and its base64."""
    secrecy = Secrecy()
    secrecy.learn([corev1.Secret(string_data={f"k{each}": f"value-{each:05}" for each in range(10_000)})])
    first = ("value-00000", base64.b64encode(b"value-00000").decode().rstrip("="))
    assert [secrecy.scrubbed(text) for text in first] == ["(hidden)"] * 2
    secrecy.learn([corev1.Secret(string_data={"k": "value-10000"})])
    assert [secrecy.scrubbed(text) for text in first] == list(first)
    assert secrecy.scrubbed("value-00001 value-10000") == "(hidden) (hidden)"
