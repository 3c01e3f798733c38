"""The verbs that write: create, update, patch and apply. Mirrors apiserver's registry/generic/registry.

Each is computed from immutable stored objects without a lock and committed by compare-and-swap; a lost race is computed
again.
"""

from __future__ import annotations

import itertools
import secrets
from typing import Any

from clientgo.apimachinery.util import managedfields
from clientgo.testing.apiserver.access import signing
from clientgo.testing.apiserver.access.rbac import Attributes
from clientgo.testing.apiserver.admission.request import AdmissionRequest
from clientgo.testing.apiserver.kinds import (
    certificates,
    ownership,
    strategy,
    validation,
    warnings,
)
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Exists, Stored, with_version
from clientgo.testing.apiserver.verbs import configuration, decoding, sizes
from clientgo.testing.apiserver.verbs.call import Call, internal_call
from clientgo.testing.apiserver.verbs.core import Services, Verb
from clientgo.testing.apiserver.verbs.options import WriteOptions, stored_version
from clientgo.testing.apiserver.verbs.validating import validate
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, copy, sort_keys

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_NAME_BASE = 58
# Attempts to find a generated name that is free, as in kube-apiserver.
_NAME_TRIES = 8


def _generated_name(base: str) -> str:
    """Return a name of `base` and five random characters. Go: names.SimpleNameGenerator."""
    return base + "".join(secrets.choice(_SUFFIX_ALPHABET) for _ in range(5))


def _own_levels(obj: Json) -> Json:
    """Return a copy of the object, its metadata and its spec, which are the levels that strategies change."""
    return {
        name: dict(value) if name in ("metadata", "spec") and isinstance(value, dict) else value
        for name, value in obj.items()
    }


