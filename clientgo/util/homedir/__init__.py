"""The user's home directory. Mirrors k8s.io/client-go/util/homedir."""

from clientgo.util.homedir.homedir import home_dir

__all__ = ["home_dir"]
