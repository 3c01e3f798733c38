"""What the server knows of kinds: types, defaults, validation, merging, CRDs, and the registry of what is served.

Pure functions of objects and type facts; no room below needs a request.
"""
