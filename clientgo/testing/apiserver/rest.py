"""The verbs on stored resources: create, get, list, watch, update, patch, apply, delete.

Each verb is computed from immutable stored objects without a lock and committed by compare-and-swap; a lost race is
computed again. Mirrors apiserver's endpoints/handlers and registry/generic/registry.
"""

from __future__ import annotations

import itertools
import secrets
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from clientgo.testing.apiserver import (
    apply,
    defaults,
    errors,
    http,
    patch,
    schema,
    strategy,
    structural,
    typed,
    validation,
)
from clientgo.testing.apiserver.documents import Documents
from clientgo.testing.apiserver.errors import ApiError
from clientgo.testing.apiserver.jsonio import (
    ParseError,
    copy,
    dumps_text,
    duplicate_fields,
    loads,
    loads_yaml,
    sort_keys,
)
from clientgo.testing.apiserver.negotiation import Form
from clientgo.testing.apiserver.options import (
    DeleteOptions,
    ListOptions,
    WriteOptions,
    decode_token,
    encode_token,
    version_number,
)
from clientgo.testing.apiserver.registry import Registry, Resource
from clientgo.testing.apiserver.selectors import Selection
from clientgo.testing.apiserver.storage import Changed, Compacted, Event, Exists, Missing, Store, Stored, with_version
from clientgo.testing.apiserver.times import Times
from clientgo.testing.apiserver.watch import Pump, View, Watcher, first_pieces

Json = dict[str, Any]

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_ATTEMPTS = 50
_FUTURE_WAIT = 3.0
_DEFAULT_WATCH_SECONDS = 1800
_NAME_BASE = 58
_BUILTIN_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_CUSTOM_TYPES = "application/json, application/yaml"

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

EXPIRED_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the "
    "continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing "
    "with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the "
    "time the first chunk was returned and now may show up in the list."
)
_BEGINNING = {"[": "array", '"': "string", "t": "bool", "f": "bool"}


class Call:
    """One request on one resource, with what it collects on the way."""

    __slots__ = ("body", "form", "name", "namespace", "request", "resource", "subresource", "warnings")

    def __init__(
        self, request: http.Request, resource: Resource, namespace: str, name: str, subresource: str, form: Form
    ) -> None:
        self.request = request
        self.resource = resource
        self.namespace = namespace
        self.name = name
        self.subresource = subresource
        self.form = form
        self.warnings: list[str] = []

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def prefix(self) -> str:
        return f"{self.namespace}/" if self.namespace else ""

    def not_found(self) -> ApiError:
        return errors.not_found(self.resource.group, self.resource.plural, self.name)

    def conflict(self, why: str = errors.MODIFIED) -> ApiError:
        return errors.conflict(self.resource.group, self.resource.plural, self.name, why)

    def __repr__(self) -> str:
        return f"<Call {self.request.method} {self.resource.plural} {self.key}>"


Hook = Callable[[str, Resource, Stored, Stored | None], None]


