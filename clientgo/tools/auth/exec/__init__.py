"""Helpers for programs that are exec plugins. Mirrors k8s.io/client-go/tools/auth/exec."""

from clientgo.tools.auth.exec.exec import load_exec_credential, load_exec_credential_from_env

__all__ = ["load_exec_credential", "load_exec_credential_from_env"]
