"""Kubernetes' logging: klog's line format, verbosity and contextual loggers, on top of the standard `logging`.

Mirrors the parts of k8s.io/klog/v2 that client-go and its users need. A line: `I0515 20:48:26.044091  106657
controller.py:84] "msg" k="v"`, with the process id and the Python file and line of the caller. As in Go, no call of
this package raises, so that logging cannot break a program.

All records go to the logger "clientgo"; the module `output` writes them. `v(n)` is the logging level 20 - n, so
`logging.DEBUG` shows verbosity 10.
"""

from typing import TYPE_CHECKING

from clientgo.klog.contextual import (
    LOGGER_KEY,
    Logger,
    background,
    from_context,
    logger_with_name,
    logger_with_values,
    new_context,
    todo,
)
from clientgo.klog.exceptions import Failure, cause_text, describe, failure_of, is_operational, operational_error
from clientgo.klog.exit import EXIT_FLUSH_TIMEOUT, flush_and_exit
from clientgo.klog.klog import (
    Verbose,
    error,
    error_s,
    errorf,
    errorln,
    exit,
    exitf,
    fatal,
    fatalf,
    fatalln,
    info,
    info_s,
    infof,
    infoln,
    set_verbosity,
    v,
    verbosity,
    warning,
    warningf,
    warningln,
)
from clientgo.klog.output import KlogFormatter, flush, install
from clientgo.klog.serialize import format_message
from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.klog.flags import add_flags, init_flags
    from clientgo.klog.json_lines import JSONFormatter
    from clientgo.klog.k8s_references import KMetadata, ObjectRef, kobj, kobj_slice, kref
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "flags": ["add_flags", "init_flags"],
            "json_lines": ["JSONFormatter"],
            "k8s_references": ["KMetadata", "ObjectRef", "kobj", "kobj_slice", "kref"],
        },
    )

__all__ = [
    "EXIT_FLUSH_TIMEOUT",
    "LOGGER_KEY",
    "Failure",
    "JSONFormatter",
    "KMetadata",
    "KlogFormatter",
    "Logger",
    "ObjectRef",
    "Verbose",
    "add_flags",
    "background",
    "cause_text",
    "describe",
    "error",
    "error_s",
    "errorf",
    "errorln",
    "exit",
    "exitf",
    "failure_of",
    "fatal",
    "fatalf",
    "fatalln",
    "flush",
    "flush_and_exit",
    "format_message",
    "from_context",
    "info",
    "info_s",
    "infof",
    "infoln",
    "init_flags",
    "install",
    "is_operational",
    "kobj",
    "kobj_slice",
    "kref",
    "logger_with_name",
    "logger_with_values",
    "new_context",
    "operational_error",
    "set_verbosity",
    "todo",
    "v",
    "verbosity",
    "warning",
    "warningf",
    "warningln",
]
