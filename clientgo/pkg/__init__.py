"""What client-go keeps below pkg/: version data and the exec credential API."""
