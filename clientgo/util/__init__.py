"""Independent helpers of client-go: work queues, flow control, retry (k8s.io/client-go/util)."""
