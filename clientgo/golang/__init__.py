"""The parts of Go's language and standard library that Kubernetes uses, one module per Go package.

`channel` and `stop` implement the language's channels and `select`; `duration` is part of the package time. These
modules are the lowest layer. They import nothing of Kubernetes except the clock. Programs import `context` by its
shorter name `clientgo.context`.
"""
