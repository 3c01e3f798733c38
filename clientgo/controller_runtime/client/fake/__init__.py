"""A client without a server, for unit tests. Mirrors pkg/client/fake."""

from clientgo.controller_runtime.client.fake.client import (
    ClientBuilder,
    add_index,
    new_client_builder,
    new_fake_client,
)

__all__ = ["ClientBuilder", "add_index", "new_client_builder", "new_fake_client"]
