"""The controllers a control plane cannot do without: CRDs, namespaces, garbage collection."""
