"""The verbs that delete: preconditions, finalizers, grace periods, propagation, collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clientgo.testing.apiserver.kinds import crd, strategy
from clientgo.testing.apiserver.kinds.registry import Resource
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs import decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Services, Verb
from clientgo.testing.apiserver.verbs.options import DeleteOptions, query_of_deletion
from clientgo.testing.apiserver.verbs.reading import Reader
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, ParseError, loads, loads_yaml
from clientgo.testing.apiserver.wire.negotiation import CBOR, PROTOBUF

_JOBS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set "
    "propagationPolicy=Orphan to suppress this warning"
)
_IMMORTAL_NAMESPACES = ("default", "kube-public", "kube-system")
# Their own registries mark them, without a grace period.
_WITHOUT_GRACE = ("/namespaces", crd.STORAGE)


class Deleter(Verb):
    """Removes objects, or marks those that something holds."""

    def __init__(self, services: Services, reader: Reader) -> None:
        super().__init__(services)
        self._reader = reader

    def delete_options(self, call: Call) -> DeleteOptions:
        """Return the options in the request's body, or of its query when the body is empty. Raises ApiError."""
        if not call.request.body:
            return DeleteOptions(query_of_deletion(call.request))
        return DeleteOptions(decoding.decode_delete_options(call, self._body_of_options(call)))

    @staticmethod
    def _body_of_options(call: Call) -> Json:
        media = call.request.media_type("application/json")
        if media == PROTOBUF:
            return decoding.read_protobuf(call.resource, call.request.body)
        if media == CBOR and call.request.speaks_cbor:
            return decoding.read_cbor(call.resource, call.request.body)
        if media not in ("application/json", "application/yaml", ""):
            raise decoding.unsupported_body(call)
        try:
            body = loads_yaml(call.request.body) if media == "application/yaml" else loads(call.request.body)
        except ParseError as err:
            raise errors.bad_request(f"couldn't get version/kind; json parse error: {err}") from None
        if body is None:
            # Null is an object without fields.
            return {}
        if not isinstance(body, dict):
            raise errors.bad_request(f"couldn't get version/kind; json parse error: {decoding.no_object(body)}")
        if body.get("kind") not in (None, "", "DeleteOptions"):
            raise errors.bad_request(
                f'no kind "{body["kind"]}" is registered for version "{body.get("apiVersion") or "v1"}" in scheme '
                '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
            )
        return body

    def delete(self, call: Call) -> http.Response:
        options = self.delete_options(call)
        uid = ""

        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            nonlocal uid
            if current is None:
                raise call.not_found()
            uid = current.obj["metadata"]["uid"]
            return self.delete_object(call, current, options)

        stored, gone = self.retry(call, attempt)
        if gone and not strategy.returns_deleted_object(call.resource):
            return self.documents.deleted(call.resource, call.name, uid, call.form)
        return self.respond(call, stored, 200)

    def delete_object(self, call: Call, current: Stored, options: DeleteOptions) -> tuple[Stored, bool]:
        """Delete an object, or mark it if finalizers hold it. Return (the object to show, whether it is deleted)."""
        resource = call.resource
        obj = current.obj
        metadata = obj["metadata"]
        self._check_preconditions(call, current, options)
        if not call.subresource:
            # Webhooks see an eviction as an eviction, not as a deletion.
            self.webhooks.delete(call, self.live(resource, current), options)
        if resource.storage == "/namespaces" and current.name in _IMMORTAL_NAMESPACES:
            raise errors.forbidden("", "namespaces", current.name, "this namespace may not be deleted")
        if resource.storage == "batch/jobs" and not options.policy:
            call.warnings.append(_JOBS)
        finalizers = self._deletion_finalizers(resource, metadata.get("finalizers") or [], options.policy)
        if resource.storage == crd.STORAGE and not metadata.get("deletionTimestamp"):
            finalizers = [*finalizers, crd.CLEANUP_FINALIZER]
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
                f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion "
                f"in record "
                f"({metadata['resourceVersion']}). The object might have been modified",
            )  # fmt: skip

    @staticmethod
    def _deletion_finalizers(resource: Resource, known: list[str], policy: str) -> list[str]:
        """Return the object's finalizers, changed as the propagation policy demands.

        Without a policy, the object's finalizers orphan and foregroundDeletion take precedence over the kind's default.
        """
        if not policy:
            if not strategy.orphans_dependents(resource) or {"orphan", "foregroundDeletion"} & set(known):
                return list(known)
            policy = "Orphan"
        out = [name for name in known if name not in ("orphan", "foregroundDeletion")]
        if policy == "Orphan":
            out.append("orphan")
        elif policy == "Foreground":
            out.append("foregroundDeletion")
        return out

    def _delete_now(self, resource: Resource, current: Stored, dry_run: bool) -> Stored:
        if resource.storage == "/pods":
            # Pods go gracefully, even those that go at once: they are marked, and then removed.
            current = self._mark_deleted(resource, current, current.obj["metadata"].get("finalizers") or [], 0, dry_run)
        if dry_run:
            return current
        gone = self.store.delete(resource.storage, current.key, current.rv)
        self.committed("DELETED", resource, gone, current)
        return gone

    def _marked(self, resource: Resource, obj: Json, finalizers: Any, grace: int) -> Json:
        metadata = dict(obj["metadata"])
        metadata["deletionTimestamp"] = metadata.get("deletionTimestamp") or self.times.text(
            self.times.clock.now() + grace
        )
        if grace == 0 and metadata.get("deletionGracePeriodSeconds"):
            metadata["deletionTimestamp"] = self.times.now_text()
        if resource.storage not in _WITHOUT_GRACE:
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
        elif resource.storage == crd.STORAGE:
            out = crd.marked_for_deletion(out, self.times.now_text())
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
        self.committed("MODIFIED", resource, new, current)
        return new

    def delete_collection(self, call: Call) -> http.Response:
        options = self.delete_options(call)
        list_options = self.list_options(call, watch=False)
        selection = self.selection(call, list_options)
        version, items, more = self._reader.page(call, list_options, selection)
        for item in items:
            one = Call(call.request, call.resource, item.namespace, item.name, "", call.form)
            try:
                self.retry(one, self._deleter(one, options))
            except ApiError as err:
                if err.code != 404:
                    raise
        metadata = {"resourceVersion": str(version), **more}
        return self.documents.many(call.resource, items, metadata, call.form, call.request, selection.shard_info)

    def _deleter(self, call: Call, options: DeleteOptions) -> Callable[[Stored | None], tuple[Stored, bool]]:
        def attempt(current: Stored | None) -> tuple[Stored, bool]:
            if current is None:
                raise call.not_found()
            return self.delete_object(call, current, options)

        return attempt
