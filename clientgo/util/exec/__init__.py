"""Errors of failed programs. Mirrors k8s.io/client-go/util/exec."""

from clientgo.util.exec.exec import CodeExitError, ExitError

__all__ = ["CodeExitError", "ExitError"]
