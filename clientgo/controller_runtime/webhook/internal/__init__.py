"""The shared code of all kinds of webhooks."""
