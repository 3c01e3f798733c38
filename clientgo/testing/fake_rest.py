"""A REST client that turns requests into actions of a `Fake`, the basis of fake clientsets. No Go file.

client-go generates a fake for every typed client (kubernetes/typed/*/*/fake). Here the typed clients themselves run,
and their requests become actions when they are sent. Therefore all methods of every clientset from this project's
generator work in a fake, without generated code. The actions are those of Go's fakes, also for subresources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from clientgo import rest
from clientgo.apimachinery import labels, watch
from clientgo.apimachinery.api import meta
from clientgo.apimachinery.apis.meta import v1 as metav1
from clientgo.apimachinery.runtime import Scheme, Unknown
from clientgo.apimachinery.runtime.documents import document_of, replace_document
from clientgo.apimachinery.runtime.interfaces import ParameterCodec
from clientgo.apimachinery.runtime.object import Object
from clientgo.apimachinery.runtime.schema import GroupVersion, GroupVersionResource
from clientgo.apimachinery.runtime.structs import Struct
from clientgo.apimachinery.types import PatchType
from clientgo.apimachinery.util import net
from clientgo.context import Context
from clientgo.golang import http
from clientgo.testing import actions
from clientgo.testing.actions import Action
from clientgo.testing.fake import Fake
from clientgo.testing.fake_discovery import FakeDiscovery
from clientgo.testing.field_managed_tracker import kind_of_resource
from clientgo.testing.fixture import ObjectTracker, object_reaction
from clientgo.util import flowcontrol

__all__ = ["FakeClientset", "FakeRESTClient"]

C = TypeVar("C")
Options = TypeVar("Options", bound=Struct)

_FAKE_LOGS = b"fake logs"
_CORE = GroupVersion("", "v1")


class FakeClientset(Fake):
    """The base class of fake clientsets: derive from it first and from the generated clientset second.

        class FakeClientset(testing.FakeClientset, versioned.Clientset):
            def __init__(self, tracker: testing.ObjectTracker) -> None:
                super().__init__(tracker, scheme.SCHEME)

    It records every request (`actions()`) and responds with a prepended reactor or from the tracker. As in Go, lists
    support label selectors but no field selectors, watches support no selectors, and a delete_collection is recorded
    but removes nothing. Thread-safe. `Fake` states the rules for reactors.
    """

    def __init__(self, tracker: ObjectTracker, scheme: Scheme) -> None:
        """Initialize a fake clientset. `scheme` has the kinds of the clientset."""
        super().__init__()
        self._tracker = tracker
        self._scheme = scheme
        self._discovery = FakeDiscovery(self)
        self._fakes: dict[str, Any] = {}
        self.add_reactor("*", "*", object_reaction(tracker))
        self.add_watch_reactor("*", self._watch_tracker)

    def tracker(self) -> ObjectTracker:
        """Return the tracker that stores the objects."""
        return self._tracker

    def discovery(self) -> Any:
        """Return the FakeDiscovery, which returns `resources`."""
        return self._discovery

    def close(self) -> None:
        """Do nothing, since there are no connections."""

    def is_watch_list_semantics_un_supported(self) -> bool:
        """Return True, so that reflectors list before they watch."""
        return True

    def _watch_tracker(self, action: Action) -> tuple[bool, watch.Interface | None]:
        options = action.list_options if isinstance(action, actions.WatchActionImpl) else metav1.ListOptions()
        return True, self._tracker.watch(action.get_resource(), action.get_namespace(), options)

    def _client(self, name: str, make: Callable[[rest.Config, http.Client], C]) -> C:
        """Return the fake client of a group version. The clientset's methods call this."""
        if name not in self._fakes:
            # The real client provides the group version and is never used.
            config = rest.Config(host="http://fake.invalid", rate_limiter=flowcontrol.new_fake_always_rate_limiter())
            client: Any = make(config, rest.http_client_for(config))
            fake = FakeRESTClient(self, client.rest_client(), self._scheme)
            self._fakes.setdefault(name, type(client)(fake))
        return cast(C, self._fakes[name])


