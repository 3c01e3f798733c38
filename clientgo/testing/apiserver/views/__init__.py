"""Encodings of objects: documents and lists in bytes, tables, OpenAPI."""
