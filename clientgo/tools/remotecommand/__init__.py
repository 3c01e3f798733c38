"""Commands in containers, with their standard streams and a terminal. Mirrors k8s.io/client-go/tools/remotecommand.

`new_web_socket_executor` needs the extra `stream`: `pip install 'clientgo[stream]'`. kubectl uses both executors:

    executor = remotecommand.new_fallback_executor(
        remotecommand.new_web_socket_executor(config, "GET", url),
        remotecommand.new_spdy_executor(config, "POST", url),
        lambda err: httpstream.is_upgrade_failure(err) or httpstream.is_https_proxy_error(err),
    )
    executor.stream_with_context(ctx, remotecommand.StreamOptions(stdout=sys.stdout.buffer, stderr=sys.stderr.buffer))

`url` is that of a request: `clientset.core_v1().rest_client().post().resource("pods").namespace(...).name(...)
.sub_resource("exec").versioned_params(corev1.PodExecOptions(...)).url()`.
"""

from typing import TYPE_CHECKING

from clientgo.lazy_loader import attach

if TYPE_CHECKING:
    from clientgo.tools.remotecommand.fallback import FallbackExecutor, new_fallback_executor
    from clientgo.tools.remotecommand.remotecommand import Executor, StreamOptions
    from clientgo.tools.remotecommand.resize import TerminalSize, TerminalSizeQueue
    from clientgo.tools.remotecommand.spdy import (
        new_spdy_executor,
        new_spdy_executor_for_protocols,
        new_spdy_executor_for_transports,
        new_spdy_executor_reject_redirects,
    )
    from clientgo.tools.remotecommand.websocket import (
        new_web_socket_executor,
        new_web_socket_executor_for_protocols,
    )
else:
    # The module `websocket` needs the extra `stream`, the other ones do not.
    __getattr__, __dir__ = attach(
        __name__,
        {
            "fallback": ["FallbackExecutor", "new_fallback_executor"],
            "remotecommand": ["Executor", "StreamOptions"],
            "resize": ["TerminalSize", "TerminalSizeQueue"],
            "spdy": [
                "new_spdy_executor",
                "new_spdy_executor_for_protocols",
                "new_spdy_executor_for_transports",
                "new_spdy_executor_reject_redirects",
            ],
            "websocket": ["new_web_socket_executor", "new_web_socket_executor_for_protocols"],
        },
    )

__all__ = [
    "Executor",
    "FallbackExecutor",
    "StreamOptions",
    "TerminalSize",
    "TerminalSizeQueue",
    "new_fallback_executor",
    "new_spdy_executor",
    "new_spdy_executor_for_protocols",
    "new_spdy_executor_for_transports",
    "new_spdy_executor_reject_redirects",
    "new_web_socket_executor",
    "new_web_socket_executor_for_protocols",
]