class Rest:
    """The verbs. Thread-safe: all state is in the store."""

    def __init__(self, store: Store, registry: Registry, pump: Pump, times: Times) -> None:
        self.store = store
        self.registry = registry
        self.pump = pump
        self.times = times
        self.documents = Documents(times)
        # Called after a commit, before the answer goes out: (event type, resource, new, old).
        self.after_commit: Hook | None = None
        self._addresses = itertools.count(10)
        self._ports = itertools.count(30000)

    def __repr__(self) -> str:
        return f"<Rest {self.store!r}>"

    # ---- decoding

    def read_body(self, call: Call) -> Any:
        """The parsed body. Raises ApiError 415 or 400."""
        media = call.request.header("content-type", "application/json").partition(";")[0].strip().lower()
        body = call.request.body
        resource = call.resource
        if media in ("application/json", ""):
            parse = loads
        elif media == "application/yaml":
            parse = loads_yaml
        else:
            raise errors.unsupported_media_type(_CUSTOM_TYPES if resource.custom else _BUILTIN_TYPES)
        try:
            doc = parse(body)
        except ParseError as err:
            text = body[:256].decode("utf-8", "replace")
            what = "json parse error: " if parse is loads else ""
            raise errors.bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; "
                f"{what}{err} ({text})"
            ) from None
        if not isinstance(doc, dict):
            kind = _BEGINNING.get(body.lstrip()[:1].decode("latin-1"), "number")
            raise errors.bad_request(
                f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind; json "
                f"parse error: json: cannot unmarshal {kind} into Go value of type struct {{ APIVersion string "
                '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
            )
        return doc

    def _check_kind(self, call: Call, doc: Json) -> None:
        resource = call.resource
        kind, api_version = doc.get("kind"), doc.get("apiVersion")
        for name, value in (("kind", kind), ("apiVersion", api_version)):
            if value is not None and not isinstance(value, str):
                raise errors.bad_request(
                    f"couldn't get version/kind; json parse error: json: cannot unmarshal into Go struct field .{name} of type string"
                )
        if resource.custom:
            if not kind:
                raise errors.bad_request(f"Object 'Kind' is missing in '{dumps_text(doc)}'")
            if api_version != resource.group_version:
                raise errors.bad_request(
                    f"the API version in the data ({api_version or ''}) does not match the expected API version "
                    f"({resource.group_version})"
                )
            if kind != resource.kind:
                error = errors.field_invalid("kind", kind, f"must be {resource.kind}")
                name = doc.get("metadata", {}).get("name", "") if isinstance(doc.get("metadata"), dict) else ""
                raise errors.invalid(resource.group, kind, str(name), [error])
            return
        if (kind or resource.kind) != resource.kind or (
            api_version or resource.group_version
        ) != resource.group_version:
            raise errors.bad_request(
                f'{kind or resource.kind} in version "{(api_version or resource.group_version).rpartition("/")[2]}" cannot be '
                f"handled as a {resource.kind}: converting ({kind}) to ({resource.kind}): unknown conversion"
            )

    def decode(self, call: Call, doc: Json, options: WriteOptions | None, raw: bytes = b"") -> Json:
        """The object in normal form, defaulted; unknown fields warned about or refused as the options say."""
        self._check_kind(call, doc)
        resource = call.resource
        unknown: list[str] = []
        if resource.custom:
            obj = self._decode_custom(resource, doc, unknown)
        else:
            obj = self._decode_builtin(resource, doc, unknown)
        if options is not None and options.validation != "Ignore":
            texts = [f'unknown field "{path}"' for path in unknown]
            if raw and options.validation_given:
                texts = [f'duplicate field "{path}"' for path in duplicate_fields(raw)] + texts
            if texts and options.validation == "Strict":
                raise errors.bad_request(
                    f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: strict decoding '
                    f"error: {', '.join(texts)}"
                )
            call.warnings += texts
        return obj

    @staticmethod
    def _decode_builtin(resource: Resource, doc: Json, unknown: list[str]) -> Json:
        whole = {**doc, "kind": resource.kind, "apiVersion": resource.group_version}
        if resource.struct is None:
            whole["metadata"] = _decode_metadata(doc, unknown)
            return {name: whole[name] for name in ("kind", "apiVersion", "metadata", *whole)}
        ctx = schema.Context()
        try:
            obj: Json = resource.struct.decode(whole, ctx, "", "")
            fill = defaults.for_kind(resource.group_version, resource.kind)
            if fill is not None:
                fill(obj)
                obj = resource.struct.decode(obj, schema.Context(), "", "")
        except schema.DecodeError as err:
            raise errors.bad_request(
                f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {err}'
            ) from None
        except RecursionError:
            raise errors.bad_request("exceeded max depth") from None
        unknown += ctx.unknown
        return obj

    @staticmethod
    def _decode_custom(resource: Resource, doc: Json, unknown: list[str]) -> Json:
        try:
            metadata = _decode_metadata(doc, unknown)
            obj, dropped = structural.prune({**doc, "metadata": metadata}, resource.structural)
            unknown += dropped
            return sort_keys(structural.default(obj, resource.structural))  # type: ignore[no-any-return]
        except schema.DecodeError as err:
            raise errors.bad_request(
                f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {err}'
            ) from None
        except RecursionError:
            raise errors.bad_request("exceeded max depth") from None

    @staticmethod
    def _merge_node(resource: Resource) -> typed.Node:
        if resource.custom:
            return typed.of_schema(resource.structural, root=True)
        if resource.struct is None:
            return typed.of_schema(None, root=True)
        return typed.of_struct(resource.struct.package, resource.struct.name)

    # ---- create

    def create(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "CreateOptions")
        doc = self.read_body(call)
        obj = self.decode(call, doc, options, call.request.body)
        metadata = obj["metadata"]
        if call.name and call.resource.custom and not metadata.get("name"):
            metadata["name"] = call.name
        if metadata.get("resourceVersion"):
            raise errors.internal_text("resourceVersion should not be set on objects to be created")
        return self._respond(call, self.create_object(call, obj, options), 201)

    def create_object(self, call: Call, obj: Json, options: WriteOptions, managed: list[Json] | None = None) -> Stored:
        """Store a decoded object. Raises ApiError; a name made from generateName is tried again when taken."""
        resource = call.resource
        metadata = obj["metadata"]
        self._check_namespace(call, metadata)
        if call.namespace:
            self._namespace_accepts(call)
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(name, None)
        metadata["uid"] = str(uuid.uuid4())
        metadata["creationTimestamp"] = self.times.now_text()
        generated = not metadata.get("name") and metadata.get("generateName")
        base = metadata.get("generateName", "")[:_NAME_BASE] if generated else ""
        if generated:
            metadata["name"] = base + "".join(secrets.choice(_SUFFIX_ALPHABET) for _ in range(5))
        if managed is None:
            managed = self._managed_create(resource, obj, options.manager)
        self._set_managed(obj, managed)
        if resource.storage == "/namespaces":
            labels = metadata.setdefault("labels", {})
            labels["kubernetes.io/metadata.name"] = metadata.get("name", "")
        strategy.before_create(resource, obj, self._allocate)
        obj = self._in_order(resource, obj)
        call.warnings += validation.finalizer_warnings(obj["metadata"].get("finalizers"))
        stored_form = resource.to_storage(obj)
        self._validate(call, obj, stored_form, None)
        if options.dry_run:
            return self._dry(call, stored_form)
        for _ in range(8):
            key = self._key(resource, stored_form)
            try:
                stored = self.store.create(resource.storage, key, self._with_placeholder(resource, stored_form))
            except Exists:
                if not generated:
                    raise errors.already_exists(resource.group, resource.plural, obj["metadata"]["name"]) from None
                stored_form = {**stored_form, "metadata": dict(stored_form["metadata"])}
                stored_form["metadata"]["name"] = base + "".join(secrets.choice(_SUFFIX_ALPHABET) for _ in range(5))
                continue
            self._committed("ADDED", resource, stored, None)
            return stored
        raise errors.already_exists(resource.group, resource.plural, obj["metadata"]["name"])

    def _dry(self, call: Call, obj: Json) -> Stored:
        key = self._key(call.resource, obj)
        if self.store.get(call.resource.storage, key) is not None:
            raise errors.already_exists(call.resource.group, call.resource.plural, obj["metadata"]["name"])
        return Stored(key, obj, 0)

    @staticmethod
    def _key(resource: Resource, obj: Json) -> str:
        metadata = obj["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}" if resource.namespaced else str(metadata["name"])

    @staticmethod
    def _with_placeholder(resource: Resource, obj: Json) -> Json:
        """A copy whose metadata has a resourceVersion in its place, ready for the store to fill in."""
        metadata = with_version(obj["metadata"], 0)
        if resource.custom:
            metadata = {name: metadata[name] for name in sorted(metadata)}
        return {**obj, "metadata": metadata}

    def _check_namespace(self, call: Call, metadata: Json) -> None:
        given = metadata.get("namespace", "")
        if call.resource.namespaced:
            if given and given != call.namespace:
                raise errors.bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
            if not call.namespace:
                raise errors.bad_request("an empty namespace may not be set during creation")
            metadata["namespace"] = call.namespace
        elif given:
            metadata.pop("namespace", None)

    def _namespace_accepts(self, call: Call) -> None:
        namespace = self.store.get("/namespaces", call.namespace)
        if namespace is None:
            raise errors.not_found("", "namespaces", call.namespace)
        if namespace.obj["metadata"].get("deletionTimestamp"):
            why = f"unable to create new content in namespace {call.namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {call.namespace} is being terminated",
                "field": "metadata.namespace",
            }
            raise errors.forbidden(call.resource.group, call.resource.plural, call.name, why, causes=[cause])

    def _allocate(self, what: str) -> str:
        if what == "port":
            return str(30000 + next(self._ports) % 2768)
        number = next(self._addresses)
        return f"10.96.{number // 250 % 250}.{number % 250 + 1}"

    def _managed_create(self, resource: Resource, obj: Json, manager: str) -> list[Json]:
        ignored = "status" if strategy.has_status(resource) else ""
        return apply.updated(
            self._merge_node(resource),
            self._zero(resource),
            obj,
            (),
            manager,
            resource.group_version,
            "",
            self.times.now_text(),
            ignored,
        )

    @staticmethod
    def _zero(resource: Resource) -> Json:
        if resource.struct is None:
            return {"metadata": {}}
        zero: Json = resource.struct.decode({}, schema.Context(), "", "")
        return zero

    @staticmethod
    def _set_managed(obj: Json, managed: list[Json]) -> None:
        if managed:
            obj["metadata"]["managedFields"] = managed
        else:
            obj["metadata"].pop("managedFields", None)

    @staticmethod
    def _in_order(resource: Resource, obj: Json) -> Json:
        if resource.struct is None:
            return sort_keys(obj) if resource.custom else obj  # type: ignore[no-any-return]
        return strategy.normalise(resource, obj)

    def _validate(self, call: Call, obj: Json, stored_form: Json, old: Json | None) -> None:
        """Raises ApiError 422 with all that is wrong."""
        resource = call.resource
        found = validation.metadata(resource, obj["metadata"])
        if old is not None:
            found += validation.metadata_update(old["metadata"], obj["metadata"])
        if resource.custom:
            found += structural.validate(obj, resource.structural)
        elif resource.storage == "/events":
            if old is None:
                found += validation.event(stored_form, resource.group)
        elif resource.storage == "apiextensions.k8s.io/customresourcedefinitions":
            if call.subresource == "":
                from clientgo.testing.apiserver import crd

                found += crd.validate(obj, old)
        elif old is None:
            found += validation.create(resource, obj)
        else:
            found += validation.update(resource, obj, old, call.subresource)
        if found:
            group = resource.group
            name = obj["metadata"].get("name", "")
            raise errors.invalid(group, resource.kind, name, found)

    def _committed(self, kind: str, resource: Resource, new: Stored, old: Stored | None) -> None:
        if self.after_commit is not None:
            self.after_commit(kind, resource, new, old)

    # ---- get and list

    def _current(self, call: Call) -> Stored:
        stored = self.store.get(call.resource.storage, call.key)
        if stored is None:
            raise call.not_found()
        return stored

    def get(self, call: Call) -> http.Response:
        asked = call.request.param("resourceVersion")
        if asked and asked != "0":
            self._wait_for(self._version(asked))
        return self._respond(call, self._current(call), 200)

    @staticmethod
    def _version(text: str) -> int:
        try:
            return version_number(text)
        except ValueError as err:
            raise errors.bad_request(f"invalid resource version: {err}") from None

    def _wait_for(self, version: int) -> None:
        if version > self.store.version and not self.store.wait_for_version(version, _FUTURE_WAIT):
            raise errors.resource_version_too_large(version, self.store.version)

    def list_objects(self, call: Call) -> http.Response:
        options = ListOptions(call.request, watch=False)
        selection = Selection(call.resource, options.label_selector, options.field_selector)
        version, items, metadata = self._page(call, options, selection)
        return self.documents.many(
            call.resource, items, {"resourceVersion": str(version), **metadata}, call.form, call.request
        )

    def _page(self, call: Call, options: ListOptions, selection: Selection) -> tuple[int, list[Stored], Json]:
        bucket, prefix = call.resource.storage, call.prefix
        start = ""
        limit = options.limit
        at: int | None = None
        if options.token:
            if options.resource_version and options.resource_version != "0":
                raise errors.bad_request("specifying resource version is not allowed when using continue")
            asked, start = decode_token(options.token)
            at = asked if asked > 0 else None
        elif options.resource_version:
            version = self._version(options.resource_version)
            if version == 0:
                limit = 0
            else:
                self._wait_for(version)
                if options.match == "Exact" or (limit and not options.match):
                    at = version
        try:
            version, items = self.store.list(bucket, prefix, at)
        except Compacted:
            if options.token:
                metadata = {"continue": encode_token(-1, f"{start}\x00")}
                raise ApiError(410, "Expired", EXPIRED_CONTINUE, metadata=metadata) from None
            raise errors.expired("The resourceVersion for the provided list is too old.") from None
        if start:
            after = prefix + start
            items = [item for item in items if item.key > after]
        if not selection.everything:
            items = [item for item in items if selection.matches(item.obj)]
        if not limit or len(items) <= limit:
            return version, items, {}
        page = items[:limit]
        metadata = {"continue": encode_token(version, f"/{page[-1].key[len(prefix) :]}\x00")}
        if selection.everything:
            metadata["remainingItemCount"] = len(items) - limit  # type: ignore[assignment]
        return version, page, metadata

    # ---- watch

    def watch(self, call: Call) -> http.Response:
        """Hands the connection to the pump; the answer is an empty stream marker."""
        options = ListOptions(call.request, watch=True)
        field_selector = options.field_selector
        if call.name:
            term = f"metadata.name={call.name}"
            field_selector = f"{field_selector},{term}" if field_selector else term
        selection = Selection(call.resource, options.label_selector, field_selector)
        try:
            asked = version_number(options.resource_version) if options.resource_version else 0
        except ValueError as err:
            raise errors.internal_text(str(err)) from None
        now = self.times.clock.now()
        deadline = now + (
            options.timeout if options.timeout is not None and options.timeout > 0 else _DEFAULT_WATCH_SECONDS
        )
        form = call.form
        encode = self.documents.watch_encoder(call.resource, form, call.request)
        send_state = options.send_initial is True or (asked == 0 and options.send_initial is None)
        if options.send_initial is True and asked:
            self._wait_for(asked)
        kind = f"{form.kind}{form.version}{call.resource.version}{call.resource.group}"
        if form.kind == "Table":
            # The first event alone carries the columns, so a table watch shares with nobody.
            kind += f"#{id(call)}"
        view = View(
            call.resource.storage,
            call.prefix,
            selection,
            kind,
            encode,
            lambda version, end: self.documents.bookmark(call.resource, version, end, form),
            asked if asked > self.store.version else 0,
        )
        since = None if send_state else self.store.version if options.send_initial is not None else asked

        def attach(version: int, first: list[Any]) -> None:
            lines = _initial_lines(view, first, version if options.send_initial and options.bookmarks else None)
            source = first_pieces(_STREAM_HEAD, lines)
            self.pump.attach(Watcher(call.request.connection, view, source, deadline, options.bookmarks))

        try:
            self.store.follow(call.resource.storage, call.prefix, since, attach)
        except Compacted as err:
            # A watch that is too old answers 200 and one ERROR event.
            status = errors.expired(f"too old resource version: {asked} ({err.oldest})").status()
            return self.documents.error_stream(status)
        return http.Response(200, stream=True)

    # ---- update

    def update(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "UpdateOptions")
        doc = self.read_body(call)
        if call.resource.custom and not call.name:
            raise errors.bad_request("name must be provided")
        obj = self.decode(call, doc, options, call.request.body)
        metadata = obj["metadata"]
        if not metadata.get("name"):
            if call.resource.custom or metadata.get("name") == "":
                metadata["name"] = ""
            raise errors.bad_request(
                "name must be provided" if call.resource.custom else
                f"the name of the object ({metadata.get('name', '')}) does not match the name on the URL ({call.name})"
            )  # fmt: skip
        self._check_names(call, metadata)
        stored, created = self._retry(call, lambda current: self._put(call, copy(obj), options, current), options)
        return self._respond(call, stored, 201 if created else 200)

    def _check_names(self, call: Call, metadata: Json) -> None:
        name = metadata.get("name", "")
        if name != call.name:
            raise errors.bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({call.name})"
            )
        if call.resource.namespaced:
            namespace = metadata.get("namespace", "")
            if namespace and namespace != call.namespace:
                raise errors.bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request"
                )
            metadata["namespace"] = call.namespace

    def _retry(
        self, call: Call, attempt: Callable[[Stored | None], tuple[Stored, bool]], options: Any
    ) -> tuple[Stored, bool]:
        """Run `attempt` on the current object until it is not overtaken."""
        for _ in range(_MAX_ATTEMPTS):
            current = self.store.get(call.resource.storage, call.key)
            try:
                return attempt(current)
            except (Changed, Missing, Exists):
                continue
        raise call.conflict()

    def _put(self, call: Call, obj: Json, options: WriteOptions, current: Stored | None) -> tuple[Stored, bool]:
        resource = call.resource
        metadata = obj["metadata"]
        given = metadata.get("resourceVersion", "")
        if current is None:
            if not strategy.creates_on_update(resource) or call.subresource or given:
                raise call.not_found()
            return self.create_object(call, obj, options), True
        live = self._live(resource, current)
        uid = metadata.get("uid", "")
        if uid and uid != live["metadata"]["uid"]:
            raise call.conflict(
                f"StorageError: invalid object, Code: 4, Key: {self._etcd_key(call)}, ResourceVersion: 0, AdditionalErrorMsg: "
                f"Precondition failed: UID in precondition: {uid}, UID in object meta: {live['metadata']['uid']}"
            )
        if not given and strategy.needs_version_on_update(resource):
            error = errors.field_invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise errors.invalid(resource.group, resource.plural, call.name, [error])
        if given and given != str(current.rv):
            raise call.conflict()
        managed = self._managed_base(metadata, live["metadata"])
        return self.finish_update(call, obj, live, current, options, managed), False

    @staticmethod
    def _etcd_key(call: Call) -> str:
        resource = call.resource
        head = f"{resource.group}/" if resource.custom else ""
        plural = {"services": "services/specs", "endpoints": "services/endpoints"}.get(resource.plural, resource.plural)
        return f"/registry/{head}{plural}/{call.key}"

    @staticmethod
    def _managed_base(given: Json, live: Json) -> Any:
        """Which managedFields an update starts from: the request's when it carries some, else the stored ones."""
        sent = given.get("managedFields")
        if sent == [{}]:
            return []
        return sent if sent else live.get("managedFields")

    def _live(self, resource: Resource, current: Stored) -> Json:
        return resource.from_storage(current.obj) if resource.converted else current.obj

    def finish_update(
        self,
        call: Call,
        obj: Json,
        live: Json,
        current: Stored,
        options: WriteOptions,
        base: Any,
        managed: list[Json] | None = None,
    ) -> Stored:
        """Common end of PUT, PATCH, apply and scale. `obj` is owned and decoded; raises Changed when overtaken."""
        resource = call.resource
        metadata, old_meta = obj["metadata"], live["metadata"]
        metadata["resourceVersion"] = old_meta["resourceVersion"]
        if not metadata.get("uid"):
            metadata["uid"] = old_meta["uid"]
        for name in ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            if name in old_meta:
                metadata[name] = old_meta[name]
            else:
                metadata.pop(name, None)
        obj = strategy.before_update(resource, obj, live, call.subresource, self._allocate)
        if managed is None:
            ignored = "" if call.subresource == "status" or not strategy.has_status(resource) else "status"
            managed = apply.updated(
                self._merge_node(resource),
                live,
                obj,
                base,
                options.manager,
                resource.group_version,
                call.subresource,
                self.times.now_text(),
                ignored,
            )
        obj["metadata"] = dict(obj["metadata"])
        self._set_managed(obj, managed)
        obj = self._in_order(resource, obj)
        call.warnings += [
            text
            for text in validation.finalizer_warnings(obj["metadata"].get("finalizers"))
            if obj["metadata"].get("finalizers") != old_meta.get("finalizers")
        ]
        stored_form = resource.to_storage(obj)
        self._validate(call, obj, stored_form, live)
        if stored_form == current.obj:
            return current
        if options.dry_run:
            return Stored(current.key, stored_form, current.rv)
        if self._is_finished(resource, stored_form):
            gone = self.store.delete(resource.storage, current.key, current.rv, stored_form)
            self._committed("DELETED", resource, gone, current)
            return Stored(current.key, {**gone.obj}, gone.rv)
        new = self.store.update(resource.storage, current.key, self._with_own_metadata(stored_form), current.rv)
        self._committed("MODIFIED", resource, new, current)
        return new

    @staticmethod
    def _with_own_metadata(obj: Json) -> Json:
        return {**obj, "metadata": dict(obj["metadata"])}

    @staticmethod
    def _is_finished(resource: Resource, obj: Json) -> bool:
        """An object being deleted goes when nothing holds it any more."""
        metadata = obj["metadata"]
        if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
            return False
        if resource.storage == "/namespaces":
            return not (obj.get("spec") or {}).get("finalizers")
        return not metadata.get("deletionGracePeriodSeconds")

    # ---- patch

    def patch(self, call: Call) -> http.Response:
        media = call.request.header("content-type").partition(";")[0].strip().lower()
        if media == APPLY_PATCH:
            return self._apply(call)
        allowed = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH]
        if media not in allowed:
            if call.resource.custom and media.endswith("+json"):
                raise errors.unsupported_media_type(f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}")
            raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
        if media == STRATEGIC_PATCH and (call.resource.custom or call.resource.struct is None):
            raise errors.unsupported_media_type(f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}")
        options = WriteOptions(call.request, "PatchOptions")
        body = self.parse_patch(call, media)

        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            if current is None:
                raise call.not_found()
            live = self._live(call.resource, current)
            doc = self.patched(media, live, body, call.resource.struct)
            obj = self.decode(call, doc, options)
            metadata = obj["metadata"]
            if metadata.get("name", "") != call.name:
                self._check_names(call, metadata)
            if metadata.get("resourceVersion", "") not in ("", str(current.rv)):
                raise call.conflict()
            base = self._managed_base(metadata, live["metadata"])
            return self.finish_update(call, copy(obj), live, current, options, base), False

        stored, _ = self._retry(call, attempt, options)
        return self._respond(call, stored, 200)

    def parse_patch(self, call: Call, media: str) -> Any:
        try:
            body = loads(call.request.body)
        except ParseError as err:
            if media == JSON_PATCH:
                raise errors.bad_request(f"error decoding patch: {err}") from None
            raise errors.bad_request(f"error decoding patch: {err}" if media == MERGE_PATCH else str(err)) from None
        if media == JSON_PATCH:
            if not isinstance(body, list):
                kind = "object" if isinstance(body, dict) else "string" if isinstance(body, str) else "value"
                raise errors.bad_request(
                    f"error decoding patch: json: cannot unmarshal {kind} into Go value of type jsonpatch.Patch"
                )
            if len(body) > patch.MAX_OPERATIONS:
                text = f"The allowed maximum operations in a JSON patch is {patch.MAX_OPERATIONS}, got {len(body)}"
                raise ApiError(413, "RequestEntityTooLarge", text, {})
        elif not isinstance(body, dict):
            raise errors.bad_request(
                "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}"
            )
        return body

    @staticmethod
    def patched(media: str, live: Json, body: Any, struct: schema.Struct | None) -> Json:
        """The patched document. Raises ApiError when the patch does not fit."""
        try:
            if media == JSON_PATCH:
                doc = patch.json_patch(live, body)
            elif media == MERGE_PATCH:
                doc = patch.merge_patch(live, body)
            else:
                doc = patch.strategic_patch(live, body, struct)
        except patch.PatchError as err:
            if media == STRATEGIC_PATCH:
                raise ApiError(400, "BadRequest", str(err)) from None
            raise errors.unprocessable() from None
        except RecursionError:
            raise errors.bad_request("exceeded max depth") from None
        if not isinstance(doc, dict):
            raise errors.unprocessable()
        return doc

    # ---- server-side apply

    def _apply(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "ApplyOptions")
        try:
            doc = loads_yaml(call.request.body)
        except ParseError as err:
            raise errors.bad_request(f"error decoding YAML: {err}") from None
        if not isinstance(doc, dict):
            raise errors.bad_request(
                "error decoding YAML: json: cannot unmarshal into Go value of type map[string]interface {}"
            )
        config = self._check_configuration(call, doc, options)
        stored, created = self._retry(call, lambda current: self._apply_once(call, config, options, current), options)
        return self._respond(call, stored, 201 if created else 200)

    def _check_configuration(self, call: Call, doc: Json, options: WriteOptions) -> Json:
        """The configuration without defaults and zero values, but checked against the type."""
        metadata = doc.get("metadata")
        if not doc.get("apiVersion") or not doc.get("kind"):
            missing = "Kind" if not doc.get("kind") else "apiVersion"
            raise errors.bad_request(f"Object '{missing}' is missing in '{dumps_text(doc)}'")
        if not isinstance(metadata, dict):
            raise errors.bad_request("metadata must be an object")
        if metadata.get("managedFields") is not None:
            raise errors.bad_request("metadata.managedFields must be nil")
        if doc.get("apiVersion") != call.resource.group_version and not call.resource.custom:
            raise errors.bad_request(
                f"Incorrect version specified in apply patch. Specified patch version: {doc.get('apiVersion')}, expected: "
                f"{call.resource.group_version}"
            )
        self.decode(call, copy(doc), options)
        if metadata.get("name") and metadata["name"] != call.name:
            raise errors.bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({call.name})"
            )
        config = _without_nulls(doc)
        if call.resource.struct is not None:
            config = _known_only(config, call.resource.struct)
        elif call.resource.custom:
            config = structural.prune(config, call.resource.structural)[0]
        config["metadata"] = dict(config.get("metadata") or {})
        config["metadata"]["name"] = call.name
        if call.resource.namespaced:
            config["metadata"]["namespace"] = call.namespace
        return config

    def _apply_once(
        self, call: Call, config: Json, options: WriteOptions, current: Stored | None
    ) -> tuple[Stored, bool]:
        resource = call.resource
        node = self._merge_node(resource)
        now = self.times.now_text()
        who = (options.manager, resource.group_version, call.subresource)
        if current is None:
            if call.subresource:
                raise call.not_found()
            if config["metadata"].get("uid"):
                raise call.conflict(
                    f"uid mismatch: the provided object specified uid {config['metadata']['uid']}, and no existing object was found"
                )
            config_set = {
                name: value for name, value in config.items() if name != "status" or not strategy.has_status(resource)
            }
            merged, managed = apply.applied(node, {}, config_set, (), *who, options.force, now, True)
            obj = self.decode(call, merged, None)
            return self.create_object(call, obj, options, managed), True
        live = self._live(resource, current)
        asked = config["metadata"].get("resourceVersion")
        if asked and asked != str(current.rv):
            raise call.conflict()
        if call.subresource == "status":
            config = {name: config[name] for name in ("apiVersion", "kind", "metadata", "status") if name in config}
            names = ("name", "namespace")
            config["metadata"] = {name: config["metadata"][name] for name in names if name in config["metadata"]}
        elif strategy.has_status(resource):
            config = {name: value for name, value in config.items() if name != "status"}
        base = live["metadata"].get("managedFields")
        bare = {**live, "metadata": {k: v for k, v in live["metadata"].items() if k != "managedFields"}}
        merged, managed = apply.applied(node, bare, config, base, *who, options.force, now, False)
        obj = self.decode(call, merged, None)
        return self.finish_update(call, copy(obj), live, current, options, base, managed), False

    # ---- delete

    def delete_options(self, call: Call) -> DeleteOptions:
        body: Any = {}
        if call.request.body.strip():
            media = call.request.header("content-type", "application/json").partition(";")[0].strip().lower()
            if media not in ("application/json", "application/yaml", ""):
                raise errors.unsupported_media_type(_CUSTOM_TYPES if call.resource.custom else _BUILTIN_TYPES)
            try:
                body = loads_yaml(call.request.body) if media == "application/yaml" else loads(call.request.body)
            except ParseError as err:
                raise errors.bad_request(f"couldn't get version/kind; json parse error: {err}") from None
            if not isinstance(body, dict):
                raise errors.bad_request("json: cannot unmarshal into Go value of type v1.DeleteOptions")
        return DeleteOptions(call.request, body)

    def delete(self, call: Call) -> http.Response:
        options = self.delete_options(call)
        uid = ""

        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            nonlocal uid
            if current is None:
                raise call.not_found()
            uid = current.obj["metadata"]["uid"]
            return self.delete_object(call, current, options)

        stored, gone = self._retry(call, attempt, options)
        if gone and not strategy.returns_deleted_object(call.resource):
            return self.documents.deleted(call.resource, call.name, uid, call.form)
        return self._respond(call, stored, 200)

    def delete_object(self, call: Call, current: Stored, options: DeleteOptions) -> tuple[Stored, bool]:
        """Delete, or mark for deletion what is held: (what to show, whether it is gone)."""
        resource = call.resource
        obj = current.obj
        metadata = obj["metadata"]
        self._check_preconditions(call, current, options)
        finalizers = self._deletion_finalizers(metadata.get("finalizers") or [], options.policy)
        if resource.storage == "apiextensions.k8s.io/customresourcedefinitions":
            from clientgo.testing.apiserver.crd import CLEANUP_FINALIZER

            if CLEANUP_FINALIZER not in finalizers and not metadata.get("deletionTimestamp"):
                finalizers = [*finalizers, CLEANUP_FINALIZER]
        grace = strategy.deletion_grace(resource, obj, options.grace)
        held = bool(finalizers) or (
            resource.storage == "/namespaces" and bool((obj.get("spec") or {}).get("finalizers"))
        )
        already = metadata.get("deletionTimestamp")
        if not held and grace == 0:
            return self._delete_now(resource, current, options.dry_run), True
        if already and finalizers == (metadata.get("finalizers") or []):
            known = metadata.get("deletionGracePeriodSeconds") or 0
            if grace >= known:
                return current, False
        return self._mark_deleted(resource, current, finalizers, grace, options.dry_run), False

    def _check_preconditions(self, call: Call, current: Stored, options: DeleteOptions) -> None:
        metadata = current.obj["metadata"]
        group, kind, name = call.resource.group, call.resource.kind, metadata["name"]
        if options.uid is not None and options.uid != metadata["uid"]:
            raise errors.conflict(
                group, kind, name,
                f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
                "The object might have been deleted and then recreated",
            )  # fmt: skip
        if options.version is not None and options.version != metadata["resourceVersion"]:
            raise errors.conflict(
                group, kind, name,
                f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in record "
                f"({metadata['resourceVersion']}). The object might have been modified",
            )  # fmt: skip

    @staticmethod
    def _deletion_finalizers(known: list[str], policy: str) -> list[str]:
        """The finalizers after the propagation policy had its say."""
        if not policy:
            return list(known)
        out = [name for name in known if name not in ("orphan", "foregroundDeletion")]
        if policy == "Orphan":
            out.append("orphan")
        elif policy == "Foreground":
            out.append("foregroundDeletion")
        return out

    def _delete_now(self, resource: Resource, current: Stored, dry_run: bool) -> Stored:
        last: Json | None = None
        if resource.storage == "/pods":
            last = self._marked(resource, current.obj, current.obj["metadata"].get("finalizers"), 0)
        if dry_run:
            return current
        gone = self.store.delete(resource.storage, current.key, current.rv, last)
        self._committed("DELETED", resource, gone, current)
        return gone

    def _marked(self, resource: Resource, obj: Json, finalizers: Any, grace: int) -> Json:
        metadata = dict(obj["metadata"])
        metadata["deletionTimestamp"] = metadata.get("deletionTimestamp") or self.times.text(
            self.times.clock.now() + grace
        )
        if grace == 0 and metadata.get("deletionGracePeriodSeconds"):
            metadata["deletionTimestamp"] = self.times.now_text()
        metadata["deletionGracePeriodSeconds"] = grace
        if not obj["metadata"].get("deletionTimestamp") and metadata.get("generation"):
            metadata["generation"] += 1
        if finalizers:
            metadata["finalizers"] = finalizers
        else:
            metadata.pop("finalizers", None)
        out = {**obj, "metadata": metadata}
        if resource.storage == "/namespaces":
            out["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
        if resource.struct is not None and not resource.converted:
            return strategy.normalise(resource, out)
        if resource.custom:
            out["metadata"] = {name: metadata[name] for name in sorted(metadata)}
        return out

    def _mark_deleted(
        self, resource: Resource, current: Stored, finalizers: list[str], grace: int, dry_run: bool
    ) -> Stored:
        obj = self._marked(resource, current.obj, finalizers, grace)
        if dry_run:
            return Stored(current.key, obj, current.rv)
        new = self.store.update(resource.storage, current.key, obj, current.rv)
        self._committed("MODIFIED", resource, new, current)
        return new

    def delete_collection(self, call: Call) -> http.Response:
        options = self.delete_options(call)
        list_options = ListOptions(call.request, watch=False)
        selection = Selection(call.resource, list_options.label_selector, list_options.field_selector)
        version, items, _ = self._page(call, list_options, selection)
        for item in items:
            one = Call(call.request, call.resource, item.namespace, item.name, "", call.form)
            try:
                self._retry(one, self._deleter(one, options), options)
            except ApiError as err:
                if err.code != 404:
                    raise
        metadata = {"resourceVersion": str(version)}
        return self.documents.many(call.resource, items, metadata, call.form, call.request)

    def _deleter(self, call: Call, options: DeleteOptions) -> Callable[[Stored | None], tuple[Stored, bool]]:
        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            if current is None:
                raise call.not_found()
            return self.delete_object(call, current, options)

        return attempt

    # ---- answers

    def _respond(self, call: Call, stored: Stored, status: int) -> http.Response:
        response = self.documents.one(call.resource, stored, call.form, call.request, status)
        if call.warnings:
            response.headers["Warning"] = warning_header(call.warnings)
        return response


_STREAM_HEAD = http.head(
    200,
    {
        "Cache-Control": "no-cache, private",
        "Content-Type": "application/json",
        "Transfer-Encoding": "chunked",
    },
)


def _initial_lines(view: View, first: list[Any], bookmark: int | None) -> Iterator[bytes]:
    """What a watch begins with: objects or missed events, and the bookmark that ends a streaming list."""
    for item in first:
        yield view.line(item) if isinstance(item, Event) else view.initial(item)
    if bookmark is not None:
        yield view.bookmark(bookmark, True)


def warning_header(texts: list[str]) -> str:
    """Several warnings go out as one header each; see http.head."""
    values = []
    for text in dict.fromkeys(texts):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        values.append(f'299 - "{escaped}"')
    return "\r\nWarning: ".join(values)


def _decode_metadata(doc: Json, unknown: list[str]) -> Json:
    ctx = schema.Context()
    struct = schema.structure(schema.META_V1, "ObjectMeta")
    out: Json = struct.decode(doc.get("metadata"), ctx, "metadata", "ObjectMeta.metadata")
    unknown += ctx.unknown
    return out


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _known_only(value: Any, struct: schema.Struct | None, package: str = "") -> Any:
    """The configuration without fields the built-in type does not have."""
    if struct is None or not isinstance(value, dict):
        return value
    out: Json = {}
    for name, item in value.items():
        field = struct.fields.get(name)
        if field is None:
            continue
        inner = field.codec.struct
        if inner is not None:
            out[name] = _known_only(item, inner)
            continue
        elem = schema.element(field.type, struct.package)
        if elem is None or elem.struct is None:
            out[name] = item
        elif isinstance(item, list):
            out[name] = [_known_only(each, elem.struct) for each in item]
        elif isinstance(item, dict):
            out[name] = {key: _known_only(each, elem.struct) for key, each in item.items()}
        else:
            out[name] = item
    return out


__all__ = ["APPLY_PATCH", "Call", "Rest", "warning_header"]
