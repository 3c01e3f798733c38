"""The parts of Go's language and standard library that Kubernetes uses, one module per Go package.

`channel` and `stop` implement the language's channels and `select`; `duration` is part of the package time. They are
the lowest layer and import nothing of Kubernetes but the clock. User programs import `context` by its shorter name
`clientgo.context`.
"""
