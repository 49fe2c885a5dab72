"""A result in words: numbers as people say them, and the verdict computed from the records."""
