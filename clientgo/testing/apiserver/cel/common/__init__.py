"""Types and values, for the language and its library. Mirrors cel-go's common/types."""
