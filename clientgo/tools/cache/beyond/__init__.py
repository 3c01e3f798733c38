"""Features of tools/cache that Go does not have, apart from the modules that mirror Go's files.

| Feature | Module | Called from |
|---|---|---|
| Staleness: a health check of `last_contact` and `refused` | `staleness` | user code |
| Relist requests: list again soon after an object could not be stored | `relist` | `Reflector.request_list`, \
`run_with_context`, `list_and_watch_with_context`, `_list_and_watch`, `_watch_with_resync` |
| Outage reports: a log line while the server refuses connections | `outage` | `Reflector._back_off`, `_heard`, \
`_stream_initial_objects` |
| Reports of lists that do not end | `outage` | `Reflector._trace` |
| Pauses between requests that end at once without progress | `unproductive` | `Reflector._watch`, `_watch_list`, \
`_is_error_retriable_with_side_effects` |
| Watch events that Go's decoder rejects | `malformed` | `Reflector._handle_any_watch`, `_store_failed` |
| Objects that the store or the transform function rejects | `refusals` | controller.py |
| Length, age and bounds of a handler's backlog | `backlog` | shared_informer.py |
| Warnings about handlers that do not return | `stuck_handlers` | shared_informer.py |
| Warnings about waits for informers that were not started | `unstarted` | shared_informer.py |
| The first batch of a queue, which Go repeats in three files | `initial_population` | fifo.py, delta_fifo.py, \
the_real_fifo.py |

A module of Go's names calls these modules at the functions of the last column and nowhere else. A private name of
`clientgo.tools.cache` is private to both folders together. Import public names from `clientgo.tools.cache`.
"""
