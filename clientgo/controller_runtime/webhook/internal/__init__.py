"""What the kinds of webhook share."""
