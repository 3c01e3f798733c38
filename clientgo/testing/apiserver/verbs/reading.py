"""The verbs that read: get, list and watch. Mirrors apiserver's endpoints/handlers/get.go and watch.go."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from clientgo.testing.apiserver.kinds.selectors import Selection
from clientgo.testing.apiserver.store.storage import Compacted, Event, Stored
from clientgo.testing.apiserver.store.view import View
from clientgo.testing.apiserver.store.watch import Watcher
from clientgo.testing.apiserver.verbs.call import Call
from clientgo.testing.apiserver.verbs.core import Verb
from clientgo.testing.apiserver.verbs.options import ListOptions, decode_token, encode_token, version_number
from clientgo.testing.apiserver.wire import errors, http
from clientgo.testing.apiserver.wire.errors import ApiError
from clientgo.testing.apiserver.wire.jsonio import Json

_FUTURE_WAIT = 3.0
_DEFAULT_WATCH_SECONDS = 1800

EXPIRED_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)
_TABLE_WATCHES = itertools.count()


class Reader(Verb):
    """Answers from the store as it is, as it was, or as it will be."""

    def get(self, call: Call) -> http.Response:
        requested = call.request.param("resourceVersion")
        if call.request.flag("export"):
            raise errors.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
        try:
            version = version_number(requested) if requested else 0
        except ValueError as err:
            raise errors.internal_text(str(err)) from None
        if version:
            self.wait_for(version)
        current = self.current(call)
        if call.form.of_list:
            # The type is named as the server's own Go type.
            package = call.resource.group.partition(".")[0] or "core"
            problem = f"the requested object is not a list (*{package}.{call.resource.kind})"
            raise ApiError(406, "NotAcceptable", f"you requested PartialObjectMetadataList, but {problem}")
        return self.respond(call, current, 200)

    @staticmethod
    def version(text: str) -> int:
        try:
            return version_number(text)
        except ValueError as err:
            raise errors.bad_request(f"invalid resource version: {err}") from None

    def wait_for(self, version: int) -> None:
        if version > self.store.version and not self.store.wait_for_version(version, _FUTURE_WAIT):
            raise errors.resource_version_too_large(version, self.store.version)

    def list_objects(self, call: Call) -> http.Response:
        options = self.list_options(call, watch=False)
        selection = self.selection(call, options)
        version, items, page = self.page(call, options, selection)
        metadata = {"resourceVersion": str(version), **page}
        return self.documents.many(call.resource, items, metadata, call.form, call.request, selection.shard_info)

    def page(self, call: Call, options: ListOptions, selection: Selection) -> tuple[int, list[Stored], Json]:
        bucket, prefix = call.resource.storage, call.prefix
        start = ""
        limit = options.limit
        at: int | None = None
        if options.token:
            if options.resource_version and options.resource_version != "0":
                raise errors.bad_request("specifying resource version is not allowed when using continue")
            requested, start = decode_token(options.token)
            at = requested if requested > 0 else None
        elif options.resource_version:
            version = self.version(options.resource_version)
            if version == 0:
                limit = 0
            else:
                self.wait_for(version)
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
            items = items[bisect_right(items, prefix + start, key=lambda item: item.key) :]
        # With a name the real server reads one object instead of a range.
        one = selection.name is not None and bool(call.namespace or not call.resource.namespaced)
        wanted = limit if limit and not one else len(items)
        if selection.everything:
            page = items[:wanted]
        else:
            page = list(itertools.islice((item for item in items if selection.matches(item.obj)), wanted))
        if wanted == len(items) or len(page) < wanted or items[-1] is page[-1]:
            return version, page, {}
        # Objects follow the page's last one. Whether one of them matches is not looked at, as in the real server.
        more: Json = {"continue": encode_token(version, f"/{page[-1].key[len(prefix) :]}\x00")}
        if selection.empty:
            more["remainingItemCount"] = len(items) - limit
        return version, page, more

    def watch(self, call: Call) -> http.Response:
        """Pass the connection to the pump and return an empty stream marker."""
        options = self.list_options(call, watch=True)
        field_selector = options.field_selector
        if call.name:
            term = f"metadata.name={call.name}"
            field_selector = f"{field_selector},{term}" if field_selector else term
        selection = self.selection(call, options, field_selector)
        try:
            requested = version_number(options.resource_version) if options.resource_version else 0
        except ValueError as err:
            raise errors.internal_text(str(err)) from None
        # A watch that ends before it begins is answered with its first state.
        deadline = self.times.clock.now() + max(0, options.timeout or _DEFAULT_WATCH_SECONDS)
        form = call.form
        encode = self.documents.watch_encoder(call.resource, form, call.request)
        send_state = options.send_initial is True or (requested == 0 and options.send_initial is None)
        if options.send_initial is True and requested:
            self.wait_for(requested)
        kind = f"{form.media}{form.kind}{form.version}{call.resource.version}{call.resource.group}"
        if form.kind == "Table":
            # Only the first event carries the columns, so a table watch shares no encoding with others.
            kind += f"#{next(_TABLE_WATCHES)}"

        def bookmark(version: int, end: bool) -> Json:
            made = self.documents.bookmark(call.resource, version, end, form)
            if form.kind != "Table" or encode is None:
                return made
            return self.documents.table_bookmark(encode, made, form)

        view = View(
            call.resource.storage,
            call.prefix,
            selection,
            kind,
            encode,
            bookmark,
            requested if requested > self.store.version else 0,
            self.documents.framing(form),
            blocks=call.resource.waits_for_webhook,
        )
        if send_state and view.blocks:
            # In one call, and an error is the answer; what changes from here on is converted one by one.
            items = self.store.list(view.bucket, view.prefix)[1]
            call.resource.prepare(item.obj for item in items if selection.matches(item.obj))
        since = None if send_state else self.store.version if options.send_initial is not None else requested

        connection = call.request.connection
        assert connection is not None

        def attach(version: int, first: list[Any]) -> None:
            lines = _initial_lines(view, first, version if options.send_initial and options.bookmarks else None)
            chunked = call.request.minor > 0
            keep = chunked and call.request.keep_alive
            bookmarks = options.bookmarks
            self.pump.attach(Watcher(connection, view, lines, deadline, bookmarks, chunked=chunked, keep=keep))

        try:
            self.store.follow(call.resource.storage, call.prefix, since, attach)
        except Compacted as err:
            # A watch that is too old answers 200 and one ERROR event.
            status = errors.expired(f"too old resource version: {requested} ({err.oldest})").status()
            return self.documents.error_stream(status, form)
        return http.Response(200, content_type=view.media, stream=True)


def _initial_lines(view: View, first: list[Any], bookmark: int | None) -> Iterator[bytes]:
    """Yield the first lines of a watch: objects or missed events, and the bookmark that ends a streaming list."""
    for item in first:
        yield view.line(item) if isinstance(item, Event) else view.initial(item)
    if bookmark is not None:
        yield view.bookmark(bookmark, True)