class Writer(Verb):
    """Checks, completes and stores objects."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._addresses = itertools.count(10)
        self._ports = itertools.count(30000)

    # ---- create

    def create(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "CreateOptions")
        doc = decoding.read_body(call)
        obj = decoding.decode(call, doc, options, call.request.body)
        metadata = obj["metadata"]
        if call.name and call.resource.custom and not metadata.get("name"):
            metadata["name"] = call.name
        if metadata.get("resourceVersion"):
            raise errors.internal_text("resourceVersion should not be set on objects to be created")
        return self.respond(call, self.create_object(call, obj, options), 201)

    def create_own(self, resource: Resource, namespace: str, doc: Json) -> Stored:
        """Create an object on the server's own behalf, without a request. Raises ApiError."""
        call = internal_call("POST", "kube-apiserver", resource, namespace)
        options = WriteOptions(call.request, "CreateOptions")
        return self.create_object(call, decoding.decode(call, doc, options), options)

    def create_object(self, call: Call, obj: Json, options: WriteOptions, managed: list[Json] | None = None) -> Stored:
        """Store a decoded object. Raises ApiError; a name made from generateName is tried again when taken."""
        resource = call.resource
        managed = self._start_create(call, obj, options, managed)
        self.plugins.admit(AdmissionRequest(resource, call.namespace, obj["metadata"].get("name", ""), obj))
        obj = self._mutated_create(call, obj, options, managed)
        self.may_grant(call.request.user, resource, call.namespace, obj, None)
        name_base = self._set_system_fields(call, obj)
        obj = self._in_order(resource, obj)
        stored_form = resource.to_storage(obj)
        self._validate(call, obj, stored_form, None)
        call.warnings += validation.finalizer_warnings(obj["metadata"].get("finalizers"))
        call.warnings += warnings.of_object(resource, obj, None)
        self._check_may_create(call)
        self._admit_complete(call, obj, None, options)
        if options.dry_run:
            return self._dry(call, stored_form)
        return self._store_new(resource, sizes.fitting(resource, stored_form), name_base)

    def _start_create(self, call: Call, obj: Json, options: WriteOptions, managed: list[Json] | None) -> list[Json]:
        """Check the namespace, drop fields that a client cannot set, and return the managedFields, also set."""
        metadata = obj["metadata"]
        self._check_namespace(call, metadata)
        self._wipe_system_fields(metadata)
        call.warnings += strategy.drop_repeated_owners(metadata)
        if managed is None:
            managed = self.managed_create(call.resource, obj, options.manager)
        ownership.set_managed(obj, managed)
        return managed

    def _set_system_fields(self, call: Call, obj: Json) -> str:
        """Set the fields that the server sets. Return the beginning of a generated name, "" for a given name."""
        resource, metadata = call.resource, obj["metadata"]
        metadata["uid"] = self.new_uid()
        metadata["creationTimestamp"] = self.times.now_text()
        name_base = "" if metadata.get("name") else metadata.get("generateName", "")[:_NAME_BASE]
        if name_base:
            metadata["name"] = _generated_name(name_base)
        if resource.storage == "/namespaces":
            labels = metadata.setdefault("labels", {})
            labels["kubernetes.io/metadata.name"] = metadata.get("name", "")
        strategy.before_create(resource, obj, self.allocate)
        self._stamp_phase(resource, obj, None)
        if resource.storage == certificates.STORAGE:
            signing.set_requester(obj, call.request.user)
        return name_base

    def _store_new(self, resource: Resource, stored_form: Json, name_base: str) -> Stored:
        """Store a new object. Tries other names if `name_base` is not "". Raises ApiError when the name is taken."""
        for _ in range(_NAME_TRIES):
            key = self._key(resource, stored_form)
            try:
                stored = self.store.create(resource.storage, key, self._with_placeholder(resource, stored_form))
            except Exists:
                metadata = stored_form["metadata"]
                if not name_base:
                    generates = bool(metadata.get("generateName"))
                    raise self._already_exists(resource, key, metadata["name"], generates=generates) from None
                stored_form = {**stored_form, "metadata": {**metadata, "name": _generated_name(name_base)}}
                continue
            self.committed("ADDED", resource, stored, None)
            return stored
        raise errors.already_exists(resource.group, resource.plural, stored_form["metadata"]["name"])

    def _validate(self, call: Call, obj: Json, stored_form: Json, old: Json | None) -> None:
        """Raise ApiError 422 if the object is invalid, or refers to parameters that its writer may not read."""
        validate(call, obj, stored_form, old)
        error = self.may_read(call.request.user, call.resource, obj, old)
        if error is not None:
            raise errors.invalid(call.resource.group, call.resource.kind, obj["metadata"].get("name", ""), [error])

    def _check_may_create(self, call: Call) -> None:
        """Raise ApiError 403 when an update or an apply comes to a creation that its user may not make."""
        user = call.request.user
        if call.request.method == "POST" or user is None:
            return
        resource = call.resource
        self.authorize(
            user,
            Attributes(
                "create",
                group=resource.group,
                version=resource.version,
                resource=resource.plural,
                namespace=call.namespace,
                name=call.name,
            ),
        )

    def _already_exists(self, resource: Resource, key: str, name: str, *, generates: bool) -> ApiError:
        """Return the error for a name that exists.

        It mentions that the object is being deleted, so that clients retry.
        """
        err = errors.already_exists(resource.group, resource.plural, name)
        if generates:
            return errors.generate_name_conflict(resource.group, resource.plural, name)
        stored = self.store.get(resource.storage, key)
        if stored is not None and stored.obj["metadata"].get("deletionTimestamp"):
            return ApiError(err.code, err.reason, f"object is being deleted: {err.message}", err.details)
        return err

    def _mutated_create(self, call: Call, obj: Json, options: WriteOptions, managed: list[Json]) -> Json:
        """Return the new object after the mutating webhooks. Raises ApiError."""
        made = self.webhooks.mutate(call, obj, None, options)
        if made is not obj:
            self._check_namespace(call, made["metadata"])
            self._wipe_system_fields(made["metadata"])
            ownership.set_managed(made, managed)
        return made

    @staticmethod
    def _wipe_system_fields(metadata: Json) -> None:
        for name in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            metadata.pop(name, None)

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
        """Return a copy with a resourceVersion at its place in the metadata, which the store replaces."""
        metadata = with_version(obj["metadata"], 0)
        if resource.custom:
            metadata = {name: metadata[name] for name in sorted(metadata)}
        return {**obj, "metadata": metadata}

    def _check_namespace(self, call: Call, metadata: Json) -> None:
        if call.resource.namespaced:
            decoding.set_namespace(call, metadata)
            if not call.namespace:
                raise errors.bad_request("an empty namespace may not be set during creation")
        elif metadata.get("namespace", ""):
            metadata.pop("namespace", None)

    def allocate(self, kind: str) -> str:
        if kind == "port":
            return str(30000 + next(self._ports) % 2768)
        number = next(self._addresses)
        return f"10.96.{number // 250 % 250}.{number % 250 + 1}"

    def managed_create(self, resource: Resource, obj: Json, manager: str) -> list[Json]:
        """Return the managedFields of a new object."""
        ignored = strategy.reset_fields(resource, "", obj, obj)
        writer = managedfields.Writer(manager, resource.group_version)
        node, zero = ownership.merge_node(resource), ownership.zero(resource)
        return managedfields.updated(node, zero, obj, (), writer, self.times.now_text(), ignored)

    @staticmethod
    def _in_order(resource: Resource, obj: Json) -> Json:
        if resource.custom:
            out: Json = sort_keys(obj)
            return out
        if resource.struct is None:
            return obj
        return strategy.normalise(resource, obj)

    # ---- update

    def update(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "UpdateOptions")
        doc = decoding.read_body(call)
        if call.resource.custom and not call.name:
            raise errors.bad_request("name must be provided")
        obj = decoding.decode(call, doc, options, call.request.body)
        self._check_names(call, obj["metadata"])
        stored, created = self.retry(call, lambda current: self._put(call, copy(obj), options, current))
        return self.respond(call, stored, 201 if created else 200)

    def _check_names(self, call: Call, metadata: Json) -> None:
        name = metadata.get("name", "")
        if not name:
            raise errors.bad_request(
                f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
            )
        if name != call.name:
            raise errors.bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({call.name})"
            )
        if call.resource.namespaced:
            decoding.set_namespace(call, metadata)

    def _put(self, call: Call, obj: Json, options: WriteOptions, current: Stored | None) -> tuple[Stored, bool]:
        resource = call.resource
        metadata = obj["metadata"]
        uid = metadata.get("uid", "")
        creates = strategy.creates_on_update(resource) and not call.subresource
        if current is None and not creates:
            raise call.not_found()
        if uid:
            self.check_uid(call, uid, "" if current is None else current.obj["metadata"]["uid"])
        given = stored_version(metadata)
        if current is None:
            return self.create_object(call, obj, options), True
        live = self.live(resource, current)
        if not given and strategy.needs_version_on_update(resource):
            error = errors.field_invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise errors.invalid(resource.group, resource.plural, call.name, [error])
        if given and given != current.rv:
            raise call.conflict()
        base = self._managed_base(call, metadata, live["metadata"])
        return self.finish_update(call, obj, live, current, options, base), False

    def check_uid(self, call: Call, uid: str, stored: str) -> None:
        """Raise ApiError 409 if the stored object has another uid. A missing object has the uid ""."""
        if uid != stored:
            raise call.conflict(
                f"StorageError: invalid object, Code: 4, Key: {self._etcd_key(call)}, ResourceVersion: 0, "
                f"AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {stored}"
            )

    @staticmethod
    def _etcd_key(call: Call) -> str:
        resource = call.resource
        head = f"{resource.group}/" if resource.custom else ""
        plural = {"services": "services/specs", "endpoints": "services/endpoints"}.get(resource.plural, resource.plural)
        return f"/registry/{head}{plural}/{call.key}"

    @staticmethod
    def _managed_base(call: Call, given: Json, live: Json) -> Any:
        """Return the managedFields that an update starts from."""
        entries, kept = given.get("managedFields"), live.get("managedFields")
        return managedfields.live_or_new(entries, kept, subresource=bool(call.subresource))

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
        """Finish a PUT, PATCH, apply or scale. `obj` is owned and decoded; raises Changed when overtaken."""
        resource = call.resource
        metadata, old_meta = obj["metadata"], live["metadata"]
        call.warnings += strategy.drop_repeated_owners(metadata)
        self._keep_system_fields(metadata, old_meta)
        sent = obj
        obj = self._without_foreign_changes(call, _own_levels(obj), live)
        if managed is None:
            # Fields belong to who sent them, and not to who got them from the server.
            owned = sent if call.subresource in ("", "status") else obj
            managed = self._managed_update(call, owned, live, options, base)
        obj["metadata"] = dict(obj["metadata"])
        ownership.set_managed(obj, managed)
        if not call.admitted:
            self.plugins.admit(AdmissionRequest(resource, call.namespace, call.name, obj, live, call.subresource))
            obj = self._mutated_update(call, obj, live, options, managed)
        self.may_grant(call.request.user, resource, call.namespace, obj, live)
        obj = self._in_order(resource, obj)
        stored_form = resource.to_storage(obj)
        self._validate(call, obj, stored_form, live)
        call.warnings += [
            text
            for text in validation.finalizer_warnings(obj["metadata"].get("finalizers"))
            if obj["metadata"].get("finalizers") != old_meta.get("finalizers")
        ]
        if call.subresource == "":
            call.warnings += warnings.of_object(resource, obj, live)
        if not call.admitted:
            self._admit_complete(call, obj, live, options)
        if self._is_stored(stored_form, current.obj):
            return current
        if options.dry_run:
            return Stored(current.key, stored_form, current.rv)
        if self.is_finished(resource, stored_form):
            # Watches see the stored object; the client sees the result of its request.
            gone = self.store.delete(resource.storage, current.key, current.rv)
            self.committed("DELETED", resource, gone, current)
            return Stored(current.key, stored_form, current.rv)
        stored_form = sizes.fitting(resource, stored_form)
        new = self.store.update(resource.storage, current.key, self._with_own_metadata(stored_form), current.rv)
        self.committed("MODIFIED", resource, new, current)
        return new

    def _admit_complete(self, call: Call, obj: Json, old: Json | None, options: WriteOptions) -> None:
        """Ask plugins, policies and webhooks about an object that is valid. Raises ApiError."""
        request = AdmissionRequest(
            call.resource,
            call.namespace,
            obj["metadata"].get("name", ""),
            obj,
            old,
            call.subresource,
            options.dry_run,
            call.warnings,
            self.times,
            self.registry,
        )
        if call.resource.storage == certificates.STORAGE and old is not None and call.request.user is not None:
            signing.check_rights(self.authorize, call.request.user, call.subresource, obj, old)
        self.plugins.validate(request)
        self.webhooks.validate(call, obj, old, options)
        self.plugins.charge(request)

    def _stamp_phase(self, resource: Resource, obj: Json, old: Json | None) -> None:
        """Set the time at which a volume entered its phase."""
        if resource.storage != "/persistentvolumes":
            return
        before, status = (old or {}).get("status") or {}, obj.get("status") or {}
        if old is None or before.get("phase") != status.get("phase"):
            obj["status"] = {**status, "lastPhaseTransitionTime": self.times.now_text()}

    def _managed_update(self, call: Call, obj: Json, live: Json, options: WriteOptions, base: Any) -> list[Json]:
        if not base:
            # After a write has cleared the managers, none are kept until the next apply.
            return []
        resource = call.resource
        ignored = strategy.reset_fields(resource, call.subresource, obj, live)
        writer = managedfields.Writer(options.manager, resource.group_version, call.subresource)
        node, now = ownership.merge_node(resource), self.times.now_text()
        return managedfields.updated(node, live, obj, base, writer, now, ignored)

    @staticmethod
    def _is_stored(obj: Json, stored: Json) -> bool:
        """Report whether the write changes nothing. A change of only the times of managed fields does not count."""
        return obj == stored or ownership.without_times(obj) == ownership.without_times(stored)

    def _without_foreign_changes(self, call: Call, obj: Json, live: Json) -> Json:
        """Return the object with only the changes that this (sub)resource makes, and with the server's own fields."""
        if call.subresource == "approval":
            return signing.decided(obj, live, self.times.now_text())
        obj = strategy.before_update(call.resource, obj, live, call.subresource, self.allocate)
        if call.subresource == "status" and call.resource.storage == certificates.STORAGE:
            obj = signing.issued(obj, live, self.times.now_text())
        self._stamp_phase(call.resource, obj, live)
        return obj

    def _mutated_update(self, call: Call, obj: Json, live: Json, options: WriteOptions, managed: list[Json]) -> Json:
        """Return the changed object after the mutating webhooks, without changes that a client could not make."""
        made = self.webhooks.mutate(call, obj, live, options)
        if made is obj:
            return obj
        self._keep_system_fields(made["metadata"], live["metadata"])
        made = self._without_foreign_changes(call, made, live)
        made["metadata"] = dict(made["metadata"])
        ownership.set_managed(made, managed)
        return made

    @staticmethod
    def _keep_system_fields(metadata: Json, old: Json) -> None:
        metadata["resourceVersion"] = old["resourceVersion"]
        if not metadata.get("uid"):
            metadata["uid"] = old["uid"]
        for name in ("creationTimestamp", "selfLink"):
            if name in old:
                metadata[name] = old[name]
            else:
                metadata.pop(name, None)
        # A write cannot remove these; validation rejects one that sets them.
        if old.get("deletionTimestamp"):
            metadata["deletionTimestamp"] = old["deletionTimestamp"]
        if old.get("deletionGracePeriodSeconds") is not None:
            metadata.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])

    @staticmethod
    def _with_own_metadata(obj: Json) -> Json:
        return {**obj, "metadata": dict(obj["metadata"])}

    @staticmethod
    def is_finished(resource: Resource, obj: Json) -> bool:
        """Report whether an object that is being deleted has no finalizers and no grace period left."""
        metadata = obj["metadata"]
        if not metadata.get("deletionTimestamp") or metadata.get("finalizers"):
            return False
        if resource.storage == "/namespaces":
            return not (obj.get("spec") or {}).get("finalizers")
        return not metadata.get("deletionGracePeriodSeconds")

    # ---- patch

    def patch(self, call: Call) -> http.Response:
        media = call.request.media_type()
        if decoding.is_apply(call, media):
            return self._apply(call)
        decoding.check_patch_type(call, media)
        options = WriteOptions(call.request, "PatchOptions")
        body = decoding.parse_patch(call, media)

        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            if current is None:
                raise call.not_found()
            live = self.live(call.resource, current)
            doc = decoding.patched(media, live, body, call.resource.struct)
            obj = decoding.decode_patched(call, live, doc, body, media, options)
            metadata = obj["metadata"]
            self._check_names(call, metadata)
            if stored_version(metadata) not in (0, current.rv):
                raise call.conflict()
            base = self._managed_base(call, metadata, live["metadata"])
            # Decoding has copied all of it, except for kinds that are not decoded.
            own = obj if call.resource.custom or call.resource.struct is not None else copy(obj)
            return self.finish_update(call, own, live, current, options, base), False

        stored, _ = self.retry(call, attempt)
        return self.respond(call, stored, 200)

    # ---- server-side apply

    def _apply(self, call: Call) -> http.Response:
        options = WriteOptions(call.request, "ApplyOptions")
        config = configuration.of_resource(call)
        stored, created = self.retry(call, lambda current: self._apply_once(call, config, options, current))
        return self.respond(call, stored, 201 if created else 200)

    def _apply_once(
        self, call: Call, config: Json, options: WriteOptions, current: Stored | None
    ) -> tuple[Stored, bool]:
        resource = call.resource
        node = ownership.merge_node(resource)
        now = self.times.now_text()
        writer = managedfields.Writer(options.manager, resource.group_version, call.subresource)
        if current is None:
            if call.subresource:
                raise call.not_found()
            uid = (config.get("metadata") or {}).get("uid")
            if uid:
                raise call.conflict(
                    f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                )
            config_set = {
                name: value for name, value in config.items() if name != "status" or not strategy.has_status(resource)
            }
            merged, managed = managedfields.applied(
                node, {}, config_set, (), writer, now, force=options.force, created=True
            )
            obj = configuration.decode_merged(call, merged, config, options)
            self._check_names(call, obj["metadata"])
            return self.create_object(call, obj, options, managed), True
        live = self.live(resource, current)
        if call.subresource == "status":
            metadata = config.get("metadata") or {}
            config = {name: config[name] for name in ("apiVersion", "kind", "metadata", "status") if name in config}
            names = ("name", "namespace", "resourceVersion", "uid")
            config["metadata"] = {name: metadata[name] for name in names if name in metadata}
        elif call.subresource == "approval" or strategy.has_status(resource):
            reset = "spec" if call.subresource == "approval" else "status"
            config = {name: value for name, value in config.items() if name != reset}
        base = live["metadata"].get("managedFields")
        bare = {**live, "metadata": {k: v for k, v in live["metadata"].items() if k != "managedFields"}}
        try:
            merged, managed = managedfields.applied(
                node,
                bare,
                config,
                base,
                writer,
                now,
                force=options.force,
                created=False,
                empty=ownership.zero(resource),
            )
        except managedfields.ConflictError as err:
            raise errors.apply_conflict(str(err), err.causes) from None
        obj = configuration.decode_merged(call, merged, config, options)
        self._check_names(call, obj["metadata"])
        if stored_version(obj["metadata"]) not in (0, current.rv):
            raise call.conflict()
        return self.finish_update(call, copy(obj), live, current, options, base, managed), False
