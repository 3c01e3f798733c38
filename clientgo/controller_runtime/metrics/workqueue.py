"""The names of the work queues' metrics. Mirrors pkg/metrics/workqueue.go."""

__all__ = [
    "ADDS_KEY",
    "DEPTH_KEY",
    "LONGEST_RUNNING_PROCESSOR_KEY",
    "QUEUE_LATENCY_KEY",
    "RETRIES_KEY",
    "UNFINISHED_WORK_KEY",
    "WORK_DURATION_KEY",
    "WORK_QUEUE_SUBSYSTEM",
]

WORK_QUEUE_SUBSYSTEM = "workqueue"
"""The prefix of the names, without the `_`."""
DEPTH_KEY = "depth"
ADDS_KEY = "adds_total"
QUEUE_LATENCY_KEY = "queue_duration_seconds"
WORK_DURATION_KEY = "work_duration_seconds"
UNFINISHED_WORK_KEY = "unfinished_work_seconds"
LONGEST_RUNNING_PROCESSOR_KEY = "longest_running_processor_seconds"
RETRIES_KEY = "retries_total"
