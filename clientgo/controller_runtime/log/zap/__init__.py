"""sigs.k8s.io/controller-runtime/pkg/log/zap: log lines in zap's formats."""

from clientgo.controller_runtime.log.zap.kube_helpers import KubeAwareEncoder
from clientgo.controller_runtime.log.zap.zap import (
    EncoderConfigOption,
    NewEncoderFunc,
    Options,
    Opts,
    console_encoder,
    encoder,
    json_encoder,
    level,
    new,
    new_raw,
    raw_zap_opts,
    stacktrace_level,
    use_dev_mode,
    use_flag_options,
    write_to,
)

__all__ = [
    "EncoderConfigOption",
    "KubeAwareEncoder",
    "NewEncoderFunc",
    "Options",
    "Opts",
    "console_encoder",
    "encoder",
    "json_encoder",
    "level",
    "new",
    "new_raw",
    "raw_zap_opts",
    "stacktrace_level",
    "use_dev_mode",
    "use_flag_options",
    "write_to",
]
