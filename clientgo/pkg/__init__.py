"""The packages below client-go's pkg/: version data and the exec credential API."""
