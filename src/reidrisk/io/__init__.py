"""The border to files: what people have, read and written."""
