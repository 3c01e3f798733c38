"""What both the language and its library are made of: types and values. As cel-go's common/types."""
