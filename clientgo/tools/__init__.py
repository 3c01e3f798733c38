"""k8s.io/client-go/tools: the parts of controllers, such as caches, event recorders, leader election and configuration.
"""
