"""How objects are shown: documents and lists in bytes, tables, OpenAPI."""
