"""Objects at rest: the store with one resourceVersion and a bounded history, its journal on disk, and the watches.

Stores any JSON object under any key; the other packages know the meaning of the objects.
"""
