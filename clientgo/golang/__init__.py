"""What Go's language and standard library bring along and Kubernetes builds on, each module named as its Go package.

`channel` and `stop` are the language's channels and `select`, and `duration` is part of the package time. They stand
below everything else here and import nothing of Kubernetes but the clock. A user's program has `context` under the
shorter name `clientgo.context`.
"""
