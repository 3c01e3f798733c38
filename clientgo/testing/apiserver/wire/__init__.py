"""What goes over the wire: HTTP, TLS, JSON and YAML, errors as Status documents, times as text.

Knows nothing of resources or storage; every other room may use it.
"""
