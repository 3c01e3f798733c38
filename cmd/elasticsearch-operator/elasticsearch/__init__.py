"""The controller of Elasticsearch clusters: what each phase does, one module for each."""
