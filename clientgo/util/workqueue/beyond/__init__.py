"""Features of util/workqueue that Go's client-go does not have, apart from the modules that mirror Go's files.

| Feature | Module | Called from |
|---|---|---|
| A queue ordered by priority, and its variant with controller-runtime's guarantees | `priority_queue`, \
`priority_options`, `dropping_priority_queue` | user code |
| A warning about an item that is in progress for a minute | `unfinished` | `Typed.get`, `_join` |
| An error with advice for an unhashable item | `unhashable` | `Typed.add`, `done`, `_DelayingType.add_after` |
| Locks and waits that suit CPython | `waiting` | `Typed.add`, `get`, `done` |
| Inspection: `statistics`, `contents`, `processing`, `state_of`, `due` | `inspection` | base classes named \
`Inspectable...` |

A module of Go's names calls these modules at the functions of the last column and nowhere else. A private name of
`clientgo.util.workqueue` is private to both folders together. Import public names from `clientgo.util.workqueue`.
"""
