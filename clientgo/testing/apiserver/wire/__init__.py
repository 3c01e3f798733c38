"""Wire formats: HTTP, TLS, JSON and YAML, errors as Status documents, times as text.

Depends on neither resources nor storage; every other package may use it.
"""
