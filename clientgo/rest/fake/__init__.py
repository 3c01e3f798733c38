"""A REST client without a server, for tests. Mirrors k8s.io/client-go/rest/fake."""

from clientgo.rest.fake.fake import RESTClient, create_http_client

__all__ = ["RESTClient", "create_http_client"]
