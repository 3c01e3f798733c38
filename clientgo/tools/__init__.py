"""k8s.io/client-go/tools: what controllers are built from; caches, event recorders, leader election, configuration."""
