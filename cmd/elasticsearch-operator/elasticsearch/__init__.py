"""The controller of Elasticsearch clusters. Each phase has a module."""
