"""A result in words, computed from its records."""
