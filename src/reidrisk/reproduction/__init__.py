"""What others have published, and what comes out here: row by row, with why they differ."""
