"""What a request does to stored objects: get, list, watch, create, update, patch, apply, delete, subresources."""
