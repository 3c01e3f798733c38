"""A scripted HTTP handler and an OpenAPI server for tests. Mirrors k8s.io/client-go/util/testing."""

from clientgo.util.testing.fake_handler import FakeHandler, LogInterface, TestInterface
from clientgo.util.testing.fake_openapi_handler import FakeOpenAPIServer, new_fake_openapi_v3_server
from clientgo.util.testing.remove_file import close_and_remove
from clientgo.util.testing.tmpdir import mk_tmpdir, mk_tmpdir_or_die

__all__ = [
    "FakeHandler",
    "FakeOpenAPIServer",
    "LogInterface",
    "TestInterface",
    "close_and_remove",
    "mk_tmpdir",
    "mk_tmpdir_or_die",
    "new_fake_openapi_v3_server",
]
