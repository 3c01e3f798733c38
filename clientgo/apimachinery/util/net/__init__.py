"""Classification of network and HTTP errors (k8s.io/apimachinery/pkg/util/net)."""

from clientgo.apimachinery.util.net.http import family, is_probable_eof, is_timeout
from clientgo.apimachinery.util.net.port_split import join_scheme_name_port, split_scheme_name_port
from clientgo.apimachinery.util.net.util import is_connection_refused, is_connection_reset
from clientgo.golang.io import ErrUnexpectedEOF

__all__ = [
    "ErrUnexpectedEOF",
    "family",
    "is_connection_refused",
    "is_connection_reset",
    "is_probable_eof",
    "is_timeout",
    "join_scheme_name_port",
    "split_scheme_name_port",
]
