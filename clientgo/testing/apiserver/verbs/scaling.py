"""The scale subresource: replicas of an object as an autoscaling/v1 Scale of their own.

Mirrors the ScaleREST of kube-apiserver's workloads and of custom resources: the Scale is made of the object, and
written like any other object with its own field managers; then its values are copied to the object.
"""

from __future__ import annotations

from typing import Any

from clientgo.apimachinery.util import managedfields
from clientgo.applyconfigurations import internal
from clientgo.testing.apiserver.kinds import schema, selectors
from clientgo.testing.apiserver.store.storage import Stored
from clientgo.testing.apiserver.verbs import configuration, decoding
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.options import WriteOptions, stored_version
from clientgo.testing.apiserver.verbs.writing import Writer
from clientgo.testing.apiserver.views.documents import render
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json, copy
from clientgo.testing.apiserver.wire.negotiation import include_object

VERSION = managedfields.SCALE_VERSION


def _at(obj: Json, path: str) -> Any:
    value: Any = obj
    for name in _names(path):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _with(obj: Json, path: str, new: Any) -> Json:
    """Return the object with another value at the path. Raises ApiError 500 if no field can have this path."""
    names = _names(path)
    out = dict(obj)
    node = out
    for depth, name in enumerate(names[:-1], 1):
        if not isinstance(node.get(name, {}), dict):
            where = ".".join(names[:depth])
            raise errors.internal_text(f"value cannot be set because .{where} is not a map[string]interface{{}}")
        node[name] = dict(node.get(name, {}))
        node = node[name]
    node[names[-1]] = new
    return out


def _paths(call: Call) -> tuple[str, str, str]:
    """Return the JSON paths of spec.replicas, status.replicas and the selector."""
    if call.resource.custom:
        scale = (call.resource.crd_version.get("subresources") or {}).get("scale") or {}
        return (
            scale.get("specReplicasPath", ""),
            scale.get("statusReplicasPath", ""),
            scale.get("labelSelectorPath", ""),
        )
    return ".spec.replicas", ".status.replicas", ".spec.selector"


def scale_of(call: Call, obj: Json) -> Json:
    """Return the autoscaling/v1 Scale of an object."""
    spec_path, status_path, selector_path = _paths(call)
    metadata = {
        name: obj["metadata"][name]
        for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if obj["metadata"].get(name)
    }
    if call.resource.custom:
        replicas, status_replicas, selector = _custom_values(obj, spec_path, status_path, selector_path)
    else:
        replicas, status_replicas = _at(obj, spec_path) or 0, _at(obj, status_path) or 0
        selector = _at(obj, selector_path)
    status: Json = {"replicas": status_replicas}
    if isinstance(selector, dict):
        text = selectors.selector_text(
            selector if call.resource.storage != "/replicationcontrollers" else {"matchLabels": selector}
        )
        selector = "" if text == "<none>" else text
    if selector:
        status["selector"] = selector
    spec = {"replicas": replicas} if replicas else {}
    return {"kind": "Scale", "apiVersion": VERSION, "metadata": metadata, "spec": spec, "status": status}


def _custom_values(obj: Json, spec_path: str, status_path: str, selector_path: str) -> tuple[int, int, str]:
    """Return the replicas, the status' replicas and the selector of a custom resource.

    Raises ApiError 500 for values of other types, which a schema without these fields permits.
    """
    # Here: it belongs to the clients' object model.
    from clientgo.apimachinery.apis.meta.v1.unstructured import nested_int64, nested_string

    try:
        replicas, _ = nested_int64(obj, *_names(spec_path))
        status_replicas, _ = nested_int64(obj, *_names(status_path))
        selector, _ = nested_string(obj, *_names(selector_path)) if selector_path else ("", False)
    except TypeError as err:
        raise errors.internal_text(str(err)) from None
    return _int32(replicas), _int32(status_replicas), selector


def _names(path: str) -> list[str]:
    return path.lstrip(".").split(".")