class FakeRESTClient:
    """A fake of rest.Interface. Thread-safe."""

    def __init__(self, fake: Fake, client: rest.RESTClient, scheme: Scheme) -> None:
        """Initialize a fake client for the group version of `client`, which sends nothing."""
        self._fake = fake
        self._client = client
        self._scheme = scheme

    def get_rate_limiter(self) -> flowcontrol.RateLimiter | None:
        """Return None: a fake has no rate limit."""
        return None

    def verb(self, verb: str) -> rest.Request:
        """Create a request with an HTTP method."""
        return _FakeRequest(self._fake, self._client, self._scheme).verb(verb)

    def post(self) -> rest.Request:
        """Create a POST request."""
        return self.verb("POST")

    def put(self) -> rest.Request:
        """Create a PUT request."""
        return self.verb("PUT")

    def patch(self, pt: str) -> rest.Request:
        """Create a PATCH request with a body of the patch type `pt`."""
        return self.verb("PATCH").set_header("Content-Type", str(pt))

    def get(self) -> rest.Request:
        """Create a GET request."""
        return self.verb("GET")

    def delete(self) -> rest.Request:
        """Create a DELETE request."""
        return self.verb("DELETE")

    def api_version(self) -> GroupVersion:
        """Return the group version of this client's resources."""
        return self._client.api_version()

    def close(self) -> None:
        """Do nothing, since there are no connections."""

    def __repr__(self) -> str:
        return f"<FakeRESTClient of {self.api_version()}>"


