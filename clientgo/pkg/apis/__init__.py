"""API types that only clients use."""