def _int32(value: int) -> int:
    """Convert an int64 as Go does, which drops the higher bits."""
    return (value + 2**31) % 2**32 - 2**31


# Replicas of the Scale of an object without replicas, as a patch finds them. Go: invalidSpecReplicas.
_NO_REPLICAS = -(2**31)


def scale(writer: Writer, call: Call) -> http.Response:
    """Handle GET, PUT and PATCH of scale."""
    method = call.request.method
    if method == "GET":
        live = writer.documents.view(call.resource, writer.current(call))
        shown = scale_of(call, live)
        if _lacks_replicas(call, live):
            raise errors.internal_error(f'the spec replicas field "{_paths(call)[0]}" does not exist')
        if call.form.kind == "Table":
            from clientgo.testing.apiserver.views import table  # Here, as in Documents.

            shown = table.of_scale(shown, writer.times, include_object(call.request), call.form.version)
        return render(shown, call.form)
    write = _Patch(call) if method == "PATCH" else _Put(call)

    def attempt(current: Stored | None) -> tuple[Stored, bool]:
        if current is None:
            raise call.not_found()
        live = writer.documents.view(call.resource, current)
        handler = _handler(call, live)
        before = scale_of(call, live)
        if _lacks_replicas(call, live):
            before["spec"]["replicas"] = _NO_REPLICAS
        wanted, managers = write.scale(writer, before, handler.to_subresource())
        wanted = _admitted(writer, call, wanted, live, write.options)
        replicas, version = _checked(call, wanted)
        if version not in (0, current.rv):
            raise call.conflict()
        obj = copy(_with(live, _paths(call)[0], replicas))
        main = Call(call.request, call.resource, call.namespace, call.name, "", call.form)
        # Webhooks for scales are not called for the scaled objects.
        main.admitted = True
        owners = handler.to_parent(managers)
        return writer.finish_update(main, obj, live, current, write.options, None, owners), False

    stored, _ = writer.retry(call, attempt)
    return render(scale_of(call, writer.documents.view(call.resource, stored)), call.form)


def _lacks_replicas(call: Call, live: Json) -> bool:
    return call.resource.custom and _at(live, _paths(call)[0]) is None


def _handler(call: Call, live: Json) -> managedfields.ScaleHandler:
    """Return a handler that maps managers between an object and its Scale.

    The replicas of a custom resource may have any path.
    """
    resource = call.resource
    path = tuple(f"f:{name}" for name in _names(_paths(call)[0]))
    versions = [entry.get("apiVersion", "") for entry in live["metadata"].get("managedFields") or ()]
    mappings = {version: path for version in versions if version.partition("/")[0] == resource.group}
    mappings[resource.group_version] = path
    return managedfields.ScaleHandler(live["metadata"].get("managedFields"), resource.group_version, mappings)


_NODE = internal.of_type("k8s.io/api/autoscaling/v1", "Scale")


def _struct() -> schema.Struct:
    struct = schema.kind_struct(VERSION, "Scale")
    assert struct is not None
    return struct


class _Put:
    """A whole Scale."""

    kind = "UpdateOptions"

    def __init__(self, call: Call) -> None:
        self._call = call
        doc = decoding.read_body(call)
        given = doc.get("apiVersion") or VERSION
        if given != VERSION:
            raise errors.bad_request(
                f"the API version in the data ({given}) does not match the expected API version ({VERSION})"
            )
        self._wanted = decoding.decode_as(VERSION, "Scale", doc, call)
        self.options = WriteOptions(call.request, self.kind)
        name = self._wanted["metadata"].get("name", "")
        if not name:
            raise errors.bad_request(
                f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
            )

    def scale(self, writer: Writer, live: Json, managers: list[Json]) -> tuple[Json, list[Json]]:
        """Return the requested Scale and its managers. Raises ApiError 409 for the Scale of another object."""
        uid = self._wanted["metadata"].get("uid", "")
        if uid:
            writer.check_uid(self._call, uid, live["metadata"]["uid"])
        return self._wanted, _updated(writer, live, self._wanted, managers, self.options)