class _FakeRequest(rest.Request):
    """A request that becomes an action when it is sent."""

    def __init__(self, fake: Fake, client: rest.RESTClient, scheme: Scheme) -> None:
        super().__init__(client)
        self._fake = fake
        self._scheme = scheme
        self._options: Struct | None = None
        self._object: Any = None

    def specifically_versioned_params(self, obj: Struct, codec: ParameterCodec, version: GroupVersion) -> rest.Request:
        self._options = obj
        return self

    def body(self, obj: Any) -> rest.Request:
        self._object = obj
        return self

    def do(self, ctx: Context) -> rest.Result:
        try:
            return _FakeResult(self._send())
        except Exception as err:
            return _FakeResult(None, err)

    def watch(self, ctx: Context, expected: type[Object] | None = None) -> watch.Interface:
        self._raise_for_error()
        namespace, options = self.parts().namespace, self._options_of(metav1.ListOptions)
        return self._fake.invokes_watch(actions.new_watch_action_with_options(self._gvr(), namespace, options))

    def do_raw(self, ctx: Context) -> bytes:
        """Return the bytes, or the runtime.Unknown, that a reactor returns.

        Without a reactor, logs are "fake logs" and everything else is empty. Proxy requests use the proxy reactors.
        """
        self._raise_for_error()
        parts = self.parts()
        if parts.subresource == "proxy":
            return self._proxied(ctx)
        action = actions.GenericActionImpl(
            verb="get",
            resource=self._gvr(),
            namespace=parts.namespace,
            subresource=parts.subresource,
            value=self._options,
        )
        result: Any = self._fake.invokes(action, None)
        if isinstance(result, bytes):
            return result
        if isinstance(result, Unknown):
            return result.raw
        if result is not None:
            raise TypeError(f"expected reactor to return runtime.Unknown or bytes, got {type(result).__name__}")
        return _FAKE_LOGS if parts.subresource == "log" else b""

    def _proxied(self, ctx: Context) -> bytes:
        parts = self.parts()
        scheme, name, port, _ = net.split_scheme_name_port(parts.name)
        params = {key: values[-1] for key, values in parts.params.items()}
        action = actions.new_proxy_get_action(self._gvr(), parts.namespace, scheme, name, port, parts.subpath, params)
        response = self._fake.invokes_proxy(action)
        return b"" if response is None else response.do_raw(ctx)

    def stream(self, ctx: Context) -> http.Body:
        return http.BytesBody(self.do_raw(ctx))

    def _send(self) -> Any:
        self._raise_for_error()
        parts = self.parts()
        match parts.verb, bool(parts.name):
            case "GET", True:
                return self._fake.invokes(self._get_action(), None)
            case "GET", False:
                return self._list()
            case "POST", _:
                return self._fake.invokes(self._create_action(), None)
            case "PUT", _:
                return self._fake.invokes(self._update_action(), None)
            case "PATCH", _:
                return self._fake.invokes(self._patch_action(), None)
            case "DELETE", True:
                return self._fake.invokes(self._delete_action(), None)
            case "DELETE", False:
                return self._fake.invokes(self._delete_collection_action(), None)
        raise ValueError(f"a fake client cannot {parts.verb}")

    def _get_action(self) -> Action:
        parts, options = self.parts(), self._options_of(metav1.GetOptions)
        return actions.new_get_subresource_action_with_options(
            self._gvr(), parts.namespace, parts.subresource, parts.name, options
        )

    def _list(self) -> Any:
        options = self._options_of(metav1.ListOptions)
        kind = kind_of_resource(self._scheme, self._gvr())
        action = actions.new_list_action_with_options(self._gvr(), kind, self.parts().namespace, options)
        result = self._fake.invokes(action, None)
        if result is None or action.list_restrictions.labels.empty():
            return result
        return _selected(result, action.list_restrictions.labels)

    def _create_action(self) -> Action:
        parts, options = self.parts(), self._options_of(metav1.CreateOptions)
        return actions.new_create_subresource_action_with_options(
            self._gvr(), parts.name, parts.subresource, parts.namespace, self._object, options
        )

    def _update_action(self) -> Action:
        parts, options = self.parts(), self._options_of(metav1.UpdateOptions)
        return actions.new_update_subresource_action_with_options(
            self._gvr(), parts.subresource, parts.namespace, self._object, options
        )

    def _patch_action(self) -> Action:
        parts, options = self.parts(), self._options_of(metav1.PatchOptions)
        patch_type = PatchType(parts.headers.get("Content-Type", ""))
        return actions.new_patch_subresource_action_with_options(
            self._gvr(), parts.namespace, parts.name, patch_type, self._object, options, parts.subresource
        )

    def _delete_action(self) -> Action:
        options = self._object if isinstance(self._object, metav1.DeleteOptions) else metav1.DeleteOptions()
        parts = self.parts()
        return actions.new_delete_subresource_action_with_options(
            self._gvr(), parts.subresource, parts.namespace, parts.name, options
        )

    def _delete_collection_action(self) -> Action:
        options = self._object if isinstance(self._object, metav1.DeleteOptions) else metav1.DeleteOptions()
        return actions.new_delete_collection_action_with_options(
            self._gvr(), self.parts().namespace, options, self._options_of(metav1.ListOptions)
        )

    def _options_of(self, cls: type[Options]) -> Options:
        return self._options if isinstance(self._options, cls) else cls()

    def _gvr(self) -> GroupVersionResource:
        # An eviction uses the client of one group for a resource of another.
        parts = self.parts()
        group_version = _CORE if parts.path_prefix == "/api/v1" else parts.group_version
        return GroupVersionResource(group_version.group, group_version.version, parts.resource)

    def _raise_for_error(self) -> None:
        failure = self.error()
        if failure is not None:
            raise failure


def _selected(result: Object, selector: labels.Selector) -> Object:
    """Return a list like `result` with only the items that match: the tracker does not select."""
    selected = result.deep_copy()
    items: list[Any] = meta.extract_list(selected)
    meta.set_list(selected, [item for item in items if selector.matches(item.get_labels())])
    return selected


class _FakeResult(rest.Result):
    """A result with an object instead of bytes. None represents an empty object."""

    def __init__(self, obj: Any, err: Exception | None = None) -> None:
        super().__init__(err=err, status_code=200 if err is None else 0)
        self._object = obj

    def get(self) -> Object:
        self.raise_for_error()
        if not isinstance(self._object, Object):
            raise ValueError("the fake client returned no object")
        return self._object

    def into(self, obj: Any) -> Any:
        self.raise_for_error()
        cls = obj if isinstance(obj, type) else type(obj)
        if self._object is not None and not isinstance(self._object, cls):
            raise TypeError(f"the fake client returned a {type(self._object).__name__}, not a {cls.__name__}")
        if self._object is None:
            return obj() if isinstance(obj, type) else obj
        if isinstance(obj, type):
            return self._object
        replace_document(obj, document_of(self.get()))
        return obj
