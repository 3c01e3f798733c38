"""Features of tools/cache that Go does not have, apart from the modules that mirror Go's files.

| Feature | Module | Called from |
|---|---|---|
| Staleness: a health check of `last_heard` and `refused` | `staleness` | user code |
| Relist requests: list again soon after an object could not be stored | `relist` | `Reflector.request_list`, \
`_list_and_watch_with_context`, `_watch_with_resync` |
| Outage reports: a log line while the server refuses connections | `outage` | `Reflector._back_off`, `_heard` |
| Pauses between requests that end at once without progress | `unproductive` | `Reflector._watch`, `_watch_list` |

A module of Go's names calls these modules at the functions of the last column and nowhere else.
"""