class _Patch:
    """A patch of any kind, or a configuration to apply."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._media = call.request.media_type()
        self._applies = decoding.is_apply(call, self._media)
        if not self._applies:
            decoding.check_patch_type(call, self._media)
        self.options = WriteOptions(call.request, "ApplyOptions" if self._applies else "PatchOptions")
        self._body = configuration.read(call) if self._applies else decoding.parse_patch(call, self._media)

    def scale(self, writer: Writer, live: Json, managers: list[Json]) -> tuple[Json, list[Json]]:
        """Return the requested Scale and its managers."""
        call = self._call
        if self._applies:
            return _applied(call, writer, live, self._body, managers, self.options)
        doc = decoding.patched(self._media, live, self._body, _struct())
        try:
            wanted = _struct().decode(doc, schema.Context(), "", "")
        except schema.DecodeError as err:
            reported = decoding.reported_of_patch(call, _struct(), live, self._media)
            raise decoding.invalid_patch(doc, self._body, self._media, str(reported or err)) from None
        return wanted, _updated(writer, live, wanted, managers, self.options)


def _updated(writer: Writer, live: Json, wanted: Json, managers: list[Json], options: WriteOptions) -> list[Json]:
    if not managers:
        return []
    manager = managedfields.Writer(options.manager, VERSION, "scale")
    return managedfields.updated(_NODE, live, wanted, managers, manager, writer.times.now_text())


def _applied(
    call: Call, writer: Writer, live: Json, config: Json, managers: list[Json], options: WriteOptions
) -> tuple[Json, list[Json]]:
    if call.resource.custom:
        raise _not_for_custom(call, bool(managers))
    configuration.check(config, _NODE, VERSION, "Scale")
    manager, now = managedfields.Writer(options.manager, VERSION, "scale"), writer.times.now_text()
    zero = _struct().decode({}, schema.Context(), "", "")
    try:
        merged, managed = managedfields.applied(
            _NODE, live, config, managers, manager, now, force=options.force, created=False, empty=zero
        )
    except managedfields.ConflictError as err:
        raise errors.apply_conflict(str(err), err.causes) from None
    return decoding.decode_as(VERSION, "Scale", merged), managed


def _not_for_custom(call: Call, managed: bool) -> ApiError:
    """Return the error for an apply to the Scale of a custom resource, which kube-apiserver does not support either."""
    head = "failed to create manager for existing fields: " if not managed else ""
    key = f"{call.namespace}/{call.name}" if managed else "/"
    why = f"request to convert CR to an invalid group/version: {VERSION}"
    return errors.internal_text(
        f"{head}failed to convert live object ({key}; {VERSION}, Kind=Scale) to proper version: {why}"
    )


def _admitted(writer: Writer, call: Call, wanted: Json, live: Json, options: WriteOptions) -> Json:
    """Return the requested Scale after all webhooks."""
    given = {**wanted, "kind": "Scale", "apiVersion": VERSION}
    before = scale_of(call, live)
    made = writer.webhooks.mutate(call, given, before, options)
    writer.webhooks.validate(call, made, before, options)
    return made


def _checked(call: Call, doc: Json) -> tuple[int, int]:
    obj = decoding.decode_as(VERSION, "Scale", doc)
    name = obj["metadata"].get("name", "")
    if name and name != call.name:
        raise errors.bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")
    if call.resource.namespaced:
        decoding.set_namespace(call, obj["metadata"])
    replicas: int = obj["spec"].get("replicas", 0)
    if replicas == _NO_REPLICAS and call.resource.custom:
        raise errors.bad_request(f'the spec replicas field "{_paths(call)[0]}" cannot be empty')
    if replicas < 0 and call.resource.custom:
        found = errors.field_invalid(_paths(call)[0], replicas, "should be a non-negative integer")
        raise errors.invalid(call.resource.group, call.resource.kind, call.name, [found])
    if replicas < 0:
        found = errors.field_invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("autoscaling", "Scale", call.name, [found])
    return replicas, stored_version(obj["metadata"])
