"""The API group crdb.cockroachlabs.com, one package a version."""
