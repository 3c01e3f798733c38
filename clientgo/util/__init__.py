"""Helpers of client-go that stand on their own: work queues, flow control, retry (k8s.io/client-go/util)."""
