"""What controllers are built from: caches, event recorders, leader election, client configuration. Go: client-go/tools."""
